"""The files of an index's shingles: derived, so whatever becomes of them changes no result."""

import random
import re
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tests.index.written import letters

from neardup import Index, _core
from neardup.base.progress import Progress
from neardup.index import shingles
from neardup.index.shingles import Run, RunFolder
from neardup.papers import open_library
from neardup.papers.align import aligner

RNG = random.Random(33)
COMMON = letters(RNG, 60)


class Told(Progress):
    def __init__(self):
        self.notes = []

    def note(self, line):
        self.notes.append(line.code)


@pytest.fixture
def place(tmp_path):
    place = tmp_path / "papers.db"
    add(place, 0, 12)
    return place


def text_of(number):
    return letters(random.Random(number), 80) + COMMON + letters(random.Random(-number), 30)


def add(place, begin, end):
    with Index(place, workers=1) as index:
        index.add_many(
            [{"id": f"d{number}", "text": text_of(number)} for number in range(begin, end)]
        )


def folder_of(place):
    return place.with_name(f"{place.name}-shingles")


def files_of(place):
    return sorted(folder_of(place).iterdir())


def candidates(place, *, told=None):
    """Ids and numbers of shared shingles, of papers that have something of each document."""
    core = aligner()
    result = []
    with open_library(place, workers=1, progress=told or Told()) as library:
        for seed in range(3):
            parts = [text_of(number)[20:70] for number in range(seed, 40, 3)]
            paper = core.paper(COMMON.join(parts))
            for limit in (4, 1000):
                part = library.candidates(paper, least=20, limit=limit)
                documents = library.documents([position for position, _ in part])
                ids = [(document.position, document.id) for document in documents]
                result.append((len(library), ids, [count for _, count in part]))
    return result


@pytest.fixture
def in_memory(monkeypatch):
    """Return what is found without files."""

    def find(place):
        with monkeypatch.context() as patch:
            patch.setattr(
                shingles, "RunFolder", lambda _, made_by, mode: RunFolder(None, made_by, mode)
            )
            return candidates(place)

    return find


def test_the_second_opening_reads_no_row(place, in_memory, monkeypatch):
    expected = in_memory(place)
    assert not folder_of(place).exists()
    assert candidates(place) == expected
    (file,) = files_of(place)
    assert file.name == f"{0:016x}-{12:016x}.run"
    monkeypatch.setattr(shingles, "stored", None)
    monkeypatch.setattr(shingles, "make_missing", None)
    told = Told()
    assert candidates(place, told=told) == expected
    assert files_of(place) == [file]
    assert told.notes == []


@pytest.mark.parametrize("seed", range(4))
def test_additions_and_removals_are_what_memory_finds(place, in_memory, seed, monkeypatch):
    # Several runs in one go, and parts of merged runs that are smaller than a run.
    monkeypatch.setattr(shingles, "_TOGETHER", 60)
    monkeypatch.setattr(shingles, "_MERGED", 25)
    monkeypatch.setattr(shingles, "_READ", 2)
    rng = random.Random(seed)
    end, present = 12, [f"d{number}" for number in range(12)]
    for _ in range(12):
        if rng.random() < 0.7:
            count = rng.choice((1, 1, 2, 9))
            add(place, end, end + count)
            present += [f"d{number}" for number in range(end, end + count)]
            end += count
        else:
            rng.shuffle(present)
            with Index(place, workers=1) as index:
                for id_ in present[: rng.choice((1, 5))]:
                    index.remove(id_)
                    present.remove(id_)
        result = candidates(place)
        assert result[0][0] == len(present)
        assert result == in_memory(place)
        assert candidates(place) == result
    assert 1 <= len(files_of(place)) <= 7


def test_runs_are_merged_when_as_many_come_after(place):
    add(place, 12, 32)
    sizes = []
    for end in range(33, 46):
        candidates(place)
        ranges = [file.stem.split("-") for file in files_of(place)]
        sizes.append([int(last, 16) - int(after, 16) for after, last in ranges])
        add(place, end - 1, end)
    assert sizes[:6] == [[32], [32, 1], [32, 2], [32, 2, 1], [32, 4], [32, 4, 1]]


def test_removed_documents_leave_their_runs(place, in_memory):
    candidates(place)
    (before,) = files_of(place)
    size = before.stat().st_size
    with Index(place, workers=1) as index:
        for number in range(11):
            index.remove(f"d{number}")
    add(place, 20, 21)
    assert candidates(place) == in_memory(place)
    (after,) = files_of(place)
    assert after.name == f"{0:016x}-{13:016x}.run"
    assert after.stat().st_size < size
    with Index(place, workers=1) as index:
        for id in ("d11", "d20"):
            index.remove(id)
    assert candidates(place)[0] == in_memory(place)[0] == (0, [], [])
    add(place, 30, 32)
    assert candidates(place) == in_memory(place)


def written(change):
    """Return a function that changes the bytes of a file."""

    def write(file):
        data = bytearray(file.read_bytes())
        change(data)
        file.write_bytes(data)

    return write


def flip(position):
    def change(data):
        data[position] ^= 4

    return written(change)


