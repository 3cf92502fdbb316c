# SPDX-License-Identifier: Apache-2.0
"""OpenAI's Responses API, asked by its official client."""

import json

import httpx
import jsonschema
import openai
import pytest

HELLO = "Say hello to the world in one sentence."
WEATHER = {"type": "function", "name": "get_weather", "description": "The weather in a town",
           "parameters": {"type": "object", "required": ["town"],
                          "properties": {"town": {"type": "string", "maxLength": 20}}}}
MODELS = pytest.mark.parametrize("model", ["smollm2", "gemma"])


def client_of(server, key="none"):
    transport = httpx.Client(trust_env=False, timeout=90)
    return openai.OpenAI(base_url=server.url + "/v1", api_key=key, max_retries=0,
                         http_client=transport)


@pytest.fixture
def client(server):
    with client_of(server) as client:
        yield client


def ask(client, **more):
    options = {"model": "smollm2", "input": HELLO, "temperature": 0, "max_output_tokens": 16}
    return client.responses.create(**{**options, **more})


@MODELS
def test_whole(client, model):
    reply = ask(client, model=model)
    assert reply.object == "response" and reply.id.startswith("resp_")
    assert reply.output_text
    assert reply.status in ("completed", "incomplete")
    if reply.status == "incomplete":
        assert reply.incomplete_details.reason == "max_output_tokens"
        assert reply.usage.output_tokens == 16
    assert reply.usage.total_tokens == reply.usage.input_tokens + reply.usage.output_tokens
    assert reply.usage.output_tokens_details.reasoning_tokens == 0


@MODELS
def test_a_stream_says_the_same(client, model):
    whole = ask(client, model=model)
    events = list(ask(client, model=model, stream=True))
    assert [e.sequence_number for e in events] == list(range(len(events)))
    types = [e.type for e in events]
    assert types[:4] == ["response.created", "response.in_progress", "response.output_item.added",
                         "response.content_part.added"]
    assert types[-4:] == ["response.output_text.done", "response.content_part.done",
                          "response.output_item.done", f"response.{whole.status}"]
    assert set(types[4:-4]) == {"response.output_text.delta"}
    text = "".join(e.delta for e in events[4:-4])
    last = events[-1].response
    assert text == whole.output_text == last.output_text == events[-4].text
    assert last.output[0] == events[-2].item
    assert last.usage.output_tokens == whole.usage.output_tokens
    assert len({e.response.id for e in events if hasattr(e, "response")}) == 1


def test_the_clients_own_stream_helper(client):
    with client.responses.stream(model="smollm2", input=HELLO, temperature=0,
                                 max_output_tokens=16) as stream:
        text = "".join(e.delta for e in stream if e.type == "response.output_text.delta")
        assert stream.get_final_response().output_text == text


@MODELS
def test_it_is_the_chat_of_the_same_messages(client, model):
    items = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"},
             {"role": "user", "content": [{"type": "input_text", "text": HELLO}]}]
    messages = [*items[:2], {"role": "user", "content": HELLO}]
    chat = client.chat.completions.create(model=model, messages=messages, temperature=0,
                                          max_tokens=16)
    reply = ask(client, model=model, input=items)
    assert reply.output_text == chat.choices[0].message.content
    assert reply.usage.input_tokens == chat.usage.prompt_tokens


@MODELS
def test_goes_on_from_an_earlier_response(client, model):
    first = ask(client, model=model, input="My name is Ada.")
    second = ask(client, model=model, input=HELLO, previous_response_id=first.id)
    by_hand = ask(client, model=model, input=[
        {"role": "user", "content": "My name is Ada."}, *first.output,
        {"role": "user", "content": HELLO}])
    assert second.previous_response_id == first.id
    assert second.output_text == by_hand.output_text
    assert second.usage.input_tokens == by_hand.usage.input_tokens
    assert second.usage.input_tokens_details.cached_tokens > 0
    third = ask(client, model=model, previous_response_id=second.id)
    assert third.usage.input_tokens > second.usage.input_tokens


def test_a_stream_is_kept_before_its_end_is_told(client):
    for event in ask(client, stream=True):
        if event.type in ("response.completed", "response.incomplete"):
            assert client.responses.retrieve(event.response.id).output == event.response.output


