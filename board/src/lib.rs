//! The virtual board: RISC-V harts, memory and devices that run the images of the real platform cycle by cycle
//! and the same way every time.

pub mod bus;
pub mod decode;
pub mod devices;
pub mod devicetree;
pub mod float;
pub mod memory;
pub mod privileged;
pub mod profile;
pub mod time;
pub mod timing;
