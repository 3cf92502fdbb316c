# SPDX-License-Identifier: Apache-2.0
"""One streamed request on a raw connection, timed to the first piece of text."""

import json
import re
import socket
import time
from urllib.parse import urlsplit

RETRY_S = 0.003  # of a server that starts: this much a first token can come late, half of it on average

COMPLETION = ("/v1/completions", re.compile(rb'"text": ?"[^"]'), b"[DONE]")
OLLAMA = ("/api/generate", re.compile(rb'"response": ?"[^"]'), b'"done":true')


class NotYet(Exception):
    """The server is there, or not even that, and loads."""


def _receive(connection, text, end):
    """(moment of the first text, all that came)"""
    first, data = None, b""
    while end not in data:
        piece = connection.recv(1 << 16)
        if not piece:
            break
        data += piece
        if first is None and text.search(data):
            first = time.perf_counter()
    return first, data


def _once(address, request, dialect):
    try:
        connection = socket.create_connection((address.hostname, address.port), timeout=600)
    except ConnectionRefusedError as error:
        raise NotYet from error
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(request)
        # One that loads answers 503 and ends the connection, so there is an end either way.
        first, data = _receive(connection, dialect[1], dialect[2])
    if data.startswith((b"HTTP/1.1 503", b"HTTP/1.0 503")) or not data:
        raise NotYet
    if first is None:
        raise RuntimeError(f"no text came: {data[-400:]!r}")
    return first, data


def exchange(url, body, dialect=COMPLETION, is_alive=None):
    """(the moment by time.perf_counter at which the first text was here, all that came). With `is_alive`,
    a server that does not answer yet is asked again as long as that is true."""
    address = urlsplit(url)
    data = json.dumps({**body, "stream": True}).encode()
    request = (f"POST {dialect[0]} HTTP/1.1\r\nHost: {address.netloc}\r\nConnection: close\r\n"
               f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n").encode()
    while True:
        try:
            return _once(address, request + data, dialect)
        except NotYet:
            if is_alive is None or not is_alive():
                raise
            time.sleep(RETRY_S)


def ask(url, body, dialect=COMPLETION, is_alive=None):
    """The moment of the first text; see exchange()."""
    return exchange(url, body, dialect, is_alive)[0]


# ---- prompts ----

# One token each, in the vocabularies of the test models.
WORDS = ("the of and to in is that for it was on are as with his they at be this from have or by one "
         "had not but what all were when we there can an your which their said if do will each about "
         "how up out them then she many some so these would other into has more her two like him see "
         "time could no make than first been its who now people my made over did down only way find "
         "use may water long little very after words called just where most know").split()


def prompt_of(words, number):
    """Text of so many words, another one for each number from its first word on."""
    chosen = [WORDS[(number * 13 + n * (7 + number % 5)) % len(WORDS)] for n in range(words)]
    return " ".join(chosen)


def words_for(tokens, count):
    """How many words make a prompt of so many tokens; count(prompt) tells its tokens."""
    words = tokens
    for _ in range(4):
        off = count(prompt_of(words, 1)) - tokens
        if off == 0:
            return words
        words = max(1, words - off)
    return words


def body_of(prompt, tokens=2):
    return {"model": "bench", "prompt": prompt, "temperature": 0, "max_tokens": tokens,
            "ignore_eos": True}
