//! One end of a channel's rings, whatever the other end writes into their memory.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../guests/channel/tests/hostile/mod.rs"]
mod hostile;

fuzz_target!(|bytes: &[u8]| hostile::feed(bytes));
