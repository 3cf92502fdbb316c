# SPDX-License-Identifier: Apache-2.0
"""Models of other programs are used where they lie, and nothing of theirs is touched."""

import hashlib
import json
import os
import shutil

import pytest

from support.made_models import write_noise_model, write_noise_shards
from support.server import SMOLLM2
from support.waiting import eventually

MIB = 1 << 20
REVISION = "0123456789abcdef0123456789abcdef01234567"


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make_huggingface(root, repository, files):
    """A cache as huggingface_hub leaves it: content by digest, names as links in a snapshot."""
    place = root / ("models--" + repository.replace("/", "--"))
    (place / "blobs").mkdir(parents=True)
    (place / "refs").mkdir()
    (place / "refs/main").write_text(REVISION)
    for name, source in files.items():
        blob = place / "blobs" / sha256(source)
        shutil.copyfile(source, blob)
        link = place / "snapshots" / REVISION / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))


def make_ollama(root, name, model, **texts):
    """A store as Ollama leaves it; name: "namespace/model/tag"."""
    layers = []
    (root / "blobs").mkdir(parents=True, exist_ok=True)

    def add(kind, data):
        digest = hashlib.sha256(data).hexdigest()
        (root / f"blobs/sha256-{digest}").write_bytes(data)
        layers.append({"mediaType": f"application/vnd.ollama.image.{kind}",
                       "digest": f"sha256:{digest}", "size": len(data)})

    add("model", model.read_bytes())
    for kind, text in texts.items():
        add(kind, (text if isinstance(text, str) else json.dumps(text)).encode())
    manifest = root / "manifests/registry.ollama.ai" / name
    manifest.parent.mkdir(parents=True, exist_ok=True)
    manifest.write_text(json.dumps({"schemaVersion": 2, "config": layers[0], "layers": layers}))


def state_of(root):
    """Everything that would show a write."""
    return {str(path): (path.lstat().st_mode, path.lstat().st_size, path.lstat().st_mtime_ns,
                        path.lstat().st_ctime_ns) for path in sorted(root.rglob("*"))}


@pytest.fixture
def noise(tmp_path):
    path = tmp_path / "noise.gguf"
    write_noise_model(path, MIB)
    age(path)
    return path


def age(path):
    """What was written just now may be unfinished, and is left for the next look."""
    for one in [path, *path.rglob("*")] if path.is_dir() else [path]:
        os.utime(one, (1e9, 1e9), follow_symlinks=False)


def listed(server):
    return {model["name"]: model for model in server.ok("/api/hearth/models")["models"]}


def wait_for(server, *names):
    eventually(lambda: set(names) <= set(listed(server)), f"{names} are listed", 20)
    return listed(server)


def test_three_stores_and_a_folder(new_server, tmp_path, noise):
    hub, ollama, lmstudio = tmp_path / "hub", tmp_path / "ollama", tmp_path / "home/.lmstudio/models"
    make_huggingface(hub, "org/smol", {"smol-Q4_1.gguf": SMOLLM2, "mmproj-f16.gguf": noise})
    make_ollama(ollama, "library/pirate/latest", SMOLLM2, template="{{ .Prompt }}",
                system="You are a pirate.", params={"temperature": 0.3})
    (lmstudio / "maker/model").mkdir(parents=True)
    shutil.copyfile(noise, lmstudio / "maker/model/model-Q8_0.gguf")
    write_noise_shards(tmp_path / "folder/deep", 2, MIB, "cut")
    for root in (hub, ollama, lmstudio, tmp_path / "folder"):
        age(root)
    before = {root: state_of(root) for root in (hub, ollama, lmstudio, tmp_path / "folder")}
    server = new_server(f'stores = ["huggingface", "ollama", "lmstudio"]\n'
                        f'folders = ["{tmp_path}/folder"]\n', model=None, environment={
                            "HF_HUB_CACHE": str(hub), "OLLAMA_MODELS": str(ollama),
                            "HOME": str(tmp_path / "home")})
    models = wait_for(server, "hf.co/org/smol:Q4_1", "pirate:latest")
    assert sorted(model["store"] for model in models.values()) == [
        "folder", "huggingface", "lmstudio", "ollama"]
    assert next(m for m in models.values() if m["store"] == "folder")["shards"] == 2
    assert not any("mmproj" in name for name in models)
    assert server.chat("Hi", model="hf.co/org/smol:Q4_1")["choices"]
    shown = server.ok("/api/show", {"model": "pirate"})
    assert shown["system"] == "You are a pirate."
    assert "temperature" in shown["parameters"]
    assert shown["template"] == "{{ .Prompt }}"
    assert server.chat("Hi", model="pirate")["choices"]
    assert server.http.delete("/api/hearth/models/pirate").status_code == 200
    server.ok("/api/hearth/rescan", {})
    assert "pirate:latest" not in listed(server)
    server.stop()
    assert {root: state_of(root) for root in before} == before


def test_what_is_wrong_is_reported(new_server, tmp_path, noise):
    folder = tmp_path / "folder"
    (folder / "a/b").mkdir(parents=True)
    (folder / "a/b/loop").symlink_to(folder / "a")
    (folder / "dangling.gguf").symlink_to(tmp_path / "nowhere.gguf")
    (folder / "broken.gguf").write_bytes(b"GGUF" + b"\xff" * 60)
    os.mkfifo(folder / "pipe.gguf")
    shutil.copyfile(noise, folder / "good.gguf")
    age(folder)
    server = new_server(f'stores = []\nfolders = ["{folder}"]\n', model=None)
    models = wait_for(server, "good:latest", "broken:latest")
    assert models["good:latest"]["status"] == "ok"
    assert models["broken:latest"]["status"] == "broken"
    assert models["broken:latest"]["reason"]
    log = "\n".join(server.output.lines)
    assert "dangling" in log and "loop" in log
    refused = server.post("/v1/completions", {"model": "broken", "prompt": "x"})
    assert refused.status_code == 422
    assert str(folder) not in refused.text


def test_files_come_and_go(new_server, tmp_path, noise):
    folder = tmp_path / "folder"
    folder.mkdir()
    server = new_server(f'stores = []\nfolders = ["{folder}"]\n', model=None)
    shutil.copyfile(noise, folder / "late.gguf")
    age(folder / "late.gguf")
    server.ok("/api/hearth/rescan", {})
    assert list(listed(server)) == ["late:latest"]
    (folder / "late.gguf").unlink()
    server.ok("/api/hearth/rescan", {})
    assert listed(server) == {}


def test_a_users_name_wins(new_server, tmp_path, noise):
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copyfile(noise, folder / "smollm2.gguf")
    age(folder)
    server = new_server(f'stores = []\nfolders = ["{folder}"]\n', model=None)
    wait_for(server, "smollm2:latest")
    server.http.delete("/api/hearth/models/smollm2")
    server.import_model(SMOLLM2, "smollm2")
    server.ok("/api/hearth/rescan", {})
    assert listed(server)["smollm2:latest"]["store"] == "user"
    assert (folder / "smollm2.gguf").exists()
