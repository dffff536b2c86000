# shellcheck shell=bash
# Gets packages of Debian's archive that are unpacked or installed by name of file: first those of setup/packages.lock,
# by path and without any index, from the mirror that this system's apt sources name. Only where one is gone from there
# are the signed indexes asked for another version.
# Sourced after lib.sh.

readonly lock_file=${TACTUS_PACKAGES_LOCK:-$TACTUS_ROOT/setup/packages.lock}
readonly debs=$TACTUS_CACHE/debs
# Attempts for each mirror, and the seconds between them. The tests are less patient.
readonly download_attempts=3 download_pause=${TACTUS_DOWNLOAD_PAUSE:-3}
# What `download` returns where the mirror does not have the file.
readonly GONE=44

# locked SET: the lines of packages.lock for it.
locked() {
    awk -v set="$1" '$1 == set' "$lock_file"
}

# deb_name PACKAGE VERSION ARCHITECTURE: the package's file as apt calls it; of the architecture `source`, the archive
# of a source package.
deb_name() {
    local kind=deb
    [ "$3" != source ] || kind=tar.xz
    printf '%s_%s_%s.%s' "$1" "${2/:/%3a}" "$3" "$kind"
}

# has_hash FILE SIZE SHA256
has_hash() {
    [ -r "$1" ] && [ "$(stat -c %s "$1")" = "$2" ] && [ "$(sha256sum <"$1")" = "$3  -" ]
}

# archive_source SUITE: how apt reaches the archive of a suite, as `apt_source` prints it: that of the suite if the
# system's sources name it, otherwise that of the system's own release, which is the same archive.
archive_source() {
    local release source=
    [ -n "${TACTUS_DEBIAN_MIRROR:-}" ] || [ "$(os_field ID)" = debian ] || return 0
    release=$(os_field VERSION_CODENAME)
    case $1 in
    # In an archive of their own.
    *-security)
        [ -n "${TACTUS_DEBIAN_MIRROR:-}" ] || apt_source "$release-security"
        return
        ;;
    esac
    source=$(apt_source "$1")
    [ -n "$source" ] || source=$(apt_source "$release")
    printf '%s\n' "$source"
}

# archive_uris SUITE: the URIs of the archive, best first, one a line. A `mirror+file:` is a file with a list of them.
archive_uris() {
    local uri
    for uri in $(archive_source "$1" | sed -n 's/^URIs:\(.*\)/\1/p; t; s/^[[:space:]]//p'); do
        case $uri in
        mirror+file:*) sed 's/[[:space:]#].*//; /^$/d' "/${uri#mirror+file:/}" 2>/dev/null || true ;;
        *) printf '%s\n' "$uri" ;;
        esac
    done | sed 's,/*$,,'
}

no_archive() {
    fail "$1 cannot be fetched: this system's apt sources name no Debian archive" \
        "Set TACTUS_DEBIAN_MIRROR to the URI of one, and run \`make setup\` again." \
        "Without a network see docs/src/reference/setup.md, \"Without a network\"."
}

# transfer URI FILE SIZE SHA256: one attempt, which continues with a partial FILE. With apt's own downloader, which is
# wherever apt is and knows the system's proxies and certificates; elsewhere with curl or wget.
transfer() {
    local helper=${TACTUS_APT_HELPER:-/usr/lib/apt/apt-helper}
    case $1 in
    # In the C locale, so that messages can be distinguished.
    file:* | copy:*) LC_ALL=C cp "/${1#*:/}" "$2" ;;
    *)
        if [ -x "$helper" ]; then
            LC_ALL=C "$helper" -o APT::Sandbox::User="$(id -un)" -o Acquire::Retries=0 download-file "$1" "$2" "SHA256:$4" \
                "Checksum-FileSize:$3"
        elif have curl; then
            curl --fail --location --silent --show-error --connect-timeout 30 --speed-limit 1 --speed-time 30 \
                --continue-at - --output "$2" "$1"
        elif have wget; then
            wget --no-verbose --tries=1 --timeout=30 --continue --output-document="$2" "$1"
        else
            echo "there is no apt-helper, curl or wget to download with"
            return 1
        fi
        ;;
    esac
}

# why_not FAILED LOG FILE SIZE: in a few words why a transfer did not bring the right file. FAILED: it said that it
# failed.
why_not() {
    local found=
    if [ -n "$1" ]; then
        # apt's own words, below the URI; those of curl and wget.
        found=$(sed -n '/^Err:/{n;s/^ *//;s/ \[IP: .*//;p;q}' "$2")
        [ -n "$found" ] || found=$(sed -n 's/^E: //p; s/^curl: ([0-9]*) //p; s/^.*ERROR \([0-9]*: .*\)/\1/p' "$2" | head -n 1)
        [ -n "$found" ] || found=$(log_status "$2")
    fi
    if [ -z "$found" ] || [ "$found" = "Hash Sum mismatch" ]; then
        found="its SHA-256 is not the right one"
        [ ! -r "$3" ] || [ "$(stat -c %s "$3")" = "$4" ] || found="it has $(stat -c %s "$3") bytes in place of $4"
    fi
    printf '%s' "$found"
}

