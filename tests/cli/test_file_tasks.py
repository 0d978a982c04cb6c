"""Every task over files: one output from every place and in any parts, bad records, no records.

A new task joins with a line in `TASKS`.
"""

import gzip
import json
import re
import zipfile
from pathlib import Path

import pytest
from fsspec.implementations.memory import MemoryFileSystem
from tests.cli.conftest import LAST, A, B, last_line_apart, records_of
from tests.readers.making import column, pdf, without_page

from neardup.cli.commands import find_command, list_parameters
from neardup.readers import Sources

GOOD = f'{{"text": "{A}"}}\n{{"text": "{B}"}}\n'.encode()
#: Commands, each with its output; what begins with INPUT is the input.
TASKS = {
    "dedup": "dedup INPUT -o out",
    "pairs": "pairs INPUT -o out",
    "sketch": "sketch INPUT -o out",
    "fingerprint": "fingerprint INPUT -o out -r classic",
    "idf": "idf INPUT -o out",
    "repeats": "repeats INPUT --remove out",
    "contamination": "contamination INPUT --tests tests.jsonl -o out",
    "index": "index add n.db INPUT --removed out",
}
OUT = {"sketch": "out.sketches", "idf": "out.idf"}


@pytest.fixture
def task(run):
    """Run a task over inputs; return what it printed, and what it wrote."""
    Path("tests.jsonl").write_text(json.dumps({"text": LONG}))

    def run_task(name, *inputs, more=(), **options):
        out = Path(OUT.get(name, "out.jsonl"))
        for path in (out, Path("n.db")):
            path.unlink(missing_ok=True)
        if name == "index":
            run("index", "create", "n.db", "--quiet")
        words = TASKS[name].replace(" out", f" {out}").split()
        at = words.index("INPUT")
        result = run(*words[:at], *inputs, *words[at + 1 :], *more, **options)
        return result.err, out.read_bytes() if out.exists() else None

    return run_task


LONG = "Which of these rivers flows through three capitals on its way to the sea?"


