# SPDX-License-Identifier: Apache-2.0
"""The verbs: in a pipe, as JSON, and in a terminal."""

import json
import os
import subprocess

import pytest

from support.server import HEARTH, SMOLLM2
from support.terminal import Terminal
from support.waiting import eventually

NO_SERVER, USAGE = 2, 64


def environment_of(server):
    plain = {k: v for k, v in os.environ.items() if not k.startswith("HEARTH_")}
    return {**plain, "HEARTH_HOST": f"127.0.0.1:{server.port}", "TERM": "xterm-256color",
            "LANG": "C.UTF-8"}


def hearth(server, *arguments, stdin=""):
    return subprocess.run([HEARTH, *map(str, arguments)], input=stdin, capture_output=True,
                          text=True, timeout=60, env=environment_of(server))


def output_of(server, *arguments, stdin=""):
    done = hearth(server, *arguments, stdin=stdin)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr, "no escapes in a pipe"
    return done.stdout


def json_of(server, *arguments):
    return json.loads(output_of(server, "--json", *arguments))



def test_version(server):
    text = output_of(server, "version")
    assert "client" in text and "server" in text
    both = json_of(server, "version")
    assert both["client"] == both["server"]["version"]


def test_import_list_show_rm(new_server):
    server = new_server(model=None)
    assert "tiny" in output_of(server, "import", SMOLLM2, "--name", "tiny")
    assert "tiny:latest" in output_of(server, "list")
    assert "tiny:latest" in output_of(server, "ls")
    assert [m["name"] for m in json_of(server, "list")["models"]] == ["tiny:latest"]
    shown = output_of(server, "show", "tiny")
    assert str(SMOLLM2) in shown and "llama" in shown
    assert json_of(server, "show", "tiny")["paths"] == [str(SMOLLM2)]
    output_of(server, "rm", "tiny")
    assert json_of(server, "list")["models"] == []
    assert SMOLLM2.exists()


def test_import_makes_a_name(new_server):
    server = new_server(model=None)
    name = json_of(server, "import", SMOLLM2)["name"]
    assert name.startswith("smollm2")


def test_load_ps_unload(new_server):
    server = new_server()
    output_of(server, "load", "smollm2")
    line = next(r for r in output_of(server, "ps").splitlines() if "smollm2" in r)
    assert "resident" in line and "local" in line
    assert json_of(server, "ps")["models"][0]["layers"]["weights"]["level"] == "resident"
    assert "hollow" in output_of(server, "unload", "smollm2")
    output_of(server, "load", "smollm2")
    output_of(server, "stop", "smollm2")
    assert server.model()["layers"]["weights"]["level"] == "hollow"


def test_warm_and_cool(new_server, model_copy):
    server = new_server(model=model_copy)
    output_of(server, "cool", "smollm2", "--layer", "pages")
    assert server.model()["layers"]["pages"]["fraction"] < 0.05
    assert "100%" in output_of(server, "warm", "smollm2", "--layer", "pages")
    assert hearth(server, "warm", "smollm2", "--layer", "soup").returncode == USAGE


def test_run_with_a_prompt(server):
    question = "What is the capital of France?"
    text = output_of(server, "run", "smollm2", question, "--temperature", 0, "--max-tokens", 24)
    assert text.strip() == server.chat(question, max_tokens=24)["choices"][0]["message"]["content"]
    piped = output_of(server, "run", "smollm2", "--temperature", 0, "--max-tokens", 24,
                      stdin=question)
    assert piped == text
    reply = json_of(server, "run", "smollm2", "Hi", "--max-tokens", 4)
    assert reply["choices"][0]["message"]["content"] and reply["hearth"]


def test_why(server):
    report = server.complete("Why?")["hearth"]
    server.request(report["request_id"])
    text = output_of(server, "why", report["request_id"])
    for word in ("smollm2", report["class"], "prefill", "decode", report["request_id"]):
        assert word in text
    assert json_of(server, "why")["request_id"] == report["request_id"]
    assert hearth(server, "why", "nobody").returncode == 1


