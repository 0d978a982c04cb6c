"""The modules of the benchmarks, which import their neighbours by their bare names."""

import importlib
import sys

import pytest
from tests.conftest import ROOT

FOLDER = ROOT / "benchmarks"


@pytest.fixture
def module(monkeypatch):
    """Return a function that imports a module of the benchmarks by its name."""
    monkeypatch.syspath_prepend(FOLDER)
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(FOLDER)):
            del sys.modules[name]
