# SPDX-License-Identifier: Apache-2.0
"""What a server keeps of prompts, seen from outside; and prompts of so many tokens."""

import random
import struct
import subprocess

from support.server import HEARTH, clean_environment
from support.waiting import eventually

BLOCK = 64
TIERS = ("live", "memory", "disk")
# One token each for SmolLM2, whose vocabulary the made models have too, and for gemma.
WORDS = ("the of and to in is that for it was on are as with his they at be this from have or by one "
         "had not but what all were when we there can an your which their said if do will each about").split()


def prompt_of(tokens, number):
    """Another text for each number; its beginning is that of shorter ones of this number."""
    dice = random.Random(number)
    return " ".join(dice.choice(WORDS) for _ in range(tokens))


def blocks_of(tokens):
    """Tokens in whole blocks."""
    return tokens // BLOCK * BLOCK


# ---- replies ----

def cached(reply):
    return reply["usage"]["prompt_tokens_details"]["cached_tokens"]


def evaluated(reply):
    return reply["usage"]["prompt_tokens"] - cached(reply)


def text(reply):
    return reply["choices"][0]["text"]


def tiers(reply):
    """{tier: tokens} that a reply says were restored."""
    told = reply["hearth"].get("prefix", {})
    return {tier: told.get(tier, 0) for tier in TIERS}


# ---- servers ----

def know_content(server, model="smollm2"):
    """Until a model's content is known nothing of it is written to disk."""
    server.ok("/api/hearth/verify", {"model": model, "stream": False})


def view(server, **options):
    answer = server.get("/api/hearth/prefix", **options)
    assert answer.status_code == 200, answer.text
    return answer.json()


def kept(server, model="smollm2", **options):
    """{tier: tokens} that are kept of a model; a block in two tiers counts in both."""
    for entry in view(server, **options)["models"]:
        if entry["model"].split(":")[0] == model:
            return {tier: entry[f"{tier}_tokens"] for tier in TIERS}
    return dict.fromkeys(TIERS, 0)


def wait_kept(server, tier, tokens, model="smollm2", **options):
    wanted = blocks_of(tokens)
    eventually(lambda: kept(server, model, **options)[tier] >= wanted,
               f"{wanted} tokens are kept in {tier}", 30)


def spill(server, model="smollm2", **options):
    """What memory keeps goes to disk, whatever the day's budget."""
    server.wait_idle(model)
    answer = server.post("/api/hearth/cool", {"model": model, "layer": "prefix", "tier": "memory"},
                         **options)
    assert answer.status_code == 200, answer.text
    eventually(lambda: kept(server, model, **options)["memory"] == 0, "memory is empty", 30)


def put_on_disk(server, prompt, model="smollm2", **more):
    """Asks, and returns the reply when the prompt's whole blocks are on disk and no longer in memory."""
    before = kept(server, model)["disk"]
    reply = server.complete(prompt, model=model, **more)
    new = blocks_of(reply["usage"]["prompt_tokens"]) - tiers(reply)["disk"]
    wait_kept(server, "memory", new, model)
    spill(server, model)
    wait_kept(server, "disk", before + new, model)
    return reply


def records(server):
    return sorted((server.data / "prefix").rglob("*.kv"))


def position_of(record):
    """Of its block's first token: the fifth number of its header."""
    return struct.unpack_from("<I", record.read_bytes()[:32], 16)[0]


def last_record(server):
    return max(records(server), key=position_of)


def refused(server):
    return sum(view(server)["refused"].values())


def kill_and_start(server):
    server.process.kill()
    server.process.wait(30)
    server.http.close()
    return server.start()


def restart(server):
    server.stop()
    return server.start()


def run_hearth(server, *arguments, key=None):
    """The standard output of a verb that must succeed."""
    environment = clean_environment({"HEARTH_HOST": f"127.0.0.1:{server.port}",
                                     **({"HEARTH_API_KEY": key} if key else {})})
    done = subprocess.run([HEARTH, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          env=environment, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return done.stdout
