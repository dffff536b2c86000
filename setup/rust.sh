#!/usr/bin/env bash
# Makes sure that plain `cargo`, called anywhere in this clone, builds for the host and for the bare-metal target.
#
# First choice: rustup with the toolchain, components and target that rust-toolchain.toml pins. Where there is no rustup
# and no Rust, rustup itself comes from the system's packages (Debian 13 and later), or, where RUSTUP_UPDATE_ROOT names
# a mirror of it, from there into Cargo's folder of the user (~/.cargo), in the version and with the hash below. No file
# of the user's shell is changed. Where neither has it, or it cannot download: the distribution's packaged compiler. It
# comes without libraries for the target, so core and alloc are built once, from the packaged source, into build/rust,
# and a generated build/setup/cargo.toml, which .cargo/config.toml includes where it exists, points cargo there.
#
# TACTUS_RUST=rustup or TACTUS_RUST=distribution allows only that one.
set -euo pipefail
# shellcheck source=setup/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=setup/apt.sh
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"
# shellcheck source=setup/archive.sh
. "$(dirname "${BASH_SOURCE[0]}")/archive.sh"

readonly config=$TACTUS_BUILD/setup/cargo.toml
# Named after what it was made from: cargo rebuilds when it changes, because the name is among the compiler's flags.
name_sysroot() {
    sysroot=$TACTUS_BUILD/rust/$({
        /usr/bin/rustc --version || true
        cat "${BASH_SOURCE[0]}"
    } 2>/dev/null | sha256sum | cut -c 1-12)
}
name_sysroot
readonly logs=$TACTUS_BUILD/setup
# The distribution's compiler of that name follows Debian's web browsers and is newer than its `rustc`. All of one
# version.
readonly packages=(rustc-web cargo-web rust-web-src rust-web-clippy rustfmt-web)
readonly linked=tactus-distribution
# The installer of rustup: version, and of each machine its size and SHA-256. RUSTUP_UPDATE_ROOT names a mirror, as for
# rustup itself.
readonly rustup_version=1.29.0 rustup_root=${RUSTUP_UPDATE_ROOT:-}
declare -rA rustup_installer=(
    [x86_64]="20838840 4acc9acc76d5079515b46346a485974457b5a79893cfb01112423c89aeb5aa10"
    [aarch64]="19502880 9732d6c5e2a098d3521fca8145d826ae0aaa067ef2385ead08e6feac88fa5792"
)

channel=$(pinned channel)
targets=$(pinned targets)
components=$(pinned components)
readonly channel targets components

# complete RUSTC: whether that compiler has libraries for all targets.
complete() {
    local root target
    root=$("$@" --print sysroot 2>/dev/null) || return 1
    for target in $targets; do
        compgen -G "$root/lib/rustlib/$target/lib/libcore-*.rlib" >/dev/null || return 1
    done
}

rustc_version() {
    "$@" --version 2>/dev/null | sed -n 's/^rustc \([0-9.]*\).*/\1/p'
}

rustup_complete() {
    # Checks before it asks for the compiler: older rustups download a toolchain that is asked for.
    rustup toolchain list 2>/dev/null | grep -q "^$channel-" || return 1
    local root
    complete rustup run "$channel" rustc || return 1
    root=$(rustup run "$channel" rustc --print sysroot)
    [ -x "$root/bin/cargo-clippy" ] && [ -x "$root/bin/rustfmt" ]
}

# install_rustup: gets rustup itself, without a toolchain. Fails where there is none for this machine, or it cannot be
# had.
install_rustup() {
    if [ -n "$rustup_root" ]; then download_rustup; else install_packaged_rustup; fi
}

install_packaged_rustup() {
    local candidate
    have apt-get && can_install || return 1
    apt_update
    candidate=$(LC_ALL=C apt-cache policy rustup 2>/dev/null | sed -n 's/^  Candidate: //p')
    case $candidate in '' | '(none)') return 1 ;; esac
    say "installing rustup from this system's packages: gets the Rust that rust-toolchain.toml pins"
    apt_install rustup rustup && have rustup
}

