# SPDX-License-Identifier: Apache-2.0
"""From nothing loaded to the first token: Hearth's waiting worker against a start of llama-server.

Four cases: the model's file in memory or not, for each side. Ours is one request to a running server
whose model is unloaded (its worker waits hollow); theirs is what one has to do without Hearth: start
the process, wait until it answers, ask.
"""

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path

import load
from support.peer import Peer
from support.server import GEMMA, SMOLLM2, Server

FILES = {"smollm2": SMOLLM2, "gemma": GEMMA}


def drop_pages(path):
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_pages(path):
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def body_of(number, options):
    return {"model": "bench", "prompt": f"Note {number}: the weather today is", "temperature": 0,
            "max_tokens": options.tokens, "ignore_eos": True}


def ours_once(server, path, pages, number, options):
    server.unload("bench")
    (drop_pages if pages == "cold" else read_pages)(path)
    timing = load.stream_completion(server.url, body_of(number, options))
    entry = server.ok("/api/hearth/requests?limit=1")["requests"][0]
    return {"first_s": timing.first_s, "class": entry["class"], "bytes_read": entry["bytes_read"]}


def theirs_once(path, pages, number, options):
    (drop_pages if pages == "cold" else read_pages)(path)
    started = time.perf_counter()
    peer = Peer(path, "-np", 4, "-c", options.context, "-t", options.threads, "--no-warmup")
    try:
        peer.ready()
        ready = time.perf_counter() - started
        timing = load.stream_completion(peer.url, body_of(number, options))
        return {"first_s": ready + timing.first_s, "ready_s": ready}
    finally:
        peer.stop()


def measure(server, paths, options):
    runs = {}
    for number in range(options.runs):
        for pages in ("warm", "cold"):
            sides = [("ours", lambda: ours_once(server, paths["ours"], pages, number, options)),
                     ("theirs", lambda: theirs_once(paths["theirs"], pages, number, options))]
            for name, run in sides if number % 2 else reversed(sides):
                meter = load.Meter()
                one = run()
                one["stalled"] = meter.read().stalled
                runs.setdefault(f"{name} {pages}", []).append(one)
    return runs


def show(runs):
    print(f"{'':14}{'first token':>12}   quartiles")
    for name in ("ours warm", "theirs warm", "ours cold", "theirs cold"):
        s = load.summary([r["first_s"] for r in runs[name]])
        print(f"{name:14}{s['median'] * 1000:9.0f} ms   {s['low'] * 1000:.0f} to "
              f"{s['high'] * 1000:.0f} ms, n = {s['n']}")
    classes = {r["class"] for r in runs["ours cold"]}
    read = load.summary([r["bytes_read"] for r in runs["ours cold"]])["median"]
    print(f"ours cold was called {', '.join(sorted(classes))} and read {read / 1e6:.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=FILES, default="smollm2")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--tokens", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--context", type=int, default=8192)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=load.ROOT / "build") as folder:
        # A copy for each side: what one maps, the other could not drop.
        paths = {side: Path(folder) / f"{side}.gguf" for side in ("ours", "theirs")}
        for path in paths.values():
            shutil.copyfile(FILES[options.model], path)
            with open(path, "rb+") as file:
                os.fsync(file.fileno())
        server = Server(Path(folder) / "data", f"threads = {options.threads}").start()
        try:
            server.import_model(paths["ours"], "bench")
            server.load("bench")
            runs = measure(server, paths, options)
            server.stop()
        finally:
            server.kill()
    show(runs)
    load.save(f"cold-{options.model}",
              {"machine": load.machine(), "options": vars(options), "runs": runs})


if __name__ == "__main__":
    main()
