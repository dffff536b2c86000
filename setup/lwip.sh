#!/usr/bin/env bash
# Gets the source of lwIP, the TCP/IP stack of FreeRTOS guests (guests/freertos-network): the archive that Debian's
# source package has, as setup/packages.lock names it, by path and hash. Debian's own patches are of parts that no guest
# uses.
#
# Leaves build/lwip/src, build/lwip/contrib and build/lwip/COPYING.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=setup/archive.sh
. "$(dirname "${BASH_SOURCE[0]}")/archive.sh"

readonly out=$TACTUS_BUILD/lwip

main() {
    local package version arch suite path size hash code=0
    if [ -r "$out/packages.lock" ] && [ "$(cat "$out/packages.lock")" = "$(locked lwip)" ]; then
        return
    fi
    read -r _ package version arch suite path size hash <<<"$(locked lwip)"
    get "$package" "$version" "$arch" "$suite" "$path" "$size" "$hash" || code=$?
    [ $code -eq 0 ] || fail "$package $version, which setup/packages.lock names, is no longer on this system's mirror" \
        "Set TACTUS_DEBIAN_MIRROR to the URI of one that has it, and run \`make setup\` again."
    rm -rf "$out"
    mkdir -p "$out"
    tar -xJf "$got" -C "$out" --strip-components=1 --wildcards '*/src' '*/contrib/ports/freertos' '*/COPYING'
    locked lwip >"$out/packages.lock"
}

main
