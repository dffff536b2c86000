//! Writes a harness and generated memory to an ELF file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::layout;

/// Bytes at a physical address.
pub struct Piece {
    /// The address.
    pub address: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Runs a program of binutils.
fn run(program: &str, arguments: &[&str], directory: &Path) {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap_or_else(|error| {
            panic!("{program}: {error}; `make setup` installs it (binutils-riscv64-unknown-elf)")
        });
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The harness's code and data, linked to [`layout::HARNESS`].
pub fn harness(directory: &Path) -> Piece {
    fs::create_dir_all(directory).expect("the build directory is writable");
    fs::write(directory.join("layout.inc"), layout::include())
        .expect("the build directory is writable");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/harness.S");
    let source = source.to_str().expect("the repository's path is UTF-8");
    run(
        "riscv64-unknown-elf-as",
        &["-march=rv64gch_zbs", source, "-o", "harness.o"],
        directory,
    );
    let base = format!("-Ttext={:#x}", layout::HARNESS);
    run(
        "riscv64-unknown-elf-ld",
        &[&base, "--no-relax", "-N", "harness.o", "-o", "harness.elf"],
        directory,
    );
    run(
        "riscv64-unknown-elf-objcopy",
        &["-O", "binary", "harness.elf", "harness.bin"],
        directory,
    );
    let bytes = fs::read(directory.join("harness.bin")).expect("objcopy wrote it");
    Piece {
        address: layout::HARNESS,
        bytes,
    }
}

/// Writes an ELF file of the pieces that starts at [`layout::HARNESS`], with a segment for each piece.
pub fn write(path: &Path, pieces: &[&Piece]) -> PathBuf {
    let mut file = Vec::new();
    let count = pieces.len() as u64;
    file.extend_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    // An executable file for RISC-V, version 1.
    file.extend_from_slice(&[2, 0, 243, 0, 1, 0, 0, 0]);
    for word in [layout::HARNESS, 64, 0] {
        file.extend_from_slice(&word.to_le_bytes());
    }
    // Flags: compressed instructions, double-precision ABI.
    file.extend_from_slice(&5_u32.to_le_bytes());
    for half in [64, 56, count as u16, 64, 0, 0] {
        file.extend_from_slice(&half.to_le_bytes());
    }
    let mut offset = 64 + 56 * count;
    for piece in pieces {
        // Loaded, and readable, writable, executable.
        file.extend_from_slice(&[1, 0, 0, 0, 7, 0, 0, 0]);
        let size = piece.bytes.len() as u64;
        for word in [offset, piece.address, piece.address, size, size, 1] {
            file.extend_from_slice(&word.to_le_bytes());
        }
        offset += size;
    }
    for piece in pieces {
        file.extend_from_slice(&piece.bytes);
    }
    fs::write(path, file).expect("the build directory is writable");
    path.to_owned()
}
