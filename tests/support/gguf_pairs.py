# SPDX-License-Identifier: Apache-2.0
"""Reads the metadata pairs of a GGUF file as bytes, so that another file can get the same ones."""

import struct
from dataclasses import dataclass

from support.gguf import ARRAY, MAGIC, STRING

_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


@dataclass
class Pair:
    kind: int
    value: bytes  # as it stands in the file, without key and kind


class _Cursor:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def number(self, form):
        value = struct.unpack_from("<" + form, self.data, self.at)[0]
        self.at += struct.calcsize("<" + form)
        return value

    def text(self):
        length = self.number("Q")
        self.at += length
        return self.data[self.at - length:self.at]

    def skip(self, kind):
        if kind == STRING:
            self.text()
        elif kind == ARRAY:
            inner, count = self.number("I"), self.number("Q")
            if inner in _SIZES:
                self.at += _SIZES[inner] * count
                return
            for _ in range(count):
                self.skip(inner)
        else:
            self.at += _SIZES[kind]


def read_pairs(path):
    """{key: Pair}. Only for files that are known to be right."""
    with open(path, "rb") as file:
        cursor = _Cursor(file.read(64 << 20))
    assert cursor.data[:4] == MAGIC
    cursor.at = 4
    _version, _tensors, count = cursor.number("I"), cursor.number("Q"), cursor.number("Q")
    pairs = {}
    for _ in range(count):
        key, kind = cursor.text().decode(), cursor.number("I")
        begin = cursor.at
        cursor.skip(kind)
        pairs[key] = Pair(kind, cursor.data[begin:cursor.at])
    return pairs


def strings_of(pair):
    """The elements of an array of strings."""
    cursor = _Cursor(pair.value)
    assert cursor.number("I") == STRING
    return [cursor.text() for _ in range(cursor.number("Q"))]


def array_of_strings(values):
    data = struct.pack("<IQ", STRING, len(values))
    return Pair(ARRAY, data + b"".join(struct.pack("<Q", len(v)) + v for v in values))


def first_elements(pair, count):
    """The same array, cut to `count` elements of fixed size."""
    inner = struct.unpack_from("<I", pair.value)[0]
    return Pair(ARRAY, struct.pack("<IQ", inner, count) + pair.value[12:12 + _SIZES[inner] * count])
