#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds src/ to the direction of its rooms, and each third-party library to its one place.

Reads #include lines only. Prints file:line and what is wrong; exits 1 if anything is.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

# What a room may include besides itself: the rooms named and all that those may include.
ROOMS = {
    "base": [],
    "wire": ["base"],
    "engine": ["base"],
    "repack": ["base"],
    "blocks": ["base"],
    "worker": ["blocks", "engine", "repack", "wire"],
    "keeper": ["wire"],
    "timeline": ["base"],
    "traces": ["timeline"],
    "transfer": ["base"],
    "fetcher": ["transfer", "wire"],
    "layers": ["blocks", "repack", "transfer"],
    "http": ["base"],
    "policy": ["layers", "timeline"],
    "front": ["policy", "traces", "wire"],
    "api": ["front", "http"],
    "lab": ["http", "policy"],
    "cli": ["api", "front", "http", "lab"],
}
# Files of src/ itself: the executables' tables of contents.
PROGRAMS = {
    "main.cpp": ["cli"],
    "worker_main.cpp": ["worker"],
    "keeper_main.cpp": ["keeper"],
    "fetcher_main.cpp": ["fetcher"],
}

# Header pattern -> files (relative to src/) that may include it, and why.
CONFINED = [
    (r"boost/(asio|beast)(/|\.hpp)", r"http/|base/event_loop", "Asio and Beast stay in http/ and base/event_loop*"),
    (r"xxhash\.h", r"(repack|blocks)/", "checksums stay in repack/ and blocks/"),
    (r"curl/", r"fetcher/", "libcurl stays in fetcher/"),
    (r"sqlite3\.h", r"base/sqlite", "SQLite has one wrapper, base/sqlite.*"),
    (
        r"(llama|ggml|gguf|common|chat|sampling|json-schema-to-grammar|speculative|arg|log|fit)([-\w]*)\.h",
        r"engine/",
        "the engine's headers stay in engine/",
    ),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def reachable(room):
    seen, todo = set(), [room]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo.extend(ROOMS[current])
    return seen


def allowed_rooms(relative):
    room = relative.parts[0]
    if room in ROOMS:
        return reachable(room)
    allowed = set()
    for target in PROGRAMS.get(relative.name, []):
        allowed |= reachable(target)
    return allowed


def is_own_header(path, header):
    return (SRC / header).exists() or (path.parent / header).exists()


def complaints(path):
    relative = path.relative_to(SRC)
    allowed = allowed_rooms(relative)
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match.group(2)
        room = header.split("/")[0]
        where = f"src/{relative}:{number}"
        if room in ROOMS and "/" in header and room not in allowed:
            yield f"{where}: {relative.parts[0]} may not include {header}"
        if ".." in header.split("/"):
            yield f"{where}: {header}: write the path from src/"
        if is_own_header(path, header):
            continue
        for pattern, places, reason in CONFINED:
            if re.fullmatch(pattern + ".*", header) and not re.match(places, str(relative)):
                yield f"{where}: {header}: {reason}"


def main():
    found = [c for path in sorted(SRC.rglob("*")) if path.suffix in (".h", ".cpp") for c in complaints(path)]
    unknown = [p.name for p in sorted(SRC.iterdir()) if p.is_dir() and p.name not in ROOMS] if SRC.exists() else []
    found += [f"src/{name}: not a room; add it to ROOMS and to CMakeLists.txt" for name in unknown]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
