#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What THIRD_PARTY.md says.

third_party.py check          fails where it lacks what docs/dependencies.md or a lock file has, or tells otherwise
third_party.py texts FOLDER   copies the licences of all that is part of an installation, as far as it was built in
"""

import glob
import json
import re
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PART, LINKED = "Part of what is installed", "Linked at run time, from Debian"
# Names in docs/dependencies.md that THIRD_PARTY.md has under another.
OTHER_NAMES = {"-ollama": "langchain-ollama", "-anthropic": "langchain-anthropic",
               "llama-index-llms and -embeddings": "llama-index-llms",
               "boost.json": "boost.asio, beast, json"}


class Component(NamedTuple):
    section: str
    name: str
    version: str
    licence: str
    source: str
    text: str


def components():
    """The rows of the first two tables, in their order."""
    found, section = [], ""
    for line in (ROOT / "THIRD_PARTY.md").read_text().splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        if section in (PART, LINKED) and len(cells) == 6 and cells[0] not in ("component", "---"):
            name, version, licence, _, source, text = cells
            found.append(Component(section, name, version, licence, source, text))
    return found


def locked_packages():
    """What the dashboard's bundle is made of: name -> its entry in the lock file."""
    packages = json.loads((ROOT / "web/package-lock.json").read_text())["packages"]
    return {path.removeprefix("node_modules/"): entry for path, entry in packages.items()
            if path and not entry.get("dev")}


def depended_on():
    """Each name in the first column of docs/dependencies.md, without version and remarks."""
    for line in (ROOT / "docs/dependencies.md").read_text().splitlines():
        if not line.startswith("| ") or line.startswith(("| what |", "| ---")):
            continue
        cell = re.sub(r"\([^()]*\)|`[^`]*`", "", line.split("|")[1])
        cell = re.sub(r"^\s*npm:|\bv?\d+(\.\d+)*\b(?!-|M)|prebuilt", "", cell)
        for name in re.split(r",|\bwith\b|\band (?!-)", cell):
            if name.strip():
                yield name.strip().lower()


def problems():
    text = (ROOT / "THIRD_PARTY.md").read_text().lower()
    for name in depended_on():
        if OTHER_NAMES.get(name, name) not in text:
            yield f"docs/dependencies.md has {name}, THIRD_PARTY.md has not"
    rows = {component.name: component for component in components()}
    for name, entry in locked_packages().items():
        if name not in rows:
            yield f"web/package-lock.json has {name}, THIRD_PARTY.md has not"
        elif rows[name].licence != entry["license"]:
            yield f"{name}: {rows[name].licence} here, {entry['license']} in web/package-lock.json"
    lock = (ROOT / "third_party/llama/packages.lock").read_text()
    engine = re.search(r"llama\.cpp (v[\d.]+),", lock)[1]
    if rows["llama.cpp with ggml"].version != engine:
        yield f"llama.cpp is {engine} in third_party/llama/packages.lock"
    known = {Path(component.source).name for component in components()}
    for package in re.findall(r"^lib(?:boost|cli11|expected|toml)\S*", (ROOT / "scripts/packages.txt").read_text(), re.M):
        if package not in known:
            yield f"scripts/packages.txt has {package}, THIRD_PARTY.md has not"


def copy_texts(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for component in components():
        if component.section != PART:
            continue
        name = re.sub(r"[^a-z0-9+.-]+", "-", component.name.lower()).strip("-")
        # A build without node has no dashboard, and none of its parts either.
        for found in sorted(glob.glob(str(ROOT / component.text)))[-1:]:
            shutil.copyfile(found, folder / f"{name}.txt")


def main():
    if sys.argv[1:2] == ["texts"]:
        return copy_texts(Path(sys.argv[2]))
    found = list(problems())
    print("\n".join(found) or "THIRD_PARTY.md: ok")
    return sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
