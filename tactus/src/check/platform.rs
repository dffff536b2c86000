//! The platform, and how much of it the system uses.

use std::ops::RangeInclusive;

use tactus_abi::blob::{ReadyQueue, limit};
use tactus_abi::map::MEGAPAGE_SIZE;
use tactus_planning::placement::Extent;

use super::calls;
use super::judge::Judge;
use crate::config::{At, DEFAULT_SLICE, Nanoseconds, Share, Size, cure_of_unknown};
use crate::fabric;
use crate::problem::{Code, Problem};
use crate::profile::{self, Profile};

/// Bounds of the time slice: below, switching takes a noticeable part of it; above, guests notice.
const SLICE_MIN: Nanoseconds = Nanoseconds(100_000);
const SLICE_MAX: Nanoseconds = Nanoseconds(1_000_000_000);

/// Bounds of the deferral period: below, the hypervisor holds a best-effort vCPU for its hart for longer; above, what
/// waits for it is late for most purposes.
const DEFERRAL_MIN: Nanoseconds = Nanoseconds(200_000);
const DEFERRAL_MAX: Nanoseconds = Nanoseconds(100_000_000);

/// The part of a platform that a system uses.
pub(super) struct Platform {
    pub(super) profile: Profile,
    pub(super) harts: u32,
    pub(super) memory: Extent,
    pub(super) slice_ticks: u64,
    pub(super) reserve: Share,
    /// What the fabric is loaded with.
    pub(super) design: Option<String>,
    /// What keeps ready best-effort vCPUs in order.
    pub(super) ready_queue: ReadyQueue,
}

/// Judges `[system]`. `None`: the platform is unknown.
pub(super) fn check(judge: &mut Judge<'_>) -> Option<Platform> {
    let name = judge.config.system.platform.as_ref()?;
    let Some(profile) = Profile::named(&name.value) else {
        let known: Vec<_> = Profile::names().chain(profile::of_tiles()).collect();
        judge.note(
            Code::UnknownPlatform,
            &name.span,
            "no such platform",
            format!("there is no profile of a platform `{}`", name.value),
            cure_of_unknown(&name.value, &known),
        );
        return None;
    };
    let mut profile = profile;
    let design = design(judge, &mut profile);
    let ready_queue = ready_queue(judge, &mut profile);
    region_allocator(judge, &mut profile);
    deferral_period(judge, &mut profile);
    let harts = harts(judge, &profile);
    count_calls(judge, &mut profile, harts);
    Some(Platform {
        design,
        ready_queue,
        harts,
        memory: Extent::new(profile.memory.base.0, memory(judge, &profile).0),
        slice_ticks: slice_ticks(judge, &profile),
        reserve: reserve(judge),
        profile,
    })
}

/// The design for the fabric, whose devices take the place of the fabric's own.
fn design(judge: &mut Judge<'_>, profile: &mut Profile) -> Option<String> {
    let design = judge.config.design.as_ref()?;
    let Some(devices) = fabric::devices(&design.value) else {
        let known = fabric::names();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        judge.note(
            Code::UnknownDesign,
            &design.span,
            "no such design",
            format!("there is no design `{}` for a fabric", design.value),
            cure_of_unknown(&design.value, &known),
        );
        return None;
    };
    let Some(place) = profile
        .devices
        .iter()
        .position(|device| device.name == fabric::DEVICE)
    else {
        judge.note(
            Code::NoFabric,
            &design.span,
            "nothing to load it into",
            format!("platform `{}` has no fabric", profile.name),
            "choose a platform with one, such as `soc`, or remove `[fabric]`",
        );
        return None;
    };
    profile.devices.splice(place..=place, devices);
    Some(design.value.clone())
}

/// Of the fabric's region allocator no VM gets the hypervisor's page.
fn region_allocator(judge: &Judge<'_>, profile: &mut Profile) {
    let mut devices = profile.devices.iter_mut();
    let device = devices.find(|device| device.name == fabric::REGION_ALLOCATOR);
    if let Some(device) = device.filter(|_| judge.config.accelerators.is_some()) {
        device.kept = Some("the hypervisor requests regions there".into());
    }
}

