//! What this project itself builds and a system names: the hypervisor, `@guest`, `@linux`, `@initramfs`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

/// The hypervisor's artifact; no system names it, every system needs it.
pub const HYPERVISOR: &str = "tactus-hypervisor";

/// The bare-metal target of hypervisor and guests.
const TARGET: &str = "riscv64gc-unknown-none-elf";
/// The Cargo profile of hypervisor and guests.
const PROFILE: &str = "embedded";
/// What `make setup` downloads and packs: name and path within the workspace.
const FETCHED: [(&str, &str); 2] = [
    ("linux", "build/linux/Image"),
    ("initramfs", "build/linux/initramfs.cpio"),
];

/// Why an artifact is not to be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// What is wrong.
    pub reason: String,
    /// What to do about it.
    pub cure: String,
    /// No artifact has such a name, whatever is built; otherwise it only is not there now.
    pub unknown: bool,
}

impl Missing {
    fn now(reason: impl Into<String>, cure: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            cure: cure.into(),
            unknown: false,
        }
    }
}

/// The files of the artifacts asked for, by name.
pub type Files = BTreeMap<String, Result<PathBuf, Missing>>;

/// Where artifacts come from.
#[derive(Clone, Debug)]
pub enum Artifacts {
    /// Built in, and fetched into, this project's own workspace when needed.
    Workspace,
    /// Files made earlier, each named like its artifact, in one directory.
    Directory(PathBuf),
}

impl Artifacts {
    /// The files of these artifacts. Those of the workspace are brought up to date first, which takes
    /// no time when they are.
    pub fn files(&self, names: &[&str]) -> Files {
        match self {
            Self::Directory(directory) => files_in(directory, names),
            Self::Workspace => match Workspace::find() {
                Ok(workspace) => workspace.files(names),
                Err(missing) => all(names, &missing),
            },
        }
    }

    /// The model of a fabric's design, for the board; in a directory it is `NAME.so`.
    ///
    /// # Errors
    /// It is not to be had.
    pub fn model(&self, design: &str) -> Result<PathBuf, Missing> {
        match self {
            Self::Directory(directory) => {
                let name = format!("{design}.so");
                let found = files_in(directory, &[&name]).remove(&name);
                found.unwrap_or_else(|| Err(Missing::now(name, "name another")))
            }
            Self::Workspace => Workspace::find()?.model(design),
        }
    }

    /// The file of one artifact.
    ///
    /// # Errors
    /// It is not to be had.
    pub fn file(&self, name: &str) -> Result<PathBuf, Missing> {
        self.files(&[name]).remove(name).unwrap_or_else(|| {
            Err(Missing::now(
                format!("no artifact `@{name}`"),
                "name another",
            ))
        })
    }
}

fn all(names: &[&str], missing: &Missing) -> Files {
    names
        .iter()
        .map(|&name| (name.to_owned(), Err(missing.clone())))
        .collect()
}

fn files_in(directory: &Path, names: &[&str]) -> Files {
    let file = |name: &str| {
        let path = directory.join(name);
        if path.is_file() {
            return Ok(path);
        }
        Err(Missing::now(
            format!("there is no {}", path.display()),
            "put the artifact there under its own name, or leave `--artifacts` out",
        ))
    };
    names
        .iter()
        .map(|&name| (name.to_owned(), file(name)))
        .collect()
}

/// What `cargo metadata` says, as far as it matters here.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    target_directory: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// This project's workspace, as Cargo sees it.
#[derive(Debug)]
struct Workspace {
    root: PathBuf,
    metadata: Metadata,
}

/// The Cargo that runs this process, or the one of the path.
fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Whether a directory is the root of this project.
fn is_root(directory: &Path) -> bool {
    directory.join("Cargo.toml").is_file() && directory.join("hypervisor/Cargo.toml").is_file()
}

/// The root of the project around the current directory, or else of the one that this program was built in.
pub fn root() -> Option<PathBuf> {
    let current = std::env::current_dir().unwrap_or_default();
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut candidates = current.ancestors().chain(built_in.ancestors());
    candidates
        .find(|directory| is_root(directory))
        .map(Path::to_path_buf)
}

impl Workspace {
    /// The workspace around the current directory, or else the one this program was built in.
    fn find() -> Result<Self, Missing> {
        let root = root().ok_or_else(|| {
            Missing::now(
                "the project's source is not around",
                "run inside a clone of the project, or name a directory of built artifacts with `--artifacts`",
            )
        })?;
        Ok(Self {
            metadata: metadata(&root)?,
            root,
        })
    }

    /// The package that has a program of that name for the bare-metal target.
    fn package(&self, program: &str) -> Option<&str> {
        let has_it = |package: &&Package| {
            let is_program = |t: &Target| t.name == program && t.kind.iter().any(|k| k == "bin");
            package.name != env!("CARGO_PKG_NAME") && package.targets.iter().any(is_program)
        };
        let package = self.metadata.packages.iter().find(has_it)?;
        Some(&package.name)
    }

