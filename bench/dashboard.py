#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dashboard.py [REPLIES]: what an open dashboard costs the server, in CPU seconds of front and workers per reply.

Rounds with the page open in a browser and without it take turns on one server, with one warm model; what is
compared are the medians over rounds. The browser's own processor time is nobody's here."""

import json
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support import procfs  # noqa: E402
from support.browser import Tab, launch  # noqa: E402
from support.server import SMOLLM2, Server  # noqa: E402

ROUNDS = 12
TOKENS = 64


def cpu_seconds(pid):
    """Of all its threads that are still there, as the scheduler counts them."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:
            pass  # it ended meanwhile
    return total / 1e9


def spent(server):
    """(of the front, of front and workers)"""
    front = cpu_seconds(server.pid)
    return front, front + sum(cpu_seconds(pid) for pid in procfs.children(server.pid))


def one_round(server, replies):
    before = spent(server)
    for number in range(replies):
        server.chat(f"Tell me about the number {number}.", max_tokens=TOKENS, ignore_eos=True)
    return [(after - start) / replies for start, after in zip(before, spent(server))]


def main():
    replies = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    playwright, browser = launch()
    rows = {"closed": [], "open": []}
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "data").start()
        server.import_model(SMOLLM2, "smollm2")
        one_round(server, replies)
        for _ in range(ROUNDS):
            rows["closed"].append(one_round(server, replies))
            tab = Tab(browser, server)
            tab.open()
            rows["open"].append(one_round(server, replies))
            tab.close()
        server.stop()
    browser.close()
    playwright.stop()
    out = {"replies_a_round": replies, "rounds": ROUNDS, "tokens": TOKENS}
    for name, rounds in rows.items():
        for part, column in (("front", 0), ("server", 1)):
            out[f"{part}_cpu_s_per_reply_{name}"] = round(statistics.median(r[column] for r in rounds), 5)
    for part in ("front", "server"):
        closed, opened = (out[f"{part}_cpu_s_per_reply_{name}"] for name in ("closed", "open"))
        out[f"{part}_rise_percent"] = round((opened / closed - 1) * 100, 2) if closed else None
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
