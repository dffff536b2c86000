//! Where a report comes from: the commit of the project that made it.

use std::path::Path;
use std::process::Command;

use serde::Serialize;

use crate::artifacts;

/// A commit of this project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Commit {
    /// Its hash.
    pub hash: String,
    /// Whether files that the project keeps were changed since.
    pub modified: bool,
}

impl Commit {
    /// The commit of the clone that this program runs in, or else the one that it was built from, where the build named
    /// it in `TACTUS_COMMIT`; `None` where neither is known.
    pub fn find() -> Option<Self> {
        let clone = artifacts::root().and_then(|root| Self::of(&root));
        clone.or_else(|| {
            option_env!("TACTUS_COMMIT").map(|hash| Self {
                hash: hash.to_owned(),
                modified: false,
            })
        })
    }

    fn of(root: &Path) -> Option<Self> {
        let git = |arguments: &[&str]| {
            let output = Command::new("git")
                .arg("-C")
                .arg(root)
                .args(arguments)
                .output()
                .ok()?;
            let text = String::from_utf8(output.stdout).ok()?;
            output.status.success().then(|| text.trim().to_owned())
        };
        Some(Self {
            hash: git(&["rev-parse", "HEAD"])?,
            modified: !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty(),
        })
    }

    /// Its first digits, and whether something was changed.
    pub fn short(&self) -> String {
        let hash: String = self.hash.chars().take(9).collect();
        let changed = if self.modified { ", modified" } else { "" };
        format!("{hash}{changed}")
    }
}
