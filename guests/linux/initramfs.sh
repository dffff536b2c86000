#!/bin/sh
# Makes the Linux guest's initramfs: busybox, two of rt-tests' programs, their libraries, what programs.sh compiles, and
# ./init.
#
# usage: initramfs.sh PACKAGES OUTPUT
#
# PACKAGES is a folder into which the riscv64 packages were unpacked (setup/linux.sh). The same input gives the
# same bytes: names are sorted, times, owners and inode numbers fixed. There are no device nodes in it
# (making them takes root): the kernel brings /dev/console, and init mounts a devtmpfs.
set -eu

packages=$1
output=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

lib=usr/lib/riscv64-linux-gnu
mkdir -p "$root/bin" "$root/dev" "$root/lib" "$root/proc" "$root/sys" "$root/tmp"
cp "$packages/usr/bin/busybox" "$packages/usr/bin/hackbench" "$packages/usr/bin/cyclictest" "$root/bin/"
# The dynamic loader's default search path on this architecture is /lib and /usr/lib, as for any other.
for library in ld-linux-riscv64-lp64d.so.1 libc.so.6 libnuma.so.1 libgcc_s.so.1; do
    cp -L "$packages/$lib/$library" "$root/lib/"
done
"$here/programs.sh" "$root/bin"
mv "$root"/bin/*.bin "$root/lib/"
# What init calls; it makes the links to all other applets itself where a person is going to use them.
for applet in sh cat cttyhack cut devmem hexdump mkdir mount nproc poweroff sed seq setsid sleep tr; do
    ln -s busybox "$root/bin/$applet"
done
install -m 755 "$here/init" "$root/init"

find "$root" -exec touch -h -d @0 {} +
(cd "$root" && find . | LC_ALL=C sort |
    cpio --quiet -o -H newc --reproducible --owner=+0:+0) >"$output.new"
mv "$output.new" "$output"
