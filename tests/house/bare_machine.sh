#!/usr/bin/env bash
# Runs `make test` on a bare Debian 12 with python3, python3-venv, g++ and make and nothing else, made by debootstrap.
#
#   sudo tests/house/bare_machine.sh FOLDER [COMMAND...]
#
# FOLDER holds the system and is kept, so that a second run is quick; the last commit is unpacked into it anew each time.
# COMMAND replaces `make test`. What pip is told on this machine (PIP_* and its configuration files) holds inside as well;
# name folders that it points to, separated by blanks, in BARE_BIND, and they are mounted read-only. BARE_MIRROR is Debian's
# mirror, if not deb.debian.org.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
[ "$(id -u)" = 0 ] || { echo "debootstrap and chroot need root: run this with sudo"; exit 2; }
source=$(realpath "$(dirname "$0")/../..")
mkdir -p "$1"
bare=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- make test

if [ ! -e "$bare/.bare" ]; then
  debootstrap --variant=minbase --include=python3,python3-venv,g++,make bookworm "$bare" ${BARE_MIRROR:+"$BARE_MIRROR"}
  touch "$bare/.bare"
fi

rm -rf "$bare/root/hardwire"
mkdir -p "$bare/root/hardwire"
git -c safe.directory='*' -C "$source" archive HEAD | tar -x -C "$bare/root/hardwire"
for file in /etc/pip.conf "$HOME/.config/pip/pip.conf" "$HOME/.pip/pip.conf" /etc/ssl/certs/ca-certificates.crt /etc/resolv.conf; do
  [ -r "$file" ] || continue
  inside=$bare${file/#$HOME//root}
  mkdir -p "$(dirname "$inside")"
  cp --dereference "$file" "$inside"
done

mounted=()
unmount() { for ((i = ${#mounted[@]} - 1; i >= 0; i--)); do umount "${mounted[i]}" || umount --lazy "${mounted[i]}" || true; done; }
trap unmount EXIT
mount_in() {
  mkdir -p "$bare$1"
  mount "${@:2}" "$bare$1"
  mounted+=("$bare$1")
}
mount_in /proc -t proc proc
mount_in /dev --bind /dev
mount_in /dev/pts --bind /dev/pts
mount_in /dev/shm -t tmpfs tmpfs
for folder in ${BARE_BIND-}; do mount_in "$folder" --bind -o ro "$folder"; done

mapfile -t settings < <(env | grep -iE '^(PIP_|[a-z]+_proxy=)' || true)
chroot "$bare" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin "${settings[@]}" \
  sh -c 'cd /root/hardwire && exec "$@"' sh "$@"
