//! What this project itself builds and a system names: the hypervisor, `@guest`, `@linux`, `@initramfs`.
//!
//! The command line decides once where they come from ([`Artifacts::choose`]): a clone of the project, where they are
//! built when they are needed, or a directory that `tactus artifacts` has made.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde::Deserialize;

use crate::progress::Progress;

/// The hypervisor's artifact; no system names it, every system needs it.
pub const HYPERVISOR: &str = "tactus-hypervisor";
/// The hypervisor without its optional parts; likewise.
pub const HYPERVISOR_BASE: &str = "tactus-hypervisor-base";

/// The hypervisor that executes from on-chip memory; likewise.
pub const HYPERVISOR_ONCHIP: &str = "tactus-hypervisor-onchip";
/// The hypervisor that forwards accesses to VMs that emulate devices; likewise.
pub const HYPERVISOR_FORWARDING: &str = "tactus-hypervisor-forwarding";
/// The hypervisor that does that and gives PCI functions to VMs; likewise.
pub const HYPERVISOR_FORWARDING_PCI: &str = "tactus-hypervisor-forwarding-pci";
/// The hypervisor that lets VMs manage others; likewise.
pub const HYPERVISOR_MANAGEMENT: &str = "tactus-hypervisor-management";
/// The hypervisor that gives PCI functions to VMs; likewise.
pub const HYPERVISOR_PCI: &str = "tactus-hypervisor-pci";
/// All of them.
pub const HYPERVISORS: [&str; 7] = [
    HYPERVISOR,
    HYPERVISOR_BASE,
    HYPERVISOR_FORWARDING,
    HYPERVISOR_FORWARDING_PCI,
    HYPERVISOR_MANAGEMENT,
    HYPERVISOR_ONCHIP,
    HYPERVISOR_PCI,
];

/// The bare-metal target of hypervisor and guests.
const TARGET: &str = "riscv64gc-unknown-none-elf";
/// The Cargo profile of hypervisor and guests.
const PROFILE: &str = "embedded";
/// Progress names programs that are built together up to so many.
const PROGRAMS_NAMED_MAX: usize = 4;
/// What `make setup` downloads and packs: name and path within the workspace.
const FETCHED: [(&str, &str); 3] = [
    ("linux", "build/linux/Image"),
    ("initramfs", "build/linux/initramfs.cpio"),
    ("initramfs-disk", "build/linux/initramfs-disk.cpio"),
];

/// The environment variable that names a directory of artifacts.
pub const VARIABLE: &str = "TACTUS_ARTIFACTS";
/// The file in such a directory that says which version of Tactus made it.
pub const VERSION_FILE: &str = "VERSION";
/// The firmware in such a directory.
pub const FIRMWARE_FILE: &str = "fw_dynamic.bin";
/// The firmware's path within the workspace, to which `make setup` fetches it.
const FIRMWARE_PATH: &str = "build/opensbi/fw_dynamic.bin";
/// What this process takes.
static CHOSEN: OnceLock<Artifacts> = OnceLock::new();

/// What this process has brought up to date in the clone, whose sources do not change while it runs: experiments of
/// many runs want the same artifacts again and again.
static FRESH: Mutex<BTreeMap<(Kind, String), PathBuf>> = Mutex::new(BTreeMap::new());

/// What is kept in [`FRESH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Program,
    Model,
}

fn fresh() -> MutexGuard<'static, BTreeMap<(Kind, String), PathBuf>> {
    FRESH.lock().unwrap_or_else(PoisonError::into_inner)
}

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

impl From<Missing> for miette::Report {
    fn from(missing: Missing) -> Self {
        miette::miette!(help = missing.cure, "{}", missing.reason)
    }
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
    /// Decides for this process: the directory given; else the one that the environment names; else the one that
    /// an unpacked release has beside its program; else a clone.
    ///
    /// # Errors
    /// The directory was made by another version.
    pub fn choose(given: Option<PathBuf>) -> Result<(), Missing> {
        let of_environment = || std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
        let directory = given
            .or_else(|| of_environment().map(PathBuf::from))
            .or_else(beside_program);
        let chosen = match directory {
            None => Self::Workspace,
            Some(directory) => {
                check_version(&directory)?;
                Self::Directory(directory)
            }
        };
        // The first choice holds.
        let _ = CHOSEN.set(chosen);
        Ok(())
    }

    /// What was decided; a clone where nothing was.
    pub fn chosen() -> Self {
        CHOSEN.get().cloned().unwrap_or(Self::Workspace)
    }

    /// The directory, where they are in one.
    pub fn directory(&self) -> Option<&Path> {
        match self {
            Self::Directory(directory) => Some(directory),
            Self::Workspace => None,
        }
    }

    /// The files of these artifacts. Those of the workspace are brought up to date first, which takes
    /// no time when they are.
    pub fn files(&self, names: &[&str]) -> Files {
        match self {
            Self::Directory(directory) => files_in(directory, names),
            Self::Workspace => workspace_files(names),
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
            Self::Workspace => {
                let key = (Kind::Model, design.to_owned());
                if let Some(path) = fresh().get(&key) {
                    return Ok(path.clone());
                }
                let path = Workspace::find()?.model(design)?;
                fresh().insert(key, path.clone());
                Ok(path)
            }
        }
    }

