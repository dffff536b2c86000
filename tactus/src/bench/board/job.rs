//! A task made ready: what machines start with, the same for all of them.

use std::io::Write;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, WrapErr, miette};
use serde::{Deserialize, Serialize};
use tactus_board::profile::Profile;
use tempfile::NamedTempFile;

use super::experiment::Task;
use super::program;
use crate::artifacts::Artifacts;
use crate::bench::experiment::LIMIT_SECONDS;
use crate::run::Boot;
use crate::run::console::Carriage;

/// Memory of a machine for a program, in bytes.
const PROGRAM_MEMORY: u64 = 128 << 20;

/// A task that machines can carry out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The task's name.
    pub name: String,
    /// What the machine starts with: an ELF file that all harts enter in machine mode, or a boot image.
    pub file: PathBuf,
    /// Whether it is a boot image, which the firmware starts.
    pub has_firmware: bool,
    /// Number of harts.
    pub harts: u32,
    /// Memory in bytes, a multiple of 1 MiB.
    pub memory_bytes: u64,
    /// Cycles that a hart of the board runs before another one. `None`: the profile's.
    pub quantum: Option<u64>,
    /// Names of the VMs whose consoles there are; a program is one itself.
    pub vms: Vec<String>,
    /// Rate of the `time` CSR.
    pub timebase_hz: u64,
    /// Begin of a console line that the job is done with; otherwise it is done when the machine has ended.
    pub until: Option<String>,
    /// Virtual time after which it has failed on the board.
    pub limit_seconds: u64,
}

impl Job {
    /// How its serial line is shared.
    pub fn carriage(&self) -> Carriage {
        if self.has_firmware {
            Carriage::Framed {
                vms: self.vms.len(),
            }
        } else {
            Carriage::Bare
        }
    }
}

/// A job whose files are there as long as this value lives.
#[derive(Debug)]
pub struct Ready {
    /// The job.
    pub job: Job,
    _files: Files,
}

/// Temporary files; they are removed when this is dropped.
#[derive(Debug)]
enum Files {
    Program { _file: NamedTempFile },
    System { _boot: Box<Boot> },
}

impl Ready {
    /// Builds what the task needs.
    ///
    /// # Errors
    /// It cannot be built, or its file cannot be written.
    pub fn of(task: &Task, root: &Path, profile: &Profile, quick: bool) -> miette::Result<Self> {
        let limit_seconds = task.limit_seconds.unwrap_or(LIMIT_SECONDS);
        if let Some(system) = &task.system {
            let boot = Boot::of(&root.join(system))?;
            let job = Job {
                name: task.name.clone(),
                file: boot.path().to_owned(),
                has_firmware: true,
                harts: boot.image.harts as u32,
                memory_bytes: boot.image.memory,
                quantum: task.quantum,
                vms: boot.image.vms.clone(),
                timebase_hz: boot.image.timebase_hz.into(),
                until: task.until.clone(),
                limit_seconds,
            };
            let boot = Box::new(boot);
            return Ok(Self {
                job,
                _files: Files::System { _boot: boot },
            });
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
        let job = Job {
            name: task.name.clone(),
            file: file.path().to_owned(),
            has_firmware: false,
            harts,
            memory_bytes: PROGRAM_MEMORY,
            quantum: task.quantum,
            vms: vec![program.to_owned()],
            timebase_hz: profile.timebase_hz,
            until: task.until.clone(),
            limit_seconds,
        };
        Ok(Self {
            job,
            _files: Files::Program { _file: file },
        })
    }
}

/// The program with its parameters set, in a temporary file.
fn program_file(program: &str, rounds: u64, harts: u32) -> miette::Result<NamedTempFile> {
    let path = Artifacts::chosen().file(program).map_err(|missing| {
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
