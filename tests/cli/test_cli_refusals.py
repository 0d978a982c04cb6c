"""The command line refuses bad input in one line with a way out, and writes nothing."""

import shlex
import shutil

import pytest
from tests.cli.conftest import LINES, A, B, last_line_apart, line_of

from neardup import Index
from neardup.cli.commands import COMMANDS

#: Beginnings of command lines, and what follows with the words that decide.
REFUSED = {
    "": {
        "pair": "no command pair. Did you mean pairs?",
        "nosuch": "See `neardup --help`",
        "index ad": "Did you mean add?",
        "serve nosuch": "no command nosuch",
        "serve key nosuch": "See `neardup serve key --help`",
        "evaluate nothing": "no command nothing",
        "recipes -z": "no option -z",
        "dedup a -o k -j many": "--workers must be a whole number",
        "pairs a --threshold high": "--threshold must be a number",
        "serve --port x": "--port must be a whole number",
        "check a --reference b": "Did you mean --library?",
        "contamination a --cover 0.5": "no option --cover. Did you mean --min-share?",
        "contamination a --least=9": "no option --least. Did you mean --min-item-length?",
        "contamination a --common 3": "no option --common. Did you mean --max-documents?",
        "pairs a --with b": "no option --with. Did you mean --against?",
        "index export n.db --whole": "no option --whole. Did you mean --include-removed?",
        "check a --among": "no option --among. Did you mean --compare-papers?",
        "check a --covers c.csv": "no option --covers. Did you mean --title-pages?",
        "repeats a --least 9": "no option --least. Did you mean --min-unit-length?",
        "check a --least 9": "no option --least. Did you mean --min-passage-length?",
        "--language fr recipes": "--language must be one of zh, en",
        "--language zh": "缺少命令",
    },
    "dedup": {
        "--nosuch": "no option --nosuch. See `neardup dedup --help`",
        "--keep x": "Did you mean --priority?",
        "in.jsonl --num_perm 128": "Did you mean --recipe?",
        "in.jsonl --treshold 0.5": "Did you mean --threshold",
        "in.jsonl -o k.jsonl --forc": "Did you mean --force",
        "in.jsonl": "--output is missing",
        "-o k.jsonl": "INPUT is missing",
        "in.jsonl -o": "-o needs a value",
        "- - -o k.jsonl": "standard input",
        "in.jsonl -o k.jsonl --removed ./k.jsonl": "k.jsonl",
        "in.jsonl -o nosuch/k.jsonl": "nosuch/k.jsonl: must be in a folder that exists",
        "in.jsonl -o k.what": "k.what: must end in",
        "in.jsonl dump -o k.jsonl --on-error stop": "Stopped, as --on-error stop asks",
    },
    "dedup -o k.jsonl": {
        "nosuch.jsonl": "nosuch.jsonl: no such file",
        "nosuch/**/*.jsonl*": "nosuch/**/*.jsonl*: no file matches",
        "folder": "folder: must contain files",
        "*.what": "*.what: must contain files",
        "in.what": "in.what: must have a known extension",
    },
    "dedup in.jsonl -o k.jsonl": {
        "--text-field txt": "4 records with 'id', 'text'",
        "--bits 8": "--bits must be left out, not 8, since",
        "--restore none.txt": "none.txt: cannot be read",
        "--restore none.txt --engine spark": "on Spark",
        "--recipe nosuch": "--recipe must be",
        "--recipe nosuch.toml": "nosuch.toml: cannot be read",
        "--recipe big.toml": "big.toml",
        "--threshold 80": "--threshold must be",
        "--workers -1": "--workers must be",
        f"--memory {'9' * 5000}GB": "--memory must be",
        "--priority best": "--priority must be",
        "--on-error ignore": "--on-error must be",
    },
    "pairs in.jsonl": {
        "--force=1": "--force takes no value",
        "-o k.csv --on-error drop": "--on-error must be one of keep, stop",
    },
    "repeats in.jsonl": {
        "--keep first": "--keep must be left out without --remove",
        "-o a.csv --places a.csv": "a.csv: must be one output only",
        "-o a.csv --remove b.xyz": "b.xyz: must end in",
        "--remove k.jsonl --text-field body": "Name the field with --text-field.",
        "nosuch.jsonl -o a.csv": "nosuch.jsonl: no such file",
    },
    "contamination": {
        "- --tests -": "--tests must name standard input ('-') at most once",
        "in.jsonl": "--tests must name a file",
        "in.jsonl --tests nosuch.jsonl": "nosuch.jsonl: no such file",
        "in.jsonl --tests wrong.jsonl": "Name the field with --test-text-field.",
        "wrong.jsonl --tests in.jsonl": "Name the field with --text-field.",
        "--splits a=in.jsonl b=dump --tests in.jsonl": "--tests must be left out",
        "--splits a=in.jsonl": "must be at least two",
        "--splits in.jsonl": "--splits must",
        "": "INPUT must name a file",
    },
    "compare": {
        "a b c d e": "does not take the argument d e",
        "a.txt nosuch.txt": "nosuch.txt: no such file",
        "a.txt folder": "folder: is a directory",
        "a.txt cut.docx": "cut.docx: must be a whole Word document",
        "a.txt gbk.txt --encoding utf-8": "gbk.txt: must be valid UTF-8 (byte 1 ",
        "a.txt b.txt --encoding klingon": "'klingon'",
        "a.txt b.txt nosuch/out.txt": "nosuch",
        "a.txt b.txt folder": "folder",
        "- -": "Only one of the two texts",
        "渡口停航三天 渡口停航四天": "To compare two texts",
        f"{'渡口停航三天。' * 100} 渡口停航四天": "To compare two texts",
        "a.txt b.txt k.txt -t 80": "did you mean 0.8?",
        "a.txt b.txt k.txt -d 3": "--max-distance must be left out",
    },
    "check": {
        "empty.txt -l library -o k.html": "empty.txt: must have letters or digits",
        "nowhere -l library -o out": "nowhere: no such file",
    },
    "check a.txt": {
        "": "--library must name",
        "-l nosuch": "nosuch: no such file or folder",
        "b.txt -l library -o k.html": "-o must be a folder for several",
        "b.txt -l library --json k.json": "--json must be a folder for several",
        "b.txt -l library --json -": "--json",
    },
    "check a.txt -l library": {
        "--workers -1": "--workers must be",
        "--pass-below 0.15": "--pass-below must be 0, or a percentage from 1 to 100",
        "--pass-below 40 --reject-above 30": "at most the threshold of rejection, 30%",
        "--without-source @nosuch.txt": "nosuch.txt: no such file",
        "--fail-above 30%": "--fail-above must be a number from 0 to 1",
        "--fail-above 1.1": "--fail-above must be",
        "--fail-above nan": "--fail-above must be",
        "--max-passages 0": "--max-passages must be",
        "--max-source-passages 0": "--max-source-passages must be",
        "--max-source-text 0": "--max-source-text must be",
        "--exclude nosuch.txt": "nosuch.txt: no such file",
        "-o report.odt": "-o must end in .html, .pdf or .docx for one paper",
    },
    "evaluate": {
        "pairs in.jsonl -o out": "--truth",
        "pairs in.jsonl --truth in.jsonl -o out": "must name the columns",
        "published dump -o out": "at least two documents",
        "published dump -o out --sizes 1k": "--sizes must be whole",
        "published dump -o out --recipes best": "recipe",
        "published dump --copies quotes": "--copies must be",
        "published dump --rate 0.05": "--rate must be left out unless --copies edits",
    },
    "index create": {
        "n.db": "there is an index already",
        "new.db --expected 1.5": "--expected must be a whole number",
        "new.db --expected 0": "--expected must be a whole number",
    },
    **{
        f"index add {index}": {
            "nosuch.jsonl": "nosuch.jsonl: no such file",
            "in.jsonl --within soon": "--within must be a timedelta",
            "in.jsonl --at-field at --at-zone Mars": "--at-zone must be",
            "in.jsonl --removed k.what": "must end in",
            "wrong.jsonl --removed k.jsonl": "Did you mean 'txt'?",
        }
        for index in ("n.db", "new.db")
    },
    "index query n.db": {
        "": "Give one text",
        "text --file in.jsonl": "Give one text",
        "a.txt": "--file a.txt",
        "text -k 0": "-k must be a whole number of at least 1",
        "text --within -3d": "--within must be",
        "text --at 2025-03-09": "sets the end of the period",
        "text --within 3d --at spring": "--at must be a time such as",
        "--file nosuch.txt": "nosuch.txt: no such file or directory",
        "--file gbk.txt --encoding utf-8": "name it with --encoding.",
    },
    "index": {
        "export n.db --decisions n.db-shm -f": "must not be both input and output",
        "export n.db --include-removed -o n.db-wal -f": "must not be both input and output",
        "explain n.db x": "there is no document 'x'",
        "export n.db --decisions a.txt": "a.txt",
        "backup n.db a.txt": "a.txt: ",
        "backup n.db n.db-wal": "n.db-wal: ",
        "restore n.db n.db -f": "must not be both input and output",
        "restore n.db a.txt": "a.txt: exists already",
        "restore a.txt new.db": "a.txt: must be an index",
        "expire n.db": "Give either --before or --older-than",
        "expire n.db --before 2025-01-01 --older-than 3d": "Give either",
        "expire n.db --before spring": "--before must be a time such as",
        "expire n.db --older-than 90": "--older-than must be",
        "expire n.db --older-than 0d": "'0d'",
    },
}
#: Commands that need an index.
WITH_AN_INDEX = [name for name in COMMANDS if name.startswith("index ")]
for name in ("create", "add", "restore"):
    WITH_AN_INDEX.remove(f"index {name}")
