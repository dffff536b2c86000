//! What a fault has done: a run beside the one without it.

use tactus_board::time::Femtoseconds;

use super::description::Compare;
use crate::attack::replace::IMAGE;
use crate::attack::run::Shown;
use crate::attack::verdict::{Alone, Finding, findings};
use crate::run::journal::VmJournal;
use crate::run::record::OffReason;

/// What a VM must have written at least of what it writes without the fault, in percent of the lines.
const PROGRESS_PERCENT: usize = 90;

/// What a fault has done.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing that is seen.
    Masked,
    /// A VM that it may change has changed, and the hypervisor or the VM has said so.
    Detected,
    /// A VM that it may change has changed in silence.
    Contained,
    /// Another VM has changed, or the hypervisor has failed.
    Escaped,
    /// Nothing goes on.
    Hang,
    /// It found nothing to go wrong: the VM had no hart, or the system had ended.
    NotPlaced,
}

impl Verdict {
    /// All, in their order.
    pub const ALL: [Self; 6] = [
        Self::Masked,
        Self::Detected,
        Self::Contained,
        Self::Escaped,
        Self::Hang,
        Self::NotPlaced,
    ];

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Masked => "masked",
            Self::Detected => "detected",
            Self::Contained => "contained",
            Self::Escaped => "escaped",
            Self::Hang => "hang",
            Self::NotPlaced => "not placed",
        }
    }

    /// Whether it breaks what is promised.
    pub const fn is_bad(self) -> bool {
        matches!(self, Self::Escaped | Self::Hang)
    }
}

/// What was judged of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// The VMs that have changed.
    pub changed: Vec<String>,
    /// What has changed, in a sentence each.
    pub reasons: Vec<String>,
}

/// What a VM has shown by the end of a run.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    lines: Vec<Vec<u8>>,
    off: Option<(OffReason, u64)>,
    faults: u64,
    restarts: u64,
    failed: Vec<(String, String)>,
}

impl Seen {
    fn of(vm: &VmJournal, compare: Compare) -> Self {
        Self::of_text(vm, vm.console.bytes(), compare)
    }

    /// What a VM has shown since.
    pub(super) fn since(vm: &VmJournal, before: &VmJournal, compare: Compare) -> Self {
        let written = |vm: &VmJournal| vm.console.dropped() as usize + vm.console.bytes().len();
        let new = vm.console.bytes();
        let from = new.len().saturating_sub(written(vm) - written(before));
        let mut seen = Self::of_text(vm, &new[from..], compare);
        seen.faults -= before.faults;
        seen.restarts -= before.restarts;
        seen.failed.drain(..before.failed.len());
        seen
    }

    fn of_text(vm: &VmJournal, bytes: &[u8], compare: Compare) -> Self {
        let text = match compare {
            Compare::Exact => bytes.to_vec(),
            Compare::Text => without_figures(bytes),
        };
        Self {
            lines: text
                .split(|byte| *byte == b'\n')
                .map(<[u8]>::to_vec)
                .collect(),
            off: vm.off.map(|off| (off.reason, off.code)),
            faults: vm.faults,
            restarts: vm.restarts,
            failed: vm.failed.clone(),
        }
    }

    /// The whole lines that it has written.
    pub(super) fn lines(&self) -> usize {
        self.lines.len() - 1
    }

    /// How the VM differs, when it has booted again, from what it is from reset on: as far as it has come, which is
    /// `least` lines at least.
    pub(super) fn difference_of_boot(&self, usual: &Self, least: usize) -> Option<Difference> {
        let mut until_now = usual.clone();
        until_now.restarts = self.restarts.min(usual.restarts);
        if self.off.is_none() {
            until_now.off = None;
            until_now.lines.truncate(self.lines.len());
        }
        let difference = self.difference(&until_now, Compare::Text);
        difference.or_else(|| {
            let written = self.lines();
            (self.off.is_none() && written < least).then(|| Difference {
                text: format!(
                    "has written {written} lines since, and {least} are to be by half of the time"
                ),
                is_told: false,
            })
        })
    }

