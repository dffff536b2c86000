//! Shared memory by ivshmem version 2.

use crate::harness::{On, explain, figure, on_both, root, run, run_text};

/// What Linux does with the function.
const LINUX: [&str; 12] = [
    "ivshmem_id",
    "ivshmem_alone",
    "ivshmem_registers",
    "ivshmem_describe",
    "ivshmem_own_state",
    "ivshmem_irq",
    "ivshmem_silent",
    "ivshmem_interrupt",
    "ivshmem_again",
    "ivshmem_reset",
    "ivshmem_answers",
    "ivshmem_usage",
];

/// Debian's kernel enumerates the function, and its user space shares memory and states with a guest in Rust.
fn linux_and_a_guest_share_memory(on: On) {
    let outcome = run(on, "systems/ivshmem.toml", Some("linux"));
    let linux = outcome.journal.vm("linux").expect("the system has it");
    assert_eq!(linux.passed, LINUX, "{}", explain(&outcome));
    assert_eq!(linux.lost_accesses, 0, "{}", explain(&outcome));
    assert_eq!(outcome.journal.faults.len(), 0, "{}", explain(&outcome));
    let rust = outcome.journal.vm("rust").expect("the system has it");
    assert_eq!(rust.failed, [], "{}", explain(&outcome));
}

/// The system with functions of version 1: the memory is their BAR 2, at a multiple of its size.
fn plain() -> String {
    let path = root().join("systems/ivshmem.toml");
    let mut text = std::fs::read_to_string(path).expect("it is there");
    for (own, other, count) in [
        ("protocol=16385 output=4096", "version=1", 1),
        ("tactus.run=ivshmem", "tactus.run=plain", 1),
        ("role=answer", "role=plain", 1),
        ("size = \"4KiB\"", "size = \"60KiB\"", 2),
    ] {
        assert_eq!(text.matches(own).count(), count, "{own}");
        text = text.replace(own, other);
    }
    text
}

/// Debian's kernel and a guest in Rust share memory that is a function's BAR.
fn linux_and_a_guest_share_memory_by_version_1(on: On) {
    let outcome = run_text(on, &plain(), Some("linux"));
    let linux = outcome.journal.vm("linux").expect("the system has it");
    let wanted = ["plain_id", "plain_memory", "plain_answer"];
    assert_eq!(linux.passed, wanted, "{}", explain(&outcome));
    let rust = outcome.journal.vm("rust").expect("the system has it");
    assert_eq!(rust.failed, [], "{}", explain(&outcome));
    assert_eq!(outcome.journal.faults.len(), 0, "{}", explain(&outcome));
}

/// The system with two guests in Rust, with other roles, and other arguments of the service.
fn guests(left: &str, right: &str, service: &str) -> String {
    let path = root().join("systems/ivshmem-guests.toml");
    let mut text = std::fs::read_to_string(path).expect("it is there");
    for (own, other) in [
        ("role=ask", left),
        ("role=answer", right),
        ("output=4096", service),
    ] {
        assert_eq!(text.matches(own).count(), 1, "{own}");
        text = text.replace(own, other);
    }
    text
}

/// Each guest waits by interrupts alone.
fn guests_share_memory_and_interrupt_each_other(on: On) {
    let text = guests("role=ask", "role=answer", "output=4096");
    for harts in [1, 2] {
        let text = text.replace("harts = 2", &format!("harts = {harts}"));
        // The order of both ends does not matter.
        for text in [
            text.clone(),
            text.replace("[\"left\", \"right\"]", "[\"right\", \"left\"]"),
        ] {
            let outcome = run_text(on, &text, Some("left"));
            for vm in ["left", "right"] {
                let vm = outcome.journal.vm(vm).expect("the system has it");
                assert_eq!(vm.passed, ["ivshmem-peer"], "{}", explain(&outcome));
            }
            // One for each answer, and those of the states.
            assert!(figure(&outcome, "right", "interrupts") >= 100.0);
            assert_eq!(outcome.journal.faults.len(), 0, "{}", explain(&outcome));
        }
    }
}

/// A peer that restarts is reset by its own look for the function, and the other one sees so.
fn a_peer_that_restarts_is_reset(on: On) {
    let text = guests("role=ask", "role=reboot", "output=4096");
    let outcome = run_text(on, &text, Some("left"));
    for vm in ["left", "right"] {
        let vm = outcome.journal.vm(vm).expect("the system has it");
        assert_eq!(vm.passed, ["ivshmem-peer"], "{}", explain(&outcome));
    }
    let right = outcome.journal.vm("right").expect("the system has it");
    assert_eq!(right.restarts, 1, "{}", explain(&outcome));
}

