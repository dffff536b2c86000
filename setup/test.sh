#!/usr/bin/env bash
# `make test`, `make lint` and `make docs`: runs the steps of one of them, all of them even when one fails. It ends with
# a list of the steps, and of each failed test with the command that runs it alone. Exit code 1 when any failed.
#
# usage: test.sh [test|lint|docs [STEP]]
#
# With STEP, as the list calls it, only that one. The output of each step is in build/test as well.
# Expects that `make setup` has run.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# What set-up has installed is not passed over.
export TACTUS_PAGE_TESTS=required
cd "$TACTUS_ROOT"

readonly what=${1:-test}
# Hypervisor and guests, and what they share with the host's programs, as they are built for the target.
readonly bare=(--workspace --exclude tactus --exclude tactus-board --target riscv64gc-unknown-none-elf --profile embedded)

readonly only=${2:-}
readonly logs=$TACTUS_BUILD/test

results=()
# What failed and how to run it alone, a line each with a tab between.
failures=()
failed=0

# Cargo's own messages keep their colours behind the pipe to the log.
if [ -t 1 ]; then
    export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-always}
fi

# cpu_seconds: CPU seconds of all that this script has waited for, into the variable `cpu`.
cpu_seconds() {
    times >"$logs/times"
    cpu=$(awk 'NR == 2 { split($1, u, /[ms]/); split($2, s, /[ms]/); printf "%d", u[1] * 60 + u[2] + s[1] * 60 + s[2] }' "$logs/times")
}

# step NAME COMMAND...: runs a step and notes how it went.
step() {
    local name=$1 begin=$SECONDS verdict=passed before log single
    shift
    if [ -n "$only" ] && [ "$only" != "$name" ]; then
        return
    fi
    mkdir -p "$logs"
    log=$logs/$(printf '%s' "$name" | tr -cs 'a-zA-Z0-9\n' '-').log
    cpu_seconds
    before=$cpu
    printf '\n== %s\n' "$name"
    if ! "$@" 2>&1 | tee "$log"; then
        verdict=FAILED
        failed=$((failed + 1))
        single=$(awk -f setup/failed-tests.awk "$log")
        failures+=("$name${single:+:}")
        if [ -n "$single" ]; then
            while IFS= read -r line; do failures+=("  $line"); done <<<"$single"
        else
            failures+=("$(printf '  the whole step\tsetup/test.sh %s "%s"' "$what" "$name")")
        fi
    fi
    cpu_seconds
    results+=("$(printf '  %-8s %-46s %4d s %5d s of CPU' "$verdict" "$name" $((SECONDS - begin)) $((cpu - before)))")
}

skip() {
    if [ -n "$only" ] && [ "$only" != "$1" ]; then
        return
    fi
    printf '\n== %s: skipped, %s\n' "$1" "$2"
    results+=("$(printf '  %-8s %s' skipped "$1: $2")")
}

