//! The Tactus hypervisor: a type-1 hypervisor for RISC-V with the hypervisor extension, in HS-mode
//! under any SBI firmware.
//!
//! A guest's trap goes one way: `arch::entry` saves registers, `trap` tells causes apart, a module
//! named after the thing concerned acts (`sbi`, `devices`, `interrupt`), and `sched` decides who runs next with
//! the rules of the `policy` crate.
#![cfg_attr(target_os = "none", no_std, no_main)]
// What only optional parts use.
#![cfg_attr(
    not(all(
        feature = "accelerators",
        feature = "budget-modes",
        feature = "calls",
        feature = "legacy-sbi",
        feature = "messages",
        feature = "migration",
        feature = "ready-queue",
        feature = "reservation-calls"
    )),
    allow(dead_code)
)]

#[cfg(target_os = "none")]
#[cfg_attr(not(feature = "accelerators"), path = "base/accelerators.rs")]
mod accelerators;
#[cfg(target_os = "none")]
#[cfg_attr(not(feature = "reservation-calls"), path = "base/admission.rs")]
mod admission;
#[cfg(target_os = "none")]
mod arch;
#[cfg(target_os = "none")]
mod arena;
#[cfg(target_os = "none")]
mod body;
#[cfg(target_os = "none")]
mod boot;
#[cfg(target_os = "none")]
mod call;
#[cfg(target_os = "none")]
mod console;
#[cfg(target_os = "none")]
mod devices;
#[cfg(target_os = "none")]
mod dispatch;
#[cfg(target_os = "none")]
mod doorbell;
#[cfg(target_os = "none")]
mod exception;
#[cfg(target_os = "none")]
mod exit;
#[cfg(target_os = "none")]
#[cfg(feature = "forwarding")]
mod forwarding;
#[cfg(target_os = "none")]
mod hart;
#[cfg(target_os = "none")]
mod interrupt;
#[cfg(target_os = "none")]
mod interrupt_page;
#[cfg(target_os = "none")]
mod loader;
#[cfg(target_os = "none")]
mod log;
#[cfg(target_os = "none")]
#[cfg(feature = "management")]
mod management;
#[cfg(target_os = "none")]
#[cfg_attr(not(feature = "messages"), path = "base/message.rs")]
mod message;
#[cfg(target_os = "none")]
#[cfg_attr(not(feature = "migration"), path = "base/migration.rs")]
mod migration;
#[cfg(target_os = "none")]
#[cfg(feature = "pci")]
mod pci;
#[cfg(target_os = "none")]
mod plic;
#[cfg(target_os = "none")]
#[cfg_attr(not(feature = "ready-queue"), path = "base/ready.rs")]
mod ready;
#[cfg(target_os = "none")]
mod realtime;
#[cfg(target_os = "none")]
mod sbi;
#[cfg(target_os = "none")]
mod sched;
#[cfg(target_os = "none")]
#[cfg_attr(not(feature = "calls"), path = "base/service.rs")]
mod service;
#[cfg(target_os = "none")]
mod sync;
#[cfg(target_os = "none")]
mod system;
#[cfg(target_os = "none")]
mod trap;
#[cfg(target_os = "none")]
mod vm;

/// A defect of the hypervisor: said, and the machine stopped. No guest can bring this about.
#[cfg(target_os = "none")]
#[cold]
#[track_caller]
fn defect(reason: &str) -> ! {
    last_words(reason, core::panic::Location::caller())
}

/// A defect that the language has found. The place tells it; its words would bring `core::fmt` with them.
#[cfg(target_os = "none")]
#[panic_handler]
#[allow(
    unused_attributes,
    reason = "takes effect all the same, in a program that is one unit"
)]
#[inline(always)]
fn panic(info: &core::panic::PanicInfo) -> ! {
    match info.location() {
        Some(place) => last_words("a broken assumption", place),
        None => defect("a broken assumption"),
    }
}

#[cfg(target_os = "none")]
#[inline(never)]
fn last_words(reason: &str, place: &core::panic::Location) -> ! {
    log::Line::new()
        .begin("panic")
        .text("reason", reason)
        .words(" at ")
        .words(place.file())
        .words(":")
        .decimal(place.line().into())
        .send_past_locks();
    arch::firmware::power_off()
}

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("the hypervisor runs on the bare machine: `tactus run SYSTEM.toml` boots it");
    std::process::exit(2);
}
