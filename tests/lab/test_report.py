"""Results of an experiment: all files at once, or none, and never over other files."""

from pathlib import Path

import pytest

from neardup import OutputError
from neardup.lab.report import ReportFolder

NAMES = ("report.md", "rows.csv")
TABLES = {"rows": (("a", "b"), [(1, "x,y")])}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(output, measure=lambda: None, *, force=False):
    with ReportFolder.open(output, NAMES, inputs=(), force=force) as folder:
        measure()
        folder.write("# Report\n", TABLES, {})
    return folder.path


def files():
    return {str(path): path.read_text() for path in Path().rglob("*") if path.is_file()}


def stop():
    raise KeyboardInterrupt


def test_all_files_are_in_the_folder():
    assert run("made/here") == Path("made/here")
    expected = {"made/here/report.md": "# Report\n", "made/here/rows.csv": 'a,b\n1,"x,y"\n'}
    assert files() == expected
    Path("made/here/rows.csv").write_text("mine")
    with pytest.raises(OutputError, match="force=True"):
        run("made/here")
    run("made/here", force=True)
    assert files() == expected


def test_without_a_folder_nothing_is_written():
    assert run(None) is None
    assert files() == {}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("file", "file: cannot be created"),
        ("file/below", "below: cannot be created"),
        ("-", "-: must be a folder. Got standard output instead"),
        ("taken", r"taken.rows\.csv: exists already"),
    ],
)
def test_an_output_is_refused_before_the_work(name, expected):
    Path("file").write_text("")
    Path("taken").mkdir()
    Path("taken/rows.csv").write_text("mine")
    with pytest.raises(OutputError, match=expected):
        run(name, stop)
    assert files() == {"file": "", "taken/rows.csv": "mine"}


def test_an_experiment_that_fails_leaves_no_file():
    """Folders that were created are gone again; one that had other files keeps those."""
    for output in ("new/folder", "."):
        Path("notes.txt").write_text("mine")
        with pytest.raises(KeyboardInterrupt):
            run(output, stop)
        assert [path.name for path in Path().iterdir()] == ["notes.txt"]
