# SPDX-License-Identifier: Apache-2.0
"""docs/compatibility.md says of every member what becomes of it; here each row is tried."""

import copy
import json
import re

import pytest

from support.api_document import members_of_bodies
from support.registry import Registry
from support.server import ROOT, Server

PAGE = (ROOT / "docs/compatibility.md").read_text()
DOCUMENT = json.loads((ROOT / "docs/openapi.json").read_text())

# No member takes all of these.
OF_A_WRONG_KIND = [{"probe": 1}, 7.5, "probe", [7.5], True]
# What an ignored member may be.
OF_ANY_KIND = ["probe", {"probe": 1}, 7, [7], True]

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
TURNS = [{"role": "user", "content": "Hi"}]
SCHEMA = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "boolean"}}}
MODEL = {"model": "smollm2"}

# A request that is in order, for each path; and what else a member needs beside it.
BASES = {
    "/v1/chat/completions": {**MODEL, "max_tokens": 1, "messages": TURNS},
    "/v1/completions": {**MODEL, "max_tokens": 1, "prompt": "Hi"},
    "/v1/embeddings": {**MODEL, "input": "Hi"},
    "/v1/responses": {**MODEL, "input": "Hi", "max_output_tokens": 1},
    "/v1/responses/input_tokens": {**MODEL, "input": "Hi"},
    "/v1/rerank": {**MODEL, "query": "Hi", "documents": ["Hi"]},
    "/tokenize": {**MODEL, "content": "Hi"},
    "/api/v1/models/load": MODEL,
    "/api/v1/models/unload": {"instance_id": "smollm2"},
    "/api/chat": {**MODEL, "stream": False, "options": {"num_predict": 1}, "messages": TURNS},
    "/api/generate": {**MODEL, "stream": False, "options": {"num_predict": 1}, "prompt": "Hi"},
    "/api/embed": {**MODEL, "input": "Hi"},
    "/api/embeddings": {**MODEL, "prompt": "Hi"},
    "/api/show": MODEL,
    "/api/copy": {"source": "nobody", "destination": "second"},
    "/api/delete": {"model": "nobody"},
    "/api/pull": {"model": "nobody", "stream": False},
    "/api/create": {"model": "made", "from": "nobody", "stream": False},
    "/v1/messages": {**MODEL, "max_tokens": 1, "messages": TURNS},
    "/v1/messages/count_tokens": {**MODEL, "messages": TURNS},
    "/api/hearth/import": {"path": "/nonexistent", "name": "made"},
    "/api/hearth/pull": {"source": "nobody", "stream": False},
    "/api/hearth/pulls/stop": {"name": "nobody"},
    "/api/hearth/verify": {"model": "nobody", "stream": False},
    "/api/hearth/prune": {"dry_run": True},
    "/api/hearth/create": {"name": "made", "from": "nobody"},
    "/api/hearth/load": MODEL,
    "/api/hearth/unload": MODEL,
    "/api/hearth/warm": {**MODEL, "layer": "weights"},
    "/api/hearth/cool": {"layer": "prefix"},
    "/api/hearth/pin": {"model": "nobody", "layer": "pages"},
    "/api/hearth/unpin": {"model": "nobody"},
    "/api/hearth/modules/{id}": {"text": "Be kind.", "models": []},
    "/api/hearth/keys": {"name": "anna", "role": "use"},
}
ANTHROPIC_TOOL = {"name": "f", "input_schema": {"type": "object"}}
BESIDE = {
    "tools[]": {"tools": [TOOL], "tool_choice": "none"},
    "stream_options.": {"stream": True, "stream_options": {}},
    "response_format.": {"response_format": SCHEMA},
    "tool_choice.": {"tools": [ANTHROPIC_TOOL], "tool_choice": {"type": "none"}},
    "thinking.": {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2048},
    "output_config.": {"output_config": {}},
}
BESIDE_OF_ANTHROPIC = {"tools[]": {"tools": [ANTHROPIC_TOOL], "tool_choice": {"type": "none"}}}


# Members that are read where another one is not there.
INSTEAD_OF = {"/api/show name": "model", "/api/delete name": "model", "/api/pull name": "model",
              "/api/create name": "model", "/api/create files": "from",
              "/api/create modelfile": "from", "/api/hearth/create files": "from",
              "/api/hearth/create path": "from", "/api/hearth/create modelfile": "from"}


class Row:
    def __init__(self, method, path, member, treatment, why):
        self.method, self.path, self.member = method, path, member
        self.treatment, self.why = treatment, why

    def __repr__(self):
        return f"{self.path} {self.member}"


