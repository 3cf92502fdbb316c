# SPDX-License-Identifier: Apache-2.0
"""GGUF files that are right in form and hold nothing but noise, of any size, made quickly."""

import os
import struct

from support.gguf import ARCHITECTURE, STRING, UINT16, UINT32, head, pair, text

ALIGNMENT = 32
_BLOCK = 8 << 20


def _begin(size, pairs, tensor):
    """The header of a file of about `size` bytes with one tensor of bytes (I8), and their number."""
    kind_i8 = 24

    def with_elements(elements):
        data = head(1, len(pairs)) + b"".join(pairs)
        data += text(tensor) + struct.pack("<IQIQ", 1, elements, kind_i8, 0)
        return data + b"\0" * (-len(data) % ALIGNMENT)

    elements = (size - len(with_elements(0))) // ALIGNMENT * ALIGNMENT
    return with_elements(elements), elements


def _write(path, size, pairs, tensor):
    header, elements = _begin(size, pairs, tensor)
    block = os.urandom(_BLOCK)
    with open(path, "wb") as file:
        file.write(header)
        left, number = elements, 0
        while left:
            piece = min(left, _BLOCK)
            # Noise is slow to make: one block with another beginning each time will do.
            file.write((struct.pack("<Q", number) + block[8:])[:piece])
            left -= piece
            number += 1
    return len(header) + elements


def write_noise_model(path, size, name="noise"):
    """Writes the file and returns its size. No two files, and no two parts of one, are alike."""
    pairs = [ARCHITECTURE, pair("general.name", STRING, text(name))]
    return _write(path, size, pairs, "token_embd.weight")


def write_noise_shards(folder, count, size, stem="noise-Q4_0"):
    """A set of files; returns their paths in order."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(count):
        pairs = [ARCHITECTURE, pair("split.no", UINT16, struct.pack("<H", number)),
                 pair("split.count", UINT16, struct.pack("<H", count)),
                 pair("split.tensors.count", UINT32, struct.pack("<I", count))]
        path = folder / f"{stem}-{number + 1:05}-of-{count:05}.gguf"
        _write(path, size, pairs, "token_embd.weight" if number == 0 else f"blk.{number}.weight")
        paths.append(path)
    return paths
