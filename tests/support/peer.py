# SPDX-License-Identifier: Apache-2.0
"""llama-server of the same engine (`make peers`), to compare with."""

import socket
import subprocess

import httpx

from support.server import ROOT, Output
from support.waiting import eventually

LLAMA_SERVER = ROOT / "build/peers/llama-server"


def free_port():
    """It only says its own choice of port when it also logs each request, which costs it time."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Peer:
    """A quiet llama-server."""

    def __init__(self, model, *options, within=()):
        """`within`: a program, with arguments, that is to run the server as its own last words."""
        port = free_port()
        command = [*within, LLAMA_SERVER, "-m", model, "--host", "127.0.0.1", "--port", port, "--no-ui",
                   "--log-verbosity", 2, *options]
        self.process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace")
        self.pid = self.process.pid
        self.output = Output(self.process.stdout)
        self.url = f"http://127.0.0.1:{port}"
        self.http = httpx.Client(base_url=self.url, timeout=120, trust_env=False)

    def ready(self, timeout=60):
        eventually(self._is_healthy, "llama-server answers", timeout)
        return self

    def _is_healthy(self):
        try:
            return self.http.get("/health").status_code == 200
        except httpx.TransportError:
            assert self.is_alive(), "\n".join(self.output.lines)
            return False

    def is_alive(self):
        return self.process.poll() is None

    def stop(self):
        self.http.close()
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
