#!/usr/bin/env bash
# Gets the firmware that the board and QEMU start: OpenSBI's fw_dynamic.bin out of the package that setup/packages.lock
# names, so that runs do not depend on what the system has installed.
#
# Leaves build/opensbi/fw_dynamic.bin and build/opensbi/manifest.txt.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=setup/archive.sh
. "$(dirname "${BASH_SOURCE[0]}")/archive.sh"

readonly out=$TACTUS_BUILD/opensbi
readonly made=$out/packages.lock

main() {
    local root name
    if [ -r "$out/fw_dynamic.bin" ] && [ "$(cat "$made" 2>/dev/null)" = "$(locked opensbi)" ]; then
        return
    fi
    get_set opensbi "$out/manifest.txt"
    name=$(sed '/^#/d' "$out/manifest.txt" | cut -d ' ' -f 4)
    root=$out/root
    rm -rf "$root"
    unpack_deb "$debs/$name" "$root" '*/generic/fw_dynamic.bin' || fail \
        "$name has no fw_dynamic.bin for generic platforms" "Report this: setup/firmware.sh expects one."
    mv "$root"/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin "$out/fw_dynamic.bin"
    rm -rf "$root"
    locked opensbi >"$made"
    say "the firmware is in build/opensbi (OpenSBI $(sed -n 's/^opensbi //p' "$out/manifest.txt" | cut -d ' ' -f 1))"
}

main
