#!/usr/bin/env bash
# Gets the Linux guest: Debian's riscv64 kernel, unmodified, and the few programs its initramfs is made of.
#
# The packages are those of setup/packages.lock, fetched by path and checked by hash (setup/archive.sh); which these
# were in the end is recorded in build/linux/manifest.txt. They are unpacked, not installed.
#
# The guest's own programs (guests/linux/*.c) are compiled by the C compiler that setup/compiler.sh gets.
#
# Leaves build/linux/Image, build/linux/initramfs.cpio, build/linux/initramfs-disk.cpio (the same with the drivers of a
# disk and a network card) and build/linux/manifest.txt.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# shellcheck source=setup/archive.sh
. "$(dirname "${BASH_SOURCE[0]}")/archive.sh"

readonly out=$TACTUS_BUILD/linux
readonly manifest=$out/manifest.txt
# The drivers that Debian's kernel does not have built in.
readonly modules=('*/'{virtio/virtio_mmio,block/virtio_blk,net/{net_failover,virtio_net},core/failover,hw_random/virtio-rng}.ko.xz
    '*/'{nvme/host/{nvme,nvme-core},nvme/common/{nvme-auth,nvme-keyring},intel/e1000e/e1000e}.ko.xz
    '*/uio/'{uio,uio_pci_generic}.ko.xz
    '*/'{ext4/ext4,jbd2/jbd2,fs/mbcache,lib/crc16,crypto/crc32c_generic}.ko.xz)
readonly root=$out/root
TACTUS_CROSS=$(cat "$TACTUS_BUILD/setup/gcc/cross")
export TACTUS_CROSS

# Everything that the results depend on: when it is unchanged there is nothing to do.
fingerprint() {
    # By relative names, so that build/linux can be copied to another clone.
    (cd "$TACTUS_ROOT" && {
        sha256sum setup/linux.sh guests/linux/* guests/channel/c/* abi/include/tactus.h \
            fabric/generated/{io_port,timed_io}_regs.h guests/freertos/platform/include/assert.h \
            "${manifest#"$TACTUS_ROOT/"}" 2>/dev/null
        locked linux
        "${TACTUS_CROSS}gcc" -dumpfullversion
        "${TACTUS_CROSS}as" --version
    } | sha256sum)
}

unpack() {
    local package version hash name
    rm -rf "$root"
    while read -r package version hash name; do
        case $package in
        '' | '#'*) ;;
        linux-image-*)
            say "unpacking the kernel of $package $version"
            unpack_deb "$debs/$name" "$root" './boot/vmlinu*' "${modules[@]}"
            ;;
        *) unpack_deb "$debs/$name" "$root" ;;
        esac
    done <"$manifest"
    local kernel=("$root"/boot/vmlinu*)
    # A RISC-V Linux image carries "RSC\5" at offset 56 (Documentation/arch/riscv/boot-image-header.rst).
    [ "$(od -An -tx1 -j56 -N4 "${kernel[0]}" | tr -d ' ')" = 52534305 ] || fail \
        "the kernel package's ${kernel[0]##*/} is not a plain RISC-V Linux image" "Report this: setup/linux.sh expects one."
    mv "${kernel[0]}" "$out/Image"
}

main() {
    local made=$out/fingerprint
    if [ -r "$out/Image" ] && [ -r "$out/initramfs.cpio" ] && [ -r "$out/initramfs-disk.cpio" ] && [ -r "$made" ] &&
        [ "$(cat "$made")" = "$(fingerprint)" ]; then
        return
    fi
    get_set linux "$manifest"
    heartbeat "unpacking" true
    unpack
    heartbeat_end
    watched "packing the Linux guest's initramfs" "$out/initramfs.log" "$TACTUS_ROOT/guests/linux/initramfs.sh" "$root" "$out/initramfs.cpio" || fail \
        "the Linux guest's initramfs could not be made (above; whole log: $out/initramfs.log)" \
        "Report this: guests/linux/initramfs.sh and guests/linux/programs.sh make it."
    "$TACTUS_ROOT/guests/linux/disk.sh" "$root" "$out/initramfs.cpio" "$out/initramfs-disk.cpio" || fail \
        "the initramfs with the drivers of a disk could not be made (above)" "Report this: guests/linux/disk.sh makes it."
    rm -rf "$root"
    fingerprint >"$made"
    say "the Linux guest is in build/linux ($(sed -n 's/^linux-image-[^ ]* //p' "$manifest" | cut -d ' ' -f 1))"
}

main
