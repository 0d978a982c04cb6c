"""A process imports only modules that its task needs, and no extra that is not installed."""

import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import docx
import pytest
from tests.cli.conftest import ARTICLES, LINES, A, B, environment, line_of
from tests.conftest import ROOT

import neardup
from neardup.cli.commands import COMMANDS

# Loading takes longer than a small task.

HEAVY = {"numpy", "pyarrow", "pandas", "polars", "rich", "orjson", "neardup._core"}
#: Modules that help does not need.
HELP = {"numpy", "pyarrow", "neardup._core", "sqlalchemy"}
#: Modules that no run over JSON lines needs; most of these load longer than all the rest.
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


# A plain install: every command and public name works, or says what to install. The packages of
# all extras cannot be imported in a process, and the metadata says which these are.

#: A line of each command that needs no extra, in a folder with the files of `folder`.
WORKING = """\
check a.txt --library b.txt -o paper.html
compare a.txt b.txt
contamination in.jsonl --tests in.jsonl --report f.csv
dedup in.jsonl -o out.jsonl --review out.html
explain a.txt b.txt -r improved
fingerprint in.jsonl -o prints.jsonl
idf in.jsonl -o out.idf
pairs in.jsonl -o pairs.jsonl
recipes
repeats in.jsonl -o r.csv
sketch in.jsonl -o in.sketches""".splitlines()
#: Lines with options that need more than their command.
OPTIONS = [
    "check a.txt --library n.db",
    "check a.docx --library b.txt",
    "check a.txt --library b.txt -o paper.docx",
    "compare a.docx b.txt",
    "dedup in.jsonl -o out --engine spark",
    "index create postgresql://nobody@nowhere/x",
]
#: All other commands need an extra.
OTHERS = [
    name for name in COMMANDS if not any(f"{line} ".startswith(f"{name} ") for line in WORKING)
]
MISSING_LINES = [*map(line_of, OTHERS), *OPTIONS]
#: Calls of the public names that no command calls; constants, results and errors have none.
CALLS = {
    "Index": "neardup.Index('n.db')",
    "count_idf": "neardup.count_idf(['a', 'b'])",
    "dedup": "neardup.dedup(['a', 'b'])",
    "fingerprint": "neardup.fingerprint('a')",
    "fingerprint_blocks": "neardup.fingerprint_blocks(neardup.fingerprint_many(['a'], "
    "recipe='news'))",
    "contamination": "neardup.contamination(['0123456789' * 4], tests=['0123456789' * 4])",
    "fingerprint_many": "neardup.fingerprint_many(['a'])",
    "load_idf": "neardup.count_idf(['a']).save('a.idf'); neardup.load_idf('a.idf')",
    "near_pairs": "neardup.near_pairs(neardup.fingerprint_many(['a'], recipe='news'), "
    "max_distance=3, bits=64)",
    "pairs": "neardup.pairs(['a', 'b'])",
    "repeats": "neardup.repeats(['a', 'b'])",
}
#: Packages that are attributes after `import neardup`.
PACKAGES = ("lab", "readers", "server", "spark", "writers")
MISSING = re.compile(r"pip install 'neardup\[(\w+)\]'")

_PROGRAM = """
import sys

class Blocked:
    names = set(sys.argv[1].split(","))

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
"""
_COMMANDS = """
import contextlib, io, json
from neardup.cli import main

found = []
for words in json.loads(sys.argv[2]):
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["neardup", *words]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main()
    found.append((code, err.getvalue()))
print(json.dumps(found))
"""
_CALLS = """
import json
import neardup
from neardup.cli.commands import COMMANDS

found = {}
for name, call in json.loads(sys.argv[2]).items():
    try:
        exec(call)
        found[name] = ["", ""]
    except BaseException as error:
        found[name] = [type(error).__name__, str(error)]
print(json.dumps(found))
"""


def normalized(name):
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", name, maxsplit=1)[0]).lower()


@cache
def blocked():
    """Import names of the packages that only extras need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    listed = [one for many in project["optional-dependencies"].values() for one in many]
    optional = {normalized(one) for one in listed}
    # An extra may name another one: neardup[papers].
    optional -= {normalized(one) for one in [*project["dependencies"], project["name"]]}
    found = {
        module
        for module, packages in packages_distributions().items()
        if {normalized(package) for package in packages} & optional
    }
    known = {normalized(name) for names in packages_distributions().values() for name in names}
    # A package that is not installed cannot be imported anyway.
    found |= {name.replace("-", "_") for name in optional - known}
    assert len(found) >= len(optional)
    return found


def without_extras(program, given, folder):
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM + program, ",".join(sorted(blocked())), json.dumps(given)],
        capture_output=True,
        timeout=300,
        cwd=folder,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    (folder / "topics").mkdir()
    for name, text in {
        "in.jsonl": LINES,
        "topics/one.jsonl": LINES,
        "a.txt": A,
        "b.txt": B,
        "pairs.tsv": "id_a\tid_b\tlabel\na\tb\t0\na\tc\t1\n",
    }.items():
        (folder / name).write_text(text, "utf-8")
    document = docx.Document()
    document.add_paragraph(A)
    document.save(folder / "a.docx")
    # As an index looks to those who cannot open it.
    (folder / "n.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    return folder


@pytest.fixture(scope="module")
def ended(folder):
    """How each command ended, by its line."""
    lines = [*WORKING, *MISSING_LINES]
    found = without_extras(_COMMANDS, [line.split() for line in lines], folder)
    return dict(zip(lines, found, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("line", WORKING)
def test_a_command_works(ended, line):
    code, errors = ended[line]
    assert code == 0, errors


@pytest.mark.slow
@pytest.mark.parametrize("line", MISSING_LINES)
def test_command_without_its_extra_names_it(ended, line):
    code, errors = ended[line]
    assert "Traceback" not in errors
    assert code == 2, errors
    # A second line says that nothing was written.
    first, *_ = errors.splitlines()
    assert first.startswith("neardup: ")
    assert MISSING.search(first), first


def test_every_public_name_works_or_names_its_extra(folder):
    assert set(CALLS) <= set(neardup.__all__)
    calls = {name: f"neardup.{name}" for name in neardup.__all__} | CALLS
    calls |= {name: f"neardup.{name}.__all__" for name in PACKAGES}
    for name, (error, message) in without_extras(_CALLS, calls, folder).items():
        if error:
            assert error == "MissingDependencyError", (name, error, message)
            assert MISSING.search(message), (name, message)
        assert bool(error) == (name in ("Index", "server")), (name, message)
    assert set(Path(folder).glob("*.db")) == {folder / "n.db"}
