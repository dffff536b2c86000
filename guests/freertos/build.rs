//! Compiles the FreeRTOS kernel (from the package `freertos-next`, unmodified), its port, the platform and the
//! applications into one static library, and links the programs with `platform/link.ld`.

mod compiler;
#[path = "../toolchain.rs"]
mod toolchain;

use std::env;
use std::path::{Path, PathBuf};

/// The kernel's source files; `heap_4` is the allocator behind its dynamic creation functions.
const KERNEL: [&str; 7] = [
    "tasks.c",
    "queue.c",
    "list.c",
    "timers.c",
    "event_groups.c",
    "stream_buffer.c",
    "portable/MemMang/heap_4.c",
];

/// Folders of this package whose `.c` and `.S` files are compiled.
const OURS: [&str; 3] = ["port", "platform", "app"];

/// The C headers of Tactus's ABI.
const ABI: &str = "../../abi/include";

/// The registers of the fabric's blocks.
const REGISTERS: &str = "../../fabric/generated";

/// The library for channels.
const CHANNEL: &str = "../channel/c";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = env::var("TARGET").expect("cargo sets TARGET");
    if target != "riscv64gc-unknown-none-elf" {
        // The host builds the library for its tests; the programs are for the bare-metal target.
        return;
    }
    toolchain::require("the FreeRTOS guest is written in C and needs");
    let kernel = PathBuf::from(
        env::var("DEP_FREERTOS_KERNEL").expect("freertos-next's build script exports KERNEL"),
    );

    let mut ours = compiler(&kernel);
    compiler::strict(&mut ours);
    for folder in OURS {
        println!("cargo:rerun-if-changed={folder}");
        let mut sources = sources_in(Path::new(folder));
        sources.sort();
        ours.files(sources);
    }
    ours.file(Path::new(CHANNEL).join("tactus_channel.c"));
    println!("cargo:rerun-if-changed={ABI}");
    println!("cargo:rerun-if-changed={REGISTERS}");
    println!("cargo:rerun-if-changed={CHANNEL}");
    ours.compile("freertos_ours");

    let mut theirs = compiler(&kernel);
    theirs.files(KERNEL.map(|file| kernel.join(file)));
    theirs.warnings(false);
    theirs.compile("freertos_kernel");

    let script = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"))
        .join("platform/link.ld");
    println!("cargo:rustc-link-arg-bins=-T{}", script.display());
}

/// A compiler with all folders of headers.
fn compiler(kernel: &Path) -> cc::Build {
    let mut build = compiler::of(kernel, Path::new(""));
    build.include(ABI).include(REGISTERS).include(CHANNEL);
    build
}

/// The C and assembler files directly in `folder`.
fn sources_in(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a directory entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c" || e == "S"))
        .collect()
}
