//! All that is specific to an instruction set. The rest of the hypervisor names no register.

mod riscv;

pub use riscv::*;
