//! The live page of a campaign: one HTML file that is written again while the campaign goes on, and reloads itself
//! until the end.
//!
//! It needs no server, no port and no other file. Every text goes through `escaped`, and a policy in the page admits
//! its own style and script by their hashes, and no connection. The file is put in its place at once, so that a browser
//! never reads a part of it. Each page is written a second after the one before at the earliest, and a hundred times as
//! long after it as that took, so that the pages never take more than 1 % of one thread's time.

use std::collections::VecDeque;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::judge::Verdict;
use super::proportion::{CONFIDENCE, interval, upper};
use super::results::{self, bound};
use super::run::{Row, Subject};
use super::tally::{Counts, REMEMBERED, Tally};
use super::work::{Done, head};
use crate::columns::Output;
use crate::problem::count;
use crate::report::page::{escaped, fill, hash};
use crate::sweep::work::{duration, rate_text};

const FRAME: &str = include_str!("web/live.html");
const STYLE: &str = include_str!("web/live.css");
const SCRIPT: &str = include_str!("web/live.js");

/// To the page's sections.
const LINKS: &str = "<nav><a href=\"#s1\">Verdicts</a> <a href=\"#s2\">Worst runs</a> <a href=\"#s3\">Workers</a> \
    <a href=\"#s4\">The campaign</a></nav>\n";

/// The shortest time between two pages.
const PERIOD: Duration = Duration::from_secs(1);
/// The time between two pages is at least so many times what a page takes.
const SHARE: u32 = 100;
/// How long ago the recent rate begins.
const RECENT: Duration = Duration::from_secs(60);
/// Where fewer runs than this have escaped or hung, others that have changed something are shown as well.
const WORST: usize = 10;
/// Workers that are listed.
const WORKERS_MAX: usize = 200;
/// Bytes of the campaign's file that are shown.
const FILE_MAX: usize = 64 << 10;
/// Bytes of a text of a run.
const TEXT_MAX: usize = 1000;

/// Why a campaign has ended that was interrupted.
pub const ENDED: &str = "it was interrupted; the same command goes on with the other runs.";

/// What is the same on all pages of a campaign.
#[derive(Clone, Debug)]
pub struct About {
    /// What the description is called; its file's path where it is one.
    pub name: String,
    /// What carries out one run alone: the text before its number, and the text behind it.
    pub reproduce: (String, String),
    /// The results' file.
    pub results: Option<String>,
    /// The file of runs that are done.
    pub kept: Option<String>,
    /// The description's text.
    pub text: String,
    /// What everything random is made of.
    pub seed: u64,
    /// All runs.
    pub runs: usize,
    /// The kinds of faults, by name.
    pub kinds: Vec<String>,
    /// The tool's version, and a hash of what the runs follow from.
    pub identity: String,
    /// The directory that paths are relative to.
    pub directory: Option<String>,
}

impl About {
    /// Of a campaign that is called `name`, with what carries out one run alone, and the results' file.
    pub fn of(
        subject: &Subject,
        name: &str,
        reproduce: (String, String),
        done: &Done,
        results: Option<&Path>,
    ) -> Self {
        let campaign = subject.campaign();
        let shown = |path: &Path| path.display().to_string();
        Self {
            name: name.to_owned(),
            reproduce,
            results: results.map(shown),
            kept: done.path().map(shown),
            text: campaign.text.clone(),
            seed: campaign.seed,
            runs: campaign.runs as usize,
            kinds: results::kinds(campaign),
            identity: head(subject),
            directory: std::env::current_dir().ok().map(|path| shown(&path)),
        }
    }
}

/// What the runs that are done have found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    tally: Tally,
    worst: Vec<Row>,
}

impl Found {
    /// Of these runs: a copy of little, made while no run can be added.
    pub fn of(done: &Done) -> Self {
        let tally = done.tally().clone();
        let rows = |verdict| {
            let runs = tally.first(verdict);
            runs.filter_map(|run| done.row(run).cloned())
        };
        // Many hangs leave room for runs that escaped.
        let mut worst: Vec<Row> = rows(Verdict::Hang).take(REMEMBERED / 2).collect();
        let room = REMEMBERED - worst.len();
        worst.extend(rows(Verdict::Escaped).take(room));
        let others = WORST.saturating_sub(worst.len());
        let less = rows(Verdict::Contained).chain(rows(Verdict::Detected));
        worst.extend(less.take(others).collect::<Vec<_>>());
        Self { tally, worst }
    }
}