download_rustup() {
    local machine size hash installer=$TACTUS_CACHE/rustup-init-$rustup_version
    machine=$(uname -m)
    [ -n "${rustup_installer[$machine]:-}" ] || return 1
    read -r size hash <<<"${rustup_installer[$machine]}"
    say "installing rustup $rustup_version into $cargo_bin: gets the Rust that rust-toolchain.toml pins"
    mkdir -p "$TACTUS_CACHE"
    if ! has_hash "$installer" "$size" "$hash"; then
        if ! download "$rustup_root/archive/$rustup_version/$machine-unknown-linux-gnu/rustup-init" "$installer" "$size" "$hash"; then
            warn "rustup could not be downloaded: ${download_error:-it is not there}"
            return 1
        fi
    fi
    # By this name alone it is an installer.
    cp "$installer" "$logs/rustup-init"
    chmod +x "$logs/rustup-init"
    local code=0
    watched "installing rustup" "$logs/rustup.log" "$logs/rustup-init" -y --no-modify-path --profile minimal --default-toolchain none || code=1
    rm -f "$logs/rustup-init"
    [ $code -eq 0 ] && [ -x "$cargo_bin/rustup" ] || return 1
    PATH=$cargo_bin:$PATH
    say "to have \`cargo\` in a shell of yours: . ${cargo_bin%/bin}/env"
}

install_with_rustup() {
    local options=() word
    for word in $components; do options+=(--component "$word"); done
    for word in $targets; do options+=(--target "$word"); done
    say "installing Rust $channel for this machine and for $targets, with rustup: the toolchain that rust-toolchain.toml pins"
    watched "installing Rust $channel" "$logs/rustup.log" rustup toolchain install "$channel" --profile minimal --no-self-update "${options[@]}" &&
        rustup_complete
}

# A fallback of an earlier run must not shadow the pinned toolchain.
remove_fallback() {
    rm -rf "$TACTUS_BUILD/rust" "$config"
    # Without rustup, or without an override, there is nothing to take back.
    if rustup override list 2>/dev/null | grep -qF "$TACTUS_ROOT"; then
        rustup override unset --path "$TACTUS_ROOT" >/dev/null 2>&1 || true
    fi
}

fallback_complete() {
    grep -qsF "$sysroot" "$config" && [ -x "$sysroot/bin/rust-lld" ]
}

# The linker of the compiler's own LLVM release, as rustup's toolchains bring theirs: older ones of the distribution do
# not know what the compiler and gcc ask of them (linker relaxation).
lld() {
    printf 'lld-%s' "$(/usr/bin/rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')"
}

install_distribution() {
    local version minimum=${channel%.*}
    have apt-get || fail "Rust $channel is not installed, and this system has neither rustup nor apt" \
        "Install rustup with this system's package manager and run \`make setup\` again."
    if ! /usr/bin/cargo-clippy --version >/dev/null 2>&1 || ! [ -x /usr/bin/rustfmt ] ||
        ! version_at_least "$(rustc_version /usr/bin/rustc)" "$minimum"; then
        can_install || fail "Rust is not installed, and installing packages takes root or sudo" \
            "Install rustup, or as root run: TACTUS_RUST=distribution $TACTUS_ROOT/setup/rust.sh" "then \`make setup\` again."
        apt_update
        version=$(apt-cache policy "${packages[0]}" | sed -n 's/^  Candidate: //p')
        version_at_least "${version%%[+~-]*}" "$minimum" || fail \
            "Rust $minimum or newer is needed; ${packages[0]} of this system's packages has ${version:-none}" \
            "On Debian, add its security archive to apt's sources, which has newer ones; or install rustup, make sure" \
            "that it can download, and run \`make setup\` again."
        say "installing the distribution's Rust $version (${packages[*]}): compiles everything in place of rustup's Rust $channel"
        apt_install "the distribution's Rust" "${packages[@]}"
    fi
    if ! have "$(lld)"; then
        say "installing $(lld): links what runs on the target"
        apt_install "$(lld)" "$(lld)"
    fi
}

