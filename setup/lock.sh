#!/usr/bin/env bash
# Renews setup/packages.lock: for each of its packages the version that the signed index of its suite has now, with
# path, size and SHA-256. An index that cannot be read whole changes nothing. Shows what changes; the figures in the
# documentation and the README's trace hash belong to the old versions and are to be measured again.
#
# usage: lock.sh [SET...]     all sets unless told: linux, opensbi, cells, qemu-bookworm, qemu-trixie, gcc-amd64,
#                             gcc-arm64, debian
#
# The set debian is made from guests/debian/packages: those, the essential ones, and all that they depend on.
#
# Takes the mirror of this system's apt sources, or TACTUS_DEBIAN_MIRROR.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=setup/archive.sh
. "$(dirname "${BASH_SOURCE[0]}")/archive.sh"

new=$(mktemp)
trap 'rm -rf "$new" "$TACTUS_BUILD/setup/apt"' EXIT
mkdir -p "$TACTUS_BUILD/setup"

# renewed SET PACKAGE ARCHITECTURE SUITE: sets `line` to the line for the package.
renewed() {
    local set=$1 package=$2 arch=$3 suite=$4 index_arch=$3 name version at_arch path size hash found
    [ "$arch" != all ] || index_arch=amd64
    if [ "$suite-$index_arch" != "${read_now:-}" ]; then
        read_index "$suite" "$index_arch" || fail \
            "the package index of Debian $suite ($index_arch) cannot be used: $index_error" \
            "setup/packages.lock stays as it is. Try again later, or set TACTUS_DEBIAN_MIRROR to the URI of another mirror."
        read_now=$suite-$index_arch
    fi
    found=$(in_index "$(wanted_of "$package")")
    [ -n "$found" ] || fail "Debian $suite ($index_arch) has no package $package" "setup/packages.lock stays as it is."
    read -r name version at_arch path size hash <<<"$found"
    line="$set $name $version $at_arch $suite $path $size $hash"
}

wants() {
    [ $# -eq 1 ] || [[ " ${*:2} " == *" $1 "* ]]
}

# debian_set: prints the lines of the set debian. apt resolves the dependencies.
debian_set() {
    local suite=trixie
    read_index $suite riscv64 >&2 || fail "the package index of Debian $suite (riscv64) cannot be used: $index_error" \
        "setup/packages.lock stays as it is. Try again later, or set TACTUS_DEBIAN_MIRROR to the URI of another mirror."
    private_apt apt-cache dumpavail >"$apt_dir/available"
    {
        awk '/^Package:/ { package = $2 } /^Essential: yes/ { print package }' "$apt_dir/available"
        sed '/^#/d' "$TACTUS_ROOT/guests/debian/packages"
    } | sort -u >"$apt_dir/wanted"
    # `Inst PACKAGE (VERSION ...)`.
    # shellcheck disable=SC2046
    private_apt apt-get install --simulate -qq -y --no-install-recommends $(cat "$apt_dir/wanted") >"$apt_dir/resolved" ||
        fail "the packages in guests/debian/packages cannot be installed together (above)" "setup/packages.lock stays as it is."
    awk -v suite=$suite '
        FILENAME ~ /resolved$/ { if ($1 == "Inst") wanted[$2] = 1; next }
        /^$/ { show() }
        { value[$1] = $2 }
        END { show() }
        function show() {
            if (value["Package:"] in wanted) {
                print "debian", value["Package:"], value["Version:"], value["Architecture:"], suite, value["Filename:"], value["Size:"], value["SHA256:"]
                delete wanted[value["Package:"]]
            }
            delete value
        }' "$apt_dir/resolved" "$apt_dir/available" | LC_ALL=C sort
}

while IFS= read -r line; do
    read -r set package version arch suite _ <<<"$line"
    case $set in
    # Source packages are in no index that is read.
    '' | '#'* | lwip) ;;
    debian) ! wants debian "$@" || continue ;;
    *)
        if wants "$set" "$@"; then
            old="$package $version"
            renewed "$set" "$package" "$arch" "$suite"
            read -r _ package version _ <<<"$line"
            [ "$old" = "$package $version" ] || say "$set: $old becomes $package $version"
        fi
        ;;
    esac
    printf '%s\n' "$line" >>"$new"
done <"$lock_file"
! wants debian "$@" || debian_set >>"$new"

if cmp -s "$new" "$lock_file"; then
    say "setup/packages.lock is up to date"
else
    cat "$new" >"$lock_file"
    say "setup/packages.lock is renewed; run \`make setup\` and \`make test\`, and measure again what the README shows"
fi
