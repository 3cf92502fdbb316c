#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# venv.sh [--tests]: makes build/venv (Debian's own pip is not for projects), and with --tests puts
# the pinned packages of tests/requirements.txt into it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

venv=$root/build/venv
requirements=$root/tests/requirements.txt

if ! "$venv/bin/python" -m pip --version > /dev/null 2>&1; then
  rm -rf "$venv"
  step "Making a Python environment" python3 -m venv "$venv"
fi

[ "${1:-}" = --tests ] || exit 0
stamp=$(sha256sum < "$requirements")
[ "$(cat "$venv/.requirements" 2> /dev/null)" = "$stamp" ] && exit 0
step "Installing the test clients (PyPI)" \
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
  --only-binary=:all: -r "$requirements"
echo "$stamp" > "$venv/.requirements"
