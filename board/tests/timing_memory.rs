//! The store buffer, main memory, devices and fences.

use proptest::prelude::*;
use tactus_board::profile::Profile;
use tactus_board::timing::parameters::{
    Access, Fixed, Memory, OpenRow, Parameters, Region, StoreBuffer,
};
use tactus_board::timing::{Counts, Timing};

/// The sets of a fence: reads and writes of memory.
const MEMORY_ORDER: u8 = 0b0011;
/// Device output.
const OUTPUT: u8 = 0b0100;

fn base() -> Parameters {
    Profile::named("mpsoc")
        .expect("it comes with the crate")
        .timing
}

fn soc() -> Parameters {
    Profile::named("soc")
        .expect("it comes with the crate")
        .timing
}

/// Parameters without caches, so that every store enters the buffer.
///
/// Devices are at 0 with writes of 5 cycles, at 0x1000 with 17, at 0x2000 with 50. The last one's writes are not
/// posted.
fn buffered(entries: u8, outstanding: u8, forward: bool) -> Parameters {
    let region = |address: u64, write: u32, posted: bool| Region {
        name: format!("at {address:#x}"),
        address,
        size: 0x1000,
        read: 2 * write,
        write,
        posted,
        handover: 0,
    };
    Parameters {
        store_buffer: Some(StoreBuffer {
            entries,
            outstanding,
            forward,
        }),
        memory: Memory::Fixed(Fixed {
            latency: 20,
            transfer: 0,
        }),
        regions: vec![
            region(0, 5, true),
            region(0x1000, 17, true),
            region(0x2000, 50, false),
        ],
        ..base()
    }
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Store(u64),
    Load(u64),
    Atomic(u64, i32),
    Device(u64, bool),
    Fence(u8),
    Wait(u64),
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let word = (0_u64..4).prop_map(|word| 0x8000_0000 + 8 * word);
    let action = prop_oneof![
        6 => word.clone().prop_map(Action::Store),
        3 => word.clone().prop_map(Action::Load),
        1 => (word, 0_i32..4).prop_map(|(word, ordering)| Action::Atomic(word, ordering)),
        4 => ((0_u64..3).prop_map(|region| region << 12), any::<bool>()).prop_map(|(at, write)| Action::Device(at, write)),
        1 => (0_u8..16).prop_map(Action::Fence),
        4 => (0_u64..60).prop_map(Action::Wait),
    ];
    prop::collection::vec(action, 1..120)
}

/// All stores so far: the time of their completion, and the word (`None`: a device).
struct Model {
    entries: usize,
    outstanding: usize,
    forward: bool,
    stores: Vec<(u64, Option<u64>)>,
}

impl Model {
    /// The first time from `from` on with fewer than `limit` stores in progress.
    fn when_below(&self, limit: usize, from: u64) -> u64 {
        (from..)
            .find(|time| self.stores.iter().filter(|(done, _)| done > time).count() < limit)
            .expect("they end")
    }

    fn push(&mut self, word: Option<u64>, duration: u64, now: u64) -> u64 {
        let enters = self.when_below(self.entries, now);
        let begins = self.when_below(self.outstanding, enters);
        let last = self.stores.iter().map(|(done, _)| *done).max().unwrap_or(0);
        self.stores.push(((begins + duration).max(last), word));
        enters - now
    }

    fn wait(&self, which: impl Fn(Option<u64>) -> bool, now: u64) -> u64 {
        let done = self
            .stores
            .iter()
            .filter(|(_, word)| which(*word))
            .map(|(done, _)| *done)
            .max()
            .unwrap_or(0);
        done.saturating_sub(now)
    }

    fn word_wait(&self, address: u64, now: u64) -> u64 {
        if self.forward {
            0
        } else {
            self.wait(|word| word == Some(address), now)
        }
    }

