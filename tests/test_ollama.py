# SPDX-License-Identifier: Apache-2.0
"""Ollama's chat and generate, with its official client where that can say what is to be tested."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import jsonschema
import ollama
import pytest

from support.ollama_api import GREEDY, HELLO, client_of, generate
from support.waiting import eventually

TOWN = {"type": "object", "properties": {"town": {"type": "string", "maxLength": 8}},
        "required": ["town"], "additionalProperties": False}
FIGURES = ("total_duration", "load_duration", "prompt_eval_count", "prompt_eval_cached_count",
           "prompt_eval_duration", "eval_count", "eval_duration")


@pytest.fixture
def client(server):
    return client_of(server)


def lines_of(server, path, body):
    with server.http.stream("POST", path, json=body) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"] == "application/x-ndjson"
        return [json.loads(line) for line in response.iter_lines()]


def moment(text):
    assert text.endswith("Z")
    return datetime.fromisoformat(text)


# ---- chat and generate ----

def test_chat(client):
    reply = client.chat("smollm2", messages=HELLO, options=GREEDY)
    assert reply.model == "smollm2"
    assert reply.message.role == "assistant" and reply.message.content
    assert reply.done and reply.done_reason in ("stop", "length")
    assert 0 < reply.eval_count <= 16 and reply.prompt_eval_count > 0
    assert reply.total_duration >= reply.prompt_eval_duration > 0 and reply.eval_duration > 0
    assert abs(moment(reply.created_at) - datetime.now(timezone.utc)) < timedelta(seconds=60)


def test_streamed_chat_equals_the_whole(client):
    whole = client.chat("smollm2", messages=HELLO, options=GREEDY)
    parts = list(client.chat("smollm2", messages=HELLO, options=GREEDY, stream=True))
    assert "".join(p.message.content for p in parts) == whole.message.content
    assert [p.done for p in parts] == [False] * (len(parts) - 1) + [True]
    assert parts[-1].done_reason == whole.done_reason
    assert parts[-1].eval_count == whole.eval_count


def test_streams_lines_unless_told_otherwise(server):
    lines = lines_of(server, "/api/chat", {"model": "SmolLM2:latest", "messages": HELLO,
                                           "options": GREEDY})
    assert {line["model"] for line in lines} == {"SmolLM2:latest"}
    assert set(lines[0]) == {"model", "created_at", "message", "done"}
    assert set(lines[0]["message"]) == {"role", "content"}
    last = lines[-1]
    assert all(isinstance(last[name], int) for name in FIGURES)
    assert last["hearth"]["request_id"]
    whole = server.post("/api/chat", {"model": "smollm2", "messages": HELLO, "stream": False,
                                      "options": GREEDY})
    assert whole.headers["content-type"] == "application/json; charset=utf-8"
    assert whole.json()["message"]["content"] == "".join(x["message"]["content"] for x in lines)


def test_generate_is_a_chat_of_one_message(server, client):
    system = "You answer in French."
    prompt = "Say hello."
    text = client.generate("smollm2", prompt, system=system, options=GREEDY).response
    chat = client.chat("smollm2", options=GREEDY, messages=[
        {"role": "system", "content": system}, {"role": "user", "content": prompt}])
    assert text == chat.message.content
    parts = list(client.generate("smollm2", prompt, system=system, options=GREEDY, stream=True))
    assert "".join(p.response for p in parts) == text


def test_raw_prompts_are_taken_as_they_are(server, client):
    raw = client.generate("smollm2", "The capital of France is", raw=True,
                          options={"temperature": 0, "num_predict": 4})
    assert "Paris" in raw.response
    same = server.complete("The capital of France is", max_tokens=4)
    assert raw.response == same["choices"][0]["text"]
    assert raw.context is None


def test_context_carries_a_conversation_on(server, client):
    first = client.generate("smollm2", "My name is Ada.", options=GREEDY)
    assert len(first.context) == first.prompt_eval_count + first.eval_count
    second = generate(server, "What is my name?", context=list(first.context))
    assert second["prompt_eval_count"] > len(first.context)
    assert second["context"][:len(first.context)] == list(first.context)


@pytest.mark.parametrize("context", [["a"], [-1], [10**9], "1"])
def test_bad_context(server, context):
    answer = server.post("/api/generate", {"model": "smollm2", "prompt": "x", "context": context})
    assert answer.status_code == 400, answer.text


def get_weather(town: str) -> str:
    """The weather in a town.

    Args:
      town: its name
    """
    return town


def test_tools_are_refused_where_the_template_has_none(client):
    with pytest.raises(ollama.ResponseError) as refused:
        client.chat("smollm2", messages=HELLO, tools=[get_weather], options=GREEDY)
    assert refused.value.status_code == 400 and "tools" in refused.value.error
    assert client.chat("smollm2", messages=HELLO, tools=[], options=GREEDY).message.content


def test_calls_and_their_results_in_a_conversation(client):
    messages = [*HELLO, {"role": "assistant", "content": "", "tool_calls": [
        {"function": {"name": "get_weather", "arguments": {"town": "Paris"}}}]},
        {"role": "tool", "content": "sunny", "tool_name": "get_weather"}]
    reply = client.chat("smollm2", messages=messages, options=GREEDY)
    assert reply.done_reason in ("stop", "length")


def test_format(client):
    reply = client.chat("smollm2", options={"temperature": 0, "num_predict": 64}, format=TOWN,
                        messages=[{"role": "user", "content": "Where is the Eiffel Tower?"}])
    jsonschema.validate(json.loads(reply.message.content), TOWN)
    text = client.generate("smollm2", "Describe yourself as JSON.", format="json",
                           options={"temperature": 0, "num_predict": 128})
    if text.done_reason == "stop":
        assert isinstance(json.loads(text.response), dict)
    assert text.response.lstrip().startswith("{")


def test_thinking_is_refused_where_a_model_cannot(client):
    for think in (True, "low", "medium", "high"):
        with pytest.raises(ollama.ResponseError) as refused:
            client.chat("smollm2", messages=HELLO, think=think, options=GREEDY)
        assert refused.value.status_code == 400
    assert client.chat("smollm2", messages=HELLO, think=False, options=GREEDY).message.content


def test_seed_and_stop(client):
    def sample(seed):
        options = {"seed": seed, "temperature": 1.5, "num_predict": 24}
        return client.generate("smollm2", "Tell a story.", options=options).response

    sample(7)  # with its prompt evaluated; without `exact` only like computations give like bits
    assert sample(7) == sample(7)
    assert len({sample(seed) for seed in (1, 2, 3)}) > 1
    text = client.generate("smollm2", "Tell a story.", options=GREEDY).response
    cut = client.generate("smollm2", "Tell a story.", options={**GREEDY, "stop": [text[3:6]]})
    assert cut.response == text[:text.index(text[3:6])]
    assert cut.done_reason == "stop"


def test_a_stream_left_behind_is_cancelled(server, client):
    cancelled = server.metric("hearth_requests_cancelled_total")
    stream = client.generate("smollm2", "Count to a million.", stream=True,
                             options={"num_predict": 4000})
    next(stream)
    stream.close()
    server.wait_idle(timeout=2.0)
    eventually(lambda: server.metric("hearth_requests_cancelled_total") == cancelled + 1,
               "one cancel is counted")


# ---- figures ----

def test_cached_tokens_are_a_number_also_when_there_are_none(server):  # row 42
    prompt = "Zygote quince " + " ".join(f"word{n}" for n in range(30))
    first = generate(server, prompt, raw=True)
    again = generate(server, prompt, raw=True)
    assert first["prompt_eval_cached_count"] == 0
    assert again["prompt_eval_count"] == first["prompt_eval_count"]
    assert again["prompt_eval_cached_count"] == again["prompt_eval_count"] - 1


def test_load_duration_is_there_and_zero_when_warm(server):  # row 44
    generate(server, "Hi")
    for _ in range(5):
        reply = generate(server, "Hi")
        assert reply["load_duration"] == 0
        assert reply["total_duration"] / 1e6 == pytest.approx(reply["hearth"]["total_ms"], rel=.01)
        stages = sum(stage["ms"] for stage in reply["hearth"]["stages"])
        accounted = stages - reply["hearth"]["overlap_ms"] + reply["hearth"]["other_ms"]
        assert accounted == pytest.approx(reply["hearth"]["total_ms"], rel=.01)


def test_load_duration_of_a_cold_model(new_server):
    server = new_server()
    reply = generate(server, "Hi")
    assert 0 < reply["load_duration"] < reply["total_duration"]


def test_progress_lines_do_not_disturb_the_client(new_server):
    server = new_server()
    body = {"model": "smollm2", "messages": HELLO, "options": GREEDY, "return_progress": True}
    lines = lines_of(server, "/api/chat", body)
    told = [line for line in lines if "hearth_progress" in line]
    assert told and all(line["message"]["content"] == "" for line in told)
    assert not any(line["done"] for line in told)
    for line in lines:
        ollama.ChatResponse(**line)


def test_nobody_waits_longer_than_they_prefer(new_server):
    server = new_server()
    answer = server.http.post("/api/chat", headers={"Prefer": "wait=0"},
                              json={"model": "smollm2", "messages": HELLO})
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) >= 1
    assert "error" in answer.json()


# ---- lengths (row 19) ----

def test_long_prompts_lose_their_middle_and_say_so(server):
    prompt = " ".join(f"word{n}" for n in range(300))
    answer = server.post("/api/generate", {
        "model": "smollm2", "prompt": prompt, "raw": True, "stream": False,
        "options": {**GREEDY, "num_ctx": 256, "num_predict": 4}})
    assert answer.status_code == 200, answer.text
    reply = answer.json()
    assert reply["prompt_eval_count"] < 256 and reply["eval_count"] >= 1
    assert reply["hearth"]["truncated"]["tokens"] > 0
    assert "tokens=" in answer.headers["x-hearth-truncated"]


def test_long_chats_lose_their_oldest_messages(server):
    filler = " ".join(f"word{n}" for n in range(40))
    messages = [{"role": "system", "content": "Be brief."}]
    for _ in range(4):
        messages += [{"role": "user", "content": filler}, {"role": "assistant", "content": filler}]
    messages.append({"role": "user", "content": "Say hello."})
    body = {"model": "smollm2", "messages": messages, "stream": False,
            "options": {**GREEDY, "num_ctx": 256}}
    answer = server.post("/api/chat", body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["hearth"]["truncated"]["messages"] > 0
    assert "messages=" in answer.headers["x-hearth-truncated"]
    refused = server.post("/api/chat", {**body, "truncate": False})
    assert refused.status_code == 400
    assert refused.json()["n_prompt_tokens"] > refused.json()["n_ctx"] == 256


def test_a_system_message_over_the_limit_is_refused(server):
    system = " ".join(f"word{n}" for n in range(300))
    messages = [{"role": "system", "content": system}, *HELLO]
    answer = server.post("/api/chat", {"model": "smollm2", "messages": messages, "stream": False,
                                       "options": {"num_ctx": 256}})
    assert answer.status_code == 400
    assert answer.json()["n_ctx"] == 256


@pytest.mark.parametrize("room", [0, 1])
def test_a_prompt_that_just_fits(server, room):
    prompt = " ".join(f"word{n}" for n in range(50))
    size = generate(server, prompt, raw=True)["prompt_eval_count"]
    reply = generate(server, prompt, raw=True, truncate=False, options={"num_ctx": size + room})
    assert reply["prompt_eval_count"] == size
    assert reply["done_reason"] == "length" or reply["eval_count"] >= 1


def test_num_ctx_loads_nothing_again(server):  # row 5
    server.load()
    worker = server.worker_pid()
    start = threading.Barrier(20)

    def ask(n):
        start.wait()
        return generate(server, f"Count from {n}.", options={"num_ctx": (512, 1024)[n % 2]})

    with ThreadPoolExecutor(20) as pool:
        replies = list(pool.map(ask, range(20)))
    assert all(reply["done"] for reply in replies)
    assert server.worker_pid() == worker
    assert not any(s["name"] in ("spawn", "load") for r in replies for s in r["hearth"]["stages"])
