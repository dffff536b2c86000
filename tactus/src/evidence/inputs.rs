//! What a system is made of, by hash: so that a statement about one system is not taken for one about another.

use std::path::Path;

use miette::{IntoDiagnostic, WrapErr};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::check::Verdict;
use crate::image;
use crate::profile::Profile;

/// The platform's profile.
const PROFILE: &str = "profile";
/// What the firmware enters.
const BOOT_IMAGE: &str = "boot image";

/// A file or a text, by its SHA-256.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// What it is: "configuration", "image of VM `rt`".
    pub what: String,
    /// What the description calls it, if it has a name there.
    pub name: Option<String>,
    /// Of its bytes, in hexadecimal.
    pub sha256: String,
}

/// What a boot image is made of, in a fixed order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Inputs(pub Vec<Input>);

/// In hexadecimal.
fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Inputs {
    /// Of a system that was judged to be fine, whose description is that text.
    ///
    /// # Errors
    /// A file cannot be read any more.
    pub fn of(configuration: &str, verdict: &Verdict) -> miette::Result<Self> {
        let mut all = Vec::new();
        let mut add = |what: &str, name: Option<&str>, bytes: &[u8]| {
            all.push(Input {
                what: what.to_owned(),
                name: name.map(str::to_owned),
                sha256: sha256(bytes),
            });
        };
        let read = |path: &Path| {
            std::fs::read(path)
                .into_diagnostic()
                .wrap_err_with(|| format!("{} cannot be read", path.display()))
        };
        add("configuration", None, configuration.as_bytes());
        let Some(plan) = &verdict.plan else {
            return Ok(Self(all));
        };
        let platform = plan.profile.name.as_str();
        if let Some(text) = Profile::text(platform) {
            add(PROFILE, Some(platform), text.as_bytes());
        }
        if let Some(path) = &verdict.hypervisor {
            let name = path.file_name().map(|name| name.to_string_lossy());
            add("hypervisor", name.as_deref(), &read(path)?);
        }
        for (index, vm) in plan.vms.iter().enumerate() {
            let paths = [verdict.guests.get(index), verdict.initrds.get(index)];
            let names = verdict.files.get(index).cloned().unwrap_or_default();
            for ((kind, path), name) in ["image", "initrd"].into_iter().zip(paths).zip(names) {
                if let Some(path) = path.and_then(Option::as_ref) {
                    add(
                        &format!("{kind} of VM `{}`", vm.name),
                        name.as_deref(),
                        &read(path)?,
                    );
                }
            }
        }
        if let Ok(image) = image::build(verdict.clone()) {
            add(BOOT_IMAGE, None, &image.bytes);
        }
        Ok(Self(all))
    }

    /// What is not among those that `other` was made of; by name. `made_alike`: it was made for the same platform, so
    /// that profile and boot image are compared too.
    pub fn differing<'i>(&'i self, other: &Self, made_alike: bool) -> Vec<&'i str> {
        let is_known = |input: &Input| {
            let mut others = other.0.iter();
            others.any(|one| one.what == input.what && one.sha256 == input.sha256)
        };
        let of_platform = |input: &Input| [PROFILE, BOOT_IMAGE].contains(&input.what.as_str());
        self.0
            .iter()
            .filter(|input| (made_alike || !of_platform(input)) && !is_known(input))
            .map(|input| input.what.as_str())
            .collect()
    }
}
