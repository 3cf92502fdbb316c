# SPDX-License-Identifier: Apache-2.0
"""The verbs: in a pipe, as JSON, and in a terminal."""

import http.server
import json
import os
import re
import subprocess
import threading

import pytest

from support.server import HEARTH, SMOLLM2, clean_environment
from support.terminal import Terminal
from support.waiting import eventually

NO_SERVER, USAGE = 2, 64


def environment_of(server):
    return clean_environment({"HEARTH_HOST": f"127.0.0.1:{server.port}",
                              "TERM": "xterm-256color", "LANG": "C.UTF-8"})


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
    assert "resident" in line and ("local" in line or "verified" in line)
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


@pytest.mark.parametrize("arguments", [
    ["--layer", "prefix"], ["smollm2", "--layer", "prefix", "--all"],
    ["smollm2", "--layer", "pages", "--tier", "ram"], ["--layer", "pages", "--all"],
    ["smollm2", "--layer", "prefix", "--tier", "disk"],
    ["smollm2", "--layer", "prefix", "--key", "hearth-" + "x" * 43]])
def test_what_cool_does_not_take(server, arguments):
    done = hearth(server, "cool", *arguments)
    assert done.returncode == USAGE and done.stderr
    assert "x" * 43 not in done.stderr


def test_load_with_a_keep_alive(new_server):
    server = new_server()
    output_of(server, "load", "smollm2", "--keep-alive", "30m", "--wait", 60)
    table = output_of(server, "ps").splitlines()
    cells = dict(zip(table[0].split("\t"), table[1].split("\t")))
    assert cells["UNTIL"] in ("29 minutes from now", "30 minutes from now")
    assert cells["CONTEXT"] != "-"
    assert "30m0s, as the last request asked" in output_of(server, "show", "smollm2")
    output_of(server, "load", "smollm2", "--keepalive", "-1")
    assert "until wanted" in output_of(server, "ps")
    assert hearth(server, "load", "smollm2", "--keep-alive", "soon").returncode == USAGE
    pages = hearth(server, "warm", "smollm2", "--layer", "pages", "--keep-alive", "5m")
    assert pages.returncode == 1 and "weights" in pages.stderr


def test_run_with_a_keep_alive_of_zero(new_server):
    server = new_server()
    output_of(server, "run", "smollm2", "Hi", "--max-tokens", 2, "--keep-alive", 0)
    eventually(lambda: server.model()["layers"]["weights"]["level"] == "hollow", "it was unloaded")


def rows_of(table):
    lines = [line.split("\t") for line in table.splitlines()]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def test_memory(server):
    def smollm2(text):
        rows = rows_of(text.split("\n\n")[-1])
        return next((row for row in rows if row.get("MODEL") == "smollm2:latest"), {})

    server.load()
    eventually(lambda: "MiB" in smollm2(output_of(server, "memory")).get("WEIGHTS", ""),
               "its heartbeats have told")
    text = output_of(server, "memory")
    assert re.search(r"^budget +\S+ .iB held, .* free of ", text, re.MULTILINE), text
    assert smollm2(text)["PINS"] == "-"
    told = json_of(server, "memory")
    assert told["limit_bytes"] > told["held_bytes"] > 0


def test_moves(new_server):
    server = new_server()
    assert output_of(server, "moves") == "" and json_of(server, "moves")["moves"] == []
    server.complete("1, 2, 3, 4,")
    server.config.write_text("memory_mib = 64\n")
    output_of(server, "config", "reload")
    eventually(lambda: server.model()["layers"]["weights"]["level"] != "resident", "it gives way")
    moved = rows_of(output_of(server, "moves"))
    weights = next(row for row in moved if row["FROM, TO"] == "resident -> hollow")
    assert weights["MODEL"] == "smollm2:latest" and weights["WHY"] == "memory was short"
    assert len(rows_of(output_of(server, "moves", "-n", 1))) == 1
    for wrong in (0, -1, "x"):
        assert hearth(server, "moves", "-n", wrong).returncode == USAGE


