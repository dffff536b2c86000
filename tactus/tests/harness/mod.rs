//! Boots systems on QEMU and on the virtual board for tests: [`run`].
//!
//! The system is built from the present workspace, so that a test never uses a stale image.

use std::borrow::BorrowMut;
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tactus::artifacts::Artifacts;
use tactus::config::Nanoseconds;
use tactus::run::Boot;
use tactus::run::board::{Fabric, Options};
use tactus::run::machine::Platform;
use tactus::run::session::{Outcome, Unwatched, Verdict};
use tactus_abi::blob::ReadyQueue;
use tactus_board::board::MemoryModel;
use tempfile::NamedTempFile;

pub mod player;
pub mod process;
pub mod stretches;

/// Virtual time far beyond that of any test's run; a run that reaches it is stuck. The host's speed makes no
/// difference.
pub const STUCK: Nanoseconds = Nanoseconds(60_000_000_000);

/// The platform of a test's systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// QEMU's `virt` machine.
    Qemu,
    /// The virtual board of the profile `soc`, at the fast pace.
    Board,
    /// The same, with a quantum of this many cycles for its harts.
    BoardInTurns(u64),
    /// The same, with memory that is as weak as RVWMO allows, from this seed.
    WeakMemory(u64),
    /// The same, with the accelerators' fabric.
    Accelerators,
    /// The same, with this ready queue and the fabric that has it.
    Queue(ReadyQueue),
}

impl On {
    /// The platform for a run's plan.
    ///
    /// # Panics
    /// The board lacks the profile.
    pub fn platform(self) -> Platform {
        match self {
            Self::Qemu => Platform::Qemu,
            Self::Board
            | Self::BoardInTurns(_)
            | Self::WeakMemory(_)
            | Self::Accelerators
            | Self::Queue(_) => {
                let profile = tactus_board::profile::Profile::named("soc");
                let mut options = Options::new(profile.expect("it comes with the board"));
                match self {
                    Self::BoardInTurns(cycles) => options.quantum = Some(cycles),
                    Self::WeakMemory(seed) => {
                        options.memory_model = MemoryModel::Weak;
                        options.seed = seed;
                    }
                    Self::Accelerators => options.fabric = Some(fabric("accelerators")),
                    Self::Queue(_) => options.fabric = Some(fabric("ready_queue")),
                    _ => {}
                }
                Platform::Board(Box::new(options))
            }
        }
    }

    /// This number, or a `part` of it in weak memory: there a run takes many times as long, and each test runs from
    /// many seeds.
    pub fn fewer(self, number: u64, part: u64) -> u64 {
        match self {
            Self::WeakMemory(_) => number.div_ceil(part),
            _ => number,
        }
    }

    /// Boot arguments that leave an attack one in `every` steps in weak memory: others from each seed. None elsewhere.
    pub fn some_steps(self, every: u64) -> String {
        match self {
            Self::WeakMemory(seed) => format!(" every={every} first={}", seed % every),
            _ => String::new(),
        }
    }

    /// The system's text, adapted to this platform.
    fn adapted(self, system: String) -> String {
        match self {
            Self::Queue(queue) => with_queue(&system, queue),
            _ => system,
        }
    }
}

/// A design of the fabric, compiled.
///
/// # Panics
/// The design cannot be compiled.
pub fn fabric(design: &str) -> Fabric {
    let model = Artifacts::Workspace
        .model(design)
        .unwrap_or_else(|missing| panic!("{}: {}", missing.reason, missing.cure));
    Fabric { model, waves: None }
}

