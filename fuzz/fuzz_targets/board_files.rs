//! What a board is made and started from: damaged snapshots, executables, profiles.
#![no_main]

#[path = "../../board/tests/robust/checks.rs"]
mod checks;
#[path = "../../board/tests/robust/scenario.rs"]
mod scenario;

use libfuzzer_sys::fuzz_target;
use scenario::{Scenario, Source, Wishes};
use tactus_board::profile::Profile;

fuzz_target!(|bytes: &[u8]| {
    let mut source = Source::new(bytes);
    match source.below(4) {
        0 => {
            let scenario = Scenario::of(&mut source, Wishes::default());
            checks::damaged_snapshots(&scenario, &mut source, 1);
        }
        1 => checks::any_file(&mut source),
        2 => checks::any_profile(&mut source),
        _ => drop(Profile::parse("profile.toml", &String::from_utf8_lossy(bytes))),
    }
});
