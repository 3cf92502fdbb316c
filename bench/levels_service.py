# SPDX-License-Identifier: Apache-2.0
"""A service that comes first: its latency while Hearth evaluates long prompts, against its own without."""

import http.client
import math
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import first_token
import httpx
import load
import synthetic
from figures import Verdict
from support.server import GEMMA, SMOLLM2, Server
from support.waiting import eventually

BAR = 1.10
PAUSE_S = 0.02  # between two questions of the client whose latency is measured
BASELINE_S = 180
BUSY_SHARE = 0.4  # processors that others may use meanwhile; with more the figures say nothing

# A home automation in miniature: each answer costs a little computing, as templates and JSON do.
_SERVICE = """
import http.server, json, socketserver, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = json.dumps([{"id": n, "state": str(n * n)} for n in range(200)]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


class Service:
    def __init__(self, port=0):
        self._process = subprocess.Popen([sys.executable, "-c", _SERVICE, str(port)],
                                         stdout=subprocess.PIPE, text=True)
        self.port = int(self._process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}/"
        self.pid = self._process.pid

    def end(self):
        self._process.kill()
        self._process.wait()


class Client:
    """Asks the service again and again, each time over a new connection; goes before all others where
    it may, since a client that waits for a processor would count its own wait."""

    def __init__(self, service):
        self._port, self._stop = service.port, threading.Event()
        self.rows = []  # (moment, seconds)
        self.goes_first = True
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -15)
        except PermissionError:
            self.goes_first = False
        while not self._stop.wait(PAUSE_S):
            begun = time.perf_counter()
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
            try:
                connection.request("GET", "/")
                connection.getresponse().read()
            finally:
                connection.close()
            self.rows.append((begun, time.perf_counter() - begun))

    def between(self, begin, end):
        return [took for at, took in self.rows if begin <= at < end]

    def end(self):
        self._stop.set()
        self._thread.join()


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, math.ceil(len(values) * share) - 1)]


def summary(values):
    return {"n": len(values), "p50_ms": quantile(values, 0.5) * 1e3,
            "p99_ms": quantile(values, 0.99) * 1e3, "max_ms": max(values) * 1e3}


class Prompts:
    """Long prompts, each of them new, as many at once as there are processors."""

    def __init__(self, server, options):
        self._server, self._options, self._stop = server, options, threading.Event()
        self.tokens, self.errors = [], []
        self._threads = [threading.Thread(target=self._run, args=(n,), daemon=True)
                         for n in range(os.cpu_count())]
        for thread in self._threads:
            thread.start()

    def _run(self, n):
        dice = random.Random(n)
        with httpx.Client(base_url=self._server.url, timeout=300, trust_env=False) as http:
            while not self._stop.is_set():
                text = first_token.prompt_of(self._options.words, dice.randrange(1 << 20))
                answer = http.post("/v1/completions", json={
                    "model": "bench", "prompt": text, "max_tokens": 2, "temperature": 0})
                if answer.status_code != 200:
                    self.errors.append(answer.text[:300])
                    return
                self.tokens.append((time.perf_counter(), answer.json()["usage"]["prompt_tokens"]))

    def rate(self, begin, end):
        return sum(count for at, count in self.tokens if begin <= at < end) / (end - begin)

    def end(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()


def state(server):
    return server.ok("/api/hearth/levels")["protected"][0]


def watch(server, seconds):
    """What the server says of the service, once a second."""
    begun, said = time.perf_counter(), []
    while (at := time.perf_counter() - begun) < seconds:
        said.append({"at_s": round(at, 1), **state(server)})
        time.sleep(1.0)
    return said


def scene(server, service, options):
    client = Client(service)
    try:
        eventually(lambda: state(server)["baseline_ms"], "it knows what is usual", BASELINE_S)
        meter, begin = load.Meter(server.pid, service.pid), time.perf_counter()
        idle_said = watch(server, options.seconds)
        idle, others = (begin, time.perf_counter()), [meter.read().outside_share]
        print(f"  alone: {summary(client.between(*idle))}", flush=True)
        prompts = Prompts(server, options)
        settling = watch(server, options.settle)
        meter, begin = load.Meter(server.pid, service.pid), time.perf_counter()
        said = watch(server, options.seconds)
        beside = (begin, time.perf_counter())
        others.append(meter.read().outside_share)
        prompts.end()
        print(f"  beside: {summary(client.between(*beside))}", flush=True)
        recovered = time.perf_counter()
        back = watch(server, options.settle)
        return {"alone": summary(client.between(*idle)), "beside": summary(client.between(*beside)),
                "first": summary(client.between(begin - options.settle, begin)),
                "after": summary(client.between(recovered, time.perf_counter())),
                "rate_first": prompts.rate(begin - options.settle, begin),
                "rate": prompts.rate(*beside), "errors": prompts.errors,
                "said": [*({"when": "alone", **row} for row in idle_said),
                         *({"when": "settling", **row} for row in settling),
                         *({"when": "beside", **row} for row in said),
                         *({"when": "after", **row} for row in back)],
                "client_first": client.goes_first, "others": others}
    finally:
        client.end()


def print_said(result):
    last = None
    for row in result["said"]:
        key = (row["when"], row["state"], tuple(row["gave_way"]))
        if key != last:
            figures = [float("nan") if row[k] is None else row[k]
                       for k in ("baseline_ms", "p99_ms")]
            print(f"{row['when']:9}{row['at_s']:6.1f} s  {row['state']:8} usual {figures[0]:.2f} ms, "
                  f"p99 {figures[1]:.2f} ms, given: {', '.join(row['gave_way']) or 'nothing'}")
        last = key
    print(f"prompts: {result['rate_first']:.0f} tokens/s while it settled, {result['rate']:.0f} then")


def evaluate(result):
    ratio = {when: result[when]["p99_ms"] / result["alone"]["p99_ms"]
             for when in ("first", "beside", "after")}
    detail = (f"{result['alone']['p99_ms']:.2f} -> {result['beside']['p99_ms']:.2f} ms; while Hearth "
              f"found out {ratio['first']:.2f}, after it {ratio['after']:.2f}")
    busy = max(result["others"])
    if busy > BUSY_SHARE:
        detail += f"; others used {busy:.1f} processors"
    return [Verdict("p99 of the service beside prompts ÷ alone",
                    ratio["beside"] if busy <= BUSY_SHARE else None, BAR, detail=detail),
            Verdict("prompts refused meanwhile", len(result["errors"]), 0, unit="")]


def run(folder, options):
    service = Service()
    config = f'stores = []\nprefix_memory_mib = 0\n[protected."web"]\nurl = "{service.url}"\n'
    server = Server(Path(folder) / "data", config).start()
    try:
        model = {"smollm2": SMOLLM2, "gemma": GEMMA}.get(options.model)
        server.import_model(model or synthetic.ensure(options.model), "bench")
        server.complete("1 2 3", "bench")
        result = scene(server, service, options)
        server.stop()
    finally:
        server.kill()
        service.end()
    print_said(result)
    return result, evaluate(result)


def arguments(parser):
    parser.add_argument("--model", default="1b-q4_k", help="smollm2, gemma or a synthetic one")
    parser.add_argument("--words", type=int, default=600, help="of a prompt")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each measurement")
    parser.add_argument("--settle", type=float, default=30.0,
                        help="after which Hearth should have found out how far it has to give way")
