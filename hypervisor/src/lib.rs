//! The parts of the hypervisor that are plain state machines: virtual devices, decoding and locks. They hold
//! no hardware and are tested on the host; the binary of this package puts them to work.
#![cfg_attr(not(loom), no_std)]

pub mod devicetree;
pub mod lock;
pub mod mmio;
pub mod ownership;
pub mod relocation;
pub mod ring;
pub mod run_state;
pub mod vplic;
pub mod vuart;
