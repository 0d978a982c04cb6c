"""Files at addresses: read and written as files here are, and errors name the address."""

import gzip
import json
import shutil
import signal
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFile, MemoryFileSystem
from tests.index.written import families

import neardup
from neardup import InputError, MissingDependencyError, OutputError, ParameterError, cli
from neardup.readers import addresses
from neardup.tasks.dedup import dedup_files
from neardup.writers import open_output

ROWS = [{"id": f"d{index}", "text": text} for index, text in enumerate(families(2, 60))]
LINES = "\n".join(map(json.dumps, ROWS)).encode() + b"\n"


@pytest.fixture
def memory(make, bucket):
    """Three files of a dump in memory, and the same records in the working folder."""
    half = LINES.index(b"\n", len(LINES) // 2) + 1
    bucket.pipe_file("/dump/a.jsonl", LINES[:half])
    bucket.pipe_file("/dump/part/b.jsonl.gz", gzip.compress(LINES[half:]))
    bucket.pipe_file("/dump/_SUCCESS", b"")
    make("in.jsonl", LINES)
    return bucket


@pytest.mark.parametrize(
    "names",
    [
        ["memory://dump/"],
        ["memory://dump"],
        ["memory://dump/**"],
        ["memory://dump/a.jsonl", "memory://dump/part/*.gz"],
    ],
)
def test_addresses_give_the_result_of_local_files(memory, names):
    dedup_files(["in.jsonl"], "kept.jsonl", removed="removed.jsonl")
    result = dedup_files(names, "memory://out/kept.jsonl", removed="memory://out/removed.parquet")
    assert memory.cat_file("/out/kept.jsonl") == Path("kept.jsonl").read_bytes()
    assert result.summary.near_duplicates > 5
    with memory.open("/out/removed.parquet") as file:
        ids = pq.read_table(file)["id"].to_pylist()
    here = [json.loads(line)["id"] for line in Path("removed.jsonl").read_text().splitlines()]
    assert ids == here


@pytest.mark.usefixtures("memory")
def test_paper_is_checked_against_a_library_at_an_address():
    # Text of rare characters only would be refused.
    Path("paper.txt").write_text((ROWS[3]["text"] + "我们在码头上等着开往城里的船。" * 4) * 3)
    assert neardup.check("paper.txt", ["memory://dump/a.jsonl"]).sources


def test_every_output_and_saved_sketches(memory):
    neardup.sketch_files(["memory://dump/a.jsonl"], "memory://out/a.arrow")
    outputs = {name: f"memory://out/{name}" for name in ("removed.csv", "report", "review")}
    named = {name.partition(".")[0]: path for name, path in outputs.items()}
    dedup_files(["in.jsonl"], "memory://out/k.jsonl", against=["memory://out/a.arrow"], **named)
    dedup_files(["in.jsonl"], "k.jsonl", against=["memory://dump/a.jsonl"], removed="removed.csv")
    assert memory.cat_file("/out/k.jsonl") == Path("k.jsonl").read_bytes()
    assert memory.cat_file("/out/removed.csv") == Path("removed.csv").read_bytes()
    assert json.loads(memory.cat_file("/out/report"))["summary"]["read"] == len(ROWS)
    assert memory.cat_file("/out/review").startswith(b"<!DOCTYPE html>")
    neardup.repeats_files(["in.jsonl"], "memory://out/r.csv", remove="memory://out/clean.jsonl")
    tests = ["memory://dump/a.jsonl"]
    neardup.contamination_files(["in.jsonl"], tests, report="memory://out/found.csv")
    neardup.count_idf([row["text"] for row in ROWS]).save("memory://out/words.idf")
    assert neardup.load_idf("memory://out/words.idf").documents == len(ROWS)
    assert memory.exists("/out/r.csv")
    assert memory.exists("/out/clean.jsonl")
    assert memory.exists("/out/found.csv")


@pytest.mark.usefixtures("memory")
def test_a_command_does_not_take_a_slash_from_an_address(monkeypatch, capsys):
    words = ["dedup", "in.jsonl", "-o", "memory://o/k.jsonl", "--report", "http://127.0.0.1:9/r"]
    monkeypatch.setattr(sys, "argv", ["neardup", *words])
    assert cli.main() == 2
    assert "http://127.0.0.1:9/r: " in capsys.readouterr().err


def test_names_of_records_have_the_address(memory):
    memory.pipe_file("/dump/a.jsonl", b'{"text": "a b c"}\n{"text": "a b c"}\nnot json\n')
    result = dedup_files(["memory://dump/a.jsonl"], "out.jsonl")
    assert result.removed["id"].to_pylist() == ["memory://dump/a.jsonl:2"]
    assert str(result.problems[0]).startswith("memory://dump/a.jsonl: record 3:")


def test_existing_output_at_an_address_stays(memory):
    memory.pipe_file("/out.jsonl", b"before")
    with pytest.raises(OutputError, match=r"memory://out\.jsonl: exists already"):
        dedup_files(["in.jsonl"], "memory://out.jsonl")
    assert memory.cat_file("/out.jsonl") == b"before"


def lose_connection(*_, **__):
    raise ConnectionResetError("the peer went away")


@pytest.fixture
def replaced(memory):
    """A run that replaces an output here and two at addresses; call it, and see what is new."""
    addresses = {"removed": "/removed.jsonl", "report": "/report"}
    Path("kept.jsonl").write_bytes(b"before")
    for path in addresses.values():
        memory.pipe_file(path, b"before")

    def run():
        named = {name: f"memory:/{path}" for name, path in addresses.items()}
        dedup_files(["in.jsonl"], "kept.jsonl", force=True, **named)

    def new():
        contents = {"kept": Path("kept.jsonl").read_bytes()}
        contents |= {name: memory.cat_file(path) for name, path in addresses.items()}
        assert not [path for path in memory.store if path.endswith(".tmp")]
        assert sorted(path.name for path in Path().iterdir()) == ["in.jsonl", "kept.jsonl"]
        return [name for name, content in contents.items() if content != b"before"]

    return run, new


@pytest.mark.parametrize(
    ("step", "words", "complete"),
    [
        ("put_file", "No output was changed.", []),
        ("mv", "Only these outputs are complete: memory://removed.jsonl.", ["removed"]),
    ],
)
def test_outputs_here_and_elsewhere_are_new_together(replaced, monkeypatch, step, words, complete):
    run, new = replaced
    plain = getattr(MemoryFileSystem, step)

    def lose_the_report(self, source, target, **options):
        if "report" in target:
            lose_connection()
        plain(self, source, target, **options)

    monkeypatch.setattr(MemoryFileSystem, step, lose_the_report)
    with pytest.raises(OutputError) as caught:
        run()
    assert str(caught.value) == f"memory://report: cannot be written: the peer went away. {words}"
    assert new() == complete
    monkeypatch.setattr(MemoryFileSystem, step, plain)
    run()
    assert new() == ["kept", "removed", "report"]


def test_an_interrupt_ends_an_upload(replaced, monkeypatch):
    run, new = replaced

    def interrupted(self, source, target, **options):  # noqa: ARG001
        self.pipe_file(target, b"half")
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("the interrupt was ignored")

    monkeypatch.setattr(MemoryFileSystem, "put_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run()
    assert new() == []


@pytest.mark.usefixtures("memory")
def test_broken_transfer_is_an_input_error(monkeypatch):
    monkeypatch.setattr(MemoryFile, "read", lose_connection)
    with pytest.raises(InputError, match=r"a\.jsonl: cannot be fetched: the peer went away"):
        dedup_files(["memory://dump/a.jsonl"], "out.jsonl")
    assert not Path("out.jsonl").exists()


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("memory://none.jsonl", InputError, "memory://none.jsonl: no such file"),
        ("memory://dump/*.csv", InputError, r"memory://dump/\*.csv: no file matches"),
        ("nosuch://a.jsonl", ParameterError, "nosuch://a.jsonl: there is no library"),
        ("memory://dump/_SUCCESS", ParameterError, "extension"),
    ],
)
def test_refusal_is_one_sentence_and_nothing_is_written(name, error, says):
    with pytest.raises(error, match=says):
        dedup_files([name], "out.jsonl")
    assert [path.name for path in Path().iterdir()] == ["in.jsonl"]