    /// How the VM differs from what it is without the fault.
    fn difference(&self, usual: &Self, compare: Compare) -> Option<Difference> {
        let told = |text: String| {
            Some(Difference {
                text,
                is_told: true,
            })
        };
        let silent = |text: String| {
            Some(Difference {
                text,
                is_told: false,
            })
        };
        if self.faults > usual.faults {
            return told(format!(
                "has {} faults in place of {}",
                self.faults, usual.faults
            ));
        }
        if self.restarts != usual.restarts {
            let (now, before) = (self.restarts, usual.restarts);
            return told(format!("has restarted {now} times in place of {before}"));
        }
        if let Some((name, reason)) = self.failed.iter().find(|one| !usual.failed.contains(one)) {
            let reason = reason.replace('_', " ");
            return told(format!("says that check {name} failed: {reason}"));
        }
        match (self.off, usual.off) {
            (now, before) if now == before => {}
            (Some((OffReason::Shutdown, code)), _) => {
                return silent(format!("has shut down with code {code}"));
            }
            (Some((OffReason::Fail, code)), _) => {
                return told(format!("has failed with code {code}"));
            }
            (Some((OffReason::Fault, _)), _) => return told("has ended by a fault".to_owned()),
            (Some((OffReason::Refused, _)), _) => {
                return told("could not be started".to_owned());
            }
            (Some((OffReason::Stopped | OffReason::Held, _)), _) => {
                return told("was stopped by its manager".to_owned());
            }
            (None, _) => return silent("has not ended".to_owned()),
        }
        self.text_difference(usual, compare).and_then(silent)
    }

    /// How its console differs. While the VM runs, one of the two may be a little further than the other.
    fn text_difference(&self, usual: &Self, compare: Compare) -> Option<String> {
        let (now, before) = (&self.lines, &usual.lines);
        let ended = self.off.is_some();
        // The last line may be on its way.
        let whole = |lines: &[Vec<u8>]| if ended { lines.len() } else { lines.len() - 1 };
        let both = whole(now).min(whole(before));
        if let Some(line) = (0..both).find(|&line| now[line] != before[line]) {
            return Some(format!(
                "writes \"{}\" in place of \"{}\"",
                shown(&now[line]),
                shown(&before[line])
            ));
        }
        let (now, before) = (whole(now), whole(before));
        let is_short = match compare {
            Compare::Exact => now != before,
            Compare::Text if ended => now != before,
            // A line more or less is chance where there are few.
            Compare::Text => now + 1 < before && now * 100 < before * PROGRESS_PERCENT,
        };
        is_short.then(|| format!("has written {now} lines in place of {before}"))
    }
}

/// How a VM differs.
pub(super) struct Difference {
    /// In words, behind its name.
    pub text: String,
    /// The hypervisor or the VM itself has said that something is wrong.
    pub is_told: bool,
}

/// What is known of a run so far.
pub(super) struct Judging<'a> {
    affects: &'a [usize],
    changed: Vec<String>,
    reasons: Vec<String>,
    is_told: bool,
    escaped: bool,
}

impl<'a> Judging<'a> {
    /// A run of which that was found, and which may change the VMs `affects`.
    pub(super) fn begin(affects: &'a [usize], found: Vec<Finding>) -> Self {
        let reasons = found
            .iter()
            .map(|finding| format!("{}: {}", finding.whom, finding.text));
        Self {
            affects,
            changed: Vec::new(),
            is_told: false,
            escaped: !found.is_empty(),
            reasons: reasons.collect(),
        }
    }

    /// How a VM differs from what it is without the fault, if it does.
    pub(super) fn add(&mut self, vm: usize, name: &str, differences: &[Difference]) {
        if differences.is_empty() {
            return;
        }
        self.changed.push(name.to_owned());
        let texts = differences.iter().map(|one| format!("{name} {}", one.text));
        self.reasons.extend(texts);
        if self.affects.contains(&vm) {
            self.is_told |= differences.iter().any(|one| one.is_told);
        } else {
            self.escaped = true;
        }
    }

    /// The verdict; `hangs` says whether nothing goes on, where something has escaped.
    pub(super) fn end(self, hangs: impl FnOnce() -> bool) -> Judged {
        let verdict = match (self.escaped, self.changed.is_empty(), self.is_told) {
            (true, ..) if hangs() => Verdict::Hang,
            (true, ..) => Verdict::Escaped,
            (false, true, _) => Verdict::Masked,
            (false, false, true) => Verdict::Detected,
            (false, false, false) => Verdict::Contained,
        };
        Judged {
            verdict,
            changed: self.changed,
            reasons: self.reasons,
        }
    }
}

/// The run without a fault, and how others are compared with it.
#[derive(Debug)]
pub struct Reference {
    compare: Compare,
    shown: Shown,
    seen: Vec<Seen>,
    /// When each VM has written its lines.
    lines: Vec<Vec<Femtoseconds>>,
    clock_hz: u64,
}

impl Reference {
    /// `shown`: the run without a fault. `lines`: when each VM has written its lines in it.
    pub fn of(
        shown: Shown,
        lines: Vec<Vec<Femtoseconds>>,
        compare: Compare,
        clock_hz: u64,
    ) -> Self {
        let vms = shown.outcome.journal.vms.iter();
        Self {
            seen: vms.map(|vm| Seen::of(vm, compare)).collect(),
            lines,
            compare,
            shown,
            clock_hz,
        }
    }