    fn perform(&mut self, action: Action, now: u64) -> u64 {
        match action {
            Action::Store(address) => self.push(Some(address), 20, now),
            Action::Load(address) => self.word_wait(address, now) + 20,
            Action::Atomic(address, ordering) => {
                let release = if ordering & 1 != 0 {
                    self.wait(|_| true, now)
                } else {
                    0
                };
                release + self.word_wait(address, now + release) + 20
            }
            Action::Device(address, write) => {
                let (cost, posted) = [(5, true), (17, true), (50, false)][(address >> 12) as usize];
                match (write, posted) {
                    (true, true) => self.push(None, cost, now),
                    (true, false) => self.wait(|word| word.is_none(), now) + cost,
                    (false, _) => self.wait(|word| word.is_none(), now) + 2 * cost,
                }
            }
            Action::Fence(predecessors) if predecessors & 0b0101 != 0 => self.wait(|_| true, now),
            Action::Fence(_) | Action::Wait(_) => 0,
        }
    }
}

fn perform(timing: &mut Timing, action: Action, now: u64) -> u64 {
    match action {
        Action::Store(address) => timing.data(0, address, true, now),
        Action::Load(address) => timing.data(0, address, false, now),
        Action::Atomic(address, ordering) => timing.atomic(0, address, ordering, now),
        Action::Device(address, write) => timing.uncached(0, address + 8, write, now),
        Action::Fence(predecessors) => timing.fence(0, predecessors, now),
        Action::Wait(_) => 0,
    }
}

fn stalls(counts: &Counts) -> u64 {
    Counts::NAMES
        .iter()
        .zip(counts.values())
        .filter(|(name, _)| name.starts_with("stall_"))
        .map(|(_, value)| value)
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn the_store_buffer_is_as_the_slow_model(
        entries in 1_u8..=16,
        outstanding in 1_u8..=16,
        forward in any::<bool>(),
        actions in actions(),
    ) {
        let outstanding = outstanding.min(entries);
        let mut timing = Timing::new(&buffered(entries, outstanding, forward), 1, 1);
        let (entries, outstanding) = (entries.into(), outstanding.into());
        let mut model = Model { entries, outstanding, forward, stores: Vec::new() };
        let (mut now, mut sum) = (0, 0);
        for action in actions {
            let stall = perform(&mut timing, action, now);
            prop_assert_eq!(stall, model.perform(action, now), "{:?} at {}", action, now);
            sum += stall;
            now += 1 + stall + if let Action::Wait(time) = action { time } else { 0 };
            let held = model.stores.iter().filter(|(done, _)| *done > now).count();
            prop_assert_eq!(timing.stores_held(0, now), held);
            prop_assert!(held <= entries);
        }
        prop_assert_eq!(stalls(timing.counts(0)), sum, "each stall is counted once");
    }
}

#[test]
fn stores_that_miss_stall_when_the_buffer_is_full() {
    let mut parameters = soc();
    parameters.store_buffer = Some(StoreBuffer {
        entries: 2,
        outstanding: 1,
        forward: false,
    });
    parameters.memory = Memory::Fixed(Fixed {
        latency: 74,
        transfer: 0,
    });
    let mut timing = Timing::new(&parameters, 1, 1);
    // A miss takes 26 cycles to the L2 cache and 74 from there.
    let mut store = |line: u64, now| timing.data(0, 0x8000_0000 + 32 * line, true, now);
    assert_eq!(store(0, 0), 0);
    assert_eq!(store(0, 1), 0, "its line is the cache's by now");
    assert_eq!(store(1, 10), 0);
    assert_eq!(
        store(2, 20),
        80,
        "the first is done at 100, the others at 200 and 300"
    );
    assert_eq!(
        timing.data(0, 0x8000_0020, false, 101),
        99,
        "a load of a line that is on its way"
    );
    assert_eq!(timing.data(0, 0x8000_0000, false, 201), 0);
    assert_eq!(timing.fence(0, MEMORY_ORDER, 210), 90);
    assert_eq!(timing.fence(0, MEMORY_ORDER, 300), 0);
    let counts = timing.counts(0);
    assert_eq!(
        (counts.stall_store, counts.stall_load, counts.stall_fence),
        (80, 99, 90)
    );
    assert_eq!((counts.stores, counts.store_misses), (4, 3));
}

