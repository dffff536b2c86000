//! `tactus build`: makes the boot image of a checked system.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cli::BuildArguments;

/// A boot image and what whoever boots it needs to know.
#[derive(Clone, Debug)]
pub struct Image {
    /// The flat image: entered at its first byte, at 0x8020_0000.
    pub bytes: Vec<u8>,
    /// The VMs' names; VM `n` writes to console stream `n + 1`.
    pub vms: Vec<String>,
    /// Harts the machine must have (QEMU's `-smp`).
    pub harts: usize,
    /// Bytes of memory the machine must have (QEMU's `-m`).
    pub memory: u64,
    /// Ticks of the `time` CSR per second.
    pub timebase_hz: u32,
    /// Name of the platform's profile, "qemu-virt".
    pub platform: String,
    /// The hypervisor's ELF file, for its section sizes and symbols.
    pub hypervisor: PathBuf,
}

/// Reads, checks and builds the system that `file` describes; warnings go to stderr.
///
/// # Errors
/// Every contradiction found, as one diagnostic; render it with `{:?}`.
pub fn build_file(_file: &Path) -> miette::Result<Image> {
    Err(miette::miette!("not built yet"))
}

/// Carries the command out; the exit code is as `--help` says.
pub fn command(_arguments: &BuildArguments) -> ExitCode {
    ExitCode::from(2)
}