def test_a_promise_that_cannot_be_kept_is_never_hidden(new_server):
    server = new_server()
    server.load()
    columns = output_of(server, "ps").splitlines()
    assert len(columns[0].split("\t")) == len(columns[1].split("\t"))
    assert "None has to" in output_of(server, "levels")
    server.config.write_text("[models.smollm2]\nttft_ms = 1\nidle_gap = '2h'\n")
    output_of(server, "config", "reload")
    eventually(lambda: "1 ms cannot be met" in output_of(server, "ps"), "it was looked at")
    assert "a start now may take" in output_of(server, "ps")
    text = output_of(server, "levels")
    claim = rows_of(text[text.index("MODEL\tWITHIN"):].split("\n\n")[0])[0]
    assert (claim["MODEL"], claim["WITHIN"], claim["AFTER"]) == ("smollm2:latest", "1.0 ms", "2 h")
    assert (claim["STATE"], claim["KEPT"]) == ("unknown", "none") and claim["NOW UP TO"] != "-"
    assert json_of(server, "levels")["warmth"][0]["claim"]["promise"] == "cannot"
    terminal = Terminal([HEARTH, "ps"], environment_of(server), columns=80)
    assert terminal.wait() == 0 and re.search(r"^  1 ms cannot be met", terminal.text, re.MULTILINE)


def test_services_and_reading_ahead(new_server):
    server = new_server("prewarm = false\n[protected.db]\nprocess = 'no-such-process'\n")
    text = output_of(server, "levels")
    service = rows_of(text[text.index("SERVICE"):].split("\n\n")[0])[0]
    assert (service["SERVICE"], service["KIND"]) == ("db", "process")
    assert "off: it is switched off" in text
    assert json_of(server, "levels")["protected"][0]["name"] == "db"


class _OldServer(http.server.BaseHTTPRequestHandler):
    """Answers as a Hearth that has models and nothing newer."""

    def do_GET(self):
        known = self.path == "/api/hearth/models"
        body = b'{"models": []}' if known else b'{"error": {"message": "nothing at this path"}}'
        self.send_response(200 if known else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_an_older_server_is_named_as_such():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _OldServer) as old:
        threading.Thread(target=old.serve_forever, daemon=True).start()
        environment = clean_environment({"HEARTH_HOST": f"127.0.0.1:{old.server_port}"})
        for verb in ("memory", "moves", "levels"):
            done = subprocess.run([HEARTH, verb], capture_output=True, text=True, env=environment)
            assert done.returncode == 1 and done.stdout == ""
            assert "too old" in done.stderr and f"hearth {verb}" in done.stderr
        assert subprocess.run([HEARTH, "ps"], env=environment).returncode == 0
        old.shutdown()


def test_cp_and_rm_of_several(new_server):
    server = new_server()
    assert "assistant" in output_of(server, "cp", "smollm2", "assistant")
    assert json_of(server, "cp", "smollm2", "helper:b")["name"] == "helper:b"
    assert sorted(output_of(server, "list", "--names").split()) == [
        "assistant:latest", "helper:b", "smollm2:latest"]
    done = hearth(server, "rm", "assistant", "nobody", "helper:b")
    assert done.returncode == 1 and "nobody" in done.stderr
    assert "assistant" in done.stdout and "helper:b" in done.stdout
    assert output_of(server, "list", "--names").split() == ["smollm2:latest"]
    assert hearth(server, "cp", "nobody", "x").returncode == 1


def test_pin_and_unpin(new_server):
    server = new_server()
    assert "weights are pinned" in output_of(server, "pin", "smollm2")
    assert "pinned" in output_of(server, "ps", "--all")
    assert json_of(server, "show", "smollm2")["pinned"] == ["weights"]
    refused = hearth(server, "unload", "smollm2")
    assert refused.returncode == 1 and "hearth unpin" in refused.stderr
    assert "nothing is pinned" in output_of(server, "unpin", "smollm2", "--layer", "weights")
    output_of(server, "unload", "smollm2")
    assert hearth(server, "pin", "smollm2", "--layer", "prefix").returncode == USAGE
    for arguments in (["--bytes", "5M"], ["--layer", "pages", "--bytes", "much"]):
        assert hearth(server, "pin", "smollm2", *arguments).returncode == 1


def test_run_with_a_prompt(server):
    question = "What is the capital of France?"
    # From here on all of them evaluate the last token alone: batches of other lengths add up in
    # another order, and this model is torn between two answers.
    server.chat(question, max_tokens=24)
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


