"""The file of an index's shingles: derived, so whatever becomes of it changes no result."""

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
from neardup.index import shingles
from neardup.index.shingles import ShingleFile
from neardup.papers import open_library
from neardup.papers.alignment import get_aligner

RNG = random.Random(33)
COMMON = letters(RNG, 60)


@pytest.fixture
def place(tmp_path):
    place = tmp_path / "papers.db"
    add(place, 0, 12)
    return place


def text_of(number):
    return letters(random.Random(number), 80) + COMMON + letters(random.Random(-number), 30)


def add(place, begin, end, at=None):
    rows = [{"id": f"d{n}", "text": text_of(n), "at": at} for n in range(begin, end)]
    with Index(place, workers=1) as index:
        index.add_many(rows, at_field=at and "at")


def remove(place, *ids):
    with Index(place, workers=1) as index:
        for id in ids:
            index.remove(id)


def file_of(place):
    return place.with_name(f"{place.name}-shingles")


def content_of(place):
    """What the file has, except the key of its state and the digest of all."""
    data = file_of(place).read_bytes()
    return data[:8], data[16:-8]


def filed(place):
    """How many documents the file has."""
    return int.from_bytes(file_of(place).read_bytes()[16:24], "little")


def candidates(place):
    """Ids and numbers of shared shingles, of papers that have something of each document."""
    core = get_aligner()
    result = []
    with open_library(place, workers=1) as library:
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
    """Return what is found without a file."""

    def find(place):
        with monkeypatch.context() as patch:
            patch.setattr(ShingleFile, "read", lambda _: None)
            patch.setattr(ShingleFile, "write", lambda *_: None)
            return candidates(place)

    return find


def test_the_second_opening_reads_no_row(place, in_memory, monkeypatch):
    expected = in_memory(place)
    assert not file_of(place).exists()
    assert candidates(place) == expected
    assert filed(place) == 12
    before = file_of(place).stat().st_mtime_ns
    monkeypatch.setattr(shingles, "make_missing", None)
    assert candidates(place) == expected
    assert file_of(place).stat().st_mtime_ns == before


@pytest.mark.parametrize("seed", range(4))
def test_stored_shingles_equal_memory_after_changes(place, in_memory, seed, monkeypatch):
    # Several sorted parts in one go, and pieces of what is merged that are smaller than a part.
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
            remove(place, *[present.pop() for _ in range(min(len(present), rng.choice((1, 5))))])
        result = candidates(place)
        assert result[0][0] == len(present)
        assert result == in_memory(place)
        assert candidates(place) == result


def test_file_is_made_again_after_a_tenth_more_documents(place):
    add(place, 12, 32)
    sizes = []
    for end in range(33, 40):
        candidates(place)
        sizes.append(filed(place))
        add(place, end - 1, end)
    assert sizes == [32, 32, 32, 32, 36, 36, 36]


def test_removed_documents_leave_it_when_it_is_made_again(place, in_memory):
    candidates(place)
    size = file_of(place).stat().st_size
    remove(place, *(f"d{number}" for number in range(11)))
    add(place, 20, 22)
    assert candidates(place) == in_memory(place)
    assert filed(place) == 3
    assert file_of(place).stat().st_size < size
    remove(place, "d11", "d20", "d21")
    assert candidates(place)[0] == in_memory(place)[0] == (0, [], [])
    add(place, 30, 32)
    assert candidates(place) == in_memory(place)


def replace_bytes(begin, end, new):
    """A change of some bytes of a file."""

    def change(file):
        data = bytearray(file.read_bytes())
        data[begin:end] = new
        file.write_bytes(data)

    return change


def flip(position):
    def change(file):
        data = bytearray(file.read_bytes())
        data[position] ^= 4
        file.write_bytes(data)

    return change


