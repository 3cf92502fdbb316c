# SPDX-License-Identifier: Apache-2.0
"""Makes models of noise to measure with, where real ones of that size are not at hand.

    bench/synthetic.py 1b-q4_k 3b-q8_0        into build/models/, skipped where they are
    bench/synthetic.py --tiny                 a small one, all of whose matrices are repacked
"""

import argparse
import time
from pathlib import Path

import load
from support.server import SMOLLM2
from support.synthetic_models import SPECS, write_synthetic_model

MODELS = load.ROOT / "build/models"


def path_of(name, folder=MODELS, seed=1):
    """Seed 1 is the usual one and not in the name."""
    return Path(folder) / f"synthetic-{name}{'' if seed == 1 else f'-{seed}'}.gguf"


def ensure(name, folder=MODELS, seed=1):
    """The file, made if it is not there."""
    path = path_of(name, folder, seed)
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    size = write_synthetic_model(path, SPECS[name], SMOLLM2, seed)
    print(f"made {path.name}: {size / 1e6:.0f} MB in {time.perf_counter() - started:.1f} s")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SPECS))
    parser.add_argument("--tiny", action="store_true", help="the same as tiny-q4_k")
    parser.add_argument("--out", default=MODELS, help="the folder")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    names = [*options.names, *(["tiny-q4_k"] if options.tiny else [])]
    unknown = [name for name in names if name not in SPECS]
    if unknown or not names:
        parser.error(f"unknown: {', '.join(unknown)}" if unknown else "name a model, or --tiny")
    for name in names:
        print(ensure(name, options.out, options.seed))


if __name__ == "__main__":
    main()
