//! Waveforms of a part of a run.

use std::ops::Range;
use std::path::PathBuf;

use super::Fabric;
use crate::time::{DriftingClock, Femtoseconds};

/// Waveforms of a part of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waves {
    /// Where they go.
    pub file: PathBuf,
    /// From when to when.
    pub window: Range<Femtoseconds>,
}

/// Has a fabric write them. It makes no difference to the run.
#[derive(Default)]
pub struct Recorder {
    wanted: Option<Waves>,
    writing: bool,
    error: Option<String>,
}

impl Recorder {
    /// Waveforms to be written, in place of all before.
    pub fn record(&mut self, fabric: &mut dyn Fabric, waves: Waves) {
        self.end(fabric);
        self.wanted = Some(waves);
    }

    /// Ends them; what there is is whole then.
    ///
    /// # Errors
    ///
    /// Why they could not be written.
    pub fn take(&mut self, fabric: &mut dyn Fabric) -> Result<(), String> {
        self.end(fabric);
        self.wanted = None;
        self.error.take().map_or(Ok(()), Err)
    }

    fn end(&mut self, fabric: &mut dyn Fabric) {
        if std::mem::take(&mut self.writing) {
            fabric.end_waves();
        }
    }

    /// Begins or ends them where the edge, of that clock, wants it.
    pub fn turn(&mut self, fabric: &mut dyn Fabric, clock: DriftingClock, edge: u64) {
        let Some(waves) = &self.wanted else {
            return;
        };
        let time = clock.time_of(edge);
        if time >= waves.window.end {
            self.end(fabric);
            self.wanted = None;
        } else if time >= waves.window.start && !self.writing {
            let period = clock.period().as_picoseconds();
            match fabric.begin_waves(&waves.file, period) {
                Ok(()) => self.writing = true,
                Err(reason) => {
                    self.error = Some(reason);
                    self.wanted = None;
                }
            }
        }
    }

    /// How many edges, from this one on, are not to be seen.
    pub fn unseen(&self, clock: DriftingClock, edge: u64) -> u64 {
        match &self.wanted {
            Some(waves) if clock.time_of(edge) < waves.window.end => {
                clock.cycle_from(waves.window.start).saturating_sub(edge)
            }
            _ => u64::MAX,
        }
    }
}
