# SPDX-License-Identifier: Apache-2.0
"""On a GPU, or on Mesa's driver that plays one: the same text as the engine's own, and a driver's cache
that is Hearth's. `scripts/vulkan.sh build/release test` makes the build with Vulkan and runs these."""

import os
import subprocess
from pathlib import Path

import pytest

from support.server import SMOLLM2, Server
from support.waiting import eventually

FOLDER = os.environ.get("HEARTH_VULKAN")
pytestmark = [
    pytest.mark.skipif(not FOLDER, reason="no build with Vulkan: scripts/vulkan.sh makes and tests one"),
    pytest.mark.timeout(600),  # it compiles kernels, and computes them on the CPU
]

SHORT = "Once upon a time"
LONG = "The river ran past the mill and under the old bridge, and then it ran on to the sea. " * 2


def device_environment():
    wanted = ("VK_ICD_FILENAMES", "VK_DRIVER_FILES", "GGML_VK_VISIBLE_DEVICES")
    return {name: os.environ[name] for name in wanted if name in os.environ}


class Started:
    """A server with Vulkan among its backends, on a data directory that may have seen one before."""

    def __init__(self, data):
        self.server = Server(data, "hang_seconds = 300\nhollow_workers = 0\n", device_environment(),
                             program=Path(FOLDER) / "hearth").start()
        self.server.import_model(SMOLLM2, "smollm2")
        self.kept = Path(data) / "compiled" / "drivers"

    def compiled(self):
        """{file: bytes} of what the driver keeps, once it has stopped writing."""
        seen = [None]

        def is_still():
            now = {p: p.stat().st_size for p in self.kept.rglob("*") if p.is_file()}
            seen.append(now)
            return seen[-1] == seen[-2]

        eventually(is_still, "the driver has written its cache", 30)
        return {path: size for path, size in seen[-1].items() if path.name != "index"}

    def complete(self, prompt):
        """(text, ms of the prompt's evaluation)"""
        answer = self.server.complete(prompt, max_tokens=3)
        return answer["choices"][0]["text"], answer["timings"]["prompt_ms"]

    def stop(self):
        self.server.stop()


@pytest.fixture(scope="module")
def starts(tmp_path_factory):
    """What two servers on one data directory did, the second after the first had ended."""
    data = tmp_path_factory.mktemp("vulkan") / "data"
    found = []
    for number in (1, 2):
        started = Started(data)
        try:
            text, prompt_ms = started.complete(SHORT)
            ready = started.server.model()
            entry = {"text": text, "prompt_ms": prompt_ms, "compiled": started.compiled(),
                     "model": ready}
            if number == 2:
                started.complete(LONG)
                entry["after_long"] = started.compiled()
            found.append(entry)
            started.stop()
        finally:
            started.server.kill()
    return found


def test_the_weights_are_on_the_device(starts):
    memory = starts[0]["model"]["layers"]["weights"]
    assert memory["level"] == "resident"
    assert starts[0]["model"]["worker"]["device_bytes"] > 90e6


def test_greedy_text_is_the_engines_own_on_that_device(starts):
    command = [Path(FOLDER) / "hearth-worker", "--reference", SMOLLM2, SHORT, "3"]
    reference = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True,
                               env={**os.environ, **device_environment()})
    assert starts[0]["text"] == starts[1]["text"] == reference.stdout.rstrip("\n")


def test_the_driver_compiles_once(starts):
    first, second = starts
    assert sum(first["compiled"].values()) > 50_000, "nothing was kept"
    assert second["compiled"] == first["compiled"], "the second start compiled again"
    assert second["prompt_ms"] < 0.7 * first["prompt_ms"]


def test_a_shape_not_seen_before_is_compiled_and_kept(starts):
    assert len(starts[1]["after_long"]) > len(starts[1]["compiled"])
