# SPDX-License-Identifier: Apache-2.0
"""`hearth top`: the whole terminal, live, and what it leaves behind."""

import fcntl
import json
import os
import re
import signal
import struct
import subprocess
import termios
import threading

import pytest

from support.screen import Screen
from support.server import HEARTH, clean_environment
from support.terminal import Terminal
from support.waiting import eventually
from test_access import add_keys


def environment_of(server, **more):
    return clean_environment({"HEARTH_HOST": f"127.0.0.1:{server.port}", "TERM": "xterm",
                              "LANG": "C.UTF-8", **more})


AGE = r"(just now|\d+ (s|min) ago)"


class Top:
    """`hearth top` in a terminal of its own; `screen` is what somebody sees there."""

    def __init__(self, server, columns=100, **more):
        self.columns = columns
        self.terminal = Terminal([HEARTH, "top"], environment_of(server, **more), columns=columns)
        self.pid = self.terminal.process.pid

    @property
    def screen(self):
        return Screen(self.terminal.raw, self.columns)

    def see(self, pattern, timeout=30):
        def look():
            self.terminal.take(0.05)
            return re.search(pattern, self.screen.text)
        try:
            return eventually(look, pattern, timeout)
        except AssertionError:
            raise AssertionError(f"no {pattern!r} on the screen:\n{self.screen.text}") from None

    def resize(self, rows, columns):
        self.columns = columns
        self.terminal.raw = ""
        fcntl.ioctl(self.terminal._terminal, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def modes(self):
        return termios.tcgetattr(self.terminal._terminal)[3]

    def leave(self):
        self.terminal.type("q")
        return self.terminal.wait()

    def is_restored(self):
        return (self.terminal.raw.endswith("\x1b[?7h\x1b[?25h\x1b[?1049l")
                and not self.screen.alternate)


@pytest.fixture
def start_top():
    started = []

    def start(server, **more):
        started.append(Top(server, **more))
        return started[-1]

    yield start
    for top in started:
        if top.terminal.process.poll() is None:
            top.terminal.process.kill()


def ask_json(server, *arguments):
    done = subprocess.run([HEARTH, *arguments, "--json"], env=environment_of(server), timeout=60,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_replies_as_they_happen(new_server, start_top):
    server = new_server()
    top = start_top(server)
    top.see(r"live")
    assert top.screen.alternate
    assert "none yet" in top.screen.text and "nobody today" in top.screen.text
    line = top.see(r"smollm2:latest +(local|verified) +\S.*")[0]
    assert re.search(r"~?[\d.]+ m?s \(", line), line  # what a first token would take now
    asking = threading.Thread(target=lambda: server.complete(
        "Count.", max_tokens=600, ignore_eos=True))
    asking.start()
    top.see(r"smollm2:latest +\S+ m?s +writing, first token after")
    top.see(r"  prefill +\S+ m?s +\S")
    asking.join(60)
    top.see(AGE + r" +smollm2:latest +(load-cold|storage-cold) +\S+ m?s")
    top.see(r"today for 1 request; .* for cold layers: weights")
    top.see(r"Under way\s*\n *nothing")
    top.see(r"w weights \d")
    assert top.leave() == 0
    assert top.is_restored()


def test_the_terminal_is_as_before(server, start_top):
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        top = start_top(server)
        top.see("live")
        assert not top.modes() & (termios.ICANON | termios.ECHO)
        os.kill(top.pid, ending)
        while top.terminal.take(5):
            pass
        assert top.terminal.process.wait(10) == 130
        assert top.is_restored(), ending


def test_ctrl_c_is_typed(server, start_top):
    top = start_top(server)
    top.see("live")
    top.terminal.type("\x03")
    assert top.terminal.wait() == 130
    assert top.is_restored()


def test_it_survives_a_restart(new_server, start_top):
    server = new_server()
    top = start_top(server)
    top.see("live")
    port = server.port
    server.stop()
    top.see("not connected, trying again")
    assert "smollm2:latest" in top.screen.text
    server._arguments = ["--listen", f"127.0.0.1:{port}"]
    server.start()
    top.see("live", timeout=40)
    server.chat("Hi", max_tokens=2)
    top.see(AGE + " +smollm2:latest")
    assert top.leave() == 0


def test_another_size(server, start_top):
    top = start_top(server, columns=120)
    top.see("live")
    for rows, columns in [(40, 160), (16, 60), (8, 40)]:
        top.resize(rows, columns)
        top.see("hearth")
        assert len(top.screen.lines) <= rows
        assert max(map(len, top.screen.lines)) <= columns
    assert top.leave() == 0


def test_without_colours(server, start_top):
    top = start_top(server, NO_COLOR="1")
    top.see("live")
    assert not re.search(r"\x1b\[[\d;]*m", top.terminal.raw)
    assert top.leave() == 0


def test_it_draws_at_most_four_times_a_second(server, start_top):
    top = start_top(server)
    top.see("live")
    before = len(top.terminal.raw)
    reply = server.chat("Count to a hundred.", max_tokens=200)
    assert reply
    top.see(AGE + " +smollm2:latest")
    entry = server.ok("/api/hearth/requests?limit=1")["requests"][0]
    frames = top.terminal.raw[before:].count("writing, first token")
    assert frames <= entry["total_ms"] / 250 + 2
    assert top.leave() == 0


def test_in_a_pipe_and_as_json(server):
    server.chat("Hello", max_tokens=2)
    for arguments in (["top"], ["top", "--once"]):
        done = subprocess.run([HEARTH, *arguments], env=environment_of(server), timeout=60,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout
        assert re.search("smollm2:latest\t(local|verified)\t", done.stdout), done.stdout
        assert "Last replies" in done.stdout
    told = ask_json(server, "top")
    assert {"memory", "models", "running", "recent", "waited_today"} <= told.keys()
    assert told["recent"][0]["model"] == "smollm2:latest"
    assert told["waited_today"]["requests"] >= 1


def test_looking_is_no_use(new_server, start_top):
    server = new_server()
    top = start_top(server)
    top.see("live")
    eventually(lambda: server.metric("hearth_event_subscribers") == 1, "it follows events")
    assert server.model()["last_used_us"] == 0
    assert top.leave() == 0
    assert server.model()["layers"]["weights"]["level"] in ("none", "hollow")


def test_keys(new_server, start_top):
    server = new_server()
    keys = add_keys(server)
    for key, code in [(keys["wrong"], 1), (keys["use"], 1), (keys["read-only"], 0)]:
        done = subprocess.run([HEARTH, "top", "--once"], timeout=60, capture_output=True, text=True,
                              env=environment_of(server, HEARTH_API_KEY=key))
        assert done.returncode == code, done.stderr
    top = start_top(server, HEARTH_API_KEY=keys["read-only"])
    top.see("live")
    assert top.leave() == 0


def test_nobody_answers(server):
    done = subprocess.run([HEARTH, "--host", "127.0.0.1:9", "top"], env=environment_of(server),
                          timeout=60, capture_output=True, text=True)
    assert done.returncode == 2 and "no Hearth server" in done.stderr
