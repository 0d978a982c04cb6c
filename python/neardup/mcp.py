"""An MCP server: tools by which agents find and explain near-duplicate texts. They only read.

A model reads the docstring of a tool: the question it answers, when to use it, its cost.
"""

from __future__ import annotations

import inspect
import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import anyio
import numpy as np
import uvicorn
from anyio import from_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_PARAMS, PARSE_ERROR, ErrorData, JSONRPCError, ToolAnnotations
from pydantic import Field, ValidationError

from neardup.base import __version__
from neardup.base.confinement import confined_to
from neardup.base.locations import is_index
from neardup.base.messages import N_, Message
from neardup.base.progress import Progress
from neardup.base.validation import bad, check_path, check_whole, show_value
from neardup.exceptions import InputError, NeardupError, ParameterError
from neardup.index import Index
from neardup.options.signatures import complete_options, suggestions
from neardup.papers.paper_check import check
from neardup.readers import Sources, TableSource, open_sources, open_table
from neardup.readers.file_text import read_bytes
from neardup.readers.input_files import list_files_below
from neardup.recipe.recipe import BuiltIn
from neardup.recipe.text_inputs import checked_text
from neardup.run.documents import describe_documents
from neardup.run.pipeline import Pipeline
from neardup.run.run_options import RunOptions
from neardup.tasks.compare import compare
from neardup.tasks.dedup import dedup
from neardup.tasks.explain import explain

#: How many items of one kind an answer lists.
Limit = Annotated[int, Field(ge=1, le=1000)]
#: Code points that an answer shows of a text, and that the texts of a call may have.
_EXCERPT, _CHARACTERS = 300, 1_000_000


class Cancellable(Progress):
    """Ends a run in a worker thread once its request is cancelled."""

    def advance(self, *_: Any) -> None:
        from_thread.check_cancelled()


