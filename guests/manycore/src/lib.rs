//! The Rust side of the many-core board's images: record lines, and the handling of panics. The rest is C: the kernel,
//! the platform (`platform/`), the implementations of I/O (`io/`) and the applications (`app/`), built by `build.rs`.
#![no_std]

#[cfg(test)]
extern crate std;

#[path = "../../freertos/src/record.rs"]
pub mod record;

#[cfg(target_os = "none")]
#[path = "../../freertos/src/panic.rs"]
mod panic;