/// What carries runs out, as the page has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worker {
    /// Its name: an address, or a thread's number.
    pub name: String,
    /// What is known of it, such as `connected`.
    pub state: String,
    /// Runs that it has carried out in this call.
    pub runs: usize,
}

impl Worker {
    /// The threads of this process, each with how many runs it has carried out.
    pub fn threads(runs: &[usize]) -> Vec<Self> {
        let thread = |(number, &runs): (usize, &usize)| Self {
            name: format!("thread {}", number + 1),
            state: "of this process".to_owned(),
            runs,
        };
        runs.iter().enumerate().map(thread).collect()
    }
}

/// Whether the campaign goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It does.
    Going,
    /// All runs are done.
    Done,
    /// It has ended before, and why.
    Ended(String),
}

/// How the campaign is at a moment.
#[derive(Debug)]
struct View<'p> {
    state: &'p State,
    found: &'p Found,
    workers: &'p [Worker],
    taken_back: usize,
    /// Runs that were done before this call.
    before: usize,
    elapsed: Duration,
    /// Runs a second of late.
    recent: Option<f64>,
    written: SystemTime,
}

/// The page of a campaign that goes on.
#[derive(Debug)]
pub struct Page {
    path: PathBuf,
    option: &'static str,
    about: About,
    begun: Instant,
    before: usize,
    /// How many runs were done when, of late.
    samples: VecDeque<(Instant, usize)>,
    workers: Vec<Worker>,
    taken_back: usize,
    next: Instant,
}

impl Page {
    /// Writes the first page. `option`: what names its path.
    ///
    /// # Errors
    /// No file can be written there.
    pub fn begin(
        path: &Path,
        option: &'static str,
        about: About,
        done: &Done,
    ) -> miette::Result<Self> {
        let now = Instant::now();
        let mut page = Self {
            path: path.to_owned(),
            option,
            about,
            begun: now,
            before: done.len(),
            samples: VecDeque::from([(now, done.len())]),
            workers: Vec::new(),
            taken_back: 0,
            next: now,
        };
        page.write(&State::Going, &Found::of(done))?;
        Ok(page)
    }

    /// Whether it is time for the next page.
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// Writes the next page. Where that is not possible the page stays as it is, and the campaign goes on.
    pub fn update(&mut self, found: &Found) {
        // The last page says it, if that cannot be written either.
        let _ = self.write(&State::Going, found);
    }

    /// What the next page says of workers, and of how many chunks of runs were given to another one.
    pub fn tell(&mut self, workers: Vec<Worker>, taken_back: usize) {
        self.workers = workers;
        self.taken_back = taken_back;
    }

    /// Writes the last page, which does not reload itself.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn end(mut self, state: &State, found: &Found) -> miette::Result<()> {
        self.write(state, found)
    }

    fn write(&mut self, state: &State, found: &Found) -> miette::Result<()> {
        let now = Instant::now();
        self.samples.push_back((now, found.tally.all().runs()));
        // The first one is the last that is old enough.
        let is_old = |at: &(Instant, usize)| now.duration_since(at.0) >= RECENT;
        while self.samples.get(1).is_some_and(is_old) {
            self.samples.pop_front();
        }
        let view = View {
            state,
            found,
            workers: &self.workers,
            taken_back: self.taken_back,
            before: self.before,
            elapsed: now.duration_since(self.begun),
            recent: recent(&self.samples),
            written: SystemTime::now(),
        };
        let html = html(&self.about, &view);
        let written = Output::prepare(&self.path, self.option)
            .and_then(|output| output.write(html.as_bytes()));
        self.next = now + PERIOD.max(now.elapsed() * SHARE);
        written
    }
}

/// Runs a second from the first of these samples to the last.
fn recent(samples: &VecDeque<(Instant, usize)>) -> Option<f64> {
    let ((from, before), (to, after)) = (samples.front()?, samples.back()?);
    let seconds = to.duration_since(*from).as_secs_f64();
    let runs = after.checked_sub(*before)?;
    (seconds >= PERIOD.as_secs_f64()).then(|| runs as f64 / seconds)
}

