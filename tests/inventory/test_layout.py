"""Rooms, crates and stages use those below them, and no module imports itself through others."""

import ast
import re
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from tests.conftest import ROOT

import neardup

PACKAGE = Path(neardup.__file__).parent
CRATES = ROOT / "crates"


def ranks(floors):
    """Return the floor of each name; names on one line do not use each other."""
    return {name: rank for rank, names in enumerate(floors) for name in names.split()}


#: From the base to the top: each uses those before it.
ROOMS = ranks(
    (
        "base",
        "readers",
        "writers",
        "recipe",
        "options pages",
        "index",
        "papers run",
        "tasks",
        "spark lab server mcp",
        "cli",
    )
)
LAYERS = ranks(("hamming lines", "core", "align", "python web"))
STAGES = ranks(
    (
        "ids",
        "anchors buckets bytes characters constants groups identity similar spilled",
        "ragged",
        "texts normalize",
        "segment",
        "weigh sketch",
        "shingle_frequencies",
        "recipe",
        "candidates",
        "verify",
        "corpus",
        "background judge",
        "cluster",
    )
)


def arrows_up(graph, rank):
    return [
        (name, other)
        for name, others in graph.items()
        for other in others
        if name != other and rank[other] >= rank[name]
    ]


def circles(graph):
    """Return the modules that reach themselves."""
    found, left = set(), dict(graph)
    while True:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            found |= set(error.args[1])
            # Arrows within one circle are cut, to find the others.
            first, second = error.args[1][:2]
            left = {k: v - ({first} if k == second else set()) for k, v in left.items()}
        else:
            return found


# Python.

#: Modules at the top of the package, and the rooms that they belong to.
LOOSE = {"exceptions": "base", "_core": "base", "__main__": "cli"}


def python_modules():
    found = {}
    for path in [*PACKAGE.rglob("*.py"), PACKAGE / "_core.pyi"]:
        parts = ["neardup", *path.relative_to(PACKAGE).with_suffix("").parts]
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = path
    return found


KNOWN = python_modules()


def python_imports(name):
    """Return the modules that a module imports: for types and inside of functions too."""
    found = set()
    for node in ast.walk(ast.parse(KNOWN[name].read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                found.add(full if full in KNOWN else node.module)
    return {module for module in found if module in KNOWN} - {name}


#: The package itself names all tasks.
GRAPH = {name: python_imports(name) for name in sorted(KNOWN) if name != "neardup"}


def room(name):
    top = name.split(".")[1]
    return LOOSE.get(top, top)


def test_rooms_import_rooms_below():
    assert {room(name) for name in GRAPH} == ROOMS.keys()
    assert not {name for name, others in GRAPH.items() if "neardup" in others}
    of_rooms = {name: set() for name in ROOMS}
    for name, others in GRAPH.items():
        of_rooms[room(name)] |= {room(other) for other in others}
    assert not arrows_up(of_rooms, ROOMS)
    assert len(set(ROOMS.values())) <= 10


def test_no_python_module_imports_itself_through_others():
    assert len(GRAPH["neardup.tasks.dedup"]) > 5
    assert not circles(GRAPH)


def test_imports_inside_functions_are_few():
    """A command imports its task there, so that help is quick, and a task what needs NumPy.

    Other imports are at the top of files. The number may only fall.
    """
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = {
        (name, node.lineno)
        for name, path in KNOWN.items()
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, kinds)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("neardup")
    }
    assert len(found) <= 84, sorted(found)


def test_circle_is_seen():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == {"b", "c"}


# Rust.

_PATH = re.compile(r"(?<![\w:\[`(])((?:crate|(?:super::)*super)(?:::\w+)*)(?:::\{|\b)")
_GROUP = re.compile(r"^\s*(?:pub(?:\(\w+\))? )?use ([\w:]+)::\{(.*?)\};", re.MULTILINE | re.DOTALL)
_EXPORT = re.compile(
    r"pub(?:\(\w+\))? use (?!crate|super)([\w:]+)::(?:\{([^{}]*)\}|(\w+));", re.DOTALL
)
_INNER = re.compile(r"\{[^{}]*\}")


def source(path):
    """Return a file without comments and without its tests."""
    text = path.read_text("utf-8").split("#[cfg(test)]\nmod tests")[0]
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)


