# SPDX-License-Identifier: Apache-2.0
"""The routes that LM Studio's clients load and unload by."""

import pytest

MODELS = "/api/v1/models"


def entry(server, key="smollm2:latest"):
    return next(m for m in server.ok(MODELS)["models"] if m["key"] == key)


def test_models_and_their_instances(server):
    server.unload()
    before = entry(server)
    assert before["type"] == "llm" and before["format"] == "gguf"
    assert before["size_bytes"] > 0 and before["loaded_instances"] == []
    loaded = server.ok(MODELS + "/load", {"model": "smollm2", "echo_load_config": True})
    assert loaded["status"] == "loaded" and loaded["load_time_seconds"] > 0
    after = entry(server)
    assert after["loaded_instances"] == [
        {"id": loaded["instance_id"], "config": loaded["load_config"]}]
    gone = server.ok(MODELS + "/unload", {"instance_id": loaded["instance_id"]})
    assert gone == {"instance_id": "smollm2:latest"}
    assert entry(server)["loaded_instances"] == []


def test_ttl_is_how_long_the_weights_stay(server):
    server.ok(MODELS + "/load", {"model": "smollm2", "ttl": 600})
    assert server.model()["keep_alive"] == "10m0s"
    assert server.model()["keep_alive_source"] == "request"
    server.ok(MODELS + "/load", {"model": "smollm2", "ttl": -1})


@pytest.mark.parametrize("path, body, status", [
    ("load", {}, 400), ("load", {"model": "nobody"}, 404),
    ("load", {"model": "smollm2", "context_length": 7}, 400),
    ("load", {"model": "smollm2", "num_experts": 2}, 400),
    ("unload", {}, 400), ("unload", {"instance_id": "nobody"}, 404),
])
def test_what_cannot_be_done_is_refused(server, path, body, status):
    answer = server.post(f"{MODELS}/{path}", body)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]
