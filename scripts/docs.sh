#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# docs.sh: writes docs/configuration.md, and the tables of the other pages, from the program. A unit
# test fails where a page and the program differ.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$root"

hearth=${HEARTH_BIN:-build/release/hearth}
page=$(mktemp build/docs.XXXXXX)
trap 'rm -f "$page"' EXIT

# Only a whole page takes the place of the one that is there.
write() {
  local target=$1
  shift
  "$hearth" "$@" > "$page"
  cmp -s "$page" "$target" || cp "$page" "$target"
}

write docs/configuration.md config docs
for name in docs/api.md docs/layers.md; do
  write "$name" docs "$name"
done
