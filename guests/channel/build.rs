//! Compiles the C library for the tests, which run it beside the Rust one in the same memory.

use std::env;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(loom)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=c");
    let variable = |name| env::var(name).unwrap_or_default();
    if variable("TARGET") != variable("HOST") {
        return;
    }
    cc::Build::new()
        .file("c/tactus_channel.c")
        .include("c")
        .std("c11")
        .warnings(true)
        .extra_warnings(true)
        .flag("-Wshadow")
        .flag("-Wstrict-prototypes")
        .flag("-Wmissing-prototypes")
        .flag("-Werror")
        .cargo_metadata(false)
        .compile("tactus_channel_c");
    println!(
        "cargo::rustc-link-arg-tests={}/libtactus_channel_c.a",
        variable("OUT_DIR")
    );
}
