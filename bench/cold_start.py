# SPDX-License-Identifier: Apache-2.0
"""From the request to the first token with nothing loaded: Hearth, llama-server, Ollama.

All sides take turns, in another order each time. Before each run every file that its load maps or reads
is brought into the wanted state, and the row carries the proof. A row that contradicts its state, or
that others disturbed, is kept, marked, left out of the figures and run again.
"""

import argparse
import random
import tempfile

import first_token
import groups
import load
import page_state
import proof
import synthetic
from bound import Bound
from cold_bars import evaluate, show_table
from figures import show
from ollama import Ollama
from sides import HearthFirst, HearthStored, Sleeping, Started
from support.server import GEMMA, SMOLLM2

MODELS = {"gemma-3-270m": GEMMA, "smollm2": SMOLLM2, "1b-q4_k": None, "3b-q8_0": None,
          "1b-q4_k_m": None, "tiny-q4_k": None}
DEFAULT_MODELS = ["gemma-3-270m", "1b-q4_k", "3b-q8_0", "smollm2"]
SIDES = ["hearth stored", "hearth first", "llama-server", "llama-server quick", "llama-server asleep",
         "ollama", "read beside prefill"]
# What Hearth may call a request of a state.
CLASSES = {"page-warm": {"load-cold", "compile-cold"}, "page-cold": {"storage-cold"}}


def make_side(name, model, folder, options):
    within = options.within
    config = f"threads = {options.threads}\n" if options.threads else ""
    threads = ["-t", options.threads] if options.threads else []
    return {
        "hearth stored": lambda: HearthStored(model, folder, config, within),
        "hearth first": lambda: HearthFirst(model, folder, config, within),
        "llama-server": lambda: Started(name, model, threads, within),
        "llama-server quick": lambda: Started(
            name, model, ["-fit", "off", "--no-warmup", *threads], within),
        "llama-server asleep": lambda: Sleeping(model, within),
        "ollama": lambda: Ollama(options.ollama, model, folder, within),
        "read beside prefill": lambda: Bound(model, folder, within),
    }[name]()


def run_once(side, state, number, options):
    """One row: the time, the proof of the state it began in, and what happened meanwhile."""
    side.rest()
    files = side.files()
    page_state.put(files, state)
    quiet = options.quiet == 0 or proof.wait_for_quiet(options.quiet)
    before = page_state.shares(files)
    prompt = first_token.prompt_of(options.words, number)
    watch = proof.Watch(side.pids)
    seconds = side.start(prompt)
    figures = watch.read()
    row = {"side": side.name, "state": state, "number": number, "first_s": seconds,
           "resident_before": before, "quiet_before": quiet, **figures, "told": side.told()}
    row["bytes_read"] += row["told"].get("reader_bytes", 0)  # of a process that has ended
    side.settle()
    row["invalid"] = why_invalid(row, sum(p.stat().st_size for p in files), options)
    return row


def why_invalid(row, size, options):
    """None, or what contradicts the state that the row is to show."""
    if wrong := page_state.contradiction(row["resident_before"], row["state"]):
        return wrong
    read, told = row["bytes_read"], row["told"]
    if row["state"] == "page-warm" and read > 0.01 * size + (8 << 20):
        return f"read {read / 1e6:.0f} MB though everything was there"
    if row["state"] == "page-cold" and read < 0.3 * size:
        return f"read only {read / 1e6:.0f} MB of {size / 1e6:.0f} though nothing was there"
    expected, called = CLASSES.get(row["state"]), told.get("class")
    if expected and called and called not in expected:
        return f"hearth called it {called}"
    if told.get("cached_tokens"):
        return f"{told['cached_tokens']} tokens were cached"
    return proof.disturbance(row) if options.quiet else None


def wanted_sides(model_name, options):
    names = [name for name in SIDES if name in options.sides]
    if not options.ollama:
        names = [name for name in names if name != "ollama"]
    if model_name != "3b-q8_0" and not options.bound:
        names = [name for name in names if name != "read beside prefill"]
    return names


def run_valid(side, state, number, options):
    """Rows until one is valid, or there were `--tries`."""
    rows = []
    for _ in range(options.tries):
        rows.append(run_once(side, state, number, options))
        if not rows[-1]["invalid"]:
            break
        print(f"    invalid: {side.name}, {state}: {rows[-1]['invalid']}", flush=True)
    return rows


def measure(sides, options):
    rows, dice = [], random.Random(options.seed)
    for number in range(1, options.runs + 1):
        for state in options.states:
            order = [s for s in sides if state == "page-cold" or not isinstance(s, Bound)]
            dice.shuffle(order)
            for side in order:
                rows += run_valid(side, state, number, options)
                print(f"  {number} {state:10} {side.name:20} {rows[-1]['first_s'] * 1000:8.0f} ms",
                      flush=True)
    return rows


def prompt_words(model, folder, options):
    """How many words make the prompt's tokens with this model."""
    server = HearthFirst(model, folder)
    try:
        server.rest()
        return first_token.words_for(options.tokens, server.count)
    finally:
        server.close()


def measure_model(name, options):
    model = MODELS[name] or synthetic.ensure(name, options.models_folder)
    print(f"\n{name}", flush=True)
    with tempfile.TemporaryDirectory(dir=load.ROOT / "build") as folder:
        options.words = prompt_words(model, folder, options)
        sides = [make_side(side, model, folder, options) for side in wanted_sides(name, options)]
        try:
            for side in sides:
                side.open()
            rows = measure(sides, options)
            notes = {side.name: side.note() for side in sides if hasattr(side, "note")}
        finally:
            for side in sides:
                side.close()
    for side, note in notes.items():
        print(f"  {side}: {note}")
    return {"rows": rows, "notes": notes, "words": options.words, "size": model.stat().st_size}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=DEFAULT_MODELS)
    parser.add_argument("--states", nargs="+", choices=page_state.STATES,
                        default=list(page_state.STATES))
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=SIDES)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--tokens", type=int, default=64, help="of the prompt")
    parser.add_argument("--threads", type=int, default=0, help="0: each side's default")
    parser.add_argument("--tries", type=int, default=3, help="of a run that others disturb")
    parser.add_argument("--quiet", type=float, default=60,
                        help="seconds to wait for an idle machine before each run; 0: no gate at all")
    parser.add_argument("--ollama", metavar="PATH", help="Ollama's program; without it, it is left out")
    parser.add_argument("--throttle", metavar="RATE", help="hold the device to this, such as 200M a s")
    parser.add_argument("--bound", action="store_true", help="the lower bound for each model")
    parser.add_argument("--seed", type=int, default=1, help="of the order of the sides")
    parser.add_argument("--models-folder", default=synthetic.MODELS)
    return parser.parse_args()


def main():
    options = parse_arguments()
    options.within, throttle = [], None
    if options.throttle:
        try:
            throttle = groups.SlowDevice(load.ROOT / "build", options.throttle)
        except groups.Unavailable as why:
            raise SystemExit(f"--throttle was skipped: {why}") from why
        options.within = throttle.within()
    try:
        results = {name: measure_model(name, options) for name in options.models}
    finally:
        if throttle:
            throttle.close()
    for name, result in results.items():
        show_table(name, result["rows"])
    verdicts = show(evaluate(results)) if not options.throttle else []
    # The paths in it say nothing to a reader.
    kept = {k: v for k, v in vars(options).items() if k not in ("within", "models_folder")}
    load.save("cold-start" + (f"-{options.throttle}" if options.throttle else ""),
              {"machine": load.machine(), "options": kept, "models": results, "verdicts": verdicts})


if __name__ == "__main__":
    main()
