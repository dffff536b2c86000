//! Runs the images on QEMU's `virt` in M-mode, which has UART, CLINT and finisher at a tile's addresses and no mesh:
//! tests the platform, and the kernel's own port.
//!
//! `cargo test -p tactus-guest-manycore` builds the images and runs them; QEMU is needed.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const TARGET: &str = "riscv64gc-unknown-none-elf";
const QEMU: &str = "qemu-system-riscv64";
/// Seconds after which a hanging program is stopped; no run takes longer on a machine that is not overloaded.
const PATIENCE: &str = "60";

/// Builds the programs once and returns the path of one.
fn program(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let package = Path::new(env!("CARGO_MANIFEST_DIR"));
            let target = env::var_os("CARGO_TARGET_DIR")
                .map_or_else(|| package.join("../../target"), PathBuf::from);
            let status = Command::new(env!("CARGO"))
                .args(["build", "--quiet", "--profile", "embedded"])
                .args(["--target", TARGET])
                .args(["-p", "tactus-guest-manycore", "--target-dir"])
                .arg(&target)
                .current_dir(package)
                .status()
                .expect("cargo starts");
            assert!(status.success(), "the programs do not build");
            target.join(TARGET).join("embedded")
        })
        .join(name)
}

/// Runs a program until the machine powers off, and returns its console output.
fn run(name: &str) -> String {
    let output = Command::new("timeout")
        .args([PATIENCE, QEMU, "-M", "virt", "-m", "128M"])
        .args(["-nographic", "-no-reboot", "-icount", "shift=0,sleep=off"])
        .arg("-bios")
        .arg(program(name))
        .output()
        .unwrap_or_else(|error| panic!("{QEMU} does not start ({error}): run `make setup`"));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_kernel_works_in_all_images_that_have_it() {
    for name in [
        "manycore-native",
        "manycore-native-io",
        "manycore-virtual-io",
        "manycore-io",
    ] {
        let text = run(name);
        assert_eq!(text.trim(), "@tactus pass name=manycore", "{name}");
    }
}

#[test]
fn the_server_says_that_there_is_no_mesh() {
    let text = run("manycore-io-server");
    assert!(
        text.contains("@tactus fail name=manycore reason="),
        "{text}"
    );
}
