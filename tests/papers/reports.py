"""Reports made by hand: a small one in each language, a hostile one, a long one."""

import random
from pathlib import Path

from tests.kit.sentences import written

from neardup.papers.cover import Cover
from neardup.papers.evidence import collect_evidence
from neardup.papers.marks import Marks
from neardup.papers.report import Report, mark_paper
from neardup.papers.results import (
    ExcludedSpan,
    Finding,
    Passage,
    Piece,
    Place,
    Rates,
    Section,
    Source,
)
from neardup.papers.verdict import Thresholds

#: All that breaks pages, in one line.
HOSTILE = (
    "<script>window.broken=1</script></script><img src=x onerror=window.broken=2>"
    "</style></title></textarea>--><!-- {{ 7*7 }} {% raw %} ${7} &lt;&#x27; \"'` "
    "a\u202eb\u2066c\u200bd\ufeff \x00 \x1b[31m \x0b\u2028\u0085 \r end \uffff 🙂 e\u0301"
)


def evidence(report):
    lengths = [source.length for source in report.sources]
    marks = mark_paper(report)
    return list(collect_evidence(report.text, report.passages, lengths, report.pages, marks))


def report(text, sources, matches, *, asides=(), headings=(), **fields):
    """A report with counts that agree, from the passages of each source.

    `sources` are (id, title, text); `matches` are (source, pieces), the pieces as
    (begin, end, source_begin, source_end); `headings` are (title, level).
    """
    matches = sorted(matches, key=lambda match: (match[1][0][0], match[0]))
    marks = Marks(text, asides)
    spans = [
        [piece[:2] for source, pieces in matches if source == number for piece in pieces]
        for number in range(len(sources))
    ]
    characters = [marks.add(of_source) for of_source in spans]
    order = sorted(range(len(sources)), key=lambda number: -characters[number])
    passages = []
    for number, pieces in matches:
        begin, end = pieces[0][0], pieces[-1][1]
        source_begin = min(piece[2] for piece in pieces)
        source_end = max(piece[3] for piece in pieces)
        shown = max(source_begin - 50, 0)
        passages.append(
            Passage(
                begin,
                end,
                order.index(number),
                source_begin,
                source_end,
                0.93,
                int(marks.counts[begin:end].sum()),
                tuple(Piece(*piece) for piece in pieces),
                sources[number][2][shown : source_end + 50],
                shown,
            )
        )
    begins = [(0, "", 0)]
    for title, level in headings:
        begins.append((text.index(f"\n{title}\n", begins[-1][0]) + 1, title, level))
    sections = []
    for (begin, title, level), end in zip(begins, [*begins[1:], (len(text),)], strict=True):
        total = int(marks.counts[begin : end[0]].sum())
        copied = int((marks.copied & marks.counts)[begin : end[0]].sum())
        sections.append(Section(title, level, begin, end[0], total, copied, copied / max(total, 1)))
    copied = int(marks.copied.sum())
    values = {
        "paper": "论文.docx",
        "text": text,
        "characters": marks.total,
        "copied": copied,
        "rates": Rates(
            marks.compute_rate(copied),
            marks.compute_rate(int((marks.copied & ~marks.set_aside).sum())),
            marks.compute_rate(max(characters, default=0)),
        ),
        "similarity": 0.41,
        "sources": tuple(
            Source(
                *sources[number][:2],
                characters[number],
                marks.compute_rate(characters[number]),
                0.75,
                int((marks.select(spans[number]) & (marks.sources == 1)).sum()),
                None if position else 0.41,
                len(sources[number][2]),
                sum(source == number for source, _ in matches),
            )
            for position, number in enumerate(order)
        ),
        "sections": tuple(sections),
        "passages": tuple(passages),
        "asides": tuple(asides),
        "pages": (),
        "library": "papers/",
        "library_documents": len(sources),
        "settings": {"min_passage_length": 20, "candidates": 1000, "strict": True},
        "notes": (),
        "runs": marks.cut_runs(
            [*(spans[number] for number in order), []],
            (bound for part in sections for bound in (part.begin, part.end)),
        ),
    }
    return Report(**values | fields)


def empty():
    """A paper of nothing, of which nothing is copied."""
    return report("", [], [], paper="empty.txt", library_documents=0, settings={}, similarity=None)


def located(text, source_text, *stretches):
    """Return the pieces of stretches of text; each is a pair if its source has other words."""
    pieces = []
    for stretch in stretches:
        piece, source_piece = (stretch, stretch) if isinstance(stretch, str) else stretch
        begin, source_begin = text.index(piece), source_text.index(source_piece)
        pieces.append((begin, begin + len(piece), source_begin, source_begin + len(source_piece)))
    return pieces


def read_texts():
    """Return the texts of the small reports; papers end with a line break, sources do not."""
    parts = Path(__file__).with_name("reports.txt").read_text("utf-8").split("=== ")[1:]
    texts = dict(part.split("\n", 1) for part in parts)
    return {name: t if "SOURCE" not in name else t.rstrip("\n") for name, t in texts.items()}


TEXTS = read_texts()
ZH, EN = TEXTS["ZH"], TEXTS["EN"]
ZH_SOURCE_1, EN_SOURCE = TEXTS["ZH_SOURCE_1"], TEXTS["EN_SOURCE"]


