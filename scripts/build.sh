#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# build.sh PRESET TARGET...: configures when needed, then builds the targets. Quiet when there is nothing to do.
# build.sh PRESET --configure-only: stops before building.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$root"

preset=$1
shift
folder=build/$preset

# ninja configures again by itself when a CMake file changes.
if [ ! -e "$folder/build.ninja" ] || [ -n "${HEARTH_GPU:-}" ]; then
  step "Fetching the engine (npm)" third_party/llama/fetch.sh
  step "Configuring $folder" cmake --preset "$preset" ${HEARTH_GPU:+-DHEARTH_GPU="$HEARTH_GPU"}
fi

[ "${1:-}" = --configure-only ] && exit 0

"$root/scripts/web_packages.sh"

step "Building $folder" ninja -C "$folder" "$@"
