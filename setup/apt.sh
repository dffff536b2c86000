# shellcheck shell=bash
# Installs packages of this system with its own apt. An index that cannot be read stops nothing that can be had
# otherwise: apt continues with the lists that are there.
# Sourced after lib.sh.

readonly apt_log=$TACTUS_BUILD/setup/apt.log
# What else can be done when apt fails; lines for the user.
other_cure=()
# Why the package lists are not up to date; empty when they are.
stale=
updated=

# Whether root's rights can be had at all: asked before anything is downloaded.
can_install() {
    [ "$(id -u)" -eq 0 ] || have sudo
}

# run_apt WHAT ARGUMENTS...: apt-get, with its progress.
run_apt() {
    local what=$1
    shift
    watched "$what" "$apt_log" as_root env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 \
        -o DPkg::Lock::Timeout=300 "$@"
}

# apt_error: apt's last error message.
apt_error() {
    sed -n 's/^E: //p' "$apt_log" | sed 's/ \[IP: [^]]*\]//' | head -n 1
}

# apt_update: brings the package lists up to date, once; where they cannot be, those that are there have to do.
apt_update() {
    [ -z "$updated" ] || return 0
    updated=yes
    say "reading the system's package index"
    if ! run_apt "reading the system's package index" update 2>/dev/null; then
        stale=$(apt_error)
        warn "\`apt-get update\` failed: $stale"
        warn "going on with the package lists that are there"
    fi
}

# apt_install WHAT PACKAGE...: installs packages, or files of packages.
apt_install() {
    local what=$1 size
    shift
    size=$(as_root env LC_ALL=C apt-get --assume-no --no-install-recommends install "$@" 2>/dev/null |
        sed -n 's/^Need to get \(.*\) of archives.*/\1/p' || true)
    [ -z "$size" ] || say "$what and what it depends on: $size to download"
    run_apt "installing" install -y --no-install-recommends "$@" || fail \
        "installing $what failed (above; whole log: $apt_log)" \
        ${stale:+"Before, \`apt-get update\` failed: $stale"} \
        "Check the network and that \`apt-get update\` works on this system, then run \`make setup\` again." \
        "Behind a proxy: set http_proxy, or Acquire::http::Proxy in apt's configuration." "${other_cure[@]}"
}
