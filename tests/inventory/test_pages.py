"""Pages: links lead somewhere, and programs in them are programs."""

import doctest
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import orjson
import pytest
from tests.conftest import ROOT
from tests.kit.sessions import COMMAND, EXAMPLES, Session, is_same

from neardup import dedup, dedup_files, fingerprint_files

IGNORED = {".git", ".venv", "target", "node_modules", ".pytest_cache"}
PAGES = sorted(
    path.relative_to(ROOT)
    for path in ROOT.rglob("*.md")
    if not IGNORED & set(path.relative_to(ROOT).parts)
    and not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))


def anchors(path):
    """Return the anchors that headings have, as the usual renderers make them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.MULTILINE):
        words = re.sub(r"[^\w\s-]", "", heading.replace("`", "").lower())
        found.add(words.strip().replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page):
    broken = []
    for link in LINK.findall(without_code((ROOT / page).read_text("utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert not broken


BLOCKS = [
    pytest.param(language, block, id=f"{page}-{at}")
    for page in PAGES
    for at, (language, block) in enumerate(BLOCK.findall((ROOT / page).read_text("utf-8")))
]


@pytest.mark.parametrize(("language", "block"), BLOCKS)
def test_blocks_are_of_their_language(language, block):
    if language in ("python", "py"):
        if ">>>" in block:
            block = "\n".join(e.source for e in doctest.DocTestParser().get_examples(block))
        compile(block, "block", "exec")
    elif language == "toml":
        tomllib.loads(block)
    elif language == "json":
        # One object a line, or one object in all.
        try:
            orjson.loads(block)
        except orjson.JSONDecodeError:
            for line in block.splitlines():
                orjson.loads(line)
    else:
        others = {"text", "rust", "console", "sh", "bash", "mermaid", "bibtex", "diff", "sql"}
        assert language in others | {"ini", "nginx", "yaml"}


EXAMPLES_OF_PAGES = [
    param for param in BLOCKS if param.values[0] == "python" and ">>>" in param.values[1]
]


@pytest.mark.parametrize(("language", "block"), EXAMPLES_OF_PAGES)
def test_examples_give_the_results_on_the_page(language, block):
    """Each block by itself."""
    example = doctest.DocTestParser().get_doctest(block, {}, language, None, 0)
    failed = []
    doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE).run(
        example, out=failed.append
    )
    assert not failed, "".join(failed)


def test_distance_of_three_bits_misses_short_re_post_of_first_example():
    """As docs/zh/sources.md says."""
    page = (ROOT / "README.zh-CN.md").read_text("utf-8")
    [block] = [b for language, b in BLOCK.findall(page) if language == "python"]
    names = {}
    for example in doctest.DocTestParser().get_examples(block):
        exec(example.source, names)
    for recipe in ("improved", "news", "keywords", "classic"):
        found = dedup(names["articles"], recipe=recipe)
        assert [article["id"] for article in found.kept] == ["a1", "a2", "a3"]


COMMANDS_OF_PAGES = {
    page: [
        command
        for language, block in BLOCK.findall((ROOT / page).read_text("utf-8"))
        if language == "console"
        for command in COMMAND.findall(block)
    ]
    for page in PAGES
}


@pytest.mark.parametrize(
    "page", [p for p, commands in COMMANDS_OF_PAGES.items() if commands], ids=str
)
def test_commands_print_the_output_on_the_page(page, tmp_path):
    """All in one folder, in order."""
    session = Session(tmp_path)
    for command, expected in COMMANDS_OF_PAGES[page]:
        printed = session.run(command)
        assert is_same(expected, printed), f"{command}\n{printed}"


#: A line that each program of the examples prints.
PRINTED = {
    "dedup_in_python.py": (
        "31 articles, 25 kept\n",
        "bridge-repost repeats bridge: content(5) 1.00",
        "resemblance 0.34, 7 numbers agree, 6 differ. Both are kept.",
    ),
    "segmenter_of_your_own.py": ("图书馆/n 的/x 闭馆/v 时间/n", "of 64 bits differ, by lexicon-"),
    "show_removed.py": (" repeats ",) * 6,
    "with_vectors.py": (),
}


# The clients need a service: they are run by tests/server/test_serve_command.py.
@pytest.mark.parametrize(
    "program", sorted(p.name for p in EXAMPLES.glob("*.py") if p.name != "client.py")
)
def test_example_prints_its_results(program, tmp_path):
    articles, removed = EXAMPLES / "articles.jsonl", tmp_path / "removed.jsonl"
    dedup_files([articles], tmp_path / "kept.jsonl", removed=removed)
    arguments = (articles, removed) if program == "show_removed.py" else ()
    command = [sys.executable, EXAMPLES / program, *arguments]
    found = subprocess.run(command, capture_output=True, timeout=120, cwd=tmp_path, text=True)
    assert found.returncode == 0, found.stderr
    for part in PRINTED[program]:
        assert found.stdout.count(part) == PRINTED[program].count(part)
    if program == "with_vectors.py":
        assert found.stdout in (ROOT / "docs" / "guide" / "limits.md").read_text("utf-8")


@pytest.mark.parametrize("recipe", sorted(p.name for p in EXAMPLES.glob("*.toml")))
def test_recipes_of_the_examples(recipe, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    prints = tmp_path / "prints.jsonl"
    fingerprint_files([EXAMPLES / "articles.jsonl"], prints, recipe=str(EXAMPLES / recipe))
    assert len(prints.read_text("utf-8").splitlines()) == 31


def test_notebook(monkeypatch, capsys):
    """From top to bottom, as in a fresh kernel."""
    monkeypatch.chdir(EXAMPLES)
    cells = orjson.loads(Path("notebook.ipynb").read_text("utf-8"))["cells"]
    assert not any(cell.get("outputs") for cell in cells)
    names = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    printed = capsys.readouterr().out
    assert "precision 1.00" in printed
    assert printed.endswith("[('undone', 'editor'), ('kept', 'editor')]\n")


def test_no_page_or_program_names_a_machine():
    """Paths of whoever wrote it help nobody else."""
    suffixes = {".py", ".rs", ".md", ".toml", ".txt", ".yml", ".json"}
    found = []
    for folder in ("python", "crates", "docs", "examples", "tests", "benchmarks"):
        for path in (ROOT / folder).rglob("*"):
            relative = path.relative_to(ROOT)
            if path.suffix not in suffixes or any(p.startswith(".") for p in relative.parts):
                continue
            if {"work", "target"} & set(relative.parts):
                continue
            text = path.read_text("utf-8", errors="replace")
            if re.search(r"(?<![\w.])/(?:home|root|work|Users)/\w", text):
                found.append(str(relative))
    assert not [name for name in found if name != str(Path(__file__).relative_to(ROOT))]


def test_accuracy_page_counts_its_results():
    page = (ROOT / "docs" / "accuracy.md").read_text("utf-8")
    reproduced, results = (
        int(number) for number in re.findall(r"texts: (\d+) of the paper's (\d+) results", page)[0]
    )
    assert page.count("\n- Reproduced: ") == reproduced
    assert page.count("\n- Not reproduced: ") == results - reproduced
    # All six, as `neardup evaluate published` lists them.
    assert results == 6
