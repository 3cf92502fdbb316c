# SPDX-License-Identifier: Apache-2.0
"""Configuration from outside: what refuses to start, what stands in, what a reload takes over."""

import json
import os
import signal
import subprocess

import pytest

from support.server import HEARTH, ROOT, clean_environment

SECONDS = 20


def hearth(*arguments, environment=None):
    return subprocess.run(
        [HEARTH, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=SECONDS, env=clean_environment(environment))


@pytest.fixture
def serve(tmp_path):
    """Runs `hearth serve` on a configuration that it should refuse."""
    def run(text, *arguments, environment=None):
        path = tmp_path / "hearth.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path, hearth("serve", "--config", path, "--data", tmp_path / "data",
                            "--listen", "127.0.0.1:0", *arguments, environment=environment)
    return run


@pytest.mark.parametrize("text, place, says", [
    ("paralel = 2\n", "1:1", 'did you mean "parallel"?'),
    ("\nparallel = 0\n", "2:12", "from 1 to 64, not 0"),
    ('log_level = "inf"\n', "1:13", 'did you mean "info"?'),
    ("[model.qwen]\n", "1:2", 'did you mean "models"?'),
    ('[models.qwen]\nalias = ["x"]\n', "2:1", 'did you mean "aliases"?'),
    ('[models.a]\naliases = ["x"]\n[models.b]\naliases = ["x"]\n', "4:12", "already the name"),
    ("queue = 1\nqueue = 2\n", "2:", "cannot redefine"),
    ('[protected.a]\nproces = "x"\n', "2:1", 'did you mean "process"?'),
    ('[protected.a]\npsi_limit = 5\n', "1:12", "exactly one of process, cgroup and url"),
    ('[models.a]\npriority = 11\n', "2:12", "from -10 to 10, not 11"),
    (b'data = "\xff"\n', "1:", ""),
])
def test_a_wrong_file_is_refused_with_its_place(serve, text, place, says):
    path, ended = serve(text)
    assert ended.returncode == 64, ended.stderr
    assert f"{path}:{place}" in ended.stderr
    assert says in ended.stderr


@pytest.mark.parametrize("name, value, says", [
    ("OLLAMA_KEEP_ALIVE", "forever", "forever"),
    ("OLLAMA_NUM_PARALLEL", "lots", "whole number"),
    ("OLLAMA_CONTEXT_LENGTH", "-1", "from 0"),
    ("HEARTH_THREADS", "many", "whole number"),
])
def test_a_wrong_variable_is_refused_by_name(serve, name, value, says):
    _, ended = serve("", environment={name: value})
    assert ended.returncode == 64, ended.stderr
    assert f"{name}: " in ended.stderr and says in ended.stderr


def test_a_wrong_argument_is_refused_by_name(serve):
    _, ended = serve("", "--option", "quue=3")
    assert ended.returncode == 64
    assert '--option: there is no option "quue"; did you mean "queue"?' in ended.stderr


def test_everything_wrong_is_said_at_once(serve):
    path, ended = serve("paralel = 2\nqueue = -1\n", environment={"HEARTH_THREADS": "x"})
    assert f"{path}:1:1" in ended.stderr and f"{path}:2:9" in ended.stderr
    assert "HEARTH_THREADS" in ended.stderr


@pytest.mark.parametrize("path", ["/nowhere/hearth.toml", "/"])
def test_what_is_no_file_is_refused(path):
    ended = hearth("serve", "--config", path)
    assert ended.returncode == 64
    assert path in ended.stderr


def test_ollamas_variables_are_named_at_start(new_server):
    server = new_server(model=None, environment={
        "OLLAMA_KEEP_ALIVE": "10m", "OLLAMA_FLASH_ATTENTION": "1", "HEARTH_PARALEL": "2"})
    log = "\n".join(server.output.lines)
    assert "config.from_ollama name=OLLAMA_KEEP_ALIVE value=10m option=keep_alive" in log
    assert "config.ollama_ignored name=OLLAMA_FLASH_ATTENTION" in log
    assert "config.unknown_variable name=HEARTH_PARALEL nearest=HEARTH_PARALLEL" in log
    keep = option(server, "keep_alive")
    assert keep["value"] == "10m0s" and keep["source"] == "ollama"
    assert keep["origin"] == "OLLAMA_KEEP_ALIVE"


def test_what_only_ollama_takes_is_told_and_left_out(new_server):
    server = new_server(model=None, environment={
        "OLLAMA_LOAD_TIMEOUT": "72h", "OLLAMA_ORIGINS": "http://192.168.1.*,http://a.example"})
    log = "\n".join(server.output.lines)
    assert "config.ollama_in_part name=OLLAMA_LOAD_TIMEOUT option=hang_seconds" in log
    assert "config.ollama_in_part name=OLLAMA_ORIGINS option=origins" in log
    assert option(server, "hang_seconds")["value"] == 86400
    assert option(server, "origins")["value"] == ["http://a.example"]


def option(server, name):
    return next(o for o in server.ok("/api/hearth/config")["options"] if o["name"] == name)


