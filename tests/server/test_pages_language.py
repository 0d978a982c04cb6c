"""The language of a page: what the browser asks for, and what its reader chose."""

import pytest

from . import forms


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
