#!/usr/bin/env bash
# Gets the C compiler of the guests: the version that setup/packages.lock names, by path, so that guests in C are the
# same bytes, and runs have the same trace hash, on every machine, whichever version its distribution has. Unpacked, not
# installed; Cargo hands it to the guests' build scripts as TACTUS_CROSS (build/setup/paths.toml).
#
# Where this system's own compiler is of that version it is taken as it is. Where packages.lock names none for this kind
# of machine, or it does not run here, the system's own does, of another version, and with another hash.
#
# Leaves build/setup/gcc/cross: what to put before `gcc` to call it.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=setup/archive.sh
. "$(dirname "${BASH_SOURCE[0]}")/archive.sh"

readonly out=$TACTUS_BUILD/setup/gcc
readonly own=riscv64-unknown-elf-

machine=$(dpkg --print-architecture 2>/dev/null || true)
[ -n "$machine" ] || case $(uname -m) in x86_64) machine=amd64 ;; aarch64) machine=arm64 ;; esac
readonly machine compiler=gcc-$machine

# named PACKAGE: its version in packages.lock, without Debian's part.
named() {
    locked "$compiler" | awk -v package="$1" '$2 == package { sub(/-.*/, "", $3); print $3 }'
}

# of_that_version CROSS
of_that_version() {
    [ "$("$1gcc" -dumpfullversion 2>/dev/null)" = "$(named gcc-riscv64-unknown-elf)" ] &&
        "$1as" --version 2>/dev/null | grep -qE " $(named binutils-riscv64-unknown-elf | sed 's/\./\\./g')([. ]|\$)"
}

# compiles CROSS: whether it runs here, with all that it calls.
compiles() {
    echo 'int main(void) { return 0; }' |
        "$1gcc" -march=rv64gc -mabi=lp64d -misa-spec=2.2 -ffreestanding -nostdlib -Wl,-emain -x c -o "$out/trial" - >"$out/trial.log" 2>&1
}

# take CROSS
take() {
    printf '%s\n' "$1" >"$out/cross.new"
    mv "$out/cross.new" "$out/cross"
    locked "$compiler" >"$out/packages.lock"
}

main() {
    local name kept
    kept=$(cat "$out/cross" 2>/dev/null || true)
    if [ -n "$kept" ] && [ "$(cat "$out/packages.lock" 2>/dev/null)" = "$(locked "$compiler")" ] && have "${kept}gcc"; then
        return
    fi
    rm -rf "$out"
    mkdir -p "$out"
    if [ -n "$(locked "$compiler")" ]; then
        if of_that_version "$own"; then
            take "$own"
            return
        fi
        say "getting the guests' C compiler, gcc $(named gcc-riscv64-unknown-elf): with another version runs have another trace hash"
        get_set "$compiler" "$out/manifest.txt"
        heartbeat "unpacking" true
        while read -r name; do unpack_deb "$debs/$name" "$out"; done < <(sed '/^#/d' "$out/manifest.txt" | cut -d ' ' -f 4)
        heartbeat_end
        if compiles "$out/usr/bin/$own"; then
            take "$out/usr/bin/$own"
            return
        fi
        warn "the compiler that setup/packages.lock names does not run here: $(head -n 1 "$out/trial.log")"
    fi
    "$TACTUS_ROOT/setup/packages.sh" cross
    warn "the guests' C compiler is this system's, version $("${own}gcc" -dumpfullversion): runs have another trace hash than the README's"
    take "$own"
}

main