# download URI FILE SIZE SHA256: gets the file whole and right, or leaves a part that the next attempt continues.
# Returns GONE where the mirror does not have it; otherwise `download_error` has the reason.
download() {
    local uri=$1 file=$2 size=$3 hash=$4 attempt failed whole part=$2.part log=$2.log
    download_error=
    for ((attempt = 1; attempt <= download_attempts; attempt++)); do
        if [ $attempt -gt 1 ]; then
            say "attempt $((attempt - 1)) of $download_attempts failed: $download_error; trying again"
            sleep "$download_pause"
        fi
        rm -f "$part.FAILED"
        heartbeat "downloading ${file##*/}" file_status "$part" "$size"
        failed='' whole=''
        transfer "$uri" "$part" "$size" "$hash" </dev/null >"$log" 2>&1 || failed=yes
        heartbeat_end
        if has_hash "$part" "$size" "$hash"; then
            mv "$part" "$file"
            rm -f "$log"
            return 0
        fi
        if [ -n "$failed" ] && grep -qE '(^ *|error: |ERROR )(404|410)\>|^cp: .*No such file' "$log"; then
            return $GONE
        fi
        # A complete file with a wrong checksum is useless; apt has renamed it. A partial file is continued.
        if [ -e "$part.FAILED" ]; then
            mv "$part.FAILED" "$part"
            whole=yes
        elif [ -z "$failed" ] || [ "$(file_bytes "$part")" -ge "$size" ]; then
            whole=yes
        fi
        download_error=$(why_not "$failed" "$log" "$part" "$size")
        [ -z "$whole" ] || rm -f "$part"
    done
    return 1
}

# get PACKAGE VERSION ARCHITECTURE SUITE PATH SIZE SHA256: puts the package into the cache unless it is there; `got` is
# its file. Returns GONE where no mirror of the system's sources has it.
get() {
    local package=$1 version=$2 arch=$3 suite=$4 path=$5 size=$6 hash=$7 uri code gone='' errors=()
    got=$debs/$(deb_name "$package" "$version" "$arch")
    mkdir -p "$debs"
    # One download of a file at a time, whichever clone wants it.
    exec 8>"$got.lock"
    flock 8
    if has_hash "$got" "$size" "$hash"; then
        exec 8>&-
        rm -f "$got.lock"
        return 0
    fi
    rm -f "$got"
    local uris
    mapfile -t uris < <(archive_uris "$suite")
    [ ${#uris[@]} -gt 0 ] || no_archive "$package"
    say "downloading $package $version, $(((size + 999) / 1000)) kB"
    for uri in "${uris[@]}"; do
        code=0
        download "$uri/$path" "$got" "$size" "$hash" || code=$?
        case $code in
        0) break ;;
        "$GONE") gone=yes ;;
        *) errors+=("$uri/$path: $download_error") ;;
        esac
    done
    exec 8>&-
    rm -f "$got.lock"
    [ "$code" -ne 0 ] || return 0
    if [ ${#errors[@]} -eq 0 ] && [ -n "$gone" ]; then
        rm -f "$got.log"
        return $GONE
    fi
    fail "$package $version could not be downloaded:" "${errors[@]}" \
        "Check the network and run \`make setup\` again; what has arrived is not fetched twice." \
        "Behind a proxy: set http_proxy, or Acquire::http::Proxy in apt's configuration." \
        "Another mirror: set TACTUS_DEBIAN_MIRROR to its URI."
}

# Where apt's own state is for packages that are not this system's; shares nothing with it.
private_apt_of() {
    apt_dir=$TACTUS_BUILD/setup/apt/$1-$2 apt_arch=$2
}

private_apt() {
    local tool=$1
    shift
    "$tool" \
        -o Dir::State="$apt_dir/state" -o Dir::State::status="$apt_dir/status" -o Dir::Cache="$apt_dir/cache" \
        -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$apt_dir/sources.d" \
        -o Dir::Etc::preferencesparts=/dev/null -o Dir::Etc::preferences=/dev/null \
        -o APT::Architecture="$apt_arch" -o APT::Architectures::="$apt_arch" -o Acquire::Languages=none \
        -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
        -o APT::Sandbox::User="$(id -un)" -o Acquire::Retries=3 "$@"
}

# read_index SUITE ARCHITECTURE: reads the signed index of a suite from the system's mirror. apt checks its signature,
# hashes and age.
read_index() {
    local suite=$1 arch=$2 source log=$TACTUS_BUILD/setup/index.log
    index_error="this system's apt sources name no archive of it"
    source=$(archive_source "$suite")
    [ -n "$source" ] || return 1
    index_error="this system has no apt"
    have apt-get || return 1
    private_apt_of "$suite" "$arch"
    rm -rf "$apt_dir"
    mkdir -p "$apt_dir"/{state/lists/partial,cache/archives/partial,sources.d}
    : >"$apt_dir/status"
    printf 'Types: deb\nSuites: %s\nComponents: main\nArchitectures: %s\n%s\n' "$suite" "$arch" "$source" \
        >"$apt_dir/sources.d/tactus.sources"
    say "reading the package index of Debian $suite for $arch"
    heartbeat "reading the package index of $suite" log_status "$log"
    LC_ALL=C private_apt apt-get update --error-on=any >"$log" 2>&1 && index_error= || index_error=failed
    heartbeat_end
    if [ -n "$index_error" ]; then
        index_error=$(sed -n 's/^E: //p' "$log" | sed 's/ \[IP: [^]]*\]//; s,^Failed to fetch [^ ]* *,,' | head -n 1)
        return 1
    fi
}

# in_index PACKAGE: the package's `package version architecture path size sha256` in the index that was read last;
# nothing where it is not in there.
in_index() {
    private_apt apt-cache show --no-all-versions "$1" 2>/dev/null | awk '
        /^$/ { exit }
        { value[$1] = $2 }
        END {
            if ("Version:" in value)
                print value["Package:"], value["Version:"], value["Architecture:"], value["Filename:"], value["Size:"], value["SHA256:"]
        }'
}

# wanted_of PACKAGE: the pattern to look for in an index. The kernel's package is called after its version; another one
# depends on the newest.
wanted_of() {
    case $1 in
    linux-image-*-riscv64) private_apt apt-cache depends linux-image-riscv64 2>/dev/null |
        sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1 ;;
    *) printf '%s' "$1" ;;
    esac
}

