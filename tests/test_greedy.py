# SPDX-License-Identifier: Apache-2.0
"""The most probable text is the engine's own: a plain loop's, and llama-server's."""

import os
import subprocess
from contextlib import contextmanager

import pytest

from support.peer import LLAMA_SERVER, Peer
from support.server import GEMMA, HEARTH, SMOLLM2, Server

FILES = {"smollm2": SMOLLM2, "gemma": GEMMA}
LENGTH = 24
PROMPTS = [
    "The capital of France is",
    "Once upon a time, in a small village by the sea,",
    "def fibonacci(n):\n",
    "Zutaten für einen Kuchen: \U0001f370 Mehl,",
    " ".join(f"{n} and {n + 1} make {2 * n + 1}." for n in range(24)),
]


@contextmanager
def serving(folder, config):
    server = Server(folder / "data", config).start()
    try:
        for name, path in FILES.items():
            server.import_model(path, name)
        yield server
        server.stop()
    finally:
        server.kill()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Threads that follow the free CPUs change the order of sums; with `exact` they do not."""
    with serving(tmp_path_factory.mktemp("exact"), "exact = true\n") as server:
        yield server


def reference(model, prompt):
    worker = HEARTH.parent / "hearth-worker"
    done = subprocess.run([worker, "--reference", FILES[model], prompt, str(LENGTH)],
                          stdout=subprocess.PIPE, timeout=90, check=True)
    return done.stdout.decode(errors="replace").removesuffix("\n")


def fresh(server, model):
    """No other sequence's cells lie before this one's: their place changes the order of sums, and with
    it which of two almost equal tokens comes first."""
    server.ok("/api/hearth/unload", {"model": model})


def greedy(server, model, prompt, **more):
    fresh(server, model)
    reply = server.complete(prompt, model=model, max_tokens=LENGTH, cache_prompt=False, **more)
    return reply["choices"][0]["text"]


@pytest.mark.parametrize("prompt", PROMPTS, ids=range(len(PROMPTS)))
@pytest.mark.parametrize("model", FILES)
def test_equals_a_plain_loop(server, model, prompt):
    assert greedy(server, model, prompt).rstrip("\n") == reference(model, prompt).rstrip("\n")


@pytest.fixture(scope="module")
def one_thread(tmp_path_factory):
    """`exact` keeps no prefixes; one thread does as well."""
    with serving(tmp_path_factory.mktemp("one"), "threads = 1\n") as server:
        yield server


@pytest.mark.parametrize("model", FILES)
def test_a_reused_prefix_changes_nothing(one_thread, model):
    server = one_thread
    whole = greedy(server, model, PROMPTS[4])
    server.complete(PROMPTS[4][:200], model=model)
    reused = server.complete(PROMPTS[4], model=model, max_tokens=LENGTH)
    assert reused["choices"][0]["text"] == whole


@pytest.fixture(scope="module", params=FILES)
def peer(request):
    if not LLAMA_SERVER.exists():
        pytest.skip("build/peers/llama-server is not built (make peers)")
    # Checkpoints of its context would split the prompt, and so change the order of its sums.
    peer = Peer(FILES[request.param], "-c", 8192, "-np", 1, "-t", os.cpu_count(),
                "--ctx-checkpoints", 0)
    try:
        yield request.param, peer.ready()
    finally:
        peer.stop()


@pytest.mark.parametrize("prompt", PROMPTS, ids=range(len(PROMPTS)))
def test_equals_llama_server(server, peer, prompt):
    model, other = peer
    body = {"prompt": prompt, "temperature": 0, "max_tokens": LENGTH, "cache_prompt": False}
    theirs = other.http.post("/v1/completions", json=body).json()
    fresh(server, model)
    ours = server.complete(prompt, model=model, max_tokens=LENGTH, cache_prompt=False)
    assert ours["choices"][0]["text"] == theirs["choices"][0]["text"]
    assert ours["usage"]["prompt_tokens"] == theirs["usage"]["prompt_tokens"]


def test_chats_equal_llama_server(server, peer):
    model, other = peer
    messages = [{"role": "user", "content": "Name three rivers."},
                {"role": "assistant", "content": "Rhine, Nile, Amazon."},
                {"role": "user", "content": "And three mountains?"}]
    body = {"model": model, "messages": messages, "temperature": 0, "max_tokens": LENGTH,
            "cache_prompt": False}
    theirs = other.http.post("/v1/chat/completions", json=body).json()
    fresh(server, model)
    ours = server.ok("/v1/chat/completions", body)
    assert ours["usage"]["prompt_tokens"] == theirs["usage"]["prompt_tokens"], "the same template"
    assert ours["choices"][0]["message"]["content"] == theirs["choices"][0]["message"]["content"]
    assert ours["choices"][0]["finish_reason"] == theirs["choices"][0]["finish_reason"]
