//! Watches what a design shows in place of what it would write by a port for which it has no use
//! (`fabric/designs.toml`, `pins`, `pins_at` and `ends`).

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Fabric, GpInputs, GpOutputs, Inputs, Outputs, TILES};
use crate::bus::BadState;

/// Observed events, for the observer.
#[derive(Debug)]
pub struct Seen<T>(Arc<Mutex<T>>);

impl<T> Clone for Seen<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Default> Default for Seen<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Default> Seen<T> {
    /// The events observed since the last call.
    #[must_use]
    pub fn take(&self) -> T {
        self.with(std::mem::take)
    }

    /// Lets a watcher note what it sees.
    pub fn with<R>(&self, see: impl FnOnce(&mut T) -> R) -> R {
        see(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An observer of a design's wires.
pub trait Watcher: Send {
    /// The outputs are so from a cycle on, which is counted from reset. Called for each cycle that is not skipped.
    fn look(&mut self, cycle: u64, outputs: &Outputs);

    /// At what tiles ask for in a cycle, beside what their ports say then: before [`look`](Self::look).
    fn look_at_tiles(&mut self, cycle: u64, tiles: &[GpInputs; TILES], ports: &[GpOutputs; TILES]) {
        let _ = (cycle, tiles, ports);
    }
}

/// A fabric that is watched.
pub struct Watched<W> {
    fabric: Box<dyn Fabric>,
    watcher: W,
    cycle: u64,
}

impl<W: Watcher> Watched<W> {
    /// Has it look from reset on.
    #[must_use]
    pub fn by(fabric: Box<dyn Fabric>, watcher: W) -> Self {
        Self {
            fabric,
            watcher,
            cycle: 0,
        }
    }

    fn look(&mut self) {
        self.watcher.look(self.cycle, self.fabric.outputs());
    }

    fn passed(&mut self) {
        self.cycle += 1;
        self.look();
    }
}

impl<W: Watcher> Fabric for Watched<W> {
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
        self.watcher
            .look_at_tiles(self.cycle, tiles, self.fabric.tile_outputs());
        self.fabric.cycle_with_tiles(inputs, tiles, picoseconds);
        self.passed();
    }

    /// While it is quiet, nothing that is watched changes.
    fn skip(&mut self, cycles: u64) {
        self.fabric.skip(cycles);
        self.cycle += cycles;
    }

    fn lose_power(&mut self, seed: u64, cycles: u64) {
        self.fabric.lose_power(seed, cycles);
        self.cycle += cycles;
        self.look();
    }

    fn save(&self) -> Vec<u8> {
        [&self.cycle.to_le_bytes(), &*self.fabric.save()].concat()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), BadState> {
        let short = || BadState("fabric: the state ends before its watcher's cycle".to_owned());
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

/// When pins changed, and to what: the cycle from which on they are so, counted from reset, and a bit for each.
pub type PinChanges = Seen<Vec<(u64, u32)>>;

/// The port that a design shows its pins at, by which it never writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PinsAt {
    /// That past the caches.
    #[default]
    Hp,
    /// The coherent one.
    Acp,
}

/// Watches pins, the lowest wires. All are low at reset.
pub struct PinWatcher {
    at: PinsAt,
    mask: u32,
    levels: u32,
    changes: PinChanges,
}

/// A fabric whose pins are watched.
pub type Pins = Watched<PinWatcher>;

impl Pins {
    /// Watches so many of a fabric's pins, at most 32.
    #[must_use]
    pub fn new(fabric: Box<dyn Fabric>, at: PinsAt, number: u32) -> (Self, PinChanges) {
        let changes = PinChanges::default();
        let watcher = PinWatcher {
            at,
            mask: u32::MAX.checked_shr(32 - number.min(32)).unwrap_or(0),
            levels: 0,
            changes: changes.clone(),
        };
        (Self::by(fabric, watcher), changes)
    }
}

impl Watcher for PinWatcher {
    fn look(&mut self, cycle: u64, outputs: &Outputs) {
        let port = match self.at {
            PinsAt::Hp => &outputs.hp,
            PinsAt::Acp => &outputs.acp,
        };
        let levels = port.wdata as u32 & self.mask;
        if levels != self.levels {
            self.levels = levels;
            self.changes.with(|changes| changes.push((cycle, levels)));
        }
    }
}

/// The wire that is up while the MAC sends, and the first of the eight of the byte that it sends then.
const ETHERNET_VALID: u32 = 9;
const ETHERNET_BYTE: u32 = 10;
/// In front of a frame: seven bytes of preamble and the delimiter; behind it the check sequence (IEEE 802.3, 3.1.1).
const PREAMBLE: usize = 8;
const CHECK_SEQUENCE: usize = 4;
/// More than the longest frame has.
const FRAME_MAX: usize = 2048;

/// Frames that have been sent, whole: the cycle of the first byte of the preamble, and what is between that and the
/// check sequence.
pub type Frames = Seen<Vec<(u64, Vec<u8>)>>;

/// Watches a design's Ethernet.
pub struct EthernetWatcher {
    began: u64,
    bytes: Vec<u8>,
    frames: Frames,
}

/// A fabric whose Ethernet is watched.
pub type Ethernet = Watched<EthernetWatcher>;

impl Ethernet {
    /// Watches what the fabric's MAC sends.
    #[must_use]
    pub fn new(fabric: Box<dyn Fabric>) -> (Self, Frames) {
        let frames = Frames::default();
        let watcher = EthernetWatcher {
            began: 0,
            bytes: Vec::new(),
            frames: frames.clone(),
        };
        (Self::by(fabric, watcher), frames)
    }
}

impl Watcher for EthernetWatcher {
    fn look(&mut self, cycle: u64, outputs: &Outputs) {
        let wires = outputs.hp.wdata;
        if wires >> ETHERNET_VALID & 1 != 0 {
            if self.bytes.is_empty() {
                self.began = cycle;
            }
            if self.bytes.len() < FRAME_MAX {
                self.bytes.push((wires >> ETHERNET_BYTE) as u8);
            }
        } else if !self.bytes.is_empty() {
            let end = self.bytes.len().saturating_sub(CHECK_SEQUENCE);
            if let Some(frame) = self.bytes.get(PREAMBLE..end) {
                let frame = (self.began, frame.to_vec());
                self.frames.with(|frames| frames.push(frame));
            }
            self.bytes.clear();
        }
    }
}

/// The wire that is up in the first cycle of each pixel, those of the synchronisation, which are low then, and the
/// first of eight of its colour.
const PIXEL: u32 = 18;
const HSYNC: u32 = 19;
const VSYNC: u32 = 20;
const COLOUR: u32 = 21;
/// Of the display (VESA DMT 0x04).
pub const COLUMNS: usize = 640;
/// See [`COLUMNS`].
pub const ROWS: usize = 480;
/// Pixels from the end of the horizontal synchronisation to the picture, and rows from that of the vertical one.
const LEFT: usize = 48;
const TOP: usize = 33;

/// The last picture that was shown whole: a byte for each pixel, row by row from the upper left, with red in bits 7 to
/// 5, green in 4 to 2 and blue in 1 and 0.
pub type Picture = Seen<Option<Vec<u8>>>;

/// Watches a design's display.
pub struct DisplayWatcher {
    hsync: bool,
    vsync: bool,
    /// Of the pixel that comes next, counted from the last ends of the synchronisation.
    column: usize,
    row: usize,
    /// Of the picture that is being shown, from its first pixel on.
    shown: Vec<u8>,
    picture: Picture,
}

/// A fabric whose display is watched.
pub type Display = Watched<DisplayWatcher>;

impl Display {
    /// Watches what the fabric's display shows.
    #[must_use]
    pub fn new(fabric: Box<dyn Fabric>) -> (Self, Picture) {
        let picture = Picture::default();
        let watcher = DisplayWatcher {
            hsync: false,
            vsync: false,
            column: 0,
            row: usize::MAX,
            shown: Vec::with_capacity(COLUMNS * ROWS),
            picture: picture.clone(),
        };
        (Self::by(fabric, watcher), picture)
    }
}

impl Watcher for DisplayWatcher {
    fn look(&mut self, _: u64, outputs: &Outputs) {
        let wires = outputs.hp.wdata;
        let up = |wire: u32| wires >> wire & 1 != 0;
        if !up(PIXEL) {
            return;
        }
        let (hsync, vsync) = (!up(HSYNC), !up(VSYNC));
        if self.vsync && !vsync {
            self.row = 0;
            self.shown.clear();
        }
        if self.hsync && !hsync {
            self.column = 0;
            self.row = self.row.saturating_add(1);
        }
        (self.hsync, self.vsync) = (hsync, vsync);
        let visible =
            (TOP..TOP + ROWS).contains(&self.row) && (LEFT..LEFT + COLUMNS).contains(&self.column);
        self.column = self.column.saturating_add(1);
        if visible {
            self.shown.push((wires >> COLOUR) as u8);
            if self.shown.len() == COLUMNS * ROWS {
                let next = Vec::with_capacity(COLUMNS * ROWS);
                let whole = std::mem::replace(&mut self.shown, next);
                self.picture.with(|picture| *picture = Some(whole));
            }
        }
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

        fn lose_power(&mut self, _: u64, _: u64) {
            self.0 = Outputs::default();
        }

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