    /// The firmware that the board and QEMU start: OpenSBI's `fw_dynamic.bin`, of the version that
    /// `setup/packages.lock` names, whatever this system has installed.
    ///
    /// # Errors
    /// It is not to be had.
    pub fn firmware(&self) -> Result<PathBuf, Missing> {
        let path = match self {
            Self::Directory(directory) => directory.join(FIRMWARE_FILE),
            Self::Workspace => Workspace::root()?.join(FIRMWARE_PATH),
        };
        if path.is_file() {
            return Ok(path);
        }
        let cure = match self {
            Self::Directory(_) => "put OpenSBI's fw_dynamic.bin there",
            Self::Workspace => "run `make setup`, which fetches it",
        };
        Err(Missing::now(
            format!("the firmware is not there: no file {}", path.display()),
            cure,
        ))
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

/// The artifacts of an unpacked release, in which this program is `bin/tactus`.
fn beside_program() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    let directory = program.parent()?.parent()?.join("artifacts");
    directory.join(VERSION_FILE).is_file().then_some(directory)
}

/// The files of artifacts of the workspace, each brought up to date once.
fn workspace_files(names: &[&str]) -> Files {
    let key = |name: &str| (Kind::Program, name.to_owned());
    let mut files = Files::new();
    let mut wanted = Vec::new();
    for &name in names {
        match fresh().get(&key(name)) {
            Some(path) => {
                files.insert(name.to_owned(), Ok(path.clone()));
            }
            None => wanted.push(name),
        }
    }
    if wanted.is_empty() {
        return files;
    }
    let built = match Workspace::find() {
        Ok(workspace) => workspace.files(&wanted),
        Err(missing) => all(&wanted, &missing),
    };
    for (name, file) in &built {
        if let Ok(path) = file {
            fresh().insert(key(name), path.clone());
        }
    }
    files.extend(built);
    files
}

/// Refuses a directory that another version has made: formats may differ. One without a version is taken as it is.
fn check_version(directory: &Path) -> Result<(), Missing> {
    const OWN: &str = env!("CARGO_PKG_VERSION");
    match std::fs::read_to_string(directory.join(VERSION_FILE)) {
        Ok(text) if text.trim() != OWN => Err(Missing::now(
            format!(
                "the artifacts in {} are of Tactus {}, and this is Tactus {OWN}",
                directory.display(),
                text.trim()
            ),
            "make them again with `tactus artifacts DIR` in a clone of this version",
        )),
        _ => Ok(()),
    }
}

/// What a clone of the project has.
#[derive(Clone, Debug)]
pub struct Inventory {
    /// Where it is.
    pub root: PathBuf,
    /// The names of all artifacts, the hypervisor's too, sorted.
    pub names: Vec<String>,
}

impl Inventory {
    /// Of the clone around the current directory, or else the one this program was built in.
    ///
    /// # Errors
    /// There is none.
    pub fn find() -> Result<Self, Missing> {
        let workspace = Workspace::find()?;
        let mut names: Vec<String> = workspace.known().into_iter().map(str::to_owned).collect();
        names.extend(HYPERVISORS.map(str::to_owned));
        names.sort_unstable();
        names.dedup();
        Ok(Self {
            root: workspace.root,
            names,
        })
    }
}

/// No clone, and no directory was named.
pub(crate) fn no_clone() -> Missing {
    Missing::now(
        "no clone of Tactus here, and no artifacts",
        format!(
            "give --artifacts DIR, or set {VARIABLE}; `tactus artifacts DIR` makes such a directory, in a clone"
        ),
    )
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
        let cure = match FETCHED.iter().find(|(known, _)| *known == name) {
            // Its binaries come from Debian, and no release passes them on.
            Some((_, built)) => format!(
                "copy {built} of a clone there, after `make setup` in it; a release is without Linux"
            ),
            None => {
                "put the artifact there under its own name, or leave `--artifacts` out".to_owned()
            }
        };
        Err(Missing::now(
            format!("there is no {}", path.display()),
            cure,
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
        let root = Self::root()?;
        let metadata = metadata(&root)?;
        Ok(Self { root, metadata })
    }

    fn root() -> Result<PathBuf, Missing> {
        root().ok_or_else(no_clone)
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
            .filter(|name| !HYPERVISORS.contains(name));
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
        let no_flow = |error: std::io::Error| {
            Missing::now(
                format!("cannot run the fabric's flow: {error}"),
                "run `make setup`, which installs what it needs",
            )
        };
        let progress = Progress::start(format!("loading the design {design}"));
        let mut flow = Command::new(self.root.join("fabric/flow.py"))
            .args(["model", design])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(no_flow)?;
        if let Some(stderr) = flow.stderr.take() {
            progress.follow(stderr, status_of_flow).map_err(no_flow)?;
        }
        // Its path is all that it writes there.
        let output = flow.wait_with_output().map_err(no_flow)?;
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
        command
            .current_dir(&self.root)
            .args(["build", "--profile", PROFILE, "--target", TARGET]);
        for (package, program) in programs {
            command.args(["--package", package, "--bin", program]);
        }
        // All programs of a release do not fit on a line.
        let what = if programs.len() > PROGRAMS_NAMED_MAX {
            format!("{} programs", programs.len())
        } else {
            let names: Vec<&str> = programs.iter().map(|(_, name)| *name).collect();
            names.join(", ")
        };
        let progress = Progress::start(format!("building {what}"));
        command
            .env("CARGO_TERM_PROGRESS_WHEN", "always")
            .env("CARGO_TERM_PROGRESS_WIDTH", "100");
        if std::io::stderr().is_terminal() {
            command.args(["--color", "always"]);
        }
        let mut cargo = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| no_cargo(&error))?;
        if let Some(stderr) = cargo.stderr.take() {
            progress
                .follow(stderr, status_of_cargo)
                .map_err(|error| no_cargo(&error))?;
        }
        let status = cargo.wait().map_err(|error| no_cargo(&error))?;
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

/// What a line of Cargo's says of its progress. `None`: it says something else, which is for the user.
fn status_of_cargo(line: &str) -> Option<String> {
    const DONE: [&str; 9] = [
        "Compiling",
        "Finished",
        "Fresh",
        "Dirty",
        "Blocking",
        "Downloading",
        "Downloaded",
        "Updating",
        "Locking",
    ];
    let line = line.trim();
    // "Building [===>   ] 3/40: tactus-hypervisor(bin)"
    if let Some((_, units)) = line
        .strip_prefix("Building [")
        .and_then(|bar| bar.split_once("] "))
    {
        return Some(units.to_owned());
    }
    let word = line.split(' ').next().unwrap_or_default();
    (DONE.contains(&word) || word.is_empty()).then(|| line.to_owned())
}

/// What a line of `fabric/flow.py` says of its progress. `None`: it says something else, which is for the user.
fn status_of_flow(line: &str) -> Option<String> {
    let status = line.strip_prefix("flow: compiling the model of design ")?;
    Some(format!("compiling its model, {status}"))
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
    fn artifacts_of_another_version_are_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        assert_eq!(check_version(directory.path()), Ok(()));
        let file = directory.path().join(VERSION_FILE);
        std::fs::write(&file, concat!(env!("CARGO_PKG_VERSION"), "\n")).expect("a file");
        assert_eq!(check_version(directory.path()), Ok(()));
        std::fs::write(&file, "9.9.9\n").expect("a file");
        let missing = check_version(directory.path()).expect_err("another version");
        assert_eq!(
            missing.reason,
            format!(
                "the artifacts in {} are of Tactus 9.9.9, and this is Tactus {}",
                directory.path().display(),
                env!("CARGO_PKG_VERSION")
            )
        );
    }

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
    fn what_a_build_says_of_its_progress_is_told_from_its_messages() {
        let status = |line| status_of_cargo(line).expect("progress");
        let bar = "    Building [====>    ] 3/40: tactus-policy, tactus-hypervisor(bin)";
        assert_eq!(status(bar), "3/40: tactus-policy, tactus-hypervisor(bin)");
        let unit = "   Compiling tactus-abi v0.1.0 (/here/abi)";
        assert_eq!(status(unit), "Compiling tactus-abi v0.1.0 (/here/abi)");
        assert_eq!(status_of_cargo("warning: unused variable: `x`"), None);
        assert_eq!(status_of_cargo("  --> abi/src/lib.rs:1:1"), None);
        let flow = "flow: compiling the model of design io: 5 s, 3 of 54 files";
        let status = status_of_flow(flow).expect("progress");
        assert_eq!(status, "compiling its model, io: 5 s, 3 of 54 files");
        assert_eq!(status_of_flow("flow: the model does not compile"), None);
    }

    #[test]
    fn the_firmware_of_a_directory_is_called_as_opensbi_calls_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let artifacts = Artifacts::Directory(directory.path().into());
        let missing = artifacts.firmware().expect_err("it is not there");
        let path = directory.path().join("fw_dynamic.bin");
        let reason = format!("the firmware is not there: no file {}", path.display());
        assert_eq!(missing.reason, reason);
        assert_eq!(missing.cure, "put OpenSBI's fw_dynamic.bin there");
        std::fs::write(&path, b"x").expect("a file");
        assert_eq!(artifacts.firmware(), Ok(path));
    }

    #[test]
    fn a_directory_serves_what_is_in_it() {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(directory.path().join("guest"), b"x").expect("a file");
        let artifacts = Artifacts::Directory(directory.path().into());
        let files = artifacts.files(&["guest", "other"]);
        assert_eq!(files["guest"], Ok(directory.path().join("guest")));
        assert!(!files["other"].as_ref().expect_err("not there").unknown);
        let linux = artifacts.file("linux").expect_err("not there");
        assert_eq!(
            linux.cure,
            "copy build/linux/Image of a clone there, after `make setup` in it; a release is without Linux"
        );
    }
}
