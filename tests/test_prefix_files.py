# SPDX-License-Identifier: Apache-2.0
"""What happens to a prompt's state when its files are damaged, lost, or never wholly written: the reply
is right, what could not be used is counted with its reason, and older blocks remain."""

import os
import random
import shutil
import threading

import httpx
import pytest

from support.prefix import (BLOCK, blocks_of, cached, evaluated, kept, kill_and_start, last_record,
                            position_of, prompt_of, put_on_disk, records, refused, restart, spill, text,
                            tiers, view, wait_kept)
from support.server import Server
from support.waiting import eventually

# Less than 64 of them follow the last whole block, and the last step of 512 alike: then evaluating all,
# or what follows that block, or the last one alone, are the same computations.
TOKENS = 1064
HEADER = 1024
TMPFS_MIB = 2


# ---- damaged records ----

def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 0x10
    path.write_bytes(data)


def flip_state(path):
    flip(path, HEADER + (path.stat().st_size - HEADER) // 2)


def flip_header(path):
    flip(path, 40)


def flip_a_token(path):
    flip(path, 160)


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def cut_in_the_header(path):
    os.truncate(path, 100)


def empty(path):
    os.truncate(path, 0)


def lengthen(path):
    with path.open("ab") as file:
        file.write(b"more")


def foreign(path):
    path.write_bytes(random.Random(1).randbytes(path.stat().st_size))


def another_block(path):
    first = min(path.parent.glob("*.kv"), key=position_of)
    shutil.copyfile(first, path)


DAMAGES = [flip_state, flip_header, flip_a_token, cut, cut_in_the_header, empty, lengthen, foreign,
           another_block]


def stored(tiny_server, number, **options):
    """A stopped server with a prompt on disk, the prompt, and its reply's text."""
    server = tiny_server(**options)
    prompt = prompt_of(TOKENS, number)
    reply = put_on_disk(server, prompt)
    server.stop()
    return server, prompt, text(reply)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_record(tiny_server, damage):
    server, prompt, before = stored(tiny_server, 1)
    others = set(records(server)) - {last_record(server)}
    damage(last_record(server))
    server.start()
    reply = server.complete(prompt)
    assert text(reply) == before
    assert cached(reply) == blocks_of(TOKENS), "the older blocks remain"
    assert tiers(reply)["disk"] == cached(reply)
    eventually(lambda: refused(server) >= 1, "it is counted")
    assert all(reason for reason in view(server)["refused"])
    assert others <= set(records(server))
    # It is made anew.
    eventually(lambda: kept(server)["memory"] > 0, "it is kept again")
    # Beside a disk that was measured slow the first 512 tokens are evaluated while the rest is read; every
    # tenth lookup reads all the same.
    for _ in range(10):
        spill(server)
        server.unload()
        again = server.complete(prompt)
        assert text(again) == before
        if evaluated(again) == 1:
            break
    assert evaluated(again) == 1


def test_a_damaged_record_that_another_follows(tiny_server):
    server, prompt, _ = stored(tiny_server, 8)
    flip_state(sorted(records(server), key=position_of)[-2])
    server.start()
    reply = server.complete(prompt)
    assert cached(reply) == tiers(reply)["disk"] == blocks_of(TOKENS) - BLOCK
    # It is made anew: kept with the next request, which finds that it is missing.
    server.complete(prompt)
    wait_kept(server, "memory", BLOCK)
    server.unload()
    assert evaluated(server.complete(prompt)) == 1


@pytest.mark.parametrize("damage", [flip_state, cut])
def test_damage_while_the_server_runs(tiny_server, damage):
    """What was read at the start is no proof of what is read later."""
    server = tiny_server()
    prompt = prompt_of(TOKENS, 2)
    before = text(put_on_disk(server, prompt))
    server.unload()
    damage(last_record(server))
    reply = server.complete(prompt)
    assert text(reply) == before
    assert cached(reply) == blocks_of(TOKENS)
    eventually(lambda: refused(server) >= 1, "it is counted")


def test_every_record_damaged(tiny_server):
    server, prompt, before = stored(tiny_server, 3)
    for path in records(server):
        flip_state(path)
    server.start()
    reply = server.complete(prompt)
    assert text(reply) == before and cached(reply) < BLOCK
    eventually(lambda: refused(server) >= 1, "they are counted")


def test_a_record_that_is_gone(tiny_server):
    server, prompt, _ = stored(tiny_server, 4)
    gone = sorted(records(server), key=position_of)[5]
    gone.unlink()
    server.start()
    reply = server.complete(prompt)
    assert text(reply)
    assert cached(reply) <= 5 * BLOCK


def test_strangers_files_are_left_out(tiny_server):
    server, prompt, before = stored(tiny_server, 5)
    root = records(server)[0].parent
    (root / ("0" * 64 + ".kv")).write_bytes(b"not a record")
    (root / "notes.txt").write_text("mine")
    (server.data / "prefix" / "elsewhere").mkdir()
    server.start()
    reply = server.complete(prompt)
    assert evaluated(reply) == 1


# ---- the index ----

def indices(server):
    return [path for path in (server.data / "prefix").glob("*.db*") if path.is_file()]


@pytest.mark.parametrize("lose", ["delete", "scribble"])
def test_a_lost_index_is_made_anew(tiny_server, lose):
    server, prompt, before = stored(tiny_server, 6, allow=["database.replaced"])
    assert indices(server)
    for path in indices(server):
        if lose == "delete":
            path.unlink()
        else:
            path.write_bytes(b"scribble" * 1000)
    server.start()
    wait_kept(server, "disk", TOKENS)
    reply = server.complete(prompt)
    assert text(reply) == before
    assert tiers(reply)["disk"] == cached(reply) and evaluated(reply) == 1


def test_records_that_were_put_back(tiny_server, tmp_path):
    """A directory of prefixes can be moved away and back."""
    server, prompt, before = stored(tiny_server, 7)
    shutil.move(server.data / "prefix", tmp_path / "away")
    server.start()
    assert cached(server.complete(prompt)) == 0
    server.stop()
    shutil.rmtree(server.data / "prefix", ignore_errors=True)
    shutil.move(tmp_path / "away", server.data / "prefix")
    server.start()
    reply = server.complete(prompt)
    assert evaluated(reply) == 1 and text(reply) == before


# ---- a full disk ----

def test_a_full_disk(tmp_path, repackable_model):
    """In a namespace of its own, the prefixes lie on a small file system."""
    data = tmp_path / "data"
    small = data / "prefix"
    small.mkdir(parents=True)
    for path in (data, small):
        path.chmod(0o700)
    if os.system("unshare -rm true 2>/dev/null") != 0:
        pytest.skip("no namespaces here")
    mount = f'mount -t tmpfs -o size={TMPFS_MIB}m,mode=0700 none "{small}" && exec "$@"'
    server = Server(data, "threads = 1\n", within=["unshare", "-rm", "sh", "-c", mount, "sh"]).start()
    try:
        server.import_model(repackable_model, "smollm2")
        server.ok("/api/hearth/verify", {"model": "smollm2", "stream": False})
        prompts = [prompt_of(TOKENS, 20 + n) for n in range(4)]
        before = [text(server.complete(prompt)) for prompt in prompts]
        wait_kept(server, "memory", 4 * blocks_of(TOKENS))
        full = server.post("/api/hearth/cool",
                           {"model": "smollm2", "layer": "prefix", "tier": "memory"})
        assert full.status_code in (200, 503), full.text
        assert full.status_code == 200 or full.json()["error"]["message"]
        disk = view(server)["disk"]
        assert 0 < disk["bytes"] <= TMPFS_MIB << 20
        server.unload()
        for prompt, said in zip(prompts, before, strict=True):
            server.unload()  # other sequences' cells change last bits
            assert len(text(server.complete(prompt))) > 0 and said
        assert not server.new_errors()
        server.stop()
    finally:
        server.kill()


# ---- kill -9 ----

def is_whole(path):
    with path.open("rb") as file:
        head = file.read(HEADER)
    base, window = (int.from_bytes(head[at:at + 8], "little") for at in (120, 128))
    return path.stat().st_size == HEADER + base + window


def ask_quietly(server, prompt, results):
    try:
        results[prompt] = text(server.complete(prompt))
        spill(server)
    except (httpx.HTTPError, AssertionError):
        pass  # it was killed meanwhile


@pytest.mark.long
@pytest.mark.timeout(600)
def test_killed_while_it_saves(tiny_server):
    server, dice, results = tiny_server(), random.Random(1), {}
    for number in range(10):
        prompt = prompt_of(TOKENS, 30 + number)
        asking = threading.Thread(target=ask_quietly, args=(server, prompt, results))
        asking.start()
        # Somewhere in the evaluation, the save or the spill: a point in time is what is wanted here.
        asking.join(dice.uniform(0.05, 1.5))
        kill_and_start(server)
        asking.join()
        eventually(lambda: not list((server.data / "prefix").rglob("*.part")), "the halves are gone")
        assert all(is_whole(path) for path in records(server))
        for asked, said in results.items():
            assert text(server.complete(asked)) == said
    assert results and records(server)
    assert text(server.complete(prompt_of(TOKENS, 30), cache_prompt=False)) == text(
        server.complete(prompt_of(TOKENS, 30)))


def test_killed_with_nothing_on_disk(tiny_server):
    server = tiny_server()
    prompt = prompt_of(TOKENS, 50)
    before = text(server.complete(prompt))
    kill_and_start(server)
    reply = server.complete(prompt)
    assert text(reply) == before
    assert cached(reply) == tiers(reply)["disk"]


def test_a_killed_worker_leaves_what_memory_has(tiny_server):
    server = tiny_server()
    prompt = prompt_of(TOKENS, 51)
    server.complete(prompt)
    wait_kept(server, "memory", TOKENS)
    os.kill(server.worker_pid(), 9)
    eventually(lambda: server.model()["layers"]["weights"]["level"] == "none", "it is noticed")
    reply = server.complete(prompt)
    assert tiers(reply)["memory"] == cached(reply) and evaluated(reply) == 1


def test_another_file_under_the_name(tiny_server, new_server, repackable_model, tmp_path):
    """State of one content is never taken for another's."""
    server = tiny_server()
    prompt = prompt_of(TOKENS, 52)
    put_on_disk(server, prompt)
    other = tmp_path / "other.gguf"
    data = bytearray(repackable_model.read_bytes())
    data[-4096:] = random.Random(2).randbytes(4096)
    other.write_bytes(data)
    server.http.delete("/api/hearth/models/smollm2")
    server.import_model(other, "smollm2")
    server.ok("/api/hearth/verify", {"model": "smollm2", "stream": False})
    reply = server.complete(prompt)
    assert cached(reply) == 0 and kept(server)["disk"] == 0


def test_old_records_outlive_restarts(tiny_server):
    server = tiny_server()
    prompts = [prompt_of(300, 60 + n) for n in range(3)]
    for prompt in prompts:
        server.complete(prompt)
        restart(server)
    for prompt in prompts:
        assert cached(server.complete(prompt)) >= blocks_of(300)
