#!/usr/bin/env bash
# Fetches the chart library of the report's page from npm, in the version that is named here, checks its hash, and puts
# its files beside this script. To go to another version: change both lines, run this, and look at the page's tests.
#
# usage: update.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly version=1.6.32
# As `npm view uplot@VERSION dist.integrity` says.
readonly integrity=sha512-KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm pack --silent --pack-destination "$work" "uplot@$version" >/dev/null
found=sha512-$(openssl dgst -sha512 -binary "$work/uplot-$version.tgz" | base64 -w0)
if [ "$found" != "$integrity" ]; then
    echo "update.sh: uplot $version has the hash $found, and $integrity is expected" >&2
    exit 1
fi
tar -xzf "$work/uplot-$version.tgz" -C "$work"
cp "$work/package/dist/uPlot.iife.min.js" "$work/package/dist/uPlot.min.css" .
cp "$work/package/LICENSE" LICENSE-uPlot
echo "uplot $version"
