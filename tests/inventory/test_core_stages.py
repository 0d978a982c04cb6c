"""A module of the core imports shared types and earlier stages."""

import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "crates/neardup-core/src"

#: Top-level modules: each may import those before it. Modules on one line know nothing of
#: each other.
STAGES = (
    "ids",
    "anchors buckets bytes characters constants groups identity similar spilled",
    "ragged",
    "texts normalize",
    "segment",
    "weigh sketch",
    "recipe",
    "candidates",
    "verify",
    "corpus",
    "background judge",
    "cluster",
)

RANK = {name: rank for rank, names in enumerate(STAGES) for name in names.split()}

#: The first name of each path below `crate::`, also inside of braces.
_PATH = re.compile(r"(?<![\w:\[`(])crate::(\w+)")
_GROUP = re.compile(r"^use crate::\{(.*?)\};", re.MULTILINE | re.DOTALL)
_INNER = re.compile(r"\{[^{}]*\}")


def imports(path):
    """Return the top-level modules that a file uses; without its tests."""
    text = path.read_text("utf-8").split("#[cfg(test)]\nmod tests")[0]
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    found = set(_PATH.findall(text))
    for group in _GROUP.findall(text):
        while _INNER.search(group):
            group = _INNER.sub("", group)
        found |= {name.strip().partition("::")[0] for name in group.split(",")}
    return found


def files():
    for path in sorted(SOURCE.rglob("*.rs")):
        stage = path.relative_to(SOURCE).with_suffix("").parts[0]
        if stage != "lib":
            yield stage, path


def test_every_module_is_of_a_stage():
    assert {stage for stage, _ in files()} == set(RANK)


def test_a_stage_imports_earlier_ones_only():
    found = [
        (path.name, other)
        for stage, path in files()
        for other in imports(path) & RANK.keys() - {stage}
        if RANK[other] >= RANK[stage]
    ]
    assert not found
    assert {"corpus", "candidates", "verify"} <= imports(SOURCE / "judge.rs")