/// The system with that ready queue, on the only platform with a fabric.
fn with_queue(system: &str, queue: ReadyQueue) -> String {
    const DESIGN: &str = "[fabric]\ndesign = \"ready_queue\"\n";
    let mut text = system.replacen(
        "[system]\n",
        &format!("[system]\nready_queue = \"{}\"\n", queue.name()),
        1,
    );
    for platform in ["qemu-virt", "mpsoc"] {
        text = text.replacen(&format!("\"{platform}\""), "\"soc\"", 1);
    }
    if queue.is_in_hardware() && !text.contains("[fabric]") {
        text = text.replacen("[[vm]]", &format!("{DESIGN}\n[[vm]]"), 1);
    }
    text
}

/// A figure that a VM has reported.
///
/// # Panics
/// The VM has not reported it.
#[track_caller]
pub fn figure(outcome: &Outcome, vm: &str, name: &str) -> f64 {
    let vm = outcome.journal.vm(vm).expect("the system has it");
    vm.metrics
        .get(name)
        .unwrap_or_else(|| panic!("no {name}\n{}", explain(outcome)))
        .value
}

/// A test's seeds: those of the environment variable `variable`, or `default`.
///
/// # Panics
/// The variable is not of the form `FROM..TO`.
pub fn seeds(variable: &str, default: Range<u64>) -> Range<u64> {
    let Ok(text) = std::env::var(variable) else {
        return default;
    };
    let ends = text.split_once("..");
    let ends = ends.and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    ends.unwrap_or_else(|| panic!("{variable}={text}: say FROM..TO, such as 0..10"))
}

/// Whether the hypervisor has reported that it does not, or no longer, use the ready queue in hardware.
pub fn has_given_up_its_queue(outcome: &Outcome) -> bool {
    let log = outcome.journal.log.text();
    log.contains("warning") && log.contains("ready queue in hardware is not used")
}

/// Makes two tests of each function: one on QEMU, one on the board.
///
/// On QEMU, only `make soak` runs those of the second list, whose virtual time takes QEMU long.
macro_rules! on_both {
    ($($name:ident),* $(; $($long:ident),+)? $(,)?) => {
        mod qemu {
            $(#[test]
            fn $name() {
                super::$name(crate::harness::On::Qemu);
            })*
            $($(#[test]
            #[ignore = "long"]
            fn $long() {
                super::$long(crate::harness::On::Qemu);
            })+)?
        }
        crate::harness::on_board!($($name),* $($(, $long)+)?);
    };
}
pub(crate) use on_both;

/// Makes a test of each function on the board.
macro_rules! on_board {
    ($($name:ident),* $(,)?) => {
        mod board {
            $(#[test]
            fn $name() {
                super::$name(crate::harness::On::Board);
            })*
        }
    };
}
pub(crate) use on_board;

/// Makes a test of each function on the board with weak memory, from five seeds or those of `WEAK_MEMORY_SEEDS`.
///
/// The environment variable has the form `FROM..TO`. Only `make soak` runs the second list.
macro_rules! in_weak_memory {
    ($($name:ident),* ; $($long:ident),* $(,)?) => {
        mod weak_memory {
            $(#[test]
            fn $name() {
                crate::harness::from_seeds(super::$name);
            })*
            $(#[test]
            #[ignore = "long"]
            fn $long() {
                crate::harness::from_seeds(super::$long);
            })*
        }
    };
}
pub(crate) use in_weak_memory;

/// Calls `test` with weak memory from each seed. A failing seed is the last one in the output.
pub fn from_seeds(test: fn(On)) {
    for seed in seeds("WEAK_MEMORY_SEEDS", 1..6) {
        println!("weak memory from seed {seed}");
        test(On::WeakMemory(seed));
    }
}

/// Makes a test of each function for each ready queue but the default one. Long: only `make soak` runs them.
macro_rules! with_each_queue {
    ($($name:ident),+ $(,)?) => {
        with_each_queue!(@ linear Linear, [$($name)+]);
        with_each_queue!(@ gp Gp, [$($name)+]);
        with_each_queue!(@ hybrid Hybrid, [$($name)+]);
        with_each_queue!(@ acp Acp, [$($name)+]);
        with_each_queue!(@ acp_polling AcpPolling, [$($name)+]);
    };
    (@ $module:ident $queue:ident, [$($name:ident)+]) => {
        mod $module {
            $(#[test]
            #[ignore = "long"]
            fn $name() {
                super::$name(crate::harness::On::Queue(tactus_abi::blob::ReadyQueue::$queue));
            })+
        }
    };
}
pub(crate) use with_each_queue;

