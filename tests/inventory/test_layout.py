"""Where modules are, and which imports which."""

import ast
from pathlib import Path

import neardup

ROOT = Path(neardup.__file__).parent

#: What users call; all else is in a folder.
PUBLIC = {
    "compare",
    "contamination",
    "dedup",
    "exceptions",
    "explain",
    "idf",
    "near",
    "pairs",
    "plan",
    "repeats",
    "review",
    "sketch",
}


def modules():
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = ["neardup", *path.relative_to(ROOT).with_suffix("").parts]
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = path
    return found


def is_for_types(node):
    return isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING"


def imported(path, known):
    """The modules that a module imports, also those that a function imports when it is called."""
    waiting = list(ast.parse(path.read_text("utf-8")).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                full = f"{node.module}.{name.name}"
                yield full if full in known else node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif not is_for_types(node):
            waiting += ast.iter_child_nodes(node)


def test_only_what_users_call_is_at_the_top():
    files = {path.stem for path in ROOT.glob("*.py") if not path.stem.startswith("__")}
    assert files == PUBLIC


def test_no_module_imports_itself_through_others():
    known = modules()
    # The top level imports what users call; a function may want the compiled core of it.
    graph = {
        name: {
            one for one in imported(path, known) if one in known and one not in (name, "neardup")
        }
        for name, path in known.items()
    }
    assert len(graph["neardup.dedup"]) > 5
    done, path = set(), []

    def visit(name):
        if name in path:
            raise AssertionError(" -> ".join([*path[path.index(name) :], name]))
        if name in done:
            return
        path.append(name)
        for other in sorted(graph[name]):
            visit(other)
        done.add(path.pop())

    for name in sorted(graph):
        visit(name)
