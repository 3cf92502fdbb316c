# SPDX-License-Identifier: Apache-2.0
"""llama-server of the same engine (`make peers`), to compare with."""

import subprocess

import httpx

from support.server import ROOT, Output
from support.waiting import eventually

LLAMA_SERVER = ROOT / "build/peers/llama-server"


class Peer:
    """A llama-server on a port of its own choice."""

    def __init__(self, model, *options):
        command = [LLAMA_SERVER, "-m", model, "--host", "127.0.0.1", "--port", "0", "--no-ui",
                   *options]
        self.process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace")
        self.pid = self.process.pid
        self.output = Output(self.process.stdout)

    def ready(self, timeout=60):
        self.url = self.output.wait_for(r"http://127\.0\.0\.1:[1-9]\d*", timeout)[0]
        self.http = httpx.Client(base_url=self.url, timeout=120, trust_env=False)
        eventually(self._is_healthy, "llama-server answers", timeout)
        return self

    def _is_healthy(self):
        try:
            return self.http.get("/health").status_code == 200
        except httpx.TransportError:
            assert self.process.poll() is None, "\n".join(self.output.lines)
            return False

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
