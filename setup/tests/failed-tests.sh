#!/usr/bin/env bash
# Tests failed-tests.awk, by which `make test` lists what failed and how to run it alone, on what cargo 1.95 and
# fabric/flow.py print. Run by `make test` and `make lint`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

wrong=0

# expect WHAT LISTED: fails unless the output of standard input is listed so.
expect() {
    local listed
    listed=$(awk -f ../failed-tests.awk)
    if [ "$listed" != "$2" ]; then
        printf 'failed-tests.awk, %s: lists\n%s\nin place of\n%s\n' "$1" "$listed" "$2" >&2
        wrong=1
    fi
}

tab=$'\t'

expect "nothing failed" "" <<'LOG'

running 3 tests
...
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.62s

LOG

# The output of `bad` looks like a list. The program `crash` ends without one.
expect "cargo test --no-fail-fast" "tests::bad${tab}cargo test --locked -p fail --lib -- --exact tests::bad
tests::worse${tab}cargo test --locked -p fail --lib -- --exact tests::worse
-p fail --test crash${tab}cargo test --locked -p fail --test crash
it_fails${tab}cargo test --locked -p fail --test more -- --exact it_fails
src/lib.rs - add (line 2)${tab}cargo test --locked -p fail --doc -- --exact 'src/lib.rs - add (line 2)'" <<'LOG'

running 3 tests
. 1/3
tests::bad --- FAILED
tests::worse --- FAILED

failures:

---- tests::bad stdout ----
failures:
    no test

thread 'tests::bad' (26556) panicked at src/lib.rs:11:52:
it is bad

---- tests::worse stdout ----

thread 'tests::worse' (26558) panicked at src/lib.rs:13:18:
assertion `left == right` failed
  left: 1
 right: 2


failures:
    tests::bad
    tests::worse

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.62s

error: test failed, to rerun pass `-p fail --lib`

running 1 test
error: test failed, to rerun pass `-p fail --test crash`

Caused by:
  process didn't exit successfully: `target/debug/deps/crash-2efaa23e877ae302 --quiet` (signal: 6, SIGABRT: process abort signal)

running 2 tests
. 1/2
it_fails --- FAILED

failures:

---- it_fails stdout ----

thread 'it_fails' (26577) panicked at tests/more.rs:2:17:
explicit panic


failures:
    it_fails

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.82s

error: test failed, to rerun pass `-p fail --test more`

running 1 test
src/lib.rs - add (line 2) --- FAILED

failures:

---- src/lib.rs - add (line 2) stdout ----
Test executable failed (exit status: 101).


failures:
    src/lib.rs - add (line 2)

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.45s

error: doctest failed, to rerun pass `-p fail --doc`
error: 4 targets failed:
    `-p fail --lib`
    `-p fail --test crash`
    `-p fail --test more`
    `-p fail --doc`
LOG

listed=$(printf 'failures:\n    long\n\nerror: test failed, to rerun pass %s\n' "\`--lib\`" |
    awk -v also='--include-ignored ' -f ../failed-tests.awk)
if [ "$listed" != "long${tab}cargo test --locked --lib -- --include-ignored --exact long" ]; then
    printf 'failed-tests.awk, of make soak: lists\n%s\n' "$listed" >&2
    wrong=1
fi

# Colours, as on a terminal.
expect "cargo test on a terminal" "it_fails${tab}cargo test --locked -p fail --test more -- --exact it_fails" < <(
    # shellcheck disable=SC2016
    printf 'failures:\n    it_fails\n\n\033[1m\033[91merror\033[0m: test failed, to rerun pass `-p fail --test more`\n'
)

expect "something does not compile" "" <<'LOG'
error[E0425]: cannot find value `x` in this scope
error: could not compile `fail` (lib test) due to 1 previous error
LOG

expect "fabric/flow.py" "test stamp test_stamp${tab}fabric/flow.py test stamp
test stamp test_stamp: counts_cycles${tab}fabric/flow.py test stamp
lint stamp slang${tab}fabric/flow.py lint stamp
lint design io verilator${tab}fabric/flow.py lint
prove io_port io_port mutant0${tab}fabric/flow.py prove io_port" <<'LOG'
  passed   test synchroniser test_synchroniser                         11.2 s
  FAILED   test stamp test_stamp                                        4.0 s
           failed: counts_cycles
  FAILED   lint stamp slang                                             0.4 s
  FAILED   lint design io verilator                                     1.4 s
  FAILED   prove io_port io_port mutant0                              101.0 s
           "a fault" does not make it fail
fabric test: 5 jobs, 4 failed, 101.1 s
LOG

[ "$wrong" -eq 0 ]
