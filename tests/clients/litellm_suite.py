# SPDX-License-Identifier: Apache-2.0
"""LiteLLM, which speaks every dialect and is what many programs are built on."""

import asyncio
import json

import litellm
import pytest

from conftest import CALLER

HELLO = [{"role": "system", "content": "You are brief."},
         {"role": "user", "content": "Say hello to the world."}]
WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "The weather in a town",
    "parameters": {"type": "object", "properties": {"town": {"enum": ["Paris", "Rome"]}},
                   "required": ["town"]}}}
SCHEMA = {"type": "object", "properties": {"town": {"enum": ["Paris", "Rome"]}},
          "required": ["town"], "additionalProperties": False}

# Where each provider's base URL ends.
PROVIDERS = {"openai": "/v1", "ollama_chat": "", "ollama": "", "anthropic": ""}


@pytest.fixture(params=PROVIDERS)
def provider(request):
    return request.param


def address(url, provider, model):
    return {"model": f"{provider}/{model}", "api_base": url + PROVIDERS[provider], "api_key": "none",
            "timeout": 90, "max_retries": 0}


def ask(url, provider, model, **more):
    options = {"messages": HELLO, "temperature": 0, "max_tokens": 24, **more}
    return litellm.completion(**address(url, provider, model), **options)


def test_chat(url, model, provider):
    reply = ask(url, provider, model)
    assert reply.choices[0].message.content
    assert reply.choices[0].finish_reason in ("stop", "length")
    assert 0 < reply.usage.completion_tokens <= 24 and reply.usage.prompt_tokens > 0


def test_stream_equals_the_whole(url, model, provider):
    chunks = list(ask(url, provider, model, stream=True))
    text = "".join(c.choices[0].delta.content or "" for c in chunks)
    assert text.strip() == ask(url, provider, model).choices[0].message.content.strip()
    assert chunks[-1].choices[0].finish_reason in ("stop", "length")


def test_many_at_once(url, provider):
    async def all_of_them():
        return await asyncio.gather(*[
            litellm.acompletion(messages=HELLO, max_tokens=8, **address(url, provider, "smollm2"))
            for _ in range(4)])

    assert all(r.choices[0].message.content for r in asyncio.run(all_of_them()))


def test_structured_output(url, model, provider):
    named = {"type": "json_schema", "json_schema": {"name": "weather", "schema": SCHEMA,
                                                    "strict": True}}
    if provider == "anthropic":
        pytest.skip("it makes a tool of a schema, and these templates call none")
    text = ask(url, provider, model, response_format=named).choices[0].message.content
    assert json.loads(text)["town"] in ("Paris", "Rome")


def test_tools_are_refused_where_the_template_has_none(url, model):
    with pytest.raises(litellm.BadRequestError, match="template cannot call tools"):
        ask(url, "openai", model, tools=[WEATHER])


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_demanded_tools_are_called(url, provider):
    reply = ask(url, provider, CALLER, tools=[WEATHER], tool_choice="required", max_tokens=64)
    [call] = reply.choices[0].message.tool_calls
    assert call.function.name == "get_weather"
    assert json.loads(call.function.arguments)["town"] in ("Paris", "Rome")


def test_text_completion(url, model):
    reply = litellm.text_completion(prompt="The capital of France is", max_tokens=4,
                                    **address(url, "openai", model))
    assert reply.choices[0].text


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_embeddings(url, model, provider):
    reply = litellm.embedding(input=["A cat.", "A stock exchange."], **address(url, provider, model))
    first, second = [d["embedding"] for d in reply.data]
    assert len(first) == len(second) > 0 and first != second


def test_an_unknown_model(url, provider):
    with pytest.raises((litellm.NotFoundError, litellm.APIConnectionError), match="nobody"):
        ask(url, provider, "nobody")


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_bad_value(url, provider):
    with pytest.raises(litellm.BadRequestError, match="top_p"):
        ask(url, provider, "smollm2", top_p=7)
