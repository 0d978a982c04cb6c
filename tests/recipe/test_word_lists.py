"""Lists of words: bundled, from a file in any usual encoding, or a file added to those."""

import re

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


def test_the_path_after_a_plus_is_relative_to_the_recipe(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "own.txt").write_text("渡轮\n", "utf-8")
    lists = 'stop_words = "+own.txt"\nmarkers = "+own.txt"'
    (tmp_path / "in" / "r.toml").write_text(
        f'[segment]\nuser_dictionary = "+own.txt"\n[weigh]\n{lists}\n', "utf-8"
    )
    monkeypatch.chdir(tmp_path)
    recipe = load_recipe("in/r.toml")
    for stage, setting in (("segment", "user_dictionary"), ("weigh", "stop_words")):
        assert getattr(getattr(recipe, stage), setting) == "+in/own.txt"
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
#: Words that contain short markers of the longer list, and one that is such a marker.
PARTS = "发生事故后，船的设备更新了，第一次停航。船却照开。"


def weights(recipe, text):
    return weights_of(compiled(recipe), text, None)


def raised(recipe, text):
    """Return the words that count more than they would without marker words."""
    marked, plain = weights(recipe, text), weights(WITHOUT, text)
    return {word for word in marked if marked[word] > plain.get(word, 0)}


def test_word_with_a_long_marker_counts_more():
    result = raised(BUNDLED, FERRY)
    assert result == {"事实上", "归根结底"}
    words = weights(WITHOUT, FERRY)
    assert result == {word for word in words if any(weigh.is_marked(word, m) for m in markers())}


def test_a_short_marker_counts_only_as_a_word():
    """事故, 更新 and 第一次 are no markers because they contain 故, 更 and 第一."""
    assert {"故", "更", "第一"} <= set(markers(None))
    assert {"事故", "更新", "第一次"} <= set(weights(EXTENDED, PARTS))
    assert raised(EXTENDED, PARTS) == {"却"}


def test_the_example_of_the_pages():
    """冷却 contains 却, which the bundled list has; 事故 contains 故, which only the longer has."""
    text = "发生事故后，船的发动机要冷却。却没有水。"
    published = {"marker_match": "contains"}
    assert raised(BUNDLED, text) == {"却"}
    assert raised(BUNDLED.replace(weigh=published), text) == {"却", "冷却"}
    assert {"事故", "冷却"} < raised(EXTENDED.replace(weigh=published), text)


def test_a_contained_short_marker_counts_where_the_recipe_says_so():
    """The published definition: 事故 contains 故, 更新 contains 更."""
    published = EXTENDED.replace(weigh={"marker_match": "contains"})
    result = raised(published, PARTS)
    assert {"事故", "更新", "第一次", "却"} <= result
    words = weights(WITHOUT, PARTS)
    expected = {w for w in words if any(weigh.is_marked(w, m, True) for m in markers(None))}
    assert result & set(words) == expected
    assert published.id != EXTENDED.id


def test_the_default_is_the_two_groups_of_the_method():
    """Words of summary and contrast; the others are in the longer list."""
    text = "总之票价不高。但是渡轮少。因此要等。"
    assert raised(BUNDLED, text) == {"总之", "但是"}
    assert raised(EXTENDED, text) == {"总之", "但是", "因此"}
    assert BUNDLED.weigh.markers == "bundled"
    assert len({recipe.id for recipe in (BUNDLED, EXTENDED, WITHOUT)}) == 3


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
