# SPDX-License-Identifier: Apache-2.0
"""Who may use a server: keys and roles, names it is called by, pages that may read its answers."""

import json
import re
import socket
import stat
import subprocess

import pytest

from support.server import HEARTH, ROOT, SMOLLM2, Server, clean_environment
from support.waiting import eventually

KEYS = "/api/hearth/keys"
ROLES = ("use", "read-only", "admin")
PERMITTED = {
    "nothing": {None, "wrong", *ROLES},
    "any key": set(ROLES),
    "use": {"use", "admin"},
    "watch": {"read-only", "admin"},
    "admin": {"admin"},
}
NEEDS = {
    "nothing": ["GET /", "GET /ui/{name}", "GET /health", "GET /v1/health", "GET /api/version"],
    "any key": ["GET /v1/models", "GET /v1/models/{name}", "GET /api/hearth/models",
                "GET /api/hearth/models/{name}", "GET /api/hearth/version", "GET /api/tags",
                "GET /api/ps", "GET /api/v1/models", "GET /props", "POST /api/show", "GET /api/hearth/details/{name}"],
    "use": ["POST /v1/chat/completions", "POST /v1/completions", "POST /v1/embeddings",
            "POST /v1/messages", "POST /v1/messages/count_tokens", "POST /v1/responses",
            "POST /v1/responses/input_tokens", "GET /v1/responses/{id}",
            "DELETE /v1/responses/{id}", "GET /v1/responses/{id}/input_items", "POST /api/chat",
            "POST /api/generate", "POST /api/embed", "POST /api/embeddings",
            "POST /v1/rerank", "POST /tokenize", "POST /api/v1/models/load",
            "POST /api/v1/models/unload", "POST /api/hearth/load", "POST /api/hearth/unload", "POST /api/hearth/warm"],
    "watch": ["GET /metrics", "GET /api/hearth/requests", "GET /api/hearth/requests/{id}",
              "GET /api/hearth/events", "GET /api/hearth/running", "GET /api/hearth/pulls",
              "GET /api/hearth/modules", "GET /api/hearth/modules/{id}", "GET /api/hearth/prefix",
              "GET /api/hearth/doctor", "GET /api/hearth/memory",
              "GET /api/hearth/moves", "GET /api/hearth/levels", "GET /slots",
              "GET /api/hearth/reports", "GET /api/hearth/reports/{id}"],
    "admin": ["DELETE /api/hearth/models/{name}", "POST /api/hearth/import",
              "POST /api/hearth/cool", "POST /api/hearth/pin", "POST /api/hearth/unpin",
              "POST /api/copy", "DELETE /api/delete", "GET /api/hearth/config",
              "POST /api/hearth/config/reload", "GET /api/hearth/keys", "POST /api/hearth/keys",
              "DELETE /api/hearth/keys/{id}", "PUT /api/hearth/modules/{id}",
              "DELETE /api/hearth/modules/{id}", "POST /api/pull", "POST /api/push",
              "POST /api/create", "HEAD /api/blobs/{id}", "POST /api/blobs/{id}",
              "POST /api/hearth/pull", "POST /api/hearth/pulls/stop", "POST /api/hearth/verify",
              "POST /api/hearth/prune", "POST /api/hearth/create", "POST /api/hearth/rescan"],
}
ROUTES = [(need, route) for need, routes in NEEDS.items() for route in routes]
DIALECTS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages", "ollama": "/api/chat",
            "hearth": "/api/hearth/load"}


