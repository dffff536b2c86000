#!/usr/bin/env bash
# Makes a disk with Debian's root file system for riscv64, unmodified, for a VM with a disk (systems/debian.toml).
#
# The packages are those of the set `debian` in setup/packages.lock, fetched by path and checked by hash. They are only
# unpacked here. A QEMU of its own then boots the Linux guest's kernel from the disk and has Debian's dpkg install them
# (guests/debian/second-stage): it takes no rights on this machine, and none of its programs can run those of riscv64.
#
# usage: debian.sh
#
# Leaves in build/debian: disk.img (ext4, 2 GiB, sparse), key and key.pub (what ssh logs in as root with), known_hosts
# (the guest's own key), password (root's, on the console), manifest.txt (the packages). Keys and password are made
# here, at random; setup/debian.sh makes no new ones where there are some. A disk that is up to date stays as it is;
# after `rm -r build/debian` all is made again.
#
# Expects that `setup/setup.sh debian` has run.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=setup/archive.sh
. "$(dirname "${BASH_SOURCE[0]}")/archive.sh"
cd "$TACTUS_ROOT"
# mke2fs and e2fsck are in no ordinary user's PATH.
PATH=$PATH:/usr/sbin:/sbin

readonly out=$TACTUS_BUILD/debian
readonly manifest=$out/manifest.txt made=$out/fingerprint root=$out/root
# Of the disk. 500 MB are used.
readonly mib=2048
# Seconds of the host for the second stage. It takes some seven minutes of a core: past this it hangs, or the machine is
# overloaded.
readonly patience=7200

# Everything that the disk depends on.
fingerprint() {
    {
        sha256sum setup/debian.sh
        find guests/debian guests/linux/tactus_*.py -type f | LC_ALL=C sort | xargs sha256sum
        locked debian
        sha256sum <"$out/key.pub"
        cat "$out"/host_key_*.pub | sha256sum
        sha256sum <"$out/password"
    } 2>/dev/null | sha256sum
}

# The guest's secrets, where there are none yet.
make_keys() {
    (
        umask 077
        [ -s "$out/key" ] || ssh-keygen -q -t ed25519 -N '' -C "root of the Debian guest" -f "$out/key"
        [ -s "$out/host_key_ed25519" ] || ssh-keygen -q -t ed25519 -N '' -C "the Debian guest" -f "$out/host_key_ed25519"
        # Others than the one that known_hosts has are made in no time here, and in minutes there.
        for kind in rsa ecdsa; do
            [ -s "$out/host_key_$kind" ] || ssh-keygen -q -t $kind -N '' -C "the Debian guest" -f "$out/host_key_$kind"
        done
        [ -s "$out/password" ] || od -An -N12 -tx1 /dev/urandom | tr -d ' \n' >"$out/password"
    )
    printf 'debian %s\n' "$(cut -d ' ' -f 1,2 "$out/host_key_ed25519.pub")" >"$out/known_hosts"
}

# get_packages: fetches them; in a process of its own, whose progress is in a log.
get_packages() (
    get_set debian "$manifest"
)

# plain FILE COPY: a package's copy whose files are not compressed; otherwise that is most of what QEMU computes.
plain() {
    rm -rf "$out/members"
    mkdir "$out/members"
    (cd "$out/members" && ar x "$1" && xz -d data.tar.xz && ar rcD "$2" debian-binary control.tar.* data.tar)
}

# first_stage: the packages' files in a folder, as far as programs need them to run before dpkg has installed them, and
# what the second stage needs beside.
first_stage() (
    local package name
    rm -rf "$root" "$out/packages"
    mkdir -p "$root" "$out/packages"
    # Its links, such as /bin, first.
    sed '/^#/d' "$manifest" | sed -n '/^base-files /p' | while read -r _ _ _ name; do dpkg-deb -x "$debs/$name" "$root"; done
    while read -r package _ _ name; do
        case $package in
        '' | '#'*) continue ;;
        # Kept as it is, for apt.
        hello) cp "$debs/$name" "$out/packages/" ;;
        *)
            dpkg-deb -x "$debs/$name" "$root"
            plain "$debs/$name" "$out/packages/$name"
            ;;
        esac
    done <"$manifest"
    rm -rf "$out/members"
    # What is a configuration file, dpkg is to put there itself.
    rm -rf "${root:?}/etc"
    mkdir -p "$root/etc" "$root"/var/lib/dpkg/{info,updates,parts} "$root"/{proc,sys,dev,run,tmp}
    : >"$root/var/lib/dpkg/status"
    : >"$root/var/lib/dpkg/available"
    install -m 755 guests/debian/second-stage "$root/second-stage"
    mkdir "$out/packages/keys"
    cp "$out/key.pub" "$out"/host_key_* "$out/password" "$out/packages/keys/"
    cp -r guests/debian/files "$out/packages/files"
    # The libraries for calls and accelerators, where the guest's Python finds them.
    install -m 644 -D -t "$out/packages/files/usr/local/lib/python3.13/dist-packages" guests/linux/tactus_*.py
    mkdir -p "$out/packages/files/etc/apt/sources.list.d"
    mkdir -p "$out/packages/files/var/lib/systemd"
    (umask 077 && head -c 512 /dev/urandom >"$out/packages/files/var/lib/systemd/random-seed")
    sources >"$out/packages/files/etc/apt/sources.list.d/debian.sources"
)

