//! The Rust side of the many-core board's images: record lines, and what a panic does. The rest is C: the kernel, the
//! platform (`platform/`), the ways to I/O (`io/`) and the applications (`app/`); `build.rs` compiles and links them.
#![no_std]

#[cfg(test)]
extern crate std;

#[path = "../../freertos/src/record.rs"]
pub mod record;

#[cfg(target_os = "none")]
#[path = "../../freertos/src/panic.rs"]
mod panic;
