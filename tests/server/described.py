"""Answers, held against the description of the service."""

import ast
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

import httpx
import jsonschema_rs
from fastapi import FastAPI
from starlette.routing import compile_path


def check_described(app: FastAPI, answer: httpx.Response) -> None:
    """Assert that an answer is one of those that its operation describes."""
    method, path = answer.request.method.lower(), _path(answer)
    operation = _operation(app, method, path)
    if operation is None:
        # Nobody describes what is not there.
        assert answer.status_code in (404, 405, 421), f"{method} {path} is not described"
        return
    described = operation["responses"].get(str(answer.status_code))
    assert described is not None, f"{method} {path}: {answer.status_code} is not described"
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in described["content"]
    if kind.endswith("json"):
        schema = described["content"][kind]["schema"]
        _validator(app, repr(schema)).validate(answer.json())


def _path(answer: httpx.Response) -> str:
    return unquote(answer.request.url.raw_path.partition(b"?")[0].decode())


def _operation(app: FastAPI, method: str, path: str) -> dict[str, Any] | None:
    for template, methods in app.openapi()["paths"].items():
        pattern = template.replace("{id}", "{id:id}")
        if method in methods and compile_path(pattern)[0].match(path):
            return methods[method]  # type: ignore[no-any-return]
    return None


@lru_cache(maxsize=200)
def _validator(app: FastAPI, schema: str) -> jsonschema_rs.Draft202012Validator:
    whole = {**ast.literal_eval(schema), "components": app.openapi()["components"]}
    return jsonschema_rs.Draft202012Validator(whole)