/// What keeps ready best-effort vCPUs in order. Where that is in hardware, no VM gets it.
fn ready_queue(judge: &mut Judge<'_>, profile: &mut Profile) -> ReadyQueue {
    let Some(given) = &judge.config.system.ready_queue else {
        return ReadyQueue::Bitmap;
    };
    if !given.value.is_in_hardware() {
        return given.value;
    }
    let mut devices = profile.devices.iter_mut();
    if let Some(device) = devices.find(|device| device.name == fabric::READY_QUEUE) {
        device.kept = Some("the hypervisor keeps its ready vCPUs there".into());
        return given.value;
    }
    let title = given.value.name();
    let problem = Problem::new(
        Code::NoReadyQueue,
        format!("`ready_queue = \"{title}\"` needs a ready queue in the fabric"),
        "load the fabric with one, `[fabric]` and `design = \"ready_queue\"`, on a platform that has a fabric, such as `soc`; or choose \
         `\"bitmap\"` or `\"linear\"`, which are software",
    );
    let problem = problem.at(judge.source(), &given.span, "in hardware");
    judge.add(match &judge.config.design {
        Some(design) => problem.at(judge.source(), &design.span, "this design has none"),
        None => problem,
    });
    ReadyQueue::Bitmap
}

fn harts(judge: &mut Judge<'_>, profile: &Profile) -> u32 {
    let Some(harts) = &judge.config.system.harts else {
        return profile.harts.default;
    };
    let most = profile.harts.max.min(limit::HARTS as u32);
    if !(1..=most).contains(&harts.value) {
        judge.note(
            Code::OutOfRange,
            &harts.span,
            format!("1 to {most}"),
            format!(
                "platform `{}` has 1 to {most} harts, not {}",
                profile.name, harts.value
            ),
            format!("use at most `harts = {most}`"),
        );
    }
    // Near what is written, so that vCPUs are judged by what is meant.
    harts.value.clamp(1, limit::HARTS as u32)
}

fn memory(judge: &mut Judge<'_>, profile: &Profile) -> Size {
    let Some(memory) = &judge.config.system.memory else {
        return profile.memory.default;
    };
    let (value, most) = (memory.value, profile.memory.max);
    let show = |bytes| Size(bytes).to_string();
    let range = profile.firmware.size..=most;
    let fits = |bytes| range.contains(&Size(bytes));
    if judge.is_multiple(
        value.0,
        MEGAPAGE_SIZE,
        &memory.span,
        "`[system]`: `memory`",
        show,
        fits,
    ) && !fits(value.0)
    {
        judge.note(
            Code::OutOfRange,
            &memory.span,
            format!("{} to {most}", profile.firmware.size),
            format!(
                "platform `{}` has {} (the firmware's alone) to {most} of memory, not {value}",
                profile.name, profile.firmware.size
            ),
            format!(
                "use at most {most}, or leave it out for the default of {}",
                profile.memory.default
            ),
        );
    }
    value
}

fn slice_ticks(judge: &mut Judge<'_>, profile: &Profile) -> u64 {
    let Some(slice) = &judge.config.system.slice else {
        return profile.ticks_within(DEFAULT_SLICE);
    };
    let default = format!("for the default of {DEFAULT_SLICE}");
    in_range(judge, slice, "a time slice", SLICE_MIN..=SLICE_MAX, default);
    profile.ticks_within(slice.value)
}

/// A call keeps the hart from all others until it ends, and its caller beyond its budget.
fn count_calls(judge: &Judge<'_>, profile: &mut Profile, harts: u32) {
    let longest = calls::longest(judge.config, harts).0;
    profile.overheads.blocking.0 += longest;
    profile.overheads.job.0 += longest;
}

/// The system's own deferral period takes the place of the profile's.
fn deferral_period(judge: &mut Judge<'_>, profile: &mut Profile) {
    let Some(period) = &judge.config.system.deferral_period else {
        return;
    };
    let range = DEFERRAL_MIN..=DEFERRAL_MAX;
    let default = format!("for the platform's {}", profile.overheads.service_period);
    if in_range(judge, period, "a deferral period", range, default) {
        profile.overheads.service_period = period.value;
    }
}

/// Whether a time is in its range; noted when it is not. `default`: what leaving it out is for.
pub(super) fn in_range(
    judge: &mut Judge<'_>,
    time: &At<Nanoseconds>,
    what: &str,
    range: RangeInclusive<Nanoseconds>,
    default: String,
) -> bool {
    let (least, most) = (range.start(), range.end());
    let fits = range.contains(&time.value);
    if !fits {
        judge.note(
            Code::OutOfRange,
            &time.span,
            format!("{least} to {most}"),
            format!("{what} is {least} to {most} long, not {}", time.value),
            format!("leave it out {default}"),
        );
    }
    fits
}

fn reserve(judge: &mut Judge<'_>) -> Share {
    let Some(reserve) = &judge.config.system.be_reserve else {
        return Share::default();
    };
    judge.is_part(reserve, "`be_reserve` of the system");
    reserve.value.min(Share::WHOLE)
}
