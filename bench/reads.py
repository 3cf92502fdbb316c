# SPDX-License-Identifier: Apache-2.0
"""What loads read from the device: with half of it resident, and after pressure between two loads.

    half       several patterns of what is there; bytes read ÷ bytes that were missing
    pressure   a control group of memory that leaves room for a part of the load set, through which a file
               larger than it is read between two loads; Hearth has that part pinned
"""

import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import first_token
import groups
import load
import page_state
import proof
import synthetic
from cold_start import MODELS
from figures import Verdict, show
from sides import HearthStored, Started
from support.made_models import write_noise_model
from support.waiting import eventually

HALF_BAR, PRESSURE_BAR = 1.05, 1.15
PROGRAMS = 16 << 20  # for what processes need beside the page cache that the room is for


def timed_start(side, number):
    watch = proof.Watch(side.pids)
    seconds = side.start(first_token.prompt_of(60, number))
    figures = watch.read()
    return {"first_s": seconds, "told": side.told(), **figures}


# ---- half resident ----

def half_once(side, pattern, number):
    side.rest()
    files = side.files()
    for path in files:
        page_state.keep_only(path, pattern)
    missing_in_files = page_state.missing_bytes(files)
    before = page_state.shares(files)
    row = timed_start(side, number)
    side.settle()
    # Hearth knows which parts of the files its load does not touch; llama-server maps all of its own.
    pages = row["told"].get("pages_before")
    missing = pages["total_bytes"] - pages["bytes"] if pages else missing_in_files
    row.update(pattern=pattern, side=side.name, resident_before=before, missing=missing,
               missing_in_files=missing_in_files, ratio=row["bytes_read"] / missing)
    # More than all that the files lack cannot be missing.
    row["invalid"] = missing > 1.001 * missing_in_files or any(
        abs(share - 0.5) > 0.03 for share in before.values())
    return row


def half(model, folder, options):
    sides = [HearthStored(model, folder).open(), Started("llama-server", model).open()]
    rows = []
    try:
        for number in range(options.runs):
            for pattern in options.patterns:
                rows += [half_once(side, pattern, number) for side in sides]
    finally:
        for side in sides:
            side.close()
    print(f"\n{'half resident':20}{'side':16}{'missing':>10}{'read':>10}{'ratio':>8}{'first token':>13}")
    for row in rows:
        print(f"{row['pattern']:20}{row['side']:16}{row['missing'] / 1e6:7.1f} MB"
              f"{row['bytes_read'] / 1e6:7.1f} MB{row['ratio']:8.3f}{row['first_s'] * 1000:10.0f} ms"
              f"{'  INVALID' if row['invalid'] else ''}")
    return rows


def half_verdicts(rows):
    verdicts = []
    for pattern in dict.fromkeys(row["pattern"] for row in rows):
        found = [row["ratio"] for row in rows
                 if row["pattern"] == pattern and row["side"] != "llama-server" and not row["invalid"]]
        verdicts.append(Verdict(f"read ÷ missing, {pattern}", statistics.median(found) if found else None,
                                HALF_BAR))
    return verdicts


# ---- pressure ----

def squeeze(group, room, scan):
    """Leaves room for `room` bytes of page cache in the group, and reads a file through it. Returns
    what more than that had to be left, because it could not be reclaimed."""
    anonymous, _ = group.used()
    more = 0
    while True:
        try:
            group.limit(anonymous + PROGRAMS + room + more)
            break
        except OSError:
            more += 4 << 20
            time.sleep(0.05)
    for _ in range(2):
        subprocess.run([*group.within(), "dd", f"if={scan}", "of=/dev/null", "bs=1M", "status=none"],
                       check=True)
    page_state.drop(scan)
    group.limit(None)
    return more


def pin(server, size):
    answer = server.post("/api/hearth/pin", {"model": "bench", "layer": "pages", "bytes": size})
    assert answer.status_code == 200, answer.text
    eventually(lambda: server.model("bench")["layers"]["pages"]["level"].startswith("pinned"),
               "the pages are pinned", 60)