def rust_modules(crate):
    """Return the file of each module, by its path in the crate."""
    folder = CRATES / f"neardup-{crate}" / "src"
    found = {}
    for path in sorted(folder.rglob("*.rs")):
        parts = path.relative_to(folder).with_suffix("").parts
        if parts != ("lib",):
            found[parts[:-1] if parts[-1] == "mod" else parts] = path
    return found


def paths(text):
    """Yield each path below `crate` or `super`, also those inside of braces."""
    for match in _GROUP.finditer(text):
        group = match[2]
        while _INNER.search(group):
            group = _INNER.sub("", group)
        yield from (f"{match[1]}::{name.strip()}" for name in group.split(",") if name.strip())
    yield from _PATH.findall(text)


def rust_imports(name, text):
    """Return the paths that a module uses, from the crate on."""
    found = set()
    for path in paths(text):
        first, *rest = path.split("::")
        place = list(name)
        if first == "crate":
            place = []
        elif first == "super":
            place.pop()
            while rest[:1] == ["super"]:
                place.pop()
                rest = rest[1:]
        else:
            continue
        found.add((*place, *rest))
    return found


def exports(name, text):
    """Yield the names that a folder hands on, with the module that has them."""
    for path, names, single in _EXPORT.findall(text):
        for each in (names or single).split(","):
            yield (*name, each.strip()), (*name, *path.split("::"))


def graphs(crate):
    """Return for each folder the modules in it that each one of them uses."""
    known = rust_modules(crate)
    texts = {name: source(path) for name, path in known.items()}
    handed_on = dict(each for name, text in texts.items() for each in exports(name, text))

    def module(path):
        path = handed_on.get(path, path)
        while path and path not in known:
            path = handed_on.get(path[:-1], path[:-1])
        return path

    found = {}
    for name, text in texts.items():
        for depth in range(len(name)):
            folder = name[:depth]
            uses = {module(path) for path in rust_imports(name, text)}
            others = {
                other[depth] for other in uses if len(other) > depth and other[:depth] == folder
            }
            own = found.setdefault(folder, {}).setdefault(name[depth], set())
            own |= others - {name[depth]}
    return found


@pytest.mark.parametrize("crate", LAYERS)
def test_crate_uses_lower_crates_without_circles(crate):
    folder = CRATES / f"neardup-{crate}"
    table = tomllib.loads((folder / "Cargo.toml").read_text("utf-8"))["dependencies"]
    declared = {name.removeprefix("neardup-") for name in table if name.startswith("neardup-")}
    text = "".join(map(source, folder.rglob("src/**/*.rs")))
    assert declared == set(re.findall(r"\bneardup_(\w+)(?=::|;| as )", text))
    assert not arrows_up({crate: declared}, LAYERS)
    assert not {name: found for name, each in graphs(crate).items() if (found := circles(each))}


def test_every_crate_has_a_layer():
    names = {path.parent.name.removeprefix("neardup-") for path in CRATES.glob("*/Cargo.toml")}
    assert names == set(LAYERS)


def test_stages_of_the_core_import_earlier_ones():
    stages = graphs("core")[()]
    assert stages.keys() == STAGES.keys()
    assert not arrows_up(stages, STAGES)
    assert {"corpus", "candidates", "verify"} <= stages["judge"]


def test_imports_of_rust_are_seen():
    hamming, core = graphs("hamming")[()], graphs("core")
    assert {"lists", "kernels", "layout"} <= hamming["all_pairs"]
    assert hamming["kernels"] == {"fingerprints"}
    assert {"errors", "recipe", "threads"} <= graphs("python")[()]["corpus"]
    assert {"stores", "statistics"} <= core["candidates",]["candidate_index"]
    # Through a name that the folder hands on.
    assert "schemes" in core["candidates",]["shuffle"]
    text = "use super::{a::b, c::{d, e}};\nuse super::super::f;\nuse crate::g::{h, i};\n"
    found = {path[:2] for path in rust_imports(("x", "y"), text)}
    assert found >= {("x", "a"), ("f",), ("g", "h")}
