//! The experiment as data: `bench/board.toml` says what is run on which machines, in which turns, and which
//! figures come of it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use miette::{IntoDiagnostic, miette};
use serde::{Deserialize, Deserializer, de};

use crate::bench::experiment::{self as plain, unit};
use crate::report::unit::Unit;

/// The experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What it finds out.
    pub title: String,
    /// Profile of the board, whose costs the timed mode charges.
    pub profile: String,
    /// What is run.
    #[serde(rename = "task")]
    pub tasks: Vec<Task>,
    /// What is measured beside what, in this order.
    pub turns: Vec<Turns>,
    /// What is taken from the measurements.
    #[serde(rename = "metric")]
    pub metrics: Vec<Metric>,
}

/// A piece of work: a program without firmware, a system under the hypervisor, a campaign of faults, or copies of a
/// board.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// What measurements call it.
    pub name: String,
    /// An artifact that takes parameters as `bench/board/mix` does.
    pub program: Option<String>,
    /// Harts that the program runs on.
    pub harts: Option<u32>,
    /// Its rounds.
    pub rounds: Option<u64>,
    /// Its rounds with `--quick`.
    pub quick_rounds: Option<u64>,
    /// Cycles that a hart runs before another one, where it is not the profile's; QEMU has nothing of the kind.
    pub quantum: Option<u64>,
    /// The system's file, relative to the project's root.
    pub system: Option<PathBuf>,
    /// The campaign's file, relative to the project's root. What comes before its runs is not measured.
    pub campaign: Option<PathBuf>,
    /// Threads that carry out the campaign's runs, where it is not one.
    pub threads: Option<u32>,
    /// MiB of memory in use of a board that is copied.
    pub fork_mib: Option<u64>,
    /// Begin of a VM's console line that the task is done with; otherwise it is done when the machine has ended.
    pub until: Option<String>,
    /// Virtual time on the board after which it has failed, where it is not
    /// [`LIMIT_SECONDS`](crate::bench::experiment::LIMIT_SECONDS).
    pub limit_seconds: Option<u64>,
}

/// Measurements that are compared with each other, and so take turns: what slows the host for a while
/// slows all of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turns {
    /// What is measured, in this order, again and again.
    pub of: Vec<Measured>,
    /// How often.
    pub repeat: u32,
    /// How often with `--quick`; 0: not at all, and figures that need it are left out.
    pub quick_repeat: u32,
    /// Whether the host is given more and less to do besides: for runs that are to be identical, not for their time.
    #[serde(default)]
    pub loaded: bool,
}

/// A machine that tasks run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Machine {
    /// QEMU with one instruction in each translated block, in host time.
    Qemu,
    /// QEMU with blocks as large as it makes them.
    Plain,
    /// Spike, where it is installed.
    Spike,
    /// QEMU counting instructions: not for its speed, for the count.
    Counting,
    /// The board in its fast mode.
    Fast,
    /// The board in its timed mode, with the costs of the experiment's profile.
    Timed,
}

impl Machine {
    const NAMES: [(&str, Self); 6] = [
        ("qemu", Self::Qemu),
        ("plain", Self::Plain),
        ("spike", Self::Spike),
        ("counting", Self::Counting),
        ("fast", Self::Fast),
        ("timed", Self::Timed),
    ];
}

/// A task on a machine, written `task@machine`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measured {
    /// The task's name.
    pub task: String,
    /// The machine.
    pub machine: Machine,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Machine::NAMES
            .iter()
            .find_map(|(name, machine)| (*machine == self.machine).then_some(*name));
        write!(f, "{}@{}", self.task, name.unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Measured {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let machine_named = |name| {
            Machine::NAMES
                .iter()
                .find_map(|(known, machine)| (*known == name).then_some(*machine))
        };
        text.split_once('@')
            .and_then(|(task, machine)| {
                Some(Self {
                    task: task.to_owned(),
                    machine: machine_named(machine)?,
                })
            })
            .ok_or_else(|| de::Error::custom(format!("`{text}` is not `task@machine`")))
    }
}

