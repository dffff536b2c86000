#!/usr/bin/env bash
# Installs the host's packages that are missing: QEMU with OpenSBI, which the virtual board starts as well, the C compiler for
# RISC-V, cpio, and for the fabric Verilator, a C++ compiler and Python.
#
# What is there already in a good enough version stays as it is. The system's apt configuration is only read: where a
# suite is needed that it does not name (Debian 12 has too old a QEMU; its backports have a new one), a temporary
# source is derived from the system's own.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The first QEMU with all that is needed: H and Sstc, and an -icount that shares time fairly between harts (8.1).
readonly qemu_minimum=8.1
readonly logs=$TACTUS_BUILD/setup

scratch=
trap '[ -z "$scratch" ] || rm -rf "$scratch"' EXIT

qemu_version() {
    qemu-system-riscv64 --version 2>/dev/null | sed -n 's/.*version \([0-9.]*\).*/\1/p' | head -n 1
}

qemu_present() {
    have qemu-system-riscv64 && version_at_least "$(qemu_version)" "$qemu_minimum"
}

# Whether QEMU finds an OpenSBI for `-bios default`: Debian packages that on its own, QEMU's own builds bring it. QEMU
# reads the firmware before it runs anything.
firmware_present() {
    echo quit | timeout 20 qemu-system-riscv64 -M virt -m 64M -bios default -S -display none -serial none \
        -monitor stdio >/dev/null 2>&1
}

# Whether Python can make environments, and cocotb can embed it: it needs its shared library, which comes with the headers.
python_present() {
    "$(system_python)" -c 'import ensurepip, os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null
}

# candidate PACKAGE: version that apt would install from the system's own sources, without epoch; empty when there is none.
candidate() {
    apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: //p' | sed 's/^(none)$//; s/^[0-9]*://'
}

# no_rights PACKAGE...
no_rights() {
    fail "packages are missing, and installing them takes root or sudo: $*" \
        "As root run: $TACTUS_ROOT/setup/packages.sh" "then \`make setup\` again."
}

# What else can be done when apt fails; a line for the user.
other_cure=()

# apt_get WHAT-FOR ARGUMENTS...
apt_get() {
    local what=$1
    shift
    quietly "$logs/apt.log" as_root env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 \
        -o DPkg::Lock::Timeout=300 "$@" || fail \
        "$what failed (above; whole log: $logs/apt.log)" \
        "Check the network and that \`apt-get update\` works on this system, then run \`make setup\` again." \
        "Behind a proxy: set http_proxy, or Acquire::http::Proxy in apt's configuration." "${other_cure[@]}"
}

updated=
update() {
    [ -z "$updated" ] || return 0
    say "reading the system's package index"
    apt_get "\`apt-get update\`" update
    updated=yes
}

# Whether root's rights can be had at all: asked before anything is downloaded.
can_install() {
    [ "$(id -u)" -eq 0 ] || have sudo
}

# QEMU from the backports of this Debian release.
install_backports() {
    local release suite source
    release=$(os_field VERSION_CODENAME)
    suite=$release-backports
    source=$(apt_source "$release")
    [ -n "$source" ] || fail "QEMU $qemu_minimum or newer is needed; this system's apt sources name no archive of $release" \
        "Install a qemu-system-riscv64 of version $qemu_minimum or newer (and OpenSBI), or set TACTUS_DEBIAN_MIRROR to the" \
        "URI of a Debian archive; then run \`make setup\` again."
    scratch=$(mktemp -d)
    # apt drops its privileges to read these.
    chmod 755 "$scratch"
    mkdir "$scratch/sources.d"
    cp /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources "$scratch/sources.d/" 2>/dev/null || true
    printf 'Types: deb\nSuites: %s\nComponents: main\n%s\n' "$suite" "$source" >"$scratch/sources.d/tactus-backports.sources"
    other_cure=("Or install QEMU $qemu_minimum or newer in another way, and put its qemu-system-riscv64 first in PATH.")
    say "reading the package index of $suite"
    # Without clean-up this leaves the other sources' lists alone; the new list goes at the system's next update.
    apt_get "reading the package index of $suite from this system's Debian mirror" update --error-on=any \
        -o Dir::Etc::sourceparts="$scratch/sources.d" -o APT::Get::List-Cleanup=0
    say "installing qemu-system-riscv and opensbi from $suite: the emulator, version $qemu_minimum or newer, and its firmware"
    apt_get "installing QEMU from $suite" install -y --no-install-recommends -t "$suite" \
        -o Dir::Etc::sourceparts="$scratch/sources.d" qemu-system-riscv opensbi
}

install_qemu() {
    can_install || no_rights "qemu-system-riscv (version $qemu_minimum or newer), opensbi"
    update
    local package version
    # Debian 13 and later have the first name, other distributions of the family the second.
    for package in qemu-system-riscv qemu-system-misc; do
        version=$(candidate "$package")
        if [ -n "$version" ] && version_at_least "$version" "$qemu_minimum"; then
            say "installing $package and opensbi: the emulator and its firmware"
            apt_get "installing QEMU" install -y --no-install-recommends "$package" opensbi
            return
        fi
    done
    [ "$(os_field ID)" = debian ] || fail "QEMU $qemu_minimum or newer is needed; this system's packages have an older one" \
        "Install a qemu-system-riscv64 of version $qemu_minimum or newer with its OpenSBI firmware and put it in PATH," \
        "then run \`make setup\` again."
    install_backports
}

main() {
    local packages=() reasons=()
    # need COMMAND PACKAGE REASON
    need() {
        have "$1" && return
        packages+=("$2")
        reasons+=("$2: $3")
    }
    need riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf "compiles the FreeRTOS kernel and the Linux guest's own programs, which are written in C"
    need cpio cpio "packs the Linux guest's initramfs"
    need verilator verilator "compiles the fabric's logic into the models that are tested"
    need g++ g++ "compiles Verilator's models"
    if ! [ -r /usr/include/zlib.h ]; then
        packages+=(zlib1g-dev)
        reasons+=("zlib1g-dev: the models that the board loads write compressed waveforms")
    fi
    if ! python_present; then
        packages+=(python3 python3-venv python3-dev)
        reasons+=("python3, python3-venv, python3-dev: run the fabric's tools and tests")
    fi
    need cc gcc "links the programs that run on this machine"
    if ! have apt-get; then
        qemu_present && firmware_present && [ ${#packages[@]} -eq 0 ] && return
        fail "this system has no apt, and some of these commands are missing or too old:" \
            "qemu-system-riscv64 ($qemu_minimum or newer, with OpenSBI), riscv64-unknown-elf-gcc, cpio, cc, g++," \
            "verilator, zlib's headers, python3 (with venv and its headers)" \
            "Install them with this system's package manager; see docs/src/reference/setup.md, \"Other distributions\"."
    fi
    [ "${#packages[@]}" -eq 0 ] || [ "${packages[-1]}" != gcc ] || packages+=(libc6-dev)

    if [ ${#packages[@]} -gt 0 ]; then
        can_install || no_rights "${packages[*]}"
        update
        printf 'setup: installing %s\n' "${reasons[@]}"
        apt_get "installing ${packages[*]}" install -y --no-install-recommends "${packages[@]}"
    fi
    if ! qemu_present || ! firmware_present; then
        install_qemu
        if ! qemu_present || ! firmware_present; then
            fail "QEMU is installed, but $(command -v qemu-system-riscv64 || echo qemu-system-riscv64) is not version $qemu_minimum or newer or has no OpenSBI" \
                "Look for another qemu-system-riscv64 earlier in PATH ($PATH)."
        fi
    fi
}

main
