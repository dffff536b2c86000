//! Any text as the description of a sweep.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| tactus::testing::try_sweep(text));
