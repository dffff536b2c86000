//! QEMU, and Spike, as machines that speeds are compared with.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use miette::{IntoDiagnostic, WrapErr, miette};

use super::host::{Stopwatch, Whose};
use super::job::Job;
use super::sample::{Hearing, Sample};
use crate::run::board::find_firmware;
use crate::run::machine::{End, Machine as _, Output, SEED};
use crate::run::qemu::{Machine, QEMU};
use crate::stall::StallWatch;

/// How long the machine may be silent before it is looked at.
const TICK: Duration = Duration::from_millis(50);
/// CPU time that no job comes near: one that takes it hangs.
const SPUN: Duration = Duration::from_secs(4 * 3600);

/// Name of Spike's program.
pub const SPIKE: &str = "spike";
/// What Spike carries out: the extensions that programs are built for.
const SPIKE_ISA: &str = "rv64gc";

/// What executes, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode<'a> {
    /// QEMU as it is, with large blocks.
    Plain,
    /// One instruction in each translated block, time as on the host: what an interpreter's speed is compared with.
    StepByStep,
    /// Counting instructions, one virtual nanosecond each.
    Counting,
    /// Spike, at this place.
    Spike(&'a Path),
}

/// Spike's place, where one of these directories has it, which are as in the environment variable `PATH`.
pub fn find_spike(directories: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(directories)
        .map(|directory| directory.join(SPIKE))
        .find(|program| program.is_file())
}

impl Mode<'_> {
    /// The machine's name, for people.
    const fn name(self) -> &'static str {
        match self {
            Self::Plain | Self::StepByStep | Self::Counting => "QEMU",
            Self::Spike(_) => "Spike",
        }
    }
}

/// Carries a job out once.
///
/// # Errors
/// The machine is not to be had, or the job did not come to a good end.
pub fn run(mode: Mode<'_>, job: &Job) -> miette::Result<Sample> {
    let watch = Stopwatch::start(Whose::Children);
    let mut machine = Machine::spawn(command(mode, job)?)?;
    let mut hearing = Hearing::of(job);
    let mut stall = StallWatch::new(machine.process(), SPUN);
    let ended = loop {
        match machine.wait(TICK)? {
            Output::Bytes(bytes) if matches!(mode, Mode::Spike(_)) => {
                // It has no finisher: the program's last word is its verdict, and the fault behind it is Spike's.
                let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
                let over = lines.any(|line| hearing.take(line) || hearing.has_verdict());
                if over {
                    break Ok(true);
                }
            }
            Output::Bytes(bytes) => {
                if hearing.take(&bytes) {
                    break Ok(false);
                }
            }
            Output::Quiet => {
                if let Some(stall) = stall.look() {
                    break Err(format!("it hangs: {stall}"));
                }
            }
            Output::Time(_) => {}
            Output::Ended(End::Off | End::Limit | End::Script(_)) => break Ok(true),
            // The finisher's code for a failed program is QEMU's own.
            Output::Ended(End::Failed(how)) => break Err(how),
        }
    };
    let wall = watch.wall();
    // Its CPU time is known when it is gone.
    drop(machine);
    let time = watch.read(wall);
    let journal = hearing
        .judge_end(ended)
        .map_err(|reason| miette!("{reason}"))
        .wrap_err_with(|| format!("`{}` failed on {}", job.name, mode.name()))?;
    let sample = Sample::timed(time, &journal);
    Ok(match mode {
        Mode::Plain | Mode::StepByStep => sample,
        Mode::Counting | Mode::Spike(_) => Sample {
            instructions: Sample::counted_by_program(&journal),
            ..sample
        },
    })
}

fn command(mode: Mode<'_>, job: &Job) -> miette::Result<Command> {
    if let Mode::Spike(program) = mode {
        let mut command = Command::new(program);
        command
            .arg(format!("--isa={SPIKE_ISA}"))
            .arg(format!("-p{}", job.harts))
            .arg(format!("-m{}", job.memory_bytes >> 20))
            .arg(&job.file);
        return Ok(command);
    }
    let mut command = Command::new(QEMU);
    command
        .args(["-M", "virt", "-cpu", "rv64,h=true"])
        .arg("-smp")
        .arg(job.harts.to_string())
        .arg("-m")
        .arg(format!("{}M", job.memory_bytes >> 20))
        .args(["-display", "none", "-monitor", "none", "-serial", "stdio"])
        .arg("-no-reboot")
        .arg("-seed")
        .arg(SEED.to_string());
    match mode {
        // One host thread for all harts, as the board has.
        Mode::StepByStep => command.args(["-accel", "tcg,one-insn-per-tb=on,thread=single"]),
        Mode::Counting => command.args(["-accel", "tcg", "-icount", "shift=0,sleep=off"]),
        Mode::Plain | Mode::Spike(_) => command.args(["-accel", "tcg,thread=single"]),
    };
    command.arg("-bios");
    if job.has_firmware {
        command.arg(find_firmware()?);
    } else {
        command.arg("none");
    }
    command.arg("-kernel").arg(&job.file);
    Ok(command)
}

/// QEMU's version, as it says it itself.
///
/// # Errors
/// It is not to be had.
pub fn version() -> miette::Result<String> {
    let output = Command::new(QEMU)
        .arg("--version")
        .output()
        .into_diagnostic()
        .wrap_err_with(|| format!("{QEMU} does not start"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A stand-in for Spike: it says what it was called with, and goes on for ever as Spike does without a finisher.
    const STAND_IN: &str = "#!/bin/sh\n\
        test \"$1 $2 $3 $4\" = '--isa=rv64gc -p1 -m128 /mix' || exit 9\n\
        printf '@tactus metric name=mix_checksum value=7 unit=count\\n'\n\
        printf '@tactus metric name=mix_instructions value=123 unit=instructions\\n'\n\
        printf '@tactus VERDICT name=mix\\n@tactus fail name=mix reason=trap\\n'\n\
        exec sleep 1000\n";

    fn job(file: &str) -> Job {
        Job {
            name: "compute".to_owned(),
            file: file.into(),
            has_firmware: false,
            harts: 1,
            memory_bytes: 128 << 20,
            quantum: None,
            vms: vec!["mix".to_owned()],
            timebase_hz: 10_000_000,
            until: None,
            limit_seconds: 1,
        }
    }

    #[test]
    fn spike_is_found_on_the_path_and_its_program_ends_with_its_verdict() {
        let directory = tempfile::tempdir().expect("there is room");
        let path = std::env::join_paths(["/nowhere".as_ref(), directory.path()]).expect("a path");
        assert_eq!(find_spike(&path), None);
        let program = directory.path().join(SPIKE);
        let install = |verdict: &str| {
            fs::write(&program, STAND_IN.replace("VERDICT", verdict)).expect("it is written");
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(&program, mode).expect("it is executable");
        };
        install("pass");
        assert_eq!(find_spike(&path), Some(program.clone()));
        let run = |file: &str| run(Mode::Spike(&program), &job(file));
        let sample = run("/mix").expect("it passes, whatever comes behind");
        assert_eq!((sample.checksum, sample.instructions), (Some(7), Some(123)));
        let error = run("/other").expect_err("the stand-in does not take it");
        assert!(
            format!("{error:?}").contains("failed on Spike"),
            "{error:?}"
        );
        install("fail");
        let error = run("/mix").expect_err("the program fails");
        assert!(
            format!("{error:?}").contains("check `mix` failed"),
            "{error:?}"
        );
    }
}
