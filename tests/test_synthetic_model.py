# SPDX-License-Identifier: Apache-2.0
"""The model that scripts make stands for a real one: it loads, is repacked, and says words."""

import platform

import pytest

from support.server import SMOLLM2
from support.synthetic_models import SPECS, write_synthetic_model


def test_same_seed_gives_the_same_bytes(repackable_model, tmp_path):
    again, other = tmp_path / "again.gguf", tmp_path / "other.gguf"
    write_synthetic_model(again, SPECS["tiny-q4_k"], SMOLLM2)
    write_synthetic_model(other, SPECS["tiny-q4_k"], SMOLLM2, seed=2)
    assert again.read_bytes() == repackable_model.read_bytes()
    assert other.read_bytes() != repackable_model.read_bytes()


def test_says_the_same_words_after_each_load(new_server, repackable_model):
    server = new_server(model=repackable_model)
    first = server.complete("The quick brown fox")["choices"][0]["text"]
    assert len(first) >= 8 and "�" not in first
    server.unload()
    assert server.complete("The quick brown fox")["choices"][0]["text"] == first


@pytest.mark.skipif(platform.machine() != "x86_64", reason="repacks other types")
def test_nearly_all_of_it_is_repacked(new_server, repackable_model):
    server = new_server(model=repackable_model)
    server.load()
    # All but the embedding, which is looked up row by row; the vocabulary is no weight.
    assert server.model()["layers"]["compiled"]["bytes"] > 0.5 * repackable_model.stat().st_size
