//! Harts that run best-effort vCPUs at user level only, and when these go there.

use tactus_abi::blob::Migration;

use super::judge::Judge;
use super::vcpus::{self, Harts, Seen};
use crate::config::{Class, Span};
use crate::problem::{Code, Problem};

/// What `[system]` says of it, resolved.
pub(super) struct Moves {
    pub(super) migration: Migration,
    /// Ascending; none exactly when there is no migration.
    pub(super) user_only: Vec<u32>,
}

/// Judges `migration` and `user_only`; `harts`: how many there are, if that is known.
pub(super) fn check(judge: &mut Judge<'_>, seen: &[Seen<'_>], harts: Option<Harts>) -> Moves {
    let none = Moves {
        migration: Migration::Off,
        user_only: Vec::new(),
    };
    let system = &judge.config.system;
    let migration = match &system.migration {
        Some(migration) if migration.value != Migration::Off => migration,
        _ => {
            if let Some(named) = &system.user_only {
                judge.note(
                    Code::UserOnly,
                    &named.span,
                    "without `migration`",
                    "the system has harts for user level only, but no vCPU migrates",
                    "add `migration = \"always\"` or `\"automatic\"`, or remove `user_only`",
                );
            }
            return none;
        }
    };
    let real_time = |hart: u32| {
        let mut here = seen.iter().filter(|one| one.checked.harts.contains(&hart));
        here.any(|one| one.checked.class == Class::Rt)
    };
    let user_only = match &system.user_only {
        None => (0..harts.map_or(0, |harts| harts.used))
            .filter(|&hart| real_time(hart))
            .collect(),
        Some(named) => {
            let Some(numbers) = vcpus::listed(judge, named, "`user_only` of the system", harts)
            else {
                return none;
            };
            for hart in named.value.iter().filter(|hart| !real_time(hart.value)) {
                judge.note(
                    Code::NoMigration,
                    &hart.span,
                    "no real-time vCPU runs here",
                    format!(
                        "hart {} is for user level only, and no configured vCPU is real time there",
                        hart.value
                    ),
                    "leave it to all levels, unless real-time vCPUs are made there at run time",
                );
            }
            numbers
        }
    };
    nowhere(judge, seen, &user_only);
    let migrates = |one: &Seen<'_>| {
        one.checked.class == Class::Be
            && one
                .checked
                .harts
                .iter()
                .any(|hart| user_only.contains(hart))
    };
    if seen.iter().any(migrates) {
        return Moves {
            migration: migration.value,
            user_only,
        };
    }
    let (what, cure) = if user_only.is_empty() {
        (
            "no hart has a real-time vCPU",
            "remove it, or name harts in `user_only`",
        )
    } else {
        (
            "no best-effort vCPU may run on a hart for user level only",
            "remove it, or let one run there: `harts` of its table",
        )
    };
    judge.note(
        Code::NoMigration,
        &migration.span,
        "without effect",
        format!("no vCPU ever migrates: {what}"),
        cure,
    );
    none
}

/// Notes best-effort vCPUs whose kernel has no hart.
fn nowhere(judge: &mut Judge<'_>, seen: &[Seen<'_>], user_only: &[u32]) {
    for one in seen {
        let kernel = one
            .checked
            .harts
            .iter()
            .any(|hart| !user_only.contains(hart));
        if one.checked.class == Class::Rt || kernel || one.checked.harts.is_empty() {
            continue;
        }
        let system = &judge.config.system;
        let problem = Problem::new(
            Code::NeverRuns,
            format!(
                "{} may run on no hart but such as are for user level only",
                one.title
            ),
            "its kernel needs a hart too: add one to its `harts`, or name fewer harts in `user_only` of `[system]`, by default all with real-time vCPUs",
        );
        let written = one.written.harts.as_ref();
        let span: &Span = written.map_or(&one.written.span, |harts| &harts.span);
        let problem = problem.at(judge.source(), span, "nowhere for its kernel");
        let because = match (&system.user_only, &system.migration) {
            (Some(named), _) => Some(&named.span),
            (None, migration) => migration.as_ref().map(|migration| &migration.span),
        };
        let problem = match because {
            Some(span) => problem.at(judge.source(), span, "because of this"),
            None => problem,
        };
        judge.add(problem);
    }
}