def test_kept_listed_and_deleted(client):
    reply = ask(client, metadata={"room": "kitchen"})
    again = client.responses.retrieve(reply.id)
    assert again.output == reply.output and again.usage == reply.usage
    assert again.metadata == {"room": "kitchen"}
    items = client.responses.input_items.list(reply.id).data
    assert [i.content[0].text for i in items] == [HELLO]
    client.responses.delete(reply.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(reply.id)
    with pytest.raises(openai.BadRequestError) as refused:
        ask(client, previous_response_id=reply.id)
    assert refused.value.body["param"] == "previous_response_id"


def test_nothing_is_kept_where_it_shall_not(client):
    reply = ask(client, store=False)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(reply.id)


def test_outlives_a_restart_and_belongs_to_its_key(new_server):
    server = new_server()
    secrets = []
    for name, role in (("admin", "admin"), ("one", "use")):
        answer = server.post("/api/hearth/keys", {"name": name, "role": role},
                             headers={"x-api-key": secrets[0]} if secrets else {})
        secrets.append(answer.json()["secret"])
    with client_of(server, secrets[1]) as client:
        kept = ask(client)
    server.stop()
    server.start()
    with client_of(server, secrets[1]) as client, client_of(server, secrets[0]) as other:
        assert client.responses.retrieve(kept.id).output == kept.output
        assert ask(client, previous_response_id=kept.id).output_text
        with pytest.raises(openai.NotFoundError):
            other.responses.retrieve(kept.id)
        with pytest.raises(openai.NotFoundError):
            other.responses.delete(kept.id)
        with pytest.raises(openai.BadRequestError):
            ask(other, previous_response_id=kept.id)
    assert (server.data / "responses.db").stat().st_mode & 0o777 == 0o600


@MODELS
def test_tools(client, model):
    try:
        reply = ask(client, model=model, tools=[WEATHER], tool_choice="required",
                    input="What is the weather in Paris?", max_output_tokens=64)
    except openai.BadRequestError as refused:
        assert refused.body["param"] == "tools"
        pytest.skip("this model's template cannot call tools")
    if reply.status == "incomplete":
        pytest.skip("the small model did not finish its call")
    call = next(i for i in reply.output if i.type == "function_call")
    jsonschema.validate(json.loads(call.arguments), WEATHER["parameters"])
    answer = ask(client, model=model, previous_response_id=reply.id, tools=[WEATHER], input=[
        {"type": "function_call_output", "call_id": call.call_id, "output": "It rains."}])
    assert answer.usage.input_tokens > reply.usage.input_tokens
    events = list(ask(client, model=model, tools=[WEATHER], tool_choice="required", stream=True,
                      input="What is the weather in Paris?", max_output_tokens=64))
    pieces = [e.delta for e in events if e.type == "response.function_call_arguments.delta"]
    done = [e for e in events if e.type == "response.function_call_arguments.done"]
    assert "".join(pieces) == done[0].arguments == call.arguments


@MODELS
def test_schemas(client, model):
    schema = {"type": "object", "properties": {"mood": {"enum": ["good", "bad"]}},
              "required": ["mood"], "additionalProperties": False}
    reply = ask(client, model=model, max_output_tokens=48, text={"format": {
        "type": "json_schema", "name": "mood", "schema": schema, "strict": True}})
    assert reply.status == "completed"
    jsonschema.validate(json.loads(reply.output_text), schema)


def test_counts_as_it_would_ask(client):
    counted = client.responses.input_tokens.count(model="smollm2", input=HELLO)
    assert counted.input_tokens == ask(client).usage.input_tokens


@pytest.mark.parametrize("field, value", [
    ("input", [{"role": "user", "content": [{"type": "input_image", "image_url": "x",
                                             "detail": "auto"}]}]),
    ("tools", [{"type": "web_search"}]), ("background", True), ("max_output_tokens", 0),
    ("include", ["message.output_text.logprobs"]), ("temperature", 9), ("truncation", "never"),
    ("text", {"format": {"type": "json_schema", "name": "x", "schema": {"type": "fish"}}}),
    ("reasoning", {"effort": "high"}),  # this model's template has none
])
def test_what_cannot_be_done_is_refused_by_its_path(client, field, value):
    with pytest.raises(openai.BadRequestError) as refused:
        ask(client, **{field: value})
    assert refused.value.body["param"].startswith(field), refused.value.body