#: Places without an index.
PLACES = {
    "nosuch.db": "no such file. Create an index first",
    "text.db": "must be an index",
    "empty.db": "must hold an index",
    "folder": "must be a file",
    "mysql://host/db": "must be the path of a file, or begin with postgresql://",
    "postgresql://u:secret@127.0.0.1:1/x": "cannot connect",
}
for place, words in PLACES.items():
    REFUSED |= {line_of(command, place): {"": words} for command in WITH_AN_INDEX}
    # Adding makes a new index, in a folder that exists, also of an empty file.
    if place == "empty.db":
        continue
    place = place.replace("nosuch.db", "nosuch/n.db")
    words = words.replace("no such file. Create an index first", "must be in a folder that exists")
    REFUSED[f"index add {place}"] = {"in.jsonl": words}
#: Lines whose name N is longer than a file system takes.
TOO_LONG = """\
dedup N -o k.jsonl
dedup N* -o k.jsonl
dedup in.jsonl -o N.jsonl
dedup in.jsonl -o k.jsonl --removed N.jsonl
dedup in.jsonl -o k.jsonl --against N
dedup in.jsonl -o k.jsonl --work N
dedup in.jsonl -o k.jsonl --restore N
check in.jsonl -l N
check in.jsonl -l in.jsonl -o N/
index add N in.jsonl
index add n.db N
index create N
index stats N
evaluate published N
evaluate pairs in.jsonl --truth in.jsonl -o N
mcp N
serve --index N
serve key create reader --keys N"""
REFUSED[""] |= {
    line.replace("N", 5000 * "n"): "file name too long|no such file|no file matches|cannot be"
    for line in TOO_LONG.splitlines()
}
LINES_AND_WORDS = [
    (f"{beginning} {rest}".strip(), words)
    for beginning, rests in REFUSED.items()
    for rest, words in rests.items()
]


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    """A folder with what the lines name."""
    folder = tmp_path_factory.mktemp("things")
    for name in ("folder", "dump", "library"):
        (folder / name).mkdir()
    for name, data in {
        "in.what": LINES,
        "a.txt": A,
        "b.txt": B,
        "library/b.txt": B,
        "dump/one.xml": "",
        "empty.txt": "。。。",
        "text.db": B * 100,
        "empty.db": "",
        "dump/one.jsonl": f'{{"text": "{A}"}}\n',
        "wrong.jsonl": '{"id": "a", "txt": "a text"}\n',
        "big.toml": f"[sketch]\nbits = {'9' * 5000}\n",
    }.items():
        (folder / name).write_text(data, "utf-8")
    (folder / "gbk.txt").write_text(A, "gbk")
    (folder / "cut.docx").write_bytes(b"PK\x03\x04")
    with Index(folder / "n.db") as index:
        index.add("a", A)
    return folder


