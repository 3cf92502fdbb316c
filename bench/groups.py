# SPDX-License-Identifier: Apache-2.0
"""Control groups for what is measured: a slow device, little memory. Need root."""

import os
import re
import time
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


class Unavailable(Exception):
    """No such group can be made here; the text says why."""


class _Group:
    def __init__(self, controller, file):
        self.where = ROOT / controller / f"hearth-bench-{os.getpid()}"
        try:
            self.where.mkdir()
            if not (self.where / file).exists():
                raise OSError(f"no {file}")
        except OSError as error:
            self.close()
            raise Unavailable(f"no control group of {controller or 'version 2'}: {error}") from error

    def _write(self, file, text):
        (self.where / file).write_text(str(text))

    def within(self):
        """Words before a command that start it in the group."""
        return ["/bin/sh", "-c", f'echo $$ > {self.where}/cgroup.procs && exec "$@"', "sh"]

    def close(self):
        for _ in range(100):
            try:
                self.where.rmdir()
                return
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(0.05)


def parse_rate(text):
    """"200M" -> bytes a second."""
    scale = {"K": 10**3, "M": 10**6, "G": 10**9}
    return int(float(text[:-1]) * scale[text[-1]]) if text[-1] in scale else int(text)


class SlowDevice(_Group):
    """Reads of the device that holds `path` are held to a rate (blkio of version 1, which counts reads
    at the device, whoever's page cache they fill)."""

    def __init__(self, path, rate):
        super().__init__("blkio", "blkio.throttle.read_bps_device")
        device = os.stat(path).st_dev
        try:
            self._write("blkio.throttle.read_bps_device",
                        f"{os.major(device)}:{os.minor(device)} {parse_rate(rate)}")
        except OSError as error:
            self.close()
            raise Unavailable(f"this device takes no throttle: {error}") from error


class Memory(_Group):
    """A limit of memory, page cache included (version 1)."""

    def __init__(self):
        super().__init__("memory", "memory.limit_in_bytes")

    def limit(self, size):
        """None lifts it. What is over it is reclaimed at once, or the limit is refused (OSError)."""
        self._write("memory.limit_in_bytes", -1 if size is None else int(size))

    def used(self):
        """(anonymous, page cache) in bytes."""
        lines = (self.where / "memory.stat").read_text().splitlines()
        stat = {key: int(value) for key, value in (line.split() for line in lines)}
        return stat["total_rss"], stat["total_cache"]

    def killed(self):
        """How many processes the kernel has ended here for want of memory."""
        found = re.search(r"oom_kill (\d+)", (self.where / "memory.oom_control").read_text())
        return int(found[1]) if found else 0
