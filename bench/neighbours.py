# SPDX-License-Identifier: Apache-2.0
"""Beside one busy process per core: time to first token and per token, loaded models, Hearth's threads
against llama-server's defaults; and how soon speed is back when the neighbours are gone."""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import first_token
import load
import synthetic
from cold_start import MODELS
from figures import Verdict, against, show
from support.peer import Peer
from support.server import Server

DECODE_BAR, TTFT_BAR, RAISED_BAR, BACK_BAR_S = 0.5, 0.9, 0.5, 2.0
NICE = -5
CLIENT_NICE = -15
SETTLE_S = 0.3      # threads of the side before spin for a while
WINDOW = 8          # tokens whose pace is that of a moment
FULL_SPEED = 1.25   # times the pace alone


class Neighbours:
    """One process for each core that does nothing but compute."""

    def __init__(self, count=None):
        loop = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n for _ in range(10**6): pass"
        command = [sys.executable, "-c", loop, str(os.getpid())]
        self._busy = [subprocess.Popen(command) for _ in range(count or os.cpu_count())]
        self.gone_at = None

    def end(self):
        for process in self._busy:
            process.kill()
        for process in self._busy:
            process.wait()
        self.gone_at = self.gone_at or time.perf_counter()


def hearth(model, folder, name, config=""):
    """None where this build does not know an option of `config`, or may not use it."""
    server = Server(Path(folder) / name, "stores = []\n" + config)
    try:
        server.start()
    except AssertionError as why:
        print(f"{name} was skipped: {str(why).splitlines()[-1]}")
        return None
    server.import_model(model, "bench")
    server.load("bench")
    return server


def pace(arrivals):
    """Seconds per token; the last two events close the stream."""
    return (arrivals[-3] - arrivals[0]) / (len(arrivals) - 3)


def stream_first(url, body):
    """Streams in a thread that goes before the neighbours where that is allowed: a client that has to
    wait for a processor would take its own wait for the server's."""
    found = []

    def run():
        try:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), CLIENT_NICE)
        except PermissionError:
            print("the client may not go first: its own waits are in the figures")
        found.append(load.stream_completion(url, body))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


def measure_once(url, number, options):
    time.sleep(SETTLE_S)
    meter = load.Meter()
    prompt = first_token.prompt_of(options.words, number)
    timing = stream_first(url, first_token.body_of(prompt, options.tokens))
    return {"ttft_s": timing.first_s, "token_s": pace(timing.arrivals),
            "pressure": meter.read().stalled}


def measure_all(urls, numbers, options):
    """{side: rows}, the sides in another order each time."""
    rows, dice = {name: [] for name in urls}, random.Random(options.seed)
    for number in numbers:
        for name in dice.sample(list(urls), len(urls)):
            rows[name].append(measure_once(urls[name], number, options))
    return rows


def recovery(url, alone_s, number, options):
    """Seconds from the neighbours' end until tokens come at the pace of a quiet machine again; None:
    never within the reply."""
    neighbours = Neighbours()
    timer = threading.Timer(options.beside, neighbours.end)
    time.sleep(1.0)
    timer.start()
    try:
        prompt = first_token.prompt_of(options.words, number)
        arrivals = stream_first(url, first_token.body_of(prompt, options.long)).arrivals[:-2]
    finally:
        timer.join()
        neighbours.end()
    for n in range(len(arrivals) - WINDOW):
        if (arrivals[n] >= neighbours.gone_at
                and arrivals[n + WINDOW] - arrivals[n] <= FULL_SPEED * alone_s * WINDOW):
            return arrivals[n] - neighbours.gone_at
    return None


def median_of(rows, field):
    return statistics.median(row[field] for row in rows)


def measure(urls, options):
    for number, url in enumerate(urls.values()):
        measure_once(url, 1000 + number, options)
    alone = measure_all(urls, range(options.runs), options)
    neighbours = Neighbours()
    try:
        time.sleep(3.0)  # who gives way needs a moment to see that it has to
        beside = measure_all(urls, range(100, 100 + options.runs), options)
    finally:
        neighbours.end()
    back = {name: [recovery(url, median_of(alone[name], "token_s"), 200 + number, options)
                   for number in range(options.recoveries)] for name, url in urls.items()}
    return {"alone": alone, "beside": beside, "back_s": back}


def evaluate(result):
    beside, back = result["beside"], result["back_s"]

    def ratio(side, field, bar):
        names = {"token_s": "time per token", "ttft_s": "TTFT"}
        return against(f"{side} ÷ llama-server, {names[field]}",
                       [row[field] for row in beside.get(side, [])],
                       [row[field] for row in beside["llama-server"]], bar)

    verdicts = [ratio("hearth", "token_s", DECODE_BAR), ratio("hearth", "ttft_s", TTFT_BAR),
                ratio("hearth raised", "token_s", RAISED_BAR),
                ratio("hearth raised", "ttft_s", RAISED_BAR)]
    never = float("inf")
    slowest = max((never if s is None else s for s in back["hearth"]), default=None)
    return [*verdicts, Verdict("hearth at full speed after the neighbours' end", slowest, BACK_BAR_S,
                               unit="s", detail=f"slowest of {len(back['hearth'])}")]


def table(result):
    print(f"\n{'':18}{'alone: first':>14}{'per token':>12}{'beside: first':>16}{'per token':>12}"
          f"{'back after':>12}")
    for name in result["alone"]:
        figures = [median_of(result[when][name], field) * 1000
                   for when in ("alone", "beside") for field in ("ttft_s", "token_s")]
        back = ", ".join("never" if s is None else f"{s:.1f} s" for s in result["back_s"][name])
        print(f"{name:18}{figures[0]:11.0f} ms{figures[1]:9.1f} ms{figures[2]:13.0f} ms"
              f"{figures[3]:9.1f} ms  {back}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=MODELS, default="smollm2")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--recoveries", type=int, default=5)
    parser.add_argument("--words", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--beside", type=float, default=3.0, help="seconds until neighbours end")
    parser.add_argument("--long", type=int, default=600, help="tokens of the reply that outlives them")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    options = parse_arguments()
    model = MODELS[options.model] or synthetic.ensure(options.model)
    with tempfile.TemporaryDirectory(dir=load.ROOT / "build") as folder:
        servers = {"hearth": hearth(model, folder, "hearth"),
                   "hearth raised": hearth(model, folder, "hearth raised", f"worker_nice = {NICE}\n")}
        servers = {name: server for name, server in servers.items() if server}
        peer = Peer(model).ready()
        try:
            urls = {name: server.url for name, server in servers.items()}
            result = measure({**urls, "llama-server": peer.url}, options)
        finally:
            peer.stop()
            for server in servers.values():
                server.kill()
    table(result)
    load.save(f"neighbours-{options.model}", {"machine": load.machine(), "options": vars(options),
                                              **result, "verdicts": show(evaluate(result))})


if __name__ == "__main__":
    main()
