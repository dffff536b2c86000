#!/usr/bin/env bash
# Tests of setup/archive.sh against a mirror of its own on the loopback interface, which serves wrong sizes, damaged,
# truncated and stale files and breaks connections: every case with its exact words. Needs python3 and apt; takes 30 s.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=setup/tests/lib.sh
. ./lib.sh

scratch=$(mktemp -d)
mirror_process=
trap '[ -z "$mirror_process" ] || kill "$mirror_process"; rm -rf "$scratch"' EXIT
readonly www=$scratch/www faults=$scratch/faults log=$scratch/log manifest=$scratch/manifest
cp -r mirror "$www"
package "$www" linux-image-6.2-riscv64 6.2 riscv64
package "$www" alpha 1.1 riscv64
package "$www" alpha 1.2 riscv64
package "$www" alpha 1.0 riscv64
: >"$log"
./mirror.py "$www" "$faults" "$log" >"$scratch/port" &
mirror_process=$!
until [ -s "$scratch/port" ]; do sleep 0.1; done
port=$(cat "$scratch/port")

export TACTUS_PACKAGES_LOCK=$scratch/packages.lock TACTUS_APT_ETC=$scratch/etc TACTUS_OS_RELEASE=$scratch/os-release
export XDG_CACHE_HOME=$scratch/cache TACTUS_BUILD=$scratch/build TACTUS_DOWNLOAD_PAUSE=0
export APT_CONFIG=$scratch/apt.conf
# The system's proxies are not for the loopback interface.
unset TACTUS_DEBIAN_MIRROR http_proxy https_proxy ALL_PROXY all_proxy
mkdir -p "$scratch/etc/sources.list.d"
printf 'Dir::Etc::Main "/nowhere";\nDir::Etc::Parts "/nowhere";\nAcquire::http::Timeout "2";\nAcquire::http::Proxy "DIRECT";\n' >"$APT_CONFIG"
printf 'ID=debian\nVERSION_CODENAME=trixie\n' >"$TACTUS_OS_RELEASE"
readonly cached=$XDG_CACHE_HOME/tactus/debs/alpha_1.0_riscv64.deb

# sources URI...
sources() {
    printf 'Types: deb\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: %s\n' "$*" "$www/key.asc" \
        >"$scratch/etc/sources.list.d/test.sources"
}

# begin NAME [FAULT...]: a test that begins with an empty cache.
begin() {
    case_of "$1"
    shift
    rm -rf "$XDG_CACHE_HOME" "$manifest"
    faulty "$@"
}

faulty() {
    printf '%s\n' "$@" >"$faults"
    : >"$log"
}

# run [COMMAND...]: gets the packages of packages.lock.
run() {
    code=0
    # shellcheck disable=SC2016
    output=$("$@" bash -euo pipefail -c '. ../lib.sh; . ../archive.sh; get_set test "$1"' - "$manifest" 2>&1) || code=$?
    output=$(sed "s,127.0.0.1:$port,MIRROR,g; s,$scratch,SCRATCH,g" <<<"$output")
}

requests() {
    cut -d ' ' -f 1,3 "$log" | tr '\n' ' '
}

readonly url=http://MIRROR/pool/main/alpha_1.0_riscv64.deb
readonly downloading='setup: downloading alpha 1.0, 300 kB'
readonly again='; trying again'
# shellcheck disable=SC2016
readonly cure='       Check the network and run `make setup` again; what has arrived is not fetched twice.
       Behind a proxy: set http_proxy, or Acquire::http::Proxy in apt'\''s configuration.
       Another mirror: set TACTUS_DEBIAN_MIRROR to its URI.'
readonly gone='setup: warning: alpha 1.0, which setup/packages.lock names, is no longer on this system'\''s mirror; asking for another version'

# failed REASON: three attempts, all with this result.
failed() {
    exits 1
    says "$downloading
setup: attempt 1 of 3 failed: $1$again
setup: attempt 2 of 3 failed: $1$again
setup: error: alpha 1.0 could not be downloaded:
       $url: $1
$cure"
}

locked_line test alpha 1.0 trixie >"$TACTUS_PACKAGES_LOCK"
hash=$package_hash
sources "http://127.0.0.1:$port"

begin "a package comes by path, without any index"
run
exits 0
says "$downloading"
is "200 - " "$(requests)" requests
is "alpha 1.0 $hash alpha_1.0_riscv64.deb" "$(sed '/^#/d' "$manifest")" manifest
is "$cached" "$(find "$XDG_CACHE_HOME" -type f)" cache

