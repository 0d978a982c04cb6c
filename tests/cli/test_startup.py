"""What a process loads: only what its task needs. Loading takes longer than a small task."""

import subprocess
import sys

import pytest
from tests.cli.conftest import ARTICLES, environment

import neardup

HEAVY = {"numpy", "pyarrow", "pandas", "polars", "rich", "orjson", "neardup._core"}
#: What help does not need.
HELP = {"numpy", "pyarrow", "neardup._core", "sqlalchemy"}
#: What no run over JSON lines needs; most of these load longer than all the rest.
NOT_FOR_JSONL = {
    "email",
    "neardup.readers.file_text",
    "neardup.readers.tables",
    "neardup.run.shards",
    "neardup.writers.kept_tables",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "pyarrow.compute",
    "pyarrow.dataset",
    "pyarrow.fs",
    "pyarrow.pandas_compat",
    "pyarrow.parquet",
    "rich",
    "rich_argparse",
    "shtab",
    "sqlalchemy",
    "sqlite3",
}


def modules_after(program, *arguments):
    check = f"import sys\n{program}\nprint('loaded', *sorted(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", check, *arguments],
        capture_output=True,
        check=True,
        env=environment(),
    )
    mark, *loaded = result.stdout.decode().splitlines()[-1].split()
    assert mark == "loaded"
    return set(loaded)


def command(*words):
    # `neardup.__main__` ends the process.
    program = "from neardup.cli import main\nmain()"
    return modules_after(program, *words)


@pytest.mark.parametrize(
    "program",
    [
        "import neardup",
        "import neardup; neardup.dedup; neardup.load_recipe",
        "import neardup; neardup.load_recipe('improved').id",
    ],
)
def test_program_loads_no_heavy_package(program):
    loaded = modules_after(program)
    assert not loaded & HEAVY
    if program == "import neardup":
        own = {name for name in loaded if name.startswith("neardup")}
        assert own == {"neardup", "neardup.base", "neardup.base.interrupt"}


OTHER_COMMANDS = {"neardup.cli.pairs", "neardup.cli.index", "neardup.cli.serve"}


@pytest.mark.parametrize(
    ("words", "heavy"),
    [
        ("recipes", HEAVY),
        ("--version", HEAVY),
        ("--help", HELP),
        ("dedup --help", HELP | OTHER_COMMANDS),
        ("dedup --nosuch", OTHER_COMMANDS),
        ("index add --help", HELP),
        ("serve --help", HELP),
        (f"compare {ARTICLES} {ARTICLES}", {"pandas"}),
    ],
)
def test_a_command_loads_nothing_heavy_and_no_other(words, heavy):
    assert not command(*words.split()) & heavy


@pytest.mark.parametrize(
    # The columns of pairs are converted to the types of their file.
    ("task", "needed"),
    [
        ("dedup", set()),
        ("dedup --quiet --memory 1GB", set()),
        ("dedup --review page.html", {"email", "numpy", "pyarrow"}),
        ("pairs", {"numpy", "pyarrow", "pyarrow.compute"}),
    ],
)
def test_json_lines_need_neither_tables_nor_help(tmp_path, monkeypatch, task, needed):
    monkeypatch.chdir(tmp_path)
    loaded = command(*task.split(), str(ARTICLES), "-o", str(tmp_path / "out.jsonl"))
    assert (tmp_path / "out.jsonl").stat().st_size
    assert not loaded & NOT_FOR_JSONL - needed


def test_the_function_needs_no_more_than_the_command(tmp_path):
    out = str(tmp_path / "out.jsonl")
    call = "import neardup; result = neardup.dedup_files(sys.argv[1:2], sys.argv[2], force=True)"
    assert not modules_after(call, str(ARTICLES), out) & NOT_FOR_JSONL
    # The table of removed documents is made where it is asked for.
    loaded = modules_after(f"{call}; assert result.removed", str(ARTICLES), out)
    assert loaded & NOT_FOR_JSONL == {"numpy", "pyarrow"}


def test_public_names_are_never_modules():
    program = """
import neardup.tasks.compare, neardup.tasks.dedup, neardup.papers.paper_check
import neardup
for name in neardup.__all__:
    assert not isinstance(getattr(neardup, name), type(sys)), name
assert neardup.dedup is sys.modules["neardup.tasks.dedup"].dedup
assert neardup.exceptions is sys.modules["neardup.exceptions"]
from neardup import *
assert compare is neardup.compare
"""
    modules_after(program)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'deduplicate'"):
        _ = neardup.deduplicate
    assert set(neardup.__all__) <= set(dir(neardup))
