#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts on a GPU: Hearth with a hollow worker against llama-server, and what the driver's cache is worth.

    bench/gpu_check.py --device vulkan            here, also on Mesa's driver that computes on the CPU
    bench/gpu_check.py --pack                     puts all that a CUDA machine without a network needs
                                                  into build/gpu_check/
    bench/gpu_check.py --device cuda              there: compiles the backend, makes a model, measures
    bench/gpu_check.py --device cuda --dry-run    what would be done, and whether the parts are there

Ends within --budget seconds; what there is no time for is said to be left out.
"""

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import gpu_parts

if gpu_parts.is_packed():
    sys.path.append(str(gpu_parts.PACK / "python"))
    os.environ.setdefault("HEARTH_MODELS", str(gpu_parts.PACK / "models"))

PARTS = ["tokens", "memory", "driver cache", "starts"]
PREPARE_S = 60  # to leave for one more part


class Clock:
    def __init__(self, budget):
        self._end = time.monotonic() + budget

    def left(self):
        return self._end - time.monotonic()


def set_up_device(device):
    """The environment of everything that is started from here on."""
    if device == "vulkan" and "VK_ICD_FILENAMES" not in os.environ and not shutil.which("nvidia-smi"):
        os.environ["VK_ICD_FILENAMES"] = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"
        os.environ["GGML_VK_VISIBLE_DEVICES"] = "0"


def driver_cache(device, folder):
    """Variables that put llama-server's driver cache there; None: switched off."""
    if device == "cuda":
        return {"CUDA_CACHE_DISABLE": "1"} if folder is None else {
            "CUDA_CACHE_PATH": str(folder), "CUDA_CACHE_MAXSIZE": str(4 << 30)}
    return {"MESA_SHADER_CACHE_DISABLE": "true", "__GL_SHADER_DISK_CACHE": "0"} if folder is None else {
        "MESA_SHADER_CACHE_DIR": str(folder), "__GL_SHADER_DISK_CACHE_PATH": str(folder)}


def device_memory():
    """Bytes in use on the first GPU; None where nobody tells."""
    if not shutil.which("nvidia-smi"):
        return None
    asked = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "--id=0"]
    return int(subprocess.run(asked, capture_output=True, text=True, check=True).stdout) << 20


# ---- the parts ----

def check_tokens(bench):
    """The same greedy text from both."""
    prompt = bench.first_token.prompt_of(bench.words, 3)
    body = {**bench.first_token.body_of(prompt, bench.options.generate), "stream": False}
    ours = bench.hearth.server.post("/v1/completions", body, timeout=600).json()
    peer = bench.peer().ready(600)
    try:
        theirs = peer.http.post("/v1/completions", json=body, timeout=600).json()
    finally:
        peer.stop()
    texts = [answer["choices"][0]["text"] for answer in (ours, theirs)]
    print(f"  same text: {'yes' if texts[0] == texts[1] else f'NO: {texts}'}")
    return {"same": texts[0] == texts[1], "texts": texts}


def check_memory(bench):
    """The device's memory comes back when a model is unloaded."""
    bench.hearth.rest()
    found = {"hollow": device_memory()}
    bench.hearth.server.load("bench")
    found["loaded"] = device_memory()
    found["told"] = bench.hearth.server.model("bench")["worker"].get("device_bytes")
    bench.hearth.rest()
    found["unloaded"] = device_memory()
    print("  " + ", ".join(f"{k} {'unknown' if v is None else f'{v / 1e6:.0f} MB'}" for k, v in found.items()))
    return found


def check_driver_cache(bench):
    """The first start with an empty cache, the next with what that one left, and one with none."""
    found = {}
    with bench.new_hearth("cache") as hearth:
        for name in ("empty", "kept"):
            found[f"hearth, {name}"] = bench.time(hearth, 5)
    with bench.new_hearth("off", 'layers_off = ["compiled"]\n') as hearth:
        found["hearth, off"] = bench.time(hearth, 5)
    folder = Path(bench.folder) / "peer-cache"
    for name, variables in (("empty", driver_cache(bench.options.device, folder)),
                            ("kept", driver_cache(bench.options.device, folder)),
                            ("off", driver_cache(bench.options.device, None))):
        os.environ.update(variables)
        found[f"llama-server, {name}"] = bench.time(bench.started("llama-server"), 5)
        for variable in variables:
            del os.environ[variable]
    for name, seconds in found.items():
        print(f"  {name:22} {seconds * 1000:8.0f} ms")
    return found


