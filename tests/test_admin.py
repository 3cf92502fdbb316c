# SPDX-License-Identifier: Apache-2.0
"""Health, metrics, live events, and what the front weighs."""

import json
import resource
import socket
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from support import procfs
from support.waiting import eventually

MIB = 1 << 20


def test_root_and_health(server):
    assert "Hearth is running" in server.get("/").text
    answer = server.get("/health")
    assert answer.json() == {"status": "ok"}
    assert server.http.head("/health").status_code == 200


def test_version(server):
    about = server.ok("/api/hearth/version")
    assert about["version"] and about["engine"]


def test_the_five_levels(server):
    server.load()
    model = server.model()
    levels = {name: layer["level"] for name, layer in model["layers"].items()}
    assert list(levels) == ["artifact", "pages", "weights", "compiled", "prefix"]
    assert levels["artifact"] in ("local", "verified")
    assert levels["weights"] == "resident"
    assert model["layers"]["pages"]["fraction"] > 0.9
    worker = model["worker"]
    assert procfs.is_alive(worker["pid"]) and worker["backend"] and worker["engine"]
    eventually(lambda: server.model()["worker"]["resident_bytes"] > 50 * MIB, "a heartbeat came")
    server.complete("Hello", max_tokens=1)  # nothing is predicted before something was measured
    assert server.model()["predicted_ttft_ms"] >= 0


def test_clients_learn_no_paths_and_no_processes(server):
    for text in (server.get("/v1/models").text, server.get("/v1/models/smollm2").text):
        assert str(server.data) not in text and ".gguf" not in text and '"pid"' not in text


def test_metrics_count(new_server):
    server = new_server()
    server.complete("Hello there", max_tokens=5, ignore_eos=True)
    server.complete("Hello there", max_tokens=5, ignore_eos=True)
    server.post("/v1/completions", {"model": "nobody", "prompt": "x"})
    requests = "hearth_requests_total"
    eventually(lambda: server.metric(requests) == 3, "three requests are counted")
    assert server.metric(requests, outcome="ok", api="openai", model="smollm2:latest") == 2
    assert server.metric(requests, **{"class": "warm"}) == 1
    assert server.metric(requests, outcome="error") == 1
    assert server.metric("hearth_generation_tokens_total") == 10
    assert server.metric("hearth_prompt_tokens_total") > 0
    assert server.metric("hearth_prompt_tokens_cached_total") > 0
    assert server.metric("hearth_loads_total", model="smollm2:latest") == 1
    assert server.metric("hearth_time_to_first_token_seconds_count") == 2
    assert server.metric("hearth_stage_seconds_count", stage="prefill") == 2
    assert server.metric("hearth_layer_ratio", layer="weights") == 1
    assert server.metric("hearth_build_info") == 1
    assert all(s.name.startswith("hearth_") and ":" not in s.name for s in server.metrics())


# ---- live events ----

class Listener:
    """Reads the event stream in the background."""

    def __init__(self, server):
        self.events = []
        self._arrived = threading.Condition()
        self._client = httpx.Client(base_url=server.url, timeout=60, trust_env=False)
        opened = threading.Event()
        threading.Thread(target=self._read, args=(opened,), daemon=True).start()
        assert opened.wait(10)

    def _read(self, opened):
        try:
            with self._client.stream("GET", "/api/hearth/events") as response:
                assert response.headers["content-type"].startswith("text/event-stream")
                opened.set()
                event = {}
                for line in response.iter_lines():
                    name, _, value = line.partition(": ")
                    if name:
                        event[name] = value
                    elif "event" in event:
                        self._add(event["event"], json.loads(event["data"]))
                    if not line:
                        event = {}
        except (httpx.TransportError, httpx.StreamError):
            pass

    def _add(self, kind, data):
        with self._arrived:
            self.events.append((kind, data))
            self._arrived.notify_all()

    def wait_for(self, kind, predicate, timeout=10):
        with self._arrived:
            def found():
                return [d for k, d in self.events if k == kind and predicate(d)]
            assert self._arrived.wait_for(found, timeout), self.events
            return found()[0]

    def close(self):
        self._client.close()


def test_events_of_a_request_and_a_load(new_server):
    server = new_server()
    listener = Listener(server)
    eventually(lambda: server.metric("hearth_event_subscribers") == 1, "it is counted")
    request_id = server.complete("Hello")["hearth"]["request_id"]

    def of_request(outcome):
        return lambda d: d["request_id"] == request_id and d["outcome"] == outcome

    listener.wait_for("request", of_request("running"))
    ended = listener.wait_for("request", of_request("ok"))
    assert ended["stages"] and ended["class"]
    for level in ("loading", "resident"):
        listener.wait_for("levels", lambda d, level=level: d["layers"]["weights"]["level"] == level)
    server.unload()
    listener.wait_for("levels", lambda d: d["layers"]["weights"]["level"] == "hollow")
    server.import_model(server.model()["paths"][0], "second")
    listener.wait_for("model", lambda d: any(m["name"] == "second:latest" for m in d["models"]))
    listener.close()


def test_the_event_stream_ends_with_the_server(new_server):
    server = new_server(model=None)
    with server.http.stream("GET", "/api/hearth/events") as response:
        server.process.terminate()
        response.read()
    assert server.process.wait(10) == 0


def subscribe(port):
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(b"GET /api/hearth/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return connection


def test_a_thousand_subscribers(new_server):
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    server = new_server()
    server.complete("Hello")
    before = procfs.rss_bytes(server.pid)
    connections = [subscribe(server.port) for _ in range(1000)]
    try:
        eventually(lambda: server.metric("hearth_event_subscribers") == 1000, "all are there")
        times = []
        with ThreadPoolExecutor(1) as pool:
            talk = pool.submit(server.complete, "Talk", max_tokens=60, ignore_eos=True)
            while not talk.done():
                started = time.monotonic()
                assert server.get("/health").status_code == 200
                times.append(time.monotonic() - started)
        assert procfs.rss_bytes(server.pid) - before <= 30 * MIB
        # The client's own time counts too, and so does whatever else runs here.
        assert statistics.median(times) < 0.005, sorted(times)
        assert all(b"event: request" in c.recv(1 << 16) or c.recv(1 << 16) for c in connections)
    finally:
        for connection in connections:
            connection.close()
    eventually(lambda: server.metric("hearth_event_subscribers") == 0, "all have left")


def test_a_subscriber_that_never_reads_costs_little(new_server):
    server = new_server(model=None)
    lazy = subscribe(server.port)
    eventually(lambda: server.metric("hearth_event_subscribers") == 1, "it is there")
    before = procfs.rss_bytes(server.pid)
    for _ in range(2000):
        server.post("/v1/completions", {"model": "nobody", "prompt": "x"})
    assert procfs.rss_bytes(server.pid) - before < 10 * MIB
    lazy.close()


def test_the_front_alone_is_small(new_server):
    server = new_server(model=None)
    assert procfs.rss_bytes(server.pid) <= 25 * MIB
    assert not procfs.children(server.pid), "no worker without a model"


@pytest.mark.parametrize("path", ["/health", "/metrics", "/v1/models", "/api/hearth/models"])
def test_polling_keeps_nothing_warm(new_server, path):
    server = new_server()
    for _ in range(20):
        assert server.get(path).status_code == 200
    assert not procfs.children(server.pid), "looking starts no worker"