def test_every_value_has_an_origin(new_server):
    server = new_server("queue = 7\n", model=None, environment={"HEARTH_THREADS": "2"},
                        arguments=["-o", "parallel=3"])
    assert option(server, "queue")["origin"] == f"{server.config}:1:9"
    assert option(server, "threads")["origin"] == "HEARTH_THREADS"
    assert option(server, "parallel")["origin"] == "--option"
    assert option(server, "context")["source"] == "default"
    shown = hearth("--host", server.url, "config").stdout
    assert f"queue\t7\t{server.config}:1:9" in shown


def test_sighup_takes_over_what_can_change(new_server):
    server = new_server('log_level = "info"\n', model=None)
    server.config.write_text('log_level = "debug"\nparallel = 2\n[models.a]\nkeep_alive = 5\n')
    server.process.send_signal(signal.SIGHUP)
    server.output.wait_for(r"config\.needs_restart option=parallel", SECONDS)
    assert option(server, "log_level")["value"] == "debug"
    assert option(server, "parallel")["value"] == 4
    models = server.ok("/api/hearth/config")["models"]
    assert models["a:latest"]["keep_alive"]["value"] == "5s"


def test_services_that_come_first_are_shown_and_taken_over(new_server):
    server = new_server('[protected.recorder]\nprocess = "frigate"\n', model=None)
    shown = hearth("--host", server.url, "config").stdout
    assert f'protected."recorder".process\t"frigate"\t{server.config}:1:12' in shown
    assert f'protected."recorder".p99_percent\t110\t{server.config}:1:12' in shown
    server.config.write_text('memory_mib = 4096\n[protected.db]\ncgroup = "system.slice/db"\n')
    server.process.send_signal(signal.SIGHUP)
    server.output.wait_for(r"config\.reloaded", SECONDS)
    assert option(server, "memory_mib")["value"] == 4096
    services = server.ok("/api/hearth/config")["protected"]
    assert list(services) == ["db"] and services["db"]["cgroup"] == "system.slice/db"


def test_a_sighup_before_there_is_a_server_ends_nothing(tmp_path):
    """It comes while the configuration is read: from a pipe, so that the moment is known."""
    config = tmp_path / "hearth.toml"
    os.mkfifo(config)
    process = subprocess.Popen(
        [HEARTH, "serve", "--data", tmp_path / "data", "--config", config],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env=clean_environment())
    with config.open("w") as pipe:
        process.send_signal(signal.SIGHUP)
        pipe.write("paralel = 1\n")
    _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 64, said
    assert "paralel" in said


def test_a_bad_reload_changes_nothing(new_server):
    server = new_server('hosts = ["a.example"]\n', model=None)
    server.config.write_text('hosts = ["b.example"]\nqueu = 1\n')
    answer = server.post("/api/hearth/config/reload", {})
    assert answer.status_code == 400
    assert f"{server.config}:2:1" in answer.text
    server.output.wait_for(r"config\.not_reloaded", SECONDS)
    assert option(server, "hosts")["value"] == ["a.example"]
    assert server.get("/health", headers={"Host": "a.example"}).status_code == 200
    assert server.get("/health", headers={"Host": "b.example"}).status_code == 403


def test_a_reload_changes_who_may_call(new_server):
    server = new_server(model=None)
    assert server.get("/health", headers={"Host": "b.example"}).status_code == 403
    server.config.write_text('hosts = ["b.example"]\nqueue = 3\n')
    reloaded = hearth("--host", server.url, "config", "reload")
    assert reloaded.returncode == 0, reloaded.stderr
    assert "changed: hosts" in reloaded.stdout
    assert "waits for the next start: queue" in reloaded.stdout
    assert server.get("/health", headers={"Host": "b.example"}).status_code == 200
    again = json.loads(hearth("--host", server.url, "--json", "config", "reload").stdout)
    assert again["changed"] == [] and again["needs_restart"] == ["queue"]


def test_check_needs_no_server(tmp_path):
    path = tmp_path / "hearth.toml"
    path.write_text('[models."qwen2.5:7b"]\ncontext = 4096\n')
    good = hearth("config", "check", path)
    assert good.returncode == 0 and "all right" in good.stdout
    path.write_text("[models.a]\ncontxt = 4096\n")
    bad = hearth("config", "check", path)
    assert bad.returncode == 64
    assert bad.stderr.startswith(f"{path}:2:1: ")
    assert 'did you mean "context"?' in bad.stderr


def test_check_finds_the_file_that_serve_would_read(tmp_path):
    (tmp_path / "hearth").mkdir()
    (tmp_path / "hearth/hearth.toml").write_text("queue = -1\n")
    ended = hearth("config", "check", environment={"XDG_CONFIG_HOME": str(tmp_path)})
    assert ended.returncode == 64
    assert f"{tmp_path}/hearth/hearth.toml:1:9: queue" in ended.stderr


def test_serving_others_without_keys_is_warned_about(new_server):
    server = new_server(model=None, listen="0.0.0.0:0")
    server.output.wait_for(r"warn +server\.open_to_the_network .*hearth keys add NAME --role admin",
                           SECONDS)


def test_serving_oneself_is_not(new_server):
    server = new_server(model=None)
    assert not any("server.open_to_the_network" in line for line in server.output.lines)


def test_the_documentation_is_what_the_program_says():
    documented = (ROOT / "docs/configuration.md").read_text()
    assert hearth("config", "docs").stdout == documented, "`make docs` writes it"
