# SPDX-License-Identifier: Apache-2.0
"""A `hearth serve` of its own: starts it, talks to it, ends it."""

import json
import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from support import procfs
from support.waiting import eventually

ROOT = Path(__file__).resolve().parents[2]
HEARTH = Path(os.environ.get("HEARTH_BIN", ROOT / "build/release/hearth")).resolve()
MODELS = Path(os.environ.get("HEARTH_MODELS", ROOT / "build/models")).resolve()
SMOLLM2 = MODELS / "SmolLM2-135M-Instruct-Q4_1.gguf"
GEMMA = MODELS / "gemma-3-270m-Q4_K_M.gguf"

START_S = 20
STOP_S = 40
_ADDRESS = re.compile(r"listens on http://[\d.]+:(\d+)")
_ERROR = re.compile(r"^\S+Z error ")


class Output:
    """Lines of a process, kept as they come."""

    def __init__(self, stream):
        self.lines = []
        self._arrived = threading.Condition()
        self._ended = False
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream):
        for line in stream:
            with self._arrived:
                self.lines.append(line.rstrip("\n"))
                self._arrived.notify_all()
        with self._arrived:
            self._ended = True
            self._arrived.notify_all()

    def wait_for(self, pattern, timeout, since=0):
        """The first match of `pattern` in a line from number `since` on."""
        deadline = time.monotonic() + timeout
        with self._arrived:
            seen = since
            while True:
                for line in self.lines[seen:]:
                    if match := re.search(pattern, line):
                        return match
                seen = len(self.lines)
                left = deadline - time.monotonic()
                if self._ended or left <= 0:
                    text = "\n".join(self.lines)
                    raise AssertionError(f"no line like {pattern!r} came:\n{text}")
                self._arrived.wait(left)

    def wait_for_end(self, timeout):
        with self._arrived:
            assert self._arrived.wait_for(lambda: self._ended, timeout), "the output did not end"


_CONFIGURES = ("HEARTH_", "OLLAMA_", "HF_", "HUGGING", "OTEL_", "XDG_")
# Whoever runs the tests may have models of their own; these are none of a test's business.
_NO_STORES = {"HOME": "/nonexistent", "OLLAMA_MODELS": "/nonexistent/ollama"}


def clean_environment(more=None):
    """Ours without anything that configures Hearth or has models for it, and `more`."""
    ours = {k: v for k, v in os.environ.items() if not k.startswith(_CONFIGURES)}
    return {**ours, **_NO_STORES, **(more or {})}


class Server:
    def __init__(self, data, config="", environment=None, arguments=(), listen="127.0.0.1:0",
                 within=(), program=HEARTH):
        """`within`: a program, with arguments, that is to run the server as its own last words."""
        self._program = program
        self.data = Path(data)
        self.config = self.data.with_suffix(".toml")
        self.config.write_text(config)
        self._environment = environment or {}
        self._within = list(within)
        self._arguments = ["--listen", listen, *arguments]
        self._checked_lines = 0

    def start(self):
        command = [*self._within, self._program, "serve", "--data", self.data]
        command += ["--config", self.config, *self._arguments]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", env=clean_environment(self._environment))
        self.pid = self.process.pid
        self.output = Output(self.process.stdout)
        self._checked_lines = 0
        self.port = int(self.output.wait_for(_ADDRESS, START_S)[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self.http = httpx.Client(base_url=self.url, timeout=90, trust_env=False)
        eventually(self._is_healthy, "/health answers", START_S)
        return self

    def _is_healthy(self):
        try:
            return self.http.get("/health").status_code == 200
        except httpx.TransportError:
            assert self.process.poll() is None, "\n".join(self.output.lines)
            return False

    # ---- the end ----

    def stop(self):
        """SIGTERM: it drains, exits 0 and leaves no process behind."""
        workers = procfs.children(self.pid)
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(STOP_S)
        self.http.close()
        self.output.wait_for_end(STOP_S)
        assert code == 0, "\n".join(self.output.lines[-40:])
        for worker in workers:
            assert not procfs.is_alive(worker), f"worker {worker} outlived the server"

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(STOP_S)
        self.http.close()

    def new_errors(self):
        """Error lines in the log since the last call."""
        lines = self.output.lines[self._checked_lines:]
        self._checked_lines += len(lines)
        return [line for line in lines if _ERROR.match(line)]

    # ---- talking to it ----

    def get(self, path, **options):
        return self.http.get(path, **options)

    def post(self, path, body, **options):
        return self.http.post(path, json=body, **options)

    def ok(self, path, body=None):
        """The JSON of an answer that must be 200."""
        response = self.get(path) if body is None else self.post(path, body)
        assert response.status_code == 200, response.text
        return response.json()

    def import_model(self, path, name):
        return self.ok("/api/hearth/import", {"path": str(path), "name": name})

    def load(self, model="smollm2"):
        return self.ok("/api/hearth/load", {"model": model})

    def unload(self, model="smollm2"):
        return self.ok("/api/hearth/unload", {"model": model})

    def cool(self, layer, model="smollm2"):
        return self.ok("/api/hearth/cool", {"model": model, "layer": layer})

    def model(self, name="smollm2"):
        return self.ok(f"/api/hearth/models/{name}")

    def worker_pid(self, name="smollm2"):
        return self.model(name).get("worker", {}).get("pid")

    def complete(self, prompt, model="smollm2", **more):
        body = {"model": model, "prompt": prompt, "temperature": 0, "max_tokens": 8, **more}
        return self.ok("/v1/completions", body)

    def chat(self, text, model="smollm2", **more):
        messages = [{"role": "user", "content": text}]
        body = {"model": model, "messages": messages, "temperature": 0, "max_tokens": 8, **more}
        return self.ok("/v1/chat/completions", body)

    def stream(self, path, body):
        """The `data:` events of a streamed answer, decoded; "[DONE]" as it is."""
        with self.http.stream("POST", path, json={**body, "stream": True}) as response:
            assert response.status_code == 200, response.read()
            yield from events_of(response)

    def request(self, request_id):
        """A request's entry in the history; it is written just after the last byte is sent."""
        path = f"/api/hearth/requests/{request_id}"
        eventually(lambda: self.get(path).status_code == 200, f"{path} is there")
        return self.ok(path)

    # ---- figures ----

    def metrics(self):
        text = self.get("/metrics").text
        return [s for family in text_string_to_metric_families(text) for s in family.samples]

    def metric(self, name, **labels):
        """The sum of all series of this name that have these labels."""
        return sum(s.value for s in self.metrics()
                   if s.name == name and labels.items() <= s.labels.items())

    def is_idle(self, name="smollm2"):
        model = self.model(name)
        return model["active"] == 0 and model["queued"] == 0

    def wait_idle(self, name="smollm2", timeout=10.0):
        eventually(lambda: self.is_idle(name), f"{name} is idle", timeout)


def events_of(response):
    for line in response.iter_lines():
        if not line.startswith("data: "):
            continue
        data = line.removeprefix("data: ")
        yield data if data == "[DONE]" else json.loads(data)
