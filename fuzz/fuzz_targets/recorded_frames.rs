//! The memory of a switch that records frames.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tactus::testing::try_recording(bytes));
