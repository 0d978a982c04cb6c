"""A child process has threads of its own, however it was started, for all that uses threads."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
from tests import needs

import neardup

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason=needs.POSIX)]

#: Everything that uses threads, each on a folder with an index; a child that hangs is ended.
PROGRAM = """
import json, multiprocessing, os, signal, sys, tempfile
import numpy as np
import neardup
import neardup.readers
from neardup import _core

_core.forbid_global_pool()
FORM = "第{}号公告：{}号渡口的新渡轮{}日试航。"
TEXTS = [FORM.format(at, chr(0x4E00 + 7 * at), at % 31) * 2 for at in range(100)]
ROWS = np.arange(2_000, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
INDEX = sys.argv[1]

def similar(recipe, **options):
    return neardup.dedup(TEXTS, recipe=recipe, **options).keep.tolist()

def worked():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.jsonl")
        with open(path, "w", encoding="utf-8") as lines:
            lines.writelines(json.dumps({"text": text}) + "\\n" for text in TEXTS)
        names = [os.path.join(folder, name) for name in ("kept.jsonl", "work")]
        return neardup.dedup_files([path], names[0], work=names[1]).keep.tolist()

def added():
    with neardup.Index(INDEX) as index:
        new = [{"id": f"{os.getpid()}-{at}", "text": text} for at, text in enumerate(TEXTS[:50])]
        added = index.add_many(new).new
        index.add(f"{os.getpid()}", TEXTS[0])
        return added, index.query(TEXTS[3]) is not None, index.recount() > 0

def checked():
    paper = neardup.readers.read_bytes("\\n".join(TEXTS[:9]).encode(), "paper.txt")
    report = neardup.check(paper, INDEX)
    return report.rates.total

def tasks():
    return {
        "general": similar("general"),
        "work folder": worked(),
        "minhash": similar("minhash"),
        "characters": similar("characters"),
        "improved": similar("improved"),
        "pairs": neardup.pairs(TEXTS[:40], threshold=0.5).table.num_rows,
        "near": len(neardup.near_pairs(ROWS, max_distance=3).a),
        "compare": neardup.compare(TEXTS[0], TEXTS[1], passages=True).similarity,
        "check": checked(),
        "index": added(),
    }

def child(_):
    signal.alarm(100)
    return tasks()

def fork(index, expected):
    pid = os.fork()
    if pid == 0:
        signal.alarm(100)
        # What the parent had open is an error; what is opened here is not.
        try:
            index.recount()
        except neardup.exceptions.IndexUnavailableError as error:
            assert "forked" in str(error)
        else:
            os._exit(9)
        with neardup.Index(INDEX) as own:
            assert own.recount() > 0
            assert own.add("of the child", TEXTS[7]) is not None
        assert tasks() == expected
        if os.fork() == 0:
            assert tasks() == expected
            os._exit(0)
        os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert index.add("of the parent", TEXTS[8]) is not None

if __name__ == "__main__":
    with neardup.Index(INDEX, must_exist=False) as index:
        index.add_many([{"id": str(at), "text": text} for at, text in enumerate(TEXTS)])
        expected = tasks()
        fork(index, expected)
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert pool.map(child, range(1)) == [expected], method
"""


def test_a_child_works_as_its_parent(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", path, str(tmp_path / "news.db")],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr


#: A server that loads the application first, works with it, and then forks its processes.
PREFORK = """
import os, socket, sys
import uvicorn
import neardup
from neardup import _core
from neardup.server import Settings, create_app

_core.forbid_global_pool()
location = sys.argv[1]
with neardup.Index(location, must_exist=False) as index:
    texts = [f"{at}号旧公告，渡口停航{at}天。" for at in range(600)]
    index.add_many([{"id": f"old {at}", "text": text} for at, text in enumerate(texts)])
    listener = socket.socket(fileno=int(sys.argv[2]))
    for _ in range(2):
        if os.fork() == 0:
            app = create_app(Settings(index=location))
            uvicorn.run(app, fd=listener.fileno(), log_level="warning")
            os._exit(0)
    for _ in range(2):
        os.wait()
"""


def test_a_preforking_server(tmp_path):
    """Its children count what is common, which is due by number while they add."""
    location = str(tmp_path / "news.db")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        port = listener.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", PREFORK, location, str(listener.fileno())],
            pass_fds=[listener.fileno()],
            start_new_session=True,
        )
        try:
            stored = 0
            for number in range(12):
                texts = [f"{number}区{n}号：{chr(0x4E00 + 97 * number + n)}。" for n in range(100)]
                items = [{"id": f"{number}/{n}", "text": text} for n, text in enumerate(texts)]
                request = urllib.request.Request(
                    f"http://127.0.0.1:{port}/v1/documents",
                    json.dumps({"documents": items}).encode(),
                    {"Content-Type": "application/json"},
                )
                with urllib.request.urlopen(request, timeout=120) as answer:
                    stored += len(json.loads(answer.read())["decisions"])
            assert stored == 1200
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    with neardup.Index(location) as index:
        assert index.stats().background_texts > 0
