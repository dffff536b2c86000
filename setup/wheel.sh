#!/usr/bin/env bash
# Makes the wheel of the Python package, build/dist/tactus-VERSION-cp311-abi3-PLATFORM.whl, and tries it in an empty
# folder.
#
# usage: wheel.sh ARTIFACTS LICENCES
#
# ARTIFACTS is what `tactus artifacts` has made; the wheel has it, so that it needs nothing else. LICENCES holds the
# notices of the software of others in it. Expects that `make setup` has run. The same tree in the same place gives the
# same bytes.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$TACTUS_ROOT"

readonly artifacts=$1 licences=$2
# What a worker of a cluster is sent.
readonly wheel_bytes_max=60000000
readonly environment=$TACTUS_BUILD/setup/package dist=$TACTUS_BUILD/dist wheel_log=$TACTUS_BUILD/setup/wheel.log
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
rm -f "$dist"/tactus-*.whl
mkdir -p "$dist"

watched "building the wheel" "$wheel_log" "$environment/bin/maturin" build --release --locked --manifest-path python/Cargo.toml --out "$folder/plain" ||
    fail "the wheel could not be built (above; whole log: $wheel_log)" "\`make setup\` installs what the build needs."
quietly "$wheel_log" "$environment/bin/wheel" unpack --dest "$folder" "$folder"/plain/*.whl
tree=$(find "$folder" -mindepth 1 -maxdepth 1 -name 'tactus-*')
cp -R "$artifacts" "$tree/tactus/artifacts"
info=$(find "$tree" -mindepth 1 -maxdepth 1 -name '*.dist-info')
mkdir -p "$info/licenses"
cp -R LICENSE-APACHE LICENSE-MIT "$licences"/* "$info/licenses/"
quietly "$wheel_log" "$environment/bin/wheel" pack --dest-dir "$dist" "$tree"
wheel=$(find "$dist" -name 'tactus-*.whl')
[ "$(file_bytes "$wheel")" -le $wheel_bytes_max ] ||
    fail "the wheel has $(file_bytes "$wheel") bytes, and is to have at most $wheel_bytes_max" "Fewer models make it smaller: dist.sh MODEL..."
(cd "$dist" && sha256sum "$(basename "$wheel")" | tee "$(basename "$wheel").sha256")

# In an environment of its own, without an index: the wheel is all there is.
try() {
    "$(system_python)" -m venv "$folder/environment"
    "$folder/environment/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
    mkdir "$folder/work here"
    cd "$folder/work here"
    env -i "HOME=$folder" LANG=C.UTF-8 "$folder/environment/bin/python" - <<'END'
import pathlib

import tactus

folder = tactus.artifacts()
assert folder is not None and folder.parent == pathlib.Path(tactus.__file__).parent, folder
system = tactus.System.from_toml(folder / "systems" / "hello.toml")
assert system.check() == [], system.check()
board = tactus.Board(system)
assert board.run().detail == "all VMs are off"
# The models that came along are loaded.
for name in ["stamp", "io-restart", "hostile-accelerator"]:
    system = tactus.System.from_toml(folder / "systems" / f"{name}.toml")
    if (folder / f"{system['fabric.design']}.so").exists():
        tactus.Board(system, profile="soc").run("20ms")
END
}
watched "trying the wheel" "$wheel_log" try || fail "the wheel does not work in an empty folder (above)" "Report this."
echo "dist: ${wheel#"$TACTUS_ROOT/"}, $(du -h "$wheel" | cut -f 1), checked and ran in an empty folder"
