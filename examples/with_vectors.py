"""Same text by neardup, same event by vectors: two steps, each for what it can do.

Usage: python with_vectors.py

neardup drops what was re-posted. What is left may still be several reports of one event in
different words. Vectors of a language model find these, but you have to choose a bound. This
example counts characters instead of calling a model: replace `vectors` by yours.
"""

from __future__ import annotations

import numpy as np

import neardup

_NOTICE = "市图书馆将于周六上午九点重新开放，新增三百个座位，读者凭身份证入馆。"
ARTICLES = [
    {"id": "wire", "text": _NOTICE},
    {"id": "copy", "text": "（本报讯）" + _NOTICE},
    {"id": "own", "text": "周六早上九点起，市民可凭身份证进入重新开放的市图书馆，座位多了三百个。"},
    {"id": "rain", "text": "气象台预计周末有中到大雨，局部有雷电，请市民减少外出。"},
]
#: The lowest cosine of two reports of one event, by these vectors.
LEAST = 0.6


def vectors(texts: list[str]) -> np.ndarray:
    """Return a vector of length 1 for each text: a bag of characters."""
    characters = sorted(set("".join(texts)))
    counts = np.array([[text.count(one) for one in characters] for text in texts], float)
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def main() -> None:
    """Print the texts that are kept, by event."""
    result = neardup.dedup(ARTICLES)
    for row in result.removed.to_pylist():
        print(f"{row['id']}: same text as {row['kept_id']}, {row['similarity']:.2f}")
    kept = result.kept
    rows = vectors([article["text"] for article in kept])
    cosines = rows @ rows.T
    for number, article in enumerate(kept):
        like = [n for n in range(number) if cosines[number, n] >= LEAST]
        event = f"same event as {kept[like[0]]['id']}" if like else "a new event"
        print(f"{article['id']}: {event}")


if __name__ == "__main__":
    main()
