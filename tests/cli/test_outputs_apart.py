"""No command writes a file that it reads, or unasked one that is there: each output option.

Options come from the parser, so a new one is tested, and a new command needs a line here.
"""

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
from tests.cli.conftest import LINES, A

from neardup import Index, load_recipe
from neardup.cli.commands import COMMANDS, find_command, list_parameters
from neardup.options.options import OUTPUT

#: A call with all options that name inputs; what is no command on its own is a second call.
CALLS = {
    "dedup": [
        "in.jsonl --against other.jsonl --restore ids.txt --recipe mine.toml",
        "in.jsonl --against n.db",
    ],
    "pairs": [
        "in.jsonl --against other.jsonl --recipe mine.toml",
        "in.jsonl --against n.db",
    ],
    "sketch": ["in.jsonl --recipe mine.toml"],
    "contamination": ["in.jsonl --tests other.jsonl", "--splits a=in.jsonl b=other.jsonl"],
    "repeats": ["in.jsonl"],
    "compare": ["in.txt other.txt --recipe mine.toml"],
    "check": [
        "in.html --library other.html --library n.db --exclude out.html --metadata meta.csv"
        " --without-source @ids.txt",
        "in.html other.html --library out.html --title-pages covers.csv",
    ],
    "fingerprint": ["in.jsonl --recipe mine.toml"],
    "idf": ["in.jsonl --recipe mine.toml"],
    "index add": ["n.db in.jsonl"],
    "index export": ["n.db"],
    "index backup": ["n.db"],
    "evaluate pairs": ["in.jsonl --truth truth.tsv --recipes mine.toml"],
    "evaluate published": ["topics --recipes mine.toml"],
}
#: Commands that change the file that they name.
IN_PLACE = {"serve key create", "serve key list", "serve key revoke"}
#: Outputs without a panel of their own, and options that name no file of texts.
NAMES = {"work", "checkpoint", "output", "copy"}
CLUSTER = {"checkpoint"}
#: Inputs in whose places a folder can be.
FOR_FOLDERS = {"in.jsonl", "other.jsonl", "in.html", "other.html", "topics"}

FILE = re.compile("FILE|DIR|FOLDER|INPUT|PATH|OUT")


def outputs_of(name):
    return [
        parameter
        for parameter in list_parameters(find_command(name))
        if (parameter.option.panel == OUTPUT and FILE.search(parameter.metavar))
        or parameter.name in NAMES
    ]


#: One file of each kind.
FILES = {
    **dict.fromkeys(("in.jsonl", "other.jsonl", "topics/ships.jsonl"), LINES),
    **dict.fromkeys(("in.txt", "other.txt", "in.html", "other.html", "out.html"), A),
    "ids.txt": "a\n",
    "stop.txt": "的\n",
    "words.txt": "的\n",
    "mine.toml": '[weigh]\nstop_words = "stop.txt"\n[decide]\nthreshold = 0.8\n',
    "meta.csv": "id,title\na,b\n",
    "covers.csv": "file,title\nin.html,b\n",
    "truth.tsv": "id_a\tid_b\tlabel\na\tc\t1\n",
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("topics").mkdir()
    for name, text in FILES.items():
        Path(name).write_text(text, "utf-8")
    recipe = load_recipe("general").replace(weigh={"stop_words": "words.txt"})
    Index("n.db", recipe=recipe).close()


def has_force(name):
    return any(known.name == "force" for known in list_parameters(find_command(name)))


def state():
    """Return the contents of all files that commands may not touch."""
    every = (path for path in Path().rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in every if not path.name.endswith("-shm")}


def words_for(name, call, parameter, path):
    """Return a call of a command that writes one of its outputs to a path."""
    words = [*name.split(), *shlex.split(call)]
    for other in outputs_of(name):
        if other.name == parameter.name:
            words += [*other.flags[:1], path]
        elif other.is_required or not other.flags:
            words += [*other.flags[:1], "new.jsonl"]
    return [*words, "--force"] if has_force(name) else words


def inputs_in(call):
    """Return the files and folders that a call reads."""
    names = [word.partition("=")[2] or word.lstrip("@") for word in shlex.split(call)]
    files = [name for name in names if os.path.exists(name)]
    for name, words in (("mine.toml", "stop.txt"), ("n.db", "words.txt")):
        files += [words] if name in names else []
    return files


CASES = [
    (name, call, parameter)
    for name, calls in CALLS.items()
    for call in calls
    for parameter in outputs_of(name)
    if parameter.name not in CLUSTER and not ("--splits" in call and parameter.name == "output")
]


def writes_folder(name, call, parameter):
    """Return whether names in a folder are the command's own, as of reports on several papers."""
    return "FOLDER" in parameter.metavar or (name == "check" and "--title-pages" in call)


def name_of(value):
    return value if isinstance(value, str) else value.name


def test_each_writing_command_has_a_call_with_all_inputs():
    writing = {name for name in COMMANDS if outputs_of(name)}
    assert writing - IN_PLACE == set(CALLS)
    for name, calls in CALLS.items():
        written = {parameter.name for parameter in outputs_of(name)}
        for parameter in list_parameters(find_command(name)):
            is_file = FILE.search(parameter.metavar) and parameter.flags
            if is_file and parameter.name not in written:
                assert any(parameter.title in call for call in calls), (name, parameter.title)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("name", "call", "parameter"),
    [case for case in CASES if not writes_folder(*case)],
    ids=name_of,
)
def test_no_output_is_an_input(run, name, call, parameter):
    before = state()
    for read in inputs_in(call):
        names = [read]
        if not os.path.isdir(read):
            os.link(read, "link.html")
            names.append("link.html")
        for path in names:
            ran = run(*words_for(name, call, parameter, path), code=2)
            said = ("must not be both input and output", "must not be inside", "-o must end in")
            assert any(map(ran.err.__contains__, said)), (path, ran.err)
        Path("link.html").unlink(missing_ok=True)
        assert state() == before


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("name", "call", "parameter"), [case for case in CASES if writes_folder(*case)], ids=name_of
)
def test_no_folder_of_outputs_is_in_a_folder_of_inputs(run, name, call, parameter):
    """For files, tests/writers/test_output_conflicts.py shows the same."""
    for read in sorted(FOR_FOLDERS & {*inputs_in(call)}):
        Path("folder").mkdir()
        shutil.copy("topics/ships.jsonl" if read == "topics" else read, "folder")
        before = state()
        words = words_for(name, call.replace(read, "folder"), parameter, "folder/out")
        assert "must not be inside folder" in run(*words, code=2).err
        assert state() == before
        shutil.rmtree("folder")


#: Calls that succeed, where the first one with all inputs does not.
SUCCEEDS = {"check": "in.html --library other.html", "idf": "in.jsonl"}
#: Each output that is a file, of commands that replace it if they are told to.
REPLACED = [
    (name, parameter)
    for name in CALLS
    for parameter in outputs_of(name)
    if "FOLDER" not in parameter.metavar
    and parameter.name not in ("work", *CLUSTER)
    and has_force(name)
]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("name", "parameter"), REPLACED, ids=name_of)
def test_existing_output_is_replaced_only_by_force(run, name, parameter):
    kinds = {("check", "output"): "html", ("check", "json"): "json"}
    path = Path(f"mine.{kinds.get((name, parameter.name), 'jsonl')}")
    path.write_text("mine")
    call = SUCCEEDS.get(name, CALLS[name][0])
    *words, force = words_for(name, call, parameter, str(path))
    before = state()
    assert f"{path}: exists already" in run(*words, code=2).err
    assert state() == before
    run(*words, force)
    assert path.read_bytes() != b"mine"
