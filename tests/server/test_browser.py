"""The pages in a real browser: by mouse, by keyboard alone, on a phone, without scripts.

Each test also asserts what holds for all of them: no error on the console, no dialog, no
request to another place, and nothing wider than the window.
"""

import pypdfium2 as pdfium
import pytest

import neardup
from neardup.index import RemovalFilter
from neardup.server.security.keys import create_key
from tests.browser import accessibility_faults, unreadable
from tests.server.conftest import BRIDGE, FERRY, run_service

pytestmark = pytest.mark.slow

PHONE, DESK = 360, 1280
NOTICE = (
    "市图书馆将于本周六上午九点重新开放，新馆增加了三百个座位和一间儿童阅览室，书架都换成了矮柜。\n"
    "读者凭身份证或者借书证入馆，周一闭馆，晚上开放到九点半，行动不便的读者可以打电话预约。"
)
HOSTILE = "<script>window.broken=1</script></textarea><img src=x onerror='window.broken=1'>\u202e"
TWO_TEXTS = {"a": NOTICE + FERRY, "b": FERRY + NOTICE.replace("三百", "四百")}
#: Each page, and the forms' answers: the address, and the fields that are filled.
PAGES = {
    "home": ("/", None),
    "compare": ("/compare", None),
    "ask": ("/ask", None),
    "check": ("/check", None),
    "removals": ("/removals?state=all", None),
    "review": ("/removals/review", None),
    "decisions": ("/decisions", None),
    "dropped": ("/documents/web/7", None),
    "kept": ("/documents/wire/1", None),
    "hostile": ("/documents?id=h%2F%3Cb%3E", None),
    "docs": ("/docs", None),
    "nowhere": ("/nowhere", None),
    "compared": ("/compare", TWO_TEXTS),
    "known": ("/ask", {"text": "（综合消息）" + NOTICE}),
    "new": ("/ask", {"text": "山里的茶园在干旱的春天里保住了收成。"}),
    "refused": ("/compare", {"a": "x"}),
}
#: A form, an answer, a table, a document and a page of another tool are printed to the end.
PRINTED = {"check", "compared", "removals", "kept", "docs"}
ANSWER = "#result, .problem"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    location = folder / "news.db"
    with neardup.Index(location, must_exist=False, workers=1) as index:
        index.add("wire/1", NOTICE, title="市图书馆周六重新开放", at="2026-03-01T08:00:00Z")
        index.add("web/7", NOTICE + "（完）", title="新馆开放", at="2026-03-02T08:00:00Z")
        index.add("en/1", BRIDGE, title="New bridge", at="2026-03-03T08:00:00Z", extra={"page": 3})
        index.add("en/2", "(Update) " + BRIDGE, title=HOSTILE, at="2026-03-04T08:00:00Z")
        index.add("en/3", BRIDGE + " A feast.", at="2026-03-05T08:00:00Z")
        index.add("h/<b>", HOSTILE + FERRY, title=HOSTILE, source=HOSTILE, extra={HOSTILE: "x"})
    process = run_service({"index": str(location)}, folder / "log")
    process.wait_until_up()
    yield process
    process.stop()


@pytest.fixture
def visit(tabs, service):
    """Open a page of the service: ``visit("/ask", language="zh", width=360)``."""
    used = []
    here = service

    def open_page(path="/", *, language="en", width=DESK, scripts=True, zone="UTC", service=here):
        page = tabs.open(
            width,
            lambda url: url.startswith((service.url + "/", "data:,")),
            locale={"en": "en-US", "zh": "zh-CN"}[language],
            java_script_enabled=scripts,
            timezone_id=zone,
        )
        used.append(page)
        page.goto(service.url + path)
        return page

    yield open_page
    for page in used:
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
        assert page.evaluate("window.broken") is None
    # A form that is refused, and a wrong key: Chromium reports their status as an error.
    assert [one for one in tabs.leave() if "status of 4" not in one[1]] == []


def send(page, fields=(), wanted="#result"):
    """Fill fields, press the button of the page, and wait for the answer."""
    for name, text in dict(fields).items():
        page.fill(f"#{name}", text)
    page.click("button.main")
    page.wait_for_selector(wanted)
    return page


def choose(page, field, **files):
    """Choose files, given by their names without extensions, for a field."""
    chosen = [
        {"name": f"{name}.txt", "mimeType": "text/plain", "buffer": text.encode()}
        for name, text in files.items()
    ]
    page.set_input_files(f"#{field}", files=chosen)


def focused(page):
    return page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()")


