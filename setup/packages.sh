#!/usr/bin/env bash
# Installs the host's packages that are missing, by what they are for:
#
#   compilers   the C compiler for this machine, and cpio for the Linux guest's initramfs
#   cross       this system's own C compiler for RISC-V
#   model       Verilator, a C++ compiler and Python, which make the models of the fabric that the board loads
#   python      further packages for the fabric's Python tools
#   qemu        QEMU
#   scripts     ShellCheck
#   tests       packages for tests only: Chromium and Node.js, gdb, ccache, zstd, e2fsprogs
#   debian      e2fsprogs and an ssh client, which make Debian's disk and log in
#
# usage: packages.sh [GROUP...]     all of them unless told
#
# What is there already in a good enough version stays as it is. The system's apt configuration is only read: where a
# suite is needed that it does not name (Debian 12 has too old a QEMU; its backports have a new one), the packages come
# by path (setup/archive.sh), or from a temporary source that is derived from the system's own.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=setup/archive.sh
. "$(dirname "${BASH_SOURCE[0]}")/archive.sh"
# shellcheck source=setup/apt.sh
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"

# The first QEMU with all that is needed: H and Sstc, and an -icount that shares time fairly between harts (8.1).
readonly qemu_minimum=8.1

scratch=
trap '[ -z "$scratch" ] || rm -rf "$scratch"' EXIT

qemu_version() {
    qemu-system-riscv64 --version 2>/dev/null | sed -n 's/.*version \([0-9.]*\).*/\1/p' | head -n 1
}

# Whether machine mode can write mstatus.MPV, as the firmware does when it passes a guest's exception to the hypervisor.
# QEMU 10.0.13 and 11.1.3 ignore the write ("do not allow mstatus MPV/GVA writes"): the machine then goes on in VS-mode
# at the hypervisor's trap vector. The program is qemu-mpv.S. Asked once of each QEMU.
qemu_writes_mpv() {
    local program known=$TACTUS_BUILD/setup/qemu-writes-mpv id
    program=$(command -v qemu-system-riscv64)
    id=$(stat -L -c '%n %s %Y' "$program")
    [ "$(cat "$known" 2>/dev/null)" != "$id" ] || return 0
    mkdir -p "$TACTUS_BUILD/setup"
    timeout 20 qemu-system-riscv64 -M virt -cpu rv64,h=true -display none -serial none -monitor none -net none \
        -bios "$TACTUS_ROOT/setup/qemu-mpv.bin" </dev/null >"$known.log" 2>&1 || return 1
    printf '%s\n' "$id" >"$known"
}

qemu_present() {
    have qemu-system-riscv64 && version_at_least "$(qemu_version)" "$qemu_minimum" && qemu_writes_mpv
}

# Whether Python can make environments, and cocotb can embed it: it needs its shared library, which comes with the
# headers.
python_present() {
    "$(system_python)" -c 'import ensurepip, os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null
}

# candidate PACKAGE: version that apt would install from the system's own sources, without epoch; empty when there is
# none.
candidate() {
    LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: //p' | sed 's/^(none)$//; s/^[0-9]*://'
}

# no_rights PACKAGE...
no_rights() {
    fail "packages are missing, and installing them takes root or sudo: $*" \
        "As root run: $TACTUS_ROOT/setup/packages.sh ${groups[*]}" "then \`make setup\` again."
}

# install_locked_qemu WHY [OPTION...]: QEMU for this release by the files that packages.lock names. Fails where it names
# none for this machine, or one is gone.
install_locked_qemu() {
    local why=$1 set package version arch suite path size hash machine files=()
    shift
    set=qemu-$(os_field VERSION_CODENAME)
    machine=$(dpkg --print-architecture)
    [ -n "$(locked "$set" | awk -v arch="$machine" '$4 == arch')" ] || return 1
    say "getting QEMU, the emulator: $why"
    while read -r _ package version arch suite path size hash; do
        case $arch in "$machine" | all) ;; *) continue ;; esac
        if ! get "$package" "$version" "$arch" "$suite" "$path" "$size" "$hash"; then
            warn "$package $version, which setup/packages.lock names, is no longer on this system's mirror"
            return 1
        fi
        files+=("$got")
    done < <(locked "$set"; locked opensbi)
    apt_install "QEMU" "$@" "${files[@]}"
}

# QEMU from the backports of this Debian release, by their index.
install_backports() {
    local release suite source
    release=$(os_field VERSION_CODENAME)
    suite=$release-backports
    source=$(apt_source "$release")
    [ -n "$source" ] || fail "QEMU $qemu_minimum or newer is needed; this system's apt sources name no archive of $release" \
        "Install a qemu-system-riscv64 of version $qemu_minimum or newer, or set TACTUS_DEBIAN_MIRROR to the" \
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
    if ! run_apt "reading the package index of $suite" update --error-on=any \
        -o Dir::Etc::sourceparts="$scratch/sources.d" -o APT::Get::List-Cleanup=0 2>/dev/null; then
        stale=$(apt_error)
        warn "the package index of $suite cannot be read: $stale"
        warn "going on with the package lists that are there"
    fi
    apt_install "QEMU of $suite" -t "$suite" -o Dir::Etc::sourceparts="$scratch/sources.d" qemu-system-riscv
}

# A QEMU of the lock file in place of one that ignores writes of mstatus.MPV. Nothing else is removed for it.
replace_qemu() {
    local cure=("Install another version, such as 10.0.2, and put its qemu-system-riscv64 first in PATH; see" \
        "docs/src/reference/setup.md, \"Other distributions\". The board needs no QEMU: \`make demo\` runs there.")
    can_install || fail "QEMU $(qemu_version) does not run guests: it ignores writes of mstatus.MPV" "${cure[@]}"
    apt_update
    other_cure=("${cure[@]}")
    install_locked_qemu "QEMU $(qemu_version) ignores writes of mstatus.MPV, and runs no guest that uses floating point" \
        --no-remove --allow-downgrades ||
        fail "QEMU $(qemu_version) does not run guests: it ignores writes of mstatus.MPV" "${cure[@]}"
}

