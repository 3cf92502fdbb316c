#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# test.sh PRESET: builds and runs all tests of that build. The release build also runs the end-to-end suite.
# test.sh PRESET long: builds it, and runs only the end-to-end tests that take minutes.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$root"

preset=$1
"$root/scripts/venv.sh" --tests
[ "$preset" = release ] && "$root/scripts/js_clients.sh"
targets=(unit_tests)
[ -e src/main.cpp ] && targets+=(hearth)
[ -e src/worker_main.cpp ] && targets+=(hearth-worker)
[ -e src/keeper_main.cpp ] && targets+=(hearth-keeper)
"$root/scripts/build.sh" "$preset" "${targets[@]}"

if [ "${2:-}" = long ]; then
  HEARTH_BIN="$root/build/$preset/hearth" HEARTH_MODELS="$root/build/models" \
    exec "$root/build/venv/bin/python" -m pytest tests -q -m long
fi

launcher=()
if [ "$preset" = tsan ]; then
  # ThreadSanitizer's fixed address layout clashes with more than 28 random bits of address space.
  launcher=(setarch "$(uname -m)" -R)
fi
exec "${launcher[@]}" ctest --test-dir "build/$preset" --output-on-failure --no-tests=ignore
