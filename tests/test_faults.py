# SPDX-License-Identifier: Apache-2.0
"""Workers that die, and servers that stop: nobody waits in vain, nothing is left behind."""

import contextlib
import json
import os
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from support import procfs
from support.server import Server, events_of
from support.waiting import eventually

LONG_PROMPT = " ".join(f"The {n}th house has {n * 7 % 13} windows." for n in range(90))
TOLD_S = 1.0


def body_of(prompt, **more):
    return {"model": "smollm2", "prompt": prompt, "temperature": 0, "max_tokens": 8, **more}


def kill(pid):
    os.kill(pid, signal.SIGKILL)
    return time.monotonic()


def in_background(work):
    return ThreadPoolExecutor(1).submit(work)


def wait_spawned(server, since):
    """The pid of the next worker, as soon as the log says it."""
    return int(server.output.wait_for(r" worker\.spawned .*pid=(\d+)", 10, since)[1])


def weights_level(server):
    return server.model()["layers"]["weights"]["level"]


def check_recovered(server):
    reply = server.complete("Hello")
    assert reply["choices"][0]["text"]
    assert "Z" not in procfs.children(server.pid).values(), "a zombie was left"
    assert len(procfs.children(server.pid)) == 1
    assert server.is_idle()


def test_killed_while_it_starts(new_server):
    server = new_server()
    since = len(server.output.lines)
    reply = in_background(lambda: server.post("/v1/completions", body_of("Hello")))
    kill(wait_spawned(server, since))
    assert reply.result(30).status_code == 200, "retried once"
    check_recovered(server)


def test_killed_whenever_it_starts(new_server):
    server = new_server()
    reply = in_background(lambda: server.post("/v1/completions", body_of("Hello")))
    while not reply.done():
        fresh = [pid for pid, state in procfs.children(server.pid).items() if state != "Z"]
        for pid in fresh:
            with contextlib.suppress(ProcessLookupError):  # reaped since it was listed
                killed = kill(pid)
    answer = reply.result(30)
    assert answer.status_code == 503, answer.text
    assert time.monotonic() - killed < TOLD_S
    assert answer.json()["error"]["type"] == "unavailable_error"
    check_recovered(server)


def test_killed_while_it_loads(new_server):
    server = new_server()
    reply = in_background(lambda: server.post("/v1/completions", body_of("Hello")))
    eventually(lambda: weights_level(server) in ("loading", "resident"), "it loads")
    kill(server.worker_pid() or wait_spawned(server, 0))
    assert reply.result(30).status_code == 200, "retried once"
    check_recovered(server)


def test_killed_in_prefill(new_server):
    server = new_server()
    server.load()
    with ThreadPoolExecutor(3) as pool:
        replies = [pool.submit(server.post, "/v1/completions", body_of(f"{n} {LONG_PROMPT}"))
                   for n in range(3)]
        eventually(lambda: server.model()["active"] == 3, "three are evaluated")
        kill(server.worker_pid())
        assert [r.result(100).status_code for r in replies] == [200] * 3, "retried once"
    assert server.metric("hearth_requests_retried_total") == 3
    assert server.metric("hearth_worker_deaths_total") == 1
    check_recovered(server)


def test_killed_in_the_middle_of_a_stream(new_server):  # row 20
    server = new_server()
    body = body_of("Count: one, two,", max_tokens=2000, ignore_eos=True, stream=True)
    with server.http.stream("POST", "/v1/completions", json=body) as response:
        events = events_of(response)
        for _ in range(3):
            assert next(events)["choices"]
        killed = kill(server.worker_pid())
        rest = list(events)
    assert time.monotonic() - killed < TOLD_S
    assert rest[-1]["error"]["message"]
    assert rest[-1]["error"]["type"] == "unavailable_error"
    assert all("error" not in event for event in rest[:-1])
    check_recovered(server)


def test_killed_when_idle(new_server):
    server = new_server()
    server.complete("Hello")
    pid = server.worker_pid()
    kill(pid)
    eventually(lambda: weights_level(server) == "none", "the loss is noticed", 1)
    report = server.complete("Hello")["hearth"]
    assert report["verdict"]["code"] == "weights.worker_died"
    check_recovered(server)


def test_a_stopped_worker_is_ended_as_hung(new_server):
    server = new_server("hang_seconds = 4")
    server.load()
    pid = server.worker_pid()
    os.kill(pid, signal.SIGSTOP)
    answer = server.post("/v1/completions", body_of("Hello"))
    assert answer.status_code == 200, "retried once"
    assert not procfs.is_alive(pid)
    check_recovered(server)


def test_twenty_deaths_leak_nothing(new_server):
    server = new_server()

    def die():
        server.complete("Hello", max_tokens=1)
        kill(server.worker_pid())
        eventually(lambda: not procfs.children(server.pid), "it is reaped")
        eventually(lambda: weights_level(server) == "none", "and forgotten")

    die()
    before = sorted(procfs.open_files(server.pid).values())
    for _ in range(20):
        die()
    after = sorted(procfs.open_files(server.pid).values())
    assert len(after) == len(before), (before, after)
    check_recovered(server)


# ---- unloading, waiting, leaving ----

def test_requests_during_an_unload_wait(new_server):  # row 7
    server = new_server()
    with ThreadPoolExecutor(4) as pool:
        for n in range(5):
            work = [pool.submit(server.post, "/v1/completions", body_of(f"Hello {n}")),
                    pool.submit(server.post, "/api/hearth/unload", {"model": "smollm2"}),
                    pool.submit(server.post, "/v1/completions", body_of(f"Bye {n}"))]
            assert [w.result(60).status_code for w in work] == [200] * 3


