# SPDX-License-Identifier: Apache-2.0
"""Anthropic's official client, as people use it."""

import json

import anthropic
import jsonschema
import pytest

from support.server import events_of
from support.waiting import eventually

HELLO = [{"role": "user", "content": "Say hello to the world in one sentence."}]
WEATHER = {"name": "get_weather", "description": "The weather in a town",
           "input_schema": {"type": "object", "required": ["town"],
                            "properties": {"town": {"type": "string", "maxLength": 20}}}}


def new_client(server, **options):
    return anthropic.Anthropic(base_url=server.url, max_retries=0,
                               **{"api_key": "none", "timeout": 90, **options})


@pytest.fixture
def client(server):
    with new_client(server) as client:
        yield client


# The newest clients have no argument for what the newest models no longer take.
GREEDY = {"temperature": 0}


def ask(client, extra_body=None, **more):
    body = {"model": "smollm2", "max_tokens": 16, "messages": HELLO, **more}
    return client.messages.create(**body, extra_body={**GREEDY, **(extra_body or {})})


def raw(server, **more):
    return server.post("/v1/messages", {"model": "smollm2", "max_tokens": 8, "messages": HELLO,
                                        **more}, headers={"anthropic-version": "2023-06-01"})


def test_message(client):
    reply = ask(client, system="You are brief.")
    assert reply.id.startswith("msg_")
    assert (reply.type, reply.role, reply.model) == ("message", "assistant", "smollm2:latest")
    assert [block.type for block in reply.content] == ["text"]
    assert reply.content[0].text
    assert reply.stop_reason in ("end_turn", "max_tokens")
    assert reply.stop_sequence is None
    assert 0 < reply.usage.output_tokens <= 16
    assert reply.hearth["request_id"] == reply.id.removeprefix("msg_")


def test_the_id_of_the_request_is_where_the_client_looks(client):
    answer = client.messages.with_raw_response.create(model="smollm2", max_tokens=4, messages=HELLO)
    message = answer.parse()
    assert message._request_id == message.id.removeprefix("msg_")
    assert answer.headers["x-request-id"] == message._request_id


def test_limits(client):
    reply = ask(client, max_tokens=3)
    assert reply.usage.output_tokens == 3
    assert reply.stop_reason == "max_tokens"


def test_stop_sequence(client):
    text = ask(client).content[0].text
    stop = text[3:6]
    cut = ask(client, stop_sequences=["never said", stop])
    assert cut.content[0].text == text[:text.index(stop)]
    assert (cut.stop_reason, cut.stop_sequence) == ("stop_sequence", stop)


def test_streamed_message_equals_the_whole_one(client):
    whole = ask(client)
    with client.messages.stream(model="smollm2", max_tokens=16, messages=HELLO,
                                extra_body=GREEDY) as stream:
        text = "".join(stream.text_stream)
        message = stream.get_final_message()
    assert text == whole.content[0].text == message.content[0].text
    assert message.stop_reason == whole.stop_reason
    assert message.usage.output_tokens == whole.usage.output_tokens
    prompt = whole.usage.input_tokens + whole.usage.cache_read_input_tokens
    assert message.usage.input_tokens + message.usage.cache_read_input_tokens == prompt


def test_events_come_in_their_order(client):
    events = [event.type for event in ask(client, stream=True, max_tokens=4)]
    deltas = events[2:-3]
    assert events[:2] == ["message_start", "content_block_start"]
    assert set(deltas) == {"content_block_delta"} and 1 <= len(deltas) <= 4
    assert events[-3:] == ["content_block_stop", "message_delta", "message_stop"]


