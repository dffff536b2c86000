#!/usr/bin/env bash
# Builds the tool `tactus`, and beside it the models of designs of the fabric, so that neither waits for the other. Says
# what is compiled; silent where nothing is. Warnings and errors of the compiler are shown whole.
#
# usage: build.sh [DESIGN...]
#
# Expects that `make setup` has run. Hypervisor and guests are built by `tactus` itself, as far as a system needs them.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$TACTUS_ROOT"

readonly logs=$TACTUS_BUILD/setup
readonly cargo=${CARGO:-cargo} log=$logs/build.log model_log=$logs/model.log
mkdir -p "$logs"

[ -x "${CARGO_TARGET_DIR:-target}/release/tactus" ] ||
    printf 'build: the tool, and models of: %s; the first time this takes about 3 minutes on two cores\n' "${*:-none}"

# Of what Cargo says about its progress, the last is shown meanwhile.
export CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=90

# messages LOG: what the compiler had to say; not what it did.
messages() {
    tr '\r' '\n' <"$1" | sed 's/\x1b\[K//g' | grep -vE '^ *(Compiling|Building|Finished|Fresh|Dirty|Downloaded|Downloading|Blocking) |^ *$' || true
}

models=
if [ $# -gt 0 ]; then
    fabric/flow.py model "$@" >/dev/null 2>"$model_log" &
    models=$!
    # With this script.
    trap 'kill "$models" 2>/dev/null || true' EXIT
fi

: >"$log"
heartbeat "building tactus" log_status "$log"
built=yes
"$cargo" build --release --locked --package tactus 2>"$log" || built=
heartbeat_end
messages "$log" >&2
[ -n "$built" ] || fail "tactus could not be built (above; whole log: $log)" "\`make setup\` installs what the build needs."

if [ -n "$models" ]; then
    heartbeat "building the model" log_status "$model_log"
    built=yes
    wait "$models" || built=
    heartbeat_end
    trap - EXIT
    if [ -z "$built" ]; then
        cat "$model_log" >&2
        fail "the model of the programmable logic could not be built (above)" "\`make setup\` installs what the build needs."
    fi
fi