@pytest.mark.usefixtures("memory")
def test_missing_fsspec_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'neardup\[remote\]'"):
        dedup_files(["memory://dump/"], "out.jsonl")


def test_a_run_in_a_work_folder_sees_a_change(memory):
    state = addresses.read_address_state("memory://dump/a.jsonl")
    assert state == addresses.read_address_state("memory://dump/a.jsonl")
    memory.pipe_file("/dump/a.jsonl", LINES)
    assert state != addresses.read_address_state("memory://dump/a.jsonl")
    result = dedup_files(["memory://dump/"], "out.jsonl", work="work")
    assert result.summary.read > len(ROWS)


class WebServer(SimpleHTTPRequestHandler):
    """It serves the working folder, and ends early where a file is named so."""

    def copyfile(self, source, outputfile):
        data = source.read()
        outputfile.write(data[: len(data) // 2] if "cut" in self.path else data)

    def log_message(self, *_):
        pass


@pytest.fixture
def web(memory):  # noqa: ARG001
    shutil.copy("in.jsonl", "cut.jsonl")
    with ThreadingHTTPServer(("127.0.0.1", 0), WebServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_web_server(web):
    dedup_files(["in.jsonl"], "kept.jsonl")
    dedup_files([f"{web}/in.jsonl?download=true"], "kept-2.jsonl")
    assert Path("kept-2.jsonl").read_bytes() == Path("kept.jsonl").read_bytes()
    with pytest.raises(InputError, match=rf"{web}/none\.jsonl: no such file"):
        dedup_files([f"{web}/none.jsonl"], "out.jsonl")
    with pytest.raises(InputError, match=rf"{web}/cut\.jsonl: "):
        dedup_files([f"{web}/cut.jsonl"], "out.jsonl")
    # Nobody listens there.
    with pytest.raises(InputError, match=r"127\.0\.0\.1:9/a\.jsonl: cannot be fetched: "):
        dedup_files(["http://127.0.0.1:9/a.jsonl"], "out.jsonl")
    with pytest.raises(OutputError, match="web server cannot be written to"):
        dedup_files(["in.jsonl"], f"{web}/out.jsonl")
    assert not Path("out.jsonl").exists()


def _interrupt_an_upload(system, monkeypatch):
    """A file of several parts is whole, or after an interrupt neither there nor in parts."""
    from s3fs.core import S3File

    monkeypatch.setattr("neardup.writers.address_sink._PART_BYTES", 5 << 20)
    content = bytes(12 << 20)
    with open_output("s3://dumps/large", format="jsonl") as output:
        output.write(content)
    assert system.cat_file("dumps/large") == content
    write = S3File.write

    def interrupted(file, data):
        if file.tell():
            signal.raise_signal(signal.SIGINT)
        return write(file, data)

    monkeypatch.setattr(S3File, "write", interrupted)
    output = open_output("s3://dumps/large", force=True, format="jsonl")
    with pytest.raises(KeyboardInterrupt), output:
        output.write(b"new" * len(content))
    assert system.cat_file("dumps/large") == content
    assert "Uploads" not in system.call_s3("list_multipart_uploads", Bucket="dumps")


@pytest.mark.slow
@pytest.mark.usefixtures("memory")
@pytest.mark.filterwarnings("ignore")
def test_a_store_of_objects(monkeypatch):
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "of-a-test")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        import s3fs

        s3fs.S3FileSystem.clear_instance_cache()
        system = s3fs.S3FileSystem()
        system.mkdir("dumps")
        system.pipe_file("dumps/a/part-0.jsonl", LINES)
        dedup_files(["in.jsonl"], "kept.jsonl")
        dedup_files(["s3://dumps/a/"], "s3://dumps/kept.jsonl.zst")
        dedup_files(["s3://dumps/kept.jsonl.zst"], "again.jsonl", exhaustive=True)
        assert Path("again.jsonl").read_bytes() == Path("kept.jsonl").read_bytes()
        words = [sys.executable, "-m", "neardup", "index", "add", "news.db", "s3://dumps/a/"]
        subprocess.run([*words, "--quiet"], check=True)
        with neardup.Index("news.db") as index:
            assert index.stats().documents == len(ROWS)
        with pytest.raises(OutputError, match="exists already"):
            dedup_files(["in.jsonl"], "s3://dumps/kept.jsonl.zst")
        with pytest.raises(InputError, match=r"s3://none/a\.jsonl"):
            dedup_files(["s3://none/a.jsonl"], "out.jsonl")
        _interrupt_an_upload(system, monkeypatch)
    finally:
        server.stop()


@pytest.mark.parametrize(
    "address",
    [
        "http://user:pa55word@127.0.0.1:9/x.jsonl?X-Amz-Signature=pa55word&page=2",
        "s3://user:pa55word@bucket/x.jsonl",
        "nosuch://user:pa55word@bucket/x.jsonl",
        "nosuch://pa55word@bucket/x.jsonl",
        "http://127.0.0.1:9/x.jsonl?page=2&sig=pa55word",
    ],
)
def test_password_of_an_address_is_in_no_message(tmp_path, address):
    source = tmp_path / "in.jsonl"
    source.write_bytes(LINES)
    for inputs, output in (([address], tmp_path / "out.jsonl"), ([source], address)):
        with pytest.raises((InputError, OutputError, ParameterError)) as caught:
            dedup_files(inputs, output)
        assert "pa55word" not in str(caught.value)
        assert "***" in str(caught.value)


def test_password_of_an_address_is_in_no_output(memory):
    name = "memory://user:pa55word@dump/x.jsonl"
    memory.pipe_file("/user:pa55word@dump/x.jsonl", b'{"text": "one"}\n{"text": "one"}\n')
    dedup_files([name], "kept.jsonl", removed="removed.jsonl", report="report.json", work="work")
    for path in ("removed.jsonl", "report.json"):
        content = Path(path).read_text("utf-8")
        assert "pa55word" not in content
        assert "memory://***@dump/x.jsonl" in content
