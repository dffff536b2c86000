//! What a loss of power has done: how the system boots again, beside its first boot, and whether what VMs had confirmed
//! is there still.
//!
//! All VMs end with the supply. Those that it may not change must write, from when there is power again, what they
//! write from reset on without the loss, as far as they come; and they must come half as far at least. What they
//! promise is theirs to check: a check that fails is one that did not hold. What they have told others that it is kept
//! is seen on their consoles: figures that they report.

use tactus_board::time::Femtoseconds;

use super::description::Keep;
use super::judge::{Difference, Judged, Judging, Reference, Seen};
use crate::attack::run::Shown;
use crate::attack::verdict::findings;
use crate::run::journal::VmJournal;

/// A loss of power, and what VMs had shown until then.
#[derive(Debug)]
pub struct Loss<'a> {
    /// What each VM had shown.
    pub before: Vec<VmJournal>,
    /// For how long there has been power again when the run ends.
    pub powered: Femtoseconds,
    /// What must have been kept; VMs by their names.
    pub keeps: &'a [Keep],
}

impl Reference {
    /// Judges a run in which power was lost, and which may change the VMs `affects`.
    pub fn judge_loss(&self, run: &Shown, affects: &[usize], loss: &Loss<'_>) -> Judged {
        let vms = &run.outcome.journal.vms;
        let found = findings(None, &run.outcome, None, &[], |_| String::new());
        let mut judging = Judging::begin(affects, found);
        let half = Femtoseconds(loss.powered.0 / 2);
        let (mut wrote, mut is_to_write) = (false, false);
        for (index, (vm, before)) in vms.iter().zip(&loss.before).enumerate() {
            let now = Seen::since(vm, before, self.compare());
            let least = self.lines_by(index, half);
            wrote |= now.lines() > 0;
            is_to_write |= self.lines_by(index, loss.powered) > 0;
            let of_boot = now.difference_of_boot(self.seen(index), least);
            let keeps = loss.keeps.iter().filter(|keep| keep.vm == vm.name);
            let all_lost = keeps.filter_map(|keep| lost(keep, before, vm));
            let all: Vec<Difference> = of_boot.into_iter().chain(all_lost).collect();
            judging.add(index, &vm.name, &all);
        }
        judging.end(|| is_to_write && !wrote)
    }
}

/// What of a VM's is lost that it had confirmed.
fn lost(keep: &Keep, before: &VmJournal, after: &VmJournal) -> Option<Difference> {
    let confirmed = before.metrics.get(&keep.confirmed)?.value;
    let found = after.metrics.get(&keep.found).map(|metric| metric.value);
    if found.is_some_and(|found| found >= confirmed) {
        return None;
    }
    let found = found.map_or_else(
        || format!("has not said its figure {} since", keep.found),
        |found| format!("has found {found} since ({})", keep.found),
    );
    Some(Difference {
        text: format!(
            "had confirmed {confirmed} ({}), and {found}",
            keep.confirmed
        ),
        is_told: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::unit::Unit;
    use crate::run::journal::{Journal, Metric};

    fn vm(metrics: &[(&str, f64)]) -> VmJournal {
        let mut vm = Journal::new(&["a"], 1).vms.remove(0);
        for (name, value) in metrics {
            let metric = Metric {
                value: *value,
                unit: Unit::Count,
            };
            vm.metrics.insert((*name).to_owned(), metric);
        }
        vm
    }

    #[test]
    fn what_was_confirmed_has_to_be_found() {
        let keep = Keep {
            vm: "a".to_owned(),
            confirmed: "said".to_owned(),
            found: "kept".to_owned(),
        };
        let text = |before: &[(&str, f64)], after: &[(&str, f64)]| {
            lost(&keep, &vm(before), &vm(after)).map(|one| one.text)
        };
        assert_eq!(text(&[], &[]), None);
        assert_eq!(text(&[("said", 7.0)], &[("kept", 7.0)]), None);
        assert_eq!(text(&[("said", 7.0)], &[("kept", 8.0)]), None);
        let less = text(&[("said", 7.0)], &[("kept", 6.0), ("said", 9.0)]);
        let told = "had confirmed 7 (said), and has found 6 since (kept)";
        assert_eq!(less.as_deref(), Some(told));
        let none = text(&[("said", 7.0)], &[("said", 7.0)]);
        let told = "had confirmed 7 (said), and has not said its figure kept since";
        assert_eq!(none.as_deref(), Some(told));
    }
}
