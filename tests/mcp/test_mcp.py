"""The tools of an agent, asked by the SDK's own client."""

import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import anyio
import pytest
from anyio import from_thread, to_thread
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from tests import needs
from tests.cli.conftest import environment

from neardup import Index
from neardup.exceptions import NeardupError
from neardup.mcp import Cancellable, Tools, create_server

FERRY = "The new ferry leaves the old harbour at nine, and tickets are sold on board until noon."
LONG = "渡轮公司说新船下个月试航，票价不变，末班时间推迟到夜里十一点，老人与孩子免费乘坐。" * 10
RECORDS = [
    {"id": "ferry", "text": FERRY},
    {"id": "rain", "text": "Rain is expected along the whole coast until Thursday evening."},
    {"id": "ferry-again", "text": f"{FERRY} It rains."},
    {"id": "rain-again", "text": "Rain is expected along the whole coast until Thursday evening!"},
    {"id": "ferry-once-more", "text": f"(Agency) {FERRY}"},
    {"id": "long", "text": LONG},
]
#: The calls of all tests, put to one server.
CALLS = {
    "file": ("find_duplicates", {"paths": ["articles.jsonl"]}),
    "second page": ("find_duplicates", {"paths": ["articles.jsonl"], "limit": 1, "offset": 1}),
    "one member": ("find_duplicates", {"paths": ["articles.jsonl"], "members": 1, "limit": 1}),
    "folder": ("find_duplicates", {"paths": ["library", "articles.jsonl"], "limit": 1}),
    "folder by its name": ("find_duplicates", {"paths": ["named/library", "named"]}),
    "texts": ("find_duplicates", {"texts": [LONG, FERRY, LONG]}),
    "strict": ("find_duplicates", {"texts": [FERRY, FERRY + " It rains."], "threshold": 1}),
    "both": ("find_duplicates", {"texts": [FERRY], "paths": ["articles.jsonl"]}),
    "threshold": ("find_duplicates", {"texts": [FERRY], "threshold": 80}),
    "damaged": ("find_duplicates", {"paths": ["damaged.jsonl"]}),
    "limit": ("check_text", {"text": FERRY, "path": "news.db", "limit": 0}),
    "in index": ("check_text", {"text": FERRY + " Again.", "path": "news.db"}),
    "near index": (
        "check_text",
        {"text": FERRY[:45] + " Cats sleep in the sun by the window all day.", "path": "news.db"},
    ),
    "in folder": ("check_text", {"text": "A begin. " + FERRY + " Its end.", "path": "library"}),
    "not in folder": ("check_text", {"text": "Nothing of it is there.", "path": "library"}),
    "compare": ("compare_texts", {"a": FERRY, "b": FERRY.replace("nine", "ten")}),
    "explain": ("explain_fingerprint", {"text": "渡轮停靠码头，渡轮离开。", "limit": 2}),
    "no tags": ("explain_fingerprint", {"text": "渡轮停靠码头", "recipe": "bkdr"}),
    "no tags in any": ("find_duplicates", {"texts": [FERRY, "渡轮"], "recipe": "bkdr"}),
    "recipe": ("explain_fingerprint", {"text": FERRY, "recipe": "/etc/hosts.toml"}),
    "outside": ("find_duplicates", {"paths": ["../secret.txt"]}),
    "absolute": ("check_text", {"text": FERRY, "path": "/etc/passwd"}),
    "link": ("find_duplicates", {"paths": ["linked/secret.txt"]}),
    "folder with link": ("check_text", {"text": FERRY, "path": "linked"}),
    "address": ("find_duplicates", {"paths": ["https://localhost/a.jsonl"]}),
    "server": ("check_text", {"text": FERRY, "path": "postgresql://localhost/x"}),
    "standard input": ("find_duplicates", {"paths": ["-"]}),
    "missing": ("find_duplicates", {"paths": ["none.jsonl"]}),
    "pipe": ("find_duplicates", {"paths": ["piped/pipe.txt"]}),
    "long name": ("find_duplicates", {"paths": ["n" * 5000]}),
    "folder with pipe": ("find_duplicates", {"paths": ["piped"]}),
    "library with pipe": ("check_text", {"text": FERRY, "path": "piped"}),
    "zero": ("find_duplicates", {"paths": ["a\0b"]}),
    "unknown": ("compare_texts", {"a": FERRY, "b": FERRY, "threshold": 0.95}),
    "unknown of files": ("find_duplicates", {"texts": [FERRY, FERRY], "treshold": 0.95}),
    "no list": ("find_duplicates", {"texts": FERRY}),
    "no text in list": ("find_duplicates", {"texts": [FERRY, 5]}),
    "left out": ("compare_texts", {"a": FERRY}),
    "long b": ("compare_texts", {"a": FERRY, "b": "b" * 1_000_000}),
    "long text": ("find_duplicates", {"texts": [FERRY, "b" * 1_000_000]}),
    "too long": ("explain_fingerprint", {"text": "a" * 1_000_001}),
}


