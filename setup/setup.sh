#!/usr/bin/env bash
# `make setup`: installs what is missing on this machine to build, run and test Tactus. Idempotent: a second
# run finds everything in place, says nothing and installs nothing.
#
# usage: setup.sh
#
# What is installed, why and where: docs/src/reference/setup.md.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly logs=$TACTUS_BUILD/setup
mkdir -p "$logs"

# One set-up of a clone at a time; the next one then finds the work done.
exec 9>"$logs/lock"
flock 9

"$TACTUS_ROOT/setup/packages.sh"
"$TACTUS_ROOT/setup/rust.sh"

# Crates are fetched here so that no later step needs the network. Cargo checks them against the hashes in Cargo.lock.
cd "$TACTUS_ROOT"
if ! cmp -s Cargo.lock "$logs/Cargo.lock.fetched"; then
    say "fetching the crates that Cargo.lock pins"
    if ! quietly "$logs/cargo-fetch.log" cargo fetch --locked; then
        if grep -q 'lock file' "$logs/cargo-fetch.log"; then
            fail "Cargo.lock does not match the Cargo.toml files (above)" \
                "Run \`cargo update --workspace\`, look at what it changes, and run \`make setup\` again."
        fi
        fail "the crates could not be fetched (above; whole log: $logs/cargo-fetch.log)" \
            "Check the network, or name a mirror in Cargo's configuration ([source] replace-with); then run \`make setup\` again."
    fi
    cp Cargo.lock "$logs/Cargo.lock.fetched"
fi

"$TACTUS_ROOT/setup/linux.sh"
"$TACTUS_ROOT/setup/fabric.sh"

# What this clone was set up with, for reports of defects.
record() {
    qemu-system-riscv64 --version | head -n 1
    riscv64-unknown-elf-gcc --version | head -n 1
    rustc --version
    cargo --version
    verilator --version
    if have dpkg-query; then
        # Packages that are not there are no news.
        dpkg-query -W -f '${Package} ${Version}\n' qemu-system-riscv qemu-system-misc opensbi gcc-riscv64-unknown-elf \
            binutils-riscv64-unknown-elf cpio 2>/dev/null | grep ' .' || true
    fi
    sed '/^#/d' "$TACTUS_BUILD/linux/manifest.txt"
    "$logs/python/bin/python" --version
    sed '/^#/d; /^$/d' setup/requirements.txt
}
new=$(record)
if [ "$new" != "$(cat "$logs/versions.txt" 2>/dev/null)" ]; then
    printf '%s\n' "$new" >"$logs/versions.txt"
    say "done; versions are in build/setup/versions.txt"
fi
