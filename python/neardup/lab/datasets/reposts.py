"""Re-posts: the same article with a line added at the head, the tail or both."""

from __future__ import annotations

from neardup.base.validation import check_string, check_whole
from neardup.lab.datasets.draws import Draws
from neardup.lab.datasets.sentences import is_chinese

#: Share of re-posts without any line: the article was copied as it is.
UNCHANGED = 0.07

_HEADS = {
    True: (
        "{agency}{month}月{day}日电　",
        "{paper}讯（记者 {name}）",
        "（{paper}记者 {name}）",
        "来源：{site}\n",
        "编辑：{name}\n",
        "{year}-{month:02}-{day:02} {hour:02}:{minute:02}\n",
    ),
    False: (
        "({agency}) - ",
        "By {name}, {paper}\n",
        "Source: {site}\n",
        "Edited by {name}\n",
        "{year}-{month:02}-{day:02} {hour:02}:{minute:02}\n",
    ),
}
_TAILS = {
    True: (
        "（{agency}）",
        "（{paper} {name}）",
        "\n（责任编辑：{name}）",
        "\n编辑：{name}",
        "\n来源：{site}",
        "\n发布时间：{month}月{day}日 {hour:02}:{minute:02}",
    ),
    False: (
        " ({agency})",
        "\nReporting by {name}",
        "\nEditing by {name}",
        "\nSource: {site}",
        "\nPosted {year}-{month:02}-{day:02} {hour:02}:{minute:02}",
    ),
}
_NAMES = {
    True: {
        "agency": ("晨江社", "北渡社", "海岬社", "云岭通讯社"),
        "paper": ("晨江日报", "北渡晚报", "海岬时报", "云岭早报"),
        "site": ("晨江在线", "北渡网", "海岬新闻网", "云岭门户"),
        "name": ("林一舟", "周禾", "何青", "欧阳远山", "沈渡", "白小棠"),
    },
    False: {
        "agency": ("Harbour Wire", "Northford Press", "Cape News"),
        "paper": ("The Daily Harbour", "Northford Post", "Cape Times"),
        "site": ("Harbour Online", "northford.example", "Cape News"),
        "name": ("J. Mill", "A. Ferrier", "T. Brook", "M. Lander"),
    },
}


class RepostModel:
    """Makes re-posts of texts; the same for the same seed and id.

    7 % of the re-posts are the unchanged text. The others have a line at the
    head, at the tail or at both, each case with the same chance: the agency,
    the paper and reporter, the source, the editor, or the time. The lines are
    Chinese if the text is, otherwise English.

    Parameters
    ----------
    seed : int, default=0
        At least 0.

    Raises
    ------
    ParameterError
        If the seed is not a whole number of at least 0.

    Notes
    -----
    The published comparison is repeated with news of five topics, 900 characters in the median.
    There the lines are 1.6 % of the article on average. A re-post takes O(1) draws.

    Examples
    --------
    >>> model = RepostModel(seed=1)
    >>> model.copy("灯塔今天重新点亮，港口的居民都来观看。", "a3")
    '灯塔今天重新点亮，港口的居民都来观看。（北渡晚报 沈渡）'
    """

    def __init__(self, *, seed: int = 0) -> None:
        self._seed = check_whole(seed, "seed", 0)

    def copy(self, text: str, id: str) -> str:
        """Return a re-post of a text.

        Parameters
        ----------
        text : str
        id : str
            The document's id; together with the seed it decides the draws.

        Returns
        -------
        str
        """
        draws = Draws(f"repost\n{self._seed}\n{check_string(id, 'id')}")
        chinese = is_chinese(check_string(text, "text"))
        head = tail = ""
        if draws.share() >= UNCHANGED:
            place = draws.pick(("head", "tail", "both"))
            if place != "tail":
                head = _write_line(_HEADS[chinese], chinese, draws)
            if place != "head":
                tail = _write_line(_TAILS[chinese], chinese, draws)
        return f"{head}{text}{tail}"


def _write_line(templates: tuple[str, ...], chinese: bool, draws: Draws) -> str:
    return draws.pick(templates).format(
        **{slot: draws.pick(names) for slot, names in _NAMES[chinese].items()},
        year=2010 + draws.draw_below(10),
        month=1 + draws.draw_below(12),
        day=1 + draws.draw_below(28),
        hour=draws.draw_below(24),
        minute=draws.draw_below(60),
    )
