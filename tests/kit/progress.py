"""Recorders of what a run tells."""

from neardup.base.messages import Message
from neardup.base.progress import Progress


class Notes(Progress):
    """Remembers the notes of a run."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, line: Message) -> None:
        self.notes.append(str(line))
