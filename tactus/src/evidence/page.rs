//! The evidence as one HTML page: no script, no other file, no connection; ready for the printer.
//!
//! Every text goes through [`escaped`], so that no name of the description is ever part of the page's HTML.

use std::fmt::Write;

use tactus_abi::blob::RealTimePolicy;

use super::Evidence;
use super::campaign::Campaign;
use super::figures::FIGURES;
use crate::check::{
    Answer, Hart, Vcpu, WINDOWS_MS, kind_text, percent, report_of_tasks, time_text,
};
use crate::problem::count;
use crate::report::page::{escaped, fill, hash};

const FRAME: &str = include_str!("web/evidence.html");
const STYLE: &str = include_str!("web/evidence.css");

/// The page's body as it grows.
#[derive(Default)]
struct Body {
    html: String,
    contents: Vec<String>,
}

impl Body {
    fn section(&mut self, title: &str) {
        self.contents.push(title.to_owned());
        let number = self.contents.len();
        let _ = writeln!(
            self.html,
            "<h2 id=\"s{number}\">{number} {}</h2>",
            escaped(title)
        );
    }

    fn heading(&mut self, title: &str) {
        let _ = writeln!(self.html, "<h3>{}</h3>", escaped(title));
    }

    fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.html, "<p>{}</p>", escaped(text));
    }

    fn list(&mut self, items: &[String]) {
        self.html += "<ul>\n";
        for item in items {
            let _ = writeln!(self.html, "<li>{}</li>", escaped(item));
        }
        self.html += "</ul>\n";
    }

    /// A table; the cells of columns from `numbers` on are numbers, those of `code` are as they are written.
    fn table(&mut self, head: &[&str], numbers: usize, code: &[usize], rows: &[Vec<String>]) {
        let class = |column: usize| {
            if column >= numbers {
                " class=\"number\""
            } else {
                ""
            }
        };
        self.html += "<div class=\"scroll\"><table>\n<thead><tr>";
        for (column, cell) in head.iter().enumerate() {
            let _ = write!(self.html, "<th{}>{}</th>", class(column), escaped(cell));
        }
        self.html += "</tr></thead>\n<tbody>\n";
        for row in rows {
            self.html += "<tr>";
            for (column, cell) in row.iter().enumerate() {
                let cell = escaped(cell);
                let cell = if code.contains(&column) {
                    format!("<code>{cell}</code>")
                } else {
                    cell
                };
                let _ = write!(self.html, "<td{}>{cell}</td>", class(column));
            }
            self.html += "</tr>\n";
        }
        self.html += "</tbody>\n</table></div>\n";
    }
}

/// No column of numbers.
const NONE: usize = usize::MAX;

/// The page.
pub(super) fn html(evidence: &Evidence<'_>) -> String {
    let mut body = Body::default();
    identity(&mut body, evidence);
    guarantee(&mut body, evidence);
    sensitivity(&mut body, evidence);
    formulas(&mut body);
    overheads(&mut body, evidence);
    computed(&mut body, evidence);
    body.section("What it rests on");
    body.paragraph(
        "The figures hold under these assumptions, which this page does not show to be true.",
    );
    body.list(&evidence.assumptions);
    campaign(&mut body, evidence.campaign.as_ref(), &evidence.platform);
    body.section("The description of the system");
    let _ = writeln!(
        body.html,
        "<pre class=\"file\">{}</pre>",
        escaped(&evidence.configuration)
    );
    let contents: Vec<String> = (1..)
        .zip(&body.contents)
        .map(|(number, title)| format!("<li><a href=\"#s{number}\">{}</a></li>\n", escaped(title)))
        .collect();
    let date = evidence.date.map_or_else(String::new, |date| {
        format!("<p class=\"muted\">{}</p>\n", escaped(date))
    });
    let head = format!(
        "<h1>Evidence of guaranteed time: {}</h1>\n{date}{}<ol class=\"contents\">\n{}</ol>\n",
        escaped(&evidence.verdict.file),
        verdict(evidence),
        contents.concat()
    );
    let whole = head + &body.html;
    let policy = format!(
        "default-src 'none'; style-src '{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE)
    );
    fill(
        FRAME,
        &[("policy", &policy), ("style", STYLE), ("body", &whole)],
    )
}

