"""Segmenters of the user's own, ANSJ behind the wrapper of the guide, and words with separators."""

import importlib.util
import json
import subprocess
import sys
from functools import partial

import pytest
from tests import needs
from tests.conftest import ROOT
from tests.reference import segment, sketch
from tests.weights import weights_of

from neardup import (
    Fingerprint,
    Index,
    InputError,
    ParameterError,
    compare,
    count_idf,
    dedup,
    dedup_files,
    explain,
    fingerprint,
    fingerprint_files,
    fingerprint_many,
    load_recipe,
    pairs,
    pairs_files,
    sketch_files,
)
from neardup.index import NewDocument
from neardup.recipe.assets import compiled
from neardup.recipe.segmenters import encoded_units

MODULE = "tests.golden.segmenters"


def recipe_with(name, **stages):
    units = {"units": f"{MODULE}:{name}"}
    return load_recipe("classic").replace(segment=units, **stages)


def test_every_task_uses_it():
    recipe = recipe_with("weighted", decide={"min_features": 1})
    text = "渡轮*3 书店*1"
    expected = sketch.simhash({"渡轮": 3, "书店": 1}, 64, sketch.xxh3, 0)
    assert fingerprint(text, recipe=recipe).value == expected
    assert fingerprint_many([text], recipe=recipe).tolist() == [[expected]]
    assert compare(text, "书店*1 渡轮*3", recipe=recipe).distance == 0
    assert dedup([text, "书店*1 渡轮*3"], recipe=recipe).kept == [text]
    counted = count_idf([text], recipe=recipe.replace(weigh={"scheme": "tf-idf", "idf": "corpus"}))
    assert dict(counted.counts) == {"渡轮": 1, "书店": 1}
    assert counted.units == f"{MODULE}:weighted"


@pytest.mark.parametrize(
    ("units", "message"),
    [
        ("no.such.module:f", "importing 'no.such.module' failed: ModuleNotFoundError"),
        ("nosuch:f", "If nosuch.py is in this folder, run with PYTHONPATH=[.]"),
        ("no.such.module:f", "If no/such/module.py is in this folder"),
        (f"{MODULE}:nosuch", "has no callable 'nosuch'"),
        ("math:pi", "has no callable 'pi'"),
        (":f", "module:function"),
        ("math:", "module:function"),
    ],
)
def test_unloadable_segmenter_is_refused(units, message):
    recipe = load_recipe("classic").replace(segment={"units": units})
    for run in (lambda: fingerprint("text", recipe=recipe), lambda: dedup(["text"], recipe=recipe)):
        with pytest.raises(ParameterError, match=message):
            run()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("failing", "some text", "'some text': ZeroDivisionError: no words in 9 characters"),
        ("exiting", "some text", "'some text': SystemExit: no words in some text"),
        ("no_result", "some text", "'some text': TypeError: 'NoneType' object is not iterable"),
        ("three_parts", "some text", "'some text': ValueError"),
        ("tokens", "record \x1e separator", "U[+]001E or U[+]001F"),
        # A word of two characters must not pass for a word and its tag.
        ("only_words", "今天 天气", r"expected pairs of \(word, tag\), found the text '今天'"),
    ],
)
def test_failing_segmenter_ends_the_run(name, text, message, tmp_path):
    recipe = recipe_with(name, normalize={"drop_invisible": False})
    for run in (fingerprint, partial(compare, text)):
        with pytest.raises(InputError, match=message):
            run(text, recipe=recipe)
    counting = recipe.replace(weigh={"scheme": "tf-idf", "idf": "corpus"})
    for task, used in ((dedup, recipe), (pairs, recipe), (count_idf, counting)):
        with pytest.raises(InputError, match=f"^input: record 1: .*{message}"):
            task([text, text], recipe=used)
    made = tmp_path / "in.jsonl"
    made.write_text(json.dumps({"text": text}), "utf-8")
    for task in (dedup_files, pairs_files, fingerprint_files, sketch_files):
        output = tmp_path / ("out.nds" if task is sketch_files else "out.jsonl")
        with pytest.raises(InputError, match=rf"in\.jsonl: record 1: .*{message}"):
            task([made], output, recipe=recipe)
        assert list(tmp_path.iterdir()) == [made]


