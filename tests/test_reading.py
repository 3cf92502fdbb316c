# SPDX-License-Identifier: Apache-2.0
"""Reading from devices: only what is missing, one at a time where that is faster, and told."""

import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest

from support.server import SMOLLM2
from support.waiting import eventually

MIB = 1 << 20


def drop(path, offset=0, length=0):
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), offset, length, os.POSIX_FADV_DONTNEED)


def device_reads(pid):
    """What a process, and none of its children, had from devices so far."""
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["read_bytes"])


def own_copy(directory, name):
    path = directory / name
    shutil.copyfile(SMOLLM2, path)
    with open(path, "rb+") as file:
        os.fsync(file.fileno())  # dirty pages cannot be dropped
    return path


def pages(server, name="smollm2"):
    return server.model(name)["layers"]["pages"]


def warm_pages(server):
    return server.ok("/api/hearth/warm", {"model": "smollm2", "layer": "pages"})


@pytest.mark.parametrize("stride", [0, MIB, 64 << 10])
def test_at_half_residency_only_the_missing_half_is_read(new_server, tmp_path, stride):
    model = own_copy(tmp_path, "model.gguf")
    server = new_server(model=model, config="hollow_workers = 0\n")
    warm_pages(server)
    assert pages(server)["fraction"] == pytest.approx(1)
    size = model.stat().st_size
    if stride == 0:
        drop(model, size // 2)
    else:
        for at in range(0, size, 2 * stride):
            drop(model, at, stride)
    before = device_reads(server.pid)
    warmed = warm_pages(server)["layers"]["pages"]
    read = device_reads(server.pid) - before
    assert warmed["fraction"] == pytest.approx(1)
    # Of small holes the kernel keeps what shares a folio with pages that stay.
    assert 0.2 * size < read <= 1.05 * (size / 2 + 4096)


def test_what_is_there_is_not_read(new_server, tmp_path):
    server = new_server(model=own_copy(tmp_path, "model.gguf"), config="hollow_workers = 0\n")
    warm_pages(server)
    before = device_reads(server.pid)
    warm_pages(server)
    assert device_reads(server.pid) - before < MIB


def test_a_file_in_memory_has_no_device_to_wait_for(new_server):
    shared = Path("/dev/shm")
    if not shared.is_dir() or shutil.disk_usage(shared).free < 2 * SMOLLM2.stat().st_size:
        pytest.skip("no room in /dev/shm")
    model = shared / f"hearth-test-{os.getpid()}.gguf"
    shutil.copyfile(SMOLLM2, model)
    try:
        server = new_server(model=model, config='read_serial = "always"\n')
        assert server.complete("Hi")["choices"]
        storage = server.ok("/api/hearth/details/smollm2")["storage"]
        assert storage["kind"] == "memory"
        assert storage["file_system"] == "tmpfs"
        assert storage["choice"]["mode"] == "mapped"
        assert storage["one_at_a_time"] is False
    finally:
        model.unlink()


def test_cold_loads_from_one_device_wait_for_each_other(new_server, tmp_path):
    first, second = own_copy(tmp_path, "first.gguf"), own_copy(tmp_path, "second.gguf")
    server = new_server(model=first, config='read_serial = "always"\n')
    server.import_model(second, "other")
    for name, path in (("smollm2", first), ("other", second)):
        server.complete("Hi", model=name)
        server.unload(name)
        drop(path)
        assert server.ok("/api/hearth/cool", {"model": name, "layer": "pages"})

    def device():
        (only,) = server.ok("/api/hearth/version")["devices"]
        return only

    assert device()["one_at_a_time"] is True
    replies = {}

    def ask(name):
        replies[name] = server.complete("Hello", model=name)

    threads = [threading.Thread(target=ask, args=(name,)) for name in ("smollm2", "other")]
    worker = server.worker_pid()
    os.kill(worker, signal.SIGSTOP)
    try:
        threads[0].start()
        eventually(lambda: device()["reading"], "the first reads")
        threads[1].start()
        eventually(lambda: device()["waiting"] == 1, "the second waits")
        since = time.monotonic()
        eventually(lambda: time.monotonic() > since + 5, "it has waited longer than it will read")
        assert "other" not in replies
    finally:
        os.kill(worker, signal.SIGCONT)
    for thread in threads:
        thread.join(60)
    hearth = replies["other"]["hearth"]
    assert hearth["queued_ms"] >= 4900
    assert hearth["verdict"]["code"] == "queue.behind_load"
    assert hearth["other_ms"] < 100
    assert replies["smollm2"]["hearth"]["verdict"]["code"] != "queue.behind_load"
    assert device()["waiting"] == 0 and device()["reading"] is False


def test_what_was_measured_outlives_a_restart(new_server, tmp_path):
    model = own_copy(tmp_path, "model.gguf")
    if model.stat().st_size < 64 * MIB:
        pytest.skip("too small to tell a device's rate")
    server = new_server(model=model, config="hollow_workers = 0\n")
    warm_pages(server)
    drop(model)
    warm_pages(server)
    (device,) = server.ok("/api/hearth/version")["devices"]
    assert device["rates"][0]["bytes_per_s"] > 0
    assert device["choice"]["why"]
    kept = server.data / "devices.json"
    eventually(kept.exists, "the rates are kept")
    server.stop()
    server.start()
    storage = server.ok("/api/hearth/details/smollm2")["storage"]
    assert storage["rates"] == device["rates"]
    server.stop()
    kept.write_text("{nonsense")
    server.start()
    assert server.ok("/api/hearth/details/smollm2")["storage"]["rates"] == []
    assert (server.data / "devices.json.bad").exists()
