# SPDX-License-Identifier: Apache-2.0
"""What the kernel says about a process."""

import time
from pathlib import Path


def _status(pid):
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return dict(line.split(":", 1) for line in lines if ":" in line)


def is_alive(pid):
    """A zombie is not alive."""
    state = _status(pid).get("State", "Z").strip()
    return not state.startswith(("Z", "X"))


def rss_bytes(pid):
    return int(_status(pid)["VmRSS"].split()[0]) * 1024


def cpu_seconds(pid):
    """All that a process has used, threads that have ended included (its CPU clock, in ns)."""
    return time.clock_gettime((~pid << 3) | 2)


def children(pid):
    """Direct children, as {pid: state letter}; zombies have state Z."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        status = _status(entry.name)
        if status.get("PPid", "0").strip() == str(pid):
            found[int(entry.name)] = status["State"].strip()[0]
    return found


def open_files(pid):
    """Open descriptors, as {number: what it leads to}."""
    found = {}
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found[int(entry.name)] = str(entry.readlink())
        except FileNotFoundError:
            continue
    return found
