//! The bare-metal C compiler, for the build scripts of guests in C, which include this file.

use std::env;
use std::process::Command;

/// The command of a tool of the compiler, `gcc` or `ar`. Set-up selects the version that gives the same runs on every
/// machine (`TACTUS_CROSS`).
pub fn cross(tool: &str) -> String {
    println!("cargo:rerun-if-env-changed=TACTUS_CROSS");
    let before = env::var("TACTUS_CROSS").unwrap_or_else(|_| "riscv64-unknown-elf-".to_owned());
    before + tool
}

/// Stops the build with instructions if the compiler does not start. `what`: the part written in C, with its verb.
pub fn require(what: &str) {
    let compiler = cross("gcc");
    if let Err(error) = Command::new(&compiler).arg("--version").output() {
        println!(
            "cargo:error={what} {compiler}, which does not start ({error}): \
             run `make setup`, or install the package gcc-riscv64-unknown-elf"
        );
        std::process::exit(1);
    }
}
