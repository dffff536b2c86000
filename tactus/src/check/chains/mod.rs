//! Chains: how long it takes at most from a stimulus until the last of several steps has ended.
//!
//! The bound is the sum of each step's own. A task that samples what has come waits for its next activation first: a
//! period more, as the step before it may end just after an activation (Davare et al., DAC 2007). A task that an
//! interrupt activates responds from then on. Its bound holds as long as it is activated as rarely as it declares: so
//! its period is no longer than that of the task where the chain's events come from, and its jitter covers all steps
//! since.

mod steps;

use tactus_board::profile::Profile;
use tactus_planning::supply::{Completion, GuestTask};

use super::guarantee::Guarantee;
use super::judge::Judge;
use super::platform::Platform;
use super::tasks::{self, Tasks};
use super::time::time_text;
use crate::config::{self, At, IoPolicy, OnFault, Span, Stimulus, Vm};
use crate::io_bounds::{self, Memory, Port, Request, Shared, Way};
use crate::plan;
use crate::problem::Code;
use steps::{Device, Kind, Named, steps};

/// Nanoseconds in a second: the unit of all times here.
const HZ: u32 = 1_000_000_000;

/// When a chain has ended. All times are in nanoseconds.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Its name.
    pub name: String,
    /// By when it has to.
    pub deadline: u64,
    /// Its steps.
    pub steps: Vec<Step>,
}

impl Chain {
    /// When it has ended, at the latest.
    pub fn bound(&self) -> u64 {
        self.steps.iter().map(Step::bound).sum()
    }
}

/// A step of a chain.
#[derive(Clone, Debug)]
pub struct Step {
    /// As it is written.
    pub name: String,
    /// Its parts, one after the other, each with the longest time.
    pub parts: Vec<(Part, u64)>,
}

impl Step {
    fn bound(&self) -> u64 {
        self.parts.iter().map(|(_, time)| time).sum()
    }
}

/// A part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Until a task is activated that samples.
    Sampling,
    /// From a task's activation until it is done.
    Response,
    /// Until an interrupt reaches the VM.
    Signal,
    /// Until an accelerator has a region.
    Allocation,
    /// While it computes.
    Computation,
    /// Until a request to a device has its response.
    Request,
}

impl Part {
    /// For people.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Sampling => "until it samples",
            Self::Response => "until it is done",
            Self::Signal => "until the VM is signalled",
            Self::Allocation => "until it has a region",
            Self::Computation => "while it computes",
            Self::Request => "until it is answered",
        }
    }

    /// For JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sampling => "sampling",
            Self::Response => "response",
            Self::Signal => "signal",
            Self::Allocation => "allocation",
            Self::Computation => "computation",
            Self::Request => "request",
        }
    }
}

/// What bounds follow from.
struct System<'s> {
    platform: &'s Platform,
    guarantee: &'s Guarantee,
    tasks: &'s Tasks,
    accelerators: Option<&'s plan::Accelerators>,
    io: Option<&'s plan::Io>,
}

/// Judges all `[[chain]]`.
pub(super) fn check(
    judge: &mut Judge<'_>,
    platform: Option<&Platform>,
    guarantee: Option<&Guarantee>,
    tasks: &Tasks,
    accelerators: Option<&plan::Accelerators>,
    io: Option<&plan::Io>,
) -> Vec<Chain> {
    let config = judge.config;
    let mut chains = Vec::new();
    let mut triggers = Vec::new();
    for written in &config.chains {
        let Some(steps) = steps(judge, written) else {
            continue;
        };
        let (Some(platform), Some(guarantee)) = (platform, guarantee) else {
            continue;
        };
        let system = System {
            platform,
            guarantee,
            tasks,
            accelerators,
            io,
        };
        chains.extend(system.chain(judge, written, &steps, &mut triggers));
    }
    chains
}

fn bad(judge: &mut Judge<'_>, span: &Span, label: &str, message: String, cure: impl Into<String>) {
    judge.note(Code::BadChain, span, label, message, cure);
}

/// Where a chain's events come from: its last task that samples, or its stimulus.
struct Source<'c> {
    title: String,
    /// Time between two of them. `None`: as the first task declares.
    period: Option<u64>,
    /// By how much later than on the grid of the period they come, with all steps since.
    late: u64,
    /// The steps since, a task that samples included.
    steps: Vec<&'c str>,
}

/// The tasks that an interrupt activates, each with its VM's index, its name and the steps that lead to it.
type Triggers = Vec<(usize, String, Vec<String>)>;

