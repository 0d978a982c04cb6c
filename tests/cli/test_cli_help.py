"""Every command and option explains itself, and the reference page has it."""

import shlex
import shutil
from pathlib import Path

import pytest
import typer.main
from tests.cli.conftest import ARTICLES, A, B
from typer.testing import CliRunner

from neardup import __version__
from neardup.cli.program import declared

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
EXAMPLES = [
    line
    for command in GROUP.commands.values()
    for line in (command.epilog or "").split("\n\n")
    if line.startswith("neardup ")
]


def test_the_commands():
    assert COMMANDS == [
        "check",
        "compare",
        "contamination",
        "dedup",
        "evaluate pairs",
        "evaluate published",
        "fingerprint",
        "idf",
        "index add",
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


@pytest.mark.parametrize("line", EXAMPLES)
def test_examples_work(run, line):
    shutil.copy(ARTICLES, "articles.jsonl")
    texts = {"old": A, "new": A + B, "template": B, "essay": A + B, "essays/a": A, "essays/b": B}
    Path("essays").mkdir()
    for name, text in texts.items():
        Path(f"{name}.txt").write_text(text, "utf-8")
    shutil.copytree("essays", "dump")
    shutil.copy(ARTICLES, "dump")
    shutil.copy(ARTICLES, "questions.jsonl")
    words = shlex.split(line)
    run(*words[1 : words.index(">") if ">" in words else None])


def test_every_single_command_has_examples():
    commands = {line.split()[1] for line in EXAMPLES}
    assert commands == {name for name in COMMANDS if " " not in name} - {"serve"}


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
