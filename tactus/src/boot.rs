//! `tactus boot`: any software on the virtual board, whether Tactus's or not.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use miette::{Context, IntoDiagnostic, miette};
use object::{Object, ObjectSymbol};
use tactus_board::account::Doing;
use tactus_board::board::{Board, Outcome, Pace};
use tactus_board::bus::Stop;
use tactus_board::devices::Console;
use tactus_board::devices::virtio::{Backend, Block, Disk, FarEnd, Net, Sent};
use tactus_board::fabric::{Model, Waves};
use tactus_board::gdb;
use tactus_board::htif::{self, Ending, TestResult};
use tactus_board::privileged::Privilege;
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options, Software};
use tactus_board::time::Femtoseconds;

use crate::artifacts::Artifacts;
use crate::capture;
use crate::cli::{self, BootArguments};
use crate::config::Nanoseconds;
use crate::guest_image::GuestImage;
use crate::problem::io_reason;
use crate::run::board::find_firmware;
use crate::symbols::Symbols;

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
    // All that can be refused is, before anything runs.
    for (option, path) in [
        ("--signature", &arguments.signature),
        ("--snapshot", &arguments.snapshot),
    ] {
        if let Some(path) = path {
            can_be_written(option, path)?;
        }
    }
    let slots = disks("--disk", arguments.disk.iter().map(PathBuf::as_path))?;
    let mut functions = disks(
        "--pci-disk",
        arguments.pci_disk.iter().map(PathBuf::as_path),
    )?;
    let is_cable = |net: &cli::Net| matches!(net, cli::Net::Cable { .. });
    if arguments.pci_net.iter().any(is_cable) {
        return Err(miette!(
            "--pci-net cable=FILE is for `tactus run`, whose boards go on in step"
        ));
    }
    let sent = networks(&arguments.pci_net, &mut functions)?.written;
    if profile.pci.is_none() && !functions.is_empty() {
        return Err(miette!(
            help = "`--profile soc-pci` has it, and so has a profile of your own with `[pci]`",
            "the board of the profile `{}` has no PCI for --pci-disk and --pci-net",
            profile.name
        ));
    }
    let (mut board, console) = setup::board(&profile, &options, slots).into_diagnostic()?;
    if !functions.is_empty() {
        setup::plug(&mut board, functions).into_diagnostic()?;
    }
    if let Some(design) = &arguments.fabric {
        let file = Artifacts::chosen().model(design)?;
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
        Some(path) => executable("--firmware", path)?,
        None => read("the firmware", &find_firmware()?)?,
    };
    let kernel = arguments.kernel.as_deref();
    let kernel = kernel.map(|path| executable("KERNEL", path)).transpose()?;
    let initrd = arguments.initrd.as_deref();
    let initrd = initrd.map(|path| read("--initrd", path)).transpose()?;
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
    // A program reads one of them.
    let of_htif = Console::new();
    let consoles = [console.clone(), of_htif.clone()];
    for (time, text) in &arguments.input {
        for console in &consoles {
            console.send_at(femtoseconds(*time), text);
        }
    }
    take_input(consoles).into_diagnostic()?;

    let limit = arguments.limit.map_or(Femtoseconds::NEVER, |seconds| {
        Femtoseconds((seconds * 1e15) as u64)
    });
    if let Some(path) = &arguments.restore {
        let snapshot = read("--restore", path)?;
        board
            .restore(&snapshot)
            .map_err(|error| miette!("--restore {}: {error}", path.display()))?;
    }
    let ending = match (arguments.gdb, symbol(&firmware, "tohost")) {
        (Some(port), _) => under_gdb(&mut board, port, limit)?,
        (None, Some(tohost)) => {
            let fromhost = symbol(&firmware, "fromhost");
            let words = htif::Words { tohost, fromhost };
            htif::run(&mut board, words, limit, &of_htif, |bytes| {
                let _ = io::stdout().write_all(bytes);
            })
            .into_diagnostic()
            .wrap_err("the symbols `tohost` and `fromhost`")?
        }
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
    for (path, frames) in sent {
        write_frames(&path, &frames)?;
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
        let files = [("firmware", Some(&firmware)), ("kernel", kernel.as_ref())];
        let symbols = files.map(|(name, file)| {
            (
                name,
                file.map_or_else(Symbols::default, |bytes| Symbols::of(bytes)),
            )
        });
        summary(&mut board, ending, &symbols);
    }
    Ok(match ending {
        Ending::Exit(0) | Ending::Board(Outcome::Stop(Stop::PowerOff)) => 0,
        Ending::Board(Outcome::Limit) => 4,
        _ => 1,
    })
}

