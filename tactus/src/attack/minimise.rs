//! A random system with a finding made smaller: without the VMs that it does not need, and no longer than it takes.
//!
//! Each step is tried on the board and kept where there is still a finding of the same kind.

use std::path::Path;

use miette::{IntoDiagnostic, WrapErr, miette};
use toml_edit::DocumentMut;

use crate::config::{Config, Nanoseconds, Source};
use crate::fewer_vms;
use crate::progress::Progress;

use super::plan::{self, Wanted};
use super::run::{Lab, Unfit};
use super::verdict::{Finding, findings};

/// An attack in a system, with a finding.
#[derive(Clone, Debug)]
pub struct Failing {
    /// The system.
    pub document: DocumentMut,
    /// The VM that is replaced.
    pub attacker: String,
    /// The attack.
    pub attack: &'static str,
    /// What everything random is made of.
    pub seed: u64,
    /// Virtual time, in milliseconds.
    pub ms: u64,
}

/// What is left of it.
#[derive(Debug)]
pub struct Smaller {
    /// The attack, in the smaller system.
    pub failing: Failing,
    /// What is found there.
    pub findings: Vec<Finding>,
    /// The VMs that it does not need.
    pub without: Vec<String>,
    /// How many runs were tried.
    pub tried: usize,
}

impl Failing {
    /// What is found in a run of the system. Only VMs that are there are watched.
    ///
    /// # Errors
    /// The system has errors, or cannot be run.
    fn run(&self) -> Result<Vec<Finding>, Unfit> {
        let source = Source::new("random.toml", self.document.to_string());
        let read = Config::parse(source, Path::new(""));
        let length = Nanoseconds(self.ms * 1_000_000);
        let name = format!("the system of seed {}", self.seed);
        let lab = Lab::of(name, read, self.seed, length)?;
        let (attackers, attacks) = ([self.attacker.clone()], [self.attack.to_owned()]);
        let wanted = Wanted {
            attackers: &attackers,
            attacks: &attacks,
            ..Wanted::default()
        };
        let mut runs = plan::runs(&lab.candidates(), &wanted)
            .map_err(|nothing| Unfit::Other(nothing.into()))?;
        let run = runs.swap_remove(0);
        let start = lab.start_of(&run.victims)?;
        let shown = lab.run(Some(&run), &run.victims, start)?;
        let hertz = lab.profile().clock_hz as f64;
        let time = |cycles: u64| format!("{:.1} us", cycles as f64 * 1e6 / hertz);
        let attacker = Some(run.attacker);
        Ok(findings(None, &shown.outcome, attacker, &shown.jobs, time))
    }

    /// Makes it smaller.
    ///
    /// # Errors
    /// It is not found again.
    pub fn minimise(self, progress: &Progress) -> miette::Result<Smaller> {
        let mut tried = 0;
        smaller(self, &mut |failing| {
            tried += 1;
            let vms = fewer_vms::vms(&failing.document).len();
            progress.status(format!("try {tried}: {vms} VMs, {} ms", failing.ms));
            // A system that has errors without a VM needs it.
            failing.run().unwrap_or_default()
        })
        .map(|smaller| Smaller { tried, ..smaller })
        .ok_or_else(|| miette!("the finding is not there again; please report it"))
    }

    /// Writes the system to `path`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> miette::Result<()> {
        std::fs::write(path, self.document.to_string())
            .into_diagnostic()
            .wrap_err_with(|| format!("{} cannot be written", path.display()))
    }

    /// The command that repeats it from its file.
    pub fn again(&self, path: &Path) -> String {
        format!(
            "tactus attack {} --attacker {} --attack {} --seed {} --ms {}",
            path.display(),
            self.attacker,
            self.attack,
            self.seed,
            self.ms
        )
    }
}

/// The search: `found` is what a run of a system finds. `None`: nothing is found in the first.
fn smaller(
    mut failing: Failing,
    found: &mut dyn FnMut(&Failing) -> Vec<Finding>,
) -> Option<Smaller> {
    let mut findings = found(&failing);
    let kind = findings.first()?.kind;
    let mut holds = |failing: &Failing| {
        let found = found(failing);
        found
            .iter()
            .any(|finding| finding.kind == kind)
            .then_some(found)
    };
    let mut without = Vec::new();
    // Once more as long as one goes: without it others may be needed no more.
    loop {
        let names = fewer_vms::vms(&failing.document);
        let others = names.iter().filter(|name| **name != failing.attacker);
        let fewer = others.into_iter().find_map(|name| {
            let mut fewer = failing.clone();
            fewer_vms::remove_vm(&mut fewer.document, name);
            let found = holds(&fewer)?;
            Some((name.clone(), fewer, found))
        });
        let Some((name, fewer, found)) = fewer else {
            break;
        };
        without.push(name);
        (failing, findings) = (fewer, found);
    }
    // What happens until an end is the same with each end behind it.
    let (mut short, mut long) = (0, failing.ms);
    while long - short > 1 {
        let middle = u64::midpoint(short, long);
        let shorter = Failing {
            ms: middle,
            ..failing.clone()
        };
        match holds(&shorter) {
            Some(found) => {
                (failing, findings) = (shorter, found);
                long = middle;
            }
            None => short = middle,
        }
    }
    Some(Smaller {
        failing,
        findings,
        without,
        tried: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::random;

    #[test]
    fn what_is_not_needed_goes() {
        let text = random::systems(1).find(|text| {
            let is_there = |name: &str| text.contains(&format!("\"{name}\""));
            is_there("rt2") && is_there("other1") && text.contains("[[channel]]")
        });
        let text = text.expect("seed 1 has such systems");
        let failing = Failing {
            document: text.parse().expect("it is TOML"),
            attacker: "other1".to_owned(),
            attack: "spin",
            seed: 1,
            ms: 50,
        };
        let before = fewer_vms::vms(&failing.document);
        let finding = |kind| Finding {
            kind,
            whom: "rt2".to_owned(),
            text: "misses".to_owned(),
        };
        let smaller = smaller(failing.clone(), &mut |failing| {
            let vms = fewer_vms::vms(&failing.document);
            assert!(vms.contains(&failing.attacker), "it stays");
            // Another finding is none.
            let late = vms.iter().any(|name| name == "rt2") && failing.ms >= 7;
            vec![finding(if late { "late" } else { "other" })]
        });
        let smaller = smaller.expect("it is found");
        assert_eq!(fewer_vms::vms(&smaller.failing.document), ["rt2", "other1"]);
        assert_eq!(smaller.failing.ms, 7);
        assert_eq!(smaller.without.len(), before.len() - 2);
        let source = Source::new("small.toml", smaller.failing.document.to_string());
        let (_, problems) = Config::parse(source, Path::new("")).expect("it is TOML");
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(
            smaller.failing.again(Path::new("small.toml")),
            "tactus attack small.toml --attacker other1 --attack spin --seed 1 --ms 7"
        );
        assert!(super::smaller(failing, &mut |_| Vec::new()).is_none());
    }
}
