"""The real ANSJ behind the wrapper of the guide: a Java program that runs beside."""

import importlib.util
import json
import subprocess
import sys

import pytest
from tests import needs
from tests.conftest import ROOT
from tests.weights import weights_of

from neardup import Fingerprint, fingerprint, load_recipe
from neardup.recipe.assets import compiled
from neardup.recipe.segmenters import encoded_units

pytestmark = pytest.mark.slow

EXAMPLE = ROOT / "examples" / "ansj"
TEXT = "澜江的渡轮发生事故，更新了设备。"


def ready(*command):
    """Tell whether a program is there and starts."""
    try:
        return subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except OSError:
        return False


@pytest.fixture(scope="module")
def jars(tmp_path_factory):
    """ANSJ and what it needs, from Maven Central."""
    if not (ready("javac", "-version") and ready("mvn", "-version")):
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


def test_version_equals_the_one_in_the_guide(jars):
    (jar,) = (path.stem for path in jars.glob("ansj_seg-*.jar"))
    version = jar.removeprefix("ansj_seg-")
    assert f"ANSJ {version} on" in (ROOT / "docs" / "guide" / "segmenters.md").read_text("utf-8")


def test_words_and_tags(ansj):
    words = dict(ansj.segment(TEXT))
    assert (words["渡轮"], words["发生"], words["事故"]) == ("n", "v", "n")
    assert words["澜"] == "null", "ANSJ has no tag for this word"
    assert ansj.segment("") == []
    # ANSJ would cut a character of two code units in two.
    assert ansj.segment("𠀀村")[0] == ("\ufffd", "null")
    assert "".join(word for word, _ in ansj.segment(TEXT)) == TEXT


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


def test_null_is_no_noun(ansj):
    """A word without a tag weighs what one with an empty tag weighs."""
    recipe = load_recipe("improved").replace(
        segment={"units": "piped_words:segment"}, weigh={"idf": "bundled"}
    )
    core = compiled(recipe)
    weights = weights_of(core, encoded_units(ansj.segment, TEXT), None)

    def cleared(tag):
        return [
            (word, tag if message == "null" else message) for word, message in ansj.segment(TEXT)
        ]

    assert weights == weights_of(core, encoded_units(lambda _: cleared(""), TEXT), None)
    as_noun = weights_of(core, encoded_units(lambda _: cleared("n"), TEXT), None)
    assert as_noun["澜"] > weights["澜"]
    assert dict(core.units(encoded_units(ansj.segment, TEXT)))["澜"] == ""
    assert fingerprint(TEXT, recipe=recipe).recipe_id == recipe.id


def test_written_words_are_read_as_the_function_gives_them(ansj):
    """The same words as text of ``word/tag``: the same fingerprint."""
    written = " ".join(f"{word}/{tag}" for word, tag in ansj.segment(TEXT))
    by_function = load_recipe("classic").replace(segment={"units": "piped_words:segment"})
    by_text = load_recipe("classic").replace(segment={"units": "tagged"})
    assert fingerprint(written, recipe=by_text).value == fingerprint(TEXT, recipe=by_function).value
