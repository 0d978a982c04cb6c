"""Arrows between modules point down, and none runs in a circle."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import neardup

ROOT = Path(neardup.__file__).parent

#: Rooms from the base to the top: each imports those before it. Rooms on one floor do not import
#: each other.
FLOORS = (
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
RANK = {name: rank for rank, names in enumerate(FLOORS) for name in names.split()}

#: Modules at the top of the package, and the rooms that they belong to.
LOOSE = {"exceptions": "base", "_core": "base", "__main__": "cli"}


def modules():
    found = {}
    for path in [*ROOT.rglob("*.py"), ROOT / "_core.pyi"]:
        parts = ["neardup", *path.relative_to(ROOT).with_suffix("").parts]
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = path
    return found


KNOWN = modules()


def imports(name):
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
GRAPH = {name: imports(name) for name in sorted(KNOWN) if name != "neardup"}


def room(name):
    top = name.split(".")[1]
    return LOOSE.get(top, top)


def test_each_module_is_in_a_room_of_at_most_ten_floors():
    assert {room(name) for name in GRAPH} == RANK.keys()
    assert len(FLOORS) <= 10


def test_no_module_imports_from_the_package_itself():
    assert not {name for name, others in GRAPH.items() if "neardup" in others}


def test_no_arrow_points_up():
    wrong = {
        (name, other)
        for name, others in GRAPH.items()
        for other in others
        if room(name) != room(other) and RANK[room(other)] >= RANK[room(name)]
    }
    assert not wrong


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
    assert len(found) <= 110, sorted(found)


def circles(graph):
    """Return the modules that reach themselves."""
    found, left = set(), dict(graph)
    while True:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            circle = set(error.args[1])
            found |= circle
            # Arrows within one circle are cut, to find the others.
            first, second = error.args[1][:2]
            left = {k: v - ({first} if k == second else set()) for k, v in left.items()}
        else:
            return found


def test_no_module_imports_itself_through_others():
    assert len(GRAPH["neardup.tasks.dedup"]) > 5
    assert not circles(GRAPH)


def test_a_circle_is_seen():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == {"b", "c"}


@pytest.mark.parametrize("name", [name for name in KNOWN if name.startswith("neardup.base.")])
def test_the_base_imports_nothing_above(name):
    assert {room(other) for other in GRAPH[name]} <= {"base"}