def tab_to(page, wanted, text=""):
    """Press Tab until an element has the focus, as somebody without a mouse does, and type."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if focused(page) == wanted:
            break
    assert focused(page) == wanted, f"Tab does not lead to {wanted}"
    is_seen = "getComputedStyle(document.activeElement).outlineStyle !== 'none'"
    assert page.evaluate(is_seen), f"the focus on {wanted} cannot be seen"
    page.keyboard.insert_text(text)


def press(page, key, wanted):
    """Press a key and wait for what follows."""
    page.keyboard.press(key)
    page.wait_for_selector(wanted)


def check_consistent(page, language, *, width=None):
    """What holds for every page, in each language and at each width."""
    if width is not None:
        page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.lang").startswith(language)
    assert page.locator("h1").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    assert unreadable(page) == []


def check_accessible(page):
    """Assert that the page has no fault on a desk or on a phone; it is a phone's afterwards."""
    for width in (DESK, PHONE):
        check_consistent(page, "en", width=width)
        assert accessibility_faults(page) == [], f"at a width of {width}"


def check_print(page, path):
    """Assert that the page can be printed, without what only a screen can do."""
    page.emulate_media(media="print")
    assert not page.locator(".screen").filter(visible=True).count()
    assert page.locator("h1").is_visible()
    page.emulate_media(media="null")
    if path is not None:
        page.pdf(path=path, prefer_css_page_size=True)
        with pdfium.PdfDocument(path) as document:
            assert 1 <= len(document) <= 4
            text = "".join(page.get_textpage().get_text_range() for page in document)
        assert page.locator("h1").inner_text() in " ".join(text.split())


@pytest.mark.parametrize("name", PAGES)
def test_every_page(visit, name, tmp_path):
    """Each page and each answer: both languages, a phone and a desk, axe, print."""
    path, fields = PAGES[name]
    page = visit(path, language="zh", width=PHONE)
    if fields is not None:
        send(page, fields, ANSWER)
    for language in ("zh", "en"):
        if language == "en":
            page.locator(".switch a" if fields is None else ".switch button[name=language]").click()
            page.wait_for_selector("html[lang^=en]")
        for width in (PHONE, DESK):
            check_consistent(page, language, width=width)
        if fields is not None:
            assert page.locator(ANSWER).count() == 1
            # It is what has the focus, so a screen reader begins there.
            assert page.evaluate(f"document.activeElement.matches('{ANSWER}')")
    check_print(page, tmp_path / "page.pdf" if name in PRINTED else None)
    check_accessible(page)


def test_compare_by_keyboard(visit):
    page = visit("/compare")
    page.keyboard.press("Tab")
    assert page.locator(".skip").is_visible()
    page.keyboard.press("Enter")
    for name, text in TWO_TEXTS.items():
        tab_to(page, name, text)
    page.locator("button.main").focus()
    press(page, "Enter", "#result")
    tab_to(page, "a1")
    page.keyboard.press("Enter")
    assert focused(page) == "b1"
    assert page.locator("a.copy.now").count() >= 2
    page.keyboard.press("Enter")
    assert focused(page) == "a1"
    page.keyboard.press("Escape")
    assert page.locator("a.copy.now").count() == 0


def test_a_click_brings_the_other_side_to_the_same_height(visit):
    filler = "\n".join(f"第{at}行是两边都没有的文字{at * 7919}。" for at in range(120))
    texts = {"a": filler + NOTICE + filler[::-1], "b": FERRY + NOTICE + FERRY.replace("渡", "河")}
    page = send(visit("/compare"), texts)
    number = page.locator("a.copy[id^=b]").first.get_attribute("id")[1:]
    page.locator(f"#b{number}").click()
    here, there = (page.locator(f"#{side}{number}").bounding_box() for side in "ba")
    assert abs(here["y"] - there["y"]) < 60
    assert 0 <= there["y"] < 800
    assert focused(page) == f"a{number}"


def test_a_file_is_dropped_on_a_field(visit):
    page = visit("/compare")
    page.evaluate(
        """(text) => {
          const moved = new DataTransfer();
          moved.items.add(new File([text], "渡轮.txt", { type: "text/plain" }));
          const target = document.getElementById("a");
          const how = { dataTransfer: moved, bubbles: true, cancelable: true };
          for (const kind of ["dragover", "drop"]) {
            target.dispatchEvent(new DragEvent(kind, how));
          }
        }""",
        FERRY,
    )
    assert page.evaluate("document.getElementById('a-file').files[0].name") == "渡轮.txt"
    send(page, {"b": FERRY})
    assert page.locator("#result").inner_text() == "The two texts are the same"