/// The answer, in a sentence or two.
fn verdict(evidence: &Evidence<'_>) -> String {
    let vcpus = evidence.guarantee.harts.iter().flat_map(|hart| &hart.vcpus);
    let (mut bounded, mut without) = (0, 0);
    for vcpu in vcpus {
        match vcpu.answer {
            Answer::Within(_) => bounded += 1,
            _ => without += 1,
        }
    }
    let mut text = if bounded == 0 {
        "<p>No vCPU has a reservation: nothing is guaranteed.</p>\n".to_owned()
    } else {
        format!(
            "<p class=\"verdict good\">Accepted: {} with a reservation, each with its budget before its deadline in every period, \
             under the assumptions below.</p>\n",
            count(bounded, "real-time vCPU")
        )
    };
    if without > 0 {
        let _ = writeln!(
            text,
            "<p class=\"verdict bad\">Without a bound: {}.</p>",
            count(without, "real-time vCPU")
        );
    }
    if let Some(campaign) = &evidence.campaign {
        let findings = campaign.findings().len();
        let (class, what) = if findings == 0 {
            ("good", "every job within its bound".to_owned())
        } else {
            ("bad", count(findings, "finding"))
        };
        let _ = writeln!(
            text,
            "<p class=\"verdict {class}\">Attacked: {}, {what}.</p>",
            count(campaign.attacks(), "attack")
        );
    }
    text
}

fn identity(body: &mut Body, evidence: &Evidence<'_>) {
    body.section("What was judged");
    let commit = evidence.commit.as_ref().map_or_else(
        || "not known".to_owned(),
        |commit| {
            let changed = if commit.modified {
                ", with changes that are not committed"
            } else {
                ""
            };
            format!("{}{changed}", commit.hash)
        },
    );
    let row = |key: &str, value: &str| vec![key.to_owned(), value.to_owned()];
    body.table(
        &["what", "value"],
        NONE,
        &[],
        &[
            row("description", &evidence.verdict.file),
            row("platform", &evidence.platform),
            row("tool", &format!("tactus {}", env!("CARGO_PKG_VERSION"))),
            row("commit of the tool", &commit),
        ],
    );
    let inputs = evidence.inputs.0.iter().map(|input| {
        vec![
            input.what.clone(),
            input.name.clone().unwrap_or_default(),
            input.sha256.clone(),
        ]
    });
    body.table(
        &["input", "name", "SHA-256"],
        NONE,
        &[2],
        &inputs.collect::<Vec<_>>(),
    );
    let warnings = evidence.warnings();
    if warnings.is_empty() {
        body.paragraph("tactus check found no error and has no warning.");
    } else {
        body.paragraph("tactus check found no error. It warns:");
        body.list(&warnings);
    }
}

fn guarantee(body: &mut Body, evidence: &Evidence<'_>) {
    body.section("What is guaranteed");
    for (number, hart) in evidence.guarantee.harts.iter().enumerate() {
        let by = match hart.policy {
            RealTimePolicy::EarliestDeadline => "deadlines",
            RealTimePolicy::FixedPriority => "priorities",
        };
        body.heading(&format!("Hart {number}, by {by}"));
        if hart.vcpus.is_empty() {
            body.paragraph("Nothing is reserved.");
            continue;
        }
        of_hart(body, evidence, hart);
    }
    let inside = report_of_tasks(evidence.verdict);
    if !inside.is_empty() {
        body.heading("Tasks within the VMs, and chains");
        let _ = writeln!(body.html, "<pre>{}</pre>", escaped(inside.trim()));
    }
}

