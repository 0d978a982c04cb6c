"""The form of a check: papers and settings, the same in the API and on the page."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import Form, UploadFile
from pydantic import BaseModel, ConfigDict, Field

from neardup.base.messages import Message
from neardup.exceptions import InputError, ParameterError
from neardup.options.options import LONGEST_PASSAGE, PASSAGE, SHORTEST_PASSAGE
from neardup.papers.cover import (
    COVER_COLUMNS,
    Cover,
    Covers,
    RecordTable,
    make_cover,
    parse_table,
)
from neardup.papers.settings import CheckSettings
from neardup.papers.verdict import Thresholds, parse_thresholds
from neardup.server.jobs.libraries import INDEX
from neardup.server.jobs.uploads import Upload, make_label, receive_uploads
from neardup.server.problems import ProblemError

if TYPE_CHECKING:
    from neardup.server.settings import Settings

_COVER = tuple(one.name for one in fields(Cover))

#: A folder of papers has many files.
FORM_LIMITS: Any = {"max_files": 1000, "max_fields": 16, "max_part_size": 1 << 14}

_Line = Annotated[str, Field(max_length=300)]


class CheckFields(BaseModel):
    """The form of a check; a field of a page that was left empty is as if it were not there."""

    model_config = ConfigDict(extra="forbid")

    file: list[UploadFile] = Field(
        [],
        description="The paper: .docx, .pdf, .txt, .md or .html. Its name is a label, nothing else."
        " The pages send several, or a .zip of them.",
    )
    library: str = Field(description="A name that GET /v1/libraries lists.", examples=[INDEX])
    min_passage_length: int = Field(
        PASSAGE,
        ge=SHORTEST_PASSAGE,
        le=LONGEST_PASSAGE,
        description="Smallest number of Chinese characters that a passage has in common with its"
        " source; twice as many letters of an alphabet.",
    )
    count_shared: bool = Field(
        False,
        description="Whether text that many documents of the library share, such as a declaration,"
        " counts as copied.",
    )
    exclude: list[UploadFile] = Field(
        [],
        description="Files, or a .zip of them. What occurs in them, such as a template, is neither"
        " copied nor counted.",
    )
    pass_below: str | None = Field(
        None, description="The paper passes below this percentage.", examples=["15"]
    )
    reject_above: str | None = Field(
        None,
        description="The paper is rejected above this percentage; between the two it is to be"
        " reviewed.",
        examples=["30"],
    )
    title: _Line | None = Field(None, description="For the cover of the report.")
    author: _Line | None = None
    number: _Line | None = Field(None, description="Of the student or the paper.")
    institution: _Line | None = None
    title_pages: UploadFile | None = Field(
        None,
        description="The same as a table: a CSV with the columns " + ", ".join(COVER_COLUMNS) + ".",
    )
    compare_papers: bool = Field(False, description="Compare several papers with each other too.")
    language: Literal["zh", "en"] | None = Field(
        None, description="Language of the report that `report` names."
    )


CheckForm = Annotated[CheckFields, Form(media_type="multipart/form-data")]


@dataclass(frozen=True)
class Submission:
    """A form of a check, with its files received; the texts of `exclude` are not read yet."""

    papers: Upload
    library: str
    settings: CheckSettings = field(default_factory=CheckSettings)
    compare_papers: bool = False
    exclude: Upload | None = None
    covers: Covers = field(default_factory=Covers)

    def close(self) -> None:
        """Close the files, which frees their space."""
        self.papers.close()
        if self.exclude is not None:
            self.exclude.close()


async def receive_submission(
    form: CheckFields, settings: Settings, *, several: bool = False
) -> Submission:
    """Return what a form asks for.

    If `several`, there may be several papers, or an archive of them. Raise `ProblemError`, with the
    field at fault.
    """
    uploads = [*form.file, *form.exclude, *([form.title_pages] if form.title_pages else [])]
    size, limit = sum(upload.size or 0 for upload in uploads), settings.max_upload_bytes
    thresholds = _read_thresholds(form)
    papers = await receive_uploads(form.file, "file", size, max_bytes=limit, several=several)
    try:
        asked = Submission(
            papers,
            form.library,
            CheckSettings(
                form.min_passage_length,
                count_shared=form.count_shared,
                thresholds=thresholds,
                workers=settings.workers,
            ),
            compare_papers=form.compare_papers,
            covers=Covers(
                _read_cover(form, several=len(papers.labels) > 1),
                await asyncio.to_thread(_read_table, form.title_pages, settings),
            ),
        )
        if form.exclude:
            exclude = await receive_uploads(
                form.exclude, "exclude", size, max_bytes=limit, several=True
            )
            asked = replace(asked, exclude=exclude)
    except BaseException:
        papers.close()
        raise
    return asked


def _read_thresholds(form: CheckFields) -> Thresholds | None:
    try:
        return parse_thresholds(form.pass_below, form.reject_above)
    except ParameterError as error:
        raise _convert_error(error) from None


def _read_cover(form: CheckFields, *, several: bool) -> Cover:
    values = {name: (getattr(form, name) or "").strip() or None for name in _COVER}
    try:
        return make_cover(values, several=several)
    except ParameterError as error:
        raise _convert_error(error) from None


def _convert_error(error: ParameterError) -> ProblemError:
    return ProblemError(422, "Invalid field", error.message, str(error.values["parameter"]))


def _read_table(upload: UploadFile | None, settings: Settings) -> RecordTable | None:
    if upload is None:
        return None
    if (upload.size or 0) > settings.max_body_bytes:
        detail = Message(
            "The field 'title_pages' must be one table of at most {most:,} bytes.",
            most=settings.max_body_bytes,
        )
        raise ProblemError(422, "Wrong form", detail, "title_pages")
    try:
        return parse_table(upload.file.read(), make_label(upload.filename), COVER_COLUMNS)
    except InputError as error:
        raise ProblemError(422, "Wrong form", error.message, "title_pages") from None
