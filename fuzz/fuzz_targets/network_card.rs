//! A network card that does anything behind its driver.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../guests/network-card/tests/machine/mod.rs"]
mod machine;

fuzz_target!(|bytes: &[u8]| machine::hostile(bytes));
