//! Hands the linker script to the linker for the bare machine.

fn main() {
    let directory = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        println!("cargo::rustc-link-arg-bins=-T{directory}/link.ld");
    }
    println!("cargo::rustc-check-cfg=cfg(loom)");
    println!("cargo::rerun-if-changed=link.ld");
}