/// A page.
fn html(about: &About, view: &View<'_>) -> String {
    let is_going = *view.state == State::Going;
    let all = view.found.tally.all();
    let mut body = String::new();
    top(&mut body, about, view, &all);
    verdicts(&mut body, about, view, &all);
    worst(&mut body, about, view, &all);
    workers(&mut body, view);
    campaign(&mut body, about, view);
    let script = if is_going { SCRIPT } else { "" };
    let mut policy = format!("default-src 'none'; style-src '{}'", hash(STYLE));
    if is_going {
        let _ = write!(policy, "; script-src '{}'", hash(script));
    }
    policy += "; base-uri 'none'; form-action 'none'";
    let written = view.written.duration_since(UNIX_EPOCH).unwrap_or_default();
    let root = format!("data-written=\"{}\"", written.as_millis());
    let how_far = match view.state {
        State::Going => percent(all.runs(), about.runs),
        State::Done => "done".to_owned(),
        State::Ended(_) => "ended".to_owned(),
    };
    let title = escaped(&format!("{how_far}: {}", about.name));
    let (refresh, script) = if is_going {
        (
            "<noscript><meta http-equiv=\"refresh\" content=\"2\"></noscript>\n",
            format!("<script>{script}</script>\n"),
        )
    } else {
        ("", String::new())
    };
    fill(
        FRAME,
        &[
            ("root", &root),
            ("policy", &policy),
            ("refresh", refresh),
            ("title", &title),
            ("style", STYLE),
            ("body", &body),
            ("script", &script),
        ],
    )
}

/// Name, state, bar and figures.
fn top(body: &mut String, about: &About, view: &View<'_>, all: &Counts) {
    let (class, state) = match view.state {
        State::Going => ("", "going on"),
        State::Done => ("good", "all runs are done"),
        State::Ended(_) => ("bad", "ended"),
    };
    let _ = writeln!(
        body,
        "<div class=\"title\"><h1>Campaign {}</h1><span class=\"pill {class}\" id=\"state\">{state}</span></div>",
        escaped(&about.name)
    );
    let written = utc(view.written);
    let news = match view.state {
        State::Going => format!("Written {written}; the page reloads itself."),
        State::Done => format!("Ended {written}."),
        State::Ended(reason) => format!("Ended {written}: {reason}"),
    };
    let _ = writeln!(
        body,
        "<div class=\"news\"><p id=\"news\">{}</p>{}</div>",
        escaped(&news),
        if *view.state == State::Going {
            "<button id=\"stop\" hidden>Hold</button>"
        } else {
            ""
        }
    );
    body.push_str(LINKS);
    bar(body, about, all);
    let done = all.runs();
    let new = done.saturating_sub(view.before);
    let left = about.runs.saturating_sub(done);
    let seconds = view.elapsed.as_secs_f64();
    let rate = (new > 0 && seconds > 0.0).then(|| new as f64 / seconds);
    let unknown = || "\u{2013}".to_owned();
    body.push_str("<dl class=\"facts\">\n");
    let mut fact = |name: &str, id: &str, value: &str, note: &str, class: &str| {
        let note = match note {
            "" => String::new(),
            note => format!("<small>{}</small>", escaped(note)),
        };
        let _ = writeln!(
            body,
            "<div class=\"fact{class}\"><dt>{name}</dt><dd id=\"{id}\">{}{note}</dd></div>",
            escaped(value)
        );
    };
    let before = match view.before {
        0 => String::new(),
        before => format!(", {} of them before", grouped(before)),
    };
    fact(
        "Runs done",
        "done",
        &format!("{} of {}", grouped(done), grouped(about.runs)),
        &format!("{}{before}", percent(done, about.runs)),
        "",
    );
    // In the first minute it is the same.
    let is_long = view.elapsed > RECENT && *view.state == State::Going;
    let of_late = view.recent.filter(|_| is_long);
    fact(
        "Runs a second",
        "rate",
        &rate.map_or_else(unknown, rate_text),
        &of_late.map_or_else(String::new, |recent| {
            format!("{} in the last minute", rate_text(recent))
        }),
        "",
    );
    let took = format!("{} so far", duration(seconds));
    match (view.state, rate) {
        (State::Going, Some(rate)) => {
            fact(
                "Time left",
                "left",
                &duration(left as f64 / rate),
                &took,
                "",
            );
        }
        (State::Going, None) => {
            let note = "workers first come to the window";
            fact("Time left", "left", &unknown(), note, "");
        }
        _ => fact("Time", "left", &duration(seconds), "", ""),
    }
    let class = if all.bad() > 0 { " bad" } else { "" };
    let note = if all.placed() > 0 {
        let most = upper(all.bad(), all.placed(), CONFIDENCE);
        format!(
            "< {:.3} % of all such faults ({:.0} %)",
            100.0 * most,
            100.0 * CONFIDENCE
        )
    } else {
        String::new()
    };
    let value = format!("{} of {}", grouped(all.bad()), grouped(all.placed()));
    fact("Escaped or hung", "bad", &value, &note, class);
    body.push_str("</dl>\n");
}

