#!/usr/bin/env bash
# Builds and tests the commit that is checked out as a newcomer does: in a root of Debian or Ubuntu
# with nothing but its base system. Prints how long each command took.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: tests/bare_root.sh [SUITE [ACCOUNT [COMMAND...]]]

  SUITE    bookworm (Debian 12, the default) or noble (Ubuntu 24.04)
  ACCOUNT  root (the default), or user: an account with sudo
  COMMAND  commands of build.sh (default: demo test)

Needs root, debootstrap, 8 GB under $TMPDIR (default: /tmp) and the keys of the distribution, which
the packages debian-archive-keyring and ubuntu-keyring have (KEYRING=FILE: keys that are elsewhere).
The root is removed at the end; KEEP=1 keeps it.
TEXT
}

[ "${1:-}" != --help ] || { usage; exit 0; }
suite=${1:-bookworm} account=${2:-root}
commands=("${@:3}")
[ ${#commands[@]} -gt 0 ] || commands=(demo test)

# The debootstrap of Debian 12 does not know noble. Its script for all versions of Ubuntu is gutsy.
case $suite in
  bookworm) mirror=http://deb.debian.org/debian components=main keyring=debian-archive-keyring making=bookworm ;;
  noble) mirror=http://archive.ubuntu.com/ubuntu components=main,universe keyring=ubuntu-archive-keyring making=gutsy ;;
  *) usage >&2; exit 2 ;;
esac
case $account in root | user) ;; *) usage >&2; exit 2 ;; esac
[ "$(id -u)" -eq 0 ] || { echo "bare_root.sh: error: run it as root" >&2; exit 2; }
command -v debootstrap >/dev/null ||
  { echo "bare_root.sh: error: install debootstrap" >&2; exit 2; }
keyring=${KEYRING:-/usr/share/keyrings/$keyring.gpg}
[ -f "$keyring" ] ||
  { echo "bare_root.sh: error: $keyring is missing: it has the keys of $suite; name another file by KEYRING=FILE" >&2; exit 2; }

# Mounts end with the namespace, however the script ends.
if [ -z "${DMLOP_BARE_ROOT_INSIDE:-}" ]; then
  DMLOP_BARE_ROOT_INSIDE=1 exec unshare --mount --propagation private "$0" "$suite" "$account" "${commands[@]}"
fi

source=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
root=$(mktemp -d "${TMPDIR:-/tmp}/dmlop-$suite.XXXXXX")
chmod 755 "$root"
remove() {
  umount -R "$root/proc" "$root/dev" 2>/dev/null || true
  [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$root"
}
trap remove EXIT

echo "Making a root of $suite in $root ..."
debootstrap --variant=minbase --include=sudo --components="$components" --keyring="$keyring" \
  "$suite" "$root" "$mirror" "/usr/share/debootstrap/scripts/$making" \
  >"$root.log" 2>&1 || { tail -5 "$root.log" >&2; exit 1; }
rm "$root.log"
# How this machine reaches packages, such as through a proxy.
grep -ls Acquire /etc/apt/apt.conf.d/* | xargs -r cp -t "$root/etc/apt/apt.conf.d/"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"

home=/root
if [ "$account" = user ]; then
  home=/home/user
  chroot "$root" useradd --create-home --shell /bin/bash user
  echo "user ALL=(ALL) NOPASSWD: ALL" >"$root/etc/sudoers.d/user"
fi
# A clone has what is committed, and nothing else.
git clone -q --no-hardlinks "$source" "$root$home/dmlop"
chroot "$root" chown -R "$account:$account" "$home/dmlop"

for command in "${commands[@]}"; do
  begin=$SECONDS
  echo "== ./build.sh $command, as $account on $suite"
  chroot "$root" su "$account" -c "cd $home/dmlop && LC_ALL=C.UTF-8 ./build.sh $command"
  echo "== ./build.sh $command took $((SECONDS - begin)) s"
done
