# SPDX-License-Identifier: Apache-2.0
"""Several models on one machine, beside others that want it too, with real models and a real kernel.

    bench/levels.py live [--trace FILE]   three models of which two fit, a household's 200 requests
    bench/levels.py neighbour             one in the same memory cgroup takes all that is free
    bench/levels.py protected             a service that comes first, beside long prompts
"""

import argparse
import signal
import sys
import tempfile
import time

import levels_live
import levels_neighbour
import levels_service
import load
from figures import show

PARTS = {"live": levels_live, "neighbour": levels_neighbour, "protected": levels_service}
QUIET_SHARE, QUIET_FOR_S = 0.2, 3.0


def wait_for_quiet(patience_s):
    """Until others leave the machine alone; 0 does not wait."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        meter = load.Meter()
        time.sleep(QUIET_FOR_S)
        if meter.read().outside_share <= QUIET_SHARE:
            return
    if patience_s:
        print("the machine never was quiet: what follows has others' work in it")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    for name, part in PARTS.items():
        sub = parts.add_parser(name, help=part.__doc__.splitlines()[0])
        sub.add_argument("--quiet", type=float, default=600, metavar="SECONDS",
                         help="how long to wait for a quiet machine; 0: not at all")
        part.arguments(sub)
    return parser.parse_args()


def main():
    options = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))  # with its servers
    wait_for_quiet(options.quiet)
    meter = load.Meter()
    with tempfile.TemporaryDirectory(dir=load.ROOT / "build") as folder:
        result, verdicts = PARTS[options.part].run(folder, options)
    usage = meter.read()
    print(f"\nthe machine without this program was busy with {usage.outside_share:.1f} processors")
    load.save(f"levels-{options.part}", {
        "machine": load.machine(), "options": vars(options), "busy": usage.outside_share, **result,
        "verdicts": show(verdicts)})


if __name__ == "__main__":
    main()
