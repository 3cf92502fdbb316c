# SPDX-License-Identifier: Apache-2.0
"""Requests that schemathesis draws from docs/openapi.json, right ones and wrong ones: no answer is a
fault of the server's, and each is as the document says."""

import json

import jsonschema
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode

from support.api_document import narrowed
from support.prefix import know_content
from support.registry import Registry
from support.server import ROOT, Server

DOCUMENT = json.loads((ROOT / "docs/openapi.json").read_text())

# An endless stream, and what would take away what the others ask.
LEFT_OUT = {("GET", "/api/hearth/events"), ("DELETE", "/api/hearth/models/{name}"),
            ("DELETE", "/api/delete")}

# 501 and 503 are answers to requests that are in order; these routes may give them.
MAY_BE_UNABLE = {
    ("POST", "/api/push"): 501,
    ("POST", "/v1/rerank"): 501,
    ("POST", "/api/hearth/cool"): 501,
    ("POST", "/api/pull"): 503,
    ("POST", "/api/hearth/pull"): 503,
}


def operations(document):
    schema = schemathesis.openapi.from_dict(document)
    found = [result.ok() for result in schema.get_all_operations()]
    return {(o.method.upper(), o.path): o for o in found
            if (o.method.upper(), o.path) not in LEFT_OUT}


def takes_something(operation):
    method, path = operation
    return DOCUMENT["paths"][path][method.lower()].keys() & {"requestBody", "parameters"}


# How requests are drawn: right ones; ones that schemas allow, if not the server; and wrong ones.
PLAUSIBLE = operations(narrowed(DOCUMENT))
WAYS = {
    "right": (operations(narrowed(DOCUMENT, right=True)), GenerationMode.POSITIVE),
    "plausible": (PLAUSIBLE, GenerationMode.POSITIVE),
    "wrong": (PLAUSIBLE, GenerationMode.NEGATIVE),
}
EACH = [(operation, way) for operation in PLAUSIBLE for way in WAYS
        if way == "right" or takes_something(operation)]
SOME, MANY = 1000, 20000


@pytest.fixture(scope="module")
def address(tmp_path_factory, repackable_model):
    """A server that knows a model of noise and an admin's key, and can pull from nowhere else."""
    with Registry() as registry:
        config = 'threads = 1\nstores = []\npull_stall_seconds = 1\n' + registry.config()
        server = Server(tmp_path_factory.mktemp("fuzzed") / "data", config).start()
        try:
            server.import_model(repackable_model, "smollm2")
            know_content(server)
            key = server.ok("/api/hearth/keys", {"name": "admin", "role": "admin"})
            server.http.headers["x-api-key"] = key["secret"]
            server.session = requests.Session()
            server.session.trust_env = False
            server.session.headers["x-api-key"] = key["secret"]
            yield server
            server.stop()
        finally:
            server.kill()


def resolved(node):
    while "$ref" in node:
        target = DOCUMENT
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def check(schema, value):
    whole = {**schema, "components": DOCUMENT["components"]}
    jsonschema.Draft202012Validator(whole).validate(value)


def pieces_of(kind, text):
    if kind == "text/event-stream":
        data = [x.removeprefix("data: ") for x in text.splitlines() if x.startswith("data: ")]
        return [json.loads(x) for x in data if x != "[DONE]"]
    return [json.loads(line) for line in text.splitlines() if line]


def check_answer(operation, answer):
    method, path = operation
    status = str(answer.status_code)
    if answer.status_code >= 500:
        assert MAY_BE_UNABLE.get(operation) == answer.status_code, answer.text
    responses = DOCUMENT["paths"][path][method.lower()]["responses"]
    assert status in responses, f"{status} is not documented: {answer.text}"
    content = resolved(responses[status]).get("content")
    if content is None:
        assert not answer.content
        return
    kind = answer.headers["content-type"][0].split(";")[0]
    assert kind in content, f"{kind} is not documented"
    if kind == "application/json":
        check(content[kind]["schema"], answer.json())
    elif kind in ("text/event-stream", "application/x-ndjson"):
        for piece in pieces_of(kind, answer.text):
            check(content[kind]["schema"], piece)


def fuzz(server, operation, way, calls):
    drawn_from, mode = WAYS[way]

    @seed(11)
    @settings(max_examples=calls, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))
    @given(case=drawn_from[operation].as_strategy(generation_mode=mode))
    def one(case):
        check_answer(operation, case.call(server.url, session=server.session, timeout=60))

    one()


def name_of(value):
    return value if isinstance(value, str) else " ".join(value)


@pytest.mark.parametrize("operation, way", EACH, ids=name_of)
def test_answers_are_as_documented(address, operation, way):
    fuzz(address, operation, way, -(-SOME // len(EACH)))


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("operation, way", EACH, ids=name_of)
def test_many_answers_are_as_documented(address, operation, way):
    fuzz(address, operation, way, -(-MANY // len(EACH)))


def test_the_server_is_well_afterwards(address):
    assert not address.new_errors()
    assert address.complete("Hi", max_tokens=2)["choices"]
