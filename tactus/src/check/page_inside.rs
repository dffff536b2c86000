//! What the book's page on guaranteed time says of tasks and chains: made here with the page's formulas, and compared
//! with what the tool says.

use std::fmt::Write;
use std::fs;

use tactus_planning::supply::{Completion, GuestTask};

use super::chains::Part;
use super::guarantee::{Answer, Guarantee, Vcpu};
use super::page::{holds, judge, page, part, time};
use super::tasks::VcpuTasks;

/// A vCPU and its supply, by the page's formulas.
struct Supply {
    period: u64,
    budget: u64,
    begin: u64,
    text: String,
}

fn activations(task: &GuestTask, length: u64) -> u64 {
    (length + task.jitter).div_ceil(task.period)
}

impl Supply {
    fn of(guarantee: &Guarantee, vcpu: &VcpuTasks) -> Self {
        let one = guarantee.vcpu(&vcpu.name).expect("the vCPU");
        let Answer::Within(within) = one.answer else {
            panic!("no bound")
        };
        let (period, budget) = (vcpu.reservation.period, vcpu.reservation.budget);
        let (job, held) = (guarantee.overheads.job, guarantee.held());
        let times = vcpu.tasks.iter().map(|task| &task.times);
        let woken: u64 = times.map(|task| activations(task, budget)).sum();
        let left = budget.saturating_sub(woken * job + held);
        let begin = period + within - budget - left;
        let text = format!(
            "{}: W = {}; k = {woken}\n  begin = {} + {} - {} - max(0, {} - {woken} * {} - {}) = {}\n",
            vcpu.name,
            time(within),
            time(period),
            time(within),
            time(budget),
            time(budget),
            time(job),
            time(held),
            time(begin),
        );
        Self {
            period,
            budget,
            begin,
            text,
        }
    }

    /// When so much is supplied, and how that is computed.
    fn at(&self, work: u64) -> (u64, String) {
        let whole = (work - 1) / self.budget;
        let rest = work - whole * self.budget;
        let length = self.begin + whole * self.period + rest;
        let text = format!(
            "{} is {whole} * {} + {}, supplied at {}",
            time(work),
            time(self.budget),
            time(rest),
            time(length)
        );
        (length, text)
    }
}

/// The rounds of a task's equation, and the `t` that comes out as it went in.
fn rounds(tasks: &VcpuTasks, which: usize, supply: &Supply) -> (u64, String) {
    let own = &tasks.tasks[which];
    let others = || {
        let all = tasks.tasks.iter().enumerate();
        let before = all
            .filter(|(other, task)| *other != which && task.times.priority >= own.times.priority);
        before.map(|(_, task)| &task.times)
    };
    let mut text = format!("{}:\n", own.name);
    let mut length = 1;
    loop {
        let work = own.times.wcet
            + others()
                .map(|task| activations(task, length) * task.wcet)
                .sum::<u64>();
        let (next, line) = supply.at(work);
        if next == length {
            return (length, text);
        }
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {line}");
        length = next;
    }
}

