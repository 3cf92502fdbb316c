#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# setup.sh [LIST...]: installs what is missing of scripts/packages.txt (and of further lists) with
# apt-get. Silent, and done in a blink, when nothing is missing. Removes nothing.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

lists=("$root/scripts/packages.txt")
for list in "$@"; do lists+=("$root/scripts/$list.txt"); done

# Packages whose stand-in command is absent, so that dpkg has to be asked.
wanted=()
while read -r package command _; do
  [[ -z $package || $package = \#* ]] && continue
  [[ -n $command ]] && type -P "$command" > /dev/null && continue
  wanted+=("$package")
done < <(cat "${lists[@]}")
[ ${#wanted[@]} -gt 0 ] || exit 0

if ! type -P dpkg-query apt-get > /dev/null; then
  echo "This is not a Debian system, so nothing is installed; these packages (or their like) are needed:" >&2
  echo "  ${wanted[*]}" >&2
  exit 0
fi

installed=$(dpkg-query -W -f='${binary:Package} ${db:Status-Status}\n' "${wanted[@]}" 2> /dev/null \
  | awk '$2 == "installed" { sub(/:.*/, "", $1); print $1 }' || true)
missing=()
for package in "${wanted[@]}"; do
  grep -qxF -- "$package" <<< "$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  type -P sudo > /dev/null || die "Packages are missing and neither root nor sudo is at hand. As root, run:
  apt-get update && apt-get install --no-install-recommends ${missing[*]}"
  echo "These packages are missing and will be installed through sudo: ${missing[*]}" >&2
  sudo -v || die "sudo refused; as root, run: apt-get install --no-install-recommends ${missing[*]}"
  as_root=(sudo)
fi

apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q "$@"; }

echo "Installing ${#missing[@]} Debian packages: ${missing[*]}" >&2
step "Reading Debian's package lists" apt update \
  || echo "The package lists could not be refreshed; trying with those at hand." >&2
step "Installing packages" apt install --no-install-recommends --no-remove "${missing[@]}" \
  || die "apt-get could not install them. If it speaks of libboost1.74-dev: that package and
libboost1.81-dev exclude each other; remove it first (apt-get remove libboost1.74-dev)."
