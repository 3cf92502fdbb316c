#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# python_clients.sh: puts the pinned packages of tests/clients/requirements.txt into build/clients, a Python environment
# of its own.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

clients=$root/build/clients
requirements=$root/tests/clients/requirements.txt

stamp=$(sha256sum < "$requirements")
[ "$(cat "$clients/.requirements" 2> /dev/null)" = "$stamp" ] && exit 0
"$clients/bin/python" -m pip --version > /dev/null 2>&1 || {
  rm -rf "$clients"
  step "Making a Python environment for clients" python3 -m venv "$clients"
}
step "Installing LangChain, LlamaIndex and LiteLLM (PyPI)" \
  "$clients/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --no-compile \
  --only-binary=:all: -r "$requirements"
echo "$stamp" > "$clients/.requirements"
