"""What is wrong with an input is said in one line, counted, and survived."""

import json
from pathlib import Path

import pytest
from tests import forks, needs
from tests.cli.conftest import LINES, A, B, environment

GOOD = f'{{"text": "{A}"}}\n{{"text": "{B}"}}\n'.encode()


#: The last line says whether a run with code 2 is done.
LAST = [
    "neardup: done, except for what the lines above report.",
    "neardup: no output was written.",
]


def errors(found):
    lines = [line for line in found.err.splitlines() if line.startswith("neardup:")]
    return lines[:-1] if lines and lines[-1] in LAST else lines


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (b'{"text": oops}', "must be valid JSON"),
        (b'{"text": "unfinished', "must be valid JSON"),
        (b"[1, 2]", "must be a JSON object"),
        (b'{"title": "no text"}', "'text'"),
        (b'{"text": 12}', "field 'text': must be text. Got 12"),
        (b'{"text": null}', "field 'text': must be text. Got null"),
        (b'{"text": ["a"]}', "field 'text': must be text"),
        (b'{"text": "\xff\xfe"}', "UTF-8"),
        (b'{"text": "\\ud800"}', "surrogate"),
        (b'{"text": "' + b"x" * 500 + b'"', "must be valid JSON"),
    ],
)
@pytest.mark.parametrize("command", ["dedup", "pairs", "fingerprint", "idf"])
def test_one_bad_record(run, files, command, record, words):
    Path("bad.jsonl").write_bytes(GOOD + record + b"\n" + GOOD)
    found = run(command, "bad.jsonl", "-o", "out.jsonl", code=2)
    (line,) = errors(found)
    assert line.startswith("neardup: bad.jsonl: record 3")
    assert words in line
    assert len(line) < 240
    assert files() == ["bad.jsonl", "in.jsonl", "out.jsonl"]


def test_the_rest_of_the_run_goes_on(run):
    Path("bad.jsonl").write_bytes(GOOD + b"oops\n" + GOOD)
    run("dedup", "bad.jsonl", "-o", "out.jsonl", "--removed", "removed.jsonl", code=2)
    removed = [json.loads(line) for line in Path("removed.jsonl").read_text("utf-8").splitlines()]
    assert [r["similarity"] for r in removed] == [1.0, 1.0]
    assert [r["kept_id"] for r in removed] == ["bad.jsonl:1", "bad.jsonl:2"]


@pytest.mark.parametrize(("choice", "kept"), [("keep", GOOD + b"oops\n"), ("drop", GOOD)])
def test_on_error(run, choice, kept):
    Path("bad.jsonl").write_bytes(GOOD + b"oops\n" + GOOD)
    run("dedup", "bad.jsonl", "-o", "out.jsonl", "--on-error", choice, code=2)
    assert Path("out.jsonl").read_bytes() == kept


def test_on_error_stop(run, files):
    Path("bad.jsonl").write_bytes(GOOD + b"oops\n" + GOOD)
    arguments = ["bad.jsonl", "-o", "out.jsonl", "--removed", "removed.jsonl"]
    found = run("dedup", *arguments, "--on-error", "stop", code=2)
    assert len(errors(found)) == 1
    assert "bad.jsonl: record 3" in found.err
    assert files() == ["bad.jsonl", "in.jsonl"]


def test_many_bad_records_are_counted(run):
    Path("bad.jsonl").write_bytes(b"oops\n" * 150 + GOOD)
    found = run("dedup", "bad.jsonl", "-o", "out.jsonl", "--report", "report.json", code=2)
    assert errors(found) == [
        "neardup: bad.jsonl: 150 records must be valid JSON (records 1, 2, 3, …)."
        " Record 1: got oops instead."
    ]
    report = json.loads(Path("report.json").read_text("utf-8"))
    assert report["summary"]["problems"] == len(report["problems"]) == 150