def test_ask_and_add_by_keyboard(visit):
    page = visit("/ask", language="zh")
    tab_to(page, "text", "渔港的冷库上月扩建完工，可以存放两千吨海产，渔民卖鱼不必再赶早市。")
    tab_to(page, "title", "冷库扩建")
    # Enter sends the form in the same language.
    press(page, "Enter", "#result")
    assert page.locator("#result").inner_text() == "新文本"
    tab_to(page, "id", "keyboard/1")
    press(page, "Enter", ".done")
    assert page.locator("h1").inner_text() == "冷库扩建"


def test_a_paper_by_keyboard_with_excluded_text_thresholds_and_cover(visit):
    page = visit("/check")
    tab_to(page, "file")
    choose(page, "file", 论文="本文讨论图书馆。\n" + NOTICE + "\n" + FERRY * 8)
    tab_to(page, "Excluded text, thresholds, cover")
    page.keyboard.press("Enter")
    check_accessible(page)
    choose(page, "exclude", exclude=NOTICE)
    for name, value in (("pass_below", "5"), ("reject_above", "30"), ("author", "林岚")):
        tab_to(page, name, value)
    press(page, "Enter", "#result")
    assert page.locator(".figure").first.inner_text() not in ("0%", "")
    assert page.locator(".verdict").inner_text() == "Verdict: rejected"
    check_accessible(page)
    page.get_by_role("link", name="Open the report").press("Enter")
    page.wait_for_url("**/report?language=en")
    assert "论文.txt" in page.locator("h1").inner_text()
    assert "林岚" in page.locator("body").inner_text()


def test_papers_compared_with_each_other(visit):
    page = visit("/check")
    names = ("论文", HOSTILE.replace("/", ""))
    choose(page, "file", **{name: f"{at}。{NOTICE}{FERRY}" for at, name in enumerate(names)})
    tab_to(page, "compare-papers")
    page.keyboard.press("Space")
    tab_to(page, "Check")
    press(page, "Enter", "#result")
    check_accessible(page)
    page.locator(".switch a").click()
    page.wait_for_selector("html[lang^=zh]")
    for width in (PHONE, DESK):
        check_consistent(page, "zh", width=width)
    page.locator(".matrix a").first.press("Enter")
    page.wait_for_selector("tr[data-source][aria-current]")
    assert "language=zh#r" in page.url
    assert page.locator("a.copy.on").count()


def test_a_folder_of_papers(visit, tmp_path):
    for name in ("a.txt", "b/论文.txt", ".hidden"):
        (tmp_path / "papers" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "papers" / name).write_text(NOTICE, "utf-8")
    page = visit("/check")
    page.set_input_files("#folder", tmp_path / "papers")
    names = send(page).locator(".summary .name a").all_inner_texts()
    assert sorted(names) == ["papers/a.txt", "papers/b/论文.txt"]


@pytest.mark.parametrize(("field", "words"), [("text-file", "at most 16 MB"), ("text", "97.6 kB")])
def test_large_input_is_not_sent(visit, serve_process, tmp_path, field, words):
    if field == "text-file":
        page, large = visit("/ask"), tmp_path / "large.txt"
        with large.open("wb") as file:
            file.truncate((16 << 20) + 1)
        page.set_input_files("#text-file", large)
    else:
        page = visit("/ask", service=serve_process(max_body_bytes=100_000))
        page.fill("#text", "字" * 40_000)
    page.click("button.main")
    assert words in page.evaluate(f"document.getElementById('{field}').validationMessage")
    assert page.locator("#result").count() == 0
    # Who types something else instead is let through.
    send(page, {"text": FERRY})


def test_back_leads_to_the_result_again(visit):
    page = send(visit("/compare"), TWO_TEXTS)
    shown = page.locator("#result").inner_text()
    page.goto(page.url.rpartition("/")[0] + "/removals")
    page.go_back()
    page.wait_for_selector("#result")
    assert page.locator("#result").inner_text() == shown
    # Also from a document that the result names, in the language that was chosen meanwhile.
    page = send(visit("/ask", language="zh"), PAGES["known"][1])
    page.locator(".switch button[name=language]").click()
    page.wait_for_selector("html[lang=en] #result")
    page.locator(".answer a").click()
    page.wait_for_url("**/documents/wire/1")
    page.go_back()
    page.wait_for_selector("html[lang=en] #result")
    assert page.locator("#result").inner_text() == "The index has it"


def test_typed_text_stays_when_the_language_changes(visit):
    page = visit("/compare")
    page.fill("#a", HOSTILE + NOTICE)
    page.select_option("#recipe", "classic")
    page.locator(".switch a").click()
    page.wait_for_selector("html[lang|=zh]")
    values = [page.input_value(f"#{name}") for name in ("a", "b", "recipe")]
    assert values == [HOSTILE + NOTICE, "", "classic"]
    # Once: who opens the page again begins anew.
    page.goto(page.url.partition("?")[0])
    assert page.input_value("#a") == ""


