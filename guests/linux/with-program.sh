#!/bin/sh
# Makes an initramfs of the Linux guest with one more program in /bin. It is compiled as those of this folder are,
# without a C library, by linux.h.
#
# usage: with-program.sh SOURCE.c INITRAMFS OUTPUT
set -eu

if [ $# -ne 3 ]; then
    sed -n 's/^# usage: /usage: /p' "$0" >&2
    exit 2
fi
source=$1
initramfs=$2
output=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
mkdir "$root/bin"
"$here/programs.sh" "$root/bin" "$source"
"$here/append.sh" "$initramfs" "$root" "$output"