def many(count):
    """Return lines of which a third repeat another one, and a few have the test item."""
    numbers = [at % (2 * count // 3) for at in range(count)]
    texts = [f"{n} {A[n % 7 :]}{B[: n % 11]} {n * 7919}" for n in numbers]
    texts[::50] = [f"{text} {LONG}" for text in texts[::50]]
    rows = ({"id": f"d{at}", "text": text} for at, text in enumerate(texts))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


@pytest.mark.parametrize("name", TASKS)
def test_every_place_gives_the_same_output(task, name):
    data = many(60)
    half = data.index(b"\n", len(data) // 2) + 1
    Path("a.jsonl").write_bytes(data)
    Path("dump/sub").mkdir(parents=True)
    Path("dump/a.jsonl").write_bytes(data[:half])
    Path("dump/sub/b.jsonl.gz").write_bytes(gzip.compress(data[half:]))
    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.writestr("a.jsonl", data)
    MemoryFileSystem().pipe_file("/dump/a.jsonl", data)
    _, expected = task(name, "a.jsonl")
    assert expected
    for inputs in (["dump"], ["dump/**"], ["dump/a.jsonl", "dump/sub/b.jsonl.gz"], ["a.zip"]):
        assert task(name, *inputs)[1] == expected, inputs
    assert task(name, "memory://dump/a.jsonl")[1] == expected
    assert task(name, "-", stdin=data)[1] == expected
    MemoryFileSystem.store.clear()


def options_of(name):
    words = TASKS[name].partition(" INPUT")[0].removesuffix(" n.db")
    return {parameter.title for parameter in list_parameters(find_command(words))}


@pytest.mark.parametrize("name", TASKS)
def test_threads_batches_and_memory_change_no_byte(task, monkeypatch, name):
    Path("a.jsonl").write_bytes(many(1200))
    one = ["--workers", "1"] if "--workers" in options_of(name) else []
    _, expected = task(name, "a.jsonl", more=one)
    assert len(expected) > 1000
    monkeypatch.setitem(Sources.batches.__kwdefaults__, "batch_records", 7)
    two = {"--workers": "2", "--memory": "512MiB"}
    more = [word for option in options_of(name) & two.keys() for word in (option, two[option])]
    assert task(name, "a.jsonl", more=more)[1] == expected


@pytest.mark.parametrize("name", TASKS)
def test_bad_record_is_told_and_the_run_goes_on(task, name):
    Path("bad.jsonl").write_bytes(GOOD + b'{"text": "' + b"x" * 500 + b'"\n' + GOOD)
    before = Path("bad.jsonl").stat()
    err, written = task(name, "bad.jsonl", code=2)
    (line,) = last_line_apart(err)
    assert line.startswith("neardup: bad.jsonl: record 3")
    assert len(line) < 240
    assert err.endswith(f"{LAST[0]}\n")
    Path("good.jsonl").write_bytes(GOOD + GOOD)
    copied = (b'{"text": "' in written) * (b'{"text": "' + b"x" * 500 + b'"\n')
    if name not in ("sketch", "index", "fingerprint", "pairs"):
        assert written.replace(copied, b"") == task(name, "good.jsonl")[1]
    after = Path("bad.jsonl").stat()
    assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)


@pytest.mark.parametrize("name", [name for name in TASKS if "--on-error" in options_of(name)])
def test_run_stopping_at_a_bad_record_writes_nothing(task, files, name):
    Path("bad.jsonl").write_bytes(GOOD + b"oops\n" + GOOD)
    before = files()
    err, written = task(name, "bad.jsonl", more=["--on-error", "stop"], code=2)
    assert written is None
    assert "bad.jsonl: record 3" in err
    assert err.endswith(f"{LAST[1]}\n")
    assert files() == before


@pytest.mark.parametrize("name", TASKS)
def test_no_records_are_a_problem_and_an_empty_output(task, name):
    Path("empty.jsonl").touch()
    err, written = task(name, "empty.jsonl", code=2)
    assert "neardup: empty.jsonl: no records." in err.splitlines()
    assert written is not None
    if name not in OUT:
        assert written == b""


@pytest.mark.parametrize("name", TASKS)
def test_quiet_and_no_progress_when_nobody_watches(task, name):
    assert not {"\r", "\x1b"} & set(task(name, "in.jsonl")[0])
    assert task(name, "in.jsonl", more=["--quiet"])[0] == ""


@pytest.mark.parametrize("name", TASKS)
def test_problems_of_one_kind_are_one_line(task, name):
    lines = [b'{"text": "%d ferry"}\n' % at if at % 5 else b'{"url": "u"}\n' for at in range(50)]
    Path("a.jsonl").write_bytes(b"".join(lines) + b'{"text": 7}\noops\n{"text": 8}\n')
    Path("empty.jsonl").write_bytes(b"")
    err, _ = task(name, "a.jsonl", "empty.jsonl", code=2)
    first, second, third, fourth = last_line_apart(err)
    assert "a.jsonl: record 1: must have a text field" in first
    assert first.endswith(" 10 in all (a.jsonl:1, a.jsonl:6, a.jsonl:11, …).")
    assert "a.jsonl: record 51, field 'text': must be text. Got 7 instead." in second
    assert second.endswith(" 2 in all (a.jsonl:51, a.jsonl:53).")
    assert "a.jsonl: record 52: " in third
    assert fourth == "neardup: empty.jsonl: no records."


@pytest.mark.parametrize(("has_report", "end"), [(True, "; --report lists all."), (False, ".")])
def test_after_a_hundred_kinds_of_problems_the_others_are_counted(capsys, has_report, end):
    from neardup.cli.watch import Watch
    from neardup.readers import Problem

    with Watch(quiet=True, has_report=has_report) as watch:
        for at in range(103):
            watch.problem(Problem("a.jsonl", at + 1, "x" * (at + 1), "must be text", "7"))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 101
    assert lines[-1] == f"neardup: and 3 more problems of other kinds{end}"
    assert (watch.problems, len(watch.lines)) == (103, 103 * has_report)


@pytest.mark.parametrize("name", TASKS)
def test_skipped_data_files_are_told(task, name):
    Path("dump/sub").mkdir(parents=True)
    for at in range(5):
        Path(f"dump/sub/{at}.jsonl").write_bytes(GOOD)
        Path(f"dump/{at}.xml").touch()
    Path("dump/README.md").write_text("about")
    err, written = task(name, "dump", code=2)
    note, skipped = last_line_apart(err)
    assert "note: dump: 1 documentation file" in note
    assert "dump/0.xml: skipped: the format is not read. 5 in all (dump/0.xml, " in skipped
    assert task(name, "dump/**/*.jsonl*")[1] == written


EMPTY = {
    **dict.fromkeys(["a.jsonl", "a.csv", "a.tsv", "a.txt", "a.md", "a.html"], b""),
    "a.txt.gz": gzip.compress(b""),
    "blank.jsonl": b"\n \n",
    "blank.txt": b"\n \n",
    "mark.txt": b"\xef\xbb\xbf",
    "head.csv": b"id,text\n",
    "tags.html": b"<html><body></body></html>",
}


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_file(run, name):
    Path(name).write_bytes(EMPTY[name])
    result = run("dedup", name, "-o", "out.jsonl", code=2)
    assert last_line_apart(result.err) == [f"neardup: {name}: no records."]
    assert re.search(r"(?m)^ +read +0 ", result.err)
    assert Path("out.jsonl").read_bytes() == b""


def test_resumed_run_names_empty_and_skipped_files_too(run):
    Path("dump").mkdir()
    for at in range(5):
        Path(f"dump/{at}.txt").write_text("" if at % 2 else f"text {at}")
        Path(f"dump/{at}.xml").touch()
    words = ("dedup", "dump", "-o", "out.jsonl", "--work", "work", "--report", "report.json")
    run(*words, "--removed", "nosuch/removed.jsonl", code=2)
    # It does not read them again.
    err = run(*words, code=2).err
    assert "neardup: dump/1.txt: no records. 2 in all (dump/1.txt, dump/3.txt)." in err
    assert "skipped: the format is not read. 5 in all" in err
    assert [row["id"] for row in records_of("out.jsonl")] == ["0.txt", "2.txt", "4.txt"]
    report = json.loads(Path("report.json").read_text("utf-8"))
    assert report["summary"]["problems"] == len(report["problems"]) == 7


@pytest.mark.parametrize(
    "words",
    [
        *((name, "a.pdf", "-o", "out.jsonl", "--format", "text") for name in ("dedup", "idf")),
        ("check", "a.pdf", "--library", "b.txt"),
        ("check", "b.txt", "--library", "a.pdf"),
        ("check", "b.txt", "--library", "b.txt", "--exclude", "a.pdf"),
        ("check", "a.pdf", "b.txt", "--compare-papers", "-q"),
        ("compare", "a.pdf", "b.txt"),
        ("explain", "a.pdf"),
        ("index", "add", "i.db", "a.pdf"),
        ("repeats", "a.pdf", "b.txt", "-o", "out.jsonl", "--format", "text"),
        ("contamination", "b.txt", "--tests", "a.pdf"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_damaged_page_is_a_problem_and_the_others_are_read(run, words):
    pages = [column([text * 3]) for text in (A, B, A[::-1], B[::-1])]
    Path("a.pdf").write_bytes(without_page(pdf(pages), 3))
    Path("b.txt").write_text(B * 3, "utf-8")
    result = run(*words, code=2)
    lines = [line for line in result.err.splitlines() if "damaged" in line]
    assert lines == [
        "neardup: a.pdf: page 3 of 4 is damaged and left out. Download or copy it again."
    ]
