//! The C compiler with what all programs under FreeRTOS are compiled with, for build scripts, which include this file
//! beside `toolchain.rs`.

use std::path::Path;

use crate::toolchain;

/// One ABI for C and Rust: the target's, hard float. The ISA is named as in the specification of 2019 (before Zicsr
/// was split off), as in the packaged compiler's libraries.
const MACHINE: [&str; 4] = [
    "-march=rv64gc",
    "-mabi=lp64d",
    "-misa-spec=2.2",
    "-mcmodel=medany",
];

/// A compiler with the headers of the kernel, and of the package `freertos`, which is in that folder.
pub fn of(kernel: &Path, freertos: &Path) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .compiler(toolchain::cross("gcc"))
        .archiver(toolchain::cross("ar"))
        .no_default_flags(true)
        .flags(MACHINE)
        // The programs must not depend on the folder in which Cargo keeps the kernel's source.
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
        .flag("-fno-tree-loop-distribute-patterns");
    for folder in ["port", "platform", "platform/include"] {
        build.include(freertos.join(folder));
    }
    build.include(kernel.join("include"));
    build
}

/// Has the compiler refuse what this project's own code must not have.
pub fn strict(build: &mut cc::Build) {
    build
        .flag("-Wall")
        .flag("-Wextra")
        .flag("-Wshadow")
        .flag("-Wstrict-prototypes")
        .flag("-Wmissing-prototypes")
        .flag("-Werror");
}
