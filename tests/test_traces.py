# SPDX-License-Identifier: Apache-2.0
"""Traces as a collector gets them: whole, linked to whoever asked, and at nobody's cost."""

import re
import signal
import subprocess
import time

import pytest

from support.collector import Collector, attributes_of
from support.server import HEARTH, clean_environment
from support.waiting import eventually

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
SERVER_KIND, INTERNAL_KIND = 2, 1
ERROR = 2


def parent(flags="01"):
    return f"00-{TRACE}-{SPAN}-{flags}"


@pytest.fixture
def collector():
    collector = Collector()
    try:
        yield collector
        assert not collector.faults, collector.faults
    finally:
        collector.close()


@pytest.fixture
def traced(new_server, collector, repackable_model):
    """traced(more): a server that sends its traces to the collector."""
    def start(more="", **options):
        config = f'[traces]\nendpoint = "{collector.url}"\n{more}'
        return new_server(config, **{"model": repackable_model, **options})
    return start


def ask(server, headers=None, **more):
    body = {"model": "smollm2", "prompt": "Hello", "max_tokens": 4, "temperature": 0, **more}
    return server.post("/v1/completions", body, headers=headers or {})


def log_of(server):
    return "\n".join(server.output.lines)


def check_stages(spans, report):
    """A span for each stage of the report, at its time, inside the request's."""
    root, *stages = spans
    start = root.start_time_unix_nano
    assert root.end_time_unix_nano - start == pytest.approx(report["total_ms"] * 1e6, abs=1000)
    told = sorted((s["name"], s["start_ms"], s["ms"]) for s in report["stages"])
    seen = sorted((s.name, (s.start_time_unix_nano - start) / 1e6,
                   (s.end_time_unix_nano - s.start_time_unix_nano) / 1e6) for s in stages)
    assert [name for name, *_ in seen] == [name for name, *_ in told]
    for (_, *seen_times), (_, *told_times) in zip(seen, told):
        assert seen_times == pytest.approx(told_times, abs=0.001)
    for stage in stages:
        assert stage.trace_id == root.trace_id
        assert stage.kind == INTERNAL_KIND
        assert start <= stage.start_time_unix_nano
        assert stage.end_time_unix_nano <= root.end_time_unix_nano
    ids = [span.span_id for span in spans]
    assert len(set(ids)) == len(ids)


def test_a_trace_arrives_whole(traced, collector):
    server = traced()
    before = time.time_ns()
    answer = ask(server)
    after = time.time_ns()
    hearth = answer.json()["hearth"]
    report = server.request(hearth["request_id"])
    spans = collector.trace(hearth["request_id"])
    root = spans[0]
    check_stages(spans, report)
    assert {"spawn", "load", "prefill", "decode"} <= {span.name for span in spans}
    assert root.kind == SERVER_KIND and root.name == "text_completion smollm2:latest"
    assert not root.parent_span_id
    assert root.trace_id.hex() == hearth["trace_id"] == report["trace_id"]
    assert before - 10**8 <= root.start_time_unix_nano
    assert root.end_time_unix_nano <= after + 10**8
    _, trace_id, span_id, flags = answer.headers["traceparent"].split("-")
    assert (trace_id, span_id, flags) == (root.trace_id.hex(), root.span_id.hex(), "03")
    usage = answer.json()["usage"]
    told = attributes_of(root)
    assert told["gen_ai.operation.name"] == "text_completion"
    assert told["gen_ai.request.model"] == "smollm2:latest"
    assert told["gen_ai.usage.input_tokens"] == usage["prompt_tokens"]
    assert told["gen_ai.usage.output_tokens"] == usage["completion_tokens"]
    assert told["hearth.response_class"] == report["class"]
    assert told["hearth.verdict.code"] == report["verdict"]["code"]
    assert told["hearth.cached_tokens"] == report["cached_tokens"]
    assert told["hearth.outcome"] == "ok"
    assert told["http.response.status_code"] == 200
    resource = attributes_of(collector.requests[0].resource_spans[0].resource)
    assert resource["service.name"] == "hearth" and resource["service.instance.id"]


def test_a_request_goes_on_with_the_trace_it_came_with(traced, collector):
    server = traced()
    answer = ask(server, {"traceparent": parent(), "tracestate": "vendor=1, other=x"})
    hearth = answer.json()["hearth"]
    assert hearth["trace_id"] == TRACE
    spans = collector.trace(hearth["request_id"])
    root = spans[0]
    assert root.trace_id.hex() == TRACE and root.parent_span_id.hex() == SPAN
    assert root.trace_state == "vendor=1,other=x"
    assert root.flags & 0x300 == 0x300
    assert answer.headers["traceparent"] == f"00-{TRACE}-{root.span_id.hex()}-01"
    assert len(collector.spans()) == len(spans), "one root, and only its stages"


