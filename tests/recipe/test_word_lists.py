"""Lists of words: bundled, from a file in any usual encoding, or a file added to those."""

import re
from operator import attrgetter

import pytest
from tests.golden.regenerate import markers
from tests.reference import weigh
from tests.weights import weights_of

from neardup import Index, InputError, ParameterError, fingerprint, load_recipe
from neardup.recipe.assets import compiled
from neardup.recipe.word_lists import words_of

CLASSIC = load_recipe("classic")
IMPROVED = load_recipe("improved").for_single_texts()
#: Of two stop words, a marker that is none, and three others.
TEXT = "我们的渡轮停靠新码头，综上所述，票价不变。"


def kept(recipe, text=TEXT):
    return {word for word, *_ in compiled(recipe).features(text, None)}


def marked(recipe, text=TEXT):
    found = compiled(recipe).features(text, None)
    return {word for word, _, _, factors, *_ in found if factors[2]}


def test_core_drops_the_bundled_stop_words():
    words = words_of(CLASSIC, "stop_words")
    assert {"的", "the", "我们"} < set(words)
    assert len(words) == len(set(words)) > 2000
    # Each by itself, as a word of a segmenter that leaves it whole.
    whole = CLASSIC.replace(
        segment={"units": "tests.golden.segmenters:tokens"}, weigh={"drop_punctuation": False}
    )
    normalize = compiled(whole).normalize
    units = "\x1e".join(f"{normalize(word)}\x1f" for word in (*words, "渡轮", "ferry"))
    assert kept(whole, units) == {"渡轮", "ferry"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk", "gb18030", "utf-16"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_file_is_read_in_the_usual_encodings(encoding, line_end, tmp_path):
    path = tmp_path / "own.txt"
    path.write_bytes(line_end.join(["渡轮", "", " 票价 ", "渡轮"]).encode(encoding))
    recipe = CLASSIC.replace(weigh={"stop_words": str(path)})
    assert words_of(recipe, "stop_words") == ["渡轮", "票价"]
    assert kept(recipe) & {"渡轮", "票价", "的", "码头"} == {"的", "码头"}


def test_a_plus_adds_to_the_bundled_stop_words(tmp_path):
    path = tmp_path / "own.txt"
    path.write_text("渡轮\n", "utf-8")
    own, added = (CLASSIC.replace(weigh={"stop_words": f"{plus}{path}"}) for plus in ("", "+"))
    assert kept(own) == kept(CLASSIC.replace(weigh={"stop_words": "none"})) - {"渡轮"}
    assert kept(added) == kept(CLASSIC) - {"渡轮"}
    assert len({CLASSIC.id, own.id, added.id}) == 3
    assert words_of(added, "stop_words") == [*words_of(CLASSIC, "stop_words"), "渡轮"]
    # What is bundled already changes nothing but the id.
    path.write_text("的\n", "utf-8")
    assert fingerprint(TEXT, recipe=added).value == fingerprint(TEXT, recipe=CLASSIC).value


def test_a_plus_adds_to_the_bundled_markers(tmp_path):
    path = tmp_path / "own.txt"
    path.write_bytes("票价".encode("gbk"))
    own, added = (IMPROVED.replace(weigh={"markers": f"{plus}{path}"}) for plus in ("", "+"))
    assert (marked(IMPROVED), marked(own)) == ({"综上所述"}, {"票价"})
    assert marked(added) == {"综上所述", "票价"}


def test_a_dictionary_is_an_addition_with_or_without_a_plus(tmp_path):
    path = tmp_path / "own.txt"
    path.write_bytes("新码头 100000 ns\n渡轮停靠\n".encode("gbk"))
    own, added = (
        CLASSIC.replace(segment={"user_dictionary": f"{plus}{path}"}) for plus in ("", "+")
    )
    assert ("新码头", "ns") in compiled(own).units(TEXT)
    assert compiled(own).units(TEXT) == compiled(added).units(TEXT) != compiled(CLASSIC).units(TEXT)
    assert own.id == added.id
    assert words_of(own, "user_dictionary") == ["新码头 100000 ns", "渡轮停靠"]


@pytest.mark.parametrize("plus", ["", "+"])
def test_paths_of_lists_are_relative_to_the_recipe(plus, tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "own.txt").write_text("渡轮\n", "utf-8")
    settings = ("segment.user_dictionary", "weigh.stop_words", "weigh.markers")
    lines = "".join(f'{setting} = "{plus}own.txt"\n' for setting in settings)
    (tmp_path / "in" / "r.toml").write_text(lines, "utf-8")
    monkeypatch.chdir(tmp_path)
    recipe = load_recipe("in/r.toml")
    assert recipe.name == "r"
    for setting in settings:
        assert attrgetter(setting)(recipe) == f"{plus}in/own.txt"
    # An index may be opened from another folder.
    with Index(tmp_path / "n.db", recipe=recipe.replace(decide={"threshold": 0.8})):
        pass
    monkeypatch.chdir(tmp_path / "in")
    with Index(tmp_path / "n.db") as index:
        assert index.add("a", "渡轮停靠新码头。") is None


@pytest.mark.parametrize(
    ("setting", "content", "line", "got"),
    [
        ("stop_words", "渡轮\n的 了 和\n", 2, "'的 了 和'"),
        ("markers", "\n\n总之\t但是", 3, r"'总之\\t但是'"),
        ("user_dictionary", "渡轮 10 n\n\n新 码头 10 n\n", 3, "'新 码头 10 n'"),
        ("user_dictionary", "渡轮 many n\n", 1, "'渡轮 many n'"),
        ("user_dictionary", "渡轮 99999999999\n", 1, "'渡轮 99999999999'"),
    ],
)
def test_a_line_of_another_form_is_named(setting, content, line, got, tmp_path):
    path = tmp_path / "own.txt"
    path.write_text(content, "utf-8")
    stage = "segment" if setting == "user_dictionary" else "weigh"
    recipe = IMPROVED.replace(**{stage: {setting: f"+{path}"}})
    with pytest.raises(InputError, match=rf"own\.txt, line {line}: expected .*on each line.*{got}"):
        fingerprint(TEXT, recipe=recipe)


def test_units_with_blanks_have_stop_words_with_blanks(tmp_path):
    path = tmp_path / "own.txt"
    path.write_text("of the\n", "utf-8")
    recipe = CLASSIC.replace(
        normalize={"whitespace": "keep", "drop_invisible": False},
        segment={"units": "tests.golden.segmenters:tokens"},
        weigh={"stop_words": str(path)},
    )
    assert fingerprint("ferry\x1dof the\x1driver", recipe=recipe) == fingerprint(
        "ferry\x1driver", recipe=recipe
    )


# Marker words: what the improved recipe makes of them.

BUNDLED = load_recipe("improved").replace(weigh={"idf": "bundled"})
EXTENDED = BUNDLED.replace(weigh={"markers": "extended"})
WITHOUT = BUNDLED.replace(weigh={"markers": "none"})
FERRY = "事实上渡轮的票价归根结底不高。"
SUMMARY = "总之票价不高。但是渡轮少。因此要等。"
#: Words that contain short markers, and one that is such a marker.
PARTS = "发生事故后，船的设备更新了，第一次停航。船却照开。"
#: The example of the pages.
COOLING = "发生事故后，船的发动机要冷却。却没有水。"


def weights(recipe, text):
    return weights_of(compiled(recipe), text, None)


@pytest.mark.parametrize(
    ("recipe", "text", "words", "contained"),
    [
        (BUNDLED, FERRY, "事实上 归根结底", ""),
        # A short marker counts only as a word, unless the recipe takes the published definition.
        (EXTENDED, PARTS, "却", "事故 更新 第一次"),
        (BUNDLED, COOLING, "却", "冷却"),
        (EXTENDED, COOLING, "却", "事故 冷却"),
        # By default, only words of summary and contrast count.
        (BUNDLED, SUMMARY, "总之 但是", ""),
        (EXTENDED, SUMMARY, "总之 但是 因此", ""),
    ],
)
def test_marked_words_count_more(recipe, text, words, contained):
    published = recipe.replace(weigh={"marker_match": "contains"})
    plain = weights(WITHOUT, text)
    known = markers() if recipe is BUNDLED else markers(None)
    for one, raised in ((recipe, words), (published, f"{words} {contained}")):
        marked = weights(one, text)
        found = {word for word in marked if marked[word] > plain.get(word, 0)}
        assert found == {*raised.split()}
        is_contained = one is published
        twin = {w for w in plain if any(weigh.is_marked(w, m, is_contained) for m in known)}
        assert found & plain.keys() == twin
    assert len({one.id for one in (BUNDLED, EXTENDED, WITHOUT, published)}) == 4


def test_a_list_of_ones_own(tmp_path):
    path = tmp_path / "markers.txt"
    path.write_text("\ufeff票价\n轮\n\n 以…为例 \n", "utf-8")
    recipe = BUNDLED.replace(weigh={"markers": str(path)})
    marked, plain = weights(recipe, FERRY), weights(WITHOUT, FERRY)
    assert {word for word in plain if marked[word] != plain[word]} == {"票价"}


def test_missing_list_is_refused_with_the_known_names():
    """A misspelt name is taken for a file, so the message lists the names."""
    recipe = BUNDLED.replace(weigh={"markers": "extnded"})
    expected = (
        "extnded: cannot be read: No such file or directory. "
        "'weigh.markers' takes none, bundled, extended or a file."
    )
    with pytest.raises(InputError, match=f"^{re.escape(expected)}$"):
        fingerprint(FERRY, recipe=recipe)
    with pytest.raises(ParameterError, match=r"'weigh.markers' parameter must be text. Got 7"):
        BUNDLED.replace(weigh={"markers": 7})
