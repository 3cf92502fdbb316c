# SPDX-License-Identifier: Apache-2.0
"""LangChain, LlamaIndex and LiteLLM: each module of clients/ is a suite of its own, run in build/clients
because these want other versions of packages than the tests here."""

import os
import subprocess

import pytest

from support.server import ROOT

PYTHON = ROOT / "build/clients/bin/python"
SUITES = ROOT / "tests/clients"
INSTALL_S, TIMEOUT_S = 400, 600


@pytest.fixture(scope="module", autouse=True)
def clients():
    subprocess.run([ROOT / "scripts/python_clients.sh"], check=True)


def environment_of(server):
    """Nothing may leave the machine, and no figures about us either."""
    ours = {k: v for k, v in os.environ.items() if not k.upper().endswith("_PROXY")}
    return {**ours, "HEARTH_URL": server.url, "NO_PROXY": "*", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_TELEMETRY": "False", "LANGSMITH_TRACING": "false", "HF_HUB_OFFLINE": "1",
            "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.mark.timeout(INSTALL_S + TIMEOUT_S)
@pytest.mark.parametrize("suite", sorted(p.name for p in SUITES.glob("*_suite.py")))
def test_client(server, caller, suite):
    command = [PYTHON, "-m", "pytest", "-q", "-c", SUITES / "pytest.ini", SUITES / suite]
    done = subprocess.run(command, capture_output=True, text=True, env=environment_of(server),
                          timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stdout + done.stderr
