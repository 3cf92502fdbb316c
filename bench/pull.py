# SPDX-License-Identifier: Apache-2.0
"""What a pull costs: the line's speed, memory, interruptions, and what it leaves of the page cache."""

import argparse
import json
import os
import random
import re
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import load
from support import procfs
from support.made_models import write_noise_model
from support.registry import Registry
from support.server import SMOLLM2, Server

PART = 4 << 20
MIB = 1 << 20


class Peak:
    """The most memory that a server and its children held at once, over what they held before."""

    def __init__(self, pid):
        self._pid = pid
        self._before = self._now()
        self._most = self._before
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _now(self):
        total = 0
        for pid in [self._pid, *procfs.children(self._pid)]:
            try:
                total += procfs.rss_bytes(pid)
            except KeyError:
                continue  # gone meanwhile
        return total

    def _watch(self):
        while not self._stop.wait(0.02):
            self._most = max(self._most, self._now())

    def bytes(self):
        self._stop.set()
        self._thread.join()
        return self._most - self._before


def new_server(folder, registry, name, *config):
    return Server(Path(folder) / name, registry.config('stores = []', *config)).start()


def pull(server, source, name):
    return server.post("/api/hearth/pull", {"source": source, "name": name, "stream": False},
                       timeout=3600)


def line(folder, options):
    """A pull from a server that gives `--line` bytes a second: how much of that arrives, installed."""
    path = Path(folder) / "line.gguf"
    size = write_noise_model(path, options.size)
    runs = []
    with Registry() as registry:
        registry.add_file("/line.gguf", path)
        for number in range(options.runs):
            server = new_server(folder, registry, f"line{number}")
            peak = Peak(server.pid)
            registry.forget()
            registry.bytes_per_second = options.line
            started = time.perf_counter()
            answer = pull(server, f"{registry.url}/line.gguf", "noise")
            seconds = time.perf_counter() - started
            assert answer.status_code == 200, answer.text
            registry.bytes_per_second = 0
            runs.append({"seconds": seconds, "share": size / options.line / seconds,
                         "rss": peak.bytes(), "sent": registry.sent, "done": answer.json()["done"]})
            server.ok("/api/hearth/prune", {"dry_run": False})
            server.http.delete("/api/hearth/models/noise")
            server.stop()
    shares = sorted(run["share"] for run in runs)
    print(f"line: {size / 1e9:.2f} GB at {options.line / 1e6:.0f} MB/s: "
          f"{statistics.median(shares):.1%} of the line (from {shares[0]:.1%} to {shares[-1]:.1%}), "
          f"memory +{max(run['rss'] for run in runs) / 1e6:.1f} MB; bars: 95 %, 60 MB")
    return runs


def kills(folder, options):
    """The server and its fetcher are killed again and again during one pull."""
    path = Path(folder) / "kills.gguf"
    size = write_noise_model(path, options.size)
    dice = random.Random(options.seed)
    with Registry() as registry:
        content = registry.add_file("/kills.gguf", path)
        registry.bytes_per_second = options.line
        source = f"{registry.url}/kills.gguf"
        step = size / (options.kills + 1)
        for number in range(options.kills):
            server = new_server(folder, registry, "kills")
            target = step * (number + dice.uniform(0.2, 1.0))
            server.post("/api/hearth/pull", {"source": source, "name": "noise", "detach": True,
                                             "stream": False}, timeout=60)
            deadline = time.monotonic() + 120
            while registry.sent < target and time.monotonic() < deadline:
                time.sleep(0.002)
            for pid in [*procfs.children(server.pid), server.pid]:
                os.kill(pid, signal.SIGKILL)
            server.kill()
        registry.bytes_per_second = 0
        before_flip = registry.sent
        flipped = flip_part(folder)
        server = new_server(folder, registry, "kills")
        answer = pull(server, source, "noise")
        assert answer.status_code == 200, answer.text
        digest = server.model("noise")["digest"]
        server.stop()
        same = digest == content.sha256
        ratio = (registry.sent - flipped) / size
        print(f"kills: {options.kills} times, {registry.sent / 1e9:.3f} GB sent for {size / 1e9:.3f} GB"
              f" ({flipped / 1e6:.1f} MB of it for a part that was flipped): {ratio:.4f} x; "
              f"same content: {same}; bar: 1.05")
        return {"sent": registry.sent, "size": size, "before_flip": before_flip, "flipped": flipped,
                "ratio": ratio, "same": same}


def flip_part(folder):
    """Flips a byte of what has arrived whole; the bytes that this may cost."""
    data = next(Path(folder).glob("kills/models/partial/*/data"))
    with open(data, "r+b") as file:
        file.seek(PART + 12345)
        byte = file.read(1)
        file.seek(PART + 12345)
        file.write(bytes([byte[0] ^ 1]))
    return PART


