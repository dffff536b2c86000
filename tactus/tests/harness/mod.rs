//! Boots systems on QEMU and on the virtual board for tests: `mod harness;`, then [`run`].
//!
//! The system is built from the workspace as it is, so that a test never meets a stale image.

// Every test program takes what it needs of this.
#![allow(dead_code)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tactus::run::Boot;
use tactus::run::board::Options;
use tactus::run::machine::Platform;
use tactus::run::session::{Outcome, Unwatched, Verdict};

/// Host time that no test's run comes near, even on a slow and busy machine; a run that takes it is stuck.
pub const STUCK: Duration = Duration::from_secs(300);

/// What a test's systems run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// QEMU's `virt` machine.
    Qemu,
    /// The virtual board of the profile `soc`, fast.
    Board,
    /// The same, its harts in turns of so many cycles.
    BoardInTurns(u64),
}

impl On {
    /// As a run's plan says it.
    ///
    /// # Panics
    /// The board does not come with the profile.
    pub fn platform(self) -> Platform {
        match self {
            Self::Qemu => Platform::Qemu,
            Self::Board | Self::BoardInTurns(_) => {
                let profile = tactus_board::profile::Profile::named("soc");
                let mut options = Options::new(profile.expect("it comes with the board"));
                if let Self::BoardInTurns(cycles) = self {
                    options.quantum = Some(cycles);
                }
                Platform::Board(Box::new(options))
            }
        }
    }
}

/// Makes two tests of each function: one on QEMU, one on the board.
#[allow(unused_macros)]
macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod qemu {
            $(#[test]
            fn $name() {
                super::$name(super::harness::On::Qemu);
            })+
        }
        mod board {
            $(#[test]
            fn $name() {
                super::$name(super::harness::On::Board);
            })+
        }
    };
}
#[allow(unused_imports)]
pub(crate) use on_both;

/// The project's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Builds the system in the file `system` (relative to the root) and runs it until the VM called `until` is off,
/// or until the machine is.
///
/// # Panics
/// The system is not in order, or the machine cannot be run.
pub fn run(on: On, system: &str, until: Option<&str>) -> Outcome {
    run_file(on, &root().join(system), until)
}

/// [`run`] of a system given as text. Its images are named by `@artifact` or by absolute path.
pub fn run_text(on: On, system: &str, until: Option<&str>) -> Outcome {
    once(&built(on, system, until))
}

/// [`boot`] of a system given as text, until the machine is off.
pub fn boot_text(on: On, system: &str) -> Boot {
    built(on, system, None)
}

fn built(on: On, system: &str, until: Option<&str>) -> Boot {
    let mut file = tempfile::Builder::new()
        .suffix(".toml")
        .tempfile()
        .expect("a temporary file can be made");
    file.write_all(system.as_bytes())
        .expect("a temporary file can be written");
    boot_file(on, file.path(), until)
}

fn run_file(on: On, system: &Path, until: Option<&str>) -> Outcome {
    once(&boot_file(on, system, until))
}

/// Builds the system in the file `system` (relative to the root), ready to be run any number of times with [`once`]:
/// until the VM called `until` is off, or until the machine is.
pub fn boot(on: On, system: &str, until: Option<&str>) -> Boot {
    boot_file(on, &root().join(system), until)
}

fn boot_file(on: On, system: &Path, until: Option<&str>) -> Boot {
    let mut boot =
        Boot::of(system).unwrap_or_else(|error| panic!("{}: {error:?}", system.display()));
    boot.plan = boot.plan.timeout(STUCK).on(on.platform());
    if let Some(until) = until {
        boot.plan = boot
            .plan
            .until(until)
            .unwrap_or_else(|error| panic!("{}: {error}", system.display()));
    }
    boot
}

/// Runs a system that has been built.
pub fn once(boot: &Boot) -> Outcome {
    boot.run(&mut Unwatched)
        .unwrap_or_else(|error| panic!("the system cannot be run: {error}"))
}

/// Everything about a run that helps to see why a test failed.
pub fn explain(outcome: &Outcome) -> String {
    let mut text = tactus::report::summary(outcome);
    let journal = &outcome.journal;
    let _ = write!(text, "\n--- tactus\n{}", journal.log.text());
    for vm in &journal.vms {
        let _ = write!(text, "\n--- {}\n{}", vm.name, vm.console.text());
    }
    text
}

/// Asserts that a run's verdict is `verdict`; shows the run otherwise.
///
/// # Panics
/// It is not.
#[track_caller]
pub fn assert_verdict(outcome: &Outcome, verdict: Verdict) {
    assert_eq!(outcome.verdict(), verdict, "\n{}", explain(outcome));
}
