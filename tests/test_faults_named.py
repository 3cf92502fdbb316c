# SPDX-License-Identifier: Apache-2.0
"""Twelve planted faults, each named by the reply's verdict and by `hearth doctor`, and none of them on a
healthy server; remedies that are applied, and what comes of them."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from support.doctor import Doctor
from support.memory_group import MemoryGroup, Neighbour, NoGroup
from support.prefix import prompt_of, view, wait_kept
from support.server import GEMMA, HEARTH, SMOLLM2, Server
from support.slow_disk import NoThrottle, SlowDisk
from support.waiting import eventually

MIB = 1 << 20
VULKAN = os.environ.get("HEARTH_VULKAN")
# What the doctor may find at any time beside what was planted, where others use this machine, too.
OF_THE_MACHINE = {"cpu.contended", "disk.slow", "disk.read_ahead"}


@pytest.fixture
def path(tmp_path):
    """A model file of one's own, whose pages can be dropped."""
    return own_copy(tmp_path / "model.gguf")


def own_copy(path):
    shutil.copyfile(SMOLLM2, path)
    drop(path)
    return path


def drop(path):
    with open(path, "rb+") as file:
        os.fsync(file.fileno())  # dirty pages cannot be dropped
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def code_of(server, reply):
    """Of the reply's verdict; "" where there was nothing to explain. It is in the history then."""
    server.request(reply["hearth"]["request_id"])
    return reply["hearth"].get("verdict", {}).get("code", "")


def ask(server, prompt="Hello", **more):
    return code_of(server, server.complete(prompt, **more))


@pytest.fixture
def check(tmp_path):
    """check(server, codes…): the doctor names these, and nothing else."""

    def named(server, *codes, also=frozenset()):
        found = Doctor(server, tmp_path / "state").findings()
        assert set(codes) <= set(found), found
        assert set(found) - set(codes) <= OF_THE_MACHINE | also, found
        for code in codes:
            assert found[code]["remedy"] and found[code]["text"], found[code]
        return found

    return named


def test_a_healthy_server_has_no_findings(new_server, path, check):
    server = new_server(model=path)
    server.ok("/api/hearth/warm", {"model": "smollm2", "layer": "pages"})
    question = "Hello"
    for number in range(4):
        reply = server.complete(question, max_tokens=4)
        code_of(server, reply)
        question += f"{reply['choices'][0]['text']} {prompt_of(40, number)}"
    ask(server, prompt_of(200, 50))
    ask(server, prompt_of(200, 50))
    list(server.stream("/v1/completions", {"model": "smollm2", "prompt": "One", "max_tokens": 3}))
    check(server)
    assert "Nothing" in Doctor(server, path.parent / "state").run("doctor") or \
        set(check(server)) <= OF_THE_MACHINE


# ---- pages ----

def test_pages_evicted_by_pressure(new_server, path, check):
    try:
        group = MemoryGroup(400 * MIB)
    except NoGroup as why:
        pytest.skip(f"no memory cgroup: {why}")
    neighbour = None
    try:
        server = new_server("memory_reserve_mib = 16\n", model=path, within=group.within())
        server.ok("/api/hearth/warm", {"model": "smollm2", "layer": "pages"})
        ask(server)
        server.unload()
        neighbour = Neighbour(group, group.size - group.anonymous() - 40 * MIB)
        neighbour.has_all()
        eventually(lambda: server.model()["layers"]["pages"]["fraction"] < 0.9, "pages are taken", 60)
        neighbour.leave()
        assert ask(server, "Good morning") == "pages.evicted"
        check(server, "pages.evicted", also={"memory.limit"})
        server.stop()
    finally:
        if neighbour:
            neighbour.kill()
        group.remove()


def test_pages_dropped(new_server, path, check):
    server = new_server(model=path)
    ask(server)
    server.unload()
    drop(path)
    assert ask(server, "Good morning") == "pages.dropped"
    found = check(server, "pages.dropped")
    assert found["pages.dropped"]["command"] == "hearth pin smollm2:latest --layer pages"


def test_a_replaced_file(new_server, path, tmp_path, check):
    server = new_server(model=path)
    ask(server)
    server.unload()
    os.rename(own_copy(tmp_path / "new.gguf"), path)
    assert ask(server, "Good morning") == "pages.replaced"
    check(server, "pages.replaced")


def test_a_slow_disk(new_server, path, check):
    try:
        slow = SlowDisk(path, 40 * MIB)
    except NoThrottle as why:
        pytest.skip(f"no throttle: {why}")
    try:
        server = new_server(model=path, within=slow.within())
        server.cool("pages")
        assert ask(server).startswith("pages.")
        found = check(server, "disk.slow", "pages.dropped")
        assert found["disk.slow"]["cost_s"] > 1
        assert "a second" in found["disk.slow"]["text"]
        server.stop()
    finally:
        slow.remove()


