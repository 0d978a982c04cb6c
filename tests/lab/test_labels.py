"""Files of labelled pairs, as they come."""

import pytest

from neardup import InputError
from neardup.lab.datasets.labels import read_truth

HEAD = "id_a\tid_b\tlabel\n"


@pytest.fixture
def truth(tmp_path):
    def read(text):
        path = tmp_path / "pairs.tsv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_truth(path)

    return read


@pytest.mark.parametrize(
    ("label", "duplicate"),
    [
        ("near-duplicate", True),
        ("Duplicate", True),
        ("1", True),
        ("TRUE", True),
        ("yes", True),
        ("0", False),
        ("no", False),
        ("same-event", False),
        ("duplicates", False),
    ],
)
def test_labels(truth, label, duplicate):
    other = "no" if duplicate else "yes"
    result = truth(f"{HEAD}a\tb\t{label}\nc\td\t{other}\n")
    assert result.pairs[0].duplicate is duplicate
    assert result.labels[label] == (duplicate, 1)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\ufeffid_a,id_b,label,confidence\r\na,b,yes,high\r\n\r\nc,d,no,low\r\n", 4),
        ("note\tlabel\tid_b\tid_a\tconfidence\nx\tyes\tb\ta\thigh\n\tno\td\tc\tlow\n", 3),
    ],
)
def test_columns_in_any_order_with_tabs_or_commas(truth, text, line):
    result = truth(text)
    assert [(p.id_a, p.id_b, p.duplicate, p.confidence) for p in result.pairs] == [
        ("a", "b", True, "high"),
        ("c", "d", False, "low"),
    ]
    assert result.pairs[1].line == line


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1e"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_only_cr_and_lf_end_a_line(truth, separator, line_end):
    rows = ["id_a,id_b,label,note", f"a,b,yes,see{separator}e,f,no", "c,d,no,"]
    result = truth(line_end.join(rows))
    assert [(p.id_a, p.id_b, p.line) for p in result.pairs] == [("a", "b", 2), ("c", "d", 3)]


def test_a_spreadsheet_may_write_another_encoding(truth):
    result = truth("id_a,id_b,label\n渡轮,渡轮转载,yes\n码头,灯塔,no\n".encode("gbk"))
    assert [pair.id_a for pair in result.pairs] == ["渡轮", "码头"]


def test_a_group_is_read_if_there_is_one(truth):
    result = truth("id_a,id_b,label,group\na,b,yes,news\nc,d,no,\n")
    assert [pair.group for pair in result.pairs] == ["news", ""]
    assert truth(f"{HEAD}a\tb\tyes\nc\td\tno\n").pairs[0].group == ""


def test_repeated_pair_counts_once(truth):
    result = truth(f"{HEAD}a\tb\tyes\nb\ta\tduplicate\nc\td\tno\n")
    assert (len(result.pairs), result.repeated) == (2, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: must name the columns"),
        ("a\tb\tyes\n", "Got none called id_a, id_b, label"),
        (HEAD, "at least one labelled pair"),
        (f"{HEAD}a\tb\n", "line 2: must have a value in 'label'"),
        (f"{HEAD}a\ta\tyes\n", "line 2: must pair two documents"),
        (f"{HEAD}a\tb\tyes\nb\ta\tno\n", "line 3: must label a pair as line 2 does"),
        (f"{HEAD}a\tb\tyes\n", "both duplicates and other pairs"),
        (f"{HEAD}a\tb\tdup\n", "duplicates are labelled near-duplicate"),
    ],
)
def test_refusal_names_the_file_and_the_line(truth, text, message):
    with pytest.raises(InputError) as caught:
        truth(text)
    assert "pairs.tsv" in str(caught.value)
    assert message in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_truth(tmp_path / "none.tsv")
