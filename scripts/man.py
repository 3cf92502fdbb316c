#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""man.py HEARTH FOLDER: writes the man pages, below FOLDER, from the program's own texts.

hearth(1) and one page for each verb from `--help`, hearth.toml(5) from `hearth config docs`. Nothing is kept in
the sources, so no page can be older than the program.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

SECTIONS = {"Positionals:": "ARGUMENTS", "Options:": "OPTIONS", "Subcommands:": "VERBS"}
ENTRY = re.compile(r"^ {0,2}(\S(?:.*?\S)?)(?: {2,}(\S.*))?$")


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text)


def inline(text):
    """Markdown within a line: code and bold become bold, links their words."""
    text = escape(re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", text))
    text = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", text)
    return re.sub(r"\*\*([^*]+)\*\*", r"\\fB\1\\fR", text)


def header(name, section):
    day = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0"))))
    return [f'.TH "{name.upper()}" "{section}" "{day}" "Hearth" "Hearth\'s manual"']


class Page:
    """One verb's page, read line by line from its help."""

    def __init__(self, words, text):
        self.words = words
        self.verbs = []
        name = "-".join(words)
        lines = text.rstrip().split("\n")
        usage = next(i for i, line in enumerate(lines) if line.startswith("Usage:"))
        about = " ".join(lines[:usage])
        self.out = header(name, 1) + [".SH NAME", f"{escape(name)} \\- {escape(about)}", ".SH SYNOPSIS",
                                      f"\\fB{escape(lines[usage].removeprefix('Usage: '))}\\fR"]
        self.section = ""
        self.in_notes = False
        for line in lines[usage + 1:]:
            self.take(line)
        self.see_also()

    def take(self, line):
        if line in SECTIONS:
            self.section = SECTIONS[line]
            self.out.append(f".SH {self.section}")
        elif line.startswith("Options, each also as"):
            self.section = "OPTIONS OF THE FILE"
            self.out += [f".SH {self.section}", escape(line.rstrip(":")) + ". Fully explained in \\fBhearth.toml\\fR(5)."]
        elif line.startswith("Example: "):
            self.section = ""
            self.out += [".SH EXAMPLE", ".nf", escape(line.removeprefix("Example: ")), ".fi"]
        elif not line.strip():
            self.section = ""
        elif self.section:
            self.entry(line)
        else:
            self.note(line)

    def entry(self, line):
        """An entry's name stands at the left, its words from a fixed column on, maybe only below it."""
        entry = None if line.startswith("   ") else ENTRY.match(line)
        if entry is None:
            self.out.append(escape(line.strip()))
            return
        name, words = re.sub(r":(POSITIVE|NONNEGATIVE)\b", "", entry[1]), entry[2]
        self.out += [".TP", f"\\fB{escape(name)}\\fR"]
        if words:
            self.out.append(escape(words))
        if self.section == "VERBS":
            self.verbs.append(name.split(",")[0])

    def note(self, line):
        if not self.in_notes:
            self.out.append(".SH NOTES")
            self.in_notes = True
        self.out.append(inline(line.strip()))

    def see_also(self):
        above = ["-".join(self.words[:-1])] if len(self.words) > 1 else []
        below = ["-".join([*self.words, verb]) for verb in self.verbs]
        pages = [f"\\fB{escape(name)}\\fR(1)" for name in above + below]
        pages.append("\\fBhearth.toml\\fR(5)")
        self.out += [".SH SEE ALSO", ",\n".join(pages)]


def help_of(program, words):
    # Words and widths are the same wherever this runs.
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}
    return subprocess.run([program, *words], env=environment, check=True, capture_output=True,
                          text=True).stdout


def write(folder, name, section, lines):
    path = folder / f"man{section}" / f"{name}.{section}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(line for line in lines if line) + "\n")


def write_verbs(program, folder, words):
    page = Page(words, help_of(program, [*words[1:], "--help"]))
    write(folder, "-".join(words), 1, page.out)
    for verb in page.verbs:
        write_verbs(program, folder, [*words, verb])


class Configuration:
    """hearth.toml(5) from a page in Markdown."""

    def __init__(self, text):
        self.out = header("hearth.toml", 5) + [".SH NAME", "hearth.toml \\- Hearth's configuration",
                                               ".SH DESCRIPTION"]
        self.in_code = False
        for line in re.sub(r"<!--.*?-->", "", text, flags=re.S).split("\n")[1:]:
            self.take(line)

    def take(self, line):
        if line.startswith("```"):
            self.in_code = not self.in_code
            self.out += [".PP", ".nf"] if self.in_code else [".fi"]
        elif self.in_code:
            self.out.append(escape(line) or "\\&")
        elif heading := re.match(r"^(#+) (.*)", line):
            kind = ".SH" if len(heading[1]) < 3 else ".SS"
            self.out.append(f"{kind} {inline(heading[2]).upper() if kind == '.SH' else inline(heading[2])}")
        elif item := re.match(r"^(-|\d+\.) (.*)", line):
            mark = "\\(bu" if item[1] == "-" else item[1]
            self.out += [f'.IP "{mark}" 4', inline(item[2])]
        elif line.startswith("|"):
            self.row(line)
        elif line.strip():
            self.out.append(inline(line.strip()))
        elif self.out[-1] != ".PP" and not self.out[-1].startswith(".S"):
            self.out.append(".PP")

    def row(self, line):
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not any(cells) or all(set(cell) <= set("-: ") for cell in cells):
            return
        self.out += [".TP", bold(cells[0]),
                     inline("; ".join(cell for cell in cells[1:] if cell)) or "\\&"]


def bold(cell):
    return f"\\fB{escape(cell.replace('`', ''))}\\fR"


def tidy(lines):
    """Without paragraphs that nothing follows: they are mistakes to a formatter."""
    kept = []
    for line in lines:
        if kept and kept[-1] == ".PP" and re.match(r"\.(PP|SH|SS|IP|TP)\b", line):
            kept.pop()
        kept.append(line)
    while kept and kept[-1] == ".PP":
        kept.pop()
    return kept


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    write_verbs(program, folder, ["hearth"])
    write(folder, "hearth.toml", 5, tidy(Configuration(help_of(program, ["config", "docs"])).out))


if __name__ == "__main__":
    main()