def test_the_stream_tells_about_itself(server):
    body = {"model": "smollm2", "max_tokens": 4, "messages": HELLO, "stream": True}
    with server.http.stream("POST", "/v1/messages", json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["request-id"] == response.headers["x-request-id"]
        events = list(events_of(response))
    assert events[0]["message"]["usage"]["input_tokens"] >= 1
    assert events[-2]["hearth"]["request_id"] == response.headers["x-request-id"]


def test_progress_comes_as_comments(new_server):
    server = new_server()
    body = {"model": "smollm2", "max_tokens": 4, "messages": HELLO, "stream": True,
            "return_progress": True}
    with server.http.stream("POST", "/v1/messages", json=body) as response:
        lines = list(response.iter_lines())
    assert lines[0].startswith(": progress ")
    assert json.loads(lines[0].removeprefix(": progress "))["stage"]
    with new_client(server) as client:
        server.unload()
        events = ask(client, stream=True, extra_body={"return_progress": True})
        assert next(iter(events)).type == "message_start"


def test_repeated_prompt_reports_cached_tokens(client):
    messages = [{"role": "user", "content": " ".join(f"thing {n}" for n in range(40))}]
    first = ask(client, messages=messages).usage
    second = ask(client, messages=messages).usage
    total = first.input_tokens + first.cache_read_input_tokens
    assert second.cache_read_input_tokens == total - 1
    assert second.input_tokens == 1
    assert second.cache_creation_input_tokens == 0


def test_marked_prompts_count_as_written_and_read(client):
    marked = {"type": "text", "text": " ".join(f"fact {n}" for n in range(40)),
              "cache_control": {"type": "ephemeral"}}
    first = ask(client, system=[marked]).usage
    assert first.input_tokens == 0
    assert first.cache_creation_input_tokens > 40
    assert first.cache_creation.ephemeral_5m_input_tokens == first.cache_creation_input_tokens
    total = first.cache_creation_input_tokens + first.cache_read_input_tokens
    events = list(ask(client, system=[marked], stream=True))
    begun = next(e.message.usage for e in events if e.type == "message_start")
    ended = next(e.usage for e in events if e.type == "message_delta")
    for usage in (begun, ended):
        assert usage.cache_read_input_tokens == total - 1
        assert usage.cache_creation_input_tokens == 1 and usage.input_tokens == 0


CONVERSATIONS = {
    "plain": {"messages": HELLO},
    "system": {"messages": HELLO, "system": [
        {"type": "text", "text": "You are brief.", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "You are polite."}]},
    "blocks": {"messages": [
        {"role": "user", "content": [{"type": "text", "text": "One"}]},
        {"role": "user", "content": "Two"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": ""},
            {"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "Three"}]},
        {"role": "user", "content": "Four"}]},
}


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_counted_tokens_are_the_tokens_used(client, name):
    counted = client.messages.count_tokens(model="smollm2", **CONVERSATIONS[name])
    usage = ask(client, max_tokens=1, **CONVERSATIONS[name]).usage
    assert counted.input_tokens == (usage.input_tokens + usage.cache_read_input_tokens +
                                    usage.cache_creation_input_tokens)


def test_counting_loads_no_weights(new_server):
    server = new_server()
    with new_client(server) as client:
        assert client.messages.count_tokens(model="smollm2", messages=HELLO).input_tokens > 5
        with pytest.raises(anthropic.NotFoundError):
            client.messages.count_tokens(model="nobody", messages=HELLO)
    assert server.model()["layers"]["weights"]["level"] in ("none", "hollow")


# ---- tools ----

def ask_with_tools(client, **more):
    try:
        return ask(client, max_tokens=48, tools=[WEATHER], **more)
    except anthropic.BadRequestError as refused:
        assert refused.body["error"]["field"] == "tools"
        pytest.skip("this model's template cannot call tools")


def test_demanded_tool_is_called(client):
    reply = ask_with_tools(client, tool_choice={"type": "tool", "name": "get_weather"})
    if reply.stop_reason == "max_tokens":
        pytest.skip("the small model did not finish its call")
    assert reply.stop_reason == "tool_use"
    call = reply.content[-1]
    assert (call.type, call.name) == ("tool_use", "get_weather") and call.id
    jsonschema.validate(call.input, WEATHER["input_schema"])
    turn = [{"role": "assistant", "content": [call.model_dump(exclude_none=True)]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id,
                                          "content": "Sunny"}]}]
    assert ask(client, messages=HELLO + turn, tools=[WEATHER]).content


def test_streamed_call_equals_the_whole_one(client):
    choice = {"type": "any", "disable_parallel_tool_use": True}
    whole = ask_with_tools(client, tool_choice=choice)
    with client.messages.stream(model="smollm2", max_tokens=48, messages=HELLO, extra_body=GREEDY,
                                tools=[WEATHER], tool_choice=choice) as stream:
        message = stream.get_final_message()
    assert message.stop_reason == whole.stop_reason
    assert [b.type for b in message.content] == [b.type for b in whole.content]
    if whole.stop_reason == "tool_use":
        assert message.content[-1].input == whole.content[-1].input


def test_no_tool_is_called_where_none_may_be(client):
    reply = ask(client, tools=[WEATHER], tool_choice={"type": "none"})
    assert [block.type for block in reply.content] == ["text"]


def test_schema_binds_the_reply(client):
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"],
              "additionalProperties": False}
    reply = ask(client, max_tokens=48,
                output_config={"format": {"type": "json_schema", "schema": schema}})
    if reply.stop_reason == "max_tokens":
        pytest.skip("the small model did not finish")
    jsonschema.validate(json.loads(reply.content[0].text), schema)


