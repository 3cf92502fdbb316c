# SPDX-License-Identifier: Apache-2.0
"""A neighbour in the same memory cgroup that takes all free memory within seconds, and goes again."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import groups
import page_state
import synthetic
from figures import Verdict
from support.server import Server

MIB = 1 << 20
GIB = 1 << 30
SAMPLE_S = 0.2
SPARE = 32 * MIB  # of the group, for what the kernel itself keeps of a process

# Takes so many bytes in so many seconds, writes to each page, says how far it is, stays until its input
# ends.
_HOG = """
import mmap, sys, time
size, seconds = int(sys.argv[1]), float(sys.argv[2])
piece, begun, taken, kept = 4 << 20, time.monotonic(), 0, []
page = b"x" * mmap.PAGESIZE
while taken < size:
    part = mmap.mmap(-1, min(piece, size - taken))
    for at in range(0, len(part), mmap.PAGESIZE):
        part[at:at + mmap.PAGESIZE] = page
    kept.append(part)
    taken += len(part)
    print(taken, flush=True)
    time.sleep(max(0, begun + seconds * taken / size - time.monotonic()))
sys.stdin.read()
"""


class Hog:
    def __init__(self, within, size, seconds):
        command = [*within, sys.executable, "-c", _HOG, str(size), str(seconds)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.size, self.taken, self.begun = size, 0, time.monotonic()
        self.took_s = None
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.taken = int(line)

    def has_all(self):
        if self.taken == self.size and self.took_s is None:
            self.took_s = time.monotonic() - self.begun
        return self.took_s is not None

    def died(self):
        return self.process.poll() is not None

    def leave(self):
        code = self.process.poll()
        if code is None:
            self.process.stdin.close()
            code = self.process.wait(30)
        return code


class Group:
    """A memory cgroup; or none, and then the machine's memory is what there is to take."""

    def __init__(self, limit):
        self.why_none = ""
        try:
            self._group = groups.Memory()
            self._group.limit(limit)
            self.limit, self.within = limit, self._group.within()
        except (groups.Unavailable, OSError) as error:
            self.why_none, self._group = str(error), None
            self.limit, self.within = _meminfo("MemTotal"), []

    def free(self, reserve):
        """What a neighbour can take. Of a whole machine half of the reserve stays: there are others."""
        if self._group:
            return self.limit - self.anonymous() - SPARE
        return _meminfo("MemAvailable") - reserve // 2

    def anonymous(self):
        if self._group:
            return self._group.used()[0]
        return self.limit - _meminfo("MemAvailable")

    def cached(self):
        return self._group.used()[1] if self._group else _meminfo("Cached")

    def killed(self):
        return self._group.killed() if self._group else 0

    def close(self):
        if self._group:
            self._group.close()


def _meminfo(field):
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/meminfo has no {field}")


class Timeline:
    """How everybody is, a few times a second, from a thread of its own."""

    def __init__(self, server, group, names):
        self._server, self._group, self._names = server, group, names
        self.hog = None
        self.begun, self.begun_wall = time.monotonic(), time.time()
        self.rows, self._stop = [], threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def now(self):
        return time.monotonic() - self.begun

    def _sample(self):
        told = self._server.ok("/api/hearth/memory")
        levels = {name: self._server.model(name)["layers"]["weights"]["level"]
                  for name in self._names}
        return {"at_s": round(self.now(), 2), "neighbour": self.hog.taken if self.hog else 0,
                "anonymous": self._group.anonymous(), "cache": self._group.cached(),
                "held": told["held_bytes"], "limit": told["limit_bytes"],
                "psi": told["pressure"]["memory_some_avg10"], "levels": levels}

    def _run(self):
        while not self._stop.wait(SAMPLE_S):
            begun = time.monotonic()
            try:
                row = self._sample()
            except Exception as error:  # noqa: BLE001 - whatever it is, it belongs into the record
                row = {"at_s": round(self.now(), 2), "error": repr(error)}
            row["took_s"] = round(time.monotonic() - begun, 3)
            self.rows.append(row)

    def end(self):
        self._stop.set()
        self._thread.join()


def wait_until(condition, timeout):
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return bool(condition())


def load_all(server, names, options):
    """A few requests to each, one after the other, as somebody does who works with them."""
    for turn in range(options.turns):
        for name in names:
            server.complete(f"{turn} 2 3 4 5 6 7 8", name, max_tokens=2)
        print(f"  asked all {len(names)}, turn {turn + 1}", flush=True)


def resident(server, names):
    return [n for n in names if server.model(n)["layers"]["weights"]["level"] == "resident"]


