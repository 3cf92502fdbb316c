# SPDX-License-Identifier: Apache-2.0
"""How long weights stay: the same words with the same effect in every API."""

import json
import time
from datetime import datetime, timedelta, timezone

import pytest

from support.server import ROOT
from support.waiting import eventually

USER = [{"role": "user", "content": "Hi"}]
SHORT = {"num_predict": 2}

# What each API calls a small request.
ENDPOINTS = {
    "/api/generate": {"prompt": "Hi", "stream": False, "options": SHORT},
    "/api/chat": {"messages": USER, "stream": False, "options": SHORT},
    "/api/embed": {"input": "Hi"},
    "/api/embeddings": {"prompt": "Hi"},
    "/v1/chat/completions": {"messages": USER, "max_tokens": 2},
    "/v1/completions": {"prompt": "Hi", "max_tokens": 2},
    "/v1/embeddings": {"input": "Hi"},
    "/v1/messages": {"messages": USER, "max_tokens": 2},
}
# Those of Ollama without anything to answer.
IDLE = {"/api/generate": {}, "/api/chat": {}, "/api/embed": {"input": []}, "/api/embeddings": {}}

NEVER = None  # stays until its memory is wanted
FORMS = {  # row 1; seconds
    "0": (0, 0), '"0"': ("0", 0), '"0s"': ("0s", 0), '"0m"': ("0m", 0), "10": (10, 10),
    "1.5": (1.5, 1.5), '"10"': ("10", 10), '"5m"': ("5m", 300), '"1h30m"': ("1h30m", 5400),
    "-1": (-1, NEVER), '"-1"': ("-1", NEVER), '"-1m"': ("-1m", NEVER), "null": (None, NEVER),
}
REFUSED = [True, {}, [], "", "abc", "5 parsecs", 1e300, "9999999999h"]
FAR = timedelta(days=10_000)


def running(server):
    return {m["name"]: datetime.fromisoformat(m["expires_at"])
            for m in server.ok("/api/ps")["models"]}


def expiry(server):
    return running(server).get("smollm2:latest")


def ask(server, path, body):
    return server.post(path, {"model": "smollm2", **body})


def check_effect(server, seconds, sent):
    """`sent`: when the request went out."""
    if seconds == 0:
        eventually(lambda: expiry(server) is None, "the weights are gone")
        return
    until = eventually(lambda: expiry(server), "the model is listed")
    now = datetime.now(timezone.utc)
    if seconds is NEVER:
        assert until > now + FAR
    else:
        slack = timedelta(seconds=0.1)
        length = timedelta(seconds=seconds)
        assert sent + length - slack <= until <= now + length + slack


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("path", ENDPOINTS)
def test_each_form_in_each_api(server, path, form):  # rows 1 and 2
    value, seconds = FORMS[form]
    sent = datetime.now(timezone.utc)
    answer = ask(server, path, {**ENDPOINTS[path], "keep_alive": value})
    assert answer.status_code == 200, answer.text
    check_effect(server, seconds, sent)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("path", IDLE)
def test_each_form_without_a_prompt(server, path, form):  # row 1
    value, seconds = FORMS[form]
    sent = datetime.now(timezone.utc)
    answer = ask(server, path, {**IDLE[path], "keep_alive": value})
    assert answer.status_code == 200, answer.text
    if path in ("/api/generate", "/api/chat"):
        assert answer.json()["done_reason"] == ("unload" if seconds == 0 else "load")
    check_effect(server, seconds, sent)


@pytest.mark.parametrize("value", REFUSED, ids=repr)
@pytest.mark.parametrize("path", ENDPOINTS)
def test_what_is_refused(server, path, value):  # row 1
    for body in (ENDPOINTS[path], IDLE.get(path)):
        if body is None:
            continue
        answer = ask(server, path, {**body, "keep_alive": value})
        assert answer.status_code == 400, answer.text
        assert "keep_alive" in answer.text


