"""Requests made from the description, right and wrong ones: no answer is a 5xx, none off the description."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from streamtables.refresh.results import Reason, Refresh
from streamtables.web import json_actions, json_changes, json_facts
from streamtables.web.app import build_app
from tests.support.web_warehouse import open_web_warehouse
from tests.unit.web.conftest import BEARER, TOKEN

HOSTS = ("localhost", "testserver")
OPERATIONS = [
    (route.path, method.lower())
    for routes in (json_facts.routes, json_actions.routes, json_changes.routes)
    for route in routes.routes
    if isinstance(route, APIRoute) and route.include_in_schema
    for method in route.methods or ()
]
CHECKS = [not_a_server_error, response_schema_conformance, status_code_conformance]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    shop = open_web_warehouse(tmp_path_factory.mktemp("schema"))

    def refresh(name: str, **_: object) -> Refresh:
        return Refresh(name, "full", "applied", Reason("forced", "asked for"))

    def verify(name: str) -> None:
        raise AssertionError("no table that it was asked for exists")

    # What starts Spark is not what is tested here.
    shop.db.__dict__.update(refresh=refresh, repair=refresh, verify=verify)
    app = build_app(shop.db, token=TOKEN, hosts=HOSTS)
    yield schemathesis.openapi.from_asgi("/api/openapi.json", app)
    shop.db.close()


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_no_request_breaks_it(described: Any, path: str, method: str):
    @given(described[path][method].as_strategy())
    @settings(
        max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    def every_request(case: Any) -> None:
        case.call_and_validate(headers=BEARER, checks=CHECKS)

    every_request()


def test_every_operation_of_the_description_is_tried(described: Any):
    known = {
        (path, method) for path, found in described.raw_schema["paths"].items() for method in found
    }
    assert known == set(OPERATIONS)
