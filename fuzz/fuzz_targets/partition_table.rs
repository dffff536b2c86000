//! A disk whose partition table is damaged.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../virtio/tests/driver/table.rs"]
mod table;

fuzz_target!(|bytes: &[u8]| table::damaged(bytes));
