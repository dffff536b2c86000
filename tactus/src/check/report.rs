//! `tactus check --report`: what a system guarantees, in numbers; and the same as JSON.

use std::fmt::Write;

use serde_json::{Value, json};
use tactus_abi::blob::RealTimePolicy;
use tactus_planning::analysis::Criticality;
use tactus_policy::reservation::{Kind, Reservation};

use super::guarantee::{
    Answer, Cures, Guarantee, Hart, Joint, Refused, Sensitivity, Vcpu, WINDOWS_MS,
};
use super::summary::{row, table};
use super::time::{kind_text, percent, reservation_text, time_text};
use crate::config::Share;

/// The guarantee in words and tables.
pub fn report(guarantee: &Guarantee) -> String {
    let time = |ticks| time_text(ticks, guarantee.timebase_hz);
    let overheads = &guarantee.overheads;
    let mut for_jobs = time(overheads.job);
    if guarantee.ahead > 0 {
        for_jobs += &format!(", {} of it ahead of its release", time(guarantee.ahead));
    }
    let mut text =
        String::from("What the hypervisor itself takes, which all figures below count in\n");
    text += &table(&[
        vec!["  for each job".into(), for_jobs],
        vec![
            "  before it looks who is next".into(),
            time(overheads.blocking),
        ],
        vec![
            "  for others".into(),
            format!(
                "{} every {}",
                time(guarantee.service()),
                time(overheads.service_period)
            ),
        ],
        vec![
            "  for what is sent to its vCPUs".into(),
            format!(
                "{} times {} every {}",
                guarantee.interrupts,
                time(guarantee.interrupt),
                time(overheads.service_period)
            ),
        ],
        vec!["  for a release meanwhile".into(), time(overheads.release)],
        vec![
            "  from an interrupt to the release".into(),
            time(guarantee.release_latency()),
        ],
    ]);
    for (number, hart) in guarantee.harts.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = writeln!(text, "\nHart {number}, {}", policy(hart));
        text += &shares(guarantee, hart);
        text += &vcpus(guarantee, hart);
    }
    text += &vms(guarantee);
    for refused in &guarantee.refused {
        text += &refusal(guarantee, refused);
    }
    text
}

const fn policy(hart: &Hart) -> &'static str {
    match hart.policy {
        RealTimePolicy::EarliestDeadline => "by deadlines",
        RealTimePolicy::FixedPriority => "by priorities",
    }
}

/// What becomes of a hart's time.
fn shares(guarantee: &Guarantee, hart: &Hart) -> String {
    if hart.vcpus.is_empty() {
        return "  nothing is reserved\n".into();
    }
    let time = |ticks| time_text(ticks, guarantee.timebase_hz);
    let overheads = &guarantee.overheads;
    let mut rows = Vec::new();
    let mut line = |what: &str, value: String| rows.push(vec![format!("  {what}"), value]);
    if let Some(vcpu) = hart.unbounded() {
        line("reserved", format!("unknown: {} has no budget", vcpu.name));
        return table(&rows);
    }
    line("reserved", percent(hart.reserved()));
    line("with jobs' overhead", percent(hart.with_jobs(overheads)));
    let left = percent(hart.left(overheads));
    line(
        "left to best effort",
        if guarantee.reserve == Share::default() {
            left
        } else {
            format!("{left}, of which {} are kept", guarantee.reserve)
        },
    );
    if hart.has_modes() {
        line("in the high mode", percent(hart.in_high_mode(overheads)));
    }
    line("with work for others", percent(hart.taken(overheads)));
    if let Some(left) = hart.best_effort {
        line(
            "best effort waits",
            left.gap.map_or_else(
                || "without a bound".into(),
                |gap| format!("{} at most", time(gap)),
            ),
        );
        let least = left.least.iter().zip(WINDOWS_MS);
        let least: Vec<String> = least
            .filter(|(ticks, _)| **ticks > 0)
            .map(|(ticks, ms)| {
                let window = ms * u64::from(guarantee.timebase_hz) / 1000;
                format!("{} of any {}", time(*ticks), time(window))
            })
            .collect();
        if !least.is_empty() {
            line("best effort has at least", least.join(", "));
        }
    }
    if let Some(window) = hart.window {
        line(
            "critical window",
            format!(
                "{}: {} of it may be needed, {}",
                time(window.length),
                time(window.demand),
                percent(window.demand as f64 / window.length as f64)
            ),
        );
    }
    table(&rows)
}

