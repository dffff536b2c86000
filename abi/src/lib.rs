//! Interfaces between the hypervisor, the guests, the virtual board and the `tactus` tool: the guest-physical memory
//! map, the hypercalls, the framing and registers of the console, and the system blob.
//!
//! Plain data and constants, and the operations that both sides perform on a shared word.
#![no_std]

pub mod accelerator;
pub mod bitstream;
pub mod blob;
pub mod capture;
pub mod console;
pub mod hypercall;
pub mod interrupts;
pub mod management;
pub mod map;
pub mod record;
pub mod ring;
pub mod uart;
