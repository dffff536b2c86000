//! Caches and coherence against a slow model with another structure: maps from lines to the time of their last use.
//!
//! The model searches its maps from end to end.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tactus_board::profile::Profile;
use tactus_board::timing::parameters::{
    Cache, Caches, Fixed, Memory, Parameters, Replacement, Walks,
};
use tactus_board::timing::{LineState, Timing};

/// Costs with unique sums, so that a wrong cost shows.
const LEVEL2: u64 = 10;
const INTERVENTION: u64 = 100;
const SNOOP: u64 = 1_000;
const INVALIDATION: u64 = 2_000;
const UPGRADE: u64 = 4_000;
const MEMORY: u64 = 10_000;

/// The number of lines that are accessed.
const LINES: u64 = 40;

fn cache(size: u64, ways: u32, line: u64, replacement: Replacement) -> Cache {
    Cache {
        size,
        ways,
        line,
        replacement,
    }
}

fn parameters(
    caches: [(u64, u32); 3],
    line: u64,
    replacement: Replacement,
    walks: Walks,
) -> Parameters {
    let [l1i, l1d, l2] =
        caches.map(|(sets, ways)| cache(sets * u64::from(ways) * line, ways, line, replacement));
    let mut parameters = Profile::named("soc")
        .expect("it comes with the crate")
        .timing;
    parameters.store_buffer = None;
    parameters.memory = Memory::Fixed(Fixed {
        latency: MEMORY as u32,
        transfer: 0,
    });
    parameters.caches = Some(Caches {
        l1i,
        l1d,
        l2,
        l2_latency: LEVEL2 as u32,
        intervention: INTERVENTION as u32,
        snoop: SNOOP as u32,
        invalidation: INVALIDATION as u32,
        upgrade: UPGRADE as u32,
        next_line: None,
    });
    if let Some(tlb) = &mut parameters.tlb {
        tlb.walks = walks;
    }
    parameters
}

/// An access; the line number becomes an address.
#[derive(Clone, Copy, Debug)]
enum Action {
    Load(u64),
    Store(u64),
    Atomic(u64),
    Fetch(u64),
    Walk(u64),
    FenceI,
    MasterWrite(u64),
    /// Over the coherent port.
    FabricRead(u64),
    /// The same, and whether the access is the whole line.
    FabricWrite(u64, bool),
    /// Past the caches.
    FabricPast(u64, bool),
}

fn actions() -> impl Strategy<Value = Vec<(usize, Action)>> {
    let line = 0..LINES;
    let action = prop_oneof![
        6 => line.clone().prop_map(Action::Load),
        5 => line.clone().prop_map(Action::Store),
        1 => line.clone().prop_map(Action::Atomic),
        4 => line.clone().prop_map(Action::Fetch),
        2 => line.clone().prop_map(Action::Walk),
        1 => Just(Action::FenceI),
        1 => line.clone().prop_map(Action::MasterWrite),
        2 => line.clone().prop_map(Action::FabricRead),
        2 => (line.clone(), any::<bool>()).prop_map(|(line, whole)| Action::FabricWrite(line, whole)),
        1 => (line, any::<bool>()).prop_map(|(line, write)| Action::FabricPast(line, write)),
    ];
    prop::collection::vec((0_usize..4, action), 1..300)
}

/// Sets and ways of all three caches, bytes of a line, harts.
type Geometry = ([(u64, u32); 3], u64, usize);

fn geometries() -> impl Strategy<Value = Geometry> {
    let level1 = (prop::sample::select(vec![1_u64, 2, 4]), 1_u32..=5);
    let level2 = (prop::sample::select(vec![1_u64, 2, 4, 8]), 1_u32..=9);
    let line = prop::sample::select(vec![16_u64, 32, 64, 256]);
    (level1.clone(), level1, level2, line, 1_usize..=4)
        .prop_map(|(l1i, l1d, l2, line, harts)| ([l1i, l1d, l2], line, harts))
}

