# SPDX-License-Identifier: Apache-2.0
"""What the tests of Ollama's API send."""

import ollama

HELLO = [{"role": "user", "content": "Say hello to the world in one sentence."}]
GREEDY = {"temperature": 0, "num_predict": 16}


def client_of(server):
    return ollama.Client(host=server.url, trust_env=False, timeout=90)


def generate(server, prompt, **more):
    options = {**GREEDY, **more.pop("options", {})}
    body = {"model": "smollm2", "prompt": prompt, "stream": False, "options": options, **more}
    return server.ok("/api/generate", body)
