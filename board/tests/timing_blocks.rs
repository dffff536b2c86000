//! What operations on cache blocks cost, and what they do to the caches.

use proptest::prelude::*;
use tactus_board::board::{Outcome, Pace};
use tactus_board::privileged::BlockOperation;
use tactus_board::privileged::number as csr;
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options};
use tactus_board::time::Femtoseconds;
use tactus_board::timing::parameters::{self, Fixed, Memory, Parameters};
use tactus_board::timing::{LineState, Prefetch, Timing};

/// Both are costs of a fill.
const LEVEL2: u64 = 26;
const MEMORY: u64 = 100;
const LINE: u64 = 32;
const BEGIN: u64 = 0x8000_0000;

/// The caches of `soc`, memory that always takes as long, and so many fills under way.
fn parameters(outstanding: u8) -> Parameters {
    let mut parameters = Profile::named("soc")
        .expect("it comes with the crate")
        .timing;
    parameters.memory = Memory::Fixed(Fixed {
        latency: MEMORY as u32,
        transfer: 0,
    });
    parameters.prefetch = (outstanding > 0).then_some(parameters::Prefetch { outstanding });
    parameters
}

fn timing(outstanding: u8) -> Timing {
    Timing::new(&parameters(outstanding), 2, 1)
}

const fn line(number: u64) -> u64 {
    BEGIN + number * LINE
}

#[test]
fn a_load_waits_for_what_is_left_of_a_prefetch() {
    for (after, wait) in [
        (0, LEVEL2 + MEMORY),
        (50, LEVEL2 + MEMORY - 50),
        (126, 0),
        (500, 0),
    ] {
        let mut timing = timing(2);
        assert_eq!(timing.prefetch(0, Prefetch::Read, line(0) + 5, 1_000), 0);
        assert_eq!(timing.held(0, line(0)).data, LineState::Exclusive);
        assert_eq!(timing.data(0, line(0), false, 1_000 + after), wait);
        assert_eq!(timing.counts(0).stall_load, wait);
        assert_eq!(timing.counts(0).load_misses, 0);
    }
}

#[test]
fn a_fetch_waits_for_what_is_left_of_a_prefetch() {
    let mut timing = timing(2);
    assert_eq!(timing.prefetch(0, Prefetch::Fetch, line(3), 1_000), 0);
    assert!(timing.held(0, line(3)).code);
    assert_eq!(timing.fetch(0, line(3), 1, 1_100), LEVEL2 + MEMORY - 100);
    assert_eq!(timing.counts(0).fetch_misses, 0);
    // The line before it is not there.
    assert_eq!(timing.fetch(0, line(2), 2, 2_000), LEVEL2 + MEMORY);
}

#[test]
fn a_store_waits_in_the_store_buffer() {
    let mut timing = timing(2);
    timing.prefetch(0, Prefetch::Write, line(0), 1_000);
    assert_eq!(timing.held(0, line(0)).data, LineState::Exclusive);
    assert_eq!(timing.data(0, line(0), true, 1_010), 0);
    assert_eq!(timing.held(0, line(0)).data, LineState::Modified);
    assert_eq!(timing.fence(0, 3, 1_020), LEVEL2 + MEMORY - 20);
}

#[test]
fn one_fill_more_than_there_may_be_waits_for_the_first() {
    let mut timing = timing(2);
    assert_eq!(timing.prefetch(0, Prefetch::Read, line(0), 1_000), 0);
    assert_eq!(timing.prefetch(0, Prefetch::Fetch, line(1), 1_010), 0);
    assert_eq!(timing.prefetch(0, Prefetch::Read, line(2), 1_020), 106);
    assert_eq!(timing.prefetch(0, Prefetch::Read, line(3), 1_126), 10);
    // The other hart has places of its own, and what is there already needs none.
    assert_eq!(timing.prefetch(1, Prefetch::Read, line(4), 1_030), 0);
    assert_eq!(timing.prefetch(0, Prefetch::Read, line(3), 1_140), 0);
    let counts = timing.counts(0);
    assert_eq!((counts.stall_load, counts.stall_fetch), (116, 0));
}

#[test]
fn a_prefetch_for_writing_takes_the_line_from_others() {
    let mut timing = timing(2);
    timing.data(1, line(0), true, 0);
    timing.prefetch(0, Prefetch::Write, line(0), 1_000);
    assert_eq!(timing.held(1, line(0)).data, LineState::Invalid);
    assert_eq!(timing.held(0, line(0)).data, LineState::Exclusive);
    // What the other had written is not lost: it leaves with the line.
    timing.operate_on_block(0, BlockOperation::Flush, line(0), 2_000);
    assert_eq!(timing.counts(0).level2_write_backs, 1);
}

