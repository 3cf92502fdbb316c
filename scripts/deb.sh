#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# deb.sh [FOLDER]: makes hearth_VERSION_ARCHITECTURE.deb, in build/deb or FOLDER, of what build/release has, with
# dpkg-deb alone. HEARTH_DEB_REVISION (1) is the end of the version, HEARTH_DEB_MAINTAINER who answers for the package, and
# HEARTH_DEB_COMPRESSION (xz) what dpkg-deb compresses with.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$root"

type -P dpkg-deb dpkg-query > /dev/null || die "This is not a Debian system: dpkg-deb and dpkg-query are needed."
version=$(sed -nE 's/^project\(hearth VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)-${HEARTH_DEB_REVISION:-1}
architecture=$(dpkg --print-architecture)
maintainer=${HEARTH_DEB_MAINTAINER:-Hearth <hearth@localhost>}
folder=${1:-build/deb}
tree=$folder/tree
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || echo 0)}
export SOURCE_DATE_EPOCH
package=$folder/hearth_${version}_$architecture.deb

# Names of the shared objects that our files want, those aside that we bring along.
wanted() {
  readelf -d "$tree"/usr/lib/hearth/hearth* "$tree"/usr/lib/hearth/lib/*.so* \
    | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | sort -u \
    | while read -r name; do [ -e "$tree/usr/lib/hearth/lib/$name" ] || echo "$name"; done
}

# The package that has the object, not older than what we were built against.
package_of() {
  local file owner
  file=$(ldconfig -p | awk -v name="$1" '$1 == name { print $NF; exit }')
  # dpkg may know the file by its path before /usr was merged.
  owner=$(dpkg-query -S "$(readlink -f "$file")" "$file" "${file#/usr}" "/usr$file" 2> /dev/null | head -n 1)
  owner=${owner%%:*}
  [ -n "$owner" ] || die "No Debian package has $1"
  echo "$owner (>= $(dpkg-query -W -f='${Version}\n' "$owner" | head -n 1 | sed -E 's/^([0-9]+:)?([^-+~]*).*/\1\2/'))"
}

depends() {
  local name
  wanted | while read -r name; do
    # A driver's library is there where the driver is, and the engine does without.
    case "$name" in libcuda* | libcudart* | libcublas* | libvulkan*) ;; *) package_of "$name" ;; esac
  done | sort -u | paste -sd , | sed 's/,/, /g'
}

changelog() {
  printf 'hearth (%s) unstable; urgency=medium\n\n  * Built from the sources.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" \
    | gzip -9n > "$tree/usr/share/doc/hearth/changelog.Debian.gz"
}

control() {
  install -d "$tree/DEBIAN"
  sed -e "s|@VERSION@|$version|" -e "s|@ARCHITECTURE@|$architecture|" -e "s|@MAINTAINER@|$maintainer|" \
    -e "s|@INSTALLED_SIZE@|$(du -sk --exclude=DEBIAN "$tree" | cut -f1)|" -e "s|@DEPENDS@|$(depends)|" \
    packaging/debian/control.in > "$tree/DEBIAN/control"
  install -m 755 packaging/debian/{postinst,prerm,postrm} "$tree/DEBIAN/"
  echo /etc/hearth/hearth.toml > "$tree/DEBIAN/conffiles"
  (cd "$tree" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum) > "$tree/DEBIAN/md5sums"
  chmod 644 "$tree"/DEBIAN/{control,conffiles,md5sums}
}

rm -rf "$tree"
umask 022
mkdir -p "$tree"
DESTDIR=$tree PREFIX=/usr scripts/install.sh > /dev/null
install -D -m 644 packaging/hearth.toml "$tree/etc/hearth/hearth.toml"
install -m 644 packaging/debian/copyright "$tree/usr/share/doc/hearth/copyright"
install -D -m 644 packaging/debian/lintian-overrides "$tree/usr/share/lintian/overrides/hearth"
find "$tree/usr/share/man" -type f -exec gzip -9n {} +
# Text of the licence is where Debian has it.
rm "$tree/usr/share/doc/hearth/LICENSE"
changelog
control
dpkg-deb --root-owner-group "-Z${HEARTH_DEB_COMPRESSION:-xz}" --build "$tree" "$package" > /dev/null
rm -rf "$tree"
echo "$package"
