//! What is told of a VM.

use core::fmt;

use crate::request::number;

/// Where a VM is between its start and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its image is being loaded, or its memory cleared.
    Loading,
    /// It runs.
    Running,
    /// It is off.
    Off,
    /// It was stopped by a fault.
    Faulted,
    /// It is off, and its memory is written by its manager.
    Held,
}

impl State {
    /// All states, each with its number in the hypervisor's status.
    pub const ALL: [Self; 5] = [
        Self::Loading,
        Self::Running,
        Self::Off,
        Self::Faulted,
        Self::Held,
    ];

    /// The state in the hypervisor's status.
    pub fn of_status(status: u64) -> Option<Self> {
        Self::ALL.get((status & 0xff) as usize).copied()
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loading => "loading",
            Self::Running => "running",
            Self::Off => "off",
            Self::Faulted => "faulted",
            Self::Held => "held",
        }
    }
}

/// A line about a VM: `vm NAME state=running` and figures. Times are in ticks, of which `hz` make a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report<'l> {
    /// Its name.
    pub name: &'l str,
    /// Its state.
    pub state: State,
    /// The code in `scause` of its last fault.
    pub cause: u64,
    /// When this was.
    pub time: u64,
    /// Ticks of a second.
    pub hz: u64,
    /// Time that its vCPUs have had.
    pub run_time: u64,
    /// vCPUs that have a hart.
    pub running: u64,
    /// Faults.
    pub faults: u64,
    /// Lives after its first.
    pub restarts: u64,
    /// Where its memory begins.
    pub memory: u64,
    /// ... and its bytes.
    pub memory_size: u64,
    /// Jobs of its real-time vCPUs.
    pub jobs: u64,
    /// Those that were throttled or dropped.
    pub overruns: u64,
    /// Those that executed after their deadline.
    pub missed: u64,
    /// The longest from when a job was due until it was released.
    pub late_max: u64,
    /// The longest that a job was ready and did not execute.
    pub interference_max: u64,
}

/// Defines the figures of a [`Report`], by their names in its line and in their order there.
macro_rules! figures {
    ($($key:literal => $field:ident,)*) => {
        /// The names of the figures.
        const KEYS: &[&str] = &[$($key),*];

        impl<'l> Report<'l> {
            const fn figures(&self) -> [u64; KEYS.len()] {
                [$(self.$field),*]
            }

            const fn of_figures(name: &'l str, state: State, figures: [u64; KEYS.len()]) -> Self {
                let [$($field),*] = figures;
                Self { name, state, $($field),* }
            }
        }
    };
}

figures! {
    "cause" => cause,
    "time" => time,
    "hz" => hz,
    "run" => run_time,
    "running" => running,
    "faults" => faults,
    "restarts" => restarts,
    "memory" => memory,
    "size" => memory_size,
    "jobs" => jobs,
    "overruns" => overruns,
    "missed" => missed,
    "late" => late_max,
    "waited" => interference_max,
}

/// A line is no report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAReport;

impl<'l> Report<'l> {
    /// Reads a line, without its end and its tag.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(line: &'l str) -> Result<Self, NotAReport> {
        let mut words = line.split(' ');
        let (Some("vm"), Some(name), Some(state)) = (words.next(), words.next(), words.next())
        else {
            return Err(NotAReport);
        };
        let state = state.strip_prefix("state=");
        let mut states = State::ALL.into_iter();
        let state = state.and_then(|state| states.find(|known| known.name() == state));
        let state = state.filter(|_| !name.is_empty()).ok_or(NotAReport)?;
        let mut figures = [0; KEYS.len()];
        for (key, figure) in KEYS.iter().zip(&mut figures) {
            let (given, value) = words
                .next()
                .and_then(|word| word.split_once('='))
                .ok_or(NotAReport)?;
            *figure = number(value).filter(|_| given == *key).ok_or(NotAReport)?;
        }
        if words.next().is_some() {
            return Err(NotAReport);
        }
        Ok(Self::of_figures(name, state, figures))
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "vm {} state={}", self.name, self.state.name())?;
        for (key, figure) in KEYS.iter().zip(self.figures()) {
            match *key {
                "memory" | "size" => write!(f, " {key}={figure:#x}")?,
                _ => write!(f, " {key}={figure}")?,
            }
        }
        Ok(())
    }
}