def test_segmenter_failing_on_one_text_stores_nothing_of_the_batch(tmp_path):
    recipe = recipe_with("failing_on_rain", decide={"min_features": 1})
    documents = [{"id": str(n), "text": f"some text {n}"} for n in range(3)]
    documents.append({"id": "wet", "text": "much rain"})
    with Index(tmp_path / "x.db", recipe=recipe) as index:
        with pytest.raises(InputError, match=r"record 4: .*RuntimeError: no model for rain"):
            index.add_many(documents)
        with pytest.raises(InputError, match="segmenter accepts"):
            index.add("wet", "much rain")
        with pytest.raises(InputError, match="segmenter accepts"):
            index.query("much rain")
        assert index.stats().documents == 0
        # Callers who share a transaction each get their own answer.
        answers = index.add_together([NewDocument(d["id"], d["text"]) for d in documents])
        assert [answer.problem is None for answer in answers] == [True, True, True, False]
        assert index.check() is None


def test_the_encoding_is_the_twin():
    recipe = recipe_with("tokens")
    encoded = "雨\x1fn\x1e\x1e下\x1e\x1fx\x1e"
    assert compiled(recipe).units(encoded) == segment.external(encoded)


def test_segmenter_without_words_leaves_no_sketch():
    for idf in ("corpus", "bundled"):
        recipe = load_recipe("keywords").replace(
            segment={"units": "tests.golden.segmenters:nothing"}, weigh={"idf": idf}
        )
        assert not fingerprint_many(["渡口的书店", "another text"], recipe=recipe).any()


# Units of a text that is already cut, with a separator between its words.

#: The recipe that the guide pastes the printed words into.
NEWS_WORDS = load_recipe("news-words")


def separated(by):
    return load_recipe("news").replace(segment={"units": "separated", "by": by})


@pytest.mark.parametrize(
    ("by", "text", "words"),
    [
        (" ", "渡轮 停靠 码头", ["渡轮", "停靠", "码头"]),
        (" ", "渡轮  停靠", ["渡轮", "", "停靠"]),
        (",", "渡轮, ,停靠", ["渡轮", " ", "停靠"]),
        (",", "渡轮，停靠", ["渡轮，停靠"]),
        (", ", "渡轮, 停靠,码头", ["渡轮", "停靠,码头"]),
        ("|", "|渡轮|", ["", "渡轮", ""]),
        ("aa", "aaa", ["", "a"]),
    ],
)
def test_everything_between_two_separators_is_a_word(by, text, words):
    recipe = separated(by)
    assert explain(text, recipe=recipe).a.words == tuple((word, "") for word in words)
    expected = {word: words.count(word) for word in words}
    votes = sketch.simhash(expected, 64, sketch.news, tie=1)
    assert fingerprint(text, recipe=recipe).value == votes
    weighed = recipe.replace(weigh={"scheme": "tf-idf", "idf": "corpus"})
    counted = count_idf([text], recipe=weighed)
    assert (counted.units, "渡轮" in counted.counts) == (f"separated:{by}", "渡轮" in words)


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.shared
def test_the_published_integers_from_the_printed_words(shared, end):
    """As a reader pastes them, whatever their editor ends the file with."""
    golden = json.loads((shared / "golden" / "news" / "vectors.json").read_text("utf-8"))
    pasted = [",".join(document["tokens"]) + end for document in golden["documents"]]
    first, second = (fingerprint(text, recipe=NEWS_WORDS) for text in pasted)
    assert (first.value, second.value) == (2307805473197, 2307805456781)
    assert first.distance(second) == 2
    assert first.source_blocks(3) == (46487, 14282)
    verdict = compare(*pasted, recipe=NEWS_WORDS).verdict
    assert verdict == "Duplicates: 2 of 64 bits differ, at most 3 allowed."


@pytest.mark.shared
def test_guide_describes_the_printed_words(shared, root):
    """How many words there are, where the blanks are, and what is full-width."""
    page = (root / "docs" / "guide" / "sources.md").read_text("utf-8")
    golden = json.loads((shared / "golden" / "news" / "vectors.json").read_text("utf-8"))
    texts = [document["tokens"] for document in golden["documents"]]
    counts = " and ".join(str(len(words)) for words in texts)
    assert f"{counts} words" in page
    for words in texts:
        blanks = [at for at, word in enumerate(words) if word == " "]
        assert [words[at - 1] for at in blanks] == ["电", "george", "."]
        assert not {",", ";", "（", "）", ""} & set(words)
        assert {"，", "；", "(", ")", "-"} <= set(words)


# The real ANSJ: a Java program that runs beside.

EXAMPLE = ROOT / "examples" / "ansj"
ANSJ_TEXT = "澜江的渡轮发生事故，更新了设备。"


def starts(*command):
    """Tell whether a program is there and starts."""
    try:
        return subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except OSError:
        return False