async def put(server, calls):
    """Return the tools of a server, and its answer or error for each call."""
    async with Client(server) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        answers = {}
        for name, (tool, given) in calls.items():
            result = await client.call_tool(tool, given)
            content = result.structured_content
            answers[name] = result.content[0].text if result.is_error else content
        return tools, answers


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    outside = tmp_path_factory.mktemp("mcp")
    folder = outside / "named"
    for name in ("library", "linked", "piped"):
        (folder / name).mkdir(parents=True)
    (folder / "piped" / "ferries.txt").write_text(FERRY, "utf-8")
    os.mkfifo(folder / "piped" / "pipe.txt")
    (outside / "secret.txt").write_text(FERRY, "utf-8")
    (folder / "linked" / "secret.txt").symlink_to(outside / "secret.txt")
    lines = "".join(json.dumps(record) + "\n" for record in RECORDS)
    (folder / "articles.jsonl").write_text(lines, "utf-8")
    (folder / "damaged.jsonl").write_text(lines + "{\n", "utf-8")
    (folder / "library" / "ferries.txt").write_text(f"Of ferries. {FERRY} So far.", "utf-8")
    with Index(folder / "news.db") as index:
        index.add_many(RECORDS)
    return folder


@pytest.fixture(scope="module")
def asked(folder):
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    asked = anyio.run(put, create_server(Tools([str(folder)])), CALLS)
    after = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    assert after == before
    return asked


@pytest.fixture(scope="module")
def tools(asked):
    return asked[0]


@pytest.fixture(scope="module")
def answers(asked):
    return asked[1]


def test_each_tool_describes_its_answer_and_only_reads(tools):
    assert {tool for tool, _ in CALLS.values()} == set(tools)
    for tool in tools.values():
        assert "Use it" in tool.description
        assert "Cost:" in tool.description
        assert tool.annotations.read_only_hint


def test_groups_come_with_full_counts_the_largest_first(answers):
    answer = answers["file"]
    assert (answer["documents"], answer["duplicates"], answer["groups_total"]) == (6, 3, 2)
    assert [group["kept"]["id"] for group in answer["groups"]] == ["ferry", "rain"]
    first = answer["groups"][0]
    assert first["kept"]["text"] == FERRY
    assert [one["id"] for one in first["duplicates"]] == ["ferry-again", "ferry-once-more"]
    assert all(0.4 < one["similarity"] < 1 for one in first["duplicates"])
    assert answer["next_offset"] is None


def test_texts_without_tags_are_told(answers):
    assert "has no words with tags" in answers["no tags"]
    assert answers["no tags in any"]["without_features"] == 2
    assert answers["file"]["without_features"] == 0


def test_the_rest_is_on_the_next_page(answers):
    first, second = answers["one member"], answers["second page"]
    assert first["next_offset"] == 1
    assert first["groups"][0]["duplicates_total"] == 2
    assert [one["id"] for one in first["groups"][0]["duplicates"]] == ["ferry-again"]
    assert [group["kept"]["id"] for group in second["groups"]] == ["rain"]
    assert (second["groups_total"], second["next_offset"]) == (2, None)


