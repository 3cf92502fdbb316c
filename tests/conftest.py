# SPDX-License-Identifier: Apache-2.0
"""Servers and models for the end-to-end tests."""

import os
import shutil

import pytest

from support.prefix import know_content
from support.server import GEMMA, ROOT, SMOLLM2, Server
from support.synthetic_models import SPECS, write_synthetic_model

# Nothing here may leave the machine, and a proxy would not know the way back.
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1,localhost"


def check_log(server, allowed=()):
    """An error in a server's log fails the test, unless the test expects it."""
    errors = [line for line in server.new_errors() if not any(a in line for a in allowed)]
    assert not errors, "\n".join(errors)


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("shared") / "data").start()
    try:
        server.import_model(SMOLLM2, "smollm2")
        server.import_model(GEMMA, "gemma")
        yield server
        server.stop()
    finally:
        server.kill()


@pytest.fixture
def server(shared_server):
    """One server for all tests that leave it as they found it, with smollm2 and gemma."""
    yield shared_server
    check_log(shared_server)
    assert shared_server.process.poll() is None, "the server is gone"


@pytest.fixture
def caller(server):
    """A name of smollm2 with a template that calls tools; those of both models cannot."""
    template = (ROOT / "tests/support/tools.jinja").read_text()
    server.ok("/api/hearth/create", {"name": "caller", "from": "smollm2", "template": template})
    yield "caller"
    server.http.request("DELETE", "/api/delete", json={"model": "caller"})


@pytest.fixture
def new_server(tmp_path):
    """Starts servers that belong to one test: new_server(config, model=PATH or None, allow=[…],
    and what else Server takes)."""
    started = []

    def start(config="", model=SMOLLM2, allow=(), **options):
        server = Server(tmp_path / f"data{len(started)}", config, **options).start()
        started.append((server, allow))
        if model:
            server.import_model(model, "smollm2")
        return server

    try:
        yield start
        for server, allow in started:
            if server.process.poll() is None:
                server.stop()
            check_log(server, allow)
    finally:
        for server, _ in started:
            server.kill()


@pytest.fixture(scope="session")
def model_copy(tmp_path_factory):
    """A file of its own, so that its pages can be dropped while other servers map the original."""
    path = tmp_path_factory.mktemp("models") / "smollm2.gguf"
    shutil.copyfile(SMOLLM2, path)
    with open(path, "rb+") as file:
        os.fsync(file.fileno())  # dirty pages cannot be dropped
    return path


@pytest.fixture(scope="session")
def repackable_model(tmp_path_factory):
    """4 MB of noise that speaks the same words each time, all of whose matrices a plain load repacks
    on processors with AVX2."""
    path = tmp_path_factory.mktemp("models") / "tiny-q4_k.gguf"
    write_synthetic_model(path, SPECS["tiny-q4_k"], SMOLLM2)
    return path


@pytest.fixture
def tiny_server(new_server, repackable_model):
    """tiny_server(config): a server with that model as "smollm2", whose content is known, so that what
    is kept of its prompts may go to disk. Evaluating takes it milliseconds. One thread: the number of
    threads changes last bits."""

    def start(config="", **options):
        server = new_server("threads = 1\n" + config, model=repackable_model, **options)
        know_content(server)
        return server

    return start
