//! Any text as a campaign of faults.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| tactus::testing::try_faults(text));
