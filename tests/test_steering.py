# SPDX-License-Identifier: Apache-2.0
"""What steers a reply beside sampling: grammars, biases, a least length, text after a gap."""

import pytest

from support.server import SMOLLM2

MODELS = ["smollm2", "gemma"]
HELLO = [{"role": "user", "content": "Is the sky blue?"}]
CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"


def reply(server, path, **more):
    body = {"model": "smollm2", "temperature": 0, "max_tokens": 16, **more}
    body |= {"messages": HELLO} if path == CHAT else {"prompt": "Is the sky blue? "}
    answer = server.post(path, body)
    assert answer.status_code == 200, answer.text
    choice = answer.json()["choices"][0]
    return choice["text"] if path == COMPLETIONS else choice["message"]["content"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("path", [CHAT, COMPLETIONS])
def test_a_grammar_is_followed(server, model, path):
    for grammar, allowed in [('root ::= "yes" | "no"', ("yes", "no")),
                             ('root ::= day "!"\nday ::= "Mon" | "Tue"', ("Mon!", "Tue!"))]:
        assert reply(server, path, model=model, grammar=grammar) in allowed


@pytest.mark.parametrize("grammar, words", [
    ("root ::= maybe", "there is no rule maybe"),
    ("start ::= \"a\"", "root"),
    ("root ::= \"a", "line 1"),
    ("root ::= root \"a\" | \"b\"", "begins with itself"),
    ("root ::= \"a\"{5,2}", "ends before it begins"),
    ("root ::= " + "\"a\"? " * 2000, "in a row"),
    ("root ::= " + "(" * 30000, "deep"),
    ("%llguidance {}", "line 1"),
])
def test_other_grammars_are_refused(server, grammar, words):
    answer = server.post(CHAT, {"model": "smollm2", "messages": HELLO, "grammar": grammar})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"] == "grammar"
    assert words in answer.json()["error"]["message"]
    assert reply(server, CHAT, grammar='root ::= "still here"') == "still here"


@pytest.mark.parametrize("more", [{"response_format": {"type": "json_object"}},
                                  {"tools": [{"type": "function", "function": {"name": "f"}}]}])
def test_a_grammar_stands_alone(server, more):
    body = {"model": "smollm2", "messages": HELLO, "grammar": 'root ::= "a"', **more}
    answer = server.post(CHAT, body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"] == "grammar"


@pytest.mark.parametrize("model", MODELS)
def test_min_tokens(server, model):
    body = {"model": model, "messages": HELLO, "temperature": 0, "max_tokens": 60}
    short = {**body, "messages": [{"role": "user", "content": "Say only: hi"}]}
    usual = server.post(CHAT, short).json()["usage"]["completion_tokens"]
    least = min(usual + 5, 60)
    longer = server.post(CHAT, {**short, "min_tokens": least}).json()
    assert longer["usage"]["completion_tokens"] >= least


@pytest.mark.parametrize("model", MODELS)
def test_biases_by_text_and_in_a_list(server, model):
    usual = reply(server, COMPLETIONS, model=model, max_tokens=4)
    for bias in ({" fox": 100}, [[" fox", 100]]):
        assert "fox" in reply(server, COMPLETIONS, model=model, logit_bias=bias, max_tokens=4)
    tokens = {"prompt": "Is the sky blue? ", "logprobs": 0}
    first = server.post(COMPLETIONS, {"model": model, "max_tokens": 1, "temperature": 0,
                                      **tokens}).json()["choices"][0]["logprobs"]["tokens"][0]
    banned = reply(server, COMPLETIONS, model=model, logit_bias={first: False}, max_tokens=4)
    assert usual.startswith(first) and not banned.startswith(first)


@pytest.mark.parametrize("path, more", [
    (COMPLETIONS, {"prompt": "def add(a, b):\n    "}),
    ("/api/generate", {"prompt": "def add(a, b):\n    ", "stream": False}),
])
def test_a_gap_without_marks_is_refused(server, path, more):
    answer = server.post(path, {"model": "smollm2", "suffix": "\n", **more})
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert "suffix" in (error if isinstance(error, str) else error["param"])


# Three of its control tokens, renamed to what engines know as the marks of a gap.
MARKS = [(b"<issue_closed>", b"<|fim_prefix|>"), (b"<jupyter_text>", b"<|fim_suffix|>"),
         (b"<jupyter_code>", b"<|fim_middle|>")]


@pytest.fixture
def filler(server, tmp_path):
    data = SMOLLM2.read_bytes()
    for name, mark in MARKS:
        assert data.count(name) == 1
        data = data.replace(name, mark)
    path = tmp_path / "filler.gguf"
    path.write_bytes(data)
    server.import_model(path, "filler")
    yield "filler"
    server.http.delete("/api/hearth/models/filler")


def test_a_gap_with_marks_is_filled(server, filler):
    before, after = "def add(a, b):\n    ", "\n\nprint(add(1, 2))\n"
    more = {"model": filler, "max_tokens": 4, "temperature": 0}
    filled = server.post(COMPLETIONS, {"prompt": before, "suffix": after, **more}).json()
    by_hand = {"prompt": f"<|fim_prefix|>{before}<|fim_suffix|>{after}<|fim_middle|>"}
    marked = server.post(COMPLETIONS, {**by_hand, **more}).json()
    assert filled["choices"][0]["text"] == marked["choices"][0]["text"]
    assert filled["usage"]["prompt_tokens"] == marked["usage"]["prompt_tokens"]
    ollama = {"model": filler, "stream": False, "prompt": before, "suffix": after,
              "options": {"num_predict": 4, "temperature": 0, "top_k": 1}}
    reply = server.post("/api/generate", ollama).json()
    assert reply["prompt_eval_count"] == filled["usage"]["prompt_tokens"]
    assert "insert" in server.post("/api/show", {"model": filler}).json()["capabilities"]
