//! Where test images run: QEMU as the reference, and the board.
//!
//! An image is an ELF file that starts in machine mode at its entry, writes to the 16550 at 0x1000_0000 and ends
//! through the finisher at 0x10_0000; what it wrote is all that it gives.

use std::path::Path;
use std::process::{Command, Stdio};

/// What QEMU's hart is to have: what the board has, and nothing that makes an encoding legal beyond it.
const QEMU_HART: &str = "rv64,h=true,sv57=off,zfa=off,zawrs=off,zbc=off,zicbom=off,zicbop=off,\
    zicboz=off,debug=off,pmu-mask=0xfffffff8";

/// Who executes an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// QEMU as it is.
    Qemu,
    /// QEMU with one instruction to a translated block: slow, and without what blocks may hide.
    QemuStepwise,
}

/// Runs an image until it powers the machine off, for at most `seconds` (an image that hangs is a failure), and
/// gives what it wrote to the console.
///
/// # Errors
///
/// Why it cannot be run, or how it ended, together with what it wrote until then.
pub fn run(platform: Platform, image: &Path, seconds: u32) -> Result<String, String> {
    match platform {
        Platform::Qemu => qemu(&[], image, seconds),
        Platform::QemuStepwise => qemu(&["-accel", "tcg,one-insn-per-tb=on"], image, seconds),
    }
}

fn qemu(options: &[&str], image: &Path, seconds: u32) -> Result<String, String> {
    let output = Command::new("timeout")
        .args(["-s", "KILL", &seconds.to_string(), "qemu-system-riscv64", "-M", "virt"])
        .args(["-cpu", QEMU_HART, "-m", "128M", "-bios", "none", "-display", "none"])
        .args(["-monitor", "none", "-serial", "stdio", "-kernel"])
        .arg(image)
        .args(options)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("timeout qemu-system-riscv64: {error}; `make setup` installs QEMU"))?;
    let console = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(console);
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(format!("QEMU ended with {}: {complaint}\nThe console until then:\n{console}", output.status))
}
