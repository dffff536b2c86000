//! What real-time vCPUs leave to best-effort ones: for how long a hart may give them nothing, and how much they have of
//! it at least.

use tactus_abi::blob::Overheads;
use tactus_planning::best_effort::{least_supply, longest_gap};
use tactus_policy::reservation::Task;

use super::super::judge::Judge;
use super::super::platform::Platform;
use super::super::time::time_text;
use super::super::vcpus::Vcpus;
use super::Guarantee;
use crate::config::Class;
use crate::problem::Code;

/// The windows, in milliseconds, of which it is said how much best-effort vCPUs have.
pub const WINDOWS_MS: [u64; 3] = [10, 100, 1000];

/// What best-effort vCPUs have of a hart. All times in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestEffort {
    /// The longest time for which they may have nothing. `None`: no bound is known.
    pub gap: Option<u64>,
    /// What they have at least of each of [`WINDOWS_MS`].
    pub least: [u64; WINDOWS_MS.len()],
}

impl BestEffort {
    /// Beside these reservations.
    pub(super) fn beside(tasks: &[Task], overheads: &Overheads, hz: u32) -> Self {
        Self {
            gap: longest_gap(tasks, overheads),
            least: WINDOWS_MS.map(|ms| least_supply(tasks, overheads, ms * u64::from(hz) / 1000)),
        }
    }
}

/// Notes that a hart may keep best-effort vCPUs waiting for longer than `be_latency`.
pub(super) fn check(
    judge: &mut Judge<'_>,
    platform: &Platform,
    vcpus: &Vcpus<'_>,
    guarantee: &Guarantee,
) {
    let Some(latency) = &judge.config.system.be_latency else {
        return;
    };
    let most = platform.profile.ticks_within(latency.value);
    let is_used = |hart: u32| {
        let mut best_effort = vcpus.seen.iter();
        best_effort.any(|one| one.checked.class == Class::Be && one.checked.harts.contains(&hart))
    };
    let gaps = (0u32..).zip(&guarantee.harts).filter_map(|(number, hart)| {
        let gap = hart.best_effort.and_then(|left| left.gap);
        let exceeds = gap.is_none_or(|gap| gap > most);
        (exceeds && is_used(number)).then_some((gap.unwrap_or(u64::MAX), number))
    });
    let Some((gap, hart)) = gaps.max_by_key(|(gap, _)| *gap) else {
        return;
    };
    let time = |ticks| time_text(ticks, guarantee.timebase_hz);
    let (label, reason, cure) = if gap == u64::MAX {
        (
            "no bound".to_owned(),
            format!("nothing bounds how long real-time vCPUs keep hart {hart} from best-effort ones"),
            "give each real-time vCPU there a `period` and a `budget`, with which they leave something of the hart, or leave `be_latency` out"
                .to_owned(),
        )
    } else {
        (
            format!("it may be {}", time(gap)),
            format!(
                "real-time vCPUs may keep hart {hart} from best-effort ones for {} at a time",
                time(gap)
            ),
            format!(
                "make budgets on hart {hart} smaller, let best-effort vCPUs run on other harts alone, or accept it: `be_latency = \"{}\"`",
                time(gap).replace(' ', "")
            ),
        )
    };
    judge.note(
        Code::LateBestEffort,
        &latency.span,
        label,
        format!("{reason}; `be_latency` is {}", latency.value),
        cure,
    );
}
