"""The description by OpenAPI, and the service held against it."""

import re

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from neardup.server import Settings, create_app

#: Of this group all is checked here; uploads and jobs have tests of their own.
OURS = {"documents", "questions", "comparing", "health"}

#: Every operation can answer these: they come from limits that are the same for all.
ALWAYS = {"400", "405", "421", "429", "500", "503", "504"}


def description(**given):
    return create_app(Settings(index="none.db", **given)).openapi()


def operations(schema):
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


SCHEMA = description()
OPERATIONS = [
    pytest.param(path, method, operation, id=f"{method} {path}")
    for path, method, operation in operations(SCHEMA)
]


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
def test_every_operation_is_described(path, method, operation):
    assert operation["summary"]
    assert re.fullmatch(r"[a-z_]+", operation["operationId"])
    assert set(operation["responses"]) > ALWAYS
    for status, answer in operation["responses"].items():
        assert answer["description"]
        kinds = set(answer.get("content", {}))
        if status >= "400":
            assert kinds == {"application/problem+json"}, f"{method} {path} {status}"
    if "requestBody" in operation:
        assert {"413", "415", "422"} <= set(operation["responses"])
    if operation.get("parameters"):
        assert "422" in operation["responses"]


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
def test_examples_are_what_they_illustrate(path, method, operation):  # noqa: ARG001
    found = 0
    contents = [operation.get("requestBody", {}).get("content", {})]
    contents += [answer.get("content", {}) for answer in operation["responses"].values()]
    for content in contents:
        for kind in content.values():
            examples = [one["value"] for one in kind.get("examples", {}).values()]
            examples += [kind["example"]] if "example" in kind else []
            for example in examples:
                whole = {**kind["schema"], "components": SCHEMA["components"]}
                jsonschema_rs.Draft202012Validator(whole).validate(example)
                found += 1
    if operation["tags"][0] in OURS and path not in ("/metrics", "/v1/stats"):
        assert found


def test_limits_of_the_settings_are_described():
    schemas = description(max_batch=7, max_text_characters=99)["components"]["schemas"]
    assert schemas["PostedBatch"]["properties"]["documents"]["maxItems"] == 7
    assert schemas["PostedDocument"]["properties"]["text"]["maxLength"] == 99
    assert schemas["ComparedTexts"]["properties"]["b"]["maxLength"] == 99


def test_keys_are_described_where_they_are_needed(tmp_path):
    assert "securitySchemes" not in SCHEMA["components"]
    guarded = description(keys=tmp_path / "keys.json")
    assert guarded["components"]["securitySchemes"]
    assert guarded["paths"]["/v1/documents"]["post"]["security"]
    assert "security" not in guarded["paths"]["/healthz"]["get"]


def test_the_page_of_the_api_has_every_operation_and_field(client):
    assert client.get("/openapi.json").json()["openapi"].startswith("3.1")
    answer = client.get("/docs")
    assert answer.status_code == 200
    for path, method, operation in operations(SCHEMA):
        assert f"{method.upper()} {path}</code>" in answer.text
        for parameter in operation.get("parameters", ()):
            assert f"<code>{parameter['name']}</code>" in answer.text
    for name, model in SCHEMA["components"]["schemas"].items():
        assert f'id="{name}"' in answer.text
        assert all(f"<code>{field}</code>" in answer.text for field in model["properties"])
    assert "://" not in answer.text


CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_gets_an_answer_that_is_not_described(serve_process, mode):
    service = serve_process(max_batch=5, max_text_characters=500)
    described = schemathesis.openapi.from_url(f"{service.url}/openapi.json")
    asked = 0
    for found in described.include(tag=sorted(OURS)).get_all_operations():
        operation = found.ok()
        try:
            cases = operation.as_strategy(generation_mode=mode)
        except Unsatisfiable:
            # Without a parameter nothing can be wrong.
            continue

        @settings(
            max_examples=10,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.explicit, Phase.generate],
        )
        @given(case=cases)
        def check(case):
            nonlocal asked
            asked += 1
            case.call_and_validate(checks=CHECKS)

        try:
            check()
        except Unsatisfiable:
            continue
    assert asked > 50
