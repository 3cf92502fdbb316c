# SPDX-License-Identifier: Apache-2.0
"""Where the time went: stages, classes, verdicts, headers and the history (A1 to A4, B5, B7)."""

import random
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.waiting import eventually

LAYERS = {"artifact", "pages", "weights", "compiled", "prefix"}
LONG_PROMPT = " ".join(f"The {n}th house has {n * 7 % 13} windows." for n in range(24))


def names(report):
    return [stage["name"] for stage in report["stages"]]


def stage_bytes(report):
    return sum(stage.get("bytes", 0) for stage in report["stages"])


def stage_ms(report, name):
    return sum(stage["ms"] for stage in report["stages"] if stage["name"] == name)


def check_sums(report):  # B5
    """Stages overlap; without the overlap, and with what no stage covers, they are the total."""
    stages = report["stages"]
    total = sum(s["ms"] for s in stages) - report["overlap_ms"] + report["other_ms"]
    assert total == pytest.approx(report["total_ms"], abs=0.01 + 0.001 * len(stages))
    for stage in stages:
        assert stage["ms"] >= 0 and stage["start_ms"] >= -0.001
        assert stage["start_ms"] + stage["ms"] <= report["total_ms"] + 0.01


def is_covered(report):
    return report["other_ms"] <= max(1.0, report["total_ms"] / 100)


@pytest.fixture
def cold(new_server, model_copy):
    """A server whose model's pages are in no memory."""
    server = new_server(model=model_copy)
    server.cool("pages")
    return server


def test_the_hearth_object(server):  # A1, A4
    report = server.chat("Hello")["hearth"]
    check_sums(report)
    assert set(report) >= {"request_id", "class", "shared", "queued_ms", "total_ms", "overlap_ms",
                           "other_ms", "stages", "before", "avoided"}
    assert set(report["before"]) >= LAYERS
    for layer in LAYERS:
        assert {"level", "fraction", "bytes"} <= set(report["before"][layer])
    assert names(report)[0] == "queue"
    assert {"tokenize", "prefill", "first_decode", "decode"} <= set(names(report))


def test_headers_say_the_same(server):
    server.complete("Hi")
    answer = server.post("/v1/completions",
                         {"model": "smollm2", "prompt": "Hi", "max_tokens": 4, "temperature": 0})
    report = answer.json()["hearth"]
    assert answer.headers["X-Request-Id"] == report["request_id"]
    assert answer.headers["X-Hearth-Class"] == report["class"] == "warm"
    assert "X-Hearth-Cold-Layer" not in answer.headers
    timing = dict(part.split(";dur=") for part in answer.headers["Server-Timing"].split(", "))
    assert set(timing) == set(names(report))
    for name, ms in timing.items():
        assert float(ms) == pytest.approx(stage_ms(report, name), abs=0.01)


def test_streams_carry_headers_and_object(server):
    body = {"model": "smollm2", "prompt": "Hi", "max_tokens": 4, "stream": True}
    with server.http.stream("POST", "/v1/completions", json=body) as response:
        headers = response.headers
        text = response.read().decode()
    assert headers["X-Request-Id"] in text
    assert re.search(r'"finish_reason":"(stop|length)".*"hearth":\{', text)
    assert "Server-Timing" in headers


def test_storage_cold_then_warm(cold):  # A1, A8, A13
    first = cold.complete("Hello")["hearth"]
    assert first["class"] == "storage-cold"
    assert first["cold_layer"] == "pages"
    assert first["verdict"]["code"].startswith("pages.")
    assert first["verdict"]["remedy"] and first["verdict"]["text"]
    assert stage_bytes(first) > 50 << 20
    assert {"spawn", "load"} <= set(names(first))
    check_sums(first)
    second = cold.complete("Good morning")["hearth"]
    assert second["class"] == "warm"
    assert "verdict" not in second or not second["verdict"]["layer"]
    assert not {"spawn", "load", "read", "context"} & set(names(second))
    assert stage_bytes(second) == 0
    assert cold.request(first["request_id"])["bytes_read"] > 50 << 20


