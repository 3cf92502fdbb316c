# SPDX-License-Identifier: Apache-2.0
"""Row 14: stop strings, derived from what the model really writes. Nothing of a stop may leak."""

import pytest

PROMPTS = {
    "prose": "Once upon a time, in a small village by the sea,",
    "lists": "A shopping list:\n\n- apples\n\n- bread\n\n-",
}
LENGTH = 32


def pieces_of(server, prompt, **more):
    """The text in the pieces that the stream sends, and the reason for its end."""
    body = {"model": "smollm2", "prompt": prompt, "temperature": 0, "max_tokens": LENGTH, **more}
    *chunks, done = server.stream("/v1/completions", body)
    assert done == "[DONE]"
    pieces = [c["choices"][0]["text"] for c in chunks]
    return [p for p in pieces if p], chunks[-1]["choices"][0]["finish_reason"]


@pytest.fixture(scope="module", params=PROMPTS)
def written(request, shared_server):
    prompt = PROMPTS[request.param]
    pieces, _ = pieces_of(shared_server, prompt)
    return prompt, pieces


def check(server, prompt, text, stops):
    ends = [text.index(stop) for stop in stops if stop and stop in text]
    expected = text[:min(ends)] if ends else text
    pieces, reason = pieces_of(server, prompt, stop=stops)
    assert "".join(pieces) == expected
    whole = server.complete(prompt, max_tokens=LENGTH, stop=stops)["choices"][0]
    assert whole["text"] == expected
    if ends:
        assert reason == whole["finish_reason"] == "stop"
    return expected


def test_stop_that_straddles_pieces(server, written):
    prompt, pieces = written
    text = "".join(pieces)
    for i in range(2, len(pieces) - 2, 8):
        check(server, prompt, text, [pieces[i][-1] + pieces[i + 1][:1]])
        check(server, prompt, text, [pieces[i][-1] + pieces[i + 1] + pieces[i + 2][:1]])


def test_stop_equal_to_the_first_piece(server, written):
    prompt, pieces = written
    assert check(server, prompt, "".join(pieces), [pieces[0]]) == ""


def test_stop_that_is_a_prefix_of_the_text(server, written):
    prompt, pieces = written
    text = "".join(pieces)
    assert check(server, prompt, text, [text[:7]]) == ""


@pytest.mark.parametrize("stops", [["\n"], ["\n\n"], ["\n\n", "\n"], ["\n", "\n\n"]])
def test_one_stop_begins_another(server, written, stops):
    prompt, pieces = written
    check(server, prompt, "".join(pieces), stops)


def test_withheld_text_that_is_no_stop_is_sent(server, written):
    prompt, pieces = written
    text = "".join(pieces)
    almost = [text[i:i + 6] + "\u2603" for i in range(20)]  # 20 stops, none ever complete
    assert len(almost) == 20
    assert check(server, prompt, text, almost) == text
    # The end of the text may look like the beginning of a stop.
    assert check(server, prompt, text, [text[-3:] + "\u2603"]) == text


def test_twenty_stops_and_one_of_them_hits(server, written):
    prompt, pieces = written
    text = "".join(pieces)
    stops = [f"\u2603{n}" for n in range(19)] + [text[10:14]]
    check(server, prompt, text, stops)


@pytest.mark.parametrize("stop", ["", [""], [], None])
def test_empty_stops_are_ignored(server, written, stop):
    prompt, pieces = written
    got, _ = pieces_of(server, prompt, stop=stop)
    assert "".join(got) == "".join(pieces)


def test_one_stop_needs_no_list(server, written):
    prompt, pieces = written
    text = "".join(pieces)
    got, reason = pieces_of(server, prompt, stop=text[5:9])
    assert "".join(got) == text[:text.index(text[5:9])]
    assert reason == "stop"


def test_stop_in_the_prompt_does_not_count(server):
    prompt = PROMPTS["prose"]
    text = server.complete(prompt, max_tokens=8)["choices"][0]["text"]
    stop = prompt[-8:]
    assert stop not in text
    assert server.complete(prompt, max_tokens=8, stop=stop)["choices"][0]["text"] == text


def test_characters_of_several_tokens_arrive_whole(server):
    got, _ = pieces_of(server, "Emoji: \U0001f600 \U0001f680 \U0001f600 \U0001f680 \U0001f600")
    # The limit may fall into the last one.
    assert "\ufffd" not in "".join(got).rstrip("\ufffd")
