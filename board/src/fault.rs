//! Faults on a plan: what goes wrong on a board, and when.
//!
//! A fault is part of the run. It happens when every hart has come to its time, so that the same plan gives the same
//! run, and it is part of snapshots. It leaves no trace of its own: a run whose trace hash is that of the run
//! without the fault was not affected by it.

use serde::{Deserialize, Serialize};

use crate::board::Board;
use crate::time::Femtoseconds;

/// A register of a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Register {
    /// The integer register of this number, 1 to 31.
    X(u8),
    /// The floating-point register of this number, 0 to 31.
    F(u8),
    /// The address of the next instruction; bit 0 stays 0.
    Pc,
    /// The CSR of this number; fields take what they can hold.
    Csr(u16),
}

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Fault {
    /// Bits of a byte of main memory change.
    Memory {
        /// The byte's physical address.
        address: u64,
        /// Those that change, as ones.
        bits: u8,
    },
    /// Bits of a hart's register change.
    Register {
        /// The hart.
        hart: usize,
        /// The register.
        register: Register,
        /// Those that change, as ones.
        bits: u64,
    },
    /// An interrupt line is held at a level, whatever its device does: low, and its interrupts are lost; high, and it
    /// interrupts again and again.
    HoldLine {
        /// The line, 1 to 1023.
        line: u32,
        /// The level.
        level: bool,
    },
    /// An interrupt line that was held follows its device again.
    ReleaseLine {
        /// The line, 1 to 1023.
        line: u32,
    },
}

/// A fault that can't be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadFault {
    /// No memory there.
    #[error("no memory at {0:#x} that could change")]
    Memory(u64),
    /// No such hart.
    #[error("the board has no hart {0}")]
    Hart(usize),
    /// No such register, or one that can't be set.
    #[error("hart {hart} has no register {register:?} that could change")]
    Register {
        /// The hart.
        hart: usize,
        /// The register.
        register: Register,
    },
    /// No such line.
    #[error("there is no interrupt line {0}")]
    Line(u32),
}

/// The faults that are still to come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FaultPlan {
    /// By time; at the same time in the order in which they were planned.
    to_come: Vec<(Femtoseconds, Fault)>,
}

impl FaultPlan {
    /// When the next one happens.
    pub(crate) fn next(&self) -> Femtoseconds {
        self.to_come.first().map_or(Femtoseconds::NEVER, |(time, _)| *time)
    }

    fn add(&mut self, time: Femtoseconds, fault: Fault) {
        let place = self.to_come.partition_point(|(other, _)| *other <= time);
        self.to_come.insert(place, (time, fault));
    }

    /// Whether these, read from outside, are in order and each can be.
    pub(crate) fn is_sound(&self, check: impl Fn(&Fault) -> bool) -> bool {
        self.to_come.is_sorted_by_key(|(time, _)| *time) && self.to_come.iter().all(|(_, fault)| check(fault))
    }
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
        self.check_fault(&fault)?;
        self.faults.add(at, fault);
        Ok(())
    }

    /// Whether the board has what is to go wrong.
    pub(crate) fn check_fault(&self, fault: &Fault) -> Result<(), BadFault> {
        match *fault {
            Fault::Memory { address, .. } if !self.memory().holds(address, 1) => Err(BadFault::Memory(address)),
            Fault::Register { hart, .. } if hart >= self.harts() => Err(BadFault::Hart(hart)),
            Fault::Register { hart, register, .. } => {
                let exists = match register {
                    Register::X(number) => (1..32).contains(&number),
                    Register::F(number) => number < 32,
                    Register::Pc => true,
                    // Those with 3 in bits 11:10 are read-only (privileged specification, section 2.1).
                    Register::Csr(number) => number >> 10 != 3 && self.csr(hart, number).is_some(),
                };
                if exists { Ok(()) } else { Err(BadFault::Register { hart, register }) }
            }
            Fault::HoldLine { line, .. } | Fault::ReleaseLine { line }
                if !(1..crate::bus::LINES as u32).contains(&line) =>
            {
                Err(BadFault::Line(line))
            }
            _ => Ok(()),
        }
    }

    /// Lets the next fault happen.
    pub(crate) fn next_fault(&mut self) {
        if self.faults.to_come.is_empty() {
            return;
        }
        let (time, fault) = self.faults.to_come.remove(0);
        let time = time.max(self.time());
        match fault {
            Fault::Memory { address, bits } => self.flip_memory(address, bits),
            Fault::Register { hart, register, bits } => self.flip_register(hart, register, bits),
            Fault::HoldLine { line, level } => self.machine.lines.hold(line, Some(level)),
            Fault::ReleaseLine { line } => self.machine.lines.hold(line, None),
        }
        self.machine.see_lines(time);
        self.woken_at(self.machine.clock.cycle_from(time));
    }

    fn flip_memory(&mut self, address: u64, bits: u8) {
        let mut byte = [0];
        if self.memory().read(address, &mut byte).is_ok() {
            // Nobody has written: reservations stay.
            let reservations = self.machine.reservations.clone();
            // Planned faults are checked, so that it is memory.
            let _ = self.write(address, &[byte[0] ^ bits]);
            self.machine.reservations = reservations;
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
