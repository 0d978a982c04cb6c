"""Common to all pages: access, forms, error pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData, UploadFile
from starlette.requests import ClientDisconnect

from neardup.base.messages import Message, in_language
from neardup.pages.words import Words
from neardup.server.jobs.paper_check import read_paper
from neardup.server.jobs.uploads import make_empty_error, make_label
from neardup.server.pages.rendering import choose_language, render
from neardup.server.problems import ProblemError
from neardup.server.security.auth import require
from neardup.server.settings import Settings

#: Status codes with a specific text; others use the text of 422 or 500.
_WORDED = (401, 403, 404, 409, 413, 422, 429, 500, 503)
_MOST_FIELDS, _MOST_FILES = 64, 4

# Long enough for a thesis, short enough for a waiting reader.
_READING_SECONDS = 15.0

#: Dependencies of pages. A page that changes something also shows something.
READ, WRITE = [Depends(require("read"))], [Depends(require("read", "write"))]


async def _read_form(request: Request) -> AsyncIterator[FormData]:
    """Read a form, in which a pasted text may be as long as a body; close its files at the end."""
    limit = request.app.state.settings.max_body_bytes
    try:
        form = await request.form(
            max_files=_MOST_FILES, max_fields=_MOST_FIELDS, max_part_size=limit
        )
    except ClientDisconnect:
        raise ProblemError(400, "Damaged form", Message("The form was cut off.")) from None
    except (ValueError, LookupError):
        # A charset that is none, and bytes that are not of it.
        raise ProblemError(400, "Damaged form", Message("The form cannot be decoded.")) from None
    try:
        yield form
    finally:
        await form.close()


Form = Annotated[FormData, Depends(_read_form)]


def redirect(path: str) -> Response:
    """Redirect the browser to another page of this service."""
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)


def limit_path(wanted: str) -> str:
    """Return a path of this service, so that a crafted link cannot redirect elsewhere.

    Examples
    --------
    >>> limit_path("/removals?search=a"), limit_path("//evil.example/"), limit_path("https:a")
    ('/removals?search=a', '/', '/')
    """
    # Browsers read a second slash, of either kind, as the start of a host.
    is_own = wanted.startswith("/") and wanted[1:2] not in ("/", "\\")
    return wanted if is_own and wanted.isprintable() else "/"


def render_error(request: Request, error: ProblemError) -> Response:
    """Return an error page in the style of the other pages."""
    status = error.status_code
    kind = status if status in _WORDED else 500 if status >= 500 else 422
    # The API's advice on a missing key does not help a reader.
    is_shown = kind not in (401, 404, 500, 503)
    language, detail = choose_language(request), error.detail
    if language != "en" and not isinstance(detail, Message):
        # Pydantic and Starlette explain in English only.
        wrong = Message("The value of the field '{field}' is not valid.", field=error.field)
        detail = wrong if error.field else ""
    shown = in_language(detail, language) if is_shown else ""
    answer = render(request, "error", status, kind=kind, code=status, detail=shown)
    answer.headers.update(error.headers or {})
    return answer


def choose_words(request: Request, form: FormData) -> Words:
    """Return the texts in the language of the response to a form."""
    return Words(choose_language(request, form.get("language")))


def read_field(form: FormData, name: str, *, lines: bool = False) -> str:
    """Return a field, empty if it is missing.

    In a text of several `lines`, browsers send every line end as CR LF.
    """
    value = form.get(name)
    if not isinstance(value, str):
        return ""
    value = value.encode("utf-8", "replace").decode()
    return value.replace("\r\n", "\n") if lines else value.strip()


async def read_text(request: Request, form: FormData, name: str) -> str:
    """Return the text of a field, or of the file that was chosen instead.

    Raises `ProblemError` if there is no text, or it is too long, or the file has no text.
    """
    settings = request.app.state.settings
    upload = form.get(f"{name}-file")
    text = read_field(form, name, lines=True)
    if isinstance(upload, UploadFile) and upload.filename:
        if not upload.size:
            raise make_empty_error(make_label(upload.filename), f"{name}-file")
        text = await request.app.state.store.run(_read_upload, upload, settings)
    if not text.strip():
        detail = Message("There is no text. Paste one, or choose a file.")
        raise ProblemError(422, "Invalid field", detail, name)
    if len(text) > settings.max_text_characters:
        detail = Message(
            "The text has {count:,} characters; at most {most:,} are accepted.",
            count=len(text),
            most=settings.max_text_characters,
        )
        raise ProblemError(422, "Text too long", detail, name)
    return text


def _read_upload(upload: UploadFile, settings: Settings) -> str:
    # A small file is in memory; the reader process needs one with a descriptor.
    upload.file.fileno()
    paper = read_paper(
        upload.file,
        make_label(upload.filename),
        max_bytes=settings.max_body_bytes,
        max_characters=settings.max_text_characters,
        seconds=min(_READING_SECONDS, settings.request_seconds / 2),
    )
    return paper.text