/// A verdict as a class of the style.
fn class(verdict: Verdict) -> String {
    verdict.words().replace(' ', "-")
}

/// The runs that are done, by verdict, as parts of all.
fn bar(body: &mut String, about: &About, all: &Counts) {
    let whole = about.runs.max(1) as f64;
    let mut at = 0.0;
    let mut parts = String::new();
    let mut legend = String::new();
    for verdict in Verdict::ALL {
        let runs = all.of(verdict);
        if runs == 0 {
            continue;
        }
        let width = 1000.0 * runs as f64 / whole;
        let words = verdict.words();
        let _ = write!(
            parts,
            "<rect class=\"{}\" x=\"{at:.3}\" y=\"0\" width=\"{width:.3}\" height=\"10\"/>",
            class(verdict)
        );
        at += width;
        let _ = write!(
            legend,
            "<li><span class=\"box {}\"></span>{words} {}</li>",
            class(verdict),
            grouped(runs)
        );
    }
    let open = about.runs.saturating_sub(all.runs());
    if open > 0 {
        let _ = write!(
            legend,
            "<li><span class=\"box open\"></span>not done {}</li>",
            grouped(open)
        );
    }
    let _ = writeln!(
        body,
        "<svg class=\"bar\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{} of {} runs\">\
         {parts}</svg>\n<ul class=\"legend\">{legend}</ul>",
        all.runs(),
        about.runs
    );
}

/// The beginning of a table. Columns of `texts` are texts.
fn table(body: &mut String, id: &str, head: &[&str], texts: &[usize]) {
    let _ = write!(
        body,
        "<div class=\"scroll\"><table id=\"{id}\">\n<thead><tr>"
    );
    for (column, cell) in head.iter().enumerate() {
        let class = if texts.contains(&column) {
            " class=\"text\""
        } else {
            ""
        };
        let _ = write!(body, "<th{class}>{}</th>", escaped(cell));
    }
    body.push_str("</tr></thead>\n<tbody>\n");
}

fn end_table(body: &mut String) {
    body.push_str("</tbody>\n</table></div>\n");
}

fn verdicts(body: &mut String, about: &About, view: &View<'_>, all: &Counts) {
    body.push_str("<h2 id=\"s1\">Verdicts</h2>\n");
    let mut head = vec!["fault"];
    head.extend(Verdict::ALL.map(Verdict::words));
    head.extend(["runs", "escapes or hangs, less than"]);
    table(body, "verdicts", &head, &[0]);
    for (name, counts) in results::counts(&about.kinds, &view.found.tally) {
        let _ = write!(body, "<tr><td class=\"text\">{}</td>", escaped(&name));
        for verdict in Verdict::ALL {
            let runs = counts.of(verdict);
            let class = if verdict.is_bad() && runs > 0 {
                " class=\"bad\""
            } else {
                ""
            };
            let _ = write!(body, "<td{class}>{}</td>", grouped(runs));
        }
        let most = if counts.placed() > 0 {
            let most = upper(counts.bad(), counts.placed(), CONFIDENCE);
            format!("{:.3} %", 100.0 * most)
        } else {
            "\u{2013}".to_owned()
        };
        let _ = writeln!(
            body,
            "<td>{}</td><td>{most}</td></tr>",
            grouped(counts.runs())
        );
    }
    if all.runs() > 0 {
        body.push_str("<tr class=\"dim\"><td class=\"text\">of all runs</td>");
        for verdict in Verdict::ALL {
            let _ = write!(body, "<td>{}</td>", percent(all.of(verdict), all.runs()));
        }
        body.push_str(
            "<td></td><td></td></tr>\n<tr class=\"dim\"><td class=\"text\">95 % interval</td>",
        );
        for verdict in Verdict::ALL {
            let (low, high) = interval(all.of(verdict), all.runs(), CONFIDENCE);
            let _ = write!(body, "<td>{:.2}–{:.2} %</td>", 100.0 * low, 100.0 * high);
        }
        body.push_str("<td></td><td></td></tr>\n");
    }
    end_table(body);
    if let Some(bound) = bound(all) {
        let _ = writeln!(
            body,
            "<p class=\"note\" id=\"bound\">{}</p>",
            escaped(&bound)
        );
    }
    if *view.state != State::Done {
        body.push_str(
            "<p class=\"note\">Preliminary until all runs are done: of the runs that a worker has, those whose faults are early \
             in the window end first.</p>\n",
        );
    }
    body.push_str(
        "<p class=\"note\">Bounds and intervals are those of Clopper and Pearson. The bounds are one-sided, 95 %, and leave out \
         faults that were not placed.</p>\n",
    );
}

