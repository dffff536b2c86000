//! Compiles the FreeRTOS kernel with its own RISC-V port (from the package `freertos-next`, unmodified), the platform,
//! and the implementations of I/O; and links each program with its application and implementation.

#[path = "../toolchain.rs"]
mod toolchain;

use std::env;
use std::path::{Path, PathBuf};

/// The kernel's source files, including its port and the allocator behind its dynamic creation functions.
const KERNEL: [&str; 9] = [
    "tasks.c",
    "queue.c",
    "list.c",
    "timers.c",
    "event_groups.c",
    "stream_buffer.c",
    "portable/MemMang/heap_4.c",
    "portable/GCC/RISC-V/port.c",
    "portable/GCC/RISC-V/portASM.S",
];

/// The chip's description for the kernel's port: a CLINT, and no registers but RISC-V's.
const CHIP: &str = "portable/GCC/RISC-V/chip_specific_extensions/RISCV_MTIME_CLINT_no_extensions";

/// Files for all programs. Those of `guests/freertos` are compiled unmodified, but with this package's `platform.h`.
const COMMON: [&str; 7] = [
    "platform/start.S",
    "platform/platform.c",
    "platform/mesh.c",
    "io/area.c",
    "app/kernel.c",
    "../freertos/platform/console.c",
    "../freertos/platform/arguments.c",
];

/// The programs, and the additional files of each.
const PROGRAMS: [(&str, &[&str]); 6] = [
    ("manycore-native", &["app/experiment.c", "io/none.c"]),
    (
        "manycore-native-io",
        &[
            "app/experiment.c",
            "io/native.c",
            "io/counter.c",
            "io/controllers.c",
            "io/registers.c",
            "io/packets.c",
        ],
    ),
    (
        "manycore-virtual-io",
        &[
            "app/experiment.c",
            "io/virtual.c",
            "io/counter.c",
            "io/operations.c",
            "io/packets.c",
        ],
    ),
    (
        "manycore-io-server",
        &[
            "app/server.c",
            "io/turns.c",
            "io/controllers.c",
            "io/registers.c",
        ],
    ),
    ("manycore-hostile", &["app/hostile.c"]),
    (
        "manycore-io",
        &[
            "app/experiment.c",
            "io/hypervisor.c",
            "io/operations.c",
            "io/registers.c",
            "io/packets.c",
        ],
    ),
];

/// Pure functions, which are also compiled for the host and tested there.
const PURE: [&str; 2] = ["io/area.c", "io/turns.c"];

/// One ABI for C and Rust: the target's, hard float. The ISA is named as in the specification of 2019 (before Zicsr
/// was split off), as in the packaged compiler's libraries.
const MACHINE: [&str; 4] = [
    "-march=rv64gc",
    "-mabi=lp64d",
    "-misa-spec=2.2",
    "-mcmodel=medany",
];

fn main() {
    for folder in ["build.rs", "port", "platform", "io", "app"] {
        println!("cargo:rerun-if-changed={folder}");
    }
    println!("cargo:rerun-if-changed=../freertos/platform");
    println!("cargo:rerun-if-changed=../freertos/port/FreeRTOSConfig.h");
    println!("cargo:rerun-if-changed=../../fabric/generated");
    let target = env::var("TARGET").expect("cargo sets TARGET");
    if target != "riscv64gc-unknown-none-elf" {
        // The programs are for the bare-metal target.
        warnings(&mut cc::Build::new())
            .files(PURE)
            .compile("manycore_pure");
        return;
    }
    toolchain::require("the many-core board's images are written in C and need");
    let kernel = PathBuf::from(
        env::var("DEP_FREERTOS_KERNEL").expect("freertos-next's build script exports KERNEL"),
    );

    warnings(&mut ours(&kernel))
        .files(COMMON)
        .compile("manycore_common");
    let mut theirs = compiler(&kernel);
    theirs.files(KERNEL.map(|file| kernel.join(file)));
    theirs.warnings(false).compile("manycore_kernel");

    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    for (program, sources) in PROGRAMS {
        let library = program.replace('-', "_");
        warnings(&mut ours(&kernel))
            .files(sources)
            .cargo_metadata(false)
            .compile(&library);
        let archive = out.join(format!("lib{library}.a"));
        println!("cargo:rustc-link-arg-bin={program}={}", archive.display());
    }
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let script = Path::new(&folder).join("platform/link.ld");
    println!("cargo:rustc-link-arg-bins=-T{}", script.display());
}

/// A compiler for this machine with the folders of the kernel's headers.
fn compiler(kernel: &Path) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .compiler(toolchain::cross("gcc"))
        .archiver(toolchain::cross("ar"))
        .no_default_flags(true)
        .flags(MACHINE)
        .flag("-std=gnu11")
        .flag("-O2")
        .flag("-g1")
        .flag("-ffreestanding")
        .flag("-fno-common")
        .flag("-ffunction-sections")
        .flag("-fdata-sections")
        .flag("-fno-tree-loop-distribute-patterns")
        .include("port")
        .include("../freertos/platform/include")
        .include(kernel.join("include"))
        .include(kernel.join("portable/GCC/RISC-V"))
        .include(kernel.join(CHIP));
    build
}

/// A compiler for the files of this repository, all of which first include the tile's `platform.h`.
fn ours(kernel: &Path) -> cc::Build {
    let mut build = compiler(kernel);
    build
        .flag("-include")
        .flag("platform/platform.h")
        .include("platform")
        .include("io")
        .include("../freertos/platform")
        .include("../../fabric/generated");
    build
}

/// Warnings are errors.
fn warnings(build: &mut cc::Build) -> &mut cc::Build {
    build
        .flag("-Wall")
        .flag("-Wextra")
        .flag("-Wshadow")
        .flag("-Wstrict-prototypes")
        .flag("-Wmissing-prototypes")
        .flag("-Werror")
}
