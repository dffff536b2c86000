//! What the hypervisor, the guests, the virtual board and the `tactus` tool agree on: the
//! guest-physical memory map, the hypercalls, the console's framing and registers, and the system blob.
//!
//! Plain data and constants; of behaviour only what two parties do to the same word.
#![no_std]

pub mod accelerator;
pub mod bitstream;
pub mod blob;
pub mod console;
pub mod hypercall;
pub mod interrupts;
pub mod map;
pub mod record;
pub mod ring;
pub mod uart;
