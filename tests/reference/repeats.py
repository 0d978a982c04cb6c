"""repeats: which sentences or paragraphs several documents have, and where.

Two of them are the same if their letters are: see align. One that weighs less than `least` does
not count. All are sorted by hand, so this is for small collections.
"""

import re

from .align import plain, weight
from .normalize import WHITE_SPACE

LINE_ENDS = "\n\r\v\f\x85\u2028\u2029"


def repeats(units, least, documents):
    """Return the repeats and their places.

    `units` has the spans of each document's sentences or paragraphs, as (text, begin, end). A
    repeat is (text, count, documents, document, begin, end), in the order of the first places; a
    place is (letters, document, begin, end), in the order of the documents.
    """
    places_of = {}
    for document, spans in enumerate(units):
        for text, begin, end in spans:
            letters = plain(text)
            if letters and sum(map(weight, letters)) >= least:
                places_of.setdefault(letters, []).append((document, begin, end, text))
    table, places = [], []
    for letters, having_places in places_of.items():
        having = len({document for document, *_ in having_places})
        if having < documents or len(having_places) < 2:
            continue
        document, begin, end, text = having_places[0]
        table.append((text, len(having_places), having, document, begin, end))
        places += [(letters, *place[:3]) for place in having_places]
    return sorted(table, key=lambda row: row[3:5]), sorted(places, key=lambda row: row[1:])


def lines(text):
    """Return the paragraphs of a text of which no line goes on with the next."""
    spans, begin = [], 0
    for line in re.split(f"([{LINE_ENDS}])", text):
        inside = line.strip("".join(WHITE_SPACE))
        first = begin + line.index(inside)
        spans.append((inside, first, first + len(inside)))
        begin += len(line)
    return spans