shell_scripts() {
    shellcheck -x setup/*.sh setup/tests/*.sh fabric/coupling/*.sh guests/linux/*.sh guests/linux/init .ci/run
}

# Built in a place of its own: with other flags, everything there is would be built again each time.
interleavings() {
    RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom" \
        cargo test --quiet --locked --release -p tactus-channel -p tactus-hypervisor --test interleavings --test lock --test ownership --test relocation --test run_state
}

# The hypervisor with its own checks (protocols H1, T1, V1) compiled in. Cargo keeps both builds.
checked_hypervisor() {
    CARGO_PROFILE_EMBEDDED_DEBUG_ASSERTIONS=true \
        cargo test --quiet --locked -p tactus --test suite -- release:: hostile::harts_may_take_turns
}

# Each optional part of the hypervisor compiles without the others.
parts_alone() {
    local part
    for part in accelerators legacy-sbi messages migration ready-queue reservation-calls; do
        cargo check --quiet --locked --profile embedded --target riscv64gc-unknown-none-elf -p tactus-hypervisor \
            --bin tactus-hypervisor --no-default-features --features "$part" || return 1
    done
}

# Every relative link of the book leads to a file, and every page is in its table of contents.
check_links() {
    local page target broken=0 summary=docs/src/SUMMARY.md
    for page in README.md "$summary"; do
        [ -r "$page" ] || { echo "$page: not there" >&2; return 1; }
    done
    while IFS=: read -r page target; do
        target=${target%%#*}
        case $target in '' | *://* | mailto:*) continue ;; esac
        if [ ! -e "$(dirname "$page")/$target" ]; then
            echo "$page: link to $target, which is not there" >&2
            broken=1
        fi
    done < <(find README.md docs/src -name '*.md' -exec grep -HoE '\]\([^)[:space:]]+' {} + | sed 's/:](/:/')
    while read -r page; do
        if ! grep -qF "(${page#docs/src/})" "$summary"; then
            echo "$page: not in $summary, and so not in the book" >&2
            broken=1
        fi
    done < <(find docs/src -name '*.md' ! -path "$summary")
    return $broken
}

# lints ARGUMENT...: clippy. Its findings fail with the pinned Rust; a newer one has further lints, whose findings are shown.
lints() {
    local deny=(-D warnings) channel
    channel=$(pinned channel)
    if [[ $(rustc --version) != "rustc $channel "* ]]; then
        echo "$(rustc --version) is not the pinned $channel: what its lints find is shown and does not fail"
        deny=()
    fi
    cargo clippy --quiet --locked "$@" -- "${deny[@]}"
}

lint() {
    step "formatting" cargo fmt --all --check
    step "lints, host" lints --all-targets
    step "lints, hypervisor and guests" lints "${bare[@]}"
    step "parts of the hypervisor, each alone" parts_alone
    step "lints, fabric" fabric/flow.py lint
    if have shellcheck; then
        step "lints, shell scripts" shell_scripts
    else
        skip "lints, shell scripts" "shellcheck is not installed"
    fi
    step "lists of failed tests" setup/tests/failed-tests.sh
    step "lints, prose" setup/prose.py
}

docs() {
    step "documentation, host" cargo doc --quiet --locked --no-deps
    step "documentation, hypervisor and guests" cargo doc --quiet --locked --no-deps --lib "${bare[@]}"
    step "documentation, links" check_links
    if have mdbook; then
        step "documentation, book" mdbook build docs
    else
        skip "documentation, book" "mdbook is not installed"
    fi
}

case $what in
lint) lint ;;
docs) docs ;;
test)
    lint
    step "build, hypervisor and guests" cargo build --quiet --locked "${bare[@]}"
    # Those of tactus/tests boot the board and QEMU: as many machines at a time as there are cores.
    step "tests, on this machine, the board and QEMU" cargo test --quiet --locked --no-fail-fast
    step "tests, all interleavings" interleavings
    step "tests, checked hypervisor" checked_hypervisor
    step "tests, set-up by path" setup/tests/archive.sh
    step "tests, set-up with apt" setup/tests/packages.sh
    step "tests, fabric" fabric/flow.py test
    step "proofs, fabric" fabric/flow.py prove
    docs
    ;;
*) fail "test.sh: there is no $what" "Say test, lint or docs." ;;
esac

if [ ${#results[@]} -eq 0 ]; then
    fail "test.sh: there is no step $only" "Say one that make $what lists at its end, in quotes."
fi
printf '\nmake %s:\n' "$what"
printf '%s\n' "${results[@]}"
if [ $failed -gt 0 ]; then
    printf '\nWhat failed, and how to run it alone:\n'
    printf '%s\n' "${failures[@]}" | expand -t 64
    printf '\nmake %s: %d of %d steps FAILED after %d s\n' "$what" $failed ${#results[@]} $SECONDS
    exit 1
fi
printf 'make %s: passed in %d s\n' "$what" $SECONDS
