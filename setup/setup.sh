#!/usr/bin/env bash
# `make setup` and the first step of every other `make` target: installs what is missing on this machine to build, run
# and test Tactus, as far as it is needed for a purpose. Idempotent: a second run finds everything in place, says
# nothing and installs nothing.
#
# usage: setup.sh [PURPOSE]
#
# PURPOSE is all (the default), demo-board, demo-qemu, demo-debian, lint, docs or synth. Its steps:
#
#   compilers   packages: C compiler, cmake, cpio              the tool, the Linux guest's initramfs
#   cross       package: C compiler for RISC-V                 tests, guests of your own
#   model       packages: Verilator, g++, zlib, Python         the programmable logic of the board
#   python      packages: Python's headers and environments    the fabric's tools
#   qemu        package: QEMU                                  runs on QEMU, and tests that compare with it
#   rust        Rust, and the crates that Cargo.lock pins      everything
#   scripts     package: ShellCheck                            lint of the shell scripts
#   tests       packages: Chromium, Node.js, npm, gdb, ccache  tests of the report's page, of gdb, of the fabric
#   debian      packages: e2fsprogs, an ssh client             the disk of Debian (setup/debian.sh), and logging in
#   gcc         the guests' C compiler, and lwIP, by path      guests in C
#   firmware    OpenSBI                                        every run
#   linux       Debian's kernel and the initramfs              systems with Linux
#   fabric      Yosys, nextpnr, cocotb, PeakRDL: 600 MB        lint, tests, proofs and synthesis of the fabric
#   page        Playwright, without a browser of its own       test of the report's page
#   package     maturin, mypy, ruff, pytest, pyarrow, ...      the Python package: wheel, lint, tests
#
# What is installed, why and where: docs/src/reference/setup.md.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly logs=$TACTUS_BUILD/setup

# What a first set-up takes on two cores beside downloads, measured on a bare Debian 12; "to download" where there is
# nothing yet.
case ${1:-all} in
all) steps=(compilers cross model python qemu scripts tests debian rust gcc firmware linux fabric page package) takes="8 minutes and 1.2 GB to download" ;;
demo-board) steps=(compilers model rust gcc firmware linux) takes="2 minutes and 400 MB to download" ;;
demo-qemu) steps=(compilers qemu rust gcc firmware linux) takes="2 minutes and 400 MB to download" ;;
demo-debian) steps=(compilers qemu debian rust gcc firmware linux) takes="2 minutes and 400 MB to download" ;;
lint) steps=(compilers model python scripts rust gcc fabric package) takes="4 minutes and 700 MB to download" ;;
docs) steps=(compilers rust gcc) takes="2 minutes and 300 MB to download" ;;
synth) steps=(model python fabric) takes="3 minutes and 400 MB to download" ;;
*) fail "setup.sh: there is no purpose $1" "Say all, demo-board, demo-qemu, demo-debian, lint, docs or synth." ;;
esac
readonly steps takes

wants() {
    case " ${steps[*]} " in *" $1 "*) return 0 ;; *) return 1 ;; esac
}

mkdir -p "$logs"

# One set-up of a clone at a time; the next one then finds the work done.
exec 9>"$logs/lock"
if ! flock --nonblock 9; then
    say "another set-up of this clone is running; waiting for it"
    flock 9
fi

[ -e "$logs/versions.txt" ] || say "steps: ${steps[*]}. On a bare machine they take about $takes; what is there already is not fetched again"

# Crates are fetched here so that no later step needs the network. Cargo checks them against the hashes in Cargo.lock.
fetch_crates() {
    local host target targets
    cmp -s Cargo.lock "$logs/Cargo.lock.fetched" && return
    say "fetching the crates that Cargo.lock pins"
    host=$(rustc -vV | sed -n 's/^host: //p')
    targets=("--target=$host")
    for target in $(sed -n 's/^targets *= *//p' rust-toolchain.toml | tr -d '[]",'); do
        targets+=("--target=$target")
    done
    if ! watched "fetching crates" "$logs/cargo-fetch.log" cargo fetch --locked "${targets[@]}"; then
        if grep -q 'lock file' "$logs/cargo-fetch.log"; then
            fail "Cargo.lock does not match the Cargo.toml files (above)" \
                "Run \`cargo update --workspace\`, look at what it changes, and run \`make setup\` again."
        fi
        fail "the crates could not be fetched (above; whole log: $logs/cargo-fetch.log)" \
            "Check the network, or name a mirror in Cargo's configuration ([source] replace-with); then run \`make setup\` again."
    fi
    cp Cargo.lock "$logs/Cargo.lock.fetched"
}

