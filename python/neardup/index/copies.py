"""The part of `Index` that writes it out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neardup._engine.ingest import Progress
    from neardup.index.engine import Engine

__all__ = ["Copies"]


class Copies:
    """Methods of :class:`neardup.Index`."""

    _engine: Engine

    def export(
        self,
        kept: str | Path,
        *,
        decisions: str | Path | None = None,
        force: bool = False,
        progress: Progress | None = None,
    ) -> int:
        """Write the kept documents, and why the others are dropped.

        Parameters
        ----------
        kept : str or Path
            Where the kept documents go, in the order of arrival: ``id``, ``text``,
            ``title``, ``source``, ``at`` and the further fields. Format by extension.
        decisions : str, Path or None, default=None
            Where the others go: ``id``, ``kept_id``, ``similarity``, ``measure``,
            ``distance``, ``reason`` (``identical``, ``similar``, or ``freed`` where no
            decision holds) and ``at``.
        force : bool, default=False
            Replace outputs that exist.
        progress : Progress or None, default=None
            Is told what is done.

        Returns
        -------
        int
            Kept documents.

        Raises
        ------
        OutputError
            If an output exists, cannot be written, or is a file of the index itself. Then
            none is left behind.

        Notes
        -----
        Both show the index at one moment. Memory does not grow with the index.
        """
        from neardup._engine.ingest import Progress
        from neardup.index.export import exported
        from neardup.writers import OutputSet

        self._engine.database.refuse_outputs([kept, decisions])
        with OutputSet() as outputs:
            first = outputs.open(kept, force=force)
            second = None if decisions is None else outputs.open(decisions, force=force)
            return exported(self._engine, first, second, progress or Progress())[0]

    def dump(
        self, output: str | Path, *, force: bool = False, progress: Progress | None = None
    ) -> None:
        """Write the whole index, so that :meth:`load` can make it anew.

        Parameters
        ----------
        output : str or Path
            A file of any name, ``.gz`` and ``.zst`` compress; or ``-``.
        force : bool, default=False
            Replace a file that exists.
        progress : Progress or None, default=None
            Is told what is done.

        Raises
        ------
        OutputError
            If the output exists, cannot be written, or is a file of the index itself.

        Notes
        -----
        The index at one moment. Two indexes that hold the same give the same bytes,
        in whichever database they are. Memory does not grow with the index.
        """
        from contextlib import closing

        from neardup._engine.ingest import Progress
        from neardup.index.dump import dumped
        from neardup.writers import OutputSet

        self._engine.database.refuse_outputs([output])
        with OutputSet() as outputs:
            opened = outputs.open_text(output, force=force)
            with closing(dumped(self._engine.database, progress or Progress())) as parts:
                for part in parts:
                    opened.write(part)
