//! Compiles the FreeRTOS kernel (from the package `freertos-next`, unmodified), our port of it, the platform and the
//! applications into one static library, and links the programs for where they are entered.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What to put before `gcc` and `ar` to call the bare-metal ones: set-up gets them in the version that runs are the same with everywhere.
fn cross(tool: &str) -> String {
    println!("cargo:rerun-if-env-changed=TACTUS_CROSS");
    let before = env::var("TACTUS_CROSS").unwrap_or_else(|_| "riscv64-unknown-elf-".to_owned());
    before + tool
}

/// The kernel's files; `heap_4` is the allocator behind its dynamic creation functions.
const KERNEL: [&str; 7] = [
    "tasks.c",
    "queue.c",
    "list.c",
    "timers.c",
    "event_groups.c",
    "stream_buffer.c",
    "portable/MemMang/heap_4.c",
];

/// Folders of ours, every `.c` and `.S` file of which is compiled.
const OURS: [&str; 3] = ["port", "platform", "app"];

/// What C software knows of Tactus.
const ABI: &str = "../../abi/include";

/// The registers of the fabric's blocks.
const REGISTERS: &str = "../../fabric/generated";

/// The library for channels.
const CHANNEL: &str = "../channel/c";

/// One ABI for C and Rust: the target's, hard float. The ISA is named as of the specification of 2019 (before Zicsr
/// was split off), as the packaged compiler's libraries are.
const MACHINE: [&str; 4] = [
    "-march=rv64gc",
    "-mabi=lp64d",
    "-misa-spec=2.2",
    "-mcmodel=medany",
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = env::var("TARGET").expect("cargo sets TARGET");
    if target != "riscv64gc-unknown-none-elf" {
        // The host builds the library for its tests; the programs are for the bare-metal target.
        return;
    }
    require_compiler();
    let kernel = PathBuf::from(
        env::var("DEP_FREERTOS_KERNEL").expect("freertos-next's build script exports KERNEL"),
    );

    let mut ours = compiler(&kernel);
    ours.flag("-Wall")
        .flag("-Wextra")
        .flag("-Wshadow")
        .flag("-Wstrict-prototypes")
        .flag("-Wmissing-prototypes")
        .flag("-Werror");
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

/// A compiler for this machine with the folders of headers.
fn compiler(kernel: &Path) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .compiler(cross("gcc"))
        .archiver(cross("ar"))
        .no_default_flags(true)
        .flags(MACHINE)
        // Of where Cargo keeps the kernel's source nothing may depend.
        .flag(format!(
            "-fmacro-prefix-map={}=FreeRTOS-Kernel",
            kernel.display()
        ))
        .flag("-std=gnu11")
        .flag("-O2")
        .flag("-g1")
        .flag("-ffreestanding")
        .flag("-fno-common")
        .flag("-ffunction-sections")
        .flag("-fdata-sections")
        .flag("-fno-tree-loop-distribute-patterns")
        .include("port")
        .include("platform")
        .include("platform/include")
        .include(ABI)
        .include(REGISTERS)
        .include(CHANNEL)
        .include(kernel.join("include"));
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

/// Stops with what to do when there is no C compiler.
fn require_compiler() {
    let compiler = cross("gcc");
    if let Err(error) = Command::new(&compiler).arg("--version").output() {
        println!(
            "cargo:error=the FreeRTOS guest is written in C and needs {compiler}, which does not start ({error}): \
             run `make setup`, or install the package gcc-riscv64-unknown-elf"
        );
        std::process::exit(1);
    }
}
