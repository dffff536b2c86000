//! What is decided about a system before it boots, as pure code: where memory goes, which colours of the cache it has,
//! how large the second-stage tables are, how late each real-time vCPU has its budget, what is left to best-effort
//! ones, how often a vCPU reloads its caches, and how late the tasks that run on it are done. The tool uses it; the
//! hypervisor does not link it.
#![no_std]

extern crate alloc;

pub mod analysis;
pub mod best_effort;
pub mod colours;
pub mod placement;
pub mod reloads;
pub mod stage2;
pub mod supply;
