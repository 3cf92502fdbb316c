# SPDX-License-Identifier: Apache-2.0
"""docs/openapi.json is what the server does: every route of it answers, as its schemas say."""

import json

import jsonschema
import pytest

from support.server import ROOT, SMOLLM2

DOCUMENT = ROOT / "docs/openapi.json"
MODEL = {"model": "smollm2"}
HELLO = {**MODEL, "max_tokens": 4, "messages": [{"role": "user", "content": "Hi"}]}

# A body for each operation that takes one.
SAMPLES = {
    ("post", "/v1/chat/completions"): HELLO,
    ("post", "/v1/completions"): {**MODEL, "prompt": "Hi", "max_tokens": 4},
    ("post", "/v1/embeddings"): {**MODEL, "input": "Hi"},
    ("post", "/v1/messages"): HELLO,
    ("post", "/v1/messages/count_tokens"): {**MODEL, "messages": HELLO["messages"]},
    ("post", "/api/hearth/import"): {"path": str(SMOLLM2), "name": "smollm2"},
    ("post", "/api/hearth/load"): MODEL,
    ("post", "/api/hearth/unload"): MODEL,
    ("post", "/api/hearth/warm"): {**MODEL, "layer": "weights"},
    ("post", "/api/hearth/cool"): {**MODEL, "layer": "weights"},
    ("post", "/api/hearth/pin"): {**MODEL, "layer": "weights"},
    ("post", "/api/hearth/unpin"): MODEL,
    ("post", "/api/hearth/keys"): {"name": "smollm2", "role": "admin"},
}


@pytest.fixture(scope="module")
def document():
    if not DOCUMENT.exists():
        pytest.skip("docs/openapi.json is not there")
    return json.loads(DOCUMENT.read_text())


def operations(document):
    for path, item in document["paths"].items():
        for method in ("get", "post", "delete", "put"):
            if method in item:
                yield method, path, item[method]


def resolved(document, node):
    while "$ref" in node:
        target = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def check(document, schema, value):
    jsonschema.Draft202012Validator({**schema, "components": document["components"]}).validate(value)


def documented(document, operation, answer):
    responses = operation["responses"]
    status = str(answer.status_code)
    assert status in responses or "default" in responses, f"status {status} is not documented"
    return resolved(document, responses.get(status, responses.get("default")))


def check_answer(document, operation, answer):
    content = documented(document, operation, answer).get("content", {})
    kind = answer.headers.get("content-type", "").split(";")[0]
    assert kind in content, f"{kind} is not documented"
    if kind == "application/json":
        check(document, content[kind]["schema"], answer.json())


def concrete(path, request_id):
    for name in ("{model}", "{name}", "{rest}", "{id}"):
        value = request_id if "/requests/" in path else "smollm2"
        path = path.replace(name, value)
    assert "{" not in path, path
    return path


def ask(server, method, path, body=None):
    if path == "/api/hearth/events":
        with server.http.stream("GET", path) as response:
            return response
    options = {} if body is None else {"json": body}
    return server.http.request(method.upper(), path, **options)


def test_it_is_a_valid_document(document):
    assert document["openapi"].startswith("3.1")
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_operation_answers_as_documented(document, new_server):
    server = new_server()
    request_id = server.chat("Hi")["hearth"]["request_id"]
    server.request(request_id)
    for method, path, operation in operations(document):
        if method == "delete":
            continue
        answer = ask(server, method, concrete(path, request_id), SAMPLES.get((method, path)))
        assert answer.status_code == 200, (method, path, answer.text)
        check_answer(document, operation, answer)
        if path == "/api/hearth/keys" and method == "post":  # from here on the server wants it
            server.http.headers["x-api-key"] = answer.json()["secret"]
    for method, path, operation in operations(document):
        if method == "delete":
            answer = ask(server, method, concrete(path, request_id))
            assert answer.status_code == 200, (path, answer.text)
            check_answer(document, operation, answer)


def test_errors_are_as_documented(document, server):
    for method, path, operation in operations(document):
        if "requestBody" in operation:
            answer = ask(server, method, path, {})
            assert answer.status_code == 400, path
            check_answer(document, operation, answer)
        elif "{" in path:
            answer = ask(server, method, path.split("{")[0] + "nobody")
            assert answer.status_code == 404, path
            check_answer(document, operation, answer)


def test_samples_fit_the_request_schemas(document):
    for method, path, operation in operations(document):
        if "requestBody" not in operation:
            continue
        body = resolved(document, operation["requestBody"])["content"]["application/json"]
        check(document, body["schema"], SAMPLES[method, path])


def test_every_route_is_documented(document, server):
    """Routes that exist answer 405 to a method they do not know; others 404."""
    known = {(m, p) for m, p, _ in operations(document)}
    for method, path in SAMPLES:
        assert (method, path) in known
    for path in ("/health", "/metrics", "/v1/models", "/api/hearth/models",
                 "/api/hearth/requests", "/api/hearth/events", "/api/hearth/version"):
        assert ("get", path) in known
        assert server.http.request("PUT", path).status_code == 405
