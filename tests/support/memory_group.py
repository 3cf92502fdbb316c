# SPDX-License-Identifier: Apache-2.0
"""A memory cgroup of one's own with a server in it, and a neighbour that takes memory in it."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
MIB = 1 << 20

# Takes memory in pieces, writing to each page; stays until its input ends.
_NEIGHBOUR = """
import mmap, sys, time
kept, page = [], b"x" * mmap.PAGESIZE
for _ in range(int(sys.argv[1])):
    part = mmap.mmap(-1, 4 << 20)
    for at in range(0, len(part), mmap.PAGESIZE):
        part[at:at + mmap.PAGESIZE] = page
    kept.append(part)
    time.sleep(0.02)
print("all", flush=True)
sys.stdin.read()
"""


class NoGroup(Exception):
    """None can be made here; the text says why."""


class MemoryGroup:
    def __init__(self, limit):
        self._second = not (ROOT / "memory").exists()
        where = ROOT if self._second else ROOT / "memory"
        self.path = where / f"hearth-test-{os.getpid()}-{time.monotonic_ns()}"
        try:
            self.path.mkdir()
            self.limit(limit)
        except OSError as error:
            self.remove()
            raise NoGroup(str(error)) from error

    def limit(self, size):
        name = "memory.max" if self._second else "memory.limit_in_bytes"
        (self.path / name).write_text(str(int(size)))
        self.size = size

    def within(self):
        """Words before a command that start it in the group."""
        return ["/bin/sh", "-c", f'echo $$ > {self.path}/cgroup.procs && exec "$@"', "sh"]

    def anonymous(self):
        lines = (self.path / "memory.stat").read_text().splitlines()
        stat = dict(line.split() for line in lines)
        return int(stat["anon" if self._second else "total_rss"])

    def killed(self):
        name = "memory.events" if self._second else "memory.oom_control"
        found = re.search(r"oom_kill (\d+)", (self.path / name).read_text())
        return int(found[1]) if found else 0

    def remove(self):
        deadline = time.monotonic() + 5
        while self.path.exists() and time.monotonic() < deadline:
            try:
                self.path.rmdir()
            except OSError:  # who was in it has ended, but is not gone yet
                time.sleep(0.02)


class Neighbour:
    def __init__(self, group, size):
        command = [*group.within(), sys.executable, "-c", _NEIGHBOUR, str(size // (4 * MIB))]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         text=True)

    def has_all(self):
        """Waits until it has; False: it was killed before."""
        return self._process.stdout.readline() == "all\n"

    def leave(self):
        """Its exit code."""
        self._process.stdin.close()
        return self._process.wait(20)

    def kill(self):
        self._process.kill()
        self._process.wait()
