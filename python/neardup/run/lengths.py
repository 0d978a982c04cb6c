"""Documents that are left alone for their length: kept, and nothing is dropped for one of them."""

from __future__ import annotations

from typing import Any

from neardup.base.lazy import NDArray, np, pa
from neardup.base.messages import Message
from neardup.base.progress import Progress
from neardup.run.document_set import DocumentSet
from neardup.run.run_options import RunOptions


def have_bounds(options: RunOptions) -> bool:
    """Return whether a run leaves documents alone for their length."""
    return options.min_length is not None or options.max_length is not None


def sides_of(texts: pa.LargeStringArray, options: RunOptions) -> NDArray[np.int8]:
    """Return for each text whether it is too short (-1), too long (1) or compared (0)."""
    import pyarrow.compute as pc

    letters: Any = pc.replace_substring_regex(texts, r"[^\pL\pN]+", "")
    lengths = pc.fill_null(pc.utf8_length(letters), 0).to_numpy(zero_copy_only=False)
    sides = np.zeros(len(texts), np.int8)
    if options.min_length is not None:
        sides[lengths < options.min_length] = -1
    if options.max_length is not None:
        sides[lengths > options.max_length] = 1
    return sides


def leave_alone(
    collected: DocumentSet, order: NDArray[np.uint32], sides: NDArray[np.int8]
) -> NDArray[np.uint32]:
    """Return the order without the documents that are left alone, and count these in the input."""
    sides = sides[order]
    of_input = sides[order >= collected.against]
    collected.left_alone = {
        "too_short": int((of_input < 0).sum()),
        "too_long": int((of_input > 0).sum()),
    }
    compared: NDArray[np.uint32] = order[sides == 0]
    return compared


def note_left_alone(collected: DocumentSet, options: RunOptions, progress: Progress) -> None:
    """Report how many documents are left alone."""
    if too_short := collected.left_alone.get("too_short"):
        progress.note(
            Message.counted(
                "{count:,} text of fewer than {least:,} letters and digits is left alone.",
                "{count:,} texts of fewer than {least:,} letters and digits are left alone.",
                count=too_short,
                least=options.min_length,
            )
        )
    if too_long := collected.left_alone.get("too_long"):
        progress.note(
            Message.counted(
                "{count:,} text of more than {most:,} letters and digits is left alone.",
                "{count:,} texts of more than {most:,} letters and digits are left alone.",
                count=too_long,
                most=options.max_length,
            )
        )