def scene(server, group, names, options):
    """Loaded; the neighbour comes, stays, goes; what comes back by itself."""
    load_all(server, names, options)
    time.sleep(2.0)
    told = server.ok("/api/hearth/memory")
    before = {"resident": resident(server, names), "held": told["held_bytes"],
              "limit": told["limit_bytes"], "limit_reason": told["limit_reason"],
              "anonymous": group.anonymous(), "cache": group.cached()}
    size = group.free(told["machine"]["reserve"]) + options.beyond * MIB
    workers = {name: server.worker_pid(name) for name in names}
    timeline = Timeline(server, group, names)
    hog = timeline.hog = Hog(group.within, size, options.seconds)
    print(f"  {before['held'] / GIB:.2f} GiB held; the neighbour wants {size / GIB:.2f} GiB",
          flush=True)
    wait_until(lambda: hog.has_all() or hog.died(), options.patience)
    time.sleep(options.stay)
    during = {"taken": hog.taken, "wanted": size, "took_s": hog.took_s, "died": hog.died(),
              "resident": resident(server, names), "killed": group.killed()}
    left_at = timeline.now()
    during["exit"] = hog.leave()
    print(f"  the neighbour goes after {left_at:.0f} s; {during['resident']} stayed", flush=True)
    up = wait_until(lambda: len(resident(server, names)) > len(during["resident"]), options.back)
    back = {"left_at_s": left_at, "by_itself": up, "at_s": timeline.now() if up else None,
            "why": server.ok("/api/hearth/levels")["prewarming"]}
    if up:
        wait_until(lambda: len(resident(server, names)) == len(before["resident"]), options.back)
    back["resident"] = resident(server, names)
    timeline.end()
    moves = [{**move, "at_s": round(move["at_us"] / 1e6 - timeline.begun_wall, 2)}
             for move in server.ok("/api/hearth/moves")["moves"]]
    after = {name: server.complete("1 2 3", name, max_tokens=2)["hearth"]["class"] for name in names}
    return {"before": before, "during": during, "back": back, "timeline": timeline.rows,
            "moves": sorted(moves, key=lambda move: move["at_us"]), "asked_after": after,
            "killed": group.killed(), "workers_before": workers}


def print_timeline(result):
    print(f"\n{'s':>6}{'neighbour':>11}{'anonymous':>11}{'cache':>8}{'held':>8}{'limit':>8}  levels")
    last = None
    for row in result["timeline"]:
        if "error" in row:
            print(f"{row['at_s']:6.1f}  {row['error']}")
            continue
        key = (tuple(row["levels"].values()), row["neighbour"] // (256 * MIB))
        if key == last:
            continue
        last = key
        figures = [row[k] / MIB for k in ("neighbour", "anonymous", "cache", "held", "limit")]
        levels = ", ".join(f"{name} {level}" for name, level in row["levels"].items())
        print(f"{row['at_s']:6.1f}{figures[0]:11.0f}{figures[1]:11.0f}{figures[2]:8.0f}"
              f"{figures[3]:8.0f}{figures[4]:8.0f}  {levels}")
    for move in result["moves"]:
        print(f"{move['at_s']:6.1f}  {move['model']} {move['layer']} {move['from']} -> {move['to']}, "
              f"{move['cause']}, {move['bytes'] / MIB:.0f} MiB {move.get('error') or ''}")


def evaluate(result):
    during, moves = result["during"], result["moves"]
    down = [m for m in moves if m["cause"] == "pressure" and not m.get("error") and m["bytes"] > 0]
    slowest = max((row["took_s"] for row in result["timeline"]), default=None)
    back = result["back"]
    after_s = back["at_s"] - back["left_at_s"] if back["by_itself"] else None
    return [
        Verdict("share of its memory that the neighbour got", during["taken"] / during["wanted"], 1.0,
                at_least=True, detail=f"in {during['took_s'] or float('nan'):.1f} s"),
        Verdict("processes killed for want of memory", result["killed"] + during["died"], 0, unit=""),
        Verdict("moves down for it", len(down), 1, unit="", at_least=True,
                detail=f"{sum(m['bytes'] for m in down) / MIB:.0f} MiB"),
        Verdict("models that came back unasked", len(back["resident"]) - len(during["resident"]), 1,
                unit="", at_least=True,
                detail=f"the first {after_s:.0f} s after the neighbour" if after_s is not None
                else f"prewarming is {back['why']['state']}: {back['why']['why']}"),
        Verdict("slowest look at the server meanwhile", slowest, 1.0, unit="s"),
    ]


def run(folder, options):
    group = Group(options.limit * MIB)
    if group.why_none:
        print(f"no memory cgroup ({group.why_none}): against the machine's memory instead")
    files = [synthetic.ensure(options.model, seed=seed) for seed in range(1, options.models + 1)]
    for path in files:
        page_state.drop(path)  # so that the group is charged for what it reads
    names = [f"m{n}" for n in range(1, options.models + 1)]
    config = "stores = []\nprefix_memory_mib = 0\ncompiled_disk_gib = 0\n"
    server = Server(Path(folder) / "data", config, within=group.within).start()
    try:
        for name, path in zip(names, files):
            server.import_model(path, name)
        result = scene(server, group, names, options)
        result["errors"] = server.new_errors()
        server.stop()
    finally:
        server.kill()
        group.close()
    result["group"] = group.why_none or f"memory cgroup of {options.limit} MiB"
    print_timeline(result)
    for line in result["errors"]:
        print("log:", line)
    return result, evaluate(result)


def arguments(parser):
    parser.add_argument("--limit", type=int, default=4096, metavar="MIB", help="of the cgroup")
    parser.add_argument("--model", default="1b-q4_k", help="the synthetic model")
    parser.add_argument("--models", type=int, default=3)
    parser.add_argument("--turns", type=int, default=3, help="requests to each before")
    parser.add_argument("--seconds", type=float, default=10.0, help="in which the neighbour takes it")
    parser.add_argument("--beyond", type=int, default=0, metavar="MIB",
                        help="more than what is free when the neighbour comes")
    parser.add_argument("--patience", type=float, default=60.0, help="for the neighbour to get it all")
    parser.add_argument("--stay", type=float, default=5.0, help="of the neighbour, with all it wanted")
    parser.add_argument("--back", type=float, default=240.0, help="longest wait for what comes back")
