//! A task made ready: the files to start a machine with, the same for all machines.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use miette::{IntoDiagnostic, WrapErr, miette};
use tempfile::NamedTempFile;

use super::experiment::Task;
use super::program;
use crate::artifacts::Artifacts;
use crate::profile::Profile;
use crate::run::Boot;
use crate::run::console::Carriage;

/// Memory of a machine for a program, in bytes.
const PROGRAM_MEMORY: u64 = 128 << 20;

/// What a machine starts with.
#[derive(Debug)]
enum Image {
    /// An ELF file that is entered in machine mode by all harts.
    Program(NamedTempFile),
    /// A boot image that the firmware enters.
    System(Box<Boot>),
}

/// A task that machines can carry out.
#[derive(Debug)]
pub struct Job {
    image: Image,
    /// The task's name.
    pub name: String,
    /// Number of harts.
    pub harts: u32,
    /// Memory in bytes, a multiple of 1 MiB.
    pub memory_bytes: u64,
    /// Names of the VMs whose consoles there are; a program is one itself.
    pub vms: Vec<String>,
    /// Rate of the `time` CSR.
    pub timebase_hz: u64,
    /// Begin of a console line that the job is done with; otherwise it is done when the machine has ended.
    pub until: Option<String>,
    /// Host time after which it has failed.
    pub timeout: Duration,
}

impl Job {
    /// Builds what the task needs.
    ///
    /// # Errors
    /// It cannot be built, or its file cannot be written.
    pub fn of(task: &Task, root: &Path, profile: &Profile, quick: bool) -> miette::Result<Self> {
        let job = |image, harts, memory_bytes, vms, timebase_hz: u32| Self {
            image,
            name: task.name.clone(),
            harts,
            memory_bytes,
            vms,
            timebase_hz: timebase_hz.into(),
            until: task.until.clone(),
            timeout: Duration::from_secs(task.timeout_seconds),
        };
        if let Some(system) = &task.system {
            let boot = Boot::of(&root.join(system))?;
            let (harts, memory) = (boot.image.harts as u32, boot.image.memory);
            let (vms, timebase_hz) = (boot.image.vms.clone(), boot.image.timebase_hz);
            let image = Image::System(Box::new(boot));
            return Ok(job(image, harts, memory, vms, timebase_hz));
        }
        let program = task.program.as_deref().unwrap_or_default();
        let harts = task.harts.unwrap_or(1);
        let rounds = if quick {
            task.quick_rounds
        } else {
            task.rounds
        }
        .unwrap_or(1);
        let file = program_file(program, rounds, harts)
            .wrap_err_with(|| format!("task `{}` cannot be made ready", task.name))?;
        let vms = vec![program.to_owned()];
        Ok(job(
            Image::Program(file),
            harts,
            PROGRAM_MEMORY,
            vms,
            profile.timebase_hz,
        ))
    }

    /// The file that the machine starts with.
    pub fn file(&self) -> PathBuf {
        match &self.image {
            Image::Program(file) => file.path().to_owned(),
            Image::System(boot) => boot.path().to_owned(),
        }
    }

    /// Whether the firmware starts it; otherwise all harts enter it in machine mode.
    pub fn has_firmware(&self) -> bool {
        matches!(self.image, Image::System(_))
    }

    /// How its serial line is shared.
    pub fn carriage(&self) -> Carriage {
        match self.image {
            Image::Program(_) => Carriage::Bare,
            Image::System(_) => Carriage::Framed {
                vms: self.vms.len(),
            },
        }
    }
}

/// The program with its parameters set, in a temporary file.
fn program_file(program: &str, rounds: u64, harts: u32) -> miette::Result<NamedTempFile> {
    let path = Artifacts::Workspace.file(program).map_err(|missing| {
        miette!(
            help = missing.cure,
            "the program `{program}` is not to be had: {}",
            missing.reason
        )
    })?;
    let bytes = std::fs::read(&path)
        .into_diagnostic()
        .wrap_err_with(|| format!("{} cannot be read", path.display()))?;
    let bytes = program::with_parameters(&bytes, rounds, harts)
        .map_err(|reason| miette!("{} {reason}", path.display()))?;
    let mut file = NamedTempFile::with_prefix("tactus-").into_diagnostic()?;
    file.write_all(&bytes).into_diagnostic()?;
    file.flush().into_diagnostic()?;
    Ok(file)
}
