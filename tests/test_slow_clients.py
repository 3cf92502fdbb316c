# SPDX-License-Identifier: Apache-2.0
"""Clients that hold connections and get nowhere must not be felt by others."""

import socket

import httpx
import pytest

from support import slow_clients
from support.waiting import eventually

CLIENTS = 500
REQUESTS = 200
MOST_MS = 20  # no request may take so much longer than the slowest do without the crowd
MEDIAN_MS = 5
TRIES = 3  # other programs share this machine


def compare(server):
    """The same series of requests without and with the crowd."""
    without = slow_clients.measure(server.port, REQUESTS)
    with slow_clients.Crowd(server, CLIENTS) as crowd:
        beside = slow_clients.measure(server.port, REQUESTS)
        assert crowd.connected() == CLIENTS, "they were there all the time"
    return without, beside


def test_a_crowd_of_slow_clients_delays_nobody(new_server):
    server = new_server(model=None)
    slow_clients.measure(server.port, REQUESTS)  # nothing is done for the first time below
    seen = []
    for _ in range(TRIES):
        without, beside = compare(server)
        seen.append(f"without: {without}; with {CLIENTS}: {beside}")
        if beside.worst <= without.p99 + MOST_MS and beside.median <= without.median + MEDIAN_MS:
            return
    pytest.fail("\n".join(seen))


def test_idle_connections_give_way(new_server):
    server = new_server("max_connections = 8", model=None)
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(8)]
    try:
        eventually(lambda: httpx.get(f"{server.url}/health").status_code == 200,
                   "a newcomer is served")
    finally:
        for connection in idle:
            connection.close()


HOST = "Host: localhost\r\n"
TOO_LONG = f"Content-Length: {2 << 20}\r\n"
REFUSED = [
    (f"POST /v1/chat/completions HTTP/1.1\r\n{HOST}{TOO_LONG}", '"code":413'),
    (f"POST /v1/messages HTTP/1.1\r\n{HOST}{TOO_LONG}", '"type":"request_too_large"'),
    (f"GET /v1/models HTTP/1.1\r\n{HOST}anthropic-version: 2023-06-01\r\n{TOO_LONG}",
     '"type":"request_too_large"'),
    (f"POST /api/chat HTTP/1.1\r\n{HOST}{TOO_LONG}", '{"error":"'),
    (f"POST /api/chat HTTP/1.1\r\n{HOST}{HOST}", '{"error":"'),
    (f"POST /api/hearth/load HTTP/1.1\r\n{HOST}{TOO_LONG}", '"field":null')]


def ask_raw(server, head):
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(f"{head}\r\n".encode())
        answer = b""
        while piece := connection.recv(1 << 16):
            answer += piece
    return answer.decode()


def test_the_servers_own_errors_are_in_the_dialect_of_the_path(new_server):
    server = new_server("max_body_mib = 1", model=None)
    for head, body in REFUSED:
        assert body in ask_raw(server, head), head
