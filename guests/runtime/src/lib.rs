//! The runtime of Tactus's bare-metal guests: from the first instruction to power-off.
//!
//! A guest is a `no_std`, `no_main` binary that names its main function with [`entry!`] and links with this
//! crate's script (`-Ttactus-guest.x`). It runs in supervisor mode with address translation off, as
//! a VM under Tactus and, from the same binary, natively under OpenSBI on QEMU's `virt` machine, as
//! long as it makes none of the calls of [`hypervisor`].
//!
//! | module | contents |
//! |---|---|
//! | [`start`] | start-up before `main`; start of other vCPUs |
//! | [`csr`] | control and status registers by number |
//! | [`trap`] | interrupts and exceptions, with handlers in Rust |
//! | [`time`] | the clock, the timer, counting instructions |
//! | [`stopwatch`] | latency of events at this guest, in instructions |
//! | [`sbi`] | calls to the firmware or hypervisor |
//! | [`hypervisor`] | Tactus's own calls |
//! | [`management`] | calls of a VM that manages others |
//! | [`rt`] | real-time vCPUs, created at run time |
//! | [`console`] | [`print!`], [`println!`] |
//! | [`record`] | figures and verdicts for the `tactus` tool |
//! | [`uart`], [`plic`] | the devices of every VM |
//! | [`interrupts`] | the controller's interrupts without a trap |
//! | [`channel`] | shared memory and doorbells |
//! | [`call`], [`emulation`] | calls of other VMs; devices emulated for them |
//! | [`accelerator`] | virtual devices of accelerators |
//! | [`io_port`] | ports to the I/O hypervisor: flash, display, Ethernet, UART |
//! | [`timed_io`] | pins that change and are sampled on exact cycles |
//! | [`devicetree`] | the devicetree; boot arguments |
//! | [`power`] | power-off and restart |
//!
//! The smallest guest:
//!
//! ```ignore
//! #![no_std]
//! #![no_main]
//!
//! tactus_guest::entry!(main);
//!
//! fn main() {
//!     tactus_guest::println!("hello");
//! }
//! ```
#![no_std]
#![cfg(target_arch = "riscv64")]

pub mod accelerator;
pub mod call;
pub mod channel;
pub mod console;
pub mod csr;
pub mod devicetree;
pub mod emulation;
pub mod hypervisor;
pub mod interrupts;
pub mod io_port;
pub mod management;
mod panic;
pub mod plic;
pub mod power;
pub mod record;
pub mod rt;
pub mod sbi;
pub mod start;
pub mod stopwatch;
pub mod time;
pub mod timed_io;
pub mod trap;
pub mod uart;

pub use sbi_spec;
pub use tactus_abi as abi;

/// Names the guest's main function, a `fn()` or `fn() -> !` without arguments.
///
/// It runs on the boot vCPU with interrupts off. Returning from it powers the machine off in good order.
#[macro_export]
macro_rules! entry {
    ($main:path) => {
        // SAFETY: the symbols are the runtime's (`start.rs` declares them with these types); a second
        // definition is refused by the linker.
        #[unsafe(export_name = "__tactus_guest_main")]
        fn __tactus_guest_main() {
            $main()
        }

        // SAFETY: as above.
        #[unsafe(export_name = "__tactus_guest_name")]
        static __TACTUS_GUEST_NAME: &str = env!("CARGO_BIN_NAME");
    };
}
