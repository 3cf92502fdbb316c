# SPDX-License-Identifier: Apache-2.0
"""Three models of which two fit, asked for in the order of a household."""

import random
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import first_token
import httpx
import levels_account
import levels_mix
import load
import synthetic
from figures import Verdict
from support.server import GEMMA, HEARTH, SMOLLM2, Server

MIB = 1 << 20
TURN_BAR_S = 30.0     # a model that is asked for and gets no turn for longer starves
ACCOUNT_BAR = 0.05
BEAT_S = 1.2          # after this much without work every worker has told what it has
ACCOUNT_EVERY = 20    # requests
ANSWER_S = 150.0      # a server that takes longer hangs


def models(options):
    """{class: (name, file)}"""
    large = synthetic.ensure(options.large)
    return {"small": ("smollm2", SMOLLM2), "middle": ("gemma", GEMMA), "large": ("large", large)}


def serve(folder, name, chosen, config):
    # A stored form of the weights would make a model smaller in the middle of it all.
    fixed = "stores = []\ncompiled_disk_gib = 0\n"
    server = Server(Path(folder) / name, fixed + config).start()
    for model, path in chosen.values():
        server.import_model(path, model)
    return server


def held_by(server, name):
    return sum(part["bytes"] for part in server.ok("/api/hearth/memory")["held"]
               if part["model"] == f"{name}:latest")


def sizes_of(folder, chosen):
    """{class: (bytes of the loaded model, of its worker alone)}, each after a request as long as those
    to come, and loaded for the second time: the first load maps more of the file."""
    server = serve(folder, "sizes", chosen, "prefix_memory_mib = 0\n")
    try:
        found = {}
        for kind, (name, _) in chosen.items():
            server.load(name)
            server.unload(name)
            server.complete(prompt(random.Random(kind), kind), name, max_tokens=16)
            time.sleep(BEAT_S)
            loaded = held_by(server, name)
            server.unload(name)
            time.sleep(BEAT_S)
            found[kind] = (loaded, held_by(server, name))
        server.stop()
        return found
    finally:
        server.kill()


def capacity_of(sizes, prefix_mib):
    """Room for the two largest and the third's worker, with a quarter of what would let the third in
    as slack."""
    small, *large = sorted(sizes.values())
    slack = (small[0] - small[1]) / 4
    return int(sum(loaded for loaded, _ in large) + small[1] + slack) + prefix_mib * MIB


WORDS = {"small": (8, 40), "middle": (20, 80), "large": (20, 60)}
TOKENS = {"small": 2, "middle": 8, "large": 6}


def prompt(dice, kind):
    return first_token.prompt_of(dice.randint(*WORDS[kind]), dice.randrange(1 << 20))


