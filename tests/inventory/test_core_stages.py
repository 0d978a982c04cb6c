"""A module of the core imports shared types and earlier stages, and no two import each other."""

import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "crates/neardup-core/src"

#: Top-level modules: each may import those before it. Modules on one line know nothing of
#: each other.
STAGES = (
    "error",
    "anchors buckets bytes spill",
    "blob_file",
    "texts normalize",
    "segment",
    "weigh sketch align",
    "recipe repeats",
    "candidates",
    "verify",
    "corpus",
    "background judge",
    "cluster",
)

RANK = {name: rank for rank, names in enumerate(STAGES) for name in names.split()}

_USE = re.compile(r"^(?:pub(?:\([^)]*\))? )?use ([^;]+);", re.MULTILINE)
_INLINE = re.compile(r"(?<![\w:\[`(])crate::((?:\w+::)*\w+)")


def _modules() -> dict[tuple[str, ...], Path]:
    """The path of each module, such as ``("candidates", "search")``, and its file."""
    found = {}
    for file in SOURCE.rglob("*.rs"):
        parts = file.relative_to(SOURCE).with_suffix("").parts
        found[parts[:-1] if parts[-1] in ("mod", "lib") else parts] = file
    return found


MODULES = _modules()


def _flat(tree: str) -> Iterator[tuple[str, ...]]:
    """Yield the paths of a use tree without spaces, such as ``a::{b,c::{self,d}}``."""
    head, brace, rest = tree.partition("{")
    prefix = tuple(head.split("::"))
    if not brace:
        yield prefix
        return
    depth, start = 0, 0
    inner = rest[: rest.rindex("}")] + ","
    for at, character in enumerate(inner):
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            if at > start:
                for path in _flat(inner[start:at]):
                    yield prefix[:-1] + path
            start = at + 1


def _uses(module: tuple[str, ...], *, public: bool | None = None) -> Iterator[tuple[str, ...]]:
    """Yield what a module uses of this crate, by absolute path; without its tests."""
    text = MODULES[module].read_text("utf-8").split("#[cfg(test)]\nmod tests")[0]
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    for found in _USE.finditer(text):
        if public is not None and found.group(0).startswith("pub") != public:
            continue
        tree = re.sub(r"\s+", "", re.sub(r" as \w+", "", found.group(1)))
        for full in _flat(tree):
            path = full
            base = module
            if path[0] == "crate":
                yield path[1:]
            elif path[0] in ("super", "self"):
                while path and path[0] == "super":
                    path, base = path[1:], base[:-1]
                yield base + (path[1:] if path and path[0] == "self" else path)
            elif module + path[:1] in MODULES:
                yield module + path
    if public is None:
        for found in _INLINE.finditer(_USE.sub("", text)):
            yield tuple(found.group(1).split("::"))


def _exports() -> dict[tuple[str, ...], tuple[str, ...]]:
    """Where the names that modules export again come from."""
    exports = {}
    for module in MODULES:
        for path in _uses(module, public=True):
            exports[(*module, path[-1])] = path
    return exports


EXPORTS = _exports()


def _module_of(path: tuple[str, ...]) -> tuple[str, ...]:
    """The module in which an item is defined, through all that export it again."""
    for _ in range(9):
        if path not in EXPORTS or EXPORTS[path] == path or path in MODULES:
            break
        path = EXPORTS[path]
    while path not in MODULES:
        path = path[:-1]
    return path


def _imports(module: tuple[str, ...]) -> set[tuple[str, ...]]:
    return {_module_of(path) for path in _uses(module)} - {module, ()}


def test_every_module_is_of_a_stage():
    assert {module[0] for module in MODULES if module} == set(RANK)


def test_a_stage_imports_earlier_ones_only():
    wrong = [
        f"{'::'.join(module)} imports {'::'.join(other)}"
        for module in MODULES
        if module
        for other in sorted(_imports(module))
        if other[0] != module[0] and RANK[other[0]] >= RANK[module[0]]
    ]
    assert not wrong


def test_no_modules_import_each_other():
    graph = {
        module: {other for other in _imports(module) if other != module[: len(other)]}
        for module in MODULES
        # A module that holds others names all of them.
        if not any(other[:-1] == module for other in MODULES if other)
    }
    list(TopologicalSorter(graph).static_order())


def test_the_check_sees_through_names_that_are_exported_again():
    search = ("candidates", "search")
    assert _module_of(("candidates", "Search")) == search
    assert search in _imports(("judge",))
    assert ("verify", "verifier") in _imports(("judge",))
