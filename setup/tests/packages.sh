#!/usr/bin/env bash
# Tests of setup/packages.sh with an apt of their own, whose indexes cannot be read and which lacks packages: what is
# there or can be had otherwise is not stopped by that, and every case has its exact words. Installs nothing;
# takes 10 s.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=setup/tests/lib.sh
. ./lib.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
readonly bin=$scratch/bin calls=$scratch/calls fails=$scratch/fails
mkdir "$bin"
for tool in bash env awk sed stat sha256sum flock mkdir rm mv cp cat sleep tail tr cut grep head sort kill dirname mktemp chmod timeout; do
    ln -s "$(command -v "$tool")" "$bin/"
done

# fake COMMAND: creates a command whose script is the standard input.
fake() {
    { echo '#!/bin/bash'; cat; } >"$bin/$1"
    chmod +x "$bin/$1"
}

# Notes its arguments without options of the kind `-o`; fails where a line of $fails is in them; what it installs is
# there from then on.
fake apt-get <<EOF2
words=
while [ \$# -gt 0 ]; do
    case \$1 in -o) shift ;; *) words+="\$1 " ;; esac
    shift
done
case \$words in *--assume-no*) echo "Need to get 1,234 kB of archives."; exit 1 ;; esac
echo "\$words" >>"$calls"
while IFS='|' read -r when why; do
    case \$words in *"\$when"*) echo "E: \$why"; exit 100 ;; esac
done <"$fails"
case \$words in
*install*.deb* | *install*-t*qemu-system*) echo 10.0.2 >"$scratch/qemu" ;;
*install*qemu-system*) sed 's/^1://; s/+.*//' "$scratch/candidate" >"$scratch/qemu" ;;
esac
case \$words in *install*cpio*) ln -s /bin/true "$bin/cpio" ;; esac
exit 0
EOF2
fake apt-cache <<EOF2
[ "\$2" = qemu-system-riscv ] || exit 0
printf '%s:\n  Installed: (none)\n  Candidate: %s\n' "\$2" "\$(cat "$scratch/candidate")"
EOF2
fake qemu-system-riscv64 <<EOF2
version=\$(cat "$scratch/qemu")
# As by its test device: these ignore writes of mstatus.MPV.
case \$*:\$version in *-bios*:*10.0.13* | *-bios*:*11.1.3*) exit 1 ;; *-bios*) exit 0 ;; esac
echo "QEMU emulator version \$version"
EOF2
fake id <<EOF2
cat "$scratch/id"
EOF2
echo 'echo amd64' | fake dpkg
for tool in riscv64-unknown-elf-gcc cmake cc verilator g++; do ln -s /bin/true "$bin/$tool"; done

export TACTUS_PACKAGES_LOCK=$scratch/packages.lock TACTUS_OS_RELEASE=$scratch/os-release TACTUS_DEBIAN_MIRROR=file:$scratch/www
export XDG_CACHE_HOME=$scratch/cache TACTUS_BUILD=$scratch/build TACTUS_DOWNLOAD_PAUSE=0 TACTUS_PYTHON=/bin/true
for name in qemu-system-riscv qemu-system-data; do
    package "$scratch/www" $name 10.0.2 riscv64
    locked_line qemu-bookworm $name 10.0.2 bookworm-backports
done | sed 's/ riscv64 / amd64 /' >"$TACTUS_PACKAGES_LOCK"
sed -n 's/^qemu-bookworm qemu-system-riscv /qemu-trixie qemu-system-riscv /p' "$TACTUS_PACKAGES_LOCK" >"$scratch/trixie"
cat "$scratch/trixie" >>"$TACTUS_PACKAGES_LOCK"
readonly file=SCRATCH/cache/tactus/debs/

# begin NAME RELEASE QEMU [FAILURE...]: a test on that release with that QEMU installed.
begin() {
    case_of "$1"
    printf 'ID=debian\nVERSION_CODENAME=%s\n' "$2" >"$TACTUS_OS_RELEASE"
    echo "$3" >"$scratch/qemu"
    echo 0 >"$scratch/id"
    case $2 in bookworm) echo "1:7.2+dfsg-7" ;; trixie) echo "1:10.0.13+ds-0" ;; *) echo "1:12.0.0+ds-1" ;; esac >"$scratch/candidate"
    shift 3
    printf '%s\n' "$@" | sed '/^$/d' >"$fails"
    : >"$calls"
    rm -rf "$XDG_CACHE_HOME" "$bin/cpio" "$TACTUS_BUILD/setup/qemu-writes-mpv"
    ln -s /bin/true "$bin/cpio"
}

