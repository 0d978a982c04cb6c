"""The operations of the API: one file per group of them, with its bodies and answers.

An operation maps its request to one public call of the package, and the result to JSON. `Store.run`
makes the call outside the event loop. An operation contains no algorithm.

FastAPI validates bodies, which are Pydantic models, and describes and serializes answers: Pydantic
models, and results of the package as they are.
"""
