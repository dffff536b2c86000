//! `tactus check --evidence`: what an assessor needs to see that the times of a system hold, as one page and as JSON.
//!
//! Both are functions of their inputs alone: no clock, no name of the machine.

mod assumptions;
mod campaign;
mod computed;
mod figures;
mod inputs;
mod overheads;
mod page;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::Path;

use miette::{IntoDiagnostic, WrapErr, miette};
use serde_json::{Value, json};

use crate::check::{self, Guarantee, Sensitivity, Verdict};
use crate::problem::Weight;
use crate::report::provenance::Commit;

use campaign::Campaign;
use computed::Computed;
pub use inputs::{Input, Inputs};
use overheads::Overhead;

/// The page's file in the directory.
pub const PAGE: &str = "evidence.html";
/// The same for programs.
pub const DATA: &str = "evidence.json";
/// Bytes of a campaign's file: more is none.
const CAMPAIGN_MAX: u64 = 64 << 20;

/// All that is written down of a system.
struct Evidence<'v> {
    verdict: &'v Verdict,
    guarantee: &'v Guarantee,
    sensitivity: Option<Sensitivity>,
    /// The description's text.
    configuration: String,
    platform: String,
    inputs: Inputs,
    commit: Option<Commit>,
    date: Option<&'v str>,
    overheads: Vec<Overhead>,
    /// Without, why there is none.
    computed: Result<Computed, String>,
    assumptions: Vec<String>,
    campaign: Option<Campaign>,
}

/// Writes the page and the JSON into `directory`, which is made if there is none. `campaign`: the JSON of `tactus
/// attack`; `date`: what the page is dated with.
///
/// # Errors
/// The system is refused or has no real-time guarantee; the campaign is of another system; something cannot be read or
/// written.
pub fn write(
    verdict: &Verdict,
    file: &Path,
    directory: &Path,
    campaign: Option<&Path>,
    date: Option<&str>,
) -> miette::Result<()> {
    let (Some(plan), Some(guarantee)) = (&verdict.plan, &verdict.guarantee) else {
        return Err(if verdict.tiles.is_some() {
            miette!(
                "--evidence: {} is a system of tiles, whose vCPUs have no bounds to hold",
                verdict.file
            )
        } else {
            miette!(
                help = "correct what is named above; nothing was written",
                "--evidence: {} is refused, and there is no evidence of a refused system",
                verdict.file
            )
        });
    };
    let configuration = fs::read_to_string(file)
        .into_diagnostic()
        .wrap_err_with(|| format!("{} cannot be read", file.display()))?;
    let inputs = Inputs::of(&configuration, verdict)?;
    let campaign = campaign
        .map(|path| {
            let text = read_campaign(path)?;
            Campaign::read(&text, &inputs, guarantee, &plan.profile.name)
                .map_err(|reason| miette!("--campaign {}: {reason}", path.display()))
        })
        .transpose()?;
    let evidence = Evidence {
        verdict,
        guarantee,
        sensitivity: guarantee.sensitivity(),
        configuration,
        platform: plan.profile.name.clone(),
        inputs,
        commit: Commit::find(),
        date,
        overheads: overheads::of(&plan.profile, guarantee),
        computed: Computed::of(plan, verdict.hypervisor.as_deref()),
        assumptions: assumptions::all(),
        campaign,
    };
    let write = |name: &str, text: String| {
        let path = directory.join(name);
        fs::write(&path, text)
            .into_diagnostic()
            .wrap_err_with(|| format!("--evidence: {} cannot be written", path.display()))
    };
    fs::create_dir_all(directory)
        .into_diagnostic()
        .wrap_err_with(|| {
            format!(
                "--evidence: the directory {} cannot be made",
                directory.display()
            )
        })?;
    write(PAGE, page::html(&evidence))?;
    write(DATA, format!("{:#}\n", evidence.to_json()))
}

fn read_campaign(path: &Path) -> miette::Result<String> {
    let context = || format!("--campaign {} cannot be read", path.display());
    let length = fs::metadata(path)
        .into_diagnostic()
        .wrap_err_with(context)?
        .len();
    if length > CAMPAIGN_MAX {
        return Err(miette!(
            help = "name a file that `tactus attack FILE --json` has written",
            "--campaign {}: it has {length} bytes, more than a campaign has",
            path.display()
        ));
    }
    fs::read_to_string(path)
        .into_diagnostic()
        .wrap_err_with(context)
}

impl Evidence<'_> {
    fn warnings(&self) -> Vec<String> {
        let warnings = self.verdict.of_weight(Weight::Warning);
        warnings.map(|problem| problem.in_a_line()).collect()
    }

    fn to_json(&self) -> Value {
        let figures: Vec<Value> = figures::FIGURES
            .iter()
            .map(figures::Figure::to_json)
            .collect();
        json!({
            "system": self.verdict.file,
            "platform": self.platform,
            "date": self.date,
            "tactus": env!("CARGO_PKG_VERSION"),
            "commit": self.commit,
            "inputs": self.inputs,
            "warnings": self.warnings(),
            "guarantee": check::guarantee_json(self.guarantee),
            "reloads": check::reloads_json(self.verdict),
            "tasks": check::tasks_json(self.verdict),
            "chains": check::chains_json(self.verdict),
            "sensitivity": check::sensitivity_json(self.guarantee, self.sensitivity.as_ref()),
            "figures": figures,
            "overheads": self.overheads.iter().map(Overhead::to_json).collect::<Vec<_>>(),
            "computed": self.computed.as_ref().ok().map(Computed::to_json),
            "assumptions": self.assumptions,
            "campaign": self.campaign.as_ref().map(Campaign::to_json),
            "configuration": self.configuration,
        })
    }
}
