//! The results of attacks on the system, as `tactus attack FILE --json` writes them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Inputs;
use crate::check::{Answer, Guarantee};

/// Microseconds by which a bound may differ, as it was rounded to cycles.
const ROUNDED_US: f64 = 0.2;
/// What writes such a file.
const MAKE: &str = "name a file that `tactus attack FILE --json` of this version has written";

/// What was run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Campaign {
    /// The board's profile.
    pub(super) profile: String,
    /// What the random numbers were made of.
    pub(super) seed: u64,
    /// Virtual time of each run in milliseconds.
    pub(super) ms: u64,
    /// What the system was made of.
    inputs: Inputs,
    /// The runs, the one without an attack first.
    pub(super) runs: Vec<Run>,
    /// The number of findings.
    findings: usize,
}

/// One run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Run {
    /// The hostile VM.
    pub(super) attacker: Option<String>,
    /// What it did.
    pub(super) attack: Option<String>,
    /// The vCPUs that were watched.
    pub(super) vcpus: Vec<Watched>,
    /// What must not be.
    pub(super) findings: Vec<Finding>,
}

/// A vCPU's jobs in a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Watched {
    /// VM and number.
    pub(super) vcpu: String,
    /// How many.
    pub(super) jobs: u64,
    /// The longest response, if there was a job.
    pub(super) response_max_us: Option<f64>,
    /// The bound that was stated.
    pub(super) bound_us: Option<f64>,
    /// Jobs later than their deadlines.
    pub(super) late: u64,
}

/// Something that must not be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Finding {
    /// Whom it concerns.
    of: String,
    /// What.
    text: String,
}

impl Campaign {
    /// Reads the JSON of a campaign with the system that is made of `inputs`.
    ///
    /// # Errors
    /// It is none, or of another system; says which.
    pub(super) fn read(
        text: &str,
        inputs: &Inputs,
        guarantee: &Guarantee,
        platform: &str,
    ) -> Result<Self, String> {
        let json: Value = serde_json::from_str(text)
            .map_err(|error| format!("it is no JSON: {error}; {MAKE}"))?;
        if json.get("systems").is_some() {
            return Err(format!(
                "it is of random systems (`tactus attack --random`), not of this one; {MAKE}"
            ));
        }
        if json.get("inputs").is_none() {
            return Err(format!(
                "it does not say which system was attacked: it has no `inputs`; {MAKE}"
            ));
        }
        let campaign: Self = serde_json::from_value(json)
            .map_err(|error| format!("it is no campaign: {error}; {MAKE}"))?;
        let differing = inputs.differing(&campaign.inputs, campaign.profile == platform);
        if !differing.is_empty() {
            return Err(format!(
                "it is of another system: not the same {}; attack this one again",
                differing.join(", ")
            ));
        }
        if campaign.runs.is_empty() {
            return Err(format!("it has no runs; {MAKE}"));
        }
        let found: usize = campaign.runs.iter().map(|run| run.findings.len()).sum();
        if found != campaign.findings {
            return Err(format!(
                "it counts {} findings and has {found}; {MAKE}",
                campaign.findings
            ));
        }
        campaign.holds_bounds(guarantee, platform)?;
        Ok(campaign)
    }

    /// Whether its bounds are those that are stated here.
    fn holds_bounds(&self, guarantee: &Guarantee, platform: &str) -> Result<(), String> {
        for watched in self.runs.iter().flat_map(|run| &run.vcpus) {
            let Some(vcpu) = guarantee.vcpu(&watched.vcpu) else {
                return Err(format!("the system has no real-time vCPU {}", watched.vcpu));
            };
            let (Answer::Within(ticks), Some(bound)) = (&vcpu.answer, watched.bound_us) else {
                continue;
            };
            let own = *ticks as f64 * 1e6 / f64::from(guarantee.timebase_hz);
            if self.profile == platform && (own - bound).abs() > ROUNDED_US {
                return Err(format!(
                    "it judged {} by a bound of {bound:.1} us, and the bound is {own:.1} us; attack the system again",
                    watched.vcpu
                ));
            }
        }
        Ok(())
    }

    /// The attacks.
    pub(super) fn attacks(&self) -> usize {
        self.runs.iter().filter(|run| run.attack.is_some()).count()
    }

    /// All findings, with the attack that shows each.
    pub(super) fn findings(&self) -> Vec<String> {
        let of = |run: &Run| -> Vec<String> {
            let by = match (&run.attack, &run.attacker) {
                (Some(attack), Some(attacker)) => format!("{attack} by {attacker}"),
                _ => "without an attack".into(),
            };
            let one = |finding: &Finding| format!("{by}: {}: {}", finding.of, finding.text);
            run.findings.iter().map(one).collect()
        };
        self.runs.iter().flat_map(of).collect()
    }

    pub(super) fn to_json(&self) -> Value {
        json!(self)
    }
}
