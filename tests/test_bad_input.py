# SPDX-License-Identifier: Apache-2.0
"""What is no request gets 400 with the place of the mistake, and the server goes on."""

import json

import pytest

CHAT = "/v1/chat/completions"
USER = {"role": "user", "content": "Hi"}


def send(server, path, body):
    return server.http.post(path, content=body, headers={"Content-Type": "application/json"})


def chat_bytes(content):
    return (b'{"model":"smollm2","max_tokens":2,"messages":[{"role":"user","content":"'
            + content + b'"}]}')


def assert_refused(answer, field=None):
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert error["type"] == "invalid_request_error"
    assert error["message"]
    if field is not None:
        assert error["param"] == field, error


BAD_BYTES = {  # row 12
    "bytes FF FE": chat_bytes(b"a\xff\xfeb"),
    "lone surrogate": chat_bytes(rb"a\ud800b"),
    "latin-1": chat_bytes("é".encode("latin-1")),
    "overlong": chat_bytes(b"\xc0\xaf"),
    "truncated": chat_bytes(b"x")[:-3],
    "trailing text": chat_bytes(b"x") + b"}",
    "nesting": b'{"model":"smollm2","messages":' + b"[" * 1000 + b"]" * 1000 + b"}",
    "deep nesting": b"[" * 1_000_000,
    "empty": b"",
    "blank": b" \n ",
    "a list": b"[]",
    "a string": b'"hi"',
    "null": b"null",
    "no json": b"model=smollm2",
}


@pytest.mark.parametrize("name", BAD_BYTES)
@pytest.mark.parametrize("path", [CHAT, "/v1/completions", "/v1/embeddings"])
def test_bad_bytes(server, name, path):  # row 12
    assert_refused(send(server, path, BAD_BYTES[name]))
    assert server.get("/health").status_code == 200


@pytest.mark.parametrize("path", ["/api/hearth/import", "/api/hearth/load", "/api/hearth/cool"])
def test_bad_bytes_for_the_admin_routes(server, path):  # row 12
    for body in BAD_BYTES.values():
        assert_refused(send(server, path, body))


def test_nul_and_bom_are_defined(server):  # row 12
    nul = send(server, CHAT, chat_bytes(rb"a\u0000b"))
    assert nul.status_code in (200, 400), nul.text
    bom = send(server, CHAT, b"\xef\xbb\xbf" + chat_bytes(b"x"))
    assert bom.status_code in (200, 400), bom.text


def test_a_surrogate_pair_is_a_character(server):  # row 12
    assert send(server, CHAT, chat_bytes(rb"\ud83d\ude00")).status_code == 200


