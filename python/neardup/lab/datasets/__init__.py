"""Texts whose near-duplicates are known: made, split or labelled."""
