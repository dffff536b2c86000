#!/usr/bin/env bash
# `make book`: builds the book into docs/book with mdBook. Takes the mdBook in PATH where it is new enough, or else
# installs the pinned one into build/tools, once, with Cargo: that takes two minutes on two cores.
#
# usage: book.sh
#
# Expects that `make setup` has run.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$TACTUS_ROOT"

readonly pinned=0.5.4
readonly tools=$TACTUS_BUILD/tools
# What `docs/book.toml` is written for.
readonly oldest=0.5.0

# new_enough PROGRAM: whether it is an mdBook that the book can be built with.
new_enough() {
    local version
    version=$("$1" --version 2>/dev/null) || return 1
    version_at_least "${version#mdbook v}" "$oldest"
}

if have mdbook && new_enough mdbook; then
    mdbook=mdbook
else
    mdbook=$tools/bin/mdbook
    if [ "$("$mdbook" --version 2>/dev/null)" != "mdbook v$pinned" ]; then
        printf 'book: installing mdBook %s into build/tools; this takes some minutes\n' "$pinned"
        # Beside the clone's own build: a folder of its own, and only what the book needs of it.
        if ! CARGO_TARGET_DIR=$tools/target quietly "$tools/mdbook.log" cargo install mdbook --version "=$pinned" \
            --locked --force --root "$tools" --no-default-features --features search; then
            fail "mdBook $pinned could not be installed (above; whole log: $tools/mdbook.log)" \
                "Check the network, or install mdBook $oldest or newer yourself; then run \`make book\` again."
        fi
        rm -rf "$tools/target"
    fi
fi
"$mdbook" build docs
printf 'book: docs/book/index.html, by %s\n' "$("$mdbook" --version)"
