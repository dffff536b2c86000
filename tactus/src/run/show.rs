//! A run on the terminal: each line with the name of who wrote it, and a progress line while it boots.

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};
use tactus_abi::hypercall::JobRecord;

use super::console::{Line, Source};
use super::heartbeat::Heartbeat;
use super::journal::{Journal, Seen};
use super::record::{FaultAction, GuestRecord, LogRecord, OffReason};
use super::session::{Stop, Watcher};
use super::visible::visible;
use crate::illegal::Illegal;
use crate::report::why;

/// Label of the hypervisor's log.
const LOG_LABEL: &str = "tactus";
/// Label of what comes before the hypervisor.
const FIRMWARE_LABEL: &str = "firmware";
/// Columns from one tab stop to the next.
const TAB: usize = 8;
/// Colours of VMs, in their order, over again when they run out.
const COLOURS: [AnsiColor; 6] = [
    AnsiColor::Cyan,
    AnsiColor::Green,
    AnsiColor::Yellow,
    AnsiColor::Magenta,
    AnsiColor::Blue,
    AnsiColor::Red,
];

/// How much of a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Nothing but the progress line.
    Nothing,
    /// What VMs write, and the hypervisor's log in words.
    Lines,
    /// The firmware's output and all records too.
    Everything,
}

/// Prints a run's lines on stdout.
#[derive(Debug)]
pub struct Show {
    width: usize,
    quiet: bool,
    verbose: bool,
    progress: ProgressBar,
    heartbeat: Option<Heartbeat>,
    stop: Stop,
}

impl Show {
    /// For a system with these VMs. `stop` is used when stdout is closed.
    pub fn new(vms: &[String], shown: Shown, progress: ProgressBar, stop: Stop) -> Self {
        let verbose = shown == Shown::Everything;
        let width = vms
            .iter()
            .map(|name| name.chars().count())
            .chain([LOG_LABEL.len()])
            .chain(verbose.then_some(FIRMWARE_LABEL.len()))
            .max()
            .unwrap_or(0);
        Self {
            width,
            quiet: shown == Shown::Nothing,
            verbose,
            progress,
            heartbeat: None,
            stop,
        }
    }

    /// The same, which says how far the run is while nothing is written.
    pub(crate) fn with_heartbeat(mut self, heartbeat: Heartbeat) -> Self {
        self.heartbeat = Some(heartbeat);
        self
    }

    fn print(&mut self, label: &str, style: Style, text: &str) {
        if self.quiet {
            return;
        }
        let width = self.width;
        let line = format!("{style}{label:>width$} |{style:#} {text}");
        let written = self
            .progress
            .suspend(|| writeln!(anstream::stdout(), "{line}"));
        if written.is_err() {
            self.stop.interrupt();
        }
        if let Some(heartbeat) = &mut self.heartbeat {
            heartbeat.heard();
        }
    }
}

impl Watcher for Show {
    fn line(&mut self, line: &Line, seen: &Seen, journal: &Journal) {
        match line.source {
            Source::Firmware if self.verbose => {
                self.print(FIRMWARE_LABEL, Style::new().dimmed(), &printable(line));
            }
            Source::Log => {
                let text = match seen {
                    Seen::LogRecord(Some(record)) if !self.verbose => in_words(record, journal),
                    _ => Some(printable(line)),
                };
                if let Some(text) = text {
                    self.print(LOG_LABEL, Style::new().bold(), &text);
                }
            }
            Source::Vm(vm) => {
                let text = match seen {
                    Seen::Text => Some(printable(line)),
                    _ if self.verbose => Some(printable(line)),
                    Seen::GuestRecord(Some(record)) => news(record),
                    _ => None,
                };
                if let Some(text) = text {
                    let style = COLOURS[vm % COLOURS.len()].on_default();
                    let name = journal.vms.get(vm).map_or("", |vm| vm.name.as_str());
                    self.print(name, style, &text);
                }
            }
            Source::Firmware | Source::Unknown(_) => {}
        }
    }

    fn tick(&mut self, journal: &Journal) {
        if let Some(heartbeat) = &mut self.heartbeat {
            heartbeat.tick(journal);
            return;
        }
        if self.progress.is_finished() {
            return;
        }
        let started = journal.vms.iter().filter(|vm| vm.started.is_some()).count();
        let all = journal.vms.len();
        if started == all {
            self.progress.finish_and_clear();
        } else if journal.version.is_some() {
            self.progress
                .set_message(format!("booting: {started} of {all} VMs started"));
        } else {
            self.progress.set_message("booting: firmware");
        }
    }
}

/// Shows one VM's console as it is written, and nothing else.
#[derive(Debug)]
pub struct Attached {
    vm: usize,
    pending: Vec<u8>,
    stop: Stop,
}

impl Attached {
    /// For the VM with this index. `stop` is used when stdout is closed.
    pub fn new(vm: usize, stop: Stop) -> Self {
        Self {
            vm,
            pending: Vec::new(),
            stop,
        }
    }
}

impl Watcher for Attached {
    fn byte(&mut self, source: Source, byte: u8) {
        if source == Source::Vm(self.vm) {
            self.pending.push(byte);
        }
    }

    fn tick(&mut self, _journal: &Journal) {
        if self.pending.is_empty() {
            return;
        }
        let mut stdout = io::stdout().lock();
        let written = stdout
            .write_all(&self.pending)
            .and_then(|()| stdout.flush());
        self.pending.clear();
        if written.is_err() {
            self.stop.interrupt();
        }
    }
}

