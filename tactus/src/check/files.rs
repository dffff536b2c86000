//! The files that a system is made of.

use std::path::{Path, PathBuf};

use super::judge::Judge;
use super::parts;
use crate::artifacts::{Artifacts, Files, Missing};
use crate::config::{At, FileName};
use crate::guest_image::GuestImage;
use crate::hypervisor::Hypervisor;
use crate::problem::{Code, Problem, io_reason};

/// What was read.
pub(super) struct Contents {
    /// The hypervisor, and the file it is in.
    pub(super) hypervisor: Option<(PathBuf, Hypervisor)>,
    /// Each VM's files.
    pub(super) guests: Vec<GuestFiles>,
}

/// A VM's files.
pub(super) struct GuestFiles {
    /// `None` when there is none that could run.
    pub(super) image: Option<GuestImage>,
    /// Where it is.
    pub(super) path: Option<PathBuf>,
    /// `None` when it wants none, or it cannot be read.
    pub(super) initrd: Option<Vec<u8>>,
    /// Where it is.
    pub(super) initrd_path: Option<PathBuf>,
}

/// Reads every file. The firmware enters the hypervisor at `base`.
pub(super) fn read(judge: &mut Judge<'_>, artifacts: &Artifacts, base: Option<u64>) -> Contents {
    let config = judge.config;
    let named = config.vms.iter().flat_map(|vm| [&vm.image, &vm.initrd]);
    let named = named.flatten().filter_map(|name| artifact(&name.value));
    let program = parts::hypervisor(parts::needed(config), parts::memory(config));
    let files = artifacts.files(&sorted(named.chain([program]).collect()));

    let mut contents = Contents {
        hypervisor: base.and_then(|base| hypervisor(judge, files.get(program)?, base)),
        guests: Vec::new(),
    };
    for vm in &config.vms {
        let image = vm.image.as_ref().and_then(|name| {
            let bytes = read_file(judge, &files, name, &format!("the image of {}", vm.title()))?;
            parse_image(judge, name, &bytes, &vm.title())
        });
        let initrd = vm.initrd.as_ref().and_then(|name| {
            read_file(
                judge,
                &files,
                name,
                &format!("the initrd of {}", vm.title()),
            )
        });
        let [path, initrd_path] = [&vm.image, &vm.initrd].map(|name| {
            name.as_ref()
                .and_then(|name| path_of(judge, &files, name)?.ok())
        });
        contents.guests.push(GuestFiles {
            image,
            path,
            initrd,
            initrd_path,
        });
    }
    contents
}

/// Reads every VM's image alone: its bytes, and what is in them.
pub(super) fn images(
    judge: &mut Judge<'_>,
    artifacts: &Artifacts,
) -> Vec<Option<(Vec<u8>, GuestImage)>> {
    let config = judge.config;
    let named = config.vms.iter().filter_map(|vm| vm.image.as_ref());
    let names: Vec<&str> = named.filter_map(|name| artifact(&name.value)).collect();
    let files = artifacts.files(&sorted(names));
    let mut images = Vec::new();
    for vm in &config.vms {
        images.push(vm.image.as_ref().and_then(|name| {
            let bytes = read_file(judge, &files, name, &format!("the image of {}", vm.title()))?;
            let image = parse_image(judge, name, &bytes, &vm.title())?;
            Some((bytes, image))
        }));
    }
    images
}

/// The name of what this project builds.
fn artifact(name: &FileName) -> Option<&str> {
    match name {
        FileName::Artifact(name) => Some(name),
        FileName::Path(_) => None,
    }
}

/// Each once.
fn sorted(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_unstable();
    names.dedup();
    names
}

fn hypervisor(
    judge: &mut Judge<'_>,
    file: &Result<PathBuf, Missing>,
    base: u64,
) -> Option<(PathBuf, Hypervisor)> {
    let path = match file {
        Ok(path) => path,
        Err(missing) => {
            judge.add(Problem::new(
                Code::NoArtifact,
                missing.reason.clone(),
                missing.cure.clone(),
            ));
            return None;
        }
    };
    let parsed = std::fs::read(path)
        .map_err(|error| format!("cannot be read: {}", io_reason(&error)))
        .and_then(|bytes| Hypervisor::parse(&bytes, base));
    match parsed {
        Ok(hypervisor) => Some((path.clone(), hypervisor)),
        Err(reason) => {
            judge.add(Problem::new(
                Code::BadHypervisor,
                format!("the hypervisor, {}, {reason}", path.display()),
                "build hypervisor and tool from the same source",
            ));
            None
        }
    }
}

/// Where a file is.
fn path_of<'f>(
    judge: &Judge<'_>,
    files: &'f Files,
    name: &At<FileName>,
) -> Option<Result<PathBuf, &'f Missing>> {
    Some(match &name.value {
        FileName::Path(path) => Ok(judge.config.directory.join(path)),
        FileName::Artifact(artifact) => files.get(artifact)?.as_ref().cloned(),
    })
}

fn read_file(
    judge: &mut Judge<'_>,
    files: &Files,
    name: &At<FileName>,
    what: &str,
) -> Option<Vec<u8>> {
    let path = match path_of(judge, files, name)? {
        Ok(path) => path,
        Err(missing) => {
            missing_artifact(judge, name, missing, what);
            return None;
        }
    };
    match read_regular(&path) {
        Ok(bytes) => Some(bytes),
        Err(reason) => {
            judge.note(
                Code::MissingFile,
                &name.span,
                "cannot be read",
                format!("{what} cannot be read: {reason}"),
                "correct the path; it is relative to this file's directory",
            );
            None
        }
    }
}

/// A file's contents. Anything but a regular file is refused: reading a pipe or a device may never end.
pub(super) fn read_regular(path: &Path) -> Result<Vec<u8>, String> {
    let metadata = std::fs::metadata(path).map_err(|error| io_reason(&error))?;
    if metadata.is_dir() {
        return Err("it is a directory".into());
    }
    if !metadata.is_file() {
        return Err("it is not a regular file".into());
    }
    std::fs::read(path).map_err(|error| io_reason(&error))
}

fn missing_artifact(judge: &mut Judge<'_>, name: &At<FileName>, missing: &Missing, what: &str) {
    let code = if missing.unknown {
        Code::MissingFile
    } else {
        Code::NoArtifact
    };
    let message = format!("{what} cannot be had: {}", missing.reason);
    judge.note(code, &name.span, "not there", message, missing.cure.clone());
}

fn parse_image(
    judge: &mut Judge<'_>,
    name: &At<FileName>,
    bytes: &[u8],
    vm: &str,
) -> Option<GuestImage> {
    let path = match &name.value {
        FileName::Path(path) => path.clone(),
        FileName::Artifact(name) => PathBuf::from(name),
    };
    match GuestImage::parse(bytes) {
        Ok(image) => Some(image),
        Err(unfit) => {
            judge.note(
                Code::BadImage,
                &name.span,
                "no image that a VM can run",
                format!("the image of {vm} {unfit}"),
                unfit.cure(&path),
            );
            None
        }
    }
}
