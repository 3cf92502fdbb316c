#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds build/peers/llama-server, for comparisons only, and tries it with the small test model.
# The engine's libraries lie beside it, so that it finds its CPU variants wherever it is started from.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

peers=$root/build/peers
source_tree=$peers/source
objects=$peers/objects
model=SmolLM2-135M-Instruct-Q4_1.gguf
server_pid=

engine=$("$root/third_party/llama/fetch.sh")
stamp=$(cat "$engine/.stamp" "$root"/third_party/llama/peer/CMakeLists.txt | sha256sum)
[ "$(cat "$peers/.stamp" 2> /dev/null)" = "$stamp" ] && exit 0

prepare() {
  rm -rf "$source_tree"
  mkdir -p "$peers"
  git clone --quiet "$engine/upstream/gitRelease.bundle" "$source_tree"
  ln -f "$engine"/lib/*.so* "$peers/"
  cmake -S "$root/third_party/llama/peer" -B "$objects" -G Ninja -DCMAKE_BUILD_TYPE=None \
    -DPEER_SOURCE="$source_tree" -DPEER_LIB="$peers"
}

# One health check and one completion on a port that the kernel chose a moment ago.
try_out() {
  local port url deadline=$((SECONDS + 60))
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  url=http://127.0.0.1:$port
  "$peers/llama-server" -m "$root/build/models/$model" --host 127.0.0.1 --port "$port" -c 512 &
  server_pid=$!
  trap 'kill "$server_pid" 2> /dev/null' EXIT
  until curl --noproxy "*" --silent --fail --output /dev/null "$url/health"; do
    kill -0 "$server_pid" && [ "$SECONDS" -lt "$deadline" ] || return 1
    sleep 0.1
  done
  curl --noproxy "*" --silent --fail "$url/completion" -d '{"prompt": "The capital of France is", "n_predict": 4, "temperature": 0}' \
    | grep -q '"content"'
}

step "Unpacking llama-server's source" prepare
step "Building llama-server (several minutes)" nice -n 10 ninja -C "$objects" llama-server
"$root/scripts/models.sh" "$model"
step "Trying llama-server" try_out
echo "$stamp" > "$peers/.stamp"
echo "Built build/peers/llama-server"
