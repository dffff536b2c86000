//! What attacks have shown, as tables and as JSON.

use serde_json::{Value, json};

use crate::check::{row, table};
use crate::evidence::Inputs;
use crate::run::board::jobs::Summary;

use super::catalog::ATTACKS;
use super::verdict::{Finding, Watched};

/// A run that is over.
#[derive(Debug)]
pub struct Done {
    /// VM and attack; `None`: the system as it is.
    pub attack: Option<(String, &'static str)>,
    /// The jobs of each vCPU.
    pub jobs: Vec<(Watched, Summary)>,
    /// What must not be.
    pub findings: Vec<Finding>,
    /// The command that repeats it alone.
    pub again: String,
}

/// Everything that was run.
#[derive(Debug)]
pub struct Report {
    /// The system's file.
    pub system: String,
    /// What it is made of.
    pub inputs: Inputs,
    /// The board's profile.
    pub profile: String,
    /// The harts' clock.
    pub clock_hz: u64,
    /// The seed.
    pub seed: u64,
    /// Virtual time of each run in milliseconds.
    pub ms: u64,
    /// The runs, the one without an attack first.
    pub runs: Vec<Done>,
}

impl Report {
    /// Cycles as a time.
    pub fn time(&self, cycles: u64) -> String {
        let us = self.us(cycles);
        if us < 1000.0 {
            format!("{us:.1} us")
        } else {
            format!("{:.3} ms", us / 1000.0)
        }
    }

    fn us(&self, cycles: u64) -> f64 {
        cycles as f64 * 1e6 / self.clock_hz as f64
    }

    /// The longest response, if there was a job.
    fn response(&self, seen: &Summary) -> String {
        match seen.jobs {
            0 => "-".to_owned(),
            _ => self.time(seen.response_max),
        }
    }

    /// The bound of a vCPU, if one is stated.
    fn bound(&self, vcpu: &Watched) -> String {
        let time = |bound| self.time(bound);
        vcpu.bound.map_or_else(|| "-".to_owned(), time)
    }

    /// The findings of all runs.
    pub fn findings(&self) -> usize {
        self.runs.iter().map(|run| run.findings.len()).sum()
    }

    /// What the runs are made of.
    pub fn title(&self) -> String {
        format!(
            "{} on {}: {} ms of each run, seed {}\n",
            self.system, self.profile, self.ms, self.seed
        )
    }

    /// The cells of one run's rows: hostile VM, attack, vCPU, jobs, worst, bound, deadline, cut off, late, verdict.
    fn rows(&self, run: &Done) -> Vec<Vec<String>> {
        let (vm, attack) = match &run.attack {
            None => ("-", "(none)"),
            Some((vm, attack)) => (vm.as_str(), *attack),
        };
        let jobs = run.jobs.iter().map(|(vcpu, seen)| {
            let own = |finding: &&Finding| {
                finding.whom == vcpu.name
                    || !run.jobs.iter().any(|(other, _)| finding.whom == other.name)
            };
            let found = run.findings.iter().any(|finding| own(&finding));
            vec![
                vm.to_owned(),
                attack.to_owned(),
                vcpu.name.clone(),
                seen.jobs.to_string(),
                self.response(seen),
                self.bound(vcpu),
                self.time(vcpu.deadline),
                seen.missed.to_string(),
                seen.cut_off.to_string(),
                if found { "FOUND" } else { "" }.to_owned(),
            ]
        });
        jobs.collect()
    }

    /// The worst job of each vCPU in each run.
    pub fn runs_table(&self) -> String {
        let mut rows = vec![row(&[
            "hostile VM",
            "attack",
            "vCPU",
            "jobs",
            "worst job",
            "bound",
            "deadline",
            "late",
            "cut off",
            "",
        ])];
        rows.extend(self.runs.iter().flat_map(|run| self.rows(run)));
        table(&rows)
    }

    /// Each vCPU with its worst job of all runs, beside that without an attack, and its bound.
    pub fn victims_table(&self) -> String {
        let mut rows = vec![row(&["vCPU", "alone", "worst job", "bound", "by"])];
        for (vcpu, seen) in self.watched() {
            let worst = self.worst(&vcpu.name);
            let (by, response) = worst.unwrap_or_default();
            rows.push(vec![
                vcpu.name.clone(),
                self.response(seen),
                if by.is_empty() {
                    "-".to_owned()
                } else {
                    self.time(response)
                },
                self.bound(vcpu),
                by,
            ]);
        }
        table(&rows)
    }

