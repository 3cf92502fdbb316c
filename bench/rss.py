# SPDX-License-Identifier: Apache-2.0
"""Memory of a loaded model, Hearth's and llama-server's, and of a worker that is hollow again."""

import argparse
import re
import tempfile
from pathlib import Path

import first_token
import load
import synthetic
from cold_start import MODELS
from figures import Verdict, show
from sides import HearthStored, Started

LOADED_BAR, HOLLOW_BAR_MB = 0.60, 80
FIELDS = ("Rss", "Pss", "Shared_Clean", "Shared_Dirty", "Private_Clean", "Private_Dirty", "Anonymous")
PROMPT = first_token.prompt_of(60, 1)


def _fields(text):
    return {key: int(value) * 1024
            for key, value in re.findall(r"^(\w+): +(\d+) kB$", text, re.M) if key in FIELDS}


def memory_of(pid):
    found = _fields(Path(f"/proc/{pid}/smaps_rollup").read_text())
    found["name"] = Path(f"/proc/{pid}/comm").read_text().strip()
    return found


def mapped(pid, part):
    """What the process maps of files with `part` in their path: sizes, and how."""
    blocks = re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", Path(f"/proc/{pid}/smaps").read_text(), flags=re.M)
    chosen = [block for block in blocks if part in block.split("\n", 1)[0]]
    total = {}
    for block in chosen:
        for key, value in _fields(block).items():
            total[key] = total.get(key, 0) + value
    return {"modes": sorted({block.split()[1] for block in chosen}), **total}


def memory_of_side(side):
    return [{"pid": pid, **memory_of(pid)} for pid in side.pids()]


def total(parts, field="Rss"):
    return sum(part[field] for part in parts)


def measure(model, folder):
    ours, theirs = HearthStored(model, folder).open(), Started("llama-server", model).open()
    try:
        ours.rest()
        ours.start(PROMPT)
        ours.server.wait_idle("bench", 60)
        result = {"note": ours.note(), "loaded": memory_of_side(ours)}
        worker = ours.server.worker_pid("bench")
        result["stored_mapping"] = mapped(worker, "/compiled/")
        result["model_mapping"] = mapped(worker, model.name)
        ours.settle()
        ours.rest()
        result["hollow"] = memory_of(ours.server.worker_pid("bench"))
        theirs.start(PROMPT)
        result["theirs"] = memory_of_side(theirs)
        return result
    finally:
        ours.close()
        theirs.close()


def table(result):
    print(f"{'':30}" + "".join(f"{field:>15}" for field in FIELDS))
    rows = [("hearth: " + part["name"], part) for part in result["loaded"]]
    rows += [("llama-server", part) for part in result["theirs"]]
    rows += [("hollow again", result["hollow"]), ("of it the stored repack", result["stored_mapping"]),
             ("of it the model's file", result["model_mapping"])]
    for name, part in rows:
        print(f"{name:30}" + "".join(f"{part.get(field, 0) / 1e6:12.1f} MB" for field in FIELDS))
    print(f"the stored repack is mapped: {', '.join(result['stored_mapping']['modes']) or 'not at all'}"
          f"   ({result['note']})")


def evaluate(name, result):
    loaded, theirs = result["loaded"], result["theirs"]
    return [Verdict(f"{name} RSS loaded, all of hearth ÷ llama-server", total(loaded) / total(theirs),
                    LOADED_BAR, detail=f"Pss {total(loaded, 'Pss') / total(theirs, 'Pss'):.3f}"),
            Verdict(f"{name} RSS of a hollow worker after a load", result["hollow"]["Rss"] / 1e6,
                    HOLLOW_BAR_MB, unit="MB")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=["1b-q4_k"])
    options = parser.parse_args()
    results, verdicts = {}, []
    for name in options.models:
        model = MODELS[name] or synthetic.ensure(name)
        with tempfile.TemporaryDirectory(dir=load.ROOT / "build") as folder:
            results[name] = measure(model, folder)
        print(f"\n{name}")
        table(results[name])
        verdicts += evaluate(name, results[name])
    load.save("rss", {"machine": load.machine(), "models": results, "verdicts": show(verdicts)})


if __name__ == "__main__":
    main()
