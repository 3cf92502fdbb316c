#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed_web.py FOLDER OUT.cpp: the files of FOLDER as the table that src/api/web/web_assets.h declares.

Each is kept as gzip bytes, the same from one build to the next, with the SHA-256 of these as its ETag."""

import gzip
import hashlib
import sys
from pathlib import Path

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
PER_LINE = 24


def array(name, data):
    lines = [", ".join(str(byte) for byte in data[at : at + PER_LINE]) for at in range(0, len(data), PER_LINE)]
    return f"constexpr unsigned char {name}[] = {{\n" + ",\n".join(lines) + "};\n"


def main():
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    arrays, rows = [], []
    for number, file in enumerate(sorted(p for p in folder.rglob("*") if p.is_file())):
        data = gzip.compress(file.read_bytes(), 9, mtime=0)
        digest = hashlib.sha256(data).hexdigest()
        arrays.append(array(f"kFile{number}", data))
        path = file.relative_to(folder).as_posix()
        rows.append(f'    {{"{path}", "{TYPES[file.suffix]}", "\\"{digest}\\"", kFile{number}}},\n')
    text = (
        '#include "api/web/web_assets.h"\n\nnamespace hearth::api {\nnamespace {\n\n'
        + "\n".join(arrays)
        + "\nconstexpr WebAsset kAssets[] = {\n"
        + "".join(rows)
        + "};\n\n}  // namespace\n\n"
        + "std::span<const WebAsset> web_assets() { return kAssets; }\n\n}  // namespace hearth::api\n"
    )
    out.write_text(text)


if __name__ == "__main__":
    main()
