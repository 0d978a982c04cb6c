"""Files of every format, damaged: a record that cannot be read is a problem, and nothing else.

An input is a valid file of the format after some mutations: bytes flipped, cut, repeated, moved
into each other, or replaced by what the format's syntax is made of. Half of the compressed and
archived files are damaged inside instead, so that the damage reaches the reader behind.

Inputs are made from a seed and tried in a process of their own, with a limit of memory, and a limit
of time for each input. Input 117 of a target is always the same one.
"""

import faulthandler
import gzip
import io
import json
import random
import resource
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from neardup.exceptions import NeardupError
from neardup.lab.datasets.labels import read_truth
from neardup.readers import Limits, UnreadableFileError, open_sources, read_file
from neardup.recipe import NAMES, load_recipe
from neardup.recipe.frequencies import load_idf
from tests.kit.formats import as_arrow, serialize
from tests.kit.hostile_texts import LONG_BASES, TEXTS
from tests.readers.making import column, docx, paragraph, pdf

#: Seconds for one input. All take milliseconds: only what never ends takes so long.
_PATIENCE = 120

#: Bytes of address space. Libraries and stacks of threads take a third of them.
_MEMORY = 24 << 30

_ALL = [*TEXTS.values(), *LONG_BASES]
_LIMITS = Limits(max_unpacked_bytes=8 << 20)


#: Words of syntax, by format.
_WORDS = {
    "jsonl": rb'{"text": } \ud83d -0e99999 NaN "',
    "html": b"<!-- --> <script> </script> <![CDATA[ &#x110000; &#99999999999; <table><tr><td>"
    b" <plaintext>",
    "docx": b"</w:p> &lol; <w:r><w:t>",
    "pdf": b"99999999999 -1 endobj stream",
    "toml": b'[decide] [[sketch]] """ inf true',
}
#: Other pieces of it.
_PIECES: dict[str, tuple[bytes, ...]] = {
    "jsonl": (b"[" * 2000, b'{"n":' * 500, b"1" * 400, b"\n", b"\0", b"\xef\xbb\xbf"),
    "csv": (b'"', b'""', b",", b"\r", b"\n", b"\0", b'"' * 999, b"," * 999, b"\xff", b"text"),
    "tsv": (b'"', b"\t", b"\r\n", b"\0", b"\t" * 999, b"\xff", b"text"),
    "text": (b"\0" * 50, b"\xff\xfe", b"\xfe\xff", b"~{", b"~}", b"\x1b$B", b"\x81", b"\xa1\xa1"),
    "html": (
        *(b"<" * 300, b"<div>" * 3000, b"</div>" * 50, b"&amp" * 50),
        *(b'<meta charset="utf-7">', b"<p" + b" a=b" * 500 + b">"),
    ),
    "md": (b"#" * 100, b"```", b"[" * 500, b"](", b"> " * 500, b"\n\n", b"|---" * 100),
    "docx": (
        *(b"<w:p>" * 500, b"<w:tbl><w:tr><w:tc>" * 200, b"\xff"),
        *(b'<!DOCTYPE x [<!ENTITY lol "lol">]>', b'<w:outlineLvl w:val="-99999999999"/>'),
    ),
    "pdf": (
        *(b"0 0 R", b"1 0 R", b"<<" * 500, b"[" * 500, b"/Kids [2 0 R 2 0 R]"),
        *(b"/Filter /FlateDecode", b"/Length 0", b"/Encrypt 1 0 R", b"\xff\xff"),
    ),
    "toml": (
        *(b"k = -1", b"k = 99999999999999999999", b"bits = 1e999", b"[" * 2000, b"= {" * 500),
        *(b"name = []", b"\0", b'stop_words = "/dev/zero"', b'idf = "."'),
    ),
}


def _pieces(format: str) -> tuple[bytes, ...]:
    return (*_PIECES.get(format, ()), *_WORDS.get(format, b"").split())


