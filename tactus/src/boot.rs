//! `tactus boot`: any software on the virtual board, whether Tactus's or not.

use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use miette::{Context, IntoDiagnostic, miette};
use object::{Object, ObjectSymbol};
use tactus_board::account::Doing;
use tactus_board::board::{Board, Outcome, Pace};
use tactus_board::bus::Stop;
use tactus_board::devices::Console;
use tactus_board::devices::virtio::{Backend, Block, Disk};
use tactus_board::fabric::{Model, Waves};
use tactus_board::gdb;
use tactus_board::htif::{self, Ending};
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options, Software};
use tactus_board::time::Femtoseconds;

use crate::artifacts::Artifacts;
use crate::cli::BootArguments;
use crate::config::Nanoseconds;
use crate::run::board::find_firmware;

/// What the exit codes of `tactus boot` mean; printed by its `--help`.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  the software powered the board off, or ended its test as passed
  1  it reported failure, asked for a reset, or left all harts waiting for ever
  2  wrong usage, or something needed is missing
  4  the time given by --limit was up";

/// Carries the command out; the exit code is as `--help` says.
pub fn command(arguments: &BootArguments) -> ExitCode {
    match boot(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(report) => {
            eprintln!("{report:?}");
            ExitCode::from(2)
        }
    }
}

fn boot(arguments: &BootArguments) -> miette::Result<u8> {
    let profile = profile(&arguments.profile)?;
    let options = Options {
        harts: arguments.harts,
        memory: arguments.memory.map(|mebibytes| mebibytes << 20),
        quantum: arguments.quantum,
        seed: arguments.seed,
        ..Options::default()
    };
    let mut disks: Vec<Box<dyn Backend>> = Vec::new();
    for path in &arguments.disk {
        let disk = Disk::open(path)
            .into_diagnostic()
            .wrap_err_with(|| path.display().to_string())?;
        disks.push(Box::new(Block::new(disk, "tactus")));
    }
    let (mut board, console) = setup::board(&profile, &options, disks).into_diagnostic()?;
    if let Some(design) = &arguments.fabric {
        let file = Artifacts::chosen()
            .model(design)
            .map_err(|missing| miette!(help = missing.cure, "{}", missing.reason))?;
        let model = Model::load(&file).into_diagnostic()?;
        setup::load_fabric(&mut board, &profile, Box::new(model)).into_diagnostic()?;
    }
    if let (Some(waves), Some(fabric)) = (
        waves(arguments.waves.as_ref(), &arguments.waves_file),
        board.fabric(),
    ) {
        fabric.record(waves);
    }
    let firmware = match &arguments.firmware {
        Some(path) => read(path)?,
        None => read(&find_firmware()?)?,
    };
    let kernel = arguments.kernel.as_deref().map(read).transpose()?;
    let initrd = arguments.initrd.as_deref().map(read).transpose()?;
    let software = Software {
        firmware: &firmware,
        kernel: kernel.as_deref(),
        initrd: initrd.as_deref(),
        bootargs: arguments.append.as_deref(),
    };
    setup::boot(&mut board, &profile, &software).into_diagnostic()?;
    board.set_pace(if arguments.timed {
        Pace::Timed
    } else {
        Pace::Fast
    });
    console.forward(Box::new(io::stdout()));
    take_input(console.clone()).into_diagnostic()?;

    let limit = arguments.limit.map_or(Femtoseconds::NEVER, |seconds| {
        Femtoseconds((seconds * 1e15) as u64)
    });
    if let Some(path) = &arguments.restore {
        let snapshot = read(path)?;
        board
            .restore(&snapshot)
            .into_diagnostic()
            .wrap_err_with(|| path.display().to_string())?;
    }
    let ending = match (arguments.gdb, symbol(&firmware, "tohost")) {
        (Some(port), _) => under_gdb(&mut board, port, limit)?,
        (None, Some(tohost)) => htif::run(&mut board, tohost, limit, |byte| {
            let _ = io::stdout().write_all(&[byte]);
        })
        .into_diagnostic()
        .wrap_err("the symbol `tohost`")?,
        (None, None) if io::stdin().is_terminal() => {
            Ending::Board(run_with_terminal(&mut board, &console, limit))
        }
        (None, None) => Ending::Board(board.run(limit)),
    };
    let _ = io::stdout().flush();
    if let Some(fabric) = board.fabric() {
        fabric
            .take_waves()
            .map_err(|reason| miette!("the waveforms could not be written: {reason}"))?;
    }
    if let Some(path) = &arguments.signature {
        write_signature(&board, &firmware, path)?;
    }
    if let Some(path) = &arguments.snapshot {
        fs::write(path, board.snapshot())
            .into_diagnostic()
            .wrap_err_with(|| path.display().to_string())?;
    }
    if !arguments.quiet {
        summary(&mut board, ending);
    }
    Ok(match ending {
        Ending::Exit(0) | Ending::Board(Outcome::Stop(Stop::PowerOff)) => 0,
        Ending::Board(Outcome::Limit) => 4,
        _ => 1,
    })
}

/// The board's profile of that name, or in that file.
///
/// # Errors
/// There is none, or it is not in order.
pub(crate) fn profile(name: &str) -> miette::Result<Profile> {
    if let Some(profile) = Profile::named(name) {
        return Ok(profile);
    }
    if !name.contains(['/', '.']) {
        let known: Vec<&str> = Profile::names().collect();
        return Err(miette!(
            help = "a profile of your own is named by its path, such as ./mine.toml",
            "there is no profile \"{name}\"; there are: {}",
            known.join(", ")
        ));
    }
    Profile::read(Path::new(name)).into_diagnostic()
}