/// The service has a fault after so many accesses of each life: what peers share and their states outlive it, and they
/// are interrupted when it is back.
fn a_link_outlives_the_service(on: On) {
    for accesses in [100, 117] {
        let service = format!("output=4096 faults={accesses}");
        let text = guests("role=ask one_shot=no", "role=answer", &service);
        let outcome = run_text(on, &text, Some("left"));
        for vm in ["left", "right"] {
            let vm = outcome.journal.vm(vm).expect("the system has it");
            assert_eq!(vm.passed, ["ivshmem-peer"], "{}", explain(&outcome));
        }
        let service = outcome.journal.vm("ivshmem").expect("the system has it");
        assert!(service.restarts >= 2, "{}", explain(&outcome));
    }
}

/// A peer that makes any accesses in its window changes nothing of the other one, and the service has no fault.
fn a_hostile_peer_harms_nobody(on: On) {
    for seed in 1..4 {
        let hostile = format!("role=hostile seed={seed}");
        let text = guests("role=guard", &hostile, "output=4096");
        // The guard is done long before.
        let outcome = run_text(on, &text, Some("right"));
        for vm in ["left", "right"] {
            let vm = outcome.journal.vm(vm).expect("the system has it");
            assert_eq!(vm.passed, ["ivshmem-peer"], "{}", explain(&outcome));
        }
        assert_eq!(outcome.journal.faults.len(), 0, "{}", explain(&outcome));
    }
}

/// Three peers, which share no memory, have states that all see, and are told of each other's.
fn three_peers_have_states(on: On) {
    let two = guests("role=guard", "role=guard", "memory=no");
    let vm = "[[vm]]\nname = \"third\"\nimage = \"@ivshmem-peer\"\nmemory = \"4MiB\"\nbootargs = \"role=guard\"\n\n[[vm.vcpu]]\nclass = \"be\"\n";
    let channel = "[[channel]]\nname = \"third\"\nbetween = [\"third\", \"ivshmem\"]\nsize = \"4KiB\"\ncalls = \"50us\"\ndevice = { compatible = \"pci-host-ecam-generic\" }\n";
    let (vms, channels) = two.split_once("[[channel]]").expect("it has some");
    let text = format!("{vms}{vm}\n[[channel]]{channels}\n{channel}");
    for until in ["left", "right", "third"] {
        let outcome = run_text(on, &text, Some(until));
        let guard = outcome.journal.vm(until).expect("the system has it");
        assert_eq!(guard.passed, ["ivshmem-peer"], "{}", explain(&outcome));
        let interrupts = figure(&outcome, until, "interrupts");
        assert!(interrupts > 100.0, "{until}: {interrupts}");
        assert_eq!(outcome.journal.faults.len(), 0, "{}", explain(&outcome));
    }
}

on_both!(
    a_hostile_peer_harms_nobody,
    a_link_outlives_the_service,
    a_peer_that_restarts_is_reset,
    guests_share_memory_and_interrupt_each_other,
    linux_and_a_guest_share_memory,
    linux_and_a_guest_share_memory_by_version_1,
    three_peers_have_states,
);

/// Links that there cannot be are refused by the service, with a reason.
#[test]
fn what_is_no_link_is_refused() {
    let text = guests("role=ask", "role=answer", "output=4096");
    let shared = "between = [\"left\", \"right\"]";
    assert!(text.contains(shared));
    for (text, reason) in [
        (text.replace("output=4096", "output=4095"), "no_pages"),
        (text.replace("output=4096", "output=40960"), "too_many"),
        (text.replace("output=4096", "protocol=65536"), "16_bits"),
        (text.replace("output=4096", "memory=yes"), "memory="),
        (text.replace("output=4096", "version=3"), "1_or_2"),
        (text.replace("output=4096", "version=1"), "multiple_of_them"),
        (
            text.replace(shared, "between = [\"left\", \"ivshmem\"]"),
            "no_PCI_host",
        ),
        (
            text.split("# The memory that")
                .next()
                .unwrap_or("")
                .to_owned(),
            "no_next_channel",
        ),
    ] {
        let outcome = run_text(On::Board, &text, Some("ivshmem"));
        let service = outcome.journal.vm("ivshmem").expect("the system has it");
        let failed = format!("{:?}", service.failed);
        assert!(failed.contains(reason), "{reason}: {}", explain(&outcome));
    }
}