/// A figure of the experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// What it is, for people.
    pub text: String,
    /// Its unit.
    #[serde(deserialize_with = "unit")]
    pub unit: Unit,
    /// The greatest value that this project allows itself.
    pub limit: Option<f64>,
    /// The smallest one, where more is better.
    pub least: Option<f64>,
    /// Figures of others, by name.
    #[serde(default)]
    pub known: BTreeMap<String, f64>,
    /// How it comes about.
    #[serde(rename = "from")]
    pub source: Source,
}

impl Metric {
    /// As results show it.
    pub fn plain(&self) -> plain::Metric {
        plain::Metric {
            name: self.name.clone(),
            text: self.text.clone(),
            unit: self.unit,
            paper: None,
            limit: self.limit,
            least: self.least,
            quick: true,
            limit_overhead: None,
            known: self.known.clone(),
            record: None,
            ratio: None,
            more: None,
            less: None,
            samples: None,
            counted: None,
            image: None,
            area: None,
            coupling: None,
            hypervisor_text: None,
            calls: None,
            passage: None,
            stay: None,
            paths: None,
            times: None,
            sum: Vec::new(),
            bound: None,
            beyond: None,
            cost: None,
            region: None,
            waited: None,
            unfinished: None,
        }
    }
}

/// How a figure comes about from measurements of the same turns. Each turn gives a value; the figure is their median.
/// Host time is CPU time, all threads of the machine together, so that a busy host does not spoil a ratio.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// Time of one on the wall's clock, in seconds.
    WallSeconds(Measured),
    /// Host time of the first over that of the second: how much faster the second is.
    Speedup(Measured, Measured),
    /// Host time an instruction of the first over that of the second: how much slower the first is.
    Slowdown(Measured, Measured),
    /// Host time an instruction, in nanoseconds: the time of the first, the count of the second.
    HostNsPerInstruction(Measured, Measured),
    /// Runs of a campaign that it carries out in a second of CPU time.
    RunsPerSecond(Measured),
    /// CPU time of a copy of a board, in milliseconds.
    MsPerCopy(Measured),
    /// In percent, the part of the wall's time of a campaign's threads in which boards ran.
    SimulationPercent(Measured),
    /// Instructions of a campaign's run, from its fault to its end, on average.
    InstructionsPerRun(Measured),
    /// Instructions that it takes.
    Instructions(Measured),
    /// Instructions that the first counts more or less than the second: 0 if both machines execute the same.
    CountDifference(Measured, Measured),
    /// Of all its runs in loaded turns, how many gave the trace hash of the first.
    Identical(Measured),
}

impl Source {
    /// Whether the figure is in time of the host, which other work on the host moves.
    pub fn is_host_time(&self) -> bool {
        match self {
            Self::WallSeconds(_)
            | Self::Speedup(..)
            | Self::Slowdown(..)
            | Self::HostNsPerInstruction(..)
            | Self::RunsPerSecond(_)
            | Self::MsPerCopy(_)
            | Self::SimulationPercent(_) => true,
            Self::InstructionsPerRun(_)
            | Self::Instructions(_)
            | Self::CountDifference(..)
            | Self::Identical(_) => false,
        }
    }

    /// The measurements that it needs.
    pub fn needs(&self) -> Vec<&Measured> {
        match self {
            Self::WallSeconds(a)
            | Self::RunsPerSecond(a)
            | Self::MsPerCopy(a)
            | Self::SimulationPercent(a)
            | Self::InstructionsPerRun(a)
            | Self::Instructions(a)
            | Self::Identical(a) => vec![a],
            Self::Speedup(a, b)
            | Self::Slowdown(a, b)
            | Self::HostNsPerInstruction(a, b)
            | Self::CountDifference(a, b) => vec![a, b],
        }
    }
}

impl Experiment {
    /// The same without limits for figures in host time, which are reported only.
    pub fn without_host_limits(mut self) -> Self {
        for metric in &mut self.metrics {
            if metric.source.is_host_time() {
                (metric.limit, metric.least) = (None, None);
            }
        }
        self
    }