fn vcpus(guarantee: &Guarantee, hart: &Hart) -> String {
    if hart.vcpus.is_empty() {
        return String::new();
    }
    let time = |ticks| time_text(ticks, guarantee.timebase_hz);
    let mut rows = vec![row(&[
        "  vCPU",
        "priority",
        "kind",
        "period",
        "budget",
        "deadline",
        "high mode",
        "begins within",
        "has it within",
        "in low mode",
        "ends vary by",
        "could have more",
    ])];
    for vcpu in &hart.vcpus {
        let of = |part: fn(Reservation) -> u64| {
            let ticks = vcpu.reservation.map(part);
            ticks.map_or_else(|| "-".into(), time)
        };
        rows.push(vec![
            format!("  {}", vcpu.name),
            vcpu.priority.map_or_else(|| "-".into(), |p| p.to_string()),
            kind_text(vcpu.kind).to_owned(),
            of(|times| times.period),
            of(|times| times.budget),
            of(|times| times.deadline),
            match vcpu.criticality {
                Criticality::Low => "nothing".into(),
                Criticality::High { budget: Some(more) } => time(more),
                Criticality::High { budget: None } => of(|times| times.budget),
            },
            vcpu.start.map_or_else(|| "-".into(), time),
            match &vcpu.answer {
                Answer::Within(ticks) => time(*ticks),
                Answer::Late => "too late".into(),
                Answer::Unbounded(other) => format!("no bound, for {other}"),
                Answer::None => "-".into(),
            },
            vcpu.in_low_mode.map_or_else(|| "-".into(), time),
            vcpu.finish_jitter().map_or_else(|| "-".into(), time),
            match vcpu.slack {
                Some(0) => "nothing".into(),
                Some(ticks) => time(ticks),
                None => "-".into(),
            },
        ]);
    }
    // The column of kinds is for harts with periodic vCPUs, that of priorities for harts that go by them, those of
    // modes for harts that have some.
    let columns = [
        (9, hart.has_modes()),
        (6, hart.has_modes()),
        (2, hart.vcpus.iter().any(|vcpu| vcpu.kind == Kind::Periodic)),
        (1, hart.policy == RealTimePolicy::FixedPriority),
    ];
    for (column, _) in columns.into_iter().filter(|(_, shown)| !shown) {
        for row in &mut rows {
            row.remove(column);
        }
    }
    table(&rows)
}

fn vms(guarantee: &Guarantee) -> String {
    let mut rows = vec![row(&["VM", "share", "used", "left", "made at run time"])];
    for vm in &guarantee.vms {
        if vm.places > 0 || vm.share > Share::default() {
            rows.push(vec![
                vm.name.clone(),
                vm.share.to_string(),
                vm.used.to_string(),
                Share(vm.share.0.saturating_sub(vm.used.0)).to_string(),
                match vm.places {
                    0 => "none".into(),
                    places => format!("up to {places}"),
                },
            ]);
        }
    }
    if rows.len() < 2 {
        return String::new();
    }
    format!("\n{}", table(&rows))
}

fn refusal(guarantee: &Guarantee, refused: &Refused) -> String {
    let hz = guarantee.timebase_hz;
    let mut text = format!(
        "\nDoes not fit: {}, {}\n",
        refused.name,
        reservation_text(refused.reservation, hz)
    );
    for (hart, reason) in &refused.reasons {
        let _ = writeln!(text, "  hart {hart}: {reason}");
    }
    let cures = refused
        .cures
        .text(|ticks| time_text(ticks, hz), guarantee.joint.as_ref());
    let _ = writeln!(text, "  {cures}");
    text
}

/// How far a system is from being refused, in words and tables; `None`: it is.
pub fn sensitivity(guarantee: &Guarantee, found: Option<&Sensitivity>) -> String {
    let mut text = String::from("How far until it is refused, by one change alone\n");
    let Some(found) = found else {
        return text + "  it is refused as it is\n";
    };
    let time = |ticks| time_text(ticks, guarantee.timebase_hz);
    let mut rows = Vec::new();
    let mut line = |what: &str, now: String, most: String| {
        rows.push(vec![format!("  {what}"), now, most]);
    };
    line("", "now".into(), "at most".into());
    let factor = |factor: f64| format!("{factor:.4}");
    if let Some(most) = found.budgets {
        line("all budgets, times", "1".into(), factor(most));
    }
    for (number, most) in found.harts.iter().enumerate() {
        if let Some(most) = most {
            let what = format!("all budgets of hart {number}, times");
            line(&what, "1".into(), factor(*most));
        }
    }
    let (now, most) = (&guarantee.overheads, &found.overheads);
    line("for each job", time(now.job), time(most.job));
    line(
        "before it looks who is next",
        time(now.blocking),
        time(most.blocking),
    );
    line("for others", time(guarantee.service()), time(most.service));
    if let Some(most) = found.interrupt {
        line(
            "for what is sent, and a release",
            time(guarantee.interrupt),
            time(most),
        );
    }
    if found.budgets.is_none() {
        return text + "  nothing is reserved\n";
    }
    text += &table(&rows);
    let mut rows = vec![row(&[
        "  vCPU", "budget", "at most", "period", "at least", "deadline", "at least",
    ])];
    for vcpu in &found.vcpus {
        let now = vcpu.reservation;
        let mut cells = vec![format!("  {}", vcpu.name)];
        let times = [
            now.budget,
            vcpu.budget,
            now.period,
            vcpu.period,
            now.deadline,
            vcpu.deadline,
        ];
        cells.extend(times.map(time));
        rows.push(cells);
    }
    text + &table(&rows)
}

