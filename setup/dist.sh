#!/usr/bin/env bash
# `make dist`: makes the archive of a release, build/dist/tactus-VERSION-linux-x86_64.tar.zst, and the wheel of the
# Python package beside it, and tries each in an empty folder.
#
# usage: dist.sh [MODEL...]
#
# The archive has the program, all artifacts but the Linux guest's (docs/src/reference/releases.md says why), the models
# of the designs named (all without any; `none` for none), documentation, licences and notices. Expects that
# `make setup` has run. The same tree in the same place gives the same bytes: names are sorted, owners and modes fixed,
# and all times are the commit's.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$TACTUS_ROOT"

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
name=tactus-$version-linux-$(uname -m)
dist=$TACTUS_BUILD/dist
tree=$dist/$name
# Of a tree without its history: the start of time.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH

models=()
for model in "$@"; do
    models+=(--model "$model")
done

rm -rf "$tree"
mkdir -p "$tree/bin" "$tree/licences" "$tree/docs"

setup/build.sh
program=${CARGO_TARGET_DIR:-target}/release/tactus
install -m 755 "$program" "$tree/bin/tactus"

echo "dist: building the artifacts"
"$program" artifacts "$tree/artifacts" --without linux --without initramfs --without initramfs-disk "${models[@]}"

cp README.md CHANGELOG.md SECURITY.md LICENSE-APACHE LICENSE-MIT "$tree/"
if have mdbook && mdbook build docs -d "$tree/docs/book" >/dev/null 2>&1; then
    echo "dist: the book is rendered"
else
    echo "dist: mdbook is not installed; the book goes along as its pages"
fi
cp -R docs/src "$tree/docs/src"
setup/notices.py >"$tree/licences/THIRD-PARTY.md"
cp guests/freertos/port/LICENSE-FreeRTOS.md "$tree/licences/"
cp "$TACTUS_BUILD/lwip/COPYING" "$tree/licences/COPYING-lwIP"
if [ -r /usr/share/doc/opensbi/copyright ]; then
    cp /usr/share/doc/opensbi/copyright "$tree/licences/OpenSBI"
fi

# The only modes there are: programs and models, everything else, folders.
find "$tree" -type d -exec chmod 755 {} +
find "$tree" -type f ! -path "$tree/bin/*" ! -name '*.so' -exec chmod 644 {} +
find "$tree" -type f -name '*.so' -exec chmod 755 {} +

pack() {
    tar --sort=name --format=ustar --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$dist" -cf - "$name"
}
setup/wheel.sh "$tree/artifacts" "$tree/licences"
rm -f "$dist/$name".tar.*
if have zstd; then
    archive=$dist/$name.tar.zst
    pack | zstd -q -10 -o "$archive"
else
    archive=$dist/$name.tar.gz
    pack | gzip -n -9 >"$archive"
fi
rm -rf "$tree"
(cd "$dist" && sha256sum "$(basename "$archive")" | tee "$(basename "$archive").sha256")

setup/dist-test.sh "$archive"
setup/dist-test.sh
echo "dist: ${archive#"$TACTUS_ROOT/"}, $(du -h "$archive" | cut -f 1)"