@pytest.mark.parametrize("value", [
    parent("0"), parent().upper(), f"00-{'0' * 32}-{SPAN}-01", f"00-{TRACE}-{'0' * 16}-01",
    "ff" + parent()[2:], parent() + "-more", "nonsense",
])
def test_what_is_malformed_begins_a_new_trace(server_with_traces, collector_of_all, value):
    answer = ask(server_with_traces, {"traceparent": value, "tracestate": "vendor=1"})
    hearth = answer.json()["hearth"]
    root = collector_of_all.trace(hearth["request_id"])[0]
    assert not root.parent_span_id and not root.trace_state
    assert root.trace_id.hex() == hearth["trace_id"] != TRACE


@pytest.fixture(scope="module")
def collector_of_all():
    collector = Collector()
    yield collector
    collector.close()


@pytest.fixture(scope="module")
def server_with_traces(tmp_path_factory, collector_of_all, repackable_model):
    from support.server import Server
    server = Server(tmp_path_factory.mktemp("traces") / "data",
                    f'[traces]\nendpoint = "{collector_of_all.url}"\n').start()
    try:
        server.import_model(repackable_model, "smollm2")
        yield server
        server.stop()
    finally:
        server.kill()


@pytest.mark.parametrize("path, body, name", [
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3},
     "chat smollm2:latest"),
    ("/v1/messages", {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3},
     "chat smollm2:latest"),
    ("/api/chat", {"messages": [{"role": "user", "content": "Hi"}], "stream": False,
                   "options": {"num_predict": 3}}, "chat smollm2:latest"),
    ("/v1/embeddings", {"input": "Hi"}, "embeddings smollm2:latest"),
    ("/api/hearth/load", {}, "load smollm2:latest"),
])
def test_every_dialect_has_traces(server_with_traces, collector_of_all, path, body, name):
    answer = server_with_traces.post(path, {"model": "smollm2", **body})
    assert answer.status_code == 200, answer.text
    assert answer.headers["traceparent"].endswith("-03")
    request_id = answer.headers["X-Request-Id"]
    spans = collector_of_all.trace(request_id)
    assert spans[0].name == name
    check_stages(spans, server_with_traces.request(request_id))


def test_a_stream_has_its_trace_in_its_headers(server_with_traces, collector_of_all):
    body = {"model": "smollm2", "prompt": "Hi", "max_tokens": 4, "stream": True}
    with server_with_traces.http.stream("POST", "/v1/completions", json=body,
                                        headers={"traceparent": parent()}) as response:
        response.read()
    assert response.headers["traceparent"].startswith(f"00-{TRACE}-")
    root = collector_of_all.trace(response.headers["X-Request-Id"])[0]
    assert root.parent_span_id.hex() == SPAN


def test_a_refusal_is_no_fault_of_ours(server_with_traces, collector_of_all):
    answer = server_with_traces.post("/v1/completions", {"model": "nobody", "prompt": "Hi"})
    assert answer.status_code == 404
    root, *_ = collector_of_all.trace(answer.headers["X-Request-Id"])
    assert root.status.code != ERROR
    told = attributes_of(root)
    assert told["error.type"] == "404" and told["hearth.outcome"] == "error"
    assert "gen_ai.request.model" not in told


def test_the_asker_decides_what_is_sent(traced, collector):
    server = traced("sample_percent = 0\n")
    unsampled = ask(server, {"traceparent": parent("00")})
    assert unsampled.headers["traceparent"].endswith("-00")
    assert unsampled.json()["hearth"]["trace_id"] == TRACE
    alone = ask(server)
    assert "traceparent" not in alone.headers and "trace_id" not in alone.json()["hearth"]
    sampled = ask(server, {"traceparent": parent("01")})
    collector.trace(sampled.json()["hearth"]["request_id"])
    server.stop()
    roots = [span for span in collector.spans() if span.kind == SERVER_KIND]
    assert len(roots) == 1


def test_without_a_collector_the_askers_trace_is_still_known(server):
    answer = ask(server, {"traceparent": parent()})
    assert answer.json()["hearth"]["trace_id"] == TRACE
    assert re.fullmatch(f"00-{TRACE}-[0-9a-f]{{16}}-00", answer.headers["traceparent"])
    assert "traceparent" not in ask(server).headers


def test_a_busy_collector_is_asked_again_when_it_says(traced, collector):
    collector.answers = [(503, {"Retry-After": "1"}, "later"), (429, {}, "")]
    server = traced()
    request_id = ask(server).json()["hearth"]["request_id"]
    spans = collector.trace(request_id)
    check_stages(spans, server.request(request_id))
    bodies = [body for _, _, body in collector.posts]
    assert len(bodies) == 3 and len(set(bodies)) == 1
    eventually(lambda: server.metric("hearth_traces_total", outcome="sent") == 1, "it is counted")
    assert server.metric("hearth_trace_send_failures_total") == 2
    assert log_of(server).count("traces.not_sent") == 1
    assert "traces.sent_again" in log_of(server)


