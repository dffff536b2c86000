//! The steps of a chain: what each names, and whether it can follow the one before it.

use super::super::judge::Judge;
use super::bad;
use crate::config::{self, At, Nanoseconds, cure_of_unknown};
use crate::io_bounds::{self, Port, Request};
use crate::problem::{Code, count};

/// The most steps of a chain.
const STEPS_MAX: usize = 32;

/// What a step is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind<'c> {
    /// A task of a VM, by index.
    Task {
        vm: usize,
        written: &'c config::Task,
    },
    /// A channel between two VMs.
    Channel { ends: [usize; 2] },
    /// An accelerator of a VM, which computes for so long.
    Accelerator {
        vm: usize,
        task: &'c str,
        computes: u64,
    },
    /// A request to a device by a VM's I/O port.
    Io {
        vm: usize,
        device: Device,
        words: &'c str,
    },
}

impl Kind<'_> {
    const fn vm(self) -> Option<usize> {
        match self {
            Self::Task { vm, .. } | Self::Accelerator { vm, .. } | Self::Io { vm, .. } => Some(vm),
            Self::Channel { .. } => None,
        }
    }
}

/// A device behind the I/O hypervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Device {
    Uart,
    Flash,
    Vga,
    Ethernet,
}

impl Device {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "uart" => Self::Uart,
            "flash" => Self::Flash,
            "vga" => Self::Vga,
            "ethernet" => Self::Ethernet,
            _ => return None,
        })
    }

    /// The requests that there are, as examples.
    pub(super) const fn examples(self) -> &'static str {
        match self {
            Self::Uart => "`read` or `write 64`",
            Self::Flash => "`read 256`, `write 256` or `erase`",
            Self::Vga => "`draw 160` or `fill`",
            Self::Ethernet => "`read 1514` or `send 1514`",
        }
    }

    /// A request in words, by a port.
    pub(super) fn request(self, words: &str, port: Port) -> Option<Request> {
        let mut words = words.split_whitespace();
        let verb = words.next()?;
        let number = match words.next() {
            Some(number) => Some(number.parse::<u64>().ok()?),
            None => None,
        };
        let length = number.filter(|length| (1..=io_bounds::LENGTH_MAX).contains(length));
        let frame = number.filter(|length| (1..=io_bounds::FRAME_MAX).contains(length));
        if words.next().is_some() {
            return None;
        }
        Some(match (self, verb, number) {
            (Self::Uart, "read", None) if port.uart == Some(true) => Request::UartRead,
            (Self::Uart, "write", _) if port.uart.is_some() => Request::UartWrite(length?),
            (Self::Flash, "read", _) if port.flash.is_some() => Request::FlashRead(length?),
            (Self::Flash, "write", _) if port.flash == Some(true) => Request::FlashWrite(length?),
            (Self::Flash, "erase", None) if port.flash == Some(true) => Request::FlashErase,
            (Self::Vga, "draw", _) if port.window.is_some() => Request::VgaWrite(length?),
            (Self::Vga, "fill", None) => Request::VgaFill(port.window?),
            (Self::Ethernet, "read", _) if port.ethernet => Request::EthernetRead(frame?),
            (Self::Ethernet, "send", _) if port.ethernet => Request::EthernetWrite(frame?),
            _ => return None,
        })
    }
}

/// A step as it is written, and what it is.
pub(super) type Named<'c> = (&'c At<String>, Kind<'c>);

/// The steps of a chain; `None`, noted: some are not known, or do not follow each other.
pub(super) fn steps<'c>(judge: &mut Judge<'c>, chain: &'c config::Chain) -> Option<Vec<Named<'c>>> {
    let written = chain.steps.as_ref()?;
    let title = chain.title();
    if written.value.is_empty() {
        bad(
            judge,
            &written.span,
            "no step",
            format!("{title} has no steps"),
            "name them: `steps = [\"sensor.sample\", \"control.loop\"]`",
        );
        return None;
    }
    if let Some(beyond) = written.value.get(STEPS_MAX) {
        judge.note(
            Code::TooMany,
            &beyond.span,
            format!("number {}", STEPS_MAX + 1),
            format!("{title} has more than {}", count(STEPS_MAX, "step")),
            "make two chains of it",
        );
        return None;
    }
    // All are looked up, so that each unknown one is noted.
    let kinds: Vec<Option<Named<'c>>> = written
        .value
        .iter()
        .map(|step| Some((step, kind(judge, &title, step)?)))
        .collect();
    let kinds: Vec<Named<'c>> = kinds.into_iter().collect::<Option<_>>()?;
    let fine = (0..kinds.len()).all(|index| follows(judge, &title, &kinds, index));
    fine.then_some(kinds)
}

