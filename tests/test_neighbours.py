# SPDX-License-Identifier: Apache-2.0
"""Beside others that want the machine too: memory that is taken away, workers that are killed, limits
that fall while replies are under way, services that come first and go."""

import contextlib
import http.server
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from support import procfs
from support.memory_group import MemoryGroup, Neighbour, NoGroup
from support.ollama_api import generate
from support.server import GEMMA
from support.waiting import eventually

MIB = 1 << 20
PROMPT = "1, 2, 3, 4, 5, 6, 7, 8,"
NAMES = ("smollm2", "gemma")
# Nothing but models and what they need is in the account.
PLAIN = "prefix_memory_mib = 0\nprewarm = false\n"


def level(server, name):
    return server.model(name)["layers"]["weights"]["level"]


def memory(server):
    return server.ok("/api/hearth/memory")


def moves_down(server):
    return [m for m in server.ok("/api/hearth/moves")["moves"]
            if m["cause"] == "pressure" and m["bytes"] > 0 and not m.get("error")]


def held(server, name):
    return sum(h["bytes"] for h in memory(server)["held"] if h["model"] == f"{name}:latest")


def both_loaded(server):
    server.import_model(GEMMA, "gemma")
    for name in NAMES:
        server.complete(PROMPT, name)
    eventually(lambda: all(held(server, name) > 50 * MIB for name in NAMES), "both are counted")
    return server


# ---- memory that is taken away ----

@pytest.fixture
def group():
    try:
        made = MemoryGroup(1024 * MIB)
    except NoGroup as why:
        pytest.skip(f"no memory cgroup: {why}")
    yield made
    made.remove()


@pytest.fixture
def grouped(group, new_server):
    """A server that has both models loaded, in the group."""
    return both_loaded(new_server(PLAIN + "memory_reserve_mib = 128\n", within=group.within()))


@contextlib.contextmanager
def neighbour_in(group, size):
    neighbour = Neighbour(group, size)
    try:
        yield neighbour
    finally:
        neighbour.kill()


def test_a_neighbour_gets_all_that_is_free(group, grouped):
    size = group.size - group.anonymous() - 24 * MIB
    with neighbour_in(group, size) as neighbour:
        assert neighbour.has_all()
        eventually(lambda: moves_down(grouped), "memory is given back", 20)
        assert "hollow" in [level(grouped, name) for name in NAMES]
        assert neighbour.leave() == 0
    assert group.killed() == 0
    for name in NAMES:
        assert grouped.complete(PROMPT, name)["choices"][0]["text"]
    assert all(level(grouped, name) == "resident" for name in NAMES)


def test_requests_beside_it_are_answered_or_refused_with_reasons(group, grouped):
    size = group.size - group.anonymous() - 24 * MIB
    with neighbour_in(group, size) as neighbour, ThreadPoolExecutor(4) as pool:
        body = {"prompt": PROMPT, "max_tokens": 8, "temperature": 0}
        answers = list(pool.map(lambda n: grouped.post(
            "/v1/completions", {**body, "model": NAMES[n % 2]}), range(24)))
        assert neighbour.has_all()
        assert neighbour.leave() == 0
    for answer in answers:
        assert answer.status_code in (200, 503), answer.text
        if answer.status_code == 503:
            assert "memory" in answer.json()["error"]["message"]
    assert group.killed() == 0
    for name in NAMES:
        assert grouped.complete(PROMPT, name)["choices"][0]["text"]


def test_a_limit_that_falls_is_seen(group, grouped):
    before = memory(grouped)
    assert before["cgroup"]["limit"] == group.size
    group.limit(group.anonymous() + 200 * MIB)
    eventually(lambda: memory(grouped)["cgroup"]["limit"] < before["cgroup"]["limit"], "it is read")
    eventually(lambda: moves_down(grouped), "memory is given back", 20)
    eventually(lambda: memory(grouped)["over_bytes"] == 0, "it holds within the new limit", 20)
    group.limit(1024 * MIB)
    for name in NAMES:
        assert grouped.complete(PROMPT, name)["choices"][0]["text"]
    assert group.killed() == 0


def test_a_budget_lowered_under_a_reply_waits_for_its_end(new_server):
    server = both_loaded(new_server(PLAIN))
    body = {"model": "smollm2", "prompt": PROMPT, "max_tokens": 200, "temperature": 0,
            "ignore_eos": True}
    events = server.stream("/v1/completions", body)
    next(events)
    server.config.write_text(PLAIN + "memory_mib = 64\n")
    server.ok("/api/hearth/config/reload", {})
    eventually(lambda: level(server, "gemma") in ("hollow", "none"), "the idle one goes")
    rest = list(events)
    assert rest[-1] == "[DONE]" and rest[-2]["choices"][0]["finish_reason"] == "length"
    eventually(lambda: level(server, "smollm2") in ("hollow", "none"), "then the other one")
    refused = server.post("/v1/completions", {"model": "gemma", "prompt": PROMPT})
    assert refused.status_code == 503 and "as configured" in refused.text, refused.text
    server.config.write_text(PLAIN)
    server.ok("/api/hearth/config/reload", {})
    assert server.complete(PROMPT, "gemma")["choices"][0]["text"]