    /// How consoles are compared.
    pub(super) const fn compare(&self) -> Compare {
        self.compare
    }

    /// What a VM has shown by its end.
    pub(super) fn seen(&self, vm: usize) -> &Seen {
        &self.seen[vm]
    }

    /// How many lines a VM has written by this time since reset.
    pub(super) fn lines_by(&self, vm: usize, time: Femtoseconds) -> usize {
        self.lines[vm].partition_point(|written| *written <= time)
    }

    /// Judges a run whose fault may change the VMs `affects`. `before`: how many bytes each VM had written then.
    /// `hostile`: the VM that has turned hostile by it.
    pub fn judge(
        &self,
        run: &Shown,
        affects: &[usize],
        before: &[usize],
        hostile: Option<usize>,
    ) -> Judged {
        let vms = &run.outcome.journal.vms;
        let others: Vec<_> = run
            .jobs
            .iter()
            .filter(|(vcpu, _)| !affects.contains(&vcpu.vm))
            .cloned()
            .collect();
        let alone = Alone {
            outcome: &self.shown.outcome,
            jobs: &self.shown.jobs,
        };
        let time = |cycles: u64| {
            let us = cycles as f64 * 1e6 / self.clock_hz as f64;
            format!("{us:.1} us")
        };
        let mut found = findings(Some(alone), &run.outcome, None, &others, time);
        let of_hostile = hostile.map(|vm| (&vms[vm], &self.shown.outcome.journal.vms[vm]));
        found.extend(of_hostile.and_then(|(now, usual)| success(now, usual)));
        let mut judging = Judging::begin(affects, found);
        for (index, (vm, usual)) in vms.iter().zip(&self.seen).enumerate() {
            let now = Seen::of(vm, self.compare);
            let difference = now.difference(usual, self.compare).or_else(|| {
                // Whatever it has shown of it.
                (hostile == Some(index)).then(|| Difference {
                    text: "is another guest".to_owned(),
                    is_told: false,
                })
            });
            judging.add(index, &vm.name, difference.as_slice());
        }
        judging.end(|| self.is_stuck(run, before))
    }

    /// Whether each VM that writes a line without the fault has written nothing since.
    fn is_stuck(&self, run: &Shown, before: &[usize]) -> bool {
        let usual = &self.shown.outcome.journal.vms;
        let mut those = usual.iter().zip(&run.outcome.journal.vms).zip(before);
        let writes = |((usual, now), before): ((&VmJournal, &VmJournal), &usize)| {
            let has = |vm: &VmJournal| vm.console.bytes().len() > *before;
            (has(usual), has(now))
        };
        let all: Vec<(bool, bool)> = those.by_ref().map(writes).collect();
        all.iter().any(|(usual, _)| *usual) && all.iter().all(|(_, now)| !now)
    }
}

/// What a VM that turned hostile says to have reached: an access that had to be refused. That its guest ends by a panic
/// is nothing of the kind: other vCPUs of the VM may still write to its memory.
fn success(now: &VmJournal, usual: &VmJournal) -> Option<Finding> {
    let new = now.failed.iter().find(|one| {
        let (name, reason) = one;
        name == IMAGE && !reason.starts_with("panic:") && !usual.failed.contains(one)
    });
    new.map(|(_, reason)| Finding {
        kind: "attacker_fail",
        whom: now.name.clone(),
        text: format!("the hostile guest reports: {}", reason.replace('_', " ")),
    })
}

/// A console's text with a `#` in place of each figure: a word that begins with a digit.
pub(super) fn without_figures(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied().peekable();
    let mut in_word = false;
    while let Some(byte) = bytes.next() {
        if byte.is_ascii_digit() && !in_word {
            plain.push(b'#');
            while bytes
                .next_if(|next| next.is_ascii_alphanumeric() || *next == b'.')
                .is_some()
            {}
            continue;
        }
        in_word = byte.is_ascii_alphabetic() || in_word && byte.is_ascii_digit();
        plain.push(byte);
    }
    plain
}

