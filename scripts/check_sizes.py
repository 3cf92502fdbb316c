#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the house limits on files, functions, lines and nesting.

File: warn above 400 lines, fail above 700. Function: warn above 40, fail above 80. Line: 100 columns.
Block nesting inside a function: 3. Parameters: 5, none of them bool. Every source starts with the SPDX line.
Exceptions, each with its reason, stand in scripts/size_exceptions.txt.

Functions are found by matching braces over text whose comments and strings have been blanked out. That
is a heuristic, good enough to notice what has grown; it never needs a compiler.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXCEPTIONS = ROOT / "scripts" / "size_exceptions.txt"
LICENCE = "SPDX-License-Identifier: Apache-2.0"

FILE_WARN, FILE_FAIL = 400, 700
FUNCTION_WARN, FUNCTION_FAIL = 40, 80
WIDTH, NESTING, PARAMETERS = 100, 3, 5

# What stands before a brace: a scope that holds functions, or a block inside one.
SCOPE = re.compile(r"(^|\s)(namespace|class|struct|union|enum|extern)\b")
BLOCK = re.compile(r"^\s*(\}\s*)?(if|for|while|switch|do|else|try|catch)\b")
SIGNATURE = re.compile(r"([~\w:]+|operator\s*\S+)\s*\(")
NOT_A_FUNCTION = {"if", "for", "while", "switch", "catch", "return", "sizeof", "decltype", "alignas", "requires"}


def blanked(text):
    """The same text, line for line, without comments, literals and preprocessor lines."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*',
        re.S | re.M,
    )
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


def split_parameters(text):
    depth, parts, current = 0, [], ""
    for char in text:
        if char in "(<[{":
            depth += 1
        elif char in ")>]}":
            depth -= 1
        if char == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += char
    parts.append(current)
    return [p.strip() for p in parts if p.strip()]


def signature_of(head):
    """(name, parameters) of the function that `head` declares, or None."""
    match = SIGNATURE.search(head)
    if not match or match.group(1).split("::")[-1] in NOT_A_FUNCTION:
        return None
    depth, start = 0, match.end() - 1
    for index in range(start, len(head)):
        depth += {"(": 1, ")": -1}.get(head[index], 0)
        if depth == 0:
            return match.group(1), split_parameters(head[start + 1 : index])
    return None


class Function:
    def __init__(self, name, parameters, line):
        self.name, self.parameters, self.first, self.last, self.deepest = name, parameters, line, line, 0


def functions_of(text):
    """Top-level functions and methods with a body; lambdas count towards the function they stand in."""
    found, stack, current = [], [], None
    line, head_start, head_line = 1, 0, None
    for index, char in enumerate(text):
        if char == "\n":
            line += 1
        elif head_line is None and not char.isspace():
            head_line = line
        inside_initializer = bool(stack) and stack[-1] == "initializer"
        if char == "{":
            head = text[head_start:index]
            kind, signature = "other", None
            if current is not None:
                kind = "block" if BLOCK.match(head) else "other"
            elif inside_initializer or (re.search(r"[\w>]$", head) and signature_of(head)):
                kind = "initializer"  # `Name() : member_{value} {`: the body is still to come
            elif not SCOPE.search(head.split("(")[0]):
                signature = signature_of(head)
            if signature:
                kind, current = "function", Function(*signature, head_line or line)
                found.append(current)
            stack.append(kind)
            if current is not None:
                current.deepest = max(current.deepest, stack.count("block"))
        elif char == "}" and stack:
            if stack.pop() == "function":
                current.last, current = line, None
        if char in "{};" and not inside_initializer and (not stack or stack[-1] != "initializer"):
            head_start, head_line = index + 1, None
    return found


def load_exceptions():
    """{(path, function or None)}; each line is PATH[:FUNCTION], blank, then the reason."""
    allowed = set()
    for line in EXCEPTIONS.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            entry, _, reason = line.partition(" ")
            if not reason.strip():
                sys.exit(f"{EXCEPTIONS.name}: {entry} has no reason")
            path, _, function = entry.partition(":")
            allowed.add((path, function or None))
    return allowed


def check_function(name, function):
    where = f"{name}:{function.first}: {function.name}"
    length = function.last - function.first + 1
    if length > FUNCTION_FAIL:
        yield "fail", f"{where}: {length} lines, at most {FUNCTION_FAIL}"
    elif length > FUNCTION_WARN:
        yield "warn", f"{where}: {length} lines, aim for {FUNCTION_WARN}"
    if function.deepest > NESTING:
        yield "fail", f"{where}: nested {function.deepest} deep, at most {NESTING}"
    if len(function.parameters) > PARAMETERS:
        yield "fail", f"{where}: {len(function.parameters)} parameters, at most {PARAMETERS}"
    for parameter in function.parameters:
        if re.match(r"(const\s+)?bool\s+\w+", parameter):
            yield "fail", f"{where}: parameter `{parameter}`: an enum class says more than a bool"


def check_file(path, allowed):
    name = str(path.relative_to(ROOT))
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    if LICENCE not in (lines[0] if lines else ""):
        yield "fail", f"{name}:1: the first line is to be // {LICENCE}"
    for number, line in enumerate(lines, 1):
        if len(line) > WIDTH and "http" not in line and 'R"' not in line:
            yield "fail", f"{name}:{number}: {len(line)} columns, at most {WIDTH}"
    if (name, None) not in allowed:
        if len(lines) > FILE_FAIL:
            yield "fail", f"{name}: {len(lines)} lines, at most {FILE_FAIL}"
        elif len(lines) > FILE_WARN:
            yield "warn", f"{name}: {len(lines)} lines, aim for {FILE_WARN}"
    for function in functions_of(blanked(text)):
        if (name, function.name) not in allowed:
            yield from check_function(name, function)


def main():
    allowed = load_exceptions()
    paths = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in (".h", ".cpp"))
    results = [result for path in paths for result in check_file(path, allowed)]
    for level, message in results:
        print(f"{level}: {message}")
    return 1 if any(level == "fail" for level, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
