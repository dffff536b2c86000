//! What comes over the wire of a debugger, to a board with guests that have processes of their own or without.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../board/tests/gdb_harness/mod.rs"]
#[allow(dead_code, reason = "the rest is for the tests")]
mod gdb_harness;

fuzz_target!(|bytes: &[u8]| gdb_harness::try_lines(bytes));
