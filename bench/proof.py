# SPDX-License-Identifier: Apache-2.0
"""What a run did and what happened beside it, by the kernel's own accounting."""

import time
from pathlib import Path

import load
from support import procfs

QUIET_CORES = 0.15      # used by others while nothing of ours runs
QUIET_PRESSURE = 0.05   # share of the time that something waited for a processor
DISTURBED_CORES = 0.4   # used by others during a run: the run does not count


def tree(pid):
    """The process and its children, and theirs."""
    found = [pid]
    for child in procfs.children(pid):
        found += tree(child)
    return found


def read_bytes(pid):
    """From the device, for this process: reads ahead that it started are included."""
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["read_bytes"])


def major_faults(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[9])


def _figures(pids):
    """{pid: (bytes read, major faults, processor seconds)} of those that live."""
    found = {}
    for pid in pids:
        try:
            found[pid] = (read_bytes(pid), major_faults(pid), procfs.cpu_seconds(pid))
        except OSError:
            continue
    return found


class Watch:
    """From its making to read(): what the processes of a server did, and what all others did.

    `pids` is called at both ends, for a process may be started meanwhile; it counts from zero then."""

    def __init__(self, pids):
        self._pids = pids
        self._before = _figures(pids())
        self._start = (load.machine_busy_seconds(), time.process_time(), time.perf_counter())
        self._pressure = load.pressure()

    def read(self):
        busy, client, wall = (load.machine_busy_seconds(), time.process_time(), time.perf_counter())
        after = _figures(self._pids())
        none = (0, 0, 0.0)
        read, faults, cpu = (sum(now[n] - self._before.get(pid, none)[n] for pid, now in after.items())
                             for n in range(3))
        wall -= self._start[2]
        others = busy - self._start[0] - cpu - (client - self._start[1])
        stalls = {kind: round((total - self._pressure[kind]) / wall, 4)
                  for kind, total in load.pressure().items()}
        return {"bytes_read": read, "major_faults": faults, "cpu_s": round(cpu, 4),
                "outside_cores": round(max(0.0, others) / wall, 3), "pressure": stalls}


def _is_quiet(seconds=0.3):
    watch = Watch(lambda: [])
    time.sleep(seconds)
    figures = watch.read()
    return (figures["outside_cores"] <= QUIET_CORES
            and figures["pressure"].get("cpu", 0.0) <= QUIET_PRESSURE)


def wait_for_quiet(patience_s):
    """True once nobody else uses the processor; False if that did not come. 0: does not wait."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        if _is_quiet():
            return True
    return False


def disturbance(figures):
    cores = figures["outside_cores"]
    return f"others used {cores:.2f} cores" if cores > DISTURBED_CORES else None
