"""The words of the pages: the same in both languages, all used, and chosen rightly."""

import re
import string
import tomllib
from importlib import resources

import pytest

from neardup.papers.report.words import LANGUAGES

from . import forms

PAGES = resources.files("neardup.server.pages")


def table(language):
    return tomllib.loads((PAGES / "words" / f"{language}.toml").read_text("utf-8"))


def placeholders(words):
    return sorted(name for _, name, _, _ in string.Formatter().parse(words) if name)


def test_both_languages_have_the_same_words():
    first, second = (table(language) for language in LANGUAGES)
    assert list(first) == list(second)
    for key in first:
        chinese, english = placeholders(first[key]), placeholders(second[key])
        assert chinese == english, key


def test_chinese_is_chinese_and_english_has_none():
    han = re.compile("[\u4e00-\u9fff]")
    assert [key for key, words in table("en").items() if han.search(words)] == ["other_language"]
    plain = {"tag", "other_language", "unknown", "stop", "gap", "similar", "status_version"}
    plain |= {"status_python"}
    missing = {key for key, words in table("zh").items() if not han.search(words)}
    assert missing <= plain


def test_every_word_is_used():
    sources = ""
    for folder in (PAGES, PAGES / "templates"):
        for file in folder.iterdir():
            if file.name.endswith((".py", ".html")):
                sources += file.read_text("utf-8")
    # Built from parts: nav_compare, error_404, ...
    families = set(re.findall(r'["(]([a-z]+)_(?:" ~|\{)', sources)) | {"event", "error"}
    families |= {"figure", "verdict", "state", "status", "stage"}
    for key in table("en"):
        assert f'"{key}"' in sources or key.split("_")[0] in families or key == "tag", key


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("en-GB,en;q=0.9", "en"),
        ("zh-TW", "zh-CN"),
        ("de, en;q=0.3, zh;q=0.8", "zh-CN"),
        ("de", "zh-CN"),
        ("", "zh-CN"),
        ("en;q=0, zh;q=x, *", "zh-CN"),
    ],
)
def test_the_language_is_what_the_browser_asks_for(client, asked, expected):
    answer = client.get("/", headers={"Accept-Language": asked})
    assert f'<html lang="{expected}">' in answer.text
    assert answer.headers["content-language"] == expected


def test_the_service_has_a_language_of_its_own(serve):
    assert (
        '<html lang="en">' in serve(language="en").get("/", headers={"Accept-Language": "de"}).text
    )


def test_a_chosen_language_stays(client):
    assert '<html lang="en">' in client.get("/clusters?language=en&search=a").text
    page = client.get("/", headers={"Accept-Language": "zh"}).text
    assert '<html lang="en">' in page
    assert 'href="?language=zh"' in page
    assert '<html lang="en">' in client.get("/?language=fr").text
    # The search is still there in the other language.
    assert 'href="?search=a&amp;language=zh"' in client.get("/clusters?search=a").text


def test_the_answer_to_a_form_can_be_had_in_the_other_language(client):
    client.get("/?language=zh")
    answer = forms.send(client, "/", a="一段相同的文字", b="一段相同的文字", language="en")
    assert "The two texts are the same" in answer.text
    assert '<html lang="en">' in client.get("/").text