class Replay:
    """Sends requests when they are due, whether or not earlier ones have ended."""

    def __init__(self, server, chosen, options):
        self._server, self._chosen, self._options = server, chosen, options
        self._dice = random.Random(options.seed)
        self._http = httpx.Client(base_url=server.url, timeout=ANSWER_S, trust_env=False,
                                  limits=httpx.Limits(max_connections=None))
        self._lock = threading.Lock()
        self.rows, self.accounts = [], []

    def _ask(self, number, ask, text):
        name = self._chosen[ask.kind][0]
        body = {"model": name, "prompt": text, "temperature": 0, "max_tokens": TOKENS[ask.kind]}
        row = {"n": number, "kind": ask.kind, "sent_s": time.perf_counter()}
        try:
            answer = self._http.post("/v1/completions", json=body)
            row["status"] = answer.status_code
            row["error"] = "" if answer.status_code == 200 else answer.text[:300]
            reply = answer.json() if answer.status_code == 200 else {}
        except (httpx.HTTPError, ValueError) as error:
            row["status"], row["error"], reply = 0, repr(error), {}
        row["total_s"] = time.perf_counter() - row["sent_s"]
        told = reply.get("hearth", {})
        row["class"] = told.get("class")
        row["shared"] = told.get("shared")
        row["cost_s"] = told.get("verdict", {}).get("cost_ms", 0) / 1000
        begun = [s["start_ms"] for s in told.get("stages", []) if s["name"] == "prefill"]
        row["wait_s"] = begun[0] / 1000 if begun else row["total_s"]
        with self._lock:
            self.rows.append(row)

    def run(self, asks):
        with ThreadPoolExecutor(max_workers=128) as pool:
            for first in range(0, len(asks), ACCOUNT_EVERY):
                part = asks[first:first + ACCOUNT_EVERY]
                begun = time.perf_counter() - part[0].at_s
                pending = []
                for n, ask in enumerate(part, first):
                    time.sleep(max(0.0, begun + ask.at_s - time.perf_counter()))
                    pending.append(pool.submit(self._ask, n, ask, prompt(self._dice, ask.kind)))
                for one in pending:
                    one.result()
                took = time.perf_counter() - begun - part[0].at_s
                print(f"{first + len(part):5} answered, {len(part)} in {took:.1f} s", flush=True)
                if any(row["status"] == 0 for row in self.rows):
                    print("the server does not answer any more")
                    break
                self._account(first + len(part))
        self._http.close()
        self.rows.sort(key=lambda row: row["n"])

    def _account(self, number):
        """Between requests, once all have told what they hold."""
        names = [name for name, _ in self._chosen.values()]
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            time.sleep(BEAT_S)
            account = levels_account.read(self._server, names)
            if account:
                self.accounts.append({"after": number, "told": account.told, "off": account.off,
                                      "kernel": account.kernel, "levels": account.levels})
                return


def evictions_of(moves):
    return [m for m in moves
            if m["layer"] == "weights" and m["from"] == "resident" and not m.get("error")]


def starts_of(rows):
    """{class: seconds of each start}, those that joined another's left out."""
    found = {}
    for row in rows:
        if row["class"] in ("load-cold", "storage-cold") and not row["shared"]:
            found.setdefault(row["kind"], []).append(row["cost_s"])
    return found


def refer(asks, rows, sizes, capacity, folder):
    """What rules on whole models would have done, and what that would have cost at this run's prices."""
    whole = {kind: loaded for kind, (loaded, _) in sizes.items()}
    # What is not weights is out of their way: they have room for exactly two.
    room = sum(sorted(whole.values())[1:])
    starts = starts_of(rows)
    # The first start finds no worker yet and less of the file in memory; the others cost alike.
    first = {kind: costs[0] for kind, costs in starts.items()}
    later = {kind: statistics.median(costs[1:] or costs) for kind, costs in starts.items()}
    kinds = [ask.kind for ask in asks]
    found = {"starts_s": starts, "ours_s": sum(sum(costs) for costs in starts.values())}
    for name, rule in (("lru", levels_mix.least_recently_used),
                       ("clairvoyant", levels_mix.clairvoyant)):
        toll = rule(kinds, whole, room)
        found[name] = {"evictions": toll.evictions, "loads": dict(toll.loads),
                       "seconds": sum(first.get(kind, 0) + later.get(kind, 0) * (n - 1)
                                      for kind, n in toll.loads.items())}
    service = {kind: statistics.median(row["total_s"] - row["wait_s"] for row in rows
                                       if row["kind"] == kind) for kind in whole}
    gigabytes = {kind: (size / 1e9, service[kind]) for kind, size in whole.items()}
    found["simulator"] = levels_mix.simulate(HEARTH, Path(folder) / "sequence.csv", asks, gigabytes,
                                             capacity / 1e9)
    return found


def turn_waits(rows):
    """For each request the time until any of its model's was begun with: waiting for those of one's
    own model is a queue, and no starving."""
    begun = {}
    for row in rows:
        begun.setdefault(row["kind"], []).append(row["sent_s"] + row["wait_s"])
    return [min(at for at in begun[row["kind"]] if at >= row["sent_s"]) - row["sent_s"]
            for row in rows]


