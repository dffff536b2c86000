//! Any bytes as a message of the run at the other end of a cable (`--pci-net cable=FILE`).
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tactus::testing::try_cable(bytes));