fn perform(timing: &mut Timing, hart: usize, action: Action, line: u64) -> u64 {
    // Not at the start of the line, and above addresses that could be taken for something else.
    let address = |number: u64| 0x8000_0000 + number * line + 8;
    match action {
        Action::Load(number) => timing.data(hart, address(number), false, 0),
        Action::Store(number) => timing.data(hart, address(number), true, 0),
        Action::Atomic(number) => timing.atomic(hart, address(number), 0, 0),
        Action::Fetch(number) => timing.fetch(hart, address(number), 1, 0),
        Action::Walk(number) => timing.walk_access(hart, address(number), false, 0),
        Action::FenceI => timing.fence_i(hart, 0),
        Action::MasterWrite(number) => {
            timing.master_write(address(number), 1, 0);
            0
        }
        Action::FabricRead(number) => timing.fabric_access(true, address(number), 8, false, 0),
        Action::FabricWrite(number, true) => {
            timing.fabric_access(true, address(number) - 8, line, true, 0)
        }
        Action::FabricWrite(number, false) => {
            timing.fabric_access(true, address(number), 8, true, 0)
        }
        Action::FabricPast(number, write) => {
            timing.fabric_access(false, address(number), 8, write, 0)
        }
    }
}

/// A cache as a list of its lines, with least-recently-used replacement only.
#[derive(Clone, Debug)]
struct Plain<T> {
    sets: u64,
    ways: usize,
    /// From line to time of last use and state.
    lines: BTreeMap<u64, (u64, T)>,
}

impl<T: Clone> Plain<T> {
    fn new((sets, ways): (u64, u32)) -> Self {
        Self {
            sets,
            ways: ways as usize,
            lines: BTreeMap::new(),
        }
    }

    /// Inserts a line; returns the evicted one.
    fn insert(&mut self, line: u64, now: u64, value: T) -> Option<(u64, T)> {
        let mut set: Vec<_> = self
            .lines
            .iter()
            .filter(|(other, _)| *other % self.sets == line % self.sets)
            .collect();
        set.sort_by_key(|(_, (used, _))| *used);
        let victim = (set.len() == self.ways).then(|| (*set[0].0, set[0].1.1.clone()));
        if let Some((victim, _)) = &victim {
            self.lines.remove(victim);
        }
        self.lines.insert(line, (now, value));
        victim
    }
}

struct Model {
    now: u64,
    walks: Walks,
    data: Vec<Plain<LineState>>,
    code: Vec<Plain<()>>,
    /// Whether the line is dirty in the L2 cache.
    level2: Plain<bool>,
    level2_write_backs: u64,
    data_write_backs: u64,
    /// The fabric's accesses are not counted.
    uncounted: bool,
}

impl Model {
    fn new(([l1i, l1d, l2], _, harts): Geometry, walks: Walks) -> Self {
        Self {
            now: 0,
            walks,
            data: vec![Plain::new(l1d); harts],
            code: vec![Plain::new(l1i); harts],
            level2: Plain::new(l2),
            level2_write_backs: 0,
            data_write_backs: 0,
            uncounted: false,
        }
    }

    fn state(&self, hart: usize, line: u64) -> LineState {
        self.data[hart]
            .lines
            .get(&line)
            .map_or(LineState::Invalid, |(_, state)| *state)
    }

    fn others(&self, hart: usize, line: u64) -> Vec<usize> {
        (0..self.data.len())
            .filter(|&other| other != hart && self.state(other, line) != LineState::Invalid)
            .collect()
    }

    /// Brings a line into the L2 cache; returns the cost.
    fn level2(&mut self, line: u64) -> u64 {
        if let Some((used, _)) = self.level2.lines.get_mut(&line) {
            *used = self.now;
            return LEVEL2;
        }
        if let Some((victim, dirty)) = self.level2.insert(line, self.now, false) {
            let dirty = dirty | self.drop(victim);
            self.level2_write_backs += u64::from(dirty && !self.uncounted);
        }
        LEVEL2 + MEMORY
    }

