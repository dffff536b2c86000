#!/usr/bin/env bash
# `make soak`: all tests again and again, those that are too long for `make test` included, until the time is over or
# one fails.
#
# usage: soak.sh MINUTES
#
# Expects that `make setup` has run. A round that has begun is finished.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$TACTUS_ROOT"

minutes=${1:-60}
case $minutes in
'' | *[!0-9]*) fail "SOAK_MINUTES=$minutes is not a whole number of minutes" "Say make soak SOAK_MINUTES=60, for example." ;;
esac

readonly log=$TACTUS_BUILD/test/soak.log
mkdir -p "$(dirname "$log")"

# try COMMAND...: runs a command; when it fails, lists the tests that failed and how to run each alone.
try() {
    if "$@" 2>&1 | tee "$log"; then
        return
    fi
    printf '\nWhat failed, and how to run it alone:\n'
    awk -v options="$options" -v also='--include-ignored ' -f setup/failed-tests.awk "$log" | sed 's/^/  /' | expand -t 64
    return 1
}

# The disk of Debian, which the long tests boot.
setup/debian.sh

# Options of cargo that the tests are run with, and are to be run with alone.
options=
rounds=0
while [ "$rounds" -eq 0 ] || [ "$SECONDS" -lt $((minutes * 60)) ]; do
    rounds=$((rounds + 1))
    printf '== soak, round %d after %d s\n' "$rounds" "$SECONDS"
    options="${board_checks[*]} "
    if ! try cargo test --quiet --locked --no-fail-fast "${board_checks[@]}" -- --include-ignored; then
        printf 'make soak: round %d FAILED after %d s\n' "$rounds" "$SECONDS"
        exit 1
    fi
    if ! try cargo test --quiet --locked --no-fail-fast -p tactus-board "${board_checks[@]}" --test fabric; then
        printf 'make soak: round %d FAILED after %d s with the models of the fabric\n' "$rounds" "$SECONDS"
        exit 1
    fi
    options=
    # The hypervisor with its own checks compiled in.
    if ! try env CARGO_PROFILE_EMBEDDED_DEBUG_ASSERTIONS=true cargo test --quiet --locked --no-fail-fast -p tactus \
        --test suite -- --include-ignored release:: hostile:: attack:: rt:: figure6:: systems:: guests::; then
        printf 'make soak: round %d FAILED after %d s with the checked hypervisor\n' "$rounds" "$SECONDS"
        exit 1
    fi
    if ! try setup/miri.sh; then
        printf 'make soak: round %d FAILED after %d s under Miri\n' "$rounds" "$SECONDS"
        exit 1
    fi
    # The fabric's blocks from another seed each round; the proofs that are too long for `make test`, once.
    if ! try fabric/flow.py test --seed "$rounds" || ! try fabric/flow.py prove --long; then
        printf 'make soak: round %d FAILED after %d s\n' "$rounds" "$SECONDS"
        exit 1
    fi
    # A random fault in each block, another one each round: a proof or a test has to notice it.
    if ! try fabric/flow.py mutate --seed "$rounds"; then
        printf 'make soak: round %d FAILED after %d s at the mutants of seed %d\n' "$rounds" "$SECONDS" "$rounds"
        exit 1
    fi
    # Random software on the virtual board, from seeds that no round had.
    seeds=$((rounds * 1000))..$((rounds * 1000 + 1000))
    if ! ROBUST_SEEDS=$seeds cargo test --quiet --locked -p tactus-board --test suite robust::; then
        printf 'make soak: round %d FAILED after %d s at the seeds %s\n' "$rounds" "$SECONDS" "$seeds"
        exit 1
    fi
    # Random systems with a hostile guest in each, the same way.
    if ! cargo run --quiet --locked --release -p tactus -- attack --random 200 --seed $((rounds * 1000)) --ms 20; then
        printf 'make soak: round %d FAILED after %d s at the random systems\n' "$rounds" "$SECONDS"
        exit 1
    fi
    # Random sets at the limit of what is admitted, job by job, the same way.
    if ! cargo run --quiet --locked --release -p tactus -- attack --random "${LIMIT_SETS:-300}" --near-limit \
        --seed $((rounds * 10000)); then
        printf 'make soak: round %d FAILED after %d s at the sets at the limit\n' "$rounds" "$SECONDS"
        exit 1
    fi
    # The scheduler under random releases, and parsers under random damage, the same way.
    seeds=$((rounds * 10000))..$((rounds * 10000 + 10000))
    if ! SCHEDULER_SEEDS=$seeds cargo test --quiet --locked -p tactus-policy --test scheduler \
        random_releases_keep; then
        printf 'make soak: round %d FAILED after %d s at the seeds %s of the scheduler\n' "$rounds" "$SECONDS" "$seeds"
        exit 1
    fi
    if ! PARSERS_SEEDS=$seeds cargo test --quiet --locked -p tactus --lib parsers::; then
        printf 'make soak: round %d FAILED after %d s at the seeds %s of the parsers\n' "$rounds" "$SECONDS" "$seeds"
        exit 1
    fi
    # Faults of each campaign, of which none may change what runs beside, the same way.
    for campaign in campaigns/*.toml; do
        name=$(basename "$campaign" .toml)
        if ! cargo run --quiet --locked --release -p tactus -- faults "$campaign" ${FAULTS:+--runs "$FAULTS"} \
            --seed "$rounds" --output "build/$name.parquet"; then
            printf 'make soak: round %d FAILED after %d s at the faults of %s, seed %d\n' "$rounds" "$SECONDS" \
                "$campaign" "$rounds"
            exit 1
        fi
    done
    # Random sets of reservations, judged by a second analysis too, the same way; and the utilisation at which both
    # refuse.
    if ! cargo build --quiet --locked --release -p tactus-planning --example verdicts ||
        ! planning/tests/model/compare.py agree 10000 "$rounds" ||
        ! planning/tests/model/compare.py accepted 100000 "$rounds" ||
        ! planning/tests/model/compare.py breakdown 1200 "$rounds"; then
        printf 'make soak: round %d FAILED after %d s at the random reservations of seed %d\n' "$rounds" "$SECONDS" "$rounds"
        exit 1
    fi
    # Litmus tests, and systems in weak memory, the same way.
    seeds=$((rounds * 1000))..$((rounds * 1000 + 20))
    if ! WEAK_MEMORY_SEEDS=$seeds cargo test --quiet --locked -p tactus-board --test suite weak_memory::; then
        printf 'make soak: round %d FAILED after %d s at the seeds %s of the litmus tests\n' "$rounds" "$SECONDS" "$seeds"
        exit 1
    fi
    seeds=$((rounds * 1000))..$((rounds * 1000 + 200))
    if ! WEAK_MEMORY_SEEDS=$seeds cargo test --quiet --locked --no-fail-fast -p tactus -- --include-ignored weak_memory::; then
        printf 'make soak: round %d FAILED after %d s at the seeds %s of weak memory\n' "$rounds" "$SECONDS" "$seeds"
        exit 1
    fi
    # The ready queue in hardware under random faults, the same way.
    seeds=$((rounds * 1000))..$((rounds * 1000 + 20))
    if ! READY_QUEUE_SEEDS=$seeds cargo test --quiet --locked -p tactus --test suite -- --ignored ready_queue::no_vcpu_is_lost; then
        printf 'make soak: round %d FAILED after %d s at the seeds %s of the ready queue\n' "$rounds" "$SECONDS" "$seeds"
        exit 1
    fi
done
printf 'make soak: %d rounds passed in %d s\n' "$rounds" "$SECONDS"