/// Disks with the contents of the files that were given to an option.
pub(crate) fn disks<'a>(
    option: &str,
    paths: impl IntoIterator<Item = &'a Path>,
) -> miette::Result<Vec<Box<dyn Backend>>> {
    let open = |path: &Path| -> miette::Result<Box<dyn Backend>> {
        is_regular(option, path)?;
        let disk = Disk::open(path).map_err(|error| unreadable(option, path, &error))?;
        Ok(Box::new(Block::new(disk, "tactus")))
    };
    paths.into_iter().map(open).collect()
}

/// What is at the ends of network devices' cables.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    /// Where what they send is to be written.
    pub written: Vec<(PathBuf, Sent)>,
    /// Where another run is met, and whose frames then are to be carried there and back.
    pub cable: Option<(PathBuf, FarEnd)>,
}

/// Adds network devices to functions.
pub(crate) fn networks<'a>(
    nets: impl IntoIterator<Item = &'a cli::Net>,
    functions: &mut Vec<Box<dyn Backend>>,
) -> miette::Result<Ends> {
    let mut count = 0;
    // As QEMU numbers them.
    let mut next = || {
        count += 1;
        Net::new([0x52, 0x54, 0x00, 0x12, 0x34, 0x55 + count])
    };
    let mut ends = Ends::default();
    for net in nets {
        let mut device = next();
        let sent = match net {
            cli::Net::Loop => {
                let mut other = next();
                device.link(&mut other);
                functions.extend([Box::new(device) as Box<dyn Backend>, Box::new(other)]);
                continue;
            }
            cli::Net::User { .. } => {
                return Err(miette!(
                    help = "give it files, or `loop`; a guest's console works on both",
                    "--pci-net user is for QEMU: the board is on no network, and forwards no ports"
                ));
            }
            cli::Net::Cable { socket, sent } => {
                let cable = (socket.clone(), device.far_end());
                if ends.cable.replace(cable).is_some() {
                    return Err(miette!(
                        "--pci-net: a board has one cable to another run's, and no second one"
                    ));
                }
                sent
            }
            cli::Net::Files { received, sent } => {
                if let Some(path) = received {
                    is_regular("--pci-net", path)?;
                    device = device
                        .receiving(capture::read("--pci-net", path)?)
                        .into_diagnostic()
                        .wrap_err_with(|| format!("--pci-net {}", path.display()))?;
                }
                sent
            }
        };
        if let Some(path) = sent {
            can_be_written("--pci-net", path)?;
            ends.written.push((path.clone(), device.record()));
        }
        functions.push(Box::new(device));
    }
    Ok(ends)
}

/// Writes the frames that a network device has sent.
pub(crate) fn write_frames(path: &Path, sent: &Sent) -> miette::Result<()> {
    let frames = sent.take();
    let frames = frames.iter().map(|(time, frame)| (*time, &frame[..]));
    let write = || -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        capture::write(&mut file, frames)?;
        file.flush()
    };
    write()
        .into_diagnostic()
        .wrap_err_with(|| path.display().to_string())
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
    window.map(|window| Waves {
        file: file.to_owned(),
        window: femtoseconds(window.start)..femtoseconds(window.end),
    })
}

/// A time of the board's.
const fn femtoseconds(time: Nanoseconds) -> Femtoseconds {
    Femtoseconds(time.0.saturating_mul(1_000_000))
}

/// A file that was given to an option cannot be read.
fn unreadable(option: &str, path: &Path, error: &io::Error) -> miette::Report {
    miette!("{option} {}: {}", path.display(), io_reason(error))
}

/// That a file that was given to an option is one whose contents have an end.
fn is_regular(option: &str, path: &Path) -> miette::Result<()> {
    let metadata = fs::metadata(path).map_err(|error| unreadable(option, path, &error))?;
    if metadata.is_dir() {
        return Err(miette!(
            help = "name a file in it",
            "{option} {}: is a directory",
            path.display()
        ));
    }
    if !metadata.is_file() {
        return Err(miette!(
            help = "copy its contents to a file and name that",
            "{option} {}: is not a regular file",
            path.display()
        ));
    }
    Ok(())
}

/// That a file can be written where an option says, as far as that is known before.
pub(crate) fn can_be_written(option: &str, path: &Path) -> miette::Result<()> {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let reason = if path.is_dir() {
        "is a directory"
    } else if !directory.is_dir() {
        "there is no such directory"
    } else {
        return Ok(());
    };
    Err(miette!(
        help = "name a file in a directory that exists",
        "{option} {}: {reason}",
        path.display()
    ))
}

/// Software that the board can run: an ELF file for it, or bytes that are none of what is known not to run.
fn executable(option: &str, path: &Path) -> miette::Result<Vec<u8>> {
    let bytes = read(option, path)?;
    match GuestImage::parse(&bytes) {
        Ok(_) => Ok(bytes),
        Err(unfit) => Err(miette!(
            help = unfit.cure(path),
            "{option} {}: {unfit}",
            path.display()
        )),
    }
}

