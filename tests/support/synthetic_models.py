# SPDX-License-Identifier: Apache-2.0
"""Models of any size that load and run like real ones: a real vocabulary, weights of noise.

The architecture is llama's, the tokenizer SmolLM2's, byte for byte. Quantised blocks are written as
they stand in the file, never computed from floats, so a model costs little more than writing it. The
same specification and seed give the same bytes. Such a model says nothing sensible, but always the same:
words, never half a character, because the rows of the output matrix for other tokens are zero.
"""

import os
import random
import struct
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

from support.gguf import STRING, UINT32, head, pair, text
from support.gguf_pairs import (Pair, array_of_strings, first_elements, read_pairs, strings_of)

ALIGNMENT = 32
FLOAT32 = 6
F32, Q8_0, Q4_K, Q6_K = 0, 8, 12, 14
_TILE_BLOCKS = 1 << 13
# SmolLM2's vocabulary begins with its control tokens, then the 256 bytes, then what merges make of them.
CONTROL_TOKENS = 17
PLAIN_FROM = CONTROL_TOKENS + 256


@dataclass(frozen=True)
class Spec:
    """Sizes of a model. `mixed`: as a Q4_K_M file is, with Q6_K for the output and half of the
    values and down projections; otherwise every matrix has the same type."""
    name: str
    layers: int
    width: int
    inner: int
    heads: int
    key_heads: int
    kind: int = Q4_K
    context: int = 2048
    vocabulary: int = 0  # 0: all of SmolLM2's
    mixed: bool = False


# The 1B's sizes are TinyLlama's, the 3B's those of Llama 3.2, with a short context: the longer the
# trained context, the more a server that makes all its cells at once has to do at a start.
SPECS = {spec.name: spec for spec in (
    Spec("tiny-q4_k", 4, 256, 512, 4, 2, vocabulary=8192),
    Spec("1b-q4_k", 22, 2048, 5632, 32, 4),
    Spec("1b-q4_k_m", 22, 2048, 5632, 32, 4, mixed=True),
    Spec("3b-q8_0", 28, 3072, 8192, 24, 8, kind=Q8_0, context=4096),
)}


# ---- blocks ----

def _half(value):
    return struct.pack("<e", value)


def _block_q8_0(scale):
    """d, 32 signed bytes: uniform noise has a deviation of 73.9."""
    return _half(scale / 73.9), 34


def _block_q4_k(scale):
    """d, dmin, 12 bytes with eight scales and minima of 6 bits, 128 bytes of nibbles. All scales and
    minima are 32, dmin is 7.5 d: symmetric around zero, a deviation of 4.61 × 32 d."""
    d = scale / (4.61 * 32)
    # Bytes 0 to 7 hold six bits of the first four scales and minima, and above them the high two bits
    # of the others, whose low four are in bytes 8 to 11.
    packed = bytes([32 | (32 >> 4) << 6] * 8 + [0] * 4)
    return _half(d) + _half(7.5 * d) + packed, 144


def _block_q6_k(scale):
    """208 bytes of noise, scales included, would overflow: the 16 scales are fixed, d comes last."""
    return bytes([16] * 16) + _half(scale / (18.5 * 16)), 210


_BLOCKS = {Q8_0: (_block_q8_0, 32), Q4_K: (_block_q4_k, 256), Q6_K: (_block_q6_k, 256)}


def _tile(dice, kind, scale):
    """Many blocks of noise, each with the same fixed bytes."""
    fixed, size = _BLOCKS[kind][0](scale)
    tile = bytearray(dice.randbytes(size * _TILE_BLOCKS))
    begin = size - len(fixed) if kind == Q6_K else 0
    for n, byte in enumerate(fixed):
        tile[begin + n::size] = bytes([byte]) * _TILE_BLOCKS
    return bytes(tile), size


class _Noise:
    """The bytes of matrices. Tiles are made once for each type and width; only the output matrix is new
    noise all through, because two equal rows of it would be two tokens that are always alike."""

    def __init__(self, dice):
        self._dice = dice
        self._tiles = {}

    def matrix(self, tensor):
        """The tensor's bytes in pieces."""
        silent = tensor.silent_rows * tensor.row_bytes
        yield bytes(silent)
        left = tensor.bytes - silent
        while left:
            tile, size = self._tile_for(tensor)
            start = 0 if tensor.unique else self._dice.randrange(_TILE_BLOCKS) * size
            piece = tile[start:start + left]
            left -= len(piece)
            yield piece

    def _tile_for(self, tensor):
        key = (tensor.kind, tensor.columns)
        scale = 1 / sqrt(tensor.columns)
        if tensor.unique:
            return _tile(self._dice, tensor.kind, scale)
        if key not in self._tiles:
            self._tiles[key] = _tile(self._dice, tensor.kind, scale)
        return self._tiles[key]


# ---- tensors ----