@pytest.mark.parametrize("command", ["dedup", "pairs", "fingerprint", "idf"])
def test_problems_of_one_kind_are_one_line(run, command):
    lines = [b'{"text": "%d ferry"}\n' % at if at % 5 else b'{"url": "u"}\n' for at in range(50)]
    Path("a.jsonl").write_bytes(b"".join(lines) + b'{"text": 7}\noops\n{"text": 8}\n')
    Path("empty.jsonl").write_bytes(b"")
    found = run(command, "a.jsonl", "empty.jsonl", "-o", "out.jsonl", code=2)
    assert errors(found) == [
        "neardup: a.jsonl: 10 records have no text field 'text', 'content' or 'body'"
        " (records 1, 6, 11, …). Record 1 has 'url'.",
        "neardup: a.jsonl: 2 records: field 'text' must be text (records 51, 53)."
        " Record 51: got 7 instead.",
        "neardup: a.jsonl: record 52: must be valid JSON (unexpected character, expected a JSON"
        " value at character 1). Got oops instead.",
        "neardup: empty.jsonl: no records.",
    ]


def test_problems_of_one_kind_in_many_files(run):
    for at in range(5):
        Path(f"{at}.jsonl").write_bytes(GOOD + b"oops\n" * at)
        Path(f"{at}.txt").write_bytes(bytes(100))
    names = [f"{at}.{kind}" for kind in ("jsonl", "txt") for at in range(5)]
    found = run("dedup", *names, "-o", "out.jsonl", code=2)
    assert errors(found) == [
        "neardup: 10 records in 4 files must be valid JSON"
        " (1.jsonl record 3, 2.jsonl record 3, 3.jsonl record 3, …)."
        " 1.jsonl record 3: got oops instead.",
        "neardup: 5 files must be text, HTML, Word (.docx) or PDF (0.txt, 1.txt, 2.txt, …)."
        " 0.txt: got binary data: " + r"\x00" * 12 + " instead.",
        "neardup: 5 files: left out of out.jsonl: an unreadable record cannot be converted"
        " (0.txt, 1.txt, 2.txt, …).",
    ]


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


def make_dump():
    for at in range(5):
        Path("dump/sub").mkdir(parents=True, exist_ok=True)
        Path(f"dump/sub/{at}.jsonl").write_bytes(GOOD)
        Path(f"dump/{at}.xml").touch()
    Path("dump/README.md").write_text("about")


@pytest.mark.parametrize("command", ["dedup", "pairs", "fingerprint", "idf"])
@pytest.mark.parametrize("inputs", ["dump", "dump/**"])
def test_data_files_that_are_passed_over(run, command, inputs):
    make_dump()
    found = run(command, inputs, "-o", "out.jsonl", code=2)
    assert errors(found) == [
        f"neardup: note: {inputs}: 1 documentation file next to data files is skipped:"
        " dump/README.md. To read it, name it as an input.",
        "neardup: 5 files: skipped: the format is not read"
        " (dump/0.xml, dump/1.xml, dump/2.xml, …).",
    ]
    run(command, "dump/**/*.jsonl*", "-o", "out2.jsonl")
    if command != "idf":
        first, second = Path("out.jsonl").read_bytes(), Path("out2.jsonl").read_bytes()
        assert first == second


def test_refused_files_of_one_kind_are_one_line(run):
    make_dump()
    for at in range(5):
        Path(f"dump/{at}.xml").unlink()
        Path(f"dump/{at}.csv").write_text(",".join(["id", "label"][: 1 + at % 2]) + "\n1\n")
    found = run("dedup", "dump", "-o", "out.jsonl", code=2)
    assert errors(found)[1:] == [
        "neardup: 5 files: skipped: must have a text column 'text', 'content' or 'body'"
        " (dump/0.csv, dump/1.csv, dump/2.csv, …). dump/0.csv: got 'id' instead."
        " Name the field with --text-field."
    ]


def test_on_error_stop_for_a_file_of_a_folder(run, files):
    make_dump()
    before = files()
    found = run("dedup", "dump", "-o", "out.jsonl", "--on-error", "stop", code=2)
    assert errors(found) == [
        "neardup: dump/0.xml: skipped: the format is not read. Stopped, as --on-error stop asks."
    ]
    assert files() == before


def test_a_folder_into_an_index(run):
    make_dump()
    found = run("index", "create", "n.db", "-q")
    found = run("index", "add", "n.db", "dump", "--report", "report.json", code=2)
    assert "neardup: 5 files: skipped" in found.err
    report = json.loads(Path("report.json").read_text("utf-8"))
    assert (report["summary"]["new"], report["summary"]["problems"]) == (10, 5)
    assert "dump/4.xml: skipped: the format is not read." in report["problems"]


