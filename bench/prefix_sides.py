# SPDX-License-Identifier: Apache-2.0
"""The servers that kept prompts are measured with, what their replies say, and what proves a state.

A side has `name`, `open()`, `ask(prompt)` and `close()`. What a row of Hearth's claims is checked twice:
before it, by the tokens that the server says are kept in each tier; after it, by the tokens that the
reply says came from each.
"""

import json
import signal
import time
from dataclasses import dataclass, field

import first_token
import ollama
import page_state
from sides import START_S, HearthStored
from support.peer import Peer
from support.waiting import eventually

BLOCK = 64
TIERS = ("live", "memory", "disk")
# Room for all that a run keeps, and for all that it writes to disk on one day.
CONFIG = {"prefix_memory_mib": 4096, "prefix_disk_gib": 50, "prefix_daily_gib": 1000}


def threads_config(options):
    """Of Hearth's configuration: the same number for all sides, or each its own."""
    return f"threads = {options.threads}\n" if options.threads else ""


def threads_arguments(options):
    return ["-t", options.threads] if options.threads else []


@dataclass
class Reply:
    first_s: float            # from the request's first byte to the first text
    total_s: float
    prompt_tokens: int
    cached_tokens: int
    generated: int
    text: str = ""
    report: dict = field(default_factory=dict)  # Hearth's own; empty of others

    @property
    def evaluated(self):
        return self.prompt_tokens - self.cached_tokens

    @property
    def prefix(self):
        return self.report.get("prefix", {})

    def row(self):
        more = {key: self.report[key] for key in ("class", "prefix") if key in self.report}
        return {"first_s": self.first_s, "total_s": self.total_s,
                "prompt_tokens": self.prompt_tokens, "cached_tokens": self.cached_tokens,
                "generated": self.generated, **more, "restore_s": stage_seconds(self.report, "restore")}


def stage_seconds(report, name):
    """The time that a request's stages of this name cover; 0 where there is none."""
    spans = sorted((s["start_ms"], s["start_ms"] + s["ms"]) for s in report.get("stages", ())
                   if s["name"] == name)
    total, until = 0.0, 0.0
    for begin, end in spans:
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total / 1000


def _reply_of(began, first, data):
    """Both servers end a stream with a chunk of `timings`; Hearth's has its own report beside it."""
    ended = time.perf_counter()
    events = [json.loads(line[6:]) for line in data.decode(errors="replace").splitlines()
              if line.startswith("data: {")]
    last = next(event for event in reversed(events) if "timings" in event)
    figures = last["timings"]
    text = "".join(choice.get("text", "") for event in events for choice in event.get("choices", ()))
    return Reply(first - began, ended - began, figures["cache_n"] + figures["prompt_n"],
                 figures["cache_n"], figures["predicted_n"], text, last.get("hearth", {}))


def complete(url, prompt, tokens=2, is_alive=None, began=None, **more):
    """One streamed completion. `began`: count from there, as where the server was started for it."""
    body = {**first_token.body_of(prompt, tokens), "cache_prompt": True, **more}
    began = time.perf_counter() if began is None else began
    first, data = first_token.exchange(url, body, is_alive=is_alive)
    return _reply_of(began, first, data)


# ---- proofs ----

def whole_blocks(tokens):
    return tokens // BLOCK * BLOCK


def contradiction(reply, tier, shared):
    """Why this reply of Hearth's does not show a hit of `shared` tokens in `tier` (or none at all, for
    "none"); None if it does."""
    told = reply.prefix
    if tier == "none":
        return None if reply.cached_tokens < BLOCK else f"{reply.cached_tokens} tokens were cached"
    if not told:
        return "the reply does not say which tier its tokens came from"
    if sum(told.get(t, 0) for t in TIERS) != reply.cached_tokens:
        return f"{told} does not add up to {reply.cached_tokens} cached tokens"
    wanted = whole_blocks(shared - 1)
    if told.get(tier, 0) < 0.95 * wanted:
        return f"{told.get(tier, 0)} of {wanted} tokens came from {tier}: {told}"
    return None


def contradiction_before(tokens, tier, shared):
    """The same of the server's own account before the request."""
    wanted, colder = whole_blocks(shared - 1), TIERS[:TIERS.index(tier)] if tier in TIERS else TIERS
    if warm := {t: tokens[t] for t in colder if tokens[t] >= BLOCK}:
        return f"before it, there were tokens kept in {warm}"
    if tier in TIERS and tokens[tier] < wanted:
        return f"before it, {tokens[tier]} of {wanted} tokens were kept in {tier}"
    return None


# ---- Hearth ----

