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
    ("put", "/api/hearth/modules/{id}"): {"text": "Be kind.", "models": []},
    ("post", "/v1/chat/completions"): HELLO,
    ("post", "/v1/completions"): {**MODEL, "prompt": "Hi", "max_tokens": 4},
    ("post", "/v1/embeddings"): {**MODEL, "input": "Hi"},
    ("post", "/v1/responses"): {**MODEL, "input": "Hi", "max_output_tokens": 4,
                                "metadata": {"room": "hall"}},
    ("post", "/v1/responses/input_tokens"): {**MODEL, "input": HELLO["messages"]},
    ("post", "/api/chat"): {**MODEL, "stream": False, "options": {"num_predict": 4},
                            "messages": HELLO["messages"]},
    ("post", "/api/generate"): {**MODEL, "stream": False, "prompt": "Hi",
                                "options": {"num_predict": 4, "stop": ["\n"], "num_gpu": -1}},
    ("post", "/api/embed"): {**MODEL, "input": ["Hi", "Ho"], "dimensions": 8},
    ("post", "/api/embeddings"): {**MODEL, "prompt": "Hi"},
    ("post", "/api/show"): MODEL,
    ("post", "/api/copy"): {"source": "smollm2", "destination": "second"},
    ("delete", "/api/delete"): {"model": "second"},
    ("post", "/v1/messages"): HELLO,
    ("post", "/v1/messages/count_tokens"): {**MODEL, "messages": HELLO["messages"]},
    ("post", "/v1/rerank"): {**MODEL, "query": "Hi", "documents": ["Ho", {"text": "Hu"}]},
    ("post", "/tokenize"): {**MODEL, "content": "Hi"},
    ("post", "/api/v1/models/load"): {**MODEL, "echo_load_config": True},
    ("post", "/api/v1/models/unload"): {"instance_id": "smollm2"},
    ("post", "/api/hearth/import"): {"path": str(SMOLLM2), "name": "smollm2"},
    ("post", "/api/hearth/load"): MODEL,
    ("post", "/api/hearth/unload"): MODEL,
    ("post", "/api/hearth/warm"): {**MODEL, "layer": "weights"},
    ("post", "/api/hearth/cool"): {**MODEL, "layer": "weights"},
    ("post", "/api/hearth/pin"): {**MODEL, "layer": "weights"},
    ("post", "/api/hearth/unpin"): MODEL,
    ("post", "/api/hearth/keys"): {"name": "smollm2", "role": "admin"},
    ("post", "/api/pull"): {**MODEL, "stream": False},
    ("post", "/api/create"): {"model": "third", "from": "smollm2", "stream": False,
                              "parameters": {"temperature": 0, "stop": ["x"]}},
    ("post", "/api/hearth/pull"): {"source": "hf.co/org/smol", "stream": False},
    ("post", "/api/hearth/pulls/stop"): {"name": "smollm2"},
    ("post", "/api/hearth/verify"): {**MODEL, "stream": False},
    ("post", "/api/hearth/prune"): {"dry_run": True},
    ("post", "/api/hearth/create"): {"name": "fourth", "from": "smollm2", "system": "Be kind.",
                                     "messages": [{"role": "user", "content": "Hi"}]},
}

# What there is to answer needs another server, or a file that was sent: test_pull.py and
# test_create.py ask these. Or there is none yet.
ELSEWHERE = ["/v1/rerank", "/api/pull", "/api/push", "/api/blobs/{id}", "/api/hearth/pull",
             "/api/hearth/pulls/stop", "/api/hearth/reports/{id}"]

# An empty object asks for something.
NOTHING_IS_REQUIRED = ["/api/hearth/verify", "/api/hearth/prune"]

PROGRESS = {"stream": True, "return_progress": True}
CHAT = {**MODEL, **PROGRESS, "messages": HELLO["messages"]}

# Bodies whose answers come in pieces.
STREAMS = [
    ("/v1/chat/completions", {**CHAT, "max_tokens": 4}),
    ("/v1/completions", {**MODEL, **PROGRESS, "prompt": "Hi", "max_tokens": 4}),
    ("/v1/messages", {**CHAT, "max_tokens": 4}),
    ("/v1/responses", {**MODEL, **PROGRESS, "input": "Hi", "max_output_tokens": 4}),
    ("/api/chat", {**CHAT, "options": {"num_predict": 4}}),
    ("/api/generate", {**MODEL, **PROGRESS, "prompt": "Hi", "options": {"num_predict": 4}}),
    ("/api/generate", {**MODEL, **PROGRESS}),
    ("/api/create", {"model": "fifth", "from": "smollm2"}),
    ("/api/hearth/verify", MODEL),
    ("/api/hearth/load", {**MODEL, "return_progress": True}),
    ("/api/hearth/warm", {**MODEL, "return_progress": True, "layer": "weights"}),
]


