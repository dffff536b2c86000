//! The book's page on guaranteed time: its figures are made here, with the page's formulas and nothing of the tool's,
//! and compared with what the tool says. `INSTA_UPDATE=always cargo test` writes them again.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use tactus_abi::blob::Overheads;
use tactus_policy::demand::held;
use tactus_policy::reservation::Reservation;

use super::guarantee::{Answer, Guarantee, Hart};
use super::time::{percent, time_text};
use super::{Verdict, report, verdict};
use crate::artifacts::Artifacts;
use crate::config::{Config, Source};
use crate::testing;

/// Ticks per second of all profiles.
const HZ: u32 = 10_000_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub(super) fn page() -> PathBuf {
    root().join("docs/src/explanation/guaranteed-time.md")
}

/// A part of the page: between two comments with its name.
pub(super) fn part<'t>(text: &'t str, name: &str) -> (usize, &'t str) {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let at = text.find(&begin).expect("its begin") + begin.len();
    let length = text[at..].find(&end).expect("its end");
    (at, &text[at..at + length])
}

/// Compares a part of the page with what it must be, or writes it.
pub(super) fn holds(name: &str, expected: &str) {
    let text = fs::read_to_string(page()).expect("the page");
    let (at, found) = part(&text, name);
    if found == expected {
        return;
    }
    assert_eq!(
        std::env::var("INSTA_UPDATE").as_deref(),
        Ok("always"),
        "the page says of {name}:\n{found}\nand must say:\n{expected}"
    );
    let written = format!("{}{expected}{}", &text[..at], &text[at + found.len()..]);
    fs::write(page(), written).expect("the page");
}

/// A table in Markdown.
fn markdown(heading: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let heading: Vec<String> = heading.iter().map(|&cell| cell.to_owned()).collect();
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!(
        "{}|{}\n{rows}",
        line(&heading),
        "---|".repeat(heading.len())
    )
}

pub(super) fn time(ticks: u64) -> String {
    time_text(ticks, HZ)
}

pub(super) fn judge(name: &str, text: String) -> Verdict {
    let nowhere = Artifacts::Directory("nowhere".into());
    let read = Config::parse(Source::new(name, text), Path::new("."));
    verdict(name.into(), read, &nowhere)
}

fn guarantee(name: &str, text: String) -> Guarantee {
    judge(name, text).guarantee.expect("a platform")
}

fn example() -> String {
    fs::read_to_string(root().join("systems/control-loop.toml")).expect("the example")
}

/// A vCPU of the page: name, times, cost.
struct Row {
    name: String,
    times: Reservation,
    cost: u64,
}

fn rows(hart: &Hart, overheads: &Overheads) -> Vec<Row> {
    let row = |vcpu: &super::guarantee::Vcpu| {
        let times = vcpu.reservation.expect("a reservation");
        Row {
            name: vcpu.name.clone(),
            times,
            cost: times.budget + overheads.job,
        }
    };
    hart.vcpus.iter().map(row).collect()
}

fn services(overheads: &Overheads, length: u64) -> u64 {
    (length / overheads.service_period + 1) * overheads.service
}

/// The page's `due`, in ticks.
fn due(row: &Row, length: u64) -> f64 {
    let Reservation {
        period, deadline, ..
    } = row.times;
    if length < deadline {
        return row.cost as f64 * quotient(length, deadline);
    }
    row.cost as f64 * (1.0 + quotient(length - deadline, period))
}

/// The page's `asked` of a server, in ticks.
fn asked(row: &Row, length: u64) -> f64 {
    let Reservation {
        period, deadline, ..
    } = row.times;
    let rest = (length % period).min(deadline);
    row.cost as f64 * ((length / period) as f64 + quotient(rest, deadline))
}

/// The page's `run` of a server, in ticks.
fn run(row: &Row, length: u64) -> f64 {
    asked(row, length.max(row.cost) - row.cost + row.times.deadline)
}

/// The page's `together` of servers, in ticks.
fn together<'r>(rows: impl Iterator<Item = &'r Row>, length: u64) -> f64 {
    let mut rows: Vec<&Row> = rows.collect();
    rows.sort_by_key(|row| row.times.period);
    let mut last_jobs = 0;
    let of = |row: &Row| {
        last_jobs += row.cost;
        let begins = length.saturating_sub(last_jobs);
        row.cost as f64 * (1.0 + quotient(begins, row.times.period))
    };
    rows.into_iter().map(of).sum()
}

