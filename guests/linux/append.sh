#!/bin/sh
# Makes an initramfs with more files: INITRAMFS, and behind it an archive of what is in the folder FILES. The kernel
# unpacks both. The same files give the same bytes.
#
# usage: append.sh INITRAMFS FILES OUTPUT
set -eu

initramfs=$1
files=$2
output=$3

find "$files" -exec touch -h -d @0 {} +
{
    cat "$initramfs"
    (cd "$files" && find . | LC_ALL=C sort | cpio --quiet -o -H newc --reproducible --owner=+0:+0)
} >"$output.new"
mv "$output.new" "$output"
