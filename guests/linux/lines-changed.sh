#!/usr/bin/env bash
# How many lines of Linux the project has changed: 0, if the kernel that guests boot is that of the distribution's
# package, bit for bit, and the package the one that build/linux/manifest.txt names by its SHA-256, which set-up got
# from the distribution's signed index. Otherwise it says what differs, and fails: the lines of a binary that
# differs cannot be told.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../setup/lib.sh"

read -r _ _ hash name < <(grep '^linux-image-' "$TACTUS_BUILD/linux/manifest.txt")
package=$TACTUS_CACHE/debs/$name
[ -r "$package" ] || fail "the kernel's package, $package, is gone" "Remove build/linux/fingerprint and run \`make setup\` again."
[ "$(sha256sum <"$package")" = "$hash  -" ] || fail "$package is not the package that build/linux/manifest.txt names" \
    "Remove it and build/linux/fingerprint, and run \`make setup\` again."
dpkg-deb --fsys-tarfile "$package" | tar -x -O --wildcards './boot/vmlinu*' | cmp -s - "$TACTUS_BUILD/linux/Image" || fail \
    "build/linux/Image is not the kernel of $name" "Remove build/linux/fingerprint and run \`make setup\` again."
echo 0