@pytest.mark.parametrize(("line", "words"), LINES_AND_WORDS, ids=range(len(LINES_AND_WORDS)))
def test_refusal_is_one_line_and_nothing_is_written(run, here, things, line, words):
    shutil.copytree(things, here, symlinks=True, dirs_exist_ok=True)

    def contents():
        return {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}

    before = contents()
    result = run(*shlex.split(line), code=2)
    (message,) = last_line_apart(result.err)
    assert any(some in message or some in message.lower() for some in words.split("|"))
    assert len(message.replace(5000 * "n", "")) < 320
    assert "secret" not in message
    assert result.out == ""
    assert contents() == before


#: English words that show a missing translation. Names of options and files stay English.
ENGLISH = {"has", "missing", "must", "See", "Did", "needs", "takes", "Got", "such", "Give"}


@pytest.mark.parametrize(
    "line", [f"{beginning} {rest}" for beginning, rests in REFUSED.items() for rest in [*rests][:3]]
)
def test_refusal_is_translated(run, here, things, line):
    shutil.copytree(things, here, symlinks=True, dirs_exist_ok=True)
    assert not ENGLISH & set(run("--language", "zh", *shlex.split(line), code=2).err.split())


@pytest.mark.parametrize("line", ["", "dedup", "index", "index add", "check", "serve"])
def test_command_without_arguments_prints_its_help(run, line):
    result = run(*line.split(), code=2)
    assert result.out == run(*line.split(), "--help").out
    assert result.err == ""