def test_a_work_folder_and_a_folder_of_inputs(run):
    make_dump()
    words = ("dump", "dump/**/*.jsonl", "-o", "out.jsonl", "--work", "work")
    found = run("dedup", *words, "--removed", "nosuch/removed.jsonl", code=2)
    assert "must be in a folder that exists" in found.err
    found = run("dedup", *words, code=2)
    assert "5 files: skipped" in found.err
    assert len(Path("out.jsonl").read_bytes().splitlines()) == 2


def test_an_empty_file(run):
    """No records are a problem of the input; an empty text is a text."""
    Path("empty.jsonl").write_bytes(b"")
    found = run("dedup", "empty.jsonl", "-o", "out.jsonl", code=2)
    assert errors(found) == ["neardup: empty.jsonl: no records."]
    assert Path("out.jsonl").read_bytes() == b""
    Path("empty.txt").write_bytes(b"")
    run("dedup", "empty.txt", "-o", "out2.jsonl")
    assert len(Path("out2.jsonl").read_bytes().splitlines()) == 1


@pytest.mark.parametrize("name", ["empty.csv", "empty.parquet", "empty.jsonl.gz"])
def test_an_empty_file_that_cannot_be_of_its_format(run, files, name):
    Path(name).write_bytes(b"")
    before = files()
    found = run("dedup", name, "-o", "out.jsonl", code=2)
    assert name in errors(found)[0]
    assert files() in (before, sorted([*before, "out.jsonl"]))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nosuch.jsonl"], "nosuch.jsonl: no such file"),
        (["in.jsonl", "nosuch.jsonl"], "nosuch.jsonl: no such file"),
        (["folder"], "folder: must contain files with a known extension"),
        (["nosuch/**/*.jsonl*"], "nosuch/**/*.jsonl*: no file matches this pattern."),
        (["*.what"], "*.what: must contain files with a known extension"),
        (["in.what"], "in.what: must have a known extension"),
        (["in.jsonl", "--text-field", "txt"], "Got 4 records with 'id', 'text' instead."),
        (["in.jsonl", "--format", "what"], "--format must be"),
        (["in.jsonl", "--recipe", "nosuch"], "--recipe must be"),
        (["in.jsonl", "--recipe", "nosuch.toml"], "nosuch.toml: cannot be read"),
        (["in.jsonl", "--threshold", "80"], "--threshold must be"),
        (["in.jsonl", "--threshold", "0"], "--threshold must be"),
        (["in.jsonl", "--threshold", "nan"], "--threshold must be"),
        (["in.jsonl", "--max-distance", "129"], "--max-distance must be"),
        (["in.jsonl", "--max-distance", "-1"], "--max-distance must be"),
        (["in.jsonl", "--workers", "-1"], "--workers must be"),
        (["-", "-"], "standard input"),
    ],
)
def test_inputs_and_options_that_are_none(run, files, arguments, words):
    Path("folder").mkdir()
    Path("in.what").write_text(LINES, "utf-8")
    before = files()
    for command in ("dedup", "pairs"):
        found = run(command, *arguments, "-o", f"out-{command}.jsonl", code=2)
        (line,) = errors(found)
        assert words in line
        assert files() == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--priority", "best"], "--priority must be"),
        (["--on-error", "ignore"], "--on-error must be"),
        (["--priority", "field:"], "--priority must be"),
    ],
)
def test_options_of_dedup(run, files, options, words):
    found = run("dedup", "in.jsonl", "-o", "out.jsonl", *options, code=2)
    assert words in found.err
    assert files() == ["in.jsonl"]


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("dedup", ["-o"]),
        ("dedup", ["-o", "k.jsonl", "--removed"]),
        ("pairs", ["-o"]),
        ("dedup", ["-o", "k.jsonl", "--report"]),
        ("fingerprint", ["-o"]),
        ("idf", ["-o"]),
    ],
)
def test_an_output_that_exists(run, files, command, options):
    Path("mine.jsonl").write_text("mine", "utf-8")
    found = run(command, "in.jsonl", *options, "mine.jsonl", code=2)
    assert len(errors(found)) == 1
    assert "mine.jsonl: exists already" in found.err
    assert "--force" in found.err
    assert Path("mine.jsonl").read_text("utf-8") == "mine"
    assert files() == ["in.jsonl", "mine.jsonl"]
    run(command, "in.jsonl", *options, "mine.jsonl", "--force")
    assert Path("mine.jsonl").read_text("utf-8") != "mine"


