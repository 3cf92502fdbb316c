# SPDX-License-Identifier: Apache-2.0
"""What a hit is worth by length and tier, and what saving costs the request that comes next."""

import random
import statistics

import first_token
import prefix_sides
from figures import Verdict, difference_interval
from prefix_rows import (disturbance, first_reason, measured, median, select)
from support.waiting import eventually

LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096, 6144)
TIERS = ("none", "live", "memory", "disk")
SIDES = ["hearth", "llama-server"]


# ---- by length and tier ----

def sweep_row(side, tier, asked, options):
    prompt, length, number = asked
    kept = side.tokens() if isinstance(side, prefix_sides.Hearth) else {}
    reply, figures = measured(side.pids, lambda: side.ask(prompt), options)
    row = {"side": side.name, "tier": tier, "length": length, "number": number, **reply.row(),
           **figures, "kept": kept}
    if kept:
        contradictions = (prefix_sides.contradiction_before(kept, tier, length),
                          prefix_sides.contradiction(reply, tier, reply.prompt_tokens))
    else:
        missing = tier == "live" and reply.cached_tokens < 0.95 * (reply.prompt_tokens - 1)
        contradictions = ("it was not cached",) if missing else (
            prefix_sides.contradiction(reply, "none", length) if tier == "none" else None,)
    row["recomputed"] = bool(kept) and tier != "none" and reply.cached_tokens == 0
    # To evaluate it anew where that is faster is the server's choice, and no contradiction.
    row["invalid"] = first_reason(None if row["recomputed"] else first_reason(*contradictions),
                                  disturbance(row, options))
    return row


def hearth_turn(side, asked, options):
    """One evaluation, then a hit in each tier, warmest first."""
    prompt, length, _ = asked
    side.forget()
    rows = []
    for tier in TIERS:
        if tier == "live":
            side.wait_for("memory", length - 1)
            side.wait_for("live", length - 1)
        elif tier == "memory":
            side.reload()
        elif tier == "disk":
            side.spill(length)
            side.reload()
        rows.append(sweep_row(side, tier, asked, options))
        _tell(rows[-1])
    return rows


def llama_turn(side, asked, options):
    rows = []
    for tier in ("none", "live"):
        rows.append(sweep_row(side, tier, asked, options))
        _tell(rows[-1])
    return rows


def _tell(row):
    why = f"  INVALID: {row['invalid']}" if row["invalid"] else ""
    print(f"  {row['length']:6d} {row['tier']:8}{row['side']:14}{row['first_s'] * 1000:9.1f} ms{why}",
          flush=True)


def sweep(model, folder, options):
    dice, rows, sides, number = random.Random(options.seed), [], [], 0
    try:
        if "hearth" in options.sides:
            sides.append((hearth_turn, prefix_sides.Hearth(
                model, folder, prefix_sides.threads_config(options)).open()))
        if "llama-server" in options.sides:
            sides.append((llama_turn, prefix_sides.Llama(
                "llama-server", model, "-np", 1, *prefix_sides.threads_arguments(options)).open()))
        for length in options.lengths:
            for _ in range(options.runs):
                number += 1
                dice.shuffle(sides)
                for turn, side in sides:
                    asked = (first_token.prompt_of(length, number), length, number)
                    rows += turn(side, asked, options)
    finally:
        for _, side in sides:
            side.close()
    _show_sweep(rows, options)
    return {"rows": rows, "verdicts": []}


def _show_sweep(rows, options):
    print("\nmedian to the first token, ms; *: evaluated anew, by the server's own choice")
    columns = [(side, tier) for side in options.sides for tier in TIERS
               if side == "hearth" or tier in ("none", "live")]
    print(f"{'tokens':>8}" + "".join(f"{side[:6] + ' ' + tier:>15}" for side, tier in columns))
    for length in options.lengths:
        cells = []
        for side, tier in columns:
            value = median(rows, "first_s", side=side, tier=tier, length=length)
            mark = "*" if select(rows, side=side, tier=tier, length=length, recomputed=True) else ""
            cells.append("-" if value is None else f"{value * 1000:.1f}{mark}")
        print(f"{length:8d}" + "".join(f"{cell:>15}" for cell in cells))


# ---- saving, and the next request ----

# What comes right after the reply whose state is to be saved.
NEXT = ("another", "continues")