    /// Takes out a machine that is not to be had, and gives the names of the metrics that need it.
    pub fn leave_out(&mut self, machine: Machine) -> Vec<String> {
        for turns in &mut self.turns {
            turns.of.retain(|measured| measured.machine != machine);
        }
        let needs = |metric: &mut Metric| {
            let needs = metric.source.needs();
            needs.iter().any(|need| need.machine == machine)
        };
        let left_out = self.metrics.extract_if(.., needs);
        left_out.map(|metric| metric.name).collect()
    }

    /// The task called `name`.
    pub fn task(&self, name: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.name == name)
    }

    /// The turns that have all that a metric needs, by index.
    pub fn turns_of(&self, source: &Source) -> Option<usize> {
        let loaded = matches!(source, Source::Identical(_));
        self.turns.iter().position(|turns| {
            turns.loaded == loaded && source.needs().iter().all(|need| turns.of.contains(need))
        })
    }
}

/// Reads the experiment and checks that it makes sense.
///
/// # Errors
/// It does not; says where.
pub fn parse(text: &str) -> miette::Result<Experiment> {
    let experiment: Experiment = toml::from_str(text).into_diagnostic()?;
    for task in &experiment.tasks {
        let name = &task.name;
        let of = [
            task.program.is_some(),
            task.system.is_some(),
            task.campaign.is_some(),
            task.fork_mib.is_some(),
        ];
        if of.into_iter().filter(|given| *given).count() != 1 {
            return Err(miette!(
                "task `{name}` needs one of `program`, `system`, `campaign` and `fork_mib`"
            ));
        }
        if task.threads == Some(0) || task.threads.is_some() && task.campaign.is_none() {
            return Err(miette!(
                "task `{name}`: `threads` goes with `campaign`, and is at least 1"
            ));
        }
        let of_program = [
            task.harts.is_some(),
            task.rounds.is_some(),
            task.quick_rounds.is_some(),
        ];
        if of_program != [task.program.is_some(); 3] {
            return Err(miette!(
                "task `{name}`: `harts`, `rounds` and `quick_rounds` go with `program`, and a program needs them"
            ));
        }
    }
    for turns in &experiment.turns {
        for measured in &turns.of {
            if experiment.task(&measured.task).is_none() {
                return Err(miette!("`{measured}` is of no task of the experiment"));
            }
            let task = experiment.task(&measured.task);
            let is_of_board =
                task.is_some_and(|task| task.campaign.is_some() || task.fork_mib.is_some());
            if is_of_board && !matches!(measured.machine, Machine::Fast | Machine::Timed) {
                return Err(miette!(
                    "`{measured}`: campaigns and copies are of the board alone, `fast` or `timed`"
                ));
            }
            if measured.machine == Machine::Spike && task.is_some_and(|task| task.program.is_none())
            {
                return Err(miette!("`{measured}`: Spike carries out programs alone"));
            }
        }
        if turns.repeat == 0 {
            return Err(miette!("turns that are not repeated once measure nothing"));
        }
    }
    for metric in &experiment.metrics {
        if metric.limit.is_some() && metric.least.is_some() {
            return Err(miette!(
                "metric `{}` has both `limit` and `least`",
                metric.name
            ));
        }
        if experiment.turns_of(&metric.source).is_none() {
            return Err(miette!(
                "metric `{}` needs measurements that take turns with each other, in loaded turns if it is `identical`, else in others",
                metric.name
            ));
        }
    }
    Ok(experiment)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        title = "t"
        profile = "soc"
        [[task]]
        name = "compute"
        program = "board-mix"
        harts = 1
        rounds = 10
        quick_rounds = 1
        [[turns]]
        of = ["compute@qemu", "compute@fast"]
        repeat = 3
        quick_repeat = 1
        [[metric]]
        name = "m"
        text = "t"
        unit = "count"
        least = 5
        from = { speedup = ["compute@qemu", "compute@fast"] }
    "#;

    #[test]
    fn experiment_is_read() {
        let experiment = parse(GOOD).expect("it is in order");
        let source = &experiment.metrics[0].source;
        let needs: Vec<String> = source.needs().iter().map(|need| need.to_string()).collect();
        assert_eq!(needs, ["compute@qemu", "compute@fast"]);
        assert_eq!(experiment.turns_of(source), Some(0));
    }

    #[test]
    fn contradictions_are_named() {
        let error = |from: &str, to: &str| {
            assert!(GOOD.contains(from));
            format!(
                "{:?}",
                parse(&GOOD.replacen(from, to, 1)).expect_err("it is not in order")
            )
        };
        assert!(error("harts = 1", "").contains("a program needs them"));
        assert!(
            error("program = \"board-mix\"", "").contains("one of `program`, `system`, `campaign`")
        );
        let campaign = GOOD
            .replace("program = \"board-mix\"", "campaign = \"c.toml\"")
            .replace("harts = 1", "")
            .replace("rounds = 10", "")
            .replace("quick_rounds = 1", "");
        let error_of_campaign = parse(&campaign).expect_err("QEMU carries out no campaign");
        assert!(error_of_campaign.to_string().contains("of the board alone"));
        let rounds = "rounds = 10\n        quick_rounds = 1\n";
        let system = GOOD
            .replace("program = \"board-mix\"", "system = \"s.toml\"")
            .replace("harts = 1", "")
            .replace(rounds, "")
            .replace("compute@qemu", "compute@spike");
        let error_of_system = parse(&system).expect_err("Spike has no firmware");
        assert!(error_of_system.to_string().contains("programs alone"));
        assert!(error("harts = 1", "harts = 1\nthreads = 2").contains("goes with `campaign`"));
        assert!(error("\"compute@fast\"]", "\"other@fast\"]").contains("of no task"));
        assert!(error("compute@qemu", "compute@bochs").contains("not `task@machine`"));
        assert!(error(", \"compute@fast\"]", "]").contains("take turns with each other"));
        assert!(error("repeat = 3", "repeat = 0").contains("measure nothing"));
        assert!(error("least = 5", "least = 5\nlimit = 6").contains("both"));
    }

    #[test]
    fn a_machine_that_is_not_there_is_left_out_with_its_metrics() {
        let text = GOOD.replace(
            "[\"compute@qemu\", ",
            "[\"compute@spike\", \"compute@qemu\", ",
        );
        let text = format!(
            "{}{}",
            text.replace("speedup = [\"compute@spike\", ", "speedup = ["),
            r#"
            [[metric]]
            name = "of_spike"
            text = "t"
            unit = "count"
            from = { speedup = ["compute@spike", "compute@fast"] }
            "#
        );
        let mut experiment = parse(&text).expect("it is in order");
        assert_eq!(experiment.turns[0].of.len(), 3);
        assert_eq!(experiment.leave_out(Machine::Spike), ["of_spike"]);
        assert_eq!(experiment.turns[0].of.len(), 2);
        assert_eq!(experiment.metrics.len(), 1);
        assert!(experiment.leave_out(Machine::Spike).is_empty());
    }

    #[test]
    fn only_limits_of_host_time_can_be_left_out() {
        let counted = "from = { count_difference = [\"compute@qemu\", \"compute@fast\"] }";
        let host = "from = { speedup = [\"compute@qemu\", \"compute@fast\"] }";
        let least = |text: &str| {
            let experiment = parse(text).expect("it is in order").without_host_limits();
            experiment.metrics[0].least
        };
        assert_eq!(least(GOOD), None);
        assert_eq!(least(&GOOD.replace(host, counted)), Some(5.0));
    }

    #[test]
    fn times_are_of_quiet_turns_and_identity_of_loaded_ones() {
        let identical = GOOD.replace(
            "speedup = [\"compute@qemu\", \"compute@fast\"]",
            "identical = \"compute@fast\"",
        );
        let loaded = |text: &str| text.replace("repeat = 3", "repeat = 3\nloaded = true");
        assert!(parse(&identical).is_err());
        assert!(parse(&loaded(&identical)).is_ok());
        assert!(parse(&loaded(GOOD)).is_err());
    }
}