fn worst(body: &mut String, about: &About, view: &View<'_>, all: &Counts) {
    body.push_str("<h2 id=\"s2\">Worst runs</h2>\n");
    let rows = &view.found.worst;
    if all.bad() == 0 {
        let text = match view.state {
            State::Going => "So far no fault has escaped, and nothing has hung.",
            _ => "No fault has escaped, and nothing has hung.",
        };
        let more = if rows.is_empty() {
            ""
        } else {
            " These have changed a VM that they may change:"
        };
        let _ = writeln!(body, "<p class=\"note\">{text}{more}</p>");
    }
    if rows.is_empty() {
        return;
    }
    table(
        body,
        "worst",
        &[
            "run",
            "verdict",
            "fault, what came of it, and how to see it again",
        ],
        &[1, 2],
    );
    let (before, behind) = &about.reproduce;
    for row in rows {
        let class = if row.verdict.is_bad() { " bad" } else { "" };
        let ms = row.at as f64 / 1e12;
        let _ = write!(
            body,
            "<tr><td>{}</td><td class=\"text{class}\">{}</td><td class=\"wide\">{}, {ms:.6} ms after reset: {}",
            row.run,
            row.verdict.words(),
            escaped(&row.fault),
            escaped(cut(&row.what))
        );
        if !row.reasons.is_empty() {
            let reasons = row.reasons.join("; ");
            let _ = write!(
                body,
                "<br><span class=\"dim\">{}</span>",
                escaped(cut(&reasons))
            );
        }
        let command = format!("{before}{}{behind}", row.run);
        let _ = writeln!(
            body,
            "<code class=\"command\">{}</code></td></tr>",
            escaped(&command)
        );
    }
    end_table(body);
    let shown = rows.iter().filter(|row| row.verdict.is_bad()).count();
    if all.bad() > shown {
        let _ = writeln!(
            body,
            "<p class=\"note\">And {} more that escaped or hung: the results have all.</p>",
            grouped(all.bad() - shown)
        );
    }
}

fn workers(body: &mut String, view: &View<'_>) {
    body.push_str("<h2 id=\"s3\">Workers</h2>\n");
    if view.workers.is_empty() {
        body.push_str("<p class=\"note\">None yet.</p>\n");
        return;
    }
    table(body, "workers", &["worker", "state", "runs"], &[0, 1]);
    for worker in view.workers.iter().take(WORKERS_MAX) {
        let _ = writeln!(
            body,
            "<tr><td class=\"text\">{}</td><td class=\"wide\">{}</td><td>{}</td></tr>",
            escaped(cut(&worker.name)),
            escaped(cut(&worker.state)),
            grouped(worker.runs)
        );
    }
    end_table(body);
    if view.workers.len() > WORKERS_MAX {
        let more = count(view.workers.len() - WORKERS_MAX, "more worker");
        let _ = writeln!(body, "<p class=\"note\">And {more}.</p>");
    }
    let carried_out: usize = view.workers.iter().map(|worker| worker.runs).sum();
    if carried_out > view.found.tally.all().runs().saturating_sub(view.before) {
        body.push_str(
            "<p class=\"note\">Runs that were carried out twice count twice here: to compare workers, or in place of those \
             of a worker that is wrong.</p>\n",
        );
    }
    if view.taken_back > 0 {
        let chunks = count(view.taken_back, "chunk");
        let were = if view.taken_back == 1 { "was" } else { "were" };
        let _ = writeln!(
            body,
            "<p class=\"note\" id=\"taken-back\">{chunks} of runs {were} taken back, and given to other workers.</p>"
        );
    }
}

