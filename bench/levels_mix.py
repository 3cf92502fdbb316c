# SPDX-License-Identifier: Apache-2.0
"""The order in which a household asks for its models, on three models, and how often whole-model rules
would evict for it."""

import csv
import itertools
import json
import random
import subprocess
from collections import Counter, OrderedDict
from dataclasses import dataclass

# A trace has more models than fit here: by size, in GB, up to which a model is that class.
CLASSES = (("small", 2.0), ("middle", 4.5), ("large", float("inf")))
DAY_S = 86400.0


@dataclass(frozen=True)
class Ask:
    at_s: float
    kind: str  # a name of CLASSES


def _class_of(size_gb):
    return next(name for name, most in CLASSES if size_gb <= most)


def read(path):
    """A trace of "seconds,model,size_gb,service_s"."""
    with open(path, newline="") as file:
        return [Ask(float(row["seconds"]), _class_of(float(row["size_gb"])))
                for row in csv.DictReader(file)]


def made(seed=1):
    """Two days of a household where no trace is at hand: an index every quarter of an hour and small
    calls by day, coding in the morning and after noon, a camera by chance, chats in the evening."""
    dice = random.Random(seed)
    asks = [Ask(at + dice.uniform(0, 20), "small") for at in range(0, int(2 * DAY_S), 900)]
    sittings = ((9, 1, 50, "large"), (14, 1, 50, "large"), (19, 0.5, 90, "middle"),
                (20, 1, 170, "large"))
    for day in (0, DAY_S):
        for hour, hours, pause, kind in sittings:
            at, end = day + hour * 3600, day + (hour + hours) * 3600
            while (at := at + dice.expovariate(1 / pause)) < end:
                asks.append(Ask(at, kind))
        for kind, count in (("small", 70), ("middle", 15)):
            asks += [Ask(day + dice.uniform(7, 23) * 3600, kind) for _ in range(count)]
    return sorted(asks, key=lambda ask: ask.at_s)


def _shares(asks):
    counts = Counter(ask.kind for ask in asks)
    return {name: counts[name] / len(asks) for name, _ in CLASSES}


def _changes(asks):
    return sum(a.kind != b.kind for a, b in itertools.pairwise(asks)) / max(1, len(asks) - 1)


def typical(asks, count):
    """The run of `count` requests whose shares of models and changes of model are most like the whole
    trace's."""
    whole, changes = _shares(asks), _changes(asks)

    def off(start):
        part = asks[start:start + count]
        shares = _shares(part)
        return (sum(abs(shares[name] - whole[name]) for name in whole)
                + abs(_changes(part) - changes))

    start = min(range(0, max(1, len(asks) - count + 1), max(1, count // 20)), key=off)
    return asks[start:start + count]


def compress(asks, factor, longest_s):
    """The same order, its pauses divided by `factor` and none longer than `longest_s`."""
    at, out = 0.0, []
    for before, ask in zip([asks[0], *asks], asks):
        at += min(longest_s, (ask.at_s - before.at_s) / factor)
        out.append(Ask(at, ask.kind))
    return out


# ---- whole models, on demand ----

@dataclass(frozen=True)
class Toll:
    """What a rule costs: models put out, and how often each is loaded."""
    evictions: int
    loads: Counter


def least_recently_used(kinds, sizes, capacity):
    """Every model fits alone."""
    held, evictions, loads = OrderedDict(), 0, Counter()
    for kind in kinds:
        if kind not in held:
            while held and sum(held.values()) + sizes[kind] > capacity:
                held.popitem(last=False)
                evictions += 1
            held[kind] = sizes[kind]
            loads[kind] += 1
        held.move_to_end(kind)
    return Toll(evictions, loads)


def clairvoyant(kinds, sizes, capacity):
    """The model goes whose next use is farthest away: the fewest evictions where any two fit."""
    held, evictions, loads = set(), 0, Counter()
    for n, kind in enumerate(kinds):
        while kind not in held and sum(sizes[k] for k in held) + sizes[kind] > capacity:
            held.remove(max(held, key=lambda k: _next_use(kinds, n, k)))
            evictions += 1
        loads[kind] += kind not in held
        held.add(kind)
    return Toll(evictions, loads)


def _next_use(kinds, start, kind):
    return next((n for n in range(start, len(kinds)) if kinds[n] == kind), len(kinds))


# ---- the simulator ----

def simulate(program, path, asks, gigabytes, capacity_gb):
    """{policy: what `hearth lab policy` says of it} for this sequence, {kind: (GB, seconds of service)};
    None where the program has no such verb."""
    lines = ["seconds,model,size_gb,service_s"]
    for ask in asks:
        size, service = gigabytes[ask.kind]
        lines.append(f"{ask.at_s:.3f},{ask.kind},{size:.4f},{service:.3f}")
    path.write_text("\n".join(lines) + "\n")
    command = [program, "lab", "policy", "--trace", path, "--ram", f"{capacity_gb:.3f}GB", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        return None
    return {row["policy"]: row for row in json.loads(done.stdout)}
