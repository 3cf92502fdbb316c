# SPDX-License-Identifier: Apache-2.0
"""Who may profit from whose prompts, taking it all back, and reasons: what kept a prompt from being
found, the head that changes with each request, and what to do about it."""

import re

import pytest

from support.prefix import (BLOCK, TIERS, blocks_of, cached, evaluated, kept, prompt_of, put_on_disk,
                            records, restart, run_hearth, spill, text, tiers, view, wait_kept)
from support.waiting import eventually

TOKENS = 800
MISS = re.compile(r"prefix miss at token (\d+) \(char (\d+)\)")


# ---- keys ----

def add_key(server, name, role, admin=None):
    answer = server.post("/api/hearth/keys", {"name": name, "role": role}, headers=bearer(admin))
    assert answer.status_code == 200, answer.text
    return answer.json()["secret"]


def bearer(key):
    return {"Authorization": f"Bearer {key}"} if key else {}


def with_keys(tiny_server, config=""):
    """A server with keys of alice, bob and eve; their secrets, and the admin's, in server.keys."""
    server = tiny_server(config)
    admin = add_key(server, "admin", "admin")
    server.keys = {"admin": admin}
    for name in ("alice", "bob", "eve"):
        server.keys[name] = add_key(server, name, "use", admin)
    server.http.headers.update(bearer(admin))
    return server


def ask_as(server, who, prompt, **more):
    body = {"model": "smollm2", "prompt": prompt, "temperature": 0, "max_tokens": 4, **more}
    answer = server.post("/v1/completions", body, headers=bearer(server.keys[who]))
    assert answer.status_code == 200, answer.text
    return answer.json()


def miss_of(reply):
    return reply["hearth"].get("prefix", {}).get("miss", {})


def test_keys_never_share(tiny_server):
    server = with_keys(tiny_server)
    prompt = prompt_of(TOKENS, 1)
    before = text(ask_as(server, "alice", prompt))
    wait_kept(server, "memory", TOKENS)
    reply = ask_as(server, "eve", prompt)
    assert cached(reply) == 0 and text(reply) == before
    assert not miss_of(reply), "whether alice asked the same is not told"
    assert evaluated(ask_as(server, "alice", prompt)) == 1


@pytest.mark.parametrize("cool", [None, "unload", "spill"])
def test_no_tier_is_shared(tiny_server, cool):
    server = with_keys(tiny_server)
    prompt = prompt_of(TOKENS, 2)
    ask_as(server, "alice", prompt)
    wait_kept(server, "memory", TOKENS)
    if cool == "spill":
        spill(server)
    if cool:
        server.unload()
    assert cached(ask_as(server, "eve", prompt)) == 0
    assert cached(ask_as(server, "admin", prompt)) == 0


def test_a_group_shares(tiny_server):
    server = with_keys(tiny_server, 'prefix_groups = ["family: alice, bob"]\n')
    prompt = prompt_of(TOKENS, 3)
    ask_as(server, "alice", prompt)
    wait_kept(server, "memory", TOKENS)
    server.unload()
    assert evaluated(ask_as(server, "bob", prompt)) == 1
    assert cached(ask_as(server, "eve", prompt)) == 0
    restart(server)
    server.http.headers.update(bearer(server.keys["admin"]))
    assert evaluated(ask_as(server, "bob", prompt)) == 1


def test_a_bad_group_is_named(new_server):
    with pytest.raises(AssertionError) as why:
        new_server('prefix_groups = ["family"]', model=None)
    assert "prefix_groups" in str(why.value)


# ---- taking it back ----

def kept_of(server):
    """Tokens in memory and on disk, of all models."""
    return sum(entry["memory_tokens"] + entry["disk_tokens"] for entry in view(server)["models"])


def test_cool_by_key(tiny_server):
    server = with_keys(tiny_server)
    prompts = {who: prompt_of(TOKENS, number) for number, who in enumerate(("alice", "bob"), 4)}
    for who, prompt in prompts.items():
        ask_as(server, who, prompt)
    wait_kept(server, "memory", 2 * blocks_of(TOKENS))
    spill(server)
    server.unload()
    run_hearth(server, "cool", "smollm2", "--layer", "prefix", "--key", "alice",
               key=server.keys["admin"])
    assert len(records(server)) == TOKENS // BLOCK + 1
    gone = ask_as(server, "alice", prompts["alice"])
    assert cached(gone) == 0
    assert evaluated(ask_as(server, "bob", prompts["bob"])) == 1


def test_cool_by_model(tiny_server):
    server = tiny_server()
    prompt = prompt_of(TOKENS, 6)
    put_on_disk(server, prompt)
    server.unload()
    run_hearth(server, "cool", "smollm2", "--layer", "prefix")
    assert kept(server) == dict.fromkeys(TIERS, 0)
    assert not records(server)
    assert cached(server.complete(prompt)) == 0


def test_cool_all(tiny_server):
    server = tiny_server()
    put_on_disk(server, prompt_of(TOKENS, 7))
    server.complete(prompt_of(TOKENS, 8))
    wait_kept(server, "memory", TOKENS)
    server.unload()
    run_hearth(server, "cool", "--all", "--layer", "prefix")
    assert kept_of(server) == 0 and not records(server)
    restart(server)
    assert kept_of(server) == 0


