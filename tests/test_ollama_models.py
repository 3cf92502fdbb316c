# SPDX-License-Identifier: Apache-2.0
"""Ollama's lists of models, what changes them, and its embeddings."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import ollama
import pytest

from support import procfs
from support.ollama_api import GREEDY, client_of
from support.waiting import eventually


@pytest.fixture
def client(server):
    return client_of(server)


# ---- models ----

def test_list(server, client):
    models = {m.model: m for m in client.list().models}
    assert {"smollm2:latest", "gemma:latest"} <= set(models)
    model = models["smollm2:latest"]
    assert len(model.digest) == 64 and int(model.digest, 16)
    assert model.size == server.model()["size"]
    assert model.details.parent_model == "" and model.details.format == "gguf"
    assert model.details.family == "llama" and model.details.families == ["llama"]
    assert model.details.parameter_size == "134.52M"
    assert model.details.quantization_level == "Q4_1"
    entry = next(m for m in server.ok("/api/tags")["models"] if m["name"] == "smollm2:latest")
    assert set(entry) == {"name", "model", "modified_at", "size", "digest", "details",
                          "capabilities"}
    assert "completion" in entry["capabilities"]
    assert server.http.head("/api/tags").status_code == 200


def test_ps(server, client):
    client.generate("smollm2", "Hi", options=GREEDY)
    model = next(m for m in client.ps().models if m.name == "smollm2:latest")
    assert model.size > 0 and model.size_vram >= 0
    assert model.context_length > 0
    assert model.expires_at > datetime.now(timezone.utc) + timedelta(days=10_000)
    entry = next(m for m in server.ok("/api/ps")["models"] if m["name"] == "smollm2:latest")
    assert set(entry) == {"name", "model", "size", "digest", "details", "expires_at", "size_vram",
                          "context_length"}
    server.unload()
    assert "smollm2:latest" not in [m["name"] for m in server.ok("/api/ps")["models"]]


def test_show(server, client):
    shown = client.show("smollm2")
    assert shown.details.family == "llama"
    assert shown.modelinfo["general.architecture"] == "llama"
    assert shown.modelinfo["llama.context_length"] == 8192
    assert shown.modelinfo["general.parameter_count"] == 134_515_008
    assert shown.modelinfo["tokenizer.ggml.tokens"] is None
    assert "messages" in shown.template
    assert "completion" in shown.capabilities and "thinking" not in shown.capabilities
    assert "FROM " in shown.modelfile
    whole = server.ok("/api/show", {"name": "smollm2"})
    assert whole["tensors"] and set(whole["tensors"][0]) == {"name", "type", "shape"}


def test_copy_and_delete(server, client):
    client.copy("smollm2", "copy-of-smollm2")
    try:
        names = {m.model: m.digest for m in client.list().models}
        assert names["copy-of-smollm2:latest"] == names["smollm2:latest"]
        assert client.generate("copy-of-smollm2", "Hi", options=GREEDY).response
        assert server.worker_pid("copy-of-smollm2") == server.worker_pid()
    finally:
        assert client.delete("copy-of-smollm2").status == "success"
    with pytest.raises(ollama.ResponseError) as refused:
        client.delete("copy-of-smollm2")
    assert refused.value.status_code == 404 and "not found" in refused.value.error
    assert client.generate("smollm2", "Hi", options=GREEDY).response
    assert server.post("/api/copy", {"source": "nobody", "destination": "b"}).status_code == 404


def test_a_model_deleted_while_it_streams(new_server):  # row 33
    server = new_server()
    body = {"model": "smollm2", "prompt": "Count to a million.", "options": {"num_predict": 150}}
    with server.http.stream("POST", "/api/generate", json=body) as response:
        lines = response.iter_lines()
        next(lines)
        worker = server.worker_pid()
        with ThreadPoolExecutor(1) as pool:
            removed = pool.submit(server.http.request, "DELETE", "/api/delete",
                                  json={"model": "smollm2"})
            last = json.loads(list(lines)[-1])
            assert removed.result().status_code == 200
    assert last["done"] and last["done_reason"] in ("stop", "length")
    assert server.post("/api/generate", {"model": "smollm2"}).status_code == 404
    eventually(lambda: not procfs.is_alive(worker), "the worker is gone")


def test_version(server):
    version = server.ok("/api/version")
    assert [int(part) for part in version["version"].split(".")] >= [0, 12, 0]
    assert version["hearth"] == server.ok("/api/hearth/version")["version"]
    assert server.http.head("/api/version").status_code == 200


# ---- embeddings ----

def test_embed(server, client):
    texts = ["The cat sits on the mat.", "A stock exchange."]
    both = client.embed("smollm2", texts)
    assert len(both.embeddings) == 2 and both.prompt_eval_count > 0
    assert both.load_duration is not None
    one = client.embed("smollm2", texts[0])
    assert one.embeddings[0] == pytest.approx(both.embeddings[0], abs=1e-3)
    old = client.embeddings("smollm2", texts[0])
    assert old.embedding == pytest.approx(both.embeddings[0], abs=1e-3)
    openai = server.ok("/v1/embeddings", {"model": "smollm2", "input": texts[0]})
    assert openai["data"][0]["embedding"] == pytest.approx(one.embeddings[0], abs=1e-3)


def test_embed_shortens_vectors_when_asked(client):
    whole = client.embed("smollm2", "A cat.").embeddings[0]
    short = client.embed("smollm2", "A cat.", dimensions=8).embeddings[0]
    assert len(short) == 8 and sum(x * x for x in short) == pytest.approx(1, abs=1e-4)
    assert short[0] / short[1] == pytest.approx(whole[0] / whole[1], rel=1e-2)


def test_embed_of_nothing_loads(new_server):
    server = new_server()
    assert client_of(server).embed("smollm2", []).embeddings == []
    assert [m["name"] for m in server.ok("/api/ps")["models"]] == ["smollm2:latest"]
    assert client_of(server).embeddings("smollm2", "").embedding == []


@pytest.mark.parametrize("value", [5, [5], ["a", ""], {"a": 1}])
def test_embed_refuses_what_is_no_text(server, value):
    answer = server.post("/api/embed", {"model": "smollm2", "input": value})
    assert answer.status_code == 400
    assert answer.json()["field"].startswith("input")
