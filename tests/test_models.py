# SPDX-License-Identifier: Apache-2.0
"""Import by reference, and files that are missing, changed, broken or hostile."""

import os
import shutil

import pytest

from support import gguf, procfs
from support.server import GEMMA, SMOLLM2
from support.waiting import eventually



def refused_import(server, path, name="broken"):
    answer = server.post("/api/hearth/import", {"path": str(path), "name": name})
    assert 400 <= answer.status_code < 500, answer.text
    error = answer.json()["error"]
    assert error["message"]
    assert server.get(f"/api/hearth/models/{name}").status_code == 404
    return error


def test_import_is_by_reference(new_server, model_copy):
    server = new_server(model=None)
    model = server.import_model(model_copy, "mine")
    assert model["status"] == "ok"
    assert model["paths"] == [str(model_copy)]
    assert model["size"] == model_copy.stat().st_size
    assert model["architecture"] == "llama"
    assert model["has_chat_template"] is True
    stored = sum(f.stat().st_size for f in server.data.rglob("*") if f.is_file())
    assert stored < 8 << 20, "a reference needs no copy"
    assert server.import_model(model_copy, "mine")["name"] == "mine:latest"


def test_a_name_that_is_taken(server, model_copy):
    answer = server.post("/api/hearth/import", {"path": str(model_copy), "name": "gemma"})
    assert answer.status_code == 409
    assert server.model("gemma")["paths"] == [str(GEMMA)]


def test_two_names_share_a_worker(new_server):
    server = new_server()
    server.import_model(SMOLLM2, "other:v1")
    server.complete("Hi")
    assert server.complete("Hi", model="other:v1")["hearth"]["class"] == "warm"
    assert server.worker_pid("other:v1") == server.worker_pid()
    assert len(procfs.children(server.pid)) == 1


def test_removal_keeps_the_file(new_server, model_copy):
    server = new_server(model=model_copy)
    server.complete("Hi")
    worker = server.worker_pid()
    assert server.http.delete("/api/hearth/models/smollm2").status_code == 200
    assert model_copy.stat().st_size > 0
    assert server.get("/api/hearth/models/smollm2").status_code == 404
    assert server.get("/v1/models/smollm2").status_code == 404
    eventually(lambda: not procfs.is_alive(worker), "the worker ends")
    assert server.http.delete("/api/hearth/models/smollm2").status_code == 404


