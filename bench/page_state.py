# SPDX-License-Identifier: Apache-2.0
"""Brings files into a wanted state of the page cache, and proves that they are in it."""

import ctypes
import mmap
import os
import random
import time
from pathlib import Path

PAGE = mmap.PAGESIZE
_CACHESTAT = 451  # the same number on all architectures; since Linux 6.5
_LIBC = ctypes.CDLL(None, use_errno=True)


class _Range(ctypes.Structure):
    _fields_ = [("offset", ctypes.c_uint64), ("length", ctypes.c_uint64)]


class _Stat(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in
                ("cached", "dirty", "writeback", "evicted", "recently_evicted")]


def resident_bytes(path, offset=0, length=0):
    """By cachestat(2), of a part of the file; length 0: to its end."""
    with open(path, "rb") as file:
        stat = _Stat()
        wanted = _Range(offset, length)
        if _LIBC.syscall(_CACHESTAT, file.fileno(), ctypes.byref(wanted), ctypes.byref(stat), 0):
            raise OSError(ctypes.get_errno(), "cachestat: without it no state can be proved", str(path))
        return stat.cached * PAGE


def share(path):
    pages = -(-os.path.getsize(path) // PAGE)
    return resident_bytes(path) / PAGE / pages if pages else 1.0


def missing_bytes(paths):
    return sum(max(0, os.path.getsize(path) - resident_bytes(path)) for path in paths)


def drop(path, patience_s=5.0):
    """Dirty pages cannot be dropped, so they are written first. A page that a processor has on a list
    of its own is passed over, so it is tried again until nothing is left."""
    deadline = time.monotonic() + patience_s
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        while True:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            if resident_bytes(path) == 0 or time.monotonic() > deadline:
                return
            time.sleep(0.01)


def warm(path):
    buffer = bytearray(4 << 20)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


# ---- partly resident ----

def _ranges(size, piece, keep):
    return [(at, min(piece, size - at)) for n, at in enumerate(range(0, size, piece)) if keep(n)]


def _random_pieces(size, piece):
    dice = random.Random(size)
    count = -(-size // piece)
    chosen = set(dice.sample(range(count), count // 2))
    return _ranges(size, piece, chosen.__contains__)


# What is there of a file whose half is there.
PATTERNS = {
    "first half": lambda size: [(0, size // 2 // PAGE * PAGE)],
    "second half": lambda size: [(size // 2 // PAGE * PAGE, size)],
    "every other 4 MiB": lambda size: _ranges(size, 4 << 20, lambda n: n % 2 == 0),
    "random 256 KiB": lambda size: _random_pieces(size, 256 << 10),
    "random 16 KiB": lambda size: _random_pieces(size, 16 << 10),
}


def keep_only(path, pattern):
    """Drops the file and reads what the pattern names, with no read-ahead beyond it."""
    drop(path)
    size = os.path.getsize(path)
    with open(path, "rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        for offset, length in PATTERNS[pattern](size):
            while length > 0:
                got = len(os.pread(file.fileno(), min(length, 4 << 20), offset))
                if not got:
                    break
                offset, length = offset + got, length - got


# ---- states ----

STATES = {"page-warm": 1.0, "page-cold": 0.0, "half": 0.5}


def put(files, state):
    for path in files:
        if state == "page-warm":
            warm(path)
        elif state == "page-cold":
            drop(path)
        else:
            keep_only(path, "random 256 KiB")


def shares(files):
    """{name: share of its pages that are resident}, the proof of a state."""
    return {Path(path).name: round(share(path), 5) for path in files}


def contradiction(found, state):
    """Why `found` is not that state; None if it is."""
    wanted = STATES[state]
    slack = 0.0 if state == "page-cold" else 0.001 if state == "page-warm" else 0.02
    for name, value in found.items():
        if abs(value - wanted) > slack:
            return f"{name} was resident to {value:.2%}"
    return None
