# SPDX-License-Identifier: Apache-2.0
"""Models are fetched from servers that behave and from servers that do not."""

import contextlib
import hashlib
import json
import os
import threading
from pathlib import Path

import httpx
import pytest

from support import procfs
from support.made_models import write_noise_model, write_noise_shards
from support.registry import Registry
from support.server import SMOLLM2, Server
from support.waiting import eventually

MIB = 1 << 20
PART = 4 * MIB
SIZE = 24 * MIB
QUICK = 'stores = []\npull_stall_seconds = 1\n'


@pytest.fixture
def registry():
    with Registry() as one:
        yield one


@pytest.fixture(scope="session")
def noise(tmp_path_factory):
    """A file that is a model in form only."""
    path = tmp_path_factory.mktemp("noise") / "noise.gguf"
    write_noise_model(path, SIZE)
    return path


def start(new_server, registry, config="", **options):
    return new_server(QUICK + registry.config(config), model=None, **options)


def pull(server, source, **more):
    return server.post("/api/hearth/pull", {"source": source, "stream": False, **more})


def pulled(server, source, **more):
    answer = pull(server, source, **more)
    assert answer.status_code == 200, answer.text
    return answer.json()


def lines_of(response):
    return [json.loads(line) for line in response.iter_lines() if line]


def blobs(server):
    return sorted(path.name for path in (server.data / "models/blobs").glob("sha256-*")
                  if not path.name.endswith(".parts"))


def names(server):
    return [model["name"] for model in server.ok("/api/hearth/models")["models"]]


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_installed(server, name, content):
    model = server.model(name)
    assert model["status"] == "ok"
    assert model["store"] == "hearth"
    assert model["digest"] == content.sha256
    assert f"sha256-{content.sha256}" in blobs(server)
    assert sha256(server.data / f"models/blobs/sha256-{content.sha256}") == content.sha256


def check_nothing_came(server):
    assert names(server) == []
    assert blobs(server) == []


# ---- three protocols ----

def test_hugging_face_to_a_first_reply(new_server, registry):
    files = registry.add_repository("org/smol", {
        "README.md": b"# hello", "smol-Q4_1.gguf": SMOLLM2, "mmproj-f16.gguf": b"GGUF" + bytes(64)})
    server = start(new_server, registry)
    done = pulled(server, "hf.co/org/smol:q4_1")
    name = done["done"]["name"]
    check_installed(server, name, files["smol-Q4_1.gguf"])
    assert done["done"]["received_bytes"] == files["smol-Q4_1.gguf"].size
    assert server.chat("Hi", model=name)["choices"][0]["message"]["content"]
    assert server.model(name)["source"].startswith("hf.co/org/smol")


def test_a_choice_of_quantisations_is_shown(new_server, registry, noise):
    registry.add_repository("org/many", {f"many-{q}.gguf": noise for q in ["Q2_K", "Q4_K_M", "Q8_0"]})
    server = start(new_server, registry)
    refused = pull(server, "hf.co/org/many:Q5_K_M")
    assert refused.status_code == 404
    for quantisation in ["Q2_K", "Q4_K_M", "Q8_0"]:
        assert quantisation in refused.json()["error"]["message"]
    with server.http.stream("POST", "/api/hearth/pull", json={"source": "hf.co/org/many"}) as told:
        notes = [line["progress"].get("note", "") for line in lines_of(told) if "progress" in line]
    assert any("Q4_K_M" in note and "Q8_0" in note for note in notes)


def test_a_gated_repository_wants_the_token(new_server, registry, noise):
    registry.add_repository("org/gated", {"m-Q4_0.gguf": noise})
    registry.hf_token = "hf_very_secret"
    server = start(new_server, registry)
    refused = pull(server, "hf.co/org/gated")
    assert "HF_TOKEN" in refused.json()["error"]["message"]
    server = start(new_server, registry, environment={"HF_TOKEN": "hf_very_secret"})
    registry.forget()
    name = pulled(server, "hf.co/org/gated")["done"]["name"]
    assert server.model(name)["status"] == "ok"
    assert not any("hf_very_secret" in line for line in server.output.lines)


