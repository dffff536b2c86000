//! Hands the linker script to the linker for the bare machine.

use std::path::Path;

/// Where the on-chip memory is that the package in `onchip/` is linked for: that of the profile `soc-ocm`.
const ONCHIP_BASE: u64 = 0x800_0000;

/// Whether the program is built with its assertions.
const CHECKED: &str = "CARGO_PROFILE_EMBEDDED_DEBUG_ASSERTIONS";

fn main() {
    let package = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    // The packages of the base and of the program for on-chip memory are in folders of this one's.
    let scripts = ["link.ld", "../link.ld"].map(|script| Path::new(&package).join(script));
    if let Some(script) = scripts.iter().find(|script| script.is_file()) {
        if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
            println!("cargo::rustc-link-arg-bins=-T{}", script.display());
            if std::env::var(CHECKED).as_deref() == Ok("true") {
                println!("cargo::rustc-link-arg-bins=--defsym=CHECKED=1");
            }
            if std::env::var_os("CARGO_FEATURE_FORWARDING").is_some() {
                println!("cargo::rustc-link-arg-bins=--defsym=FORWARDING=1");
            }
            if std::env::var_os("CARGO_FEATURE_MANAGEMENT").is_some() {
                println!("cargo::rustc-link-arg-bins=--defsym=MANAGEMENT=1");
            }
            if std::env::var_os("CARGO_FEATURE_PCI").is_some() {
                println!("cargo::rustc-link-arg-bins=--defsym=PCI=1");
            }
            if std::env::var_os("CARGO_FEATURE_ONCHIP").is_some() {
                println!("cargo::rustc-link-arg-bins=--defsym=ONCHIP_BASE={ONCHIP_BASE:#x}");
                println!("cargo::rustc-link-arg-bins=--entry=load");
            }
        }
        println!("cargo::rerun-if-changed={}", script.display());
    }
    println!("cargo::rerun-if-env-changed={CHECKED}");
    println!("cargo::rustc-check-cfg=cfg(loom)");
}