def small_zh(**fields):
    """Three sources, one passage in two moved pieces, two on one place, a quotation."""
    tide, works, river = (TEXTS[f"ZH_SOURCE_{number}"] for number in (1, 2, 3))
    stored = "若能在盐水到达之前六小时得到预报，水库即可蓄满淡水，供水不必中断。"
    sampled = "观测站在三个断面上每隔半小时取样一次，连续取样十五天。"
    quotation = "“河流是城市的母亲，也是城市的镜子。”"
    sources = [
        ("papers/tide-2019.pdf", "河口潮汐与盐度界面的观测", tide),
        ("papers/waterworks.docx", "水厂避咸调度研究", works),
        ("papers/essays/river.txt", None, river),
    ]
    interface = "，表层淡水则向外海扩展，两者之间形成清晰的界面。"
    risen = "大潮期间，海水沿河道底部向上推进", "大潮期间，海水沿河道底部上溯"
    later = "结果显示，底层盐度的峰值比表层晚到约两小时。"
    mixed = "小潮期间界面变得模糊，混合加强，水厂取水口的氯度随之升高。"
    matches = [
        (2, located(ZH, river, quotation[1:-1])),
        (0, located(ZH, tide, tuple(words + interface for words in risen))),
        (0, located(ZH, tide, sampled, later, mixed)),
        (1, located(ZH, works, sampled)),
        (1, located(ZH, works, stored)),
    ]
    begin = ZH.index(quotation)
    fields = {
        "paper": "河口盐水入侵与水厂调度研究.docx",
        "library": "papers/",
        "library_documents": 214,
        "pages": (0, ZH.index("第二章"), ZH.index("我们据此")),
        "notes": ("文件没有声明编码，按 GB18030 读出（很可能正确）。",),
    } | fields
    return report(
        ZH,
        sources,
        matches,
        asides=[
            ExcludedSpan(begin, begin + len(quotation), "quotation"),
            ExcludedSpan(ZH.index("参考文献"), len(ZH), "references"),
        ],
        headings=[
            ("摘要", 1),
            ("第一章　绪论", 1),
            ("第二章　观测与方法", 1),
            ("第三章　调度建议", 1),
            ("参考文献", 1),
        ],
        **fields,
    )


def small_en(**fields):
    """One source, two passages, and what was given to be excluded."""
    form = EN.index("The parish")
    repaired = (
        "Its wheel was {} every autumn, when the water was low, and the miller kept a book of each "
        "repair."
    )
    carried = "In dry years the village carried its grain to the windmill on the hill."
    return report(
        EN,
        [("mills.txt", "The mill at the bend", EN_SOURCE)],
        [
            (0, located(EN, EN_SOURCE, (repaired.format("repaired"), repaired.format("mended")))),
            (0, located(EN, EN_SOURCE, carried)),
        ],
        asides=[ExcludedSpan(form, len(EN) - 1, "given")],
        headings=[("1 Introduction", 1), ("2 Droughts", 1)],
        **{"paper": "mills.md", "library": "sources"} | fields,
    )


def hostile():
    """Paper, source, title, id, notes and settings full of what breaks pages."""
    text = f"{HOSTILE}\n{HOSTILE * 3}\n\n{'x' * 9000}\nשלום {HOSTILE}\r\nend"
    source = HOSTILE * 4
    size = len(HOSTILE)
    line = size + 1
    return report(
        text,
        [(HOSTILE, HOSTILE, source), ("../../etc/<b>", None, source)],
        [
            (0, [(0, size, 0, size)]),
            (1, [(5, size - 5, 5, size - 5)]),
            (0, [(line, line + size, size, 2 * size), (line + size, line + 2 * size, 0, size)]),
            (1, [(line + 3 * size + 3, line + 3 * size + 6000, 0, size)]),
        ],
        asides=[
            ExcludedSpan(2, size, "quotation"),
            ExcludedSpan(size - 4, size + 20, "given"),
            ExcludedSpan(len(text) - 40, len(text), "references"),
        ],
        headings=[(HOSTILE * 3, 1)],
        paper=HOSTILE,
        library=HOSTILE,
        notes=(HOSTILE, "</script><script>window.broken=3</script>"),
        cover=Cover(HOSTILE, HOSTILE, HOSTILE, HOSTILE),
        thresholds=Thresholds(0.1, 0.2),
        settings={HOSTILE: HOSTILE, "flag": False, "rate": 0.5, "count": 3},
        pages=(0, 7, 7, len(text) - 3),
        findings=(
            Finding("look_alikes", 1200, (Place(0, size, 1), *[Place(4, 9, None)] * 60)),
            Finding("hidden_text", 3, (Place(len(text), len(text), 4),)),
            Finding("pictures", 2, (Place(0, 0, 1), Place(7, 7, 3))),
        ),
    )


def long(characters=100_000, passages=400, sources=80, seed=1):
    """A thesis of 100 pages, with passages that overlap now and then."""
    draw = random.Random(seed)
    lines, titles, size = [], [], 0
    while size < characters:
        if len(lines) % 30 == 29:
            lines.append(f"第{len(titles) + 1}章　{written(size, 1)[:-1]}")
            titles.append((lines[-1], 1 + (len(titles) % 3 > 0)))
        else:
            lines.append(written(size, draw.randrange(3, 9)))
        size += len(lines[-1]) + 1
    text = "\n".join(lines) + "\n"
    source_texts = [""] * sources
    step = len(text) // passages
    placed = []
    for begin in range(0, passages * step, step):
        source = draw.randrange(sources)
        end = min(begin + draw.randrange(60, step + 40), len(text))
        source_begin = len(source_texts[source])
        source_texts[source] += text[begin:end] + "。"
        placed.append((source, [(begin, end, source_begin, source_begin + end - begin)]))
    return report(
        text,
        [
            (
                f"library/{number:03}.pdf",
                f"第 {number} 篇：{written(number, 1)[:-1]}",
                source,
            )
            for number, source in enumerate(source_texts)
        ],
        placed,
        headings=titles,
        pages=tuple(range(0, len(text), 1000)),
        asides=[
            ExcludedSpan(begin, begin + 40, "quotation") for begin in range(500, len(text), 5000)
        ],
        library_documents=12_345,
    )