def simulated(result):
    """Our own rules on the same sequence."""
    figures = result["reference"]["simulator"] or {}
    what = "models put out; bar: the simulator's starts of Hearth"
    if "hearth" not in figures:
        return Verdict(what, None, 0, unit="", detail="hearth lab policy is not there")
    lru = figures.get("lru", {}).get("cold_starts")
    return Verdict(what, len(result["evictions"]), figures["hearth"]["cold_starts"], unit="",
                   detail=f"its LRU starts {lru}")


def evaluate(result):
    rows, reference = result["rows"], result["reference"]
    failed = [row for row in rows if row["status"] != 200]
    missing = result["asked"] - len(rows)
    waits, turns = [row["wait_s"] for row in rows], turn_waits(rows)
    counts = {}
    for move in result["evictions"]:
        counts[move["cause"]] = counts.get(move["cause"], 0) + 1
    told = ", ".join(f"{cause} {count}" for cause, count in sorted(counts.items())) or "none"
    off = [account["off"] for account in result["accounts"]]
    return [
        Verdict("requests that failed", len(failed) + missing, 0, unit="",
                detail=failed[0]["error"] if failed else f"of {result['asked']}"),
        Verdict("longest time that a model waited for its turn", max(turns), TURN_BAR_S, unit="s",
                detail=f"to a request's own first step: median {statistics.median(waits):.2f} s, "
                       f"longest {max(waits):.1f} s"),
        Verdict("models put out; bar: LRU of whole models", len(result["evictions"]),
                reference["lru"]["evictions"], unit="",
                detail=f"{told}; clairvoyant {reference['clairvoyant']['evictions']}"),
        simulated(result),
        Verdict("bytes held against the kernel's, worst", max(off) if off else None, ACCOUNT_BAR,
                detail=f"median {statistics.median(off):.3f}, n = {len(off)}" if off else ""),
    ]


def run(folder, options):
    chosen = models(options)
    sizes = sizes_of(folder, chosen)
    capacity = capacity_of(sizes, options.prefix_mib)
    asks = levels_mix.read(options.trace) if options.trace else levels_mix.made(options.seed)
    asks = levels_mix.typical(asks, options.requests)
    asks = levels_mix.compress(asks, options.factor, options.longest)
    for kind, (loaded, alone) in sizes.items():
        print(f"{kind:8}{chosen[kind][0]:10}{loaded / MIB:8.0f} MiB loaded{alone / MIB:6.0f} MiB hollow")
    print(f"memory_mib = {capacity // MIB}; {len(asks)} requests in at least {asks[-1].at_s:.0f} s")
    config = f"memory_mib = {capacity // MIB}\nprefix_memory_mib = {options.prefix_mib}\n"
    server = serve(folder, "live", chosen, config)
    try:
        replay = Replay(server, chosen, options)
        replay.run(asks)
        moves = server.ok("/api/hearth/moves")["moves"]
        result = {"evictions": evictions_of(moves), "rows": replay.rows,
                  "accounts": replay.accounts, "moves": moves,
                  "errors": server.new_errors(), "asked": len(asks), "sizes": sizes,
                  "capacity": capacity}
        server.stop()
    finally:
        server.kill()
    result["reference"] = refer(asks, result["rows"], sizes, capacity, folder)
    for line in result["errors"]:
        print("log:", line)
    cost = {name: result["reference"][name]["seconds"] for name in ("lru", "clairvoyant")}
    print(f"seconds of starts {result['reference']['ours_s']:.1f}; at the same prices "
          f"LRU {cost['lru']:.1f}, clairvoyant {cost['clairvoyant']:.1f}")
    return result, evaluate(result)


def arguments(parser):
    parser.add_argument("--trace", help="CSV with seconds,model,size_gb,service_s; else one is made up")
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--factor", type=float, default=240, help="by which pauses are divided")
    parser.add_argument("--longest", type=float, default=2.0, help="seconds of the longest pause")
    parser.add_argument("--large", default="1b-q4_k", help="the synthetic model that is the large one")
    parser.add_argument("--prefix-mib", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