fn of_hart(body: &mut Body, evidence: &Evidence<'_>, hart: &Hart) {
    let guarantee = evidence.guarantee;
    let hz = guarantee.timebase_hz;
    let time = |ticks| time_text(ticks, hz);
    let optional = |ticks: Option<u64>| ticks.map_or_else(|| "-".to_owned(), time);
    let of = |vcpu: &Vcpu| {
        let times = vcpu.reservation;
        vec![
            vcpu.name.clone(),
            vcpu.priority.map_or_else(|| "-".into(), |p| p.to_string()),
            kind_text(vcpu.kind).to_owned(),
            optional(times.map(|times| times.period)),
            optional(times.map(|times| times.budget)),
            optional(times.map(|times| times.deadline)),
            optional(vcpu.start),
            match &vcpu.answer {
                Answer::Within(ticks) => time(*ticks),
                Answer::Late => "too late".into(),
                Answer::Unbounded(other) => format!("no bound, for {other}"),
                Answer::None => "-".into(),
            },
            optional(vcpu.finish_jitter()),
            optional(vcpu.slack),
        ]
    };
    let mut head = vec![
        "vCPU",
        "priority",
        "kind",
        "period",
        "budget",
        "deadline",
        "begins within",
        "has it within",
        "ends vary by",
        "could have more",
    ];
    let mut rows: Vec<Vec<String>> = hart.vcpus.iter().map(of).collect();
    // The column of priorities is for harts that go by them.
    if hart.policy == RealTimePolicy::EarliestDeadline {
        head.remove(1);
        for row in &mut rows {
            row.remove(1);
        }
    }
    body.table(&head, 1, &[], &rows);
    if hart.unbounded().is_some() {
        return;
    }
    let overheads = &guarantee.overheads;
    let mut rows = Vec::new();
    let mut line = |what: &str, value: String| rows.push(vec![what.to_owned(), value]);
    line("reserved", percent(hart.reserved()));
    line("with jobs' overhead", percent(hart.with_jobs(overheads)));
    line("with work for others", percent(hart.taken(overheads)));
    if let Some(window) = hart.window {
        line(
            "critical window",
            format!("{} of {}", time(window.demand), time(window.length)),
        );
    }
    if let Some(left) = hart.best_effort {
        line(
            "best effort waits at most",
            left.gap.map_or_else(|| "no bound".into(), time),
        );
        for (least, ms) in left.least.iter().zip(WINDOWS_MS) {
            line(
                &format!("best effort has at least, of any {ms} ms"),
                time(*least),
            );
        }
    }
    body.table(&["of the hart", "value"], 1, &[], &rows);
}

fn sensitivity(body: &mut Body, evidence: &Evidence<'_>) {
    body.section("How far it is from being refused");
    let time = |ticks| time_text(ticks, evidence.guarantee.timebase_hz);
    let Some(found) = evidence
        .sensitivity
        .as_ref()
        .filter(|found| found.budgets.is_some())
    else {
        body.paragraph("Nothing is reserved.");
        return;
    };
    body.paragraph("Each by one change alone, all else being as it is. vCPUs stay on the harts where they were put.");
    let mut rows = Vec::new();
    let mut line = |what: String, now: String, most: String| rows.push(vec![what, now, most]);
    let factor = |factor: f64| format!("{factor:.4}");
    if let Some(most) = found.budgets {
        line("all budgets, times".into(), "1".into(), factor(most));
    }
    for (number, most) in found.harts.iter().enumerate() {
        if let Some(most) = most {
            line(
                format!("all budgets of hart {number}, times"),
                "1".into(),
                factor(*most),
            );
        }
    }
    let (now, most) = (&evidence.guarantee.overheads, &found.overheads);
    line("overhead job".into(), time(now.job), time(most.job));
    line(
        "overhead blocking".into(),
        time(now.blocking),
        time(most.blocking),
    );
    line(
        "overhead service".into(),
        time(evidence.guarantee.service()),
        time(most.service),
    );
    if let Some(most) = found.interrupt {
        line(
            "overhead interrupt".into(),
            time(evidence.guarantee.interrupt),
            time(most),
        );
    }
    body.table(&["what", "now", "at most"], 1, &[], &rows);
    let vcpus = found.vcpus.iter().map(|vcpu| {
        let now = vcpu.reservation;
        let times = [
            now.budget,
            vcpu.budget,
            now.period,
            vcpu.period,
            now.deadline,
            vcpu.deadline,
        ];
        let mut row = vec![vcpu.name.clone()];
        row.extend(times.map(time));
        row
    });
    body.table(
        &[
            "vCPU", "budget", "at most", "period", "at least", "deadline", "at least",
        ],
        1,
        &[],
        &vcpus.collect::<Vec<_>>(),
    );
}