# ---- weights ----

def test_a_worker_made_hollow(new_server, check):
    server = new_server()
    ask(server)
    server.unload()
    assert ask(server) == "weights.asked"
    check(server, "weights.asked")


def test_a_worker_killed(new_server, check):
    server = new_server()
    ask(server)
    os.kill(server.worker_pid(), signal.SIGKILL)
    eventually(lambda: server.model()["layers"]["weights"]["level"] == "none", "it is noticed")
    assert ask(server) == "weights.worker_died"
    check(server, "weights.worker_died")


def need(server, name):
    server.load(name)
    told = server.model(name)["need"]
    server.unload(name)
    return sum(told[k] for k in ("weights_bytes", "mapped_bytes", "context_bytes", "compute_bytes"))


def test_a_low_memory_limit(new_server, check):
    roomy = new_server()
    roomy.import_model(GEMMA, "gemma")
    sizes = [need(roomy, name) / MIB for name in ("smollm2", "gemma")]
    roomy.stop()
    server = new_server(f"memory_mib = {int(max(sizes) + 0.5 * min(sizes) + 60)}\n")
    server.import_model(GEMMA, "gemma")
    codes = []
    for name in ("smollm2", "gemma") * 4:
        codes.append(ask(server, model=name))
        if codes[-1] == "weights.evicted_for":  # else leaving took longer than loading
            break
    assert codes[-1] == "weights.evicted_for", codes
    found = check(server, "weights.evicted_for", "memory.limit", also={"queue.behind_load"})
    assert "memory_mib" in found["memory.limit"]["command"]


# ---- compiled ----

def other_engine(directory):
    """The same programs with one more byte at the end of an engine library."""
    home = HEARTH.parent
    directory.mkdir()
    for name in ("hearth", "hearth-worker", "hearth-keeper", "hearth-fetcher"):
        os.link(home / name, directory / name) if same_device(home, directory) else \
            shutil.copy2(home / name, directory / name)
    shutil.copytree(home / "lib", directory / "lib")
    library = directory / "lib/libggml-base.so"
    with open(library.resolve(), "ab") as file:
        file.write(b"\0")
    return directory / "hearth"


def same_device(one, other):
    return os.stat(one).st_dev == os.stat(other).st_dev


def test_an_engine_that_changed(new_server, repackable_model, tmp_path, check):
    server = new_server(model=repackable_model)
    if "compile" not in {s["name"] for s in server.complete("One")["hearth"]["stages"]}:
        pytest.skip("this processor repacks nothing")
    eventually(lambda: list((server.data / "compiled").glob("*.repack")), "it is stored", 60)
    server.stop()
    newer = Server(server.data, program=other_engine(tmp_path / "newer")).start()
    try:
        assert ask(newer) == "compiled.engine"
        check(newer, "compiled.engine")
        newer.stop()
    finally:
        newer.kill()


@pytest.mark.skipif(not VULKAN, reason="a processor has no shapes to compile for; a build with Vulkan "
                                       "does: scripts/vulkan.sh")
@pytest.mark.timeout(600)
def test_a_first_seen_shape(tmp_path, check):
    wanted = ("VK_ICD_FILENAMES", "VK_DRIVER_FILES", "GGML_VK_VISIBLE_DEVICES")
    drivers = {name: os.environ[name] for name in wanted if name in os.environ}
    server = Server(tmp_path / "data", "hang_seconds = 300\nhollow_workers = 0\n", drivers,
                    program=Path(VULKAN) / "hearth").start()
    try:
        server.import_model(SMOLLM2, "smollm2")
        ask(server, "Once upon a time", max_tokens=2)
        codes = {ask(server, prompt_of(tokens, tokens), max_tokens=2) for tokens in (20, 60)}
        assert "compiled.shape" in codes
        check(server, "compiled.shape")
        server.stop()
    finally:
        server.kill()


# ---- prompts ----

def test_a_head_that_changes(new_server, check):
    server = new_server()
    rules = prompt_of(300, 1)
    codes = []
    for number, day in enumerate(("Monday", "Tuesday", "Friday", "Sunday")):
        messages = [{"role": "system", "content": f"Current date: {day}\n{rules}"},
                    {"role": "user", "content": f"Question {number}"}]
        reply = server.ok("/v1/chat/completions", {"model": "smollm2", "messages": messages,
                                                   "max_tokens": 2, "temperature": 0})
        codes.append(code_of(server, reply))
    assert "prefix.diverged" in codes[2:] and "prefix.diverged" not in codes[:2], codes
    assert reply["hearth"]["class"] == "warm"
    found = check(server, "prefix.volatile_head")
    assert found["prefix.volatile_head"]["cost_s"] > 0
    assert "prefix_normalise" in found["prefix.volatile_head"]["command"]


