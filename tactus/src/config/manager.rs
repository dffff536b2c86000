//! VMs that a system gets without naming them: the device manager where VMs have accelerators, and the manager that the
//! page of a run needs.

use super::{
    Accelerators, At, Class, Config, FileName, Nanoseconds, OnFault, Size, Span, Vcpu, Vm,
};

/// The names that the page's manager may get, and the artifact that it is.
const PAGE_NAMES: [&str; 2] = ["manager", "page-manager"];
const PAGE_ARTIFACT: &str = "manager";

/// The device manager's name, and the artifact that it is.
const NAME: &str = "device-manager";
/// The memory of either: of the device manager, bitstreams and its own.
const MEMORY: Size = Size(4 << 20);
/// The device manager's hart, its time in every period, and its priority at least.
const HART: u32 = 0;
const PERIOD: Nanoseconds = Nanoseconds(500_000);
const BUDGET: Nanoseconds = Nanoseconds(150_000);
const PRIORITY: u32 = 200;
const PRIORITY_MAX: u32 = 255;

impl Config {
    /// Adds a device manager where VMs have accelerators of a design, and no manager is named. What is said of it is
    /// said at `[accelerators]`, or else at the first accelerator.
    pub(super) fn add_manager(&mut self) {
        let first = self.vms.iter().find_map(|vm| vm.accelerators.first());
        let Some(span) = first.map(|first| first.span.clone()) else {
            return;
        };
        if self.design.is_none() {
            return;
        }
        let table = self.accelerators.get_or_insert(Accelerators {
            span,
            manager: None,
            hold: None,
            give_up: None,
            turn: None,
            turn_every: None,
            allocator: None,
            costs: None,
        });
        if table.manager.is_some() {
            return;
        }
        let span = table.span.clone();
        table.manager = Some(at(NAME.to_owned(), &span));
        let clients = self.vms.iter().filter(|vm| !vm.accelerators.is_empty());
        let priorities = clients
            .flat_map(|vm| &vm.vcpus)
            .filter_map(|vcpu| Some(vcpu.priority.as_ref()?.value));
        let above = priorities.max().map_or(0, |most| most.saturating_add(1));
        let manager = manager(&span, above.clamp(PRIORITY, PRIORITY_MAX));
        self.vms.push(manager);
    }

    /// The VM whose console the page's requests go to: the first that manages others, or one that is added and manages
    /// all. `None`: no name is left for it.
    pub(crate) fn page_manager(&mut self) -> Option<String> {
        let manages = |vm: &&Vm| vm.manages.as_ref().is_some_and(|all| !all.value.is_empty());
        if let Some(vm) = self.vms.iter().find(manages) {
            return vm.name.as_ref().map(|name| name.value.clone());
        }
        let span = &self.system.span.clone();
        let names: Vec<_> = self.vms.iter().filter_map(|vm| vm.name.clone()).collect();
        let is_free = |wanted: &&str| names.iter().all(|name| name.value != **wanted);
        let name = PAGE_NAMES.into_iter().find(is_free)?.to_owned();
        let vcpu = Vcpu {
            class: Some(at(Class::Be, span)),
            ..Vcpu::empty(span.clone())
        };
        self.vms.push(Vm {
            name: Some(at(name.clone(), span)),
            image: Some(at(FileName::Artifact(PAGE_ARTIFACT.to_owned()), span)),
            memory: Some(at(MEMORY, span)),
            manages: Some(at(names, span)),
            vcpus: vec![vcpu],
            ..Vm::empty(span.clone())
        });
        Some(name)
    }
}

fn manager(span: &Span, priority: u32) -> Vm {
    let vcpu = Vcpu {
        class: Some(at(Class::Rt, span)),
        hart: Some(at(HART, span)),
        priority: Some(at(priority, span)),
        period: Some(at(PERIOD, span)),
        budget: Some(at(BUDGET, span)),
        ..Vcpu::empty(span.clone())
    };
    Vm {
        name: Some(at(NAME.to_owned(), span)),
        image: Some(at(FileName::Artifact(NAME.to_owned()), span)),
        memory: Some(at(MEMORY, span)),
        on_fault: OnFault::Restart,
        vcpus: vec![vcpu],
        ..Vm::empty(span.clone())
    }
}

fn at<T>(value: T, span: &Span) -> At<T> {
    At {
        value,
        span: span.clone(),
    }
}