/// The waveforms that a window of the run and a file's name ask for.
pub(crate) fn waves(window: Option<&std::ops::Range<Nanoseconds>>, file: &Path) -> Option<Waves> {
    let time = |nanoseconds: Nanoseconds| Femtoseconds(nanoseconds.0 * 1_000_000);
    window.map(|window| Waves {
        file: file.to_owned(),
        window: time(window.start)..time(window.end),
    })
}

/// A file, or an artifact of this project by its name with an `@`.
fn read(path: &Path) -> miette::Result<Vec<u8>> {
    let artifact = path.to_str().and_then(|path| path.strip_prefix('@'));
    let found = artifact
        .map(|name| Artifacts::chosen().file(name))
        .transpose();
    let found = found.map_err(|missing| miette!(help = missing.cure, "{}", missing.reason))?;
    let path = found.as_deref().unwrap_or(path);
    fs::read(path)
        .into_diagnostic()
        .wrap_err_with(|| path.display().to_string())
}

/// Sends stdin to the console: from a terminal as it is typed; from elsewhere all of it at the begin, so that the run
/// repeats.
fn take_input(console: Console) -> io::Result<()> {
    let mut input = io::stdin();
    if !input.is_terminal() {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes)?;
        console.send_at(Femtoseconds(0), &bytes);
        return Ok(());
    }
    std::thread::spawn(move || {
        let mut buffer = [0; 256];
        while let Ok(count @ 1..) = input.read(&mut buffer) {
            console.send(&buffer[..count]);
        }
    });
    Ok(())
}

/// Waits for gdb and runs under it; when gdb ends the run, it ends as at a limit.
fn under_gdb(board: &mut Board, port: u16, limit: Femtoseconds) -> miette::Result<Ending> {
    let listener = gdb::listen(port)
        .into_diagnostic()
        .wrap_err_with(|| format!("gdb cannot be waited for at port {port}"))?;
    eprintln!("tactus: the board waits for gdb: target remote :{port}");
    let options = gdb::Options { wait: true, limit };
    Ok(
        match gdb::serve(board, listener, &options).into_diagnostic()? {
            gdb::End::Run(outcome) => Ending::Board(outcome),
            gdb::End::Killed => Ending::Board(Outcome::Limit),
        },
    )
}

/// How long the board runs before somebody at the terminal is listened to: 1 ms of virtual time.
const LISTEN: Femtoseconds = Femtoseconds(Femtoseconds::SECOND.0 / 1000);

/// Runs for somebody at a terminal: what is typed arrives, and while the software waits for it no time flies.
fn run_with_terminal(board: &mut Board, console: &Console, limit: Femtoseconds) -> Outcome {
    loop {
        let idle = (0..board.harts()).all(|hart| board.doing(hart) == Doing::Waiting);
        if idle && console.waiting() == 0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let next = board.time().saturating_add(LISTEN).min(limit);
        let outcome = board.run(next);
        if outcome != Outcome::Limit || next == limit {
            return outcome;
        }
    }
}

/// The value of a symbol of an ELF file.
fn symbol(bytes: &[u8], name: &str) -> Option<u64> {
    let file = object::File::parse(bytes).ok()?;
    file.symbols()
        .find(|symbol| symbol.name() == Ok(name))
        .map(|symbol| symbol.address())
}

/// Writes what the test left between `begin_signature` and `end_signature`: a word of 4 bytes a line, in hexadecimal.
fn write_signature(board: &Board, firmware: &[u8], path: &PathBuf) -> miette::Result<()> {
    let place = |name: &str| {
        symbol(firmware, name)
            .ok_or_else(|| miette!("the firmware has no symbol `{name}`, so there is no signature"))
    };
    let (begin, end) = (place("begin_signature")?, place("end_signature")?);
    let length = end
        .checked_sub(begin)
        .filter(|length| *length <= board.memory().size());
    let mut bytes = vec![
        0;
        length.ok_or_else(|| miette!("`end_signature` is not behind `begin_signature`"))?
            as usize
    ];
    board.memory().read(begin, &mut bytes).into_diagnostic()?;
    let mut text = String::new();
    for word in bytes.chunks(4) {
        let mut padded = [0; 4];
        padded[..word.len()].copy_from_slice(word);
        text += &format!("{:08x}\n", u32::from_le_bytes(padded));
    }
    fs::write(path, text)
        .into_diagnostic()
        .wrap_err_with(|| path.display().to_string())
}

/// Says on stderr how it went.
fn summary(board: &mut Board, ending: Ending) {
    match ending {
        Ending::Exit(code) => eprintln!("tactus: the software ended with code {code}"),
        Ending::Board(outcome) => eprintln!("tactus: {outcome}"),
    }
    for hart in 0..board.harts() {
        let (instructions, cycles) = (board.instructions(hart), board.cycle(hart));
        eprintln!("tactus: hart {hart}: {instructions} instructions in {cycles} cycles");
    }
    eprintln!(
        "tactus: {} of virtual time, trace hash {:016x}",
        board.time(),
        board.trace_hash()
    );
}
