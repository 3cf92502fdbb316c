#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# test.sh PRESET: builds and runs all tests of that build. The release build also runs the end-to-end suite.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$root"

preset=$1
"$root/scripts/venv.sh" --tests
targets=(unit_tests)
[ -e src/main.cpp ] && targets+=(hearth)
[ -e src/worker_main.cpp ] && targets+=(hearth-worker)
"$root/scripts/build.sh" "$preset" "${targets[@]}"

launcher=()
if [ "$preset" = tsan ]; then
  # ThreadSanitizer's fixed address layout clashes with more than 28 random bits of address space.
  launcher=(setarch "$(uname -m)" -R)
fi
exec "${launcher[@]}" ctest --test-dir "build/$preset" --output-on-failure --no-tests=ignore
