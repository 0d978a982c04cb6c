"""Slow plain-Python twins of the stages: the specification, written to be read.

Tests compare a twin and the compiled stage on the same input. Nothing here imports neardup, and
neardup imports nothing from here. One file per stage, in running order: normalize, segment, weigh,
sketch, postings, verify, dedup (cluster and keep), and recipes, which chains the first four under
their public names. Examples hold the twins to published vectors and to values computed by hand.

Twins and stages may know different versions of Unicode: compare characters that both have assigned.
"""
