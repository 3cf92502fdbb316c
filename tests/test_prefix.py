# SPDX-License-Identifier: Apache-2.0
"""Is a prompt's evaluated state kept, found again and right: over unloads, restarts and kills, between
conversations, for many at once; within its budgets; and said in the same figures everywhere."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.prefix import (BLOCK, blocks_of, cached, evaluated, kept, kill_and_start,
                            know_content, position_of, prompt_of, put_on_disk, records, restart,
                            run_hearth, spill, text, tiers, view, wait_kept)
from support.server import GEMMA, SMOLLM2
from support.synthetic_models import Spec, write_synthetic_model
from support.waiting import eventually

EXACT_STEP = 512  # under `exact`, what was evaluated in one step comes back as one
LONG = 2 * EXACT_STEP + 20
SHARE = 0.95
AGENTS = 8
COLD = {"load-cold", "storage-cold", "compile-cold"}


def check_hit(reply, tier, tokens, share=SHARE):
    """A hit on a shared prefix of so many tokens, all of it from one tier."""
    assert cached(reply) >= share * tokens, reply["hearth"].get("prefix")
    told = tiers(reply)
    assert told[tier] == sum(told.values()) == cached(reply)
    prefix = reply["hearth"]["prefix"]
    assert ("restored_bytes" in prefix and prefix["restored_bytes"] > 0) == (tier != "live")
    stages = [stage["name"] for stage in reply["hearth"]["stages"]]
    assert tier == "live" or "restore" in stages
    assert reply["hearth"]["class"] != "prefix-cold"


# ---- what it outlives ----

def after_unload(server):
    server.unload()
    return "memory"


def after_spill(server):
    spill(server)
    server.unload()
    return "disk"


def after_restart(server):
    restart(server)
    return "disk"


def after_kill(server):
    spill(server)
    kill_and_start(server)
    return "disk"


ENDS = [after_unload, after_spill, after_restart, after_kill]


@pytest.mark.parametrize("end", ENDS)
def test_a_prompt_outlives(new_server, end):
    """The same text as of an evaluation from the first token on."""
    server = new_server("exact = true", model=SMOLLM2)
    know_content(server)
    prompt = prompt_of(LONG, 1)
    whole = server.complete(prompt, cache_prompt=False, max_tokens=24)
    assert whole["usage"]["prompt_tokens"] == LONG and cached(whole) == 0
    server.unload()
    assert text(server.complete(prompt, max_tokens=24)) == text(whole)
    wait_kept(server, "memory", 2 * EXACT_STEP)
    tier = end(server)
    reply = server.complete(prompt, max_tokens=24)
    check_hit(reply, tier, LONG)
    assert cached(reply) % EXACT_STEP == 0
    assert reply["hearth"]["class"] in COLD
    assert text(reply) == text(whole)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("tokens", [1536, 1700, 50])
def test_all_but_the_last_token_comes_back(tiny_server, end, tokens):
    """With one thread these are the same computations as with the cells that were there all along."""
    if tokens < 2 * BLOCK and end is not after_unload:
        pytest.skip("so little is not written")
    server = tiny_server()
    prompt = prompt_of(tokens, 30)
    server.complete(prompt)
    live = server.complete(prompt)
    assert cached(live) == tiers(live)["live"] == tokens - 1
    eventually(lambda: kept(server)["memory"] >= tokens, "it is kept")
    tier = end(server)
    reply = server.complete(prompt)
    check_hit(reply, tier, tokens)
    assert cached(reply) == tokens - 1
    assert text(reply) == text(live)


@pytest.mark.parametrize("end", ENDS)
def test_prompts_that_part_inside_a_block_share_its_beginning(tiny_server, end):
    server = tiny_server()
    begin = prompt_of(300, 31)
    server.complete(f"{begin} and then nothing {prompt_of(40, 32)}")
    wait_kept(server, "memory", 300)
    tier = end(server)
    reply = server.complete(f"{begin} and then something {prompt_of(40, 33)}")
    assert cached(reply) == tiers(reply)[tier] == 302
    if end in (after_unload, after_spill):  # what was asked is known until the server ends
        miss = reply["hearth"]["prefix"]["miss"]
        assert miss["reason"] == "diverged" and miss["position"] == 302


@pytest.mark.parametrize("end", ENDS)
def test_whole_blocks_come_back(tiny_server, end):
    server = tiny_server()
    prompt = prompt_of(1536, 2)
    first = server.complete(prompt)
    wait_kept(server, "memory", 1536)
    tier = end(server)
    reply = server.complete(prompt)
    check_hit(reply, tier, 1536)
    assert len(text(reply)) > 0 and len(text(first)) > 0
    # A longer prompt with this beginning, and one that leaves it in the middle.
    server.unload()
    longer = server.complete(f"{prompt} {prompt_of(100, 3)}")
    assert cached(longer) >= blocks_of(1536)
    server.unload()
    other = server.complete(f"{prompt_of(500, 2)} {prompt_of(500, 4)}")
    assert 500 <= cached(other) <= 500 + 8


def test_replies_are_kept_too(tiny_server):
    """By `context`: a reply's text may be cut into other tokens than it was made of."""
    server = tiny_server()
    body = {"model": "smollm2", "prompt": prompt_of(200, 5), "stream": False,
            "options": {"temperature": 0, "num_predict": 200}}
    first = server.ok("/api/generate", body)
    assert first["eval_count"] == 200
    said = first["prompt_eval_count"] + 200
    wait_kept(server, "memory", said - 1)
    server.unload()
    longer = server.ok("/api/generate", {**body, "prompt": "And?", "context": first["context"]})
    assert longer["prompt_eval_cached_count"] >= said - 1
    assert tiers(longer)["memory"] >= said - 1