def mutated(rng: random.Random, data: bytes, pieces: tuple[bytes, ...] = ()) -> bytes:
    """Return the bytes with one to a few kinds of damage; sometimes none."""
    raw = bytearray(data)
    for _ in range(rng.choice((0, 1, 1, 2, 5, 20))):
        number, kind = rng.randrange(len(raw) + 1), rng.randrange(8)
        end = min(len(raw), number + rng.choice((1, 2, 8, 100, 5000)))
        if kind == 0 and number < len(raw):
            raw[number] ^= 1 << rng.randrange(8)
        elif kind == 1 and number < len(raw):
            raw[number] = rng.choice((0, 1, 0x7F, 0x80, 0xFE, 0xFF))
        elif kind == 2:
            del raw[number:end]
        elif kind == 3:
            raw[number:number] = raw[number:end] * rng.choice((1, 2, 30))
        elif kind == 4:
            raw[number:number] = rng.randbytes(rng.choice((1, 4, 64)))
        elif kind == 5 and rng.random() < 0.3:
            del raw[number:]
        elif pieces:
            raw[number : end if kind == 6 else number] = rng.choice(pieces)
    return bytes(raw[: 1 << 20])


def _records(rng: random.Random) -> list[dict[str, Any]]:
    part = rng.choices(_ALL, k=rng.choice((1, 3, 12)))
    return [
        {"id": f"d{number}", "title": text[:9], "text": text} for number, text in enumerate(part)
    ]


def _jsonl(rng: random.Random) -> bytes:
    records = _records(rng)
    if rng.random() < 0.3:
        records[0] = {**records[0], "n": 2**70, "deep": json.loads("[" * 300 + "]" * 300)}
    ascii_only = rng.random() < 0.5
    lines = [json.dumps(record, ensure_ascii=ascii_only) for record in records]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _delimited(rng: random.Random, format: str) -> bytes:
    return serialize(_records(rng), format).replace(b"\r\n", rng.choice((b"\n", b"\r\n")))


def _columnar(rng: random.Random, format: str) -> bytes:
    table = pa.Table.from_pylist(_records(rng))
    kinds = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
    kinds += [] if format == "parquet" else [pa.string_view()]
    table = table.set_column(2, "text", table.column("text").cast(rng.choice(kinds)))
    rows = rng.choice((1, 100))
    if format == "arrow":
        extension, compression = rng.choice(("arrow", "arrows")), rng.choice((None, "zstd", "lz4"))
        return as_arrow(table, extension, rows, compression)
    out = io.BytesIO()
    compression = rng.choice(("none", "zstd", "gzip", "snappy"))
    pq.write_table(table, out, row_group_size=rows, compression=compression)
    return out.getvalue()


def _text(rng: random.Random) -> bytes:
    encoding = rng.choice(
        ("utf-8", "utf-8-sig", "utf-16", "utf-32", "gb18030", "big5", "shift_jis", "cp1252")
    )
    return rng.choice(_ALL).encode(encoding, "replace") * rng.choice((1, 1, 20))


def _some(rng: random.Random) -> list[str]:
    return rng.choices(list(LONG_BASES), k=rng.choice((1, 3)))


def _html(rng: random.Random) -> bytes:
    body = "".join(f"<h{n}>{text}</h{n}><p>{text}</p>" for n, text in enumerate(_some(rng), 1))
    table = "<table><tr><td>1</td></tr></table>"
    page = f"<html><head><title>t</title></head><body>{body}{table}<script>1<2</script></body>"
    return page.encode(rng.choice(("utf-8", "gb18030", "utf-16")), "replace")


def _docx(rng: random.Random) -> bytes:
    made = docx("".join(paragraph(text) for text in _some(rng)))
    if rng.random() < 0.4:
        return made
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(made)) as old, zipfile.ZipFile(out, "w") as new:
        chosen = rng.choice(old.namelist())
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, mutated(rng, data, _pieces("docx")) if name == chosen else data)
    return out.getvalue()


_VALID: dict[str, Callable[[random.Random], bytes]] = {
    "jsonl": _jsonl,
    **{format: partial(_delimited, format=format) for format in ("csv", "tsv")},
    **{format: partial(_columnar, format=format) for format in ("parquet", "arrow")},
    "text": _text,
    "html": _html,
    "md": lambda rng: "\n\n".join(f"# {text}\n\n> {text}" for text in _some(rng)).encode(),
    "docx": _docx,
    "pdf": lambda rng: pdf([column([text[:80]]) for text in _some(rng)]),
}