    /// Removes a line from all L1 caches; returns whether it was dirty in one.
    fn drop(&mut self, line: u64) -> bool {
        let mut dirty = false;
        for hart in 0..self.data.len() {
            dirty |= self.data[hart]
                .lines
                .remove(&line)
                .is_some_and(|(_, state)| state == LineState::Modified);
            self.code[hart].lines.remove(&line);
        }
        dirty
    }

    fn dirty(&mut self, line: u64) {
        if let Some((_, dirty)) = self.level2.lines.get_mut(&line) {
            *dirty = true;
        }
    }

    /// Reads a line from the L2 cache, or from the L1 data cache that owns it exclusively.
    fn read(&mut self, line: u64) -> u64 {
        let mut cost = self.level2(line);
        for hart in 0..self.data.len() {
            let state = self.state(hart, line);
            if let LineState::Modified | LineState::Exclusive = state {
                cost += if state == LineState::Modified {
                    INTERVENTION
                } else {
                    SNOOP
                };
                if state == LineState::Modified {
                    self.dirty(line);
                }
                if let Some((_, state)) = self.data[hart].lines.get_mut(&line) {
                    *state = LineState::Shared;
                }
            }
        }
        cost
    }

    fn put(&mut self, hart: usize, line: u64, state: LineState) {
        if let Some((victim, LineState::Modified)) = self.data[hart].insert(line, self.now, state) {
            self.dirty(victim);
            self.data_write_backs += 1;
        }
    }

    fn load(&mut self, hart: usize, line: u64) -> u64 {
        if let Some((used, _)) = self.data[hart].lines.get_mut(&line) {
            *used = self.now;
            return 0;
        }
        let cost = self.read(line);
        let alone = self.others(hart, line).is_empty();
        self.put(
            hart,
            line,
            if alone {
                LineState::Exclusive
            } else {
                LineState::Shared
            },
        );
        cost
    }

    /// Removes a line from all other caches.
    fn claim(&mut self, hart: usize, line: u64) -> u64 {
        let others = self.others(hart, line);
        let mut cost = if others.is_empty() { 0 } else { INVALIDATION };
        for other in others {
            match self.state(other, line) {
                LineState::Modified => {
                    self.dirty(line);
                    cost = INTERVENTION;
                }
                LineState::Exclusive => cost = SNOOP,
                _ => {}
            }
            self.data[other].lines.remove(&line);
        }
        cost
    }

    fn store(&mut self, hart: usize, line: u64) -> u64 {
        let cost = match self.state(hart, line) {
            LineState::Modified | LineState::Exclusive => 0,
            LineState::Shared => UPGRADE + self.claim(hart, line),
            LineState::Invalid => self.level2(line) + self.claim(hart, line),
        };
        if self.state(hart, line) == LineState::Invalid {
            self.put(hart, line, LineState::Modified);
        }
        self.data[hart]
            .lines
            .insert(line, (self.now, LineState::Modified));
        cost
    }

    fn fetch(&mut self, hart: usize, line: u64) -> u64 {
        if let Some((used, ())) = self.code[hart].lines.get_mut(&line) {
            *used = self.now;
            return 0;
        }
        let cost = self.read(line);
        self.code[hart].insert(line, self.now, ());
        cost
    }

    /// The fabric's write of a line through the L2 cache.
    fn fabric_write(&mut self, line: u64, whole: bool) -> u64 {
        let there = self.level2.lines.contains_key(&line);
        let level2 = self.level2(line);
        let cost = if there || !whole { level2 } else { LEVEL2 };
        let claimed = self.claim(usize::MAX, line);
        self.drop(line);
        self.dirty(line);
        cost + claimed
    }

