# SPDX-License-Identifier: Apache-2.0
"""LlamaIndex: its OpenAI-like and Ollama classes."""

import asyncio
from typing import Literal

import ollama
import openai
import pytest
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.embeddings.ollama import OllamaEmbedding
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.ollama import Ollama
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel

from conftest import CALLER

HELLO = [ChatMessage(role="system", content="You are brief."),
         ChatMessage(role="user", content="Say hello to the world.")]


class Weather(BaseModel):
    """The weather in a town."""

    town: Literal["Paris", "Rome"]
    sunny: bool


def get_weather(town: Literal["Paris", "Rome"]) -> str:
    """The weather in a town"""
    return f"It is sunny in {town}."


def openai_like(url, model, **more):
    options = {"temperature": 0, "max_tokens": 24, "max_retries": 0, "context_window": 2048, **more}
    return OpenAILike(model=model, api_base=url + "/v1", api_key="none", is_chat_model=True,
                      is_function_calling_model=True, **options)


def of_ollama(url, model, **more):
    return Ollama(model=model, base_url=url, request_timeout=90, temperature=0, context_window=2048,
                  additional_kwargs={"num_predict": 24, **more})


CLASSES = {"openai": openai_like, "ollama": of_ollama}


@pytest.fixture(params=CLASSES)
def kind(request):
    return request.param


def test_chat(url, model, kind):
    reply = CLASSES[kind](url, model).chat(HELLO)
    assert reply.message.role == "assistant" and reply.message.content


def test_stream_equals_the_whole(url, model, kind):
    llm = CLASSES[kind](url, model)
    parts = list(llm.stream_chat(HELLO))
    assert len(parts) > 1
    text = "".join(p.delta or "" for p in parts)
    assert text == parts[-1].message.content == llm.chat(HELLO).message.content


def test_asynchronous_chat(url, kind):
    async def ask():
        return await CLASSES[kind](url, "smollm2").achat(HELLO)

    assert asyncio.run(ask()).message.content


def test_complete(url, model, kind):
    llm = CLASSES[kind](url, model)
    text = llm.complete("The capital of France is").text
    assert text and [p.text for p in llm.stream_complete("The capital of France is")][-1] == text


def test_structured_output(url, model):
    llm = of_ollama(url, model).as_structured_llm(Weather)
    assert isinstance(llm.complete("Weather in Paris?").raw, Weather)


def test_tools_are_refused_where_the_template_has_none(url, model, kind):
    tools = [FunctionTool.from_defaults(get_weather)]
    with pytest.raises((openai.BadRequestError, ollama.ResponseError)) as refused:
        CLASSES[kind](url, model).chat_with_tools(tools, "Weather in Paris?")
    assert "template cannot call tools" in str(refused.value)


def test_demanded_tools_are_called(url):
    llm = openai_like(url, CALLER, max_tokens=64)
    tools = [FunctionTool.from_defaults(get_weather)]
    reply = llm.chat_with_tools(tools, "Weather in Paris?", tool_required=True)
    [call] = llm.get_tool_calls_from_response(reply)
    assert call.tool_name == "get_weather" and call.tool_kwargs["town"] in ("Paris", "Rome")


@pytest.mark.parametrize("make", [
    lambda url, model: OpenAILikeEmbedding(model_name=model, api_base=url + "/v1", api_key="none"),
    lambda url, model: OllamaEmbedding(model_name=model, base_url=url),
])
def test_embeddings(url, model, make):
    embeddings = make(url, model)
    vectors = embeddings.get_text_embedding_batch(["A cat.", "A stock exchange."])
    assert len(vectors) == 2 and len(vectors[0]) == len(vectors[1]) > 0
    assert embeddings.get_query_embedding("A cat.")


def test_an_unknown_model(url, kind):
    with pytest.raises((openai.NotFoundError, ollama.ResponseError)) as refused:
        CLASSES[kind](url, "nobody").chat(HELLO)
    assert refused.value.status_code == 404 and "nobody" in str(refused.value)


@pytest.mark.parametrize("make", [
    lambda url: openai_like(url, "smollm2", additional_kwargs={"top_p": 7}),
    lambda url: of_ollama(url, "smollm2", top_p=7.0),
])
def test_a_bad_value(url, make):
    with pytest.raises((openai.BadRequestError, ollama.ResponseError)) as refused:
        make(url).chat(HELLO)
    assert refused.value.status_code == 400 and "top_p" in str(refused.value)
