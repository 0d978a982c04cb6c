"""Results of an experiment: all files at once, or none, and never over other files."""

from pathlib import Path

import pytest

from neardup import OutputError
from neardup.base.messages import Message
from neardup.lab.report import ReportFolder, Table, format_csv, format_markdown, format_plain

NAMES = ("report.md", "rows.csv")
CONTENTS = {"report.md": b"# Report\n", "rows.csv": format_csv([{"a": 1, "b": "x,y"}])}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(output, measure=lambda: None, *, force=False):
    with ReportFolder.open(output, NAMES, inputs=(), force=force) as folder:
        measure()
        folder.write(CONTENTS)
    return folder.path


def files():
    return {str(path): path.read_text() for path in Path().rglob("*") if path.is_file()}


def stop():
    raise KeyboardInterrupt


def test_all_files_are_in_the_folder():
    assert run(None) is None
    assert files() == {}
    assert run("made/here") == Path("made/here")
    expected = {"made/here/report.md": "# Report\n", "made/here/rows.csv": '\ufeffa,b\n1,"x,y"\n'}
    assert files() == expected
    Path("made/here/rows.csv").write_text("mine")
    run("made/here", force=True)
    assert files() == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("file", "file: cannot be created"),
        ("file/below", "below: cannot be created"),
        ("-", "-: must be a folder, not standard output"),
        ("taken", r"taken.rows\.csv: exists already.*force=True"),
    ],
)
def test_an_output_is_refused_before_the_work(name, expected):
    Path("file").write_text("")
    Path("taken").mkdir()
    Path("taken/rows.csv").write_text("mine")
    with pytest.raises(OutputError, match=expected):
        run(name, stop)
    assert files() == {"file": "", "taken/rows.csv": "mine"}


def test_failed_experiment_leaves_no_file():
    """Folders that were created are gone again; one that had other files keeps those."""
    for output in ("new/folder", "."):
        Path("notes.txt").write_text("mine")
        with pytest.raises(KeyboardInterrupt):
            run(output, stop)
        assert [path.name for path in Path().iterdir()] == ["notes.txt"]


def test_one_report_in_two_forms():
    """Nothing of the input acts on a terminal, or is taken for Markdown."""
    table = Table((Message("label"), "F1"), [("a|b\x1b[2K", "0.5"), ("*x*", "1")])
    parts = [[Message("wrong"), "done"], table]
    assert format_plain(parts).splitlines() == [
        "wrong",
        "done",
        "",
        "label" + " " * 8 + "F1",
        r"a|b\x1b[2K  0.5",
        "*x*" + " " * 11 + "1",
    ]
    assert format_plain(parts, "zh").startswith("误判\ndone")
    text = format_markdown("Title", "First.", parts, "a.svg").decode()
    assert text.startswith(
        "# Title\n\nFirst.\n\n- wrong\n- done\n\n| label | F1 |\n| --- | ---: |\n"
    )
    assert r"| a\|b" in text
    assert r"| \*x\* | 1 |" in text
    assert text.endswith("\n\n![Title](a.svg)\n")


def test_numbers_and_flags_in_csv():
    rows = [{"name": "a", "share": 2 / 3, "flag": True, "none": float("nan")}]
    assert format_csv(rows) == b"\xef\xbb\xbfname,share,flag,none\r\na,0.666667,1,\r\n"
