"""The pages of a service: made on the server, with a little JavaScript, and no other site.

====================  ==========================================================
``page``              what every page does: let in, read a form, show errors
``rendering``         a page from its template; ``words``, ``assets``
``given``             what a form has: fields, texts, files
``sides``             two texts beside each other
``comparing``         ``/``: compare two texts
``asking``            ``/ask``: has the index this text? and add it
``checking``          ``/check``: a paper against a library
``clusters``          ``/clusters``: what was dropped for what
``documents``         ``/documents/ID``: a document, its history, its undoing
``status``            ``/status``: sizes, rates, limits
``signing_in``        ``/login``, ``/logout``
``unknown``           all other addresses
====================  ==========================================================

Pages call what the routes of the API call, not the API itself. All works without
JavaScript but to drop a file and to see progress as it goes. A text is data: templates
escape, and show what acts without being seen by its number (`neardup.papers.report.escaping`).
"""

from __future__ import annotations

from fastapi import APIRouter

from neardup.server.pages import (
    asking,
    assets,
    checking,
    clusters,
    comparing,
    documents,
    signing_in,
    status,
)
from neardup.server.pages.unknown import UnknownPage

__all__ = ["router"]

router = APIRouter()
for _part in (comparing, asking, checking, clusters, documents, status, signing_in):
    router.include_router(_part.router)
router.add_api_route("/static/{name}", assets.serve, include_in_schema=False)
# It takes every address that is left: the router has to be the last of the application.
router.routes.append(UnknownPage())