/// What a step is; `None`, noted: nothing of that name.
fn kind<'c>(judge: &mut Judge<'c>, title: &str, step: &'c At<String>) -> Option<Kind<'c>> {
    let config = judge.config;
    let (place, words) = match step.value.trim().split_once(char::is_whitespace) {
        Some((place, words)) => (place, words.trim()),
        None => (step.value.trim(), ""),
    };
    let Some((vm_name, name)) = place.split_once('.') else {
        let channel =
            |one: &&config::Channel| one.name.as_ref().is_some_and(|own| own.value == place);
        let channel = config
            .channels
            .iter()
            .find(channel)
            .filter(|_| words.is_empty());
        let Some(channel) = channel else {
            unknown(judge, title, step);
            return None;
        };
        let [a, b] = channel.between.as_ref()?;
        return Some(Kind::Channel {
            ends: [judge.vm_named(&a.value)?, judge.vm_named(&b.value)?],
        });
    };
    let Some(vm) = judge.vm_named(vm_name) else {
        unknown(judge, title, step);
        return None;
    };
    let of = &config.vms[vm];
    if let (Some(device), false) = (Device::named(name), words.is_empty()) {
        return Some(Kind::Io { vm, device, words });
    }
    let is_it = |own: &Option<At<String>>| own.as_ref().is_some_and(|own| own.value == name);
    if let Some(written) = of
        .tasks
        .iter()
        .find(|task| is_it(&task.name))
        .filter(|_| words.is_empty())
    {
        return Some(Kind::Task { vm, written });
    }
    let accelerator = of.accelerators.iter().find(|one| is_it(&one.task));
    let Some(task) = accelerator.and_then(|one| one.task.as_ref()) else {
        unknown(judge, title, step);
        return None;
    };
    let Some(computes) = Nanoseconds::from_text(words) else {
        bad(
            judge,
            &step.span,
            "for how long?",
            format!(
                "{title} has accelerator `{name}` of {}, and does not say how long that computes",
                of.title()
            ),
            format!("write the longest time behind it, as in `\"{vm_name}.{name} 40us\"`"),
        );
        return None;
    };
    Some(Kind::Accelerator {
        vm,
        task: &task.value,
        computes: computes.0,
    })
}

/// Notes a step that is nothing.
fn unknown(judge: &mut Judge<'_>, title: &str, step: &At<String>) {
    let config = judge.config;
    let mut known: Vec<String> = config
        .channels
        .iter()
        .filter_map(|channel| Some(channel.name.as_ref()?.value.clone()))
        .collect();
    for vm in &config.vms {
        let Some(name) = &vm.name else { continue };
        let tasks = vm.tasks.iter().filter_map(|task| task.name.as_ref());
        let accelerators = vm.accelerators.iter().filter_map(|one| one.task.as_ref());
        let all = tasks.chain(accelerators);
        known.extend(all.map(|own| format!("{}.{}", name.value, own.value)));
    }
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let message = format!("{title}: there is no step `{}`", step.value);
    let label = "neither a task, a channel, an accelerator nor a device of an I/O port";
    bad(
        judge,
        &step.span,
        label,
        message,
        cure_of_unknown(&step.value, &known),
    );
}

/// Whether a step can follow the one before it; noted when not.
fn follows(judge: &mut Judge<'_>, title: &str, steps: &[Named<'_>], index: usize) -> bool {
    let config = judge.config;
    let (step, kind) = steps[index];
    let before = index.checked_sub(1).map(|before| steps[before]);
    let name = |vm: usize| config.vms[vm].title();
    let (label, message, cure) = match (before, kind) {
        (Some((_, Kind::Channel { .. })), Kind::Channel { .. }) => (
            "after a channel",
            format!(
                "{title} goes from one channel to the next, `{}`, without a task between them",
                step.value
            ),
            "name the task that takes from the one and gives to the other".to_owned(),
        ),
        (Some((channel, Kind::Channel { ends })), _) => {
            let to = kind.vm().unwrap_or(0);
            let from = index.checked_sub(2).and_then(|from| steps[from].1.vm());
            let is_reached = ends.contains(&to) && from != Some(to);
            let is_task = matches!(kind, Kind::Task { .. });
            if is_reached && is_task {
                return true;
            }
            let message = if is_reached {
                format!(
                    "{title}: what comes through channel `{}` does not reach `{}` without a task",
                    channel.value, step.value
                )
            } else {
                format!(
                    "{title}: channel `{}` does not lead to {}",
                    channel.value,
                    name(to)
                )
            };
            (
                "not reached",
                message,
                format!(
                    "name a task of the VM at the other end, of {} and {}",
                    name(ends[0]),
                    name(ends[1])
                ),
            )
        }
        (Some((_, before)), Kind::Channel { ends }) => {
            let from = before.vm().unwrap_or(0);
            let is_last = index + 1 == steps.len();
            let is_task = matches!(before, Kind::Task { .. });
            if ends.contains(&from) && is_task && !is_last {
                return true;
            }
            if is_last {
                last_channel(title, step)
            } else {
                (
                    "not an end of it",
                    format!(
                        "{title}: nothing gives `{}` what comes before it",
                        step.value
                    ),
                    format!(
                        "name a task of {} or {} before it",
                        name(ends[0]),
                        name(ends[1])
                    ),
                )
            }
        }
        (None, Kind::Channel { .. }) if steps.len() == 1 => last_channel(title, step),
        (None, _) => return true,
        (Some((earlier, before)), _) => {
            let (from, to) = (before.vm().unwrap_or(0), kind.vm().unwrap_or(0));
            let is_task = |kind: Kind<'_>| matches!(kind, Kind::Task { .. });
            if from == to && (is_task(before) || is_task(kind)) {
                return true;
            }
            if from == to {
                (
                    "after another device",
                    format!(
                        "{title} goes from `{}` to `{}` without a task between them",
                        earlier.value, step.value
                    ),
                    "name the task that takes from the one and gives to the other".to_owned(),
                )
            } else {
                (
                    "of another VM",
                    format!(
                        "{title}: nothing leads from `{}` in {} to `{}` in {}",
                        earlier.value,
                        name(from),
                        step.value,
                        name(to)
                    ),
                    "name the channel between them".to_owned(),
                )
            }
        }
    };
    bad(judge, &step.span, label, message, cure);
    false
}

fn last_channel(title: &str, step: &At<String>) -> (&'static str, String, String) {
    (
        "the last step",
        format!(
            "{title} ends in channel `{}`, and nothing says when the other end takes what comes",
            step.value
        ),
        "name the task that takes it".to_owned(),
    )
}