case_of "what is in the cache is not fetched again"
: >"$log"
run
exits 0
says ""
is "" "$(requests)" requests

case_of "a damaged file in the cache is fetched again"
echo damaged >"$cached"
run
exits 0
says "$downloading"
is "$hash" "$(sha256sum <"$cached" | cut -c 1-64)" hash

begin "a broken connection is gone on from" "1 abort=100000 .deb"
run
exits 0
says "$downloading
setup: attempt 1 of 3 failed: Error reading from server. Remote end closed connection$again"
is "200 - 206 bytes=100000- " "$(requests)" requests

begin "a connection that always breaks" "0 abort=50000 .deb"
run
failed "Error reading from server. Remote end closed connection"
case_of "what arrived before a failure is gone on from in the next run"
faulty ""
run
exits 0
says "$downloading"
is "206 bytes=150000- " "$(requests)" requests

begin "nothing more comes" "1 stall=100000 .deb"
run
exits 0
says "$downloading
setup: attempt 1 of 3 failed: Connection timed out$again"
is "200 - 206 bytes=100000- " "$(requests)" requests

begin "the server is overloaded" "0 503 .deb"
run
failed "503  Service Unavailable"

begin "a file that is too long" "0 size=5 .deb"
run
failed "File has unexpected size (300005 != 300000). Mirror sync in progress?"
is "" "$(find "$XDG_CACHE_HOME" -name '*.part*')" parts

begin "a truncated file" "0 short=1000 .deb"
run
failed "File has unexpected size (1000 != 300000). Mirror sync in progress?"
is "" "$(find "$XDG_CACHE_HOME" -name '*.part*')" parts

begin "a damaged file" "0 damage .deb"
run
failed "its SHA-256 is not the right one"
is "" "$(find "$XDG_CACHE_HOME" -name '*.part*')" parts

begin "a stale file" "0 stale=pool/main/alpha_1.1_riscv64.deb .deb"
run
failed "its SHA-256 is not the right one"

begin "a part that does not belong to the file"
mkdir -p "$XDG_CACHE_HOME/tactus/debs"
head -c 1000 /dev/zero >"$cached.part"
run
exits 0
says "$downloading
setup: attempt 1 of 3 failed: its SHA-256 is not the right one$again"

begin "a slow mirror" "0 rate=100000 .deb"
run env TACTUS_HEARTBEAT_SECONDS=1
exits 0
has_like 'setup: downloading alpha_1.0_riscv64.deb: [0-9]+ s, [0-9]+ of 300 kB \([0-9]+ %\)'

begin "a second mirror" "1 503 .deb" "1 503 .deb " "1 503  .deb"
mkdir -p "$scratch/other"
cp -r "$www/pool" "$scratch/other/"
faulty "0 503 .deb"
sources "http://127.0.0.1:$port" "file:$scratch/other"
run
exits 0
says "$downloading
setup: attempt 1 of 3 failed: 503  Service Unavailable$again
setup: attempt 2 of 3 failed: 503  Service Unavailable$again"

begin "a list of mirrors" "0 404 .deb"
printf 'http://127.0.0.1:%s\tpriority:1\nfile:%s\n' "$port" "$scratch/other" >"$scratch/list"
sources "mirror+file:$scratch/list"
run
exits 0
says "$downloading"
sources "http://127.0.0.1:$port"

begin "a version that is gone: the signed index of its suite has another" "0 404 alpha_1.0_riscv64.deb"
run
exits 0
says "$downloading
$gone
setup: reading the package index of Debian trixie for riscv64
setup: downloading alpha 1.1, 300 kB
setup: warning: took alpha 1.1 of Debian trixie in its place: figures on QEMU may differ from the documentation's"
is "# In place of alpha 1.0, which is no longer on the mirror:" "$(sed -n 2p "$manifest")" manifest

begin "a version that is gone, and an index of the wrong size" "0 404 alpha_1.0_riscv64.deb" "0 size=1832 trixie/main/binary-riscv64/Packages"
run
exits 0
index_size=$(stat -c %s "$www/dists/trixie/main/binary-riscv64/Packages")
says "$downloading
$gone
setup: reading the package index of Debian trixie for riscv64
setup: warning: the package index of Debian trixie (riscv64) cannot be used: File has unexpected size ($((index_size + 1832)) != $index_size). Mirror sync in progress?
setup: reading the package index of Debian trixie-updates for riscv64
setup: downloading alpha 1.2, 300 kB
setup: warning: took alpha 1.2 of Debian trixie-updates in its place: figures on QEMU may differ from the documentation's"

