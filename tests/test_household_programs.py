# SPDX-License-Identifier: Apache-2.0
"""Requests in the shapes in which Open WebUI and Home Assistant send them: members they always send,
turns as they keep them, and what they look for in answers."""

import json

import jsonschema
import pytest

MODELS = ["smollm2", "gemma"]
QUESTION = {"role": "user", "content": "Is the light in the kitchen on?"}
HOUSE = {"role": "system", "content": "You are a voice assistant.\nAnswer in plain text."}

# As Home Assistant's converters write them.
TURN_ON = {"type": "function", "function": {
    "name": "HassTurnOn", "description": "Turns on a device",
    "parameters": {"type": "object", "required": [], "properties": {
        "name": {"type": "string"}, "area": {"type": "string"},
        "domain": {"type": "array", "items": {"type": "string"}},
        "brightness": {"type": "integer", "minimum": 0, "maximum": 100}}}}}


@pytest.fixture(params=MODELS)
def model(request):
    return request.param


def lines_of(server, path, body):
    with server.http.stream("POST", path, json=body) as response:
        assert response.status_code == 200, response.read()
        return [json.loads(line) for line in response.iter_lines()]


# ---- Open WebUI, over Ollama's dialect ----

OPEN_WEBUI = {"X-OpenWebUI-User-Name": "Anna", "X-OpenWebUI-User-Id": "1",
              "X-OpenWebUI-User-Email": "anna@example.org", "X-OpenWebUI-User-Role": "admin",
              "Content-Type": "application/json"}


def test_open_webui_looks_around(server):
    version = server.get("/api/version", headers=OPEN_WEBUI).json()["version"]
    assert [int(part) for part in version.split(".")[:2]]
    models = server.get("/api/tags", headers=OPEN_WEBUI).json()["models"]
    for entry in models:
        assert {"name", "model", "size", "digest", "details", "modified_at"} <= entry.keys()
    loaded = server.get("/api/ps", headers=OPEN_WEBUI).json()["models"]
    assert all("expires_at" in entry for entry in loaded)
    listed = server.get("/v1/models", headers=OPEN_WEBUI).json()["data"]
    assert {entry["id"] for entry in listed} == {entry["name"] for entry in models}
    assert server.post("/api/show", {"name": "smollm2"}).status_code == 200


# What its settings page offers; those that say nothing new are sent all the same.
SETTINGS = {"temperature": 0, "top_p": 0.9, "top_k": 40, "min_p": 0, "seed": 7, "num_ctx": 2048,
            "num_keep": 4, "num_predict": 8, "repeat_last_n": 64, "repeat_penalty": 1.1,
            "presence_penalty": 0, "frequency_penalty": 0, "stop": ["\n\n\n"], "mirostat": 0,
            "mirostat_eta": 0.1, "mirostat_tau": 5, "tfs_z": 1, "use_mmap": True,
            "use_mlock": False}


def test_open_webui_chats(server, model):
    lines = lines_of(server, "/api/chat", {
        "model": f"{model}:latest", "messages": [HOUSE, QUESTION], "stream": True,
        "options": SETTINGS, "keep_alive": "5m", "format": "", "think": False,
        "metadata": {"chat_id": "1", "message_id": "2"}})
    assert all("message" in line for line in lines)
    assert lines[-1]["done"] and lines[-1]["eval_count"] <= 8
    # It reckons speeds out of these.
    for figure in ("total_duration", "load_duration", "prompt_eval_count", "prompt_eval_duration",
                   "eval_count", "eval_duration"):
        assert isinstance(lines[-1][figure], int)


@pytest.mark.parametrize("option", [{"num_gpu": 99}, {"num_thread": 2}, {"mirostat": 2}])
def test_settings_that_are_not_there_are_named(server, option):
    answer = server.post("/api/chat", {"model": "smollm2", "messages": [QUESTION], "stream": False,
                                       "options": option})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(f"options.{next(iter(option))}")


def test_open_webui_asks_for_a_title(server, model):
    reply = server.ok("/api/chat", {"model": model, "messages": [QUESTION], "stream": False,
                                    "options": {"num_predict": 8}})
    assert reply["message"]["content"] and reply["done"]


def test_open_webui_embeds_and_unloads(server, model):
    vectors = server.ok("/api/embed", {"model": model, "input": ["one", "two"]})["embeddings"]
    assert len(vectors) == 2 and len(vectors[0]) == len(vectors[1])
    done = lines_of(server, "/api/generate", {"model": model, "keep_alive": 0, "prompt": ""})[-1]
    assert done["done_reason"] == "unload"
    assert f"{model}:latest" not in {m["name"] for m in server.ok("/api/ps")["models"]}


def test_open_webui_answers_with_results_of_tools(server, caller):
    called = {"role": "assistant", "content": "", "tool_calls": [
        {"index": 0, "id": "call_1", "function": {"name": "HassTurnOn",
                                                  "arguments": {"name": "kitchen"}}}]}
    result = {"role": "tool", "content": "done", "tool_call_id": "call_1"}
    reply = server.ok("/api/chat", {
        "model": caller, "messages": [HOUSE, QUESTION, called, result], "stream": False,
        "tools": [TURN_ON], "options": {"num_predict": 16}})
    assert reply["done"]


