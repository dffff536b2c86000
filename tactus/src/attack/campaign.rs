//! `tactus attack --random`: random systems, each with one attack in one of its VMs, so that the bounds which
//! `tactus check` states are tried beyond the systems of this project and of its users.

use std::collections::BTreeMap;
use std::path::Path;

use fastrand::Rng;
use miette::{IntoDiagnostic, WrapErr, miette};
use serde_json::{Value, json};

use crate::check::{row, table};
use crate::cli::AttackArguments;
use crate::config::{Config, Nanoseconds, Source};
use crate::sweep::workers;

use super::many;
use super::minimise::Failing;
use super::plan::{self, Wanted};
use super::print::conclusion;
use super::random;
use super::run::{Lab, PROFILE, Unfit};
use super::verdict::{Finding, findings};

/// Systems that are drawn until one is admitted.
const DRAWS_MAX: usize = 1000;

/// A system that was attacked.
#[derive(Debug)]
struct Attacked {
    seed: u64,
    text: String,
    refused: usize,
    harts: u32,
    attack: &'static str,
    attacker: String,
    jobs: u64,
    /// The job that came nearest to its bound, if one was judged.
    nearest: Option<Nearest>,
    findings: Vec<Finding>,
}

/// A vCPU's longest response beside its bound, in microseconds.
#[derive(Clone, Debug)]
struct Nearest {
    vcpu: String,
    response_us: f64,
    bound_us: f64,
}

impl Nearest {
    fn percent(&self) -> f64 {
        100.0 * self.response_us / self.bound_us
    }
}

/// All systems of a campaign.
#[derive(Debug)]
pub struct Campaign {
    ms: u64,
    attacked: Vec<Attacked>,
}

impl Campaign {
    /// Attacks the systems of `count` seeds, from that of the command line on.
    ///
    /// # Errors
    /// An attack is unknown, or the machine cannot be run.
    pub fn run(arguments: &AttackArguments, count: u64) -> Result<Self, Unfit> {
        let jobs = arguments.jobs.unwrap_or_else(workers);
        let attacked = many::of_seeds(arguments.seed, count, jobs, |seed| attack(arguments, seed))?;
        Ok(Self {
            ms: arguments.ms(),
            attacked,
        })
    }

    /// The findings in all systems.
    pub fn findings(&self) -> usize {
        self.attacked.iter().map(|one| one.findings.len()).sum()
    }

    /// The attack of the lowest seed that has a finding.
    ///
    /// # Errors
    /// Its system is no TOML, which would be this program's fault.
    pub fn first_failing(&self) -> miette::Result<Option<Failing>> {
        let Some(one) = self.attacked.iter().find(|one| !one.findings.is_empty()) else {
            return Ok(None);
        };
        Ok(Some(Failing {
            document: one.text.parse().into_diagnostic()?,
            attacker: one.attacker.clone(),
            attack: one.attack,
            seed: one.seed,
            ms: self.ms,
        }))
    }

    /// What people read.
    pub fn text(&self) -> String {
        let seeds = match self.attacked.as_slice() {
            [] => String::new(),
            [one] => format!("seed {}", one.seed),
            [first, .., last] => format!("seeds {} to {}", first.seed, last.seed),
        };
        let systems = match self.attacked.len() {
            1 => "1 random system".to_owned(),
            number => format!("{number} random systems"),
        };
        let mut text = format!(
            "{systems} on {PROFILE}: {} ms of each run, {seeds}\n\n{}\n",
            self.ms,
            self.attacks_table()
        );
        for one in self.attacked.iter().filter(|one| !one.findings.is_empty()) {
            for finding in &one.findings {
                text += &format!(
                    "seed {}, {} by {}: {}: {}\n",
                    one.seed, one.attack, one.attacker, finding.whom, finding.text
                );
            }
            text += &format!("  again: {}\n", self.again(one));
            text += &format!("  the system:\n\n{}\n", one.text);
        }
        text + &conclusion(&systems, self.findings())
    }

    /// Each attack, with the job that came nearest to its bound.
    fn attacks_table(&self) -> String {
        let mut attacks: BTreeMap<&str, Vec<&Attacked>> = BTreeMap::new();
        for one in &self.attacked {
            attacks.entry(one.attack).or_default().push(one);
        }
        let mut rows = vec![row(&[
            "attack",
            "systems",
            "jobs",
            "nearest to its bound",
            "worst job",
            "bound",
            "seed",
            "vCPU",
        ])];
        for (attack, all) in attacks {
            let jobs: u64 = all.iter().map(|one| one.jobs).sum();
            let mut cells = row(&[attack, &all.len().to_string(), &jobs.to_string()]);
            let nearest = all
                .iter()
                .filter_map(|one| Some((one.seed, one.nearest.as_ref()?)))
                .max_by(|(_, a), (_, b)| a.percent().total_cmp(&b.percent()));
            cells.extend(match nearest {
                None => row(&["-", "-", "-", "-", "-"]),
                Some((seed, nearest)) => vec![
                    format!("{:.1} %", nearest.percent()),
                    format!("{:.1} us", nearest.response_us),
                    format!("{:.1} us", nearest.bound_us),
                    seed.to_string(),
                    nearest.vcpu.clone(),
                ],
            });
            rows.push(cells);
        }
        table(&rows)
    }

