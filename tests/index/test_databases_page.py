"""The SQL of docs/guide/databases.md finds the pairs that `near_pairs` finds."""

import json
import re

import psycopg
import pytest
from tests.conftest import ROOT

from neardup import fingerprint_files, fingerprint_many, near_pairs

PAGE = (ROOT / "docs/guide/databases.md").read_text("utf-8")
TABLE, FUNCTION, QUERY = re.findall(r"^```sql\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
(PYTHON,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
OF_ONE = QUERY.replace(*re.search(r"replace `(.*?)` by `(.*?)`", PAGE).groups())


@pytest.fixture
def pairs(tmp_path, monkeypatch):
    """Write fingerprints.csv as the page does; return its pairs as (id, id, distance)."""
    monkeypatch.chdir(tmp_path)
    lines = (ROOT / "examples/articles.jsonl").read_text("utf-8").splitlines()
    texts = {record["id"]: record["text"] for record in map(json.loads, lines)}
    cut = {f"{name}-{n}": text[n:] for name, text in texts.items() for n in (3, 9, 20, 40)}
    texts |= cut
    records = [json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items()]
    (tmp_path / "articles.jsonl").write_text("".join(records), "utf-8")
    fingerprint_files(
        ["articles.jsonl"], "fingerprints.csv", recipe="classic", form="signed", blocks=3
    )
    rows = fingerprint_many(list(texts.values()), recipe="classic")
    with_features = rows.any(axis=1)
    assert (~with_features).sum() > 1
    names = [name for name, kept in zip(texts, with_features, strict=True) if kept]
    rows = rows[with_features]
    result = near_pairs(rows, max_distance=3)
    assert set(result.distance) == {0, 1, 2, 3}
    assert len(near_pairs(rows, max_distance=4).a) > len(result.a)
    return {
        (*sorted((names[a], names[b])), distance)
        for a, b, distance in zip(result.a, result.b, result.distance.tolist(), strict=True)
    }


def of_bridge(pairs):
    ordered = pairs | {(b, a, distance) for a, b, distance in pairs}
    return {pair for pair in ordered if pair[0] == "bridge"}


def test_sqlite(pairs):
    page = {}
    exec(PYTHON, page)
    database = page["database"]
    database.executescript(TABLE)
    page["load"]("fingerprints.csv")
    assert set(database.execute(QUERY)) == pairs
    assert set(database.execute(OF_ONE)) == of_bridge(pairs) != set()
    database.close()


def test_postgresql(pairs, database_url, tmp_path):
    with psycopg.connect(database_url) as database, database.cursor() as cursor:
        cursor.execute(TABLE)
        cursor.execute(FUNCTION)
        options = re.search(r"FROM 'fingerprints.csv' (WITH .*?)`", PAGE)[1]
        with cursor.copy(f"COPY fingerprints FROM STDIN {options}") as copy:
            copy.write((tmp_path / "fingerprints.csv").read_bytes())
        assert {(*sorted(row[:2]), row[2]) for row in cursor.execute(QUERY)} == pairs
        assert set(cursor.execute(OF_ONE)) == of_bridge(pairs)
