"""Crates import those below them, and no module of a crate imports itself through others."""

import re
import tomllib

import pytest
from tests.conftest import ROOT
from tests.inventory.test_layout import circles

CRATES = ROOT / "crates"

#: From the base to the top: each may use those before it. Crates on one line do not use each other.
LAYERS = ("hamming lines", "core", "align", "python web")
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names.split()}

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


def modules(crate):
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


def imports(name, text):
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
    known = modules(crate)
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
            uses = {module(path) for path in imports(name, text)}
            others = {
                other[depth] for other in uses if len(other) > depth and other[:depth] == folder
            }
            own = found.setdefault(folder, {}).setdefault(name[depth], set())
            own |= others - {name[depth]}
    return found


@pytest.mark.parametrize("crate", RANK)
def test_no_module_imports_itself_through_others(crate):
    assert not {folder: found for folder, each in graphs(crate).items() if (found := circles(each))}


@pytest.mark.parametrize("crate", RANK)
def test_a_crate_uses_those_below(crate):
    folder = CRATES / f"neardup-{crate}"
    table = tomllib.loads((folder / "Cargo.toml").read_text("utf-8"))["dependencies"]
    declared = {name.removeprefix("neardup-") for name in table if name.startswith("neardup-")}
    text = "".join(map(source, folder.rglob("src/**/*.rs")))
    assert declared == set(re.findall(r"\bneardup_(\w+)(?=::|;| as )", text))
    assert all(RANK[other] < RANK[crate] for other in declared)


def test_every_crate_has_a_place():
    assert {
        path.parent.name.removeprefix("neardup-") for path in CRATES.glob("*/Cargo.toml")
    } == set(RANK)


def test_imports_are_seen():
    hamming, core = graphs("hamming")[()], graphs("core")
    assert {"lists", "kernels", "layout"} <= hamming["all_pairs"]
    assert hamming["kernels"] == {"fingerprints"}
    assert {"errors", "recipe", "threads"} <= graphs("python")[()]["corpus"]
    assert {"stores", "statistics"} <= core["candidates",]["candidate_index"]
    # Through a name that the folder hands on.
    assert "schemes" in core["candidates",]["shuffle"]
    text = "use super::{a::b, c::{d, e}};\nuse super::super::f;\nuse crate::g::{h, i};\n"
    assert {path[:2] for path in imports(("x", "y"), text)} >= {("x", "a"), ("f",), ("g", "h")}
