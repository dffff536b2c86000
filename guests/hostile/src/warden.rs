//! The guest that another VM's `on_fault = { signal = ... }` names: it is signalled when that VM faults, queries its
//! status, and restarts it.
//!
//! Boot arguments: `ward=N`: the VM's index in `system.toml`, from 0; `faults=N` (3): number of faults to wait for.
//! After the last one it leaves the VM stopped. It also verifies that it cannot access any other VM: each other number
//! must be refused.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::{
    abi::{blob::limit, hypercall::VmState, map},
    devicetree, hypervisor,
    plic::Plic,
    println, record,
    sbi::Error,
    start, trap,
};

tactus_guest::entry!(main);

static SIGNALS: AtomicU64 = AtomicU64::new(0);

fn main() {
    let ward = devicetree::number("ward", 0) as usize;
    let faults = devicetree::number("faults", 3);
    println!("warden of VM {ward}, waits for {faults} faults");
    trap::on_external(|source| {
        if source == map::FAULT_SOURCE {
            SIGNALS.fetch_add(1, Ordering::Relaxed);
        }
    });
    Plic::of_hart(start::hart()).enable(map::FAULT_SOURCE, 1);

    let mut strangers = 0;
    for vm in 0..=limit::VMS {
        match hypervisor::vm_status(vm) {
            Ok(_) if vm == ward => {}
            Ok(_) => strangers += 1,
            Err(Error::Denied | Error::InvalidParam) if vm != ward => {}
            Err(error) => panic!("status of VM {vm}: {error:?}"),
        }
        if vm != ward {
            let answer = hypervisor::vm_restart(vm);
            assert!(
                matches!(
                    answer,
                    Err(Error::Denied | Error::InvalidParam | Error::AlreadyAvailable)
                ),
                "restart of VM {vm}: {answer:?}"
            );
        }
    }
    // Of the other numbers, only the warden's own may be queried.
    assert!(strangers == 1, "{strangers} VMs other than the ward answer");

    for fault in 1..=faults {
        wait_for_signal(fault);
        let status = hypervisor::vm_status(ward);
        println!("fault {fault}: {status:?}");
        let status = match status {
            Ok(status) => status,
            Err(error) => panic!("status of the faulted VM: {error:?}"),
        };
        assert!(
            status.state == Some(VmState::Faulted) && status.cause != 0,
            "a VM that signals has faulted, but its state is {status:?}"
        );
        record::metric("warden_cause", status.cause, "count");
        if fault < faults {
            let answer = hypervisor::vm_restart(ward);
            assert!(answer.is_ok(), "restart of the faulted VM: {answer:?}");
        }
    }
    record::metric("warden_faults", faults, "count");
    record::pass(start::program());
}

/// Sleeps until `number` signals have arrived.
fn wait_for_signal(number: u64) {
    loop {
        // No interrupt may be lost between the check and the sleep: it is taken after the sleep.
        trap::disable_interrupts();
        if SIGNALS.load(Ordering::Relaxed) >= number {
            break;
        }
        trap::wait_for_interrupt();
        trap::enable_interrupts();
    }
}