def repair(folder, options):
    """One byte of an installed model rots; verify finds it and fetches its part."""
    path = Path(folder) / "repair.gguf"
    size = write_noise_model(path, options.size // 4)
    with Registry() as registry:
        content = registry.add_file("/repair.gguf", path)
        server = new_server(folder, registry, "repair")
        assert pull(server, f"{registry.url}/repair.gguf", "noise").status_code == 200
        blob = Path(folder) / f"repair/models/blobs/sha256-{content.sha256}"
        before = os.stat(blob)
        with open(blob, "r+b") as file:
            file.seek(size // 2)
            byte = file.read(1)
            file.seek(size // 2)
            file.write(bytes([byte[0] ^ 1]))
        os.utime(blob, ns=(before.st_atime_ns, before.st_mtime_ns))
        registry.forget()
        body = {"model": "noise", "repair": True, "stream": False}
        answer = server.post("/api/hearth/verify", body, timeout=3600).json()
        server.stop()
        print(f"repair: {answer['done']['verified'][0]['verdict']}, {registry.sent / MIB:.2f} MiB "
              f"fetched; bar: 4 MiB")
        return {"answer": answer, "sent": registry.sent}


class Cgroup:
    """A memory limit for a process tree; `where` is empty if none can be made here."""

    def __init__(self, limit):
        self.where = None
        one = Path("/sys/fs/cgroup/memory") / f"hearth-bench-{os.getpid()}"
        two = Path("/sys/fs/cgroup") / f"hearth-bench-{os.getpid()}"
        for place, name in [(one, "memory.limit_in_bytes"), (two, "memory.max")]:
            try:
                place.mkdir()
                (place / name).write_text(str(limit))
                self.where = place
                return
            except OSError:
                if place.is_dir():
                    place.rmdir()

    def enter(self, pid):
        (self.where / "cgroup.procs").write_text(str(pid))

    def close(self):
        for _ in range(100):
            try:
                self.where.rmdir()
                return
            except OSError:
                time.sleep(0.1)


def resident_share(server, name):
    server.ok("/api/hearth/models")
    deadline = time.monotonic() + 6
    while time.monotonic() < deadline:  # a tick looks every two seconds
        pages = server.model(name)["layers"]["pages"]
        time.sleep(0.5)
    return pages["bytes"] / pages["total"]


def cgroup(folder, options):
    """A pull of twice the memory there is, beside a model that is loaded."""
    group = Cgroup(options.cgroup)
    if group.where is None:
        print("cgroup: no memory cgroup can be made here, so this was not measured")
        return {"measured": False}
    path = Path(folder) / "large.gguf"
    copy = Path(folder) / "loaded.gguf"
    size = write_noise_model(path, 2 * options.cgroup)
    copy.write_bytes(SMOLLM2.read_bytes())
    result = {"measured": True}
    with Registry() as registry:
        registry.add_file("/large.gguf", path)
        for how in ["loaded", "pinned"]:
            os.sync()
            for file in (path, copy):
                with open(file, "rb") as opened:
                    os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            server = new_server(folder, registry, f"cgroup-{how}")
            group.enter(server.pid)
            server.import_model(copy, "smollm2")
            server.load()
            if how == "pinned":
                server.unload()
                server.ok("/api/hearth/pin", {"model": "smollm2", "layer": "pages"})
            before = resident_share(server, "smollm2")
            answer = pull(server, f"{registry.url}/large.gguf", "noise")
            assert answer.status_code == 200, answer.text
            after = resident_share(server, "smollm2")
            server.http.delete("/api/hearth/models/noise")
            server.stop()
            result[how] = {"before": before, "after": after}
            print(f"cgroup of {options.cgroup / MIB:.0f} MiB, pull of {size / 1e9:.2f} GB, {how}: "
                  f"{after / before:.2%} of the model's pages stayed; bar: 99 %")
    group.close()
    return result


def start(folder, options):
    """Import of a large file, and what a start connects to."""
    path = Path(folder) / "import.gguf"
    size = write_noise_model(path, 3 * options.size)
    with Registry() as registry:
        server = new_server(folder, registry, "start")
        started = time.perf_counter()
        server.import_model(path, "large")
        import_s = time.perf_counter() - started
        was_hashed = server.model("large")["digest"] is not None
        server.import_model(SMOLLM2, "smollm2")
        server.stop()
        trace = Path(folder) / "trace"
        command = ["strace", "-f", "-qq", "-e", "trace=connect,sendto", "-o", trace]
        connected = traced_start(command, folder, trace)
        print(f"import: {size / 1e9:.2f} GB in {import_s * 1000:.1f} ms (hashed by then: {was_hashed});"
              f" bar: 200 ms\nstart: {connected} outward connections, "
              f"{len(registry.requests)} requests to the configured servers; bar: 0")
        return {"import_s": import_s, "connected": connected, "requests": len(registry.requests)}


def traced_start(command, folder, trace):
    from support.server import HEARTH
    server = subprocess.Popen([*command, HEARTH, "serve", "--data", Path(folder) / "start", "--listen",
                               "127.0.0.1:0", "--config", Path(folder) / "start.toml"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for text in server.stdout:
        if match := re.search(r"listens on (http://[\d.:]+)", text):
            break
    load.stream_completion(match[1], {"model": "smollm2", "prompt": "Hello", "max_tokens": 4})
    children = procfs.children(server.pid)
    for pid in children:
        os.kill(pid, signal.SIGTERM)
    server.wait()
    lines = trace.read_text().splitlines()
    return sum("AF_INET" in text and "127.0.0.1" not in text for text in lines)


PARTS = {"line": line, "kills": kills, "repair": repair, "cgroup": cgroup, "start": start}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--size", type=float, default=1e9)
    parser.add_argument("--line", type=float, default=250e6, help="bytes a second")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cgroup", type=float, default=2 << 30, help="bytes of memory")
    parser.add_argument("--folder", help="where files go; a disk, not memory")
    options = parser.parse_args()
    options.size, options.cgroup = int(options.size), int(options.cgroup)
    results = {}
    for part in options.parts or PARTS:
        with tempfile.TemporaryDirectory(dir=options.folder or load.RESULTS.parent) as folder:
            results[part] = PARTS[part](folder, options)
    load.RESULTS.mkdir(parents=True, exist_ok=True)
    out = load.RESULTS / "pull.json"
    out.write_text(json.dumps(results, indent=2))
    print(f"every run: {out}")


if __name__ == "__main__":
    main()
