#!/usr/bin/env bash
# Runs the tests of the hypervisor's library, of `policy` and of `abi` under Miri, which finds undefined behaviour:
# wrong pointers, references that alias, data races. Part of `make soak`; gets Miri first where it is missing.
#
# usage: miri.sh
#
# Expects that `make setup` has run. Miri is a component of nightly toolchains alone, and takes some hundred times as
# long as the processor: random tests take few cases each, and those whose cases are millions stay out.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$TACTUS_ROOT"

# The last nightly with Miri that was tried.
readonly toolchain=nightly-2026-05-20
readonly log=$TACTUS_BUILD/setup/miri.log

if ! have rustup; then
    warn "Miri needs rustup; its tests are left out"
    exit 0
fi
if ! rustup run "$toolchain" cargo miri --version >/dev/null 2>&1; then
    say "getting Miri with Rust $toolchain: 200 MB, for \`make soak\` alone"
    watched "getting Miri" "$log" rustup toolchain install "$toolchain" --profile minimal --no-self-update \
        --component miri --component rust-src || fail "Miri could not be had (above; whole log: $log)" \
        "Check the network, then run \`make soak\` again."
fi

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/miri"
# Tests read files of the repository; what failed is printed, not kept in files.
export MIRIFLAGS="-Zmiri-strict-provenance -Zmiri-disable-isolation"
export PROPTEST_CASES=4 PROPTEST_DISABLE_FAILURE_PERSISTENCE=true
cargo "+$toolchain" miri test --quiet --locked --no-fail-fast -p tactus-hypervisor -p tactus-abi
cargo "+$toolchain" miri test --quiet --locked --no-fail-fast -p tactus-policy --lib
