//! FreeRTOS and the application, which drives the baseline's controllers itself (`io/native.c`).
#![cfg_attr(target_os = "none", no_std, no_main)]

// Brings the entry point and the kernel into the program; `build.rs` adds the rest.
use tactus_guest_manycore as _;

/// Replaces the program on the host, where cargo requires one to test the package.
#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!(
        "manycore-native-io is a bare-metal program: cargo build --profile embedded --target riscv64gc-unknown-none-elf -p tactus-guest-manycore"
    );
    std::process::exit(2);
}
