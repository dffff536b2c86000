#!/usr/bin/env bash
# Tries Tactus without its clone: in an empty folder on a path with spaces, with the clone hidden where the system lets
# it (a mount namespace), the program checks, builds, runs and boots there, with the artifacts beside it alone.
#
# usage: dist-test.sh ARCHIVE    the archive of a release, which is unpacked there
#        dist-test.sh            what `cargo install --path tactus` and `tactus artifacts` put there
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

folder=$(mktemp -d "${TMPDIR:-/tmp}/tactus release XXXXXX")
trap 'rm -rf "$folder"' EXIT

if [ $# -gt 0 ]; then
    case $1 in
    *.zst) zstd -q -d -c "$1" | tar -C "$folder" -xf - ;;
    *) tar -C "$folder" -xzf "$1" ;;
    esac
    unpacked=$(find "$folder" -mindepth 1 -maxdepth 1 -type d)
else
    unpacked=$folder/installed
    cd "$TACTUS_ROOT"
    # With the clone's own target folder, where it is built already.
    watched "installing the tool" "$TACTUS_BUILD/setup/install.log" \
        cargo install --locked --target-dir "${CARGO_TARGET_DIR:-target}" --path tactus --root "$unpacked"
    # Which models go along makes no difference here; this one is soon made.
    "$unpacked/bin/tactus" artifacts "$unpacked/artifacts" --without linux --without initramfs --without initramfs-disk --model stamp
fi
what=${1:+$(basename "$1")}
what=${what:-the installed tool}
mkdir "$folder/work here"
cat >"$folder/work here/my system.toml" <<'END'
[system]
platform = "soc"
harts = 1

[[vm]]
name = "first"
image = "@hello"
memory = "4MiB"

[[vm.vcpu]]
class = "be"
END

# What is tried, in the folder, by a shell that knows nothing else.
cat >"$folder/try.sh" <<'END'
set -eu
tactus=$1/bin/tactus
cd "$2"
try() {
    name=$1
    shift
    echo "$name" >../doing
    if ! "$@" >out.txt 2>&1; then
        cat out.txt >&2
        echo "dist: $name FAILED: $*" >&2
        exit 1
    fi
}
try version "$tactus" --version
try check "$tactus" check "my system.toml"
try build "$tactus" build "my system.toml" -o "an image.bin"
try run "$tactus" run "my system.toml"
grep -q '^Trace hash' out.txt || { cat out.txt >&2; echo "dist: the run shows no hash" >&2; exit 1; }
try boot "$tactus" boot "$1/artifacts/hello" --limit 1
# The models that came along are loaded: systems of these designs without Linux.
for system in stamp io-restart hostile-accelerator manycore; do
    design=$(sed -n 's/^design = "\(.*\)"$/\1/p' "$1/artifacts/systems/$system.toml")
    [ -e "$1/artifacts/$design.so" ] || continue
    try "run with the design $design" "$tactus" run "$1/artifacts/systems/$system.toml" --platform board --limit 1s
done
try "new guest" "$tactus" new guest blink --c
# Without artifacts nothing is built behind the user's back.
mv "$1/artifacts" "$1/away"
if "$tactus" check "my system.toml" >out.txt 2>&1; then
    echo "dist: a check without artifacts passed" >&2
    exit 1
fi
if [ "$3" = hidden ]; then
    grep -q 'no clone of Tactus here, and no artifacts' out.txt || { cat out.txt >&2; exit 1; }
fi
try "check with --artifacts" "$tactus" check "my system.toml" --artifacts "$1/away"
try "check with TACTUS_ARTIFACTS" env TACTUS_ARTIFACTS="$1/away" "$tactus" check "my system.toml"
mv "$1/away" "$1/artifacts"
END

alone=(env -i "PATH=/usr/local/bin:/usr/bin:/bin" "HOME=$folder" "LANG=C.UTF-8")
if [ "${folder#"$TACTUS_ROOT"}" = "$folder" ] && unshare --mount true 2>/dev/null; then
    hide=(unshare --mount)
elif [ "${folder#"$TACTUS_ROOT"}" = "$folder" ] && unshare --mount --map-root-user true 2>/dev/null; then
    hide=(unshare --mount --map-root-user)
else
    hide=()
fi
what_it_does() {
    cat "$folder/doing" 2>/dev/null || true
}
heartbeat "trying $what" what_it_does
trap 'heartbeat_end; rm -rf "$folder"' EXIT
if [ ${#hide[@]} -gt 0 ]; then
    # shellcheck disable=SC2016
    "${alone[@]}" "${hide[@]}" sh -c 'mount -t tmpfs none "$1" && shift && exec sh "$@"' - \
        "$TACTUS_ROOT" "$folder/try.sh" "$unpacked" "$folder/work here" hidden
    echo "dist: $what checked, built, ran and booted in an empty folder, with the clone hidden"
else
    "${alone[@]}" sh "$folder/try.sh" "$unpacked" "$folder/work here" seen
    echo "dist: $what checked, built, ran and booted in an empty folder; this system does not allow to hide the clone"
fi
