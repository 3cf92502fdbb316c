# SPDX-License-Identifier: Apache-2.0
"""A server to pull models from: speaks three protocols, and misbehaves when it is told to.

Hugging Face: the index of a repository with its files' SHA-256 (`?blobs=true`), and files behind a
redirect to another path, as their storage is another host.
An Ollama-style registry: manifests and blobs of the distribution protocol (OCI), with an anonymous
token where a test wants one.
Plain files under any path.
"""

import hashlib
import json
import mmap
import re
import socket
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

CHUNK = 256 << 10
REVISION = "5fab1e0c0ffee0ddba11c0de5eed1e55ca5cade5"


class Content:
    """Bytes of a file, or given ones, without reading them whole."""

    def __init__(self, source):
        if isinstance(source, (str, Path)):
            self._file = open(source, "rb")
            self.view = memoryview(mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ))
        else:
            self.view = memoryview(bytes(source))
        self.size = len(self.view)
        self.sha256 = hashlib.sha256(self.view).hexdigest()


@dataclass
class Fault:
    """What is wrong with the next `times` answers that send a file (all, with times = -1)."""

    kind: str
    times: int = 1
    after: int = 0            # cut, stall: bytes of this answer that still come
    offset: int = 0           # flip: of the byte in the file
    seconds: float = 0        # retry_after, stall
    status: int = 503
    to: str = ""              # redirect
    path: str = ""            # only answers for paths that contain this

    def meant_for(self, path):
        return self.times != 0 and self.path in path


@dataclass
class Request:
    method: str
    path: str
    headers: dict
    begin: int = 0
    sent: int = 0             # bytes of a file that were handed to the socket


@dataclass
class Model:
    manifest: bytes
    digest: str
    blobs: dict = field(default_factory=dict)


