//! Which real-time vCPUs get their harts ahead of their deadlines.

use tactus_policy::reservation::Reservation;

use super::judge::Judge;
use super::platform::Platform;
use crate::config::Vcpu;
use crate::problem::Code;

/// Judges `dispatch_ahead` of a real-time vCPU, and gives the longest lead in ticks; 0: it gets its hart at its
/// deadline. `None`, noted: that it gets it ahead does not suit it.
pub(super) fn check(
    judge: &mut Judge<'_>,
    platform: Option<&Platform>,
    vcpu: &Vcpu,
    title: &str,
    reservation: Option<Reservation>,
) -> Option<u64> {
    let system = &judge.config.system;
    let own = vcpu.dispatch_ahead.as_ref();
    let given = own.or(system.dispatch_ahead.as_ref());
    let Some((given, platform)) = given.filter(|given| given.value).zip(platform) else {
        return Some(0);
    };
    // The analysis of priorities takes jobs as released when they begin to take the hart.
    let is_reserved = reservation.is_some() && vcpu.priority.is_some();
    // What is said of the whole system holds where it can.
    if is_reserved && own.is_none() {
        return Some(0);
    }
    let is_separated = system.separation.as_ref().is_none_or(|given| given.value);
    let (message, cure) = if is_reserved {
        (
            format!(
                "{title} has a reservation and a `priority`: only on harts that go by deadlines jobs can have their hart ahead of their release"
            ),
            "remove it, or remove the `priority`, or give the vCPU `budget = \"unlimited\"` and no `period`",
        )
    } else if !is_separated {
        (
            format!(
                "{title} cannot get its hart ahead of its deadlines: without `separation` it waits for whatever the hypervisor does for best-effort VMs"
            ),
            "remove `separation = false`",
        )
    } else if let Some(lead) = platform.profile.overheads.lead {
        return Some(platform.profile.ticks_for(lead));
    } else {
        (
            format!(
                "{title} cannot get its hart ahead of its deadlines: platform `{}` does not say how long that takes",
                platform.profile.name
            ),
            "remove it, or choose another platform",
        )
    };
    let span = given.span.clone();
    judge.note(Code::BadDispatch, &span, "ahead", message, cure);
    None
}