def _within_folders(tool: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Let a tool open only what is below its folders, whatever links are put in between."""

    @wraps(tool)
    def run(self: Tools, *arguments: Any, **options: Any) -> dict[str, Any]:
        with confined_to(self.folders):
            return tool(self, *arguments, **options)

    return run


class Tools:
    """The tools, with the folders whose files they may read."""

    def __init__(self, folders: list[str]) -> None:
        self.folders = [Path(folder).resolve() for folder in folders]
        # A relative path begins in a folder, or with its name.
        parents = [Path(os.path.abspath(folder)).parent for folder in folders]
        self._bases = [*self.folders, *parents]
        for folder in self.folders:
            if not folder.is_dir():
                raise bad("folders", "an existing folder", str(folder))

    @_within_folders
    def find_duplicates(
        self,
        paths: list[str] | None = None,
        texts: list[str] | None = None,
        threshold: float | None = None,
        recipe: BuiltIn = "general",
        ignore: list[str] | None = None,
        text_field: str | None = None,
        limit: Limit = 10,
        offset: Annotated[int, Field(ge=0)] = 0,
        members: Limit = 3,
    ) -> dict[str, Any]:
        """Find groups of near-duplicate documents in files or among texts.

        Use it to see which of many documents repeat each other. Give `paths` (files or folders
        with JSON lines, Parquet, Arrow, CSV, text, Markdown, HTML, Word or PDF) or `texts`. The
        first document of each group is kept. The others are its duplicates, with their
        similarity to it. The answer has `limit` groups from `offset` on, the largest first, with
        `members` duplicates each; `groups_total` and `duplicates_total` are the full counts.
        `without_features` counts documents with nothing to compare: empty ones, and with the
        recipe bkdr those without word/tag tokens.
        Leave `threshold` (above 0, at most 1) and `recipe` out unless the user asks for them.
        `ignore` names what varies and does not count, for logs and counters: numbers, dates, links,
        names, punctuation, or a regular expression.
        `text_field` is the field of the text if it is not text, content or body.

        Cost: each call reads everything again, some 10 MB a second. So ask for more with one
        larger `limit` or `members` (up to 1000) rather than with many calls.
        """
        given: dict[str, Any] = {"threshold": threshold, "recipe": recipe, "ignore": ignore or ()}
        given["text_field"] = text_field
        options = RunOptions({**complete_options(dedup, given), "progress": Cancellable()})
        if bool(paths) == bool(texts):
            raise ParameterError(Message("Give either paths or texts, at least one."))
        _check_texts({f"texts[{number}]": text for number, text in enumerate(texts or ())})
        files = [self._readable("paths", path) for path in paths or ()]
        read = options.reader
        source: Sources | TableSource = (
            open_sources(files, **read) if files else open_table(texts, **read)
        )
        pipeline = Pipeline(options)
        collected = pipeline.read(source, looks_up=True)
        decided = pipeline.decide(collected)
        all_kept_for, similarity, *_ = decided.columns()
        dropped, similarity = np.flatnonzero(all_kept_for >= 0), similarity.round(4)
        kept_for = all_kept_for[dropped]
        kept, sizes = np.unique(kept_for, return_counts=True)
        page = np.lexsort((kept, -sizes))[offset : offset + limit]
        shown = [(kept[at], dropped[kept_for == kept[at]][:members], int(sizes[at])) for at in page]
        numbers = {int(number) for one, listed, _ in shown for number in (one, *listed)}
        found, ids = describe_documents(source, sorted(numbers), _EXCERPT), collected.ids.column()

        def document(number: Any, **more: Any) -> dict[str, Any]:
            text, id = found[int(number)], ids[int(number)].as_py()
            return {"id": id} | _excerpt(text["text"], text["length"]) | more

        groups = [
            {
                "kept": document(one),
                "duplicates_total": size,
                "duplicates": [document(n, similarity=similarity.item(n)) for n in listed],
            }
            for one, listed, size in shown
        ]
        end = offset + len(groups)
        return {
            "documents": len(all_kept_for),
            "duplicates": len(dropped),
            "without_features": int((collected.corpus.features() == 0).sum()),
            "groups_total": len(kept),
            "groups": groups,
            "next_offset": end if end < len(kept) else None,
            "problems_total": pipeline.problem_count,
            "problems": list(map(str, pipeline.problems[:5])),
            "notes": list(map(str, source.notes)) if isinstance(source, Sources) else [],
        }

    @_within_folders
    def check_text(self, text: str, path: str, limit: Limit = 10) -> dict[str, Any]:
        """Tell whether a text, or part of it, is already among stored documents.

        Use it before a text is added or published, or to find its sources. `path` is an index made
        by `neardup index`, or a folder or file. For an index the answer lists the documents that
        the whole text repeats; if there are none, the most similar ones (`near_misses`). For a
        folder it lists each passage that is in a document, and the `rate`: the share of the text
        that is copied. A passage has at least about 20 Chinese characters or 40 letters. At most
        `limit` of each are listed.

        Cost: an index answers in milliseconds, whatever its size. Each call reads a folder whole:
        put many documents into an index.
        """
        _check_texts({"text": text})
        place = self._readable("path", path)
        if is_index(place):
            with Index(place, must_exist=True) as index:
                found = index.query(text, k=1 << 31)
                near = [] if found else index.near_misses(text)
                stored = index.get_many([match.id for match in (*found[:limit], *near)])
            listed = [
                _fields(match, "id similarity measure identical")
                | _excerpt(stored[match.id].text or "")
                for match in (*found[:limit], *near)
                if match.id in stored
            ]
            total = {"found": bool(found), "documents_total": len(found)}
            return total | {"documents" if found else "near_misses": listed}
        report = check(read_bytes(text.encode(), "text.txt"), place, progress=Cancellable())
        return {
            "found": bool(report.sources),
            "rate": report.rates and round(report.rates.total, 4),
            "documents_total": len(report.sources),
            "documents": [_fields(one, "id title rate passages") for one in report.sources[:limit]],
            "passages_total": sum(source.passages for source in report.sources),
            "passages": [
                {"id": report.sources[one.source].id}
                | _fields(one, "begin end similarity")
                | _excerpt(report.text[one.begin : one.end])
                | {"in_document": _excerpt(one.source_text)}
                for one in report.passages[:limit]
            ],
            "notes": list(map(str, report.notes)),
        }

    def compare_texts(self, a: str, b: str, limit: Limit = 10) -> dict[str, Any]:
        """Compare two texts: are they near-duplicates, how similar, and where do they differ?

        Use it for two texts that you have. `verdict` is a sentence with the reason;
        `containment_a` is the share of `a` that is in `b`. The answer lists at most
        `limit` (up to 1000) differences by words and common passages, in the order of `a`.

        Cost: milliseconds for articles, seconds for books.
        """
        _check_texts({"a": a, "b": b})
        pair = compare(a, b, passages=True)
        passages, differences = pair.passages or (), pair.differences or ()
        return _fields(pair, "duplicate similarity edit_similarity containment_a containment_b") | {
            "verdict": str(pair.verdict),
            "differences_total": len(differences),
            "differences": [
                {"a": _excerpt(one.text), "b": _excerpt(one.source_text), "moved": one.moved}
                for one in differences[:limit]
            ],
            "passages_total": len(passages),
            "passages": [
                {"begin_a": one.begin, "begin_b": one.source_begin} | _excerpt(one.text)
                for one in passages[:limit]
            ],
        }

    def explain_fingerprint(
        self, text: str, recipe: BuiltIn = "improved", limit: Limit = 20
    ) -> dict[str, Any]:
        """Explain the fingerprint of a text: its words with their tags and weights.

        Use it to see which words decide. The `limit` (up to 1000) heaviest features are listed.

        Cost: milliseconds for articles, seconds for books.
        """
        _check_texts({"text": text})
        explained = explain(text, recipe=recipe).a
        shown = explained.features[:limit]
        return {
            "fingerprint": explained.fingerprint and explained.fingerprint.written("hex"),
            "words_total": len(explained.words),
            "features_total": len(explained.features),
            "features": [_fields(one, "word tag occurrences score weight") for one in shown],
        }

    def _readable(self, name: str, path: str) -> str:
        """Return the path of a file or folder below the folders, with links resolved."""

        def is_inside(place: str | Path) -> bool:
            return any(Path(os.path.realpath(place)).is_relative_to(f) for f in self.folders)

        for place in (base / check_path(path, name) for base in self._bases):
            # Nobody may write to a pipe, and the call would wait for ever.
            if is_inside(place) and (os.path.isfile(place) or os.path.isdir(place)):
                below = list_files_below(str(place)) if place.is_dir() else []
                # Readers follow links to files, but not those to folders.
                if all(is_inside(place / file) for file in below):
                    return os.path.realpath(place)
        folders = ", ".join(map(str, self.folders)) or Message("a folder that the server is given")
        expected = N_("a file or folder below {folders}, without links out of there")
        raise bad(name, expected, path, folders=folders)


class _Server(MCPServer[Any]):
    """Says in neardup's words which argument is wrong, and answers lines that are not messages."""

    async def call_tool(self, name: str, *rest: Any, **more: Any) -> Any:
        """Call a tool; of wrong arguments, the first is named."""
        try:
            return await super().call_tool(name, *rest, **more)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            raise ToolError(
                f"Error executing tool {name}: {_of_argument(error.__cause__, name)}"
            ) from error

    async def run_stdio_async(self) -> None:
        """Serve standard input and output."""
        low = self._lowlevel_server
        async with stdio_server() as (lines, write), anyio.create_task_group() as tasks:
            send, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()

            async def pass_on() -> None:
                async with send:
                    async for item in lines:
                        if isinstance(item, Exception):
                            await write.send(SessionMessage(_of_line(item)))
                        else:
                            await send.send(item)

            tasks.start_soon(pass_on)
            await low.run(messages, write, low.create_initialization_options())
            tasks.cancel_scope.cancel()


def create_server(tools: Tools) -> MCPServer[Any]:
    """Return the server of the tools."""
    folders = ", ".join(map(str, tools.folders)) or "none, so give texts"
    hints = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    made = []
    for name in ("find_duplicates", "check_text", "compare_texts", "explain_fingerprint"):
        tool = Tool.from_function(_tool_errors()(getattr(tools, name)), annotations=hints)
        arguments = tool.fn_metadata.arg_model
        arguments.model_config["extra"] = "forbid"
        arguments.model_rebuild(force=True)
        tool.parameters = arguments.model_json_schema(by_alias=True)
        made.append(tool)
    return _Server(
        "neardup",
        version=__version__,
        instructions="Finds near-duplicate texts and explains each decision, in Chinese and any "
        f"other language. Only reads. Folders that paths may be in: {folders}.",
        log_level="WARNING",
        tools=made,
    )


def serve_http(server: MCPServer[Any], port: int, started: Callable[[str], None]) -> None:
    """Serve streamable HTTP at a port of this machine only, until a signal."""
    try:
        listener = socket.create_server(("127.0.0.1", check_whole(port, "http", 0, 65535)))
    except OSError as error:
        raise bad("http", "a port that is free", port) from error
    # Uvicorn raises its signals again after it has stopped.
    with listener, suppress(KeyboardInterrupt):
        started(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp")
        # JSON may write a code point in twelve bytes.
        app = server.streamable_http_app(max_request_body_size=12 * _CHARACTERS)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


@contextmanager
def _tool_errors() -> Iterator[None]:
    """Raise neardup's errors as errors that a model reads, with their own sentences."""
    try:
        yield
    except NeardupError as error:
        raise ToolError(str(error)) from error


def _of_argument(error: ValidationError, tool: str) -> str:
    """Return a sentence on the first fault that Pydantic found in the arguments of a call."""
    fault = error.errors(include_url=False)[0]
    name, *steps = fault["loc"]
    place = "".join([str(name), *(f"[{step}]" for step in steps)])
    if fault["type"] == "extra_forbidden":
        known = inspect.signature(getattr(Tools, tool)).parameters
        if near := suggestions(place, known) or get_close_matches(place, known, 1):
            return Message(
                "The tool has no parameter '{parameter}'. Did you mean '{name}'?",
                parameter=place,
                name=near[0],
            )
        return Message("The tool has no parameter '{parameter}'. Leave it out.", parameter=place)
    if fault["type"] == "missing":
        return Message("{parameter:named} must be given.", parameter=place)
    return Message(
        "{parameter:named} must be {expected}. Got {value} instead.",
        parameter=place,
        expected=fault["msg"].removeprefix("Input should be "),
        value=show_value(fault["input"]),
    )


def _of_line(error: Exception) -> JSONRPCError:
    """Return the answer to a line that is not a message, with its id if it has one."""
    reason: str = Message("The line must be a message of JSON-RPC 2.0, in Unicode.")
    code, id = PARSE_ERROR, None
    if isinstance(error, ValidationError):
        found = error.errors(include_url=False)[0]["input"]
        with suppress(ValueError, RecursionError):
            # Python reads lone surrogates, which Pydantic refuses.
            found = json.loads(found) if isinstance(found, str) else found
        try:
            if isinstance(found, dict) and type(found.get("id")) in (int, str):
                _check_unicode(found["id"], "id")
                id = found["id"]
            _check_unicode(found, "")
        except InputError as lone:
            code, reason = INVALID_PARAMS, lone.message
    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=code, message=str(reason)))


