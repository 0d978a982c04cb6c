"""``neardup index``: each command, and what it says of wrong input."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import LINES, A, B, environment
from tests.conftest import ROOT

from neardup.index.database import Database

ARTICLES = ROOT / "examples" / "articles.jsonl"
FIELDS = ("--at-field", "date", "--source-field", "source", "--extra-field", "date")


@pytest.fixture
def index(run):
    run("index", "create", "n.db", "-q")
    run("index", "add", "n.db", ARTICLES, *FIELDS, "-q")
    return "n.db"


def records(out):
    return [json.loads(line) for line in out.splitlines()]


def table(text):
    return dict(line.strip().split(None, 1) for line in text.splitlines() if len(line.split()) > 1)


# create


def test_create(run, files):
    found = run("index", "create", "n.db", "--recipe", "news", "--expected", 500)
    assert found.out == ""
    assert "recipe         news-" in found.err
    assert files() == ["in.jsonl", "n.db"]
    stats = json.loads(run("index", "stats", "n.db", "--json").out)
    assert stats["documents"] == 0
    assert stats["background"] == "none"


def test_create_with_settings(run):
    words = ["--threshold", "0.7", "--store", "sketch", "--strip-markup", "-q"]
    assert run("index", "create", "n.db", *words).err == ""
    stats = json.loads(run("index", "stats", "n.db", "--json").out)
    assert (stats["threshold"], stats["store"]) == (0.7, "sketch")
    assert not stats["recipe_id"].startswith("general-3")


def test_create_with_a_background(run):
    Path("more.csv").write_text("text\n另外一段文字。\n", "utf-8")
    run("index", "create", "n.db", "-b", ARTICLES, "--background", "more.csv")
    stats = json.loads(run("index", "stats", "n.db", "--json").out)
    assert stats["background"] == "given"
    assert stats["background_texts"] > 25


def test_bad_records_of_a_background_are_told(run):
    Path("bad.jsonl").write_text(LINES + "oops\n", "utf-8")
    found = run("index", "create", "n.db", "-b", "bad.jsonl", code=2)
    assert "bad.jsonl: record 5: must be valid JSON" in found.err
    run("index", "stats", "n.db")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--store", "nowhere"], "'store' parameter must be one of text, sketch"),
        (["--threshold", "80"], "'threshold' parameter must be a number above 0"),
        (["--expected", "0"], "'expected' parameter must be a whole number"),
        (["--recipe", "nosuch"], "nosuch"),
        (["--recipe", "news", "-b", "in.jsonl"], "'background' parameter must be left out"),
        (["-b", "nosuch.jsonl"], "nosuch.jsonl: no such file"),
        (["--from", "nosuch"], "nosuch: no such file"),
        (["--from", "in.jsonl"], "must begin with the first line of a whole index"),
        (["--from", "in.jsonl", "--recipe", "news"], "brings all settings with it"),
    ],
)
def test_what_create_refuses_makes_nothing(run, files, words, said):
    assert said in run("index", "create", "n.db", *words, code=2).err
    assert files() == ["in.jsonl"]


def test_an_index_that_is_there_is_left_alone(run, index):
    before = Path(index).read_bytes()
    assert "there is an index already" in run("index", "create", index, code=2).err
    assert Path(index).read_bytes() == before


# add


def test_add(run):
    run("index", "create", "n.db", "-q")
    found = run("index", "add", "n.db", ARTICLES, "--removed", "removed.jsonl")
    assert found.out == ""
    said = table(found.err)
    assert said["read"] == said["new"] == "31"
    assert said["kept"] == "25  already there or new"
    assert said["dropped"] == "6  content(5) >= 0.45"
    removed = records(Path("removed.jsonl").read_text("utf-8"))
    assert {row["id"]: row["kept_id"] for row in removed}["bridge-repost"] == "bridge"
    assert list(removed[0]) == ["id", "kept_id", "similarity", "measure", "distance"]


def test_again_it_passes_over_what_is_there(run, index):
    first = run("index", "add", index, ARTICLES, "--removed", "first.jsonl")
    again = run("index", "add", index, ARTICLES, "--removed", "again.jsonl")
    assert table(again.err.replace("already there", "already")) == {
        **table(first.err.replace("already there", "already")),
        "already": "31",
        "new": "0",
    }
    assert Path("first.jsonl").read_bytes() == Path("again.jsonl").read_bytes()


def test_no_index_is_made_by_a_mistyped_name(run, files):
    found = run("index", "add", "n.bd", "in.jsonl", code=2)
    assert found.err.startswith("neardup: n.bd: no such file.")
    assert "neardup index create n.bd" in found.err
    assert files() == ["in.jsonl"]


def test_add_from_standard_input(run):
    run("index", "create", "n.db", "-q")
    run("index", "add", "n.db", "-", "-q", stdin=LINES.encode())
    assert [row["id"] for row in records(run("index", "clusters", "n.db").out)] == ["c", "d"]


def test_duplicates_and_problems_in_the_exit_code(run):
    run("index", "create", "n.db", "-q")
    run("index", "add", "n.db", "in.jsonl", "--fail-on-duplicates", "-q", code=1)
    run("index", "add", "n.db", "in.jsonl", "--fail-on-duplicates", "-q", code=1)
    Path("bad.jsonl").write_text('{"id": "x", "text": 7}\n' + LINES, "utf-8")
    found = run("index", "add", "n.db", "bad.jsonl", "--fail-on-duplicates", code=2)
    assert "bad.jsonl: record 1, field 'text': must be text. Got 7 instead." in found.err
    assert table(found.err)["refused"] == "1"
    Path("empty.jsonl").touch()
    assert "empty.jsonl: no records." in run("index", "add", "n.db", "empty.jsonl", code=2).err


def test_another_text_under_an_id(run, index):
    Path("other.jsonl").write_text('{"id": "bridge", "text": "另一段文字。"}\n', "utf-8")
    found = run("index", "add", index, "other.jsonl", code=2)
    assert "'bridge' is there with another text" in found.err


def test_within(run):
    run("index", "create", "n.db", "-q")
    rows = [("a", "2024-03-01"), ("b", "2024-03-10"), ("c", "2024-03-12")]
    lines = [json.dumps({"id": id, "text": A, "when": when}) for id, when in rows]
    Path("w.jsonl").write_text("\n".join(lines), "utf-8")
    run("index", "add", "n.db", "w.jsonl", "--at-field", "when", "--within", "7d", "-q")
    found = records(run("index", "clusters", "n.db").out)
    assert [(row["id"], row["kept_id"]) for row in found] == [("c", "b")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["in.jsonl", "--within", "soon"], "'within' parameter must be a timedelta or a span"),
        (["nosuch.jsonl"], "nosuch.jsonl: no such file"),
        (["in.jsonl", "--removed", "in.jsonl"], "in.jsonl: exists already"),
        (["in.jsonl", "--removed", "r.xyz"], "must have the extension"),
    ],
)
def test_what_add_refuses_stores_nothing(run, words, said):
    run("index", "create", "n.db", "-q")
    assert said in run("index", "add", "n.db", *words, code=2).err
    assert json.loads(run("index", "stats", "n.db", "--json").out)["documents"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_after_an_interrupt_the_same_command_goes_on(run, here, files, number):
    with (here / "big.jsonl").open("w", encoding="utf-8") as lines:
        for at in range(60_000):
            text = "".join(chr(0x4E00 + (at * 7919 + i * i * 31) % 9000) for i in range(50))
            lines.write(json.dumps({"id": f"d{at}", "text": text}, ensure_ascii=False) + "\n")
    run("index", "create", "n.db", "-q")
    words = ["index", "add", "n.db", "big.jsonl", "--removed", "removed.jsonl"]
    process = subprocess.Popen(
        [sys.executable, "-m", "neardup", *words], stderr=subprocess.PIPE, env=environment()
    )
    # The log beside the file grows with the first batch.
    while not Path("n.db-wal").exists() or Path("n.db-wal").stat().st_size < 1 << 20:
        assert process.poll() is None, "the run was over before it began"
    process.send_signal(number)
    errors = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(30) == 2
    assert "Traceback" not in errors
    assert errors.startswith("neardup: interrupted. ")
    assert "removed.jsonl" not in files()
    stored = json.loads(run("index", "stats", "n.db", "--json").out)["documents"]
    assert 0 < stored < 60_000
    found = run(*words)
    assert f"{stored:,}" in found.err
    assert "60,000" in found.err


def test_the_report_of_add(run, index):
    rows = [{"id": f"p{at}", "text": "text", "date": "spring"} for at in range(150)]
    Path("bad.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("empty.jsonl").touch()
    words = [ARTICLES, "bad.jsonl", "empty.jsonl", "--at-field", "date", "--within", "14d"]
    found = run("index", "add", index, *words, "--report", "report.json", code=2)
    assert found.err.count("bad.jsonl: record ") == 100
    assert "neardup: and 51 more problems of this kind; --report lists them.\n" in found.err
    report = json.loads(Path("report.json").read_text("utf-8"))
    counts = report["summary"]
    assert (counts["read"], counts["refused"], counts["new"]) == (181, 150, 0)
    assert counts["already"] + counts["new"] == counts["kept"] + counts["dropped"] == 31
    assert counts["problems"] == len(report["problems"]) == 151
    assert report["problems"][149].startswith("bad.jsonl: record 150, field 'date': must be a time")
    assert report["problems"][150] == "empty.jsonl: no records."
    assert report["settings"]["within"] == "14d"
    assert report["settings"]["inputs"] == [str(ARTICLES), "bad.jsonl", "empty.jsonl"]
    assert report["index"]["documents"] == 31
    assert "neardup" in report["versions"]


def test_no_report_is_promised_where_there_is_none(run):
    Path("bad.jsonl").write_text("oops\n" * 101)
    found = run("index", "create", "n.db", "-b", "bad.jsonl", code=2)
    assert "and 1 more problems of this kind.\n" in found.err


def test_times_without_a_zone(run):
    run("index", "create", "n.db", "-q")
    line = json.dumps({"id": "a", "text": A, "date": "2020-3-30 23:37:00"})
    words = ["--at-field", "date", "--at-zone"]
    said = run("index", "add", "n.db", "-", *words, "Shanghai", stdin=line.encode(), code=2).err
    assert "'at_zone' parameter must be the name of a time zone" in said
    run("index", "add", "n.db", "-", *words, "Asia/Shanghai", "-q", stdin=line.encode())
    assert "arrived 2020-03-30 15:37:00 UTC" in run("index", "explain", "n.db", "a").out


def test_what_is_read_is_not_overwritten(run, index, files):
    before = Path("in.jsonl").read_bytes()
    for option in ("--removed", "--report"):
        found = run("index", "add", index, "in.jsonl", option, "in.jsonl", "-f", code=2)
        assert "in.jsonl: must not be read and written in one run" in found.err
    assert Path("in.jsonl").read_bytes() == before
    assert json.loads(run("index", "stats", index, "--json").out)["documents"] == 31
    assert files() == ["in.jsonl", index]


@pytest.mark.parametrize("name", ["n.db", "n.db-wal", "n.db-shm", "link.jsonl"])
def test_the_index_is_not_overwritten(run, index, name):
    os.symlink(index, "link.jsonl")
    for words in (
        ["export", index, "--whole", "-o", name],
        ["export", index, "-o", name],
        ["export", index, "--decisions", name],
        ["clusters", index, "-o", name],
        ["add", index, "in.jsonl", "--report", name],
        ["add", index, "in.jsonl", "--removed", name],
    ):
        found = run("index", *words, "--force", code=2)
        assert f"{name}: must not be written, since it is a file of the index n.db" in found.err
        assert found.out == ""
    assert run("index", "check", index).err == "no damage found\n"


def test_a_writer_that_waits_says_so_once(index):
    holder = Database.open(index, must_exist=True)
    with holder.writing():
        process = subprocess.Popen(
            [sys.executable, "-m", "neardup", "index", "add", index, "in.jsonl"],
            stderr=subprocess.PIPE,
            env=environment(),
        )
        first = process.stderr.readline().decode()
    rest = process.communicate(timeout=60)[1].decode()
    holder.close()
    assert first == "neardup: note: waiting for another writer.\n"
    assert "waiting" not in rest
    assert process.returncode == 0, rest


# query, explain, clusters, stats


def test_query(run, index):
    text = json.loads(ARTICLES.read_text("utf-8").splitlines()[0])["text"]
    first = records(ARTICLES.read_text("utf-8"))[0]
    Path("text.txt").write_text(text + "\n", "utf-8")
    for words, stdin in (
        ([text], b""),
        (["-"], text.encode()),
        (["--file", "text.txt"], b""),
        (["--file", "-"], text.encode()),
    ):
        found = run("index", "query", index, *words, stdin=stdin)
        assert found.err == ""
        assert found.out == f"same text   {first['id']}  {first['title']}\n"
    (match,) = records(run("index", "query", index, text[:-20], "--json", "-k", "1").out)
    assert match["id"] == first["id"]
    assert match["similarity"] > 0.8
    assert not match["identical"]
    window = ["--within", "1d", "--at"]
    assert run("index", "query", index, text, *window, first["date"]).out.startswith("same text")
    found = run("index", "query", index, text, *window, "2031-1-1 8:00")
    assert found.out == ""
    assert found.err == (
        "neardup: nothing that is kept in the 1d before 2031-01-01 08:00:00 UTC is similar"
        " enough.\n"
    )
    assert "in the 1d before 20" in run("index", "query", index, text, "--within", "1d").err


def test_query_without_an_answer(run, index):
    found = run("index", "query", index, "没有人写过的一句话，也没有人会写，写了也没有人会看见。")
    assert found.out == ""
    assert found.err == "neardup: nothing that is kept is similar enough.\n"
    found = run("index", "query", index, "没有人写过的一句话。", "--json")
    assert (found.out, found.err) == ("", "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Give one text"),
        (["text", "--file", "in.jsonl"], "Give one text"),
        (["text", "-k", "0"], "'k' parameter must be a whole number of at least 1"),
        (["text", "--within", "-3d"], "'within' parameter must be"),
        (["text", "--at", "2025-03-09"], "says where --within ends"),
        (["text", "--within", "3d", "--at", "spring"], "'at' parameter must be a time such as"),
        (["--file", "nosuch.txt"], "nosuch.txt: cannot be read"),
        (["--file", "gb.txt"], "Name the encoding"),
    ],
)
def test_what_query_refuses(run, index, words, said):
    Path("gb.txt").write_bytes("文字".encode("gb18030"))
    assert said in run("index", "query", index, *words, code=2).err


def test_explain(run, index):
    dropped = run("index", "explain", index, "bridge-agency").out
    assert "dropped: it repeats bridge: content(5) 0.9396" in dropped
    kept = run("index", "explain", index, "bridge").out
    assert "  kept\n" in kept
    assert "dropped for it: bridge-repost  same text" in kept
    found = json.loads(run("index", "explain", index, "bridge", "--json").out)
    assert found["document"]["state"] == "kept"
    assert [row["id"] for row in found["dropped"]] == ["bridge-repost", "bridge-agency"]
    assert "nothing is known of a document 'x'" in run("index", "explain", index, "x", code=2).err


def test_explain_without_words(run):
    run("index", "create", "n.db", "-q")
    lines = '{"id": "a", "text": ""}\n{"id": "b", "text": " "}\n'
    run("index", "add", "n.db", "-", "-q", stdin=lines.encode())
    for id in "ab":
        assert "" not in run("index", "explain", "n.db", id).out.splitlines()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "words",
    [
        ["stats"],
        ["stats", "--json"],
        ["query", A],
        ["explain", "a"],
        ["clusters"],
        ["export"],
        ["export", "--whole"],
        ["remove", "a"],
        ["reconsider"],
        ["reconsider", "c"],
    ],
)
@pytest.mark.usefixtures("here")
def test_a_full_disk_behind_standard_output(run, words):
    run("index", "create", "n.db", "-q")
    run("index", "add", "n.db", "in.jsonl", "-q")
    if words == ["reconsider"]:
        run("index", "remove", "n.db", "a")
    with open("/dev/full", "wb") as full:
        found = subprocess.run(
            [sys.executable, "-m", "neardup", "index", words[0], "n.db", *words[1:]],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            env=environment(),
        )
    text = found.stderr.decode()
    assert found.returncode == 2, text
    assert "Traceback" not in text
    assert "cannot be written: No space left on device" in text
    assert text.count("No space left") == 1


def test_clusters(run, index):
    out = run("index", "clusters", index).out
    assert len(records(out)) == 6
    run("index", "clusters", index, "-o", "clusters.jsonl")
    assert Path("clusters.jsonl").read_text("utf-8") == out
    assert "exists already" in run("index", "clusters", index, "-o", "clusters.jsonl", code=2).err
    run("index", "clusters", index, "-o", "clusters.csv", "--force")
    assert Path("clusters.csv").read_text("utf-8").startswith("id,kept_id,")


def test_no_terminal_takes_an_id_for_a_command(run):
    run("index", "create", "n.db", "-q")
    line = json.dumps({"id": "a\x1b[2J\n", "title": "t\x1b]0;x\x07", "text": A})
    run("index", "add", "n.db", "-", "-q", stdin=line.encode())
    for words in (["query", "n.db", A], ["explain", "n.db", "a\x1b[2J\n"]):
        out = run("index", *words).out
        assert "\x1b" not in out
        assert out.count("\n") == len(out.splitlines())


# remove, expire, reconsider


def test_remove_and_reconsider(run, index):
    found = run("index", "remove", index, "bridge")
    assert found.out == "bridge-repost freed\nbridge-agency freed\n"
    assert found.err.startswith("1 removed, 2 freed\n")
    assert "freed: what it repeated is gone" in run("index", "explain", index, "bridge-agency").out
    gone = run("index", "explain", index, "bridge").out
    assert gone.startswith("bridge is not in the index any more.\n")
    found = run("index", "reconsider", index, "bridge-repost", "ferry", "nosuch", code=2)
    assert found.out == "bridge-repost kept\n"
    assert found.err == (
        "neardup: note: 'ferry' is kept; passed over.\n"
        f"neardup: {index}: there is no document 'nosuch'.\n"
        "1 decided again: 1 kept, 0 dropped\n"
    )
    found = run("index", "reconsider", index)
    assert found.out.startswith("bridge-agency repeats bridge-repost: content(5) 0.9")
    assert found.err == "1 decided again: 0 kept, 1 dropped\n"
    explained = run("index", "explain", index, "bridge-agency").out
    assert "freed: it repeated bridge, which was removed" in explained
    assert "reconsidered: it repeats bridge-repost" in explained


def test_remove_several_at_once(run, index):
    found = run("index", "remove", index, "bridge", "nosuch", "bridge-repost", code=2)
    assert found.err.startswith(f"neardup: {index}: there is no document 'nosuch'.\n2 removed, 1 ")
    assert found.out == "bridge-agency freed\n"


def test_remove_with_reconsider(run, index):
    found = run("index", "remove", index, "bridge", "--reconsider")
    assert found.out.startswith("bridge-repost kept\nbridge-agency repeats bridge-repost")


def test_expire(run, index):
    found = run("index", "expire", index, "--before", "2025-03-03", "--reconsider")
    assert found.err.startswith("1 removed, 2 freed\n")
    assert found.out.startswith("bridge-repost kept\n")
    assert run("index", "expire", index, "--older-than", "1w").err.startswith("30 removed, 0 freed")
    assert json.loads(run("index", "stats", index, "--json").out)["documents"] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Give one of --before and --older-than"),
        (["--before", "2025-01-01", "--older-than", "3d"], "Give one of"),
        (["--before", "spring"], "'before' parameter must be a time such as"),
        (["--older-than", "90"], "'older_than' parameter must be"),
        (["--older-than", "0d"], "Got '0d' instead"),
    ],
)
def test_what_expire_refuses(run, index, words, said):
    assert said in run("index", "expire", index, *words, code=2).err


# export


def test_export(run, index):
    words = ["-o", "kept.jsonl", "--decisions", "decisions.csv"]
    run("index", "export", index, *words)
    kept = records(Path("kept.jsonl").read_text("utf-8"))
    assert len(kept) == 25
    assert list(kept[0]) == ["id", "text", "title", "source", "at", "date"]
    assert len(Path("decisions.csv").read_text("utf-8").splitlines()) == 7
    assert "exists already" in run("index", "export", index, *words, code=2).err
    run("index", "export", index, *words, "--force")
    assert run("index", "export", index).out == Path("kept.jsonl").read_text("utf-8")


def test_the_whole_index_through_a_pipe(run, index, files):
    run("index", "remove", index, "bridge")
    dumped = run("index", "export", index, "--whole")
    assert dumped.err == ""
    run("index", "create", "copy.db", "--from", "-", stdin=dumped.stdout)
    assert run("index", "export", "copy.db", "--whole").stdout == dumped.stdout
    run("index", "export", "copy.db", "--whole", "-o", "dump.gz")
    run("index", "create", "third.db", "--from", "dump.gz", "-q")
    assert run("index", "export", "third.db", "--whole").stdout == dumped.stdout
    before = files()
    cut = dumped.stdout[: len(dumped.stdout) // 2]
    for words, stdin, said in (
        (["--from", "-"], cut, "No index was made; export again."),
        (["--from", "-"], Path("dump.gz").read_bytes(), "must not be compressed"),
        (["--from", "-"], b"", "must begin with the first line"),
    ):
        assert said in run("index", "create", "bad.db", *words, stdin=stdin, code=2).err
        assert files() == before
    said = "writes the decisions too"
    words = ["--whole", "--decisions", "d.csv"]
    assert said in run("index", "export", index, *words, code=2).err


def test_an_index_without_texts_says_so(run):
    run("index", "create", "n.db", "--store", "sketch", "-q")
    run("index", "add", "n.db", "in.jsonl", "-q")
    found = run("index", "export", "n.db")
    assert "keeps no texts" in found.err
    assert records(found.out)[0]["text"] is None


@pytest.mark.parametrize("words", [["export"], ["export", "--whole"], ["clusters"]])
def test_a_closed_pipe_is_no_error(run, here, words):
    run("index", "create", "n.db", "-q")
    with (here / "many.jsonl").open("w", encoding="utf-8") as lines:
        for at in range(3000):
            text = A if words == ["clusters"] else f"{at} {A[at % 20 :]} {at * 7919}"
            lines.write(json.dumps({"id": f"d{at}", "text": text}) + "\n")
    run("index", "add", "n.db", "many.jsonl", "-q")
    process = subprocess.Popen(
        [sys.executable, "-m", "neardup", "index", words[0], "n.db", *words[1:]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    process.stdout.read(1)
    process.stdout.close()
    errors = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(60) == 0, errors
    assert errors == ""


# recount, compact, check


def test_upkeep(run, index):
    assert run("index", "recount", index).err.endswith(" texts counted\n")
    run("index", "create", "news.db", "-r", "news", "-q")
    said = "nothing counted: the rule does not look\n"
    assert run("index", "recount", "news.db").err == said
    assert "MB before" in run("index", "compact", index).err
    assert run("index", "check", index).err == "no damage found\n"


def test_check_of_a_damaged_file(run, index):
    data = bytearray(Path(index).read_bytes())
    middle = len(data) * 3 // 4 // 4096 * 4096
    data[middle : middle + 4096] = os.urandom(4096)
    Path(index).write_bytes(data)
    found = run("index", "check", index, code=2)
    assert found.out or "damaged" in found.err


COMMANDS = {
    "add": ["in.jsonl"],
    "query": ["text"],
    "explain": ["id"],
    "clusters": [],
    "stats": [],
    "remove": ["id"],
    "expire": ["--older-than", "3d"],
    "reconsider": [],
    "export": [],
    "recount": [],
    "compact": [],
    "check": [],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_places_without_an_index(run, files, command):
    Path("text.db").write_text(B * 100, "utf-8")
    Path("empty.db").touch()
    Path("folder").mkdir()
    for place, said in (
        ("nosuch.db", "no such file. Create an index first"),
        ("text.db", "must be an index"),
        ("empty.db", "must hold an index. Got an empty database"),
        ("folder", "must be a file. Got a folder instead"),
        ("mysql://host/db", "must be the path of a file, or begin with postgresql://"),
        ("postgresql://u:secret@127.0.0.1:1/x", "cannot connect"),
    ):
        found = run("index", command, place, *COMMANDS[command], code=2)
        assert said in found.err
        assert found.err.count("\n") == 1
        assert "secret" not in found.err
        assert found.out == ""
    assert files() == ["empty.db", "in.jsonl", "text.db"]
