# SPDX-License-Identifier: Apache-2.0
"""Tokens per second of a model that was streamed in, and of one whose repacked weights were stored,
against llama-server's plain load with the same number of threads. Whatever the way of loading, decode
must be as fast, and what is said the same."""

import argparse
import random
import statistics
import tempfile
import time

import first_token
import load
import page_state
import proof
import synthetic
from cold_start import MODELS
from figures import RESAMPLES
from sides import Hearth
from support.peer import Peer

SETTLE_S = 0.3
SAME_PROMPT = first_token.prompt_of(40, 7)


def rate(url, number, options):
    time.sleep(SETTLE_S)
    body = first_token.body_of(first_token.prompt_of(options.words, number), options.tokens)
    meter = load.Meter()
    timing = load.stream_completion(url, body)
    return {"rate": load.rate_of_all([timing]), "pressure": meter.read().stalled}


def measure_pairs(ours, theirs, options):
    pairs = []
    for number in range(options.pairs):
        if options.quiet:
            proof.wait_for_quiet(options.quiet)
        sides = [("ours", ours), ("theirs", theirs)]
        for name, url in sides if number % 2 else reversed(sides):
            pairs.append((name, rate(url, number, options)))
    return {name: [row for side, row in pairs if side == name] for name in ("ours", "theirs")}


def interval(rows, seed=1):
    """The median of the pairs' ratios, and where it lies with 95 %."""
    ratios = [a["rate"] / b["rate"] for a, b in zip(rows["ours"], rows["theirs"], strict=True)]
    dice = random.Random(seed)
    many = sorted(statistics.median(dice.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return {"ratio": statistics.median(ratios), "low": many[int(RESAMPLES * 0.025)],
            "high": many[int(RESAMPLES * 0.975) - 1], "n": len(ratios)}


def text_of(side):
    """What is said to one prompt when it is the first after a load."""
    body = {**first_token.body_of(SAME_PROMPT, 48)}
    answer = side.server.post("/v1/completions", body, timeout=600).json()
    return answer["choices"][0]["text"]


def load_anew(side, state):
    side.rest()
    page_state.put(side.files(), state)
    return text_of(side)


def measure(side, peer, options):
    phases, texts = {}, {}
    texts["streamed"] = load_anew(side, "page-cold")
    phases["streamed"] = measure_pairs(side.server.url, peer.url, options)
    stored = side.wait_until_stored()
    texts["partly resident"] = load_anew(side, "half")
    texts["stored"] = load_anew(side, "page-warm")
    name = "stored" if stored else "loaded again (nothing was stored)"
    phases[name] = measure_pairs(side.server.url, peer.url, options)
    return phases, texts


def show(phases, texts):
    print(f"\n{'load':36}{'ours 1/s':>10}{'theirs':>10}{'ratio':>9}   95 %")
    found = {}
    for name, rows in phases.items():
        found[name] = r = interval(rows)
        medians = [statistics.median(row["rate"] for row in rows[side]) for side in ("ours", "theirs")]
        verdict = "PASS" if r["low"] <= 1 <= r["high"] else "PASS, faster" if r["low"] > 1 else "FAIL"
        print(f"{name:36}{medians[0]:10.2f}{medians[1]:10.2f}{r['ratio']:9.3f}   {r['low']:.3f} to "
              f"{r['high']:.3f}, n = {r['n']}  {verdict}{'' if r['n'] >= 30 else ' (n < 30)'}")
        r["verdict"] = verdict
    same = len(set(texts.values())) == 1
    print(f"{'PASS' if same else 'FAIL'}: the same text after {', '.join(texts)} loads")
    return {"ratios": found, "same_text": same}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=MODELS, default="1b-q4_k")
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--words", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--exact", action="store_true", help="with `exact = true`")
    parser.add_argument("--quiet", type=float, default=60, help="seconds to wait for an idle machine")
    options = parser.parse_args()
    model = MODELS[options.model] or synthetic.ensure(options.model)
    config = f"threads = {options.threads}\n" + ("exact = true\n" if options.exact else "")
    with tempfile.TemporaryDirectory(dir=load.ROOT / "build") as folder:
        side = Hearth(model, folder, config).open()
        peer = None
        try:
            # Before it maps the file: what is mapped cannot be dropped.
            side.rest()
            page_state.drop(model)
            peer = Peer(model, "-t", options.threads, "-tb", options.threads).ready(600)
            phases, texts = measure(side, peer, options)
        finally:
            side.close()
            if peer:
                peer.stop()
    verdicts = show(phases, texts)
    load.save(f"decode-{options.model}", {"machine": load.machine(), "options": vars(options),
                                          "phases": phases, "texts": texts, "verdicts": verdicts})


if __name__ == "__main__":
    main()