    fn perform(&mut self, hart: usize, action: Action) -> u64 {
        self.now += 1;
        self.uncounted = matches!(
            action,
            Action::FabricRead(_) | Action::FabricWrite(..) | Action::FabricPast(..)
        );
        match action {
            Action::Load(line) => self.load(hart, line),
            Action::Store(line) | Action::Atomic(line) => self.store(hart, line),
            Action::Fetch(line) => self.fetch(hart, line),
            Action::Walk(line) if self.walks == Walks::Level1 => self.load(hart, line),
            Action::Walk(line) => self.read(line),
            Action::FenceI => {
                self.code[hart].lines.clear();
                0
            }
            Action::MasterWrite(line) => {
                self.drop(line);
                self.level2.lines.remove(&line);
                0
            }
            Action::FabricRead(line) => self.read(line),
            Action::FabricWrite(line, whole) => self.fabric_write(line, whole),
            Action::FabricPast(..) => MEMORY,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(250) })]

    /// Compares every cost, every state of every line in every cache, and all counts.
    #[test]
    fn least_recently_used_caches_are_as_the_slow_model(
        geometry in geometries(),
        walks in prop::sample::select(vec![Walks::Level1, Walks::Level2]),
        actions in actions(),
    ) {
        let (caches, line, harts) = geometry;
        let mut timing = Timing::new(&parameters(caches, line, Replacement::Lru, walks), harts, 1);
        let mut model = Model::new(geometry, walks);
        for (hart, action) in actions {
            let hart = hart % harts;
            prop_assert_eq!(perform(&mut timing, hart, action, line), model.perform(hart, action), "{:?}", action);
            prop_assert_eq!(timing.check_coherence(), Ok(()));
        }
        for number in 0..LINES {
            // The model numbers lines from 0; the sets are the same, since 0x8000_0000 is a multiple of all sizes.
            for hart in 0..harts {
                let held = timing.held(hart, 0x8000_0000 + number * line);
                prop_assert_eq!(held.data, model.state(hart, number));
                prop_assert_eq!(held.code, model.code[hart].lines.contains_key(&number));
                prop_assert_eq!(held.level2, model.level2.lines.contains_key(&number));
            }
        }
        let sum = |count: fn(&tactus_board::timing::Counts) -> u64| -> u64 {
            (0..harts).map(|hart| count(timing.counts(hart))).sum()
        };
        prop_assert_eq!(sum(|counts| counts.level2_write_backs), model.level2_write_backs);
        prop_assert_eq!(sum(|counts| counts.data_write_backs), model.data_write_backs);
    }

    /// The generator chooses the line to evict; the candidates and the time of an eviction are determined.
    #[test]
    fn random_replacement_takes_a_line_of_a_full_set_and_no_other(
        geometry in geometries(),
        actions in actions(),
        seed in any::<u64>(),
    ) {
        let (caches, line, harts) = geometry;
        let mut timing = Timing::new(&parameters(caches, line, Replacement::Random, Walks::Level1), harts, seed);
        let lines = |timing: &Timing, hart: usize| -> Vec<_> {
            (0..LINES).map(|number| timing.held(hart, 0x8000_0000 + number * line)).collect()
        };
        for (hart, action) in actions {
            let hart = hart % harts;
            let before = lines(&timing, hart);
            let cost = perform(&mut timing, hart, action, line);
            prop_assert_eq!(timing.check_coherence(), Ok(()));
            let after = lines(&timing, hart);
            let (Action::Load(number) | Action::Store(number) | Action::Atomic(number) | Action::Walk(number)) = action
            else { continue };
            let here = |states: &[tactus_board::timing::Held], sets: u64| {
                (0..LINES).filter(|other| {
                    other % sets == number % sets && states[*other as usize].data != LineState::Invalid
                }).count()
            };
            let (sets, ways) = caches[1];
            let was_there = before[number as usize].data != LineState::Invalid;
            prop_assert!(after[number as usize].data != LineState::Invalid);
            prop_assert!(here(&after, sets) <= ways as usize);
            let kept = |of: u64| after[of as usize].data != LineState::Invalid;
            let left: Vec<u64> = (0..LINES)
                .filter(|other| before[*other as usize].data != LineState::Invalid && !kept(*other))
                .collect();
            if was_there {
                prop_assert!(left.is_empty());
                if before[number as usize].data != LineState::Shared {
                    prop_assert_eq!(cost, 0);
                }
                continue;
            }
            prop_assert!(cost >= LEVEL2);
            prop_assert_eq!(cost >= MEMORY, !before[number as usize].level2);
            // At most one line left the set for want of space there, and one because it left the L2 cache.
            let dropped = left.iter().filter(|other| !after[**other as usize].level2).count();
            prop_assert!(dropped <= 1);
            prop_assert!(left.len() - dropped <= 1);
            if left.len() > dropped {
                prop_assert!(left.iter().any(|other| other % sets == number % sets));
                prop_assert_eq!(here(&before, sets), ways as usize);
            }
        }
    }
}