@pytest.mark.parametrize("command", ["dedup", "pairs", "fingerprint", "idf"])
@pytest.mark.parametrize("spelling", ["in.jsonl", "./in.jsonl", "link.jsonl"])
def test_an_output_that_is_an_input(run, command, spelling):
    Path("link.jsonl").symlink_to("in.jsonl")
    found = run(command, "in.jsonl", "-o", spelling, "--force", code=2)
    assert len(errors(found)) == 1
    assert Path("in.jsonl").read_text("utf-8") == LINES


def test_two_outputs_that_are_one(run, files):
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--removed", "./out.jsonl", code=2)
    assert files() == ["in.jsonl"]


def test_compare_refuses_to_overwrite_an_input(run):
    Path("a.txt").write_text(A, "utf-8")
    found = run("compare", "a.txt", "in.jsonl", "a.txt", code=2)
    assert "also an input" in found.err
    assert Path("a.txt").read_text("utf-8") == A


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.txt", "nosuch.txt"], "nosuch.txt: no such file"),
        (["a.txt", "folder"], "folder: cannot be read"),
        (["a.txt", "gbk.txt", "--encoding", "utf-8"], "gbk.txt: byte 0 is not valid utf-8"),
        (["a.txt", "cut.docx"], "cut.docx: must be a whole Word document"),
        (["a.txt", "a.txt", "--encoding", "klingon"], "'klingon'"),
        (["a.txt", "a.txt", "--encoding", "base64"], "'base64'"),
        (["a.txt", "a.txt", "nosuch/out.txt"], "nosuch"),
        (["-", "-"], "Only one of the two texts"),
    ],
)
def test_what_compare_refuses(run, arguments, words):
    Path("a.txt").write_text(A, "utf-8")
    Path("gbk.txt").write_text(A, "gbk")
    Path("cut.docx").write_bytes(b"PK\x03\x04")
    Path("folder").mkdir()
    found = run("compare", *arguments, code=2)
    (line,) = errors(found)
    assert words in line


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason=needs.LINUX)
@pytest.mark.parametrize("command", ["dedup", "pairs"])
@pytest.mark.usefixtures("here")
def test_a_full_disk_behind_standard_output(command):
    found = forks.run(
        *(forks.run_command, command, "in.jsonl", "-o", "-"),
        stdout=Path("/dev/full"),
        environment=environment(),
    )
    text = found.stderr.decode()
    assert found.returncode == 2, text
    assert "Traceback" not in text
    assert "No space left" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("dedup", "out.jsonl"),
        ("dedup", "out.parquet"),
        ("pairs", "out.jsonl.gz"),
        ("fingerprint", "out.csv"),
        ("idf", "out.idf"),
    ],
)
def test_a_full_disk(run, files, command, name):
    """A file may not grow past some bytes: writing fails as on a full disk."""
    with Path("in.jsonl").open("a", encoding="utf-8") as lines:
        for at in range(400):
            text = "".join(chr(0x4E00 + (at * 7919 + i * 104729) % 20000) for i in range(60))
            lines.write(json.dumps({"id": f"{at}-{hash(text)}", "text": text}) + "\n")
            lines.write(json.dumps({"id": f"again {at}", "text": text}) + "\n")
    found = run(command, "in.jsonl", "-o", name, code=2, file_size=2000)
    (line,) = errors(found)
    assert "out." in line
    assert files() == ["in.jsonl"]


def test_a_folder_that_is_not_there(run, files):
    found = run("dedup", "in.jsonl", "-o", "nosuch/out.jsonl", code=2)
    assert "nosuch/out.jsonl: must be in a folder that exists" in found.err
    assert files() == ["in.jsonl"]


def test_an_output_of_no_format(run, files):
    found = run("dedup", "in.jsonl", "-o", "out.what", code=2)
    assert "out.what: must have the extension" in found.err
    assert files() == ["in.jsonl"]


def test_damage_in_a_compressed_file(run):
    import gzip

    data = gzip.compress(LINES.encode() * 50)
    Path("cut.jsonl.gz").write_bytes(data[: len(data) // 2])
    found = run("dedup", "cut.jsonl.gz", "-o", "out.jsonl", code=2)
    assert "cut.jsonl.gz" in errors(found)[-1]


def test_the_input_is_never_touched(run):
    before = Path("in.jsonl").stat()
    run("dedup", "in.jsonl", "-o", "out.jsonl")
    after = Path("in.jsonl").stat()
    assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
