//! Whether real-time guests' interrupts come before, and into, what the hypervisor does for best-effort ones.

use super::judge::Judge;
use super::vcpus::Seen;
use crate::problem::{Code, Problem};

/// Judges `separation`, and gives it. Without, nothing bounds how long a release has to wait, which a guarantee needs.
pub(super) fn check(judge: &mut Judge<'_>, seen: &[Seen<'_>]) -> bool {
    let Some(off) = judge
        .config
        .system
        .separation
        .as_ref()
        .filter(|given| !given.value)
    else {
        return true;
    };
    let made_later = judge.config.vms.iter().find_map(|vm| {
        let places = vm.rt_vcpus.as_ref().filter(|places| places.value > 0);
        places.map(|places| &places.span)
    });
    let guaranteed = seen
        .iter()
        .find(|one| one.checked.reservation.is_some())
        .and_then(|one| one.written.period.as_ref())
        .map(|period| &period.span)
        .or(made_later);
    if let Some(guaranteed) = guaranteed {
        let problem = Problem::new(
            Code::NoSeparation,
            "without `separation` no reservation can be guaranteed: a release waits for whatever the hypervisor does for best-effort VMs",
            "remove `separation = false`, or give real-time vCPUs priorities instead of reservations",
        );
        let problem = problem.at(judge.source(), &off.span, "off");
        judge.add(problem.at(judge.source(), guaranteed, "guaranteed time"));
    }
    false
}