# Builds core and alloc for the targets into build/rust, which then is a sysroot for them alone.
build_sysroot() {
    local target work=$TACTUS_BUILD/rust/work
    rm -rf "$TACTUS_BUILD/rust"
    mkdir -p "$work/src"
    printf '[package]\nname = "sysroot"\nedition = "2021"\n[workspace]\n' >"$work/Cargo.toml"
    echo '#![no_std]' >"$work/src/lib.rs"
    for target in $targets; do
        say "building Rust's core library for $target from the packaged source"
        # -Zbuild-std is not stable; RUSTC_BOOTSTRAP lets the packaged compiler take it. The bitcode is for
        # the link-time optimization of what is linked with it.
        (
            cd "$work"
            watched "building Rust's core library" "$logs/sysroot.log" env RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Cembed-bitcode=yes RUSTC=/usr/bin/rustc CARGO_TARGET_DIR="$work/target" \
                /usr/bin/cargo build --release --target "$target" \
                -Zbuild-std=core,alloc -Zbuild-std-features=compiler-builtins-mem
        ) || fail "Rust's core library for $target could not be built (above; whole log: $logs/sysroot.log)" \
            "Install rustup, make sure that it can download, and run \`make setup\` again."
        mkdir -p "$sysroot/lib/rustlib/$target/lib"
        cp "$work/target/$target"/release/deps/lib{core,alloc,compiler_builtins}-*.rlib "$sysroot/lib/rustlib/$target/lib/"
    done
    rm -rf "$work"
}

configure_fallback() {
    local target host
    host=$(/usr/bin/rustc -vV | sed -n 's/^host: //p')
    # The compiler knows what kind of linker it has by the name.
    mkdir -p "$sysroot/bin"
    ln -sfn "$(command -v "$(lld)")" "$sysroot/bin/rust-lld"
    # The host's own libraries, for what runs while crates for the target are compiled.
    ln -sfn "$(/usr/bin/rustc --print sysroot)/lib/rustlib/$host" "$sysroot/lib/rustlib/$host"
    {
        echo "# Generated by setup/rust.sh: the distribution's Rust, with the target's libraries in build/rust."
        for target in $targets; do
            printf '[target.%s]\nlinker = "%s"\n' "$target" "$sysroot/bin/rust-lld"
            printf '%s = ["--sysroot", "'"$sysroot"'"]\n' rustflags rustdocflags
        done
    } >"$config"
    if have rustup; then
        # rust-toolchain.toml names a toolchain that rustup does not have; a folder's override goes before it.
        quietly "$logs/rustup.log" rustup toolchain link "$linked" /usr
        quietly "$logs/rustup.log" rustup override set "$linked" --path "$TACTUS_ROOT"
    fi
}

main() {
    local allowed=${TACTUS_RUST:-any}
    case $allowed in
    any | rustup | distribution) ;;
    *) fail "TACTUS_RUST=$allowed is not a choice" "It is rustup or distribution; leave it unset for whichever works." ;;
    esac
    if [ "$allowed" != distribution ]; then
        if have rustup; then
            if rustup_complete; then
                [ ! -e "$TACTUS_BUILD/rust" ] || remove_fallback
                return
            fi
            if [ "$allowed" = any ] && fallback_complete; then
                return
            fi
            if install_with_rustup; then
                remove_fallback
                return
            fi
            [ "$allowed" = any ] || fail "rustup could not install Rust $channel (above; whole log: $logs/rustup.log)" \
                "Check the network (RUSTUP_DIST_SERVER names a mirror), then run \`make setup\` again."
            warn "rustup could not install Rust $channel (above); taking the distribution's Rust instead"
        elif [ "$allowed" = any ] && complete rustc && version_at_least "$(rustc_version rustc)" "${channel%.*}" && have cargo; then
            # A complete toolchain of the user's own.
            return
        elif [ "$allowed" = any ] && fallback_complete; then
            return
        elif install_rustup && install_with_rustup; then
            remove_fallback
            return
        elif [ "$allowed" = rustup ]; then
            fail "TACTUS_RUST=rustup, but rustup could not install Rust $channel (above)" \
                "Check the network (RUSTUP_UPDATE_ROOT and RUSTUP_DIST_SERVER name mirrors), or leave TACTUS_RUST unset."
        else
            warn "rustup could not install Rust $channel (above); taking the distribution's Rust instead"
        fi
    fi
    if ! fallback_complete; then
        install_distribution
        # The compiler may be another one now.
        name_sysroot
        build_sysroot
        configure_fallback
    fi
}

main