def add_key(server, name, role, key=None):
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    answer = server.post(KEYS, {"name": name, "role": role}, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def add_keys(server):
    admin = add_key(server, "admin", "admin")["secret"]
    keys = {"admin": admin, None: None, "wrong": "hearth-" + "x" * 43}
    for role in ("use", "read-only"):
        keys[role] = add_key(server, role, role, admin)["secret"]
    return keys


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A server with a key of each role, left as it was found."""
    server = Server(tmp_path_factory.mktemp("guarded") / "data",
                    'hosts = ["ai.example.org"]\n'
                    'origins = ["https://chat.example.org", "https://*.home.example"]\n').start()
    try:
        server.keys = add_keys(server)
        yield server
        server.stop()
        assert not server.new_errors()
        for secret in server.keys.values():
            assert secret is None or secret not in "\n".join(server.output.lines)
    finally:
        server.kill()


def status_of(server, route, key, header="Authorization"):
    method, path = route.split()
    path = re.sub(r"\{.*\}", "nothing", path)
    headers = {}
    if key:
        headers[header] = f"Bearer {key}" if header == "Authorization" else key
    body = {} if method == "GET" else {"content": b"[]"}
    # A stream of events does not end by itself.
    with server.http.stream(method, path, headers=headers, **body) as answer:
        return answer.status_code


# ---- keys and roles ----

def test_every_documented_route_is_in_the_table():
    document = json.loads((ROOT / "docs/openapi.json").read_text())
    documented = {f"{method.upper()} {path}" for path, item in document["paths"].items()
                  for method in item if method in ("get", "post", "delete", "put")}
    assert documented <= {route for _, route in ROUTES}


@pytest.mark.parametrize("need, route", ROUTES)
def test_roles(guarded, need, route):
    for who, key in guarded.keys.items():
        status = status_of(guarded, route, key)
        if who in PERMITTED[need]:
            assert status not in (401, 403, 405), f"{who}: {status}"
        else:
            assert status == (403 if who in ROLES else 401), f"{who}: {status}"


@pytest.mark.parametrize("headers, status", [
    ({}, 401),
    ({"Authorization": "Bearer {use}"}, 200),
    ({"Authorization": "bearer {use}"}, 200),
    ({"Authorization": "BEARER  {use}"}, 200),
    ({"x-api-key": "{use}"}, 200),
    ({"X-API-Key": "{use}", "Authorization": "Bearer {use}"}, 200),
    ({"x-api-key": "{use}", "Authorization": "Bearer {admin}"}, 401),
    ({"x-api-key": "{use}", "Authorization": "Basic eDp5"}, 200),
    ({"Authorization": "{use}"}, 401),
    ({"Authorization": "Basic {use}"}, 401),
    ({"Authorization": "Bearer"}, 401),
    ({"Authorization": "Bearer {use}x"}, 401),
    ({"Authorization": "Bearer hearth-"}, 401),
    ({"x-api-key": ""}, 401),
])
def test_forms_of_the_key(guarded, headers, status):
    filled = {name: value.format(**{k: v for k, v in guarded.keys.items() if k in ROLES})
              for name, value in headers.items()}
    answer = guarded.get("/v1/models", headers=filled)
    assert answer.status_code == status, answer.text
    assert ("WWW-Authenticate" in answer.headers) == (status == 401)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("who, status, kind", [
    (None, 401, "authentication_error"), ("wrong", 401, "authentication_error"),
    ("read-only", 403, "permission_error")])
def test_shape_of_refusals(guarded, dialect, who, status, kind):
    key = guarded.keys[who]
    answer = guarded.post(DIALECTS[dialect], {}, headers={"x-api-key": key} if key else {})
    assert answer.status_code == status
    assert answer.headers.get("WWW-Authenticate") == ("Bearer" if status == 401 else None)
    body = answer.json()
    message = body["error"]
    if dialect != "ollama":
        assert body["error"]["type"] == kind
        message = body["error"]["message"]
    if dialect == "anthropic":
        assert body["type"] == "error"
    if status == 403:
        assert "role use or admin" in message
    assert str(guarded.data) not in answer.text
    assert key is None or key not in answer.text


def test_failures_are_counted(guarded):
    admin = {"x-api-key": guarded.keys["admin"]}

    def count(reason):
        found = re.search(rf'hearth_auth_failures_total{{reason="{reason}"}} (\d+)',
                          guarded.get("/metrics", headers=admin).text)
        return int(found[1]) if found else 0

    for reason, who in (("missing", None), ("unknown", "wrong"), ("role", "use")):
        before = count(reason)
        status_of(guarded, "GET /metrics", guarded.keys[who])
        assert count(reason) == before + 1, reason


def test_a_key_that_was_removed_ends_at_once(guarded):
    admin = {"x-api-key": guarded.keys["admin"]}
    key = add_key(guarded, "short-lived", "use", guarded.keys["admin"])
    assert status_of(guarded, "GET /v1/models", key["secret"]) == 200
    assert guarded.http.delete(f"{KEYS}/{key['id']}", headers=admin).status_code == 200
    assert status_of(guarded, "GET /v1/models", key["secret"]) == 401
    assert guarded.http.delete(f"{KEYS}/{key['id']}", headers=admin).status_code == 404


def test_a_stream_of_events_ends_with_its_key(guarded):
    admin = {"x-api-key": guarded.keys["admin"]}
    key = add_key(guarded, "watcher", "read-only", guarded.keys["admin"])
    with guarded.http.stream("GET", "/api/hearth/events",
                             headers={"x-api-key": key["secret"]}) as events:
        lines = events.iter_lines()
        assert next(lines).startswith(":")
        assert guarded.http.delete(f"{KEYS}/watcher", headers=admin).status_code == 200
        # The next event, or the next sign of life, finds the key gone.
        guarded.post("/v1/completions", {"model": "none", "prompt": "Hi"}, headers=admin)
        assert not [line for line in lines if line.startswith("data:")]


def test_secrets_are_told_once_and_kept_nowhere(guarded):
    admin = {"x-api-key": guarded.keys["admin"]}
    listed = guarded.get(KEYS, headers=admin)
    assert [key["name"] for key in listed.json()["keys"]] == ["admin", "use", "read-only"]
    files = list(guarded.data.glob("keys.db*"))
    assert files
    for file in files:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
        for role in ROLES:
            assert guarded.keys[role].removeprefix("hearth-").encode() not in file.read_bytes()
    for role in ROLES:
        assert re.fullmatch(r"hearth-[\w-]{43}", guarded.keys[role])
        assert guarded.keys[role] not in listed.text


@pytest.mark.parametrize("body, status, field", [
    ({"name": "a", "role": "boss"}, 400, "role"), ({"name": "a"}, 400, "role"),
    ({"role": "use"}, 400, "name"), ({"name": "", "role": "use"}, 400, "name"),
    ({"name": "x" * 65, "role": "use"}, 400, "name"), ({"name": "a\nb", "role": "use"}, 400, "name"),
    ({"name": " a", "role": "use"}, 400, "name"), ({"name": "admin", "role": "use"}, 409, None)])
def test_bad_keys(guarded, body, status, field):
    answer = guarded.post(KEYS, body, headers={"x-api-key": guarded.keys["admin"]})
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["field"] == field


def test_the_first_and_the_last_key(new_server):
    server = new_server(model=None)
    assert server.ok(KEYS) == {"keys": []}
    assert server.get("/v1/models", headers={"Authorization": "Bearer none"}).status_code == 200
    refused = server.post(KEYS, {"name": "phone", "role": "use"})
    assert refused.status_code == 409 and "admin" in refused.text
    admin = add_key(server, "laptop", "admin")
    headers = {"x-api-key": admin["secret"]}
    assert server.get("/v1/models").status_code == 401
    phone = add_key(server, "phone", "use", admin["secret"])
    last = server.http.delete(f"{KEYS}/laptop", headers=headers)
    assert last.status_code == 409, last.text
    server.stop()
    server.start()
    assert server.get("/v1/models", headers={"x-api-key": phone["secret"]}).status_code == 200
    assert server.http.delete(f"{KEYS}/phone", headers=headers).status_code == 200
    assert server.http.delete(f"{KEYS}/laptop", headers=headers).status_code == 200
    assert server.get("/v1/models").status_code == 200


def test_only_admins_see_paths_and_each_key_its_requests(new_server):
    server = new_server(model=SMOLLM2)
    keys = add_keys(server)
    for role in ROLES:
        headers = {"x-api-key": keys[role]}
        for path in ("/api/hearth/models", "/api/hearth/models/smollm2"):
            assert (str(SMOLLM2) in server.get(path, headers=headers).text) == (role == "admin")
    body = {"model": "smollm2", "prompt": "Hi", "max_tokens": 1}
    reply = server.post("/v1/completions", body, headers={"x-api-key": keys["use"]})
    assert reply.status_code == 200, reply.text
    admin = {"x-api-key": keys["admin"]}
    ids = {key["name"]: key["id"] for key in server.get(KEYS, headers=admin).json()["keys"]}
    path = f"/api/hearth/requests/{reply.headers['X-Request-Id']}"
    eventually(lambda: server.get(path, headers=admin).status_code == 200, "it is in the history")
    entry = server.get(path, headers={"x-api-key": keys["read-only"]})
    assert entry.json()["key"] == ids["use"]
    assert str(SMOLLM2.parent) not in entry.text


# ---- Host and Origin ----

@pytest.mark.parametrize("host, status", [  # row 50
    ("127.0.0.1", 200), ("[::1]:11435", 200), ("localhost:1", 200), ("NAS", 200),
    ("nas.local", 200), ("box.internal:80", 200), ("ai.example.org", 200),
    ("AI.Example.Org.:443", 200), ("192.0.2.7", 200), ("evil.example", 403),
    ("evil.example.", 403), ("127.0.0.1.evil.example", 403), ("ai.example.org.evil.example", 403),
    ("sub.ai.example.org", 403)])
def test_hosts(guarded, host, status):
    answer = guarded.get("/health", headers={"Host": host})
    assert answer.status_code == status, answer.text
    if status == 403:
        assert answer.json()["error"]["type"] == "permission_error"


ORIGINS = [  # row 50
    ("http://localhost:3000", True), ("http://127.0.0.1:8080", True), ("http://[::1]", True),
    ("http://nas.local", True), ("https://ai.example.org", False), ("app://obsidian.md", True),
    ("vscode-webview://1a2b", True), ("https://chat.example.org", True),
    ("https://a.home.example", True), ("https://a.b.home.example", True),
    ("https://home.example", False), ("http://a.home.example", False),
    ("http://chat.example.org", False), ("https://chat.example.org:8443", False),
    ("https://evilhome.example", False), ("https://evil.example", False), ("null", False),
    ("http://192.0.2.66", False), ("chrome-extension://abc", False), ("rubbish", False)]


@pytest.mark.parametrize("origin, allowed", ORIGINS)
def test_origins(guarded, origin, allowed):
    key = {"x-api-key": guarded.keys["use"]}
    asked = {"Origin": origin, "Access-Control-Request-Method": "POST",
             "Access-Control-Request-Headers": "authorization,content-type,x-stainless-lang",
             "Access-Control-Request-Private-Network": "true"}
    preflight = guarded.http.request("OPTIONS", "/v1/chat/completions", headers=asked)
    answers = [preflight,
               guarded.get("/v1/models", headers={**key, "Origin": origin}),
               guarded.get("/v1/models/none", headers={**key, "Origin": origin}),
               guarded.get("/v1/models", headers={"Origin": origin}),
               guarded.get("/nowhere", headers={"Origin": origin})]
    expected = [204, 200, 404, 401, 404] if allowed else [403] * 5
    assert [answer.status_code for answer in answers] == expected
    for answer in answers:
        names = [name for name in answer.headers if name.startswith("access-control-")]
        if not allowed:
            assert not names
            continue
        assert answer.headers["Access-Control-Allow-Origin"] == origin
        assert answer.headers["Vary"] == "Origin"
        assert "X-Request-Id" in answer.headers["Access-Control-Expose-Headers"]
        assert "Access-Control-Allow-Credentials" not in answer.headers
    if allowed:
        assert preflight.headers["Access-Control-Allow-Headers"] == asked[
            "Access-Control-Request-Headers"]
        assert "POST" in preflight.headers["Access-Control-Allow-Methods"]
        assert preflight.headers["Access-Control-Allow-Private-Network"] == "true"
        assert int(preflight.headers["Access-Control-Max-Age"]) > 0
        assert not preflight.content


def test_any_name_is_not_any_page(new_server):
    server = new_server('hosts = ["*"]', model=None)
    cases = [("evil.example", None, 200), ("127.0.0.1", "https://evil.example", 403),
             ("localhost", "http://192.0.2.66", 403), ("a.example", "https://b.example", 403),
             ("ai.example.org", "https://ai.example.org", 200)]
    for host, origin, status in cases:
        headers = {"Host": host} | ({"Origin": origin} if origin else {})
        assert server.get("/health", headers=headers).status_code == status, (host, origin)


def refusal_of_a_body(server, *headers, path="/v1/chat/completions"):
    """What comes for the header of a request with a body of 50 MB that is never sent."""
    head = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Length: {50_000_000}", *headers]
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall("\r\n".join([*head, "", ""]).encode())
        answer = b""
        while piece := connection.recv(1 << 16):
            answer += piece
    head, _, body = answer.decode().partition("\r\n\r\n")
    return int(head.split()[1]), head, body


def test_who_may_not_ask_sends_no_body(guarded):
    use = f"x-api-key: {guarded.keys['use']}"
    page = "Origin: https://chat.example.org"
    asked = "Expect: 100-continue"
    for status, path, headers in [
            (401, "/v1/chat/completions", [asked]), (401, "/v1/messages", [page]),
            (401, "/api/chat", ["x-api-key: wrong"]), (403, "/api/hearth/pin", [use, asked]),
            (404, "/v1/nothing", [asked]), (405, "/v1/models", [use]),
            (403, "/api/chat", [use, "Origin: https://evil.example"])]:
        got, head, body = refusal_of_a_body(guarded, *headers, path=path)
        assert got == status, head
        assert "Connection: close" in head and "Vary: Origin" in head
        assert ("Access-Control-Allow-Origin: https://chat" in head) == (page in headers)
        assert "error" in json.loads(body)


def test_pages_can_read_the_servers_own_answers(new_server):
    server = new_server("max_body_mib = 1", model=None)
    for origin, allowed in [("http://localhost:3000", True), ("https://evil.example", False)]:
        status, head, body = refusal_of_a_body(server, f"Origin: {origin}")
        assert status == 413
        assert (f"Access-Control-Allow-Origin: {origin}" in head) == allowed
        assert "Vary: Origin" in head
        assert "1 MiB" in body and "`max_body_mib`" in body


def test_streams_can_be_read_by_pages(server):
    body = {"model": "smollm2", "prompt": "Hi", "max_tokens": 2, "stream": True}
    with server.http.stream("POST", "/v1/completions", json=body,
                            headers={"Origin": "http://localhost:3000"}) as answer:
        assert answer.status_code == 200
        assert answer.headers["Access-Control-Allow-Origin"] == "http://localhost:3000"
        answer.read()


def test_names_and_origins_follow_a_reload(new_server):
    server = new_server(model=None)
    page = {"Host": "ai.example.org", "Origin": "https://chat.example.org"}
    assert server.get("/health", headers=page).status_code == 403
    server.config.write_text('hosts = ["ai.example.org"]\norigins = ["*"]\n')
    server.ok("/api/hearth/config/reload", {})
    assert server.get("/health", headers=page).status_code == 200
    server.config.write_text('hosts = ["ai.example.org"]\n')
    server.ok("/api/hearth/config/reload", {})
    assert server.get("/health", headers=page).status_code == 403


# ---- the command line ----

def hearth(*arguments, server=None, environment=None):
    command = [HEARTH, *arguments]
    if server:
        command += ["--host", server.url]
    return subprocess.run(command, capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, env=clean_environment(environment))


def test_the_command_line_makes_and_shows_keys(new_server):
    server = new_server(model=None)
    assert "no keys" in hearth("keys", "list", server=server).stdout
    refused = hearth("keys", "add", "phone", "--role", "use", server=server)
    assert refused.returncode == 1 and "admin" in refused.stderr
    assert hearth("keys", "add", "phone", server=server).returncode == 64
    first = hearth("keys", "add", "laptop", "--role", "admin", server=server)
    assert first.returncode == 0, first.stderr
    admin = first.stdout.strip()
    assert re.fullmatch(r"hearth-[\w-]{43}", admin)
    assert f"HEARTH_API_KEY={admin}" in first.stderr
    assert "nobody without a key" in first.stderr

    without = hearth("list", server=server)
    assert without.returncode == 1
    assert "--key" in without.stderr and "HEARTH_API_KEY" in without.stderr
    wrong = hearth("list", "--key", "hearth-x", server=server)
    assert wrong.returncode == 1 and "not known" in wrong.stderr
    for environment in ({"HEARTH_API_KEY": admin},
                        {"HEARTH_API_KEY": admin, "OLLAMA_API_KEY": "other"}):
        assert hearth("list", server=server, environment=environment).returncode == 0
    # That is somebody else's secret, unless OLLAMA_HOST named this server.
    assert hearth("list", server=server, environment={"OLLAMA_API_KEY": admin}).returncode == 1
    assert hearth("list", "--key", admin, server=server,
                  environment={"HEARTH_API_KEY": "other"}).returncode == 0

    second = hearth("keys", "add", "Ann's phone/2", "--role", "use", "--key", admin, server=server)
    assert second.returncode == 0 and "nobody without" not in second.stderr
    use = second.stdout.strip()
    denied = hearth("keys", "list", "--key", use, server=server)
    assert denied.returncode == 1 and "admin" in denied.stderr
    listed = hearth("keys", "list", "--key", admin, server=server).stdout
    assert "Ann's phone/2\tuse" in listed and "laptop\tadmin" in listed
    assert hearth("keys", "rm", "Ann's phone/2", "--key", admin, server=server).returncode == 0
    assert hearth("list", "--key", use, server=server).returncode == 1
    missing = hearth("keys", "rm", "nobody", "--key", admin, server=server)
    assert missing.returncode == 1 and "nobody" in missing.stderr
    last = hearth("keys", "rm", "laptop", "--key", admin, server=server)
    assert last.returncode == 0 and "No key is left" in last.stderr
    assert hearth("list", server=server).returncode == 0


def test_a_lost_key_is_recovered_without_the_server(new_server):
    server = new_server(model=None)
    add_key(server, "lost", "admin")
    busy = hearth("keys", "list", "--data", server.data)
    assert busy.returncode == 1
    assert str(server.pid) in busy.stderr and "--data" in busy.stderr
    server.stop()
    assert "lost\tadmin" in hearth("keys", "list", "--data", server.data).stdout
    made = hearth("keys", "add", "found", "--role", "admin", "--data", server.data)
    assert made.returncode == 0, made.stderr
    removed = hearth("keys", "rm", "lost", "--data", server.data)
    assert removed.returncode == 0, removed.stderr
    assert hearth("keys", "list", "--data", server.data / "none").returncode == 1
    server.start()
    assert hearth("list", "--key", made.stdout.strip(), server=server).returncode == 0
    assert server.get("/v1/models").status_code == 401


def test_a_damaged_file_of_keys_does_not_open_the_server(new_server):
    server = new_server(model=None)
    server.stop()
    for file in server.data.glob("keys.db*"):
        file.unlink()
    (server.data / "keys.db").write_bytes(b"g" * 8192)
    started = hearth("serve", "--listen", "127.0.0.1:0", "--data", server.data)
    assert started.returncode == 1
    assert "keys.db" in started.stderr and "damaged" in started.stderr
    (server.data / "keys.db").unlink()
    server.start()