def test_cool_the_memory_only(tiny_server):
    server = tiny_server()
    prompt = prompt_of(TOKENS, 9)
    server.complete(prompt)
    wait_kept(server, "memory", TOKENS)
    server.unload()
    run_hearth(server, "cool", "smollm2", "--layer", "prefix", "--tier", "ram")
    assert kept(server)["memory"] == 0
    assert kept(server)["disk"] >= TOKENS
    reply = server.complete(prompt)
    assert tiers(reply)["disk"] == cached(reply) and evaluated(reply) == 1


@pytest.mark.parametrize("body", [
    {"layer": "prefix", "tier": "tape"}, {"layer": "pages", "tier": "memory"}, {"layer": "pages"},
    {"layer": "weights", "key": "alice"}])
def test_bad_ways_to_cool(tiny_server, body):
    server = tiny_server()
    model = {} if body == {"layer": "pages"} else {"model": "smollm2"}
    answer = server.post("/api/hearth/cool", {**model, **body})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["message"]


# ---- reasons ----

REST = f"You are a helper in a house. {prompt_of(TOKENS, 10)}"


def chat(server, head, number=0, rest=REST):
    messages = [{"role": "system", "content": f"{head}\n{rest}"},
                {"role": "user", "content": f"Question {number}?"}]
    return server.ok("/v1/chat/completions", {"model": "smollm2", "messages": messages,
                                              "temperature": 0, "max_tokens": 4})


def test_a_miss_names_the_first_token_that_differs(tiny_server):
    server = tiny_server()
    chat(server, "The time is 12:41:07.")
    server.wait_idle()
    reply = chat(server, "The time is 12:41:08.")
    miss = miss_of(reply)
    assert miss["reason"] in ("diverged", "short")
    found = MISS.search(miss["text"])
    assert found, miss
    assert (int(found[1]), int(found[2])) == (miss["position"], miss["character"])
    assert 0 < miss["position"] < BLOCK
    assert "7" in miss["had"] and "8" in miss["has"] and miss["had"] != miss["has"]
    assert evaluated(reply) > TOKENS


def test_the_position_is_where_the_texts_part(tiny_server):
    server = tiny_server()
    begin = prompt_of(300, 11)
    server.complete(f"{begin} and then nothing {prompt_of(200, 12)}")
    server.wait_idle()
    miss = miss_of(server.complete(f"{begin} and then something {prompt_of(200, 13)}"))
    assert miss["position"] == 302 and miss["reason"] == "diverged"
    assert miss["character"] == len(f"{begin} and then")
    assert (miss["had"].strip(), miss["has"].strip()) == ("nothing", "something")


def test_a_first_prompt_misses_nothing(tiny_server):
    assert not miss_of(tiny_server().complete(prompt_of(TOKENS, 14)))


def test_what_was_deleted_is_said_to_be(tiny_server):
    server = tiny_server("prefix_memory_mib = 2\nprefix_disk_gib = 0")
    prompts = [prompt_of(TOKENS, 500 + number) for number in range(4)]
    for prompt in prompts:
        server.complete(prompt)
        server.wait_idle()
    eventually(lambda: view(server)["evicted"]["memory"] > 0, "something had to go")
    server.unload()
    # Which of them stay is for the tier to judge.
    replies = [server.complete(prompt) for prompt in prompts]
    lost = [reply for reply in replies if cached(reply) < blocks_of(TOKENS)]
    assert "evicted" in {miss_of(reply)["reason"] for reply in lost}


def test_other_options(tiny_server):
    server = tiny_server()
    prompt = prompt_of(TOKENS, 16)
    put_on_disk(server, prompt)
    server.stop()
    server.config.write_text("threads = 1\nexact = true\n")
    server.start()
    reply = server.complete(prompt)
    assert cached(reply) == 0


# ---- heads that change each time ----

def found_heads(server):
    findings = server.ok("/api/hearth/doctor")["findings"]
    return [finding for finding in findings if finding["code"] == "prefix.volatile_head"]


def volatile(server, count):
    return [chat(server, f"Today is day {365 + 17 * n}, session {n}.", n) for n in range(count)]


def test_the_doctor_finds_a_head_that_changes(tiny_server):
    server = tiny_server()
    assert found_heads(server) == []
    volatile(server, 4)
    [finding] = eventually(lambda: found_heads(server), "it is found")
    assert finding["model"].startswith("smollm2") and finding["requests"] >= 3
    assert 0 < finding["position"] < BLOCK and finding["character"] > 0
    assert finding["had"] != finding["has"]
    assert finding["text"] and "prefix_normalise" in finding["remedy"]
    assert finding in view(server)["findings"]
    assert finding["remedy"] in re.sub(r"\s+", " ", run_hearth(server, "doctor"))


def test_different_conversations_are_no_finding(tiny_server):
    server = tiny_server()
    for number in range(5):
        server.complete(prompt_of(TOKENS, 600 + number))
    assert found_heads(server) == []


def test_a_normalised_head_hits(tiny_server):
    server = tiny_server("prefix_normalise = ['Today is day *, session *']\n")
    replies = volatile(server, 3)
    for reply in replies[1:]:
        assert cached(reply) >= TOKENS
        assert reply["hearth"]["prefix"]["normalised"] >= 1
    assert found_heads(server) == []


def test_a_bad_pattern_is_named(new_server):
    with pytest.raises(AssertionError) as why:
        new_server("prefix_normalise = ['a pattern without a star']", model=None)
    assert "prefix_normalise" in str(why.value)
