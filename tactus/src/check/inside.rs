//! `tactus check --report` about what runs inside the VMs: tasks and chains; and the same as JSON.

use std::fmt::Write;

use serde_json::{Map, Value, json};
use tactus_planning::supply::Completion;

use super::Verdict;
use super::chains::Chain;
use super::reloads::{Reload, reasons};
use super::report::time;
use super::summary::{row, table};
use super::tasks::{Task, VcpuTasks};
use super::time::time_text;
use crate::config::Stimulus;

/// Nanoseconds in a second: the unit of chains.
const HZ: u32 = 1_000_000_000;

/// Tasks and chains in tables; nothing where there are none.
pub fn report(verdict: &Verdict) -> String {
    let hz = verdict
        .guarantee
        .as_ref()
        .map_or(HZ, |guarantee| guarantee.timebase_hz);
    let mut text = String::new();
    for reload in &verdict.tasks.reloads {
        text += &budget(reload, hz);
    }
    for vcpu in &verdict.tasks.vcpus {
        text += &tasks(vcpu, hz);
    }
    for chain in &verdict.chains {
        text += &steps(chain);
    }
    text
}

/// What its caches may take of a vCPU's budget.
fn budget(reload: &Reload, hz: u32) -> String {
    let time = |ticks| time_text(ticks, hz);
    format!(
        "\n{}: budget {}, of which up to {} x {} reload its caches; {} are left\n  a job reloads them {}\n",
        reload.name,
        time(reload.reservation.budget),
        reload.times(),
        time(reload.cost),
        time(reload.left()),
        reasons(reload)
    )
}

fn tasks(vcpu: &VcpuTasks, hz: u32) -> String {
    let time = |ticks| time_text(ticks, hz);
    let mut text = format!(
        "\nTasks of {}, which may execute nothing for {}, then {} in each {}\n",
        vcpu.name,
        time(vcpu.begin),
        time(vcpu.left),
        time(vcpu.reservation.period)
    );
    let mut rows = vec![row(&[
        "  task",
        "priority",
        "activated",
        "period",
        "jitter",
        "wcet",
        "deadline",
        "done within",
    ])];
    for task in &vcpu.tasks {
        let times = task.times;
        rows.push(vec![
            format!("  {}", task.name),
            times.priority.to_string(),
            stimulus(task).into(),
            time(times.period),
            time(times.jitter),
            time(times.wcet),
            time(times.deadline),
            match task.completion {
                Completion::Within(ticks) => time(ticks),
                Completion::Late(ticks) => format!("too late: {}", time(ticks)),
                Completion::Never => "too late".into(),
            },
        ]);
    }
    text += &table(&rows);
    text
}

const fn stimulus(task: &Task) -> &'static str {
    match task.stimulus {
        Stimulus::Sampled => "by time",
        Stimulus::Interrupt => "by interrupt",
    }
}

fn steps(chain: &Chain) -> String {
    let time = |ns| time_text(ns, HZ);
    let mut text = String::new();
    let mut rows = vec![row(&["  step", "part", "at most"])];
    for step in &chain.steps {
        let nothing = step.parts.is_empty();
        if nothing {
            rows.push(vec![
                format!("  {}", step.name),
                "its memory is read".into(),
                time(0),
            ]);
        }
        for (place, (part, at_most)) in step.parts.iter().enumerate() {
            let name = if place == 0 { &step.name } else { "" };
            rows.push(vec![
                format!("  {name}"),
                part.text().into(),
                time(*at_most),
            ]);
        }
    }
    rows.push(vec!["  in all".into(), String::new(), time(chain.bound())]);
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "\nChain {}, within {}",
        chain.name,
        time(chain.deadline)
    );
    text += &table(&rows);
    text
}

/// What caches may take of budgets, as JSON.
pub(crate) fn reloads_json(verdict: &Verdict) -> Value {
    let hz = verdict
        .guarantee
        .as_ref()
        .map_or(HZ, |guarantee| guarantee.timebase_hz);
    let reload = |reload: &Reload| {
        let mut object = Map::new();
        object.insert("vcpu".into(), json!(reload.name));
        time(&mut object, "budget", Some(reload.reservation.budget), hz);
        time(&mut object, "reload", Some(reload.cost), hz);
        object.insert("times".into(), json!(reload.times()));
        let others: Map<String, Value> = reload
            .preemptions
            .iter()
            .map(|(name, times)| (name.clone(), json!(times)))
            .collect();
        object.insert("preemptions".into(), others.into());
        time(&mut object, "left", Some(reload.left()), hz);
        Value::from(object)
    };
    verdict.tasks.reloads.iter().map(reload).collect()
}

/// The tasks as JSON.
pub(crate) fn tasks_json(verdict: &Verdict) -> Value {
    let hz = verdict
        .guarantee
        .as_ref()
        .map_or(HZ, |guarantee| guarantee.timebase_hz);
    let vcpu = |vcpu: &VcpuTasks| {
        let mut object = Map::new();
        object.insert("vcpu".into(), json!(vcpu.name));
        time(&mut object, "budget_left", Some(vcpu.left), hz);
        time(&mut object, "supply_begin", Some(vcpu.begin), hz);
        let tasks: Vec<Value> = vcpu.tasks.iter().map(|task| task_json(task, hz)).collect();
        object.insert("tasks".into(), tasks.into());
        Value::from(object)
    };
    verdict.tasks.vcpus.iter().map(vcpu).collect()
}

fn task_json(task: &Task, hz: u32) -> Value {
    let mut object = Map::new();
    object.insert("task".into(), json!(task.name));
    object.insert("priority".into(), json!(task.times.priority));
    object.insert(
        "stimulus".into(),
        json!(match task.stimulus {
            Stimulus::Sampled => "sampled",
            Stimulus::Interrupt => "interrupt",
        }),
    );
    let times = task.times;
    time(&mut object, "period", Some(times.period), hz);
    time(&mut object, "jitter", Some(times.jitter), hz);
    time(&mut object, "wcet", Some(times.wcet), hz);
    time(&mut object, "deadline", Some(times.deadline), hz);
    let response = match task.completion {
        Completion::Within(ticks) | Completion::Late(ticks) => Some(ticks),
        Completion::Never => None,
    };
    time(&mut object, "response", response, hz);
    object.insert("fits".into(), json!(task.completion.is_in_time()));
    object.into()
}

/// The chains as JSON.
pub(crate) fn chains_json(verdict: &Verdict) -> Value {
    let us = |ns: u64| ns as f64 / 1e3;
    let chain = |chain: &Chain| {
        let steps: Vec<Value> = chain
            .steps
            .iter()
            .map(|step| {
                let parts = step.parts.iter();
                let parts: Vec<Value> = parts
                    .map(|(part, at_most)| json!({ "part": part.name(), "bound_us": us(*at_most) }))
                    .collect();
                json!({ "step": step.name, "parts": parts })
            })
            .collect();
        json!({
            "chain": chain.name,
            "deadline_us": us(chain.deadline),
            "bound_us": us(chain.bound()),
            "fits": chain.bound() <= chain.deadline,
            "steps": steps,
        })
    };
    verdict.chains.iter().map(chain).collect()
}
