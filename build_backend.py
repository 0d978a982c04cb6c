"""Builds with maturin, once the translations are compiled."""

from typing import Any

import maturin
import translate
from maturin import *  # noqa: F403


def build_wheel(*arguments: Any, **options: Any) -> Any:
    translate.compile()
    return maturin.build_wheel(*arguments, **options)


def build_editable(*arguments: Any, **options: Any) -> Any:
    translate.compile()
    return maturin.build_editable(*arguments, **options)
