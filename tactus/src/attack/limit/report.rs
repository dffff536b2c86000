//! What many sets at the limit have shown.

use serde_json::{Value, json};
use tactus_policy::reservation::Kind;

use super::super::print::conclusion;
use super::super::verdict::Finding;
use super::judge::{Judged, VcpuJudged};
use super::made::Made;
use super::set::Jobs;
use crate::check::{row, table};

/// All sets of a campaign.
#[derive(Clone, Debug)]
pub struct Report {
    ms: u64,
    /// Sets at the limit.
    pub sets: Vec<Judged>,
    /// Systems whose vCPUs were made at run time.
    pub made: Vec<Made>,
}

/// The figures of a campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Measures {
    jobs: u64,
    rings: u64,
    /// Of each set the longest response by its bound of the vCPU for which the releases were chosen: the mean.
    over_bound_mean: Option<f64>,
    /// The same of what it would be if the hypervisor took nothing.
    undisturbed_over_bound_mean: Option<f64>,
    /// The same as the first of the vCPU that comes nearest to its bound.
    nearest_mean: Option<f64>,
    over_bound_max: Option<f64>,
    server_over_bound_max: Option<f64>,
    over_model_max: f64,
    usable_budget_ratio_min: Option<f64>,
    lacked_cycles_max: Option<i64>,
    release_lateness_uncounted: u64,
}

impl Report {
    /// None yet; each system is to run so many milliseconds.
    pub fn new(ms: u64) -> Self {
        Self {
            ms,
            sets: Vec::new(),
            made: Vec::new(),
        }
    }

    /// The findings in all systems.
    pub fn findings(&self) -> usize {
        self.found().map(|(_, findings, _)| findings.len()).sum()
    }

    /// Each system's seed, findings and description.
    fn found(&self) -> impl Iterator<Item = (u64, &[Finding], &str)> {
        let sets = self.sets.iter();
        let sets = sets.map(|set| (set.seed, set.findings.as_slice(), set.text.as_str()));
        let made = self.made.iter();
        sets.chain(made.map(|one| (one.seed, one.findings.as_slice(), one.text.as_str())))
    }

    /// The sum of what the makers have counted under that name.
    fn made(&self, name: &str) -> u64 {
        self.made.iter().map(|made| made.count(name)).sum()
    }

    fn measures(&self) -> Measures {
        let vcpus = || self.sets.iter().flat_map(|set| &set.vcpus);
        let greatest = |ratios: &mut dyn Iterator<Item = f64>| ratios.max_by(f64::total_cmp);
        let cut = || vcpus().filter(|vcpu| vcpu.usable_min.is_some());
        let nearest = self
            .sets
            .iter()
            .filter_map(|set| greatest(&mut set.vcpus.iter().filter_map(VcpuJudged::over_bound)));
        let rung = vcpus().filter(|vcpu| vcpu.jobs == Jobs::Ring);
        let servers = vcpus().filter(|vcpu| vcpu.kind == Kind::Server);
        Measures {
            jobs: vcpus().map(|vcpu| vcpu.ended).sum(),
            rings: rung.map(|vcpu| vcpu.ended).sum(),
            over_bound_mean: mean(
                vcpus()
                    .filter(|vcpu| vcpu.undisturbed_us.is_some())
                    .filter_map(VcpuJudged::over_bound),
            ),
            undisturbed_over_bound_mean: mean(
                vcpus().filter_map(|vcpu| Some(vcpu.undisturbed_us? / vcpu.bound_us?)),
            ),
            nearest_mean: mean(nearest),
            over_bound_max: greatest(&mut vcpus().filter_map(VcpuJudged::over_bound)),
            server_over_bound_max: greatest(&mut servers.filter_map(VcpuJudged::over_bound)),
            over_model_max: greatest(&mut vcpus().map(|vcpu| vcpu.over_model_max)).unwrap_or(0.0),
            usable_budget_ratio_min: vcpus()
                .filter_map(|vcpu| vcpu.usable_min)
                .min_by(f64::total_cmp),
            lacked_cycles_max: cut().map(|vcpu| vcpu.lacked_cycles).max(),
            release_lateness_uncounted: vcpus().map(|vcpu| vcpu.uncounted).sum(),
        }
    }

