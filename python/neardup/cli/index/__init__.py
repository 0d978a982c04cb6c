"""``neardup index``: documents that come one after the other, decided as they come."""
