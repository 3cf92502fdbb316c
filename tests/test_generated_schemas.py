# SPDX-License-Identifier: Apache-2.0
"""Schemas drawn at random, asked of a model that writes noise: each reply is as its schema says, or the
schema is refused by the place in it that cannot be enforced."""

import json
import re

import jsonschema
import pytest

from support.prefix import know_content
from support.schemas import SchemaMaker
from support.server import Server

SOME, ALL = 20, 200
QUESTION = [{"role": "user", "content": "Say it."}]
# More than the longest reply that these schemas allow; only white space could fill it.
ENOUGH = 1500

# The form of each; whether there is such a day, no grammar knows.
_DATE, _TIME = r"\d{4}-\d\d-\d\d", r"\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"
FORMATS = {"date": _DATE, "time": _TIME, "date-time": f"{_DATE}T{_TIME}",
           "uuid": r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"}
CHECKER = jsonschema.FormatChecker(formats=())
for _name, _form in FORMATS.items():
    CHECKER.checks(_name)(lambda text, form=_form: re.fullmatch(form, text) is not None)


@pytest.fixture(scope="module")
def noise(tmp_path_factory, repackable_model):
    server = Server(tmp_path_factory.mktemp("schemas") / "data", "threads = 1\n").start()
    try:
        server.import_model(repackable_model, "smollm2")
        know_content(server)
        yield server
        assert not server.new_errors()
        server.stop()
    finally:
        server.kill()


def as_openai(server, schema, seed):
    named = {"type": "json_schema", "json_schema": {"name": "it", "schema": schema}}
    answer = server.post("/v1/chat/completions", {
        "model": "smollm2", "messages": QUESTION, "max_tokens": ENOUGH, "seed": seed,
        "response_format": named})
    if answer.status_code != 200:
        return answer, answer.json()["error"]["param"], None
    choice = answer.json()["choices"][0]
    assert choice["finish_reason"] == "stop", choice
    return answer, None, choice["message"]["content"]


def as_ollama(server, schema, seed):
    answer = server.post("/api/chat", {
        "model": "smollm2", "messages": QUESTION, "format": schema, "stream": False,
        "options": {"num_predict": ENOUGH, "seed": seed}})
    if answer.status_code != 200:
        return answer, answer.json()["error"].split(":")[0], None
    assert answer.json()["done_reason"] == "stop", answer.json()
    return answer, None, answer.json()["message"]["content"]


def as_anthropic(server, schema, seed):
    answer = server.post("/v1/messages", {
        "model": "smollm2", "messages": QUESTION, "max_tokens": ENOUGH,
        "output_config": {"format": {"type": "json_schema", "schema": schema}}})
    if answer.status_code != 200:
        return answer, answer.json()["error"]["message"].split(":")[0], None
    assert answer.json()["stop_reason"] == "end_turn", answer.json()
    return answer, None, answer.json()["content"][0]["text"]


DIALECTS = [as_openai, as_ollama, as_anthropic]


def check_one(server, seed):
    schema = SchemaMaker(seed).schema()
    answer, refused_at, text = DIALECTS[seed % len(DIALECTS)](server, schema, seed)
    if text is None:
        assert answer.status_code == 400, answer.text
        assert refused_at, answer.text
        return "refused"
    validator = jsonschema.Draft202012Validator(schema, format_checker=CHECKER)
    validator.validate(json.loads(text))
    return "bound"


@pytest.mark.parametrize("seed", range(SOME))
def test_a_generated_schema_binds_or_is_refused(noise, seed):
    check_one(noise, seed)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_all_generated_schemas_bind_or_are_refused(noise):
    outcomes = [check_one(noise, seed) for seed in range(ALL)]
    assert outcomes.count("bound") > ALL * 0.7, "too few were tried"