def open_request(server, body):
    """A request on a connection of its own, sent but not yet answered."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    data = json.dumps(body).encode()
    connection.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n"
                       b"Content-Type: application/json\r\n"
                       + f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
    return connection


def test_the_first_of_three_waiters_leaves(new_server):  # row 8
    server = new_server()
    first = open_request(server, body_of("one"))
    eventually(lambda: server.model()["active"] == 1, "the first is there")
    with ThreadPoolExecutor(2) as pool:
        others = [pool.submit(server.post, "/v1/completions", body_of(p)) for p in ("two", "three")]
        first.close()
        assert [o.result(60).status_code for o in others] == [200, 200]
    assert server.metric("hearth_loads_total") == 1


def leave_in_prefill(server):
    connection = open_request(server, body_of(LONG_PROMPT, max_tokens=500, ignore_eos=True))
    eventually(lambda: server.model()["active"] == 1, "it is evaluated")
    connection.close()


def leave_after_three_tokens(server):
    body = body_of("Once", max_tokens=2000, ignore_eos=True, stream=True)
    with server.http.stream("POST", "/v1/completions", json=body) as response:
        events = events_of(response)
        for _ in range(3):
            next(events)


def close_one_half(server):
    connection = open_request(server, body_of("Once", max_tokens=2000, ignore_eos=True,
                                              stream=True))
    assert connection.recv(100)
    connection.shutdown(socket.SHUT_WR)
    server.half_closed = connection


@pytest.mark.parametrize("leave", [leave_in_prefill, leave_after_three_tokens, close_one_half])
def test_who_leaves_frees_the_place(new_server, leave):  # row 9
    server = new_server()
    server.load()
    leave(server)
    server.wait_idle(timeout=TOLD_S)
    eventually(lambda: server.metric("hearth_requests_cancelled_total") == 1, "it is counted", 2)
    assert server.complete("Hello")["choices"][0]["text"]
    left = server.ok("/api/hearth/requests?limit=2")["requests"][1]
    assert left["outcome"] == "cancelled"
    assert left["other_ms"] <= 20 + 0.2 * left["total_ms"], "what it was given is accounted for"


def test_a_full_queue_says_503(new_server):  # row 45
    server = new_server("queue = 2\nparallel = 1")
    server.load()
    loads = server.metric("hearth_requests_total", outcome="ok")
    start = threading.Barrier(10)

    def ask(n):
        with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
            start.wait()
            return client.post("/v1/completions", json=body_of(f"Number {n}", max_tokens=50,
                                                               ignore_eos=True))

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(ask, range(10)))
    refused = [a for a in answers if a.status_code == 503]
    admitted = [a for a in answers if a.status_code == 200]
    assert len(refused) + len(admitted) == 10
    assert len(admitted) >= 3 and refused
    for answer in refused:
        assert int(answer.headers["Retry-After"]) >= 1
        assert answer.json()["error"]["type"] == "unavailable_error"
    assert all(a.json()["usage"]["completion_tokens"] == 50 for a in admitted)
    assert server.metric("hearth_queue_rejected_total") == len(refused)
    assert server.metric("hearth_requests_total", outcome="ok") == loads + len(admitted)
    assert server.metric("hearth_requests_total", outcome="error") == len(refused)
    assert server.metric("hearth_num_requests_waiting") == 0


def test_prefer_wait_bounds_the_wait_for_a_cold_model(new_server):
    server = new_server()
    answer = server.post("/v1/completions", body_of("Hello"), headers={"Prefer": "wait=0"})
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) >= 1
    check_recovered(server)


# ---- the server's own end ----

def test_stop_while_a_reply_streams(new_server):
    server = new_server()
    body = body_of("Once upon a time", max_tokens=60, ignore_eos=True, stream=True)
    with server.http.stream("POST", "/v1/completions", json=body) as response:
        events = events_of(response)
        next(events)
        server.process.send_signal(signal.SIGTERM)
        rest = list(events)
    assert rest[-1] == "[DONE]"
    assert rest[-2]["choices"][0]["finish_reason"] == "length"
    assert server.process.wait(20) == 0


def test_stop_does_not_wait_for_ever(new_server):
    server = new_server("drain_seconds = 1")
    body = body_of("Once upon a time", max_tokens=7000, ignore_eos=True, stream=True)
    with server.http.stream("POST", "/v1/completions", json=body) as response:
        events = events_of(response)
        next(events)
        server.process.send_signal(signal.SIGTERM)
        rest = list(events)
    assert rest[-1] != "[DONE]" and rest[-1]["error"]["message"]
    assert server.process.wait(20) == 0


def test_stop_with_nothing_to_do(new_server):
    server = new_server()
    server.complete("Hello")
    started = time.monotonic()
    server.stop()
    assert time.monotonic() - started < 5


def test_stop_while_a_model_loads(new_server):
    server = new_server()
    reply = in_background(lambda: server.post("/v1/completions", body_of("Hello")))
    wait_spawned(server, 0)
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(40) == 0
    reply.exception(10)  # answered or cut off, but over


def test_workers_do_not_outlive_a_killed_server(new_server):
    server = new_server()
    server.complete("Hello")
    worker = server.worker_pid()
    server.process.kill()
    server.process.wait(10)
    eventually(lambda: not procfs.is_alive(worker), "the worker ends by itself", 5)


def test_one_data_directory_has_one_server(new_server):
    server = new_server(model=None)
    second = Server(server.data)
    with pytest.raises(AssertionError) as refused:
        second.start()
    assert str(server.data) in str(refused.value) or "data" in str(refused.value)
    assert second.process.wait(10) != 0
