"""Reads a form: fields, and texts that are pasted or come from files."""

from __future__ import annotations

from fastapi import Request
from starlette.datastructures import FormData, UploadFile

from neardup.base.messages import in_language
from neardup.papers.report.words import Words
from neardup.server.jobs.job_table import JobError
from neardup.server.jobs.paper_check import read_paper
from neardup.server.jobs.uploads import label_of
from neardup.server.pages.words import language_of_request, page_words
from neardup.server.settings import Settings

__all__ = ["Refused", "field", "given_text", "words_of"]

# Long enough for a thesis, short enough for a waiting reader.
_READING_SECONDS = 15.0


class Refused(Exception):
    """A form's input cannot be used; the message is for the page, in its language."""


def words_of(request: Request, form: FormData) -> Words:
    """Return the texts in the language of the response to a form."""
    return page_words(language_of_request(request, form.get("language")))


def field(form: FormData, name: str, *, lines: bool = False) -> str:
    """Return a field, empty if it is missing.

    Parameters
    ----------
    form : FormData
    name : str
    lines : bool, default=False
        Whether it is a text of several lines; browsers send every line end as CR LF.
    """
    value = form.get(name)
    if not isinstance(value, str):
        return ""
    value = value.encode("utf-8", "replace").decode()
    return value.replace("\r\n", "\n") if lines else value.strip()


async def given_text(request: Request, form: FormData, name: str) -> str:
    """Return the text of a field, or of the file that was chosen instead.

    Raises
    ------
    Refused
        If there is no text, or it is too long, or the file has no text.
    """
    words = words_of(request, form)
    settings = request.app.state.settings
    upload = form.get(f"{name}-file")
    text = field(form, name, lines=True)
    if isinstance(upload, UploadFile) and upload.filename and upload.size:
        try:
            text = await request.app.state.store.run(_read, upload, settings)
        except JobError as error:
            raise Refused(in_language(error.detail, words.language)) from None
    if not text.strip():
        raise Refused(words("refused_empty"))
    if len(text) > settings.max_text_characters:
        raise Refused(words("refused_long", count=len(text), most=settings.max_text_characters))
    return text


def _read(upload: UploadFile, settings: Settings) -> str:
    # A small file is in memory; the reader process needs one with a descriptor.
    upload.file.fileno()
    found = read_paper(
        upload.file,
        label_of(upload.filename),
        max_bytes=settings.max_body_bytes,
        max_characters=settings.max_text_characters,
        seconds=min(_READING_SECONDS, settings.request_seconds / 2),
    )
    return found.text
