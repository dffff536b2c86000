//! Any text as a command program of the fabric's timed I/O, and as the words of one.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| tactus::testing::try_timed_io(text));
