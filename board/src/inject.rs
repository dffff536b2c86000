//! Letting faults happen: what each does to harts, memory, lines and the fabric.

use crate::board::Board;
use crate::fabric::{EventFault, FabricPort, PortFault};
use crate::fault::{BadFault, Cache, DRIFT_MAX, Fault, OFF_MAX, OFF_MIN, Register};
use crate::time::Femtoseconds;

/// Bits of a physical address: those of Sv39x4 (Volume II, section 8.5).
const ADDRESS_BITS: u32 = 56;

/// The tags of a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tags {
    /// Lines that it has place for.
    pub places: usize,
    /// The bits of a line's physical address that its tag has: the others are its place's.
    pub bits: std::ops::Range<u32>,
}

impl Board {
    /// Plans a fault for the time `at`: a hart's cycle n begins at n periods of the board's [`clock`](Self::clock). It
    /// happens when all harts have come there, each at the end of the instruction that it is in; at once when
    /// that is past.
    ///
    /// ```
    /// use tactus_board::fault::{Fault, Register};
    /// # use tactus_board::time::Femtoseconds;
    /// # let profile = tactus_board::profile::Profile::named("mpsoc").unwrap();
    /// # let options = tactus_board::setup::Options { harts: Some(1), ..Default::default() };
    /// # let (mut board, _) = tactus_board::setup::board(&profile, &options, Vec::new()).unwrap();
    /// # board.set_pc(0, 0x8000_0000);
    /// // addi a0, a0, 1; j .-4
    /// board.write(0x8000_0000, &[0x0015_0513_u32, 0xffdf_f06f].map(u32::to_le_bytes).concat())?;
    /// let at = board.clock().time_of(1000);
    /// board.inject(at, Fault::Register { hart: 0, register: Register::X(10), bits: 1 << 40 })?;
    /// board.run(board.clock().time_of(2000));
    /// assert_eq!(board.x(0, 10), 1000 + (1 << 40));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the board has not what is to go wrong.
    pub fn inject(&mut self, at: Femtoseconds, fault: Fault) -> Result<(), BadFault> {
        self.check_injected(&fault)?;
        self.faults.add(at, fault);
        Ok(())
    }

    /// Lets a fault happen now, where the last run has stopped. Harts that run beside others may be ahead of the time
    /// by as much as a quantum, and the order in which they take turns stays: a fault in what nothing reads changes
    /// nothing.
    ///
    /// # Errors
    ///
    /// When the board has not what is to go wrong.
    pub fn inject_now(&mut self, fault: Fault) -> Result<(), BadFault> {
        self.check_injected(&fault)?;
        self.happen(self.time(), fault);
        Ok(())
    }

    /// The tags of a cache of the timed mode, for [`Fault::Tag`]. `None`: the profile has no caches, or there is no
    /// such hart; of the L2 cache, `hart` is 0.
    #[must_use]
    pub fn tags(&self, cache: Cache, hart: usize) -> Option<Tags> {
        let harts = if cache == Cache::Level2 {
            1
        } else {
            self.harts()
        };
        if hart >= harts {
            return None;
        }
        let (places, first_bit) = self.machine.timing.tags(cache)?;
        Some(Tags {
            places,
            bits: first_bit..ADDRESS_BITS,
        })
    }

    /// Whether the board has what is to go wrong, and knows all that comes of it.
    fn check_injected(&self, fault: &Fault) -> Result<(), BadFault> {
        self.check_fault(fault)?;
        if matches!(fault, Fault::PowerLoss { .. }) && self.power_on.is_none() {
            return Err(BadFault::NoPowerOn);
        }
        Ok(())
    }