@pytest.mark.parametrize("path", ENDPOINTS)
def test_ttl_says_the_same_in_seconds(server, path):  # row 2
    sent = datetime.now(timezone.utc)
    answer = ask(server, path, {**ENDPOINTS[path], "ttl": 1800})
    assert answer.status_code == 200, answer.text
    check_effect(server, 1800, sent)
    for bad in ("x", True, "30m"):
        assert ask(server, path, {**ENDPOINTS[path], "ttl": bad}).status_code == 400
    both = ask(server, path, {**ENDPOINTS[path], "ttl": 1, "keep_alive": 1})
    assert both.status_code == 400


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize("value, seconds", [("5m", 300), (0, 0)])
def test_a_cold_model(server, path, value, seconds):
    server.unload()
    sent = datetime.now(timezone.utc)
    answer = ask(server, path, {**ENDPOINTS[path], "keep_alive": value})
    assert answer.status_code == 200, answer.text
    check_effect(server, seconds, sent)


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize("value", [0, "5m", -1])
def test_an_unknown_model(server, path, value):
    body = {"model": "nobody", "keep_alive": value}
    assert server.post(path, {**ENDPOINTS[path], **body}).status_code == 404
    if path in IDLE:
        assert server.post(path, {**IDLE[path], **body}).status_code == 404


def test_unloading_loads_nothing_first(new_server):  # row 4
    server = new_server()
    for path, body in IDLE.items():
        answer = ask(server, path, {**body, "keep_alive": 0})
        assert answer.status_code == 200, answer.text
        assert server.worker_pid() is None
    server.load()
    reply = server.ok("/api/generate", {"model": "smollm2", "keep_alive": 0})
    assert reply["done_reason"] == "unload" and reply["response"] == ""
    assert expiry(server) is None
    assert server.post("/api/generate", {"model": "no", "keep_alive": 0}).status_code == 404


def test_the_last_request_decides(server):
    for value, seconds in (("1h", 3600), ("5m", 300), (-1, NEVER), (10, 10), (None, NEVER)):
        sent = datetime.now(timezone.utc)
        ask(server, "/api/generate", {**ENDPOINTS["/api/generate"], "keep_alive": value})
        check_effect(server, seconds, sent)


def polled_paths():
    """All that can be asked for and ends; of models, this one."""
    document = json.loads((ROOT / "docs/openapi.json").read_text())
    paths = [path for path, methods in document["paths"].items() if "get" in methods]
    return [path.replace("{name}", "smollm2") for path in paths
            if path not in ("/api/hearth/events", "/ui/{name}") and "{id}" not in path]


def test_polling_keeps_nothing_alive(server):  # row 11
    paths = polled_paths()
    assert len(paths) > 15
    ask(server, "/api/generate", {**ENDPOINTS["/api/generate"], "keep_alive": 2})
    start = time.monotonic()

    def is_gone_while_polled():
        for path in paths:
            query = {"model": "smollm2"} if path in ("/props", "/slots") else None
            assert server.get(path, params=query).status_code == 200, path
        server.ok("/api/show", {"model": "smollm2"})
        server.ok("/v1/messages/count_tokens", {"model": "smollm2", "messages": USER})
        return expiry(server) is None

    eventually(is_gone_while_polled, "the weights are gone", timeout=20)
    assert time.monotonic() - start > 1.7, "not before its time"


def test_the_configuration_has_a_default(new_server):
    server = new_server('keep_alive = "10m"\n')
    sent = datetime.now(timezone.utc)
    ask(server, "/api/generate", ENDPOINTS["/api/generate"])
    check_effect(server, 600, sent)


def test_zero_waits_for_others(server):
    """A reply that is under way is not cut off by a request that wants the weights gone."""
    body = {"model": "smollm2", "prompt": "Count to a million.", "options": {"num_predict": 100}}
    with server.http.stream("POST", "/api/generate", json=body) as response:
        lines = response.iter_lines()
        next(lines)
        ask(server, "/api/generate", {**ENDPOINTS["/api/generate"], "keep_alive": 0})
        assert '"done":true' in list(lines)[-1]
    eventually(lambda: expiry(server) is None, "then the weights are gone")
    assert ask(server, "/api/generate", ENDPOINTS["/api/generate"]).status_code == 200