    /// The command that repeats one.
    fn again(&self, one: &Attacked) -> String {
        format!(
            "tactus attack --random 1 --seed {} --attack {} --ms {}",
            one.seed, one.attack, self.ms
        )
    }

    /// All of it for programs: times in microseconds.
    pub fn to_json(&self) -> Value {
        let system = |one: &Attacked| {
            let nearest = one.nearest.as_ref();
            json!({
                "seed": one.seed,
                "harts": one.harts,
                "refused": one.refused,
                "attacker": one.attacker,
                "attack": one.attack,
                "jobs": one.jobs,
                "vcpu": nearest.map(|nearest| &nearest.vcpu),
                "response_max_us": nearest.map(|nearest| nearest.response_us),
                "bound_us": nearest.map(|nearest| nearest.bound_us),
                "findings": one.findings.iter().map(Finding::to_json).collect::<Vec<_>>(),
                "again": self.again(one),
                "system": (!one.findings.is_empty()).then_some(&one.text),
            })
        };
        json!({
            "profile": PROFILE,
            "ms": self.ms,
            "systems": self.attacked.iter().map(system).collect::<Vec<_>>(),
            "findings": self.findings(),
        })
    }
}

/// A system of a seed that `tactus check` admits.
struct Admitted {
    lab: Lab,
    text: String,
    /// Systems drawn before it from the same seed, which were refused.
    refused: usize,
}

fn admitted(seed: u64, length: Nanoseconds) -> Result<Admitted, Unfit> {
    for (refused, text) in random::systems(seed).take(DRAWS_MAX).enumerate() {
        let source = Source::new("random.toml", text.clone());
        let read = Config::parse(source, Path::new(""));
        match Lab::of(format!("the system of seed {seed}"), read, seed, length) {
            Ok(lab) => return Ok(Admitted { lab, text, refused }),
            Err(Unfit::Refused(_)) => {}
            Err(other) => return Err(other),
        }
    }
    Err(miette!("no system of seed {seed} is admitted; please report it").into())
}

/// Attacks the system of a seed.
fn attack(arguments: &AttackArguments, seed: u64) -> Result<Attacked, Unfit> {
    let Admitted { lab, text, refused } = admitted(seed, Nanoseconds(arguments.ms() * 1_000_000))?;
    let vms = lab.candidates();
    let wanted = Wanted {
        attacks: &arguments.attacks,
        ..Wanted::default()
    };
    let mut runs = plan::runs(&vms, &wanted).map_err(|nothing| Unfit::Other(nothing.into()))?;
    // By attack: most have few attackers, and each is to be tried.
    let attacks: Vec<&str> = runs.iter().map(|run| run.attack.name).collect();
    let mut random = Rng::with_seed(seed);
    let chosen = attacks[random.usize(..attacks.len())];
    runs.retain(|run| run.attack.name == chosen);
    let run = runs.swap_remove(random.usize(..runs.len()));
    let seed_said = || format!("the system of seed {seed}, attack {chosen}");
    let start = lab.start_of(&run.victims).wrap_err_with(seed_said)?;
    let shown = lab
        .run(Some(&run), &run.victims, start)
        .wrap_err_with(seed_said)?;
    let us = |cycles: u64| cycles as f64 * 1e6 / lab.profile().clock_hz as f64;
    let judged = shown.jobs.iter().filter(|(_, seen)| seen.jobs > 0);
    let nearest = judged.filter_map(|(vcpu, seen)| {
        Some(Nearest {
            vcpu: vcpu.name.clone(),
            response_us: us(seen.response_max),
            bound_us: us(vcpu.bound?),
        })
    });
    Ok(Attacked {
        seed,
        refused,
        text,
        harts: lab.harts(),
        attack: run.attack.name,
        attacker: vms[run.attacker].name.clone(),
        jobs: shown.jobs.iter().map(|(_, seen)| seen.jobs).sum(),
        nearest: nearest.max_by(|a, b| a.percent().total_cmp(&b.percent())),
        findings: findings(
            None,
            &shown.outcome,
            Some(run.attacker),
            &shown.jobs,
            |cycles| format!("{:.1} us", us(cycles)),
        ),
    })
}
