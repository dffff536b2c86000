//! A driver that does anything before an entropy device that a service VM emulates.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../virtio/tests/driver/mod.rs"]
mod driver;

fuzz_target!(|bytes: &[u8]| driver::any::hostile_entropy(bytes));
