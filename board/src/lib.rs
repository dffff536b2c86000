//! The virtual board: RISC-V harts, memory and devices that run the images of the real platform cycle by cycle
//! and the same way every time.

pub mod account;
pub mod board;
pub mod bus;
mod code;
pub mod decode;
pub mod devices;
pub mod devicetree;
mod execute;
pub mod fault;
pub mod float;
pub mod gdb;
mod hart;
pub mod htif;
pub mod inspect;
mod machine;
pub mod memory;
pub mod privileged;
mod probe;
pub mod profile;
pub mod setup;
pub mod snapshot;
mod stepping;
pub mod time;
pub mod timing;
mod tlb;
pub mod trace;