    /// What people read.
    pub fn text(&self) -> String {
        let systems = match self.found().count() {
            1 => "1 system at the limit".to_owned(),
            number => format!("{number} systems at the limit"),
        };
        let seeds = || self.found().map(|(seed, ..)| seed);
        let seeds = match (seeds().min(), seeds().max()) {
            (Some(first), Some(last)) if first < last => format!("seeds {first} to {last}"),
            (Some(one), _) => format!("seed {one}"),
            _ => String::new(),
        };
        let mut text = format!(
            "{systems}: {} ms of each run, {seeds}\n\n{}",
            self.ms,
            self.kinds()
        );
        let measures = self.measures();
        let ratio =
            |ratio: Option<f64>| ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.4}"));
        text += "\n";
        for (words, value) in [
            ("jobs", measures.jobs.to_string()),
            ("of them rung for", measures.rings.to_string()),
            (
                "worst response by its bound, mean",
                ratio(measures.over_bound_mean),
            ),
            ("the same, greatest", ratio(measures.over_bound_max)),
            (
                "of servers, greatest",
                ratio(measures.server_over_bound_max),
            ),
            (
                "response by what the releases allow, greatest",
                ratio(Some(measures.over_model_max)),
            ),
            (
                "executed by budget, least",
                ratio(measures.usable_budget_ratio_min),
            ),
            (
                "late releases without a counter",
                measures.release_lateness_uncounted.to_string(),
            ),
            ("vCPUs made at run time", self.made("made").to_string()),
            (
                "changes of them, moves",
                format!("{}, {}", self.made("changed"), self.made("moved")),
            ),
            ("their jobs", self.made("jobs").to_string()),
        ] {
            text += &format!("{words:48}{value}\n");
        }
        text += "\n";
        for (seed, findings, system) in self.found().filter(|(_, findings, _)| !findings.is_empty())
        {
            for finding in findings {
                text += &format!("seed {seed}: {}: {}\n", finding.whom, finding.text);
            }
            text += &format!("  again: {}\n", self.again(seed));
            text += &format!("  the system:\n\n{system}\n");
        }
        text + &conclusion(&systems, self.findings())
    }

    /// Each way of ordering and each kind of job, with the one that came nearest to its bound.
    fn kinds(&self) -> String {
        let mut rows = vec![row(&[
            "hart goes by",
            "kind",
            "jobs end by",
            "vCPUs",
            "jobs",
            "mean of worst",
            "nearest to its bound",
            "seed",
            "vCPU",
        ])];
        for by_priority in [false, true] {
            for (kind, jobs) in [
                (Kind::Periodic, Jobs::Cut),
                (Kind::Periodic, Jobs::Yield),
                (Kind::Server, Jobs::Cut),
                (Kind::Server, Jobs::Timer),
                (Kind::Server, Jobs::Ring),
            ] {
                let all: Vec<(u64, &VcpuJudged)> = self
                    .sets
                    .iter()
                    .filter(|set| set.by_priority == by_priority)
                    .flat_map(|set| set.vcpus.iter().map(|vcpu| (set.seed, vcpu)))
                    .filter(|(_, vcpu)| (vcpu.kind, vcpu.jobs) == (kind, jobs))
                    .collect();
                if all.is_empty() {
                    continue;
                }
                let ended: u64 = all.iter().map(|(_, vcpu)| vcpu.ended).sum();
                let ratios = |(seed, vcpu): &(u64, &VcpuJudged)| {
                    Some((vcpu.over_bound()?, *seed, vcpu.name.clone()))
                };
                let worst = mean(all.iter().filter_map(ratios).map(|(ratio, ..)| ratio));
                let nearest = all.iter().filter_map(ratios);
                let nearest = nearest.max_by(|a, b| a.0.total_cmp(&b.0));
                let percent = |ratio: f64| format!("{:.1} %", 100.0 * ratio);
                let mut cells = row(&[
                    if by_priority { "priority" } else { "deadline" },
                    kind_name(kind),
                    ends_by(jobs),
                    &all.len().to_string(),
                    &ended.to_string(),
                    &worst.map_or("-".to_owned(), percent),
                ]);
                cells.extend(match nearest {
                    None => row(&["-", "-", "-"]),
                    Some((ratio, seed, name)) => vec![percent(ratio), seed.to_string(), name],
                });
                rows.push(cells);
            }
        }
        table(&rows)
    }

    /// The command that repeats one.
    fn again(&self, seed: u64) -> String {
        let ms = self.ms;
        format!("tactus attack --random 1 --near-limit --seed {seed} --ms {ms}")
    }

    /// All of it for programs: times in microseconds.
    pub fn to_json(&self) -> Value {
        let vcpu = |vcpu: &VcpuJudged| {
            json!({
                "vcpu": vcpu.name,
                "kind": kind_name(vcpu.kind),
                "jobs_are": vcpu.jobs.name(),
                "undisturbed_us": vcpu.undisturbed_us,
                "jobs": vcpu.ended,
                "cut_off": vcpu.cut_off,
                "response_max_us": vcpu.response_max_us,
                "bound_us": vcpu.bound_us,
                "response_over_model_max": vcpu.over_model_max,
                "budget_us": vcpu.budget_us,
                "usable_budget_ratio_min": vcpu.usable_min,
                "lacked_cycles_max": vcpu.usable_min.map(|_| vcpu.lacked_cycles),
                "interruptions_max": vcpu.interruptions_max,
                "late_ticks_max": vcpu.late_max,
                "uncounted": vcpu.uncounted,
            })
        };
        let set = |set: &Judged| {
            json!({
                "seed": set.seed,
                "refused": set.refused,
                "profile": set.profile,
                "by": if set.by_priority { "priority" } else { "deadline" },
                "reserved": set.reserved,
                "vcpus": set.vcpus.iter().map(vcpu).collect::<Vec<_>>(),
                "findings": set.findings.iter().map(Finding::to_json).collect::<Vec<_>>(),
                "again": self.again(set.seed),
                "system": (!set.findings.is_empty()).then_some(&set.text),
            })
        };
        let measures = self.measures();
        json!({
            "ms": self.ms,
            "sets": self.sets.iter().map(set).collect::<Vec<_>>(),
            "made": self.made.iter().map(Made::to_json).collect::<Vec<_>>(),
            "measures": {
                "jobs": measures.jobs,
                "rings": measures.rings,
                "response_over_bound_mean": measures.over_bound_mean,
                "undisturbed_over_bound_mean": measures.undisturbed_over_bound_mean,
                "response_over_bound_nearest_mean": measures.nearest_mean,
                "response_over_bound_max": measures.over_bound_max,
                "server_response_over_bound_max": measures.server_over_bound_max,
                "response_over_model_max": measures.over_model_max,
                "usable_budget_ratio_min": measures.usable_budget_ratio_min,
                "lacked_cycles_max": measures.lacked_cycles_max,
                "release_lateness_uncounted": measures.release_lateness_uncounted,
            },
            "findings": self.findings(),
        })
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Periodic => "periodic",
        Kind::Server => "server",
    }
}

/// How jobs end, and what they wait for then.
fn ends_by(jobs: Jobs) -> &'static str {
    match jobs {
        Jobs::Cut => "cut-off",
        Jobs::Yield => "yield",
        Jobs::Timer => "wait for timer",
        Jobs::Ring => "wait for ring",
    }
}

fn mean(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let all: Vec<f64> = ratios.collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}
