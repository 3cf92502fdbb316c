# SPDX-License-Identifier: Apache-2.0
"""The servers that a cold start is measured with, each brought to where one begins.

A side has: `name`; `files()`, all that its load maps or reads; `rest()`, which makes sure that nothing is
loaded; `pids()` of its processes; `start(prompt)`, which returns the seconds to the first token; `told()`,
what the server itself says about the run; `settle()` after the run; and `close()`.
"""

import shutil
import time
from pathlib import Path

import first_token
from proof import tree
from support.peer import Peer
from support.server import Server
from support.waiting import eventually

START_S = 600


class Hearth:
    """Serves all the time; the model is unloaded and its worker waits hollow."""

    name = "hearth"

    def __init__(self, model, folder, config="", within=()):
        self.model = Path(model)
        self.data = Path(folder) / self.name
        self._config = "stores = []\n" + config
        self._within = within
        self.server = None

    def open(self):
        self.server = Server(self.data, self._config, within=self._within).start()
        self.server.import_model(self.model, "bench")
        # What hashes files in the background would read them while they are to be cold.
        self.server.post("/api/hearth/verify", {"model": "bench", "stream": False}, timeout=START_S)
        return self

    def files(self):
        compiled = self.data / "compiled"
        return [self.model, *sorted(p for p in compiled.rglob("*") if p.is_file())]

    def pids(self):
        return tree(self.server.pid)

    def rest(self):
        self.server.unload("bench")
        # Counting tokens needs the vocabulary and no weights: afterwards the worker is hollow.
        self.server.ok("/v1/messages/count_tokens",
                       {"model": "bench", "messages": [{"role": "user", "content": "Hello"}]})
        eventually(lambda: self.level("weights") == "hollow", "the worker is hollow", 60)

    def level(self, layer):
        return self.server.model("bench")["layers"][layer]["level"]

    def start(self, prompt):
        self._asked_us = time.time_ns() // 1000
        began = time.perf_counter()
        return first_token.ask(self.server.url, first_token.body_of(prompt)) - began

    def _entry(self):
        """The last start's line in the history; None until it is written, after the reply's end."""
        for entry in self.server.ok("/api/hearth/requests?limit=5")["requests"]:
            if entry["path"] == "/v1/completions" and entry["started_us"] >= self._asked_us:
                return entry
        return None

    def told(self):
        entry = eventually(self._entry, "the request is in the history", 10)
        kept = ("class", "bytes_read", "major_faults", "ttft_ms", "prompt_tokens", "cached_tokens",
                "stages")
        errors = self.server.model("bench").get("predicted_ttft", {}).get("errors", [])
        return {**{key: entry[key] for key in kept if key in entry},
                "forecast_error": errors[-1] if errors else None,
                "compiled_before": entry["before"]["compiled"]["level"],
                "pages_before": entry["before"]["pages"]}

    def settle(self):
        self.server.wait_idle("bench", 60)
        self.server.unload("bench")

    def wait_until_stored(self, patience_s=20):
        """Whether this build stores what the load that is under way has compiled."""
        deadline = time.monotonic() + patience_s + self.model.stat().st_size / 50e6
        size = -1
        while time.monotonic() < deadline:
            now = sum(path.stat().st_size for path in self.files()[1:])
            if now and now == size and self.level("compiled") != "none":
                return True
            size = now
            time.sleep(1.0)
        return False

    def count(self, prompt):
        """Tokens of a prompt; loads the model."""
        answer = self.server.post("/v1/completions", first_token.body_of(prompt, 1), timeout=START_S)
        return answer.json()["usage"]["prompt_tokens"]

    def close(self):
        if self.server is not None:
            self.server.kill()


class HearthStored(Hearth):
    """A start as all but the first are: what a load compiles has been stored."""

    name = "hearth stored"

    def open(self):
        super().open()
        self.server.load("bench")
        computes = self.server.model("bench")["layers"]["compiled"]["bytes"] > 0
        self.has_stored = computes and self.wait_until_stored()
        self.nothing_to_store = not computes
        self.server.unload("bench")  # what it maps, no other side could drop
        return self

    def note(self):
        if self.has_stored:
            return "stored: " + ", ".join(f"{p.stat().st_size / 1e6:.0f} MB" for p in self.files()[1:])
        return "nothing to store" if self.nothing_to_store else "NOTHING WAS STORED by this build"


class HearthFirst(Hearth):
    """The very first start: a new data directory each time, nothing stored, the worker hollow."""

    name = "hearth first"

    def open(self):
        return self

    def rest(self):
        self._leave()
        super().open()
        super().rest()

    def pids(self):
        return tree(self.server.pid) if self.server else []

    def settle(self):
        self._leave()

    def _leave(self):
        if self.server is not None:
            self.server.kill()
            self.server = None
        shutil.rmtree(self.data, ignore_errors=True)


class Started:
    """llama-server from the start of its process."""

    def __init__(self, name, model, options=(), within=()):
        self.name, self.model, self._options, self._within = name, Path(model), options, within
        self._peer = None

    def open(self):
        return self

    def files(self):
        return [self.model]

    def pids(self):
        return [self._peer.pid] if self._peer else []

    def rest(self):
        self.settle()

    def start(self, prompt):
        began = time.perf_counter()
        self._peer = Peer(self.model, *self._options, within=self._within)
        body = first_token.body_of(prompt)
        return first_token.ask(self._peer.url, body, is_alive=self._peer.is_alive) - began

    def told(self):
        return {}

    def settle(self):
        if self._peer:
            self._peer.stop()
            self._peer = None

    def close(self):
        self.settle()


class Sleeping(Started):
    """llama-server that woke from its own sleep: the process is there, the model is not."""

    def __init__(self, model, within=()):
        super().__init__("llama-server asleep", model, ("--sleep-idle-seconds", 1), within)

    def open(self):
        self._peer = Peer(self.model, *self._options, within=self._within).ready(START_S)
        return self

    def rest(self):
        eventually(lambda: self._peer.http.get("/props").json()["is_sleeping"], "it sleeps", 60)

    def start(self, prompt):
        began = time.perf_counter()
        return first_token.ask(self._peer.url, first_token.body_of(prompt)) - began

    def settle(self):
        pass

    def close(self):
        super().settle()
