#!/usr/bin/env bash
# archives.sh CPACK BUILD SOURCE FOLDER: makes packages twice, under other rights, and compares them byte for byte;
# then one with the program, which runs, needs only the C library and names no folder of the build. To be quick, the
# first two are without the program and the C++ library, which are the same files each time.
set -euo pipefail
cpack=$1 build=$2 source=$3 folder=$4
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
rm -rf "$folder"
mkdir -p "$folder"
cd "$build"
# pack NAME GENERATORS COMPONENT [OPTION...]
pack() {
  "$cpack" -C Release -G "$2" -B "$folder/$1" -D "CPACK_INSTALL_CMAKE_PROJECTS=$build;dmlop;$3;/" "${@:4}" \
    >"$folder/$1.log" 2>&1 || { cat "$folder/$1.log"; fail "cpack"; }
}
for needed in dpkg-deb dpkg-shlibdeps; do
  command -v $needed >/dev/null || { echo "SKIPPED: $needed is missing; install dpkg-dev"; exit 77; }
done
# No file of theirs is linked with anything; asking for each takes two seconds.
alone=(Unspecified -D CPACK_DEBIAN_PACKAGE_SHLIBDEPS=OFF)
(umask 022 && pack first "DEB;TGZ;ZIP" "${alone[@]}")
(umask 077 && pack second "DEB;TGZ;ZIP" "${alone[@]}")
pack program DEB program
cd "$folder"
packages=$(cd first && ls ./*.deb ./*.tar.gz ./*.zip)
[ "$(wc -w <<<"$packages")" = 3 ] || fail "there are these packages: $packages"
for package in $packages; do
  cmp "first/$package" "second/$package" || fail "$package is different each time"
done

tar -xzf first/*.tar.gz
mv dmlop-* archive
[ -z "$(tar -tvzf first/*.tar.gz | grep -v '^[^ ]* 0/0 ')" ] || fail "the archive names who built it"
# The order is that of paths, where folders end without a slash.
tar -tzf first/*.tar.gz | sed 's|/$||' | LC_ALL=C sort -c || fail "the files of the archive are in no order"
dpkg-deb -x first/*.deb debian
# Beside the other files, a .deb has what Debian asks of each.
of_debian='^[.]/share/(doc/dmlop/(copyright|changelog[.]gz)|lintian(/.*)?)$'
(cd debian/usr && find . | sed 's/[.]1[.]gz$/.1/' | grep -Ev "$of_debian" | sort) >debian.txt
(cd archive && find . | sort) >archive.txt
diff debian.txt archive.txt || fail "the two packages hold other files"
mkdir zip
(cd zip && cmake -E tar xf ../first/*.zip && cd dmlop-* && find . -type f | sort) >zip.txt
(cd archive && find . -type f | sort) | diff - zip.txt || fail "the .zip holds other files"
[ -x archive/share/dmlop/samples/cluster/slurm.sh ] || fail "a script of the samples cannot run"
[ -f archive/share/doc/dmlop/CHANGES.md ] || fail "the list of changes is missing"

depends=$(dpkg-deb -f program/*.deb Depends)
grep -Eqx 'libc6 \(>= [0-9.]+\)' <<<"$depends" || fail "the package depends on: $depends"
dpkg-deb -x program/*.deb with_program
with_program/usr/bin/dmlop --version
with_program/usr/bin/dmlop batch archive/share/dmlop/samples/padding --cpu
for name in "$build" "$source"; do
  ! grep -rlF -- "$name" archive with_program || fail "these files name $name"
done
if command -v lintian >/dev/null; then
  lintian --no-tag-display-limit program/*.deb >lintian.txt 2>&1 || true
  # The package of this test has the program alone.
  ! grep '^E:' lintian.txt | grep -Ev 'no-copyright-file|no-changelog' || fail "lintian finds errors"
fi
rm -rf first second program