impl System<'_> {
    fn nanoseconds(&self, ticks: u64) -> u64 {
        (ticks * u64::from(HZ)).div_ceil(u64::from(self.guarantee.timebase_hz))
    }

    /// Judges a chain whose steps are known. `None`, noted: some have no bound.
    fn chain(
        &self,
        judge: &mut Judge<'_>,
        written: &config::Chain,
        steps: &[Named<'_>],
        triggers: &mut Triggers,
    ) -> Option<Chain> {
        let title = written.title();
        let mut chain = Chain {
            name: written.name.as_ref()?.value.clone(),
            deadline: written.deadline.as_ref()?.value.0,
            steps: Vec::new(),
        };
        let mut source = Source {
            title: "its stimulus".into(),
            period: None,
            late: 0,
            steps: Vec::new(),
        };
        for (index, &(step, kind)) in steps.iter().enumerate() {
            let mut parts = Vec::new();
            match kind {
                Kind::Task { vm, written } => {
                    let task = self.tasks.task(vm, &written.name.as_ref()?.value)?;
                    let Completion::Within(response) = task.completion else {
                        // Noted.
                        return None;
                    };
                    let own = tasks::title(&judge.config.vms[vm], &task.name);
                    let [period, jitter, response] =
                        [task.times.period, task.times.jitter, response]
                            .map(|ticks| self.nanoseconds(ticks));
                    if task.stimulus == Stimulus::Sampled {
                        parts.push((Part::Sampling, period + jitter));
                        source = Source {
                            title: own,
                            period: Some(period),
                            late: jitter,
                            steps: Vec::new(),
                        };
                    } else {
                        // Of a device, before the first step; of others, it is with the step before.
                        if index == 0 {
                            let signal = self.signal(judge, vm, &task.times);
                            parts.push((Part::Signal, signal));
                            source.late += signal;
                        }
                        self.activated(judge, &title, written, &own, &source, [period, jitter])?;
                        let since = source.steps.iter().map(|&step| step.to_owned()).collect();
                        triggered(
                            judge,
                            &title,
                            step,
                            triggers,
                            (vm, task.name.clone(), since),
                        )?;
                        if source.period.is_none() {
                            (source.title, source.period, source.late) =
                                (own, Some(period), jitter);
                        }
                    }
                    parts.push((Part::Response, response));
                    source.late += response;
                }
                Kind::Channel { .. } => {}
                Kind::Accelerator { vm, task, computes } => {
                    let allocation = self.accelerator(judge, &title, step, vm, task)?;
                    parts.push((Part::Allocation, allocation));
                    parts.push((Part::Computation, computes));
                    source.late += allocation + computes;
                }
                Kind::Io { vm, device, words } => {
                    parts.push((
                        Part::Request,
                        self.request(judge, &title, step, vm, device, words)?,
                    ));
                }
            }
            if let Some(&(_, next)) = steps.get(index + 1)
                && let Some(signal) = self.interrupt(judge, kind, next)
            {
                parts.push((Part::Signal, signal));
                source.late += signal;
            }
            source.steps.push(&step.value);
            chain.steps.push(Step {
                name: step.value.clone(),
                parts,
            });
        }
        self.in_time(judge, written, &chain);
        Some(chain)
    }

    /// How long the interrupt takes by which a step activates the next. `None`: none does.
    fn interrupt(&self, judge: &Judge<'_>, from: Kind<'_>, to: Kind<'_>) -> Option<u64> {
        let Kind::Task { vm, written } = to else {
            return None;
        };
        let task = self.tasks.task(vm, &written.name.as_ref()?.value)?;
        if task.stimulus == Stimulus::Sampled {
            return None;
        }
        if let Kind::Task {
            written: before, ..
        } = from
        {
            let vcpu = |task: &config::Task| task.vcpu.as_ref().map_or(0, |vcpu| vcpu.value);
            if vcpu(before) == vcpu(written) {
                return None;
            }
        }
        Some(self.signal(judge, vm, &task.times))
    }

    /// The longest time until a signal for a task has interrupted its VM's vCPU.
    ///
    /// A vCPU may be the cause of one interrupt in its interrupt distance. A signal that comes sooner waits for the
    /// deferred work that is done once in a deferral period (protocol I1). None does where the VM has no other source
    /// of interrupts, and the task declares that it is activated no more often.
    fn signal(&self, judge: &Judge<'_>, vm: usize, task: &GuestTask) -> u64 {
        let overheads = &self.guarantee.overheads;
        let vcpu = judge.config.vms[vm].vcpus.first();
        let given = vcpu.and_then(|vcpu| vcpu.interrupt_distance.as_ref());
        let distance = given.map_or(overheads.service_period, |given| {
            self.platform.profile.ticks_within(given.value)
        });
        let is_rare = task.period - task.jitter >= distance;
        let ticks = if is_rare && has_one_source(judge.config, vm) {
            self.guarantee.held() + self.guarantee.interrupt
        } else {
            overheads.service_period + self.guarantee.held() + overheads.service
        };
        self.nanoseconds(ticks)
    }

    /// Whether a task of that period and jitter is activated as rarely as it declares; `None`, noted: it is not.
    fn activated(
        &self,
        judge: &mut Judge<'_>,
        title: &str,
        written: &config::Task,
        own: &str,
        source: &Source<'_>,
        [period, jitter]: [u64; 2],
    ) -> Option<()> {
        let time = |ns: u64| time_text(ns, HZ);
        let toml = |ns: u64| time(ns).replace(' ', "");
        if let Some(more_often) = source.period.filter(|&other| other < period) {
            let place = written.period.as_ref().map(|period| &period.span);
            let message = format!(
                "{title}: {own} is activated by {}, whose period is {}, and declares {} between activations",
                source.title,
                time(more_often),
                time(period)
            );
            let cure = format!("write `period = \"{}\"`", toml(more_often));
            bad(
                judge,
                place.unwrap_or(&written.span),
                "activated more often",
                message,
                cure,
            );
            return None;
        }
        if source.late > jitter {
            let place = written.jitter.as_ref().map(|jitter| &jitter.span);
            let message = format!(
                "{title}: {own} may be activated up to {} later than on the grid of {}, and declares a jitter of {}",
                time(source.late),
                source.title,
                time(jitter)
            );
            let cure = if source.late <= period {
                format!("write `jitter = \"{}\"`", toml(source.late))
            } else {
                "a jitter is at most the period: let the task sample, or shorten the steps before it".into()
            };
            bad(
                judge,
                place.unwrap_or(&written.span),
                "activated later",
                message,
                cure,
            );
            return None;
        }
        Some(())
    }

    /// How long a VM waits for an accelerator's region. `None`, noted: that has no bound.
    fn accelerator(
        &self,
        judge: &mut Judge<'_>,
        title: &str,
        step: &At<String>,
        vm: usize,
        task: &str,
    ) -> Option<u64> {
        // What is wrong with the accelerators is noted.
        let accelerators = self.accelerators?;
        let mut devices = accelerators.devices.iter();
        let device = devices.find(|device| device.vm == vm && device.task == task)?;
        let (reason, cure) = match device.latency {
            None => (
                "what the device manager's steps take is not known",
                "add a table `[accelerators.costs]` with measured times",
            ),
            Some(_) if !device.real_time => (
                "a best-effort VM may wait for ever",
                "make a vCPU of the VM `class = \"rt\"`",
            ),
            Some(_) if accelerators.turn.is_some() => (
                "a turn of a best-effort accelerator may take its region while it computes",
                "leave `turn` and `turn_every` of `[accelerators]` out",
            ),
            Some(latency) => match latency.bound {
                Some(bound) => return Some(bound),
                None => (
                    "real-time accelerators of other VMs may have all of its regions, or its manager has no bound",
                    "give fewer VMs real-time accelerators that fit the same regions, and the manager a reservation",
                ),
            },
        };
        no_bound(judge, title, step, reason, cure);
        None
    }

    /// How long a request to a device takes. `None`, noted: that has no bound, or there is no such request.
    fn request(
        &self,
        judge: &mut Judge<'_>,
        title: &str,
        step: &At<String>,
        vm: usize,
        device: Device,
        words: &str,
    ) -> Option<u64> {
        let of = &judge.config.vms[vm];
        if of.io_ports.is_empty() {
            bad(
                judge,
                &step.span,
                "without an I/O port",
                format!(
                    "{title} has a request of {}, which has no I/O port",
                    of.title()
                ),
                "give it a table `[[vm.io_port]]`, or name another VM",
            );
            return None;
        }
        // What is wrong with the ports is noted.
        let io = self.io?;
        let profile = Profile::named(&self.platform.profile.name)?;
        let all = Shared {
            policies: io.policies,
            way: Way::Page(Memory::of(&profile)?),
            ports: io
                .ports
                .iter()
                .enumerate()
                .map(|(number, port)| (number, Port::of(port, io.reader == Some(number))))
                .collect(),
        };
        let own = all
            .ports
            .iter()
            .filter(|(number, _)| io.ports[*number].vm == vm);
        let requests: Vec<(usize, Request)> = own
            .filter_map(|(number, port)| Some((*number, device.request(words, *port)?)))
            .collect();
        if requests.is_empty() {
            bad(
                judge,
                &step.span,
                "no such request",
                format!(
                    "{title}: no I/O port of {} can request `{words}` there",
                    of.title()
                ),
                format!(
                    "use {}, as far as the port has the device, and at most {} bytes or pixels",
                    device.examples(),
                    io_bounds::LENGTH_MAX
                ),
            );
            return None;
        }
        let bounds = requests
            .iter()
            .map(|(number, request)| all.bound(*number, *request));
        // Any of its ports may be meant.
        let cycles: Option<u64> = bounds
            .collect::<Option<Vec<u64>>>()
            .and_then(|all| all.into_iter().max());
        let Some(cycles) = cycles else {
            debug_assert!(io.policies.contains(&IoPolicy::FixedPriority));
            no_bound(
                judge,
                title,
                step,
                "the device's `policy` is `\"fixed-priority\"`, and ports before it may ask again and again",
                "use `\"round-robin\"` or `\"fifo\"`, or let this port be the first one",
            );
            return None;
        };
        let hz = profile.fabric.as_ref()?.clock_hz;
        u64::try_from((u128::from(cycles) * u128::from(HZ)).div_ceil(u128::from(hz))).ok()
    }

    /// Notes a chain that may end too late.
    fn in_time(&self, judge: &mut Judge<'_>, written: &config::Chain, chain: &Chain) {
        let bound = chain.bound();
        let Some(deadline) = written.deadline.as_ref().filter(|_| bound > chain.deadline) else {
            return;
        };
        let time = |ns: u64| time_text(ns, HZ);
        let parts: Vec<String> = chain
            .steps
            .iter()
            .map(|step| format!("{} for `{}`", time(step.bound()), step.name))
            .collect();
        let longest = chain.steps.iter().max_by_key(|step| step.bound());
        let longest = longest.map_or("", |step| &step.name);
        judge.note(
            Code::LateChain,
            &deadline.span,
            format!("it may take {}", time(bound)),
            format!(
                "{} has to end within {}, and may take {}: {}",
                written.title(),
                deadline.value,
                time(bound),
                parts.join(", ")
            ),
            format!(
                "write `deadline = \"{}\"`, or shorten a step: `{longest}` is the longest",
                time(bound).replace(' ', "")
            ),
        );
    }
}

