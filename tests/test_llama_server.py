# SPDX-License-Identifier: Apache-2.0
"""What clients of llama.cpp's server ask for beside OpenAI's routes."""

import pytest

from support.waiting import eventually


@pytest.mark.parametrize("model", ["smollm2", "gemma"])
def test_tokens_are_those_that_a_prompt_has(server, model):
    text = "Grüße aus Köln"
    tokens = server.ok("/tokenize", {"model": model, "content": text, "add_special": True})["tokens"]
    as_text = server.complete(text, model=model)
    as_tokens = server.complete(tokens, model=model)
    assert as_text["usage"]["prompt_tokens"] == len(tokens)
    assert as_tokens["choices"][0]["text"] == as_text["choices"][0]["text"]
    plain = server.ok("/tokenize", {"model": model, "content": text})["tokens"]
    assert tokens[-len(plain):] == plain
    assert server.ok("/tokenize", {"model": model, "content": ""}) == {"tokens": []}


def test_tokenizing_loads_nothing(server):
    server.unload()
    assert server.ok("/tokenize", {"model": "smollm2", "content": "Hi"})["tokens"]
    assert server.model()["layers"]["weights"]["level"] != "resident"


def test_props_and_slots(server):
    server.chat("Hi")
    props = server.ok("/props?model=smollm2")
    assert "messages" in props["chat_template"]
    assert props["default_generation_settings"]["params"]["temperature"] == 0.8
    assert props["model_alias"] == "smollm2:latest" and not props["is_sleeping"]
    eventually(lambda: server.ok("/slots?model=smollm2"), "the worker tells its slots")
    slots = server.ok("/slots?model=smollm2")
    assert len(slots) == server.ok("/props?model=smollm2")["total_slots"]
    assert [s["id"] for s in slots] == list(range(len(slots)))
    server.unload()
    assert server.ok("/props?model=smollm2")["is_sleeping"]


def test_a_model_may_go_without_its_name(server):
    server.unload("smollm2")
    server.unload("gemma")
    refused = server.get("/props")  # none is in memory
    assert refused.status_code == 400 and refused.json()["error"]["param"] == "model"
    server.load("gemma")
    assert server.ok("/props")["model_alias"] == "gemma:latest"
    assert server.ok("/tokenize", {"content": "Hi"})["tokens"]


@pytest.mark.parametrize("more", [{"with_pieces": True}, {"parse_special": False}, {"content": 5}])
def test_what_cannot_be_done_is_refused(server, more):
    answer = server.post("/tokenize", {"model": "smollm2", "content": "Hi", **more})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] in more


def test_health(server):
    assert server.ok("/v1/health") == server.ok("/health") == {"status": "ok"}


def test_reranking_is_refused_by_capability(server):
    body = {"model": "smollm2", "query": "Hi", "documents": ["Ho"]}
    answer = server.post("/v1/rerank", body)
    assert answer.status_code == 501
    assert answer.json()["error"]["type"] == "not_supported_error"
    assert server.post("/v1/rerank", {**body, "model": "nobody"}).status_code == 404
    assert server.post("/v1/rerank", {**body, "documents": []}).status_code == 400
