"""What a client asks of a check: papers and settings, the same in the API and on the page."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from starlette.datastructures import FormData, UploadFile

from neardup.base.messages import Message
from neardup.exceptions import InputError, ParameterError
from neardup.papers.align import LEAST, LONGEST, SHORTEST
from neardup.papers.cover import COVER_COLUMNS, Cover, RecordTable, table_of
from neardup.papers.verdict import Thresholds, percentage
from neardup.server.jobs.uploads import Upload, label_of, received, sorted_form
from neardup.server.problems import ProblemError

if TYPE_CHECKING:
    from neardup.server.settings import Settings

__all__ = ["FIELDS", "FILES", "Submission", "submission_of"]

_COVER = tuple(one.name for one in fields(Cover))

#: Names of a form's fields: values, and files.
FIELDS = ("library", "least", "count_shared", "pass_below", "reject_above", *_COVER)
FILES = ("file", "exclude", "covers")

#: Longest value of a cover, in code points.
_LONGEST = 300


@dataclass(frozen=True)
class Submission:
    """What a client asks of a check.

    Parameters
    ----------
    papers : Upload
    library : str
    least : int, default=20
    among : bool, default=False
        Whether papers of one upload are compared with each other too.
    count_shared : bool, default=False
        Whether text that many documents of the library share counts as copied.
    exclude : Upload or None, default=None
        Files with text that is neither copied nor counted.
    thresholds : Thresholds or None, default=None
    cover : Cover, default=Cover()
        Whose paper it is; of several papers, what all have in common.
    covers : RecordTable or None, default=None
        Whose papers they are, for a class.
    """

    papers: Upload
    library: str
    least: int = LEAST
    among: bool = False
    count_shared: bool = False
    exclude: Upload | None = None
    thresholds: Thresholds | None = None
    cover: Cover = field(default_factory=Cover)
    covers: RecordTable | None = None

    def cover_of(self, label: str) -> Cover:
        """Return what is stated of the paper with a label."""
        if self.covers is None:
            return self.cover
        return self.cover.over(Cover(**self.covers.record(label)))

    def notes(self) -> list[Message]:
        """Return notes on papers that the table does not list, and on lines without a paper."""
        return [] if self.covers is None else self.covers.notes(self.papers.labels)

    def close(self) -> None:
        """Close the files, which frees their space."""
        self.papers.close()
        if self.exclude is not None:
            self.exclude.close()


async def submission_of(
    form: FormData, settings: Settings, *, others: Iterable[str] = (), several: bool = False
) -> tuple[Submission, dict[str, str]]:
    """Return what a form asks for, and the values of its fields, `others` included.

    If `several`, there may be several papers, or an archive of them. Raise `ProblemError`, with the
    field at fault.
    """
    values, files = sorted_form(form, (*FIELDS, *others), FILES)
    size = sum(upload.size or 0 for uploads in files.values() for upload in uploads)
    most = settings.max_upload_bytes
    papers = await received(files["file"], "file", size, max_bytes=most, several=several)
    try:
        library = values.get("library")
        if not library:
            detail = Message("The field 'library' is missing. GET /v1/libraries lists the names.")
            raise ProblemError("Invalid field", detail, "library")
        asked = Submission(
            papers,
            library,
            _least(values.get("least")),
            among=bool(values.get("among")),
            count_shared=values.get("count_shared") in ("1", "true"),
            thresholds=_thresholds(values),
            cover=_cover(values, several=len(papers.labels) > 1),
            covers=await asyncio.to_thread(_covers, files["covers"], settings),
        )
        if files["exclude"]:
            exclude = await received(
                files["exclude"], "exclude", size, max_bytes=most, several=True
            )
            asked = replace(asked, exclude=exclude)
    except BaseException:
        papers.close()
        raise
    return asked, values


def _cover(values: dict[str, str], *, several: bool) -> Cover:
    given = {name: values.get(name, "").strip()[:_LONGEST] or None for name in _COVER}
    own = [name for name in _COVER if given[name] is not None and name != "institution"]
    if own and several:
        detail = Message(
            "The field '{field}' is for one paper. For several papers, send a table: 'covers'.",
            field=own[0],
        )
        raise ProblemError("Invalid field", detail, own[0])
    return Cover(**given)


def _least(given: str | None) -> int:
    if not given:
        return LEAST
    # Only ASCII digits, as in JSON, and only a few.
    is_number = given.isascii() and given.isdecimal() and len(given) <= 6
    if not is_number or not SHORTEST <= int(given) <= LONGEST:
        detail = Message(
            "The field 'least' must be a whole number from {least} to {most}.",
            least=SHORTEST,
            most=LONGEST,
        )
        raise ProblemError("Invalid field", detail, "least")
    return int(given)


def _thresholds(values: dict[str, str]) -> Thresholds | None:
    try:
        low, high = (
            percentage(name, values.get(name) or None) for name in ("pass_below", "reject_above")
        )
        return None if low is None and high is None else Thresholds(low, high)
    except ParameterError as error:
        field = str(error.values["parameter"])
        raise ProblemError("Invalid field", error.message, field) from None


def _covers(uploads: list[UploadFile], settings: Settings) -> RecordTable | None:
    if not uploads:
        return None
    upload = uploads[0]
    if len(uploads) > 1 or (upload.size or 0) > settings.max_body_bytes:
        detail = Message(
            "The field 'covers' must be one table of at most {most:,} bytes.",
            most=settings.max_body_bytes,
        )
        raise ProblemError("Wrong form", detail, "covers")
    try:
        return table_of(upload.file.read(), label_of(upload.filename), COVER_COLUMNS)
    except InputError as error:
        raise ProblemError("Wrong form", error.message, "covers") from None
