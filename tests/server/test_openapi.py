"""The description by OpenAPI, and the service held against it."""

import re

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from neardup.server import Settings, create_app

#: Of this group all is checked here; uploads and jobs have tests of their own.
OURS = {"documents", "questions", "comparing", "health"}

SCHEMA = create_app(Settings(index="none.db")).openapi()
OPERATIONS = [
    pytest.param(operation, id=f"{method} {path}")
    for path, methods in SCHEMA["paths"].items()
    for method, operation in methods.items()
]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_is_described(operation):
    assert operation["summary"]
    assert re.fullmatch(r"[a-z_]+", operation["operationId"])
    answers = operation["responses"]
    assert len(answers) > 1
    assert all(answer["description"] for answer in answers.values())
    assert set(answers["default"]["content"]) == {"application/problem+json"}


def test_keys_are_described_where_they_are_needed():
    assert SCHEMA["components"]["securitySchemes"]
    assert SCHEMA["paths"]["/v1/documents"]["post"]["security"]
    assert SCHEMA["paths"]["/metrics"]["get"]["security"]
    assert "security" not in SCHEMA["paths"]["/healthz"]["get"]


def test_the_page_of_the_api_leads_to_the_description(client):
    assert client.get("/openapi.json").json() == SCHEMA
    answer = client.get("/docs")
    assert answer.status_code == 200
    assert 'href="/openapi.json"' in answer.text
    assert "curl http://127.0.0.1:8765/v1/documents" in answer.text


CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_answer_is_described(serve_process, mode):
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