def test_pages_alone_can_be_warmed(cold):  # A1, A3: one layer at a time
    assert cold.model()["layers"]["pages"]["fraction"] < 0.05
    cold.ok("/api/hearth/warm", {"model": "smollm2", "layer": "pages"})
    model = cold.model()
    assert model["layers"]["pages"]["fraction"] > 0.95
    assert model["layers"]["weights"]["level"] in ("none", "hollow")
    report = cold.complete("Hello")["hearth"]
    assert report["class"] == "load-cold"
    assert report["verdict"]["code"] == "weights.first_use"


def test_mapped_pages_are_not_dropped(cold):
    cold.load()
    answer = cold.post("/api/hearth/cool", {"model": "smollm2", "layer": "pages"})
    assert answer.status_code == 409
    assert answer.json()["error"]["message"]


def test_unloaded_is_load_cold_with_its_reason(new_server):  # A12, A25
    server = new_server()
    server.complete("Hello")
    server.unload()
    assert server.model()["layers"]["weights"]["level"] == "hollow"
    report = server.complete("Hello")["hearth"]
    assert report["class"] == "load-cold"
    assert report["cold_layer"] == "weights"
    assert report["verdict"]["code"] == "weights.asked"
    assert report["verdict"]["cost_ms"] > 0
    assert "load" in names(report)
    assert "spawn" not in names(report), "the hollow worker was kept"


def test_repeated_prompt_skips_prefill(server):  # A19 to A21
    prompt = f"{random.random()} {LONG_PROMPT}"
    first = server.complete(prompt)
    second = server.complete(prompt)
    assert first["usage"]["prompt_tokens_details"]["cached_tokens"] < 20
    cached = second["usage"]["prompt_tokens_details"]["cached_tokens"]
    assert cached == second["usage"]["prompt_tokens"] - 1
    assert second["timings"]["cache_n"] == cached
    assert stage_ms(second["hearth"], "prefill") < stage_ms(first["hearth"], "prefill") / 2
    assert second["hearth"]["avoided"]["prefix"]["tokens"] == cached
    assert second["choices"][0]["text"] == first["choices"][0]["text"]


def test_five_requests_to_a_loaded_model_load_nothing(server):  # row 44
    server.load()
    for n in range(5):
        report = server.complete(f"Number {n}")["hearth"]
        assert not {"load", "spawn", "read", "context"} & set(names(report))
        assert report["class"] == "warm"
        check_sums(report)


def test_joined_loads_are_shared(new_server):  # row 8 in the timeline
    server = new_server()
    with ThreadPoolExecutor(3) as pool:
        reports = [r["hearth"] for r in pool.map(server.complete, ["a", "b", "c"])]
    assert {r["class"] for r in reports} <= {"load-cold", "storage-cold"}
    assert server.metric("hearth_loads_total") == 1


def test_failures_have_a_timeline_too(server):
    answer = server.post("/v1/completions", {"model": "nobody", "prompt": "Hi"})
    entry = server.request(answer.headers["X-Request-Id"])
    assert entry["status"] == 404
    assert entry["outcome"] == "error"
    check_sums(entry)


# ---- the history ----

def test_the_history_survives_a_restart_and_keeps_no_prompt(new_server):
    server = new_server()
    secret = "xylophone-42"
    report = server.complete(secret)["hearth"]
    before = server.request(report["request_id"])
    server.stop()
    server.start()
    assert server.request(report["request_id"]) == before
    assert server.ok("/api/hearth/requests/last")["request_id"] == report["request_id"]
    files = [f for f in server.data.rglob("*") if f.is_file()]
    assert files and not any(secret.encode() in f.read_bytes() for f in files)
    assert server.data.stat().st_mode & 0o077 == 0


