"""Text of a PDF page that nobody sees: invisible, white on white, tiny, cut off or covered."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from math import hypot
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium

from neardup.readers.document_text import TINY, is_like

#: A page with more drawings is left alone.
_MOST_DRAWINGS = 10_000
_PAPER = (255, 255, 255)
#: Letters that are squeezed to this share of their width are unreadable.
_NARROW = 0.1
#: A clip of more paths, or of longer ones, is left alone: it need not be a rectangle.
_MOST_PATHS, _MOST_POINTS = 4, 8
#: Pairs of a text and a rectangle after it that are compared on a page.
_MOST_PAIRS = 1 << 22


def find_unseen(page: Any) -> tuple[dict[int, str], int]:
    """Return the kinds of the unseen pieces of text, by address, and the number of pictures.

    White or invisible text may have a drawing or picture below it, as in a recognized scan. It is
    then left alone, as is a page with invisible text only.
    """
    kinds: dict[int, str] = {}
    places = {}
    drawings = []
    covers: list[tuple[int, list[float]]] = []
    texts: list[tuple[int, int, list[float]]] = []
    pictures = 0
    for number in range(pdfium.FPDFPage_CountObjects(page)):
        piece = pdfium.FPDFPage_GetObject(page, number)
        type_ = pdfium.FPDFPageObj_GetType(piece)
        pictures += type_ == pdfium.FPDF_PAGEOBJ_IMAGE
        if type_ != pdfium.FPDF_PAGEOBJ_TEXT:
            is_path = type_ == pdfium.FPDF_PAGEOBJ_PATH
            if not (is_path and _is_white_area(piece)):
                drawings.append(_read_bounds(piece))
            if texts and is_path and _is_cover(piece):
                covers.append((number, _read_bounds(piece)))
            continue
        address, bounds = ctypes.addressof(piece.contents), _read_bounds(piece)
        texts.append((number, address, bounds))
        if kind := _explain_unseen(piece, bounds):
            kinds[address], places[address] = kind, bounds
    under = _find_covered(texts, covers)
    is_layer = len(texts) == len({*under, *(at for at in kinds if kinds[at] == "hidden_text")})
    if is_layer or len(drawings) > _MOST_DRAWINGS:
        return {}, pictures
    grounds = np.array(drawings, float).reshape(-1, 4)
    for address, (left, bottom, right, top) in places.items():
        is_below = (grounds[:, :2] <= (right, top)) & (grounds[:, 2:] >= (left, bottom))
        if kinds[address] != "tiny_text" and is_below.all(axis=1).any():
            del kinds[address]
    return kinds | dict.fromkeys(under, "hidden_text"), pictures


def _find_covered(
    texts: list[tuple[int, int, list[float]]], covers: list[tuple[int, list[float]]]
) -> list[int]:
    """Return the addresses of the pieces of text that a later rectangle covers as a whole."""
    if not covers or len(texts) * len(covers) > _MOST_PAIRS:
        return []
    held = np.array([bounds for _, _, bounds in texts])[:, None]
    over = np.array([bounds for _, bounds in covers])[None]
    later = np.array([number for number, _, _ in texts])[:, None] < [at for at, _ in covers]
    within = (over[..., :2] <= held[..., :2]) & (over[..., 2:] >= held[..., 2:])
    covered = (within.all(axis=2) & later).any(axis=1)
    return [texts[at][1] for at in np.flatnonzero(covered)]


def _is_cover(path: Any) -> bool:
    """Return whether a path is an opaque rectangle, which hides what is below it."""
    fill, _ = _read_numbers(pdfium.FPDFPath_GetDrawMode, path, ctypes.c_int, 2)
    if not fill or pdfium.FPDFPageObj_HasTransparency(path):
        return False
    *_, opacity = _read_numbers(pdfium.FPDFPageObj_GetFillColor, path, ctypes.c_uint, 4)
    return bool(opacity == 255) and 4 <= pdfium.FPDFPath_CountSegments(path) <= 5


def _is_cut_off(text: Any, bounds: list[float]) -> bool:
    """Return whether a piece of text is outside of the rectangle to which its clip is cut."""
    clip = pdfium.FPDFPageObj_GetClipPath(text)
    count = pdfium.FPDFClipPath_CountPaths(clip)
    x, y = ctypes.c_float(), ctypes.c_float()
    for path in range(count if count <= _MOST_PATHS else 0):
        points = []
        length = pdfium.FPDFClipPath_CountPathSegments(clip, path)
        for at in range(length if length <= _MOST_POINTS else 0):
            segment = pdfium.FPDFClipPath_GetPathSegment(clip, path, at)
            pdfium.FPDFPathSegment_GetPoint(segment, x, y)
            points.append((x.value, y.value))
        if points:
            across, up = zip(*points, strict=True)
            (left, right), (bottom, top) = ((min(one), max(one)) for one in (across, up))
            if bounds[0] > right or bounds[2] < left or bounds[1] > top or bounds[3] < bottom:
                return True
    return False


def _explain_unseen(text: Any, bounds: list[float]) -> str | None:
    """Return why nobody sees a piece of text on white paper; None if it is visible."""
    mode = pdfium.FPDFTextObj_GetTextRenderMode(text)
    unpainted = (pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP)
    if mode in unpainted or _is_cut_off(text, bounds):
        return "hidden_text"
    if mode == pdfium.FPDF_TEXTRENDERMODE_FILL and _is_white(text):
        return "white_text"
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(text, matrix)
    scale = abs(matrix.a * matrix.d - matrix.b * matrix.c) ** 0.5
    (size,) = _read_numbers(pdfium.FPDFTextObj_GetFontSize, text, ctypes.c_float, 1)
    _, bottom, _, top = bounds
    if hypot(matrix.a, matrix.b) < _NARROW * hypot(matrix.c, matrix.d):
        return "tiny_text"
    # Some fonts have a unit of their own, and some letters are low.
    return "tiny_text" if max(scale * size, top - bottom) <= TINY else None


def _is_white_area(path: Any) -> bool:
    fill, stroke = _read_numbers(pdfium.FPDFPath_GetDrawMode, path, ctypes.c_int, 2)
    return not stroke and (not fill or _is_white(path))


def _is_white(piece: Any) -> bool:
    *colour, opacity = _read_numbers(pdfium.FPDFPageObj_GetFillColor, piece, ctypes.c_uint, 4)
    return opacity == 0 or is_like(colour, _PAPER)


def _read_bounds(piece: Any) -> list[float]:
    return _read_numbers(pdfium.FPDFPageObj_GetBounds, piece, ctypes.c_float, 4)


def _read_numbers(get: Callable[..., Any], piece: Any, kind: Any, count: int) -> list[Any]:
    """Return what a function of pdfium writes into its arguments; 1 where it writes nothing."""
    parts = [kind(1) for _ in range(count)]
    get(piece, *parts)
    return [part.value for part in parts]
