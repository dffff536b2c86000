//! Calls other VMs, in C (`app/call.c`).
#![cfg_attr(target_os = "none", no_std, no_main)]

// Brings the library's C side (entry point, kernel, drivers) into the program.
use tactus_guest_freertos as _;

#[cfg(target_os = "none")]
unsafe extern "C" {
    /// `app/call.c`.
    fn call_main() -> !;
}

/// Called by the platform when the machine is ready.
#[cfg(target_os = "none")]
#[unsafe(no_mangle)]
extern "C" fn app_main() -> ! {
    // SAFETY: called once, as the platform promises its application.
    unsafe { call_main() }
}

/// Replaces the program on the host, where cargo requires one to test the package.
#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!(
        "freertos-call is a bare-metal program: cargo build --profile embedded --target riscv64gc-unknown-none-elf -p tactus-guest-freertos"
    );
    std::process::exit(2);
}
