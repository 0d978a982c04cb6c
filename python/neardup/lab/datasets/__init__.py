"""Texts with known near-duplicates: generated, split or labelled."""
