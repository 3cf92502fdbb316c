#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# web_packages.sh: puts the pinned packages of web/package-lock.json into build/web/node_modules. The sources are
# linked to beside them, because that is where node looks for what a module imports. Where they cannot be had,
# it warns, and the program gets a page that says so in place of the dashboard.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

from=$root/web
to=$root/build/web

mkdir -p "$to"
for file in src build.mjs tsconfig.json; do
  ln -sfn "$from/$file" "$to/$file"
done

stamp=$(cat "$from/package.json" "$from/package-lock.json" | sha256sum)
[ "$(cat "$to/.installed" 2> /dev/null)" = "$stamp" ] && exit 0
if ! type -P node npm > /dev/null; then
  echo "node and npm are not here: the dashboard is left out." >&2
  exit 0
fi
cp "$from/package.json" "$from/package-lock.json" "$to/"
if step "Installing the dashboard's packages (npm)" \
  npm ci --prefix "$to" --ignore-scripts --no-audit --no-fund --no-update-notifier; then
  echo "$stamp" > "$to/.installed"
else
  rm -f "$to/.installed"
  echo "The dashboard's packages cannot be had now: it is left out until a later build finds them." >&2
fi