DAMAGE = {
    "missing": Path.unlink,
    "cut": replace_bytes(-8, None, b""),
    "longer": replace_bytes(1 << 40, None, bytes(4096)),
    "empty": replace_bytes(0, None, b""),
    "many documents": replace_bytes(16, 24, b"\xff" * 8),
    **{"magic": flip(1), "key": flip(9), "count": flip(16), "number": flip(24)},
    **{"time": flip(24 + 8 * 12), "padding": flip(4000)},
    **{"fence": flip(-20), "entries": flip(-16), "digest": flip(-1)},
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_is_made_again(place, in_memory, name):
    expected = candidates(place)
    before = content_of(place)
    DAMAGE[name](file_of(place))
    assert candidates(place) == expected == in_memory(place)
    assert content_of(place) == before


OTHERS = {
    "a folder": Path.mkdir,
    "a note": lambda file: file.write_bytes(b"mine"),
    "notes": lambda file: file.write_bytes(b"my own notes, longer than a head"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_something_else_with_its_name_is_left_alone(place, in_memory, name):
    OTHERS[name](file_of(place))
    before = file_of(place).is_dir() or file_of(place).read_bytes()
    for end in (13, 14):
        assert candidates(place) == in_memory(place)
        add(place, end - 1, end)
    assert (file_of(place).is_dir() or file_of(place).read_bytes()) == before


def test_damaged_shingles_bring_no_missing_document(place, in_memory):
    """Shingles have no digest: wrong ones hide a document, or bring one in vain."""
    candidates(place)
    replace_bytes(4096, 6096, random.Random(1).randbytes(2000))(file_of(place))
    for found, expected in zip(candidates(place), in_memory(place), strict=True):
        assert found[0] == expected[0]
        assert all(id == f"d{number}" for number, id in found[1])


def test_a_file_of_another_index(place, in_memory, tmp_path):
    candidates(place)
    other = tmp_path / "other.db"
    add(other, 100, 112)
    shutil.copy(file_of(place), file_of(other))
    assert candidates(other) == in_memory(other)


@pytest.mark.parametrize("at", [None, "2024-03-09"])
def test_restored_backup_is_noticed(place, in_memory, tmp_path, at):
    """Its next documents get the numbers, and the times, of documents that it never had."""
    backup = tmp_path / "backup.db"
    candidates(place)
    shutil.copy(place, backup)
    add(place, 12, 20, at)
    candidates(place)
    shutil.copy(backup, place)
    add(place, 20, 28, at)
    assert candidates(place) == in_memory(place)
    assert filed(place) == 20


def test_a_full_disk(place, in_memory, monkeypatch):
    """All stays in memory, and no part of a file is left."""
    monkeypatch.setattr(shingles, "_TOGETHER", 60)
    monkeypatch.setattr(shingles, "_READ", 2)

    def finish(_):
        raise OSError(28, "No space left on device")

    expected = in_memory(place)
    with monkeypatch.context() as patch:
        patch.setattr(shingles.FileSink, "finish", finish)
        assert candidates(place) == expected
    assert [path.name for path in place.parent.iterdir()] == [place.name]
    assert candidates(place) == expected
    assert filed(place) == 12


def test_open_library_keeps_its_file(place):
    with open_library(place, workers=1) as library:
        paper = get_aligner().paper(text_of(3))
        before = library.candidates(paper, least=20, limit=9)
        add(place, 12, 40)
        candidates(place)
        assert library.candidates(paper, least=20, limit=9) == before


def test_several_at_the_same_time(place, in_memory):
    expected = in_memory(place)
    with ThreadPoolExecutor(6) as pool:
        result = list(pool.map(lambda _: candidates(place), range(12)))
    assert all(item == expected for item in result)
    assert filed(place) == 12


def test_file_is_next_to_the_index_with_its_mode(place, tmp_path):
    place.chmod(0o600)
    link = tmp_path / "link.db"
    link.symlink_to(place)
    assert candidates(link) == candidates(place)
    assert stat.S_IMODE(file_of(place).stat().st_mode) == 0o600
    assert not file_of(link).exists()


def mapped_mb():
    """The pages of files that count as memory of this process."""
    return int(re.search(r"RssFile:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
def test_check_holds_its_rows_and_not_the_file(tmp_path):
    made = np.random.default_rng(5).integers(0, 1 << 32, 1 << 24, np.uint64) << np.uint64(32)
    made.sort()
    one = np.ones(1, np.int64)
    before = mapped_mb()
    ShingleFile(tmp_path / "shingles", "letters").write(one, one, [made])
    content = ShingleFile(tmp_path / "shingles", "letters").read()
    library = _core.Library([(content.filed, content.fence, np.zeros(1, np.uint32))])
    assert len(content.filed) == 1 << 24
    assert mapped_mb() - before < 8
    paper = get_aligner().paper(letters(random.Random(5), 8000))
    assert [position for position, _ in library.sources(paper, least=5, limit=9)] == [0]
    assert mapped_mb() - before < 64
