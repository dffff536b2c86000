//! FreeRTOS on a network: an MQTT client in C (`app/network.c`) on lwIP, whose interface (`app/interface.c`) uses the
//! virtio network card that another VM emulates.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod card;

// Brings the kernel, the platform and its drivers into the program.
use tactus_guest_freertos as _;

#[cfg(target_os = "none")]
unsafe extern "C" {
    /// `app/network.c`.
    fn network_main() -> !;
}

/// Called by the platform when the machine is ready.
#[cfg(target_os = "none")]
#[unsafe(no_mangle)]
extern "C" fn app_main() -> ! {
    // SAFETY: called once, as the platform promises its application.
    unsafe { network_main() }
}

/// Replaces the program on the host, where cargo requires one to test the package.
#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!(
        "freertos-network is a bare-metal program: cargo build --profile embedded --target riscv64gc-unknown-none-elf -p tactus-guest-freertos-network"
    );
    std::process::exit(2);
}