DAMAGE = {
    "cut": written(lambda data: data.__delitem__(slice(-8, None))),
    "longer": written(lambda data: data.extend(bytes(4096))),
    "empty": written(bytearray.clear),
    "a folder": lambda file: (file.unlink(), file.mkdir()),
    "many documents": written(lambda data: data.__setitem__(slice(32, 40), b"\xff" * 8)),
    "magic": flip(1),
    "key": flip(9),
    "bound": flip(24),
    "count": flip(32),
    "number": flip(40),
    "time": flip(40 + 8 * 12),
    "padding": flip(4000),
    "fence": flip(-20),
    "entries": flip(-16),
    "digest": flip(-1),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_is_made_again_and_said_once(place, in_memory, name):
    add(place, 12, 32)
    candidates(place)
    add(place, 32, 36)
    expected = in_memory(place)
    assert candidates(place) == expected
    first, second = files_of(place)
    DAMAGE[name](second if name == "cut" else first)
    if name == "a folder":
        first.rmdir()
        first.symlink_to(place.parent)
    told = Told()
    assert candidates(place, told=told) == expected
    assert len(told.notes) == 1
    told = Told()
    assert candidates(place, told=told) == expected
    assert told.notes == []
    assert len(files_of(place)) == 1


@pytest.mark.parametrize("missing", [[0], [1], [0, 1]])
def test_missing_files(place, in_memory, missing):
    add(place, 12, 32)
    candidates(place)
    add(place, 32, 36)
    expected = candidates(place)
    files = files_of(place)
    assert len(files) == 2
    for number in missing:
        files[number].unlink()
    assert candidates(place) == expected == in_memory(place)


def test_damaged_shingles_bring_no_error(place):
    candidates(place)
    noise = random.Random(1).randbytes(2000)
    written(lambda data: data.__setitem__(slice(4096, 6096), noise))(*files_of(place))
    told = Told()
    candidates(place, told=told)
    assert told.notes == []


def test_files_of_another_index(place, in_memory, tmp_path):
    candidates(place)
    other = tmp_path / "other.db"
    add(other, 100, 112)
    shutil.copytree(folder_of(place), folder_of(other))
    told = Told()
    assert candidates(other, told=told) == in_memory(other)
    assert len(told.notes) == 1


def test_a_backup_that_was_restored(place, in_memory, tmp_path):
    """Its next documents get the numbers of documents that it never had."""
    backup = tmp_path / "backup.db"
    shutil.copy(place, backup)
    add(place, 12, 20)
    candidates(place)
    shutil.copy(backup, place)
    told = Told()
    assert candidates(place, told=told) == in_memory(place)
    add(place, 20, 28)
    assert candidates(place, told=told) == in_memory(place)
    assert len(told.notes) == 1


def test_where_no_folder_can_be_made(place, in_memory):
    folder_of(place).write_text("in the way")
    told = Told()
    for end in (13, 14):
        assert candidates(place, told=told) == in_memory(place)
        add(place, end - 1, end)
    assert told.notes == []


@pytest.mark.parametrize("writes", [0, 1, 2, 3])
def test_a_full_disk(place, in_memory, monkeypatch, writes):
    """What was written is used, the rest stays in memory, and no part of a file is left."""
    monkeypatch.setattr(shingles, "_TOGETHER", 60)
    monkeypatch.setattr(shingles, "_READ", 2)
    whole = shingles.FileSink.finish
    left = iter(range(writes))

    def finish(sink):
        if next(left, None) is None:
            raise OSError(28, "No space left on device")
        whole(sink)

    expected = in_memory(place)
    with monkeypatch.context() as patch:
        patch.setattr(shingles.FileSink, "finish", finish)
        assert candidates(place) == expected
    assert all(file.suffix == ".run" for file in files_of(place))
    assert candidates(place) == expected
    assert len(files_of(place)) == 1


def test_what_killed_processes_left_is_deleted(place):
    candidates(place)
    (file,) = files_of(place)
    folder = folder_of(place)
    shutil.copy(file, folder / f"{0:016x}-{3:016x}.run")
    (folder / f".{file.name}.0a1b2c3d.tmp").write_text("half")
    (folder / "mine.txt").write_text("not of neardup")
    expected = candidates(place)
    add(place, 40, 60)
    assert candidates(place) != expected
    assert [item.name for item in files_of(place)] == [f"{0:016x}-{32:016x}.run", "mine.txt"]


def test_who_may_read_the_index_may_read_the_files(place):
    place.chmod(0o600)
    candidates(place)
    (file,) = files_of(place)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_library_that_is_open_keeps_its_files(place):
    with open_library(place, workers=1) as library:
        paper = aligner().paper(text_of(3))
        before = library.candidates(paper, least=20, limit=9)
        add(place, 12, 40)
        candidates(place)
        assert library.candidates(paper, least=20, limit=9) == before


def test_several_at_the_same_time(place, in_memory):
    expected = in_memory(place)
    with ThreadPoolExecutor(6) as pool:
        result = list(pool.map(lambda _: candidates(place), range(12)))
    assert all(item == expected for item in result)
    assert len(files_of(place)) == 1


def test_a_link_to_an_index_has_the_files_of_the_index(place, tmp_path):
    candidates(place)
    link = tmp_path / "link.db"
    link.symlink_to(place)
    assert candidates(link) == candidates(place)
    assert not folder_of(link).exists()


def mapped_mb():
    """The pages of files that count as memory of this process."""
    return int(re.search(r"RssFile:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
def test_a_check_holds_what_it_looks_up_and_not_the_file(tmp_path):
    made = np.random.default_rng(5).integers(0, 1 << 32, 1 << 24, np.uint64) << np.uint64(32)
    made.sort()
    nothing = np.zeros(0, np.uint64), np.zeros(0, np.uint32)
    run = Run(0, 1, np.ones(1, np.int64), np.ones(1, np.int64), *nothing)
    before = mapped_mb()
    RunFolder(tmp_path, "letters").save(run, [made])
    (run,) = RunFolder(tmp_path, "letters").read()
    library = _core.Library([(run.filed, run.fence, np.zeros(1, np.uint32))])
    assert len(run.filed) == 1 << 24
    assert mapped_mb() - before < 8
    paper = aligner().paper(letters(random.Random(5), 8000))
    assert [position for position, _ in library.sources(paper, least=5, limit=9)] == [0]
    assert mapped_mb() - before < 64
