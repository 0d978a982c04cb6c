"""The operations of the API, one file per group.

An operation maps its request to one public call of the package, which `Store.run` makes
outside the event loop, and maps the result to JSON. It contains no algorithm.
"""