# other_version SET PACKAGE VERSION ARCHITECTURE SUITE: gets another version of a package that is gone, by the signed
# index of its suite or of those beside it. Prints nothing; `got` is the file, `got_version` its
# `package version architecture suite path size sha256`.
other_version() {
    local package=$2 version=$3 arch=$4 suite=$5 base=${5%-backports} other found index_arch=$4 tried=()
    [ "$arch" != all ] || index_arch=$(dpkg --print-architecture 2>/dev/null || echo amd64)
    warn "$package $version, which setup/packages.lock names, is no longer on this system's mirror; asking for another version"
    for other in "$suite" "$base-updates" "$base-security" "$base-backports" trixie "$base"; do
        case " ${tried[*]-} " in *" $other "*) continue ;; esac
        tried+=("$other")
        if ! read_index "$other" "$index_arch"; then
            warn "the package index of Debian $other ($index_arch) cannot be used: $index_error"
            continue
        fi
        found=$(in_index "$(wanted_of "$package")")
        [ -n "$found" ] || continue
        local name at_version at_arch path size hash
        read -r name at_version at_arch path size hash <<<"$found"
        get "$name" "$at_version" "$at_arch" "$other" "$path" "$size" "$hash" || continue
        got_version="$name $at_version $at_arch $other $path $size $hash"
        warn "took $name $at_version of Debian $other in its place: $(consequence "$1")"
        return 0
    done
    fail "$package $version is no longer on this system's mirror, and no index has another version (above)" \
        "Set TACTUS_DEBIAN_MIRROR to the URI of another mirror, or update this clone: setup/packages.lock may name a newer one." \
        "Or copy the file $(deb_name "$package" "$version" "$arch") from another machine's ~/.cache/tactus/debs to $debs."
}

# consequence SET: the effect of another version.
consequence() {
    case $1 in
    linux) echo "runs with the Linux guest have other times, and another trace hash than the README's" ;;
    opensbi | gcc-*) echo "all runs have another trace hash than the README's" ;;
    cells) echo "gate counts may differ from the documentation's" ;;
    *) echo "figures on QEMU may differ from the documentation's" ;;
    esac
}

# get_set SET MANIFEST: puts the packages of a set into the cache, and records `package version sha256 file` of each in
# MANIFEST, with a note where it is not the one of packages.lock.
get_set() {
    local set=$1 recorded=$2 package version arch suite path size hash code
    mkdir -p "$(dirname "$recorded")"
    echo "# Package, version, SHA-256, file. Written by set-up from setup/packages.lock." >"$recorded.new"
    while read -r _ package version arch suite path size hash; do
        code=0
        get "$package" "$version" "$arch" "$suite" "$path" "$size" "$hash" || code=$?
        if [ $code -ne 0 ]; then
            other_version "$set" "$package" "$version" "$arch" "$suite"
            echo "# In place of $package $version, which is no longer on the mirror:" >>"$recorded.new"
            read -r package version arch suite path size hash <<<"$got_version"
        fi
        printf '%s %s %s %s\n' "$package" "$version" "$hash" "${got##*/}" >>"$recorded.new"
    done < <(locked "$set")
    rm -rf "$TACTUS_BUILD/setup/apt"
    mv "$recorded.new" "$recorded"
}

# unpack_deb FILE FOLDER [PATTERN...]: unpacks a package's files, or those that match.
unpack_deb() {
    local file=$1 folder=$2
    shift 2
    mkdir -p "$folder"
    {
        if have dpkg-deb; then
            dpkg-deb --fsys-tarfile "$file"
        elif have ar; then
            ar p "$file" data.tar.xz | xz -dc
        else
            fail "there is neither dpkg-deb nor ar to unpack ${file##*/} with" "Install dpkg or binutils, and run \`make setup\` again."
        fi
    } | tar -x -C "$folder" --wildcards "$@"
}
