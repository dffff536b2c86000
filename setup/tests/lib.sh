# shellcheck shell=bash
# Helpers of the tests of set-up: a mirror of their own on the loopback interface, and comparison of messages.
# Sourced.

# package FOLDER NAME VERSION ARCHITECTURE: makes a package's file in the pool below a folder, always the same bytes;
# sets package_path, package_size and package_hash.
package() {
    package_path=pool/main/$2_$3_$4.deb
    package_size=300000
    mkdir -p "$1/pool/main"
    head -c $package_size < <(yes "$2 $3 $4") >"$1/$package_path"
    package_hash=$(sha256sum <"$1/$package_path" | cut -c 1-64)
}

# locked_line SET NAME VERSION SUITE: a line of packages.lock for a package that `package` made.
locked_line() {
    printf '%s %s %s riscv64 %s %s %s %s\n' "$1" "$2" "$3" "$4" "$package_path" "$package_size" "$package_hash"
}

tests=0 failures=0
# How the last `run` went.
code=0 output=

# case_of NAME: begins a test of that name.
case_of() {
    name=$1
    tests=$((tests + 1))
}

wrong() {
    failures=$((failures + 1))
    printf 'FAILED: %s: %s\n' "$name" "$1" >&2
    shift
    [ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/        | /' >&2
}

# exits CODE: the last `run` ended with it.
exits() {
    [ "$code" = "$1" ] || wrong "exit code $code in place of $1" "$output"
}

# says TEXT: the output of the last `run` was exactly this, except the port and the speed, which differ between runs.
says() {
    # On a busy machine bash says this of a heartbeat that is ended before it has begun.
    local said
    said=$(sed '/: wait_for: No record of process [0-9]*$/d' <<<"$output")
    [ "$said" = "$1" ] || wrong "said otherwise" "$(diff <(printf '%s\n' "$1") <(printf '%s\n' "$said") || true)"
}

# has TEXT: the output of the last `run` contains this line.
has() {
    grep -qxF -- "$1" <<<"$output" || wrong "did not say: $1" "$output"
}

# has_like EXPRESSION
has_like() {
    grep -qxE -- "$1" <<<"$output" || wrong "said nothing like: $1" "$output"
}

# is WANTED FOUND WHAT
is() {
    [ "$1" = "$2" ] || wrong "$3 is \"$2\" in place of \"$1\""
}

# finish WHAT: ends the tests.
finish() {
    printf '%s: %d tests, %d failures\n' "$1" $tests $failures
    [ $failures -eq 0 ]
}
