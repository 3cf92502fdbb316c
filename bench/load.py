# SPDX-License-Identifier: Apache-2.0
"""What the comparisons share: a client that costs little, both servers, and who used the processor."""

import json
import os
import socket
import statistics
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support import procfs  # noqa: E402

RESULTS = ROOT / "build/bench"
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass
class Timing:
    first_s: float   # from the request's first byte to the first token's text
    last_s: float    # to the end of the stream
    tokens: int
    arrivals: list   # when each event came, on the clock of time.perf_counter()

    @property
    def tokens_per_s(self):
        return (self.tokens - 1) / (self.last_s - self.first_s)


def stream_completion(url, body):
    """Sends one streamed /v1/completions and times its pieces; parses nothing it need not."""
    address = urlsplit(url)
    data = json.dumps({**body, "stream": True}).encode()
    request = (f"POST /v1/completions HTTP/1.1\r\nHost: {address.netloc}\r\nConnection: close\r\n"
               f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n")
    with socket.create_connection((address.hostname, address.port), timeout=300) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        started = time.perf_counter()
        connection.sendall(request.encode() + data)
        first = last = None
        arrivals = []
        tail = b""
        while b"[DONE]" not in tail:
            piece = connection.recv(1 << 16)
            if not piece:
                raise RuntimeError(f"the stream broke: {tail[-300:]!r}")
            if first is None and (b"data: {" in piece or b"data: {" in tail + piece):
                first = time.perf_counter() - started
            arrivals += [time.perf_counter()] * piece.count(b"data: {")
            tail = (tail + piece)[-65536:]
        last = time.perf_counter() - started
    return Timing(first, last, body["max_tokens"], arrivals)


def rate_of_all(timings):
    """Tokens per second while every stream writes: no prompt is evaluated meanwhile."""
    begin = max(t.arrivals[0] for t in timings)
    # The last two events of a stream close it and hold no token of their own.
    end = min(t.arrivals[-3] for t in timings)
    tokens = sum(sum(begin < at <= end for at in t.arrivals) for t in timings)
    return tokens / (end - begin)


def stream_at_once(url, bodies):
    """One connection for each body, all at the same moment."""
    timings = [None] * len(bodies)
    start = threading.Barrier(len(bodies))

    def run(n):
        start.wait()
        timings[n] = stream_completion(url, bodies[n])

    threads = [threading.Thread(target=run, args=(n,)) for n in range(len(bodies))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if None in timings:
        raise RuntimeError("a stream failed")
    return timings


def cpu_of_tree(pid):
    return sum(procfs.cpu_seconds(p) for p in [pid, *procfs.children(pid)])


def machine_busy_seconds():
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _idle, _wait, irq, softirq, steal = map(int, fields[:8])
    return (user + nice + system + irq + softirq + steal) * TICK_S


def pressure():
    """Stall time of the machine so far, in seconds: {"cpu": …, "io": …, "memory": …}."""
    totals = {}
    for kind in ("cpu", "io", "memory"):
        try:
            line = Path(f"/proc/pressure/{kind}").read_text().split("\n", 1)[0]
        except OSError:
            continue
        totals[kind] = int(line.rsplit("total=", 1)[1]) / 1e6
    return totals


@dataclass
class Usage:
    cpu_s: float       # of the server with its children
    outside_s: float   # of everything else but this program
    wall_s: float
    stalled: dict

    @property
    def outside_share(self):
        return self.outside_s / self.wall_s


class Meter:
    """Measures who used the processor from its making to read()."""

    def __init__(self, *pids):
        self._pids = pids
        self._begin = self._now()

    def _now(self):
        servers = sum(cpu_of_tree(pid) for pid in self._pids)
        return (servers, machine_busy_seconds(), time.process_time(), time.perf_counter(),
                pressure())

    def read(self):
        servers, machine, client, wall, stalled = self._now()
        b = self._begin
        cpu = servers - b[0]
        outside = max(0.0, machine - b[1] - cpu - (client - b[2]))
        stalls = {kind: round(total - b[4][kind], 4) for kind, total in stalled.items()}
        return Usage(cpu, outside, wall - b[3], stalls)


def summary(values):
    """Median and quartiles."""
    if len(values) < 2:
        return {"median": values[0], "low": values[0], "high": values[0], "n": len(values)}
    low, _, high = statistics.quantiles(values, n=4)
    return {"median": statistics.median(values), "low": low, "high": high, "n": len(values)}


def save(name, result):
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"\nall figures: {path.relative_to(ROOT)}")


def machine():
    info = Path("/proc/cpuinfo").read_text()
    names = [line.split(":", 1)[1].strip() for line in info.splitlines()
             if line.startswith("model name")]
    return {"processor": names[0] if names else "unknown", "cpus": os.cpu_count(),
            "kernel": os.uname().release, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