#[test]
fn without_fills_a_prefetch_does_nothing() {
    let mut timing = timing(0);
    assert_eq!(timing.prefetch(0, Prefetch::Read, line(0), 0), 0);
    assert!(!timing.held(0, line(0)).level2);
}

#[test]
fn cbo_zero_allocates_and_reads_nothing() {
    let mut timing = timing(2);
    assert_eq!(
        timing.operate_on_block(0, BlockOperation::Zero, line(0), 0),
        0
    );
    assert_eq!(timing.held(0, line(0)).data, LineState::Modified);
    assert!(timing.held(0, line(0)).level2);
    // No memory is in it.
    assert_eq!(timing.fence(0, 3, 0), LEVEL2);
    let mut store = self::timing(2);
    store.data(0, line(0), true, 0);
    assert_eq!(store.fence(0, 3, 0), LEVEL2 + MEMORY);
    // Where the hart has the line already, it costs nothing.
    assert_eq!(
        timing.operate_on_block(0, BlockOperation::Zero, line(0), 1_000),
        0
    );
    assert_eq!(timing.fence(0, 3, 1_000), 0);
}

#[test]
fn a_clean_writes_what_is_dirty_and_keeps_the_line() {
    let mut timing = timing(2);
    timing.data(0, line(0), true, 0);
    timing.operate_on_block(0, BlockOperation::Clean, line(0), 1_000);
    assert_eq!(timing.fence(0, 3, 1_000), LEVEL2 + MEMORY);
    assert_eq!(timing.held(0, line(0)).data, LineState::Exclusive);
    // It is clean now.
    timing.operate_on_block(0, BlockOperation::Clean, line(0), 2_000);
    assert_eq!(timing.fence(0, 3, 2_000), LEVEL2);
    assert_eq!(timing.counts(0).level2_write_backs, 1);
}

#[test]
fn a_flush_writes_and_drops_and_an_invalidation_drops() {
    for (operation, cost, write_backs) in [
        (BlockOperation::Flush, LEVEL2 + MEMORY, 1),
        (BlockOperation::Invalidate, LEVEL2, 0),
    ] {
        let mut timing = timing(2);
        timing.data(0, line(0), true, 0);
        timing.fetch(0, line(0), 1, 500);
        timing.data(0, line(0), true, 700);
        timing.operate_on_block(0, operation, line(0), 1_000);
        assert_eq!(timing.fence(0, 3, 1_000), cost, "{operation:?}");
        let held = timing.held(0, line(0));
        assert_eq!(
            (held.data, held.code, held.level2),
            (LineState::Invalid, false, false)
        );
        assert_eq!(timing.counts(0).level2_write_backs, write_backs);
        timing.check_coherence().expect("all agree");
    }
}

#[test]
fn what_another_hart_has_costs_more() {
    let parameters = parameters(2);
    let caches = parameters.caches.as_ref().expect("soc has caches");
    let intervention = u64::from(caches.intervention);
    let snoop = u64::from(caches.snoop);
    for (write, cost) in [
        (true, LEVEL2 + intervention + MEMORY),
        (false, LEVEL2 + snoop),
    ] {
        let mut timing = Timing::new(&parameters, 2, 1);
        timing.data(1, line(0), write, 0);
        timing.operate_on_block(0, BlockOperation::Flush, line(0), 1_000);
        assert_eq!(timing.fence(0, 3, 1_000), cost);
        assert_eq!(timing.held(1, line(0)).data, LineState::Invalid);
    }
}

/// The virtual page that the programs of [`misses`] access, whose entry has these flags.
const PAGE: u64 = 0x4000_0000;

