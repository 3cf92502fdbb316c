#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a bill of materials (CycloneDX 1.5, JSON) of what an installation consists of and needs at run time.

Versions and hashes are the lock files'; those of Debian's packages are what this machine has. The same sources
on the same machine give the same bytes.
"""

import base64
import json
import os
import re
import subprocess
import time
import uuid
from urllib.parse import quote

from third_party import LINKED, ROOT, components, locked_packages

LLAMA = "llama.cpp with ggml"


def version_of_hearth():
    return re.search(r"project\(hearth VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def debian_version(package):
    shown = subprocess.run(["dpkg-query", "-W", "-f=${Version}\n", package], capture_output=True,
                           text=True, check=False)
    return shown.stdout.split("\n")[0]


def engine_lock():
    """part -> (package, version, integrity) and the commit."""
    parts, commit = {}, ""
    for line in (ROOT / "third_party/llama/packages.lock").read_text().splitlines():
        words = line.split()
        if len(words) == 4 and not line.startswith("#"):
            parts[words[0]] = tuple(words[1:])
        elif words[:1] == ["commit"]:
            commit = words[1]
    return parts, commit


def npm_purl(name, version):
    return f"pkg:npm/{quote(name, safe='/')}@{version}"


def sha512(integrity):
    return [{"alg": "SHA-512",
             "content": base64.b64decode(integrity.removeprefix("sha512-")).hex()}]


def licence_of(name):
    return [{"expression": name}] if " WITH " in name else [{"license": {"id": name}}]


def engine_packages():
    """As it was fetched; which of these, depends on the processor and HEARTH_GPU."""
    parts, _ = engine_lock()
    for part, (name, version, integrity) in parts.items():
        if part.startswith("linux-"):
            purl = npm_purl(name, version)
            yield {"type": "file", "bom-ref": purl, "name": name, "version": version, "purl": purl,
                   "hashes": sha512(integrity), "licenses": licence_of("MIT"),
                   "description": "llama.cpp, prebuilt"}


def entry(component):
    made = {"type": "library", "name": component.name, "licenses": licence_of(component.licence),
            "scope": "required"}
    locked = locked_packages().get(component.name)
    if component.name == LLAMA:
        made |= {"version": component.version, "purl": f"pkg:github/ggml-org/llama.cpp@{engine_lock()[1]}"}
    elif locked:
        made |= {"version": locked["version"], "hashes": sha512(locked["integrity"]),
                 "purl": npm_purl(component.name, locked["version"])}
    elif not component.source.endswith(".lock"):
        version = debian_version(component.source)
        purl = f"pkg:deb/debian/{quote(component.source)}"
        made |= {"version": version, "purl": f"{purl}@{quote(version)}"} if version else {"purl": purl}
    made["bom-ref"] = made.get("purl", component.name)
    if component.section == LINKED:
        made["description"] = "not part of the installation: comes from the system"
    return made


def bill():
    version = version_of_hearth()
    itself = {"type": "application", "bom-ref": f"hearth@{version}", "name": "hearth", "version": version,
              "licenses": licence_of("Apache-2.0")}
    parts = [entry(component) for component in components()] + list(engine_packages())
    made = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"component": itself}, "components": parts,
            "dependencies": [{"ref": itself["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]}]}
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        made["metadata"]["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(epoch)))
    serial = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(made, sort_keys=True))
    return made | {"serialNumber": f"urn:uuid:{serial}"}


if __name__ == "__main__":
    print(json.dumps(bill(), indent=2))