@pytest.fixture(scope="module")
def jars(tmp_path_factory):
    """ANSJ and what it needs, from Maven Central."""
    if not (starts("javac", "-version") and starts("mvn", "-version")):
        pytest.skip(needs.JAVA_COMPILER)
    folder = tmp_path_factory.mktemp("ansj")
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
    command = ["mvn", "-q", "-B", "-f", str(EXAMPLE / "pom.xml"), *goal]
    run = subprocess.run(command, capture_output=True, timeout=600)
    if run.returncode:
        pytest.skip("needs org.ansj:ansj_seg from Maven Central, which Maven could not get")
    return folder


@pytest.fixture(scope="module")
def ansj(jars, tmp_path_factory):
    """The wrapper of the examples, with their Java program at its other end."""
    spec = importlib.util.spec_from_file_location("piped_words", EXAMPLE / "piped_words.py")
    wrapper = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(wrapper)
    program = f"java -cp {jars}/* {EXAMPLE / 'AnsjWords.java'}"
    with pytest.MonkeyPatch.context() as patch:
        # It looks for dictionaries of the user in the working folder.
        patch.chdir(tmp_path_factory.mktemp("wrapper"))
        patch.setenv("SEGMENTER", program)
        patch.setitem(sys.modules, "piped_words", wrapper)
        yield wrapper
        running = wrapper._program()
        running.stdin.close()
        running.wait(60)
        running.stdout.close()


@pytest.mark.slow
def test_version_equals_the_one_in_the_guide(jars):
    (jar,) = (path.stem for path in jars.glob("ansj_seg-*.jar"))
    version = jar.removeprefix("ansj_seg-")
    assert f"ANSJ {version} on" in (ROOT / "docs" / "guide" / "segmenters.md").read_text("utf-8")


@pytest.mark.slow
def test_words_and_tags(ansj):
    words = dict(ansj.segment(ANSJ_TEXT))
    assert (words["渡轮"], words["发生"], words["事故"]) == ("n", "v", "n")
    assert words["澜"] == "null", "ANSJ has no tag for this word"
    assert ansj.segment("") == []
    # ANSJ would cut a character of two code units in two.
    assert ansj.segment("𠀀村")[0] == ("\ufffd", "null")
    assert "".join(word for word, _ in ansj.segment(ANSJ_TEXT)) == ANSJ_TEXT


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.usefixtures("ansj")
def test_blank_words_reach_the_news_program(shared):
    """ANSJ 5.1.6 cuts 15 names that the published token lists have whole: 3 bits, not 2."""
    golden = json.loads((shared / "golden" / "news" / "vectors.json").read_text("utf-8"))
    recipe = load_recipe("news").replace(segment={"units": "piped_words:segment"})
    texts = ["".join(document["tokens"]) for document in golden["documents"]]
    a, b = (fingerprint(text, recipe=recipe) for text in texts)
    assert (a.value, a.distance(b)) == (2307805456813, 3)
    assert a.distance(Fingerprint(2307805473197, 64, a.recipe_id)) == 1


@pytest.mark.slow
def test_null_is_no_noun(ansj):
    """A word without a tag weighs what one with an empty tag weighs."""
    recipe = load_recipe("improved").replace(
        segment={"units": "piped_words:segment"}, weigh={"idf": "bundled"}
    )
    core = compiled(recipe)
    weights = weights_of(core, encoded_units(ansj.segment, ANSJ_TEXT), None)

    def cleared(tag):
        return [
            (word, tag if message == "null" else message)
            for word, message in ansj.segment(ANSJ_TEXT)
        ]

    assert weights == weights_of(core, encoded_units(lambda _: cleared(""), ANSJ_TEXT), None)
    as_noun = weights_of(core, encoded_units(lambda _: cleared("n"), ANSJ_TEXT), None)
    assert as_noun["澜"] > weights["澜"]
    assert dict(core.units(encoded_units(ansj.segment, ANSJ_TEXT)))["澜"] == ""
    assert fingerprint(ANSJ_TEXT, recipe=recipe).recipe_id == recipe.id


@pytest.mark.slow
def test_written_words_are_read_as_the_function_gives_them(ansj):
    """The same words as text of ``word/tag``: the same fingerprint."""
    written = " ".join(f"{word}/{tag}" for word, tag in ansj.segment(ANSJ_TEXT))
    by_function = load_recipe("classic").replace(segment={"units": "piped_words:segment"})
    by_text = load_recipe("classic").replace(segment={"units": "tagged"})
    assert (
        fingerprint(written, recipe=by_text).value
        == fingerprint(ANSJ_TEXT, recipe=by_function).value
    )
