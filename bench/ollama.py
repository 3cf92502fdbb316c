# SPDX-License-Identifier: Apache-2.0
"""Ollama, where its program is given: it serves, the model is unloaded."""

import hashlib
import subprocess
import time
from pathlib import Path

import first_token
import httpx
from proof import tree
from support.peer import free_port
from support.server import clean_environment
from support.waiting import eventually


class Ollama:
    name = "ollama"

    def __init__(self, program, model, folder, within=()):
        self._program, self._model, self._within = program, Path(model), within
        self._store = Path(folder) / "ollama"
        self._process = None

    def open(self):
        address = f"127.0.0.1:{free_port()}"
        self.url = f"http://{address}"
        environment = clean_environment({"OLLAMA_HOST": address, "OLLAMA_MODELS": str(self._store),
                                         "HOME": str(self._store), "OLLAMA_KEEP_ALIVE": "1h"})
        self._store.mkdir(parents=True)
        self._process = subprocess.Popen(
            [*map(str, self._within), str(self._program), "serve"], env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.http = httpx.Client(base_url=self.url, timeout=600, trust_env=False)
        eventually(self._answers, "ollama answers", 60)
        self._create()
        return self

    def _answers(self):
        try:
            return self.http.get("/api/version").status_code == 200
        except httpx.TransportError:
            assert self._process.poll() is None, "ollama ended"
            return False

    def _create(self):
        with open(self._model, "rb") as file:
            digest = "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
        with open(self._model, "rb") as file:
            self.http.post(f"/api/blobs/{digest}", content=iter(lambda: file.read(1 << 20), b""))
        answer = self.http.post("/api/create", json={
            "model": "bench", "files": {self._model.name: digest}, "stream": False})
        answer.raise_for_status()

    def files(self):
        blobs = self._store / "blobs"
        return [p for p in blobs.iterdir() if p.stat().st_size > 1 << 20]

    def pids(self):
        return tree(self._process.pid)

    def rest(self):
        self.http.post("/api/generate", json={"model": "bench", "keep_alive": 0, "stream": False})
        eventually(lambda: not self.http.get("/api/ps").json()["models"], "the model is gone", 60)
        # The list is empty a moment before the process with the weights has ended. One that stays
        # would show: its pages cannot be dropped.
        deadline = time.monotonic() + 3
        while len(self.pids()) > 1 and time.monotonic() < deadline:
            time.sleep(0.01)

    def start(self, prompt):
        body = {"model": "bench", "prompt": prompt, "raw": True,
                "options": {"temperature": 0, "num_predict": 2}}
        began = time.perf_counter()
        return first_token.ask(self.url, body, first_token.OLLAMA) - began

    def told(self):
        return {}

    def settle(self):
        pass

    def close(self):
        if self._process:
            self._process.terminate()
            self._process.wait(30)
