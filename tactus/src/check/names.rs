//! Names: well formed, unique, and those that refer to VMs.

use tactus_abi::blob::limit;

use super::judge::Judge;
use crate::config::{At, OnFault};
use crate::plan;
use crate::problem::{Code, Problem};

/// Bytes of a device's name: what a devicetree node's name may have (Devicetree Specification, section 2.2.1).
const DEVICE_NAME_MAX: usize = 31;

/// Judges all names.
pub(super) fn check(judge: &mut Judge<'_>) {
    let config = judge.config;
    let vms: Vec<_> = config
        .vms
        .iter()
        .filter_map(|vm| vm.name.as_ref())
        .collect();
    let channels: Vec<_> = config
        .channels
        .iter()
        .filter_map(|c| c.name.as_ref())
        .collect();
    let devices = config.vms.iter().flat_map(|vm| &vm.devices);
    for name in &vms {
        well_formed(judge, "VM", name, limit::NAME);
    }
    for name in &channels {
        well_formed(judge, "channel", name, limit::NAME);
    }
    for name in devices.filter_map(|device| device.name.as_ref()) {
        well_formed(judge, "device", name, DEVICE_NAME_MAX);
    }
    unique(judge, "VM", &vms);
    unique(judge, "channel", &channels);
    let chains: Vec<_> = config
        .chains
        .iter()
        .filter_map(|c| c.name.as_ref())
        .collect();
    for name in &chains {
        well_formed(judge, "chain", name, limit::NAME);
    }
    unique(judge, "chain", &chains);
}

pub(super) fn well_formed(judge: &mut Judge<'_>, what: &str, name: &At<String>, bytes_max: usize) {
    let text = &name.value;
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) || !text.chars().all(allowed) {
        judge.note(
            Code::BadName,
            &name.span,
            "not a name",
            format!("a {what}'s name is a letter, then letters, digits, `-` and `_`"),
            "choose another; it appears in devicetrees and in records whose fields are parted by spaces",
        );
    } else if text.len() > bytes_max {
        judge.note(
            Code::BadName,
            &name.span,
            format!("{} bytes", text.len()),
            format!("a {what}'s name has at most {bytes_max} bytes"),
            "shorten it",
        );
    }
}

pub(super) fn unique(judge: &mut Judge<'_>, what: &str, names: &[&At<String>]) {
    for (i, name) in names.iter().enumerate() {
        let Some(first) = names[..i].iter().find(|other| other.value == name.value) else {
            continue;
        };
        let problem = Problem::new(
            Code::DuplicateName,
            format!("two {what}s are called `{}`", name.value),
            "rename one of them",
        );
        let problem = problem.at(judge.source(), &name.span, "again here").at(
            judge.source(),
            &first.span,
            "first here",
        );
        judge.add(problem);
    }
}

/// Judges one VM's policy.
pub(super) fn on_fault(judge: &mut Judge<'_>, index: usize) -> plan::OnFault {
    let vm = &judge.config.vms[index];
    let OnFault::Signal(signalled) = &vm.on_fault else {
        return match vm.on_fault {
            OnFault::Restart => plan::OnFault::Restart,
            _ => plan::OnFault::Halt,
        };
    };
    let own = vm.name.as_ref().map_or("", |name| &name.value);
    match judge.resolve_vm(signalled, &format!("`on_fault` of {}", vm.title()), &[own]) {
        Some(target) if target != index => plan::OnFault::Signal(target),
        Some(_) => {
            judge.note(
                Code::SelfReference,
                &signalled.span,
                "the VM itself",
                format!(
                    "{} signals its fault to itself, but then it is stopped",
                    vm.title()
                ),
                "name another VM, or use `on_fault = \"restart\"`",
            );
            plan::OnFault::Halt
        }
        None => plan::OnFault::Halt,
    }
}
