# SPDX-License-Identifier: Apache-2.0
"""What kept prompts are worth: Hearth beside llama-server (and Ollama), which take turns.

    restore   a long prompt from disk after an unload, a restart, kill -9, and at a cold start
    sweep     prefix lengths; a hit in live cells, in memory, on disk, and none
    abab      two conversations in turns with one sequence
    agents    eight at once on a long shared prompt
    restart   in the middle of a conversation
    rates     bytes a second of restoring, against a plain read of the same files
    saving    what saving costs the request that comes right after

Each row proves its state: what the server says is kept in each tier before it, what of the files is in
memory, where the reply says its tokens came from, and what others did meanwhile. A row that contradicts
its state is kept, marked, left out of the figures and run again.
"""

import argparse
import contextlib
import json
import sys
import tempfile
from pathlib import Path

import load
import prefix_restore
import prefix_scenes
import prefix_sweep
import synthetic
from figures import show
from support.server import GEMMA, SMOLLM2

MODELS = {"1b-q4_k": None, "3b-q8_0": None, "tiny-q4_k": None, "smollm2": SMOLLM2, "gemma-3-270m": GEMMA}
OLLAMA = load.ROOT / "build/peers/ollama"


def _common(parser, model, sides, runs):
    parser.add_argument("--model", choices=MODELS, default=model)
    parser.add_argument("--sides", nargs="+", choices=sides, default=sides)
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--tries", type=int, default=3, help="of a row that others disturb")
    parser.add_argument("--quiet", type=float, default=60,
                        help="seconds to wait for an idle machine before each row; 0: no gate at all")
    parser.add_argument("--threads", type=int, default=0, help="0: each side's default")
    parser.add_argument("--seed", type=int, default=1, help="of the order of the sides")
    parser.add_argument("--models-folder", default=synthetic.MODELS)
    parser.add_argument("--json", action="store_true", help="all figures to standard output")
    parser.add_argument("--out", type=Path, help="the file; build/bench/prefix-… without it")


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)

    p = parts.add_parser("restore", help="the bars: 0.05 of a recomputation, 0.08 of a cold start")
    _common(p, "1b-q4_k", prefix_restore.SIDES, 7)
    p.add_argument("--tokens", type=int, default=1700, help="of the prompt")
    p.add_argument("--cases", nargs="+", choices=prefix_restore.CASES, default=prefix_restore.CASES)
    p.add_argument("--pages", nargs="+", choices=prefix_restore.PAGES, default=prefix_restore.PAGES)
    p.set_defaults(run=prefix_restore.restore)

    p = parts.add_parser("sweep", help="first token by prefix length and tier")
    _common(p, "smollm2", prefix_sweep.SIDES, 3)
    p.add_argument("--lengths", nargs="+", type=int, default=prefix_sweep.LENGTHS)
    p.set_defaults(run=prefix_sweep.sweep)

    p = parts.add_parser("abab", help="two conversations in turns, one sequence")
    _common(p, "smollm2", prefix_scenes.ABAB_SIDES, 3)
    _talk_options(p, tokens=1500, rounds=5)
    p.add_argument("--ollama", metavar="PATH", default=OLLAMA if OLLAMA.exists() else None)
    p.set_defaults(run=prefix_scenes.abab)

    p = parts.add_parser("agents", help="eight at once on a shared prompt")
    _common(p, "smollm2", prefix_scenes.AGENTS_SIDES, 3)
    _talk_options(p, tokens=4096, question=64)
    p.set_defaults(run=prefix_scenes.agents)

    p = parts.add_parser("restart", help="in the middle of a conversation")
    _common(p, "smollm2", prefix_scenes.RESTART_SIDES, 3)
    _talk_options(p, tokens=1500, rounds=3)
    p.set_defaults(run=prefix_scenes.restart)

    p = parts.add_parser("rates", help="bytes a second")
    _common(p, "1b-q4_k", ["hearth"], 10)
    p.add_argument("--tokens", type=int, default=1700, help="of the prompt")
    p.set_defaults(run=prefix_restore.rates)

    p = parts.add_parser("saving", help="the next request's first token, with saving on and off")
    _common(p, "smollm2", ["hearth"], 1)
    p.add_argument("--pairs", type=int, default=40, help="of each kind; 30 valid ones are needed")
    p.add_argument("--tokens", type=int, default=1024, help="of the prompt that is saved")
    p.add_argument("--next", nargs="+", choices=prefix_sweep.NEXT, default=prefix_sweep.NEXT)
    p.add_argument("--next-tokens", type=int, default=64, help="of the next one, or of what it adds")
    p.add_argument("--reply", type=int, default=16)
    p.add_argument("--parallel", type=int, default=4, help="with 1, the next one needs the same cells")
    p.set_defaults(run=prefix_sweep.saving)
    return parser.parse_args(arguments)


def _talk_options(parser, tokens, rounds=None, question=32):
    parser.add_argument("--tokens", type=int, default=tokens, help="of the first, or shared, prompt")
    parser.add_argument("--question", type=int, default=question, help="tokens that are new each time")
    parser.add_argument("--reply", type=int, default=16, help="tokens")
    if rounds:
        parser.add_argument("--rounds", type=int, default=rounds)


def run(options):
    model = MODELS[options.model] or synthetic.ensure(options.model, options.models_folder)
    print(f"{options.part}, {options.model}", flush=True)
    with tempfile.TemporaryDirectory(dir=load.ROOT / "build") as folder:
        result = options.run(model, folder, options)
    verdicts = show(result["verdicts"])
    # Functions are no figures, and paths say nothing to a reader.
    kept = {key: value for key, value in vars(options).items()
            if key not in ("run", "models_folder", "out", "ollama", "json")}
    rows = result["rows"]
    return {"machine": load.machine(), "options": kept, "rows": rows,
            "invalid": sum(1 for row in rows if row["invalid"]), "verdicts": verdicts}


def write(result, options):
    text = json.dumps(result, indent=1) + "\n"
    if options.out:
        options.out.write_text(text)
    else:
        load.save(f"prefix-{options.part}-{options.model}", result)
    return text


def main():
    options = parse_arguments()
    # What is printed for people must not be between the figures.
    with contextlib.redirect_stdout(sys.stderr if options.json else sys.stdout):
        result = run(options)
        text = write(result, options)
    if options.json:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
