//! Peers that do anything before a service VM that emulates ivshmem.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../ivshmem/tests/driver/mod.rs"]
mod driver;

fuzz_target!(|bytes: &[u8]| driver::hostile(bytes));
