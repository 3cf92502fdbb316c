# SPDX-License-Identifier: Apache-2.0
"""Evaluation threads that give way to other programs, and requests that must not notice."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.waiting import eventually

CPUS = len(os.sched_getaffinity(0))
EXACT = "exact = true\n"
PROMPT = "Once upon a time there was a king who lived in a castle by the sea, and"

pytestmark = pytest.mark.skipif(CPUS < 2, reason="one CPU leaves nothing to give way")


@contextlib.contextmanager
def busy_neighbours(count):
    """Other processes that would like a CPU each."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def busy_ticks():
    fields = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return sum(fields) - fields[3] - fields[4]


def skip_if_busy():
    """Somebody else's programs have the machine: what is measured here is not our doing."""
    before, start = busy_ticks(), time.monotonic()
    eventually(lambda: time.monotonic() - start > 1, "a second passes")
    busy = (busy_ticks() - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - start)
    if busy > 0.2:
        pytest.skip(f"{busy:.1f} CPUs are busy with something else")


def threads(server):
    worker = server.model()["worker"]
    return worker["threads"] if worker else 0


def written(server, tokens=24):
    reply = server.post("/api/generate", {
        "model": "smollm2", "prompt": PROMPT, "raw": True, "stream": False,
        "options": {"num_predict": tokens, "temperature": 0}})
    assert reply.status_code == 200, reply.text
    return reply.json()["response"]


def test_threads_give_way_and_come_back(new_server):
    server = new_server()
    server.load()
    skip_if_busy()
    most = eventually(lambda: threads(server), "the worker tells its threads")
    assert most > 1
    with busy_neighbours(CPUS):
        eventually(lambda: threads(server) == 1, "one thread is left", timeout=30)
        assert written(server)
    try:
        eventually(lambda: threads(server) == most, "all threads are back", timeout=30)
    except AssertionError:
        skip_if_busy()
        raise


def test_threads_give_way_while_it_writes(new_server):
    server = new_server()
    server.load()
    skip_if_busy()
    with server.http.stream("POST", "/api/generate", json={
            "model": "smollm2", "prompt": PROMPT, "raw": True,
            "options": {"num_predict": 4000, "temperature": 0, "num_ctx": 8000}}) as reply:
        lines = reply.iter_lines()
        next(lines)
        with busy_neighbours(CPUS):
            eventually(lambda: next(lines) and threads(server) == 1, "one thread is left",
                       timeout=60)


def test_exact_repeats_do_not_notice_neighbours(new_server):
    server = new_server(EXACT)
    server.load()
    most = eventually(lambda: threads(server), "the worker tells its threads")
    alone = written(server)
    assert written(server) == alone
    with busy_neighbours(1):
        assert written(server) == alone
        assert threads(server) == most


def test_exact_repeats_do_not_notice_company(new_server):
    server = new_server(EXACT)
    alone = written(server)
    with server.http.stream("POST", "/api/generate", json={
            "model": "smollm2", "prompt": "Count to a thousand: 1, 2, 3,", "raw": True,
            "options": {"num_predict": 64, "temperature": 0}}) as company:
        next(company.iter_lines())
        assert written(server) == alone


def test_evaluation_gets_its_priority(new_server):
    server = new_server("worker_nice = 5\n")
    written(server, 2)
    tasks = Path(f"/proc/{server.worker_pid()}/task").iterdir()
    stats = [task.joinpath("stat").read_text().rsplit(")", 1)[1].split() for task in tasks]
    assert [stat[16] for stat in stats].count("5") >= 2, "inference thread and those it has made"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may do all")
def test_a_refused_priority_is_told_with_its_fix(new_server):
    server = new_server("worker_nice = -5\n")
    assert written(server, 2)
    server.output.wait_for("worker_nice_refused.*LimitNICE", 10)
