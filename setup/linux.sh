#!/usr/bin/env bash
# Gets the Linux guest: Debian's riscv64 kernel, unmodified, and the few programs its initramfs is made of.
#
# Debian's riscv64 packages come through an apt state of our own below build/, which knows one architecture
# and one suite and shares nothing with the system's; apt checks signatures and hashes as always. The versions
# found the first time are recorded with their hashes in build/linux/manifest.txt, and from then on
# exactly those are used. The packages are unpacked, not installed.
#
# The guest's own programs (guests/linux/*.c) are compiled by the C compiler that setup/packages.sh installs.
#
# Leaves build/linux/Image, build/linux/initramfs.cpio and build/linux/manifest.txt.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly suite=trixie arch=riscv64
# The meta package names the newest kernel of the suite; the others are what runs in the initramfs and the libraries
# those programs are linked with.
readonly kernel_meta=linux-image-riscv64
readonly programs=(busybox-static rt-tests libc6 libnuma1 libgcc-s1)

readonly out=$TACTUS_BUILD/linux
readonly manifest=$out/manifest.txt
readonly apt_dir=$out/apt
readonly debs=$TACTUS_CACHE/debs
readonly root=$out/root

# Everything that the results depend on: when it is unchanged there is nothing to do.
fingerprint() {
    # By relative names, so that build/linux can be copied to another clone.
    (cd "$TACTUS_ROOT" && sha256sum setup/linux.sh guests/linux/* guests/channel/c/* abi/include/tactus.h \
        fabric/generated/{io_port,timed_io}_regs.h guests/freertos/platform/include/assert.h \
        "${manifest#"$TACTUS_ROOT/"}" 2>/dev/null | sha256sum)
}

private_apt() {
    local tool=$1
    shift
    "$tool" \
        -o Dir::State="$apt_dir/state" -o Dir::State::status="$apt_dir/status" -o Dir::Cache="$apt_dir/cache" \
        -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$apt_dir/sources.d" \
        -o Dir::Etc::preferencesparts=/dev/null -o Dir::Etc::preferences=/dev/null \
        -o APT::Architecture=$arch -o APT::Architectures::=$arch -o Acquire::Languages=none \
        -o APT::Sandbox::User="$(id -un)" -o Acquire::Retries=3 "$@"
}

prepare_apt() {
    local source
    source=$(apt_source "$(os_field VERSION_CODENAME)")
    [ -n "$source" ] || fail \
        "the Linux guest's packages cannot be found: this system's apt sources name no Debian archive" \
        "Set TACTUS_DEBIAN_MIRROR to the URI of a Debian archive that has the suite $suite, and run \`make setup\` again." \
        "Without a network see docs/src/reference/setup.md, \"Without a network\"."
    have apt-get || fail "the Linux guest's packages are fetched by apt, which this system does not have" \
        "See docs/src/reference/setup.md, \"Other distributions\"."
    mkdir -p "$apt_dir"/{state/lists/partial,cache/archives/partial,sources.d}
    : >"$apt_dir/status"
    printf 'Types: deb\nSuites: %s\nComponents: main\nArchitectures: %s\n%s\n' "$suite" "$arch" "$source" \
        >"$apt_dir/sources.d/debian-$arch.sources"
    say "reading the package index of Debian $suite for $arch"
    quietly "$out/apt-update.log" private_apt apt-get update --error-on=any || fail \
        "the package index of Debian $suite ($arch) could not be read (above; whole log: $out/apt-update.log)" \
        "Check the network and that the mirror in this system's apt sources carries $suite, or set" \
        "TACTUS_DEBIAN_MIRROR to the URI of one that does; then run \`make setup\` again."
}

# The newest versions, one `package version` a line.
resolve() {
    local kernel package version
    kernel=$(private_apt apt-cache depends "$kernel_meta" | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    [ -n "$kernel" ] || fail "Debian $suite's $kernel_meta names no kernel" "Report this: setup/linux.sh expects one."
    for package in "$kernel" "${programs[@]}"; do
        version=$(private_apt apt-cache show --no-all-versions "$package" | sed -n 's/^Version: //p' | head -n 1)
        [ -n "$version" ] || fail "Debian $suite has no package $package for $arch" "Report this: setup/linux.sh expects it."
        printf '%s %s\n' "$package" "$version"
    done
}

# Downloads one package at one version into the cache, unless it is there with the hash that the signed index
# gives; prints its manifest line.
fetch() {
    local package=$1 version=$2 name size hash
    read -r _ name size hash < <(private_apt apt-get download --print-uris "$package=$version" 2>/dev/null) || true
    if [ -z "${hash:-}" ]; then
        fail "$package $version, which build/linux/manifest.txt records, is no longer in Debian $suite" \
            "Remove build/linux/manifest.txt and run \`make setup\` again: it takes the present versions and records those."
    fi
    if ! cached "$name" "$hash"; then
        say "downloading $package $version ($(((size + 999) / 1000)) kB) for the Linux guest" >&2
        (
            cd "$debs"
            quietly "$out/apt-download.log" private_apt apt-get download "$package=$version"
        ) || fail "$package $version could not be downloaded (above; whole log: $out/apt-download.log)" \
            "Check the network and run \`make setup\` again; what is already here is not fetched twice." \
            "Behind a proxy: set http_proxy, or Acquire::http::Proxy in apt's configuration."
    fi
    printf '%s %s %s %s\n' "$package" "$version" "$(sha256sum "$debs/$name" | cut -d ' ' -f 1)" "$name"
}

# cached NAME HASH: whether the cache has the file with that `ALGORITHM:hex` hash.
cached() {
    local file=$debs/$1 sum
    [ -r "$file" ] || return 1
    case $2 in
    SHA512:*) sum=$(sha512sum "$file") ;;
    SHA256:*) sum=$(sha256sum "$file") ;;
    *) return 1 ;;
    esac
    [ "${sum%% *}" = "${2#*:}" ]
}

# Whether every package of the manifest is in the cache, by hash.
manifest_cached() {
    local package version hash name
    while read -r package version hash name; do
        case $package in '' | '#'*) continue ;; esac
        [ -n "$version" ] && cached "$name" "SHA256:$hash" || return 1
    done <"$1"
}

# write_manifest WANTED: fetches `package version` lines and records them; a manifest that is there already must come
# out the same.
write_manifest() {
    local wanted=$1 package version partial=$manifest.new
    {
        echo "# The Linux guest: package, version, SHA-256, file. Written once by setup/linux.sh and kept;"
        echo "# remove it to take the present versions at the next \`make setup\`."
        while read -r package version; do
            fetch "$package" "$version"
        done <<<"$wanted"
    } >"$partial"
    if [ -r "$manifest" ] && ! cmp -s "$partial" "$manifest"; then
        fail "the Linux guest's packages differ from those that build/linux/manifest.txt records (see $partial)" \
            "Remove build/linux/manifest.txt and run \`make setup\` again to take and record the present ones."
    fi
    mv "$partial" "$manifest"
    cp "$manifest" "$TACTUS_CACHE/linux-manifest.txt"
}

unpack() {
    local package version hash name
    rm -rf "$root"
    mkdir -p "$root"
    while read -r package version hash name; do
        case $package in
        '' | '#'*) ;;
        linux-image-*)
            say "unpacking the kernel of $package $version"
            dpkg-deb --fsys-tarfile "$debs/$name" | tar -x -C "$root" --wildcards './boot/vmlinu*'
            ;;
        *) dpkg-deb -x "$debs/$name" "$root" ;;
        esac
    done <"$manifest"
    local kernel=("$root"/boot/vmlinu*)
    # A RISC-V Linux image carries "RSC\5" at offset 56 (Documentation/arch/riscv/boot-image-header.rst).
    [ "$(od -An -tx1 -j56 -N4 "${kernel[0]}" | tr -d ' ')" = 52534305 ] || fail \
        "the kernel package's ${kernel[0]##*/} is not a plain RISC-V Linux image" "Report this: setup/linux.sh expects one."
    mv "${kernel[0]}" "$out/Image"
}

