//! Any bytes as a machine's serial line, which hostile guests write to.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tactus::run::journal::try_serial_line(bytes));
