"""Messages: every sentence formats in both languages, and errors carry what they are made of.

``python -m tests.base.test_messages`` prints all sentences, for reading.
"""

import copy
import pickle
import re
import string
import sys
from types import ModuleType

import pytest
import translate

import neardup
from neardup import _core, readers
from neardup.base import messages, validation
from neardup.base.messages import Message, in_language, language_of_environment

LANGUAGES = ("en", "zh")
#: The sentences of the sources: a text, or a pair for one and for several.
SENTENCES = [entry.id for entry in translate.sentences() if entry.id and not entry.context]
CHINESE = translate.chinese()


def message(sentence):
    """Return a message with a value for each place of a sentence in both languages."""
    texts = [sentence] if isinstance(sentence, str) else list(sentence)
    values = {"count": 1234}
    for text in [*texts, *map(str, [CHINESE.get(sentence).string])]:
        for _, name, spec, _ in string.Formatter().parse(text):
            if name and "[" not in name:
                is_number = spec and spec not in ("inside", "named", "given", "apart")
                values[name] = 1234 if is_number or name == "count" else f"<{name}>"
    return Message(texts[0], plural=texts[1] if texts[1:] else None, **values)


def test_every_sentence_is_translated():
    assert len(SENTENCES) > 500
    assert translate.missing() == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_formats(language):
    for sentence in SENTENCES:
        shown = in_language(message(sentence), language)
        assert shown.strip()
        assert "{" not in shown, sentence


def test_a_message_is_its_english_sentence():
    note = Message("a whole number from {least} to {most}", least=1, most=2, code="bounds")
    assert note == "a whole number from 1 to 2"
    copied = pickle.loads(pickle.dumps(note))
    assert (copied, copied.code, copied.values) == (note, "bounds", {"least": 1, "most": 2})
    with pytest.raises(KeyError):
        Message("a whole number from {least} to {most}", least=1)


def test_a_count_of_one_has_a_sentence_of_its_own():
    one = Message.counted("One file.", "{count:,} files.", count=1)
    assert (one, pickle.loads(pickle.dumps(one)).plural) == ("One file.", "{count:,} files.")
    assert one.with_values(count=2000) == "2,000 files."


def test_a_message_inside_another_is_said_in_the_same_language():
    outer = Message("note: {note}", note=Message("waiting for another writer."))
    assert outer == "note: waiting for another writer."
    assert in_language(outer, "zh") == "说明：正在等待另一个写入者。"
    again = Message.from_dict(outer.to_dict())
    assert in_language(again, "zh") == in_language(outer, "zh")
    assert again == outer


@pytest.mark.parametrize("place", ["{file.__class__}", "{named.function}", "{file:{file}}"])
def test_a_message_of_another_process_has_no_other_places(place):
    stored = Message("{file}: a", file="b").to_dict() | {"template": place}
    with pytest.raises(ValueError, match="not a place"):
        Message.from_dict(stored)


def test_parameters_have_the_names_of_the_interface():
    flags = {"max_distance": "--max-distance", "on_error": "--on-error", "force": "--force"}
    bound = validation.bad("max_distance", "text", 129).message
    assert bound == "The 'max_distance' parameter must be text. Got 129 instead."
    assert in_language(bound, "en", flags) == "--max-distance must be text. Got 129 instead."
    assert in_language(bound, "zh", flags) == "--max-distance 应为文本，实为 129。"
    exists = Message(
        "{file}: exists already. Choose another name, or replace it with {given[force=True]}.",
        file="a",
    )
    stopped = Message("{problem} Stopped, as {given[on_error='stop']} asks.", problem=exists)
    assert {"force=True", "on_error='stop'"} <= set(stopped.replace(".", " ").split())
    assert "--force. Stopped, as --on-error stop asks." in in_language(stopped, "en", flags)
    # A command that does not have the parameter.
    other = Message("Name the field with {parameter:given}.{hint}", parameter="text_field", hint="")
    assert in_language(other, "en", flags) == "Name the field with text_field=."


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({}, "参数“inputs”应为文本，实为 1。"),
        ({"inputs": "INPUT"}, "INPUT 应为文本，实为 1。"),
        ({"inputs": "输入"}, "输入应为文本，实为 1。"),
    ],
)
def test_chinese_sentence_has_a_blank_next_to_latin_names_only(flags, expected):
    assert in_language(validation.bad("inputs", "text", 1), "zh", flags) == expected
    least = Message(
        "{named[min_length]} must be at most {named[max_length]}. Got {least:,} and {most:,} "
        "instead.",
        least=2,
        most=1,
    )
    lengths = {"min_length": "--min-length", "max_length": "长度"}
    assert in_language(least, "zh", lengths) == "--min-length 不得大于长度。现分别为 2 和 1。"


