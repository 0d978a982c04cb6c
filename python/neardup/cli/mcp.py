"""``neardup mcp``: the tools of an agent."""

from __future__ import annotations

from typing import Annotated

from neardup.base.extras import require
from neardup.base.messages import N_, Message
from neardup.cli.terminal import print_message
from neardup.options import options as o


def run(
    *,
    folders: Annotated[
        list[str] | None,
        o.Argument("Folders whose files the tools may read.", metavar="[FOLDER...]"),
    ],
    http: Annotated[
        int | None,
        o.Option(
            "Serve streamable HTTP at this port of this machine. 0 takes a free one.",
            "Service",
            metavar="PORT",
        ),
    ],
) -> None:
    """Offer tools to agents by the Model Context Protocol. They only read.

    Examples:
        neardup mcp articles/
        neardup mcp articles/ sources/ --http 8766
    """
    require(N_("An MCP server"), "mcp", "mcp.server.mcpserver", "sqlalchemy")
    from neardup.mcp import Tools, create_server, serve_http

    server = create_server(Tools(folders or []))
    if http is None:
        server.run()
    else:
        serve_http(
            server, http, lambda url: print_message(Message("serving at {address}", address=url))
        )
