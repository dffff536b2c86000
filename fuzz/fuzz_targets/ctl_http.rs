//! Any bytes as what a browser sends to the page of `tactus ctl`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tactus::testing::try_http(bytes));
