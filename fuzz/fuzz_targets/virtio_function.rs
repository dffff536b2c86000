//! The configuration space of a virtio PCI function with anything in it.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../virtio/tests/driver/function.rs"]
mod function;

fuzz_target!(|bytes: &[u8]| function::garbled(bytes));