main() {
    local made=$out/fingerprint wanted
    if [ -r "$out/Image" ] && [ -r "$out/initramfs.cpio" ] && [ -r "$made" ] &&
        [ "$(cat "$made")" = "$(fingerprint)" ]; then
        return
    fi
    mkdir -p "$out" "$debs"
    # Another clone of this user has resolved already: the same versions, with no network.
    if [ ! -r "$manifest" ] && [ -r "$TACTUS_CACHE/linux-manifest.txt" ] &&
        manifest_cached "$TACTUS_CACHE/linux-manifest.txt"; then
        say "taking the Linux guest's packages from $TACTUS_CACHE (remove it to resolve anew)"
        cp "$TACTUS_CACHE/linux-manifest.txt" "$manifest"
    fi
    if [ ! -r "$manifest" ]; then
        prepare_apt
        wanted=$(resolve)
        write_manifest "$wanted"
    elif ! manifest_cached "$manifest"; then
        prepare_apt
        wanted=$(sed '/^#/d' "$manifest" | cut -d ' ' -f 1,2)
        write_manifest "$wanted"
    fi
    unpack
    quietly "$out/initramfs.log" "$TACTUS_ROOT/guests/linux/initramfs.sh" "$root" "$out/initramfs.cpio" || fail \
        "the Linux guest's initramfs could not be made (above; whole log: $out/initramfs.log)" \
        "Report this: guests/linux/initramfs.sh and guests/linux/programs.sh make it."
    rm -rf "$root" "$apt_dir"
    fingerprint >"$made"
    say "the Linux guest is in build/linux ($(sed -n 's/^linux-image-[^ ]* //p' "$manifest" | cut -d ' ' -f 1))"
}

main
