#!/usr/bin/env bash
# `make demo-debian`: Debian with systemd and FreeRTOS on one hart, on QEMU. Waits until ssh answers, works in Debian by
# ssh (apt, dpkg, fio), switches it off, and prints figures of both. Fails where a step does, or FreeRTOS has missed a
# deadline.
#
# usage: demo-debian.sh
#
# Expects that `setup/setup.sh demo-debian` and setup/build.sh have run. Works on a copy of build/debian/disk.img, so
# that each demo begins with the same disk; leaves it, the run's output and report in build/demo-debian.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$TACTUS_ROOT"

readonly debian=$TACTUS_BUILD/debian out=$TACTUS_BUILD/demo-debian
readonly tactus=${CARGO_TARGET_DIR:-target}/release/tactus
readonly log=$out/run.log
# Host time in seconds for what takes a minute.
readonly patience=1200

say() {
    printf 'demo: %s\n' "$*"
}

run=
trap '[ -z "$run" ] || kill "$run" 2>/dev/null || true' EXIT

# free_port: a port of the loopback interface on which nothing listens.
free_port() {
    local port
    for port in {2222..2322}; do
        (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    printf '%s' "$port"
}

# in_debian COMMAND...: a command in Debian's shell, as root.
in_debian() {
    ssh -i "$debian/key" -p "$port" -o UserKnownHostsFile="$debian/known_hosts" -o HostKeyAlias=debian \
        -o IdentitiesOnly=yes -o BatchMode=yes -o ConnectTimeout=60 root@127.0.0.1 "$@"
}

# show COMMAND: runs it in Debian and shows both.
show() {
    printf '\nroot@debian:~# %s\n' "$1"
    in_debian "$1" || fail "the command failed in Debian" "The run's output: $log"
}

mkdir -p "$out"
cp --sparse=always --reflink=auto "$debian/disk.img" "$out/disk.img"
port=$(free_port)
say "Debian boots beside FreeRTOS on one hart of QEMU; the run's output is in build/demo-debian/run.log"
"$tactus" run systems/debian.toml --pci-disk "$out/disk.img" --pci-net "user,tcp=$port:22" --host-limit "$patience" \
    --report "$out/report" >"$log" 2>&1 &
run=$!
say "ssh -i build/debian/key -p $port -o UserKnownHostsFile=build/debian/known_hosts -o HostKeyAlias=debian root@127.0.0.1"
until in_debian true 2>"$out/ssh.log"; do
    kill -0 "$run" 2>/dev/null || {
        tail -n 15 "$log" >&2
        fail "the run ended before ssh answered (above; all of its output: $log)"
    }
    sleep 1
done
say "ssh answers after $SECONDS s of host time"

# shellcheck disable=SC2016
show 'uname -a; . /etc/os-release; echo "$PRETTY_NAME, $(cat /etc/debian_version)"'
show 'systemctl is-system-running --wait; systemd-analyze'
show 'apt list --installed 2>/dev/null | wc -l; apt list hello bash openssh-server 2>/dev/null'
in_debian tactus-phase loaded
show 'DEBIAN_FRONTEND=noninteractive apt-get install -y /var/cache/apt/archives/hello_*.deb >/dev/null && hello'
show 'fio --name=demo --filename=/var/tmp/fio --size=32M --rw=randrw --bs=4k --direct=1 --fsync=32 --ioengine=psync | grep -E "IOPS|err="; rm /var/tmp/fio'
printf '\nroot@debian:~# systemctl poweroff\n'
in_debian systemctl poweroff || true
code=0
wait "$run" || code=$?
run=
sed -n '/^Ran /,/^Share of CPU/{/^Share of CPU/!p}' "$log"
[ "$code" -eq 0 ] || fail "the run ended with code $code" "Its output: $log"
grep -qE '^ *freertos +release_deadline_misses +0 ' "$log" || fail "FreeRTOS missed deadlines, or did not say how many (above)"
say "FreeRTOS missed no deadline; the report is build/demo-debian/report/report.html"