def check_starts(bench):
    """Page-warm and page-cold in turn, with the driver's caches filled."""
    os.environ.update(driver_cache(bench.options.device, Path(bench.folder) / "peer-cache"))
    sides = [bench.hearth, bench.started("llama-server"),
             bench.started("llama-server quick", "-fit", "off", "--no-warmup")]
    for side in sides:
        bench.time(side, 5)  # fills them
    rows, dice = [], random.Random(1)
    for number in range(bench.options.runs):
        for state in ("page-warm", "page-cold"):
            for side in dice.sample(sides, len(sides)):
                if bench.clock.left() < PREPARE_S:
                    print("  no time for more runs")
                    return rows
                rows.append({"side": side.name, "state": state,
                             "first_s": bench.time(side, 10 + number, state)})
    for state in ("page-warm", "page-cold"):
        for side in sides:
            times = [r["first_s"] * 1000 for r in rows if (r["side"], r["state"]) == (side.name, state)]
            print(f"  {state:10} {side.name:20} {statistics.median(times):8.0f} ms"
                  f" ({min(times):.0f} to {max(times):.0f}, {len(times)} runs)")
    return rows


RUN = {"tokens": check_tokens, "memory": check_memory, "driver cache": check_driver_cache,
       "starts": check_starts}


class Bench:
    """Both servers on one device. The modules that talk to them read the environment when they are
    imported, so this is made after it is set up."""

    def __init__(self, model, folder, options, clock):
        import first_token
        import page_state
        import sides
        from support import peer
        self.first_token, self._pages, self._sides, self._peer = first_token, page_state, sides, peer
        self.folder, self.options, self.clock, self.model = folder, options, clock, model
        self.words = options.words
        self.hearth = self.new_hearth("data").__enter__()

    def new_hearth(self, name, config=""):
        side = self._sides.Hearth(self.model, Path(self.folder) / name, "hang_seconds = 300\n" + config)
        side.data.parent.mkdir(parents=True, exist_ok=True)
        return Open(side)

    def peer(self, *more):
        return self._peer.Peer(self.model, *more)

    def started(self, name, *more):
        return self._sides.Started(name, self.model, more)

    def time(self, side, number, state="page-warm"):
        side.rest()
        files = [path for path in side.files() if "drivers" not in path.parts]
        self._pages.put(files, state)
        if wrong := self._pages.contradiction(self._pages.shares(files), state):
            print(f"  NOT {state}: {wrong}")
        seconds = side.start(self.first_token.prompt_of(self.words, number))
        side.settle()
        return seconds

    def close(self):
        self.hearth.close()


class Open:
    """A side for the length of a with-statement."""

    def __init__(self, side):
        self._side = side

    def __enter__(self):
        return self._side.open()

    def __exit__(self, *_):
        self._side.close()


def run_parts(options, model, folder, clock):
    bench = Bench(model, folder, options, clock)
    results = {}
    try:
        devices = bench.hearth.server.ok("/api/hearth/models/bench").get("worker", {}).get("devices")
        print(f"devices: {devices if devices is not None else 'as the engine found them'}")
        for part in options.parts:
            print(f"{part} ({clock.left():.0f} s left)", flush=True)
            if clock.left() < PREPARE_S:
                print("  LEFT OUT: no time")
                continue
            results[part] = RUN[part](bench)
    finally:
        bench.close()
    return results


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cuda", "vulkan"], default="cuda")
    parser.add_argument("--pack", action="store_true")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--build", default=gpu_parts.ROOT / "build/release")
    parser.add_argument("--model", help="smollm2, or a name of synthetic.py; else 3b-q8_0 on CUDA")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--words", type=int, default=60, help="of the prompt")
    parser.add_argument("--generate", type=int, default=16, help="tokens that are compared")
    parser.add_argument("--budget", type=float, default=460, help="seconds")
    options = parser.parse_args()
    options.model = options.model or ("smollm2" if options.device == "vulkan" else "3b-q8_0")
    return options


def main():
    options = parse_arguments()
    clock = Clock(options.budget)
    if options.pack:
        import load  # it knows where the tests' modules are
        from support.server import SMOLLM2
        return gpu_parts.pack(options.build, SMOLLM2, options.device)
    parts, complete = gpu_parts.plan(options.device, options.build)
    for what, where in parts:
        print(f"{what:14} {where}")
    if options.dry_run:
        print(f"would run: {', '.join(options.parts)}; model {options.model}; {options.budget:.0f} s at most")
        return None
    if not complete:
        raise SystemExit("parts are missing")
    set_up_device(options.device)
    with tempfile.TemporaryDirectory(dir=gpu_parts.ROOT / "build", prefix="gpu-check-") as folder:
        program, server = gpu_parts.make_runtime(options.device, options.build, Path(folder) / "run")
        os.environ["HEARTH_BIN"] = str(program)
        import load
        import synthetic
        from support import peer
        from support.server import SMOLLM2
        peer.LLAMA_SERVER = server
        model = SMOLLM2 if options.model == "smollm2" else synthetic.ensure(options.model)
        results = run_parts(options, model, folder, clock)
    kept = {k: v for k, v in vars(options).items() if k != "build"}
    return load.save(f"gpu-check-{options.device}",
                     {"machine": load.machine(), "options": kept, "results": results})


if __name__ == "__main__":
    main()
