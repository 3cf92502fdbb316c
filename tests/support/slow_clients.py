# SPDX-License-Identifier: Apache-2.0
"""Clients that hold a connection and get nowhere, and what a well-behaved one sees beside them."""

import resource
import socket
import statistics
import threading
import time
from dataclasses import dataclass

from support import procfs
from support.waiting import eventually

HOST = "Host: localhost\r\n"
UNREAD_REQUESTS = 40
NARROW = 4096  # receive buffer of those who do not read

HALF_A_HEADER = f"GET /v1/models HTTP/1.1\r\n{HOST}X-Slow: ".encode()
HALF_A_BODY = (f"POST /v1/chat/completions HTTP/1.1\r\n{HOST}Content-Type: application/json\r\n"
               "Content-Length: 100000\r\n\r\n{").encode()

# What each kind sends at once; the dribbling ones go on byte by byte.
KINDS = {
    "silent": b"",
    "half a header": HALF_A_HEADER,
    "dribbled header": HALF_A_HEADER,
    "half a body": HALF_A_BODY,
    "dribbled body": HALF_A_BODY,
    "unread answers": f"GET /metrics HTTP/1.1\r\n{HOST}\r\n".encode() * UNREAD_REQUESTS,
    "unread events": f"GET /api/hearth/events HTTP/1.1\r\n{HOST}\r\n".encode(),
}


def allow_descriptors(count):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + 200
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))


class Crowd:
    """`count` connections to a server, evenly of each kind. When the `with` block begins they are all
    there and what they asked for is done; after it the server has forgotten them."""

    def __init__(self, server, count, dribble_s=1.0):
        allow_descriptors(count)
        self._port, self._pid = server.port, server.pid
        self._count = count
        self._dribble_s = dribble_s
        self._sockets = []
        self._dribbling = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._dribble, daemon=True)

    def _join(self, kind):
        client = socket.socket()
        self._sockets.append(client)
        if kind.startswith("unread"):
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, NARROW)
        client.connect(("127.0.0.1", self._port))
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.sendall(KINDS[kind])
        if kind.startswith("dribbled"):
            self._dribbling.append(client)

    def _dribble(self):
        while not self._over.wait(self._dribble_s):
            for client in self._dribbling:
                try:
                    client.send(b"x")
                except OSError:
                    pass  # given up by the server, as it should be in the end

    def connected(self):
        """How many the server has not closed yet."""
        return sum(self._is_open(client) for client in self._sockets)

    @staticmethod
    def _is_open(client):
        try:
            return client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def __enter__(self):
        settle(self._pid)  # those before us have gone
        self._others = sockets_of(self._pid)
        kinds = list(KINDS)
        for n in range(self._count):
            self._join(kinds[n % len(kinds)])
        eventually(lambda: sockets_of(self._pid) >= self._others + self._count, "all are connected")
        self._thread.start()
        settle(self._pid)
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()
        for client in self._sockets:
            client.close()
        eventually(lambda: sockets_of(self._pid) <= self._others, "they are forgotten")


QUIET_S = 0.05


def settle(pid, timeout=30):
    """Waits until the server has nothing left to do for those who have just come."""
    seen = [(time.monotonic(), procfs.cpu_seconds(pid))]

    def is_quiet():
        now, used = time.monotonic(), procfs.cpu_seconds(pid)
        if used - seen[0][1] > QUIET_S / 10:
            seen[0] = now, used
        return now - seen[0][0] > QUIET_S

    eventually(is_quiet, "the server is quiet", timeout)


def read_answer(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(1 << 16)
    head, body = data.split(b"\r\n\r\n", 1)
    assert head.startswith(b"HTTP/1.1 200 "), head
    length = int(head.lower().split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
    while len(body) < length:
        body += connection.recv(1 << 16)


@dataclass
class Delays:
    """Of one series of requests, in milliseconds."""

    values: list

    @property
    def median(self):
        return statistics.median(self.values)

    @property
    def p99(self):
        return sorted(self.values)[min(len(self.values) - 1, int(len(self.values) * 0.99))]

    @property
    def worst(self):
        return max(self.values)

    def __str__(self):
        return f"median {self.median:.2f} ms, p99 {self.p99:.2f} ms, worst {self.worst:.2f} ms"


def measure(port, requests, paths=("/api/hearth/version", "/v1/models")):
    """Asks in turn, every other time on a connection of its own."""
    kept = socket.create_connection(("127.0.0.1", port), timeout=30)
    kept.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    delays = []
    with kept:
        for n in range(requests):
            path = paths[n // 2 % len(paths)]
            request = f"GET {path} HTTP/1.1\r\n{HOST}\r\n".encode()
            started = time.perf_counter()
            if n % 2:
                kept.sendall(request)
                read_answer(kept)
            else:
                with socket.create_connection(("127.0.0.1", port), timeout=30) as fresh:
                    fresh.sendall(request)
                    read_answer(fresh)
            delays.append((time.perf_counter() - started) * 1000)
    return Delays(delays)


def sockets_of(pid):
    return sum(target.startswith("socket:") for target in procfs.open_files(pid).values())