# The guests' texts name the source files of crates, and how long these names are moves what is behind them: for runs to
# be the same wherever Cargo keeps its crates, the compiler calls that folder by the same name everywhere. Their C
# compiler is named, too.
name_paths() {
    local folder target config=$logs/paths.toml flags="" cross
    for folder in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/; do
        [ ! -d "$folder" ] || flags+="\"--remap-path-prefix=${folder%/}=/crates\", "
    done
    for target in $(sed -n 's/^targets *= *//p' rust-toolchain.toml | tr -d '[]",'); do
        printf '[target.%s]\nrustflags = [%s]\n' "$target" "${flags%, }"
    done >"$config.new"
    cross=$(cat "$logs/gcc/cross" 2>/dev/null || true)
    [ -z "$cross" ] || printf '[env]\nTACTUS_CROSS = "%s"\n' "$cross" >>"$config.new"
    # Cargo builds again what was built with other flags, not with an older file.
    mv "$config.new" "$config"
}

# Packages of the test of the report's page, as its package-lock.json pins them. They contain no browser, and use the
# system's.
get_page_tests() {
    local source=tactus/tests/page page=$logs/page
    # Copied last: where it is the same, all is there.
    cmp -s $source/package-lock.json "$page/installed.json" && return
    say "getting Playwright, which the report's page is tested with"
    mkdir -p "$page"
    cp $source/package.json $source/package-lock.json "$page/"
    (cd "$page" && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 watched "getting Playwright" "$logs/npm.log" npm ci --ignore-scripts --no-audit --no-fund) || fail \
        "Playwright could not be had (above; whole log: $logs/npm.log)" \
        "Check the network and npm's configuration (\`npm config list\`), then run \`make setup\` again."
    cp $source/package-lock.json "$page/installed.json"
}

cd "$TACTUS_ROOT"
groups=()
for step in "${steps[@]}"; do
    case $step in compilers | cross | model | python | qemu | scripts | tests | debian) groups+=("$step") ;; esac
done
setup/packages.sh "${groups[@]}"
if wants rust; then
    setup/rust.sh
    fetch_crates
fi
! wants gcc || setup/compiler.sh
! wants gcc || setup/lwip.sh
! wants rust || name_paths
! wants firmware || setup/firmware.sh
! wants linux || setup/linux.sh
! wants fabric || setup/fabric.sh
! wants page || get_page_tests
! wants package || setup/python-package.sh

# What this clone was set up with, for reports of defects.
record() {
    ! have qemu-system-riscv64 || qemu-system-riscv64 --version | head -n 1
    ! have riscv64-unknown-elf-gcc || riscv64-unknown-elf-gcc --version | head -n 1
    local cross
    cross=$(cat "$logs/gcc/cross" 2>/dev/null || true)
    [ -z "$cross" ] || printf 'guests: %s\n' "$("${cross}gcc" --version | head -n 1)"
    ! have rustc || rustc --version
    ! have cargo || cargo --version
    ! have verilator || verilator --version
    if have dpkg-query; then
        # Absent packages are no error.
        dpkg-query -W -f '${Package} ${Version}\n' qemu-system-riscv qemu-system-misc gcc-riscv64-unknown-elf \
            binutils-riscv64-unknown-elf cpio chromium nodejs gdb-multiarch 2>/dev/null | grep ' .' || true
    fi
    cat "$TACTUS_BUILD"/{opensbi,linux}/manifest.txt 2>/dev/null | sed '/^#/d'
    # Copied there when the environment is whole.
    if [ -r "$logs/python/requirements.txt" ]; then
        "$logs/python/bin/python" --version
        sed '/^#/d; /^$/d' "$logs/python/requirements.txt"
    fi
    sed '/^#/d; /^$/d' "$logs/package/requirements.txt" 2>/dev/null || true
}
new=$(record)
if [ "$new" != "$(cat "$logs/versions.txt" 2>/dev/null)" ]; then
    printf '%s\n' "$new" >"$logs/versions.txt"
    say "done; versions are in build/setup/versions.txt"
fi
