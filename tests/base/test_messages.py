"""Messages: every sentence formats in both languages, and errors carry what they are made of.

``python -m tests.base.test_messages`` prints all sentences, for reading.
"""

import copy
import pickle
import re
import string
import sys
import tomllib
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import neardup
from neardup import _core, readers
from neardup.base import messages
from neardup.base.messages import Message, in_language, language_of_environment

LOCALE = Path(messages.__file__).parent / "locale"
LANGUAGES = ("en", "zh")


@cache
def sentences(language):
    """Return the sentences of a language by their codes."""
    found = {}
    for path in sorted((LOCALE / language).glob("*.toml")):
        for name, sentence in tomllib.loads(path.read_text("utf-8")).items():
            found[f"{path.stem}.{name}"] = sentence
    return found


def samples(code):
    """Return values for all places of both sentences of a code."""
    values = {}
    for language in LANGUAGES:
        for _, name, spec, _ in string.Formatter().parse(sentences(language)[code]):
            if name and "[" not in name:
                is_number = spec and spec not in ("inside", "named", "given")
                values[name] = 1234 if is_number or name == "count" else f"<{name}>"
    return values


CODES = sorted(code for code in sentences("en") if not code.endswith("_one"))


def test_both_languages_have_the_same_codes():
    # Chinese has no plural.
    singular = {code for code in sentences("en") if code.endswith("_one")}
    assert set(sentences("en")) - singular == set(sentences("zh")) - singular


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_formats(language):
    for code in CODES:
        said = in_language(Message(code, **samples(code)), language)
        assert said.strip()
        assert "{" not in said, code


def test_every_code_has_a_sentence_and_is_used():
    root = Path(neardup.__file__).parent
    text = "".join(path.read_text("utf-8") for path in root.rglob("*.py"))
    # Some codes are put together: then their beginning is there. Two are made in Rust.
    named = re.findall(r'"([a-z]+\.[a-z0-9_]*)(["{])(?!:)', text)
    whole = {code for code, end in named if end == '"'} | {"core.expected", "core.system_refused"}
    begun = tuple(code for code, end in named if end == "{" or code.endswith("_"))
    areas = {code.partition(".")[0] for code in CODES}
    of_files = (".py", ".toml", ".json", ".html")
    said = {
        code for code in whole if code.partition(".")[0] in areas and not code.endswith(of_files)
    }
    assert said <= set(sentences("en"))
    assert not {
        code
        for code in CODES
        if code.removesuffix("_some") not in whole and not code.startswith(begun)
    }


def test_a_message_is_its_english_sentence():
    note = Message("expected.whole_between", least=1, most=2)
    assert note == "a whole number from 1 to 2"
    copied = pickle.loads(pickle.dumps(note))
    assert (copied, copied.code, copied.values) == (note, note.code, {"least": 1, "most": 2})
    with pytest.raises(KeyError):
        Message("expected.nothing_like_that")
    with pytest.raises(KeyError):
        Message("expected.whole_between", least=1)


def test_a_message_inside_another_is_said_in_the_same_language():
    outer = Message("cli.note", note=Message("cli.waiting_for_writer"))
    assert outer == "note: waiting for another writer."
    assert in_language(outer, "zh") == "说明：正在等待另一个写入者。"
    again = Message.from_dict(outer.to_dict())
    assert in_language(again, "zh") == in_language(outer, "zh")
    assert again == outer


def test_parameters_have_the_names_that_the_reader_gives_them():
    flags = {"max_distance": "--max-distance", "on_error": "--on-error", "force": "--force"}
    bound = Message("options.must_be", parameter="max_distance", expected="small", value=129)
    assert bound == "The 'max_distance' parameter must be small. Got 129 instead."
    assert in_language(bound, "en", flags) == "--max-distance must be small. Got 129 instead."
    assert in_language(bound, "zh", flags) == "--max-distance 应为small，实为 129。"
    stopped = Message("readers.stopped", problem=Message("writers.exists", file="a"))
    assert {"force=True", "on_error='stop'"} <= set(stopped.replace(".", " ").split())
    assert "--force. Stopped, as --on-error stop asks." in in_language(stopped, "en", flags)
    # A command that does not have the parameter.
    other = Message("readers.name_text_field", parameter="text_field", hint="")
    assert in_language(other, "en", flags) == "Name the field with text_field=."


def test_braces_in_values_are_no_places():
    said = Message("cli.note", note="{0} {file} {")
    assert said == "note: {0} {file} {"
    assert in_language(said, "zh") == "说明：{0} {file} {"


def test_a_reason_with_a_point_of_its_own_gets_no_second_one():
    for reason in ("broken.", "broken"):
        said = Message("recipes.cannot_be_read", file="a.toml", reason=reason)
        assert said.endswith("read: broken.")
        assert in_language(said, "zh").endswith("broken。")


def test_errors_carry_what_they_are_made_of():
    with pytest.raises(neardup.ParameterError) as caught:
        neardup.dedup(["a"], threshold=80)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.code, error.values["parameter"]) == ("options.must_be", "threshold")
    assert error.values["expected"].code == "expected.threshold_no_percent"
    assert error.values["expected"].values == {"meant": "0.8"}
    assert in_language(error, "zh").startswith("参数“threshold”应为大于 0 且不超过 1 的数")
    assert str(error) == str(caught.value)
    with pytest.raises(neardup.ParameterError) as caught:
        _core.radius(0.5, 257, 0.9)
    assert (caught.value.code, caught.value.values["parameter"]) == ("options.must_be", "bits")


def test_errors_of_files_can_be_copied():
    with pytest.raises(readers.UnreadableFileError) as caught:
        readers.read_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50), "essay.txt")
    error = caught.value
    for again in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert (str(again), again.code, again.values) == (str(error), error.code, error.values)
        assert again.problem == error.problem


def test_values_that_cannot_be_shown_are_named_by_their_type():
    class Silent:
        def __repr__(self):
            raise RuntimeError

    for value in (Silent(), 10**5000):
        for name in ("threshold", "workers"):
            with pytest.raises(neardup.ParameterError, match="a value of the type"):
                neardup.dedup(["a"], **{name: value})


def test_a_catalogue_that_cannot_be_opened_hides_no_error(monkeypatch):
    def none_left(_language, _area):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(messages, "_catalogue", none_left)
    with pytest.raises(neardup.ParameterError, match="threshold") as caught:
        neardup.dedup(["a"], threshold=80)
    assert caught.value.code == "options.must_be"


def test_what_is_wrong_with_a_segmenter_is_said_in_both_languages(monkeypatch):
    module = ModuleType("mine")
    module.cut = lambda _: ["ab"]
    monkeypatch.setitem(sys.modules, "mine", module)
    recipe = neardup.load_recipe("improved").replace(segment={"units": "mine:cut"})
    (problem,) = neardup.dedup(["a"], recipe=recipe).problems
    assert "TypeError: expected pairs of (word, tag), found the text 'ab'" in str(problem)
    assert "应为 (word, tag) 对" in in_language(problem, "zh")


def test_an_error_of_somebody_else_has_no_code():
    error = neardup.InputError("what another program says")
    assert (error.code, error.values, str(error)) == (None, {}, "what another program says")
    assert neardup.InputError().code is None
    assert in_language(error, "zh") == "what another program says"


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "zh_TW.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
    ],
)
def test_the_environment_names_the_language(variables, language):
    assert language_of_environment(variables) == language


if __name__ == "__main__":
    for code in CODES:
        print(code)
        for language in LANGUAGES:
            print(f"    {in_language(Message(code, **samples(code)), language)}")
