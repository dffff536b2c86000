//! Faults in what is live: a place and a time between a write and the read that uses it, as the run without a fault has
//! them.

use fastrand::Rng;
use tactus_abi::blob::onchip::Memory;
use tactus_board::fault::Register;
use tactus_board::timing::{Life, RegisterOf, Uses};

use std::ops::Range;

use crate::run::board::Worker;

/// Bytes of what is followed as one.
const WORD: u64 = 8;

/// Places with their lives, drawn by how long those are.
#[derive(Debug)]
pub struct Lives<P> {
    /// The place, and the cycle in which its life begins.
    begun: Vec<(P, u64)>,
    /// By life, the cycles of all lives up to its end.
    sums: Vec<u64>,
}

impl<P: Copy> Lives<P> {
    fn of(lives: impl Iterator<Item = Life<P>>, window: &Range<u64>) -> Self {
        let mut begun = Vec::new();
        let mut sums = Vec::new();
        let mut sum = 0;
        for life in lives {
            let (from, to) = (life.from.max(window.start), life.to.min(window.end));
            if from < to {
                sum += to - from;
                begun.push((life.place, from));
                sums.push(sum);
            }
        }
        Self { begun, sums }
    }

    /// Cycles of all lives.
    pub fn cycles(&self) -> u64 {
        self.sums.last().copied().unwrap_or(0)
    }

    /// A place, and a cycle in which it is live: behind that of the write, up to that of the read. There has to be
    /// a life.
    pub fn draw(&self, random: &mut Rng) -> (P, u64) {
        let cycle = random.u64(..self.cycles());
        let life = self.sums.partition_point(|sum| *sum <= cycle);
        let before = life.checked_sub(1).map_or(0, |before| self.sums[before]);
        let (place, from) = self.begun[life];
        (place, from + 1 + (cycle - before))
    }
}

/// The lives of a VM's memory in a window of cycles: of each byte whose offset is in `range`.
pub fn of_memory(
    uses: &Uses,
    memory: &Memory,
    range: &Range<u64>,
    window: &Range<u64>,
) -> Lives<u64> {
    let bytes = |life: &Life<u64>| {
        let offset = memory.offset_of(life.place);
        let bytes = offset.map(|offset| offset.max(range.start)..(offset + WORD).min(range.end));
        let Life { from, to, .. } = *life;
        bytes
            .into_iter()
            .flatten()
            .map(move |place| Life { place, from, to })
    };
    Lives::of(uses.memory.iter().flat_map(bytes), window)
}

/// The lives of registers in a window of cycles, while a VM has their hart. `wanted`: which.
pub fn of_registers(
    uses: &Uses,
    (vm, vms): (usize, usize),
    wanted: impl Fn(RegisterOf) -> bool,
    window: &Range<u64>,
) -> Lives<RegisterOf> {
    // In the order of their times, hart by hart.
    let mut turns: Vec<_> = uses
        .turns
        .iter()
        .filter(|turn| Worker::of(turn.on, vms) == Worker::Vm(vm))
        .collect();
    turns.sort_by_key(|turn| (turn.hart, turn.from));
    let meets = |life: &Life<RegisterOf>| {
        let Life { place, from, to } = *life;
        let first = turns.partition_point(|turn| (turn.hart, turn.to) <= (place.hart, from));
        turns[first..]
            .iter()
            .take_while(move |turn| turn.hart == place.hart && turn.from < to)
            .map(move |turn| Life {
                place,
                from: from.max(turn.from),
                to: to.min(turn.to),
            })
    };
    let lives = uses.registers.iter().filter(|life| wanted(life.place));
    Lives::of(lives.flat_map(meets), window)
}

/// Cycles of the window in which a VM has a hart, or this one.
pub fn cycles_of(
    uses: &Uses,
    (vm, vms): (usize, usize),
    hart: Option<usize>,
    window: &Range<u64>,
) -> u64 {
    let turns = uses.turns.iter().filter(|turn| {
        Worker::of(turn.on, vms) == Worker::Vm(vm) && hart.is_none_or(|hart| hart == turn.hart)
    });
    turns
        .map(|turn| {
            let (from, to) = (turn.from.max(window.start), turn.to.min(window.end));
            to.saturating_sub(from)
        })
        .sum()
}

