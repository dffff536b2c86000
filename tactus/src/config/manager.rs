//! The device manager of a system whose VMs have accelerators and that names none.

use super::{
    Accelerators, At, Class, Config, FileName, Nanoseconds, OnFault, Size, Span, Vcpu, Vm,
};

/// Its name, and the artifact that it is.
const NAME: &str = "device-manager";
/// Its memory: bitstreams and its own.
const MEMORY: Size = Size(4 << 20);
/// Its hart, its time in every period, and its priority at least.
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
