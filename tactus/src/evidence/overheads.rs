//! The hypervisor's own time: what the profile states, and what is known of how it was measured.

use serde_json::{Value, json};
use tactus_board::profile::Profile as Board;

use crate::check::{Guarantee, percent, time_text};
use crate::config::Nanoseconds;
use crate::profile::Profile;

/// What is not known.
const NOT_RECORDED: &str = "not recorded in the profile";

/// A figure of the profile.
pub(super) struct Overhead {
    /// Its key in the profile.
    pub(super) key: &'static str,
    /// What it is.
    pub(super) what: &'static str,
    /// In ticks.
    pub(super) ticks: u64,
    /// Ticks per second.
    hz: u32,
    /// The worst that was measured, in cycles of the clock, if that is recorded.
    measured: Option<(u64, u64)>,
    /// What it would come to with every line that it touches from memory, in ticks, if that is recorded.
    cold: Option<u64>,
    /// How, if that is recorded.
    how: Option<String>,
    /// When, if that is recorded.
    when: Option<String>,
}

/// All of a platform, as the system has them.
pub(super) fn of(profile: &Profile, guarantee: &Guarantee) -> Vec<Overhead> {
    let stated = &profile.overheads;
    let clock_hz = Board::named(&profile.name).map(|board| board.clock_hz);
    let one = |key, what, time: Nanoseconds, cycles: Option<u64>| Overhead {
        key,
        what,
        ticks: profile.ticks_for(time),
        hz: profile.timebase_hz,
        measured: cycles.zip(clock_hz),
        cold: None,
        how: stated
            .measured
            .as_ref()
            .map(|measured| measured.how.clone()),
        when: cycles
            .and(stated.measured.as_ref())
            .and_then(|measured| measured.when.clone()),
    };
    let cycles = stated.measured.as_ref();
    let mut all = vec![
        one(
            "job",
            "added to the budget of each job: its release, getting the hart, giving it back",
            stated.job,
            cycles.and_then(|measured| measured.job_cycles),
        ),
        Overhead {
            cold: cold_blocking(profile, clock_hz),
            ..one(
                "blocking",
                "the longest that the hypervisor does not look whether something more urgent waits, and an interrupt",
                stated.blocking,
                cycles.and_then(|measured| measured.blocking_cycles),
            )
        },
        one(
            "service",
            "deferred work for best-effort vCPUs, once in a deferral period",
            stated.service,
            cycles.and_then(|measured| measured.service_cycles),
        ),
        one(
            "interrupt",
            "an interruption by what is sent to another vCPU, by a device, or by a release that does not take the hart; the system counts so many of the first two in a deferral period, and one release of each other vCPU",
            stated.interrupt,
            cycles.and_then(|measured| measured.interrupt_cycles),
        ),
        Overhead {
            ticks: guarantee.overheads.service_period,
            how: Some("enforced by the hypervisor; not a measurement".into()),
            when: Some("-".into()),
            ..one(
                "service_period",
                "the deferral period: the least time between two of the above",
                stated.service_period,
                None,
            )
        },
        // No part of what is recorded of the measurements.
        Overhead {
            how: None,
            ..one(
                "way",
                "a way out of a guest and into one, before the first and after the last reading of the clock: part of each of the others, and no budget is charged for it",
                stated.way,
                None,
            )
        },
    ];
    if guarantee.ahead > 0 {
        // Limits that the hypervisor keeps.
        let limit = |key, what, time: Option<Nanoseconds>| Overhead {
            how: Some("enforced by the hypervisor; not a measurement".into()),
            when: Some("-".into()),
            ..one(key, what, time.unwrap_or_default(), None)
        };
        all.push(limit(
            "lead",
            "the longest that a vCPU has its hart ahead of its job, added to `job`",
            stated.lead,
        ));
        all.push(limit(
            "guard",
            "how much sooner it may have it where something would begin for best-effort vCPUs, added to `job`",
            stated.guard,
        ));
    }
    all
}

/// The longest stretch without a look with every line from memory, and an interrupt, in ticks.
fn cold_blocking(profile: &Profile, clock_hz: Option<u64>) -> Option<u64> {
    let cycles = profile.overheads.measured.as_ref()?.cold_stretch_cycles?;
    let stretch = (cycles * u64::from(profile.timebase_hz)).div_ceil(clock_hz?);
    Some(stretch + profile.ticks_for(profile.overheads.interrupt))
}

impl Overhead {
    /// The stated time.
    pub(super) fn stated(&self) -> String {
        time_text(self.ticks, self.hz)
    }

    /// The worst that was measured.
    pub(super) fn measured(&self) -> String {
        self.measured.map_or_else(
            || NOT_RECORDED.into(),
            |(cycles, hz)| {
                let us = cycles as f64 * 1e6 / hz as f64;
                format!("{cycles} cycles, {us:.2} us")
            },
        )
    }

    /// What it would come to with every line from memory.
    pub(super) fn cold(&self) -> String {
        self.cold
            .map_or_else(|| "-".into(), |ticks| time_text(ticks, self.hz))
    }

    /// By how much of the measured time more is stated.
    fn part(&self) -> Option<f64> {
        let (cycles, hz) = self.measured?;
        let measured = cycles as f64 / hz as f64;
        let stated = self.ticks as f64 / f64::from(self.hz);
        Some(stated / measured - 1.0)
    }

    /// The same in words.
    pub(super) fn margin(&self) -> String {
        self.part().map_or_else(|| "not known".into(), percent)
    }

    /// How it was measured.
    pub(super) fn how(&self) -> &str {
        self.how.as_deref().unwrap_or(NOT_RECORDED)
    }

    /// When it was measured.
    pub(super) fn when(&self) -> &str {
        self.when.as_deref().unwrap_or(NOT_RECORDED)
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "key": self.key,
            "what": self.what,
            "stated_ticks": self.ticks,
            "measured_cycles": self.measured.map(|(cycles, _)| cycles),
            "clock_hz": self.measured.map(|(_, hz)| hz),
            "cold_ticks": self.cold,
            "margin": self.part().map(|part| (part * 1e4).round() / 1e4),
            "how": self.how,
            "when": self.when,
        })
    }
}
