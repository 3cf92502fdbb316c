# SPDX-License-Identifier: Apache-2.0
"""What changes near the beginning of prompts is found out and named; and cut out where that is wanted."""

import json

from support.prefix import blocks_of, cached, kept, prompt_of, run_hearth, view, wait_kept

RULES = prompt_of(300, 1)
ALIKE = 300  # tokens of RULES


def ask(server, system, question="Hi", **more):
    messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
    return server.ok("/v1/chat/completions", {"model": "smollm2", "messages": messages,
                                              "max_tokens": 2, "temperature": 0, **more})


def dated(day):
    return f"Current date: {day}\n{RULES}"


def findings(server):
    answer = server.get("/api/hearth/doctor")
    assert answer.status_code == 200, answer.text
    return answer.json()["findings"]


def test_a_date_in_the_system_prompt_is_found(tiny_server):
    server = tiny_server()
    for number, day in enumerate(("Monday", "Tuesday", "Friday", "Sunday")):
        reply = ask(server, dated(day), f"Question {number}")
    [found] = findings(server)
    assert found["code"] == "prefix.volatile_head" and found["model"] == "smollm2:latest"
    assert found["requests"] >= 3 and found["remedy"]
    text = f"<|im_start|>system\n{dated('')}"
    assert text[:found["character"]].endswith("Current date:")
    # A token, which may be the beginning of the word only.
    assert "Monday Tuesday Friday".find(found["had"].strip()) >= 0
    assert "Tuesday Friday Sunday".find(found["has"].strip()) >= 0
    assert view(server)["findings"] == [found]
    assert found["text"] in run_hearth(server, "doctor")
    miss = reply["hearth"]["prefix"]["miss"]
    assert miss["position"] == found["position"] and miss["reason"] in ("diverged", "short")
    assert f"token {miss['position']}" in run_hearth(server, "why")


def test_what_is_usual_is_not_found(tiny_server):
    server = tiny_server()
    for number in range(5):
        ask(server, RULES, prompt_of(40, 10 + number))  # other questions
    question = "Hi"
    for number in range(5):  # a conversation that grows
        question += " " + prompt_of(40, 20 + number)
        ask(server, RULES, question)
    assert findings(server) == []
    assert "Nothing" in run_hearth(server, "doctor")


def test_what_is_cut_out_keeps_nothing_from_being_used_again(tiny_server):
    server = tiny_server('prefix_normalise = ["Current date: *"]')
    first = ask(server, dated("Monday"))
    assert first["hearth"]["prefix"]["normalised"] == 1
    second = ask(server, dated("Tuesday"))
    assert cached(second) >= ALIKE and second["hearth"]["prefix"]["normalised"] == 1
    assert findings(server) == []


def test_all_prompts_are_deleted_by_one_call(tiny_server):
    server = tiny_server()
    prompt = prompt_of(300, 30)
    server.complete(prompt)
    wait_kept(server, "memory", 300)
    server.unload()
    assert server.ok("/api/hearth/cool", {"layer": "prefix"})["freed_bytes"] > 0
    assert cached(server.complete(prompt)) == 0


def test_cool_by_command(tiny_server):
    server = tiny_server()
    prompt = prompt_of(300, 31)
    server.complete(prompt)
    wait_kept(server, "memory", 300)
    server.unload()
    run_hearth(server, "cool", "smollm2", "--layer", "prefix", "--tier", "ram")
    assert kept(server)["memory"] == 0 and kept(server)["disk"] >= blocks_of(300)
    told = json.loads(run_hearth(server, "--json", "cool", "--all", "--layer", "prefix"))
    assert told["freed_bytes"] > 0
    assert "given back" in run_hearth(server, "cool", "--all", "--layer", "prefix")
    assert cached(server.complete(prompt)) == 0
