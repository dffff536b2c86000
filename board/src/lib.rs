//! The virtual board: RISC-V harts, memory and devices that run the images of the real platform cycle by cycle
//! and the same way every time.
//!
//! What it is to become: several harts (RV64GC with bit manipulation and the hypervisor extension) in parallel
//! virtual time, with the cycle costs of pipeline, caches, TLB walks and buses, the devices of QEMU's `virt`
//! machine, probes and traces that do not disturb the run, and RTL in lock-step.
//!
//! What is there so far is one part, which stands alone:
//!
//! * [`decode`](mod@decode): from the bits of an instruction to its operation and operands, and to its text.
//!
//! Nothing executes instructions yet.

pub mod decode;