/// The number by which uses are followed; the program counter's are not.
pub const fn number_of(register: Register) -> Option<u8> {
    match register {
        Register::X(number) => Some(number),
        Register::F(number) => Some(32 + number),
        Register::Pc | Register::Csr(_) => None,
    }
}

/// The register of such a number.
pub const fn register_of(number: u8) -> Register {
    if number < 32 {
        Register::X(number)
    } else {
        Register::F(number - 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_abi::blob::Region;
    use tactus_board::account::Doing;
    use tactus_board::privileged::Privilege;
    use tactus_board::timing::Turn;

    const HOST: u64 = 0x8000_0000;

    fn memory(run: u8, spread: u8) -> Memory {
        let whole = Region {
            guest: 0x4000_0000,
            host: HOST,
            size: 0x4000,
            flags: 0,
            run,
            spread,
            interface: 0,
            priority: 0,
            tables: 0,
        };
        Memory::new(&whole, None)
    }

    fn life<P>(place: P, from: u64, to: u64) -> Life<P> {
        Life { place, from, to }
    }

    #[test]
    fn a_byte_is_drawn_as_often_as_it_lives_long() {
        let lives = [life('a', 0, 10), life('b', 5, 20), life('c', 30, 40)];
        let lives = Lives::of(lives.into_iter(), &(2..20));
        assert_eq!(lives.cycles(), 8 + 15);
        let mut random = Rng::with_seed(1);
        let mut drawn: Vec<_> = (0..1000).map(|_| lives.draw(&mut random)).collect();
        drawn.sort_unstable();
        drawn.dedup();
        let all = (3..=10).map(|cycle| ('a', cycle));
        let all: Vec<_> = all.chain((6..=20).map(|cycle| ('b', cycle))).collect();
        assert_eq!(drawn, all);
    }

    #[test]
    fn memory_is_found_by_its_place_on_the_board() {
        for memory in [memory(0, 0), memory(12, 2)] {
            for offset in [0, 8, 0xff8, 0x1000, 0x3ff8] {
                assert_eq!(memory.offset_of(memory.host_at(offset)), Some(offset));
            }
            assert_eq!(memory.offset_of(HOST - 8), None);
            assert_eq!(memory.offset_of(memory.host_at(0x4000)), None);
        }
        let others = memory(12, 2).offset_of(HOST + 0x1000);
        assert_eq!(others, None, "another's colour");
        let mut uses = Uses::default();
        uses.memory = vec![life(HOST + 8, 10, 20), life(HOST + 0x5000, 10, 20)];
        let lives = of_memory(&uses, &memory(0, 0), &(10..0x1000), &(0..100));
        assert_eq!(lives.cycles(), 6 * 10);
        assert_eq!(lives.begun[0], (10, 10));
    }

    #[test]
    fn registers_live_while_their_vm_has_the_hart() {
        let turn = |hart, guest: Option<u16>, from, to| Turn {
            hart,
            on: Doing::Running {
                guest,
                privilege: Privilege::Supervisor,
            },
            from,
            to,
        };
        let place = |hart, number| RegisterOf { hart, number };
        let mut uses = Uses::default();
        uses.turns = vec![
            turn(0, Some(1), 0, 10),
            turn(1, Some(2), 0, 10),
            turn(0, None, 10, 20),
            turn(0, Some(1), 20, 30),
        ];
        uses.registers = vec![life(place(0, 5), 5, 25), life(place(1, 5), 0, 10)];
        let lives = of_registers(&uses, (0, 2), |_| true, &(0..100));
        assert_eq!(lives.begun, [(place(0, 5), 5), (place(0, 5), 20)]);
        assert_eq!(lives.cycles(), 10);
        assert_eq!(cycles_of(&uses, (0, 2), None, &(0..25)), 15);
        assert_eq!(cycles_of(&uses, (0, 2), Some(1), &(0..25)), 0);
        let none = of_registers(&uses, (0, 2), |of| of.number == 6, &(0..100));
        assert_eq!(none.cycles(), 0);
    }

    #[test]
    fn numbers_are_those_of_registers() {
        for number in 0..64 {
            assert_eq!(number_of(register_of(number)), Some(number));
        }
        assert_eq!(number_of(Register::Pc), None);
    }
}
