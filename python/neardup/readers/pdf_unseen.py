"""Text of a PDF page that nobody sees: white or invisible on white paper, or tiny."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium

from neardup.readers.extracted import TINY, is_like

#: A page with more drawings is left alone.
_MOST_DRAWINGS = 10_000
_PAPER = (255, 255, 255)


def unseen(page: Any) -> tuple[dict[int, str], int]:
    """Return the kinds of the unseen pieces of text, by address, and the number of pictures.

    White or invisible text is left alone if a drawing or picture may be below it, as in a scan
    with recognized text, and so is a page with invisible text only.
    """
    kinds: dict[int, str] = {}
    places = {}
    drawings = []
    texts = pictures = 0
    for number in range(pdfium.FPDFPage_CountObjects(page)):
        piece = pdfium.FPDFPage_GetObject(page, number)
        type_ = pdfium.FPDFPageObj_GetType(piece)
        pictures += type_ == pdfium.FPDF_PAGEOBJ_IMAGE
        if type_ != pdfium.FPDF_PAGEOBJ_TEXT:
            if not (type_ == pdfium.FPDF_PAGEOBJ_PATH and _is_white_area(piece)):
                drawings.append(_bounds(piece))
            continue
        texts += 1
        if kind := _kind(piece):
            address = ctypes.addressof(piece.contents)
            kinds[address], places[address] = kind, _bounds(piece)
    is_layer = texts == list(kinds.values()).count("hidden_text")
    if is_layer or len(drawings) > _MOST_DRAWINGS:
        return {}, pictures
    grounds = np.array(drawings, float).reshape(-1, 4)
    for address, (left, bottom, right, top) in places.items():
        is_below = (grounds[:, :2] <= (right, top)) & (grounds[:, 2:] >= (left, bottom))
        if kinds[address] != "tiny_text" and is_below.all(axis=1).any():
            del kinds[address]
    return kinds, pictures


def _kind(text: Any) -> str | None:
    """Return why nobody sees a piece of text on white paper; None if it is visible."""
    mode = pdfium.FPDFTextObj_GetTextRenderMode(text)
    if mode == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE:
        return "hidden_text"
    if mode == pdfium.FPDF_TEXTRENDERMODE_FILL and _is_white(text):
        return "white_text"
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(text, matrix)
    scale = abs(matrix.a * matrix.d - matrix.b * matrix.c) ** 0.5
    (size,) = _numbers(pdfium.FPDFTextObj_GetFontSize, text, ctypes.c_float, 1)
    _, bottom, _, top = _bounds(text)
    # Some fonts have a unit of their own, and some letters are low.
    return "tiny_text" if max(scale * size, top - bottom) <= TINY else None


def _is_white_area(path: Any) -> bool:
    fill, stroke = _numbers(pdfium.FPDFPath_GetDrawMode, path, ctypes.c_int, 2)
    return not stroke and (not fill or _is_white(path))


def _is_white(piece: Any) -> bool:
    *colour, opacity = _numbers(pdfium.FPDFPageObj_GetFillColor, piece, ctypes.c_uint, 4)
    return opacity == 0 or is_like(colour, _PAPER)


def _bounds(piece: Any) -> list[float]:
    return _numbers(pdfium.FPDFPageObj_GetBounds, piece, ctypes.c_float, 4)


def _numbers(get: Callable[..., Any], piece: Any, kind: Any, count: int) -> list[Any]:
    """Return what a function of pdfium writes into its arguments; 1 where it writes nothing."""
    parts = [kind(1) for _ in range(count)]
    get(piece, *parts)
    return [part.value for part in parts]
