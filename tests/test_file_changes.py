# SPDX-License-Identifier: Apache-2.0
"""Model files that change while they are in use: no reply is made from half of one and half of
another, and no server dies of it."""

import os
import shutil
import threading

import pytest

from support.server import GEMMA, SMOLLM2
from support.waiting import eventually

PROMPT = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,"
LONG = {"model": "smollm2", "prompt": PROMPT, "temperature": 0, "max_tokens": 96}


@pytest.fixture
def path(tmp_path):
    """A file of its own; with another name than it is shown to the server."""
    copy = tmp_path / "model.gguf"
    shutil.copyfile(SMOLLM2, copy)
    return copy


@pytest.fixture
def server(new_server, path):
    return new_server(model=path)


def overwrite(path):
    """The same bytes once more: what matters is that somebody wrote."""
    with open(path, "rb+") as file:
        file.seek(path.stat().st_size // 2)
        some = file.read(4096)
        file.seek(-len(some), os.SEEK_CUR)
        file.write(some)


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def replace(path, by=SMOLLM2):
    new = path.with_suffix(".new")
    shutil.copyfile(by, new)
    os.rename(new, path)


def text_of(events):
    return "".join(e["choices"][0]["text"] for e in events if e != "[DONE]" and e.get("choices"))


def stream_while(server, change, path):
    """The events of a reply in whose middle `change` comes."""
    events = []
    for event in server.stream("/v1/completions", LONG):
        events.append(event)
        if len(events) == 3:
            change(path)
    return events


def error_of(events):
    errors = [e["error"] for e in events if e != "[DONE]" and "error" in e]
    assert len(errors) == 1, events[-3:]
    return errors[0]


def good_text(server):
    return text_of(server.stream("/v1/completions", LONG))


@pytest.mark.parametrize("change", [overwrite, cut])
def test_a_write_in_mid_reply_ends_it_in_an_error(server, path, change):
    good = good_text(server)
    events = stream_while(server, change, path)
    error = error_of(events)
    assert "overwritten or cut" in error["message"], error
    assert str(path) not in error["message"]
    assert good.startswith(text_of(events)), "nothing wrong was shown before that"
    shutil.copyfile(SMOLLM2, path)
    assert good_text(server) == good


def test_a_cut_file_is_refused_until_it_is_whole(server, path):
    server.complete("Hello")
    cut(path)
    refused = server.post("/v1/completions", LONG)
    assert refused.status_code == 422, refused.text
    assert "broken" in refused.json()["error"]["message"]
    shutil.copyfile(SMOLLM2, path)
    assert server.complete("Hello")["choices"][0]["text"]


def test_a_whole_reply_is_an_error_too(server, path):
    server.load()
    writing = threading.Timer(0.2, overwrite, [path])
    writing.start()
    reply = server.post("/v1/completions", {**LONG, "max_tokens": 256})
    writing.join()
    assert reply.status_code == 503, reply.text
    assert "overwritten or cut" in reply.json()["error"]["message"]
    assert server.complete("Hello")["choices"][0]["text"]


def test_a_write_during_the_load(server, path):
    good = server.complete(PROMPT)["choices"][0]["text"]
    server.unload()
    ended = threading.Event()

    def write_on():
        while not ended.is_set():
            overwrite(path)

    writer = threading.Thread(target=write_on)
    writer.start()
    try:
        reply = server.post("/v1/completions", LONG)
    finally:
        ended.set()
        writer.join()
    assert reply.status_code == 503, reply.text
    assert server.complete(PROMPT)["choices"][0]["text"] == good


def test_others_are_told_as_well(server, path):
    """A worker that is given up for one reply takes the others with it, and none of them ends well."""
    server.load()
    started = threading.Event()
    others = []

    def ask():
        events = []
        for event in server.stream("/v1/completions", {**LONG, "max_tokens": 300}):
            events.append(event)
            started.set()
        others.append(events)

    other = threading.Thread(target=ask)
    other.start()
    assert started.wait(30)
    error_of(stream_while(server, overwrite, path))
    other.join()
    assert "overwritten or cut" in error_of(others[0])["message"]


def test_a_replaced_file_lets_the_reply_end_and_serves_the_next(server, path):
    good = good_text(server)
    events = stream_while(server, lambda p: replace(p, GEMMA), path)
    assert events[-1] == "[DONE]"
    assert text_of(events) == good
    reply = server.complete(PROMPT, max_tokens=2)
    assert server.model()["architecture"] == "gemma3"
    verdict = reply["hearth"]["verdict"]
    assert verdict["code"] in ("weights.first_use", "pages.replaced"), verdict
    if verdict["code"] == "weights.first_use":
        assert "was changed" in verdict["text"]


def test_a_removed_file_lets_the_reply_end(server, path):
    good = good_text(server)
    events = stream_while(server, os.remove, path)
    assert text_of(events) == good
    for _ in range(2):
        assert server.post("/v1/completions", LONG).status_code == 404
    shutil.copyfile(SMOLLM2, path)
    assert good_text(server) == good


def test_a_touched_file_fails_nothing(server, path):
    good = good_text(server)
    events = stream_while(server, os.utime, path)
    assert text_of(events) == good
    assert events[-1] == "[DONE]"
    assert good_text(server) == good


def test_a_new_link_costs_no_load(server, path):
    server.complete("Hello")
    pid = server.worker_pid()
    os.link(path, path.with_suffix(".too"))
    reply = server.complete("Hello")
    assert reply["hearth"]["class"] == "warm", reply["hearth"]
    assert server.worker_pid() == pid


def test_the_list_knows_of_a_cut_file_at_once(server, path):
    stream_while(server, cut, path)
    eventually(lambda: server.model().get("status") == "broken", "the catalogue has looked")
