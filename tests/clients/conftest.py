# SPDX-License-Identifier: Apache-2.0
"""What the suites beside it have in common. HEARTH_URL names a server with the models smollm2, gemma,
and caller, whose template can call tools."""

import os

import pytest

MODELS = ["smollm2", "gemma"]
CALLER = "caller"


@pytest.fixture(scope="session")
def url():
    return os.environ["HEARTH_URL"]


@pytest.fixture(params=MODELS)
def model(request):
    return request.param
