#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# web.sh FOLDER: builds the dashboard into FOLDER/files and FOLDER/web_assets.cpp. Without its packages
# (scripts/web_packages.sh) the files are those of web/fallback.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

out=$(mkdir -p "$1" && cd "$1" && pwd)
files=$root/web/fallback
if [ -e "$root/build/web/.installed" ] && type -P node > /dev/null; then
  files=$out/files
  (cd "$root/build/web" && node --preserve-symlinks --preserve-symlinks-main build.mjs "$files")
fi
python3 "$root/scripts/embed_web.py" "$files" "$out/web_assets.cpp"
