#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# check.sh          formatting, include directions, sizes, third parties, the dashboard's types, and clang-tidy on what
#                   changed
# check.sh --fast   the same without clang-tidy
# check.sh --all    the same with clang-tidy on every source
#
# "Changed" is what differs from the branch's upstream, or else from the commit before.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$root" || exit

mode=${1:-}
failed=0
jobs=$(nproc)

sources() { find src -name '*.cpp' -o -name '*.h' | sort; }

changed() {
  local since
  since=$(git merge-base HEAD '@{upstream}' 2> /dev/null) || since=$(git rev-parse --verify --quiet HEAD~1) || since=HEAD
  { git diff --name-only --diff-filter=d "$since" -- src; git ls-files --others --exclude-standard -- src; } | sort -u
}

tidy() {
  xargs -r -P "$jobs" -n 1 clang-tidy-19 -p build/release --quiet
}

# Names the files rather than each place; `make format` mends them.
format() {
  local file unformatted=0
  while read -r file; do
    cmp -s "$file" <(clang-format-19 "$file") && continue
    echo "$file is not formatted (make format)"
    unformatted=1
  done < <(sources)
  return "$unformatted"
}

# The dashboard's types; skipped where its packages are not installed.
types() {
  [ -e build/web/.installed ] || return 0
  (cd build/web && node_modules/.bin/tsc -p .)
}

check() {
  local what=$1
  shift
  if "$@"; then echo "$what: ok"; else echo "$what: failed"; failed=1; fi
}

tidy_selected() {
  local files
  if [ "$mode" = --all ]; then files=$(sources); else files=$(changed); fi
  files=$(grep '\.cpp$' <<< "$files")
  [ -n "$files" ] || return 0
  # Compiler commands come from the release build; nothing has to be compiled for them.
  scripts/build.sh release --configure-only
  echo "clang-tidy on $(wc -l <<< "$files") files …" >&2
  # Notes about third-party headers and warning counts are noise; findings start with a path.
  tidy <<< "$files" 2> /dev/null
}

if [ -d src ]; then
  check "format" format
  check "include directions" scripts/check_includes.py
  check "sizes" scripts/check_sizes.py
  check "third parties" scripts/third_party.py check
  check "types of the dashboard" types
  [ "$mode" = --fast ] || check "clang-tidy" tidy_selected
fi
exit "$failed"
