"""The description by OpenAPI, and the service held against it."""

import contextlib
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

from tests.server.answers import DESCRIPTION

#: Of this group all is checked here; uploads and jobs have tests of their own.
OURS = ["comparing", "documents", "health", "questions"]
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
FEW = settings(
    max_examples=10,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)


def test_every_operation_is_described():
    for operation in (one for path in DESCRIPTION["paths"].values() for one in path.values()):
        assert operation["summary"]
        assert re.fullmatch(r"[a-z_]+", operation["operationId"])
        answers = operation["responses"]
        assert len(answers) > 1
        assert all(answer["description"] for answer in answers.values())
        assert set(answers["default"]["content"]) == {"application/problem+json"}


def test_keys_are_described_where_they_are_needed():
    assert DESCRIPTION["components"]["securitySchemes"]
    assert DESCRIPTION["paths"]["/v1/documents"]["post"]["security"]
    assert DESCRIPTION["paths"]["/metrics"]["get"]["security"]
    assert "security" not in DESCRIPTION["paths"]["/healthz"]["get"]


def test_the_page_of_the_api_leads_to_the_description(client):
    assert client.get("/openapi.json").json() == DESCRIPTION
    answer = client.get("/docs")
    assert answer.status_code == 200
    assert 'href="/openapi.json"' in answer.text
    assert "curl http://127.0.0.1:8765/v1/documents" in answer.text


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_answer_is_described(serve_process, mode):
    service = serve_process(max_batch=5, max_text_characters=500)
    described = schemathesis.openapi.from_url(f"{service.url}/openapi.json")
    asked = []

    def ask(case):
        asked.append(case)
        case.call_and_validate(checks=CHECKS)

    for operation in described.include(tag=OURS).get_all_operations():
        # Without a parameter nothing can be wrong.
        with contextlib.suppress(Unsatisfiable):
            cases = operation.ok().as_strategy(generation_mode=mode)
            FEW(given(case=cases)(ask))()
    assert len(asked) > 50
