# SPDX-License-Identifier: Apache-2.0
"""Writes small GGUF files, right ones and wrong ones."""

import struct

MAGIC = b"GGUF"
UINT16, UINT32, STRING, ARRAY = 2, 4, 8, 9


def text(value, length=None):
    data = value.encode()
    return struct.pack("<Q", len(data) if length is None else length) + data


def pair(key, kind, value):
    return text(key) + struct.pack("<I", kind) + value


def head(tensors, pairs, version=3, magic=MAGIC):
    return magic + struct.pack("<IQQ", version, tensors, pairs)


def tensor(name, offset, elements=32, kind=0):
    return text(name) + struct.pack("<IQIQ", 1, elements, kind, offset)


def shard(number, count):
    """The first part of a set: enough of a header to say how many parts there are."""
    pairs = [pair("general.architecture", STRING, text("llama")),
             pair("split.no", UINT16, struct.pack("<H", number)),
             pair("split.count", UINT16, struct.pack("<H", count)),
             pair("split.tensors.count", UINT32, struct.pack("<I", 1))]
    data = head(1, len(pairs)) + b"".join(pairs) + tensor("token_embd.weight", 0)
    return data + b"\0" * (-len(data) % 32) + b"\0" * 128


ARCHITECTURE = pair("general.architecture", STRING, text("llama"))

HOSTILE = {
    "empty": b"",
    "three bytes": b"GGU",
    "bad magic": head(0, 0, magic=b"FUGG"),
    "a zip": b"PK\x03\x04" + b"\0" * 100,
    "version 99": head(0, 0, version=99),
    "version 0": head(0, 0, version=0),
    "2^60 tensors": head(2**60, 1) + ARCHITECTURE,
    "2^60 pairs": head(0, 2**60) + ARCHITECTURE,
    "2^63 long key": head(0, 1) + text("k", length=2**63),
    "2^63 long string": head(0, 1) + text("general.name") + struct.pack("<I", STRING)
                        + text("x", length=2**63),
    "2^60 long array": head(0, 1) + text("a") + struct.pack("<IIQ", ARRAY, UINT32, 2**60),
    "2^61 strings": head(0, 1) + text("a") + struct.pack("<IIQ", ARRAY, STRING, 2**61),
    "nested arrays": head(0, 1) + text("a") + struct.pack("<IIQ", ARRAY, ARRAY, 1) * 1000,
    "unknown type": head(0, 1) + pair("k", 77, b"\0" * 8),
    "offset past the end": head(1, 1) + ARCHITECTURE + tensor("t", 2**40) + b"\0" * 64,
    "2^62 elements": head(1, 1) + ARCHITECTURE + tensor("t", 0, elements=2**62) + b"\0" * 64,
    "tensor type 999": head(1, 1) + ARCHITECTURE + tensor("t", 0, kind=999) + b"\0" * 256,
    "no architecture": head(1, 0) + tensor("t", 0) + b"\0" * 256,
}