fn campaign(body: &mut String, about: &About, view: &View<'_>) {
    body.push_str("<h2 id=\"s4\">The campaign</h2>\n<dl class=\"plain\">\n");
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(body, "<dt>{name}</dt><dd>{}</dd>", escaped(value));
    };
    line("file", &about.name);
    if let Some(directory) = &about.directory {
        line("directory", directory);
    }
    line("seed", &about.seed.to_string());
    line("runs", &grouped(about.runs));
    let begun = view.written.checked_sub(view.elapsed);
    line("begun", &begun.map_or_else(String::new, utc));
    if view.before > 0 {
        let runs = count(view.before, "run");
        let were = if view.before == 1 { "was" } else { "were" };
        line(
            "goes on",
            &format!("{runs} {were} done before it began this time"),
        );
    }
    match (view.state, &about.kept) {
        (State::Done, _) => {}
        (_, Some(kept)) => line(
            "kept in",
            &format!("{kept}; if the campaign is ended, the same command goes on from there"),
        ),
        (_, None) => line("kept in", "memory alone: what is ended begins again"),
    }
    if let Some(results) = &about.results {
        let when = if *view.state == State::Done {
            ""
        } else {
            ", at the end"
        };
        line("results", &format!("{results}{when}"));
    }
    line("made by", &about.identity);
    body.push_str("</dl>\n");
    let text = &about.text[..about.text.floor_char_boundary(FILE_MAX)];
    let _ = writeln!(body, "<pre>{}</pre>", escaped(text.trim_end()));
}

/// The start of a text.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_MAX)]
}

/// A number with its thousands set apart.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A part of a whole. Less than all is never shown as all, and more than none never as none.
fn percent(part: usize, whole: usize) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    if part > 0 && percent < 0.1 {
        return "< 0.1 %".to_owned();
    }
    if part < whole && percent > 99.9 {
        return "> 99.9 %".to_owned();
    }
    format!("{percent:.1} %")
}

