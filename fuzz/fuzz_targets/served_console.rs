//! A driver that does anything before a console that a service VM emulates, and the screen its text is shown on.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../virtio/tests/driver/mod.rs"]
mod driver;

fuzz_target!(|bytes: &[u8]| driver::any::hostile_console(bytes));
