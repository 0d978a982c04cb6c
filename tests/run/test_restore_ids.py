"""The file of ids that are kept: what is written is read again, and what is typed by hand."""

import pytest

from neardup import InputError
from neardup.run.restore_ids import line_of, read_ids

IDS = [
    "news-7",
    "新闻 7",
    "one\ntwo",
    "one\r",
    ' "quoted"',
    '"quoted"',
    "\ufeffmark",
    "\u2028",
    "a\0b",
    "　宽",
    "",
    "tab\t",
    "\u202e",
]


def test_saved_ids_of_a_review_are_read(tmp_path):
    path = tmp_path / "ids.txt"
    lines = [line_of(id) for id in IDS]
    assert all(len(line.splitlines()) == 1 for line in lines)
    for end in ("\n", "\r\n", "\r"):
        path.write_text(end.join(lines), "utf-8", newline="")
        assert read_ids(str(path)) == set(IDS)


def test_plain_ids_are_lines_as_they_are():
    assert [line_of(id) for id in IDS[:2]] == IDS[:2]


def test_lines_that_are_typed_by_hand(tmp_path):
    path = tmp_path / "ids.txt"
    path.write_bytes('\ufeffa \r\n\r\n"b\r\n"c"\r\n["d"]\r\n{"e\r\n'.encode())
    assert read_ids(str(path)) == {"a", '"b', "c", '["d"]', '{"e'}


def test_files_that_are_refused(tmp_path):
    path = tmp_path / "ids.txt"
    with pytest.raises(InputError, match=r"ids\.txt: cannot be read"):
        read_ids(str(path))
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="in UTF-8"):
        read_ids(str(path))