/// The same as JSON.
pub(crate) fn sensitivity_json(guarantee: &Guarantee, found: Option<&Sensitivity>) -> Value {
    let Some(found) = found else {
        return Value::Null;
    };
    let hz = guarantee.timebase_hz;
    let mut overheads = serde_json::Map::new();
    time(&mut overheads, "job_max", Some(found.overheads.job), hz);
    time(
        &mut overheads,
        "blocking_max",
        Some(found.overheads.blocking),
        hz,
    );
    time(
        &mut overheads,
        "service_max",
        Some(found.overheads.service),
        hz,
    );
    time(&mut overheads, "interrupt_max", found.interrupt, hz);
    let vcpus = found.vcpus.iter().map(|vcpu| {
        let mut object = serde_json::Map::new();
        object.insert("vcpu".into(), json!(vcpu.name));
        time(&mut object, "budget_max", Some(vcpu.budget), hz);
        time(&mut object, "period_min", Some(vcpu.period), hz);
        time(&mut object, "deadline_min", Some(vcpu.deadline), hz);
        Value::from(object)
    });
    json!({
        "budgets_factor_max": found.budgets,
        "harts_budgets_factor_max": found.harts,
        "overheads": overheads,
        "vcpus": vcpus.collect::<Vec<_>>(),
    })
}

/// Seconds' millionths that ticks are.
fn microseconds(ticks: u64, hz: u32) -> f64 {
    ticks as f64 * 1e6 / f64::from(hz)
}

/// A part of a whole, to a millionth.
fn part(part: f64) -> f64 {
    (part * 1e6).round() / 1e6
}

/// The guarantee as JSON: names end in their units.
pub(crate) fn to_json(guarantee: &Guarantee) -> Value {
    let hz = guarantee.timebase_hz;
    let overheads = &guarantee.overheads;
    let mut own = serde_json::Map::new();
    time(&mut own, "job", Some(overheads.job), hz);
    time(&mut own, "ahead", Some(guarantee.ahead), hz);
    time(&mut own, "blocking", Some(overheads.blocking), hz);
    time(
        &mut own,
        "service_period",
        Some(overheads.service_period),
        hz,
    );
    time(&mut own, "service", Some(overheads.service), hz);
    time(&mut own, "interrupt", Some(guarantee.interrupt), hz);
    time(&mut own, "release", Some(overheads.release), hz);
    own.insert("interrupts".into(), guarantee.interrupts.into());
    time(
        &mut own,
        "release_latency",
        Some(guarantee.release_latency()),
        hz,
    );
    let harts: Vec<Value> = guarantee
        .harts
        .iter()
        .enumerate()
        .map(|(number, hart)| hart_json(guarantee, number, hart))
        .collect();
    let vms: Vec<Value> = guarantee
        .vms
        .iter()
        .map(|vm| {
            json!({
                "vm": vm.name,
                "rt_vcpus": vm.places,
                "share_permille": vm.share.0,
                "share_used_permille": vm.used.0,
                "share_left_permille": vm.share.0.saturating_sub(vm.used.0),
            })
        })
        .collect();
    let refused: Vec<Value> = guarantee
        .refused
        .iter()
        .map(|one| refused_json(one, hz))
        .collect();
    json!({
        "timebase_hz": hz,
        "overheads": own,
        "be_reserve_permille": guarantee.reserve.0,
        "harts": harts,
        "vms": vms,
        "refused": refused,
        "would_fit_together": guarantee.joint.as_ref().map(|joint| joint_json(joint, hz)),
    })
}

fn joint_json(joint: &Joint, hz: u32) -> Value {
    let changes = joint.changes.iter().map(|change| {
        let mut object = serde_json::Map::new();
        object.insert("vcpu".into(), json!(change.vcpu));
        time(&mut object, change.key.name(), Some(change.ticks), hz);
        Value::from(object)
    });
    json!({
        "budgets_permille": joint.permille,
        "changes": changes.collect::<Vec<_>>(),
        "be_reserve_max_permille": joint.reserve.map(|share| share.0),
        "periodic": joint.periodic,
    })
}

