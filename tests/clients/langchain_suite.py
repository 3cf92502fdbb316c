# SPDX-License-Identifier: Apache-2.0
"""LangChain through each of the three dialects."""

import asyncio
from typing import Literal

import anthropic
import ollama
import openai
import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_ollama import ChatOllama, OllamaEmbeddings, OllamaLLM
from langchain_openai import ChatOpenAI, OpenAI, OpenAIEmbeddings
from pydantic import BaseModel

from conftest import CALLER

HELLO = [SystemMessage("You are brief."), HumanMessage("Say hello to the world.")]


class Weather(BaseModel):
    """The weather in a town."""

    town: Literal["Paris", "Rome"]
    sunny: bool


@tool
def get_weather(town: Literal["Paris", "Rome"]) -> str:
    """The weather in a town"""
    return f"It is sunny in {town}."


def chat_openai(url, model, **more):
    options = {"temperature": 0, "max_tokens": 24, "max_retries": 0, "timeout": 90, **more}
    return ChatOpenAI(model=model, base_url=url + "/v1", api_key="none", **options)


def chat_ollama(url, model, **more):
    options = {"temperature": 0, "num_predict": 24, **more}
    return ChatOllama(model=model, base_url=url, **options)


def chat_anthropic(url, model, **more):
    options = {"temperature": 0, "max_tokens": 24, "max_retries": 0, "timeout": 90, **more}
    return ChatAnthropic(model_name=model, base_url=url, api_key="none", **options)


DIALECTS = {"openai": chat_openai, "ollama": chat_ollama, "anthropic": chat_anthropic}
NOT_FOUND = {"openai": openai.NotFoundError, "ollama": ollama.ResponseError,
             "anthropic": anthropic.NotFoundError}
REFUSED = {"openai": openai.BadRequestError, "ollama": ollama.ResponseError,
           "anthropic": anthropic.BadRequestError}


@pytest.fixture(params=DIALECTS)
def dialect(request):
    return request.param


def test_chat(url, model, dialect):
    reply = DIALECTS[dialect](url, model).invoke(HELLO)
    assert isinstance(reply, AIMessage) and reply.text
    assert 0 < reply.usage_metadata["output_tokens"] <= 24
    assert reply.usage_metadata["input_tokens"] > 0


def test_stream_equals_the_whole(url, model, dialect):
    llm = DIALECTS[dialect](url, model)
    chunks = list(llm.stream(HELLO))
    assert len(chunks) > 1
    assert "".join(c.text for c in chunks) == llm.invoke(HELLO).text


def test_many_at_once(url, dialect):
    llm = DIALECTS[dialect](url, "smollm2")

    async def ask():
        return await llm.abatch([[HumanMessage(f"Count from {n}.")] for n in range(4)])

    assert all(reply.text for reply in asyncio.run(ask()))


def test_a_conversation_goes_on(url, model, dialect):
    llm = DIALECTS[dialect](url, model)
    turns = [*HELLO, AIMessage("Hello, world."), HumanMessage("And to the moon.")]
    assert llm.invoke(turns).text


@pytest.mark.parametrize("dialect", ["openai", "ollama", "anthropic"])
def test_structured_output(url, model, dialect):
    llm = DIALECTS[dialect](url, model)
    bound = llm.with_structured_output(Weather, method="json_schema")
    assert isinstance(bound.invoke("Weather in Paris?"), Weather)


def test_tools_are_refused_where_the_template_has_none(url, model, dialect):
    with pytest.raises(REFUSED[dialect]) as refused:
        DIALECTS[dialect](url, model).bind_tools([get_weather]).invoke("Weather in Paris?")
    assert "template cannot call tools" in str(refused.value)


@pytest.mark.parametrize("dialect, word", [("openai", "required"), ("anthropic", "any")])
def test_demanded_tools_are_called(url, dialect, word):
    llm = DIALECTS[dialect](url, CALLER, max_tokens=64)
    bound = llm.bind_tools([get_weather], tool_choice=word)
    question = HumanMessage("Weather in Paris?")
    reply = bound.invoke([question])
    [call] = reply.tool_calls
    assert call["name"] == "get_weather" and call["args"]["town"] in ("Paris", "Rome")
    result = ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"])
    assert llm.invoke([question, reply, result]).text
    whole = None
    for chunk in bound.stream([question]):
        whole = chunk if whole is None else whole + chunk
    assert [(c["name"], c["args"]) for c in whole.tool_calls] == [(call["name"], call["args"])]


def test_offered_tools_are_called(url, dialect):
    more = {"num_predict": 64} if dialect == "ollama" else {"max_tokens": 64}
    bound = DIALECTS[dialect](url, CALLER, **more).bind_tools([get_weather])
    [call] = bound.invoke("Weather in Paris?").tool_calls
    assert call["name"] == "get_weather" and call["args"]["town"] in ("Paris", "Rome")


@pytest.mark.parametrize("make", [
    lambda url, model: OpenAI(model=model, base_url=url + "/v1", api_key="none", max_tokens=8,
                              temperature=0),
    lambda url, model: OllamaLLM(model=model, base_url=url, num_predict=8, temperature=0),
])
def test_text_completion(url, model, make):
    llm = make(url, model)
    text = llm.invoke("The capital of France is")
    assert text and "".join(llm.stream("The capital of France is")) == text


@pytest.mark.parametrize("make", [
    # Without this it sends token ids of OpenAI's own vocabulary.
    lambda url, model: OpenAIEmbeddings(model=model, base_url=url + "/v1", api_key="none",
                                        check_embedding_ctx_length=False),
    lambda url, model: OllamaEmbeddings(model=model, base_url=url),
])
def test_embeddings(url, model, make):
    embeddings = make(url, model)
    vectors = embeddings.embed_documents(["A cat.", "A stock exchange."])
    assert len(vectors) == 2 and len(vectors[0]) == len(vectors[1]) > 0
    assert embeddings.embed_query("A cat.") == pytest.approx(vectors[0], abs=1e-2)


def test_an_unknown_model(url, dialect):
    with pytest.raises(NOT_FOUND[dialect]) as refused:
        DIALECTS[dialect](url, "nobody").invoke(HELLO)
    assert refused.value.status_code == 404 and "nobody" in str(refused.value)


@pytest.mark.parametrize("dialect, more", [
    ("openai", {"top_p": 7}), ("anthropic", {"top_k": -7}), ("ollama", {"top_p": 7.0})])
def test_a_bad_value(url, dialect, more):
    with pytest.raises(REFUSED[dialect]) as refused:
        DIALECTS[dialect](url, "smollm2", **more).invoke(HELLO)
    assert refused.value.status_code == 400 and next(iter(more)) in str(refused.value)