/// The beginning of a line, as it can be shown.
pub(super) fn shown(line: &[u8]) -> String {
    const MOST: usize = 80;
    let text = String::from_utf8_lossy(line);
    let text = crate::run::visible::visible(text.trim_end());
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::journal::Journal;

    fn seen(text: &str) -> Seen {
        Seen {
            lines: text
                .split('\n')
                .map(|line| without_figures(line.as_bytes()))
                .collect(),
            off: None,
            faults: 0,
            restarts: 0,
            failed: Vec::new(),
        }
    }

    #[test]
    fn figures_are_words_that_begin_with_a_digit() {
        let plain = |text: &str| String::from_utf8(without_figures(text.as_bytes())).expect("text");
        assert_eq!(
            plain("at 12.5us: 0x3ff, cpu0 vm1a 7"),
            "at #: #, cpu0 vm1a #"
        );
        assert_eq!(plain("-3 a-4 _5"), "-# a-# _#");
    }

    #[test]
    fn a_text_may_be_a_little_further_and_not_other() {
        let difference = |now: &str, before: &str| {
            let difference = seen(now).difference(&seen(before), Compare::Text);
            difference.map(|difference| difference.text)
        };
        assert_eq!(difference("a 1\nb\n", "a 2\nb\n"), None);
        assert_eq!(difference("a\nb\nc", "a\nb\n"), None);
        assert_eq!(difference("a\nb\n", "a\nb\nc\n"), None);
        let wrote = difference("a\nx\n", "a\nb\n");
        assert_eq!(wrote.as_deref(), Some("writes \"x\" in place of \"b\""));
        let short = difference("a\n", &"a\n".repeat(20));
        assert_eq!(short.as_deref(), Some("has written 1 lines in place of 20"));
        let mut ended = seen("a\n");
        ended.off = Some((OffReason::Shutdown, 0));
        let of_ended = |now: &Seen| now.difference(&ended, Compare::Text).map(|one| one.text);
        assert_eq!(of_ended(&ended.clone()), None);
        assert_eq!(of_ended(&seen("a\n")).as_deref(), Some("has not ended"));
    }

    #[test]
    fn a_boot_is_compared_as_far_as_it_has_come() {
        let mut usual = seen("up\nkept 3\nend\n");
        let text = |now: &str, usual: &Seen, least| {
            let difference = seen(now).difference_of_boot(usual, least);
            difference.map(|difference| difference.text)
        };
        assert_eq!(text("", &usual, 0), None);
        assert_eq!(text("up\nkept 5\ne", &usual, 2), None);
        assert_eq!(text("up\nkept 5\nend\nmore\n", &usual, 3), None);
        let short = text("up\n", &usual, 2);
        let told = "has written 1 lines since, and 2 are to be by half of the time";
        assert_eq!(short.as_deref(), Some(told));
        let other = text("up\nlost 5\n", &usual, 0);
        let told = "writes \"lost #\" in place of \"kept #\"";
        assert_eq!(other.as_deref(), Some(told));
        // One that has ended without the loss may not have yet; how it ends has to be the same.
        usual.off = Some((OffReason::Shutdown, 0));
        assert_eq!(text("up\n", &usual, 1), None);
        let mut now = seen("up\nkept 4\nend\n");
        now.off = Some((OffReason::Fail, 1));
        assert!(
            now.difference_of_boot(&usual, 0)
                .is_some_and(|one| one.is_told)
        );
        now.off = usual.off;
        assert!(now.difference_of_boot(&usual, 3).is_none());
        now.lines.remove(1);
        assert!(now.difference_of_boot(&usual, 0).is_some());
    }

    #[test]
    fn what_a_hostile_guest_has_reached_is_found() {
        let vm = |failed: &[(&str, &str)]| {
            let mut vm = Journal::new(&["a"], 1).vms.remove(0);
            let owned = failed
                .iter()
                .map(|(name, why)| ((*name).to_owned(), (*why).to_owned()));
            vm.failed.extend(owned);
            vm
        };
        let usual = vm(&[(IMAGE, "before")]);
        let text = |failed: &[(&str, &str)]| {
            let found = success(&vm(failed), &usual);
            found.map(|found| found.text)
        };
        let others = [(IMAGE, "before"), ("own", "wrong"), (IMAGE, "panic:_lost")];
        assert_eq!(text(&others), None);
        let reached = text(&[(IMAGE, "the_access_to_0x8_was_not_refused")]);
        let told = "the hostile guest reports: the access to 0x8 was not refused";
        assert_eq!(reached.as_deref(), Some(told));
    }

    #[test]
    fn what_is_told_is_told_from_what_is_silent() {
        let usual = seen("a\n");
        let mut now = seen("a\n");
        now.faults = 1;
        assert!(
            now.difference(&usual, Compare::Text)
                .is_some_and(|one| one.is_told)
        );
        let mut now = seen("a\n");
        now.failed.push(("sum".to_owned(), "wrong".to_owned()));
        assert!(
            now.difference(&usual, Compare::Text)
                .is_some_and(|one| one.is_told)
        );
        let now = seen("b\n");
        assert!(
            now.difference(&usual, Compare::Text)
                .is_some_and(|one| !one.is_told)
        );
    }
}