/// The name of a program of the guests' C toolchain, such as `gcc`.
pub fn cross(tool: &str) -> String {
    let prefix = std::env::var("TACTUS_CROSS");
    prefix.unwrap_or_else(|_| "riscv64-unknown-elf-".to_owned()) + tool
}

/// Runs a command; gives exit code, stdout and stderr.
///
/// # Panics
/// It cannot be run, or writes something that is no text.
#[track_caller]
pub fn output(mut command: impl BorrowMut<Command>) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.borrow_mut().output().expect("it can be run");
    let text = |bytes| String::from_utf8(bytes).expect("it writes text");
    (status.code(), text(stdout), text(stderr))
}

/// The project's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Builds the system in the file `system` (relative to the root) and runs it until the VM `until` or the machine is
/// off.
///
/// # Panics
/// The system has errors, or the machine cannot be run.
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
    boot_file(on, written(system).path(), until)
}

/// A temporary file with a system's text; dropping it removes the file.
pub fn written(system: &str) -> NamedTempFile {
    let mut file = tempfile::Builder::new()
        .suffix(".toml")
        .tempfile()
        .expect("a temporary file can be made");
    file.write_all(system.as_bytes())
        .expect("a temporary file can be written");
    file
}

fn run_file(on: On, system: &Path, until: Option<&str>) -> Outcome {
    once(&boot_file(on, system, until))
}

/// Builds the system in the file `system` (relative to the root), ready for any number of runs with [`once`].
///
/// A run ends when the VM `until` or the machine is off.
pub fn boot(on: On, system: &str, until: Option<&str>) -> Boot {
    boot_file(on, &root().join(system), until)
}

fn boot_file(on: On, system: &Path, until: Option<&str>) -> Boot {
    let mut boot = Boot::of_changed(system, |text| on.adapted(text), |_| ())
        .unwrap_or_else(|error| panic!("{}: {error:?}", system.display()));
    boot.plan = boot.plan.limit(STUCK).on(on.platform());
    if let Some(until) = until {
        boot.plan = boot
            .plan
            .until(until)
            .unwrap_or_else(|error| panic!("{}: {error}", system.display()));
    }
    boot
}

/// Runs a system that has been built.
///
/// # Panics
/// The system cannot be run, or its ready queue in hardware has failed without an injected fault.
#[track_caller]
pub fn once(boot: &Boot) -> Outcome {
    let outcome = boot
        .run(&mut Unwatched)
        .unwrap_or_else(|error| panic!("the system cannot be run: {error}"));
    if let Platform::Board(options) = &boot.plan.launch.platform
        && options.faults.is_empty()
    {
        assert!(!has_given_up_its_queue(&outcome), "\n{}", explain(&outcome));
    }
    outcome
}

/// The parts of a run that help to find why a test failed.
pub fn explain(outcome: &Outcome) -> String {
    let mut text = tactus::report::summary(outcome);
    let journal = &outcome.journal;
    let _ = write!(text, "\n--- tactus\n{}", journal.log.text());
    for vm in &journal.vms {
        let _ = write!(text, "\n--- {}\n{}", vm.name, vm.console.text());
    }
    text
}

/// Asserts that a run's verdict is `verdict`; prints the run otherwise.
///
/// # Panics
/// The verdict is another one.
#[track_caller]
pub fn assert_verdict(outcome: &Outcome, verdict: Verdict) {
    assert_eq!(outcome.verdict(), verdict, "\n{}", explain(outcome));
}