fn no_bound(judge: &mut Judge<'_>, title: &str, step: &At<String>, reason: &str, cure: &str) {
    let message = format!(
        "{title}: how long `{}` takes has no bound: {reason}",
        step.value
    );
    bad(judge, &step.span, "no bound", message, cure);
}

/// Notes a task that two chains activate by different steps; `None` then.
fn triggered(
    judge: &mut Judge<'_>,
    title: &str,
    step: &At<String>,
    triggers: &mut Triggers,
    trigger: (usize, String, Vec<String>),
) -> Option<()> {
    let same =
        |other: &&(usize, String, Vec<String>)| (other.0, &other.1) == (trigger.0, &trigger.1);
    let Some((_, _, before)) = triggers.iter().find(same) else {
        triggers.push(trigger);
        return Some(());
    };
    if *before == trigger.2 {
        return Some(());
    }
    let list = |steps: &[String]| match steps {
        [] => "its own interrupt".to_owned(),
        steps => format!("`{}`", steps.join("`, `")),
    };
    let message = format!(
        "{title}: `{}` is activated by {}, and in another chain by {}, so that its period says how often each comes, and not both",
        step.value,
        list(&trigger.2),
        list(before)
    );
    let cure = "give each its own task";
    bad(judge, &step.span, "activated by two", message, cure);
    None
}