/// A file that was given to an option, or an artifact of this project by its name with an `@`.
fn read(option: &str, path: &Path) -> miette::Result<Vec<u8>> {
    let artifact = path.to_str().and_then(|path| path.strip_prefix('@'));
    let found = artifact
        .map(|name| Artifacts::chosen().file(name))
        .transpose();
    let found = found.map_err(|missing| {
        let name = path.display();
        miette!(help = missing.cure, "{option} {name}: {}", missing.reason)
    })?;
    let path = found.as_deref().unwrap_or(path);
    is_regular(option, path)?;
    let bytes = fs::read(path).map_err(|error| unreadable(option, path, &error))?;
    if bytes.is_empty() {
        return Err(miette!(
            help = "create the file again; it may be truncated",
            "{option} {}: is empty",
            path.display()
        ));
    }
    Ok(bytes)
}

/// Sends stdin to each of the consoles: from a terminal as it is typed; from elsewhere all of it at reset, so that the
/// run repeats.
fn take_input(consoles: [Console; 2]) -> io::Result<()> {
    let mut input = io::stdin();
    if !input.is_terminal() {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes)?;
        for console in &consoles {
            console.send_at(Femtoseconds(0), &bytes);
        }
        return Ok(());
    }
    std::thread::spawn(move || {
        let mut buffer = [0; 256];
        while let Ok(count @ 1..) = input.read(&mut buffer) {
            for console in &consoles {
                console.send(&buffer[..count]);
            }
        }
    });
    Ok(())
}

/// Waits for gdb and runs under it; when gdb ends the run, it ends as at a limit.
fn under_gdb(board: &mut Board, port: u16, limit: Femtoseconds) -> miette::Result<Ending> {
    let listener = gdb::listen(port)
        .into_diagnostic()
        .wrap_err_with(|| format!("gdb cannot be waited for at port {port}"))?;
    eprintln!("tactus: the board waits for gdb: target remote 127.0.0.1:{port}");
    let options = gdb::Options { wait: true, limit };
    Ok(
        match gdb::serve(board, listener, &options).into_diagnostic()? {
            gdb::End::Run(outcome) => Ending::Board(outcome),
            gdb::End::Killed => Ending::Board(Outcome::Limit),
        },
    )
}

/// How long the board runs between two checks of the terminal's input: 1 ms of virtual time.
const LISTEN: Femtoseconds = Femtoseconds(Femtoseconds::SECOND.0 / 1000);

/// Runs with a terminal attached: typed input arrives, and virtual time does not run ahead while the software waits for
/// it.
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

/// A place in the software: "`loop`+0x4 of the kernel". `None`: no symbol is near.
fn place(symbols: &[(&str, Symbols)], pc: u64) -> Option<String> {
    let near = symbols.iter().filter_map(|(file, symbols)| {
        let (offset, _) = symbols.nearest(pc)?;
        Some((offset, file, symbols))
    });
    let (_, file, symbols) = near.min_by_key(|(offset, ..)| *offset)?;
    Some(format!("{} of the {file}", symbols.place(pc)?))
}

/// What a hart does and where, in words.
fn whereabouts(board: &Board, hart: usize, symbols: &[(&str, Symbols)]) -> String {
    let pc = board.pc(hart);
    let place = place(symbols, pc).map_or_else(String::new, |place| format!(", {place}"));
    let doing = match board.doing(hart) {
        Doing::Running { guest, privilege } => {
            let level = match (privilege, guest) {
                (Privilege::Machine, _) => "M",
                (Privilege::Supervisor, None) => "S",
                (Privilege::Supervisor, Some(_)) => "VS",
                (Privilege::User, None) => "U",
                (Privilege::User, Some(_)) => "VU",
            };
            format!("running in {level}-mode")
        }
        _ => "waiting for an interrupt".to_owned(),
    };
    format!("pc {pc:#x}{place}, {doing}")
}

/// How it ended, in words.
fn ending_text(ending: Ending) -> String {
    let code = match ending {
        Ending::Exit(code) => code,
        Ending::Board(outcome) => return outcome.to_string(),
    };
    let text = format!("the software ended with exit code {code}");
    match TestResult::of(code) {
        TestResult::Passed => text,
        TestResult::Failed(case) => format!("{text}: test case {case} failed"),
        TestResult::UnexpectedException => {
            format!("{text}: an exception came that the test did not expect")
        }
    }
}

/// Says on stderr how it went.
fn summary(board: &mut Board, ending: Ending, symbols: &[(&str, Symbols)]) {
    eprintln!("tactus: {}", ending_text(ending));
    if matches!(
        ending,
        Ending::Board(Outcome::Limit | Outcome::Deadlock | Outcome::Stop(Stop::Failure(_)))
    ) {
        for hart in 0..board.harts() {
            eprintln!("tactus: hart {hart}: {}", whereabouts(board, hart, symbols));
        }
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
