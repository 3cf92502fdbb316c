# SPDX-License-Identifier: Apache-2.0
"""A prompt whose state is on disk, against a server that evaluates it; and how fast it is read."""

import random
import time
from functools import partial

import first_token
import page_state
import prefix_sides
from figures import Verdict, against
from prefix_rows import (disturbance, first_reason, measured, median, select, summary_line,
                         until_valid, values)

LOADED_BAR, COLD_BAR = 0.05, 0.08
COLD_RATE_BAR, HOT_RATE_BAR = 0.7, 1.5
PAGES = ("page-warm", "page-cold")
# case -> what happened since the prompt was evaluated; all but the last find the model loaded.
CASES = ("unloaded", "restarted", "killed", "cold start")
SIDES = ["hearth", "llama-server"]


# ---- restore ----

def prepare(side, case, tokens):
    """Everything is on disk alone, and the model as the case wants it."""
    side.server.load("bench")
    side.spill(tokens)
    if case == "unloaded":
        side.reload()
    elif case == "cold start":
        side.rest()
    else:
        side.restart("stop" if case == "restarted" else "kill")
    side.wait_gone("live")
    side.wait_for("disk", tokens - 1)


def hearth_row(side, case, pages, asked, options):
    prompt, tokens = asked
    prepare(side, case, tokens)
    records = side.records()
    files = records + (side.files() if case == "cold start" else [])
    page_state.put(files, pages)
    kept, before = side.tokens(), page_state.shares(files)
    reply, figures = measured(side.pids, lambda: side.ask(prompt), options)
    row = {"side": side.name, "case": case, "pages": pages, **reply.row(), **figures, "kept": kept,
           "resident_before": {"files": len(files), "least": min(before.values(), default=None),
                               "most": max(before.values(), default=None)},
           "record_bytes": sum(path.stat().st_size for path in records)}
    row["invalid"] = first_reason(
        None if records else "there are no records on disk",
        page_state.contradiction(before, pages),
        prefix_sides.contradiction_before(kept, "disk", tokens),
        prefix_sides.contradiction(reply, "disk", tokens),
        _wrong_reads(row), disturbance(row, options))
    return row


def _wrong_reads(row):
    read, size = row["bytes_read"], row["record_bytes"]
    if row["pages"] == "page-warm" and read > 0.05 * size + (8 << 20):
        return f"read {read / 1e6:.0f} MB though everything was there"
    if row["pages"] == "page-cold" and read < 0.8 * size:
        return f"read only {read / 1e6:.0f} MB of {size / 1e6:.0f} though nothing was there"
    return None


def llama_loaded_row(side, pages, prompt, options):
    reply, figures = measured(side.pids, lambda: side.ask(prompt, cache_prompt=False), options)
    row = {"side": side.name, "case": "loaded", "pages": pages, **reply.row(), **figures}
    row["invalid"] = first_reason(prefix_sides.contradiction(reply, "none", reply.prompt_tokens),
                                  disturbance(row, options))
    return row


def llama_cold_row(model, pages, prompt, options):
    side = prefix_sides.Llama("llama-server", model, *prefix_sides.threads_arguments(options))
    page_state.put([model], pages)
    before = page_state.shares([model])
    try:
        reply, figures = measured(side.pids, lambda: side.start_and_ask(prompt), options)
    finally:
        side.close()
    row = {"side": side.name, "case": "cold start", "pages": pages, **reply.row(), **figures,
           "resident_before": before}
    row["invalid"] = first_reason(page_state.contradiction(before, pages), disturbance(row, options))
    return row


def _jobs(sides, model, pages, asked, options):
    """(what, run) in the order in which they are run this time."""
    prompt, jobs = asked[0], []
    if "hearth" in sides:
        jobs += [(f"hearth, {case}, {pages}",
                  partial(hearth_row, sides["hearth"], case, pages, asked, options))
                 for case in options.cases]
    if "llama-server" in sides:
        # Loaded, it maps the file, whose pages nobody could then drop: it is started and ended here.
        jobs.append((f"llama-server, loaded, {pages}",
                     partial(_loaded_then_ended, sides["llama-server"], pages, prompt, options)))
        if "cold start" in options.cases:
            jobs.append((f"llama-server, cold start, {pages}",
                         partial(llama_cold_row, model, pages, prompt, options)))
    return jobs


def _loaded_then_ended(side, pages, prompt, options):
    side.open()
    try:
        return llama_loaded_row(side, pages, prompt, options)
    finally:
        side.close()


def restore(model, folder, options):
    prompt, dice = first_token.prompt_of(options.tokens, 3), random.Random(options.seed)
    sides, rows, tokens = {}, [], options.tokens
    if "llama-server" in options.sides:
        sides["llama-server"] = prefix_sides.Llama(
            "llama-server", model, "--cache-ram", 0, *prefix_sides.threads_arguments(options))
    try:
        if "hearth" in options.sides:
            sides["hearth"] = prefix_sides.Hearth(
                model, folder, prefix_sides.threads_config(options)).open()
            tokens = sides["hearth"].keep(prompt)
        for _ in range(options.runs):
            for pages in options.pages:
                jobs = _jobs(sides, model, pages, (prompt, tokens), options)
                dice.shuffle(jobs)
                for what, run in jobs:
                    if "hearth" in sides and not what.startswith("hearth, "):
                        sides["hearth"].server.unload("bench")  # it maps the file too
                    rows += until_valid(what, run, options)
    finally:
        for side in sides.values():
            side.close()
    _show_restore(rows, options)
    return {"rows": rows, "verdicts": restore_verdicts(rows, options)}


