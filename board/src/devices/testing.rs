//! Helpers of the devices' tests: the board's part of a call.

use crate::bus::{Effects, Lines, Port};
use crate::memory::Memory;
use crate::time::Femtoseconds;
use std::collections::BTreeMap;

/// Time, memory, lines and wires around a device under test.
pub struct Bench {
    pub now: Femtoseconds,
    pub memory: Memory,
    pub lines: Lines,
    /// Each hart's bits of `mip`, as they were driven last.
    pub wires: BTreeMap<usize, u64>,
    /// When the device is to be woken.
    pub wake_at: Femtoseconds,
}

impl Bench {
    /// Main memory's first address.
    pub const BASE: u64 = 0x8000_0000;

    pub fn new() -> Self {
        Self {
            now: Femtoseconds::default(),
            memory: Memory::new(Self::BASE, 1 << 20).expect("a mebibyte"),
            lines: Lines::default(),
            wires: BTreeMap::new(),
            wake_at: Femtoseconds::NEVER,
        }
    }

    /// One call of a device; keeps what it asks for.
    pub fn call(&mut self, call: impl FnOnce(&mut Port<'_>)) -> Effects {
        let mut effects = Effects::default();
        call(&mut Port::new(
            self.now,
            &self.memory,
            &mut self.lines,
            &mut effects,
        ));
        for &(hart, bits, level) in &effects.wires {
            let mip = self.wires.entry(hart).or_default();
            *mip = if level { *mip | bits } else { *mip & !bits };
        }
        if let Some(time) = effects.wake_at {
            self.wake_at = time;
        }
        effects
    }

    /// The level of an interrupt line.
    pub fn line(&self, line: u32) -> bool {
        self.lines.levels()[line as usize / 64] >> (line % 64) & 1 != 0
    }

    /// The bits of `mip` that are driven high for a hart.
    pub fn mip(&self, hart: usize) -> u64 {
        self.wires.get(&hart).copied().unwrap_or(0)
    }
}
