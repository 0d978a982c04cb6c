"""Parts of texts that are cut out of records: all else stays as it is, in every format."""

import gzip
import json
import random
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit.formats import serialize
from tests.writers.conftest import records_of, table_of

from neardup import _core
from neardup.readers import open_sources
from neardup.writers import open_output, write_kept
from neardup.writers.edits import Cuts

ITEM = "下列哪一条河流先后流经三个国家的首都，最后注入大海？请说明理由。"
CUT = ITEM[:-1]
NAMES = ["text", "content", "body"]


def escaped(rng, text):
    """A JSON string of the text, in which any character may be escaped in any way."""
    made = []
    for c in text:
        plain = json.dumps(c, ensure_ascii=False)[1:-1]
        units = c.encode("utf-16-be", "surrogatepass")
        codes = [f"{units[index]:02x}{units[index + 1]:02X}" for index in range(0, len(units), 2)]
        forms = [plain, "".join(f"\\u{code}" for code in codes)]
        made.append(rng.choice(forms if c != "/" else [*forms, "\\/"]))
    return '"' + "".join(made) + '"'


@given(
    text=st.text(
        st.characters(exclude_categories=["Cs"]) | st.sampled_from('"\\/\n😀中'), max_size=30
    ),
    seed=st.integers(0, 10**6),
)
def test_any_text_in_any_escapes(text, seed):
    rng = random.Random(seed)
    places = sorted(rng.sample(range(len(text) + 1), rng.randrange(len(text) + 1) // 2 * 2))
    spans = list(zip(places[::2], places[1::2], strict=True))
    line = '{ "id":1.0e1,  "text" :' + escaped(rng, text) + ', "of": {"text": "x"} }'
    made = _core.cut_text(line.encode(), NAMES, spans).decode()
    kept = [text[a:b] for a, b in zip([0, *places[1::2]], [*places[::2], None], strict=True)]
    assert json.loads(made) == {"id": 10.0, "text": "".join(kept), "of": {"text": "x"}}
    begin = line.index(' :"') + 3
    assert made.startswith(line[:begin])
    assert made.endswith(', "of": {"text": "x"} }')
    # What is left of the text has the escapes that it had.
    assert _core.cut_text(line.encode(), NAMES, []) == line.encode()
    if spans:
        first = escaped_of(line[begin:], places[0])
        assert made[begin : begin + len(first)] == first


def escaped_of(inside, count):
    """The first characters of a JSON string, as they are written."""
    end = 0
    for _ in range(count):
        width = 1
        if inside[end] == "\\":
            width = 6 if inside[end + 1] == "u" else 2
            if inside[end + 1 : end + 3].lower() == "ud" and inside[end + 3].lower() in "89ab":
                width = 12
        end += width
    return inside[:end]


def cut(source, output="out.jsonl"):
    """Write the records of a file without the item."""
    sources = open_sources([source])
    texts = [text or "" for batch in sources.batches() for text in batch.texts.to_pylist()]
    spans = [[match.span() for match in re.finditer(CUT, text)] for text in texts]
    with open_output(output, force=True) as out:
        return write_kept(sources, [True] * len(texts), out, Cuts(iter(spans), None))


def test_lines_of_all_kinds_keep_their_bytes():
    text = json.dumps(ITEM)
    end = "\\u3002"
    assert text.endswith(end + '"')
    rest = f'"{end}"'
    deep = "[" * 300 + "]" * 300
    lines = [
        (f'{{"text": {text}}}\r', f'{{"text": {rest}}}\r'),
        (f'  {{"text":{text},"text" : {text} }}', f'  {{"text":{text},"text" : {rest} }}'),
        (f'{{"body": {text}, "content": {text}}}', f'{{"body": {text}, "content": {rest}}}'),
        (f'{{"te\\u0078t": "{ITEM}", "n": 1.50e300}}', '{"te\\u0078t": "。", "n": 1.50e300}'),
        (f'{{"n": 123456789012345678901234567890, "text": {text}}}',) * 2,
        (f'{{"of": [{{"text": {text}}}], "text": "{ITEM} {ITEM}"}}',) * 2,
        ('{"text": "no item"}',) * 2,
        (f"not json {text}",) * 2,
        (f'{{"text": [{text}]}}', '{"text":["。"]}'),
        # Nested too deeply to be read.
        (f'{{"text": {text}, "of": {deep}}}',) * 2,
    ]
    lines[4] = (lines[4][0], lines[4][0].replace(text, rest))
    lines[5] = (lines[5][0], lines[5][0].replace(f"{ITEM} {ITEM}", "。 。"))
    Path("in.jsonl").write_text("\n".join(line for line, _ in lines), "utf-8", newline="\n")
    cut("in.jsonl")
    written = Path("out.jsonl").read_bytes().decode().split("\n")
    assert written == [*(line for _, line in lines), ""]


@pytest.mark.parametrize(
    "source", ["in.jsonl", "in.jsonl.gz", "in.csv", "in.parquet", "in.arrow", "in.txt"]
)
@pytest.mark.parametrize(
    "output", ["out.jsonl", "out.csv", "out.parquet", "out.arrow", "out.jsonl.gz"]
)
def test_every_format(source, output):
    rows = [
        {"text": f"题目：{ITEM}", "id": "a", "n": 1},
        {"text": "no item, 😀", "id": "b", "n": 2},
        {"text": f"{ITEM}, {ITEM}", "id": "c", "n": 3},
    ]
    table = pa.Table.from_pylist(rows).set_column(2, "n", pa.array([1, 2, 3], pa.int16()))
    table = table.set_column(0, "text", table["text"].dictionary_encode())
    data = {format: serialize(rows, format) for format in ("jsonl", "csv")}
    data |= {format: serialize(table, format) for format in ("parquet", "arrow")}
    data |= {"jsonl.gz": gzip.compress(data["jsonl"]), "txt": rows[0]["text"].encode()}
    for format, content in data.items():
        Path(f"in.{format}").write_bytes(content)
    result = cut(source, output)
    if source == "in.txt":
        rows = rows[:1]
    assert result.written == len(rows)
    expected = [row["text"].replace(CUT, "") for row in rows]
    written = records_of(output)
    assert [row["text"] for row in written] == expected
    if (source, output) == ("in.parquet", "out.parquet"):
        assert table_of(output).schema == table_of(source).schema
    if source != "in.txt":
        assert [row["id"] for row in written] == ["a", "b", "c"]
        assert [int(row["n"]) for row in written] == [1, 2, 3]
