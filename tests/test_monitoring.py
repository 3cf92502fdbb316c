# SPDX-License-Identifier: Apache-2.0
"""Is what monitoring reads right: the text of /metrics, the tables of docs/monitoring.md, the alert rules and
the dashboard, against a scrape after real replies; with promtool and prometheus where they are installed."""

import json
import re
import shutil
import socket
import subprocess

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from support.prefix import know_content, prompt_of, put_on_disk
from support.server import ROOT, Server
from support.waiting import eventually

DOCS = ROOT / "docs/monitoring"
DASHBOARD = DOCS / "grafana-dashboard.json"
RULES = DOCS / "alerts.yaml"
UNPACKED = ROOT / "build/prometheus/usr/bin"

# What only trouble, time or memory that is short brings about.
MAY_HAVE_NO_SAMPLE = {"hearth_hollow_workers_ended_total", "hearth_prefix_refused_blocks_total",
                      "hearth_memory_limit_bytes"}
FROM_PROMETHEUS = {"instance", "job"}
VARIABLES = {"$instance": ".*", "$model": ".*", "$class": ".*", "$__rate_interval": "1m"}


def tool(name):
    """The program, installed or unpacked as docs/monitoring.md says; or a skip."""
    found = shutil.which(name) or shutil.which(name, path=UNPACKED)
    if not found:
        pytest.skip(f"no {name} here; docs/monitoring.md says where it comes from")
    return found


# ---- a server that has seen something ----

@pytest.fixture(scope="module")
def watched(tmp_path_factory, repackable_model):
    """A server with keys that has had cold, warm and bad requests, and whose layers have moved."""
    server = Server(tmp_path_factory.mktemp("watched") / "data", "threads = 1\n").start()
    try:
        keys = "/api/hearth/keys"
        admin = server.ok(keys, {"name": "admin", "role": "admin"})["secret"]
        server.http.headers["Authorization"] = f"Bearer {admin}"
        server.scrape_key = server.ok(keys, {"name": "prometheus", "role": "read-only"})["secret"]
        server.import_model(repackable_model, "smollm2")
        know_content(server)
        live_through(server)
        yield server
        server.stop()
        assert not server.new_errors()
    finally:
        server.kill()


def live_through(server):
    prompt = prompt_of(300, 10)
    put_on_disk(server, prompt)
    server.unload()
    server.complete(prompt)
    for _ in range(3):
        server.complete(prompt, max_tokens=16, ignore_eos=True)
    server.cool("weights")
    server.complete("Hello there")
    assert server.get("/metrics", headers={"Authorization": "Bearer nobody"}).status_code == 401
    assert server.get("/no/such/path").status_code == 404
    assert server.get("/v1/models/nobody").status_code == 404
    server.wait_idle()


@pytest.fixture(scope="module")
def families(watched):
    """name, as it is written -> family, from what Prometheus would be given."""
    return families_in(scrape(watched).text)


def scrape(server):
    answer = server.get("/metrics", headers={"Authorization": f"Bearer {server.scrape_key}"})
    assert answer.status_code == 200
    return answer


def families_in(text):
    parsed = list(text_string_to_metric_families(text))
    named = {f.name + ("_total" if f.type == "counter" else ""): f for f in parsed}
    assert len(named) == len(parsed), "a family comes twice"
    return named


def labels_of(family):
    return {name for sample in family.samples for name in sample.labels if name != "le"}


# ---- the text ----

def test_the_text_is_what_prometheus_reads(watched, families):
    assert scrape(watched).headers["Content-Type"].startswith("text/plain; version=0.0.4")
    for name, family in families.items():
        assert re.fullmatch(r"hearth_[a-z0-9_]+", name), name
        assert family.documentation and family.type in ("counter", "gauge", "histogram"), name
    without = {name for name, family in families.items() if not family.samples}
    assert without <= MAY_HAVE_NO_SAMPLE, without - MAY_HAVE_NO_SAMPLE