MESSAGES = {  # row 15: messages, and the field that the error names
    "missing": (None, "messages"),
    "empty list": ([], "messages"),
    "a string": ("Hi", "messages"),
    "numbers": ([1], "messages[0]"),
    "null message": ([USER, None], "messages[1]"),
    "null content": ([{"role": "user", "content": None}], "messages[0].content"),
    "no content": ([USER, {"role": "user"}], "messages[1].content"),
    "assistant without anything": ([USER, {"role": "assistant", "content": None}],
                                   "messages[1].content"),
    "empty parts": ([{"role": "user", "content": []}], "messages[0].content"),
    "number content": ([{"role": "user", "content": 7}], "messages[0].content"),
    "part without text": ([{"role": "user", "content": [{"type": "text"}]}],
                          "messages[0].content[0].text"),
    "part of unknown type": ([{"role": "user", "content": [{"type": "smell"}]}],
                             "messages[0].content[0].type"),
    "image": ([{"role": "user", "content": [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": "http://127.0.0.1:1/x.png"}}]}],
        "messages[0].content[1].type"),
    "unknown role": ([{"role": "wizard", "content": "Hi"}], "messages[0].role"),
    "no role": ([{"content": "Hi"}], "messages[0].role"),
    "number role": ([{"role": 1, "content": "Hi"}], "messages[0].role"),
    "calls of a user": ([{"role": "user", "content": "Hi", "tool_calls": [{}]}],
                        "messages[0].tool_calls"),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_bad_messages_name_their_place(server, name):  # row 15
    messages, field = MESSAGES[name]
    body = {"model": "smollm2", "max_tokens": 2}
    if messages is not None:
        body["messages"] = messages
    assert_refused(server.post(CHAT, body), field)


def test_null_messages(server):  # row 15
    assert_refused(server.post(CHAT, {"model": "smollm2", "messages": None}), "messages")


CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
DEFINED = {  # row 15: unusual, but what is meant is plain
    "empty content": [{"role": "user", "content": ""}],
    "text parts": [{"role": "user", "content": [{"type": "text", "text": "Say"},
                                                {"type": "text", "text": "hi"}]}],
    "assistant first": [{"role": "assistant", "content": "Hello"}, USER],
    "only assistant": [{"role": "assistant", "content": "Hello"}],
    "only system": [{"role": "system", "content": "Be brief."}],
    "developer": [{"role": "developer", "content": "Be brief."}, USER],
    "null content with calls": [USER, {"role": "assistant", "content": None, "tool_calls": [CALL]},
                                {"role": "tool", "tool_call_id": "c1", "content": "4"}],
}


@pytest.mark.parametrize("model", ["smollm2", "gemma"])
@pytest.mark.parametrize("name", DEFINED)
def test_unusual_messages_are_no_crash(server, model, name):  # row 15
    body = {"model": model, "max_tokens": 2, "messages": DEFINED[name]}
    answer = server.post(CHAT, body)
    assert answer.status_code in (200, 400), answer.text
    if answer.status_code == 400:
        assert answer.json()["error"]["param"].startswith("messages")


FIELDS = [  # row 20 and its kind
    ("n", 0), ("n", 17), ("n", "1"), ("n", 1.5), ("top_logprobs", 2),
    ("stream", "yes"), ("stream", 1), ("max_tokens", "4"),
    ("max_tokens", 1e300), ("temperature", [1]), ("stop", {"a": 1}), ("stream_options", True),
    ("logit_bias", {"7": "x"}), ("keep_alive", True), ("keep_alive", "5 parsecs"), ("ttl", "soon"),
    ("ignore_eos", "no"), ("cache_prompt", 1), ("top_k", 0.5),
]


@pytest.mark.parametrize("field, value", FIELDS)
def test_bad_fields_name_themselves(server, field, value):  # row 20
    body = {"model": "smollm2", "messages": [USER], field: value}
    answer = server.post(CHAT, body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"].startswith(field)


@pytest.mark.parametrize("model", [None, 7, "", ["smollm2"], {"name": "smollm2"}])
def test_bad_model_field(server, model):
    assert_refused(server.post(CHAT, {"model": model, "messages": [USER]}), "model")


# ---- row 19: the context ----

CONTEXT = 256


@pytest.fixture
def small_context(new_server):
    return new_server(f"context = {CONTEXT}")


def prompt_of(server, tokens):
    """A text of exactly so many tokens."""
    text = " and" * 20
    spare = tokens - server.complete(text, max_tokens=1)["usage"]["prompt_tokens"]
    return text + " and" * spare


def test_prompts_around_the_context(small_context):  # row 19
    server = small_context
    for over in (CONTEXT + 1, 3 * CONTEXT):
        answer = server.post("/v1/completions",
                             {"model": "smollm2", "prompt": prompt_of(server, over)})
        error = answer.json()["error"]
        assert answer.status_code == 400
        assert error["type"] == "exceed_context_size_error"
        assert error["n_prompt_tokens"] == over
        assert error["n_ctx"] == CONTEXT
    reply = server.complete(prompt_of(server, CONTEXT - 1), max_tokens=50)
    assert reply["usage"]["prompt_tokens"] == CONTEXT - 1
    assert reply["usage"]["completion_tokens"] >= 1
    assert reply["choices"][0]["finish_reason"] in ("length", "stop")
    exact = server.post("/v1/completions", {"model": "smollm2", "max_tokens": 5,
                                            "prompt": prompt_of(server, CONTEXT)})
    if exact.status_code == 400:
        assert exact.json()["error"]["n_prompt_tokens"] == CONTEXT
    else:
        assert exact.json()["choices"][0]["finish_reason"] == "length"


def test_replies_end_at_the_context(small_context):  # row 19
    reply = small_context.complete(prompt_of(small_context, CONTEXT - 10), max_tokens=500,
                                   ignore_eos=True)
    assert reply["choices"][0]["finish_reason"] == "length"
    assert reply["usage"]["total_tokens"] <= CONTEXT + 1


def test_system_alone_over_the_context(small_context):  # row 19
    messages = [{"role": "system", "content": prompt_of(small_context, CONTEXT)}, USER]
    answer = small_context.post(CHAT, {"model": "smollm2", "messages": messages})
    assert answer.status_code == 400
    assert answer.json()["error"]["n_ctx"] == CONTEXT


# ---- row 21: what a stream ends with ----

@pytest.mark.parametrize("options, expected", [
    ({"include_usage": True}, 1), ({"include_usage": False}, 0), (None, 0), ({}, 0)])
def test_only_the_asked_for_usage_chunk(server, options, expected):  # row 21
    body = {"model": "smollm2", "messages": [USER], "max_tokens": 3}
    if options is not None:
        body["stream_options"] = options
    *chunks, done = server.stream(CHAT, body)
    assert done == "[DONE]"
    assert sum("usage" in c and c["usage"] is not None for c in chunks) == expected
    assert [c["choices"] for c in chunks].count([]) == expected
    if expected:
        assert chunks[-1]["choices"] == []
        assert chunks[-1]["usage"]["completion_tokens"] == 3


# ---- row 23: embeddings ----

@pytest.mark.parametrize("model", ["smollm2", "gemma"])
def test_embeddings_of_a_chat_model(server, model):  # row 23
    answer = server.post("/v1/embeddings", {"model": model, "input": "Hello"})
    assert answer.status_code in (200, 400), answer.text
    if answer.status_code == 200:
        vector = answer.json()["data"][0]["embedding"]
        assert len(vector) == server.model(model)["embedding_length"]
        assert any(vector)


@pytest.mark.parametrize("value, field", [
    (None, "input"), ([], "input"), ("", "input"), (["a", 7], "input[1]"), ({"a": 1}, "input")])
def test_bad_embedding_inputs(server, value, field):  # row 23
    assert_refused(server.post("/v1/embeddings", {"model": "smollm2", "input": value}), field)


def test_embedding_over_the_context(small_context):  # rows 19, 23
    answer = small_context.post("/v1/embeddings", {
        "model": "smollm2", "input": prompt_of(small_context, 2 * CONTEXT)})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["type"] == "exceed_context_size_error"


# ---- HTTP itself ----

@pytest.mark.parametrize("method, path, status", [
    ("GET", CHAT, 405), ("POST", "/health", 405), ("GET", "/nothing", 404),
    ("GET", "/v1/nothing", 404), ("PUT", "/v1/models", 405)])
def test_wrong_routes(server, method, path, status):
    answer = server.http.request(method, path)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize("headers", [
    {"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"}])
def test_foreign_sites_are_refused(server, headers):
    body = json.dumps({"model": "smollm2", "messages": [USER]})
    answer = server.http.post(CHAT, content=body, headers=headers)
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_a_body_over_the_limit_is_413(new_server):
    server = new_server("max_body_mib = 1", model=None)
    answer = send(server, CHAT, b" " * (1 << 21))
    assert answer.status_code == 413
    assert server.get("/health").status_code == 200
