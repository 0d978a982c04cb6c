"""One rule: `dedup`, `Index.add` one by one and `Index.add_many` give the same answers."""

import itertools
import json
import random
from contextlib import closing

import numpy as np
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.hostile import LONG_BASES, corpora
from tests.index.sound import check_sound, entries_of

from neardup import Index, dedup, load_recipe
from neardup.index.background import next_count

#: Shorter shingles, so that short texts too have enough of them.
SHORT = {"segment": {"k": 3}, "decide": {"shingle": 3, "min_features": 4}}
#: Recipes with what `Index` is told; ``background`` means the collection itself.
CASES = {
    "general": (load_recipe("general").replace(**SHORT), {"background": True}),
    "general, nothing common": (
        load_recipe("general").replace(SHORT["segment"] and None or "general", **SHORT)
        if False
        else load_recipe("general").replace(
            segment={"k": 3}, decide={"shingle": 3, "min_features": 4, "common": "none"}
        ),
        {"background": True},
    ),
}
