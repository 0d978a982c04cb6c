"""Rooms, crates and stages use those below them, and no module imports itself through others."""

import ast
import re
import tomllib
from collections import defaultdict
from functools import cache
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


def check_order(graph, rank):
    """Hold that each name is known and uses only names of lower floors."""
    assert graph.keys() == rank.keys()
    arrows = [(name, other) for name, others in graph.items() for other in others - {name}]
    assert [(name, other) for name, other in arrows if rank[other] >= rank[name]] == []


def circle(graph):
    """Return modules that reach themselves, each through the next; none if there are none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


# Python.

#: Modules at the top of the package, and the rooms that they belong to.
LOOSE = {"exceptions": "base", "_core": "base", "__main__": "cli"}
TREES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): (
        ast.parse(path.read_text("utf-8"))
    )
    for path in [*PACKAGE.rglob("*.py"), PACKAGE / "_core.pyi"]
}


def python_imports(name):
    """Return the modules that a module imports: for types and inside of functions too."""
    found = set()
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {each if each in TREES else node.module for each in full}
    return found & TREES.keys() - {name}


#: The package itself names all tasks.
GRAPH = {name: python_imports(name) for name in TREES.keys() - {"neardup"}}


def test_rooms_import_rooms_below():
    rooms = {}
    for name, others in GRAPH.items():
        assert "neardup" not in others, name
        room, *used = (LOOSE.get(top, top) for top in (n.split(".")[1] for n in (name, *others)))
        rooms.setdefault(room, set()).update(used)
    check_order(rooms, ROOMS)
    assert len(set(ROOMS.values())) <= 10


def test_no_python_module_imports_itself_through_others():
    assert len(GRAPH["neardup.tasks.dedup"]) > 5
    assert circle(GRAPH) == []


def test_imports_inside_functions_are_few():
    """A command imports its task there, so that help is quick, and a task what needs NumPy.

    Other imports are at the top of files. The number may only fall.
    """
    found = {
        (name, node.lineno)
        for name, tree in TREES.items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("neardup")
    }
    assert len(found) <= 84, sorted(found)


# Rust.

USE = re.compile(r"\buse ([^;]+);")
EXPORT = re.compile(r"\bpub(?:\(\w+\))? use (?!crate|super)([^;]+);")
INLINE = re.compile(r"(?<![\w:\[`(])((?:crate|super)(?:::\w+)+)")


def source(path):
    """Return a file without comments and without its tests."""
    text = path.read_text("utf-8").split("#[cfg(test)]\nmod tests")[0]
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)


def rust_modules(crate):
    """Return the text of each module, by its path in the crate."""
    folder = CRATES / f"neardup-{crate}" / "src"
    files = {path.relative_to(folder).with_suffix("").parts: path for path in folder.rglob("*.rs")}
    del files["lib",]
    return {name[: -1 if name[-1] == "mod" else None]: source(p) for name, p in files.items()}


def expanded(uses):
    """Return the paths of declarations with braces.

    >>> expanded(["crate::a::{b, c::{d as e, f}}", "super::g"])
    ['crate::a::b', 'crate::a::c::d', 'crate::a::c::f', 'super::g']
    """
    text = ",".join(uses)
    while group := re.search(r"([\w:]*)\{([^{}]*)\}", text):
        names = ",".join(
            f"{group[1]}{name.strip()}" for name in group[2].split(",") if name.strip()
        )
        text = text[: group.start()] + names + text[group.end() :]
    return [path.split(" as ")[0].strip() for path in text.split(",") if path.strip()]


def absolute(module, path):
    """Return the path from the crate on.

    >>> absolute(("a", "b"), "super::super::c"), absolute(("a", "b"), "crate::d")
    (('c',), ('d',))
    """
    place, parts = list(module), path.split("::")
    if parts[0] == "crate":
        return tuple(parts[1:])
    while parts[:1] == ["super"]:
        place.pop()
        del parts[0]
    return (*place, *parts)


@cache
def graphs(crate):
    """Return for each folder the modules in it that each one of them uses."""
    texts = rust_modules(crate)
    #: The names that a folder hands on, with the module that has them.
    handed_on = {
        (*name, path.split("::")[-1]): absolute(name, path)[:-1]
        for name, text in texts.items()
        for path in expanded(EXPORT.findall(text))
    }

    def module(path):
        path = handed_on.get(path, path)
        while path and path not in texts:
            path = handed_on.get(path[:-1], path[:-1])
        return path

    found = defaultdict(lambda: defaultdict(set))
    for name, text in texts.items():
        paths = [*INLINE.findall(text), *expanded(USE.findall(text))]
        used = [module(absolute(name, p)) for p in paths if p.startswith(("crate::", "super::"))]
        for depth, own in enumerate(name):
            inside = {other[depth] for other in used if other[:depth] == name[:depth] != other}
            found[name[:depth]][own] |= inside - {own}
    return found


def test_crates_use_lower_crates():
    declared = {}
    for path in CRATES.glob("*/Cargo.toml"):
        names = tomllib.loads(path.read_text("utf-8"))["dependencies"]
        crate = path.parent.name.removeprefix("neardup-")
        declared[crate] = {
            name.removeprefix("neardup-") for name in names if name.startswith("neardup-")
        }
        text = "".join(map(source, path.parent.rglob("src/**/*.rs")))
        assert declared[crate] == set(re.findall(r"\bneardup_(\w+)(?=::|;| as )", text))
    check_order(declared, LAYERS)


@pytest.mark.parametrize("crate", LAYERS)
def test_no_rust_module_imports_itself_through_others(crate):
    assert [found for each in graphs(crate).values() if (found := circle(each))] == []


def test_stages_of_the_core_import_earlier_ones():
    check_order(graphs("core")[()], STAGES)


def test_imports_of_rust_are_seen():
    hamming, core = graphs("hamming")[()], graphs("core")
    assert {"lists", "kernels", "layout"} <= hamming["all_pairs"]
    assert hamming["kernels"] == {"fingerprints"}
    assert {"errors", "recipe", "threads"} <= graphs("python")[()]["corpus"]
    assert {"corpus", "candidates", "verify"} <= core[()]["judge"]
    assert {"stores", "statistics"} <= core["candidates",]["candidate_index"]
    # Through a name that the folder hands on.
    assert "schemes" in core["candidates",]["shuffle"]
