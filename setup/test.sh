#!/usr/bin/env bash
# `make test`, `make lint`, `make fabric` and `make docs`: runs the steps of one of them, all even when one fails. It
# ends with a list of the steps, and of each failed test with the command that runs it alone. Exit code 1 when any
# failed.
#
# usage: test.sh [test|lint|fabric|docs [STEP]]
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
readonly bare=(--workspace --exclude tactus --exclude tactus-board --exclude tactus-python --target riscv64gc-unknown-none-elf --profile embedded)

# The board's own tests are short: at level 1 they compile in three quarters of the time of level 3.
readonly board_options=("${board_checks[@]}" --config profile.dev.package.tactus-board.opt-level=1)

readonly only=${2:-}
readonly logs=$TACTUS_BUILD/test

# Steps that run side by side are two lanes, each with a subshell of its own: what it has to tell is in files. The lane
# `beside` shows of its steps only how they ended, and their output where they fail.
lane=main
# Options of cargo that a step's tests are run with, and are to be run with alone.
options=
# Options of the tests' own program, the same way.
also=

# Cargo's own messages keep their colours behind the pipe to the log.
if [ -t 1 ]; then
    export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-always}
fi

# cpu_seconds: CPU seconds of all that this shell has waited for, into the variable `cpu`.
cpu_seconds() {
    times >"$logs/$lane.times"
    cpu=$(awk 'NR == 2 { split($1, u, /[ms]/); split($2, s, /[ms]/); printf "%d", u[1] * 60 + u[2] + s[1] * 60 + s[2] }' "$logs/$lane.times")
}

# goes_on NAME LOG: says every few seconds that a step goes on, while its output does not.
goes_on() {
    local begin=$SECONDS last=$SECONDS size=0 now
    while sleep 1; do
        now=$(file_bytes "$2")
        if [ "$now" -ne "$size" ]; then
            size=$now last=$SECONDS
        elif [ $((SECONDS - last)) -ge "$heartbeat_seconds" ]; then
            last=$SECONDS
            printf '\nmake %s: %s, %d s\n' "$what" "$1" $((SECONDS - begin))
        fi
    done
}

# shown LOG COMMAND...: runs a command with its output in LOG, and on the screen where this is the main lane.
shown() {
    local log=$1
    shift
    if [ $lane = main ]; then
        "$@" 2>&1 | tee "$log"
    else
        "$@" >"$log" 2>&1
    fi
}

# step NAME COMMAND...: runs a step and notes how it went.
step() {
    local name=$1 begin=$SECONDS verdict=passed before log single watcher
    shift
    if [ -n "$only" ] && [ "$only" != "$name" ]; then
        return
    fi
    log=$logs/$(printf '%s' "$name" | tr -cs 'a-zA-Z0-9\n' '-').log
    : >"$log"
    cpu_seconds
    before=$cpu
    if [ $lane = main ]; then
        printf '\n== %s\n' "$name"
        goes_on "$name" "$log" &
        watcher=$!
    fi
    if ! shown "$log" "$@"; then
        verdict=FAILED
        single=$(awk -v options="$options" -v also="$also" -f setup/failed-tests.awk "$log")
        {
            printf '%s\n' "$name${single:+:}"
            if [ -n "$single" ]; then
                printf '%s\n' "$single" | sed 's/^/  /'
            else
                printf '  the whole step\tsetup/test.sh %s "%s"\n' "$what" "$name"
            fi
        } >>"$logs/$lane.failures"
    fi
    if [ $lane = main ]; then
        kill "$watcher"
        wait "$watcher" 2>/dev/null || true
    else
        [ $verdict = passed ] || cat "$log"
        printf '\n== %s: %s, beside the other steps\n' "$name" "$verdict"
    fi
    cpu_seconds
    printf '  %-8s %-46s %4d s %5d s of CPU\n' "$verdict" "$name" $((SECONDS - begin)) $((cpu - before)) >>"$logs/$lane.results"
}

skip() {
    if [ -n "$only" ] && [ "$only" != "$1" ]; then
        return
    fi
    printf '\n== %s: skipped, %s\n' "$1" "$2"
    printf '  %-8s %s\n' skipped "$1: $2" >>"$logs/$lane.results"
}

