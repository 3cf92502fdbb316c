# SPDX-License-Identifier: Apache-2.0
"""An OTLP/HTTP collector that reads strictly: each body must be what the official protocol's classes
take, with nothing that they do not know, and each span must be well-formed."""

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from support.waiting import eventually

_IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}


def _with_bytes(value):
    """OTLP writes ids in hexadecimal, where protobuf's own JSON has base64."""
    if isinstance(value, list):
        return [_with_bytes(each) for each in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, each in value.items():
        if key in _IDS:
            raw = bytes.fromhex(each)
            assert len(raw) == _IDS[key] and any(raw) and each == each.lower(), f"{key}: {each}"
            each = base64.b64encode(raw).decode()
        out[key] = _with_bytes(each)
    return out


def parse(body):
    return json_format.ParseDict(_with_bytes(json.loads(body)), ExportTraceServiceRequest())


def value_of(any_value):
    kind = any_value.WhichOneof("value")
    assert kind is not None, "an attribute without a value"
    return getattr(any_value, kind)


def attributes_of(thing):
    keys = [each.key for each in thing.attributes]
    assert len(keys) == len(set(keys)) and all(keys), keys
    return {each.key: value_of(each.value) for each in thing.attributes}


def check_span(span):
    assert len(span.trace_id) == 16 and len(span.span_id) == 8
    assert span.name
    assert span.kind in (1, 2)
    assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
    assert span.flags & 0x100, "whether the parent is remote is not said"
    attributes_of(span)


class Collector:
    """`answers`: (status, headers, body) of the next posts; afterwards all is taken."""

    def __init__(self):
        self.answers = []
        self.posts = []  # (path, headers, body), all of them
        self.requests = []  # parsed, of those that were taken
        self.faults = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                collector.take(self)

            def log_message(self, *_):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1/traces"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def take(self, handler):
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        status, headers, text = self.answers.pop(0) if self.answers else (200, {}, "{}")
        self.posts.append((handler.path, dict(handler.headers), body))
        try:
            request = parse(body)
            for span in self._spans_of(request):
                check_span(span)
            if status == 200:
                self.requests.append(request)
        except (AssertionError, ValueError, json_format.ParseError) as fault:
            self.faults.append(fault)
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text.encode())

    @staticmethod
    def _spans_of(request):
        return [span for resource in request.resource_spans for scope in resource.scope_spans
                for span in scope.spans]

    def spans(self):
        assert not self.faults, self.faults
        return [span for request in list(self.requests) for span in self._spans_of(request)]

    def trace(self, request_id, timeout=15.0):
        """The spans of one request, its own first."""
        def root():
            return next((span for span in self.spans()
                         if attributes_of(span).get("hearth.request_id") == request_id), None)

        first = eventually(root, f"the trace of {request_id} arrives", timeout)
        below = [span for span in self.spans() if span.parent_span_id == first.span_id]
        return [first, *below]

    def close(self):
        self._http.shutdown()
        self._http.server_close()