    /// Whether the board has what is to go wrong. What it was when it got power is not looked at.
    pub(crate) fn check_fault(&self, fault: &Fault) -> Result<(), BadFault> {
        match *fault {
            Fault::Memory { address, .. } if !self.memory().holds(address, 1) => {
                Err(BadFault::Memory(address))
            }
            Fault::Register { hart, .. } | Fault::Stall { hart, .. } if hart >= self.harts() => {
                Err(BadFault::Hart(hart))
            }
            Fault::Register { hart, register, .. } => {
                let exists = match register {
                    Register::X(number) => (1..32).contains(&number),
                    Register::F(number) => number < 32,
                    Register::Pc => true,
                    // Those with 3 in bits 11:10 are read-only (privileged specification, section 2.1).
                    Register::Csr(number) => number >> 10 != 3 && self.csr(hart, number).is_some(),
                };
                if exists {
                    Ok(())
                } else {
                    Err(BadFault::Register { hart, register })
                }
            }
            Fault::HoldLine { line, .. } | Fault::ReleaseLine { line }
                if !(1..crate::bus::LINES as u32).contains(&line) =>
            {
                Err(BadFault::Line(line))
            }
            Fault::Tag {
                cache,
                hart,
                place,
                bit,
            } => {
                let tags = self.tags(cache, hart);
                if tags.is_some_and(|tags| place < tags.places && tags.bits.contains(&bit)) {
                    Ok(())
                } else {
                    Err(BadFault::Tag {
                        cache,
                        hart,
                        place,
                        bit,
                    })
                }
            }
            Fault::FabricDrift { ppm } if ppm.unsigned_abs() >= DRIFT_MAX.unsigned_abs() => {
                Err(BadFault::Drift(ppm))
            }
            Fault::PowerLoss { off, .. } if !(OFF_MIN..=OFF_MAX).contains(&off) => {
                Err(BadFault::Off(off))
            }
            Fault::PowerLoss { .. } if self.has_functions() => Err(BadFault::Functions),
            Fault::FabricError { .. }
            | Fault::FabricDrift { .. }
            | Fault::FabricHang { .. }
            | Fault::FabricRelease { .. }
            | Fault::FabricEventLost
            | Fault::FabricEventExtra
                if self.machine.fabric.is_none() =>
            {
                Err(BadFault::NoFabric)
            }
            _ => Ok(()),
        }
    }

    /// Lets the next fault happen.
    pub(crate) fn next_fault(&mut self) {
        if let Some((time, fault)) = self.faults.take() {
            self.happen(time.max(self.time()), fault);
        }
    }

    fn happen(&mut self, time: Femtoseconds, fault: Fault) {
        match fault {
            Fault::Memory { address, bits } => self.flip_memory(address, bits),
            Fault::Register {
                hart,
                register,
                bits,
            } => self.flip_register(hart, register, bits),
            Fault::Stall { hart, cycles } => {
                // A hart that waits may not have come to that time.
                let from = self.cycle(hart).max(self.machine.clock.cycle_from(time));
                self.harts[hart].set_cycle(from.saturating_add(cycles.into()));
            }
            Fault::HoldLine { line, level } => self.machine.lines.hold(line, Some(level)),
            Fault::ReleaseLine { line } => self.machine.lines.hold(line, None),
            Fault::FabricError { port } => self.fail_port(port, PortFault::Error, time),
            Fault::FabricHang { port } => self.fail_port(port, PortFault::Hang(true), time),
            Fault::FabricRelease { port } => self.fail_port(port, PortFault::Hang(false), time),
            Fault::PowerLoss { off, seed } => self.lose_power(time, off, seed),
            Fault::FabricEventLost => self.fail_events(EventFault::Lost, time),
            Fault::FabricEventExtra => self.fail_events(EventFault::Extra, time),
            Fault::FabricDrift { ppm } => {
                self.machine
                    .call_fabric(time, |fabric, at| fabric.drift(ppm, at));
            }
            Fault::Tag {
                cache,
                hart,
                place,
                bit,
            } => {
                if self.machine.timed {
                    self.machine.timing.flip_tag(cache, hart, place, bit);
                }
            }
        }
        self.machine.forward_lines(time);
        self.wake_waiting_at(self.machine.clock.cycle_from(time));
    }

    fn fail_port(&mut self, port: FabricPort, fault: PortFault, time: Femtoseconds) {
        self.machine
            .call_fabric(time, |fabric, at| fabric.fault(port, fault, at));
    }

    fn fail_events(&mut self, fault: EventFault, time: Femtoseconds) {
        self.machine
            .call_fabric(time, |fabric, at| fabric.event_fault(fault, at));
    }

    fn flip_memory(&mut self, address: u64, bits: u8) {
        // No hart writes: reservations and caches stay as they are.
        if let Some(host) = self.machine.memory.host(address) {
            // Safety: a byte of memory, to which nothing else has a reference.
            unsafe { host.write(host.read() ^ bits) };
            self.machine.code.written(address, 1);
        }
    }

