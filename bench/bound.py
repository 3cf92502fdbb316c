# SPDX-License-Identifier: Apache-2.0
"""What no cold start can beat by much: the file read plainly, and beside it, as an independent program,
the same prompt evaluated. Two files: one cold, which is read; one warm, which a llama-server that is up
holds."""

import resource
import shutil
import subprocess
import time
from pathlib import Path

import first_token
from support.peer import Peer


class Bound:
    name = "read beside prefill"

    def __init__(self, model, folder, within=()):
        self.model, self._within = Path(model), within
        self._copy = Path(folder) / "warm.gguf"
        self._peer = self._reader = None
        self._parts = {}

    def open(self):
        shutil.copyfile(self.model, self._copy)
        self._peer = Peer(self._copy).ready(600)
        first_token.ask(self._peer.url, first_token.body_of("The weather today is"))
        return self

    def files(self):
        return [self.model]

    def pids(self):
        reader = [self._reader.pid] if self._reader and self._reader.poll() is None else []
        return [self._peer.pid, *reader]

    def rest(self):
        pass

    def start(self, prompt):
        """Seconds until both have ended."""
        command = [*self._within, "dd", f"if={self.model}", "of=/dev/null", "bs=4M", "status=none"]
        blocks = resource.getrusage(resource.RUSAGE_CHILDREN).ru_inblock
        began = time.perf_counter()
        self._reader = subprocess.Popen([str(word) for word in command])
        # A run that is repeated asks the same again; it must be evaluated again.
        body = {**first_token.body_of(prompt), "cache_prompt": False}
        prefill = first_token.ask(self._peer.url, body) - began
        done_before = self._reader.poll() is not None
        self._reader.wait()
        read = time.perf_counter() - began
        blocks = resource.getrusage(resource.RUSAGE_CHILDREN).ru_inblock - blocks
        # Where the reader ended first, its time is not known better.
        self._parts = {"prefill_s": prefill, "read_s": None if done_before else read,
                       "reader_bytes": blocks * 512}
        return max(prefill, read)

    def told(self):
        return self._parts

    def settle(self):
        pass

    def close(self):
        if self._peer:
            self._peer.stop()