/// With random replacement, a line that is inserted again and again stays or leaves by chance.
#[test]
fn random_replacement_takes_every_way_about_as_often() {
    let line = 32;
    let sizes = [(1, 4), (1, 4), (1, 64)];
    let mut timing = Timing::new(
        &parameters(sizes, line, Replacement::Random, Walks::Level1),
        1,
        5,
    );
    // A fifth line each time: each of the other four is the victim in about a quarter of the cases.
    let mut victims = [0_u32; 5];
    let mut missing = 4;
    for number in 0..5 {
        timing.data(0, number * line, false, 0);
    }
    for _ in 0..8_000 {
        missing = (0..5)
            .find(|number| timing.held(0, number * line).data == LineState::Invalid)
            .unwrap_or(missing);
        timing.data(0, missing * line, false, 0);
        let victim = (0..5).find(|number| timing.held(0, number * line).data == LineState::Invalid);
        victims[victim.expect("five lines do not fit") as usize] += 1;
    }
    assert!(
        victims.iter().all(|&count| (1_400..1_800).contains(&count)),
        "{victims:?}"
    );
}

/// The protocol by hand: the cost of each step, and the resulting states.
#[test]
fn a_line_between_two_harts() {
    use LineState::{Exclusive, Invalid, Modified, Shared};
    let parameters = parameters(
        [(4, 2), (4, 2), (8, 4)],
        32,
        Replacement::Lru,
        Walks::Level1,
    );
    let mut timing = Timing::new(&parameters, 2, 1);
    let states = |timing: &Timing| [timing.held(0, 0x100).data, timing.held(1, 0x100).data];
    assert_eq!(timing.data(0, 0x100, false, 0), LEVEL2 + MEMORY);
    assert_eq!(states(&timing), [Exclusive, Invalid]);
    assert_eq!(
        timing.data(1, 0x11f, false, 0),
        LEVEL2 + SNOOP,
        "the same line, clean in hart 0's cache"
    );
    assert_eq!(states(&timing), [Shared, Shared]);
    assert_eq!(timing.data(0, 0x100, true, 0), UPGRADE + INVALIDATION);
    assert_eq!(states(&timing), [Modified, Invalid]);
    assert_eq!(timing.data(1, 0x100, true, 0), LEVEL2 + INTERVENTION);
    assert_eq!(states(&timing), [Invalid, Modified]);
    assert_eq!(
        timing.fetch(0, 0x100, 1, 0),
        LEVEL2 + INTERVENTION,
        "instructions that were just stored"
    );
    assert_eq!(states(&timing), [Invalid, Shared]);
    assert_eq!(
        timing.data(1, 0x100, true, 0),
        UPGRADE,
        "no other cache to ask"
    );
    assert_eq!(
        timing.fetch(0, 0x100, 1, 0),
        0,
        "instruction caches are not coherent"
    );
    timing.fence_i(0, 0);
    assert_eq!(timing.fetch(0, 0x100, 1, 0), LEVEL2 + INTERVENTION);
    timing.master_write(0x100, 4, 0);
    assert_eq!(states(&timing), [Invalid, Invalid]);
    assert_eq!(timing.data(0, 0x100, false, 0), LEVEL2 + MEMORY);
    let [counts, other] = [0, 1].map(|hart| *timing.counts(hart));
    assert_eq!(
        (counts.interventions, counts.invalidations, counts.upgrades),
        (2, 1, 1)
    );
    assert_eq!(
        (other.interventions, other.invalidations, other.upgrades),
        (2, 1, 1)
    );
    assert_eq!(
        (
            counts.loads,
            counts.load_misses,
            counts.stores,
            counts.store_misses
        ),
        (2, 2, 1, 0)
    );
}