def _made(rng: random.Random, format: str) -> tuple[str, bytes]:
    data = mutated(rng, _VALID[format](rng), _pieces(format))
    return f"a.{'txt' if format == 'text' else format}", data


def _compressed(rng: random.Random) -> tuple[str, bytes]:
    name, data = _made(rng, rng.choice(list(_VALID)))
    if rng.random() < 0.5:
        data = data * rng.choice((1, 1, 50))
    if rng.random() < 0.5:
        packed, suffix = gzip.compress(data, mtime=0), "gz"
    else:
        packed, suffix = zstandard.ZstdCompressor(level=rng.choice((1, 19))).compress(data), "zst"
    frames = rng.choice((1, 1, 3))
    # The magic bytes, too, are damaged now and then: then it is another format.
    return f"{name}.{suffix}", mutated(rng, packed * frames)


def _read(made: tuple[str, bytes]) -> None:
    name, data = made
    Path(name).write_bytes(data)
    shown: list[object] = []
    stopped = ""
    try:
        for batch in open_sources([name]).batches(titles=True, batch_bytes=1 << 16):
            batch.texts.validate(full=True)
            shown += batch.problems
    except NeardupError as error:
        stopped = str(error)
    if name.split(".")[1] in ("txt", "html", "md", "docx", "pdf"):
        try:
            read_file(name, limits=_LIMITS).text.encode()
        except (NeardupError, UnreadableFileError) as error:
            shown.append(error)
    assert "\n" not in stopped, f"not fit to be shown: {stopped!r}"
    for problem in map(str, shown):
        assert problem.isprintable(), f"not fit to be shown: {problem!r}"


_RECIPES = [load_recipe(name).to_toml().encode() for name in NAMES]


def _recipe(rng: random.Random) -> bytes:
    return mutated(rng, rng.choice(_RECIPES), _pieces("toml"))


def _load_recipe(data: bytes) -> None:
    Path("a.toml").write_bytes(data)
    loaded = load_recipe("a.toml")
    Path("b.toml").write_text(loaded.to_toml(), "utf-8")
    assert load_recipe("b.toml") == loaded


def _labels(rng: random.Random) -> bytes:
    rows = ["id_a\tid_b\tlabel"]
    labels = ("yes", "no", "1", "0", "near-duplicate", "same-event")
    rows += [f"d{rng.randrange(9)}\td{rng.randrange(9)}\t{rng.choice(labels)}" for _ in range(20)]
    return mutated(rng, "\n".join(rows).encode(), (*_pieces("tsv"), b"yes", b"d1\td1\tno\n"))


def _read_labels(data: bytes) -> None:
    Path("pairs.tsv").write_bytes(data)
    read_truth("pairs.tsv")


def _table(rng: random.Random) -> bytes:
    rows = "".join(f"词{number}\t{rng.randrange(1, 9)}\n" for number in range(20))
    return mutated(rng, f"#documents\t9\n#units\tjieba\n{rows}".encode(), _pieces("tsv"))


def _read_table(data: bytes) -> None:
    Path("idf.tsv").write_bytes(data)
    load_idf("idf.tsv")


#: What makes an input, what tries it, and the errors that are answers.
Target = tuple[Callable[[random.Random], Any], Callable[[Any], None], tuple[type[Exception], ...]]
_OWN = (NeardupError,)

TARGETS: dict[str, Target] = {
    **{f"read-{format}": (partial(_made, format=format), _read, ()) for format in _VALID},
    "read-compressed": (_compressed, _read, ()),
    "recipe": (_recipe, _load_recipe, _OWN),
    "labels": (_labels, _read_labels, _OWN),
    "document-frequencies": (_table, _read_table, _OWN),
}


def try_inputs(name: str, numbers: range) -> None:
    """Try inputs of a target in this process; the last number printed is that of a failure."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    make, attempt, expected = TARGETS[name]
    for number in numbers:
        print(number, flush=True)
        faulthandler.dump_traceback_later(_PATIENCE, exit=True)
        made = make(random.Random(f"{name}/0/{number}"))
        try:
            attempt(made)
        except expected as error:
            if not str(error):
                raise
        except BaseException:
            print(repr(made)[:4000], file=sys.stderr)
            raise
        faulthandler.cancel_dump_traceback_later()
