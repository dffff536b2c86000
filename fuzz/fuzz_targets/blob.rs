//! Any bytes as a system blob, which the hypervisor reads before it trusts anything.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tactus::testing::try_blob(bytes));
