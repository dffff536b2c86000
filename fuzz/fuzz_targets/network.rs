//! Any text as the ends of a network device's cable (`--pci-net`).
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| tactus::testing::try_network(text));
