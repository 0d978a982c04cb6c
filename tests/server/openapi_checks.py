"""Answers, held against the description of the service."""

import ast
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
    answers, status = operation["responses"], str(answer.status_code)
    described = answers["default"] if status >= "400" else answers.get(status)
    assert described is not None, f"{method} {path}: {status} is not described"
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in described["content"]
    if kind.endswith("json"):
        schema = described["content"][kind]["schema"]
        _validator(app, repr(schema)).validate(answer.json())


def _path(answer: httpx.Response) -> str:
    return unquote(answer.request.url.raw_path.partition(b"?")[0].decode())


def _operation(app: FastAPI, method: str, path: str) -> dict[str, Any] | None:
    for template, methods in description_of(app)["paths"].items():
        pattern = template.replace("{id}", "{id:id}")
        if method in methods and compile_path(pattern)[0].match(path):
            return methods[method]  # type: ignore[no-any-return]
    return None


#: Descriptions and validators by the settings of their service: to make them takes longer than to
#: ask, and they are the same for each service with the same settings.
_descriptions: dict[str, dict[str, Any]] = {}
_validators: dict[tuple[str, str], jsonschema_rs.Draft202012Validator] = {}


def _settings(app: FastAPI) -> str:
    return repr({**vars(app.state.settings), "index": "any.db"})


def description_of(app: FastAPI) -> dict[str, Any]:
    """Return the description that an application gives."""
    settings = _settings(app)
    if settings not in _descriptions:
        _descriptions[settings] = app.openapi()
    return _descriptions[settings]


def _validator(app: FastAPI, schema: str) -> jsonschema_rs.Draft202012Validator:
    key = (_settings(app), schema)
    if key not in _validators:
        components = description_of(app)["components"]
        whole = {**ast.literal_eval(schema), "components": components}
        _validators[key] = jsonschema_rs.Draft202012Validator(whole)
    return _validators[key]
