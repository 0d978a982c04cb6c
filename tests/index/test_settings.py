"""An index is opened with what it was made with, or the difference is told."""

import pytest
import sqlalchemy as sa
from tests.index.consistency import verdicts
from tests.index.databases import BOTH
from tests.index.written import FERRY
from tests.postgres import name_in

from neardup import (
    Index,
    IndexFormatError,
    IndexMismatchError,
    IndexUnavailableError,
    NeardupError,
    load_recipe,
)
from neardup.index.backends import open_database
from neardup.index.schema import meta

#: Not a letter of it is in the other.
OTHER = "山上的果园六月遭了冰雹，梨落了一半，剩下的都送去榨汁，坛子比往年少了许多。"


def refused(location, kind, *words, **options):
    with pytest.raises(kind) as told:
        Index(location, **options)
    message = str(told.value)
    assert message.startswith(location.partition("://")[0] if "://" in location else location)
    for word in words:
        assert str(word) in message
    return message


def changed(location, statement):
    with open_database(location, must_exist=True) as database, database.writing() as connection:
        connection.execute(statement)


class TestOtherSettings:
    @pytest.mark.parametrize(
        ("name", "made", "wanted"),
        [
            ("threshold", 0.5, 0.6),
            ("expected", 1000, 1001),
            ("recipe", "general", "minhash"),
            ("recipe", "minhash", "shingle"),
            ("ignore", ["dates"], ["numbers"]),
        ],
    )
    def test_are_refused_by_name(self, location, name, made, wanted):
        with Index(location, **{name: made}) as index:
            index.add("a", FERRY)
        refused(location, IndexMismatchError, name, made, wanted, **{name: wanted})
        for options in ({}, {name: made}):
            with Index(location, **options) as index:
                assert index.add("a", FERRY) is None

    def test_all_differences_are_named_with_both_values(self, location):
        Index(location, threshold=0.5).close()
        own = load_recipe("general").replace(segment={"k": 6}, decide={"common": "none"})
        message = refused(location, IndexMismatchError, threshold=0.6, expected=7, recipe=own)
        assert "threshold 0.5 (0.6 requested)" in message
        assert "expected 1000000 (7 requested)" in message
        assert "segment.k 5 (6 requested)" in message
        assert "decide.common 'corpus' ('none' requested)" in message
        assert "recipe 'general-" in message
        assert message.count("requested)") == 5
        refused(location, IndexMismatchError, "measure 'content' ('aligned' re", measure="aligned")
        # A list, as in the file of a recipe.
        fold = load_recipe("general").replace(normalize={"fold": ()})
        refused(location, IndexMismatchError, "'look-alikes'] ([] requested)", recipe=fold)

    def test_existing_index_with_other_settings_is_named(self, location):
        Index(location, threshold=0.5).close()
        words = ["an index already, with other settings", "threshold 0.5 (0.6 requested)"]
        refused(location, IndexUnavailableError, *words, threshold=0.6, must_exist=False)
        message = refused(location, IndexUnavailableError, must_exist=False, threshold=0.5)
        assert "settings" not in message

    def test_distances(self, location):
        Index(location, recipe="characters", max_distance=7).close()
        refused(location, IndexMismatchError, "max_distance", 7, 8, max_distance=8)
        refused(location, IndexMismatchError, "threshold", 0.9, threshold=0.9)
        Index(location, recipe="characters", max_distance=7).close()

    def test_the_recipes_own_values_can_be_named(self, location):
        recipe = load_recipe("general")
        Index(location).close()
        Index(location, recipe=recipe, threshold=recipe.decide.threshold).close()
        refused(location, IndexMismatchError, "threshold", 0.4, 0.46, threshold=0.46)

    def test_other_definition_of_a_duplicate_is_refused(self, location):
        Index(location).close()
        other = load_recipe("general").replace(decide={"common": "none"})
        assert other.id == load_recipe("general").id
        told = "decide.common 'corpus' ('none' requested)"
        refused(location, IndexMismatchError, told, recipe=other)

    def test_a_corpus_is_the_bundled_table(self, location):
        with Index(location, recipe="improved") as index:
            made = index.stats().recipe_id
        assert made == load_recipe("improved").for_single_texts().id
        Index(location, recipe="improved").close()
        Index(location, recipe=load_recipe("improved")).close()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"threshold": 0}, "threshold"),
        ({"threshold": 1.1}, "threshold"),
        ({"threshold": "0.5"}, "threshold"),
        ({"max_distance": 3}, "max_distance"),
        ({"recipe": "characters", "max_distance": -1}, "max_distance"),
        ({"expected": 0}, "expected"),
        ({"expected": 2**32}, "expected"),
        ({"expected": 1.5}, "expected"),
        ({"must_exist": "yes"}, "must_exist"),
        ({"workers": -1}, "workers"),
        ({"recipe": "nosuch"}, "recipe"),
    ],
)
def test_bad_settings_make_nothing(location, options, word):
    with pytest.raises(NeardupError, match=f"'{word}' parameter must"):
        Index(location, **options)
    with pytest.raises(NeardupError, match=r"no such file|must hold an index"):
        Index(location, must_exist=True)


