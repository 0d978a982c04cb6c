"""What the command line refuses: one line with a way out, in the language of the user."""

import pytest

REFUSED = {
    "dedup in.jsonl --treshold 0.5": "`neardup dedup` has no option --treshold. Did you mean "
    "--threshold, --removed?",
    "dedup --nosuch": "`neardup dedup` has no option --nosuch. See `neardup dedup --help`.",
    "dedup --keep x": "`neardup dedup` has no option --keep. Did you mean --priority?",
    "check a --reference b": "`neardup check` has no option --reference. Did you mean --library?",
    "plan -z": "`neardup plan` has no option -z. See `neardup plan --help`.",
    "plam": "`neardup` has no command plam. Did you mean plan?",
    "nosuch": "`neardup` has no command nosuch. See `neardup --help`.",
    "index ad": "`neardup index` has no command ad. Did you mean add?",
    "serve key nosuch": "`neardup serve key` has no command nosuch. See `neardup serve key "
    "--help`.",
    "dedup in.jsonl": "The option --output is missing. See `neardup dedup --help`.",
    "dedup -o out.jsonl": "The argument INPUT is missing. See `neardup dedup --help`.",
    "dedup in.jsonl -o": "The option -o needs a value. See `neardup dedup --help`.",
    "pairs in.jsonl --force=1": "The option --force takes no value. See `neardup pairs --help`.",
    "compare a b c d e": "`neardup compare` does not take the argument d e. See `neardup compare "
    "--help`.",
    "plan many": "DOCUMENTS must be a whole number. See `neardup plan --help`.",
    "index create new.db --expected 1.5": "--expected must be a whole number. See `neardup index "
    "create --help`.",
    "plan --threshold high": "--threshold must be a number. See `neardup plan --help`.",
    "dedup in.jsonl -o out.jsonl --forc": "`neardup dedup` has no option --forc. Did you mean "
    "--force, --format, --work?",
    "serve nosuch": "`neardup serve` has no command nosuch. See `neardup serve --help`.",
    "serve --port x": "--port must be a whole number. See `neardup serve --help`.",
}


@pytest.mark.parametrize("line", REFUSED)
def test_a_usage_error_is_one_line(run, files, line):
    found = run(*line.split(), code=2)
    assert found.err == f"neardup: {REFUSED[line]}\n"
    assert found.out == ""
    assert files() == ["in.jsonl"]


@pytest.mark.parametrize("line", REFUSED)
def test_a_usage_error_in_chinese(run, line):
    found = run("--language", "zh", *line.split(), code=2)
    (said,) = found.err.splitlines()
    assert said.endswith(("。", "？"))
    assert not {"has", "missing", "must", "See", "Did", "needs", "takes"} & set(said.split())


def test_a_language_without_a_command(run):
    assert "缺少命令" in run("--language", "zh", code=2).err


@pytest.mark.parametrize("command", [["dedup"], ["index"], ["index", "add"], ["serve"]])
def test_the_help_is_printed_without_arguments(run, command):
    found = run(*command, code=2)
    assert "--help" in found.out
    assert found.err == ""


def test_pairs_cannot_drop_records(run, files):
    found = run("pairs", "in.jsonl", "-o", "out.csv", "--on-error", "drop", code=2)
    assert "neardup: --on-error must be one of keep, stop. Got 'drop' instead.\n" in found.err
    assert files() == ["in.jsonl"]
