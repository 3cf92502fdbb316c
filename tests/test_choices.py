# SPDX-License-Identifier: Apache-2.0
"""Several replies to one prompt: n and best_of."""

from collections import defaultdict

import httpx
import openai
import pytest

from support.waiting import eventually

HELLO = [{"role": "user", "content": "Tell me a story about a fox. " + "Be brief. " * 40}]
MODELS = ["smollm2", "gemma"]


@pytest.fixture
def client(server):
    with httpx.Client(trust_env=False, timeout=90) as transport:
        yield openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0,
                            http_client=transport)


def chat(client, model, **more):
    options = {"model": model, "messages": HELLO, "temperature": 1, "max_tokens": 12, "seed": 7,
               **more}
    return client.chat.completions.create(**options)


@pytest.mark.parametrize("model", MODELS)
def test_each_has_a_seed_of_its_own(client, model):
    # A base model is sure of how a conversation goes on: only heat makes it waver.
    reply = chat(client, model, n=3, temperature=2, extra_body={"min_p": 0, "top_k": 0}, top_p=1)
    assert [choice.index for choice in reply.choices] == [0, 1, 2]
    texts = [choice.message.content for choice in reply.choices]
    assert len(set(texts)) > 1
    assert reply.usage.completion_tokens <= 36
    alone = chat(client, model)
    assert reply.usage.prompt_tokens == alone.usage.prompt_tokens


def test_the_prompt_is_evaluated_once(client, server):
    fresh = [{"role": "user", "content": "An unusual beginning. " + "One more word. " * 60}]
    reply = chat(client, "smollm2", messages=fresh, n=4)

    def newest():
        return server.get("/api/hearth/requests", params={"limit": 4}).json()["requests"]

    def are_these(entries):
        return {entry["prompt_tokens"] for entry in entries} == {reply.usage.prompt_tokens}

    eventually(lambda: are_these(newest()), "each is in the history")
    entries = newest()
    assert len({entry["request_id"] for entry in entries}) == 4
    evaluated = [entry["prompt_tokens"] - entry["cached_tokens"] for entry in entries]
    assert sum(evaluated) < 1.2 * reply.usage.prompt_tokens, evaluated


def test_greedy_ones_are_the_same(client):
    choices = chat(client, "smollm2", n=3, temperature=0, max_tokens=4).choices
    assert len({choice.message.content for choice in choices}) == 1


@pytest.mark.parametrize("model", MODELS)
def test_streams_are_told_apart_by_index(client, model):
    texts, ends = defaultdict(str), {}
    chunks = list(chat(client, model, n=2, stream=True, temperature=0,
                       stream_options={"include_usage": True}))
    for chunk in chunks:
        for choice in chunk.choices:
            assert choice.index not in ends
            texts[choice.index] += choice.delta.content or ""
            if choice.finish_reason:
                ends[choice.index] = choice.finish_reason
    assert set(texts) == set(ends) == {0, 1}
    alone = chat(client, model, temperature=0).choices[0].message.content
    # How many are evaluated together decides about the last bits of what is computed.
    assert texts[0][:6] == texts[1][:6] == alone[:6]
    assert chunks[-1].usage.completion_tokens <= 24
    assert len({chunk.id for chunk in chunks}) == 1


@pytest.mark.parametrize("model", MODELS)
def test_the_best_are_the_likeliest(client, model):
    more = {"model": model, "prompt": "Once upon a time", "max_tokens": 6, "temperature": 1.5,
            "seed": 3, "logprobs": 0}

    def likelihood(choice):
        return sum(choice.logprobs.token_logprobs) / len(choice.logprobs.token_logprobs)

    every = client.completions.create(n=4, **more)
    best = client.completions.create(n=2, best_of=4, **more)
    assert len(best.choices) == 2
    assert likelihood(best.choices[0]) >= likelihood(best.choices[1])
    assert best.usage.completion_tokens > sum(len(c.logprobs.tokens) for c in best.choices)
    assert max(map(likelihood, every.choices)) == pytest.approx(likelihood(best.choices[0]),
                                                                abs=0.5)
    plain = client.completions.create(best_of=2, **{**more, "logprobs": None})
    assert plain.choices[0].logprobs is None


@pytest.mark.parametrize("more, field", [
    ({"n": 17}, "n"), ({"n": 0}, "n"), ({"n": 3, "best_of": 2}, "best_of"),
    ({"best_of": 17}, "best_of"), ({"best_of": 2, "stream": True}, "best_of"),
])
def test_what_cannot_be_is_refused(server, more, field):
    answer = server.post("/v1/completions", {"model": "smollm2", "prompt": "Hi", **more})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"] == field


def test_a_client_that_leaves_frees_all_places(client, server):
    stream = chat(client, "smollm2", n=3, stream=True, max_tokens=4000,
                  extra_body={"ignore_eos": True})
    next(iter(stream))
    eventually(lambda: server.model()["active"] == 3, "all three are written")
    stream.close()
    eventually(lambda: server.model()["active"] == 0, "none is")
