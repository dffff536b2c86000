//! Devices that VMs emulate for others.

use crate::harness::{On, explain, on_both, run};

/// A driver uses a device that another VM emulates in every way; a fault of that VM is its own, and the driver goes on.
fn an_access_is_a_call_of_another_vm(on: On) {
    let outcome = run(on, "systems/emulated-device.toml", Some("driver"));
    let driver = outcome.journal.vm("driver").expect("the system has it");
    assert_eq!(driver.passed, ["device-selftest"], "{}", explain(&outcome));
    // The first after the fault, at least.
    assert!(driver.lost_accesses > 0, "{}", explain(&outcome));
    let faults: Vec<_> = outcome
        .journal
        .faults
        .iter()
        .map(|fault| fault.vm.as_str())
        .collect();
    assert_eq!(faults, ["device"], "{}", explain(&outcome));
}

on_both!(an_access_is_a_call_of_another_vm);