@pytest.mark.parametrize("arguments", [
    ["show", "nobody"], ["load", "nobody"], ["unload", "nobody"], ["rm", "nobody"],
    ["run", "nobody", "Hi"], ["import", "/nowhere/x.gguf", "--name", "x"],
    ["import", os.devnull, "--name", "x"]])
def test_failures_say_why_on_stderr(server, arguments):
    done = hearth(server, *arguments)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("hearth: ") and len(done.stderr) > 15


def test_no_server(tmp_path):
    environment = {**os.environ, "HEARTH_HOST": "127.0.0.1:1"}
    done = subprocess.run([HEARTH, "list"], capture_output=True, text=True, env=environment)
    assert done.returncode == NO_SERVER
    assert "hearth serve" in done.stderr


@pytest.mark.parametrize("arguments", [[], ["dance"], ["show"], ["list", "--colour"]])
def test_wrong_usage(server, arguments):
    assert hearth(server, *arguments).returncode == USAGE


@pytest.mark.parametrize("config, words", [
    ("colour = 1", ["colour", ":1:"]), ("queue = -1", ["queue"]), ("queue = 'x'", ["queue"]),
    ('layers_off = ["soup"]', ["soup"]), ("queue = [", [":1:"]), ("listen = '127.0.0.1:x'", ["port"])])
def test_wrong_configuration_does_not_start(tmp_path, config, words):
    file = tmp_path / "hearth.toml"
    file.write_text(config)
    command = [HEARTH, "serve", "--listen", "127.0.0.1:0", "--data", tmp_path / "data",
               "--config", file]
    if config.startswith("listen"):
        command[2:4] = []
    done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    assert done.returncode != 0
    assert all(word in done.stderr for word in words), done.stderr


# ---- in a terminal ----

def chat(server, *arguments):
    return Terminal([HEARTH, "run", "smollm2", "--temperature", "0", "--max-tokens", "24",
                     *arguments], environment_of(server))


def test_a_conversation(server):
    terminal = chat(server)
    terminal.expect("/help")
    terminal.type("My name is Bob. What is my name?\n")
    terminal.expect("Bob.*\n.*Bob")  # the question as typed, then the reply
    terminal.expect("tokens?/s|tok/s")
    prompt_tokens = server.ok("/api/hearth/requests/last")["prompt_tokens"]
    terminal.type("Say it again.\n")
    terminal.expect("tokens?/s|tok/s")
    again = server.ok("/api/hearth/requests/last")
    assert again["prompt_tokens"] > prompt_tokens + 10, "what was said is kept"
    assert again["cached_tokens"] >= prompt_tokens - 1
    terminal.type("/why\n")
    terminal.expect("prefill")
    terminal.type("/clear\n")
    terminal.type("Hello.\n")
    terminal.expect("tokens?/s|tok/s")
    assert server.ok("/api/hearth/requests/last")["prompt_tokens"] < prompt_tokens + 10
    terminal.type("/bye\n")
    assert terminal.wait() == 0


def test_interrupting_a_reply_keeps_the_conversation(server):
    terminal = Terminal([HEARTH, "run", "smollm2", "--max-tokens", "4000"], environment_of(server))
    terminal.expect("/help")
    terminal.type("Write a very long story about a lighthouse.\n")
    # Until the server has the question, ^C would only clear the line.
    eventually(lambda: server.model()["active"] == 1, "the reply is under way")
    terminal.type("\x03")
    server.wait_idle(timeout=2)
    terminal.type("/bye\n")
    assert terminal.wait() == 0


def test_progress_of_a_cold_model_in_a_terminal(new_server, model_copy):
    server = new_server(model=model_copy)
    server.cool("pages")
    terminal = chat(server, "Hello")
    assert terminal.wait() == 0
    assert "%" in terminal.raw and "\x1b[K" in terminal.raw, "a bar was drawn and cleared"


def test_tables_in_a_terminal(server):
    server.load()
    terminal = Terminal([HEARTH, "ps"], environment_of(server))
    assert terminal.wait() == 0
    header = terminal.text.splitlines()[0]
    for column in ("NAME", "ARTIFACT", "PAGES", "WEIGHTS", "COMPILED", "PREFIX"):
        assert column in header
    assert "resident" in terminal.text
