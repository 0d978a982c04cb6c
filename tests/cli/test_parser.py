"""What a command line means: the values of a command's parameters."""

import shlex
from pathlib import Path

import pytest

from neardup.cli.parser import children, command, parameters_of, read

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
    "dedup a -o k --against b --against=c": {
        "inputs": ["a"],
        "output": "k",
        "against": ["b", "c"],
    },
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
    "pairs a --against b --max-text 1MiB": {
        "inputs": ["a"],
        "against": ["b"],
        "max_text": "1MiB",
    },
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
    run, values = read(shlex.split(line))
    defaults = {parameter.name: parameter.option.default for parameter in parameters_of(run)}
    expected = defaults | LINES[line]
    assert values == expected
    kinds = {name: type(value) for name, value in expected.items()}
    assert {name: type(value) for name, value in values.items()} == kinds


def test_the_commands():
    groups = {name: children(name) for name in ("index", "serve", "serve key", "evaluate")}
    assert groups["serve"] == ["key"]
    assert set(groups) - {"serve key"} < set(children(""))
    assert children("dedup") == []
    for name, below in groups.items():
        assert all(callable(command(f"{name} {child}")) for child in below)
