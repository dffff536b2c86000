#!/usr/bin/env bash
# `make bench` and `make bench-quick`: runs all experiments, or those named, one after the other, all of them even when
# one fails. It ends with a list of how each went and of what is not as it should be. Exit code 1 when any failed.
#
# usage: bench.sh quick|default [NAME...]
#
# The table of each is in build/bench/NAME.txt as well. Expects that `make setup` has run.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$TACTUS_ROOT"

case ${1:-} in
quick) options=(--quick) target=bench-quick ;;
default) options=() target=bench ;;
*) fail "bench.sh: there is no form ${1:-}" "Say quick or default." ;;
esac
# Other work moves figures in host time, and the machines of continuous integration have some.
if [ -n "${CI:-}" ]; then options+=(--no-host-limits); fi
shift
if [ $# -gt 0 ]; then
    names=("$@")
else
    # Those that take the shortest first, so that what fails early is seen early.
    names=(platform board mpsoc sched kerone-core spumone kerone-dpr blueio)
    for file in bench/*.toml; do
        name=$(basename "$file" .toml)
        case " ${names[*]} known-misses " in *" $name "*) ;; *) names+=("$name") ;; esac
    done
fi
readonly logs=$TACTUS_BUILD/bench
mkdir -p "$logs"

printf 'bench: building tactus\n'
cargo build --quiet --locked --release --package tactus
tactus=${CARGO_TARGET_DIR:-target}/release/tactus

results=()
remarks=()
failed=0
for name in "${names[@]}"; do
    begin=$SECONDS
    verdict=passed
    printf '\n== tactus bench %s %s\n' "$name" "${options[*]}"
    # What is to be known or done comes on stderr, in lines of a form of its own.
    if ! { "$tactus" bench "$name" "${options[@]}" --junit "$logs/$name.xml" 2>&1 >&3 | tee "$logs/$name.log" >&2; } 3>&1 | tee "$logs/$name.txt"; then
        verdict=FAILED
        failed=$((failed + 1))
    fi
    results+=("$(printf '  %-8s %-46s %4d s' "$verdict" "tactus bench $name ${options[*]}" $((SECONDS - begin)))")
    while IFS= read -r line; do remarks+=("  $line"); done < <(grep '^tactus bench ' "$logs/$name.log" || true)
done

printf '\nmake %s:\n' "$target"
printf '%s\n' "${results[@]}"
if [ ${#remarks[@]} -gt 0 ]; then
    printf '\nWhat is past its limit, or left out:\n'
    printf '%s\n' "${remarks[@]}"
fi
if [ $failed -gt 0 ]; then
    printf '\nmake %s: %d of %d experiments FAILED after %d s\n' "$target" $failed ${#results[@]} $SECONDS
    exit 1
fi
printf '\nmake %s: %d experiments passed in %d s\n' "$target" ${#results[@]} $SECONDS