# ---- Open WebUI, over OpenAI's dialect ----

def test_open_webui_chats_over_openai(server, model):
    parts = {"role": "user", "content": [{"type": "text", "text": QUESTION["content"]}]}
    events = list(server.stream("/v1/chat/completions", {
        "model": model, "messages": [HOUSE, parts], "max_tokens": 8, "temperature": 0,
        "stream_options": {"include_usage": True}, "repetition_penalty": 1.1,
        "reasoning_effort": "low", "chat_id": "1", "session_id": "2"}))
    assert events[-1] == "[DONE]" and events[-2]["usage"]["completion_tokens"] > 0
    assert events[0]["choices"][0]["delta"]["role"] == "assistant"


def test_pictures_are_refused_by_name(server, model):
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    content = [{"type": "text", "text": "What is this?"}, picture]
    answer = server.post("/v1/chat/completions", {
        "model": model, "messages": [{"role": "user", "content": content}]})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "messages[0].content[1].type"
    answer = server.post("/api/chat", {"model": model, "messages": [
        {**QUESTION, "images": ["iVBORw0KGgo="]}]})
    assert answer.status_code == 400 and "images" in answer.json()["error"]


# ---- Home Assistant, over Ollama's dialect ----

@pytest.mark.parametrize("keep_alive", [-1, "300s", "0s"])
def test_home_assistant_chats(server, model, keep_alive):
    lines = lines_of(server, "/api/chat", {
        "model": model, "messages": [HOUSE, QUESTION], "stream": True, "keep_alive": keep_alive,
        "tools": [], "options": {"num_ctx": 8192, "num_predict": 8}, "think": False})
    assert lines[0]["message"]["role"] == "assistant"
    assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]


def test_home_assistant_is_told_that_tools_are_not_there(server, model):
    answer = server.post("/api/chat", {"model": model, "messages": [HOUSE, QUESTION],
                                       "tools": [TURN_ON], "keep_alive": -1})
    assert answer.status_code == 400 and "cannot call tools" in answer.json()["error"]


def test_home_assistant_calls_tools_in_turns(server, caller):
    ask = {"model": caller, "stream": True, "keep_alive": -1, "tools": [TURN_ON],
           "options": {"num_ctx": 8192, "num_predict": 48, "temperature": 0}, "think": False}
    lines = lines_of(server, "/api/chat", {**ask, "messages": [HOUSE, QUESTION]})
    calls = [call for line in lines for call in line["message"].get("tool_calls", [])]
    for call in calls:
        assert call["function"]["name"] == "HassTurnOn"
        jsonschema.validate(call["function"]["arguments"], TURN_ON["function"]["parameters"])
    # Neither ids nor the tool's name come back, and no content stands beside the calls.
    turns = [HOUSE, QUESTION,
             {"role": "assistant", "tool_calls": calls or [
                 {"function": {"name": "HassTurnOn", "arguments": {"name": "kitchen"}}}]},
             {"role": "tool", "content": json.dumps({"data": {"success": True}, "error": None})}]
    assert lines_of(server, "/api/chat", {**ask, "messages": turns})[-1]["done"]


def test_home_assistant_wants_data_in_a_form(server, model):
    form = {"type": "object", "required": ["on"], "properties": {
        "on": {"type": "boolean", "description": "whether it is on"},
        "room": {"type": "string", "enum": ["kitchen", "bath"]}}}
    lines = lines_of(server, "/api/chat", {
        "model": model, "messages": [HOUSE, QUESTION], "format": form, "stream": True,
        "keep_alive": "300s", "options": {"num_ctx": 8192, "temperature": 0}})
    text = "".join(line["message"]["content"] for line in lines)
    jsonschema.validate(json.loads(text), form)


# ---- Home Assistant, over OpenAI's dialect ----

def test_home_assistant_over_openai(server, caller):
    body = {"model": caller, "messages": [HOUSE, QUESTION], "user": "01J", "max_tokens": 48,
            "tools": [TURN_ON], "provider": {"require_parameters": True}, "temperature": 0}
    events = [e for e in server.stream("/v1/chat/completions", body) if e != "[DONE]"]
    parts = [part for e in events for choice in e["choices"]
             for part in choice["delta"].get("tool_calls", [])]
    reason = events[-1]["choices"][0]["finish_reason"]
    assert reason in ("tool_calls", "stop", "length")
    if reason == "tool_calls":
        arguments = "".join(p["function"].get("arguments", "") for p in parts if p["index"] == 0)
        jsonschema.validate(json.loads(arguments), TURN_ON["function"]["parameters"])
    called = {"role": "assistant", "content": None, "tool_calls": [
        {"id": "call_1", "type": "function",
         "function": {"name": "HassTurnOn", "arguments": '{"name":"kitchen"}'}}]}
    result = {"role": "tool", "tool_call_id": "call_1",
              "content": json.dumps({"data": {"success": True}, "error": None})}
    again = {**body, "messages": [HOUSE, QUESTION, called, result]}
    assert server.ok("/v1/chat/completions", again)["choices"][0]["finish_reason"]
