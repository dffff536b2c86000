//! Tells the compiler of the condition of the tests under loom.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(loom)");
}
