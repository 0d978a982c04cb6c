"""Strategies for texts that break programs, and for collections in which much is nearly alike."""

import unicodedata

from hypothesis import strategies as st

from tests.kit.hostile_texts import LONG_BASES, TEXTS

__all__ = ["LONG_BASES", "TEXTS", "corpora", "texts"]

_POOL = sorted(
    set("".join(TEXTS.values())) | set("的一是在了有和人这中大为上个国 abcxyzABC019,.。，:'’-")
)


def _is_known(character: str) -> bool:
    """Whether both sides' Unicode tables have the character, and UTF-8 can hold it."""
    return unicodedata.category(character) not in ("Cn", "Cs") or character in "\ufdd0\uffff"


_anywhere = st.characters(exclude_categories=("Cs", "Cn"))
_from_pool = st.sampled_from([c for c in _POOL if _is_known(c)])


def texts(max_size: int = 60) -> st.SearchStrategy[str]:
    """Texts of troublesome characters, of any characters, and the named ones."""
    return st.one_of(
        st.text(_from_pool, max_size=max_size),
        st.text(_anywhere, max_size=max_size),
        st.sampled_from(sorted(TEXTS.values())),
    )


_BASES = (
    "北山镇的旧粮站改成了书店，开张那天来了三百多人，门口排起长队，队伍一直排到桥头。",
    "渡轮公司说新船下个月试航，票价不变，末班时间推迟到夜里十一点，节假日另行通知。",
    "The orchard on the hill lost half of its pears to the hail, and the rest went to the press.",
    "A short note.",
    "雨",
    "。。。",
    "",
)


@st.composite
def corpora(draw: st.DrawFn, max_documents: int = 14, known: tuple[str, ...] = _BASES) -> list[str]:
    """Collections of few texts, each in many versions some edits apart.

    An edit may undo another one, so many pairs lie close to any threshold, and
    a document often resembles several that do not resemble each other.
    """
    count = draw(st.integers(0, max_documents))
    bases = draw(st.lists(st.sampled_from(known), min_size=1, max_size=2))
    made: list[str] = []
    for _ in range(count):
        text = draw(st.sampled_from(bases + made))
        for _ in range(draw(st.integers(0, 3))):
            at = draw(st.integers(0, len(text)))
            kind = draw(st.sampled_from(("replace", "insert", "cut", "move", "widen")))
            piece = draw(st.sampled_from(("新", "x", "，", " ", "\u200b", "大桥", "🙂")))
            length = draw(st.integers(1, 9))
            if kind == "replace":
                text = text[:at] + piece + text[at + 1 :]
            elif kind == "insert":
                text = text[:at] + piece + text[at:]
            elif kind == "cut":
                text = text[:at] + text[at + length :]
            elif kind == "move":
                text = text[:at] + text[at + length :] + text[at : at + length]
            else:
                text = text.replace("，", ",")
        made.append(text)
    return made