def test_what_a_collector_refuses_is_not_repeated(traced, collector):
    collector.answers = [(400, {}, "no")]
    server = traced()
    ask(server)
    eventually(lambda: server.metric("hearth_traces_total", outcome="refused") == 1, "refused")
    later = ask(server).json()["hearth"]["request_id"]
    collector.trace(later)
    assert len(collector.posts) == 2


def test_rejected_spans_are_counted(traced, collector):
    collector.answers = [(200, {}, '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"old"}}')]
    server = traced()
    ask(server)
    eventually(lambda: server.metric("hearth_trace_spans_rejected_total") == 2, "counted")
    assert re.search(r"traces\.rejected spans=2 reason=old", log_of(server))


def test_a_stop_sends_the_rest(traced, collector):
    server = traced()
    ids = [ask(server).json()["hearth"]["request_id"] for _ in range(3)]
    server.stop()
    assert not set(ids) - {attributes_of(span).get("hearth.request_id")
                           for span in collector.spans()}


def test_a_dead_collector_costs_nothing(new_server, collector, repackable_model):
    url = collector.url
    collector.close()
    server = new_server(f'[traces]\nendpoint = "{url}"\n', model=repackable_model)
    for _ in range(20):
        assert ask(server).status_code == 200
    eventually(lambda: server.metric("hearth_trace_send_failures_total") >= 2, "it was tried")
    assert server.metric("hearth_log_warnings_total", event="traces.not_sent") == 1
    assert server.metric("hearth_traces_waiting") == 20
    begun = time.monotonic()
    server.stop()
    assert time.monotonic() - begun < 5


def test_secrets_go_to_the_collector_alone(traced, collector):
    server = traced('headers = ["x-api-key=s3cret", "authorization=Bearer%20t0psecret"]\n')
    collector.trace(ask(server).json()["hearth"]["request_id"])
    path, headers, _ = collector.posts[0]
    assert path == "/v1/traces"
    assert headers["x-api-key"] == "s3cret" and headers["authorization"] == "Bearer t0psecret"
    assert headers["Content-Type"] == "application/json"
    config = server.get("/api/hearth/config").text
    assert "x-api-key=***" in config and "***" in config
    for text in (config, log_of(server)):
        assert "s3cret" not in text and "t0psecret" not in text


def test_the_standard_variables_stand_in(new_server, collector, repackable_model):
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url.removesuffix("/v1/traces"),
                   "OTEL_EXPORTER_OTLP_HEADERS": "x-api-key=s3cret", "OTEL_SERVICE_NAME": "attic"}
    server = new_server(model=repackable_model, environment=environment)
    collector.trace(ask(server).json()["hearth"]["request_id"])
    assert collector.posts[0][1]["x-api-key"] == "s3cret"
    resource = collector.requests[0].resource_spans[0].resource
    assert attributes_of(resource)["service.name"] == "attic"
    log = log_of(server)
    assert "config.from_otel name=OTEL_EXPORTER_OTLP_ENDPOINT" in log
    assert "config.from_otel name=OTEL_EXPORTER_OTLP_HEADERS" in log and "s3cret" not in log


def test_variables_that_cannot_be_followed_refuse_no_start(new_server, repackable_model):
    server = new_server(model=repackable_model,
                        environment={"OTEL_EXPORTER_OTLP_ENDPOINT": "https://api.example"})
    assert ask(server).status_code == 200
    assert "config.otel_ignored name=OTEL_EXPORTER_OTLP_ENDPOINT" in log_of(server)


def test_an_encrypted_collector_is_refused_by_name(tmp_path):
    config = tmp_path / "hearth.toml"
    config.write_text('[traces]\nendpoint = "https://api.example/v1/traces"\n')
    ended = subprocess.run([HEARTH, "serve", "--config", config, "--data", tmp_path / "data"],
                           capture_output=True, text=True, timeout=20, env=clean_environment())
    assert ended.returncode == 64
    assert f"{config}:2:12: traces_endpoint cannot be https://" in ended.stderr


def test_a_reload_turns_them_on_and_off(new_server, collector, repackable_model):
    server = new_server(model=repackable_model)
    assert "trace_id" not in ask(server).json()["hearth"]
    server.config.write_text(f'[traces]\nendpoint = "{collector.url}"\n')
    server.process.send_signal(signal.SIGHUP)
    server.output.wait_for(r"traces\.on endpoint=", 10)
    collector.trace(ask(server).json()["hearth"]["request_id"])
    server.config.write_text("")
    server.ok("/api/hearth/config/reload", {})
    assert "trace_id" not in ask(server).json()["hearth"]