# sources: the archive that this system gets its own packages from, for the guest's apt.
sources() {
    local uris
    uris=$(archive_uris trixie | grep '^http' || true)
    [ -z "$uris" ] || printf 'Types: deb\nURIs: %s\nSuites: trixie trixie-updates\nComponents: main\nSigned-By: %s\n' \
        "$(head -n 1 <<<"$uris")" /usr/share/keyrings/debian-archive-keyring.gpg
}

# second_stage: boots the disk, with the packages on another one; returns when the machine is off.
second_stage() {
    timeout "$patience" qemu-system-riscv64 -M virt -cpu rv64 -smp 2 -m 1024M -display none -monitor none -serial stdio \
        -no-reboot -nic none -bios "$TACTUS_BUILD/opensbi/fw_dynamic.bin" -kernel "$TACTUS_BUILD/linux/Image" \
        -initrd "$TACTUS_BUILD/linux/initramfs-disk.cpio" \
        -append "quiet console=ttyS0 rdinit=/disk root=/dev/vda rw init=/second-stage panic=-1" \
        -drive if=none,id=disk,format=raw,cache=unsafe,discard=unmap,file="$out/disk.new" \
        -device virtio-blk-pci,drive=disk,addr=1 \
        -drive if=none,id=packages,format=raw,readonly=on,file="$out/packages.img" \
        -device virtio-blk-pci,drive=packages,addr=2 </dev/null
}

# disk FILE FOLDER MIB
disk() {
    rm -f "$1"
    truncate -s "$3M" "$1"
    mke2fs -q -t ext4 -E root_owner=0:0 -d "$2" "$1"
}

main() {
    local count bytes begin=$SECONDS log=$out/second-stage.log
    mkdir -p "$out"
    make_keys
    if [ -r "$out/disk.img" ] && [ "$(cat "$made" 2>/dev/null)" = "$(fingerprint)" ]; then
        return
    fi
    count=$(locked debian | wc -l)
    bytes=$(locked debian | awk '{ bytes += $7 } END { print bytes }')
    say "making Debian's root file system of $count packages, $((bytes / 1000000)) MB to download where they are not there yet; it takes some seven minutes of a core"
    watched "getting Debian's packages" "$out/packages.log" get_packages || fail \
        "Debian's packages could not be had (above; whole log: $out/packages.log)" \
        "Once that is cured, run \`setup/debian.sh\` again; what has arrived is not fetched twice." \
        "Packages that the mirror does not have any more: \`setup/lock.sh debian\` names those of today."
    grep 'warning:' "$out/packages.log" >&2 || true
    say "the packages are there after $((SECONDS - begin)) s"
    watched "unpacking" "$out/first-stage.log" first_stage || fail \
        "the packages could not be unpacked (above; whole log: $out/first-stage.log)" "Is there room? It takes 2 GB."
    rm -f "$made"
    {
        disk "$out/disk.new" "$root" "$mib"
        disk "$out/packages.img" "$out/packages" 768
    } || fail "the file systems could not be made (above)" "Is there room in $out? It takes 2 GB."
    rm -rf "$root" "$out/packages"
    say "unpacked after $((SECONDS - begin)) s; Debian's dpkg now installs them, in a QEMU of its own"
    watched "installing" "$log" second_stage || fail "QEMU failed (above; whole log: $log)" "Report this with the log."
    grep -q '^second stage: done' "$log" || {
        tail -n 15 "$log" >&2
        fail "Debian's packages could not be installed (above; whole log: $log)" "Report this with the log."
    }
    quietly "$out/e2fsck.log" e2fsck -fn "$out/disk.new" || fail "the disk's file system is damaged (above)" "Report this with $log."
    rm -f "$out/packages.img"
    mv "$out/disk.new" "$out/disk.img"
    fingerprint >"$made"
    say "build/debian/disk.img is there after $((SECONDS - begin)) s, $(du -m "$out/disk.img" | cut -f 1) MB"
}

main