@pytest.mark.parametrize("percent", [10, 50, 99])
def test_a_cut_file_is_refused(server, tmp_path, percent):  # row 26
    cut = tmp_path / "cut.gguf"
    shutil.copyfile(SMOLLM2, cut)
    os.truncate(cut, SMOLLM2.stat().st_size * percent // 100)
    refused_import(server, cut)


@pytest.mark.parametrize("name", gguf.HOSTILE)
def test_a_hostile_file_is_refused(server, tmp_path, name):  # row 26
    path = tmp_path / "x.gguf"
    path.write_bytes(gguf.HOSTILE[name])
    before = procfs.rss_bytes(server.pid)
    refused_import(server, path)
    assert procfs.rss_bytes(server.pid) - before < 32 << 20, "no huge allocation"


def test_things_that_are_no_files_are_refused(server, tmp_path):  # row 26
    directory = tmp_path / "directory.gguf"
    directory.mkdir()
    pipe = tmp_path / "pipe.gguf"
    os.mkfifo(pipe)
    endless = tmp_path / "endless.gguf"
    endless.symlink_to("/dev/zero")
    loop = tmp_path / "loop.gguf"
    loop.symlink_to(loop)
    for path in (directory, pipe, endless, loop, tmp_path / "nothing.gguf"):
        refused_import(server, path)


def test_a_set_with_a_missing_shard_is_refused(server, tmp_path):  # row 26
    for number in (1, 3):
        path = tmp_path / f"m-{number:05}-of-00003.gguf"
        path.write_bytes(gguf.shard(number - 1, 3))
    error = refused_import(server, tmp_path / "m-00001-of-00003.gguf")
    assert "00002-of-00003" in error["message"]


def load_refused(server):
    answer = server.post("/api/hearth/load", {"model": "smollm2"})
    assert 400 <= answer.status_code < 600, answer.text
    chat = server.post("/v1/completions", {"model": "smollm2", "prompt": "Hi"})
    assert 400 <= chat.status_code < 600
    assert "/" not in chat.json()["error"]["message"], "no server path for clients"
    assert server.get("/health").status_code == 200
    return answer.json()["error"]["message"]


@pytest.fixture
def own_file(new_server, tmp_path):
    path = tmp_path / "own.gguf"
    shutil.copyfile(SMOLLM2, path)
    return new_server(model=path), path


def test_a_file_that_breaks_later_is_listed_as_broken(own_file):  # row 26
    server, path = own_file
    os.truncate(path, path.stat().st_size // 2)
    assert load_refused(server)
    model = server.model()
    assert model["status"] == "broken"
    assert model["reason"]


def test_a_file_that_goes_is_listed_as_missing_and_may_come_back(own_file):
    server, path = own_file
    away = path.with_suffix(".away")
    path.rename(away)
    assert "missing" in load_refused(server)
    assert server.model()["status"] == "missing"
    away.rename(path)
    assert server.complete("Hi")["choices"][0]["text"]
    assert server.model()["status"] == "ok"


def test_a_replaced_file_is_noticed(own_file):
    server, path = own_file
    before = server.model()["artifact"]
    replacement = path.with_suffix(".new")
    shutil.copyfile(GEMMA, replacement)
    replacement.rename(path)
    server.post("/api/hearth/load", {"model": "smollm2"})
    model = server.model()
    assert model["status"] == "changed" or model["artifact"] != before
    assert server.get("/health").status_code == 200


def test_an_unsupported_architecture_is_refused_with_a_reason(new_server, tmp_path):  # row 26
    path = tmp_path / "odd.gguf"
    pairs = gguf.pair("general.architecture", gguf.STRING, gguf.text("nobody"))
    data = gguf.head(1, 1) + pairs + gguf.tensor("t", 0)
    path.write_bytes(data + b"\0" * (-len(data) % 32) + b"\0" * 128)
    server = new_server(allow=["unknown model architecture", "failed to load model"])
    answer = server.post("/api/hearth/import", {"path": str(path), "name": "odd"})
    if answer.status_code == 200:
        answer = server.post("/api/hearth/load", {"model": "odd"})
    assert 400 <= answer.status_code < 600
    assert answer.json()["error"]["message"]
    assert server.complete("Hi")["choices"]


BAD_NAMES = ["../../etc/passwd", "a/../../b", "%2e%2e%2f", "/etc/passwd", "a\0b", "x" * 10_000,
             "sha256:../../x", "..", ".", "a//b", " ", "a b", "a:b:c", "\u2603", "a\n"]


@pytest.mark.parametrize("name", BAD_NAMES, ids=range(len(BAD_NAMES)))
def test_bad_names(server, name):  # row 31
    admin = server.post("/api/hearth/import", {"path": str(SMOLLM2), "name": name})
    assert admin.status_code == 400, admin.text
    assert admin.json()["error"]["field"] == "name"
    chat = server.post("/v1/completions", {"model": name, "prompt": "Hi"})
    assert chat.status_code in (400, 404), chat.text
    assert str(server.data) not in chat.text


@pytest.mark.parametrize("path", [
    "/v1/models/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "/v1/models/..%2f..%2fetc%2fpasswd",
    "/api/hearth/models/%00", "/api/hearth/requests/..%2f..%2fcatalogue.db", "/v1/models/%ff"])
def test_bad_names_in_paths(server, path):  # row 31
    answer = server.get(path)
    assert answer.status_code in (400, 404), answer.text
    assert "root:" not in answer.text and str(server.data) not in answer.text
