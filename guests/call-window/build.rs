//! Compiles the library in C for the tests, with a window and a devicetree of theirs.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=tests/client.c");
    println!("cargo::rerun-if-changed=../linux/tactus_client.h");
    let variable = |name| env::var(name).unwrap_or_default();
    if variable("TARGET") != variable("HOST") || variable("CARGO_CFG_TARGET_OS") != "linux" {
        return;
    }
    cc::Build::new()
        .file("tests/client.c")
        .include("../linux")
        .std("gnu11")
        .warnings(true)
        .extra_warnings(true)
        .flag("-Wshadow")
        .flag("-Wstrict-prototypes")
        .flag("-Wmissing-prototypes")
        .flag("-Werror")
        .cargo_metadata(false)
        .compile("tactus_client_c");
    println!(
        "cargo::rustc-link-arg-tests={}/libtactus_client_c.a",
        variable("OUT_DIR")
    );
}