def test_a_folder_is_read_with_a_file(answers):
    answer = answers["folder"]
    assert answer["documents"] == 7
    assert answer["groups"][0]["duplicates_total"] == 3
    assert Path(answer["groups"][0]["kept"]["id"]).name == "ferries.txt"


def test_a_long_text_is_cut_and_says_so(answers):
    kept = answers["texts"]["groups"][0]["kept"]
    assert (kept["cut"], kept["characters"], kept["text"]) == (True, len(LONG), LONG[:300])
    assert not answers["file"]["groups"][0]["kept"]["cut"]


def test_the_threshold_decides(answers):
    assert answers["strict"]["duplicates"] == 0


def test_a_bad_record_is_a_problem(answers):
    answer = answers["damaged"]
    assert answer["groups_total"] == 2
    assert answer["problems_total"] == 1
    assert "record 7" in answer["problems"][0]


def test_index_names_the_repeated_document(answers):
    answer = answers["in index"]
    assert answer["found"]
    assert answer["documents_total"] == len(answer["documents"]) == 1
    assert answer["documents"][0]["id"] == "ferry"
    assert answer["documents"][0]["text"] == FERRY


def test_index_names_similar_documents(answers):
    answer = answers["near index"]
    assert not answer["found"]
    assert [one["id"] for one in answer["near_misses"]] == ["ferry"]
    assert 0 < answer["near_misses"][0]["similarity"] < 0.45


def test_folder_shows_the_copied_part(answers):
    answer = answers["in folder"]
    assert answer["found"]
    assert 0.7 < answer["rate"] < 1
    assert answer["documents"][0]["id"] == "ferries.txt"
    passage = answer["passages"][0]
    assert passage["id"] == "ferries.txt"
    assert passage["text"].startswith("The new ferry")
    assert "The new ferry" in passage["in_document"]["text"]


def test_folder_without_copies_finds_nothing(answers):
    answer = answers["not in folder"]
    assert not answer["found"]
    assert (answer["rate"], answer["documents"], answer["passages"]) == (0, [], [])


def test_two_texts_are_compared_with_their_differences(answers):
    answer = answers["compare"]
    assert answer["duplicate"] == answer["verdict"].startswith("Duplicates: ")
    assert 0.9 < answer["edit_similarity"] < 1
    assert answer["differences_total"] == 1
    difference = answer["differences"][0]
    assert (difference["a"]["text"], difference["b"]["text"]) == ("nine", "ten")
    assert answer["passages"][0]["text"].startswith("The new ferry")


def test_a_fingerprint_is_explained_by_its_words(answers):
    answer = answers["explain"]
    assert len(answer["fingerprint"]) == 16
    assert answer["features_total"] > len(answer["features"]) == 2
    assert answer["features"][0]["weight"] >= answer["features"][1]["weight"] > 0
    assert "渡轮" in [one["word"] for one in answer["features"]]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("both", "either paths or texts"),
        ("threshold", "did you mean 0.8?"),
        ("too long", "at most 1,000,000 characters"),
        # Of the schema.
        ("limit", "The 'limit' parameter must be greater than or equal to 1. Got 0 instead."),
        ("recipe", "The 'recipe' parameter must be 'general'"),
        ("unknown", "no parameter 'threshold'"),
        ("unknown of files", "no parameter 'treshold'. Did you mean 'threshold'?"),
        ("no list", "The 'texts' parameter must be a valid list. Got 'The new ferry"),
        ("no text in list", "The 'texts[1]' parameter must be a valid string. Got 5 instead."),
        ("left out", "The 'b' parameter must be given."),
        ("long b", "The 'b' parameter must be short enough"),
        ("long text", "The 'texts[1]' parameter must be short enough"),
    ],
)
def test_an_error_is_a_sentence_for_the_model(answers, name, words):
    assert words in answers[name]
    assert "Traceback" not in answers[name]
    assert "http" not in answers[name]


@pytest.mark.parametrize(
    "name",
    ["outside", "absolute", "link", "folder with link", "address", "server", "standard input"],
)
def test_path_outside_named_folders_is_refused(answers, folder, name):
    assert f"must be a file or folder below {folder}" in answers[name]


