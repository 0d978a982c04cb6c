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
    """Return the top-level modules that a module uses; "" stands for the crate itself."""
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
        found.update((place + rest)[:1])
    return found


def graph(crate):
    """Return the top-level modules that each one uses."""
    known = modules(crate)
    tops = {name[0] for name in known}
    found = {top: set() for top in tops}
    for name, path in known.items():
        found[name[0]] |= imports(name, source(path)) & tops - {name[0]}
    return found


@pytest.mark.parametrize("crate", RANK)
def test_no_module_imports_itself_through_others(crate):
    assert not circles(graph(crate))


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
    assert {"lists", "kernels", "layout"} <= graph("hamming")["all_pairs"]
    assert graph("hamming")["kernels"] == {"fingerprints"}
    assert {"errors", "recipe", "threads"} <= graph("python")["corpus"]
    text = "use super::{a::b, c::{d, e}};\nuse super::super::f;\nuse crate::g::{h, i};\n"
    assert imports(("x", "y"), text) == {"x", "f", "g"}