def test_prompts_evicted(tiny_server, check):
    server = tiny_server("prefix_memory_mib = 2\nprefix_disk_gib = 0\n")
    prompts = [prompt_of(800, 500 + number) for number in range(4)]
    for prompt in prompts:
        server.complete(prompt, max_tokens=1)
        server.wait_idle()
    eventually(lambda: view(server)["evicted"]["memory"] > 0, "something had to go")
    server.unload()  # with its cells
    server.load()
    codes = {ask(server, prompt, max_tokens=1) for prompt in prompts}
    assert "prefix.evicted" in codes
    check(server, "prefix.evicted")


# ---- the machine ----

class Hogs:
    def __init__(self, count):
        self._processes = [subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"])
                           for _ in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self._processes:
            process.kill()
            process.wait()


def cpu_pressure():
    line = Path("/proc/pressure/cpu").read_text().splitlines()[0]
    return float(line.split("avg10=")[1].split()[0])


@pytest.mark.timeout(400)
def test_a_busy_neighbour(new_server, check):
    if not Path("/proc/pressure/cpu").exists():
        pytest.skip("the kernel does not tell who waits for processors")
    server = new_server()
    for number in range(6):  # what is usual
        ask(server, prompt_of(80, number), max_tokens=1)
    codes = []
    # What is usual was measured beside whoever else is here.
    with Hogs(4 * os.cpu_count() + int(os.getloadavg()[0])):
        eventually(lambda: cpu_pressure() > 30, "it is crowded", 60)
        for number in range(20):
            codes.append(ask(server, prompt_of(80, 100 + number), max_tokens=1))
            if codes.count("cpu.contended") == 3:
                break
    assert codes.count("cpu.contended") == 3, codes
    check(server, "cpu.contended")


# ---- remedies ----

def test_a_remedy_is_applied_and_checked(new_server, tmp_path):
    server = new_server()
    doctor = Doctor(server, tmp_path / "state")
    for _ in range(4):
        ask(server)
        server.unload()
    assert "No remedy" in doctor.run("doctor", "--check")
    said = doctor.run("doctor", "--apply", doctor.number_of("weights.asked"))
    assert "hearth pin smollm2:latest" in said
    assert server.model()["pinned"] == ["weights"]
    [applied] = doctor.told()["applied"]
    assert applied["code"] == "weights.asked" and applied["before"]["cold"] == 3
    assert applied["verdict"] == "too early"
    eventually(lambda: server.model()["layers"]["weights"]["level"] == "resident", "it is loaded", 30)
    for number in range(3):
        ask(server, f"Number {number}")
    [applied] = doctor.told()["applied"]
    assert applied["verdict"] == "gone" and applied["after"]["requests"] == 3
    assert "gone" in doctor.run("doctor", "--check")


def test_what_the_server_cannot_do_is_noted_by_hand(new_server, tmp_path):
    server = new_server()
    doctor = Doctor(server, tmp_path / "state")
    ask(server)
    os.kill(server.worker_pid(), signal.SIGKILL)
    eventually(lambda: server.model()["layers"]["weights"]["level"] == "none", "it is noticed")
    ask(server)
    number = doctor.number_of("weights.worker_died")
    assert "--done" in doctor.run("doctor", "--apply", number, code=1)
    assert doctor.told()["applied"] == []
    doctor.run("doctor", "--done", number)
    [applied] = doctor.told()["applied"]
    assert applied["code"] == "weights.worker_died"
    assert "no finding 99" in doctor.run("doctor", "--apply", 99, code=1)


def test_facts_and_what_cannot_be_seen(new_server, tmp_path):
    server = new_server("queue = 99\n")
    told = Doctor(server, tmp_path / "state").told()
    facts = told["facts"]
    assert facts["memory"]["total_bytes"] > facts["memory"]["limit_bytes"] > 0
    assert [disk["name"] for disk in facts["disks"]]
    assert facts["processors"] == os.cpu_count()
    assert isinstance(facts["swaps"], list)
    assert {"queue"} <= {option["name"] for option in facts["options"]}
    [model] = facts["models"]
    assert model["keep_alive_source"] == "default"
    assert all(one["what"] and one["why"] for one in facts["not_observable"])
    assert "memory" in Doctor(server, tmp_path / "state").run("doctor", "--facts")
