//! Whether QEMU's machine mode can write `mstatus.MPV`.
//!
//! The firmware clears the bit when it passes a guest's exception on to the hypervisor (privileged architecture, hypervisor
//! extension, `mstatus`: MPV is read and written). QEMU 10.0.11 to 10.0.13 and 11.1.3 ignore the write, and the machine goes on in
//! VS-mode at the hypervisor's trap vector: the guest's first floating-point instruction is where it hangs.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tempfile::NamedTempFile;

use super::QEMU;

/// The exit code of a QEMU that ignores the write. Its own failures have another one.
const IGNORED: i32 = 0x17;

/// Sets the bit, reads it back, and ends QEMU by the test device of its machine `virt`.
const PROGRAM: [u32; 13] = [
    0x0010_0293, //    li   t0, 1
    0x0272_9293, //    slli t0, t0, 39
    0x3002_a073, //    csrs mstatus, t0
    0x3000_2373, //    csrr t1, mstatus
    0x0053_7333, //    and  t1, t1, t0
    0x0010_03b7, //    lui  t2, 0x100
    0x0000_5e37, //    lui  t3, 0x5
    0x555e_0e13, //    addi t3, t3, 0x555
    0x0003_1663, //    bnez t1, 1f
    0x0017_3e37, //    lui  t3, 0x173
    0x333e_0e13, //    addi t3, t3, 0x333
    0x01c3_a023, // 1: sw t3, 0(t2)
    0x0000_006f, //    j    .
];

/// Whether the installed QEMU ignores the write; asked once by this process. False where QEMU does not start, which
/// its next start reports.
pub(super) fn is_ignored() -> bool {
    static IS_IGNORED: OnceLock<bool> = OnceLock::new();
    *IS_IGNORED.get_or_init(|| exit_code() == Some(IGNORED))
}

fn exit_code() -> Option<i32> {
    let mut program = NamedTempFile::new().ok()?;
    program
        .write_all(&PROGRAM.map(u32::to_le_bytes).concat())
        .ok()?;
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