def test_figures_follow_what_happened(watched):
    eventually(lambda: watched.metric("hearth_requests_total", api="openai") >= 6, "all counted")
    first = "hearth_time_to_first_token_seconds_count"
    assert watched.metric(first) == watched.metric(first, **{"class": "warm"}) + sum(
        watched.metric(first, **{"class": c}) for c in ("storage-cold", "load-cold", "compile-cold",
                                                        "prefix-cold"))
    assert watched.metric(first, **{"class": "warm"}) >= 3
    assert watched.metric("hearth_request_prefill_time_seconds_count") == watched.metric(first)
    asked = watched.metric("hearth_prefix_cache_queries_total")
    assert 0 < watched.metric("hearth_prefix_cache_hits_total") < asked
    assert watched.metric("hearth_layer_level", layer="weights", level="resident") == 1
    assert watched.metric("hearth_layer_level", layer="weights") == 1
    assert 0 < watched.metric("hearth_kv_cache_usage_perc") <= 1
    assert watched.metric("hearth_moves_total", cause="asked") >= 1


def test_memory_is_that_of_the_account(watched):
    account = watched.ok("/api/hearth/memory")
    held = {}
    for part in account["held"]:
        held[part["what"]] = held.get(part["what"], 0) + part["bytes"]
    assert set(held) == {s.labels["what"] for s in watched.metrics()
                         if s.name == "hearth_memory_held_bytes" and s.labels["memory"] == "machine"}
    shown = watched.metric("hearth_memory_held_bytes", memory="machine", what="weights")
    assert shown == held["weights"] > 0
    assert watched.metric("hearth_memory_limit_bytes", memory="machine") > shown


def test_http_is_counted_by_route(watched):
    http = "hearth_http_requests_total"
    assert watched.metric(http, route="/v1/completions", status="200") >= 6
    assert watched.metric(http, route="/v1/models/{rest}", status="404") == 1
    assert watched.metric(http, route="other", status="404") == 1
    assert watched.metric(http, route="/metrics", status="401") == 1
    took = "hearth_http_request_duration_seconds_count"
    assert watched.metric(took, route="/v1/completions") == watched.metric(http, route="/v1/completions")
    with socket.create_connection(("127.0.0.1", watched.port)) as broken:
        broken.sendall(b"NONSENSE\r\n\r\n")
        assert b" 400 " in broken.recv(4096)
    assert watched.metric(http, route="other", status="400") == 1
    routes = {s.labels["route"] for s in watched.metrics() if s.name == http}
    assert not any("nobody" in route or "such" in route for route in routes)


# ---- pages, rules and dashboard against it ----

def documented():
    """name -> labels, of the tables"""
    found = {}
    for line in (ROOT / "docs/monitoring.md").read_text().splitlines():
        if not line.startswith("| `hearth_"):
            continue
        _, names, labels, _ = line.replace("\\|", "").split("|", 3)
        for name in re.findall(r"`(hearth_\w+)`", names):
            found[name] = {label.strip() for label in labels.split(",") if label.strip()}
    return found


def test_the_page_has_each_family_with_its_labels(families):
    page = documented()
    assert set(page) == set(families)
    for name, family in families.items():
        assert not family.samples or labels_of(family) == page[name], name


def expressions():
    dashboard = json.loads(DASHBOARD.read_text())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]["query"]
    yield "alerts", RULES.read_text()


def test_dashboard_and_alerts_name_what_there_is(families):
    page, used = documented(), set()
    for where, text in expressions():
        for name, selector in re.findall(r"\b(hearth_\w+)(?:\{([^}]*)\})?", text):
            base = re.sub(r"_(bucket|sum|count)$", "", name)
            if base not in families or families[base].type != "histogram":
                base = name
            assert base in families, f"{where}: {name}"
            used.add(base)
            labels = set(re.findall(r"(\w+)\s*[=!]", selector))
            assert labels <= page[base] | FROM_PROMETHEUS, f"{where}: {name}{{{selector}}}"
    assert set(page) == used, "each family has a place on the dashboard"


