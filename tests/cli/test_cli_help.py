"""Every command and option explains itself, and the reference page has it."""

import shlex
import shutil
from pathlib import Path

import pytest
import typer.main
from tests.cli.conftest import ARTICLES, A, B
from typer.testing import CliRunner

from neardup import Index, __version__
from neardup.cli.program import declared
from neardup.server.security.keys import create_key

APP = declared()
GROUP = typer.main.get_command(APP)


def commands(group, before=""):
    """All commands by name, those of a group with the group's name before their own."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            if command.invoke_without_command:
                yield f"{before}{name}", command
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


COMMAND = dict(commands(GROUP))
COMMANDS = sorted(COMMAND)
EXAMPLES = {
    name: [line for line in (command.epilog or "").split("\n\n") if line.startswith("neardup ")]
    for name, command in COMMAND.items()
}


def test_the_commands():
    assert COMMANDS == [
        "check",
        "compare",
        "contamination",
        "dedup",
        "evaluate pairs",
        "evaluate published",
        "explain",
        "fingerprint",
        "idf",
        "index add",
        "index backup",
        "index check",
        "index clusters",
        "index compact",
        "index create",
        "index expire",
        "index explain",
        "index export",
        "index keep",
        "index query",
        "index reconsider",
        "index recount",
        "index remove",
        "index stats",
        "pairs",
        "plan",
        "recipes",
        "repeats",
        "serve",
        "serve key create",
        "serve key list",
        "serve key revoke",
        "sketch",
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_help(name):
    command = COMMAND[name]
    assert command.help
    for parameter in command.params:
        assert getattr(parameter, "help", None), parameter.name
        assert parameter.help.strip().endswith("."), parameter.name


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_is_printed(name, flag):
    found = CliRunner().invoke(APP, [*name.split(), flag], env={"COLUMNS": "200", "TERM": "dumb"})
    assert found.exit_code == 0
    for parameter in COMMAND[name].params:
        if parameter.param_type_name == "option":
            assert parameter.opts[0] in found.output


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_page_has_every_option(name, root):
    page = (root / "docs" / "cli-reference.md").read_text("utf-8")
    section = page.partition(f"neardup {name}")[2]
    assert section
    for parameter in COMMAND[name].params:
        if parameter.param_type_name == "option" and parameter.name != "help":
            assert parameter.opts[0] in section


def test_the_reference_page_is_the_generated_one(root):
    import subprocess
    import sys

    script = root / "docs" / "generate_cli_reference.py"
    subprocess.run([sys.executable, script, "--check"], check=True, capture_output=True)


@pytest.mark.parametrize(
    # A service does not end; its tests start many.
    "line",
    [line for name, lines in EXAMPLES.items() for line in lines if name != "serve"],
)
def test_examples_work(run, line):
    shutil.copy(ARTICLES, "articles.jsonl")
    if line.startswith("neardup index") and " create " not in line:
        with Index("news.db") as index:
            index.add_files(["articles.jsonl"])
    if line.startswith("neardup evaluate"):
        shutil.copy(ARTICLES.parent / "evaluate" / "documents.jsonl", "articles.jsonl")
        shutil.copy(ARTICLES.parent / "evaluate" / "pairs.tsv", "labels.tsv")
        shutil.copytree(ARTICLES.parent / "evaluate" / "topics", "topics")
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
    shutil.copy(ARTICLES, "questions.jsonl")
    words = shlex.split(line)
    run(*words[1 : words.index(">") if ">" in words else None])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples(name):
    assert 1 <= len(EXAMPLES[name]) <= 4
    assert all(
        line.startswith(f"neardup {name} ") or line == f"neardup {name}" for line in EXAMPLES[name]
    )


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("dedup --recipe k", ["keywords"]),
        ("recipes new", ["news"]),
        ("dedup --on-error ", ["keep", "drop", "stop"]),
        ("pairs --on-error ", ["keep", "stop"]),
        ("dedup --engine s", ["single", "spark"]),
        ("index create news.db --store ", ["text", "sketch"]),
        ("check --language ", ["zh", "en"]),
        # The shell itself completes names of files.
        ("dedup art", []),
        ("dedup --recipe mine.t", []),
    ],
)
def test_a_shell_completes_names_and_choices(line, names, monkeypatch):
    monkeypatch.setenv("_NEARDUP_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"neardup {line}")
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" "))))
    found = CliRunner().invoke(APP, [], prog_name="neardup")
    assert found.output.split() == names


def test_version(run):
    assert run("--version").out == f"neardup {__version__}\n"


def test_commands_are_listed_without_arguments(run):
    found = run(code=2)
    for name in GROUP.commands:
        assert name in found.out + found.err


def test_options_say_in_which_stage_they_work():
    panels = {
        parameter.rich_help_panel
        for parameter in GROUP.commands["dedup"].params
        if parameter.param_type_name == "option" and parameter.name != "help"
    }
    assert panels == {"Input", "Text", "Matching", "Output", "Run"}
