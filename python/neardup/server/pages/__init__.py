"""HTML pages, rendered on the server with a little JavaScript, without resources of other sites.

| module | page |
|---|---|
| `page` | common to all pages: access, forms, error pages |
| `rendering` | renders a template, in the reader's language |
| `home` | ``/``: sizes, the last day, what waits |
| `removals` | ``/removals``: a table, one by one; ``/decisions``: what people decided, undo |
| `compare` | ``/compare``: compare two texts |
| `query` | ``/ask``: look a text up in the index, or add it |
| `check` | ``/check``: check a paper against a library |
| `documents` | ``/documents/ID``: a document next to the one that it repeats |
| `docs` | ``/docs``: two examples of the API |
| `login` | ``/login``, ``/logout`` |

Pages call the same functions as the routes of the API, not the API itself. Everything works
without JavaScript, except dropping a file and live progress. Texts are data: templates escape
them, and show invisible characters that have an effect by their code point
(`neardup.pages`).
"""

from __future__ import annotations

from fastapi import APIRouter

from neardup.server.pages import (
    check,
    compare,
    docs,
    documents,
    home,
    login,
    query,
    removals,
)
from neardup.server.pages.rendering import serve_file

router = APIRouter()
for _part in (home, removals, query, compare, check, documents, docs, login):
    router.include_router(_part.router)
router.add_api_route("/static/{name}", serve_file)
