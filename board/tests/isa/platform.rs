//! The platforms for test images: QEMU as the reference, and the board.
//!
//! An image is an ELF file that starts in machine mode at its entry, writes to the 16550 at 0x1000_0000 and ends
//! through the finisher at 0x10_0000. Its only output is the text at the 16550.

use std::path::Path;
use std::process::{Command, Stdio};

use tactus_board::board::{Outcome, Pace};
use tactus_board::bus::Stop;
use tactus_board::privileged::Extensions;
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options, Software};
use tactus_board::time::Femtoseconds;
use tactus_board::timing::parameters::Prefetch;

/// The extensions of QEMU's hart: those of the board, without any that makes more encodings legal.
const QEMU_HART: &str = "rv64,h=true,sv57=off,zfa=off,zawrs=off,zbc=off,zicbom=off,zicbop=off,\
    zicboz=off,debug=off,pmu-mask=0xfffffff8";

/// The same with instructions on cache blocks, which are of 32 bytes as on the board.
const QEMU_HART_WITH_BLOCKS: &str = "rv64,h=true,sv57=off,zfa=off,zawrs=off,zbc=off,cbom_blocksize=32,\
    cbop_blocksize=32,cboz_blocksize=32,debug=off,pmu-mask=0xfffffff8";

/// A platform that executes an image.
#[allow(dead_code, reason = "each test program needs some of them")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// QEMU as it is.
    Qemu,
    /// The board, in its fast mode.
    Board,
    /// The board, in its timed mode.
    BoardTimed,
    /// QEMU with one instruction in each translated block: slow, and without effects that blocks may hide.
    QemuStepwise,
}

/// Runs an image until it powers the machine off, and returns its console output.
///
/// The run has at most `seconds`; an image that hangs is a failure.
///
/// # Errors
///
/// The reason why it cannot be run, or its end, together with its output until then.
/// Why it cannot be run, or how it ended, together with what it wrote until then.
pub fn run(platform: Platform, image: &Path, seconds: u32) -> Result<String, String> {
    run_with(platform, image, seconds, Extensions::empty())
}

/// The same on harts with extensions: all that there are, or none.
pub fn run_with(
    platform: Platform,
    image: &Path,
    seconds: u32,
    extensions: Extensions,
) -> Result<String, String> {
    let hart = if extensions.is_empty() {
        QEMU_HART
    } else {
        QEMU_HART_WITH_BLOCKS
    };
    match platform {
        Platform::Qemu => qemu(hart, &[], image, seconds),
        Platform::Board => board(image, Pace::Fast, extensions),
        Platform::BoardTimed => board(image, Pace::Timed, extensions),
        Platform::QemuStepwise => {
            let stepwise = ["-accel", "tcg,one-insn-per-tb=on"];
            qemu(hart, &stepwise, image, seconds)
        }
    }
}

fn qemu(hart: &str, options: &[&str], image: &Path, seconds: u32) -> Result<String, String> {
    let output = Command::new("timeout")
        .args([
            "-s",
            "KILL",
            &seconds.to_string(),
            "qemu-system-riscv64",
            "-M",
            "virt",
        ])
        // With a second hart, which sleeps, QEMU executes an atomic as one access. With one hart it executes a load and
        // a store, each of which may fault.
        .args([
            "-smp", "2", "-cpu", hart, "-m", "128M", "-bios", "none", "-display", "none",
        ])
        .args(["-monitor", "none", "-serial", "stdio", "-kernel"])
        .arg(image)
        .args(options)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            format!("timeout qemu-system-riscv64: {error}; `make setup` installs QEMU")
        })?;
    let console = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(console);
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "QEMU ended with {}: {complaint}\nThe console until then:\n{console}",
        output.status
    ))
}

/// The memory of both platforms.
const MEMORY: u64 = 128 << 20;
/// The board's time: more than any image takes, and short enough for one that hangs.
const LIMIT: Femtoseconds = Femtoseconds(3 * Femtoseconds::SECOND.0);

fn board(image: &Path, pace: Pace, extensions: Extensions) -> Result<String, String> {
    let bytes = std::fs::read(image).map_err(|error| format!("{}: {error}", image.display()))?;
    let mut profile = Profile::named("soc").ok_or("no profile soc")?;
    profile.harts.extensions = extensions;
    profile.timing.prefetch = Some(Prefetch { outstanding: 2 });
    let options = Options {
        harts: Some(1),
        memory: Some(MEMORY),
        ..Options::default()
    };
    let (mut board, console) =
        setup::board(&profile, &options, Vec::new()).map_err(|error| error.to_string())?;
    let software = Software {
        firmware: &bytes,
        ..Software::default()
    };
    setup::boot(&mut board, &profile, &software).map_err(|error| error.to_string())?;
    board.set_pace(pace);
    let outcome = board.run(LIMIT);
    let output = String::from_utf8_lossy(&console.take_output()).into_owned();
    if outcome == Outcome::Stop(Stop::PowerOff) {
        Ok(output)
    } else {
        Err(format!(
            "{outcome} at {:#x}\nThe console until then:\n{output}",
            board.pc(0)
        ))
    }
}