/// A line on stderr that says what goes on; invisible when stderr is no terminal.
pub fn progress(message: impl Into<Cow<'static, str>>) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar.set_message(message);
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// What a guest wrote, without anything that would make the terminal do more than show it.
fn printable(line: &Line) -> String {
    let mut spaced = Vec::with_capacity(line.bytes.len());
    for &byte in &line.bytes {
        if byte == b'\t' {
            let column = spaced.len();
            spaced.resize(column + TAB - column % TAB, b' ');
        } else {
            spaced.push(byte);
        }
    }
    // Carriage returns go as well: with one a line could overwrite its own label.
    let bytes = strip_ansi_escapes::strip(&spaced);
    visible(&String::from_utf8_lossy(&bytes))
}

/// A guest's record for people, if it should not wait for the summary.
fn news(record: &GuestRecord) -> Option<String> {
    match record {
        GuestRecord::Phase { name } => Some(format!("phase {name}")),
        GuestRecord::Fail { name, reason } => Some(format!("check \"{name}\" failed: {reason}")),
        GuestRecord::Metric { .. }
        | GuestRecord::Deadline { .. }
        | GuestRecord::Samples { .. }
        | GuestRecord::Pulses(_)
        | GuestRecord::Pass { .. } => None,
    }
}

/// A record of the hypervisor for people; `None` for those that only the summary needs.
fn in_words(record: &LogRecord, journal: &Journal) -> Option<String> {
    let at = |ticks: &u64| format!("{:.6} s", journal.seconds(*ticks));
    Some(match record {
        LogRecord::Boot {
            version,
            harts,
            vms,
            time,
        } => format!(
            "{}: version {version}, {harts} {}, {vms} {}",
            at(time),
            plural(*harts, "hart"),
            plural(*vms, "VM")
        ),
        LogRecord::Start { vm, time } => format!("{}: {vm} starts", at(time)),
        LogRecord::Fault(fault) => format!(
            "{}: {} stopped by a fault: {} at pc {:#x}, {}, vCPU {}; {}",
            at(&fault.time),
            fault.vm,
            why(fault),
            fault.pc,
            match Illegal::of(fault) {
                Some(illegal) => illegal.reason,
                None => format!("address {:#x}", fault.address),
            },
            fault.vcpu,
            match fault.action {
                FaultAction::Halt => "it stays stopped",
                FaultAction::Restart => "it is restarted",
                FaultAction::Signal => "another VM is told",
            }
        ),
        LogRecord::Restart { vm, count, time } => {
            format!("{}: {vm} starts again (restart {count})", at(time))
        }
        LogRecord::Jobs {
            vm,
            vcpu,
            record,
            time,
        } => {
            let irregular = irregular(record)?;
            format!("{}: vCPU {vcpu} of {vm} so far: {irregular}", at(time))
        }
        LogRecord::Off {
            vm,
            reason,
            code,
            time,
        } => match reason {
            OffReason::Shutdown => format!("{}: {vm} shut down", at(time)),
            OffReason::Fail => format!("{}: {vm} ended as failed, code {code}", at(time)),
            OffReason::Fault => format!("{}: {vm} is off after a fault", at(time)),
            OffReason::Refused => format!("{}: {vm} is refused", at(time)),
            OffReason::Stopped => format!("{}: {vm} was stopped by its manager", at(time)),
            OffReason::Held => format!("{}: {vm} is held for another image", at(time)),
        },
        LogRecord::RefusedDma {
            vm,
            slot,
            cause,
            address,
            count,
            time,
        } => format!(
            "{}: the PCI function in slot {slot} of {vm} was refused an access at {address:#x} (cause {cause}); {count} so far",
            at(time)
        ),
        LogRecord::LostAccess {
            vm,
            channel,
            offset,
            count,
            time,
        } => format!(
            "{}: {vm} was not served at {offset:#x} of the device behind its channel {channel}; {count} so far",
            at(time)
        ),
        LogRecord::Lost { stream, bytes } => {
            format!("{bytes} bytes of console stream {stream} lost")
        }
        LogRecord::End { time } => format!("{}: all VMs are off", at(time)),
        LogRecord::Refused { reason } => format!("refused: {reason}"),
        LogRecord::Panic { reason } => format!("panic: {reason}"),
        LogRecord::Usage { .. } | LogRecord::Migration { .. } => return None,
    })
}

/// What has gone wrong with a vCPU's jobs; `None`: nothing.
pub fn irregular(record: &JobRecord) -> Option<String> {
    let counts = [
        (
            record.overruns.saturating_sub(record.dropped),
            "job",
            "cut off, as the budget was used up",
        ),
        (record.extended, "job", "given the budget of the high mode"),
        (record.dropped, "job", "dropped in the high mode"),
        (record.missed, "job", "late"),
        (record.skipped, "release", "skipped"),
    ];
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, noun, what)| format!("{count} {} {what}", plural(count, noun)))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn plural(count: u64, noun: &str) -> String {
    if count == 1 {
        noun.to_owned()
    } else {
        format!("{noun}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(bytes: &[u8]) -> Line {
        Line {
            source: Source::Vm(0),
            bytes: bytes.to_vec(),
            complete: true,
        }
    }

    #[test]
    fn guest_cannot_drive_the_terminal() {
        assert_eq!(
            printable(&line(b"\x1b[31mred\x1b[0m \x1b]0;title\x07plain")),
            "red plain"
        );
        assert_eq!(
            printable(&line(b"10%\rtactus | lie\x08\x7f")),
            "10%tactus | lie"
        );
        assert_eq!(
            printable(&line(b"tab\tand \xff\xc3\xa4")),
            "tab     and \u{fffd}ä"
        );
    }
}