/// A time under two names, in ticks and in microseconds; null when there is none.
pub(super) fn time(
    object: &mut serde_json::Map<String, Value>,
    name: &str,
    ticks: Option<u64>,
    hz: u32,
) {
    object.insert(format!("{name}_ticks"), json!(ticks));
    let us = ticks.map(|ticks| microseconds(ticks, hz));
    object.insert(format!("{name}_us"), json!(us));
}

fn times(object: &mut serde_json::Map<String, Value>, times: Option<Reservation>, hz: u32) {
    time(object, "period", times.map(|t| t.period), hz);
    time(object, "budget", times.map(|t| t.budget), hz);
    time(object, "deadline", times.map(|t| t.deadline), hz);
}

fn hart_json(guarantee: &Guarantee, number: usize, hart: &Hart) -> Value {
    let (hz, overheads) = (guarantee.timebase_hz, &guarantee.overheads);
    let known = |value: f64| hart.unbounded().is_none().then(|| part(value));
    let mut window = serde_json::Map::new();
    time(&mut window, "length", hart.window.map(|w| w.length), hz);
    time(&mut window, "demand", hart.window.map(|w| w.demand), hz);
    let vcpus: Vec<Value> = hart.vcpus.iter().map(|vcpu| vcpu_json(vcpu, hz)).collect();
    json!({
        "hart": number,
        "policy": match hart.policy {
            RealTimePolicy::EarliestDeadline => "deadline",
            RealTimePolicy::FixedPriority => "priority",
        },
        "utilisation": known(hart.reserved()),
        "utilisation_with_jobs": known(hart.with_jobs(overheads)),
        "utilisation_with_overheads": known(hart.taken(overheads)),
        "best_effort_left": known(hart.left(overheads)),
        "critical_window": hart.window.map(|_| window),
        "best_effort": hart.best_effort.map(|left| {
            let mut object = serde_json::Map::new();
            time(&mut object, "gap_max", left.gap, hz);
            for (least, ms) in left.least.iter().zip(WINDOWS_MS) {
                time(&mut object, &format!("least_of_{ms}ms"), Some(*least), hz);
            }
            object
        }),
        "vcpus": vcpus,
    })
}

fn vcpu_json(vcpu: &Vcpu, hz: u32) -> Value {
    let mut object = serde_json::Map::new();
    object.insert("vcpu".into(), json!(vcpu.name));
    object.insert("priority".into(), json!(vcpu.priority));
    object.insert("kind".into(), json!(kind_text(vcpu.kind)));
    times(&mut object, vcpu.reservation, hz);
    let (response, fits) = match vcpu.answer {
        Answer::Within(ticks) => (Some(ticks), Some(true)),
        Answer::Late => (None, Some(false)),
        Answer::Unbounded(_) | Answer::None => (None, None),
    };
    let (low, high) = match vcpu.criticality {
        Criticality::Low => (true, None),
        Criticality::High { budget } => (false, budget),
    };
    object.insert(
        "criticality".into(),
        json!(if low { "low" } else { "high" }),
    );
    time(&mut object, "budget_high", high, hz);
    time(&mut object, "response", response, hz);
    time(&mut object, "response_in_low_mode", vcpu.in_low_mode, hz);
    time(&mut object, "start_jitter", vcpu.start, hz);
    time(&mut object, "finish_jitter", vcpu.finish_jitter(), hz);
    object.insert("fits".into(), json!(fits));
    let unbounded = match &vcpu.answer {
        Answer::Unbounded(other) => Some(other),
        _ => None,
    };
    object.insert("unbounded_by".into(), json!(unbounded));
    time(&mut object, "slack", vcpu.slack, hz);
    object.into()
}

fn refused_json(refused: &Refused, hz: u32) -> Value {
    let mut object = serde_json::Map::new();
    object.insert("vcpu".into(), json!(refused.name));
    times(&mut object, Some(refused.reservation), hz);
    let reasons = refused.reasons.iter();
    let reasons: Vec<Value> = reasons
        .map(|(hart, reason)| json!({"hart": hart, "reason": reason}))
        .collect();
    object.insert("reasons".into(), json!(reasons));
    let Cures {
        whole_system,
        budget,
        period,
        deadline,
        periodic,
        hart,
        reserve,
    } = &refused.cures;
    let mut cures = serde_json::Map::new();
    cures.insert("whole_system".into(), json!(whole_system));
    time(&mut cures, "budget_max", *budget, hz);
    time(&mut cures, "period_min", *period, hz);
    time(&mut cures, "deadline_min", *deadline, hz);
    cures.insert(
        "kind".into(),
        json!(periodic.then_some(kind_text(Kind::Periodic))),
    );
    cures.insert("hart".into(), json!(hart));
    cures.insert(
        "be_reserve_max_permille".into(),
        json!(reserve.map(|share| share.0)),
    );
    object.insert("would_fit".into(), cures.into());
    object.into()
}