def test_a_quiet_conversation_goes_to_disk_by_itself(tiny_server):
    server = tiny_server()
    server.complete(prompt_of(300, 7))
    wait_kept(server, "disk", 300)


def test_sliding_windows_come_back_exactly_or_not_at_all(new_server):
    server = new_server("threads = 1", model=None)
    server.import_model(GEMMA, "gemma")
    know_content(server, "gemma")
    prompt = prompt_of(1536, 8)  # longer than the window
    server.complete(prompt, model="gemma", max_tokens=24)
    before = text(server.complete(prompt, model="gemma", max_tokens=24))  # from its own cells
    server.wait_idle("gemma")
    spill(server, "gemma")
    restart(server)
    reply = server.complete(prompt, model="gemma", max_tokens=24)
    assert text(reply) == before
    if cached(reply) == 0:
        assert reply["hearth"]["prefix"]["not_restorable"]
    else:
        check_hit(reply, "disk", 1536)


def test_exact_refuses_what_it_cannot_promise(new_server):
    server = new_server("exact = true", model=None)
    server.import_model(GEMMA, "gemma")
    prompt = prompt_of(1100, 9)
    replies = [server.complete(prompt, model="gemma") for _ in range(2)]
    assert [cached(reply) for reply in replies] == [0, 0]
    assert replies[1]["hearth"]["prefix"]["not_restorable"]
    assert text(replies[0]) == text(replies[1])
    [entry] = view(server)["models"]
    assert entry["not_restorable"]
    assert kept(server, "gemma")["memory"] == kept(server, "gemma")["disk"] == 0


# ---- several at once, and in turns ----

def test_two_conversations_take_turns_on_one_sequence(tiny_server):
    server = tiny_server("parallel = 1")
    talks = {letter: prompt_of(1200, number) for number, letter in enumerate("AB", 10)}
    shared = {}
    for number in range(5):
        for letter in talks:
            reply = server.complete(talks[letter], ignore_eos=True)
            if number:
                assert cached(reply) >= SHARE * shared[letter], (letter, number)
            shared[letter] = reply["usage"]["prompt_tokens"]
            talks[letter] += f"{text(reply)} {prompt_of(24, 100 * number)}"


def test_agents_share_one_evaluation(tiny_server):
    server = tiny_server(f"parallel = {AGENTS}")
    system, own = prompt_of(1500, 12), 40
    prompts = [f"{system} {n} {prompt_of(own, 200 + n)}" for n in range(AGENTS)]
    start = threading.Barrier(AGENTS)

    def ask(prompt):
        start.wait()
        return server.complete(prompt)

    server.load()
    with ThreadPoolExecutor(AGENTS) as pool:
        replies = list(pool.map(ask, prompts))
    alone = sum(reply["usage"]["prompt_tokens"] - 1500 for reply in replies)
    assert sum(map(evaluated, replies)) <= 1500 + alone + AGENTS * BLOCK
    for reply in replies:
        assert sum(tiers(reply).values()) == cached(reply)
        assert text(reply)


def test_a_hit_takes_nothing_from_the_other_conversation(tiny_server):
    server = tiny_server("parallel = 1")
    shared = prompt_of(640, 13)
    for number in range(3):
        for talk in (14, 15):
            reply = server.complete(f"{shared} {prompt_of(100, talk)}")
            assert number + talk == 14 or cached(reply) >= 640 - BLOCK


# ---- what keeps nothing ----

def wait_for_a_later_one(server):
    """Whatever there was to keep is kept once a later prompt is; its tokens."""
    server.complete(prompt_of(128, 999), max_tokens=1)
    wait_kept(server, "memory", 128)
    return 128


def test_cache_prompt_false_keeps_nothing(tiny_server):
    server = tiny_server()
    prompt = prompt_of(500, 16)
    for _ in range(2):
        assert cached(server.complete(prompt, cache_prompt=False)) == 0
    only = wait_for_a_later_one(server)
    assert kept(server)["memory"] == only
    assert cached(server.complete(prompt)) < BLOCK


@pytest.mark.parametrize("config", ['layers_off = ["prefix"]', "prefix_memory_mib = 0"])
def test_switched_off(tiny_server, config):
    server = tiny_server(config)
    prompt = prompt_of(500, 17)
    server.complete(prompt)
    server.unload()
    assert cached(server.complete(prompt)) == 0
    assert kept(server)["memory"] == kept(server)["disk"] == 0
    restart(server)
    assert not records(server)


