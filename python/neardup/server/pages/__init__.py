"""The pages of a service: made on the server, with a little JavaScript, and no other site.

====================  ==========================================================
``page``              what every page does: let in, read a form, show errors
``rendering``         a page from its template; ``words``, ``assets``
``form_fields``       what a form has: fields, texts, files
``sides``             two texts beside each other
``compare``           ``/``: compare two texts
``query``             ``/ask``: has the index this text? and add it
``check``             ``/check``: a paper against a library
``clusters``          ``/clusters``: what was dropped for what
``documents``         ``/documents/ID``: a document, its history, its undoing
``status``            ``/status``: sizes, rates, limits
``login``             ``/login``, ``/logout``
``not_found``         all other addresses
====================  ==========================================================

Pages call what the routes of the API call, not the API itself. All works without
JavaScript but to drop a file and to see progress as it goes. A text is data: templates
escape, and show what acts without being seen by its number (`neardup.papers.report.escaping`).
"""

from __future__ import annotations

from fastapi import APIRouter

from neardup.server.pages import (
    assets,
    check,
    clusters,
    compare,
    documents,
    login,
    query,
    status,
)
from neardup.server.pages.not_found import UnknownPage

__all__ = ["router"]

router = APIRouter()
for _part in (compare, query, check, clusters, documents, status, login):
    router.include_router(_part.router)
router.add_api_route("/static/{name}", assets.serve, include_in_schema=False)
# It takes every address that is left: the router has to be the last of the application.
router.routes.append(UnknownPage())
