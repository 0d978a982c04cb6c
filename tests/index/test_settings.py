"""An index is opened with the settings that it was made with, or the difference is named."""

import pytest
import sqlalchemy as sa
from tests.index.consistency import verdicts
from tests.index.databases import BOTH
from tests.index.written import FERRY, PEARS
from tests.postgres import name_in

from neardup import (
    Index,
    IndexFormatError,
    IndexMismatchError,
    IndexUnavailableError,
    load_recipe,
)
from neardup.index.backends import open_database
from neardup.index.schema import meta

GENERAL = load_recipe("general")


def refused(location, kind, *words, **options):
    with pytest.raises(kind) as told:
        Index(location, **options)
    message = str(told.value)
    assert message.startswith(location)
    for word in words:
        assert str(word) in message
    return message


def changed(location, statement):
    with open_database(location, must_exist=True) as database, database.writing() as connection:
        return connection.execute(statement)


@pytest.mark.parametrize(
    ("made", "wanted", "words"),
    [
        ({"threshold": 0.5}, {"threshold": 0.6}, "threshold 0.5 (0.6 requested)"),
        ({"expected": 1000}, {"expected": 1001}, "expected 1000 (1001 requested)"),
        ({"recipe": "general"}, {"recipe": "minhash"}, "recipe 'general-"),
        ({"recipe": "minhash"}, {"recipe": "shingle"}, "recipe 'minhash-"),
        ({"ignore": ["dates"]}, {"ignore": ["numbers"]}, "ignore"),
        ({}, {"measure": "aligned"}, "measure 'content' ('aligned' requested)"),
        # The recipe's own value is a setting too.
        ({}, {"threshold": 0.46}, "threshold 0.4 (0.46 requested)"),
        # A list, as in the file of a recipe.
        ({}, {"recipe": GENERAL.replace(normalize={"fold": ()})}, "'look-alikes'] ([] requested)"),
        # Another definition of a duplicate has the id of the recipe.
        (
            {},
            {"recipe": GENERAL.replace(decide={"common": "none"})},
            "decide.common 'corpus' ('none' requested)",
        ),
        (
            {"recipe": "characters", "max_distance": 7},
            {"max_distance": 8},
            "max_distance 7 (8 requested)",
        ),
        ({"recipe": "characters", "max_distance": 7}, {"threshold": 0.9}, "threshold"),
    ],
)
def test_other_settings_are_refused_by_name(location, made, wanted, words):
    with Index(location, **made) as index:
        index.add("a", FERRY)
    refused(location, IndexMismatchError, words, **wanted)
    for options in ({}, made):
        with Index(location, **options) as index:
            assert index.add("a", FERRY) is None


def test_all_differences_are_named_with_both_values(location):
    Index(location, threshold=0.5).close()
    own = GENERAL.replace(segment={"k": 6}, decide={"common": "none"})
    message = refused(location, IndexMismatchError, threshold=0.6, expected=7, recipe=own)
    for words in (
        *("threshold 0.5 (0.6 requested)", "expected 1000000 (7 requested)", "recipe 'general-"),
        *("segment.k 5 (6 requested)", "decide.common 'corpus' ('none' requested)"),
    ):
        assert words in message
    assert message.count("requested)") == 5


@pytest.mark.parametrize("name", ["general", "improved"])
def test_own_values_of_the_recipe_can_be_named(location, name):
    """Single texts have no corpus to count words in: a recipe that does takes the bundled table."""
    recipe = load_recipe(name)
    with Index(location, recipe=name) as index:
        assert index.stats().recipe_id == recipe.for_single_texts().id
    for options in ({"recipe": name}, {"recipe": recipe, "threshold": recipe.decide.threshold}):
        Index(location, **options).close()


@BOTH
def test_existing_index_is_not_made_again(location):
    Index(location, threshold=0.5, must_exist=False).close()
    for options, words in (
        ({}, "there is an index already"),
        ({"threshold": 0.5}, "there is an index already"),
        ({"threshold": 0.6}, r"an index already, with other settings.*0\.5 \(0\.6 requested\)"),
    ):
        with pytest.raises(IndexUnavailableError, match=words) as told:
            Index(location, must_exist=False, **options)
        assert ("settings" in str(told.value)) == (options == {"threshold": 0.6})


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("ferry\nmorning\n", "utf-8")
    return path


def with_stop_words(path):
    return load_recipe("classic").replace(weigh={"stop_words": str(path)})


def test_changed_file_of_the_recipe_is_refused(location, words):
    recipe, content = with_stop_words(words), words.read_bytes()
    with Index(location, recipe=recipe) as index:
        index.add("a", FERRY)
    words.write_text("ferry\nevening\n", "utf-8")
    refused(location, IndexMismatchError, recipe.id, with_stop_words(words).id)
    words.unlink()
    message = refused(location, IndexMismatchError, words, "Put it back")
    assert "no such file" in message.lower()
    words.write_bytes(content)
    with Index(location) as index:
        assert index.add("b", FERRY).id == "a"


def test_file_of_the_recipe_is_found_from_another_folder(location, words, monkeypatch, tmp_path):
    monkeypatch.chdir(words.parent)
    Index(location, recipe=with_stop_words(words.name)).close()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    Index(location).close()


@pytest.mark.parametrize(
    ("name", "earlier"), [("improved", "c301b55ac0df"), ("bkdr", "89adc7fa68fa")]
)
def test_recipe_with_other_bits_is_refused(location, name, earlier):
    """Sketches of format 2 cannot be compared with new ones."""
    Index(location, recipe=name).close()
    now = load_recipe(name).for_single_texts().id
    row = meta.c.name == "settings"
    value = sa.func.replace(meta.c.value, now, f"{name}-{earlier}")
    assert changed(location, meta.update().where(row).values(value=value)).rowcount == 1
    refused(location, IndexMismatchError, f"{name}-{earlier}", now, "the neardup that made it")


@pytest.mark.parametrize("name", ["recipe", "settings"])
@pytest.mark.parametrize("value", ["", "{", "[1]", "{}", '{"x": 1}', None])
def test_damaged_settings_are_reported(location, name, value):
    Index(location).close()
    row = meta.c.name == name
    delete, update = meta.delete().where(row), meta.update().where(row).values(value=value)
    changed(location, delete if value is None else update)
    refused(location, (IndexFormatError, IndexMismatchError))


def test_two_schemas_of_one_database(postgres, database_url):
    with postgres.connect(name_in(database_url)) as connection:
        connection.execute("CREATE TABLE public.documents AS SELECT 7 AS n")
        places = [f"{database_url}?schema=one", f"{database_url}?schema=other", database_url]
        with (
            Index(places[0]) as index,
            Index(places[1], recipe="shingle") as another,
            Index(places[2]) as third,
        ):
            index.add("a", FERRY)
            assert another.add("a", PEARS) is None
            assert another.add("b", FERRY) is None
            assert (len(index), len(another), len(third)) == (1, 2, 0)
            assert third.query(FERRY) == []
            another.remove("b")
            assert "a" in index
        assert [verdicts(place) for place in places] == [{"a": None}, {"a": None}, {}]
        # Tables of other programs are left alone.
        assert connection.execute("SELECT n FROM public.documents").fetchall() == [(7,)]
