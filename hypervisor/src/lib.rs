//! The parts of the hypervisor that are plain state machines: virtual devices and decoding. They hold
//! no hardware and are tested on the host; the binary of this package puts them to work.
#![no_std]

pub mod devicetree;
pub mod mmio;
pub mod ring;
pub mod vplic;
pub mod vuart;
