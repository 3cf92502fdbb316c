# SPDX-License-Identifier: Apache-2.0
"""docs/openapi.json made narrower, so that requests drawn from it get somewhere and end soon."""

import copy

# Members whose values decide whether there is an answer at all, and how long it takes.
_NARROW = {
    "model": {"type": "string", "enum": ["smollm2", "smollm2:latest", "nobody"]},
    "max_tokens": {"type": "integer", "minimum": 1, "maximum": 8},
    "max_completion_tokens": {"type": "integer", "minimum": 1, "maximum": 8},
    "max_output_tokens": {"type": "integer", "minimum": 1, "maximum": 8},
    "n_predict": {"type": "integer", "minimum": 1, "maximum": 8},
    "num_predict": {"type": "integer", "minimum": 1, "maximum": 8},
}

_TURNS = [{"role": "user", "content": "Hi"}]
_TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}

# Members whose schemas allow more than any server can do: with these nearly every request is in order.
_RIGHT = {
    "messages": [_TURNS, [*_TURNS, {"role": "assistant", "content": "é\n😀"}, *_TURNS]],
    "tools": [[], [_TOOL]], "tool_choice": ["none"], "functions": [[]],
    "response_format": [{"type": "text"}, {"type": "json_object"}], "json_schema": [None],
    "format": ["json", "", {"type": "boolean"}], "logit_bias": [{}, {"7": -100, "9": 1.5}],
    "keep_alive": [0, -1, 1.5, "5m", None], "ttl": [None], "return_progress": [False],
    "chat_template_kwargs": [{}, {"a": 1}], "hearth": [{}], "think": [False], "thinking": [None],
    "output_config": [{}], "stop": ["x", ["a", "b"], ""], "seed": [7, -1, None], "n": [1, 2],
    "prompt": ["Hi", "Hé 😀", [1, 2, 3], ["Hi"]], "context": [[1, 2, 3], []], "system": ["Hi", ""],
    "input": ["Hi", ["Hi", "Ho"]], "dimensions": [None], "images": [[], None], "shift": [False],
    "suffix": ["", None], "template": ["", None], "grammar": ["", "root ::= \"a\""],
    "logprobs": [False], "top_logprobs": [0],
}


def _narrow(node, right):
    if isinstance(node, list):
        for value in node:
            _narrow(value, right)
    if not isinstance(node, dict):
        return
    properties = node.get("properties")
    if isinstance(properties, dict):
        properties.update({k: v for k, v in _NARROW.items() if k in properties})
        if right:
            properties.update({k: {"enum": v} for k, v in _RIGHT.items() if k in properties})
            node["additionalProperties"] = False
        # A body without a limit goes on until the model is done.
        for limit in ("max_tokens", "num_predict"):
            if limit in properties and limit not in node.get("required", []):
                node["required"] = [*node.get("required", []), limit]
        if "options" in properties and "options" not in node.get("required", []):
            node["required"] = [*node.get("required", []), "options"]
    for value in node.values():
        _narrow(value, right)


def requests_of(document):
    """The schemas of bodies that requests refer to, by name, with all that these refer to."""
    found, todo = set(), [item for path in document["paths"].values() for method, item in path.items()
                          if isinstance(item, dict) and "requestBody" in item]
    nodes = [operation["requestBody"] for operation in todo]
    while nodes:
        node = nodes.pop()
        if isinstance(node, list):
            nodes.extend(node)
        elif isinstance(node, dict):
            name = node.get("$ref", "").removeprefix("#/components/schemas/")
            if "$ref" in node and name not in found and name in document["components"]["schemas"]:
                found.add(name)
                nodes.append(document["components"]["schemas"][name])
            nodes.extend(node.values())
    return found


def narrowed(document, right=False):
    """A copy with narrower requests, and `right` ones even in what no schema says. Where requests and
    answers share a schema, so do they here: answers are to be checked with the whole document."""
    out = copy.deepcopy(document)
    for name in requests_of(document):
        _narrow(out["components"]["schemas"][name], right)
    for item in out["paths"].values():
        for operation in item.values():
            for parameter in operation.get("parameters", []) if isinstance(operation, dict) else []:
                if parameter.get("name") in ("name", "id") and parameter.get("in") == "path":
                    parameter["schema"] = {"type": "string", "enum": ["smollm2", "nobody", "a:b"]}
    return out


def members_of_bodies(document):
    """(method, path, member) for each member, at the top, of each body of JSON."""
    def resolved(node):
        while "$ref" in node:
            target = document
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")]
            node = target
        return node

    def members(node):
        node = resolved(node)
        yield from node.get("properties", {})
        for word in ("allOf", "anyOf", "oneOf"):
            for part in node.get(word, []):
                yield from members(part)

    for path, item in document["paths"].items():
        for method, operation in item.items():
            if not isinstance(operation, dict) or "requestBody" not in operation:
                continue
            content = resolved(operation["requestBody"])["content"]
            for member in members(content.get("application/json", {}).get("schema", {})):
                yield method.upper(), path, member
