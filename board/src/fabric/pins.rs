//! Watches the pins of a design, which it shows in place of what it would write by a port for which it has no use (`fabric/designs.toml`, `pins` and
//! `pins_at`).

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;

use super::{Fabric, GpInputs, GpOutputs, Inputs, Outputs, TILES};
use crate::bus::BadState;

/// When pins changed, and to what: the cycle from which on they are so, counted from reset, and a bit for each.
#[derive(Clone, Debug, Default)]
pub struct PinChanges(Arc<Mutex<Vec<(u64, u32)>>>);

impl PinChanges {
    /// Those so far.
    #[must_use]
    pub fn take(&self) -> Vec<(u64, u32)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The port that a design shows its pins at, by which it never writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PinsAt {
    /// That past the caches.
    #[default]
    Hp,
    /// The coherent one.
    Acp,
}

/// A fabric whose pins are watched. All are low at reset.
pub struct Pins {
    fabric: Box<dyn Fabric>,
    at: PinsAt,
    mask: u32,
    levels: u32,
    cycle: u64,
    changes: PinChanges,
}

impl Pins {
    /// Watches so many of a fabric's pins, at most 32.
    #[must_use]
    pub fn new(fabric: Box<dyn Fabric>, at: PinsAt, number: u32) -> (Self, PinChanges) {
        let changes = PinChanges::default();
        let pins = Self {
            fabric,
            at,
            mask: u32::MAX.checked_shr(32 - number.min(32)).unwrap_or(0),
            levels: 0,
            cycle: 0,
            changes: changes.clone(),
        };
        (pins, changes)
    }

    fn passed(&mut self) {
        self.cycle += 1;
        self.look();
    }

    fn look(&mut self) {
        let outputs = self.fabric.outputs();
        let port = match self.at {
            PinsAt::Hp => &outputs.hp,
            PinsAt::Acp => &outputs.acp,
        };
        let levels = port.wdata as u32 & self.mask;
        if levels != self.levels {
            self.levels = levels;
            let mut changes = self
                .changes
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            changes.push((self.cycle, levels));
        }
    }
}

impl Fabric for Pins {
    fn name(&self) -> &str {
        self.fabric.name()
    }

    #[inline]
    fn outputs(&self) -> &Outputs {
        self.fabric.outputs()
    }

    fn cycle(&mut self, inputs: &Inputs, picoseconds: u64) {
        self.fabric.cycle(inputs, picoseconds);
        self.passed();
    }

    fn has_tiles(&self) -> bool {
        self.fabric.has_tiles()
    }

    fn tile_outputs(&self) -> &[GpOutputs; TILES] {
        self.fabric.tile_outputs()
    }

    fn cycle_with_tiles(&mut self, inputs: &Inputs, tiles: &[GpInputs; TILES], picoseconds: u64) {
        self.fabric.cycle_with_tiles(inputs, tiles, picoseconds);
        self.passed();
    }

    /// While it is quiet, no pin changes.
    fn skip(&mut self, cycles: u64) {
        self.fabric.skip(cycles);
        self.cycle += cycles;
    }

    fn save(&self) -> Vec<u8> {
        [&self.cycle.to_le_bytes(), &*self.fabric.save()].concat()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), BadState> {
        let short = || BadState("fabric: the state ends before its pins' cycle".to_owned());
        let (cycle, state) = state.split_first_chunk().ok_or_else(short)?;
        self.fabric.restore(state)?;
        self.cycle = u64::from_le_bytes(*cycle);
        // What was before is not known; where a pin is high now, it is seen from here on.
        self.look();
        Ok(())
    }

    fn begin_waves(&mut self, file: &Path, period_picoseconds: u64) -> Result<(), String> {
        self.fabric.begin_waves(file, period_picoseconds)
    }

    fn end_waves(&mut self) {
        self.fabric.end_waves();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows its state, which counts cycles, at HP, and the half of it at ACP.
    #[derive(Default)]
    struct Counter(Outputs);

    impl Fabric for Counter {
        fn name(&self) -> &str {
            "counter"
        }

        fn outputs(&self) -> &Outputs {
            &self.0
        }

        fn cycle(&mut self, _: &Inputs, _: u64) {
            self.0.hp.wdata += 1;
            self.0.acp.wdata = self.0.hp.wdata / 2;
        }

        fn skip(&mut self, _: u64) {}

        fn save(&self) -> Vec<u8> {
            self.0.hp.wdata.to_le_bytes().to_vec()
        }

        fn restore(&mut self, state: &[u8]) -> Result<(), BadState> {
            let state = state.try_into().map_err(|_| BadState(String::new()))?;
            self.0.hp.wdata = u64::from_le_bytes(state);
            Ok(())
        }

        fn begin_waves(&mut self, _: &Path, _: u64) -> Result<(), String> {
            Ok(())
        }
    }

    #[test]
    fn changes_of_the_watched_pins_have_their_cycles() {
        let (mut pins, changes) = Pins::new(Box::<Counter>::default(), PinsAt::Hp, 2);
        for _ in 0..4 {
            pins.cycle(&Inputs::default(), 0);
        }
        assert_eq!(changes.take(), [(1, 1), (2, 2), (3, 3), (4, 0)]);
        pins.skip(100);
        pins.cycle(&Inputs::default(), 0);
        let saved = pins.save();
        let (mut other, later) = Pins::new(Box::<Counter>::default(), PinsAt::Hp, 2);
        other.restore(&saved).expect("the same design");
        other.cycle(&Inputs::default(), 0);
        assert_eq!(changes.take(), [(105, 1)]);
        assert_eq!(later.take(), [(105, 1), (106, 2)]);
        assert!(other.restore(&saved[..7]).is_err());
    }

    #[test]
    fn pins_are_watched_where_they_are_shown() {
        let (mut pins, changes) = Pins::new(Box::<Counter>::default(), PinsAt::Acp, 2);
        for _ in 0..5 {
            pins.cycle(&Inputs::default(), 0);
        }
        assert_eq!(changes.take(), [(2, 1), (4, 2)]);
    }

    #[test]
    fn none_and_all_pins_can_be_watched() {
        for (number, expected) in [(0, vec![]), (32, vec![(1, 1)]), (40, vec![(1, 1)])] {
            let (mut pins, changes) = Pins::new(Box::<Counter>::default(), PinsAt::Hp, number);
            pins.cycle(&Inputs::default(), 0);
            assert_eq!(changes.take(), expected, "{number}");
        }
    }
}
