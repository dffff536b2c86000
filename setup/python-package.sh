#!/usr/bin/env bash
# Gets what the Python package (`python/`) is built, linted and tested with: a Python environment in
# build/setup/package, with maturin, ruff, mypy, pytest, and the libraries that take the package's tables, at the
# versions that setup/requirements-package.txt pins.
#
# Python itself is setup/packages.sh's. pip takes the index that it is configured with.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly wanted=$TACTUS_ROOT/setup/requirements-package.txt

if ! has_environment package "$wanted"; then
    make_environment package "$wanted" \
        "what the Python package is made with (670 MB): maturin, mypy, ruff, pytest, pyarrow, pandas, polars"
    environment_is_whole package "$wanted"
fi