def test_the_history_is_bounded(new_server):
    server = new_server("history_rows = 100", model=None)
    for _ in range(250):
        server.post("/v1/completions", {"model": "nobody", "prompt": "Hi"})

    def count():
        return len(server.ok("/api/hearth/requests?limit=1000")["requests"])

    assert 100 <= eventually(count, "the history has entries") <= 100 + 64


def test_the_history_in_pages(server):
    ids = [server.complete(f"page {n}")["hearth"]["request_id"] for n in range(4)]
    server.request(ids[-1])
    newest = server.ok("/api/hearth/requests?limit=2")["requests"]
    assert [r["request_id"] for r in newest] == [ids[3], ids[2]]
    older = server.ok(f"/api/hearth/requests?limit=2&before={ids[2]}")["requests"]
    assert [r["request_id"] for r in older] == [ids[1], ids[0]]
    assert server.get("/api/hearth/requests?limit=0").status_code == 400


# ---- switched-off layers (A0) ----

def test_without_the_prefix_layer(new_server):  # A0
    server = new_server('layers_off = ["prefix"]')
    server.complete(LONG_PROMPT)
    again = server.complete(LONG_PROMPT)
    assert again["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
    assert again["hearth"]["class"] in ("warm", "prefix-cold")


def test_without_the_weights_layer(new_server):  # A0
    server = new_server('layers_off = ["weights"]')
    for _ in range(3):
        report = server.complete("Hello")["hearth"]
        assert report["class"] in ("load-cold", "storage-cold")
        server.wait_idle()
    assert report["class"] == "load-cold"


def test_without_the_pages_layer(new_server, model_copy):  # A0, A8
    server = new_server('layers_off = ["pages"]', model=model_copy)
    for _ in range(2):
        report = server.complete("Hello")["hearth"]
        assert report["class"] == "storage-cold"
        assert stage_bytes(report) > 50 << 20
        server.unload()


def test_without_the_compiled_layer(new_server):  # A0
    server = new_server('layers_off = ["compiled"]')
    server.complete("Hello")
    assert server.model()["layers"]["compiled"]["level"] == "none"


# ---- many requests ----

def one_of_many(server, n):
    """Requests of mixed kinds; the id of each."""
    kind = n % 10
    if kind == 0:
        return server.post("/v1/completions", {"model": "nobody", "prompt": "Hi"}
                           ).headers["X-Request-Id"]
    if kind == 1:
        answer = server.post("/v1/embeddings", {"model": "smollm2", "input": f"text {n}"})
        return answer.headers["X-Request-Id"]
    if kind == 2:
        body = {"model": "smollm2", "prompt": f"{n} {LONG_PROMPT}", "max_tokens": 1}
        return server.post("/v1/completions", body).headers["X-Request-Id"]
    if kind == 3:
        body = {"model": "smollm2", "prompt": f"Stream {n}", "max_tokens": 12}
        chunks = list(server.stream("/v1/completions", body))
        return chunks[-2]["hearth"]["request_id"]
    if kind == 4 and n % 20 == 4:
        server.unload()
    return server.complete(f"Mixed {n % 7}", max_tokens=n % 16 + 1)["hearth"]["request_id"]


def check_many(server, count):
    with ThreadPoolExecutor(3) as pool:
        ids = list(pool.map(lambda n: one_of_many(server, n), range(count)))
    entries = [server.request(request_id) for request_id in ids]
    for entry in entries:
        check_sums(entry)
    uncovered = [(e["other_ms"], e["total_ms"], e["request_id"])
                 for e in entries if not is_covered(e)]
    assert len(uncovered) <= count // 50, uncovered


@pytest.mark.timeout(300)
def test_stages_cover_mixed_requests(new_server):  # B5
    check_many(new_server(), 100)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_stages_cover_a_thousand_mixed_requests(new_server):  # B5
    check_many(new_server(), 1000)
