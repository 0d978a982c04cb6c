"""The operations of the API: one file per group, with the bodies of its requests and answers.

An operation maps its request to one public call of the package, which `Store.run` makes
outside the event loop, and maps the result to JSON. It contains no algorithm.

===========  =====================================================================
``body``     parses and validates bodies, and says in our words what is wrong
``fields``   fields that several bodies have
``openapi``  completes FastAPI's description; its examples are ``examples.json``
===========  =====================================================================

Bodies of requests are Pydantic models. Answers are dataclasses, which FastAPI describes by
Pydantic and orjson serializes; results of the package are answers as they are.
"""