def test_nothing_is_written_without_a_budget(tiny_server):
    server = tiny_server("prefix_disk_gib = 0")
    prompt = prompt_of(500, 18)
    server.complete(prompt)
    wait_kept(server, "memory", 500)
    restart(server)
    assert not records(server)
    assert cached(server.complete(prompt)) == 0


# ---- budgets ----

def test_memory_stays_within_its_budget(tiny_server):
    server = tiny_server("prefix_memory_mib = 4")
    for number in range(8):
        server.complete(prompt_of(1000, 300 + number))
        server.wait_idle()
        memory = view(server)["memory"]
        assert memory["bytes"] <= memory["limit"] == 4 << 20
    eventually(lambda: view(server)["evicted"]["memory"] > 0, "blocks had to go")
    assert view(server)["memory"]["bytes"] > 1 << 20


WIDE = Spec("wide", 32, 256, 256, 4, 4, vocabulary=8192)  # 2 MiB a block


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("limit", ["prefix_disk_gib", "prefix_daily_gib"])
def test_disk_stays_within_its_budget(new_server, tmp_path, limit):
    model = tmp_path / "wide.gguf"
    write_synthetic_model(model, WIDE, SMOLLM2)
    server = new_server(f"threads = 1\n{limit} = 1\nprefix_memory_mib = 2048", model=model)
    know_content(server)
    for number in range(24):  # 1.5 GiB
        prompt = prompt_of(2000, 400 + number)
        server.complete(prompt)
        server.complete(f"{prompt} and")  # used once more: it may go to disk
        server.wait_idle()
        disk = view(server)["disk"]
        assert disk["bytes"] <= disk["limit"]
        assert limit == "prefix_disk_gib" or disk["written_today"] <= disk["daily_limit"] == 1 << 30
    eventually(lambda: view(server)["disk"]["bytes"] > 900 << 20, "it is used", 60)
    assert sum(path.stat().st_size for path in records(server)) <= 1 << 30


# ---- one figure, everywhere ----

MESSAGES = [{"role": "system", "content": prompt_of(400, 19)}, {"role": "user", "content": "Hi"}]


def test_cached_tokens_are_one_figure(server):
    openai = {"model": "smollm2", "messages": MESSAGES, "max_tokens": 4, "temperature": 0}
    server.ok("/v1/chat/completions", openai)
    reply = server.ok("/v1/chat/completions", openai)
    ollama = server.ok("/api/chat", {"model": "smollm2", "messages": MESSAGES, "stream": False,
                                     "options": {"num_predict": 4, "temperature": 0}})
    claude = server.ok("/v1/messages", {"model": "smollm2", "system": MESSAGES[0]["content"],
                                        "messages": MESSAGES[1:], "max_tokens": 4})
    figures = [
        cached(reply), reply["timings"]["cache_n"], sum(tiers(reply).values()),
        ollama["prompt_eval_cached_count"], sum(tiers(ollama).values()),
        claude["usage"]["cache_read_input_tokens"], sum(tiers(claude).values()),
        server.request(reply["hearth"]["request_id"])["cached_tokens"],
    ]
    assert figures[0] >= 400 and len(set(figures)) == 1, figures


def test_view_and_metrics_agree(tiny_server):
    server = tiny_server()
    prompt = prompt_of(500, 20)
    put_on_disk(server, prompt)
    server.unload()
    server.complete(prompt)
    seen = view(server)
    assert seen["lookups"] == 2 and seen["hit_tokens"] >= blocks_of(500)
    assert seen["disk"]["bytes"] == sum(path.stat().st_size for path in records(server))
    assert seen["disk"]["blocks"] == len(records(server))
    assert seen["disk"]["written_today"] >= seen["disk"]["bytes"]
    assert seen["restore"]["disk_bytes_per_s"] > 0 and seen["saved_seconds"] >= 0
    assert server.metric("hearth_prefix_bytes", tier="disk") == seen["disk"]["bytes"]
    assert server.metric("hearth_prefix_blocks", tier="disk") == seen["disk"]["blocks"]
    assert server.metric("hearth_prefix_cache_hits_total", tier="disk") >= blocks_of(500)
    assert server.metric("hearth_prefix_written_bytes_total") >= seen["disk"]["bytes"]
    eventually(lambda: view(server)["models"][0]["slots"], "a heartbeat tells of the slots")
    assert {"tokens", "busy"} <= set(view(server)["models"][0]["slots"][0])
    assert "smollm2" in run_hearth(server, "prefix")


def test_records_are_whole_chains_for_their_owner_alone(tiny_server):
    server = tiny_server()
    put_on_disk(server, prompt_of(500, 21))
    assert sorted(map(position_of, records(server))) == list(range(0, 500, BLOCK))
    top = server.data / "prefix"
    for path in [top, *top.rglob("*")]:
        mode = path.stat().st_mode & 0o777
        assert mode == (0o700 if path.is_dir() else 0o600), path
