//! Any software on the virtual board: the board does not fail, and how the run is cut changes nothing.
#![no_main]

#[path = "../../board/tests/robust/checks.rs"]
mod checks;
#[path = "../../board/tests/robust/scenario.rs"]
mod scenario;

use libfuzzer_sys::fuzz_target;
use scenario::{Scenario, Source, Wishes};

fuzz_target!(|bytes: &[u8]| {
    let mut source = Source::new(bytes);
    let check = source.below(6);
    let wishes = match check {
        // What is under way in the modelled pipeline does not last over a cut.
        0 => Wishes { harts: Some(1), timed: Some(false), ..Wishes::default() },
        1 | 2 => Wishes { timed: Some(false), ..Wishes::default() },
        3 => Wishes { harts: Some(1), ..Wishes::default() },
        4 => Wishes { harts: Some(1), timeless: true, timed: None },
        _ => Wishes::default(),
    };
    let scenario = Scenario::of(&mut source, wishes);
    match check {
        0 => checks::in_pieces(&scenario, &mut source),
        1 => checks::with_probes(&scenario, &mut source),
        2 => checks::with_stops(&scenario, &mut source),
        3 => checks::with_another_quantum(&scenario, &mut source),
        4 => checks::at_another_pace(&scenario),
        _ => checks::restored(&scenario, &mut source),
    }
});
