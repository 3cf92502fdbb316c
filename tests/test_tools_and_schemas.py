# SPDX-License-Identifier: Apache-2.0
"""Tools (row 16) and response formats (row 17): honoured, or refused; never quietly ignored."""

import json

import jsonschema
import pytest

WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "The weather in a town",
    "parameters": {"type": "object", "properties": {"town": {"type": "string", "maxLength": 20}},
                   "required": ["town"]}}}
CLOCK = {"type": "function", "function": {
    "name": "get_time", "description": "The time of day",
    "parameters": {"type": "object", "properties": {"zone": {"enum": ["UTC", "CET"]}},
                   "required": ["zone"]}}}
ASK = {"model": "smollm2", "temperature": 0, "max_tokens": 48,
       "messages": [{"role": "user", "content": "What is the weather in Paris?"}]}


def skip_where_tools_are_refused(answer):
    """A template without tools may refuse them, but has to say so."""
    if answer.status_code != 400:
        return
    assert answer.json()["error"]["param"] == "tools"
    pytest.skip("this model's template cannot call tools")


def calls_of(server, **more):
    answer = server.post("/v1/chat/completions", {**ASK, **more})
    skip_where_tools_are_refused(answer)
    assert answer.status_code == 200, answer.text
    choice = answer.json()["choices"][0]
    return choice, choice["message"].get("tool_calls") or []


@pytest.mark.parametrize("choice, allowed", [
    ("required", {"get_weather", "get_time"}),
    ({"type": "function", "function": {"name": "get_time"}}, {"get_time"}),
])
def test_demanded_tools_are_called(server, choice, allowed):
    ended, calls = calls_of(server, tools=[WEATHER, CLOCK], tool_choice=choice)
    assert ended["finish_reason"] in ("tool_calls", "length")
    if ended["finish_reason"] == "length":
        pytest.skip("the small model did not finish its call")
    assert calls and {c["function"]["name"] for c in calls} <= allowed
    for call in calls:
        tool = WEATHER if call["function"]["name"] == "get_weather" else CLOCK
        jsonschema.validate(json.loads(call["function"]["arguments"]),
                            tool["function"]["parameters"])
        assert call["id"] and call["type"] == "function"


@pytest.mark.parametrize("more", [
    {"tools": [WEATHER], "tool_choice": "none"},
    {"tools": []},
    {"tools": [], "tool_choice": "auto"},
    {"tool_choice": "none"},
])
def test_no_tools_no_calls(server, more):
    choice, calls = calls_of(server, max_tokens=16, **more)
    assert not calls
    assert choice["message"]["content"]


@pytest.mark.parametrize("more, field", [
    ({"tools": [WEATHER], "tool_choice": 3}, "tool_choice"),
    ({"tools": [WEATHER], "tool_choice": "always"}, "tool_choice"),
    ({"tools": [WEATHER], "tool_choice": {"type": "function", "function": {"name": "nobody"}}},
     "tool_choice.function.name"),
    ({"tools": [], "tool_choice": "required"}, "tool_choice"),
    ({"tools": [WEATHER, WEATHER]}, "tools[1].function.name"),
    ({"tools": "weather"}, "tools"),
    ({"tools": [{"type": "function"}]}, "tools[0].function"),
    ({"tools": [{"type": "function", "function": {"name": "f", "parameters": 1}}]},
     "tools[0].function.parameters"),
])
def test_bad_tools_are_400(server, more, field):
    answer = server.post("/v1/chat/completions", {**ASK, **more})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"] == field


def formatted(schema):
    named = {"name": "reply", "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


SUPPORTED = {
    "object": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 10},
                                                "age": {"type": "integer"}},
               "required": ["name", "age"], "additionalProperties": False},
    "enum": {"enum": ["red", "green"]},
    "array": {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 3},
}


@pytest.mark.parametrize("name", SUPPORTED)
def test_supported_schema_binds_the_output(server, name):
    reply = server.ok("/v1/chat/completions", {**ASK, **formatted(SUPPORTED[name])})
    choice = reply["choices"][0]
    if choice["finish_reason"] == "length":
        pytest.skip("the small model did not finish")
    jsonschema.validate(json.loads(choice["message"]["content"]), SUPPORTED[name])


UNUSUAL = {
    "invalid pattern": {"type": "string", "pattern": "^([a-z$"},
    "nested pattern": {"type": "object", "required": ["a"], "additionalProperties": False,
                       "properties": {"a": {"type": "string", "pattern": "^(x|(y(z){1,2}))$"}}},
    "ref in items": {"type": "array", "items": {"$ref": "#/$defs/b"}, "minItems": 1,
                     "maxItems": 2, "$defs": {"b": {"type": "boolean"}}},
    "recursive ref": {"$ref": "#/$defs/n", "$defs": {"n": {
        "type": "object", "properties": {"next": {"$ref": "#/$defs/n"}},
        "additionalProperties": False}}},
    "unknown ref": {"$ref": "#/$defs/nobody"},
    "unknown type": {"type": "colour"},
    "empty enum": {"enum": []},
    "huge maxItems": {"type": "array", "items": {"type": "boolean"}, "maxItems": 10**9},
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_schema_binds_or_is_400(server, name):
    answer = server.post("/v1/chat/completions", {**ASK, **formatted(UNUSUAL[name])})
    if answer.status_code == 400:
        assert answer.json()["error"]["type"] == "invalid_request_error"
        return
    assert answer.status_code == 200, answer.text
    choice = answer.json()["choices"][0]
    if choice["finish_reason"] != "length":
        jsonschema.validate(json.loads(choice["message"]["content"]), UNUSUAL[name])


@pytest.mark.parametrize("response_format, field", [
    ("json", "response_format"),
    ({"type": "yaml"}, "response_format.type"),
    ({"type": "json_schema"}, "response_format.json_schema"),
    ({"type": "json_schema", "json_schema": {"name": "x"}}, "response_format.json_schema.schema"),
    ({"type": "json_schema", "json_schema": {"name": "x", "schema": "{}"}},
     "response_format.json_schema.schema"),
])
def test_bad_formats_are_400(server, response_format, field):
    answer = server.post("/v1/chat/completions", {**ASK, "response_format": response_format})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"] == field


def test_json_object_is_json(server):
    body = {**ASK, "max_tokens": 32, "response_format": {"type": "json_object"}}
    choice = server.ok("/v1/chat/completions", body)["choices"][0]
    text = choice["message"]["content"]
    assert text.lstrip().startswith("{")
    if choice["finish_reason"] == "stop":
        assert isinstance(json.loads(text), dict)


def test_usage_comes_with_streamed_tools(server):  # row 21
    body = {**ASK, "tools": [WEATHER], "tool_choice": "required",
            "stream_options": {"include_usage": True}}
    skip_where_tools_are_refused(server.post("/v1/chat/completions", body))
    events = list(server.stream("/v1/chat/completions", body))
    assert events[-1] == "[DONE]"
    assert events[-2]["choices"] == [] and events[-2]["usage"]["completion_tokens"] > 0
