//! QEMU as the machine that speeds are compared with.

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

/// How QEMU executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One instruction in each translated block, time as on the host: what an interpreter's speed is compared with.
    StepByStep,
    /// Counting instructions, one virtual nanosecond each.
    Counting,
}

/// Carries a job out once.
///
/// # Errors
/// QEMU is not to be had, or the job did not come to a good end.
pub fn run(mode: Mode, job: &Job) -> miette::Result<Sample> {
    let watch = Stopwatch::start(Whose::Children);
    let mut machine = Machine::spawn(command(mode, job)?)?;
    let mut hearing = Hearing::of(job);
    let mut stall = StallWatch::new(machine.process(), SPUN);
    let ended = loop {
        match machine.wait(TICK)? {
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
        .wrap_err_with(|| format!("`{}` failed on QEMU", job.name))?;
    let sample = Sample::timed(time, &journal);
    Ok(match mode {
        Mode::StepByStep => sample,
        Mode::Counting => Sample {
            instructions: Sample::counted_by_program(&journal),
            ..sample
        },
    })
}

fn command(mode: Mode, job: &Job) -> miette::Result<Command> {
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