/// Ticks that a sum of such comes to: rounded up, but for what is lost in adding.
fn whole(ticks: f64) -> u64 {
    (ticks - 1e-6).ceil() as u64
}

fn quotient(of: u64, whole: u64) -> f64 {
    of as f64 / whole as f64
}

/// Steps of an equation that is put into itself until it comes out as it went in, in words; and the last.
fn rounds(next: impl Fn(u64) -> u64) -> (String, u64) {
    let mut all = vec![0];
    loop {
        let last = all[all.len() - 1];
        let value = next(last);
        if value == last {
            break;
        }
        all.push(value);
    }
    let end = all[all.len() - 1];
    let texts: Vec<String> = all[1..].iter().map(|&ticks| time(ticks)).collect();
    let text = match texts.as_slice() {
        [first, second, third, _, .., last] => format!("{first}, {second}, {third}, ... {last}"),
        few => few.join(", "),
    };
    (text, end)
}

#[test]
fn the_example_by_hand_is_what_the_tool_says() {
    let guarantee = guarantee("control-loop.toml", example());
    let (hart, overheads) = (&guarantee.harts[0], &guarantee.overheads);
    let rows = rows(hart, overheads);
    let lines = |each: &dyn Fn(&Row) -> String| rows.iter().map(each).collect::<String>();
    let reserved: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let times = [row.times.period, row.times.budget, row.times.deadline];
            std::iter::once(row.name.clone())
                .chain(times.map(time))
                .collect()
        })
        .collect();
    let heading = ["vCPU", "`period`", "`budget`", "`deadline`"];
    holds("reservations", &markdown(&heading, &reserved));
    let Overheads {
        job,
        blocking,
        service_period,
        service,
        release,
    } = *overheads;
    let held = held(overheads, rows.len());
    let own = vec![
        time(job),
        time(blocking),
        time(guarantee.service()),
        format!("{} x {}", guarantee.interrupts, time(guarantee.interrupt)),
        time(service),
        time(service_period),
    ];
    let heading = [
        "`job`",
        "`blocking`",
        "`service`",
        "`interrupt`",
        "both together",
        "`service_period`",
    ];
    holds("overheads", &markdown(&heading, &[own]));
    holds(
        "held",
        &format!(
            "```text\nheld = {} + {} * {} = {}\n```\n",
            time(blocking),
            rows.len() - 1,
            time(release),
            time(held)
        ),
    );

    let jobs: f64 = rows
        .iter()
        .map(|row| quotient(row.cost, row.times.period))
        .sum();
    let served = quotient(service, service_period);
    let kept = 1.0 - f64::from(guarantee.reserve.0) / 1000.0;
    let costs = lines(&|row| {
        let part = quotient(row.cost, row.times.period);
        format!(
            "{}: cost {} + {} = {}, of {}: {}\n",
            row.name,
            time(row.times.budget),
            time(job),
            time(row.cost),
            time(row.times.period),
            percent(part)
        )
    });
    let sums = format!(
        "sum: {} <= {}\nwith services, {} of {}: U = {} <= 100 %\n",
        percent(jobs),
        percent(kept),
        time(service),
        time(service_period),
        percent(jobs + served)
    );
    holds("utilisation", &format!("```text\n{costs}{sums}```\n"));

    let gaps: Vec<String> = rows
        .iter()
        .map(|row| {
            let gap = row.times.period - row.times.deadline;
            format!(
                "{} * {}",
                percent(quotient(row.cost, row.times.period)),
                time(gap)
            )
        })
        .collect();
    let above: f64 = rows
        .iter()
        .map(|row| {
            let gap = (row.times.period - row.times.deadline) as f64;
            quotient(row.cost, row.times.period) * gap
        })
        .sum();
    let horizon = (above + (held + service) as f64) / (1.0 - jobs - served);
    let horizon = horizon.round() as u64;
    holds(
        "horizon",
        &format!(
            "```text\nLa = ({} + {} + {}) / (1 - {}) = {}\n```\n",
            gaps.join(" + "),
            time(held),
            time(service),
            percent(jobs + served),
            time(horizon)
        ),
    );

    let shortest = rows
        .iter()
        .map(|row| row.times.deadline)
        .min()
        .expect("some");
    let bends = |length: &u64| {
        length.is_multiple_of(service_period)
            || rows.iter().any(|row| row.times.deadline == *length)
    };
    let mut table = Vec::new();
    let mut worst = (0, 1);
    for length in (shortest..=horizon.max(shortest)).filter(bends) {
        let parts: Vec<u64> = rows.iter().map(|row| whole(due(row, length))).collect();
        let demand = held + services(overheads, length) + parts.iter().sum::<u64>();
        assert!(demand <= length);
        if demand * worst.1 > worst.0 * length {
            worst = (demand, length);
        }
        let cells = [length, held, services(overheads, length)];
        let cells = cells.into_iter().chain(parts).chain([demand]);
        let part = percent(quotient(demand, length));
        table.push(cells.map(time).chain([part]).collect());
    }
    let names = rows.iter().map(|row| row.name.as_str());
    let heading: Vec<&str> = ["`L`", "`held`", "services"]
        .into_iter()
        .chain(names)
        .chain(["`H(L)`", "`H(L) / L`"])
        .collect();
    holds("demand", &markdown(&heading, &table));

    // The tool agrees.
    let window = hart.window.expect("a window");
    assert_eq!((window.demand, window.length), worst);
    assert_eq!(percent(hart.with_jobs(overheads)), percent(jobs));
    assert_eq!(percent(hart.taken(overheads)), percent(jobs + served));
    let left = window.length - window.demand;
    for (row, vcpu) in rows.iter().zip(&hart.vcpus) {
        let ramp = window.length.min(row.times.deadline);
        let by_hand = left * row.times.deadline / ramp;
        // What is rounded up to a tick for each server is so much of the budget.
        let rounded = rows.len() as u64 * row.times.deadline.div_ceil(ramp);
        let slack = vcpu.slack.expect("a slack");
        assert!(slack.abs_diff(by_hand) <= rounded, "{}", row.name);
    }

    let mut answers = String::new();
    for (one, row) in rows.iter().enumerate() {
        let from = |a: u64| {
            rounds(|length| {
                let work = rows
                    .iter()
                    .map(|other| asked(other, a + row.times.deadline).min(run(other, length)));
                held + services(overheads, length) + whole(work.sum())
            })
        };
        // The first of those with the longest answer.
        let answer = |a: u64| from(a).1.saturating_sub(a);
        let a = (0..horizon).rev().max_by_key(|&a| answer(a)).expect("some");
        let (text, end) = from(a);
        assert_eq!(hart.vcpus[one].answer, Answer::Within(end - a));
        let dues: Vec<String> = rows
            .iter()
            .map(|other| {
                let asked = whole(asked(other, a + row.times.deadline));
                format!("{} of {}", time(asked), other.name)
            })
            .collect();
        let _ = writeln!(
            answers,
            "{}: a = {}; asked for by {}: {}\n  t = {text}\n  t - a = {}",
            row.name,
            time(a),
            time(a + row.times.deadline),
            dues.join(", "),
            time(end - a)
        );
    }
    holds("answers", &format!("```text\n{answers}```\n"));
    assert_eq!(guarantee.release_latency(), held + service);
    let from_interrupts: String = (rows.iter().zip(&hart.vcpus))
        .map(|(row, vcpu)| {
            let Answer::Within(answer) = vcpu.answer else {
                panic!("{} has a bound", row.name)
            };
            let all = [held, service, answer];
            let sum = all.iter().sum();
            let all = all.map(time).join(" + ");
            format!("{}: {all} = {}\n", row.name, time(sum))
        })
        .collect();
    holds(
        "from-interrupts",
        &format!("```text\n{from_interrupts}```\n"),
    );

    let mut starts = String::new();
    for (one, row) in rows.iter().enumerate() {
        let from = |a: u64| {
            rounds(|length| {
                let work = rows
                    .iter()
                    .map(|other| asked(other, a + row.times.deadline).min(run(other, length)));
                let later = row.times.budget - 1;
                held + services(overheads, length) + whole(work.sum()) - later
            })
            .1
        };
        let start = (0..horizon).map(|a| from(a).saturating_sub(a + 1)).max();
        let (vcpu, start) = (&hart.vcpus[one], start.expect("some"));
        assert_eq!(vcpu.start, Some(start));
        let Answer::Within(answer) = vcpu.answer else {
            panic!("no bound");
        };
        assert_eq!(vcpu.finish_jitter(), Some(answer - row.times.budget));
        let _ = writeln!(
            starts,
            "{}: begins within {}; ends vary by {} - {} = {}",
            row.name,
            time(start),
            time(answer),
            time(row.times.budget),
            time(answer - row.times.budget)
        );
    }
    holds("starts", &format!("```text\n{starts}```\n"));

    let (text, gap) = rounds(|length| {
        let work = rows.iter().map(|row| run(row, length));
        // The first step, from nothing: what may come at once.
        blocking + services(overheads, length) + whole(work.sum())
    });
    let left = hart.best_effort.expect("reservations");
    assert_eq!(left.gap, Some(gap));
    let window = u64::from(HZ) / 100;
    let supply = |y: u64| {
        let work = rows
            .iter()
            .map(|row| row.cost as f64 + y as f64 * quotient(row.cost, row.times.period));
        y - blocking - services(overheads, y) - whole(work.sum())
    };
    let least = (window..window + 4 * service_period).map(supply).min();
    assert_eq!(Some(left.least[0]), least);
    holds(
        "best-effort",
        &format!(
            "```text\nt = {text}\nof any {} at least {}\n```\n",
            time(window),
            time(left.least[0])
        ),
    );
    let found = guarantee.sensitivity();
    let text = super::report::sensitivity(&guarantee, found.as_ref());
    holds(
        "sensitivity",
        &format!(
            "```console\n$ tactus check systems/control-loop.toml --sensitivity\n...\n{text}```\n"
        ),
    );
    let text = report(&guarantee);
    holds(
        "report",
        &format!("```console\n$ tactus check systems/control-loop.toml --report\n...\n{text}```\n"),
    );
}

