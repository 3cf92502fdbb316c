# SPDX-License-Identifier: Apache-2.0
"""The compiled layer: what a start computes is stored, used, checked, and built anew."""

import time

import pytest

from support.server import SMOLLM2
from support.waiting import eventually

MODEL = "smollm2:latest"
PROMPT = "One, two, three"


def compiled(server):
    models = server.ok("/api/hearth/models")["models"]
    return next(m for m in models if m["name"] == MODEL)["layers"]["compiled"]


def files(server):
    return sorted((server.data / "compiled").glob("*.repack"))


def answer(server):
    """The text, and what the load before it said."""
    reply = server.ok("/v1/completions", {"model": MODEL, "prompt": PROMPT, "max_tokens": 8,
                                          "temperature": 0, "seed": 1})
    return reply["choices"][0]["text"], reply["hearth"]


def names_of(report):
    return {stage["name"] for stage in report["stages"]}


def until_stored(server):
    return eventually(lambda: files(server), "the repack is stored", 60)[0]


def unload(server):
    server.ok("/api/hearth/unload", {"model": MODEL})


@pytest.fixture
def stored(new_server, repackable_model):
    """A server that has stored what its model's first start computed, and what that answered."""
    server = new_server("exact = true\n", model=repackable_model)
    text, report = answer(server)
    if "compile" not in names_of(report):
        pytest.skip("this processor repacks nothing")
    until_stored(server)
    unload(server)
    return server, text


def test_the_second_start_takes_what_the_first_computed(stored):
    server, text = stored
    (path,) = files(server)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    state = compiled(server)
    assert state["level"] == "stored"
    assert state["bytes"] == path.stat().st_size
    again, report = answer(server)
    assert again == text
    assert "compile" not in names_of(report)
    assert report["before"]["compiled"]["level"] == "stored"
    assert report["avoided"]["compiled"]["bytes"] == state["bytes"]
    assert compiled(server)["level"] == "live"
    assert files(server) == [path]


def test_a_restarted_server_finds_it_again(stored):
    server, text = stored
    server.stop()
    server.start()
    again, report = answer(server)
    assert again == text
    assert "compile" not in names_of(report)


def flip_a_byte(path):
    with open(path, "r+b") as file:
        file.seek(path.stat().st_size - 100)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 1]))


def cut_off(path):
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size // 2)


def foreign(path):
    path.write_bytes(b"something else altogether" * 10_000)


@pytest.mark.parametrize("damage", [flip_a_byte, cut_off, foreign, lambda path: path.unlink()],
                         ids=["flipped", "truncated", "foreign", "deleted"])
def test_a_damaged_file_is_refused_and_built_anew(stored, damage):
    server, text = stored
    (path,) = files(server)
    damage(path)
    again, report = answer(server)
    assert again == text
    assert "compile" in names_of(report)
    until_stored(server)
    unload(server)
    third, report = answer(server)
    assert third == text
    assert "compile" not in names_of(report)


def test_cool_deletes_it_and_a_preview_says_how_much(stored):
    server, text = stored
    (path,) = files(server)
    size = path.stat().st_size
    body = {"model": MODEL, "layer": "compiled"}
    preview = server.ok("/api/hearth/cool", {**body, "preview": True})["preview"]
    assert preview["freed_bytes"] == size
    assert files(server) == [path]
    server.ok("/api/hearth/cool", body)
    assert files(server) == []
    assert compiled(server)["level"] == "none"
    assert answer(server)[0] == text


def test_warm_builds_it_now(new_server, repackable_model):
    server = new_server("exact = true\n", model=repackable_model)
    server.ok("/api/hearth/warm", {"model": MODEL, "layer": "compiled"})
    if compiled(server)["detail"].startswith("this model's weights are used as they are"):
        pytest.skip("this processor repacks nothing")
    assert len(files(server)) == 1


QUIET_S = 3  # a store by itself begins within 1.5 s of the last request, once the content is known


def content_is_known(server):
    models = server.ok("/api/hearth/models")["models"]
    return next(m for m in models if m["name"] == MODEL).get("digest")


# Without the layer weights are not even repacked, so there is nothing to refuse.
@pytest.mark.parametrize("config, warmed, says",
                         [("compiled_disk_gib = 0\n", 501, "not stored"),
                          ('layers_off = ["compiled"]\n', 200, "as they are in the file")],
                         ids=["no budget", "layer off"])
def test_without_a_budget_nothing_is_kept(new_server, repackable_model, config, warmed, says):
    server = new_server(config, model=repackable_model)
    _, report = answer(server)
    if warmed == 501 and "compile" not in names_of(report):
        pytest.skip("this processor repacks nothing")
    eventually(lambda: content_is_known(server), "the content is known", 30)
    quiet = time.monotonic() + QUIET_S
    eventually(lambda: time.monotonic() > quiet or files(server), "time passes", QUIET_S + 2)
    assert files(server) == []
    state = compiled(server)
    assert state["level"] == ("live" if warmed == 501 else "none")
    assert says in state["detail"]
    warm = server.post("/api/hearth/warm", {"model": MODEL, "layer": "compiled"})
    assert warm.status_code == warmed
    if warmed == 501:
        assert "compiled_disk_gib" in warm.json()["error"]["message"]
    assert files(server) == []
    assert not any((server.data / "compiled").glob("*.part"))


def test_a_model_with_nothing_to_repack_says_so(new_server):
    server = new_server(model=SMOLLM2)
    answer(server)
    state = compiled(server)
    assert state["level"] == "none"
    assert "as they are in the file" in state["detail"]
