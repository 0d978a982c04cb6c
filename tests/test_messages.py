"""Messages: every code has a sentence in each language, and everything that is said has a code."""

import ast
import copy
import pickle
import re
import string
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import neardup
from neardup import _core, exceptions, readers
from neardup.base import interrupt, messages
from neardup.base.messages import Message, in_language, language_of_environment

ROOT = Path(neardup.__file__).parent
LOCALE = ROOT / "base" / "locale"
AREAS = sorted(path.stem for path in (LOCALE / "en").glob("*.toml"))
ERRORS = {name for name in exceptions.__all__ if name != "NeardupError"} | {"ClusterError"}


def catalogue(language, area):
    return tomllib.loads((LOCALE / language / f"{area}.toml").read_text("utf-8"))


def places(sentence):
    return {
        (name, spec) for _, name, spec, _ in string.Formatter().parse(sentence) if name is not None
    }


def sources():
    for path in sorted(ROOT.rglob("*.py")):
        yield path, ast.parse(path.read_text("utf-8"))


def called(node):
    return getattr(node.func, "id", getattr(node.func, "attr", None))


def test_both_languages_have_the_same_catalogues():
    assert sorted(path.stem for path in (LOCALE / "zh").glob("*.toml")) == AREAS
    assert {path.name for path in LOCALE.iterdir()} == set(messages.LANGUAGES)
    assert len(AREAS) > 8


@pytest.mark.parametrize("area", AREAS)
def test_every_code_has_a_sentence_in_each_language(area):
    english, chinese = catalogue("en", area), catalogue("zh", area)
    # Chinese has no plural.
    singular = {name for name in english if name.endswith("_one")} - set(chinese)
    assert [name for name in english if name not in singular] == list(chinese)
    for name, said in chinese.items():
        sentence = english[name]
        assert sentence.strip()
        assert said.strip()
        # The other says it already.
        missing = {place for place, _ in places(sentence)} ^ {place for place, _ in places(said)}
        assert missing <= {"what", "found", "count", "size", "data"}, name
        if f"{name}_one" in english:
            assert "count" in {place for place, _ in places(sentence)}, name


#: These are always about several.
SEVERAL = {
    *("group", "group_records_in_files", "records_at_beginning", "bomb", "bytes", "bytes_from"),
    *("nothing_to_compare", "large_cluster", "not_all_compared"),
}


@pytest.mark.parametrize("area", AREAS)
def test_a_count_of_one_has_its_own_sentence(area):
    english = catalogue("en", area)
    plural = re.compile(r"(?<!of )\{count(:,)?\} ([a-zA-Z]+ )?[a-z]+s\b")
    counting = {name for name, sentence in english.items() if plural.search(sentence)}
    without = {name for name in counting - SEVERAL if f"{name}_one" not in english}
    assert not {name for name in without if not name.endswith("_one")}


@pytest.mark.parametrize("area", AREAS)
def test_chinese_is_punctuated_as_chinese(area):
    for name, sentence in catalogue("zh", area).items():
        text = "".join(literal for literal, *_ in string.Formatter().parse(sentence))
        for mark in ",;?!":
            before = text.partition(mark)[0][-1:]
            assert not "\u4e00" <= before <= "\u9fff" or mark not in text, (name, sentence)
        assert not sentence.endswith(".") or not "\u4e00" <= sentence[-2] <= "\u9fff", name


