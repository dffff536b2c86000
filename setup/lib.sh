# shellcheck shell=bash
# What the set-up scripts share: messages, privileges, and where this system gets its packages from.
# Sourced, never run. Needs `set -euo pipefail` in the script that sources it.

TACTUS_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
TACTUS_BUILD=${TACTUS_BUILD:-$TACTUS_ROOT/build}
# What every clone of this user shares: downloads, which are only used after their hash was checked, and, in `fabric`,
# results of the fabric's jobs (fabric/jobs.py).
TACTUS_CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tactus
export TACTUS_ROOT TACTUS_BUILD TACTUS_CACHE

# A rustup that set-up installed is not in the PATH of a shell that is older.
cargo_bin=${CARGO_HOME:-${HOME:-/root}/.cargo}/bin
if ! command -v rustup >/dev/null 2>&1; then
    PATH=$cargo_bin:$PATH
    export PATH
fi

# say TEXT...: prints a line of progress. No output means that there was nothing to do.
say() {
    printf 'setup: %s\n' "$*"
}

# warn TEXT...: something the user should know but that does not stop set-up.
warn() {
    printf 'setup: warning: %s\n' "$*" >&2
}

# fail WHAT CURE...: names what failed, then what to do about it, one line each; ends the script.
fail() {
    printf 'setup: error: %s\n' "$1" >&2
    shift
    local line
    for line in "$@"; do
        printf '       %s\n' "$line" >&2
    done
    exit 1
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# system_python: the Python that the fabric's tools run in: TACTUS_PYTHON, or the system's own, which its packages of
# headers and modules belong to, or the first in PATH.
system_python() {
    if [ -n "${TACTUS_PYTHON:-}" ]; then
        printf '%s' "$TACTUS_PYTHON"
    elif have apt-get; then
        printf '/usr/bin/python3'
    else
        printf 'python3'
    fi
}

# version_at_least HAVE WANT: compares dotted versions.
version_at_least() {
    [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]
}

# quietly LOG COMMAND...: runs a command with its output in LOG, shown only if it fails. For commands of a second or
# two.
quietly() {
    local log=$1
    shift
    mkdir -p "$(dirname "$log")"
    if ! "$@" >"$log" 2>&1; then
        tail -n 15 "$log" | sed 's/^/       | /' >&2
        return 1
    fi
}

# Time without a word where the output is no terminal: on a busy machine it is a little longer. The tests are less
# patient.
readonly heartbeat_seconds=${TACTUS_HEARTBEAT_SECONDS:-6}

# log_status LOG: the last line of a log, as the progress of a command.
log_status() {
    tail -c 400 "$1" 2>/dev/null | tr '\r' '\n' | LC_ALL=C tr -cd '[:print:]\n' | sed 's/^ *//; s/^Building \[[=> ]*\] //; s/ *$//; /^$/d' | tail -n 1 | cut -c 1-72
}

# file_bytes FILE: its size; 0 if it is not there.
file_bytes() {
    stat -c %s "$1" 2>/dev/null || echo 0
}

# file_status FILE SIZE: how much of a file has arrived.
file_status() {
    local have
    have=$(file_bytes "$1")
    printf '%d of %d kB (%d %%)' $((have / 1000)) $((($2 + 999) / 1000)) $((have * 100 / ($2 + 1)))
}

# heartbeat WHAT STATUS...: reports the running step and its duration, until `heartbeat_end`: on a terminal in one line
# that is written over, elsewhere in a line every few seconds. STATUS is a command that prints what it does now. Runs
# beside this shell and ends with it.
heartbeat() {
    local what=$1 owner=$BASHPID live='' begin last status
    shift
    # What ends a line: on a terminal the next one is written over it.
    [ ! -t 1 ] || live=$'\r'
    # The shell complains where it is ended between two commands, even before it has redirected its own output.
    { (
        trap - EXIT
        begin=$SECONDS last=$SECONDS
        while sleep 1 && kill -0 "$owner" 2>/dev/null; do
            if [ -z "$live" ]; then
                [ $((SECONDS - last)) -ge "$heartbeat_seconds" ] || continue
                last=$SECONDS
            fi
            status=$("$@")
            printf '%ssetup: %s: %d s%s%s' "${live:+$'\r\033[K'}" "$what" $((SECONDS - begin)) "${status:+, $status}" \
                "${live:-$'\n'}"
        done
    ) 8>&- 9>&- </dev/null & } 2>/dev/null
    heartbeat_process=$!
}

heartbeat_end() {
    kill "$heartbeat_process" 2>/dev/null || true
    wait "$heartbeat_process" 2>/dev/null || true
    [ ! -t 1 ] || printf '\r\033[K'
}

# watched WHAT LOG COMMAND...: as `quietly`, for longer commands: shows their progress.
watched() {
    local what=$1 log=$2 code=0
    shift 2
    mkdir -p "$(dirname "$log")"
    : >"$log"
    heartbeat "$what" log_status "$log"
    quietly "$log" "$@" || code=$?
    heartbeat_end
    return "$code"
}

# has_environment NAME REQUIREMENTS: whether the Python environment build/setup/NAME is whole and has what REQUIREMENTS
# pins.
has_environment() {
    cmp -s "$2" "$TACTUS_BUILD/setup/$1/requirements.txt"
}

# environment_is_whole NAME REQUIREMENTS: notes that all is there.
environment_is_whole() {
    cp "$2" "$TACTUS_BUILD/setup/$1/requirements.txt"
}

# make_environment NAME REQUIREMENTS WHAT: makes a Python environment in build/setup/NAME with exactly what REQUIREMENTS
# pins.
make_environment() {
    local into=$TACTUS_BUILD/setup/$1 requirements=$2 what=$3 interpreter version
    local venv_log=$TACTUS_BUILD/setup/python.log pip_log=$TACTUS_BUILD/setup/pip.log
    interpreter=$(system_python)
    version=$("$interpreter" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    version_at_least "$version" 3.11 || fail "$interpreter is version $version; Python 3.11 or newer is needed for ${what%% (*}" \
        "Install a newer Python with its venv module and headers, name it in TACTUS_PYTHON, and run \`make setup\` again."
    say "installing $what, into build/setup/$1"
    rm -rf "$into"
    watched "making the Python environment" "$venv_log" "$interpreter" -m venv "$into" || fail \
        "the Python environment could not be made (above; whole log: $venv_log)" \
        "Install Python's venv module (Debian: python3-venv), and run \`make setup\` again."
    watched "installing ${what%% (*}" "$pip_log" "$into/bin/python" -m pip install --disable-pip-version-check --no-deps \
        --requirement "$requirements" || fail "${what%% (*} could not be installed (above; whole log: $pip_log)" \
        "Check the network and pip's configuration (\`pip config list\`), then run \`make setup\` again." \
        "Without a network see docs/src/reference/setup.md, \"Without a network\"."
    quietly "$pip_log" "$into/bin/python" -m pip check || fail \
        "${requirements#"$TACTUS_ROOT/"} does not name all that is needed (above)" "Report this: it should be complete."
}

# Options of cargo for tests with the board's checks, of overflow and of the standard library's preconditions.
# Cargo.toml leaves them out where systems run on the board.
# shellcheck disable=SC2034
readonly board_checks=(--config profile.dev.package.tactus-board.overflow-checks=true
    --config profile.dev.package.tactus-board.debug-assertions=true)

# pinned KEY: the words of a key of rust-toolchain.toml.
pinned() {
    sed -n "s/^$1 *= *//p" "$TACTUS_ROOT/rust-toolchain.toml" | tr -d '[]",'
}

# as_root COMMAND...: runs a command with root's rights; returns 126 where there is no way to.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif have sudo; then
        sudo -- "$@"
    else
        return 126
    fi
}

# os_field NAME: a field of /etc/os-release (TACTUS_OS_RELEASE names another), empty when absent.
os_field() {
    (
        # shellcheck disable=SC1090,SC1091
        . "${TACTUS_OS_RELEASE:-/etc/os-release}" 2>/dev/null || true
        printf '%s' "${!1:-}"
    )
}

# apt_source SUITE: how this system's own apt reaches the archive it serves SUITE from, as the two
# deb822 fields `URIs:` and (where the system names a keyring) `Signed-By:`. Understands both formats of apt sources.
# Nothing is printed when no source offers SUITE. TACTUS_DEBIAN_MIRROR, if set, is used instead.
apt_source() {
    if [ -n "${TACTUS_DEBIAN_MIRROR:-}" ]; then
        printf 'URIs: %s\n' "$TACTUS_DEBIAN_MIRROR"
        local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
        [ ! -r $keyring ] || printf 'Signed-By: %s\n' $keyring
        return
    fi
    local etc=${TACTUS_APT_ETC:-/etc/apt} file
    for file in "$etc"/sources.list "$etc"/sources.list.d/*.list "$etc"/sources.list.d/*.sources; do
        [ -r "$file" ] || continue
        case $file in
        *.sources) awk -v suite="$1" -f "$TACTUS_ROOT/setup/apt-deb822.awk" "$file" ;;
        *) awk -v suite="$1" -f "$TACTUS_ROOT/setup/apt-oneline.awk" "$file" ;;
        esac
    done | awk '/^URIs:/ && ++n > 1 { exit } { print }'
}
