# SPDX-License-Identifier: Apache-2.0
"""Days of replies as a household has them, put into the history of a server that is not running."""

import json
import random
import sqlite3
import time

_US = 1_000_000
_DAY_S = 86_400

# class, the layer that was cold, its verdict, its stages before the prompt with their milliseconds
_KINDS = [
    ("warm", None, None, []),
    ("load-cold", "weights", "weights.idle", [("load", 400), ("context", 150)]),
    ("storage-cold", "pages", "pages.evicted", [("read", 1800), ("load", 350), ("context", 150)]),
    ("prefix-cold", "prefix", "prefix.evicted", [("restore", 90)]),
    ("compile-cold", "compiled", "compiled.engine", [("load", 300), ("compile", 900)]),
]
_WEIGHTS = [78, 9, 5, 6, 2]
_MODELS = ["smollm2:latest", "gemma:latest", "qwen2.5:7b", "mistral-small:24b"]
_CLIENTS = [("openai", "/v1/chat/completions"), ("ollama", "/api/chat"), ("anthropic", "/v1/messages")]


def _stages(before, chance):
    """The stages up to the last token, and when the first one came."""
    stages, at = [{"name": "queue", "start_ms": 0, "ms": round(chance.expovariate(1 / 3), 3)}], 1.0
    for name, usual in before:
        length = usual * chance.uniform(0.6, 2.4)
        stages.append({"name": name, "start_ms": round(at, 3), "ms": round(length, 3)})
        at += length
    prefill = chance.lognormvariate(4.6, 0.8)
    stages += [{"name": "tokenize", "start_ms": 0.4, "ms": 1.2},
               {"name": "prefill", "start_ms": round(at, 3), "ms": round(prefill, 3)}]
    first = at + prefill
    decode = chance.lognormvariate(7, 0.9)
    stages += [{"name": "first_decode", "start_ms": round(first, 3), "ms": 0.6},
               {"name": "decode", "start_ms": round(first + 0.6, 3), "ms": round(decode, 3)}]
    return stages, first, first + 0.6 + decode


def past_reply(number, started_us, chance):
    name, layer, code, before = chance.choices(_KINDS, _WEIGHTS)[0]
    stages, ttft, total = _stages(before, chance)
    model = chance.choices(_MODELS, [5, 3, 3, 1])[0]
    api, path = chance.choice(_CLIENTS)
    entry = {"request_id": f"past{number:016d}", "class": name, "shared": False,
             "queued_ms": stages[0]["ms"], "total_ms": round(total, 3), "overlap_ms": 0,
             "other_ms": 0.2, "stages": stages, "model": model, "api": api, "path": path,
             "status": 200, "outcome": "ok", "started_us": started_us, "prompt_tokens": 420,
             "cached_tokens": 380, "generated_tokens": 120, "ttft_ms": round(ttft, 3),
             "prefill_ms": stages[-3]["ms"], "decode_ms": stages[-1]["ms"], "tokens_per_s": 24.5,
             "bytes_read": 0, "major_faults": 0}
    if layer:
        cost = round(sum(stage["ms"] for stage in stages[1:-4]), 3)
        entry["cold_layer"] = layer
        entry["verdict"] = {"code": code, "layer": layer, "cost_ms": cost,
                            "remedy": f"keep it: hearth pin {model}",
                            "text": f"The {layer} of {model} had gone cold; this cost {cost:.0f} ms."}
    return entry


def add_past_replies(data, count, days=10, seed=1):
    """`count` replies over the last `days` into DATA/history.db, which a server has made before."""
    chance = random.Random(seed)
    now = int(time.time())
    times = sorted(now - int(chance.uniform(0, days * _DAY_S)) for _ in range(count))
    with sqlite3.connect(data / "history.db") as history:
        for number, at in enumerate(times):
            entry = past_reply(number, at * _US, chance)
            text = json.dumps(entry, separators=(",", ":"))
            history.execute(
                "INSERT INTO requests(request_id, started_us, model, class, outcome, bytes, json) "
                "VALUES(?, ?, ?, ?, ?, ?, ?)",
                (entry["request_id"], entry["started_us"], entry["model"], entry["class"], "ok",
                 len(text), text))
    history.close()
