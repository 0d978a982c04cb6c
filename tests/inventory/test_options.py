"""Options are declared once: functions, their documentation and commands agree with the table."""

import inspect

import pytest
import typer.main

import neardup
from neardup._engine.options import taken_options
from neardup.cli import app

FUNCTIONS = {
    "dedup": neardup.dedup_files,
    "pairs": neardup.pairs_files,
    "fingerprint": neardup.fingerprint_files,
    "plan": neardup.plan,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_command_has_the_options_of_its_function(name):
    command = typer.main.get_command(app).commands[name]
    of_command = {flag: option for option in command.params for flag in option.opts}
    for parameter, (_, option) in taken_options(FUNCTIONS[name]).items():
        assert option.flags or parameter == "progress"
        for flag in option.flags:
            shown = of_command[flag]
            assert (shown.help, shown.default) == (option.help, option.default)


@pytest.mark.parametrize("function", [neardup.dedup, neardup.pairs, *FUNCTIONS.values()])
def test_a_function_shows_its_options(function):
    parameters = inspect.signature(function).parameters
    assert "options" not in parameters
    for name, (kind, option) in taken_options(function).items():
        assert parameters[name].default == option.default
        assert parameters[name].annotation == kind
        lines = inspect.getdoc(function).split(f"\n{name} : ")[1].splitlines()
        said = " ".join(line.strip() for line in lines[1:])
        assert said.startswith(option.help)


def test_an_unknown_option_is_refused_with_the_nearest_name():
    with pytest.raises(TypeError, match=r"dedup\(\) got .* 'treshold'.* Did you mean 'threshold'"):
        neardup.dedup(["a text"], treshold=0.8)
