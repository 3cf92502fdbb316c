# SPDX-License-Identifier: Apache-2.0
"""JSON schemas drawn at random: most of what clients send, all of it bounded so that a reply ends; and
some of what no grammar can say."""

import random

_PATTERNS = ["^[a-f]{2,4}$", "^(on|off)$", "^[0-9]{3}-[0-9]{2}$", "^x?y+z{0,2}$", "^[A-Z][a-z]{1,5}$"]
_FORMATS = ["date", "time", "date-time", "uuid"]
_DEPTH = 3

# What cannot be enforced, as what is added to a schema of this type.
_REFUSED = {
    "object": [{"minProperties": 1}, {"maxProperties": 3}, {"propertyNames": {"maxLength": 3}},
               {"patternProperties": {"^x": {"type": "integer"}}},
               {"dependentRequired": {"a": ["b"]}}, {"unevaluatedProperties": {"type": "string"}}],
    "array": [{"uniqueItems": True}, {"contains": {"type": "integer"}}],
    "integer": [{"multipleOf": 3}, {"minimum": 5, "maximum": 2}],
    "string": [{"pattern": "abc"}, {"pattern": "^([a-z$"}, {"pattern": "^(?=a)a$"},
               {"minLength": 7, "maxLength": 2}, {"maxLength": 10**6}],
}


class SchemaMaker:
    def __init__(self, seed):
        self._dice = random.Random(seed)
        self._definitions = {}

    def schema(self):
        out = self._object(0) if self._dice.random() < 0.7 else self._any(0)
        if self._definitions:
            out = {**out, "$defs": self._definitions}
        return out

    def _any(self, depth):
        kinds = [self._string, self._integer, self._boolean, self._choice, self._constant,
                 self._nothing]
        if depth < _DEPTH:
            kinds += [self._object, self._array, self._union, self._reference]
        return self._dice.choice(kinds)(depth)

    def _spoilt(self, kind, schema):
        if self._dice.random() < 0.02:
            schema.update(self._dice.choice(_REFUSED[kind]))
        return schema

    def _string(self, _):
        schema = {"type": "string"}
        way = self._dice.randrange(4)
        if way == 0:
            schema["pattern"] = self._dice.choice(_PATTERNS)
        elif way == 1:
            schema["format"] = self._dice.choice(_FORMATS)
        else:
            low = self._dice.randrange(4)
            schema["maxLength"] = low + self._dice.randrange(8)
            if low:
                schema["minLength"] = low
        return self._spoilt("string", schema)

    def _integer(self, _):
        low = self._dice.randrange(-300, 300)
        schema = {"type": "integer", "minimum": low, "maximum": low + self._dice.randrange(2000)}
        return self._spoilt("integer", schema)

    def _boolean(self, _):
        return {"type": "boolean"}

    def _nothing(self, _):
        return {"type": self._dice.choice(["null", ["boolean", "null"]])}

    def _choice(self, _):
        words = ["red", "größer", "a b", "\"quoted\"", "\\", 7, -1.5, True, None, ""]
        return {"enum": self._dice.sample(words, 1 + self._dice.randrange(4))}

    def _constant(self, _):
        return {"const": self._dice.choice(["fixed", 42, False, None, [1, 2], {"a": 1}])}

    def _union(self, depth):
        word = self._dice.choice(["anyOf", "oneOf"])
        # With oneOf exactly one may fit.
        if word == "oneOf":
            return {"oneOf": [{"type": "boolean"}, {"type": "null"}, {"const": "neither"}]}
        return {"anyOf": [self._any(depth + 1), self._any(depth + 1)]}

    def _reference(self, depth):
        name = f"d{self._dice.randrange(3)}"
        if name not in self._definitions:
            self._definitions[name] = {"type": "boolean"}  # while what it is made of is drawn
            self._definitions[name] = self._any(depth + 1)
        return {"$ref": f"#/$defs/{name}"}

    def _array(self, depth):
        low = self._dice.randrange(3)
        schema = {"type": "array", "items": self._any(depth + 1), "minItems": low,
                  "maxItems": low + self._dice.randrange(3)}
        if self._dice.random() < 0.15:
            first = [self._any(depth + 1), self._any(depth + 1)]
            schema = {"type": "array", "prefixItems": first, "minItems": 2, "maxItems": 2}
        return self._spoilt("array", schema)

    def _object(self, depth):
        names = self._dice.sample(["name", "a", "b", "größe", "with space", "q\"uote"],
                                  1 + self._dice.randrange(4))
        schema = {"type": "object", "properties": {n: self._any(depth + 1) for n in names},
                  "required": [n for n in names if self._dice.random() < 0.7],
                  "additionalProperties": False}
        return self._spoilt("object", schema)