# ---- errors ----

@pytest.mark.parametrize("more, field", [
    ({"max_tokens": 0}, "max_tokens"),
    ({"extra_body": {"temperature": 1.5}}, "temperature"),
    ({"messages": []}, "messages"),
    ({"messages": [{"role": "robot", "content": "Hi"}]}, "messages[0].role"),
    ({"messages": [{"role": "user", "content": [
        {"type": "image", "source": {"type": "url", "url": "http://127.0.0.1/x.png"}}]}]},
     "messages[0].content[0].type"),
    ({"messages": HELLO + [{"role": "assistant", "content": "Hello,"}]}, "messages[1].role"),
    ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "tools[0].type"),
    ({"tool_choice": {"type": "any"}}, "tool_choice.type"),
    ({"thinking": {"type": "enabled", "budget_tokens": 10}}, "thinking.budget_tokens"),
    ({"max_tokens": 2000, "thinking": {"type": "enabled", "budget_tokens": 1024}}, "thinking"),
])
def test_bad_requests_name_the_field(client, more, field):
    with pytest.raises(anthropic.BadRequestError) as refused:
        ask(client, **more)
    assert refused.value.body["type"] == "error"
    assert refused.value.body["error"]["type"] == "invalid_request_error"
    assert refused.value.body["error"]["field"] == field


def test_unknown_model_is_404(client):
    with pytest.raises(anthropic.NotFoundError) as refused:
        ask(client, model="nobody")
    error = refused.value.body["error"]
    assert error["type"] == "not_found_error" and "nobody" in error["message"]
    assert refused.value.request_id == refused.value.body["request_id"]


def test_too_long_a_prompt_is_400_with_both_counts(server):
    answer = raw(server, messages=[{"role": "user", "content": "word " * 20000}])
    error = answer.json()["error"]
    assert answer.status_code == 400 and error["type"] == "invalid_request_error"
    assert error["n_prompt_tokens"] > error["n_ctx"]


def test_routes_and_methods_have_errors_in_this_shape(server):
    answer = server.get("/v1/messages")
    assert answer.status_code == 405 and answer.json()["type"] == "error"
    answer = server.post("/v1/messages/batches", {})
    assert answer.status_code == 404 and answer.json()["error"]["type"] == "not_found_error"
    answer = server.http.post("/v1/messages", content=b"{")
    assert answer.status_code == 400 and answer.json()["error"]["type"] == "invalid_request_error"


def test_a_client_that_waits_no_longer_frees_its_place(server):
    with new_client(server, timeout=0.5) as client, pytest.raises(anthropic.APITimeoutError):
        ask(client, max_tokens=4000, messages=[{"role": "user", "content": "Count " * 3000}])
    server.wait_idle()


def test_cancellation_frees_the_place(client, server):
    cancelled = server.metric("hearth_requests_cancelled_total")
    stream = ask(client, stream=True, max_tokens=4000,
                 messages=[{"role": "user", "content": "Write a very long story."}])
    next(iter(stream))
    stream.close()
    server.wait_idle(timeout=2.0)
    eventually(lambda: server.metric("hearth_requests_cancelled_total") >= cancelled,
               "the counter is there")


# ---- models ----

def test_models(client):
    listed = list(client.models.list())
    assert {"smollm2:latest", "gemma:latest"} <= {m.id for m in listed}
    assert all(m.type == "model" and m.created_at.year >= 2024 for m in listed)
    paged = [m.id for m in client.models.list(limit=1)]
    assert paged == [m.id for m in listed]
    assert client.models.retrieve("smollm2").id == "smollm2:latest"
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve("nobody")
    with pytest.raises(anthropic.BadRequestError):
        client.models.list(limit=0)


def test_other_clients_get_the_list_in_their_shape(server):
    assert server.ok("/v1/models")["object"] == "list"


def test_keep_alive_and_ttl_are_taken(server):
    for more in ({"keep_alive": "5m"}, {"ttl": 60}):
        assert raw(server, **more).status_code == 200
    assert raw(server, keep_alive="soon").json()["error"]["field"] == "keep_alive"