    /// The vCPUs, with what was seen of them without an attack.
    fn watched(&self) -> impl Iterator<Item = &(Watched, Summary)> {
        self.runs.first().into_iter().flat_map(|alone| &alone.jobs)
    }

    /// The attack with the worst job of a vCPU, and its cycles.
    fn worst(&self, name: &str) -> Option<(String, u64)> {
        let mut worst: Option<(String, u64)> = None;
        for run in &self.runs {
            let Some((vm, attack)) = &run.attack else {
                continue;
            };
            let jobs = run
                .jobs
                .iter()
                .find(|(vcpu, seen)| vcpu.name == name && seen.jobs > 0);
            if let Some((_, seen)) = jobs
                && worst
                    .as_ref()
                    .is_none_or(|(_, most)| seen.response_max > *most)
            {
                worst = Some((format!("{attack} by {vm}"), seen.response_max));
            }
        }
        worst
    }

    /// Each finding, and how it is repeated.
    pub fn findings_text(&self) -> String {
        let mut text = String::new();
        for run in self.runs.iter().filter(|run| !run.findings.is_empty()) {
            let by = match &run.attack {
                None => "without an attack".to_owned(),
                Some((vm, attack)) => format!("attack {attack} by {vm}"),
            };
            for finding in &run.findings {
                text += &format!(
                    "{by}, seed {}: {}: {}\n",
                    self.seed, finding.whom, finding.text
                );
            }
            text += &format!("  again: {}\n", run.again);
        }
        text
    }

    /// The end of what people read: "22 attacks, nothing found".
    pub fn conclusion(&self) -> String {
        let runs = self.runs.iter().filter(|run| run.attack.is_some()).count();
        let attacks = if runs == 1 { "attack" } else { "attacks" };
        conclusion(&format!("{runs} {attacks}"), self.findings())
    }

    /// All of it for programs: times in microseconds.
    pub fn to_json(&self) -> Value {
        let vcpu = |(vcpu, seen): &(Watched, Summary)| {
            json!({
                "vcpu": vcpu.name,
                "jobs": seen.jobs,
                "response_max_us": (seen.jobs > 0).then(|| self.us(seen.response_max)),
                "released_us": (seen.jobs > 0).then(|| self.us(seen.released)),
                "bound_us": vcpu.bound.map(|bound| self.us(bound)),
                "deadline_us": self.us(vcpu.deadline),
                "late": seen.missed,
                "cut_off": seen.cut_off,
                "budget_us": self.us(vcpu.budget),
                "executed_min_us": seen.executed_min.map(|cycles| self.us(cycles)),
                "gap_max_us": self.us(seen.gap.cycles),
            })
        };
        let run = |run: &Done| {
            json!({
                "attacker": run.attack.as_ref().map(|(vm, _)| vm),
                "attack": run.attack.as_ref().map(|(_, attack)| attack),
                "vcpus": run.jobs.iter().map(vcpu).collect::<Vec<_>>(),
                "findings": run.findings.iter().map(Finding::to_json).collect::<Vec<_>>(),
                "again": run.again,
            })
        };
        json!({
            "system": self.system,
            "inputs": self.inputs,
            "profile": self.profile,
            "seed": self.seed,
            "ms": self.ms,
            "runs": self.runs.iter().map(run).collect::<Vec<_>>(),
            "findings": self.findings(),
        })
    }
}

/// The last line that people read, of so many findings in what `tried` names.
pub fn conclusion(tried: &str, findings: usize) -> String {
    match findings {
        0 => format!("{tried}: every job within its bound\n"),
        1 => format!("{tried}: 1 finding\n"),
        _ => format!("{tried}: {findings} findings\n"),
    }
}

/// All attacks, and what each needs.
pub fn list() -> String {
    let mut rows = vec![row(&["attack", "needs", "what the hostile VM does"])];
    for attack in &ATTACKS {
        rows.push(row(&[attack.name, attack.needs.words(), attack.words]));
    }
    table(&rows)
}

/// The attacks for programs.
pub fn list_json() -> Value {
    let attacks = ATTACKS.iter().map(|attack| {
        let needs = Some(attack.needs.words()).filter(|words| !words.is_empty());
        json!({"attack": attack.name, "needs": needs, "does": attack.words})
    });
    attacks.collect()
}
