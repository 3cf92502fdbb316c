# SPDX-License-Identifier: Apache-2.0
"""A device that seems slow to one server: a block cgroup of its own (version 1, and root)."""

import os
import time
from pathlib import Path

ROOT = Path("/sys/fs/cgroup/blkio")


class NoThrottle(Exception):
    """None can be set here; the text says why."""


class SlowDisk:
    def __init__(self, path, bytes_per_s):
        """What is in the group reads from the device below `path` no faster than that."""
        self.where = ROOT / f"hearth-test-{os.getpid()}-{time.monotonic_ns()}"
        device = os.stat(path).st_dev
        try:
            self.where.mkdir()
            (self.where / "blkio.throttle.read_bps_device").write_text(
                f"{os.major(device)}:{os.minor(device)} {bytes_per_s}")
        except OSError as error:
            self.remove()
            raise NoThrottle(str(error)) from error

    def within(self):
        """Words before a command that start it in the group."""
        return ["/bin/sh", "-c", f'echo $$ > {self.where}/cgroup.procs && exec "$@"', "sh"]

    def remove(self):
        deadline = time.monotonic() + 5
        while self.where.exists() and time.monotonic() < deadline:
            try:
                self.where.rmdir()
            except OSError:  # who was in it has ended, but is not gone yet
                time.sleep(0.02)
