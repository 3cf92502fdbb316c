# SPDX-License-Identifier: Apache-2.0
"""The `ollama` program itself, pointed at Hearth. HEARTH_OLLAMA names it where PATH does not."""

import os
import re
import shutil
import subprocess

import pytest

from support.registry import Registry
from support.server import SMOLLM2, clean_environment
from support.terminal import Terminal

OLLAMA = os.environ.get("HEARTH_OLLAMA") or shutil.which("ollama")

pytestmark = pytest.mark.skipif(
    not OLLAMA, reason="there is no `ollama` in PATH, and HEARTH_OLLAMA names none")

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Program:
    def __init__(self, server, home):
        self.environment = clean_environment({
            "OLLAMA_HOST": server.url, "HOME": str(home), "OLLAMA_MODELS": str(home / "models"),
            "OLLAMA_NO_CLOUD": "1", "NO_PROXY": "*", "TERM": "xterm-256color"})

    def run(self, *arguments, stdin=""):
        return subprocess.run([OLLAMA, *map(str, arguments)], input=stdin, capture_output=True,
                              text=True, timeout=90, env=self.environment)

    def ok(self, *arguments, stdin=""):
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return _ESCAPES.sub("", done.stdout)

    def fails(self, *arguments):
        done = self.run(*arguments)
        assert done.returncode != 0, done.stdout
        return _ESCAPES.sub("", done.stderr)

    def in_terminal(self, *arguments):
        return Terminal([OLLAMA, *arguments], self.environment)


@pytest.fixture
def ollama(server, tmp_path):
    return Program(server, tmp_path)


@pytest.fixture(params=["smollm2", "gemma"])
def model(server, request):
    """One that is soon done: the program cannot say so on its command line."""
    name = f"brief-{request.param}"
    server.ok("/api/hearth/create", {"name": name, "from": request.param,
                                     "parameters": {"num_predict": 12, "temperature": 0}})
    yield name
    server.http.request("DELETE", "/api/delete", json={"model": name})


def rows(table):
    return {line.split()[0]: line for line in table.splitlines()[1:]}


def test_list_and_show(ollama):
    listed = rows(ollama.ok("list"))
    assert {"smollm2:latest", "gemma:latest"} <= set(listed)
    assert re.search(r"\b98 MB\b", listed["smollm2:latest"])
    shown = ollama.ok("show", "smollm2")
    assert re.search(r"architecture\s+llama", shown) and re.search(r"quantization\s+Q4_1", shown)
    assert "completion" in shown
    assert str(SMOLLM2) in ollama.ok("show", "--modelfile", "smollm2")
    assert ollama.ok("show", "--template", "smollm2").strip()


def test_run_ps_stop(server, ollama, model):
    assert ollama.ok("run", model, "Say hello.").strip()
    loaded = rows(ollama.ok("ps"))[f"{model}:latest"]
    assert re.search(r"100% CPU", loaded)
    ollama.ok("stop", model)
    assert f"{model}:latest" not in rows(ollama.ok("ps"))
    assert server.model(model)["active"] == 0


def test_run_reads_what_is_piped(ollama, model):
    assert ollama.ok("run", model, stdin="Say hello.").strip()


def test_run_with_a_format_and_figures(ollama, model):
    done = ollama.run("run", model, "--format", "json", "--verbose", "--keepalive", "5m",
                      "A JSON object with a name")
    assert done.returncode == 0, done.stderr
    assert _ESCAPES.sub("", done.stdout).lstrip().startswith("{")
    for figure in ("total duration", "prompt eval count", "eval rate"):
        assert re.search(rf"{figure}:\s+\S", done.stderr), done.stderr


def test_a_conversation_in_a_terminal(ollama):
    terminal = ollama.in_terminal("run", "smollm2")
    terminal.expect(">>>")
    terminal.type("/set parameter num_predict 8\r")
    terminal.expect("Set parameter 'num_predict'")
    terminal.expect(">>>")
    terminal.type("Say hello.\r")
    terminal.expect(r"\w+ \w+")
    terminal.expect(">>>")
    terminal.type("/show info\r")
    terminal.expect("architecture")
    terminal.expect(">>>")
    terminal.type("/bye\r")
    assert terminal.wait() == 0


def test_cp_and_rm(ollama):
    assert "copied" in ollama.ok("cp", "smollm2", "second")
    assert "second:latest" in rows(ollama.ok("list"))
    assert "deleted" in ollama.ok("rm", "second")
    assert "second:latest" not in rows(ollama.ok("list"))
    assert SMOLLM2.exists()


@pytest.mark.parametrize("source", ["smollm2", SMOLLM2])
def test_create(ollama, tmp_path, source):
    recipe = tmp_path / "Modelfile"
    recipe.write_text(f"FROM {source}\nPARAMETER temperature 0\nPARAMETER num_predict 8\n"
                      "SYSTEM You are brief.\n")
    ollama.ok("create", "made", "-f", recipe)
    try:
        assert ollama.ok("show", "--system", "made").strip() == "You are brief."
        assert re.search(r"num_predict\s+8", ollama.ok("show", "--parameters", "made"))
        assert ollama.ok("run", "made", "Say hello.").strip()
    finally:
        ollama.ok("rm", "made")


def test_pull(new_server, tmp_path):
    with Registry() as registry:
        registry.add_model("library/smol:latest", SMOLLM2)
        server = new_server("stores = []\n" + registry.config(), model=None)
        program = Program(server, tmp_path)
        program.ok("pull", "smol")
        assert set(rows(program.ok("list"))) == {"smol:latest"}
        assert "has no library/nobody:latest" in program.fails("pull", "nobody")


@pytest.mark.parametrize("arguments, words", [
    (["show", "nobody"], "not found"),
    (["rm", "nobody"], "not found"),
    (["stop", "nobody"], "nobody"),
    (["cp", "nobody", "somebody"], "not found"),
    (["push", "smollm2"], ""),
    (["run", "smollm2", "--think", "Hi"], "no reasoning"),
    (["create", "made", "--quantize", "q4_0", "-f", "{modelfile}"], "llama-quantize"),
])
def test_what_is_not_there_is_refused(ollama, tmp_path, arguments, words):
    recipe = tmp_path / "Modelfile"
    recipe.write_text("FROM smollm2\n")
    said = ollama.fails(*[a.replace("{modelfile}", str(recipe)) for a in arguments])
    assert "Error" in said and words in said


def test_version(ollama, server):
    assert server.ok("/api/version")["version"] in ollama.ok("--version")