begin "a version that is gone, and an index that is not there" "0 404 alpha_1.0_riscv64.deb" "0 404 trixie/main/binary-riscv64/Packages"
run
exits 0
has "setup: warning: took alpha 1.2 of Debian trixie-updates in its place: figures on QEMU may differ from the documentation's"

begin "a version that is gone, and a stale index" "0 404 alpha_1.0_riscv64.deb" "0 stale=stale/InRelease trixie/InRelease"
run
exits 0
has_like "setup: warning: the package index of Debian trixie \(riscv64\) cannot be used: Release file for http://MIRROR/dists/trixie/InRelease is expired \(invalid since .*\)\. Updates for this repository will not be applied\."
has "setup: warning: took alpha 1.2 of Debian trixie-updates in its place: figures on QEMU may differ from the documentation's"

begin "a version that is gone, and an index that another key signed" "0 404 alpha_1.0_riscv64.deb"
cp "$www/dists/trixie/InRelease" "$scratch/InRelease"
sed -i 's/^Suite: trixie/Suite: trixiE/' "$www/dists/trixie/InRelease"
run
exits 0
has_like "setup: warning: the package index of Debian trixie \(riscv64\) cannot be used: The repository 'http://MIRROR trixie InRelease' is not signed\."
has "setup: warning: took alpha 1.2 of Debian trixie-updates in its place: figures on QEMU may differ from the documentation's"
cp "$scratch/InRelease" "$www/dists/trixie/InRelease"

begin "a version that is gone, and nothing in its place" "0 404 alpha_1.0_riscv64.deb" "0 404 InRelease"
run
exits 1
has "setup: error: alpha 1.0 is no longer on this system's mirror, and no index has another version (above)"
has "       Set TACTUS_DEBIAN_MIRROR to the URI of another mirror, or update this clone: setup/packages.lock may name a newer one."
has "       Or copy the file alpha_1.0_riscv64.deb from another machine's ~/.cache/tactus/debs to SCRATCH/cache/tactus/debs."

begin "a kernel that is gone: its package has another name" "0 404 linux-image-6.1-riscv64_6.1_riscv64.deb"
package "$www" linux-image-6.1-riscv64 6.1 riscv64
locked_line test linux-image-6.1-riscv64 6.1 trixie >"$TACTUS_PACKAGES_LOCK"
run
exits 0
has "setup: warning: took linux-image-6.2-riscv64 6.2 of Debian trixie in its place: figures on QEMU may differ from the documentation's"
package "$www" alpha 1.0 riscv64
locked_line test alpha 1.0 trixie >"$TACTUS_PACKAGES_LOCK"

begin "a system whose sources name no archive of Debian's"
rm "$scratch/etc/sources.list.d/test.sources"
run
exits 1
says "setup: error: alpha cannot be fetched: this system's apt sources name no Debian archive
       Set TACTUS_DEBIAN_MIRROR to the URI of one, and run \`make setup\` again.
       Without a network see docs/src/reference/setup.md, \"Without a network\"."

case_of "another mirror by TACTUS_DEBIAN_MIRROR"
run env TACTUS_DEBIAN_MIRROR="http://127.0.0.1:$port"
exits 0
says "$downloading"
sources "http://127.0.0.1:$port"

# Where there is no apt: with what there is of these.
for tool in curl wget; do
    command -v $tool >/dev/null || continue
    mkdir -p "$scratch/$tool"
    for other in bash awk sed stat sha256sum flock mkdir rm mv cp cat sleep tail tr cut grep head kill id dirname env $tool; do
        ln -sf "$(command -v "$other")" "$scratch/$tool/"
    done
    alone=(env TACTUS_APT_HELPER=/nowhere PATH="$scratch/$tool")
    begin "$tool gets a package"
    run "${alone[@]}"
    exits 0
    says "$downloading"
    begin "$tool goes on after a broken connection" "1 abort=100000 .deb"
    run "${alone[@]}"
    exits 0
    has_like "setup: attempt 1 of 3 failed: .+; trying again"
    is "200 - 206 bytes=100000- " "$(requests)" requests
    begin "$tool gets a damaged file" "0 damage .deb"
    run "${alone[@]}"
    failed "its SHA-256 is not the right one"
    begin "$tool finds a version gone, and without apt there is no other" "0 404 .deb"
    run "${alone[@]}"
    exits 1
    has "setup: warning: the package index of Debian trixie (riscv64) cannot be used: this system has no apt"
done

finish "setup/archive.sh"
