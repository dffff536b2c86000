//! Any text as a system's description: judged and, when nothing speaks against it, built.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tactus::testing::Bench;

static BENCH: LazyLock<Bench> = LazyLock::new(Bench::default);

fuzz_target!(|bytes: &[u8]| {
    BENCH.try_description(bytes);
});