def codes_of(tree):
    """Give the literal codes of a module, and the beginnings of those that are put together."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            area, dot, name = node.value.partition(".")
            if dot and area in AREAS and name.replace("_", "a").isalnum() and name.islower():
                yield node.value, False
        elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            begin = str(node.values[0].value)
            area, dot, name = begin.partition(".")
            if dot and area in AREAS and name.replace("_", "").isalnum() | (not name):
                yield begin, True


def test_codes_and_catalogues_agree():
    known = {f"{area}.{name}" for area in AREAS for name in catalogue("en", area)}
    literal, begun = set(), set()
    for _, tree in sources():
        for code, is_begun in codes_of(tree):
            (begun if is_begun or code.endswith("_") else literal).add(code)
    # Made in Rust: see `errors.rs`.
    literal |= {"core.expected", "core.system_refused"}
    # Names of files look like codes.
    literal = {code for code in literal if not code.endswith((".py", ".toml", ".json", ".html"))}
    assert literal <= known
    for begin in begun:
        assert any(code.startswith(begin) for code in known), begin
    unused = {
        code
        for code in known - literal
        # See `paths_of`.
        if code.removesuffix("_one").removesuffix("_some") not in literal
        and not code.startswith(tuple(begun))
    }
    assert not unused


def is_plain(node):
    return isinstance(node, (ast.JoinedStr, ast.BinOp)) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def test_no_error_is_a_plain_sentence():
    found = []
    count = 0
    for path, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and called(node) in ERRORS:
                count += 1
                if node.args and is_plain(node.args[0]):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert count > 150
    assert found == []


def test_no_problem_or_note_is_a_plain_sentence():
    found = []
    for path, tree in sources():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            said = {"Problem": node.args[3:4] + node.args[5:6], "bad": node.args[1:2]}
            said |= {"note": node.args[:1], "tell": node.args[:1], "tell_note": node.args[:1]}
            for one in said.get(called(node), []):
                is_sentence = isinstance(one, ast.Constant) and " " in str(one.value)
                if is_plain(one) and (called(node) != "bad" or is_sentence):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []


def test_a_message_is_its_english_sentence():
    note = Message("expected.whole_between", least=1, most=2)
    assert note == "a whole number from 1 to 2"
    assert note.values == {"least": 1, "most": 2}
    copied = pickle.loads(pickle.dumps(note))
    assert (copied, copied.code, copied.values) == (note, note.code, note.values)
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
    def said(message, language="en"):
        flags = {"max_distance": "--max-distance", "on_error": "--on-error", "force": "--force"}
        return in_language(message, language), in_language(message, language, flags)

    bound = Message("options.must_be", parameter="max_distance", expected="small", value=129)
    assert said(bound) == (
        "The 'max_distance' parameter must be small. Got 129 instead.",
        "--max-distance must be small. Got 129 instead.",
    )
    assert said(bound, "zh")[1] == "--max-distance 应为small，实为 129。"
    stopped = Message("readers.stopped", problem=Message("writers.exists", file="a"))
    assert said(stopped) == (
        "a: exists already. Choose another name, or replace it with force=True. Stopped, as "
        "on_error='stop' asks.",
        "a: exists already. Choose another name, or replace it with --force. Stopped, as "
        "--on-error stop asks.",
    )
    # A command that does not have the parameter.
    other = Message("readers.name_text_field", parameter="text_field", hint="")
    assert said(other)[0] == said(other)[1] == "Name the field with text_field=."


def test_braces_in_values_are_no_places():
    said = Message("cli.note", note="{0} {file} {")
    assert said == "note: {0} {file} {"
    assert in_language(said, "zh") == "说明：{0} {file} {"


def test_errors_carry_what_they_are_made_of():
    with pytest.raises(neardup.ParameterError) as caught:
        neardup.dedup(["a"], threshold=80)
    error = pickle.loads(pickle.dumps(caught.value))
    assert error.code == "options.must_be"
    assert error.values["parameter"] == "threshold"
    assert error.values["expected"].code == "expected.threshold_no_percent"
    assert error.values["expected"].values == {"meant": "0.8"}
    assert in_language(error, "zh").startswith("参数“threshold”应为大于 0 且不超过 1 的数")
    assert str(error) == str(caught.value)


def test_a_reason_with_a_point_of_its_own_gets_no_second_one():
    for reason, end in (("broken.", "read: broken."), ("broken", "read: broken.")):
        said = Message("recipes.cannot_be_read", file="a.toml", reason=reason)
        assert said.endswith(end)
        assert in_language(said, "zh").endswith("broken。")


def test_errors_of_the_core_do_too():
    with pytest.raises(neardup.ParameterError) as caught:
        _core.radius(0.5, 257, 0.9)
    assert caught.value.code == "options.must_be"
    assert str(caught.value).startswith(f"The '{caught.value.values['parameter']}' parameter must")


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
        with pytest.raises(
            neardup.ParameterError, match=f"a value of the type {type(value).__name__}"
        ):
            neardup.dedup(["a"], threshold=value)
        with pytest.raises(neardup.ParameterError, match="a value of the type"):
            neardup.dedup(["a"], workers=value)


def test_a_catalogue_that_cannot_be_opened_hides_no_error(monkeypatch):
    def none_left(_language, _area):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(messages, "_catalogue", none_left)
    with pytest.raises(neardup.ParameterError) as caught:
        neardup.dedup(["a"], threshold=80)
    assert caught.value.code == "options.must_be"
    assert "threshold" in str(caught.value)


def test_what_is_wrong_with_a_segmenter_is_said_in_both_languages(tmp_path, monkeypatch):
    def cut(_text):
        return ["ab"]

    module = ModuleType("mine")
    module.cut = cut
    monkeypatch.setitem(sys.modules, "mine", module)
    recipe = tmp_path / "mine.toml"
    recipe.write_text(
        neardup.load_recipe("improved").to_toml().replace('units = "words"', 'units = "mine:cut"')
    )
    (problem,) = neardup.dedup(["a"], recipe=str(recipe)).problems
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
        ({"LANG": "zh"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "zh_TW.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
    ],
)
def test_the_environment_names_the_language(variables, language):
    assert language_of_environment(variables) == language


def test_an_interrupt_says_the_same_at_any_moment():
    assert interrupt.message() == Message("cli.interrupted")
