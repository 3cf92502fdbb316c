# SPDX-License-Identifier: Apache-2.0
"""Rows of the measurements of kept prompts: each waits for a quiet machine, says what happened beside
it, and is kept, marked and run again where it contradicts the state that it is to show."""

import statistics

import load
import proof


def measured(pids, ask, options):
    """The reply of ask(), and what the machine did meanwhile."""
    quiet = options.quiet == 0 or proof.wait_for_quiet(options.quiet)
    watch = proof.Watch(pids)
    reply = ask()
    return reply, {"quiet_before": quiet, **watch.read()}


def first_reason(*reasons):
    return next((reason for reason in reasons if reason), None)


def disturbance(row, options):
    return proof.disturbance(row) if options.quiet else None


def until_valid(what, run, options):
    """Rows of run() until one is valid, or there were `--tries`."""
    rows = []
    for _ in range(options.tries):
        rows.append(run())
        row = rows[-1]
        if not row["invalid"]:
            break
        print(f"    invalid: {what}: {row['invalid']}", flush=True)
    print(f"  {what:58}{rows[-1]['first_s'] * 1000:9.0f} ms  "
          f"{rows[-1]['cached_tokens']:6d} of {rows[-1]['prompt_tokens']} cached", flush=True)
    return rows


def select(rows, **labels):
    return [row for row in rows if not row["invalid"] and labels.items() <= row.items()]


def values(rows, figure, **labels):
    return [row[figure] for row in select(rows, **labels) if row.get(figure) is not None]


def median(rows, figure, **labels):
    found = values(rows, figure, **labels)
    return statistics.median(found) if found else None


def summary_line(what, seconds):
    if not seconds:
        return f"{what:46}{'-':>10}"
    s = load.summary(seconds)
    return (f"{what:46}{s['median'] * 1000:10.1f} ms   {s['low'] * 1000:.1f} to "
            f"{s['high'] * 1000:.1f} ms, n = {s['n']}")