#[test]
fn a_load_is_served_from_the_buffer_where_it_forwards() {
    let mut timing = Timing::new(&soc(), 1, 1);
    timing.data(0, 0x8000_0000, true, 0);
    assert_eq!(timing.data(0, 0x8000_0008, false, 1), 0);
}

#[test]
fn orderings_wait_only_for_the_accesses_that_they_order() {
    let new = || {
        let mut timing = Timing::new(&buffered(4, 1, true), 1, 1);
        assert_eq!(timing.data(0, 0x8000_0000, true, 0), 0);
        assert_eq!(timing.uncached(0, 0x1000, true, 1), 0);
        timing
    };
    // The store completes at 20, the write to the device at 37.
    assert_eq!(
        new().fence(0, MEMORY_ORDER, 10),
        27,
        "entries are done in order"
    );
    assert_eq!(new().fence(0, OUTPUT, 10), 27);
    assert_eq!(
        new().fence(0, 0b1010, 10),
        0,
        "reads are done when the hart goes on"
    );
    assert_eq!(new().fence(0, 0, 10), 0, "fence.tso");
    assert_eq!(new().fence_i(0, 10), 27);
    assert_eq!(new().atomic(0, 0x8000_0100, 0, 10), 20);
    assert_eq!(new().atomic(0, 0x8000_0100, 0b10, 10), 20, "aq");
    assert_eq!(new().atomic(0, 0x8000_0100, 0b01, 10), 27 + 20, "rl");
    assert_eq!(new().load_reserved(0, 0x8000_0100, 0b01, 10), 27 + 20);
    assert_eq!(new().store_conditional(0, 0x8000_0100, 0b10, true, 10), 20);
    assert_eq!(new().store_conditional(0, 0x8000_0100, 0b11, false, 10), 27);
    assert_eq!(
        new().store_conditional(0, 0x8000_0100, 0b10, false, 10),
        0,
        "it failed"
    );
    assert_eq!(
        new().uncached(0, 0x1000, false, 10),
        27 + 34,
        "a device's registers are read after they were written"
    );
    assert_eq!(new().uncached(0, 0x2000, true, 10), 27 + 50);
}

#[test]
fn a_posted_write_may_take_the_hart_some_cycles_of_its_own() {
    let mut parameters = buffered(4, 1, true);
    parameters.regions[1].handover = 3;
    let mut timing = Timing::new(&parameters, 1, 1);
    assert_eq!(timing.uncached(0, 0x1000, true, 0), 3);
    assert_eq!(timing.uncached(0, 0x1000, false, 17), 34, "a read");
    assert_eq!(timing.uncached(0, 0x2000, true, 51), 50, "is not posted");
}

#[test]
fn regions_have_their_costs_and_other_addresses_the_general_ones() {
    let mut parameters = buffered(4, 1, true);
    parameters.device = Access {
        read: 9,
        write: 8,
        posted: false,
        handover: 0,
    };
    let mut timing = Timing::new(&parameters, 1, 1);
    let mut read = |address| timing.uncached(0, address, false, 0);
    assert_eq!(
        [0, 0xfff, 0x1000, 0x1fff, 0x2fff].map(&mut read),
        [10, 10, 34, 34, 100]
    );
    assert_eq!([0x3000, 0x8000_0000, u64::MAX].map(&mut read), [9, 9, 9]);
    assert_eq!(timing.uncached(0, 0x3000, true, 0), 8);
    assert_eq!(timing.counts(0).uncached, 9);
}

fn open_row() -> OpenRow {
    OpenRow {
        banks: 4,
        row_bytes: 1024,
        controller: 1000,
        row_hit: 10,
        row_closed: 20,
        row_conflict: 30,
        bank_busy: 0,
        transfer: 0,
        refresh_interval: 0,
        refresh_cycles: 0,
        write_queue: 0,
        write_idle: 0,
    }
}

/// Parameters of memory alone: no caches, no store buffer.
fn memory(row: OpenRow, harts: usize) -> Timing {
    Timing::new(
        &Parameters {
            memory: Memory::OpenRow(row),
            ..base()
        },
        harts,
        1,
    )
}