@pytest.fixture(scope="module")
def document():
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
    content = documented(document, operation, answer).get("content")
    if content is None:
        assert answer.content == b""
        return
    kind = answer.headers.get("content-type", "").split(";")[0]
    assert kind in content, f"{kind} is not documented"
    if kind == "application/json":
        check(document, content[kind]["schema"], answer.json())


def concrete(path, request_id, response_id="none"):
    for name in ("{model}", "{name}", "{rest}", "{id}"):
        value = request_id if "/requests/" in path else "smollm2"
        value = response_id if path.startswith("/v1/responses/") else value
        value = "index.html" if path.startswith("/ui/") else value
        path = path.replace(name, value)
    assert "{" not in path, path
    return path + "?model=smollm2" if path in ("/props", "/slots") else path


def ask(server, method, path, body=None):
    if path == "/api/hearth/events":
        with server.http.stream("GET", path) as response:
            if response.status_code != 200:
                response.read()
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
    response_id = server.ok("/v1/responses", SAMPLES["post", "/v1/responses"])["id"]
    module = SAMPLES["put", "/api/hearth/modules/{id}"]
    assert server.http.put("/api/hearth/modules/smollm2", json=module).status_code == 200
    for method, path, operation in operations(document):
        if method == "delete" or path in ELSEWHERE:
            continue
        answer = ask(server, method, concrete(path, request_id, response_id),
                     SAMPLES.get((method, path)))
        assert answer.status_code == 200, (method, path, answer.text)
        check_answer(document, operation, answer)
        if path == "/api/hearth/keys" and method == "post":  # from here on the server wants it
            server.http.headers["x-api-key"] = answer.json()["secret"]
    response_id = server.ok("/v1/responses", SAMPLES["post", "/v1/responses"])["id"]  # of the key
    for method, path, operation in operations(document):
        if method == "delete":
            answer = ask(server, method, concrete(path, request_id, response_id),
                         SAMPLES.get((method, path)))
            assert answer.status_code == 200, (path, answer.text)
            check_answer(document, operation, answer)


def pieces_of(answer):
    """The JSON of each line, or of each server-sent event but OpenAI's last word."""
    if answer.headers["content-type"].startswith("text/event-stream"):
        data = [line.removeprefix("data: ") for line in answer.text.splitlines()
                if line.startswith("data: ")]
        return [json.loads(text) for text in data if text != "[DONE]"]
    return [json.loads(line) for line in answer.text.splitlines() if line]


@pytest.mark.parametrize("path, body", STREAMS)
def test_pieces_of_streams_are_as_documented(document, server, path, body):
    server.unload()
    answer = server.post(path, body)
    assert answer.status_code == 200, answer.text
    kind = answer.headers["content-type"].split(";")[0]
    content = resolved(document, document["paths"][path]["post"]["responses"]["200"])["content"]
    pieces = pieces_of(answer)
    assert pieces
    for piece in pieces:
        check(document, content[kind]["schema"], piece)


def test_models_have_a_second_shape(document, server):
    schemas = document["components"]["schemas"]
    version = {"anthropic-version": "2023-06-01"}
    page = server.get("/v1/models", params={"limit": 1}, headers=version).json()
    check(document, schemas["AnthropicModelPage"], page)
    assert page["has_more"]
    one = server.get("/v1/models/smollm2", headers=version).json()
    check(document, schemas["AnthropicModel"], one)
    nobody = server.get("/v1/models/nobody", headers=version)
    assert nobody.status_code == 404
    check(document, schemas["AnthropicError"], nobody.json())


def test_errors_are_as_documented(document, server):
    for method, path, operation in operations(document):
        if path in NOTHING_IS_REQUIRED:
            continue
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
        body = resolved(document, operation["requestBody"])["content"].get("application/json")
        if body is None:
            continue
        check(document, body["schema"], SAMPLES[method, path])
    for path, body in STREAMS:
        request = document["paths"][path]["post"]["requestBody"]
        check(document, request["content"]["application/json"]["schema"], body)


def test_without_a_key_the_answer_is_as_documented(document, new_server):
    server = new_server(model=None)
    server.ok("/api/hearth/keys", {"name": "admin", "role": "admin"})
    for method, path, operation in operations(document):
        if operation["x-hearth-needs"] == "nothing":
            assert operation["security"] == []
            continue
        answer = ask(server, method, concrete(path, "none"), {})
        assert answer.status_code == 401, path
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        check_answer(document, operation, answer)
