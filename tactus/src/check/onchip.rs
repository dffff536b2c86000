//! Whether the hypervisor can be in on-chip memory.

use super::judge::Judge;
use super::parts;
use super::platform::Platform;
use crate::config::{HypervisorMemory, Size};
use crate::guest_image::extent_text;
use crate::hypervisor::Hypervisor;
use crate::problem::Code;
use crate::profile::Profile;

/// Judges whether the platform has such memory.
pub(super) fn check(judge: &mut Judge<'_>, platform: &Platform) {
    let Some(wanted) = &judge.config.system.hypervisor_memory else {
        return;
    };
    if wanted.value == HypervisorMemory::Main || platform.profile.onchip.is_some() {
        return;
    }
    let having: Vec<_> = Profile::names()
        .filter(|name| Profile::named(name).is_some_and(|profile| profile.onchip.is_some()))
        .map(|name| format!("`{name}`"))
        .collect();
    judge.note(
        Code::NoOnchipMemory,
        &wanted.span,
        "there is none",
        format!("platform `{}` has no on-chip memory", platform.profile.name),
        format!(
            "choose {} as `platform`, or leave this out",
            having.join(" or ")
        ),
    );
}

/// Judges whether what the hypervisor has to have there fits.
pub(super) fn check_fit(judge: &mut Judge<'_>, platform: &Platform, hypervisor: &Hypervisor) {
    let (Some(wanted), Some(there)) = (
        &judge.config.system.hypervisor_memory,
        platform.profile.onchip.as_ref().map(|place| place.extent()),
    ) else {
        return;
    };
    if parts::memory(judge.config) != HypervisorMemory::Onchip {
        return;
    }
    let Some(taken) = hypervisor.onchip else {
        judge.note(
            Code::BadHypervisor,
            &wanted.span,
            "not this one",
            "the hypervisor is not linked for on-chip memory",
            "build hypervisor and tool from the same source",
        );
        return;
    };
    if there.contains(taken) {
        return;
    }
    let beyond = taken.end.saturating_sub(there.end);
    let reason = if taken.start == there.start && beyond > 0 {
        format!(
            "the hypervisor's text and constants take {} bytes, {beyond} more than the {} of on-chip memory",
            taken.size(),
            Size(there.size())
        )
    } else {
        format!(
            "the hypervisor is linked for {}, where the on-chip memory is {}",
            extent_text(taken),
            extent_text(there)
        )
    };
    judge.note(
        Code::OnchipTooSmall,
        &wanted.span,
        "does not fit",
        reason,
        "leave this out: the hypervisor is then in main memory",
    );
}