#[test]
fn rows_stay_open() {
    let mut timing = memory(open_row(), 1);
    let mut load = |address, now| timing.data(0, address, false, now);
    assert_eq!(load(0, 0), 1020, "no row is open");
    assert_eq!(load(1023, 2000), 1010);
    assert_eq!(load(1024, 4000), 1020, "the next row is in the next bank");
    assert_eq!(load(8, 6000), 1010, "which left the first alone");
    assert_eq!(load(4096, 8000), 1030, "the second row of the first bank");
    assert_eq!(load(0, 10_000), 1030);
}

#[test]
fn a_busy_bank_and_a_busy_channel_make_others_wait() {
    let mut timing = memory(
        OpenRow {
            bank_busy: 100,
            ..open_row()
        },
        2,
    );
    assert_eq!(timing.data(0, 0, false, 0), 1020);
    assert_eq!(timing.data(1, 8, false, 30), 70 + 1010);
    assert_eq!(timing.data(0, 1024, false, 40), 1020, "another bank");
    assert_eq!(timing.data(0, 16, false, 500), 1010);
    let mut timing = memory(
        OpenRow {
            transfer: 8,
            ..open_row()
        },
        2,
    );
    assert_eq!(timing.data(0, 0, false, 0), 1020);
    assert_eq!(
        timing.data(1, 1024, false, 3),
        5 + 1020,
        "another bank, but the same channel"
    );
    assert_eq!(timing.data(0, 8, false, 7), 9 + 1010);
    let fixed = Memory::Fixed(Fixed {
        latency: 6,
        transfer: 2,
    });
    let mut timing = Timing::new(
        &Parameters {
            memory: fixed,
            ..base()
        },
        4,
        1,
    );
    assert_eq!(
        [0, 1, 2, 3].map(|hart| timing.data(hart, 0, false, 50)),
        [6, 8, 10, 12]
    );
}

/// A hart whose clock is behind does not queue behind all requests that the others have made since.
#[test]
fn a_hart_that_is_behind_waits_for_one_request_of_each_master() {
    let mut timing = memory(
        OpenRow {
            bank_busy: 100,
            ..open_row()
        },
        2,
    );
    timing.data(0, 0, false, 0);
    timing.data(0, 0, false, 50_000);
    assert_eq!(
        timing.data(1, 0, false, 10),
        300 + 1010,
        "two harts and a bus master"
    );
    let fixed = Memory::Fixed(Fixed {
        latency: 6,
        transfer: 2,
    });
    let mut timing = Timing::new(
        &Parameters {
            memory: fixed,
            ..base()
        },
        4,
        1,
    );
    timing.data(0, 0, false, 50_000);
    assert_eq!(timing.data(1, 0, false, 10), 5 * 2 + 6);
}

#[test]
fn a_refresh_closes_rows_and_takes_its_time() {
    let mut timing = memory(
        OpenRow {
            refresh_interval: 10_000,
            refresh_cycles: 500,
            ..open_row()
        },
        1,
    );
    let mut load = |now| timing.data(0, 0, false, now);
    assert_eq!(load(600), 1020);
    assert_eq!(load(9_000), 1010);
    assert_eq!(load(10_100), 400 + 1020, "refreshed from 10,000 to 10,500");
    assert_eq!(load(15_000), 1010);
    assert_eq!(load(35_000), 1020, "two refreshes on");
}

/// A line of `soc` from memory takes the sum of the profile's figures.
#[test]
fn the_way_to_memory_in_soc() {
    let parameters = soc();
    let Memory::OpenRow(row) = &parameters.memory else {
        panic!("soc has DRAM")
    };
    let caches = parameters.caches.as_ref().expect("soc has caches");
    let mut timing = Timing::new(&parameters, 1, 1);
    let closed = caches.l2_latency + row.controller + row.row_closed;
    assert_eq!(timing.data(0, 0x8000_0000, false, 0), u64::from(closed));
    assert_eq!(
        timing.data(0, 0x8000_0020, false, 1_000),
        u64::from(closed - row.row_closed + row.row_hit)
    );
}
