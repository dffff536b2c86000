//! Whether QEMU's machine mode can write `mstatus.MPV`.
//!
//! The firmware clears the bit when it passes a guest's exception on to the hypervisor (privileged architecture,
//! hypervisor extension, `mstatus`: MPV is read and written). QEMU 10.0.11 to 10.0.13 and 11.1.3 ignore the write, and
//! the machine goes on in VS-mode at the hypervisor's trap vector: the guest's first floating-point instruction is
//! where it hangs.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tempfile::NamedTempFile;

use super::QEMU;

/// The exit code of a QEMU that ignores the write. Its own failures have another one.
const IGNORED: i32 = 0x17;

/// The program of `setup/qemu-mpv.S`, which set-up runs too.
const PROGRAM: &[u8] = include_bytes!("../../../../setup/qemu-mpv.bin");

/// Whether the installed QEMU ignores the write; asked once by this process. False where QEMU does not start, which
/// its next start reports.
pub(super) fn is_ignored() -> bool {
    static IS_IGNORED: OnceLock<bool> = OnceLock::new();
    *IS_IGNORED.get_or_init(|| exit_code() == Some(IGNORED))
}

fn exit_code() -> Option<i32> {
    let mut program = NamedTempFile::new().ok()?;
    program.write_all(PROGRAM).ok()?;
    let status = Command::new(QEMU)
        .args(["-M", "virt", "-cpu", "rv64,h=true", "-display", "none"])
        .args([
            "-serial", "none", "-monitor", "none", "-net", "none", "-bios",
        ])
        .arg(program.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.ok()?.code()
}
