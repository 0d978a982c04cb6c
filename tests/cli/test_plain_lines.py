"""Command lines that are read without Typer mean what Typer would make of them."""

import importlib
import shlex

import pytest
import typer.main

from neardup.cli import PLAIN
from neardup.cli.flags import plain_values
from neardup.cli.options import signature_of
from neardup.cli.program import NAMES, declared

READ = [
    "dedup in.jsonl -o out.jsonl",
    "dedup -o out.jsonl in.jsonl",
    "dedup a.jsonl -o out.jsonl b.jsonl --force c.jsonl",
    "dedup - -o - -q",
    "dedup in.jsonl --output=out.jsonl --threshold=0.8 -j 4",
    "dedup in.jsonl -o out.jsonl -t .8",
    "dedup in.jsonl -o out.jsonl --against a.jsonl --against=b.jsonl --against-only",
    "pairs in.jsonl --with a.jsonl",
    "dedup in.jsonl --output=a=b -t 1 -d 3 --memory 4GB --work folder",
    "dedup in.jsonl -o k.jsonl --removed r.jsonl --report r.json -r classic --on-error drop",
    "dedup in.jsonl -o out.jsonl --strip-markup --fail-on-duplicates --exhaustive --quiet",
    "dedup in.jsonl -o out.jsonl --engine spark --master local[2] --checkpoint c",
    "dedup 猫.jsonl -o 'out file.jsonl' --text-field 正文",
    "pairs in.jsonl",
    "pairs in.jsonl -o pairs.csv -t 0.70",
    "sketch in.jsonl -o a.sketches -r characters --memory 4GB",
    "contamination in.jsonl --tests q.jsonl --tests=r.jsonl -o out.jsonl --do mask --cover .9",
    "repeats in.jsonl --unit paragraph --least 20 --documents 3 --remove out.jsonl --keep none",
    "repeats in.jsonl -o r.csv --places p.csv --memory 512MiB",
    "fingerprint in.jsonl -r classic -q",
    "plan",
    "plan 1000",
    "plan 1000 --json -t 0.5",
    "recipes",
    "recipes news",
    "idf in.jsonl -o words.idf --format jsonl",
    "explain text --recipe news --all -d 3",
]
NOT_READ = [
    "dedup",
    "dedup --help",
    "dedup in.jsonl",
    "dedup in.jsonl -o",
    "dedup in.jsonl -o out.jsonl --threshold",
    "dedup in.jsonl -o out.jsonl --threshold high",
    "dedup in.jsonl -o out.jsonl --threshold 1e-1",
    "dedup in.jsonl -o out.jsonl --threshold -1",
    "dedup in.jsonl -o out.jsonl -j 1_0",
    "dedup in.jsonl -o out.jsonl -j \N{FULLWIDTH DIGIT TWO}",
    "dedup in.jsonl -o out.jsonl -o other.jsonl",
    "dedup in.jsonl -oout.jsonl",
    "dedup in.jsonl -o=out.jsonl",
    "dedup in.jsonl -fo out.jsonl",
    "dedup in.jsonl -o out.jsonl --force=yes",
    "dedup in.jsonl -o out.jsonl --forc",
    "dedup in.jsonl -o out.jsonl -- --force",
    "dedup in.jsonl -o --force",
    "dedup '' -o out.jsonl",
    "dedup in.jsonl --output=",
    "plan many",
    "plan 1 2",
    "recipes news classic",
]


def plain(line):
    command, *words = shlex.split(line)
    run = importlib.import_module(f"neardup.cli.{command}").run
    return plain_values(signature_of(run), words)


@pytest.mark.parametrize("line", READ)
def test_a_line_means_what_typer_makes_of_it(line):
    command, *words = shlex.split(line)
    found = typer.main.get_command(declared()).commands[command]
    wanted = found.make_context(command, words).params
    values = plain(line)
    assert values == wanted
    assert {name: type(value) for name, value in values.items()} == {
        name: type(value) for name, value in wanted.items()
    }


@pytest.mark.parametrize("line", NOT_READ)
def test_anything_unusual_is_left_to_typer(line):
    assert plain(line) is None


def test_every_plain_command_is_read_from_some_line():
    assert {line.split()[0] for line in READ} == set(PLAIN) <= set(NAMES)