def rows():
    method, path = None, None
    for line in PAGE.splitlines():
        if heading := re.fullmatch(r"## (\w+) (/\S+)", line):
            method, path = heading.groups()
        elif cells := re.fullmatch(r"\| `([^`]+)` \| (.+?) \| (.*?) ?\|", line):
            yield Row(method, path, *cells.groups())


ROWS = list(rows())


def base_of(row):
    body = copy.deepcopy(BASES[row.path])
    if repr(row) in INSTEAD_OF:
        del body[INSTEAD_OF[repr(row)]]
    beside = {**BESIDE, **(BESIDE_OF_ANTHROPIC if row.path.startswith("/v1/messages") else {})}
    for beginning, more in beside.items():
        if row.member.startswith(beginning):
            body.update(copy.deepcopy(more))
    return body


def with_member(row, value):
    """The base with this member set, at whatever depth; lists on the way have one element."""
    body = base_of(row)
    *way, last = re.findall(r"[^.\[\]]+|\[\]", row.member)
    node = body
    for step in way:
        node = node[0] if step == "[]" else node[step]
    node[last] = value
    return body


def ask(server, row, body):
    path = row.path.replace("{id}", "made")
    return server.http.request(row.method, path, json=body)


def named(answer):
    """The member that an error names, in whichever dialect."""
    error = answer.json()["error"]
    if isinstance(error, str):
        return error.split(":")[0]
    return error.get("param") or error.get("field") or error["message"].split(":")[0]


def is_named(row, answer):
    if answer.status_code != 400:
        return False
    wanted = row.member.replace("[]", "[0]")
    return named(answer) == wanted or named(answer).startswith((wanted + ".", wanted + "["))


@pytest.fixture(scope="module")
def server(tmp_path_factory, repackable_model):
    with Registry() as registry:
        config = "threads = 1\nstores = []\n" + registry.config()
        one = Server(tmp_path_factory.mktemp("compatibility") / "data", config).start()
        try:
            one.import_model(repackable_model, "smollm2")
            yield one
            one.stop()
        finally:
            one.kill()


@pytest.mark.parametrize("row", [r for r in ROWS if r.treatment == "honoured"], ids=repr)
def test_honoured_members_are_read(server, row):
    answers = [ask(server, row, with_member(row, value)) for value in OF_A_WRONG_KIND]
    assert any(is_named(row, answer) for answer in answers), [a.text[:200] for a in answers]


@pytest.mark.parametrize("row", [r for r in ROWS if r.treatment == "refused"], ids=repr)
def test_refused_members_are_named(server, row):
    for value in OF_ANY_KIND:
        answer = ask(server, row, with_member(row, value))
        assert is_named(row, answer), (value, answer.text[:300])
    assert not is_named(row, ask(server, row, with_member(row, None)))


@pytest.mark.parametrize("row", [r for r in ROWS if r.treatment.startswith("only")], ids=repr)
def test_what_happens_anyway_passes_and_nothing_else(server, row):
    neutral = json.loads(re.fullmatch("only `(.+)`", row.treatment)[1])
    assert not is_named(row, ask(server, row, with_member(row, neutral)))
    assert not is_named(row, ask(server, row, with_member(row, None)))
    for value in OF_A_WRONG_KIND:
        answer = ask(server, row, with_member(row, value))
        if value != neutral:
            assert is_named(row, answer), (value, answer.text[:300])


@pytest.mark.parametrize("row", [r for r in ROWS if r.treatment == "ignored"], ids=repr)
def test_ignored_members_pass_with_a_reason(server, row):
    assert row.why, "no reason is given"
    plain = ask(server, row, base_of(row))
    for value in OF_ANY_KIND:
        answer = ask(server, row, with_member(row, value))
        assert answer.status_code == plain.status_code, (value, answer.text[:300])


def test_treatments_are_known():
    for row in ROWS:
        known = row.treatment in ("honoured", "refused", "ignored") or re.fullmatch(
            "only `.+`", row.treatment)
        assert known, row


def test_every_member_of_every_body_has_its_row():
    said = {(row.method, row.path, row.member) for row in ROWS}
    assert len(said) == len(ROWS), "a member has two rows"
    documented = set(members_of_bodies(DOCUMENT))
    assert documented <= said, sorted(documented - said)
    assert {(m, p) for m, p, _ in said} == {(m, p) for m, p, _ in documented}