/// Whether a VM has one vCPU and one source of interrupts.
fn has_one_source(config: &config::Config, vm: usize) -> bool {
    let of = &config.vms[vm];
    let Some(name) = &of.name else { return false };
    let is_it = |other: &Option<At<String>>| {
        other
            .as_ref()
            .is_some_and(|other| other.value == name.value)
    };
    let channels = config
        .channels
        .iter()
        .filter_map(|channel| channel.between.as_ref());
    let channels = channels.filter(|ends| ends.iter().any(|end| end.value == name.value));
    let devices: usize = of
        .devices
        .iter()
        .map(|device| device.interrupts.len())
        .sum();
    let signals =
        |other: &&Vm| matches!(&other.on_fault, OnFault::Signal(to) if to.value == name.value);
    let manages = config
        .accelerators
        .as_ref()
        .is_some_and(|table| is_it(&table.manager))
        || config
            .io
            .as_ref()
            .is_some_and(|table| is_it(&table.manager));
    let sources = channels.count()
        + devices
        + of.accelerators.len()
        + of.io_ports.len()
        + usize::from(of.timed_io.is_some())
        + usize::from(of.console)
        + config.vms.iter().filter(signals).count();
    sources == 1 && of.vcpus.len() == 1 && of.rt_vcpus.is_none() && !manages
}
