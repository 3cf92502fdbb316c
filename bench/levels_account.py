# SPDX-License-Identifier: Apache-2.0
"""What the kernel counts for a server's models, beside what the server says that they hold."""

import os
from dataclasses import dataclass
from pathlib import Path

from load import procfs


def _kib(status, field):
    return int(status.get(field, "0").split()[0]) * 1024


def arena_bytes(pid):
    """Prompt state that a server keeps in memory: files without a name, by their blocks."""
    total = 0
    for number, target in procfs.open_files(pid).items():
        if target.startswith("/memfd:"):
            try:
                total += os.stat(f"/proc/{pid}/fd/{number}").st_blocks * 512
            except FileNotFoundError:
                continue
    return total


def worker_bytes(pid, *, resident):
    """Private memory, in swap too; of a loaded model also what it maps of files."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    status = dict(line.split(":", 1) for line in lines if ":" in line)
    own = _kib(status, "RssAnon") + _kib(status, "VmSwap")
    return own + _kib(status, "RssFile") if resident else own


@dataclass
class Account:
    told: int       # bytes held, says the server
    kernel: int     # the same, by the kernel
    levels: dict    # {model: level of its weights}

    @property
    def off(self):
        return abs(self.told - self.kernel) / self.kernel if self.kernel else 0.0


def read(server, names):
    """None while a worker comes, goes or loads: then there is nothing to compare."""
    levels, kernel = {}, arena_bytes(server.pid)
    told = server.ok("/api/hearth/memory")["held_bytes"]
    for name in names:
        model = server.model(name)
        levels[name] = model["layers"]["weights"]["level"]
        if levels[name] not in ("resident", "hollow", "none"):
            return None
        pid = (model.get("worker") or {}).get("pid")
        if pid:
            try:
                kernel += worker_bytes(pid, resident=levels[name] == "resident")
            except (FileNotFoundError, ProcessLookupError):
                return None
    return Account(told, kernel, levels)
