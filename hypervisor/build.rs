//! Hands the linker script to the linker for the bare machine.

use std::path::Path;

fn main() {
    let package = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    // The base's package is in a folder of this one's.
    let scripts = ["link.ld", "../link.ld"].map(|script| Path::new(&package).join(script));
    if let Some(script) = scripts.iter().find(|script| script.is_file()) {
        if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
            println!("cargo::rustc-link-arg-bins=-T{}", script.display());
        }
        println!("cargo::rerun-if-changed={}", script.display());
    }
    println!("cargo::rustc-check-cfg=cfg(loom)");
}
