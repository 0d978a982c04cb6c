"""Two texts beside each other: nothing is lost, and what is marked is right."""

from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.papers.align import align_sides

NOTICE = (
    "市图书馆将于本周六上午九点重新开放，新馆增加了三百个座位和一间儿童阅览室。\n"
    "读者凭身份证或者借书证入馆，周一闭馆，晚上开放到九点半。"
)
FERRY = "渡口的新渡轮下周一试航，票价与旧船相同，老人与孩子免费乘坐。"


def text_of(side):
    """The text as the template writes it: runs, and parts within pieces."""
    return "".join(
        "".join(text for text, _ in side.parts(run))
        if run.passages
        else side.text[run.begin : run.end]
        for run in side.marks.runs()
    )


def marked(side):
    runs = [run for run in side.marks.runs() if run.passages]
    return [text for run in runs for text, differs in side.parts(run) if differs]


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=300))
@settings(max_examples=50, deadline=None)
def test_every_character_is_shown_once(head, tail, middle):
    a = f"{head}{NOTICE}{middle}{FERRY}"
    b = f"{FERRY}{tail}{NOTICE.replace('三百', '四百')}{head}"
    sides = align_sides(a, b)
    assert text_of(sides.a) == a
    assert text_of(sides.b) == b


def test_only_the_edits_are_marked():
    sides = align_sides(NOTICE, NOTICE.replace("三百个", "三百五十个").replace("周一", "周二"))
    assert marked(sides.a) == ["一"]
    assert marked(sides.b) == ["五十", "二"]


def test_moved_sentences_lead_to_their_own_places():
    a, b = NOTICE + FERRY, FERRY + NOTICE
    sides = align_sides(a, b)
    assert len(sides.pieces) == 2
    for span, source in sides.pieces:
        piece, copy = a[slice(*span)], b[slice(*source)]
        assert piece in copy or copy in piece
    # A link from each side leads to a run that has that name.
    for side, target in ((sides.a, sides.b), (sides.b, sides.a)):
        names = {run.first[0] for run in target.marks.runs() if run.first}
        numbers = {run.passages[0] for run in side.marks.runs() if run.passages}
        assert {target.marks.anchors[number] for number in numbers} <= names


def test_short_texts_show_what_they_share():
    sides = align_sides("新渡轮下周一试航", "新渡船下周一试航了")
    assert len(sides.pieces) == 1
    assert marked(sides.b) == ["船"]


def test_texts_that_share_nothing():
    sides = align_sides("甲乙丙丁", "ABCD")
    assert sides.pieces == []
    assert text_of(sides.a) == "甲乙丙丁"
