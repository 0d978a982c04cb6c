"""The words of all pages: the same in both languages, and all used."""

import re
import string
from pathlib import Path

import pytest

import neardup
from neardup.base.messages import LANGUAGES
from neardup.pages.words import load_words

ROOT = Path(neardup.__file__).parent
TEMPLATES = ROOT / "pages" / "templates"

#: What each page's words are used in, and the first parts of keys that are put together there.
USES = {
    "report": (
        [TEMPLATES / f"{name}.html" for name in ("report", "summary", "overview", "marks")],
        [ROOT / "papers" / f"{name}.py" for name in ("report", "report_files", "word")],
        {"aside", "setting", "hiding", "shared"},
    ),
    "review": ([TEMPLATES / "review.html"], [], {"kind"}),
    "service": (
        (TEMPLATES / "service").glob("*.html"),
        (ROOT / "server" / "pages").glob("*.py"),
        {"nav", "within", "text", "figure", "stage", "state", "event"}
        | {"said", "rate", "status", "job", "error", "order", "decide", "decided", "reason"},
    ),
}


def placeholders(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


@pytest.mark.parametrize("page", USES)
def test_both_languages_have_the_same_words(page):
    chinese, english = (load_words(language, page).table for language in LANGUAGES)
    assert list(chinese) == list(english)
    for key, text in chinese.items():
        assert key == "gap" or (text.strip() and english[key].strip())
        assert placeholders(text) == placeholders(english[key]), key
    han = re.compile("[\u4e00-\u9fff]")
    assert {key for key in english if han.search(english[key])} <= {"other_language"}


@pytest.mark.parametrize("page", USES)
def test_every_word_is_used_and_every_used_word_exists(page):
    templates, modules, families = USES[page]
    files = [TEMPLATES / "sides.html", *templates, *modules]
    source = "\n".join(file.read_text("utf-8") for file in files)
    table = load_words("zh", page).table
    shared = {"tag", "colon", "characters", "legend_same", "legend_differs"}
    shared |= {"sides_says", "sides_none", "comma"}
    for key in set(table) - shared:
        is_built = key.split("_")[0] in families | {"cover", "verdict", "mark"} or key.startswith(
            "no_verdict_"
        )
        assert is_built or re.search(rf'"{key}"', source), key
    assert set(re.findall(r'\b(?:w|words)\(\s*"(\w+)"[,)]', source)) <= set(table)