def _show_restore(rows, options):
    print(f"\n{'to the first token':46}{'median':>13}   quartiles")
    for pages in options.pages:
        for side, case in (*(("hearth", case) for case in options.cases),
                           ("llama-server", "loaded"), ("llama-server", "cold start")):
            found = values(rows, "first_s", side=side, case=case, pages=pages)
            print(summary_line(f"{side}, {case}, {pages}", found))


def restore_verdicts(rows, options):
    verdicts = []
    for pages in options.pages:
        for case in options.cases:
            cold = case == "cold start"
            # A loaded server that recomputes does not read the disk: its rows are one group.
            of_peer = {"case": case, "pages": pages} if cold else {"case": "loaded"}
            verdicts.append(against(
                f"{case}, {pages} ÷ llama-server {'cold start' if cold else 'loaded'}",
                values(rows, "first_s", side="hearth", case=case, pages=pages),
                values(rows, "first_s", side="llama-server", **of_peer),
                COLD_BAR if cold else LOADED_BAR))
    return verdicts


# ---- rates ----

def plain_read(files):
    """Seconds of reading the files one after another, none of it in memory."""
    for path in files:
        page_state.drop(path)
    buffer = bytearray(4 << 20)
    began = time.perf_counter()
    for path in files:
        with open(path, "rb", buffering=0) as file:
            while file.readinto(buffer):
                pass
    return time.perf_counter() - began


def _rate(restored, seconds):
    return restored / seconds if restored and seconds else None


def rate_row(side, way, asked, options):
    """`way`: "memory", or the state of the records' pages."""
    prompt, tokens = asked
    tier = "memory" if way == "memory" else "disk"
    side.server.load("bench")
    if tier == "memory":
        side.keep(prompt)
        side.reload()
    else:
        prepare(side, "unloaded", tokens)
        page_state.put(side.records(), way)
    before = {} if tier == "memory" else page_state.shares(side.records())
    kept = side.tokens()
    reply, figures = measured(side.pids, lambda: side.ask(prompt), options)
    restored = reply.prefix.get("restored_bytes", 0)
    row = {"side": side.name, "way": way, **reply.row(), **figures, "kept": kept,
           "restored_bytes": restored,
           "rate": _rate(restored, reply.row()["restore_s"]),
           "rate_to_first_token": _rate(restored, reply.first_s)}
    row["invalid"] = first_reason(
        page_state.contradiction(before, way) if before else None,
        prefix_sides.contradiction_before(kept, tier, tokens),
        prefix_sides.contradiction(reply, tier, tokens),
        None if row["rate"] else "the reply has no restored bytes, or no stage of restoring",
        disturbance(row, options))
    return row


def plain_row(files, options):
    size = sum(path.stat().st_size for path in files)
    seconds, figures = measured(lambda: [], lambda: plain_read(files), options)
    row = {"side": "plain read", "way": "page-cold", "first_s": seconds, "rate": _rate(size, seconds),
           "restored_bytes": size, "prompt_tokens": 0, "cached_tokens": 0, **figures}
    row["invalid"] = first_reason(None if size else "there are no records on disk")
    return row


def rates(model, folder, options):
    prompt, rows = first_token.prompt_of(options.tokens, 3), []
    side = prefix_sides.Hearth(model, folder, prefix_sides.threads_config(options))
    try:
        side.open()
        for number in range(options.runs):
            tokens = side.keep(prompt)
            side.spill(tokens)
            asked = (prompt, tokens)
            jobs = [("hearth, disk, page-cold", partial(rate_row, side, "page-cold", asked, options)),
                    ("hearth, disk, page-warm", partial(rate_row, side, "page-warm", asked, options)),
                    ("plain read, page-cold", lambda: plain_row(side.records(), options))]
            # What memory keeps shadows the disk: that way comes last.
            for what, run in jobs if number % 2 else reversed(jobs):
                rows += until_valid(what, run, options)
            rows += until_valid("hearth, memory", partial(rate_row, side, "memory", asked, options),
                                options)
    finally:
        side.close()
    _show_rates(rows)
    return {"rows": rows, "verdicts": rate_verdicts(rows)}


def _show_rates(rows):
    print(f"\n{'':28}{'GB/s':>8}{'bytes':>12}   to the first token")
    for side, way in (("hearth", "page-cold"), ("plain read", "page-cold"), ("hearth", "page-warm"),
                      ("hearth", "memory")):
        if found := select(rows, side=side, way=way):
            rate, size = median(found, "rate"), median(found, "restored_bytes")
            print(f"{side + ', ' + way:28}{rate / 1e9:8.2f}{size / 1e6:9.1f} MB"
                  f"{median(found, 'first_s') * 1000:12.0f} ms, n = {len(found)}")


def rate_verdicts(rows):
    ours, plain = (median(rows, "rate", side=side, way="page-cold") for side in ("hearth", "plain read"))
    cold = ours / plain if ours and plain else None
    verdicts = [Verdict("restore, page-cold ÷ a plain read", cold, COLD_RATE_BAR, at_least=True)]
    for way in ("page-warm", "memory"):
        rate = median(rows, "rate", side="hearth", way=way)
        verdicts.append(Verdict(f"restore, {way}", rate / 1e9 if rate else None, HOT_RATE_BAR,
                                unit="GB/s", at_least=True))
    return verdicts
