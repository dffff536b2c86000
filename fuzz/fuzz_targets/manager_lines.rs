//! Any bytes as a line between a manager and those who talk to it.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../guests/management/tests/any/mod.rs"]
mod any;

fuzz_target!(|bytes: &[u8]| any::feed(bytes));