#[test]
fn tasks_and_chains_by_hand_are_what_the_tool_says() {
    let text = fs::read_to_string(page()).expect("the page");
    let (_, system) = part(&text, "inside-system");
    let system = system
        .trim_start_matches("```toml\n")
        .trim_end_matches("```\n");
    let verdict = judge("brake.toml", system.to_owned());
    let guarantee = verdict.guarantee.as_ref().expect("a platform");
    let mut by_hand = String::new();
    for vcpu in &verdict.tasks.vcpus {
        let supply = Supply::of(guarantee, vcpu);
        assert_eq!(supply.begin, vcpu.begin);
        by_hand += &supply.text;
        for (which, task) in vcpu.tasks.iter().enumerate() {
            let (length, text) = rounds(vcpu, which, &supply);
            assert_eq!(task.completion, Completion::Within(length), "{}", task.name);
            // One job is enough where it is done before the next comes.
            assert!(
                length <= task.times.period - task.times.jitter,
                "{}",
                task.name
            );
            by_hand += &text;
        }
    }
    holds("inside", &format!("```text\n{by_hand}```\n"));

    let [chain] = verdict.chains.as_slice() else {
        panic!("one chain")
    };
    let within = |name: &str| {
        let mut all = verdict.tasks.vcpus.iter().flat_map(|vcpu| &vcpu.tasks);
        let task = all.find(|task| task.name == name).expect("a task");
        match task.completion {
            Completion::Within(ticks) => (task.times, ticks),
            other => panic!("{other:?}"),
        }
    };
    let ((sample, sampled), (_, looped)) = (within("sample"), within("loop"));
    let signal = guarantee.held() + guarantee.interrupt;
    let parts = [
        (Part::Sampling, sample.period + sample.jitter),
        (Part::Response, sampled),
        (Part::Signal, signal),
        (Part::Response, looped),
    ];
    let tick = 1_000_000_000 / u64::from(guarantee.timebase_hz);
    let expected = parts.map(|(part, ticks)| (part, ticks * tick));
    let said: Vec<(Part, u64)> = chain
        .steps
        .iter()
        .flat_map(|step| step.parts.clone())
        .collect();
    assert_eq!(said, expected);
    assert_eq!(
        chain.bound(),
        expected.iter().map(|(_, time)| time).sum::<u64>()
    );
    let report = super::report_of_tasks(&verdict);
    holds(
        "inside-report",
        &format!("```console\n$ tactus check brake.toml --report\n...{report}```\n"),
    );
}

/// How often another vCPU of a hart that goes by deadlines preempts a job of one with that window, by the page's table;
/// and how that is computed.
fn preemptions(own: &Vcpu, window: u64, other: &Vcpu, tasks: &[&GuestTask]) -> (u64, String) {
    let [own, times] = [own, other].map(|vcpu| vcpu.reservation.expect("a reservation"));
    let earlier = own.deadline.saturating_sub(times.deadline).min(window);
    let mut number = earlier.div_ceil(times.period);
    let mut text = format!(
        "  {}: ceil(min({}, {} - {}) / {})",
        other.name,
        time(window),
        time(own.deadline),
        time(times.deadline),
        time(times.period)
    );
    for task in tasks {
        number += (window + task.jitter).div_ceil(task.period);
        // Writing to a string does not fail.
        let _ = write!(
            text,
            " + ceil(({} + {}) / {})",
            time(window),
            time(task.jitter),
            time(task.period)
        );
    }
    (number, format!("{text} = {number}\n"))
}

#[test]
fn reloads_by_hand_are_what_the_tool_says() {
    let text = fs::read_to_string(page()).expect("the page");
    let (_, system) = part(&text, "reload-system");
    let system = system
        .trim_start_matches("```toml\n")
        .trim_end_matches("```\n");
    let verdict = judge("plan.toml", system.to_owned());
    let guarantee = verdict.guarantee.as_ref().expect("a platform");
    let [reload] = verdict.tasks.reloads.as_slice() else {
        panic!("one vCPU has a cost")
    };
    let own = guarantee.vcpu(&reload.name).expect("the vCPU");
    let Answer::Within(within) = own.answer else {
        panic!("no bound")
    };
    let mut by_hand = format!("{}: W = {}\n", own.name, time(within));
    let mut times = 1;
    let [hart] = guarantee.harts.as_slice() else {
        panic!("one hart")
    };
    for other in hart.vcpus.iter().filter(|other| other.name != own.name) {
        let mut vcpus = verdict.tasks.vcpus.iter();
        let tasks = vcpus.find(|vcpu| vcpu.name == other.name);
        let tasks: Vec<&GuestTask> = tasks
            .iter()
            .flat_map(|vcpu| &vcpu.tasks)
            .map(|task| &task.times)
            .collect();
        let (number, text) = preemptions(own, within, other, &tasks);
        times += number;
        by_hand += &text;
    }
    let budget = reload.reservation.budget;
    let left = budget - times * reload.cost;
    by_hand += &format!(
        "  left = {} - {times} * {} = {}\n",
        time(budget),
        time(reload.cost),
        time(left)
    );
    assert_eq!((reload.times(), reload.left()), (times, left));
    holds("reload", &format!("```text\n{by_hand}```\n"));
    let report = super::report_of_tasks(&verdict);
    holds(
        "reload-report",
        &format!("```console\n$ tactus check plan.toml --report\n...{report}```\n"),
    );
}
