#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# vulkan.sh [FOLDER]: a second copy of that build (build/release) with the Vulkan backend among its
# libraries, in FOLDER/vulkan: hard links, so it takes no room of its own. The first one stays on the CPU.
# vulkan.sh FOLDER test: and runs there what needs a GPU, on Mesa's driver that computes on the CPU.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

from=$(realpath "${1:-$root/build/release}")
to=$from/vulkan
icd=${VK_ICD_FILENAMES:-/usr/share/vulkan/icd.d/lvp_icd.$(uname -m).json}

[ "$(uname -m)" = x86_64 ] || die "The engine's Vulkan backend is there for x86-64 only."
"$root/scripts/setup.sh" packages-vulkan
step "Fetching the engine's Vulkan backend (npm)" env HEARTH_GPU=vulkan "$root/third_party/llama/fetch.sh"
engine=$(HEARTH_GPU=vulkan "$root/third_party/llama/fetch.sh")

# Anew each time: a program that was linked again is another file.
rm -rf "$to"
mkdir -p "$to/lib" "$to/tests"
for file in "$from"/hearth "$from"/hearth-* "$from"/tests/engine_tests; do
  [ -x "$file" ] && [ -f "$file" ] || continue
  case "$file" in
    */tests/*) ln "$file" "$to/tests/" ;;
    *) ln "$file" "$to/" ;;
  esac
done
# The engine's libraries may lie on another file system.
for file in "$from"/lib/*.so "$engine"/lib-vulkan/*.so; do
  ln -f "$file" "$to/lib/" 2> /dev/null || cp "$file" "$to/lib/"
done

[ "${2:-}" = test ] || exit 0
[ -e "$icd" ] || die "Mesa's software driver is not there: $icd"
export VK_ICD_FILENAMES=$icd GGML_VK_VISIBLE_DEVICES=0
export HEARTH_MODELS=${HEARTH_MODELS:-$root/build/models}
caches=$(mktemp -d "$root/build/vulkan.XXXXXX")
trap 'rm -rf "$caches"' EXIT
MESA_SHADER_CACHE_DIR=$caches "$to/tests/engine_tests" --gtest_filter='Device*' --gtest_brief=1
HEARTH_BIN=$from/hearth HEARTH_VULKAN=$to "$root/build/venv/bin/python" -m pytest -q -rs "$root/tests/test_vulkan.py"