#[test]
fn a_bus_master_takes_every_line_that_it_touches() {
    let parameters = parameters(
        [(4, 2), (4, 2), (8, 4)],
        32,
        Replacement::Lru,
        Walks::Level1,
    );
    let mut timing = Timing::new(&parameters, 1, 1);
    // The last byte of one line to the first of another; none at all; and the end of the address space.
    for (address, bytes, gone) in [
        (0x11f, 66, [0x100, 0x120, 0x140, 0x160].as_slice()),
        (0x120, 32, &[0x120]),
        (0x120, 0, &[]),
        (u64::MAX, 1, &[]),
    ] {
        let lines = (0xe0..0x1a0).step_by(32);
        for line in lines.clone() {
            timing.data(0, line, line & 32 != 0, 0);
        }
        timing.master_write(address, bytes, 0);
        for line in lines {
            let held = timing.held(0, line);
            assert_eq!(held.level2, !gone.contains(&line), "{line:#x}");
            assert_eq!(held.data == LineState::Invalid, gone.contains(&line));
        }
    }
}

#[test]
fn a_block_over_several_lines_looks_each_up() {
    let parameters = parameters(
        [(4, 2), (4, 2), (8, 4)],
        32,
        Replacement::Lru,
        Walks::Level1,
    );
    let mut timing = Timing::new(&parameters, 1, 1);
    assert_eq!(timing.fetch_lines(0x100, 32), 1);
    assert_eq!(timing.fetch_lines(0x11e, 4), 2);
    assert_eq!(timing.fetch_lines(0x11e, 2), 1);
    assert_eq!(timing.fetch(0, 0x11e, 3, 0), 3 * (LEVEL2 + MEMORY));
    assert_eq!(
        timing.fetch(0, 0x140, 1, 0),
        0,
        "the last line of the block before"
    );
    assert_eq!(timing.fetch(0, 0x100, 3, 0), 0);
    let counts = timing.counts(0);
    assert_eq!((counts.fetch_lines, counts.fetch_misses), (6, 3));
}

/// Without caches every access goes to memory, and fetching is free.
#[test]
fn a_board_without_caches() {
    let mut parameters = Profile::named("mpsoc")
        .expect("it comes with the crate")
        .timing;
    parameters.memory = Memory::Fixed(Fixed {
        latency: 7,
        transfer: 0,
    });
    let mut timing = Timing::new(&parameters, 2, 1);
    assert_eq!(timing.fetch_lines(0x8000_0000, 4000), 1);
    assert_eq!(timing.fetch(0, 0x8000_0000, 1, 0), 0);
    for address in [0, 0x8000_0000, 0x8000_0008, u64::MAX - 7] {
        for _ in 0..2 {
            assert_eq!(timing.data(0, address, false, 0), 7);
            assert_eq!(timing.data(0, address, true, 0), 7);
            assert_eq!(timing.atomic(1, address, 3, 0), 7);
            assert_eq!(timing.walk_access(1, address, false, 0), 7);
        }
        timing.master_write(address & !7, 8, 0);
        assert_eq!(timing.held(0, address).data, LineState::Invalid);
        assert!(!timing.held(0, address).level2);
    }
    assert_eq!(timing.fence_i(0, 0), 0);
    assert_eq!(timing.fetch(0, 0x9000_0000, 1, 0), 0);
    assert_eq!(timing.check_coherence(), Ok(()));
}