class Hearth(HearthStored):
    """`hearth serve`, whose model's repacked weights are stored and whose content is known, so that
    what it keeps of prompts may be written to disk."""

    def __init__(self, model, folder, config="", name="hearth"):
        self.name = name
        options = dict(line.split(" = ", 1) for line in config.splitlines() if line)
        super().__init__(model, folder, "".join(
            f"{key} = {value}\n" for key, value in {**CONFIG, **options}.items()))

    def open(self):
        super().open()
        self.server.load("bench")
        return self

    def ask(self, prompt, tokens=2, **more):
        return complete(self.server.url, prompt, tokens, **more)

    # -- what it keeps --

    def view(self):
        return self.server.ok("/api/hearth/prefix")

    def tokens(self):
        """{tier: tokens kept} of this model."""
        for model in self.view()["models"]:
            if model["model"].split(":")[0] == "bench":
                return {tier: model[f"{tier}_tokens"] for tier in TIERS}
        return dict.fromkeys(TIERS, 0)

    def records(self):
        return sorted((self.data / "prefix").rglob("*.kv"))

    def wait_for(self, tier, tokens, patience_s=60):
        wanted = whole_blocks(tokens)
        eventually(lambda: self.tokens()[tier] >= wanted, f"{wanted} tokens are kept in {tier}", patience_s)

    def wait_gone(self, tier):
        """The server hears of live cells from its worker, now and then."""
        eventually(lambda: self.tokens()[tier] == 0, f"nothing is kept in {tier}", 60)

    def _cool(self, **more):
        answer = self.server.post("/api/hearth/cool", {"model": "bench", "layer": "prefix", **more},
                                  timeout=START_S)
        assert answer.status_code == 200, answer.text

    def forget(self):
        """Nothing is kept anywhere; the model is loaded."""
        self.server.wait_idle("bench", 60)
        self.reload()
        self._cool()
        for tier in TIERS:
            self.wait_gone(tier)

    def spill(self, tokens):
        """What memory keeps goes to disk, and out of memory."""
        self.server.wait_idle("bench", 60)
        self._cool(tier="memory")
        self.wait_for("disk", tokens - 1)
        self.wait_gone("memory")

    def keep(self, prompt):
        """The prompt's state is in memory, and nothing else is anywhere. Returns its tokens."""
        self.forget()
        reply = self.ask(prompt)
        self.wait_for("memory", reply.prompt_tokens - 1)
        return reply.prompt_tokens

    # -- what it has loaded --

    def reload(self):
        """No live cells: the weights were given back and are here again."""
        self.server.unload("bench")
        self.server.load("bench")
        self.wait_gone("live")

    def restart(self, how, load=True):
        """`how`: "stop" or "kill"."""
        if how == "kill":
            self.server.process.send_signal(signal.SIGKILL)
            self.server.process.wait(30)
            self.server.http.close()
        else:
            self.server.stop()
        self.server.start()
        if load:
            self.server.load("bench")

    def drop_records(self):
        for path in self.records():
            page_state.drop(path)


# ---- the others ----

class Llama:
    """llama-server, loaded."""

    def __init__(self, name, model, *options):
        self.name, self.model, self._options = name, model, options
        self.peer = None

    def open(self):
        self.peer = Peer(self.model, *self._options).ready(START_S)
        return self

    def ask(self, prompt, tokens=2, **more):
        return complete(self.peer.url, prompt, tokens, **more)

    def start_and_ask(self, prompt):
        """From the start of its process."""
        began = time.perf_counter()
        self.peer = Peer(self.model, *self._options)
        return complete(self.peer.url, prompt, is_alive=self.peer.is_alive, began=began)

    def slot(self, action, filename):
        """Seconds that saving or restoring slot 0 took."""
        began = time.perf_counter()
        answer = self.peer.http.post(f"/slots/0?action={action}", json={"filename": filename})
        assert answer.status_code == 200, answer.text
        return time.perf_counter() - began

    def pids(self):
        return [self.peer.pid] if self.peer else []

    def close(self):
        if self.peer:
            self.peer.stop()
            self.peer = None


class Ollama(ollama.Ollama):
    """It does not say how many tokens it did not evaluate: only its times count."""

    def ask(self, prompt, tokens=2):
        body = {"model": "bench", "prompt": prompt, "raw": True,
                "options": {"temperature": 0, "num_predict": tokens, "num_ctx": 8192}}
        began = time.perf_counter()
        first, data = first_token.exchange(self.url, body, first_token.OLLAMA)
        ended = time.perf_counter()
        lines = [line for line in data.decode(errors="replace").splitlines() if line.startswith("{")]
        told = [json.loads(line) for line in lines]
        text = "".join(line.get("response", "") for line in told)
        return Reply(first - began, ended - began, told[-1].get("prompt_eval_count", 0), 0,
                     told[-1].get("eval_count", 0), text)
