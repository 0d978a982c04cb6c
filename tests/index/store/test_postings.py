"""New keys in SQLite: first in a small table, then in order in the large one."""

from sqlalchemy import select
from tests.index.consistency import check_consistent, entries_of, verdicts

import neardup
from neardup.index.backends import open_database
from neardup.index.schema import keys, recent_keys
from neardup.index.store import postings


def records(count):
    """Half of them are copies with an ending of their own."""
    words = [f"word{number}" for number in range(400)]
    made = []
    for number in range(count):
        first = number // 2 * 7
        text = " ".join(words[(first + number * number) % 400] for number in range(40))
        made.append({"id": f"d{number}", "text": f"{text} ending {number % 2}"})
    return made


def sizes(location):
    with open_database(location, must_exist=True) as database, database.reading() as connection:
        return [len(connection.execute(select(table)).all()) for table in (keys, recent_keys)]


def test_place_of_keys_changes_nothing(tmp_path, monkeypatch):
    result = {}
    for most in (1, 60, 500_000):
        monkeypatch.setattr(postings, "MOST_RECENT", most)
        place = str(tmp_path / f"{most}.db")
        with neardup.Index(place, workers=1) as index:
            index.add_many(records(20))
            for record in records(60)[20:]:
                index.add(**record)
            removed = index.remove("d0"), index.remove("d30")
            assert [row.decided for row in removed] == [(("d1", None),), (("d31", None),)]
        check_consistent(place)
        result[most] = verdicts(place), entries_of(place)
        large, small = sizes(place)
        assert (large == 0, small == 0) == (most == 500_000, most == 1)
        assert most != 60 or 0 < small < 60
    assert result[1] == result[60] == result[500_000]