run() {
    code=0
    output=$(PATH=$bin ../packages.sh "$@" 2>&1) || code=$?
    output=${output//$scratch/SCRATCH}
}

called() {
    is "$1" "$(sed "s,$scratch,SCRATCH,g; s/ $//" "$calls")" "what apt was told"
}

readonly broken='update|Failed to fetch http://mirror/Packages  File has unexpected size (9385284 != 9387120). Mirror sync in progress?'
readonly index="setup: reading the system's package index"
# shellcheck disable=SC2016
readonly goes_on='setup: warning: `apt-get update` failed: Failed to fetch http://mirror/Packages  File has unexpected size (9385284 != 9387120). Mirror sync in progress?
setup: warning: going on with the package lists that are there'

begin "what is there needs no index" bookworm 10.0.2 "$broken"
run compilers qemu
exits 0
says ""
called ""

begin "an index that cannot be read stops nothing that apt can have" bookworm 10.0.2 "$broken"
rm "$bin/cpio"
run compilers
exits 0
says "$index
$goes_on
setup: installing cpio: packs the Linux guest's initramfs
setup: cpio and what it depends on: 1,234 kB to download"
called "update
install -y --no-install-recommends cpio"

begin "an index that cannot be read, and a package that cannot be had" bookworm 10.0.2 "$broken" "cpio|Unable to locate package cpio"
rm "$bin/cpio"
run compilers
exits 1
says "$index
$goes_on
setup: installing cpio: packs the Linux guest's initramfs
setup: cpio and what it depends on: 1,234 kB to download
       | E: Unable to locate package cpio
setup: error: installing cpio failed (above; whole log: SCRATCH/build/setup/apt.log)
       Before, \`apt-get update\` failed: Failed to fetch http://mirror/Packages  File has unexpected size (9385284 != 9387120). Mirror sync in progress?
       Check the network and that \`apt-get update\` works on this system, then run \`make setup\` again.
       Behind a proxy: set http_proxy, or Acquire::http::Proxy in apt's configuration."

begin "without root's rights" bookworm 10.0.2
rm "$bin/cpio"
echo 1000 >"$scratch/id"
run compilers
exits 1
says "setup: error: packages are missing, and installing them takes root or sudo: cpio
       As root run: $(cd ../.. && pwd)/setup/packages.sh compilers
       then \`make setup\` again."

begin "Debian 12 gets QEMU by path" bookworm 7.2.0
run qemu
exits 0
says "$index
setup: getting QEMU, the emulator: this system's own is older than 8.1
setup: downloading qemu-system-riscv 10.0.2, 300 kB
setup: downloading qemu-system-data 10.0.2, 300 kB
setup: QEMU and what it depends on: 1,234 kB to download"
called "update
install -y --no-install-recommends ${file}qemu-system-riscv_10.0.2_amd64.deb ${file}qemu-system-data_10.0.2_amd64.deb"

begin "a release with a QEMU that runs guests" forky 7.2.0
run qemu
exits 0
says "$index
setup: QEMU, the emulator, and what it depends on: 1,234 kB to download"
called "update
install -y --no-install-recommends qemu-system-riscv"

begin "Debian 13, whose QEMU ignores writes of mstatus.MPV, gets another one by path" trixie 7.2.0
run qemu
exits 0
says "$index
setup: getting QEMU, the emulator: this system's own ignores writes of mstatus.MPV, and runs no guest that uses floating point
setup: downloading qemu-system-riscv 10.0.2, 300 kB
setup: QEMU and what it depends on: 1,234 kB to download"
called "update
install -y --no-install-recommends ${file}qemu-system-riscv_10.0.2_amd64.deb"

begin "such a QEMU that is installed is replaced, and nothing else removed" trixie 10.0.13
run qemu
exits 0
says "$index
setup: getting QEMU, the emulator: QEMU 10.0.13 ignores writes of mstatus.MPV, and runs no guest that uses floating point
setup: downloading qemu-system-riscv 10.0.2, 300 kB
setup: QEMU and what it depends on: 1,234 kB to download"
called "update
install -y --no-install-recommends --no-remove --allow-downgrades ${file}qemu-system-riscv_10.0.2_amd64.deb"

begin "such a QEMU, and none in the lock file for this release" forky 11.1.3
run qemu
exits 1
says "$index
setup: error: QEMU 11.1.3 does not run guests: it ignores writes of mstatus.MPV
       Install another version, such as 10.0.2, and put its qemu-system-riscv64 first in PATH; see
       docs/src/reference/setup.md, \"Other distributions\". The board needs no QEMU: \`make demo\` runs there."

mv "$scratch/www/pool/main/qemu-system-data_10.0.2_riscv64.deb" "$scratch/gone"
begin "a QEMU that is gone comes by the index of the backports" bookworm 7.2.0
run qemu
exits 0
says "$index
setup: getting QEMU, the emulator: this system's own is older than 8.1
setup: downloading qemu-system-riscv 10.0.2, 300 kB
setup: downloading qemu-system-data 10.0.2, 300 kB
setup: warning: qemu-system-data 10.0.2, which setup/packages.lock names, is no longer on this system's mirror
setup: reading the package index of bookworm-backports
setup: QEMU of bookworm-backports and what it depends on: 1,234 kB to download"
called "update
update --error-on=any
install -y --no-install-recommends -t bookworm-backports qemu-system-riscv"

begin "an index of the backports that cannot be read stops nothing that apt can have" bookworm 7.2.0 "$broken"
run qemu
exits 0
has "setup: warning: the package index of bookworm-backports cannot be read: Failed to fetch http://mirror/Packages  File has unexpected size (9385284 != 9387120). Mirror sync in progress?"
called "update
update --error-on=any
install -y --no-install-recommends -t bookworm-backports qemu-system-riscv"

begin "neither by path nor by index" bookworm 7.2.0 "$broken" "qemu|The value 'bookworm-backports' is invalid for APT::Default-Release"
run qemu
exits 1
has "setup: error: installing QEMU of bookworm-backports failed (above; whole log: SCRATCH/build/setup/apt.log)"
has "       Or install QEMU 8.1 or newer in another way, and put its qemu-system-riscv64 first in PATH."

begin "a group that there is not" bookworm 10.0.2
run compiler
exits 1
says "setup: error: packages.sh: there is no group compiler
       Say compilers, cross, model, python, qemu, scripts, tests or debian."

finish "setup/packages.sh"
