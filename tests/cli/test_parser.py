"""What a command line means: the values of a command's parameters, and where they arrive.

What an option does is proven where its function is tested.
"""

import inspect
import pkgutil
import shlex
from pathlib import Path

import pytest
from tests.cli.conftest import A

import neardup
from neardup import ParameterError, load_recipe
from neardup.cli.commands import COMMANDS, find_command, list_parameters
from neardup.cli.parser import read_words
from neardup.options.signatures import complete_options, literals, taken_options

#: Lines, and the values that differ from the defaults.
LINES = {
    "dedup in.jsonl -o out.jsonl": {"inputs": ["in.jsonl"], "output": "out.jsonl"},
    "dedup -o k a.jsonl --force b.jsonl -q c.jsonl": {
        "inputs": ["a.jsonl", "b.jsonl", "c.jsonl"],
        "output": "k",
        "force": True,
        "quiet": True,
    },
    "dedup - -o -": {"inputs": ["-"], "output": "-"},
    "dedup a --output=b=c --threshold=0.8 -j 4": {
        "inputs": ["a"],
        "output": "b=c",
        "threshold": 0.8,
        "workers": 4,
    },
    "dedup a -fok -t.8": {"inputs": ["a"], "force": True, "output": "k", "threshold": 0.8},
    "dedup a -o k -t 1 -d -1": {
        "inputs": ["a"],
        "output": "k",
        "threshold": 1.0,
        "max_distance": -1,
    },
    "dedup a -o k -o l -t 1e-1 -j 1_0": {
        "inputs": ["a"],
        "output": "l",
        "threshold": 0.1,
        "workers": 10,
    },
    "dedup a -o k --against b --against=c": {"inputs": ["a"], "output": "k", "against": ["b", "c"]},
    "dedup a -o --force --text-field -t": {
        "inputs": ["a"],
        "output": "--force",
        "text_field": "-t",
    },
    "dedup a -o k -- --force -q": {"inputs": ["a", "--force", "-q"], "output": "k"},
    "dedup '' --output=": {"inputs": [""], "output": ""},
    "dedup 猫.jsonl -o 'out file.jsonl' --text-field 正文": {
        "inputs": ["猫.jsonl"],
        "output": "out file.jsonl",
        "text_field": "正文",
    },
    "pairs a --against b --max-text 1MiB": {"inputs": ["a"], "against": ["b"], "max_text": "1MiB"},
    "recipes": {},
    "recipes news": {"recipe": "news"},
    "explain '-5 degrees' -": {"a": "-5 degrees", "b": "-"},
    "compare a b c --encoding gbk": {
        "given": {"a", "b", "output", "encoding"},
        "a": "a",
        "b": "b",
        "output": Path("c"),
        "encoding": "gbk",
    },
    "index create n.db --expected 5": {"location": "n.db", "expected": 5},
    "index add n.db a b --extra-field c --extra-field d": {
        "location": "n.db",
        "inputs": ["a", "b"],
        "extra_fields": ["c", "d"],
    },
    "index query n.db -k 3 text": {"location": "n.db", "k": 3, "text": "text"},
    "index reconsider n.db": {"location": "n.db"},
    "index remove n.db -- -a b": {"location": "n.db", "ids": ["-a", "b"]},
    "serve -i n.db --request-seconds 1 --keys k": {
        "index": "n.db",
        "request_seconds": 1.0,
        "keys": Path("k"),
    },
    "serve key create me --keys k": {"name": "me", "keys": Path("k")},
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_gives_these_values(line):
    run, values = read_words(shlex.split(line))
    defaults = {parameter.name: parameter.option.default for parameter in list_parameters(run)}
    expected = defaults | LINES[line]
    assert values == expected
    kinds = {name: type(value) for name, value in expected.items()}
    assert {name: type(value) for name, value in values.items()} == kinds


#: The words of a command that its options follow, and the function that it calls.
CALLED = {
    "dedup in.jsonl": "neardup.tasks.dedup:dedup_files",
    "pairs in.jsonl": "neardup.tasks.pairs:pairs_files",
    "sketch in.jsonl": "neardup.tasks.sketch:sketch_files",
    "fingerprint in.jsonl": "neardup.tasks.sketch:fingerprint_files",
    "contamination in.jsonl": "neardup.tasks.contamination:contamination_files",
    "repeats in.jsonl": "neardup.tasks.repeats:repeats_files",
    "idf in.jsonl": "neardup.tasks.idf:count_idf",
    "compare in.txt in.txt": "neardup.tasks.compare:compare_texts",
    "check in.txt": "neardup.cli.check_papers:check_paths",
    "index create n.db": "neardup.index:Index.__init__",
    "index add n.db in.jsonl": "neardup.index.ingest.reading:add_files",
    "index query n.db text": "neardup.index:Index.query",
}
#: Options that take other values than any.
VALUES = {
    "recipe": "characters",
    "text_field": "text",
    "encoding": "gbk",
    "bits": 64,
    "settings": "weigh.top=5",
    "max_text": "1MB",
    "memory": "1GB",
    "within": "7d",
    "at_zone": "Asia/Shanghai",
    "exclude": "in.txt",
    "output": "out.jsonl",
}


#: The public function whose options a function takes.
OPTIONS_OF = {
    "compare_texts": neardup.compare,
    "check_paths": neardup.papers.check_files,
    "add_files": neardup.Index.add_files,
}

#: Options that change the recipe, and how.
RECIPE_CHANGES = {
    "strip_markup": {"normalize": {"strip_markup": True}},
    "bits": {"sketch": {"bits": 64}},
    "settings": {"weigh": {"top": 5}},
}


def sample(parameter):
    """Return a value of an option that is not its default."""
    if parameter.is_flag:
        return True
    choices = [one for one in literals(parameter.kind) if one != parameter.option.default]
    other = choices[-1] if choices else {int: 7, float: 0.7}.get(parameter.word_type, "word")
    value = VALUES.get(parameter.name, other)
    return [value] if parameter.takes_many else value


def words_of(parameter, value):
    """Return the words that give a value to an option."""
    values = value if isinstance(value, list) else [value]
    return [parameter.flags[0], *([] if value is True else map(str, values))]


@pytest.mark.parametrize("line", CALLED)
def test_each_option_arrives_at_the_function_with_its_value(run, index, monkeypatch, line):
    del index
    Path("in.txt").write_text(A, "utf-8")
    owner, _, name = CALLED[line].replace(":", ".").rpartition(".")
    function = getattr(pkgutil.resolve_name(owner), name)
    signature, values = inspect.signature(function), {}
    # Some functions take the options of another one as a mapping.
    options_of = OPTIONS_OF.get(name)
    known = {*signature.parameters, *(taken_options(options_of) if options_of else ())}

    def called(*arguments, **options):
        values.update(signature.bind(*arguments, **options).arguments)
        for mapping in ("values", "given"):
            values.update(values.pop(mapping, {}))
        raise ParameterError("It arrived.")

    monkeypatch.setattr(pkgutil.resolve_name(owner), name, called)
    of_command = max(filter(line.startswith, COMMANDS), key=len)
    words, expected, changes = [], {}, {}
    for parameter in list_parameters(find_command(of_command)):
        value, of_recipe = sample(parameter), RECIPE_CHANGES.get(parameter.name)
        if parameter.flags and parameter.name in known and parameter.name != "at":
            expected[parameter.name] = value
        elif of_recipe:
            changes |= of_recipe
        elif not parameter.flags or not parameter.is_required:
            continue
        words += words_of(parameter, value)
    assert "It arrived." in run(*line.split(), *words, code=2).err
    if "recipe" in expected:
        expected["recipe"] = load_recipe("characters").replace(**changes)
    if name == "check_paths":
        # Its options are checked before.
        taken = {o: v for o, v in expected.items() if o in taken_options(options_of)}
        expected |= {o: v for o, v in complete_options(options_of, taken).items() if o in taken}
    found = {option: values[option] for option in expected}
    assert {o: list(v) if isinstance(v, tuple) else v for o, v in found.items()} == expected
    assert len(expected) >= 3
