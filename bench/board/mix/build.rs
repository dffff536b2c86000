//! Links the program for where a machine without firmware starts.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=mix.x");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("none") {
        // The host builds the library for its tests; the program there is an empty one.
        return;
    }
    let directory = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let script = Path::new(&directory).join("mix.x");
    println!("cargo::rustc-link-arg-bins=-T{}", script.display());
}
