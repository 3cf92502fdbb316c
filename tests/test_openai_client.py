# SPDX-License-Identifier: Apache-2.0
"""The official client, as people use it."""

import base64
import struct
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import openai
import pytest

from support.waiting import eventually

HELLO = [{"role": "user", "content": "Say hello to the world in one sentence."}]


@pytest.fixture
def client(server):
    with httpx.Client(trust_env=False, timeout=90) as transport:
        yield openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0,
                            http_client=transport)


def chat(client, **more):
    options = {"model": "smollm2", "messages": HELLO, "temperature": 0, "max_tokens": 16, **more}
    return client.chat.completions.create(**options)


def test_chat(client):
    reply = chat(client)
    choice = reply.choices[0]
    assert reply.object == "chat.completion"
    assert choice.message.role == "assistant"
    assert choice.message.content
    assert choice.finish_reason in ("stop", "length")
    assert reply.usage.completion_tokens <= 16
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens


def test_streamed_text_equals_whole_text(client):
    whole = chat(client)
    chunks = list(chat(client, stream=True))
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == whole.choices[0].message.content
    assert chunks[0].choices[0].delta.role == "assistant"
    reasons = [c.choices[0].finish_reason for c in chunks if c.choices]
    assert reasons[-1] == whole.choices[0].finish_reason
    assert not any(reasons[:-1])
    assert len({c.id for c in chunks}) == 1


def test_completions(client):
    reply = client.completions.create(model="smollm2", prompt="The capital of France is",
                                      max_tokens=4, temperature=0)
    assert reply.object == "text_completion"
    assert "Paris" in reply.choices[0].text
    chunks = client.completions.create(model="smollm2", prompt="The capital of France is",
                                       max_tokens=4, temperature=0, stream=True)
    assert "".join(c.choices[0].text for c in chunks) == reply.choices[0].text


def test_models(client):
    assert {"smollm2:latest", "gemma:latest"} <= {m.id for m in client.models.list()}
    for name in ("smollm2", "smollm2:latest", "SmolLM2"):
        assert client.models.retrieve(name).id == "smollm2:latest"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("nobody")


def test_embeddings_as_floats_and_base64(client):
    texts = ["The cat sits on the mat.", "A stock exchange."]
    # The client asks for base64 by itself and decodes it.
    decoded = client.embeddings.create(model="smollm2", input=texts)
    plain = client.embeddings.create(model="smollm2", input=texts, encoding_format="float")
    raw = client.embeddings.create(model="smollm2", input=texts, encoding_format="base64")
    assert [d.index for d in plain.data] == [0, 1]
    assert plain.usage.prompt_tokens > 0
    for floats, same, text in zip(plain.data, decoded.data, raw.data):
        packed = base64.b64decode(text.embedding)
        unpacked = struct.unpack(f"<{len(packed) // 4}f", packed)
        assert floats.embedding == pytest.approx(unpacked, abs=1e-3)
        assert floats.embedding == pytest.approx(same.embedding, abs=1e-3)
        assert any(abs(x) > 1e-6 for x in floats.embedding)


def test_unknown_model_is_404(client):
    with pytest.raises(openai.NotFoundError) as refused:
        chat(client, model="nobody")
    assert refused.value.body["type"] == "not_found_error"
    assert "nobody" in refused.value.body["message"]


@pytest.mark.parametrize("field, value", [
    ("temperature", "hot"), ("temperature", -1), ("top_p", 2), ("max_tokens", 1.5), ("n", 17),
    ("logit_bias", {"word": "x"}), ("stop", [1]), ("logprobs", "yes"), ("seed", "x"),
    ("presence_penalty", 9),
])
def test_bad_values_are_400_with_the_field(client, field, value):
    with pytest.raises(openai.BadRequestError) as refused:
        chat(client, **{field: value})
    assert refused.value.body["param"].startswith(field)


def test_cancellation_frees_the_place_within_a_second(client, server):
    cancelled = server.metric("hearth_requests_cancelled_total")
    stream = chat(client, stream=True, max_tokens=4000, extra_body={"ignore_eos": True})
    next(iter(stream))
    assert server.model()["active"] == 1
    stream.close()
    server.wait_idle(timeout=1.0)
    eventually(lambda: server.metric("hearth_requests_cancelled_total") == cancelled + 1,
               "one cancel is counted")


def test_eight_at_once(client, server):
    start = threading.Barrier(8)

    def ask(n):
        start.wait()
        messages = [{"role": "user", "content": f"Count from {n} upwards."}]
        return chat(client, messages=messages, max_tokens=24)

    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(ask, range(8)))
    assert all(r.choices[0].message.content for r in replies)
    assert len({r.id for r in replies}) == 8
    assert server.is_idle()


@pytest.mark.parametrize("options, expected", [
    ({"stream_options": {"include_usage": True}}, 1),
    ({"stream_options": {"include_usage": False}}, 0),
    ({}, 0),
])
def test_include_usage(client, options, expected):  # row 21
    chunks = list(chat(client, stream=True, max_tokens=5, **options))
    with_usage = [c for c in chunks if c.usage is not None]
    assert len(with_usage) == expected
    assert [c for c in chunks if not c.choices] == with_usage
    if expected:
        assert chunks[-1] is with_usage[0]
        assert chunks[-1].usage.completion_tokens == 5


def test_seed_repeats(client):
    def sample(seed):
        reply = chat(client, seed=seed, temperature=1.5, max_tokens=24,
                     extra_body={"cache_prompt": False})
        return reply.choices[0].message.content

    assert sample(7) == sample(7)
    assert len({sample(seed) for seed in (1, 2, 3)}) > 1


def test_stop_and_lengths(client):
    text = chat(client).choices[0].message.content
    stop = text[3:6]
    cut = chat(client, stop=stop).choices[0]
    assert cut.message.content == text[:text.index(stop)]
    assert cut.finish_reason == "stop"
    for field in ("max_tokens", "max_completion_tokens"):
        reply = chat(client, **{"max_tokens": openai.omit, field: 3})
        assert reply.usage.completion_tokens == 3
        assert reply.choices[0].finish_reason == "length"


def test_repeated_prompt_reports_cached_tokens(client):
    words = " ".join(f"item {n}" for n in range(40))
    messages = [{"role": "user", "content": words}]
    first = chat(client, messages=messages)
    second = chat(client, messages=messages)
    assert first.usage.prompt_tokens == second.usage.prompt_tokens
    assert second.usage.prompt_tokens_details.cached_tokens == second.usage.prompt_tokens - 1
    fresh = chat(client, messages=messages, extra_body={"cache_prompt": False})
    assert fresh.usage.prompt_tokens_details.cached_tokens == 0