    fn flip_register(&mut self, hart: usize, register: Register, bits: u64) {
        match register {
            Register::X(number) => {
                let number = number.into();
                self.set_x(hart, number, self.x(hart, number) ^ bits);
            }
            Register::F(number) => self.harts[hart].f[usize::from(number)] ^= bits,
            Register::Pc => self.set_pc(hart, self.pc(hart) ^ bits),
            Register::Csr(number) => {
                if let Some(value) = self.csr(hart, number) {
                    // Planned faults are checked, so that it can be written.
                    let _ = self.set_csr(hart, number, value ^ bits);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Outcome;
    use crate::bus::{BadState, Device, Port, Refused};
    use crate::profile::Profile;
    use crate::setup;

    const BASE: u64 = 0x8000_0000;

    /// A board of that profile, whose harts run the code.
    fn of(profile: &str, harts: usize, code: &[u32]) -> Board {
        let profile = Profile::named(profile).expect("a profile");
        let options = setup::Options {
            harts: Some(harts),
            memory: Some(1 << 20),
            ..Default::default()
        };
        let (mut board, _) = setup::board(&profile, &options, Vec::new()).expect("a board");
        let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
        board.write(BASE, &bytes).expect("memory");
        (0..harts).for_each(|hart| board.set_pc(hart, BASE));
        board
    }

    /// A board with a device that pulses, whose harts run the code.
    fn board(harts: usize, code: &[u32]) -> Board {
        let mut board = of("mpsoc", harts, code);
        board
            .attach("pulse", 0x4000_0000, 0x1000, Box::new(Pulse))
            .expect("a place");
        board
    }

    /// A device that drives line 40 as its register says.
    struct Pulse;

    impl Device for Pulse {
        fn read(&mut self, _: u64, _: u8, _: &mut Port<'_>) -> Result<u64, Refused> {
            Ok(0)
        }

        fn write(&mut self, _: u64, _: u8, value: u64, port: &mut Port<'_>) -> Result<(), Refused> {
            port.interrupt(40, value != 0);
            Ok(())
        }

        fn save(&self) -> Vec<u8> {
            Vec::new()
        }

        fn restore(&mut self, _: &[u8]) -> Result<(), BadState> {
            Ok(())
        }
    }

    /// addi a0, a0, 1; j .-4
    const COUNT: [u32; 2] = [0x0015_0513, 0xffdf_f06f];

    #[test]
    fn a_hart_that_stalls_counts_less_by_then() {
        let counted = |stall: Option<u32>| {
            let mut board = board(2, &COUNT);
            let at = board.clock().time_of(1_000);
            if let Some(cycles) = stall {
                let fault = Fault::Stall { hart: 1, cycles };
                board.inject(at, fault).expect("the hart is there");
            }
            board.run(board.clock().time_of(10_000));
            [board.x(0, 10), board.x(1, 10)]
        };
        let [first, second] = counted(None);
        let [still, late] = counted(Some(2_000));
        assert_eq!(first, still);
        // A turn takes two cycles, and a stall begins within a block.
        assert!((950..=1_050).contains(&(second - late)), "{second} {late}");
        let mut board = board(2, &COUNT);
        let absent = Fault::Stall { hart: 2, cycles: 1 };
        let at = board.time();
        assert_eq!(board.inject(at, absent), Err(BadFault::Hart(2)));
    }

    #[test]
    fn a_register_changes_at_its_cycle() {
        for (register, read) in [
            (
                Register::X(11),
                (|board: &Board| board.x(1, 11)) as fn(&Board) -> u64,
            ),
            (Register::F(3), |board| board.f(1, 3)),
            (Register::Csr(0x340), |board| {
                board.csr(1, 0x340).expect("mscratch")
            }),
        ] {
            let mut board = board(2, &COUNT);
            board
                .inject(
                    board.clock().time_of(500),
                    Fault::Register {
                        hart: 1,
                        register,
                        bits: 1 << 9,
                    },
                )
                .expect("a fault");
            board.run(board.clock().time_of(500));
            assert_eq!(read(&board), 0, "{register:?}");
            board.run(board.clock().time_of(501));
            assert_eq!(read(&board), 1 << 9, "{register:?}");
        }
    }

    #[test]
    fn what_nothing_reads_changes_no_turn() {
        let run = |fault: Option<Fault>| {
            let mut board = of("soc", 2, &COUNT);
            board.run(board.clock().time_of(777));
            if let Some(fault) = fault {
                board.inject_now(fault).expect("a fault");
            }
            board.run(board.clock().time_of(5000));
            [0, 1].map(|hart| (board.cycle(hart), board.x(hart, 10)))
        };
        let memory = Fault::Memory {
            address: BASE + 0x8000,
            bits: 1,
        };
        assert_eq!(run(Some(memory)), run(None));
        let nowhere = Fault::Memory {
            address: 8,
            bits: 1,
        };
        let mut board = of("soc", 2, &COUNT);
        assert_eq!(board.inject_now(nowhere), Err(BadFault::Memory(8)));
    }

    #[test]
    fn a_bit_of_code_changes_for_all_harts_at_once() {
        let mut board = board(2, &COUNT);
        // addi a0, a0, 1 becomes addi a1, a0, 1.
        board
            .inject(
                board.clock().time_of(100),
                Fault::Memory {
                    address: BASE,
                    bits: 0x80,
                },
            )
            .expect("a fault");
        assert_eq!(board.run(board.clock().time_of(200)), Outcome::Limit);
        for hart in 0..2 {
            assert_eq!((board.x(hart, 10), board.x(hart, 11)), (50, 51));
        }
    }

    /// Whether source 40 is pending in the interrupt controller.
    fn pending(board: &mut Board) -> bool {
        let index = board
            .machine
            .devices
            .iter()
            .position(|device| device.base == 0xc00_0000)
            .expect("a controller");
        let read = board.machine.call(index, Femtoseconds(0), |device, port| {
            device.read(0x1004, 4, port)
        });
        read.0.expect("a register") >> 8 & 1 != 0
    }

    #[test]
    fn a_line_is_held_low_and_high_and_let_go() {
        // lui a0, 0x40000; sd a0, 0(a0); sd x0, 0(a0); j .-8: high, low, and again.
        let code = [0x4000_0537, 0x00a5_3023, 0x0005_3023, 0xff9f_f06f];
        let mut low = board(1, &code);
        low.inject(
            Femtoseconds(0),
            Fault::HoldLine {
                line: 40,
                level: false,
            },
        )
        .expect("a fault");
        low.run(low.clock().time_of(100));
        assert!(!pending(&mut low));
        low.inject(low.clock().time_of(100), Fault::ReleaseLine { line: 40 })
            .expect("a fault");
        low.run(low.clock().time_of(110));
        assert!(pending(&mut low));
        let mut high = board(1, &COUNT);
        high.inject(
            high.clock().time_of(50),
            Fault::HoldLine {
                line: 40,
                level: true,
            },
        )
        .expect("a fault");
        high.run(high.clock().time_of(50));
        assert!(!pending(&mut high));
        high.run(high.clock().time_of(60));
        assert!(pending(&mut high));
    }

    #[test]
    fn a_held_line_wakes_a_hart_that_waits_at_its_time() {
        // wfi; addi a0, a0, 1; j .
        let mut board = board(1, &[0x1050_0073, 0x0015_0513, 0x6f]);
        // Priority and enable of source 40, and mie.MEIE.
        let index = board
            .machine
            .devices
            .iter()
            .position(|device| device.base == 0xc00_0000)
            .expect("a controller");
        for (offset, value) in [(160, 1), (0x2004, 1 << 8)] {
            let write =
                |device: &mut dyn Device, port: &mut Port<'_>| device.write(offset, 4, value, port);
            board
                .machine
                .call(index, Femtoseconds(0), write)
                .0
                .expect("a register");
        }
        board.set_csr(0, 0x304, 1 << 11).expect("a CSR");
        board
            .inject(
                board.clock().time_of(1000),
                Fault::HoldLine {
                    line: 40,
                    level: true,
                },
            )
            .expect("a fault");
        // On a board of one hart the condition is asked at wakings and waits, and then when the fault has come.
        let outcome = board.run_until(board.clock().time_of(1001), |board| board.cycle(0) >= 1000);
        assert_eq!(outcome, Outcome::Condition);
        let waited = board
            .account(0)
            .iter()
            .find(|line| line.on == crate::account::Doing::Waiting)
            .map(|line| line.cycles);
        assert_eq!(waited, Some(999));
    }

    #[test]
    fn faults_to_come_are_part_of_a_snapshot() {
        let fault = Fault::Register {
            hart: 0,
            register: Register::X(11),
            bits: 4,
        };
        let mut first = board(1, &COUNT);
        first
            .inject(first.clock().time_of(300), fault)
            .expect("a fault");
        first.run(first.clock().time_of(200));
        let snapshot = first.snapshot();
        let mut second = board(1, &COUNT);
        second.restore(&snapshot).expect("the same board");
        for board in [&mut first, &mut second] {
            board.run(board.clock().time_of(400));
            assert_eq!(board.x(0, 11), 4);
        }
        assert_eq!(first.trace_hash(), second.trace_hash());
        // Gone back to a state without it, it does not come.
        let before = board(1, &COUNT).snapshot();
        second
            .inject(second.clock().time_of(300), fault)
            .expect("a fault");
        second.restore(&before).expect("the same board");
        second.run(second.clock().time_of(400));
        assert_eq!(second.x(0, 11), 0);
    }

    /// A timed board with caches, whose harts run the code.
    fn cached(harts: usize, code: &[u32]) -> Board {
        let mut board = of("soc", harts, code);
        board.set_pace(crate::board::Pace::Timed);
        board
    }

    #[test]
    fn a_changed_tag_makes_a_hit_a_miss_and_a_miss_a_hit() {
        // ld a1, 0(a2); addi a0, a0, 1; j .-8
        let code = [0x0006_3583, 0x0015_0513, 0xff9f_f06f];
        let data = BASE + 0x1_0040;
        let tag = |board: &Board, cache| {
            let tags = board.tags(cache, 0).expect("a cache");
            // Lines of 32 bytes.
            let sets = 1 << (tags.bits.start - 5);
            let set = (data >> 5) as usize % sets;
            (set * (tags.places / sets), tags.bits.start)
        };
        let misses = |of: &[Cache]| {
            let mut board = cached(1, &code);
            board.write(data, &[7]).expect("memory");
            board.set_x(0, 12, data);
            let at = board.clock().time_of(10_000);
            board.run(at);
            let before = board.counts(0).load_misses;
            let mut other = data;
            for &cache in of {
                let (place, bit) = tag(&board, cache);
                let fault = Fault::Tag {
                    cache,
                    hart: 0,
                    place,
                    bit,
                };
                board.inject(at, fault).expect("a tag");
                board.next_fault();
                other ^= 1 << bit;
            }
            if of == [Cache::Data] {
                use crate::timing::LineState::{Exclusive, Invalid};
                let held = |address| board.machine.timing.held(0, address).data;
                assert_eq!((held(data), held(other)), (Invalid, Exclusive));
            }
            board.run(board.clock().time_of(20_000));
            assert_eq!(board.x(0, 11), 7, "caches have no data");
            (board.counts(0).load_misses - before, board.x(0, 10))
        };
        let (none, usual) = misses(&[]);
        let (one, after_a_miss) = misses(&[Cache::Data]);
        assert_eq!((none, one), (0, 1));
        assert!(after_a_miss < usual, "the miss takes time");
        // The L1 cache has the line still, and does not ask.
        assert_eq!(misses(&[Cache::Level2]), (0, usual));
        // Now the line comes from memory and not from the L2 cache.
        let (both, after_both) = misses(&[Cache::Data, Cache::Level2]);
        assert_eq!(both, 1);
        assert!(after_both < after_a_miss, "{after_both} {after_a_miss}");
    }

    /// Whatever tags change, two harts that share lines, though no words, compute what they ever do.
    #[test]
    fn any_changed_tags_cost_time_alone() {
        // sd a0, 0(a2); ld a1, 0(a3); addi a2, a2, 80; and a2, a2, a4; or a2, a2, a5; addi a3, a2, 512;
        // addi a0, a0, 1; bne a0, a6, .-28; j .
        let code = [
            0x00a6_3023,
            0x0006_b583,
            0x0506_0613,
            0x00e6_7633,
            0x00f6_6633,
            0x2006_0693,
            0x0015_0513,
            0xff05_12e3,
            0x6f,
        ];
        let run = |faults: u64| {
            let mut board = cached(2, &code);
            for hart in 0..2 {
                let from = BASE + 0x1_0000 + 8 * hart as u64;
                for (register, value) in [
                    (12, from),
                    (13, from),
                    (14, 0xffff_ffff_8001_fff8 | 8),
                    (15, from),
                    (16, 20_000),
                ] {
                    board.set_x(hart, register, value);
                }
            }
            let mut random = crate::random::Random::new(1, 1);
            for number in 0..faults {
                let (cache, hart) = [
                    (Cache::Data, 0),
                    (Cache::Data, 1),
                    (Cache::Code, 0),
                    (Cache::Code, 1),
                    (Cache::Level2, 0),
                ][random.below(5)];
                let tags = board.tags(cache, hart).expect("a cache");
                let fault = Fault::Tag {
                    cache,
                    hart,
                    place: random.below(tags.places),
                    bit: tags.bits.start + random.below(8) as u32,
                };
                let at = board.clock().time_of(20 * number);
                board.inject(at, fault).expect("a tag");
            }
            let outcome = board.run(board.clock().time_of(10_000_000));
            assert_eq!(outcome, Outcome::Limit);
            let mut bytes = vec![0; 1 << 17];
            board.memory().read(BASE, &mut bytes).expect("memory");
            let counted = [0, 1].map(|hart| board.x(hart, 10));
            (counted, bytes)
        };
        let usual = run(0);
        assert_eq!(usual.0, [20_000; 2], "both harts have ended");
        assert!(run(20_000) == usual);
    }

    #[test]
    fn tags_that_a_cache_does_not_have_are_refused() {
        let mut with = cached(2, &COUNT);
        let tags = with.tags(Cache::Data, 0).expect("a cache");
        assert_eq!(tags.bits.end, 56);
        assert_eq!(with.tags(Cache::Level2, 1), None);
        let tag = |hart, place, bit| Fault::Tag {
            cache: Cache::Data,
            hart,
            place,
            bit,
        };
        let first = tags.bits.start;
        assert_eq!(with.inject(Femtoseconds(0), tag(1, 0, first)), Ok(()));
        let mut without = board(1, &COUNT);
        for (has_caches, hart, place, bit) in [
            (true, 2, 0, first),
            (true, 0, tags.places, first),
            (true, 0, 0, first - 1),
            (true, 0, 0, 56),
            (false, 0, 0, first),
        ] {
            let board = if has_caches { &mut with } else { &mut without };
            let refused = BadFault::Tag {
                cache: Cache::Data,
                hart,
                place,
                bit,
            };
            let fault = tag(hart, place, bit);
            assert_eq!(board.inject(Femtoseconds(0), fault), Err(refused));
        }
    }

    #[test]
    fn faults_of_absent_devices_are_refused() {
        let mut board = board(2, &COUNT);
        let register = |hart, register| Fault::Register {
            hart,
            register,
            bits: 1,
        };
        for (fault, error) in [
            (
                Fault::Memory {
                    address: 0,
                    bits: 1,
                },
                BadFault::Memory(0),
            ),
            (register(2, Register::Pc), BadFault::Hart(2)),
            (
                register(0, Register::X(0)),
                BadFault::Register {
                    hart: 0,
                    register: Register::X(0),
                },
            ),
            (
                register(0, Register::F(32)),
                BadFault::Register {
                    hart: 0,
                    register: Register::F(32),
                },
            ),
            (
                register(0, Register::Csr(0xf14)),
                BadFault::Register {
                    hart: 0,
                    register: Register::Csr(0xf14),
                },
            ),
            (Fault::ReleaseLine { line: 0 }, BadFault::Line(0)),
            (
                Fault::HoldLine {
                    line: 1024,
                    level: true,
                },
                BadFault::Line(1024),
            ),
            (Fault::FabricDrift { ppm: 1 }, BadFault::NoFabric),
            (
                Fault::FabricDrift { ppm: -100_001 },
                BadFault::Drift(-100_001),
            ),
        ] {
            assert_eq!(board.inject(Femtoseconds(0), fault), Err(error));
        }
    }
}
