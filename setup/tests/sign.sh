#!/usr/bin/env bash
# Makes setup/tests/mirror: the signed indexes of the mirror that setup/tests/archive.sh asks, with a key of its own
# that is thrown away. The packages themselves are made by `package` of setup/tests/lib.sh. Needs gpg; run it after a
# change here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=setup/tests/lib.sh
. ./lib.sh

export GNUPGHOME
GNUPGHOME=$(mktemp -d)
packages=$(mktemp -d)
trap 'rm -rf "$GNUPGHOME" "$packages"' EXIT
sign=(gpg --batch --quiet --faked-system-time 20250101T000000 --passphrase '')
"${sign[@]}" --quick-generate-key "Tactus set-up tests" ed25519 sign never
rm -rf mirror
mkdir mirror
gpg --armor --export >mirror/key.asc

# As Debian's: it depends on the newest kernel.
declare -A depends=([linux-image-riscv64=6.2]=$'Depends: linux-image-6.2-riscv64 (= 6.2)\n')

# suite NAME FOLDER VALID-UNTIL PACKAGE=VERSION...
suite() {
    local name=$1 folder=mirror/$2 valid=$3 one index
    shift 3
    index=main/binary-riscv64/Packages
    mkdir -p "$folder/main/binary-riscv64"
    for one in "$@"; do
        package "$packages" "${one%=*}" "${one#*=}" riscv64
        printf 'Package: %s\nVersion: %s\nArchitecture: riscv64\nMaintainer: nobody\n%sFilename: %s\nSize: %s\nSHA256: %s\nDescription: for tests\n\n' \
            "${one%=*}" "${one#*=}" "${depends[$one]-}" "$package_path" "$package_size" "$package_hash"
    done >"$folder/$index"
    {
        printf 'Origin: Tactus\nSuite: %s\nCodename: %s\nDate: Wed, 01 Jan 2025 00:00:00 UTC\n' "$name" "$name"
        [ -z "$valid" ] || printf 'Valid-Until: %s\n' "$valid"
        printf 'Architectures: riscv64\nComponents: main\nSHA256:\n %s %s %s\n' \
            "$(sha256sum <"$folder/$index" | cut -c 1-64)" "$(stat -c %s "$folder/$index")" "$index"
    } >"$GNUPGHOME/Release"
    "${sign[@]}" --clearsign --output "$folder/InRelease" "$GNUPGHOME/Release"
}

suite trixie dists/trixie "" alpha=1.1 linux-image-6.2-riscv64=6.2 linux-image-riscv64=6.2
suite trixie stale "Thu, 02 Jan 2025 00:00:00 UTC" alpha=1.1
suite trixie-updates dists/trixie-updates "" alpha=1.2