@dataclass
class Tensor:
    name: str
    columns: int
    rows: int
    kind: int
    silent_rows: int = 0  # the first ones, all zero
    unique: bool = False

    @property
    def row_bytes(self):
        if self.kind == F32:
            return 4 * self.columns
        make, elements = _BLOCKS[self.kind]
        return self.columns // elements * make(1.0)[1]

    @property
    def bytes(self):
        return self.row_bytes * self.rows

    def entry(self, offset):
        shape = [self.columns] if self.kind == F32 else [self.columns, self.rows]
        return (text(self.name) + struct.pack("<I", len(shape))
                + struct.pack(f"<{len(shape)}Q", *shape) + struct.pack("<IQ", self.kind, offset))


def _tensors(spec, vocabulary):
    width, inner, keys = spec.width, spec.inner, spec.width // spec.heads * spec.key_heads
    better = Q6_K if spec.mixed else spec.kind
    silent = min(PLAIN_FROM, vocabulary // 2)
    yield Tensor("token_embd.weight", width, vocabulary, spec.kind)
    for n in range(spec.layers):
        some = better if n % 2 == 0 else spec.kind
        for name, columns, rows, kind in (
                ("attn_norm", width, 1, F32), ("attn_q", width, width, spec.kind),
                ("attn_k", width, keys, spec.kind), ("attn_v", width, keys, some),
                ("attn_output", width, width, spec.kind), ("ffn_norm", width, 1, F32),
                ("ffn_gate", width, inner, spec.kind), ("ffn_up", width, inner, spec.kind),
                ("ffn_down", inner, width, some)):
            yield Tensor(f"blk.{n}.{name}.weight", columns, rows, kind)
    yield Tensor("output_norm.weight", width, 1, F32)
    yield Tensor("output.weight", width, vocabulary, better, silent, unique=True)


# ---- metadata ----

def _cut_vocabulary(pairs, count):
    """Only the first tokens, and the merges that make them."""
    tokens = strings_of(pairs["tokenizer.ggml.tokens"])[:count]
    kept = set(tokens)
    merges = [m for m in strings_of(pairs["tokenizer.ggml.merges"])
              if m.replace(b" ", b"", 1) in kept and set(m.split(b" ", 1)) <= kept]
    return {**pairs, "tokenizer.ggml.tokens": array_of_strings(tokens),
            "tokenizer.ggml.token_type": first_elements(pairs["tokenizer.ggml.token_type"], count),
            "tokenizer.ggml.merges": array_of_strings(merges)}


def _metadata(spec, tokenizer):
    def number(value):
        return Pair(UINT32, struct.pack("<I", value))

    def real(value):
        return Pair(FLOAT32, struct.pack("<f", value))

    pairs = {k: v for k, v in read_pairs(tokenizer).items() if k.startswith("tokenizer.")}
    if spec.vocabulary:
        pairs = _cut_vocabulary(pairs, spec.vocabulary)
    return {
        "general.architecture": Pair(STRING, text("llama")),
        "general.name": Pair(STRING, text(f"Synthetic {spec.name}")),
        "general.file_type": number({Q8_0: 7, Q4_K: 15 if spec.mixed else 14}[spec.kind]),
        "general.quantization_version": number(2),
        "llama.block_count": number(spec.layers),
        "llama.context_length": number(spec.context),
        "llama.embedding_length": number(spec.width),
        "llama.feed_forward_length": number(spec.inner),
        "llama.attention.head_count": number(spec.heads),
        "llama.attention.head_count_kv": number(spec.key_heads),
        "llama.attention.layer_norm_rms_epsilon": real(1e-5),
        "llama.rope.freq_base": real(10000.0),
        "llama.rope.dimension_count": number(spec.width // spec.heads),
        "llama.vocab_size": number(len(strings_of(pairs["tokenizer.ggml.tokens"]))),
        **pairs,
    }


# ---- the file ----

def _padding(size):
    return -size % ALIGNMENT


def _header(pairs, tensors):
    data = head(len(tensors), len(pairs))
    data += b"".join(pair(key, p.kind, p.value) for key, p in pairs.items())
    offset = 0
    for tensor in tensors:
        data += tensor.entry(offset)
        offset += tensor.bytes + _padding(tensor.bytes)
    return data + b"\0" * _padding(len(data))


def write_synthetic_model(path, spec, tokenizer, seed=1):
    """Writes the model and syncs it; returns its size. It gets its name when it is whole."""
    path = Path(path)
    pairs = _metadata(spec, tokenizer)
    vocabulary = len(strings_of(pairs["tokenizer.ggml.tokens"]))
    tensors = list(_tensors(spec, vocabulary))
    noise = _Noise(random.Random(f"{spec.name} {seed}"))
    unfinished = path.with_suffix(".unfinished")
    with open(unfinished, "wb", buffering=1 << 20) as file:
        file.write(_header(pairs, tensors))
        for tensor in tensors:
            if tensor.kind == F32:
                file.write(struct.pack("<f", 1.0) * tensor.columns)
            else:
                file.writelines(noise.matrix(tensor))
            file.write(b"\0" * _padding(tensor.bytes))
        file.flush()
        os.fsync(file.fileno())  # dirty pages cannot be dropped
    unfinished.rename(path)
    return path.stat().st_size
