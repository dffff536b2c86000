//! How far a run is and how fast it goes, said on stderr while it lasts: on a terminal in a line that is written over,
//! elsewhere in a line when nothing else was shown for some seconds.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use super::journal::Journal;
use crate::progress::PATIENCE;

/// How often a terminal is told.
const REFRESH: Duration = Duration::from_millis(500);
/// Femtoseconds of a second.
const SECOND: f64 = 1e15;

/// What is said of a run.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    bar: ProgressBar,
    terminal: bool,
    /// Virtual time in femtoseconds, where the machine tells it.
    now: Option<Arc<AtomicU64>>,
    begin: Instant,
    /// When a line of the run or its progress was last shown.
    heard: Instant,
    /// When this last looked, and the virtual time then, in seconds.
    looked: (Instant, f64),
}

impl Heartbeat {
    /// Of a run that begins now. `virtual_time` is kept up to date by the machine, in femtoseconds, where it can be.
    pub(crate) fn new(bar: ProgressBar, virtual_time: Option<Arc<AtomicU64>>) -> Self {
        let now = Instant::now();
        Self {
            bar,
            terminal: io::stderr().is_terminal(),
            now: virtual_time,
            begin: now,
            heard: now,
            looked: (now, 0.0),
        }
    }

    /// A line of the run was shown.
    pub(super) fn heard(&mut self) {
        self.heard = Instant::now();
    }

    /// Says how far the run is, if it is time to.
    pub(super) fn tick(&mut self, journal: &Journal) {
        let patience = if self.terminal { REFRESH } else { PATIENCE };
        let since = if self.terminal {
            self.looked.0
        } else {
            self.heard
        };
        if since.elapsed() < patience {
            return;
        }
        let seconds = self
            .now
            .as_ref()
            .map(|now| now.load(Ordering::Relaxed) as f64 / SECOND);
        let phase = phase(journal);
        let text = text(
            &phase,
            self.begin.elapsed(),
            seconds,
            seconds.map(|now| (now - self.looked.1, self.looked.0.elapsed())),
        );
        if self.terminal {
            self.bar.set_message(text);
        } else {
            eprintln!("{text}");
            self.heard = Instant::now();
        }
        self.looked = (Instant::now(), seconds.unwrap_or_default());
    }
}

/// What the system does.
fn phase(journal: &Journal) -> String {
    let all = journal.vms.len();
    let started = journal.vms.iter().filter(|vm| vm.started.is_some()).count();
    if started == all {
        "running".to_owned()
    } else if journal.version.is_some() {
        format!("booting: {started} of {all} VMs started")
    } else {
        "booting: firmware".to_owned()
    }
}

/// `passed`: the virtual seconds in which the host's time passed.
fn text(
    phase: &str,
    since: Duration,
    seconds: Option<f64>,
    passed: Option<(f64, Duration)>,
) -> String {
    let mut text = format!("{phase}, {} s", since.as_secs());
    if let Some(seconds) = seconds {
        text += &format!("; {seconds:.3} s of virtual time");
    }
    if let Some((virtually, really)) = passed
        && virtually > 0.0
    {
        let ratio = really.as_secs_f64() / virtually;
        text += &if ratio >= 1.0 {
            format!(", now {ratio:.1} times slower than real time")
        } else {
            format!(", now {:.1} times faster than real time", 1.0 / ratio)
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_and_how_fast() {
        let host = Duration::from_millis(8_400);
        assert_eq!(text("running", host, None, None), "running, 8 s");
        assert_eq!(
            text("running", host, Some(1.25), Some((0.42, host))),
            "running, 8 s; 1.250 s of virtual time, now 20.0 times slower than real time"
        );
        assert_eq!(
            text("running", host, Some(90.0), Some((84.0, host))),
            "running, 8 s; 90.000 s of virtual time, now 10.0 times faster than real time"
        );
        assert_eq!(
            text("running", host, Some(1.0), Some((0.0, host))),
            "running, 8 s; 1.000 s of virtual time"
        );
    }
}
