#!/usr/bin/env bash
# archives.sh CPACK BUILD SOURCE FOLDER: makes the packages twice, under other rights, and compares them byte for
# byte. What is in them runs, needs only the C library and names no folder of the build. The C++ library is left
# out: it takes most of the time and is one more file.
set -euo pipefail
cpack=$1 build=$2 source=$3 folder=$4
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
rm -rf "$folder"
mkdir -p "$folder"
cd "$build"
pack() {
  "$cpack" -C Release -B "$folder/$1" -D "CPACK_INSTALL_CMAKE_PROJECTS=$build;dmlop;Unspecified;/" \
    >"$folder/$1.log" || { cat "$folder/$1.log"; fail "cpack"; }
}
(umask 022 && pack first)
(umask 077 && pack second)
cd "$folder"
packages=$(cd first && ls ./*.deb ./*.tar.gz)
[ "$(wc -w <<<"$packages")" = 2 ] || fail "there are these packages: $packages"
for package in $packages; do
  cmp "first/$package" "second/$package" || fail "$package is different each time"
done

tar -xzf first/*.tar.gz
mv dmlop-* archive
[ -z "$(tar -tvzf first/*.tar.gz | grep -v '^[^ ]* 0/0 ')" ] || fail "the archive names who built it"
if command -v dpkg-deb >/dev/null; then
  dpkg-deb -x first/*.deb debian
  depends=$(dpkg-deb -f first/*.deb Depends)
  grep -Eqx 'libc6 \(>= [0-9.]+\)' <<<"$depends" || fail "the package depends on: $depends"
  (cd debian/usr && find . | sort) >debian.txt
  (cd archive && find . | sort) >archive.txt
  diff debian.txt archive.txt || fail "the two packages hold other files"
fi
program=archive/bin/dmlop
"$program" --version
"$program" batch archive/share/dmlop/samples/padding --cpu
[ -x archive/share/dmlop/samples/cluster/slurm.sh ] || fail "a script of the samples cannot run"
[ -f archive/share/doc/dmlop/CHANGES.md ] || fail "the list of changes is missing"
for name in "$build" "$source"; do
  ! grep -rlF -- "$name" archive || fail "these files name $name"
done
! readelf -d "$program" | grep NEEDED | grep -Ev 'lib(m|c)\.so\.6|ld-linux' || fail "the program needs more than libc"
rm -rf first second
