//! The Rust side of the FreeRTOS guest: reads the devicetree, and prints record lines for the `tactus` tool.
//!
//! The kernel, its port (`port/`), the drivers (`platform/`) and the applications (`app/`) are C, the language of
//! FreeRTOS and of its applications; `build.rs` compiles them. Code that parses foreign data or must keep a
//! format is in Rust, where it is memory safe and tested on the host.
#![no_std]

#[cfg(test)]
extern crate std;

pub mod devicetree;
pub mod record;

#[cfg(target_os = "none")]
mod panic;
