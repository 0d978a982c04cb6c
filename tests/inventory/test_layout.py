"""Arrows between modules point down, and none runs in a circle."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import neardup

ROOT = Path(neardup.__file__).parent

#: Folders from the base to the top: each imports those before it. Folders on one line do not
#: import each other. The tasks are the modules at the top.
LAYERS = (
    "exceptions",
    "base",
    "readers",
    "writers",
    "recipe",
    "options",
    "pages",
    "index",
    "papers",
    "run",
    "review",
    "tasks",
    "spark lab server mcp",
    "cli",
    "__main__",
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names.split()}


def modules():
    found = {}
    for path in ROOT.rglob("*.py"):
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
        elif isinstance(node, ast.ImportFrom) and node.module == "neardup":
            # The package gives a name by importing its module.
            found |= {
                neardup._HOMES.get(alias.name, f"neardup.{alias.name}") for alias in node.names
            }
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                found.add(full if full in KNOWN else node.module)
    return {module for module in found if module in KNOWN} - {name, "neardup"}


#: The package itself names all tasks.
GRAPH = {name: imports(name) for name in sorted(KNOWN) if name != "neardup"}


def layer(name):
    top = name.split(".")[1]
    return top if (ROOT / top).is_dir() or top in RANK else "tasks"


def test_no_arrow_points_up():
    wrong = {
        (name, other)
        for name, others in GRAPH.items()
        for other in others
        if layer(name) != layer(other)
        # Templates of pages have no place yet.
        and {layer(name), layer(other)} <= RANK.keys()
        and RANK[layer(other)] >= RANK[layer(name)]
    }
    assert not wrong


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
    assert len(GRAPH["neardup.dedup"]) > 5
    assert not circles(GRAPH)


def test_a_circle_is_seen():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == {"b", "c"}


@pytest.mark.parametrize("name", [name for name in KNOWN if name.startswith("neardup.base.")])
def test_the_base_imports_nothing_above(name):
    assert {layer(other) for other in GRAPH[name]} <= {"base", "exceptions"}