def test_a_pipe_in_a_folder_is_skipped_with_a_note(answers):
    assert answers["folder with pipe"]["documents"] == 1
    assert answers["library with pipe"]["found"]
    for name in ("folder with pipe", "library with pipe"):
        assert any("1 link, pipe, socket or device is skipped" in n for n in answers[name]["notes"])


@pytest.mark.parametrize("name", ["missing", "zero", "pipe", "long name"])
def test_no_such_path_is_refused(answers, name):
    assert "paths" in answers[name]


def test_without_folders_no_file_is_read():
    with pytest.raises(Exception, match="a folder that the server is given"):
        Tools([]).check_text(FERRY, __file__)


def test_a_folder_must_exist(tmp_path):
    with pytest.raises(ValueError, match="existing folder"):
        Tools([str(tmp_path / "none")])


SECRET = f"The secret is 4711. {FERRY}"
#: Paths of a call, and what is swapped for what once the path was checked.
SWAPS = {
    "file": ("a.txt", "a.txt", "secret/a.txt"),
    "file of a folder": (".", "a.txt", "secret/a.txt"),
    "table": ("a.jsonl", "a.jsonl", "secret/a.jsonl"),
    "archive": ("a.zip", "a.zip", "secret/a.zip"),
    "folder": ("inner", "inner", "secret"),
    "folder in a folder": (".", "inner", "secret"),
    "folder of a file": ("inner/a.txt", "inner", "secret"),
    "index": ("news.db", "news.db", "secret/news.db"),
    "pipe": ("a.txt", "a.txt", "secret/pipe"),
}


@pytest.fixture
def swapped(tmp_path, monkeypatch):
    """A folder, with the same files below another one that is not named."""
    monkeypatch.setattr(Cancellable, "advance", lambda *_: None)
    named, secret = tmp_path / "named", tmp_path / "secret"
    for folder, text in ((named, LONG), (named / "inner", LONG), (secret, SECRET)):
        folder.mkdir()
        for name in ("a.txt", "b.txt"):
            (folder / name).write_text(text, "utf-8")
        with zipfile.ZipFile(folder / "a.zip", "w") as archive:
            archive.writestr("a.txt", text)
        record = json.dumps({"id": "a", "text": text})
        (folder / "a.jsonl").write_text(f"{record}\n{record}\n", "utf-8")
        with Index(folder / "news.db") as index:
            index.add("a", text)
    os.mkfifo(secret / "pipe")
    return named


def outcomes(tools, path):
    """Yield what each tool says of a path."""
    for call in (lambda: tools.check_text(SECRET, path), lambda: tools.find_duplicates([path])):
        try:
            yield json.dumps(call())
        except NeardupError as error:
            yield str(error)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason=needs.LINUX)
@pytest.mark.parametrize("case", SWAPS)
def test_link_put_in_after_the_check_is_not_followed(swapped, monkeypatch, case):
    path, name, other = SWAPS[case]
    tools = Tools([str(swapped)])
    readable = tools._readable
    kept, link = swapped.parent / "kept", swapped / name

    def swap_after(*given):
        place = readable(*given)
        link.rename(kept)
        link.symlink_to(swapped.parent / other)
        return place

    monkeypatch.setattr(tools, "_readable", swap_after)
    for said in outcomes(tools, path):
        assert "4711" not in said
        assert '"found": true' not in said
        # The next tool finds it as it was.
        link.unlink()
        kept.rename(link)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason=needs.LINUX)
def test_link_swapped_during_reads_leaks_nothing(swapped):
    tools, stopped = Tools([str(swapped)]), threading.Event()
    (swapped / "a.txt").unlink()

    def swap():
        for target in itertools.cycle((swapped / "b.txt", swapped.parent / "secret" / "a.txt")):
            if stopped.is_set():
                return
            (swapped / "new").symlink_to(target)
            (swapped / "new").replace(swapped / "a.txt")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        answers = [said for _ in range(200) for said in outcomes(tools, "a.txt")]
    finally:
        stopped.set()
        thread.join()
    assert not [answer for answer in answers if "4711" in answer or '"found": true' in answer]
    # Some calls meet the file below the folder.
    assert any('"documents": 1' in answer for answer in answers)