# ---- a worker that the kernel ends ----

def agrees_with_the_kernel(server):
    told = memory(server)
    assert sum(h["bytes"] for h in told["held"]) == told["held_bytes"]
    kernel = sum(procfs.rss_bytes(server.worker_pid(name)) for name in NAMES)
    return abs(told["held_bytes"] - kernel) <= 0.05 * kernel


def nothing_is_promised_to_nobody(server):
    # A resident model that holds less than it once did has the difference still promised, rightly.
    for name in NAMES:
        server.unload(name)
    eventually(lambda: memory(server)["promised_bytes"] == 0, "what was promised is given back")


def test_a_killed_worker_is_no_longer_counted_and_others_go_on(new_server):
    server = both_loaded(new_server(PLAIN + "hollow_workers = 0\n"))
    before, kept = held(server, "gemma"), server.worker_pid("smollm2")
    body = {"model": "smollm2", "prompt": PROMPT, "max_tokens": 100, "temperature": 0,
            "ignore_eos": True}
    events = server.stream("/v1/completions", body)
    next(events)
    os.kill(server.worker_pid("gemma"), signal.SIGKILL)
    eventually(lambda: held(server, "gemma") < before / 2, "its memory is not counted any more")
    assert list(events)[-1] == "[DONE]"
    assert server.worker_pid("smollm2") == kept
    assert server.complete(PROMPT, "gemma")["choices"][0]["text"]
    eventually(lambda: agrees_with_the_kernel(server), "the account is the kernel's again")
    nothing_is_promised_to_nobody(server)


def test_workers_killed_while_they_load_leave_no_promise(new_server):
    server = both_loaded(new_server(PLAIN))
    for _ in range(3):
        server.unload("gemma")
        with ThreadPoolExecutor(1) as pool:
            reply = pool.submit(server.post, "/v1/completions",
                                {"model": "gemma", "prompt": PROMPT, "max_tokens": 2})
            eventually(lambda: level(server, "gemma") != "hollow" or reply.done(), "it loads")
            with contextlib.suppress(ProcessLookupError, TypeError):
                os.kill(server.worker_pid("gemma"), signal.SIGKILL)
            assert reply.result().status_code in (200, 503), reply.result().text
    assert server.complete(PROMPT, "gemma")["choices"][0]["text"]
    eventually(lambda: agrees_with_the_kernel(server), "the account is the kernel's")
    nothing_is_promised_to_nobody(server)


# ---- services that come first ----

class Web:
    """A service that answers, until it is ended; it comes back on the same port."""

    class _Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_):
            pass

    def __init__(self, port=0):
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), self._Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def end(self):
        self._server.shutdown()
        self._server.server_close()


def test_a_service_that_vanishes_is_given_nothing_and_found_again(new_server):
    web = Web()
    server = new_server(PLAIN + f'[protected."web"]\nurl = "http://127.0.0.1:{web.port}/"\n')

    def state():
        service, = server.ok("/api/hearth/levels")["protected"]
        assert service["name"] == "web"
        return service["state"]

    assert state() in ("unknown", "well")
    web.end()
    eventually(lambda: state() == "gone", "it is missed", 40)
    service, = server.ok("/api/hearth/levels")["protected"]
    assert service["gave_way"] == []
    assert server.complete(PROMPT)["choices"][0]["text"]
    again = Web(web.port)
    try:
        eventually(lambda: state() in ("unknown", "well"), "it is found again", 40)
    finally:
        again.end()


# ---- many at once, with other options ----

def test_alternating_contexts_of_two_models_load_each_once(new_server):  # row 5
    server = new_server(PLAIN)
    server.import_model(GEMMA, "gemma")
    start = threading.Barrier(20)

    def ask(n):
        start.wait()
        return generate(server, f"Count from {n}.", model=NAMES[n // 2 % 2],
                        options={"num_ctx": (512, 1024)[n % 2], "num_predict": 4})

    with ThreadPoolExecutor(20) as pool:
        replies = list(pool.map(ask, range(20)))
    assert all(reply["done"] for reply in replies)
    assert server.metric("hearth_loads_total") == 2
    for reply in replies:
        assert reply["hearth"]["class"] == "warm" or reply["hearth"]["verdict"]["text"]
