"""Pairs of files: records that cannot be read."""

from pathlib import Path

import pytest

from neardup import InputError
from neardup.pairs import pairs_files
from neardup.sketch import fingerprint_files


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bad.jsonl").write_text('{"text": 7}\n{"text": "one text"}\n{"text": "one text"}\n')


def test_unreadable_records_are_in_no_pair():
    found = pairs_files(["bad.jsonl"], "out.jsonl", format="jsonl")
    assert [(row["id_a"], row["id_b"]) for row in found.table.to_pylist()] == [
        ("bad.jsonl:2", "bad.jsonl:3")
    ]
    assert found.summary.unreadable == 1


@pytest.mark.parametrize("task", [pairs_files, fingerprint_files])
def test_stop_ends_at_the_first_one(task):
    with pytest.raises(InputError, match=r"bad\.jsonl"):
        task(["bad.jsonl"], "out.jsonl", on_error="stop")
    assert not Path("out.jsonl").exists()
