"""Blocks of lines of a stream, without holding a line that is too long."""

import sys
from collections.abc import Iterable, Iterator
from itertools import chain, groupby

from neardup.base.lazy import _core

#: A block with more lines is cut into pieces of this size.
_LINES, _SHORT_BLOCK = 1 << 16, 1 << 18
_BOM = b"\xef\xbb\xbf"


def read_whole_lines(
    chunks: Iterable[bytes], max_line: int = sys.maxsize
) -> Iterator[bytes | Iterator[bytes]]:
    r"""Yield blocks of complete lines, without the last ``\n`` of each block.

    A line of more than `max_line` bytes is never held whole: it is yielded alone, as an
    iterator of its parts, which are skipped if the caller does not take them. A byte order mark
    is removed. An unfinished last line counts, unless the stream is damaged.
    """
    chunks = iter(chunks)
    tail: list[bytes] = []
    held = 0
    begin = True
    for chunk in chunks:
        if begin:
            chunk = chunk.removeprefix(_BOM)
            begin = False
        end = chunk.find(b"\n")
        if held + (len(chunk) if end < 0 else end) > max_line:
            rest: list[bytes] = []
            parts = _read_until_line_end(chain(tail, [chunk], chunks), rest)
            yield parts
            for _ in parts:
                pass
            tail, held = [], 0
            if not rest:
                return
            chunk = rest[0]
        end = chunk.rfind(b"\n")
        if end >= 0:
            # A view, so that only the join copies.
            yield from _part_long_lines(b"".join([*tail, memoryview(chunk)[:end]]), max_line)
            tail, held = [], 0
        tail.append(chunk[end + 1 :])
        held += len(tail[-1])
    last = b"".join(tail)
    if last:
        yield from _part_long_lines(last, max_line)


def _read_until_line_end(chunks: Iterable[bytes], rest: list[bytes]) -> Iterator[bytes]:
    """Yield the parts of one line, and put what follows it into `rest`."""
    for chunk in chunks:
        end = chunk.find(b"\n")
        if end >= 0:
            rest.append(chunk[end + 1 :])
            yield chunk[:end]
            return
        yield chunk


def _part_long_lines(block: bytes, max_line: int) -> Iterator[bytes | Iterator[bytes]]:
    """Yield lines that are too long apart from the others."""
    if len(block) <= max_line:
        yield block
        return
    for is_long, lines in groupby(block.split(b"\n"), lambda line: len(line) > max_line):
        if is_long:
            yield from (iter([line]) for line in lines)
        else:
            yield b"\n".join(lines)


def cut_blocks(
    blocks: Iterable[bytes | Iterator[bytes]],
) -> Iterator[bytes | Iterator[bytes]]:
    """Cut blocks of very many lines, since each line costs more memory as a Python object."""
    for block in blocks:
        if not isinstance(block, bytes) or _core.count_records(block) < _LINES:
            yield block
            continue
        begin = 0
        while begin < len(block):
            end = block.find(b"\n", begin + _SHORT_BLOCK)
            end = len(block) if end < 0 else end
            yield block[begin:end]
            begin = end + 1