def test_shards_arrive_together(new_server, registry, tmp_path):
    shards = write_noise_shards(tmp_path / "cut", 3, 5 * MIB)
    registry.add_repository("org/cut", {f"Q4_0/{path.name}": path for path in shards})
    server = start(new_server, registry)
    name = pulled(server, "hf.co/org/cut")["done"]["name"]
    model = server.model(name)
    assert model["shards"] == 3
    assert model["status"] == "ok"
    assert len(blobs(server)) == 3


@pytest.mark.parametrize("wants_token", [False, True])
def test_an_ollama_registry(new_server, registry, wants_token):
    registry.wants_token = wants_token
    model = registry.add_model("library/smol:latest", SMOLLM2, template="{{ .System }} {{ .Prompt }}",
                               system="You are a pirate.", license="free as air",
                               params={"temperature": 0.1, "stop": ["<|im_end|>"]})
    server = start(new_server, registry)
    with server.http.stream("POST", "/api/pull", json={"model": "smol"}) as response:
        told = lines_of(response)
    assert told[0]["status"] == "pulling manifest"
    assert told[-1] == {"status": "success"}
    moving = [line for line in told if line.get("digest") == f"sha256:{model.sha256}"]
    assert moving and moving[-1]["completed"] == moving[-1]["total"] == model.size
    check_installed(server, "smol", model)
    shown = server.ok("/api/show", {"model": "smol"})
    assert shown["system"] == "You are a pirate."
    assert shown["license"] == "free as air"
    assert "temperature" in shown["parameters"] and "<|im_end|>" in shown["parameters"]
    assert shown["template"] == "{{ .System }} {{ .Prompt }}"
    tags = server.ok("/api/tags")["models"]
    assert [tag["digest"] for tag in tags] == [model.sha256]


def test_an_address(new_server, registry, noise):
    content = registry.add_file("/files/noise.gguf", noise)
    server = start(new_server, registry)
    done = pulled(server, f"{registry.url}/files/noise.gguf", name="mine:one")
    assert done["done"]["name"] == "mine:one"
    check_installed(server, "mine:one", content)


# ---- one download ----

def test_pulling_twice_fetches_once(new_server, registry, noise):
    content = registry.add_file("/noise.gguf", noise)
    server = start(new_server, registry)
    pulled(server, f"{registry.url}/noise.gguf", name="a")
    registry.forget()
    again = pulled(server, f"{registry.url}/noise.gguf", name="a")
    assert registry.sent <= PART, "at most a look at what is there"
    assert again["done"]["name"] == "a:latest"
    check_installed(server, "a", content)