/// Runs a program on the board of `soc-ocm` and gives the lines that its L2 cache had to read. Data accesses are those
/// of S-mode through Sv39; a1 holds the address of a page that is mapped with `flags`.
fn misses(program: &[u32], flags: u64) -> u64 {
    let mut profile = Profile::named("soc-ocm").expect("it comes with the crate");
    if let Some(caches) = &mut profile.timing.caches {
        caches.next_line = None;
    }
    let options = Options {
        harts: Some(1),
        memory: Some(1 << 20),
        ..Options::default()
    };
    let (mut board, _) =
        setup::board(&profile, &options, Vec::new()).expect("there is such a board");
    let [root, middle, last, page] = [1, 2, 3, 4].map(|number| BEGIN + number * 0x1000);
    for (table, index, to, flags) in [
        (root, PAGE >> 30, middle, 1),
        (middle, 0, last, 1),
        (last, 0, page, flags),
    ] {
        let entry = to >> 2 | flags;
        board
            .write(table + index * 8, &entry.to_le_bytes())
            .expect("there is memory");
    }
    for (number, value) in [
        (csr::PMPADDR0, u64::MAX),
        (csr::PMPCFG0, 0x1f),
        (csr::SATP, 8 << 60 | root >> 12),
        // MPRV, with S as the mode before.
        (csr::MSTATUS, 1 << 17 | 1 << 11),
    ] {
        board.set_csr(0, number, value).expect("a register");
    }
    let bytes: Vec<u8> = program
        .iter()
        .chain(&[0x0000_006f])
        .flat_map(|word| word.to_le_bytes())
        .collect();
    board.write(BEGIN, &bytes).expect("there is memory");
    board.set_pc(0, BEGIN);
    board.set_x(0, 11, PAGE);
    board.set_pace(Pace::Timed);
    assert_eq!(board.run(Femtoseconds(10_000_000_000)), Outcome::Limit);
    board.counts(0).level2_misses
}

/// A prefetch reads a line where a TLB has its page and the access is permitted, and nothing elsewhere.
#[test]
fn a_prefetch_that_misses_the_tlb_or_would_fault_does_nothing() {
    const NOP: u32 = 0x0000_0013;
    /// `ld a0, 64(a1)`
    const LOAD: u32 = 0x0405_b503;
    const PREFETCH_R: u32 = 0x0015_e013;
    const PREFETCH_W: u32 = 0x0035_e013;
    // V, R, W, A, D, and without W and D.
    let (writable, readable) = (0xc7, 0x43);
    assert_eq!(
        misses(&[NOP, PREFETCH_R], writable),
        misses(&[NOP, NOP], writable)
    );
    assert_eq!(
        misses(&[LOAD, PREFETCH_R], writable),
        misses(&[LOAD, NOP], writable) + 1
    );
    assert_eq!(
        misses(&[LOAD, PREFETCH_W], writable),
        misses(&[LOAD, NOP], writable) + 1
    );
    assert_eq!(
        misses(&[LOAD, PREFETCH_R], readable),
        misses(&[LOAD, NOP], readable) + 1
    );
    assert_eq!(
        misses(&[LOAD, PREFETCH_W], readable),
        misses(&[LOAD, NOP], readable)
    );
    // R and W without D: a store would set it.
    assert_eq!(
        misses(&[LOAD, PREFETCH_W], 0x47),
        misses(&[LOAD, NOP], 0x47)
    );
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Data(bool),
    Fetch,
    Prefetch(Prefetch),
    Block(BlockOperation),
}

fn actions() -> impl Strategy<Value = Vec<(usize, Action, u64)>> {
    use BlockOperation::{Clean, Flush, Invalidate, Zero};
    let action = prop::sample::select(vec![
        Action::Data(false),
        Action::Data(true),
        Action::Fetch,
        Action::Prefetch(Prefetch::Fetch),
        Action::Prefetch(Prefetch::Read),
        Action::Prefetch(Prefetch::Write),
        Action::Block(Clean),
        Action::Block(Flush),
        Action::Block(Invalidate),
        Action::Block(Zero),
    ]);
    prop::collection::vec((0_usize..2, action, 0_u64..12), 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Caches and directory agree after every operation, and a state saved goes on as the one that it was saved from.
    #[test]
    fn caches_agree_and_states_can_be_saved(actions in actions()) {
        let mut parameters = parameters(2);
        if let Some(caches) = &mut parameters.caches {
            for cache in [&mut caches.l1i, &mut caches.l1d, &mut caches.l2] {
                (cache.size, cache.ways) = (4 * LINE, 2);
            }
        }
        let mut timing = Timing::new(&parameters, 2, 1);
        let mut other = Timing::new(&parameters, 2, 1);
        let mut now = 0;
        for (hart, action, number) in actions {
            let perform = |timing: &mut Timing| match action {
                Action::Data(write) => timing.data(hart, line(number), write, now),
                Action::Fetch => timing.fetch(hart, line(number), 1, now),
                Action::Prefetch(kind) => timing.prefetch(hart, kind, line(number), now),
                Action::Block(operation) => timing.operate_on_block(hart, operation, line(number), now),
            };
            other.restore(&timing.save()).expect("a state of the same board");
            let stall = perform(&mut timing);
            prop_assert_eq!(stall, perform(&mut other));
            prop_assert_eq!(timing.check_coherence(), Ok(()));
            now += 7;
        }
    }
}