def test_panels_do_not_cover_each_other():
    taken = set()
    ids = [panel["id"] for panel in json.loads(DASHBOARD.read_text())["panels"]]
    assert len(ids) == len(set(ids))
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24, panel["title"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells


# ---- the official tools ----

def promtool(*arguments, **options):
    done = subprocess.run([tool("promtool"), *map(str, arguments)], capture_output=True, text=True,
                          timeout=60, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_promtool_has_nothing_to_say_about_the_text(watched):
    assert not promtool("check", "metrics", input=scrape(watched).text)


def test_promtool_likes_rules_and_configuration(tmp_path):
    promtool("check", "rules", RULES)
    promtool("check", "config", "--syntax-only", DOCS / "prometheus.yaml")
    rules = {"groups": [{"name": "dashboard", "rules": [
        {"record": "a:b", "expr": filled_in(text)} for where, text in expressions()
        if where != "alerts" and not text.startswith("label_values")]}]}
    (tmp_path / "dashboard.yaml").write_text(json.dumps(rules))  # YAML takes JSON
    promtool("check", "rules", "--lint=none", tmp_path / "dashboard.yaml")


def test_each_alert_fires_and_stays_still():
    promtool("test", "rules", ROOT / "tests/alerts_test.yaml")
    alerts = set(re.findall(r"alert: (\w+)", RULES.read_text()))
    tested = (ROOT / "tests/alerts_test.yaml").read_text()
    assert alerts and all(tested.count(alert) >= 2 for alert in alerts)


def filled_in(expression):
    for variable, value in VARIABLES.items():
        expression = expression.replace(variable, value)
    return expression


@pytest.fixture(scope="module")
def prometheus(watched, tmp_path_factory):
    """A real one that scrapes the server as docs/monitoring/prometheus.yaml says."""
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "key").write_text(watched.scrape_key)
    shutil.copy(RULES, folder)
    config = (DOCS / "prometheus.yaml").read_text()
    for there, here in (("/etc/prometheus/hearth.key", str(folder / "key")), ("15s", "1s"),
                        ("127.0.0.1:11435", f"127.0.0.1:{watched.port}")):
        assert there in config
        config = config.replace(there, here)
    (folder / "prometheus.yaml").write_text(config)
    process, log = None, folder / "log"
    try:
        with open(log, "wb") as output:
            process = subprocess.Popen(
                [tool("prometheus"), f"--config.file={folder}/prometheus.yaml",
                 f"--storage.tsdb.path={folder}/data", "--web.listen-address=127.0.0.1:0"],
                stdout=output, stderr=output)
        address = eventually(lambda: re.search(r"msg=\"?Listening on\"? address=(\S+)", log.read_text()),
                             "it listens", 30)[1]
        with httpx.Client(base_url=f"http://{address}", timeout=30, trust_env=False) as client:
            yield client
    finally:
        if process:
            process.terminate()
            process.wait(30)


def asked(prometheus, expression):
    answer = prometheus.get("/api/v1/query", params={"query": filled_in(expression)})
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]["result"]


def test_a_real_prometheus_answers_the_dashboard(watched, prometheus):
    eventually(lambda: asked(prometheus, 'count_over_time(up{job="hearth"}[1m]) > 1'), "scraped", 30)
    assert asked(prometheus, "up")[0]["value"][1] == "1"
    before = asked(prometheus, "count_over_time(up[1m])")[0]["value"][1]
    watched.complete(prompt_of(200, 11), max_tokens=16, ignore_eos=True)
    eventually(lambda: int(asked(prometheus, "count_over_time(up[1m])")[0]["value"][1]) > int(before) + 1,
               "scraped again", 30)
    silent = {(where, text) for where, text in expressions()
              if where != "alerts" and not text.startswith("label_values") and not asked(prometheus, text)}
    assert not {text for _, text in silent if not any(n in text for n in MAY_HAVE_NO_SAMPLE)}, silent
    rules = prometheus.get("/api/v1/rules").json()["data"]["groups"][0]["rules"]
    assert all(rule["health"] in ("ok", "unknown") for rule in rules), rules
