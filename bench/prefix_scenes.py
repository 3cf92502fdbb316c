# SPDX-License-Identifier: Apache-2.0
"""Conversations in turns, agents at once, and a restart in the middle."""

import random
import statistics
import tempfile
import threading
import time
from pathlib import Path

import first_token
import prefix_sides
from figures import Verdict
from prefix_rows import disturbance, first_reason, measured, median, select, until_valid, values
from prefix_sides import Hearth, Llama, Ollama, threads_arguments, threads_config

SHARE_BAR = 0.95
# Of the shared prompt's evaluations. Whole blocks are kept, so an agent may add up to one of its own.
ONCE_BAR = 1.1
AGENTS = 8

ABAB_SIDES = ["hearth", "llama-server", "llama-server without cache-ram", "ollama"]
AGENTS_SIDES = ["hearth", "llama-server", "llama-server unified"]
RESTART_SIDES = ["hearth stop", "hearth kill", "llama-server", "llama-server slot files"]


def _says_nothing(side, reply):
    """Of a hit in Hearth: what it says of tiers must be there, and add up."""
    if not isinstance(side, Hearth) or reply.cached_tokens == 0:
        return None
    told = reply.prefix
    if sum(told.get(tier, 0) for tier in prefix_sides.TIERS) != reply.cached_tokens:
        return f"the reply says {told} of {reply.cached_tokens} cached tokens"
    return None


# ---- A, B, A, B ----

class Conversation:
    """Grows by a reply and a new question a round."""

    def __init__(self, tokens, number):
        self.number, self.shared, self.round = number, 0, 0
        self.text = first_token.prompt_of(tokens, number)

    def ask(self, side, options):
        reply, figures = measured(side.pids, lambda: side.ask(self.text, options.reply), options)
        self.round += 1
        row = {"side": side.name, "conversation": self.number, "round": self.round, **reply.row(),
               **figures, "shared": self.shared,
               "share": reply.cached_tokens / self.shared if self.shared else None,
               "invalid": first_reason(_says_nothing(side, reply), disturbance(figures, options))}
        # All that was in the prompt and in the reply is in the next prompt. Where the reply's text is cut
        # into other tokens than it was made of, this says a little too much, and the share too little.
        self.shared = reply.prompt_tokens + reply.generated
        question = first_token.prompt_of(options.question, self.number * 31 + self.round)
        self.text += f"{reply.text} {question}"
        return row


def abab_side(name, model, folder, options):
    threads = threads_arguments(options)
    if name == "hearth":
        return Hearth(model, folder, "parallel = 1\n" + threads_config(options))
    if name == "ollama":
        return Ollama(options.ollama, model, folder)
    cache = ["--cache-ram", 0] if name.endswith("without cache-ram") else ["--cache-ram", 8192]
    return Llama(name, model, "-np", 1, *cache, *threads)


def abab(model, folder, options):
    dice, rows = random.Random(options.seed), []
    names = [name for name in options.sides if name != "ollama" or options.ollama]
    sides = [abab_side(name, model, folder, options) for name in names]
    try:
        for side in sides:
            side.open()
        for number in range(1, options.runs + 1):
            dice.shuffle(sides)
            for side in sides:
                rows += _in_turns(side, number, options)
    finally:
        for side in sides:
            side.close()
    _show_abab(rows, names)
    return {"rows": rows, "verdicts": _abab_verdicts(rows)}


def _in_turns(side, number, options):
    talks = [Conversation(options.tokens, 2 * number), Conversation(options.tokens, 2 * number + 1)]
    rows = []
    for _ in range(options.rounds):
        for letter, talk in zip("AB", talks, strict=True):
            rows.append(talk.ask(side, options))
            share = "" if rows[-1]["share"] is None else f"{rows[-1]['share']:8.1%}"
            print(f"  {side.name:32}{letter}{rows[-1]['round']} {rows[-1]['first_s'] * 1000:9.0f} ms "
                  f"{share}{'  INVALID: ' + rows[-1]['invalid'] if rows[-1]['invalid'] else ''}",
                  flush=True)
    return rows


def _later(rows, side):
    return [row for row in select(rows, side=side) if row["round"] > 1]


def _show_abab(rows, names):
    print(f"\nfrom round 2 on{'':19}{'first token':>14}{'cached, median':>16}{'least':>9}")
    for name in names:
        if later := _later(rows, name):
            shares = [row["share"] for row in later]
            print(f"{name:34}{statistics.median(row['first_s'] for row in later) * 1000:11.0f} ms"
                  f"{statistics.median(shares):16.1%}{min(shares):9.1%}")


def _abab_verdicts(rows):
    later = _later(rows, "hearth")
    least = min((row["share"] for row in later), default=None)
    return [Verdict("A/B/A/B: least share cached, from round 2", least, SHARE_BAR, at_least=True,
                    detail=f"n = {len(later)}")]


# ---- agents ----

def agents_side(name, model, folder, options):
    each = options.tokens + options.question + options.reply + 64
    if name == "hearth":
        return Hearth(model, folder, f"parallel = {AGENTS}\n" + threads_config(options))
    # Without a unified cache each of its slots has an equal part of all cells.
    unified = ["-kvu"] if name.endswith("unified") else ["-no-kvu"]
    return Llama(name, model, "-np", AGENTS, "-c", AGENTS * each, *unified,
                 *threads_arguments(options))


def at_once(side, prompts, tokens):
    """The replies, and the seconds until the last one had ended."""
    replies, start = [None] * len(prompts), threading.Barrier(len(prompts) + 1)

    def run(n):
        start.wait()
        replies[n] = side.ask(prompts[n], tokens)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(len(prompts))]
    for thread in threads:
        thread.start()
    start.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    if None in replies:
        raise RuntimeError("an agent got no reply")
    return replies, time.perf_counter() - began


