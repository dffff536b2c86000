#!/bin/sh
# Compiles the Linux guest's own programs: tactus-rt, tactus-ring, tactus-load, tactus-accelerator, tactus-io, and those
# for real-time vCPUs; with `disk`, tactus-call, tactus-dma, tactus-disk, tactus-ivshmem and tactus-mqtt in place of
# these; with SOURCE, that one.
#
# usage: programs.sh OUTPUT [disk|SOURCE.c]
#
# OUTPUT is a folder. Programs for real-time vCPUs (rt-*.c) become flat files, rt-*.bin, that run wherever they are
# loaded.
set -eu

output=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Set-up names the compiler (setup/compiler.sh).
cross=${TACTUS_CROSS:-riscv64-unknown-elf-}

# The bare-metal compiler that set-up installs does for Linux, too, as long as there is no library. The ISA is named as
# of the specification of 2019, as the compiler's own libraries are.
compile() {
    "${cross}gcc" -march=rv64gc -mabi=lp64d -misa-spec=2.2 -mcmodel=medany -std=gnu11 -O2 \
        -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-function -Werror -ffreestanding -nostdlib -static \
        -I "$here/../../abi/include" "$@"
}

case ${2-} in
*.c)
    compile -s -Wl,--no-warn-rwx-segments -I "$here" -o "$output/$(basename "$2" .c)" "$2"
    exit
    ;;
esac

if [ "${2-}" = disk ]; then
    for name in tactus-call tactus-dma tactus-disk tactus-ivshmem tactus-mqtt; do
        compile -s -Wl,--no-warn-rwx-segments -o "$output/$name" "$here/$name.c"
    done
    exit
fi

compile -s -Wl,--no-warn-rwx-segments -o "$output/tactus-rt" "$here/tactus-rt.c"

compile -s -Wl,--no-warn-rwx-segments -I "$here/../channel/c" -o "$output/tactus-ring" \
    "$here/tactus-ring.c" "$here/../channel/c/tactus_channel.c"

for name in tactus-load tactus-accelerator; do
    compile -s -Wl,--no-warn-rwx-segments -o "$output/$name" "$here/$name.c"
done

# The registers' headers are generated, and want an <assert.h>.
compile -s -Wl,--no-warn-rwx-segments -I "$here/../../fabric/generated" -idirafter "$here/../freertos/platform/include" \
    -o "$output/tactus-io" "$here/tactus-io.c"

# flat BASE SOURCE BINARY: as if it was to be loaded at BASE.
flat() {
    compile -fpie -fvisibility=hidden -msmall-data-limit=0 -Wl,--no-relax -Wl,--no-warn-rwx-segments -Wl,--defsym=BASE="$1" \
        -T "$here/rt-program.ld" -o "$work/program" "$2"
    "${cross}objcopy" -O binary "$work/program" "$3"
}
for source in "$here"/rt-*.c; do
    name=$(basename "$source" .c)
    flat 0 "$source" "$output/$name.bin"
    flat 0x12345000 "$source" "$work/elsewhere"
    if ! cmp -s "$output/$name.bin" "$work/elsewhere"; then
        echo "$source: has addresses in its data, and so would run at one place only" >&2
        exit 1
    fi
done
