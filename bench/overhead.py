# SPDX-License-Identifier: Apache-2.0
"""What Hearth costs when everything is warm, against llama-server on the same engine.

Both servers run all the time and take turns (AB, BA, AB, …). A pair sends the same prompts to both;
its ratios are ours ÷ theirs. Pairs that other programs disturbed are measured again.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import load
from support.peer import Peer
from support.server import GEMMA, SMOLLM2, Server

FILES = {"smollm2": SMOLLM2, "gemma": GEMMA}
BARS = {"ttft": ("<=", 1.05), "decode": (">=", 0.97), "cpu": ("<=", 1.05)}
# Without a bar: with several streams the first ones write while later prompts are still evaluated, so
# a lower rate of one's own comes with an earlier first token.
FOR_INFORMATION = ("own_rate", "wall")
SETTLE_S = 0.3  # the other side's threads spin for a while after their last work
WORDS = ("amber birch cedar delta ember fjord grove heath islet jetty kelp lagoon meadow north "
         "orchard prairie quarry river slope tundra upland valley willow yarrow").split()


def prompt_of(words, unique):
    """Text of about so many tokens; different from its first word on where `unique` differs."""
    body = " ".join(WORDS[(unique * 7 + n * (1 + unique % 5)) % len(WORDS)] for n in range(words))
    return f"Note {unique}: {body}. And then"


class Ours:
    def __init__(self, model, options, folder):
        config = f"parallel = 4\nthreads = {options.threads}\ncontext = {options.context}\n"
        self.server = Server(Path(folder) / "data", config).start()
        self.server.import_model(model, "bench")
        self.server.load("bench")
        self.url, self.pid = self.server.url, self.server.pid

    def stop(self):
        self.server.stop()


class Theirs:
    def __init__(self, model, options):
        self.peer = Peer(model, "-np", 4, "-c", options.context, "--kv-unified",
                         "-t", options.threads, "-tb", options.threads,
                         "--cache-ram", 0)
        self.peer.ready()
        self.url, self.pid = self.peer.url, self.peer.pid

    def stop(self):
        self.peer.stop()


def bodies_of(options, streams, number):
    """The same for both sides of a pair; new text in each pair, or always the same."""
    bodies = []
    for n in range(streams):
        unique = n if options.repeat else number * streams + n + 1000
        bodies.append({"model": "bench", "prompt": prompt_of(options.words, unique),
                       "max_tokens": options.tokens, "temperature": 0, "ignore_eos": True,
                       "cache_prompt": True})
    return bodies


def measure(side, bodies):
    time.sleep(SETTLE_S)
    meter = load.Meter(side.pid)
    timings = load.stream_at_once(side.url, bodies)
    usage = meter.read()
    return {"ttft": statistics.mean(t.first_s for t in timings),
            "decode": load.rate_of_all(timings),
            "own_rate": sum(t.tokens_per_s for t in timings),
            "cpu": usage.cpu_s, "outside": usage.outside_share, "wall": usage.wall_s,
            "stalled": usage.stalled}


def measure_pair(ours, theirs, options, streams, number):
    bodies = bodies_of(options, streams, number)
    order = [("ours", ours), ("theirs", theirs)]
    if number % 2:
        order.reverse()
    return {name: measure(side, bodies) for name, side in order}


def is_disturbed(pair, options):
    return any(pair[side]["outside"] > options.disturbance for side in ("ours", "theirs"))


def measure_pairs(ours, theirs, options, streams):
    pairs, skipped, number = [], 0, 0
    measure_pair(ours, theirs, options, streams, -1)
    while len(pairs) < options.pairs and skipped < 4 * options.pairs:
        pair = measure_pair(ours, theirs, options, streams, number)
        number += 1
        if is_disturbed(pair, options):
            skipped += 1
        else:
            pairs.append(pair)
    return pairs, skipped


def evaluate(pairs):
    result = {}
    for figure in (*BARS, *FOR_INFORMATION):
        sign, bar = BARS.get(figure, (">=", 0))
        ratio = load.summary([p["ours"][figure] / p["theirs"][figure] for p in pairs])
        met = ratio["median"] <= bar if sign == "<=" else ratio["median"] >= bar
        result[figure] = {"ratio": ratio, "bar": f"{sign} {bar}" if figure in BARS else "-", "met": met,
                          "ours": load.summary([p["ours"][figure] for p in pairs]),
                          "theirs": load.summary([p["theirs"][figure] for p in pairs])}
    return result


def show(streams, result, skipped):
    print(f"\n{streams} stream(s), {result['cpu']['ratio']['n']} pairs, {skipped} disturbed")
    print(f"{'':14}{'ours':>10}{'theirs':>10}{'ratio':>9}   {'quartiles':17}{'bar':>8}")
    for figure, scale, unit in (("ttft", 1000, "ms"), ("decode", 1, "1/s"), ("cpu", 1, "s"),
                                ("own_rate", 1, "1/s"), ("wall", 1, "s")):
        row = result[figure]
        ratio = row["ratio"]
        print(f"{figure + ' ' + unit:14}{row['ours']['median'] * scale:10.2f}"
              f"{row['theirs']['median'] * scale:10.2f}{ratio['median']:9.3f}   "
              f"{ratio['low']:.3f} to {ratio['high']:.3f}  {row['bar']:>8}  "
              f"{'' if row['bar'] == '-' else 'met' if row['met'] else 'MISSED'}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=FILES, default="smollm2")
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--words", type=int, default=120, help="length of the prompt")
    parser.add_argument("--tokens", type=int, default=64, help="length of the reply")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--repeat", action="store_true", help="the same prompts every time: cached")
    parser.add_argument("--disturbance", type=float, default=0.4,
                        help="most CPU of other programs, in cores, that a pair may see")
    return parser.parse_args()


def main():
    options = parse_arguments()
    result = {"machine": load.machine(), "options": vars(options), "streams": {}}
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(FILES[options.model], options, folder)
        theirs = Theirs(FILES[options.model], options)
        try:
            for streams in options.streams:
                pairs, skipped = measure_pairs(ours, theirs, options, streams)
                if not pairs:
                    raise SystemExit("other programs kept the machine busy; nothing was measured")
                figures = evaluate(pairs)
                show(streams, figures, skipped)
                result["streams"][streams] = {"figures": figures, "skipped": skipped,
                                              "pairs": pairs}
        finally:
            theirs.stop()
            ours.stop()
    kind = "repeated" if options.repeat else "fresh"
    load.save(f"overhead-{options.model}-{kind}", result)


if __name__ == "__main__":
    main()
