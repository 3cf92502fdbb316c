# SPDX-License-Identifier: Apache-2.0
"""What clients that hold connections and get nowhere cost those who work.

The same series of requests without such clients and beside them, in turn; the figures of all rounds
are put together.
"""

import argparse
import tempfile
from pathlib import Path

import load
from support import slow_clients
from support.procfs import rss_bytes
from support.server import Server

BAR_MS = 20  # how much longer than the p99 without them the slowest request beside them may take


def measure_round(server, options):
    without = slow_clients.measure(server.port, options.requests)
    memory = rss_bytes(server.pid)
    with slow_clients.Crowd(server, options.clients):
        meter = load.Meter(server.pid)
        beside = slow_clients.measure(server.port, options.requests)
        outside = meter.read().outside_share
        memory = rss_bytes(server.pid) - memory
    return without.values, beside.values, memory, outside


def show(name, delays):
    print(f"{name:24}{delays.median:10.2f}{delays.p99:10.2f}{delays.worst:10.2f}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=500)
    parser.add_argument("--requests", type=int, default=400, help="in each half of a round")
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def main():
    options = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "data").start()
        try:
            slow_clients.measure(server.port, options.requests)
            rounds = [measure_round(server, options) for _ in range(options.rounds)]
        finally:
            server.stop()
    without = slow_clients.Delays([value for r in rounds for value in r[0]])
    beside = slow_clients.Delays([value for r in rounds for value in r[1]])
    met = beside.worst <= without.p99 + BAR_MS
    memory = max(r[2] for r in rounds)
    outside = max(r[3] for r in rounds)
    print(f"{'ms':24}{'median':>10}{'p99':>10}{'worst':>10}")
    show("without slow clients", without)
    show(f"beside {options.clients}", beside)
    print(f"bar: worst <= p99 without + {BAR_MS} ms: {'met' if met else 'MISSED'}")
    print(f"memory: {memory / options.clients / 1024:.1f} KiB each; "
          f"other programs: up to {outside:.2f} cores")
    load.save("slow-clients", {
        "machine": load.machine(), "options": vars(options), "met": met, "memory_bytes": memory,
        "outside": outside, "without_ms": without.values, "beside_ms": beside.values})


if __name__ == "__main__":
    main()
