//! The Rust side of the FreeRTOS guest: reading the devicetree, and record lines for the `tactus` tool.
//!
//! The kernel, its port (`port/`), the drivers (`platform/`) and the applications (`app/`) are C, the language of
//! FreeRTOS and of what is written for it; `build.rs` compiles them. What takes foreign data apart or must keep a
//! format is here, where it is memory safe and tested on the host.
#![no_std]

#[cfg(test)]
extern crate std;

pub mod devicetree;
pub mod record;

#[cfg(target_os = "none")]
mod panic;