@BOTH
def test_existing_index_is_refused(location):
    Index(location, must_exist=False).close()
    with pytest.raises(IndexUnavailableError, match="there is an index already"):
        Index(location, must_exist=False)


class TestFilesOfTheRecipe:
    @pytest.fixture
    def words(self, tmp_path):
        path = tmp_path / "words.txt"
        path.write_text("ferry\nmorning\n", "utf-8")
        return path

    def recipe(self, path):
        return load_recipe("classic").replace(weigh={"stop_words": str(path)})

    def test_changed_file_is_refused(self, location, words):
        with Index(location, recipe=self.recipe(words)) as index:
            index.add("a", FERRY)
            made = index.stats().recipe_id
        words.write_text("ferry\nevening\n", "utf-8")
        now = self.recipe(words).id
        refused(location, IndexMismatchError, made, now)
        words.write_text("ferry\nmorning\n", "utf-8")
        with Index(location) as index:
            assert index.add("b", FERRY).id == "a"

    @pytest.mark.parametrize(
        ("name", "earlier"), [("improved", "c301b55ac0df"), ("bkdr", "89adc7fa68fa")]
    )
    def test_recipe_with_other_bits_is_refused(self, location, name, earlier):
        """Its sketches cannot be compared with new ones: of format 2 here."""
        Index(location, recipe=name).close()
        now = load_recipe(name).for_single_texts().id
        is_settings = meta.c.name == "settings"
        with open_database(location, must_exist=True) as database, database.writing() as connection:
            stored = connection.execute(sa.select(meta.c.value).where(is_settings)).scalar_one()
        assert now in stored
        value = stored.replace(now, f"{name}-{earlier}")
        changed(location, meta.update().where(is_settings).values(value=value))
        message = refused(location, IndexMismatchError, f"{name}-{earlier}", now)
        assert "the neardup that made it" in message

    def test_missing_file_is_refused(self, location, words):
        Index(location, recipe=self.recipe(words)).close()
        content = words.read_bytes()
        words.unlink()
        message = refused(location, IndexMismatchError, str(words), "Put it back")
        assert "no such file" in message.lower()
        words.write_bytes(content)
        Index(location).close()

    def test_another_working_folder(self, location, words, monkeypatch, tmp_path):
        monkeypatch.chdir(words.parent)
        Index(location, recipe=self.recipe(words.name)).close()
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        Index(location).close()


@pytest.mark.parametrize("name", ["recipe", "settings"])
@pytest.mark.parametrize("value", ["", "{", "[1]", "{}", '{"x": 1}', None])
def test_damaged_settings(location, name, value):
    Index(location).close()
    row = meta.c.name == name
    changed(
        location,
        meta.delete().where(row) if value is None else meta.update().where(row).values(value=value),
    )
    refused(location, (IndexFormatError, IndexMismatchError))


class TestPlaces:
    def test_two_schemas_of_one_database(self, database_url):
        first, other = f"{database_url}?schema=one", f"{database_url}?schema=other"
        with (
            Index(first) as index,
            Index(other, recipe="shingle") as another,
            Index(database_url) as third,
        ):
            index.add("a", FERRY)
            assert another.add("a", OTHER) is None
            assert another.add("b", FERRY) is None
            assert (len(index), len(another), len(third)) == (1, 2, 0)
            assert third.query(FERRY) == []
            another.remove("b")
            assert "a" in index
        assert verdicts(first) == verdicts(other) == {"a": None}
        assert verdicts(database_url) == {}

    def test_tables_of_others_are_left_alone(self, postgres, database_url):
        with postgres.connect(name_in(database_url)) as connection:
            connection.execute("CREATE TABLE public.documents (n int)")
            connection.execute("INSERT INTO public.documents VALUES (7)")
            with Index(database_url) as index:
                index.add("a", FERRY)
            assert connection.execute("SELECT n FROM public.documents").fetchall() == [(7,)]
