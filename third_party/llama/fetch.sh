#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Brings the pinned engine into build/third_party/llama-<version>/ and does nothing when it is there:
#   lib/            libllama, libggml, libggml-base, libllama-common, every CPU variant
#   lib-<gpu>/      the one backend library of HEARTH_GPU=vulkan|cuda|cuda12, only when that is set
#   include/ ggml/include/ common/ vendor/ src/llama-ext.h    headers of the very same commit
#   upstream/       the bundle and the patch, for `make peers`
# Each package is fetched alone (npm pack), and unpacked only if its SHA-512 is the one in packages.lock.
# The last line printed is the folder.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
lock=$here/packages.lock
gpu=${HEARTH_GPU:-}

say() { echo "engine: $*" >&2; }
die() { say "$*"; exit 1; }
field() { awk -v part="$1" -v column="$2" '$1 == part { print $column }' "$lock"; }

case "$(uname -m)" in
  x86_64) platform=linux-x64 ;;
  aarch64 | arm64) platform=linux-arm64 ;;
  *) die "no prebuilt engine for $(uname -m); build llama.cpp and configure with -DHEARTH_SYSTEM_LLAMA=ON" ;;
esac
case "$gpu" in
  '' | none) gpu='' ;;
  vulkan | cuda | cuda12) [ "$platform" = linux-x64 ] || die "HEARTH_GPU=$gpu has a prebuilt library on x86-64 only" ;;
  *) die "HEARTH_GPU is '$gpu'; it may be vulkan, cuda, cuda12 or unset" ;;
esac

gpu_library=libggml-${gpu%12}.so
version=$(field source 3)
commit=$(field commit 2)
dest=$root/build/third_party/llama-$version
stamp=$(cat "$lock" "$here/fetch.sh" | sha256sum | cut -c1-16)-$platform
work=

# Leaves the package's files in $work/<part>/package.
unpack() {
  local part=$1 name version want got archive folder
  name=$(field "$part" 2) version=$(field "$part" 3) want=$(field "$part" 4)
  folder=$work/$part
  mkdir -p "$folder"
  say "fetching $name $version"
  archive=$(cd "$folder" && npm pack --silent "$name@$version" | tail -n 1) \
    || die "npm could not fetch $name@$version"
  got=sha512-$(openssl dgst -sha512 -binary "$folder/$archive" | base64 -w0)
  [ "$got" = "$want" ] || die "$name@$version is not the file that was pinned: expected $want, got $got"
  tar -xzf "$folder/$archive" -C "$folder"
  rm "$folder/$archive"
}

# The headers come out of the git bundle that the libraries were built from.
take_headers() {
  local bundle=$1 into=$2 got
  got=$(git bundle list-heads "$bundle" HEAD | cut -d' ' -f1)
  [ "$got" = "$commit" ] || die "the bundle's HEAD is $got, expected $commit"
  git clone --quiet --bare "$bundle" "$work/git"
  git -C "$work/git" archive "$commit" -- \
    LICENSE licenses include ggml/include src/llama-ext.h \
    ':(glob)common/**/*.h' ':(glob)common/**/*.hpp' \
    vendor/nlohmann vendor/sheredom vendor/cpp-httplib/httplib.h vendor/cpp-httplib/LICENSE \
    | tar -x -C "$into"
}

fetch_base() {
  unpack source
  unpack "$platform"
  local new=$work/new
  mkdir -p "$new/lib" "$new/upstream"
  say "unpacking"
  local bins=$work/$platform/package/bins
  find "$bins" -name 'lib*.so*' -exec cp -t "$new/lib" {} +
  cp "$work/source/package/llama/gitRelease.bundle" "$work"/source/package/llama/patches/*.diff "$new/upstream/"
  take_headers "$new/upstream/gitRelease.bundle" "$new"
  echo "$stamp" > "$new/.stamp"
  rm -rf "$dest"
  mkdir -p "$(dirname "$dest")"
  mv "$new" "$dest"
}

# A GPU package repeats the CPU libraries; only its backend is taken, and only if it was made for
# the very same base library. (The cuda12 package is an add-on of the other and holds nothing else.)
fetch_gpu() {
  local backend base
  unpack "$gpu"
  backend=$(find "$work/$gpu" -name "$gpu_library" | head -n 1)
  [ -n "$backend" ] || die "no $gpu_library in the $gpu package"
  base=$(find "$work/$gpu" -name libggml-base.so | head -n 1)
  if [ -n "$base" ]; then
    cmp -s "$base" "$dest/lib/libggml-base.so" || die "the $gpu package was built against another base library"
  fi
  mkdir "$work/lib-$gpu"
  cp "$backend" "$work/lib-$gpu/"
  rm -rf "$dest/lib-$gpu"
  mv "$work/lib-$gpu" "$dest/"
}

main() {
  mkdir -p "$root/build/third_party"
  exec 9> "$root/build/third_party/.lock"
  flock 9
  work=$(mktemp -d "$root/build/third_party/fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  [ "$(cat "$dest/.stamp" 2> /dev/null)" = "$stamp" ] || fetch_base
  if [ -n "$gpu" ] && [ ! -e "$dest/lib-$gpu/$gpu_library" ]; then fetch_gpu; fi
  echo "$dest"
}
main