def test_translations_have_single_blanks_and_none_between_chinese_words():
    for entry in CHINESE:
        for text in [entry.string] if isinstance(entry.string, str) else entry.string:
            # Two blanks are between columns only. Lines of files are shown as they are.
            assert not re.search(r"[^}\s] {2,}\S", text) or not entry.id
            is_example = "如 " in text or "@文件" in text
            assert is_example or not re.search("[\u4e00-\u9fff] [\u4e00-\u9fff]", text)


def test_braces_in_values_are_no_places():
    said = Message("note: {note}", note="{0} {file} {")
    assert said == "note: {0} {file} {"
    assert in_language(said, "zh") == "说明：{0} {file} {"


def test_a_reason_with_a_point_of_its_own_gets_no_second_one():
    for reason in ("broken.", "broken"):
        said = Message("{file}: cannot be read: {reason}.", file="a.toml", reason=reason)
        assert said.endswith("read: broken.")
        assert in_language(said, "zh").endswith("broken。")


def test_errors_carry_their_values():
    with pytest.raises(neardup.ParameterError) as caught:
        neardup.dedup(["a"], threshold=80)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.code, error.values["parameter"]) == ("parameter", "threshold")
    assert error.values["expected"].values == {"meant": "0.8"}
    assert in_language(error, "zh").startswith("参数“threshold”应为大于 0 且不超过 1 的数")
    assert str(error) == str(caught.value)
    with pytest.raises(neardup.ParameterError) as caught:
        _core.radius(0.5, 257, 0.9)
    assert (caught.value.code, caught.value.values["parameter"]) == ("parameter", "bits")


def test_errors_of_files_can_be_copied():
    with pytest.raises(readers.UnreadableFileError) as caught:
        readers.read_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50), "essay.txt")
    error = caught.value
    for again in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert (str(again), again.code, again.values) == (str(error), error.code, error.values)
        assert again.problem == error.problem


def test_unprintable_values_are_named_by_their_type():
    class Silent:
        def __repr__(self):
            raise RuntimeError

    for value in (Silent(), 10**5000):
        for name in ("threshold", "workers"):
            with pytest.raises(neardup.ParameterError, match="a value of the type"):
                neardup.dedup(["a"], **{name: value})


def test_unreadable_catalogue_hides_no_error(monkeypatch):
    def none_left(_language):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(messages, "_load_translations", none_left)
    with pytest.raises(neardup.ParameterError) as caught:
        neardup.dedup(["a"], threshold=80)
    assert in_language(caught.value, "zh") == str(caught.value)


def test_segmenter_error_is_in_both_languages(monkeypatch):
    module = ModuleType("mine")
    module.cut = lambda _: ["ab"]
    monkeypatch.setitem(sys.modules, "mine", module)
    recipe = neardup.load_recipe("improved").replace(segment={"units": "mine:cut"})
    with pytest.raises(neardup.InputError) as caught:
        neardup.dedup(["a"], recipe=recipe)
    assert "TypeError: expected pairs of (word, tag), found the text 'ab'" in str(caught.value)
    assert "应为 (word, tag) 对" in in_language(caught.value, "zh")


def test_an_error_of_another_program_has_the_code_of_its_class():
    error = neardup.InputError("what another program says")
    assert (error.code, error.values, str(error)) == ("input", {}, "what another program says")
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
    for sentence in SENTENCES:
        for language in LANGUAGES:
            print(in_language(message(sentence), language))
        print()