install_qemu() {
    can_install || no_rights "qemu-system-riscv (version $qemu_minimum or newer)"
    apt_update
    local package version
    # A release whose own is new enough has packages in the lock file because its own does not run guests.
    if version_at_least "$(candidate qemu-system-riscv)" "$qemu_minimum" &&
        install_locked_qemu "this system's own ignores writes of mstatus.MPV, and runs no guest that uses floating point"; then
        return
    fi
    # Debian 13 and later have the first name, other distributions of the family the second.
    for package in qemu-system-riscv qemu-system-misc; do
        version=$(candidate "$package")
        if [ -n "$version" ] && version_at_least "$version" "$qemu_minimum"; then
            apt_install "QEMU, the emulator," "$package"
            return
        fi
    done
    [ "$(os_field ID)" = debian ] || fail "QEMU $qemu_minimum or newer is needed; this system's packages have an older one" \
        "Install a qemu-system-riscv64 of version $qemu_minimum or newer and put it in PATH," \
        "then run \`make setup\` again."
    install_locked_qemu "this system's own is older than $qemu_minimum" || install_backports
}

packages=() reasons=()

# need COMMAND PACKAGE REASON
need() {
    have "$1" && return
    packages+=("$2")
    reasons+=("$2: $3")
}

# mke2fs is where only root looks.
need_mke2fs() {
    PATH=$PATH:/usr/sbin:/sbin need mke2fs e2fsprogs "makes a Linux guest's disk"
}

# What a group lacks, as `packages` and `reasons`.
look() {
    case $1 in
    compilers)
        need cpio cpio "packs the Linux guest's initramfs"
        need cmake cmake "a crate that the board is built with looks by it what the C compiler can do"
        if ! have cc; then
            packages+=(gcc libc6-dev)
            reasons+=("gcc, libc6-dev: link the programs that run on this machine")
        fi
        ;;
    cross)
        need riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf "assembles what tests run on the board, and compiles guests of your own in C"
        ;;
    tests)
        if ! have chromium && ! have chromium-browser && ! have google-chrome; then
            packages+=(chromium)
            reasons+=("chromium: shows the report's page to its test")
        fi
        if ! have node && ! have nodejs; then
            packages+=(nodejs)
            reasons+=("nodejs: runs the test of the report's page")
        fi
        need npm npm "gets what that test is made with"
        need gdb-multiarch gdb-multiarch "debugs guests on the board in the tests of its gdb server"
        need ccache ccache "compiles what the models of the fabric's tests have in common only once"
        need zstd zstd "packs releases, and compressed kernels that a test refuses"
        need_mke2fs
        ;;
    debian)
        need_mke2fs
        need ssh openssh-client "makes the keys of Debian and logs in there"
        ;;
    scripts) need shellcheck shellcheck "looks through the shell scripts" ;;
    model)
        need verilator verilator "compiles the programmable logic into the models that the board loads"
        need g++ g++ "compiles Verilator's models"
        need "$(system_python)" python3 "runs the fabric's flow"
        if ! [ -r /usr/include/zlib.h ]; then
            packages+=(zlib1g-dev)
            reasons+=("zlib1g-dev: the models that the board loads write compressed waveforms")
        fi
        ;;
    python)
        if ! python_present; then
            packages+=(python3 python3-venv python3-dev)
            reasons+=("python3, python3-venv, python3-dev: run the fabric's tools and tests")
        fi
        ;;
    qemu) ;;
    *) fail "packages.sh: there is no group $1" "Say compilers, cross, model, python, qemu, scripts, tests or debian." ;;
    esac
}

main() {
    local group wants_qemu=
    for group in "${groups[@]}"; do
        look "$group"
        [ "$group" != qemu ] || wants_qemu=yes
    done
    if ! have apt-get; then
        [ ${#packages[@]} -eq 0 ] && { [ -z "$wants_qemu" ] || qemu_present; } && return
        fail "this system has no apt, and some of these commands are missing or too old:" \
            "qemu-system-riscv64 ($qemu_minimum or newer), riscv64-unknown-elf-gcc, cpio, cmake, cc, g++," \
            "verilator, zlib's headers, python3 (with venv and its headers), chromium, node, npm, gdb-multiarch, ccache, zstd, shellcheck, mke2fs, ssh" \
            "Install them with this system's package manager; see docs/src/reference/setup.md, \"Other distributions\"."
    fi
    if [ ${#packages[@]} -gt 0 ]; then
        can_install || no_rights "${packages[*]}"
        apt_update
        printf 'setup: installing %s\n' "${reasons[@]}"
        apt_install "${packages[*]}" "${packages[@]}"
    fi
    if [ -n "$wants_qemu" ] && ! qemu_present; then
        if ! version_at_least "$(qemu_version)" "$qemu_minimum"; then
            install_qemu
        fi
        if version_at_least "$(qemu_version)" "$qemu_minimum" && ! qemu_writes_mpv; then
            replace_qemu
        fi
        if ! qemu_present; then
            fail "QEMU is installed, but $(command -v qemu-system-riscv64 || echo qemu-system-riscv64) is not version $qemu_minimum or newer, or ignores writes of mstatus.MPV" \
                "Look for another qemu-system-riscv64 earlier in PATH ($PATH)."
        fi
    fi
}

groups=("$@")
[ ${#groups[@]} -gt 0 ] || groups=(compilers cross model python qemu scripts tests debian)
main
