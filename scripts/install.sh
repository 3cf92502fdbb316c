#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# install.sh: copies what build/release has to $DESTDIR$PREFIX (default /usr/local), with man pages, completions,
# unit, licences and documents. install.sh --remove takes exactly that away again; data and users stay.
# The executables and the engine's libraries stay together in lib/hearth; bin/hearth is a link to there.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$root"

prefix=${PREFIX:-/usr/local}
[[ $prefix = /* ]] || die "PREFIX has to begin with /, not \"$prefix\""
to=${DESTDIR:-}${prefix%/}
build=${HEARTH_BUILD:-build/release}
programs=(hearth hearth-worker hearth-keeper hearth-fetcher)
# Dates in what is made here are the sources', so that the same sources make the same files.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || echo 0)}
export SOURCE_DATE_EPOCH

if [ "$prefix" = /usr ]; then zsh=share/zsh/vendor-completions; else zsh=share/zsh/site-functions; fi
completions=(share/bash-completion/completions/hearth "$zsh/_hearth" share/fish/vendor_completions.d/hearth.fish)
system_files=(lib/systemd/system/hearth.service lib/sysusers.d/hearth.conf lib/tmpfiles.d/hearth.conf)

# Removing what was there before leaves running programs the files that they have mapped.
remove() {
  rm -rf "$to/lib/hearth" "$to/share/doc/hearth"
  rm -f "$to/bin/hearth" "$to"/share/man/man1/hearth.1 "$to"/share/man/man1/hearth-*.1 "$to/share/man/man5/hearth.toml.5"
  rm -f "${completions[@]/#/$to/}" "${system_files[@]/#/$to/}"
}

put() { install -D -m "$1" "$2" "$to/$3"; }

programs() {
  local name file
  for name in "${programs[@]}"; do
    put 755 "$build/$name" "lib/hearth/$name"
    strip --strip-unneeded "$to/lib/hearth/$name"
  done
  for file in "$build"/lib/*.so*; do put 644 "$file" "lib/hearth/lib/${file##*/}"; done
  install -d "$to/bin"
  ln -sfn ../lib/hearth/hearth "$to/bin/hearth"
}

completions() {
  local shell i=0
  for shell in bash zsh fish; do
    install -D -m 644 /dev/null "$to/${completions[i]}"
    "$build/hearth" completion "$shell" > "$to/${completions[i]}"
    i=$((i + 1))
  done
}

service() {
  install -d "$to/lib/systemd/system"
  sed "s|@PREFIX@|${prefix%/}|g" packaging/hearth.service.in > "$to/lib/systemd/system/hearth.service"
  chmod 644 "$to/lib/systemd/system/hearth.service"
  put 644 packaging/hearth.sysusers lib/sysusers.d/hearth.conf
  put 644 packaging/hearth.tmpfiles lib/tmpfiles.d/hearth.conf
}

documents() {
  local file
  while read -r file; do put 644 "$file" "share/doc/hearth/$file"; done \
    < <(find README.md LICENSE THIRD_PARTY.md docs -type f | sort)
  put 644 packaging/hearth.toml share/doc/hearth/examples/hearth.toml
  scripts/third_party.py texts "$to/share/doc/hearth/licenses"
  scripts/sbom.py > "$to/share/doc/hearth/sbom.cdx.json"
  chmod -R u=rwX,go=rX "$to/share/doc/hearth"
}

if [ "${1:-}" = --remove ]; then
  remove
  exit
fi
for name in "${programs[@]}"; do [ -x "$build/$name" ] || die "$build/$name is not there: run \`make build\` first"; done
umask 022
remove
programs
scripts/man.py "$build/hearth" "$to/share/man"
completions
service
documents
echo "Installed in $to: bin/hearth, lib/hearth, man pages, completions, lib/systemd/system/hearth.service"