def test_two_who_pull_share_one_download(new_server, registry, noise):
    content = registry.add_file("/noise.gguf", noise)
    registry.bytes_per_second = 20 * MIB
    server = start(new_server, registry)
    source = {"source": f"{registry.url}/noise.gguf", "name": "shared", "stream": False}
    answers = []

    def ask():
        answers.append(httpx.post(server.url + "/api/hearth/pull", json=source, timeout=60))

    both = [threading.Thread(target=ask) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert [answer.status_code for answer in answers] == [200, 200]
    assert registry.sent == content.size
    check_installed(server, "shared", content)


def test_the_last_to_leave_pauses_it(new_server, registry, noise):
    content = registry.add_file("/noise.gguf", noise)
    registry.bytes_per_second = 30 * MIB
    server = start(new_server, registry)
    body = {"source": f"{registry.url}/noise.gguf", "name": "paused"}
    with server.http.stream("POST", "/api/hearth/pull", json=body) as response:
        for line in response.iter_lines():
            progress = json.loads(line).get("progress", {})
            if progress.get("done_bytes", 0) > 8 * MIB:
                break
    eventually(lambda: server.ok("/api/hearth/pulls")["pulls"][0]["state"] == "paused", "it pauses")
    assert not [pid for pid in procfs.children(server.pid) if is_fetcher(pid)]
    sent = registry.sent
    pulled(server, **body)
    assert registry.sent < content.size * 1.05 + sent - 8 * MIB
    assert registry.sent <= content.size * 1.05
    check_installed(server, "paused", content)
    assert server.ok("/api/hearth/pulls")["pulls"] == []


def is_fetcher(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().startswith("hearth-fetch")
    return False


def test_a_pull_can_be_stopped_and_dropped(new_server, registry, noise):
    registry.add_file("/noise.gguf", noise)
    registry.bytes_per_second = 5 * MIB
    server = start(new_server, registry)
    source = f"{registry.url}/noise.gguf"
    assert pull(server, source, name="gone", detach=True).status_code == 202
    eventually(lambda: registry.sent > MIB, "it begins")
    server.ok("/api/hearth/pulls/stop", {"name": "gone", "drop": True})
    assert server.ok("/api/hearth/pulls")["pulls"] == []
    assert list((server.data / "models/partial").iterdir()) == []
    check_nothing_came(server)


def test_pull_survives_kill_9(new_server, registry, noise, tmp_path):
    content = registry.add_file("/noise.gguf", noise)
    registry.bytes_per_second = 30 * MIB
    config = QUICK + registry.config()
    source = f"{registry.url}/noise.gguf"
    for share in [0.2, 0.5, 0.8]:
        server = Server(tmp_path / "killed", config).start()
        assert pull(server, source, name="killed", detach=True).status_code == 202
        eventually(lambda: registry.sent >= content.size * share, "some of it arrives")
        fetchers = [pid for pid in procfs.children(server.pid) if is_fetcher(pid)]
        server.kill()
        eventually(lambda: not any(procfs.is_alive(pid) for pid in fetchers), "nothing outlives it")
    server = Server(tmp_path / "killed", config).start()
    try:
        assert server.ok("/api/hearth/pulls")["pulls"][0]["state"] == "paused"
        pulled(server, source, name="killed")
        # What lay in the sockets when it was killed has to come again.
        assert registry.sent <= content.size + 3 * 2 * MIB
        check_installed(server, "killed", content)
        server.stop()
    finally:
        server.kill()


def test_one_part_that_rots_on_disk_costs_one_part(new_server, registry, noise):
    content = registry.add_repository("org/noise", {"noise-Q4_0.gguf": noise})["noise-Q4_0.gguf"]
    registry.bytes_per_second = 30 * MIB
    server = start(new_server, registry)
    pull(server, "hf.co/org/noise", name="flipped", detach=True)
    eventually(lambda: registry.sent > 20 * MIB, "the first parts are whole")
    server.ok("/api/hearth/pulls/stop", {"name": "flipped"})
    data = next((server.data / "models/partial").glob("*/data"))
    flip(data, PART + 99)
    pulled(server, "hf.co/org/noise", name="flipped")
    assert content.size + PART <= registry.sent <= content.size + PART + 2 * MIB
    check_installed(server, "flipped", content)


def flip(path, offset):
    """Another byte, and no trace of it in the file's dates."""
    before = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)
        file.seek(offset)
        file.write(bytes([byte[0] ^ 4]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


# ---- servers that misbehave ----

@pytest.mark.parametrize("fault", [
    {"kind": "cut", "after": 3 * MIB, "times": 3},
    {"kind": "stall", "after": MIB},
    {"kind": "status", "status": 429, "seconds": 1, "times": 2},
    {"kind": "status", "status": 503, "times": 2},
    {"kind": "ignore_range", "times": -1},
    {"kind": "flip", "offset": 9 * MIB},
    {"kind": "wrong_range"},
    {"kind": "too_long"},
], ids=lambda fault: fault["kind"] + str(fault.get("status", "")))
def test_what_can_be_overcome_is(new_server, registry, noise, fault):
    files = registry.add_repository("org/noise", {"noise-Q4_0.gguf": noise})
    registry.misbehave(path="/storage/", **fault)
    server = start(new_server, registry)
    name = pulled(server, "hf.co/org/noise")["done"]["name"]
    check_installed(server, name, files["noise-Q4_0.gguf"])


def test_a_server_that_lies_about_its_content(new_server, registry, noise):
    registry.add_repository("org/noise", {"noise-Q4_0.gguf": noise})
    registry.misbehave("flip", offset=9 * MIB, times=-1)
    server = start(new_server, registry)
    refused = pull(server, "hf.co/org/noise")
    assert refused.status_code >= 400
    assert "SHA-256" in refused.json()["error"]["message"]
    check_nothing_came(server)


def test_a_page_in_place_of_a_model(new_server, registry, noise):
    registry.add_file("/noise.gguf", noise)
    registry.misbehave("html", times=-1)
    server = start(new_server, registry)
    refused = pull(server, f"{registry.url}/noise.gguf", name="page")
    assert refused.status_code >= 400
    check_nothing_came(server)


def test_content_that_changes_between_two_days(new_server, registry, noise, tmp_path):
    registry.add_file("/noise.gguf", noise)
    registry.bytes_per_second = 30 * MIB
    server = start(new_server, registry)
    source = f"{registry.url}/noise.gguf"
    pull(server, source, name="day", detach=True)
    eventually(lambda: registry.sent > 9 * MIB, "some of it arrives")
    server.ok("/api/hearth/pulls/stop", {"name": "day"})
    other = tmp_path / "other.gguf"
    write_noise_model(other, SIZE)
    content = registry.add_file("/noise.gguf", other)
    pulled(server, source, name="day")
    check_installed(server, "day", content)


# ---- where a pull may go ----

@pytest.mark.parametrize("source", [
    "http://127.0.0.1:1/x.gguf", "https://127.0.0.1:1/x.gguf", "http://169.254.169.254/x.gguf",
    "https://[::1]:1/x.gguf", "https://unlisted.example/x.gguf", "unlisted.example/a/b"])
def test_other_servers_are_refused(new_server, registry, source):
    server = start(new_server, registry)
    refused = pull(server, source, name="x")
    assert refused.status_code in (400, 403), refused.text
    assert "pull_hosts" in refused.json()["error"]["message"]
    assert not [pid for pid in procfs.children(server.pid) if is_fetcher(pid)]


@pytest.mark.parametrize("to", ["http://127.0.0.1:1/x", "http://localhost:1/x",
                                "https://10.0.0.1/x", "file:///etc/passwd"])
def test_redirects_to_private_places_are_refused(new_server, registry, noise, to):
    registry.add_file("/noise.gguf", noise)
    registry.misbehave("redirect", to=to, times=-1)
    server = start(new_server, registry)
    refused = pull(server, f"{registry.url}/noise.gguf", name="x")
    assert refused.status_code >= 400
    assert "passwd" not in refused.json()["error"]["message"]
    check_nothing_came(server)


def files_of(server):
    """Without what a database has beside itself while it writes."""
    return sorted(path for path in server.data.rglob("*")
                  if not path.name.endswith(("-journal", "-wal", "-shm")))


@pytest.mark.parametrize("name", [
    "../../etc/passwd", "a/../../b", "%2e%2e%2f", "/etc/passwd", "nul\0name", "x" * 10_000,
    "ｈｆ.co/org/repo", "https://user:secret@example.com/x.gguf", "hf.co/../x", "sha256:../x", ""])
def test_names_that_are_none(new_server, registry, name):
    server = start(new_server, registry)
    before = files_of(server)
    for refused in [pull(server, name), server.post("/api/pull", {"model": name, "stream": False}),
                    pull(server, f"{registry.url}/a.gguf", name=name or "../x")]:
        assert refused.status_code == 400, refused.text
        assert "/etc" not in refused.text.replace("/etc/passwd", "") and "secret" not in refused.text
    assert files_of(server) == before
    assert registry.requests == []


def test_only_admins_pull(new_server, registry):
    server = start(new_server, registry)
    admin = server.ok("/api/hearth/keys", {"name": "boss", "role": "admin"})["secret"]
    with_admin = {"Authorization": f"Bearer {admin}"}
    user = server.post("/api/hearth/keys", {"name": "kid", "role": "use"}, headers=with_admin)
    with_user = {"Authorization": f"Bearer {user.json()['secret']}"}
    for path, body in [("/api/pull", {"model": "x"}), ("/api/hearth/pull", {"source": "x"}),
                       ("/api/create", {"model": "x"}), ("/api/hearth/prune", {}),
                       ("/api/hearth/verify", {})]:
        assert server.post(path, body, headers=with_user).status_code == 403, path


# ---- disks ----

def test_a_disk_that_is_too_small(registry, tmp_path):
    """In a namespace of its own, the data directory lies on a small file system."""
    path = tmp_path / "noise.gguf"
    write_noise_model(path, 100 * MIB)
    registry.add_repository("org/noise", {"noise-Q4_0.gguf": path})
    data = tmp_path / "small"
    data.mkdir()
    if os.system("unshare -rm true 2>/dev/null") != 0:
        pytest.skip("no namespaces here")
    mount = f'mount -t tmpfs -o size=64m none "{data}" && exec "$@"'
    server = Server(data, QUICK + registry.config(), within=["unshare", "-rm", "sh", "-c", mount, "sh"])
    server.start()
    try:
        refused = pull(server, "hf.co/org/noise")
        assert refused.status_code == 503, refused.text
        message = refused.json()["error"]["message"]
        assert "MiB" in message and "free" in message
        assert registry.asked("/storage/") == []
        assert names(server) == []
        server.stop()
    finally:
        server.kill()


# ---- no network at start ----

def test_a_start_asks_nobody(new_server, registry, tmp_path):
    registry.add_repository("org/smol", {"smol-Q4_1.gguf": SMOLLM2})
    config = QUICK + registry.config()
    server = Server(tmp_path / "quiet", config).start()
    name = pulled(server, "hf.co/org/smol")["done"]["name"]
    server.stop()
    registry.forget()
    proxy = {"HTTPS_PROXY": registry.url, "HTTP_PROXY": registry.url, "ALL_PROXY": registry.url}
    server = Server(tmp_path / "quiet", config, environment=proxy).start()
    try:
        assert server.chat("Hi", model=name)["choices"]
        assert registry.requests == []
        assert not [pid for pid in procfs.children(server.pid) if is_fetcher(pid)]
        server.stop()
    finally:
        server.kill()


# ---- down to absent and up again ----

def test_what_was_cooled_is_fetched_again(new_server, registry):
    registry.add_repository("org/smol", {"smol-Q4_1.gguf": SMOLLM2})
    server = start(new_server, registry)
    name = pulled(server, "hf.co/org/smol", name="smol")["done"]["name"]
    preview = server.ok("/api/hearth/cool", {"model": name, "layer": "artifact", "preview": True})
    assert preview["preview"]["freed_bytes"] == SMOLLM2.stat().st_size
    assert blobs(server)
    server.cool("artifact", name)
    assert blobs(server) == []
    assert server.model(name)["layers"]["artifact"]["level"] == "absent"
    reply = server.chat("Hi", model=name)
    assert reply["hearth"]["class"] == "artifact-cold"
    assert reply["hearth"]["verdict"]["code"] == "artifact.absent"
    stages = [stage["name"] for stage in reply["hearth"]["stages"]]
    assert "artifact.download" in stages and "artifact.verify" in stages
    assert reply["hearth"]["other_ms"] <= max(1.0, reply["hearth"]["total_ms"] * 0.01)
    assert server.chat("Hi", model=name)["hearth"]["class"] != "artifact-cold"


def test_imported_files_are_never_deleted(new_server, registry, model_copy):
    server = start(new_server, registry)
    server.import_model(model_copy, "mine")
    refused = server.post("/api/hearth/cool", {"model": "mine", "layer": "artifact"})
    assert refused.status_code in (400, 409, 501), refused.text
    assert server.http.delete("/api/hearth/models/mine").status_code == 200
    assert model_copy.stat().st_size == SMOLLM2.stat().st_size
    assert names(server) == []


def test_rm_deletes_what_only_it_needs(new_server, registry, noise):
    registry.add_file("/noise.gguf", noise)
    server = start(new_server, registry)
    pulled(server, f"{registry.url}/noise.gguf", name="one")
    server.ok("/api/hearth/create", {"name": "two", "from": "one"})
    assert server.http.delete("/api/hearth/models/one").status_code == 200
    assert len(blobs(server)) == 1
    assert server.http.delete("/api/hearth/models/two").status_code == 200
    assert blobs(server) == []


def test_delete_while_it_streams(new_server, registry):
    """Case 33: the stream ends well, then there is no such model and its memory is free."""
    registry.add_repository("org/smol", {"smol-Q4_1.gguf": SMOLLM2})
    server = start(new_server, registry)
    name = pulled(server, "hf.co/org/smol", name="smol")["done"]["name"]
    body = {"model": name, "prompt": "Once", "max_tokens": 60, "ignore_eos": True}
    stream = server.stream("/v1/completions", body)
    next(stream)
    removing = threading.Thread(target=lambda: httpx.request(
        "DELETE", server.url + "/api/delete", json={"model": name}, timeout=60))
    removing.start()
    assert list(stream)[-1] == "[DONE]"
    removing.join()
    assert server.post("/v1/completions", body).status_code == 404
    assert blobs(server) == []
    eventually(lambda: not procfs.children(server.pid), "its worker goes")


# ---- verify and repair ----

def verified(server, **body):
    answer = server.post("/api/hearth/verify", {"stream": False, **body})
    assert answer.status_code == 200, answer.text
    return {one["model"]: one for one in answer.json()["done"]["verified"]}


def test_rot_is_found_and_repaired_by_its_part(new_server, registry, noise):
    content = registry.add_file("/noise.gguf", noise)
    server = start(new_server, registry)
    pulled(server, f"{registry.url}/noise.gguf", name="rots")
    assert verified(server)["rots:latest"]["verdict"] == "good"
    flip(server.data / f"models/blobs/sha256-{content.sha256}", 9 * MIB)
    found = verified(server, model="rots")["rots:latest"]
    assert found["verdict"] == "rotten" and found["bad_bytes"] == PART
    refused = server.post("/v1/completions", {"model": "rots", "prompt": "x"})
    assert refused.status_code == 422 and "verify" in refused.text
    registry.forget()
    assert verified(server, model="rots", repair=True)["rots:latest"]["verdict"] == "repaired"
    assert registry.sent == PART
    check_installed(server, "rots", content)


@pytest.mark.parametrize("harm", ["header", "cut", "gone"])
def test_a_pull_mends_a_blob_that_is_no_model_any_more(new_server, registry, noise, harm):
    content = registry.add_file("/noise.gguf", noise)
    server = start(new_server, registry)
    pulled(server, f"{registry.url}/noise.gguf", name="harmed")
    blob = server.data / f"models/blobs/sha256-{content.sha256}"
    if harm == "header":
        with open(blob, "r+b") as file:
            file.seek(30)
            file.write(b"\xff")
    elif harm == "cut":
        os.truncate(blob, 4 * MIB)
    else:
        blob.unlink()
    assert verified(server)["harmed:latest"]["verdict"] != "good"
    pulled(server, f"{registry.url}/noise.gguf", name="harmed")
    check_installed(server, "harmed", content)


def test_a_file_that_was_written_to_is_told_apart(new_server, registry, tmp_path, noise):
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(noise.read_bytes())
    server = start(new_server, registry)
    server.import_model(mine, "mine")
    assert verified(server)["mine:latest"]["verdict"] == "good"
    digest = server.model("mine")["digest"]
    flip(mine, 9 * MIB)
    assert verified(server)["mine:latest"]["verdict"] == "rotten"
    write_noise_model(mine, SIZE)
    assert verified(server)["mine:latest"]["verdict"] in ("changed", "good")
    assert server.model("mine")["digest"] != digest


def test_import_returns_before_the_hash(new_server, registry, noise):
    server = start(new_server, registry)
    model = server.import_model(noise, "mine")
    assert model["digest"] is None
    eventually(lambda: server.model("mine")["digest"] == sha256(noise), "it is hashed later")