@pytest.mark.parametrize("form", ["127.0.0.1:{}", ":{}", "0.0.0.0:{}", "http://localhost:{}/",
                                  "http://127.0.0.1:{}"])
def test_the_server_is_found_by_ollama_host(server, form):
    environment = clean_environment({"OLLAMA_HOST": form.format(server.port)})
    done = subprocess.run([HEARTH, "list"], capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and "smollm2:latest" in done.stdout


def test_who_is_asked_and_who_says_so(server):
    nobody = clean_environment({"OLLAMA_HOST": "127.0.0.1:1"})
    done = subprocess.run([HEARTH, "list"], capture_output=True, text=True, env=nobody)
    assert done.returncode == NO_SERVER and "OLLAMA_HOST=127.0.0.1:1" in done.stderr
    ours_first = {**nobody, "HEARTH_HOST": f"127.0.0.1:{server.port}"}
    assert subprocess.run([HEARTH, "list"], capture_output=True, env=ours_first).returncode == 0
    flag_first = [HEARTH, "--host", f"127.0.0.1:{server.port}", "list"]
    assert subprocess.run(flag_first, capture_output=True, env=nobody).returncode == 0
    tls = clean_environment({"OLLAMA_HOST": "https://box"})
    done = subprocess.run([HEARTH, "list"], capture_output=True, text=True, env=tls)
    assert done.returncode == 1 and "OLLAMA_HOST=https://box" in done.stderr


@pytest.mark.parametrize("arguments", [[], ["dance"], ["show"], ["list", "--colour"]])
def test_wrong_usage(server, arguments):
    assert hearth(server, *arguments).returncode == USAGE


@pytest.mark.parametrize("typed, meant", [("lod", "load"), ("shwo", "show"), ("Stop", "stop")])
def test_an_unknown_verb_is_answered_with_the_nearest(server, typed, meant):
    done = hearth(server, typed, "smollm2")
    assert done.returncode == USAGE and f'"{meant}"' in done.stderr
    assert "did you mean" not in hearth(server, "xylophone").stderr


@pytest.mark.parametrize("arguments, hint", [
    (["push", "x", "--insecure"], "hearth show"), (["signin"], "account")])
def test_verbs_of_ollama_that_say_what_to_do_instead(server, arguments, hint):
    done = hearth(server, *arguments)
    assert done.returncode == 1 and hint in done.stderr and done.stdout == ""


def test_every_verb_explains_itself_with_an_example(server):
    overview = output_of(server, "help")
    verbs = re.findall(r"^  ([a-z]+)", overview.split("Subcommands:")[1], re.MULTILINE)
    assert len(verbs) > 15 and "push" not in verbs
    for verb in verbs:
        text = output_of(server, "help", verb)
        assert "Example: " in text and f"hearth {verb}" in text, verb
        assert text == output_of(server, verb, "--help"), verb
    assert hearth(server, "help", "lod").returncode == USAGE


def test_version_flags(server):
    assert output_of(server, "--version") == output_of(server, "-v")


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


def test_progress_of_a_load_in_a_terminal(new_server, model_copy):
    server = new_server(model=model_copy)
    server.cool("pages")
    terminal = Terminal([HEARTH, "load", "smollm2"], environment_of(server))
    assert terminal.wait() == 0
    assert "%" in terminal.raw and "\x1b[K" in terminal.raw, "a bar was drawn and cleared"
    assert terminal.text.splitlines()[-1].endswith("MiB") and "resident" in terminal.text


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_tables_fit_the_terminal(server, columns):
    server.load()
    for verb in ("ps", "list", "memory", "levels", "moves"):
        terminal = Terminal([HEARTH, verb], environment_of(server), columns=columns)
        assert terminal.wait() == 0
        assert all(len(line) <= columns for line in terminal.text.splitlines()), terminal.text
        assert "smollm2" in terminal.text or verb in ("levels", "moves")


def test_tables_in_a_terminal(server):
    server.load()
    terminal = Terminal([HEARTH, "ps"], environment_of(server))
    assert terminal.wait() == 0
    header = terminal.text.splitlines()[0]
    for column in ("NAME", "ARTIFACT", "PAGES", "WEIGHTS", "COMPILED", "PREFIX"):
        assert column in header
    assert "resident" in terminal.text
