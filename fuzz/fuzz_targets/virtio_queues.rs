//! Any memory behind the queues of the board's virtio devices.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../board/tests/devices_harness/mod.rs"]
#[allow(dead_code, reason = "the other parts are for other targets")]
mod devices_harness;

fuzz_target!(|bytes: &[u8]| devices_harness::queues(bytes));