fn formulas(body: &mut Body) {
    body.section("Where the figures come from");
    body.paragraph(
        "All times are in whole ticks of the time CSR. Budgets and overheads are rounded up to ticks, periods and deadlines down. \
         cost = budget + job. The book is the project's documentation.",
    );
    for figure in &FIGURES {
        let _ = writeln!(
            body.html,
            "<div class=\"figure\"><h3>{}</h3><pre>{}</pre><p class=\"muted\">{}. In the book: {}</p></div>",
            escaped(figure.name),
            escaped(figure.formula),
            escaped(figure.source),
            escaped(&figure.place())
        );
    }
}

fn overheads(body: &mut Body, evidence: &Evidence<'_>) {
    body.section("The hypervisor's own time");
    body.paragraph(&format!(
        "Of the profile {}. Every figure of this page counts it in. Signals for the vCPUs of a hart interrupt at most {} in each \
         deferral period. The measured times are the longest that were seen, not proofs. All cold: the same with every cache line \
         that is touched from memory at the greatest cost.",
        evidence.platform,
        count(evidence.guarantee.interrupts as usize, "time"),
    ));
    let rows = evidence.overheads.iter().map(|one| {
        vec![
            one.key.to_owned(),
            one.what.to_owned(),
            one.stated(),
            one.measured(),
            one.margin(),
            one.cold(),
            one.how().to_owned(),
            one.when().to_owned(),
        ]
    });
    body.table(
        &[
            "overhead",
            "what",
            "counted",
            "longest measured",
            "margin",
            "all cold",
            "how",
            "when",
        ],
        NONE,
        &[],
        &rows.collect::<Vec<_>>(),
    );
}

fn computed(body: &mut Body, evidence: &Evidence<'_>) {
    body.section("What is computed of the hypervisor's program");
    let computed = match &evidence.computed {
        Ok(computed) => computed,
        Err(reason) => {
            body.paragraph(&format!("Nothing: {reason}."));
            return;
        }
    };
    body.paragraph(
        "The longest ways through the hypervisor's hot code with interrupts off, each cache line from memory. No figure of this \
         page counts them: they bound the hot code alone, and add up work that excludes each other.",
    );
    let rows: Vec<Vec<String>> = computed.rows().map(Vec::from).collect();
    body.table(
        &[
            "begun by",
            "ends with",
            "at most",
            "lines of code",
            "lines of data",
        ],
        3,
        &[],
        &rows,
    );
}

fn campaign(body: &mut Body, campaign: Option<&Campaign>, platform: &str) {
    body.section("The campaign of attacks");
    let Some(campaign) = campaign else {
        body.paragraph("None was given: no measurement stands beside the bounds.");
        return;
    };
    body.paragraph(&format!(
        "{} of {} ms on the virtual board of the profile {}, seed {}. The file is of a system with the same hashes.",
        count(campaign.runs.len(), "run"),
        campaign.ms,
        campaign.profile,
        campaign.seed
    ));
    if campaign.profile != platform {
        body.paragraph(&format!(
            "The system is described for {platform}: its bounds there were not measured. Those below are of the board."
        ));
    }
    let us = |time: Option<f64>| time.map_or_else(|| "-".to_owned(), |us| format!("{us:.1} us"));
    let rows: Vec<Vec<String>> = campaign
        .runs
        .iter()
        .flat_map(|run| {
            run.vcpus.iter().map(|watched| {
                let part = watched
                    .response_max_us
                    .zip(watched.bound_us)
                    .map(|(seen, bound)| percent(seen / bound));
                vec![
                    run.attacker.clone().unwrap_or_else(|| "-".into()),
                    run.attack.clone().unwrap_or_else(|| "(none)".into()),
                    watched.vcpu.clone(),
                    watched.jobs.to_string(),
                    us(watched.response_max_us),
                    us(watched.bound_us),
                    part.unwrap_or_else(|| "-".into()),
                    watched.late.to_string(),
                ]
            })
        })
        .collect();
    body.table(
        &[
            "hostile VM",
            "attack",
            "vCPU",
            "jobs",
            "worst job",
            "bound",
            "of it",
            "late",
        ],
        3,
        &[],
        &rows,
    );
    let findings = campaign.findings();
    if findings.is_empty() {
        body.paragraph("Nothing was found: every job within its bound.");
    } else {
        body.heading("Findings");
        body.list(&findings);
    }
}
