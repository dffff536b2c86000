//! Boots software on a board of a profile.
//!
//! `boot PROFILE FIRMWARE [KERNEL [INITRD [BOOTARGS]]]`, the environment having `HARTS` and `TIMED`.

use std::time::Instant;

use tactus_board::board::Pace;
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options, Software};
use tactus_board::time::Femtoseconds;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let file = |index: usize| {
        arguments
            .get(index)
            .filter(|name| !name.is_empty())
            .map(std::fs::read)
            .transpose()
    };
    let profile = Profile::named(&arguments[0]).ok_or("no such profile")?;
    let harts = std::env::var("HARTS")
        .ok()
        .and_then(|text| text.parse().ok());
    let (mut board, console) = setup::board(
        &profile,
        &Options {
            harts,
            ..Options::default()
        },
        Vec::new(),
    )?;
    console.forward(Box::new(std::io::stdout()));
    let (firmware, kernel, initrd) = (file(1)?.ok_or("no firmware")?, file(2)?, file(3)?);
    let software = Software {
        firmware: &firmware,
        kernel: kernel.as_deref(),
        initrd: initrd.as_deref(),
        bootargs: arguments.get(4).map(String::as_str),
    };
    setup::boot(&mut board, &profile, &software)?;
    if std::env::var_os("TIMED").is_some() {
        board.set_pace(Pace::Timed);
    }
    let begin = Instant::now();
    let outcome = board.run(Femtoseconds(100 * Femtoseconds::SECOND.0));
    let seconds = begin.elapsed().as_secs_f64();
    let instructions: u64 = (0..board.harts())
        .map(|hart| board.instructions(hart))
        .sum();
    eprintln!(
        "\n{outcome}; {instructions} instructions, {} cycles in {seconds:.3} s: {:.1} MIPS; pc {:#x}, trace {:016x}",
        board.cycle(0),
        instructions as f64 / seconds / 1e6,
        board.pc(0),
        board.trace_hash()
    );
    for hart in 0..board.harts() {
        eprintln!("hart {hart}: {:?}", board.account(hart));
    }
    Ok(())
}
