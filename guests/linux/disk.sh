#!/bin/sh
# Makes the initramfs of a Linux guest with a disk and a network card: the one without, and behind it an archive of
# their drivers, of ./disk, which loads them, and of a program that measures them (append.sh).
#
# usage: disk.sh PACKAGES INITRAMFS OUTPUT
#
# PACKAGES is as for initramfs.sh, INITRAMFS what that has made.
set -eu

packages=$1
initramfs=$2
output=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

mkdir -p "$root/lib/modules"
find "$packages"/usr/lib/modules/*/kernel -name '*.ko.xz' | while read -r module; do
    name=${module##*/}
    xz -dc "$module" >"$root/lib/modules/${name%.xz}"
done
install -m 755 "$here/disk" "$root/disk"
mkdir "$root/bin"
"$here/programs.sh" "$root/bin" disk
"$here/append.sh" "$initramfs" "$root" "$output"
