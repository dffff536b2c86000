//! VMs that manage others.

use super::judge::Judge;
use super::parts;
use crate::config::{At, Vm};
use crate::problem::{Code, Problem};

/// The VMs that each VM manages, in their order.
pub(super) fn check(judge: &mut Judge<'_>) -> Vec<Vec<usize>> {
    let config = judge.config;
    let vms = config.vms.iter().enumerate();
    let managed = vms.map(|(index, vm)| managed(judge, index, vm)).collect();
    let mut managers = config.vms.iter().filter(|vm| parts::manages(vm));
    if let Some(key) = managers.next().and_then(|vm| vm.manages.as_ref()) {
        is_possible(judge, key);
    }
    managed
}

/// The VMs that one manages; notes names of none, its own, and those that come twice.
fn managed(judge: &mut Judge<'_>, index: usize, vm: &Vm) -> Vec<usize> {
    let what = format!("`manages` of {}", vm.title());
    let own = vm.name.as_ref().map_or("", |name| &name.value);
    let mut seen: Vec<(usize, &At<String>)> = Vec::new();
    for name in vm.manages.iter().flat_map(|names| &names.value) {
        let Some(other) = judge.resolve_vm(name, &what, &[own]) else {
            continue;
        };
        if other == index {
            judge.note(
                Code::SelfReference,
                &name.span,
                "the VM itself",
                format!("{what} names the VM itself"),
                "remove it: a VM restarts or ends by calls of its own",
            );
            continue;
        }
        if let Some((_, first)) = seen.iter().find(|(known, _)| *known == other) {
            let message = format!("{what} names VM `{}` twice", name.value);
            let problem = Problem::new(Code::DuplicateName, message, "remove one of the two");
            let problem = problem.at(judge.source(), &name.span, "again here");
            judge.add(problem.at(judge.source(), &first.span, "first here"));
            continue;
        }
        seen.push((other, name));
    }
    let mut managed: Vec<usize> = seen.into_iter().map(|(vm, _)| vm).collect();
    managed.sort_unstable();
    managed
}

/// Only one hypervisor lets VMs manage others, and has neither PCI functions nor the on-chip memory.
fn is_possible(judge: &mut Judge<'_>, key: &At<Vec<At<String>>>) {
    let Some(what) = parts::fixed_hypervisor(judge.config) else {
        return;
    };
    judge.note(
        Code::NoManagement,
        &key.span,
        "not with this hypervisor",
        format!("no hypervisor has both `manages` and what {what} need"),
        format!("remove {what}, or `manages`"),
    );
}
