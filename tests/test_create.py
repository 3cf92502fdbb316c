# SPDX-License-Identifier: Apache-2.0
"""Models made from others, with the official Ollama client and by hand."""

import hashlib

import httpx
import ollama
import pytest

from support.server import SMOLLM2

MIB = 1 << 20


@pytest.fixture
def fresh(new_server):
    return new_server("stores = []\n")


def client_of(server):
    return ollama.Client(host=server.url, trust_env=False)


def test_from_a_model_with_other_settings(fresh):
    client = client_of(fresh)
    client.create(model="pirate", from_="smollm2", system="You are a pirate. Say arr.",
                  parameters={"temperature": 0, "num_predict": 5, "stop": ["."]})
    shown = client.show("pirate")
    assert shown.model_dump()["modelfile"]
    assert "num_predict" in shown.parameters
    first = client.chat(model="pirate", messages=[{"role": "user", "content": "Hello"}])
    assert first.eval_count <= 5
    own = client.chat(model="pirate", messages=[{"role": "user", "content": "Hello"}],
                      options={"num_predict": 2})
    assert own.eval_count <= 2, "what the client says goes first"
    said = client.chat(model="smollm2", options={"num_predict": 2}, messages=[
        {"role": "system", "content": "You are a pirate. Say arr."},
        {"role": "user", "content": "Hello"}])
    assert first.prompt_eval_count == said.prompt_eval_count, "the system message is in the prompt"
    openai = fresh.ok("/v1/chat/completions", {
        "model": "pirate", "messages": [{"role": "user", "content": "Hello"}]})
    assert openai["usage"]["completion_tokens"] <= 5
    assert fresh.model("pirate")["artifact"] == fresh.model("smollm2")["artifact"]


def test_a_template_of_its_own(fresh):
    template = "{% for m in messages %}{{ m.content }}{% endfor %}"
    fresh.ok("/api/hearth/create", {"name": "bare", "from": "smollm2", "template": template})
    counted = [fresh.chat("Hello", model=name, max_tokens=1)["usage"]["prompt_tokens"]
               for name in ("bare", "smollm2")]
    assert counted[0] < counted[1]
    assert fresh.model("bare")["settings"]["template_runs"] is True


def test_blobs_are_uploaded_once(fresh):
    client = client_of(fresh)
    digest = client.create_blob(SMOLLM2)
    assert fresh.http.head(f"/api/blobs/{digest}").status_code == 200
    client.create(model="uploaded", files={"model.gguf": digest})
    assert fresh.model("uploaded")["store"] == "hearth"
    assert fresh.chat("Hi", model="uploaded")["choices"]
    missing = "sha256:" + "0" * 64
    assert fresh.http.head(f"/api/blobs/{missing}").status_code == 404


@pytest.mark.parametrize("digest", ["sha256:../x", "sha256:" + "g" * 64, "md5:" + "0" * 32, "x"])
def test_digests_that_are_none(fresh, digest):
    before = sorted(fresh.data.rglob("*"))
    assert fresh.http.post(f"/api/blobs/{digest}", content=b"x").status_code in (400, 404)
    assert sorted(fresh.data.rglob("*")) == before


def test_a_blob_that_is_not_its_digest(fresh):
    digest = "sha256:" + hashlib.sha256(b"something else").hexdigest()
    answer = fresh.http.post(f"/api/blobs/{digest}", content=b"something")
    assert answer.status_code == 400
    assert fresh.http.head(f"/api/blobs/{digest}").status_code == 404
    blobs = fresh.data / "models/blobs"
    assert not blobs.exists() or list(blobs.iterdir()) == []


def test_a_large_upload_takes_no_memory(fresh):
    from support import procfs
    before = procfs.rss_bytes(fresh.pid)
    most = 0

    def pieces():
        nonlocal most
        for number in range(300):
            if number % 20 == 0:
                most = max(most, procfs.rss_bytes(fresh.pid))
            yield bytes([number % 251]) * MIB

    digest = hashlib.sha256(b"".join(bytes([n % 251]) * MIB for n in range(300))).hexdigest()
    answer = httpx.post(f"{fresh.url}/api/blobs/sha256:{digest}", content=pieces(), timeout=60,
                        trust_env=False)
    assert answer.status_code == 201, answer.text
    assert most - before < 32 * MIB


@pytest.mark.parametrize("body, field", [
    ({"model": "x"}, "from"), ({"model": "../x", "from": "smollm2"}, "name"),
    ({"model": "x", "from": "smollm2", "quantize": "q4_0"}, "quantize"),
    ({"model": "x", "from": "smollm2", "parameters": {"temprature": 1}}, "temprature"),
])
def test_what_cannot_be_made(fresh, body, field):
    answer = fresh.post("/api/create", {**body, "stream": False})
    assert answer.status_code in (400, 501), answer.text
    assert field in answer.text
