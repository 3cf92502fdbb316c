# SPDX-License-Identifier: Apache-2.0
"""Log probabilities of tokens, in each dialect that has them."""

import json
import math

import httpx
import ollama
import openai
import pytest

from support.ollama_api import client_of

HELLO = [{"role": "user", "content": "Say hello to the world in one sentence."}]
MODELS = ["smollm2", "gemma"]


@pytest.fixture
def client(server):
    with httpx.Client(trust_env=False, timeout=90) as transport:
        yield openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0,
                            http_client=transport)


def chat(client, model, **more):
    options = {"model": model, "messages": HELLO, "temperature": 0, "max_tokens": 12, **more}
    return client.chat.completions.create(**options)


def text_of(tokens):
    return b"".join(bytes(token.bytes) for token in tokens).decode()


@pytest.mark.parametrize("model", MODELS)
def test_a_chat_tells_each_token(client, model):
    plain = chat(client, model)
    assert plain.choices[0].logprobs is None
    choice = chat(client, model, logprobs=True, top_logprobs=4).choices[0]
    assert choice.message.content == plain.choices[0].message.content
    tokens = choice.logprobs.content
    assert text_of(tokens) == choice.message.content
    for token in tokens:
        assert token.logprob <= 0 and len(token.top_logprobs) == 4
        assert token.top_logprobs[0].token == token.token, "the likeliest was taken"
        chances = [top.logprob for top in token.top_logprobs]
        assert chances == sorted(chances, reverse=True)
        assert sum(math.exp(chance) for chance in chances) <= 1.00001
    without = chat(client, model, logprobs=True).choices[0].logprobs.content
    assert [t.logprob for t in without] == pytest.approx([t.logprob for t in tokens], abs=1e-2)
    assert all(token.top_logprobs == [] for token in without)


@pytest.mark.parametrize("model", MODELS)
def test_a_stream_tells_the_same(client, model):
    whole = chat(client, model, logprobs=True, top_logprobs=2).choices[0].logprobs.content
    streamed = []
    for chunk in chat(client, model, logprobs=True, top_logprobs=2, stream=True):
        if chunk.choices and chunk.choices[0].logprobs:
            piece = chunk.choices[0].logprobs.content
            assert text_of(piece) == chunk.choices[0].delta.content
            streamed += piece
    assert [t.token for t in streamed] == [t.token for t in whole]
    assert [t.logprob for t in streamed] == pytest.approx([t.logprob for t in whole], abs=1e-2)


@pytest.mark.parametrize("model", MODELS)
def test_completions_have_lists(client, model):
    prompt = "The capital of France is"
    more = {"model": model, "prompt": prompt, "max_tokens": 6, "temperature": 0, "logprobs": 3}
    choice = client.completions.create(**more).choices[0]
    told = choice.logprobs
    assert "".join(told.tokens) == choice.text
    assert [choice.text[at:].startswith(token)
            for at, token in zip(told.text_offset, told.tokens)] == [True] * len(told.tokens)
    for token, logprob, top in zip(told.tokens, told.token_logprobs, told.top_logprobs):
        assert top[token] == logprob == max(top.values())
        assert len(top) == 3
    offsets = []
    for chunk in client.completions.create(stream=True, **more):
        if chunk.choices and chunk.choices[0].logprobs:
            offsets += chunk.choices[0].logprobs.text_offset
    assert offsets == told.text_offset
    none = client.completions.create(**{**more, "logprobs": 0}).choices[0].logprobs
    assert none.tokens == told.tokens and none.top_logprobs is None


def test_stop_strings_are_left_out(client):
    whole = chat(client, "smollm2", logprobs=True).choices[0]
    words = whole.message.content.split()
    cut = chat(client, "smollm2", logprobs=True, stop=[words[2]]).choices[0]
    assert cut.message.content == whole.message.content.split(words[2])[0]
    told = text_of(cut.logprobs.content)
    assert told.startswith(cut.message.content) and len(told) < len(whole.message.content)


def test_half_a_character_has_its_bytes(server):
    body = {"model": "smollm2", "messages": HELLO, "grammar": 'root ::= "\U000122ad"',
            "logprobs": True, "max_tokens": 12}
    choice = server.post("/v1/chat/completions", body).json()["choices"][0]
    assert choice["message"]["content"] == "\U000122ad"
    tokens = choice["logprobs"]["content"]
    assert len(tokens) > 1 and "\ufffd" in tokens[0]["token"]
    assert bytes(sum((t["bytes"] for t in tokens), [])).decode() == "\U000122ad"
    raw = {"model": "smollm2", "prompt": "Hi", "grammar": 'root ::= "\U000122ad"', "logprobs": 1,
           "max_tokens": 12}
    told = server.post("/v1/completions", raw).json()["choices"][0]["logprobs"]
    assert told["tokens"][0].startswith("bytes:\\x")


def test_llama_servers_word_for_it(server):
    body = {"model": "smollm2", "messages": HELLO, "n_probs": 3, "max_tokens": 3}
    tokens = server.post("/v1/chat/completions", body).json()["choices"][0]["logprobs"]["content"]
    assert [len(token["top_logprobs"]) for token in tokens] == [3] * len(tokens)


@pytest.mark.parametrize("body, field", [
    ({"messages": HELLO, "top_logprobs": 3}, "top_logprobs"),
    ({"messages": HELLO, "logprobs": True, "top_logprobs": 21}, "top_logprobs"),
    ({"prompt": "Hi", "logprobs": 21}, "logprobs"),
    ({"prompt": "Hi", "logprobs": 1, "echo": True}, "echo"),
])
def test_what_cannot_be_is_refused(server, body, field):
    path = "/v1/chat/completions" if "messages" in body else "/v1/completions"
    answer = server.post(path, {"model": "smollm2", **body})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"] == field


@pytest.mark.parametrize("model", MODELS)
def test_ollama(server, model):
    client: ollama.Client = client_of(server)
    options = {"temperature": 0, "num_predict": 8}
    reply = client.chat(model, messages=HELLO, options=options, logprobs=True, top_logprobs=2)
    assert "".join(token.token for token in reply.logprobs) == reply.message.content
    assert all(len(token.top_logprobs) == 2 for token in reply.logprobs)
    lines = list(client.chat(model, messages=HELLO, options=options, logprobs=True, stream=True))
    told = [token for line in lines for token in line.logprobs or []]
    assert [t.token for t in told] == [t.token for t in reply.logprobs]
    generated = client.generate(model, "Hi", options=options, logprobs=True)
    assert "".join(token.token for token in generated.logprobs) == generated.response
    body = {"model": model, "prompt": "Hi", "stream": False, "options": options}
    assert "logprobs" not in json.loads(server.post("/api/generate", body).text)
