# SPDX-License-Identifier: Apache-2.0
"""What Ollama's API refuses, and what it takes because it asks for nothing."""

import socket

import ollama
import pytest

from support.ollama_api import GREEDY, HELLO, client_of, generate
from support.server import GEMMA


@pytest.fixture
def client(server):
    return client_of(server)


def test_unknown_models(server, client):
    for call in (lambda: client.chat("nobody", messages=HELLO), lambda: client.show("nobody"),
                 lambda: client.generate("nobody", "Hi"), lambda: client.embed("nobody", "Hi"),
                 lambda: client.generate("nobody"), lambda: client.delete("nobody")):
        with pytest.raises(ollama.ResponseError) as refused:
            call()
        assert refused.value.status_code == 404
        assert "not found" in refused.value.error and "nobody" in refused.value.error


@pytest.mark.parametrize("more, field", [
    ({"options": {"temprature": 1}}, "options.temprature"),
    ({"options": {"use_mlock": True}}, "options.use_mlock"),
    ({"options": {"num_thread": 3}}, "options.num_thread"),
    ({"options": {"mirostat": 1}}, "options.mirostat"),
    ({"options": {"temperature": "hot"}}, "options.temperature"),
    ({"suffix": "x"}, "suffix"),
    ({"template": "x"}, "template"),
    ({"raw": True, "system": "x"}, "system"),
    ({"top_logprobs": 3}, "top_logprobs"),
    ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
    ({"shift": True}, "shift"),
    ({"format": "xml"}, "format"),
    ({"think": "deeply"}, "think"),
    ({"stream": 1}, "stream"),
])
def test_refused_by_name(server, more, field):
    answer = server.post("/api/generate", {"model": "smollm2", "prompt": "Hi", **more})
    assert answer.status_code == 400, answer.text
    assert answer.json()["field"] == field
    assert field.split(".")[-1] in answer.json()["error"]


NEUTRAL = {"num_gpu": -1, "main_gpu": 0, "use_mmap": True, "use_mlock": False, "num_thread": 0,
           "num_batch": 512, "mirostat": 0, "mirostat_tau": 5.0, "mirostat_eta": 0.1, "tfs_z": 1,
           "penalize_newline": True, "numa": False, "low_vram": False, "vocab_only": False,
           "f16_kv": True, "logits_all": False}


def test_options_that_ask_for_nothing_change_nothing(server):
    plain = generate(server, "Say hello.")["response"]
    assert generate(server, "Say hello.", options=NEUTRAL)["response"] == plain
    nothing = dict.fromkeys(NEUTRAL)
    assert generate(server, "Say hello.", options=nothing)["response"] == plain


@pytest.mark.parametrize("image", [
    "aGk=", "not base64!", "file:///etc/passwd", "http://169.254.169.254/", "LISTENER",
    "http://127.0.0.1:1/a.png", "data:image/png;base64," + "A" * 1_000_000])
def test_images_are_refused_and_never_fetched(server, image):  # row 25
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/a.png"
        images = [address if image == "LISTENER" else image]
        message = {"role": "user", "content": "What is this?", "images": images}
        for path, body in (("/api/chat", {"messages": [message]}),
                           ("/api/generate", {"prompt": "What is this?", "images": images})):
            answer = server.post(path, {"model": "smollm2", **body})
            assert answer.status_code == 400, answer.text
            assert "images" in answer.json()["field"]
        with pytest.raises(TimeoutError):
            listener.accept()


NAMES = ["../../etc/passwd", "a/../../b", "%2e%2e%2f", "/etc/passwd", "a\0b", "a" * 10_000,
         "sha256:../../x", "a b", "a\nb", ".", "é"]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name[:20]))
def test_bad_names(server, name):  # row 31
    calls = [("POST", path, {"model": name}) for path in
             ("/api/generate", "/api/chat", "/api/embed", "/api/embeddings", "/api/show")]
    calls += [("DELETE", "/api/delete", {"model": name}),
              ("POST", "/api/generate", {"model": name, "keep_alive": 0}),
              ("POST", "/api/copy", {"source": name, "destination": "fine"}),
              ("POST", "/api/copy", {"source": "smollm2", "destination": name})]
    before = sorted(path.name for path in server.data.rglob("*"))
    for method, path, body in calls:
        answer = server.http.request(method, path, json=body)
        assert answer.status_code == 400, (path, answer.text)
        assert str(server.data) not in answer.text and "root:" not in answer.text
        assert len(answer.text) < 2000
    assert [n for n in sorted(p.name for p in server.data.rglob("*")) if n not in before] == []


@pytest.mark.parametrize("path", ["/api/chat", "/api/generate", "/api/embed", "/api/show",
                                  "/api/copy"])
@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{", b'{"model":5}'])
def test_bad_bodies(server, path, body):
    answer = server.http.post(path, content=body)
    assert answer.status_code == 400
    assert isinstance(answer.json()["error"], str)


def test_a_model_without_chat_template(server):
    reply = server.ok("/api/chat", {"model": "gemma", "messages": HELLO, "stream": False,
                                    "options": GREEDY})
    assert reply["done"] and GEMMA.exists()