/// A time in words, such as `2026-11-28 14:42:23 UTC`.
fn utc(time: SystemTime) -> String {
    let seconds = time
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days of years that begin in March; 400 years have 146,097 days.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!(
        "{year}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::row;
    use super::*;

    /// Texts that try to insert a script or an element, or to mislead the reader.
    const HOSTILE: [&str; 5] = [
        "</pre></script><script>window.broken=1</script>",
        "<img src=x onerror=window.broken=2>",
        "\"'><svg onload=window.broken=3>",
        "%%body%%%%policy%%&lt;b&gt;",
        "\u{202e}txet\u{1b}[31m\u{0}",
    ];

    fn about() -> About {
        About {
            name: "made up.toml".to_owned(),
            reproduce: (
                results::look_closer(Path::new("made up.toml"), 7),
                String::new(),
            ),
            results: Some("made-up.parquet".to_owned()),
            kept: Some("made-up.part".to_owned()),
            text: "[[fault]]\nmemory = { vm = \"a\" }\n".to_owned(),
            seed: 7,
            runs: 2000,
            kinds: vec!["memory of a".to_owned(), "registers of a".to_owned()],
            identity: "tactus faults 0.1.0 00".to_owned(),
            directory: None,
        }
    }

    fn done(rows: impl IntoIterator<Item = Row>) -> Done {
        let mut done = Done::nothing();
        for row in rows {
            done.take(row).expect("it is kept in memory");
        }
        done
    }

    /// 1,000 runs, of which run 400 hung and runs 300 and 301 escaped.
    fn found() -> Found {
        Found::of(&done((0..1000).map(|run| {
            let kind = ["memory of a", "registers of a"][run as usize % 2];
            match run {
                400 => row(run, kind, Verdict::Hang),
                300 | 301 => row(run, kind, Verdict::Escaped),
                350..360 => row(run, kind, Verdict::Contained),
                _ => row(run, kind, Verdict::Masked),
            }
        })))
    }

    fn view<'p>(state: &'p State, found: &'p Found, workers: &'p [Worker]) -> View<'p> {
        View {
            state,
            found,
            workers,
            taken_back: 0,
            before: 200,
            elapsed: Duration::from_secs(400),
            recent: Some(2.5),
            written: UNIX_EPOCH + Duration::from_millis(1_795_877_000_250),
        }
    }

    /// What is in the element of an id.
    fn element<'h>(html: &'h str, id: &str) -> &'h str {
        let begin = html.find(&format!("id=\"{id}\"")).expect("it is there");
        let text = &html[begin..];
        let text = &text[text.find('>').expect("it is closed") + 1..];
        text.split('<').next().unwrap_or_default()
    }

    #[test]
    fn a_campaign_that_goes_on_says_how_far_and_how_fast() {
        let found = found();
        let workers = Worker::threads(&[500, 300]);
        let html = html(&about(), &view(&State::Going, &found, &workers));
        assert_eq!(element(&html, "state"), "going on");
        assert_eq!(element(&html, "done"), "1,000 of 2,000");
        // 800 of them in 400 s.
        assert_eq!(element(&html, "rate"), "2.0");
        assert!(html.contains("2.5 in the last minute"));
        assert_eq!(element(&html, "left"), "9 min");
        assert_eq!(element(&html, "bad"), "3 of 1,000");
        assert!(html.contains("50.0 %, 200 of them before"));
        assert!(html.contains("200 runs were done before it began this time"));
        assert!(html.contains("made-up.part; if the campaign is ended, the same command goes on"));
        assert!(html.contains("<title>50.0 %: made up.toml</title>"));
        assert!(html.contains("Written 2026-11-28 14:43:20 UTC"));
        assert!(html.contains("data-written=\"1795877000250\""));
        assert!(html.contains("thread 2</td><td class=\"wide\">of this process</td><td>300<"));
        assert!(html.contains("location.reload()") && html.contains("http-equiv=\"refresh\""));
        assert!(html.contains(&format!("script-src '{}'", hash(SCRIPT))));
    }

    #[test]
    fn what_the_table_says_the_page_says() {
        let found = found();
        let html = html(&about(), &view(&State::Done, &found, &[]));
        let said = bound(&found.tally.all()).expect("faults have happened");
        assert!(said.starts_with("Escaped or hung: 3 of 1000; of all such faults less than 0.77"));
        assert_eq!(element(&html, "bound"), said);
        for line in [
            "memory of a</td><td>493</td><td>0</td><td>5</td><td class=\"bad\">1</td><td class=\"bad\">1</td><td>0</td><td>500</td>",
            "registers of a</td><td>494</td><td>0</td><td>5</td><td class=\"bad\">1</td><td>0</td><td>0</td><td>500</td>",
            "all</td><td>987</td><td>0</td><td>10</td><td class=\"bad\">2</td><td class=\"bad\">1</td><td>0</td><td>1,000</td>",
            // Of a table: 987 of 1000, two-sided 95 %.
            "<td>97.79–99.31 %</td>",
        ] {
            assert!(html.contains(line), "{line}: {html}");
        }
    }

    #[test]
    fn the_worst_runs_come_first_each_with_its_command() {
        let found = found();
        let runs: Vec<u32> = found.worst.iter().map(|row| row.run).collect();
        assert_eq!(runs, [400, 300, 301, 350, 351, 352, 353, 354, 355, 356]);
        let html = html(&about(), &view(&State::Going, &found, &[]));
        let command = "tactus faults &#39;made up.toml&#39; --seed 7 --run 400</code>";
        assert!(html.contains(command), "{html}");
        let all_bad = Found::of(&done((0..1000).map(|run| row(run, "a", Verdict::Escaped))));
        assert_eq!(all_bad.worst.len(), REMEMBERED);
        let html = self::html(&about(), &view(&State::Going, &all_bad, &[]));
        assert!(html.contains("And 980 more that escaped or hung"));
        let none = Found::default();
        let html = self::html(&about(), &view(&State::Going, &none, &[]));
        assert!(
            html.contains("So far no fault has escaped") && !html.contains("class=\"command\"")
        );
        assert!(html.contains("workers first come to the window"));
    }

    #[test]
    fn the_last_page_stays_as_it_is() {
        let found = found();
        for (state, words) in [
            (State::Done, "all runs are done"),
            (State::Ended("<why>".to_owned()), "ended"),
        ] {
            let html = html(&about(), &view(&state, &found, &[]));
            assert_eq!(element(&html, "state"), words);
            for reloads in ["<script", "http-equiv=\"refresh\"", "script-src"] {
                assert!(!html.contains(reloads), "{reloads}");
            }
        }
        let ended = State::Ended("<why>".to_owned());
        let html = html(&about(), &view(&ended, &found, &[]));
        assert!(html.contains("UTC: &lt;why&gt;</p>"));
        assert!(html.contains("the same command goes on from there"));
    }

    #[test]
    fn no_text_is_part_of_the_pages_html() {
        let rows = HOSTILE.iter().zip(0..).map(|(text, run)| Row {
            fault: (*text).to_owned(),
            what: (*text).to_owned(),
            reasons: vec![(*text).to_owned()],
            changed: vec![(*text).to_owned()],
            ..row(run, "", Verdict::Escaped)
        });
        let found = Found::of(&done(rows));
        for text in HOSTILE {
            let about = About {
                name: text.to_owned(),
                reproduce: results_of(text),
                results: Some(text.to_owned()),
                kept: Some(text.to_owned()),
                text: text.to_owned(),
                kinds: HOSTILE.map(str::to_owned).to_vec(),
                identity: text.to_owned(),
                directory: Some(text.to_owned()),
                ..about()
            };
            let worker = Worker {
                name: text.to_owned(),
                state: text.to_owned(),
                runs: 1,
            };
            let state = State::Ended(text.to_owned());
            let html = html(&about, &view(&state, &found, &[worker]));
            for element in ["<script", "<img", "<svg onload"] {
                assert!(!html.contains(element), "{element}");
            }
            for hidden in ['\u{202e}', '\u{1b}', '\u{0}'] {
                assert!(!html.contains(hidden));
            }
            assert!(html.contains(&escaped(text)));
            // Its own marks are filled once, and what is filled in is never searched.
            assert_eq!(html.matches("<main>").count(), 1);
        }
    }

    fn results_of(text: &str) -> (String, String) {
        (results::look_closer(Path::new(text), 1), text.to_owned())
    }

    #[test]
    fn long_texts_are_cut_and_many_workers_counted() {
        let found = Found::of(&done([Row {
            reasons: vec!["\u{e9}".repeat(TEXT_MAX)],
            ..row(1, "a", Verdict::Escaped)
        }]));
        let workers = Worker::threads(&[1; WORKERS_MAX + 3]);
        let html = html(
            &About {
                text: "#".repeat(10 * FILE_MAX),
                ..about()
            },
            &view(&State::Going, &found, &workers),
        );
        assert!(html.len() < 2 * FILE_MAX, "{}", html.len());
        assert!(html.contains("And 3 more workers."));
    }

    #[test]
    fn a_page_is_written_at_once_and_rarely() {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let path = directory.path().join("page.html");
        let read = || std::fs::read_to_string(&path).expect("it is there");
        let done = done([row(0, "memory of a", Verdict::Masked)]);
        let mut page = Page::begin(&path, "--page", about(), &done).expect("it can be written");
        assert!(!page.is_due(), "just written");
        assert_eq!(element(&read(), "done"), "1 of 2,000");
        page.tell(Worker::threads(&[999]), 2);
        page.update(&found());
        assert!(!page.is_due(), "just written");
        assert!(read().contains("2 chunks of runs were taken back"));
        assert!(page.next >= page.begun + PERIOD);
        page.end(&State::Done, &found()).expect("it can be written");
        assert!(read().contains("all runs are done") && read().contains("thread 1"));
        // Nothing else is left in the directory.
        let files = std::fs::read_dir(directory.path()).expect("it can be read");
        assert_eq!(files.count(), 1);
        let nowhere = directory.path().join("none/page.html");
        let error = Page::begin(&nowhere, "--page", about(), &done).expect_err("no directory");
        assert!(error.to_string().starts_with("--page "), "{error}");
    }

    #[test]
    fn a_page_that_cannot_be_written_later_does_not_end_the_campaign() {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let path = directory.path().join("there/page.html");
        std::fs::create_dir(path.with_file_name("")).expect("it can be made");
        let mut page =
            Page::begin(&path, "--page", about(), &Done::nothing()).expect("it is there");
        std::fs::remove_dir_all(path.with_file_name("")).expect("it can be removed");
        page.update(&found());
        assert!(page.end(&State::Done, &found()).is_err());
    }

    #[test]
    fn the_recent_rate_is_of_the_last_minute() {
        let now = Instant::now();
        let at = |seconds, runs| (now + Duration::from_secs(seconds), runs);
        let rate = recent(&VecDeque::from([at(0, 100), at(60, 400)]));
        assert!((rate.expect("there are two") - 5.0).abs() < 1e-9);
        assert_eq!(recent(&VecDeque::from([at(0, 100)])), None);
        // Runs of a worker that is wrong were thrown away.
        assert_eq!(recent(&VecDeque::from([at(0, 100), at(9, 90)])), None);
    }

    #[test]
    fn texts_of_figures() {
        let at = |seconds| utc(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(at(951_782_399), "2000-02-28 23:59:59 UTC");
        assert_eq!(at(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(at(1_735_689_599), "2024-12-31 23:59:59 UTC");
        assert_eq!(at(4_107_542_400), "2100-03-01 00:00:00 UTC");
        assert_eq!(
            [grouped(0), grouped(999), grouped(1_234_567)],
            ["0", "999", "1,234,567"]
        );
        assert_eq!(percent(0, 10), "0.0 %");
        assert_eq!(percent(1, 10_000), "< 0.1 %");
        assert_eq!(percent(9_999, 10_000), "> 99.9 %");
        assert_eq!(percent(10, 10), "100.0 %");
    }
}