def test_removals_are_reviewed_with_the_keyboard(visit, serve_process, tmp_path):
    location = tmp_path / "review.db"
    with neardup.Index(location, must_exist=False, workers=1) as index:
        index.add("wire/1", NOTICE, title="市图书馆周六重新开放")
        index.add("web/7", NOTICE + "（完）", title="新馆开放")
        index.add("web/8", NOTICE.replace("儿童", "少儿"), title="新馆")
    service = serve_process(index=str(location))
    page = visit("/", service=service)
    page.get_by_role("link", name="Review one by one").press("Enter")
    page.wait_for_url("**/removals/review")
    page.wait_for_selector(".deciding")
    first = page.locator("dl.facts a").first.inner_text()
    press(page, "k", ".done")
    assert page.locator("dl.facts a").first.inner_text() != first
    press(page, "c", "text=no further removals")
    # The last decision can be undone from where it led to, and the others from their table.
    page.locator(".done").get_by_role("button", name="Undo").press("Enter")
    page.wait_for_selector("text=Undone: 1")
    page.goto(service.url + "/decisions")
    undo = page.locator("td").get_by_role("button", name="Undo")
    assert undo.count() == 2
    undo.last.press("Enter")
    page.wait_for_selector("text=Undone: 1")
    with neardup.Index(location) as index:
        assert [index.get(id).state for id in ("web/7", "web/8")] == ["dropped", "dropped"]
        assert index.count_removals(RemovalFilter(confirmed=False)) == 2
    # Letters that are typed into a field, or held down, decide nothing.
    page.goto(service.url + "/removals/review")
    held = 'new KeyboardEvent("keydown", {key: "k", repeat: true, bubbles: true})'
    page.evaluate(f"() => document.body.dispatchEvent({held})")
    assert page.locator(".done").count() == 0
    page.keyboard.press("s")
    page.wait_for_url("**after=*")
    page.goto(service.url + "/removals")
    page.locator("#search").press_sequentially("kcs")
    assert page.url.endswith("/removals")
    # Two clicks are one decision.
    page.goto(service.url + "/decisions")
    undo.first.dblclick()
    page.wait_for_selector("text=Undone: 1")


def test_many_removals_are_decided_together(visit):
    page = visit("/removals", width=PHONE)
    page.locator("#choose-all").click()
    assert page.locator("input[type=checkbox]:checked").count() >= 3
    page.get_by_role("button", name="Confirm the removal").click()
    page.wait_for_selector("text=Confirmed: ")
    assert page.locator("td.name").count() == 0
    page.goto(page.url.partition("?")[0] + "?state=confirmed&order=cluster")
    assert page.locator("tr.group").count() >= 2


def test_sign_in_by_keyboard(visit, serve_process, tmp_path):
    key, _ = create_key(tmp_path / "keys.json", "editor", ("read", "write"))
    service = serve_process(keys=str(tmp_path / "keys.json"))
    page = visit("/removals?search=bridge", service=service, width=PHONE)
    assert "/login?next=" in page.url
    check_accessible(page)
    tab_to(page, "key", "wrong")
    press(page, "Enter", ".problem")
    tab_to(page, "key", key)
    page.keyboard.press("Enter")
    page.wait_for_url("**/removals?search=bridge")
    page.get_by_role("button", name="Sign out").press("Enter")
    page.wait_for_url("**/login")


@pytest.mark.parametrize(
    ("zone", "scripts", "text"),
    [
        ("Asia/Shanghai", True, "2026-03-01 16:00"),
        ("America/New_York", True, "2026-03-01 03:00"),
        ("Asia/Shanghai", False, "2026-03-01 08:00 UTC"),
    ],
)
def test_times_are_in_the_zone_of_the_reader(visit, zone, scripts, text):
    page = visit("/documents/wire/1", zone=zone, scripts=scripts)
    assert page.locator("dd time").inner_text() == text
    assert page.locator("dd time").get_attribute("datetime") == "2026-03-01T08:00:00Z"


def test_pages_work_without_scripts(visit):
    page = visit("/compare", scripts=False)
    send(page, {"a": NOTICE + FERRY, "b": FERRY + NOTICE})
    page.locator("#a2").click()
    assert page.url.endswith("#b2")
    page.goto(page.url.rpartition("/")[0] + "/check")
    choose(page, "file", a=NOTICE)
    # The result comes by itself, because the page says so.
    send(page)
