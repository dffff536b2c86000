//! Counters: their relation to the board's counts.

use crate::hart::Hart;
use proptest::prelude::*;
use tactus_board::privileged::number as csr;
use tactus_board::privileged::{Event, Mode};

#[test]
fn p_3_1_10_a_written_counter_counts_on() {
    let mut hart = Hart::open(Mode::MACHINE);
    (hart.cycle, hart.instructions) = (1000, 500);
    assert_eq!(
        (hart.read(csr::MCYCLE), hart.read(csr::MINSTRET)),
        (Ok(1000), Ok(500))
    );
    hart.poke(csr::MCYCLE, 5);
    hart.poke(csr::MINSTRET, 7);
    hart.cycle += 10;
    // The write replaced its own instruction's increment: the next instruction reads the written value.
    hart.instructions += 1;
    assert_eq!(
        (hart.read(csr::MCYCLE), hart.read(csr::MINSTRET)),
        (Ok(15), Ok(7))
    );
    hart.instructions += 1;
    assert_eq!(
        (hart.read(csr::CYCLE), hart.read(csr::INSTRET)),
        (Ok(15), Ok(8))
    );
    hart.poke(csr::MCYCLE, u64::MAX);
    hart.cycle += 2;
    assert_eq!(hart.read(csr::MCYCLE), Ok(1), "they wrap");
}

#[test]
fn p_3_1_12_inhibited_counters_stand_still() {
    let mut hart = Hart::open(Mode::MACHINE);
    hart.poke(csr::MHPMEVENT3, Event::Load as u64);
    assert_eq!(
        hart.stored(csr::MCOUNTINHIBIT, u64::MAX),
        0xffff_fffd,
        "time has no bit"
    );
    hart.poke(csr::MCOUNTINHIBIT, 0);
    hart.cycle = 100;
    hart.events[Event::Load as usize - 1] = 30;
    hart.poke(csr::MCOUNTINHIBIT, 0b1001);
    hart.cycle += 50;
    hart.instructions += 50;
    hart.events[Event::Load as usize - 1] += 50;
    assert_eq!(
        [csr::MCYCLE, csr::MINSTRET, csr::MHPMCOUNTER3].map(|number| hart.peek(number)),
        [100, 50, 30]
    );
    hart.poke(csr::MCYCLE, 7);
    hart.cycle += 50;
    assert_eq!(hart.peek(csr::MCYCLE), 7);
    hart.poke(csr::MCOUNTINHIBIT, 0);
    hart.cycle += 3;
    hart.events[Event::Load as usize - 1] += 2;
    assert_eq!(
        [csr::MCYCLE, csr::MHPMCOUNTER3].map(|number| hart.peek(number)),
        [10, 32]
    );
}

#[test]
fn p_3_1_10_event_selectors() {
    let mut hart = Hart::open(Mode::MACHINE);
    for index in 0..29 {
        let (selector, counter) = (csr::MHPMEVENT3 + index, csr::MHPMCOUNTER3 + index);
        for event in 0..=Event::COUNT as u64 {
            hart.events = std::array::from_fn(|event| 1000 * (event as u64 + 1));
            assert_eq!(hart.stored(selector, event), event);
            hart.poke(counter, 5);
            for count in &mut hart.events {
                *count += 100;
            }
            if event > 0 {
                hart.events[event as usize - 1] += 11;
            }
            assert_eq!(hart.peek(counter), if event > 0 { 116 } else { 5 });
            assert_eq!(hart.read(csr::HPMCOUNTER3 + index), Ok(hart.peek(counter)));
        }
        for unknown in [Event::COUNT as u64 + 1, 256 + 1, u64::MAX] {
            assert_eq!(hart.stored(selector, unknown), 0);
        }
    }
}

#[test]
fn h_8_2_7_guests_see_time_with_the_delta() {
    for mode in crate::hart::MODES {
        let mut hart = Hart::open(mode);
        hart.time = 1000;
        hart.poke(csr::HTIMEDELTA, 0_u64.wrapping_sub(10));
        assert_eq!(
            hart.read(csr::TIME),
            Ok(if mode.v { 990 } else { 1000 }),
            "{mode:?}"
        );
    }
}

proptest! {
    /// A counter holds the last value written plus the events since then while it was not inhibited.
    #[test]
    fn p_3_1_12_any_history(steps in prop::collection::vec((0..4_u8, any::<u64>(), 0..4_u64), 1..100)) {
        let mut hart = Hart::open(Mode::MACHINE);
        let (mut model, mut inhibited, mut event) = (0_u64, false, 0_u64);
        for (kind, value, small) in steps {
            match kind {
                0 => {
                    hart.poke(csr::MHPMCOUNTER31, value);
                    model = value;
                }
                1 => {
                    inhibited = small & 1 != 0;
                    hart.poke(csr::MCOUNTINHIBIT, u64::from(inhibited) << 31 | value & 0x7fff_ffff);
                }
                2 => {
                    event = small;
                    hart.poke(csr::MHPMEVENT31, event);
                }
                _ => {
                    for (index, count) in hart.events.iter_mut().enumerate() {
                        *count = count.wrapping_add(value.wrapping_mul(index as u64 + 1));
                    }
                    if !inhibited {
                        model = model.wrapping_add(value.wrapping_mul(event));
                    }
                }
            }
            prop_assert_eq!(hart.peek(csr::MHPMCOUNTER31), model);
        }
    }
}
