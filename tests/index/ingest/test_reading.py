"""The first collection that an index gets is counted before anything is decided."""

import json
import subprocess
import sys

import pytest
from tests.index.consistency import check_consistent
from tests.index.test_background import shuffled

from neardup import Index, dedup_files
from neardup.base.progress import Progress
from neardup.index.ingest import first_import, transaction

NEARDUP = (sys.executable, "-m", "neardup")


def write(path, records):
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    return path


def kept(location):
    check_consistent(location)
    with Index(location, must_exist=True) as index:
        index.check()
        return [document.id for document in index.documents("kept")]


def test_files_are_decided_as_by_dedup(location, tmp_path):
    many = shuffled()
    files = [write(tmp_path / "a.jsonl", many[:60]), write(tmp_path / "b.jsonl", many[60:])]
    with Index(location, workers=1) as index:
        added = index.add_files(files)
    expected = dedup_files(files, tmp_path / "kept.jsonl").keep
    assert added.keep.tolist() == expected.tolist()
    assert expected.all()
    assert len(kept(location)) == len(many)


def test_files_with_a_window_are_counted_first(location, tmp_path):
    many = [row | {"day": f"2024-01-{number % 9 + 1}"} for number, row in enumerate(shuffled())]
    file = write(tmp_path / "a.jsonl", [*many, many[0] | {"id": "again", "day": "2024-03-09"}])
    with Index(location, workers=1) as index:
        added = index.add_files([file], at_field="day", within="30d")
        assert (added.new, added.keep.all()) == (len(many) + 1, True)
        assert index.stats().background_texts == len(many) + 1
        recent = [many[0] | {"id": "soon", "day": "2024-03-10"}]
        assert not index.add_many(recent, at_field="day", within="30d").keep.any()


class Interrupting(Progress):
    def advance(self, documents, *_):
        if documents:
            raise KeyboardInterrupt


def test_an_interrupted_import_goes_on_as_it_began(tmp_path, monkeypatch):
    monkeypatch.setattr(transaction, "BATCH", 130)
    monkeypatch.setattr(first_import, "_WRITTEN", 130)
    many = shuffled()
    file = write(tmp_path / "a.jsonl", many)
    with Index(tmp_path / "index.db", workers=1) as index:
        with pytest.raises(KeyboardInterrupt):
            index.add_files([file], progress=Interrupting())
        assert len(index) == 130
        added = index.add_files([file])
        assert (added.already, added.keep.all()) == (130, True)
        assert index.stats().background_texts == len(many)


def test_command_names_the_way_out_for_unrepeatable_input(tmp_path):
    many = shuffled()
    old = [{"id": "old", "text": "渡轮公司说新船下个月试航，票价不变，末班时间推迟到夜里十一点。"}]
    place = str(tmp_path / "index.db")

    def run(*words):
        return subprocess.run([*NEARDUP, "index", *words], capture_output=True, text=True)

    first = run("add", place, str(write(tmp_path / "old.jsonl", old)))
    assert "recount" not in first.stderr
    later = run("add", place, str(write(tmp_path / "new.jsonl", many)))
    assert later.stderr.count(f"neardup index reconsider {place}") == 1
    assert len(kept(place)) < len(many)
    assert run("recount", place).returncode == 0
    assert run("reconsider", place).returncode == 0
    assert len(kept(place)) == len(many) + 1
