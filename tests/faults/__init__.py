"""Faults on purpose: tests of the guarantees in docs/index-rules.md.

They break inputs, calls of the system, and the power supply.

- `file_inputs` makes hostile inputs and tries them in a process with limits of memory and time.
- `faulty.c`, preloaded by `preload`, makes writes, syncs, truncations, mappings and allocations of
  SQLite fail, or records them.
- `failing_calls` makes each call of an addition and of a checkpoint fail, one after the other.
- `power_loss` rebuilds the files of an index as a loss of power may leave them, and opens them.

``pytest --hypothesis-profile long tests/faults`` tries a hundred times as many inputs.
"""
