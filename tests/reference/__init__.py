"""Slow plain-Python twins of the stages: the specification, written to be read.

Nothing here imports neardup. One file per stage, in running order: normalize,
segment, weigh, sketch, candidates, verify, dedup (cluster and keep), and
recipes, which chains the first four under their public names. Beside sketch
stand minhash and sample, beside verify content. align is for paper checks.
"""
