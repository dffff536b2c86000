//! What admission and the analysis say of sets of reservations, one set a line, for a comparison with another
//! implementation (`planning/tests/model`).
//!
//! A line of standard input is the policy of a hart, the hypervisor's overheads, and the vCPUs of the hart, by falling
//! priority, all times in ticks:
//!
//! ```text
//! deadlines JOB BLOCKING SERVICE_PERIOD SERVICE KIND:PERIOD:BUDGET:DEADLINE ...
//! priorities JOB BLOCKING SERVICE_PERIOD SERVICE KIND:PERIOD:BUDGET:DEADLINE ...
//! ```
//!
//! with `periodic` or `server` as kind. The answer is a line with the verdict (`fits`, `overloaded`, `exceeded`,
//! `undecided`). With the argument `responses` follow the slack and the bound on the response of each vCPU if the set
//! fits; `~` before a bound says that the search for it did not end, and `-` stands for no bound. Sets by priority have
//! no slack, `-`.

use std::io::{BufWriter, Write};
use tactus_abi::blob::Overheads;
use tactus_planning::analysis::{self, Ranked, Response};
use tactus_policy::demand::Verdict;
use tactus_policy::reservation::{Kind, Reservation, Task};

/// A hart with its vCPUs.
struct Set {
    by_priority: bool,
    overheads: Overheads,
    tasks: Vec<Task>,
}

fn task(text: &str) -> Option<Task> {
    let (kind, times) = text.split_once(':')?;
    let kind = match kind {
        "periodic" => Kind::Periodic,
        "server" => Kind::Server,
        _ => return None,
    };
    let times: Vec<u64> = times.split(':').filter_map(|t| t.parse().ok()).collect();
    let [period, budget, deadline] = times[..] else {
        return None;
    };
    Some(Task {
        reservation: Reservation::new(period, budget, deadline)?,
        kind,
    })
}

fn parse(line: &str) -> Option<Set> {
    let mut words = line.split_whitespace();
    let by_priority = match words.next()? {
        "deadlines" => false,
        "priorities" => true,
        _ => return None,
    };
    let mut number = || words.next()?.parse().ok();
    let overheads = Overheads {
        job: number()?,
        blocking: number()?,
        service_period: number()?,
        service: number()?,
        release: 0,
    };
    let tasks = words.map(task).collect::<Option<_>>()?;
    Some(Set {
        by_priority,
        overheads,
        tasks,
    })
}

fn bound(response: Option<Response>) -> String {
    response.map_or("-".to_owned(), |r| {
        format!("{}{}", if r.found { "" } else { "~" }, r.ticks)
    })
}

fn by_deadline(set: &Set, responses: bool) -> String {
    let verdict = analysis::verdict(set.tasks.iter().copied(), &set.overheads);
    let mut answer = match verdict {
        Verdict::Fits => "fits",
        Verdict::Overloaded => "overloaded",
        Verdict::DemandExceeded => "exceeded",
        Verdict::Pending | Verdict::Undecided => "undecided",
    }
    .to_owned();
    if responses && verdict == Verdict::Fits {
        let slack = analysis::slack(&set.tasks, &set.overheads);
        answer += &slack.map_or(" -".to_owned(), |slack| format!(" {slack}"));
        for which in 0..set.tasks.len() {
            let response = analysis::earliest_deadline_response(&set.tasks, which, &set.overheads);
            answer = answer + " " + &bound(response);
        }
    }
    answer
}

fn by_priority(set: &Set, responses: bool) -> String {
    let ranked: Vec<Ranked> = (0..)
        .zip(&set.tasks)
        .map(|(rank, task)| Ranked::new(u8::MAX - rank, Some(*task)))
        .collect();
    let bounds: Vec<Option<Response>> = (0..ranked.len())
        .map(|which| analysis::fixed_priority_response(&ranked, which, &set.overheads))
        .collect();
    if bounds.iter().any(Option::is_none) {
        return "exceeded".to_owned();
    }
    let mut answer = "fits".to_owned();
    if responses {
        answer += " -";
        for response in bounds {
            answer = answer + " " + &bound(response);
        }
    }
    answer
}

fn main() -> std::io::Result<()> {
    let responses = std::env::args().any(|word| word == "responses");
    let mut out = BufWriter::new(std::io::stdout().lock());
    for (number, line) in (1..).zip(std::io::stdin().lines()) {
        let Some(set) = parse(&line?) else {
            eprintln!("line {number} is no set of reservations");
            std::process::exit(2);
        };
        let answer = if set.by_priority {
            by_priority(&set, responses)
        } else {
            by_deadline(&set, responses)
        };
        writeln!(out, "{answer}")?;
    }
    out.flush()
}
