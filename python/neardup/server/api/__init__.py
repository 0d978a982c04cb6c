"""The operations of the API, a file for each group; none has an algorithm.

An operation maps its request to one public call of the package, made by `Store.run` away
from the event loop, and the result to JSON.
"""
