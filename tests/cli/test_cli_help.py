"""The language of all that people read: help, results, messages; results are the same in both."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import ARTICLES, EXAMPLES, LINES, A, B, few_topics

from neardup import Index, __version__
from neardup.cli.commands import COMMANDS, GROUPS, find_command, list_children, list_parameters
from neardup.cli.help import read_help
from neardup.server.security.keys import create_key

#: Two English words beside each other; a name of an option or a file is only one.
ENGLISH = re.compile(r"(?<![-\w.<>`'])[A-Za-z]{2,} [a-z]{2,}(?![-\w.])")
#: Words that are English in every language: commands, and names of programs.
NAMES = re.compile(r"neardup( \w+)*|python -m|`[^`]*`|Shingle|RFC \d+")
LABELLED = f"{EXAMPLES}/documents.jsonl --truth {EXAMPLES}/pairs.tsv --recipes classic"
ALL = dict.fromkeys([*GROUPS, *COMMANDS])
TITLE_OF_EXAMPLES = "\n示例:"


def chinese(text):
    """Fail for the lines that are English."""
    text = text.partition(TITLE_OF_EXAMPLES)[0]
    assert not [line for line in text.splitlines() if ENGLISH.search(NAMES.sub("", line))]


@pytest.fixture
def zh(run, monkeypatch, here):
    """Run with a Chinese locale, in a folder with two texts and a library."""
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    (here / "library").mkdir()
    for name, text in (("a", A + B), ("b", B + "改"), ("library/b", B + A)):
        (here / f"{name}.txt").write_text(text, "utf-8")

    def run_in_chinese(*arguments, **settings):
        result = run(*arguments, **settings)
        chinese(result.out)
        chinese(result.err)
        return result

    return run_in_chinese


@pytest.mark.parametrize("name", ALL)
def test_help_is_in_chinese(zh, name):
    out = zh(*name.split(), "--help").out
    assert out.startswith("用法: ")
    # Each line that begins at the left, and each option, has Chinese.
    for line in out.partition(TITLE_OF_EXAMPLES)[0].splitlines()[2:]:
        assert not line or line.startswith(" ") or re.search("[一-鿿]", line), line


@pytest.mark.parametrize(
    "line",
    [
        "--language zh --help",
        "--help --language zh",
        "--language zh index --help",
        "check --language zh --help",
    ],
)
def test_help_in_the_language_of_the_command_line(run, line):
    out = run(*line.split()).out
    assert out.startswith("用法: ")
    chinese(out)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "words"),
    [
        *(
            (f"{command} a.txt b.txt -r {recipe}", words)
            for command, words in (("compare -p", "相似度"), ("explain", "方案"))
            for recipe in ("general", "news", "minhash", "improved", "aligned")
        ),
        ("recipes", "抽样"),
        ("check a.txt -l library -o a.html", "总复制比"),
        ("check a.txt library --compare-papers", "单篇最大"),
        ("index stats n.db", "判为重复"),
        ("index explain n.db bridge", "保留"),
        ("index create other.db", ""),
        ("index remove n.db bridge", ""),
        (f"evaluate pairs {LABELLED}", "最佳分界值"),
    ],
)
def test_output_is_in_chinese(zh, request, line, words):
    if "n.db" in line:
        request.getfixturevalue("index")
    assert words in zh(*line.split()).out


def test_the_same_results_in_both_languages(run, monkeypatch):
    Path("in.jsonl").write_text(LINES + '{"text": 3}\n', "utf-8")

    def dedup(*language):
        result = run(*language, "dedup", "in.jsonl", "-o", "out.jsonl", "-f", code=2)
        return result.err, Path("out.jsonl").read_bytes()

    (english, kept), (translated, again) = dedup(), dedup("--language", "zh")
    assert kept == again
    assert "exact duplicates             1  same text" in english
    assert "完全重复             1  文本相同" in translated
    chinese(translated)
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert "完全重复" in dedup()[0]
    assert "exact duplicates" in dedup("--language", "en")[0]


@pytest.mark.parametrize("words", [["--language", "zh"], []], ids=["named", "environment"])
@pytest.mark.parametrize(
    "line",
    ["dedup in.jsonl -o out.jsonl --review a.html", "check b.txt -l in.jsonl -o a.html"],
)
def test_pages_have_the_language_of_the_command(run, line, words):
    Path("b.txt").write_text(A, "utf-8")
    run(*line.split(), *words)
    assert f'<html lang="{"zh" if words else "en"}' in Path("a.html").read_text("utf-8")


@pytest.mark.parametrize("name", ["", *sorted(set(COMMANDS) - {"serve"})])
def test_messages_have_the_language_of_the_command_line(run, name):
    error = run(*name.split(), "--language", "zh", "--nosuch", code=2).err
    assert "--nosuch" in error
    chinese(error)
    wrong = run(*name.split(), "--language", "fr", code=2).err
    assert "--language must be one of zh, en. Got 'fr' instead." in wrong


# Every command and option explains itself, and the reference page has it.

HELP_LINES = {name: read_help(name)[1] for name in COMMANDS}


@pytest.mark.parametrize("name", ALL)
def test_help_is_printed(run, name):
    result = run(*name.split(), "--help" if name else "-h")
    assert all(f"\n    {child}" in result.out for child in list_children(name))
    words = " ".join(result.out.split())
    assert " ".join(read_help(name)[0].split()) in words
    for parameter in list_parameters(find_command(name)):
        assert all(flag in words for flag in parameter.flags)
        assert " ".join(parameter.option.help.split()) in words
        assert not name or not parameter.flags or f"\n{parameter.option.panel}:\n" in result.out


def test_the_reference_page_is_the_generated_one(root):
    script = root / "docs" / "generate_cli_reference.py"
    subprocess.run([sys.executable, script, "--check"], check=True, capture_output=True)


@pytest.mark.parametrize(
    # A service does not end; tests of it start many.
    "line",
    [line for name, lines in HELP_LINES.items() for line in lines if name not in ("serve", "mcp")],
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
        few_topics(Path("topics"), 8)
    if line.startswith("neardup serve key"):
        create_key(Path("keys.json"), "newsroom" if "create" not in line else "other", ["read"])
    Path("essays").mkdir()
    for name in ("old", "new", "template", "essay", "article", "essays/a", "essays/b"):
        Path(f"{name}.txt").write_text(A + name, "utf-8")
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
    assert {"neardup", "fail-on-duplicates"} <= set(re.findall(r"[a-z]+(?:-[a-z]+)*", script))


def test_version(run):
    assert run("--version").out == f"neardup {__version__}\n"