    /// The names of all artifacts.
    fn known(&self) -> Vec<&str> {
        let guests = self
            .metadata
            .packages
            .iter()
            .filter(|package| package.name != env!("CARGO_PKG_NAME"))
            .flat_map(|package| &package.targets)
            .filter(|target| target.kind.iter().any(|kind| kind == "bin"))
            .map(|target| target.name.as_str())
            .filter(|name| *name != HYPERVISOR);
        guests.chain(FETCHED.map(|(name, _)| name)).collect()
    }

    fn files(&self, names: &[&str]) -> Files {
        let mut files = Files::new();
        let mut programs = Vec::new();
        for &name in names {
            if let Some((_, path)) = FETCHED.iter().find(|(known, _)| *known == name) {
                files.insert(name.into(), self.fetched(name, path));
            } else if let Some(package) = self.package(name) {
                programs.push((package, name));
            } else {
                files.insert(name.into(), Err(self.unknown(name)));
            }
        }
        programs.sort_unstable();
        programs.dedup();
        if let Err(missing) = self.build(&programs) {
            let names: Vec<&str> = programs.iter().map(|(_, name)| *name).collect();
            files.extend(all(&names, &missing));
            return files;
        }
        let directory = self.metadata.target_directory.join(TARGET).join(PROFILE);
        for (_, name) in programs {
            files.insert(name.into(), Ok(directory.join(name)));
        }
        files
    }

    fn unknown(&self, name: &str) -> Missing {
        Missing {
            reason: format!("this project builds no `@{name}`"),
            cure: crate::config::cure_of_unknown(name, &self.known()),
            unknown: true,
        }
    }

    fn fetched(&self, name: &str, path: &str) -> Result<PathBuf, Missing> {
        let path = self.root.join(path);
        if path.is_file() {
            return Ok(path);
        }
        Err(Missing::now(
            format!("`@{name}` is not there: no file {}", path.display()),
            "run `make setup`, which downloads and packs it",
        ))
    }

    /// Brings the model of a fabric's design up to date.
    fn model(&self, design: &str) -> Result<PathBuf, Missing> {
        let output = Command::new(self.root.join("fabric/flow.py"))
            .args(["model", design])
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| {
                Missing::now(
                    format!("cannot run the fabric's flow: {error}"),
                    "run `make setup`, which installs what it needs",
                )
            })?;
        let file = String::from_utf8_lossy(&output.stdout);
        if output.status.success() {
            return Ok(PathBuf::from(file.trim_end()));
        }
        Err(Missing::now(
            format!("there is no model of the design `{design}`"),
            "see the flow's messages above; `make setup` installs what it needs",
        ))
    }

    /// Builds programs, each given with its package. What the compiler has to say goes to stderr.
    fn build(&self, programs: &[(&str, &str)]) -> Result<(), Missing> {
        if programs.is_empty() {
            return Ok(());
        }
        let mut command = cargo();
        command.current_dir(&self.root).args([
            "build",
            "--quiet",
            "--profile",
            PROFILE,
            "--target",
            TARGET,
        ]);
        for (package, program) in programs {
            command.args(["--package", package, "--bin", program]);
        }
        let status = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .map_err(|error| no_cargo(&error))?;
        if status.success() {
            return Ok(());
        }
        let names: Vec<_> = programs
            .iter()
            .map(|(_, name)| format!("`{name}`"))
            .collect();
        Err(Missing::now(
            format!("building {} failed", names.join(", ")),
            "see the compiler's messages above; `make setup` installs what the build needs",
        ))
    }
}

fn no_cargo(error: &std::io::Error) -> Missing {
    Missing::now(
        format!("cannot run Cargo: {error}"),
        "run `make setup`, which installs Rust, and put its `bin` directory on the path",
    )
}

fn metadata(root: &Path) -> Result<Metadata, Missing> {
    let output = cargo()
        .current_dir(root)
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| no_cargo(&error))?;
    if !output.status.success() {
        return Err(Missing::now(
            format!(
                "Cargo cannot read the workspace: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            ),
            "correct its Cargo.toml files",
        ));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| {
        Missing::now(
            format!("`cargo metadata` says what this program does not understand: {error}"),
            "use the Rust that `make setup` installs",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_artifact_is_named_with_the_likely_one() {
        let missing = Artifacts::Workspace
            .file("initramf")
            .expect_err("no such artifact");
        assert!(missing.unknown);
        assert_eq!(missing.reason, "this project builds no `@initramf`");
        assert_eq!(missing.cure, "did you mean `initramfs`?");
    }

    #[test]
    fn a_directory_serves_what_is_in_it() {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(directory.path().join("guest"), b"x").expect("a file");
        let artifacts = Artifacts::Directory(directory.path().into());
        let files = artifacts.files(&["guest", "other"]);
        assert_eq!(files["guest"], Ok(directory.path().join("guest")));
        assert!(!files["other"].as_ref().expect_err("not there").unknown);
    }
}