def _check_unicode(value: Any, place: str) -> None:
    """Raise InputError for the first text in a value of JSON that has a lone surrogate."""
    if isinstance(value, str):
        checked_text(value, place.removeprefix("params.arguments."))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            _check_unicode(item, f"{place}[{number}]")
    elif isinstance(value, dict):
        for name, item in value.items():
            _check_unicode(name, f"a name in {place or 'the message'}")
            _check_unicode(item, f"{place}.{name}" if place else name)


def _check_texts(texts: dict[str, str]) -> None:
    """Raise if the texts of a call are too long together, or one is not a text."""
    lengths = {name: len(checked_text(text, name)) for name, text in texts.items()}
    if sum(lengths.values()) > _CHARACTERS:
        longest = max(lengths, key=lambda name: lengths[name])
        expected = N_("short enough that all texts of the call have at most {most:,} characters")
        raise bad(longest, expected, sum(lengths.values()), most=_CHARACTERS)


def _fields(item: object, names: str) -> dict[str, Any]:
    """Return some fields of a result for JSON."""
    values = {name: getattr(item, name) for name in names.split()}
    return {k: round(v, 4) if isinstance(v, float) else v for k, v in values.items()}


def _excerpt(text: str, length: int | None = None) -> dict[str, Any]:
    """Return the beginning of a text on one line, its length, and whether it is cut."""
    length = len(text) if length is None else length
    line = " ".join(text[:_EXCERPT].split())
    return {"text": line, "characters": length, "cut": length > _EXCERPT}
