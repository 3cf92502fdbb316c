# SPDX-License-Identifier: Apache-2.0
"""One budget for all models: who comes in when memory is short, who goes down for whom, and what is
said of it."""

import threading

import pytest

from support import procfs
from support.server import GEMMA, SMOLLM2
from support.waiting import eventually

MIB = 1 << 20
PROMPT = "1, 2, 3, 4, 5, 6, 7, 8,"


def level(server, name):
    return server.model(name)["layers"]["weights"]["level"]


def memory(server):
    return server.ok("/api/hearth/memory")


def moves(server, **like):
    made = server.ok("/api/hearth/moves")["moves"]
    return [m for m in made if all(m.get(k) == v for k, v in like.items())]


def held(server, name):
    return sum(h["bytes"] for h in memory(server)["held"] if h["model"] == name)


def needs(server, name):
    """What a load of it wants, as its worker says."""
    server.load(name)
    need = server.model(name)["need"]
    server.unload(name)
    return sum(need[k] for k in ("weights_bytes", "mapped_bytes", "context_bytes",
                                 "compute_bytes")) / MIB


@pytest.fixture(scope="module")
def sizes(tmp_path_factory):
    """MiB that loads of both models want."""
    from support.server import Server
    server = Server(tmp_path_factory.mktemp("sizes") / "data").start()
    try:
        server.import_model(SMOLLM2, "smollm2")
        server.import_model(GEMMA, "gemma")
        yield {name: needs(server, name) for name in ("smollm2", "gemma")}
        server.stop()
    finally:
        server.kill()


@pytest.fixture
def tight(new_server, sizes):
    """Room for either model, and not for both."""
    most = max(sizes.values())
    server = new_server(f"memory_mib = {int(most + 0.5 * min(sizes.values()) + 60)}\n")
    server.import_model(GEMMA, "gemma")
    return server


def test_one_model_goes_down_for_another(tight):
    tight.complete(PROMPT)
    reply = tight.complete(PROMPT, "gemma")
    assert reply["choices"][0]["text"]
    assert (level(tight, "smollm2"), level(tight, "gemma")) == ("hollow", "resident")
    made = moves(tight, cause="evicted_for")
    assert made and made[-1]["for"].startswith("gemma") and made[-1]["bytes"] > 50 * MIB
    back = tight.complete(PROMPT)
    assert back["hearth"]["verdict"]["code"] == "weights.evicted_for", back["hearth"]["verdict"]
    assert level(tight, "gemma") == "hollow"
    assert tight.metric("hearth_moves_total", cause="evicted_for") >= 2


def test_what_cannot_fit_is_refused_with_the_numbers_and_nothing_goes_for_it(new_server, sizes):
    server = new_server(f"memory_mib = {int(sizes['smollm2'] + 60)}\n")
    server.import_model(GEMMA, "gemma")
    if sizes["gemma"] < sizes["smollm2"] + 60:
        server.ok("/api/hearth/pin", {"model": "smollm2", "layer": "weights"})
        eventually(lambda: level(server, "smollm2") == "resident", "the pin holds")
    server.complete(PROMPT)
    refused = server.post("/v1/completions", {"model": "gemma", "prompt": PROMPT})
    assert refused.status_code == 503, refused.text
    message = refused.json()["error"]["message"]
    assert "does not fit into memory" in message and "iB" in message, message
    assert level(server, "smollm2") == "resident"
    assert not moves(server, layer="weights", to="hollow")


def test_a_pin_stands_in_the_way_and_is_named(tight):
    tight.ok("/api/hearth/pin", {"model": "smollm2", "layer": "weights"})
    eventually(lambda: level(tight, "smollm2") == "resident", "the pin holds")
    refused = tight.post("/v1/completions", {"model": "gemma", "prompt": PROMPT})
    assert refused.status_code == 503, refused.text
    assert "smollm2" in refused.json()["error"]["message"]
    tight.ok("/api/hearth/unpin", {"model": "smollm2"})
    assert tight.complete(PROMPT, "gemma")["choices"][0]["text"]


def test_both_models_get_their_turn(tight):
    """Whoever waits for a load is served before it goes again; nobody starves."""
    replies = {}

    def ask(i):
        name = ("smollm2", "gemma")[i % 2]
        replies[i] = tight.post("/v1/completions", {"model": name, "prompt": f"{PROMPT} {i}",
                                                    "max_tokens": 4})

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [r.status_code for r in replies.values()] == [200] * 16
    assert len(moves(tight, cause="evicted_for", layer="weights")) <= 6


def test_a_lowered_budget_is_given_back(new_server, sizes):
    server = new_server("memory_mib = 4096\n")
    server.import_model(GEMMA, "gemma")
    server.complete(PROMPT)
    server.complete(PROMPT, "gemma")
    server.config.write_text(f"memory_mib = {int(max(sizes.values()) + 60)}\n")
    server.ok("/api/hearth/config/reload", {})
    eventually(lambda: memory(server)["over_bytes"] == 0, "it holds within the new limit")
    assert moves(server, cause="pressure")
    assert "resident" in (level(server, "smollm2"), level(server, "gemma"))
    assert server.complete(PROMPT)["choices"][0]["text"]


def test_a_budget_that_the_machine_does_not_have_is_cut_and_said(new_server):
    server = new_server("memory_mib = 8000000\n")
    server.output.wait_for("memory.limit_too_large", 5)
    assert memory(server)["limit_bytes"] < 8000000 * MIB


def test_the_account_is_the_kernels(server):
    server.complete(PROMPT)
    server.complete(PROMPT, "gemma")

    def agrees():
        told = memory(server)
        assert sum(h["bytes"] for h in told["held"]) == told["held_bytes"]
        for name in ("smollm2", "gemma"):
            kernel = procfs.rss_bytes(server.worker_pid(name))
            if abs(held(server, f"{name}:latest") - kernel) > 0.05 * kernel:
                return False
        return True

    eventually(agrees, "within a twentieth of what the kernel counts")


def test_moves_come_as_events_too(tight):
    tight.complete(PROMPT)
    seen = []

    def listen():
        with tight.http.stream("GET", "/api/hearth/events") as response:
            for line in response.iter_lines():
                seen.append(line)
                if '"evicted_for"' in line:
                    return

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    eventually(lambda: seen, "the stream begins")
    tight.complete(PROMPT, "gemma")
    listener.join(10)
    assert any('"evicted_for"' in line for line in seen)
