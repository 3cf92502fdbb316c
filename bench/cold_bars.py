# SPDX-License-Identifier: Apache-2.0
"""The table and the bars of cold_start.py."""

import statistics

import load
from figures import Verdict, against, ratio_interval

PEER = "llama-server"
BOUND = "read beside prefill"
# model, side, state, most of the peer's time
BARS = [
    ("gemma-3-270m", "hearth stored", "page-warm", 0.30),
    ("gemma-3-270m", "hearth stored", "page-cold", 0.35),
    ("1b-q4_k", "hearth stored", "page-warm", 0.50),
    ("1b-q4_k", "hearth stored", "page-cold", 0.45),
    ("1b-q4_k", "hearth first", "page-warm", 0.85),
    ("1b-q4_k", "hearth first", "page-cold", 0.85),
]
BOUND_FACTOR, BOUND_EXTRA_S = 1.15, 0.1
FORECAST_BAR, LEARNT_FROM = 0.20, 3  # the latter: a turn's number


def times(rows, side, state):
    return [row["first_s"] for row in rows
            if row["side"] == side and row["state"] == state and not row["invalid"]]


def _bound(rows):
    what = "3b-q8_0 page-cold ÷ (1.15 × bound + 0.1 s)"
    ours, bound = times(rows, "hearth stored", "page-cold"), times(rows, BOUND, "page-cold")
    if not ours or not bound:
        return Verdict(what, None, 1.0)
    allowed = BOUND_FACTOR * statistics.median(bound) + BOUND_EXTRA_S
    return Verdict(what, statistics.median(ours) / allowed, 1.0,
                   detail=f"{statistics.median(ours):.3f} s of {allowed:.3f} s allowed, n = {len(ours)}")


def _forecasts(results):
    """How far Hearth's own forecasts were off, from the turn on that had something to learn from."""
    errors = [abs(row["told"]["forecast_error"]) for result in results.values() for row in result["rows"]
              if row["side"] == "hearth stored" and not row["invalid"]
              and row["number"] >= LEARNT_FROM and row["told"].get("forecast_error") is not None]
    return Verdict("forecast of the first token, median error", statistics.median(errors) if errors
                   else None, FORECAST_BAR, detail=f"n = {len(errors)}, all models and states")


def evaluate(results):
    verdicts = [_forecasts(results)]
    for model, side, state, bar in BARS:
        if model not in results:
            continue
        rows = results[model]["rows"]
        peers = [PEER] + (["ollama"] if any(row["side"] == "ollama" for row in rows) else [])
        for peer in peers:
            verdict = against(f"{model} {state} {side} ÷ {peer}", times(rows, side, state),
                              times(rows, peer, state), bar)
            verdict.detail += f"  {results[model]['notes'].get(side, '')}"
            verdicts.append(verdict)
    if "3b-q8_0" in results:
        verdicts.append(_bound(results["3b-q8_0"]["rows"]))
    return verdicts


def show_table(name, rows):
    print(f"\n{name:14}{'side':22}{'first token':>13}  {'quartiles':>16}   n "
          f"{'÷ ' + PEER:>18}  {'95 %':15}{'read':>9}{'faults':>8}")
    sides = dict.fromkeys(row["side"] for row in rows)
    for state in dict.fromkeys(row["state"] for row in rows):
        for side in sides:
            found = times(rows, side, state)
            if found:
                print(_line(state, side, found, rows))


def _line(state, side, found, rows):
    of_side = [r for r in rows if r["side"] == side and r["state"] == state and not r["invalid"]]
    s = load.summary(found)
    peers = times(rows, PEER, state)
    ratio = "" if not peers else _ratio(found, peers)
    read = statistics.median(r["bytes_read"] for r in of_side) / 1e6
    faults = statistics.median(r["major_faults"] for r in of_side)
    return (f"{state:14}{side:22}{s['median'] * 1000:10.0f} ms  {s['low'] * 1000:6.0f} to "
            f"{s['high'] * 1000:6.0f} {s['n']:3d} {ratio:35}{read:6.0f} MB{faults:8.0f}")


def _ratio(found, peers):
    r = ratio_interval(found, peers)
    return f"{r['ratio']:18.3f}  {r['low']:.3f} to {r['high']:.3f}"
