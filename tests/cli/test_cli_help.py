"""Every command and option explains itself, and the reference page has it."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import ARTICLES, EXAMPLES, A, B, few_topics

from neardup import Index, __version__
from neardup.cli.commands import COMMANDS, children, command, parameters_of
from neardup.cli.help import help_of
from neardup.server.security.keys import create_key

LINES = {name: help_of(name)[1] for name in COMMANDS}


@pytest.mark.parametrize("name", ["", "index", "serve key", "evaluate", *COMMANDS])
def test_help_is_printed(run, name):
    result = run(*name.split(), "--help" if name else "-h")
    words = " ".join(result.out.split())
    assert " ".join(help_of(name)[0].split()) in words
    for parameter in parameters_of(command(name)):
        assert all(flag in words for flag in parameter.flags)
        assert " ".join(parameter.option.help.split()) in words
        assert not name or not parameter.flags or f"\n{parameter.option.panel}:\n" in result.out


@pytest.mark.parametrize("name", ["", "index", "serve", "serve key", "evaluate"])
def test_the_help_of_a_group_lists_its_commands(run, name):
    result = run(*name.split(), "--help").out
    assert all(f"\n    {child}" in result for child in children(name))


def test_the_reference_page_is_the_generated_one(root):
    script = root / "docs" / "generate_cli_reference.py"
    subprocess.run([sys.executable, script, "--check"], check=True, capture_output=True)


@pytest.mark.parametrize(
    # A service does not end; tests of it start many.
    "line",
    [line for name, lines in LINES.items() for line in lines if name not in ("serve", "mcp")],
)
def test_examples_work(run, line):
    shutil.copy(ARTICLES, "articles.jsonl")
    if line.startswith("neardup index") and " create " not in line:
        with Index("news.db") as index:
            index.add_files(["articles.jsonl"])
            if " restore " in line:
                index.backup("news-2025-03-09.db")
    if line.startswith("neardup evaluate"):
        shutil.copy(EXAMPLES / "documents.jsonl", "articles.jsonl")
        shutil.copy(EXAMPLES / "pairs.tsv", "labels.tsv")
        few_topics(Path("topics"))
    if line.startswith("neardup serve key"):
        create_key(Path("keys.json"), "newsroom" if "create" not in line else "other", ["read"])
    texts = {
        "old": A,
        "new": A + B,
        "template": B,
        "essay": A + B,
        "article": A,
        "essays/a": A,
        "essays/b": B,
    }
    Path("essays").mkdir()
    for name, text in texts.items():
        Path(f"{name}.txt").write_text(text, "utf-8")
    shutil.copytree("essays", "dump")
    shutil.copy(ARTICLES, "dump")
    for name in ("questions", "train", "dev", "test", "corrected"):
        shutil.copy(ARTICLES, f"{name}.jsonl")
    words = shlex.split(line)
    run(*words[1 : words.index(">") if ">" in words else None])


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("ded", ["dedup"]),
        ("index expo", ["export"]),
        ("serve key r", ["revoke"]),
        ("pairs --stri", ["--strip-markup"]),
        ("dedup --recipe k", ["keywords"]),
        ("recipes new", ["news", "news-words"]),
        ("dedup --on-error ", ["keep", "drop", "stop"]),
        ("pairs --on-error ", ["keep", "stop"]),
        ("dedup --engine s", ["single", "spark"]),
        ("check --language ", ["zh", "en"]),
        ("dedup in", ["in.jsonl"]),
        ("dedup --removed in", ["in.jsonl"]),
    ],
)
def test_a_shell_completes_names_choices_and_files(run, line, names):
    words = line.split(" ")
    script = (
        run("--print-completion", "bash").out
        + f"""
COMP_WORDS=(neardup {shlex.join(words)})
COMP_CWORD={len(words)}
_shtab_neardup
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    )
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.split() == names


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_a_shell(run, shell):
    script = run("--print-completion", shell).out
    assert "neardup" in script
    assert "fail-on-duplicates" in script


def test_version(run):
    assert run("--version").out == f"neardup {__version__}\n"
