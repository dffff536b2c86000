//! The machine that a run takes place on: whatever it is, it is started, read, written to, and ended.

use std::fmt::Debug;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use super::script::ScriptEnd;
use super::session::Plan;
use super::{Error, board, qemu};
use crate::config::Nanoseconds;
use crate::plan::ConsoleLine;

/// Seed of everything random in a machine that is not given another.
pub const SEED: u64 = 1;

/// What runs an image.
#[derive(Clone, Debug, Default)]
pub enum Platform {
    /// QEMU's `virt` machine.
    #[default]
    Qemu,
    /// The virtual board.
    Board(Box<board::Options>),
}

/// What machine to start, and with what in it.
#[derive(Clone, Debug)]
pub struct Launch {
    /// What the firmware starts: a boot image, or a guest's ELF file.
    pub image: PathBuf,
    /// The initial RAM disk of a kernel that the firmware starts.
    pub initrd: Option<PathBuf>,
    /// The command line in its devicetree; a boot image needs none.
    pub bootargs: String,
    /// Number of harts.
    pub harts: u32,
    /// Memory in bytes, a multiple of 1 MiB.
    pub memory_bytes: u64,
    /// What it is.
    pub platform: Platform,
}

/// What the machine did.
#[derive(Debug)]
pub enum Output {
    /// It wrote to its serial line.
    Bytes(Vec<u8>),
    /// It has come to this virtual time since reset, and all that it wrote before has been delivered: the answer to
    /// [`Machine::ask_time`].
    Time(Nanoseconds),
    /// Nothing within the time given.
    Quiet,
    /// It ended, and everything it wrote has been delivered.
    Ended(End),
}

/// How a machine ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The software switched it off or reset it.
    Off,
    /// It came to the plan's limit of virtual time.
    Limit,
    /// The plan's script has ended it.
    Script(ScriptEnd),
    /// It failed; how, as a sentence without its full stop.
    Failed(String),
}

/// A running machine. Dropping it ends it.
pub trait Machine: Debug {
    /// Waits at most `patience` for something to happen.
    ///
    /// # Errors
    /// The machine cannot be read.
    fn wait(&mut self, patience: Duration) -> Result<Output, Error>;

    /// The serial line's other direction; `None` when it has been taken.
    fn take_input(&mut self) -> Option<Box<dyn Write + Send>>;

    /// Whether it plays the plan's script and ends by itself after the awaited VM's end, both by its own clock. For
    /// others the session does so, by the times that it asks for.
    fn keeps_time(&self) -> bool;

    /// Has a later [`Machine::wait`] give the virtual time, of a machine that does not keep time itself. One that has
    /// not answered yet is not asked again.
    fn ask_time(&mut self) {}

    /// Ends it if it has not ended, and tells what only it knows of the run. `None`: nothing.
    fn finish(&mut self) -> Option<board::Facts>;
}

/// Starts the machine that the plan wants.
///
/// # Errors
/// It cannot be started.
pub fn start(plan: &Plan) -> Result<Box<dyn Machine>, Error> {
    Ok(match &plan.launch.platform {
        Platform::Qemu if let ConsoleLine::Spare(vm) = plan.line => {
            let vm = plan.vms[vm].clone();
            return Err(Error::NoSpareUart { vm });
        }
        Platform::Qemu => Box::new(qemu::Machine::start(
            &plan.launch,
            &plan.functions,
            plan.limit,
            &plan.kept,
        )?),
        Platform::Board(options) => Box::new(board::Machine::start(plan, options)?),
    })
}