shell_scripts() {
    shellcheck -x setup/*.sh setup/tests/*.sh fabric/coupling/*.sh guests/linux/*.sh guests/linux/init guests/linux/disk .ci/run
}

# Built in a place of its own: with other flags, everything there is would be built again each time.
interleavings() {
    RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom" \
        cargo test --quiet --locked --release -p tactus-channel -p tactus-hypervisor -p tactus-virtio --test inbox_order --test interleavings --test lock --test ownership --test relocation --test ring_order --test text_order --test run_state
}

# The hypervisor with its own checks (protocols H1, T1, V1) compiled in. Cargo keeps both builds.
checked_hypervisor() {
    CARGO_PROFILE_EMBEDDED_DEBUG_ASSERTIONS=true \
        cargo test --quiet --locked -p tactus --test suite -- release::board:: calls::board:: management::board:: \
        hostile::harts_may_take_turns
}

# The packages that `cargo test` tests, as Cargo.toml names them, without the board.
all_but_the_board() {
    local folder packages=()
    for folder in $(sed -n 's/^default-members = //p' Cargo.toml | tr -d '[],"'); do
        [ "$folder" = board ] || packages+=(-p "$(sed -n 's/^name = "\(.*\)"/\1/p' "$folder/Cargo.toml" | head -n 1)")
    done
    cargo test --quiet --locked --no-fail-fast "${packages[@]}"
}

checked_board() {
    cargo test --quiet --locked --no-fail-fast -p tactus-board "${board_options[@]}"
}

# The Python package as a clone has it: built in place, with its stubs compared with what was built. Its tests run on
# real boards; `docs/src/tutorial/python.md` is one of them.
python_package() {
    local environment=$TACTUS_BUILD/setup/package
    (
        cd python
        export VIRTUAL_ENV=$environment
        "$environment/bin/maturin" develop --quiet --locked
        "$environment/bin/stubtest" tactus
        "$environment/bin/pytest"
    )
}

python_lints() {
    local bin=$TACTUS_BUILD/setup/package/bin
    lints -p tactus-python --all-targets || return 1
    cd python && "$bin/ruff" check --quiet && "$bin/ruff" format --check --quiet && "$bin/mypy" tactus tests simulate_cluster.py
}

# The analysis of reservations beside a second, independent one, on 300 random sets.
second_analysis() {
    cargo build --quiet --locked --release -p tactus-planning --example verdicts || return 1
    planning/tests/model/compare.py agree 300
}

# Models of the whole board, and of 16 tiles, take minutes to compile.
board_with_models() {
    cargo test --quiet --locked --no-fail-fast -p tactus-board "${board_options[@]}" --test fabric
}

systems_of_tiles() {
    cargo test --quiet --locked --no-fail-fast -p tactus --test suite -- --ignored manycore::
}

# Each optional part of the hypervisor compiles without the others.
parts_alone() {
    local part
    for part in accelerators budget-modes dispatch-ahead legacy-sbi management messages migration onchip pci \
        ready-queue reservation-calls; do
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

# lints ARGUMENT...: clippy. Its findings fail with the pinned Rust; a newer one has further lints, whose findings are
# shown.
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
    step "lints, Python package" python_lints
    step "parts of the hypervisor, each alone" parts_alone
    step "lints, fabric" fabric/flow.py lint
    if have shellcheck; then
        step "lints, shell scripts" shell_scripts
    else
        skip "lints, shell scripts" "shellcheck is not installed"
    fi
    step "lists of failed tests" setup/tests/failed-tests.sh
    step "lints, prose" setup/prose.py
    step "findings of prose.py" setup/tests/prose.sh
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

# What takes the machine's other core while a long test has one. Its jobs run one after the other.
beside() {
    lane=beside
    step "tests, fabric, the quick ones" fabric/flow.py --jobs 1 test --quick
    step "proofs, fabric, the quick ones" fabric/flow.py --jobs 1 prove --quick
    step "tests, the second analysis of reservations" second_analysis
    step "tests, set-up by path" setup/tests/archive.sh
    step "tests, set-up with apt" setup/tests/packages.sh
    step "tests, set-up of Python environments" setup/tests/environments.sh
    : >"$logs/beside.ended"
}

tests() {
    step "build, hypervisor and guests" cargo build --quiet --locked "${bare[@]}"
    # Those of tactus/tests boot the board and QEMU: as many machines at a time as there are cores.
    step "tests, on this machine, the board and QEMU" all_but_the_board
    step "tests, Python package" python_package
    options="${board_options[*]} "
    step "tests, the board with its checks" checked_board
    options=
    step "tests, all interleavings" interleavings
    step "tests, checked hypervisor" checked_hypervisor
    : >"$logs/main.ended"
}

mkdir -p "$logs"
rm -f "$logs"/{main,beside}.{results,failures,ended}
case $what in
lint) lint ;;
docs) docs ;;
fabric)
    step "tests, fabric" fabric/flow.py test
    step "proofs, fabric" fabric/flow.py prove
    options="${board_options[*]} "
    step "tests, the board with the fabric's models" board_with_models
    options=
    also='--ignored '
    step "tests, systems of tiles" systems_of_tiles
    ;;
test)
    (beside) &
    (tests)
    wait
    for lane in main beside; do
        [ -e "$logs/$lane.ended" ] || fail "test.sh: the lane $lane did not get to its end (above)"
    done
    ;;
*) fail "test.sh: there is no $what" "Say test, lint, fabric or docs." ;;
esac

cat "$logs"/{main,beside}.results >"$logs/results" 2>/dev/null || true
cat "$logs"/{main,beside}.failures >"$logs/failures" 2>/dev/null || true
if [ ! -s "$logs/results" ]; then
    fail "test.sh: there is no step $only" "Say one that make $what lists at its end, in quotes."
fi
printf '\nmake %s:\n' "$what"
cat "$logs/results"
if [ -s "$logs/failures" ]; then
    printf '\nWhat failed, and how to run it alone:\n'
    expand -t 64 "$logs/failures"
    printf '\nmake %s: %d of %d steps FAILED after %d s\n' "$what" "$(grep -c '^  FAILED' "$logs/results")" \
        "$(wc -l <"$logs/results")" $SECONDS
    exit 1
fi
printf 'make %s: passed in %d s\n' "$what" $SECONDS