def pressed(side, load_set, setting, number):
    """A load, pressure, and the load that counts."""
    group, scan, options = setting
    side.rest()
    timed_start(side, 2 * number)
    side.settle()
    side.rest()
    more = squeeze(group, int(load_set * options.room), scan)
    resident = page_state.shares(side.files())
    row = timed_start(side, 2 * number + 1)
    side.settle()
    gone = load_set * (1 - options.room)
    return {"side": side.name, "load_set": load_set, "resident_before": resident,
            "more": more, "killed": group.killed(), "could_not_stay": gone,
            "ratio": row["bytes_read"] / gone, "share_read": row["bytes_read"] / load_set, **row}


def pressure_ours(model, folder, options, scan):
    group = groups.Memory()
    side = HearthStored(model, folder, within=group.within())
    try:
        side.open()
        side.rest()
        for path in side.files():
            page_state.drop(path)  # whoever reads a page has it on its account
        timed_start(side, 900)
        load_set = side.told()["pages_before"]["total_bytes"]
        side.settle()
        pin(side.server, int(load_set * options.room))
        return [pressed(side, load_set, (group, scan, options), n) for n in range(options.runs)]
    finally:
        side.close()
        group.close()


def pressure_theirs(model, options, scan):
    group = groups.Memory()
    side = Started("llama-server", model, within=group.within())
    try:
        page_state.drop(model)
        size = model.stat().st_size
        return [pressed(side, size, (group, scan, options), n) for n in range(options.runs)]
    finally:
        side.close()
        group.close()


def pressure(model, folder, options):
    scan = Path(folder) / "backup.gguf"
    write_noise_model(scan, int(2.5 * model.stat().st_size))
    page_state.drop(scan)
    try:
        rows = pressure_ours(model, folder, options, scan) + pressure_theirs(model, options, scan)
    except groups.Unavailable as why:
        print(f"pressure was skipped: {why}")
        return []
    print(f"\n{'pressure':20}{'load set':>12}{'cannot stay':>13}{'read':>10}{'ratio':>8}"
          f"{'of all':>8}{'first token':>13}")
    for row in rows:
        print(f"{row['side']:20}{row['load_set'] / 1e6:9.1f} MB{row['could_not_stay'] / 1e6:10.1f} MB"
              f"{row['bytes_read'] / 1e6:7.1f} MB{row['ratio']:8.3f}{row['share_read']:8.1%}"
              f"{row['first_s'] * 1000:10.0f} ms{'  OUT OF MEMORY' if row['killed'] else ''}")
    return rows


def pressure_verdicts(rows, options):
    # Where the keeper of the pins was ended for want of memory, nothing was pinned.
    ours = [row for row in rows if row["side"] != "llama-server" and not row["killed"]]
    theirs = [row["share_read"] for row in rows if row["side"] == "llama-server"]
    detail = f"llama-server read {statistics.median(theirs):.0%} of all" if theirs else ""
    value = statistics.median(row["ratio"] for row in ours) if ours else None
    return [Verdict(f"read ÷ what could not stay, room for {options.room:.0%}", value, PRESSURE_BAR,
                    detail=detail)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="half, pressure; all by default")
    parser.add_argument("--model", choices=MODELS, default="1b-q4_k")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--room", type=float, default=0.8, help="share of the load set that can stay")
    parser.add_argument("--patterns", nargs="+", choices=page_state.PATTERNS,
                        default=list(page_state.PATTERNS))
    options = parser.parse_args()
    parts = options.parts or ["half", "pressure"]
    model = MODELS[options.model] or synthetic.ensure(options.model)
    rows, verdicts = {}, []
    with tempfile.TemporaryDirectory(dir=load.ROOT / "build") as folder:
        if "half" in parts:
            rows["half"] = half(model, folder, options)
            verdicts += half_verdicts(rows["half"])
        if "pressure" in parts:
            rows["pressure"] = pressure(model, Path(folder), options)
            verdicts += pressure_verdicts(rows["pressure"], options)
    load.save(f"reads-{options.model}", {"machine": load.machine(), "options": vars(options),
                                         "rows": rows, "verdicts": show(verdicts)})


if __name__ == "__main__":
    main()