def saving_pair(sides, kind, number, options):
    """{"on": row, "off": row}: the same two requests to both, the second right after the first."""
    order = [("on", sides["on"]), ("off", sides["off"])]
    # Of its own kind: what the other kind has saved would not be saved again.
    first = first_token.prompt_of(options.tokens, number + 100_000 * NEXT.index(kind))
    after = (first_token.prompt_of(options.next_tokens, number + 50_000) if kind == "another"
             else f"{first} {first_token.prompt_of(options.next_tokens, number + 50_000)}")
    rows = {}
    for name, side in order if number % 2 else reversed(order):
        side.server.wait_idle("bench", 60)
        before = side.view()["memory"]["blocks"] if name == "on" else 0
        rows[name] = _saving_row(side, (kind, name, number), (first, after), options)
        if name == "on":
            rows[name]["invalid"] = rows[name]["invalid"] or _not_saved(side, before, options.tokens)
    return rows


def _saving_row(side, labels, prompts, options):
    first, after = prompts

    def ask():
        side.ask(first, options.reply)
        return side.ask(after)

    reply, figures = measured(side.pids, ask, options)
    kind, name, number = labels
    row = {"side": side.name, "next": kind, "saving": name, "number": number, **reply.row(), **figures}
    wrong = None
    if kind == "continues" and reply.cached_tokens < 0.9 * options.tokens:
        wrong = f"only {reply.cached_tokens} tokens of its own conversation were cached"
    if kind == "another" and reply.cached_tokens:
        wrong = f"{reply.cached_tokens} tokens were cached"
    row["invalid"] = first_reason(wrong, disturbance(row, options))
    return row


def _not_saved(side, before, tokens):
    """Why the first request's state was not saved; None if it was."""
    wanted = before + tokens // prefix_sides.BLOCK
    try:
        eventually(lambda: side.view()["memory"]["blocks"] >= wanted, "its blocks are saved", 10)
    except AssertionError:
        return f"{side.view()['memory']['blocks'] - before} blocks were saved"
    return None


def _valid_pair(sides, kind, number, options):
    for again in range(options.tries):
        pair = saving_pair(sides, kind, number + 1000 * again, options)
        if not any(row["invalid"] for row in pair.values()):
            break
        print(f"    invalid: {pair['on']['invalid'] or pair['off']['invalid']}", flush=True)
    return pair


def saving(model, folder, options):
    more = f"parallel = {options.parallel}\n{prefix_sides.threads_config(options)}"
    sides = {"on": prefix_sides.Hearth(model, folder, more, "hearth"),
             "off": prefix_sides.Hearth(model, folder, more + "prefix_memory_mib = 0\n",
                                        "hearth that saves nothing")}
    pairs = []
    try:
        for side in sides.values():
            side.open()
        for number in range(1, options.pairs + 1):
            for kind in options.next:
                pairs.append(_valid_pair(sides, kind, number, options))
                print(f"  {number:3d} {kind:10}" + "".join(
                    f"  {name} {pairs[-1][name]['first_s'] * 1000:8.2f} ms" for name in ("on", "off")),
                    flush=True)
    finally:
        for side in sides.values():
            side.close()
    return {"rows": [row for pair in pairs for row in pair.values()],
            "verdicts": [_saving_verdict(pairs, kind) for kind in options.next]}


def _saving_verdict(pairs, kind):
    good = [pair for pair in pairs if pair["on"]["next"] == kind
            and not any(row["invalid"] for row in pair.values())]
    what = f"saving, then a request that {'is another' if kind == 'another' else kind}: low end"
    if len(good) < 30:
        return Verdict(what, None, 0.0, unit="ms", detail=f"n = {len(good)}, 30 are needed")
    found = difference_interval([pair["on"]["first_s"] - pair["off"]["first_s"] for pair in good])
    base = statistics.median(pair["off"]["first_s"] for pair in good)
    low, middle, high = (found[key] * 1000 for key in ("low", "median", "high"))
    # It costs something that can be told only if the whole interval lies above zero.
    return Verdict(what, low, 0.0, unit="ms",
                   detail=f"on − off {middle:+.2f} ms, 95 % {low:+.2f} to {high:+.2f}, of "
                          f"{base * 1000:.1f} ms; n = {found['n']}")
