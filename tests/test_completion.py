# SPDX-License-Identifier: Apache-2.0
"""What a shell offers, by asking the shell itself."""

import os
import shutil
import subprocess

import pytest

from support.server import HEARTH, clean_environment

HIDDEN = {"push", "signin", "signout"}
LAYERS = {"artifact", "pages", "weights", "compiled", "prefix"}


def script_for(shell):
    return subprocess.run([HEARTH, "completion", shell], capture_output=True, text=True,
                          check=True).stdout


def environment_with(address):
    path = f"{HEARTH.parent}{os.pathsep}{os.environ['PATH']}"
    return clean_environment({"HEARTH_HOST": address, "PATH": path})


def ask(command, address, directory):
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, cwd=directory,
                          env=environment_with(address))
    assert done.stderr == "", "completion never disturbs the line that is being typed"
    return done.stdout.splitlines()


class Bash:
    """The function that bash calls as the key is pressed, called the same way."""

    ASK = 'source "$1"; COMP_LINE=$2 COMP_POINT=${#2}; _hearth hearth; printf "%s\\n" "${COMPREPLY[@]}"'

    def __init__(self, directory):
        self.directory = directory
        self.script = directory / "hearth.bash"
        self.script.write_text(script_for("bash"))

    def offers(self, line, address="127.0.0.1:1"):
        command = ["bash", "--norc", "-c", self.ASK, "bash", str(self.script), line]
        return {word for word in ask(command, address, self.directory) if word}


class Fish:
    def __init__(self, directory):
        self.directory = directory
        self.script = directory / "hearth.fish"
        self.script.write_text(script_for("fish"))

    def offers(self, line, address="127.0.0.1:1"):
        command = ["fish", "--no-config", "-c", f"source {self.script}; complete -C '{line}'"]
        return {word.split("\t")[0] for word in ask(command, address, self.directory)}


@pytest.fixture(params=[Bash, Fish], ids=["bash", "fish"])
def shell(request, tmp_path):
    name = request.param.__name__.lower()
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    return request.param(tmp_path)


def test_verbs(shell):
    verbs = shell.offers("hearth ")
    assert {"serve", "run", "list", "ls", "ps", "pin", "unpin", "cp", "stop", "completion",
            "keys", "config", "help", "prefix", "doctor", "memory", "moves", "levels"} <= verbs
    assert not verbs & HIDDEN
    assert shell.offers("hearth unl") == {"unload"}


@pytest.mark.parametrize("line, words", [
    ("hearth warm --layer ", LAYERS),
    ("hearth warm --layer=pa", None),
    ("hearth pin smollm2 --layer ", {"weights", "pages"}),
    ("hearth --host box:1 cool x --layer p", {"pages", "prefix"}),
    ("hearth cool x --layer prefix --tier ", {"ram"}),
    ("hearth keys add phone --role ", {"use", "read-only", "admin"}),
    ("hearth keys ", {"add", "list", "ls", "rm"}),
    ("hearth completion ", {"bash", "zsh", "fish"}),
    ("hearth help comp", {"completion"}),
    ("hearth nonsense ", set()),
])
def test_words(shell, line, words):
    if words is None:  # the shells differ in what they replace
        assert {word.split("=")[-1] for word in shell.offers(line)} == {"pages"}
    else:
        assert shell.offers(line) == words


def test_options(shell):
    options = shell.offers("hearth load --")
    assert {"--keep-alive", "--wait", "--host", "--json", "--help"} <= options
    assert "--layer" not in options
    assert {"--number", "--json"} <= shell.offers("hearth moves --")


def test_files(shell):
    (shell.directory / "model.gguf").touch()
    assert shell.offers("hearth import mod") == {"model.gguf"}
    assert shell.offers("hearth serve --config mod") == {"model.gguf"}


def test_names_of_models(shell, server):
    at = f"127.0.0.1:{server.port}"
    for line in ("hearth load ", "hearth run smol", "hearth rm other ", "hearth cp ",
                 "hearth warm --layer pages s"):
        assert "smollm2:latest" in shell.offers(line, at), line
    assert shell.offers("hearth show smol", at) == {"smollm2:latest"}
    assert shell.offers("hearth load smollm2:latest ", at) == set()
    assert shell.offers("hearth cp smollm2 ", at) == set()


def test_a_colon_in_bash(tmp_path, server):
    # Bash replaces only what comes after the colon.
    assert Bash(tmp_path).offers("hearth load smollm2:la", f"127.0.0.1:{server.port}") == {"latest"}


def test_without_a_server(shell):
    assert shell.offers("hearth load ") == set()


@pytest.mark.parametrize("shell_name, check", [
    ("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])])
def test_syntax(shell_name, check, tmp_path):
    file = tmp_path / "script"
    file.write_text(script_for(shell_name))
    if not shutil.which(shell_name):
        pytest.skip(f"{shell_name} is not installed")
    subprocess.run([*check, file], check=True)


def test_zsh_knows_the_same():
    script = script_for("zsh")
    for part in ("#compdef hearth", "(list|ls) _hearth__list", "(unload|stop) _hearth__unload",
                 "(weights pages)", "(use read-only admin)", "'*:MODEL:_hearth_models'",
                 "hearth list --names 2>/dev/null", "compdef _hearth hearth"):
        assert part in script
    assert not any(f"({verb})" in script for verb in HIDDEN)


def test_an_unknown_shell():
    done = subprocess.run([HEARTH, "completion", "tcsh"], capture_output=True, text=True)
    assert done.returncode == 64 and "bash" in done.stderr
