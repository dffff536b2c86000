//! The Tactus hypervisor: a type-1 hypervisor for RISC-V with the hypervisor extension, in HS-mode
//! under any SBI firmware.
//!
//! A guest's trap goes one way: `arch::entry` saves registers, [`trap`] tells causes apart, a module
//! named after the thing concerned acts ([`sbi`], [`devices`], [`interrupt`]), and [`sched`] decides who runs next with
//! the rules of the `policy` crate.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod arch;
#[cfg(target_os = "none")]
mod arena;
#[cfg(target_os = "none")]
mod boot;
#[cfg(target_os = "none")]
mod console;
#[cfg(target_os = "none")]
mod devices;
#[cfg(target_os = "none")]
mod hart;
#[cfg(target_os = "none")]
mod interrupt;
#[cfg(target_os = "none")]
mod loader;
#[cfg(target_os = "none")]
mod log;
#[cfg(target_os = "none")]
mod message;
#[cfg(target_os = "none")]
mod plic;
#[cfg(target_os = "none")]
mod realtime;
#[cfg(target_os = "none")]
mod sbi;
#[cfg(target_os = "none")]
mod sched;
#[cfg(target_os = "none")]
mod sync;
#[cfg(target_os = "none")]
mod system;
#[cfg(target_os = "none")]
mod trap;
#[cfg(target_os = "none")]
mod vcpu;
#[cfg(target_os = "none")]
mod vm;

/// A defect of the hypervisor: said, and the machine stopped. No guest can bring this about.
#[cfg(target_os = "none")]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    let place = info.location();
    log::Line::new("panic")
        .text(
            "reason",
            info.message().as_str().unwrap_or("a broken assumption"),
        )
        .words(" at ")
        .words(place.map_or("", |place| place.file()))
        .words(":")
        .decimal(place.map_or(0, |place| place.line().into()))
        .send_past_locks();
    arch::firmware::power_off()
}

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("the hypervisor runs on the bare machine: `tactus run SYSTEM.toml` boots it");
    std::process::exit(2);
}