#[test]
fn the_example_by_priorities_is_what_the_tool_says() {
    let text = fs::read_to_string(page()).expect("the page");
    let (_, system) = part(&text, "priority-system");
    let system = system
        .trim_start_matches("```toml\n")
        .trim_end_matches("```\n");
    let guarantee = guarantee("priorities.toml", system.to_owned());
    let (hart, overheads) = (&guarantee.harts[0], &guarantee.overheads);
    let rows = rows(hart, overheads);
    let held = held(overheads, rows.len());
    let mut answers = String::new();
    for (one, row) in rows.iter().enumerate() {
        let Reservation {
            period, deadline, ..
        } = row.times;
        // They are in order of priority.
        let before = || rows[..one].iter();
        let is_implicit = |other: &&Row| other.times.deadline == other.times.period;
        let from = |woken: u64| {
            let rest = row.cost as f64 * quotient(woken, deadline);
            rounds(|length| {
                let each = |other| run(other, length);
                let shorter = before().filter(|other| !is_implicit(other));
                let implicit = together(before().filter(is_implicit), length);
                let others = before()
                    .map(each)
                    .sum::<f64>()
                    .min(together(before(), length))
                    .min(shorter.map(each).sum::<f64>() + implicit);
                held + services(overheads, length) + row.cost + whole(rest + others)
            })
        };
        let answer = |woken: u64| {
            let release = if woken == 0 {
                0
            } else {
                woken + period - deadline
            };
            from(woken).1.saturating_sub(release)
        };
        // The first of those with the longest answer.
        let woken = (0..=deadline).rev().max_by_key(|&woken| answer(woken));
        let woken = woken.expect("some");
        let (text, _) = from(woken);
        assert_eq!(hart.vcpus[one].answer, Answer::Within(answer(woken)));
        let _ = writeln!(
            answers,
            "{}: cost {}, w = {}\n  t = {text}\n  R = {}",
            row.name,
            time(row.cost),
            time(woken),
            time(answer(woken))
        );
    }
    holds("priorities", &format!("```text\n{answers}```\n"));
}

#[test]
fn a_refusal_is_shown_as_it_is() {
    let changed = example().replace("budget = \"880us\"", "budget = \"2ms\"");
    let mut verdict = judge("systems/control-loop.toml", changed);
    verdict
        .problems
        .retain(|problem| problem.kind() == crate::problem::Code::MissesDeadline);
    assert_eq!(verdict.problems.len(), 1);
    let text = testing::render(&verdict);
    holds("refusal", &format!("```text\n{}\n```\n", text.trim_end()));
}