class Registry:
    def __init__(self):
        self.requests = []
        self.faults = []
        self.files = {}           # path -> Content
        self.repositories = {}    # "org/repo" -> {file name: Content}
        self.models = {}          # "namespace/name:tag" -> Model
        self.blobs = {}           # sha256 -> Content
        self.bytes_per_second = 0
        self.etag_of = lambda content: f'"{content.sha256}"'
        self.wants_token = False  # of the registry: an anonymous one
        self.hf_token = ""        # of gated repositories
        self._lock = threading.Lock()
        self._next_send = 0.0
        self.released = threading.Event()  # ends every stall
        handler = type("BoundHandler", (Handler,), {"registry": self})
        self._server = Server(("127.0.0.1", 0), handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self):
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- what there is ----

    def config(self, *more):
        """Lines of a configuration that pulls from here, and from nowhere else."""
        return "\n".join([
            f'pull_hosts = ["{self.url}"]', f'huggingface_endpoint = "{self.url}"',
            f'ollama_registry = "{self.url}"', *more, ""])

    def add_file(self, path, source):
        self.files[path] = Content(source)
        return self.files[path]

    def add_repository(self, name, files):
        contents = {file: Content(source) for file, source in files.items()}
        self.repositories[name] = contents
        for content in contents.values():
            self.blobs[content.sha256] = content
        return contents

    def add_model(self, name, model, adapters=(), **texts):
        """`name`: "namespace/name:tag"; texts: template, system, params, license, messages."""
        layers, blobs = [], {}

        def add(kind, source):
            content = Content(source)
            blobs[content.sha256] = self.blobs[content.sha256] = content
            layers.append({"mediaType": f"application/vnd.ollama.image.{kind}",
                           "digest": f"sha256:{content.sha256}", "size": content.size})
            return content

        first = add("model", model)
        for adapter in adapters:
            add("adapter", adapter)
        for kind, text in texts.items():
            add(kind, (text if isinstance(text, str) else json.dumps(text)).encode())
        about = Content(json.dumps({"model_format": "gguf", "model_family": "llama"}).encode())
        self.blobs[about.sha256] = about
        manifest = json.dumps({
            "schemaVersion": 2,
            "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
            "config": {"mediaType": "application/vnd.docker.container.image.v1+json",
                       "digest": f"sha256:{about.sha256}", "size": about.size},
            "layers": layers}).encode()
        self.models[name] = Model(manifest, hashlib.sha256(manifest).hexdigest(), blobs)
        return first

    # ---- what went on ----

    def misbehave(self, kind, **how):
        self.faults.append(Fault(kind, **how))

    def take_fault(self, path):
        with self._lock:
            for fault in self.faults:
                if fault.meant_for(path):
                    fault.times -= 1 if fault.times > 0 else 0
                    return fault
        return None

    def note(self, request):
        with self._lock:
            self.requests.append(request)

    @property
    def sent(self):
        with self._lock:
            return sum(request.sent for request in self.requests)

    def asked(self, part):
        with self._lock:
            return [request for request in self.requests if part in request.path]

    def forget(self):
        with self._lock:
            self.requests.clear()

    def pace(self, size):
        """Waits for this chunk's turn on a line that all connections share."""
        if not self.bytes_per_second:
            return
        with self._lock:
            now = time.monotonic()
            turn = max(self._next_send, now - 0.005)
            self._next_send = turn + size / self.bytes_per_second
        if turn > now:
            time.sleep(turn - now)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        """Clients that leave are what many tests are about."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    registry = None

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self._serve()

    def do_GET(self):
        self._serve()

    def _serve(self):
        self.path_only = urlsplit(self.path).path
        self.noted = Request(self.command, self.path, {k.lower(): v for k, v in self.headers.items()})
        self.registry.note(self.noted)
        for pattern, answer in self.ROUTES:
            if match := re.fullmatch(pattern, self.path_only):
                return answer(self, *match.groups())
        content = self.registry.files.get(self.path_only)
        if content is None:
            return self._refuse(404, "no such file")
        return self._send_file(content)

    # ---- Hugging Face ----

    def _index(self, repository, revision):
        files = self.registry.repositories.get(repository)
        if files is None:
            return self._refuse(404, "Repository not found")
        if not self._may_read():
            return self._refuse(401, "Access to this repository is restricted")
        if revision not in ("main", REVISION):
            return self._refuse(404, "Invalid rev id")
        blobs = "blobs" in parse_qs(urlsplit(self.path).query)
        siblings = []
        for name, content in files.items():
            one = {"rfilename": name}
            if blobs:
                one |= {"size": content.size, "blobId": content.sha256[:40],
                        "lfs": {"sha256": content.sha256, "size": content.size, "pointerSize": 134}}
            siblings.append(one)
        self._send_json({"id": repository, "modelId": repository, "sha": REVISION,
                         "private": False, "gated": False, "siblings": siblings})

    def _resolve(self, repository, revision, name):
        content = self.registry.repositories.get(repository, {}).get(name)
        if content is None or revision not in ("main", REVISION):
            return self._refuse(404, "Entry not found")
        if not self._may_read():
            return self._refuse(401, "Access to this repository is restricted")
        self.send_response(302)
        self.send_header("Location", f"{self.registry.url}/storage/{content.sha256}?expires=soon")
        self.send_header("X-Linked-Etag", f'"{content.sha256}"')
        self.send_header("X-Linked-Size", str(content.size))
        self.send_header("X-Repo-Commit", REVISION)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _may_read(self):
        token = self.registry.hf_token
        return not token or self.headers.get("Authorization") == f"Bearer {token}"

    def _storage(self, sha256):
        content = self.registry.blobs.get(sha256)
        if content is None:
            return self._refuse(404, "NoSuchKey")
        return self._send_file(content)

    # ---- Ollama-style registry ----

    def _manifest(self, namespace, name, tag):
        if not self._has_token():
            return self._challenge(f"{namespace}/{name}")
        model = self.registry.models.get(f"{namespace}/{name}:{tag}")
        if model is None:
            return self._send_json({"errors": [{"code": "MANIFEST_UNKNOWN",
                                                "message": "manifest unknown"}]}, 404)
        self._send(200, model.manifest,
                   {"Content-Type": "application/vnd.docker.distribution.manifest.v2+json",
                    "Docker-Content-Digest": f"sha256:{model.digest}"})

    def _blob(self, namespace, name, digest):
        if not self._has_token():
            return self._challenge(f"{namespace}/{name}")
        content = self.registry.blobs.get(digest)
        if content is None:
            return self._send_json({"errors": [{"code": "BLOB_UNKNOWN"}]}, 404)
        if content.size < 64 << 10:
            return self._send(200, bytes(content.view), {"Content-Type": "application/octet-stream"})
        self.send_response(307)
        self.send_header("Location", f"{self.registry.url}/storage/{digest}?signature=x")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _has_token(self):
        return not self.registry.wants_token or self.headers.get("Authorization") == "Bearer guest"

    def _challenge(self, repository):
        realm = f"{self.registry.url}/token"
        self._send(401, b"{}", {"WWW-Authenticate": f'Bearer realm="{realm}",service="registry",'
                                                    f'scope="repository:{repository}:pull"'})

    def _token(self):
        self._send_json({"token": "guest"})

    ROUTES = [
        (r"/api/models/([^/]+/[^/]+)/revision/([^/]+)", _index),
        (r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", _resolve),
        (r"/storage/([0-9a-f]{64})", _storage),
        (r"/v2/([^/]+)/([^/]+)/manifests/([^/]+)", _manifest),
        (r"/v2/([^/]+)/([^/]+)/blobs/sha256:([0-9a-f]{64})", _blob),
        (r"/token", _token),
    ]

    # ---- answers ----

    def _send(self, status, body, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _send_json(self, value, status=200):
        self._send(status, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _refuse(self, status, message):
        self._send_json({"error": message}, status)

    def _send_file(self, content):
        fault = self.registry.take_fault(self.path_only)
        kind = fault.kind if fault else ""
        if kind == "status":
            headers = {"Retry-After": f"{fault.seconds:g}"} if fault.seconds else {}
            return self._send(fault.status, b"not now", headers)
        if kind == "redirect":
            return self._send(302, b"", {"Location": fault.to})
        if kind == "html":
            return self._send(200, b"<!DOCTYPE html><html>Please sign in</html>",
                              {"Content-Type": "text/html"})
        etag = '"another"' if kind == "etag" else self.registry.etag_of(content)
        begin, end = self._range(content, etag)
        if kind == "ignore_range":
            begin, end = 0, content.size
        if begin >= content.size:
            return self._send(416, b"", {"Content-Range": f"bytes */{content.size}"})
        partial = kind != "ignore_range" and "Range" in self.headers and (begin, end) != (0, content.size)
        self.noted.begin = begin
        self.send_response(206 if partial else 200)
        if partial:
            first = begin + (1 if kind == "wrong_range" else 0)
            self.send_header("Content-Range", f"bytes {first}-{end - 1}/{content.size}")
        length = end - begin + (1000 if kind == "too_long" else 0)
        self.send_header("Content-Length", str(length))
        self.send_header("ETag", etag)
        self.send_header("Accept-Ranges", "none" if kind == "ignore_range" else "bytes")
        self.end_headers()
        if self.command != "HEAD":
            self._send_range(content, begin, end, fault)

    def _range(self, content, etag):
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not match:
            return 0, content.size
        condition = self.headers.get("If-Range")
        if condition is not None and condition != etag:
            return 0, content.size
        end = int(match[2]) + 1 if match[2] else content.size
        return int(match[1]), min(end, content.size)

    def _send_range(self, content, begin, end, fault):
        kind = fault.kind if fault else ""
        limit = begin + fault.after if kind in ("cut", "stall") else end
        view = content.view
        if kind == "flip" and begin <= fault.offset < end:
            flipped = bytearray(view[begin:end])
            flipped[fault.offset - begin] ^= 0x10
            view, offset = memoryview(flipped), begin
        elif kind == "flip":
            fault.times += fault.times >= 0  # not this one: it waits for its byte
            offset = 0
        else:
            offset = 0
        at = begin
        while at < min(end, limit):
            size = min(CHUNK, min(end, limit) - at)
            self.registry.pace(size)
            sent = self.connection.send(view[at - offset:at - offset + size])
            self.noted.sent += sent
            at += sent
        if kind == "stall":
            self.registry.released.wait(fault.seconds or 60)
        if kind in ("cut", "stall", "too_long"):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