def agents_row(side, number, options):
    system = first_token.prompt_of(options.tokens, 300 + number)
    # They differ from their first word on.
    own = [first_token.prompt_of(options.question, 7 * number + n) for n in range(AGENTS)]
    prompts = [f"{system} {text}" for text in own]
    (replies, seconds), figures = measured(
        side.pids, lambda: at_once(side, prompts, options.reply), options)
    evaluated = sum(reply.evaluated for reply in replies)
    alone = AGENTS * options.question
    shared = replies[0].prompt_tokens - options.question
    return {"side": side.name, "number": number, "first_s": seconds, **figures,
            "slowest_first_s": max(reply.first_s for reply in replies),
            "prompt_tokens": sum(reply.prompt_tokens for reply in replies),
            "cached_tokens": sum(reply.cached_tokens for reply in replies),
            "evaluated": evaluated, "times": (evaluated - alone) / shared,
            "replies": [reply.row() for reply in replies],
            "invalid": first_reason(*(_says_nothing(side, reply) for reply in replies),
                                    disturbance(figures, options))}


def agents(model, folder, options):
    dice, rows = random.Random(options.seed), []
    names = list(options.sides)
    for number in range(1, options.runs + 1):
        dice.shuffle(names)
        for name in names:
            # One at a time: the cells of all of them together would be most of a small machine's memory.
            with tempfile.TemporaryDirectory(dir=folder) as own:
                side = agents_side(name, model, own, options)
                try:
                    side.open()
                    rows += until_valid(f"{name}, {AGENTS} agents",
                                        lambda: agents_row(side, number, options), options)
                finally:
                    side.close()
    print(f"\n{'':26}{'all done':>12}{'slowest first':>15}{'evaluated':>11}{'shared prompt':>16}")
    for name in options.sides:
        if select(rows, side=name):
            print(f"{name:26}{median(rows, 'first_s', side=name):10.2f} s"
                  f"{median(rows, 'slowest_first_s', side=name):13.2f} s"
                  f"{median(rows, 'evaluated', side=name):11.0f}"
                  f"{median(rows, 'times', side=name):10.2f} times")
    most = max(values(rows, "times", side="hearth"), default=None)
    return {"rows": rows, "verdicts": [Verdict(
        f"{AGENTS} agents: evaluations of the shared prompt", most, ONCE_BAR,
        detail=f"n = {len(select(rows, side='hearth'))}, the worst")]}


# ---- a restart in the middle ----

def _talk(side, number, options):
    """The rounds before the restart."""
    talk = Conversation(options.tokens, number)
    for _ in range(options.rounds):
        talk.ask(side, options)
    return talk


def hearth_restart(how, model, folder, number, options):
    side = Hearth(model, folder, threads_config(options), f"hearth {how}")
    try:
        side.open()
        talk = _talk(side, number, options)
        # A conversation goes to disk when it has been quiet for a while. A kill leaves it no other way.
        side.wait_for("disk", talk.shared - options.reply - 1)
        began = time.perf_counter()
        side.restart(how)
        back = time.perf_counter() - began
        row = talk.ask(side, options)
        told = row.get("prefix")
        row["invalid"] = first_reason(row["invalid"], None if told else "the reply names no tier",
                                      None if told and told.get("disk") else "nothing came from disk")
        return {**row, "side": side.name, "back_s": back, "saving_s": None}
    finally:
        side.close()


def llama_restart(name, model, folder, number, options):
    # Its file names are appended to this as they are.
    with tempfile.TemporaryDirectory(dir=folder) as slots:
        side = Llama(name, model, "-np", 1, "--slot-save-path", f"{slots}/",
                     *threads_arguments(options))
        by_hand = name.endswith("slot files")
        try:
            side.open()
            talk = _talk(side, number, options)
            saving = side.slot("save", "talk.bin") if by_hand else None
            began = time.perf_counter()
            side.close()
            side.open()
            if by_hand:
                side.slot("restore", "talk.bin")
            back = time.perf_counter() - began
            return {**talk.ask(side, options), "back_s": back, "saving_s": saving}
        finally:
            side.close()


def restart(model, folder, options):
    dice, rows, names = random.Random(options.seed), [], list(options.sides)
    for number in range(1, options.runs + 1):
        dice.shuffle(names)
        for name in names:
            with tempfile.TemporaryDirectory(dir=Path(folder)) as own:
                if name.startswith("hearth "):
                    run = lambda: hearth_restart(name.split()[1], model, own, number, options)  # noqa: E731
                else:
                    run = lambda: llama_restart(name, model, own, number, options)  # noqa: E731
                rows += until_valid(f"{name}, restarted", run, options)
    print(f"\n{'the first reply after it':28}{'first token':>13}{'cached':>9}{'until loaded':>15}"
          f"{'saved by hand in':>19}")
    for name in options.sides:
        if select(rows, side=name):
            saving = median(rows, "saving_s", side=name)
            print(f"{name:28}{median(rows, 'first_s', side=name) * 1000:10.0f} ms"
                  f"{median(rows, 'share', side=name):9.1%}{median(rows, 'back_s', side=name):13.2f} s"
                  f"{'-' if saving is None else f'{saving * 1000:.0f} ms':>19}")
    return {"rows": rows, "verdicts": [_restart_verdict(rows, how) for how in ("stop", "kill")
                                       if f"hearth {how}" in options.sides]}


def _restart_verdict(rows, how):
    shares = values(rows, "share", side=f"hearth {how}")
    return Verdict(f"restart by {how}: least share cached", min(shares, default=None), SHARE_BAR,
                   at_least=True, detail=f"n = {len(shares)}")