@pytest.mark.parametrize("tool", ["find_duplicates", "check_text"])
def test_a_cancelled_request_ends_its_run(folder, tool):
    tools, finished = Tools([str(folder)]), []

    def work(scope):
        from_thread.run_sync(scope.cancel)
        given = {"text": FERRY, "path": "library"}
        if tool == "find_duplicates":
            given = {"paths": ["articles.jsonl"]}
        finished.append(getattr(tools, tool)(**given))

    async def cancelled():
        with anyio.CancelScope() as scope:
            await to_thread.run_sync(work, scope)
        assert scope.cancelled_caught
        # The next request is answered.
        return await to_thread.run_sync(lambda: tools.find_duplicates(texts=[FERRY, FERRY]))

    assert anyio.run(cancelled)["duplicates"] == 1
    assert not finished


@pytest.mark.slow
def test_the_command_gives_the_same_answers_over_standard_input(folder, answers):
    words = ["-m", "neardup", "mcp", str(folder)]
    server = StdioServerParameters(command=sys.executable, args=words, env=environment())
    assert anyio.run(put, stdio_client(server), CALLS)[1] == answers


@pytest.mark.slow
def test_malformed_line_is_answered(folder):
    """A client that waits for an answer would wait for ever."""

    def call(id, arguments):
        params = {"name": "compare_texts", "arguments": arguments}
        return json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})

    begin = {"protocolVersion": "2025-06-18", "capabilities": {}}
    begin["clientInfo"] = {"name": "test", "version": "1"}
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": begin}
    lines = {
        call(1, {"a": FERRY, "b": "lone \ud800"}): (1, "^b: expected Unicode .*U[+]D800"),
        call("two", {"a": ["\udc00"], "b": ""}): ("two", "^a.0.: expected Unicode .*U[+]DC00"),
        call(3, {"\ud800": FERRY}): (3, "a name in params.arguments: expected Unicode"),
        call("\ud800", {}): (None, "id: expected Unicode"),
        '{"jsonrpc": "2.0", "id": 4}': (4, "must be a message of JSON-RPC"),
        '{"jsonrpc": "2.0", "id": 5, ': (None, "must be a message of JSON-RPC"),
        "[" * 5000: (None, "must be a message of JSON-RPC"),
    }
    given = "\n".join([json.dumps(begin), *lines, call(9, {"a": FERRY, "b": FERRY})]) + "\n"
    command = [sys.executable, "-m", "neardup", "mcp", str(folder)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, env=environment(), **pipes) as process:
        watchdog = threading.Timer(120, process.kill)
        watchdog.start()
        process.stdin.write(given.encode())
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(len(lines) + 2)]
        rest = process.communicate()
        watchdog.cancel()
    assert (process.returncode, rest) == (0, (b"", b""))
    errors = [answer for answer in answers if "error" in answer]
    assert [answer["id"] for answer in errors] == [id for id, _ in lines.values()]
    for answer, (_, words) in zip(errors, lines.values(), strict=True):
        assert re.search(words, answer["error"]["message"])
    assert {answer["id"] for answer in answers if "result" in answer} == {0, 9}


@pytest.mark.slow
def test_http_is_served_at_this_machine_until_a_signal(folder):
    command = [sys.executable, "-m", "neardup", "mcp", str(folder), "--http", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment()) as process:
        address = process.stderr.readline().decode().split()[-1]
        assert address.startswith("http://127.0.0.1:")
        tools, answers = anyio.run(put, address, {"file": CALLS["file"]})
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read().decode()
        assert (process.wait(60), rest) == (0, "")
    assert len(tools) == 4
    assert answers["file"]["groups_total"] == 2


@pytest.mark.slow
def test_a_port_in_use_is_an_error():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        command = [sys.executable, "-m", "neardup", "mcp", "--http", port]
        done = subprocess.run(command, capture_output=True, env=environment(), timeout=120)
    assert done.returncode == 2
    assert b"--http must be a port that is free" in done.stderr
