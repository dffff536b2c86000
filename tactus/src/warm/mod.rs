//! `tactus warm`: finds which cache lines a real-time vCPU uses from when its timer wakes it until it waits, and writes
//! them to the file that `warm` of its `[[vm.vcpu]]` names.
//!
//! The system runs on the timed board, which empties all caches whenever the timer wakes the vCPU: so each line that it
//! uses then is seen, whatever the others leave in the caches.

mod rank;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use miette::miette;
use rustc_demangle::demangle;
use tactus_abi::blob::onchip::Memory;
use tactus_abi::blob::warm::WARM_LINES;
use tactus_board::timing::Wake;

use crate::cli::WarmArguments;
use crate::config::{Address, Nanoseconds, cure_of_unknown};
use crate::guest_image::GuestImage;
use crate::image;
use crate::problem::{count, io_reason};
use crate::run::board::probe::{Owner, Place, Probe};
use crate::run::board::reloads::Watched;
use crate::run::board::{Facts, Marker, Options};
use crate::run::machine::Platform;
use crate::run::session::{Session, Unwatched};
use crate::run::{self, Boot};
use crate::symbols::Symbols;

use rank::{Range, ranges};

/// Virtual time within which the VM starts.
const START_MAX: Nanoseconds = Nanoseconds(10_000_000_000);

/// Carries the command out; the exit code is as `--help` says.
pub fn command(arguments: &WarmArguments) -> ExitCode {
    match warm(arguments) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(report) => {
            eprintln!("{report:?}");
            ExitCode::from(1)
        }
    }
}

/// The vCPU that is looked at.
struct Subject {
    /// Its VM's index.
    vm: usize,
    watched: Watched,
    /// The image of its VM, and the file's bytes.
    image: GuestImage,
    file: Vec<u8>,
    memory: Memory,
}

impl Subject {
    fn of(arguments: &WarmArguments, boot: &Boot) -> miette::Result<Self> {
        let image = &boot.image;
        let Some(vm) = image.vms.iter().position(|vm| *vm == arguments.vm) else {
            let known: Vec<&str> = image.vms.iter().map(String::as_str).collect();
            return Err(miette!(
                help = cure_of_unknown(&arguments.vm, &known),
                "--vm {}: the system has no such VM",
                arguments.vm
            ));
        };
        let name = format!("{}.{}", arguments.vm, arguments.vcpu);
        let watched = image.reloads.iter().find(|watched| watched.name == name);
        let watched = watched.cloned().ok_or_else(|| {
            miette!(
                help = "name a real-time vCPU that is its VM's only one on some hart",
                "vCPU {} of VM `{}` is not there, is best effort, or cannot be told from another one of its VM",
                arguments.vcpu,
                arguments.vm
            )
        })?;
        let path = image.guests[vm].as_ref();
        let path =
            path.ok_or_else(|| miette!("the image of VM `{}` is not known", arguments.vm))?;
        let file = std::fs::read(path)
            .map_err(|error| miette!("{} cannot be read: {}", path.display(), io_reason(&error)))?;
        let parsed = GuestImage::parse(&file)
            .map_err(|unfit| miette!("the image of VM `{}` {unfit}", arguments.vm))?;
        Ok(Self {
            vm,
            watched,
            image: parsed,
            file,
            memory: image.memories[vm],
        })
    }
}

fn warm(arguments: &WarmArguments) -> miette::Result<String> {
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None if arguments.vcpu == 0 => PathBuf::from(format!("{}.warm.toml", arguments.vm)),
        None => PathBuf::from(format!("{}.{}.warm.toml", arguments.vm, arguments.vcpu)),
    };
    // A list that is there already, or is not yet, does not matter.
    let image = image::build_changed(
        &arguments.file,
        |text| text,
        |config| {
            for vcpu in config.vms.iter_mut().flat_map(|vm| &mut vm.vcpus) {
                vcpu.warm = None;
            }
        },
    )?;
    let boot = Boot::of_image(image)?;
    let subject = Subject::of(arguments, &boot)?;
    let options = options(arguments, &boot, &subject)?;
    let caches = options.profile.timing.caches.as_ref();
    let line = caches.map(|caches| caches.l1d.line).ok_or_else(|| {
        miette!(
            help = "name another with --profile, such as soc",
            "the board `{}` has no caches",
            options.profile.name
        )
    })?;
    let board = options.profile.name.clone();
    let facts = run(arguments, &boot, options)?;
    let wakes = wakes(arguments, &facts)?;
    let found = ranges(&wakes, &subject.memory, line);
    if found.is_empty() {
        return Err(miette!(
            help = "give it another --until, or none",
            "no line of the VM's memory is used in a wake up to there"
        ));
    }
    let text = text(arguments, &subject, &board, line, &found, wakes.len());
    std::fs::write(&output, text)
        .map_err(|error| miette!("cannot write {}: {}", output.display(), io_reason(&error)))?;
    let lines: u32 = found.iter().map(|range| range.lines).sum();
    Ok(format!(
        "{}: {} of {line} bytes in {}, from {} of vCPU {} of VM `{}`\n\
         Name it in the vCPU's table of {}: warm = \"{}\", a path relative to that file",
        output.display(),
        count(lines as usize, "line"),
        count(found.len(), "range"),
        count(wakes.len(), "wake"),
        arguments.vcpu,
        arguments.vm,
        arguments.file.display(),
        output.display(),
    ))
}

/// The board, timed from when the VM starts, unless something else is wanted.
fn options(arguments: &WarmArguments, boot: &Boot, subject: &Subject) -> miette::Result<Options> {
    let mut options = Options::of(&boot.image, arguments.profile.as_deref())?;
    options.seed = arguments.seed.unwrap_or(options.seed);
    options.timed_from = Some(match &arguments.timed_from {
        Some(text) => run::marker(text, &boot.image)?,
        None => Marker::Place(Place {
            name: format!("{}/entry", arguments.vm),
            address: subject.image.entry,
            owner: Owner::Vm(subject.vm),
        }),
    });
    options.timed_for = Some(arguments.time);
    options.wakes = vec![subject.watched.clone()];
    if let Some(place) = &arguments.until {
        let place = Place::find(&format!("{}/{place}", arguments.vm), &boot.image)?;
        options.probes.push(Probe {
            place,
            arguments: 0,
        });
    }
    Ok(options)
}

fn run(arguments: &WarmArguments, boot: &Boot, options: Options) -> miette::Result<Facts> {
    let limit = Nanoseconds(START_MAX.0 + arguments.time.0);
    let plan = boot.plan.clone().limit(limit);
    let plan = plan.on(Platform::Board(Box::new(options)));
    let outcome = Session::start(plan)?.finish(&mut Unwatched)?;
    let reason = outcome.reason();
    let facts = outcome.board.filter(|facts| facts.timed_since.is_some());
    facts.ok_or_else(|| {
        miette!(
            help = "see what the system does with `tactus run`, or say when to begin with --timed-from",
            "VM `{}` does not come to what is waited for within {START_MAX} of virtual time: {reason}",
            arguments.vm
        )
    })
}

/// The wakes, each up to where it is to be looked at.
fn wakes(arguments: &WarmArguments, facts: &Facts) -> miette::Result<Vec<Wake>> {
    let mut wakes = facts.wakes.clone();
    if let Some(place) = &arguments.until {
        let ends = |wake: &Wake| {
            let mut hits = facts.hits.kept.iter();
            let ends =
                |hart: u16, cycle: u64| usize::from(hart) == wake.hart && cycle >= wake.begin;
            hits.find(|hit| ends(hit.hart, hit.cycle))
                .map(|hit| hit.cycle)
        };
        // One that does not come there before it waits, as the next one may, is looked at as a whole.
        for wake in &mut wakes {
            if let Some(end) = ends(wake) {
                wake.lines.retain(|line| line.cycle <= end);
            }
        }
        if facts.hits.counts.iter().all(|count| *count == 0) {
            return Err(miette!(
                help = "name a place that the guest comes to in each period",
                "--until {place}: the guest has never been there within {}",
                arguments.time
            ));
        }
    }
    if wakes.is_empty() {
        return Err(miette!(
            help = "give it more --time, or begin later with --timed-from",
            "vCPU {} of VM `{}` has not been woken by its timer and waited again within {}",
            arguments.vcpu,
            arguments.vm,
            arguments.time
        ));
    }
    Ok(wakes)
}

/// The file.
fn text(
    arguments: &WarmArguments,
    subject: &Subject,
    board: &str,
    line: u64,
    ranges: &[Range],
    wakes: usize,
) -> String {
    let symbols = Symbols::of(&subject.file);
    let vcpu = format!("vCPU {} of VM `{}`", arguments.vcpu, arguments.vm);
    let file = arguments.file.file_name().map_or(Path::new(""), Path::new);
    let mut text = format!(
        "# Cache lines that {vcpu} of {} uses from when its timer wakes it,\n\
         # those that it uses first before the others. Made by `tactus warm` from {} on the board `{board}`.\n\
         # At most {} lines; `tactus check` says when they are of another image.\n\n\
         image = \"{}\"\nline = {line}\n",
        file.display(),
        count(wakes, "wake"),
        WARM_LINES,
        subject.image.digest()
    );
    for range in ranges {
        let place = match functions(&symbols, range, line) {
            functions if range.code && !functions.is_empty() => functions.join(", "),
            _ => "data".to_owned(),
        };
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "\n# in {} % of the wakes: {place}\n[[range]]\nfirst = {}\nlines = {}\ncode = {}\n",
            range.wakes * 100 / wakes,
            Address(range.first),
            range.lines,
            range.code
        );
    }
    text
}

/// The functions that begin or go on in these lines, in the order of their addresses.
fn functions(symbols: &Symbols, range: &Range, line: u64) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let end = range.first + u64::from(range.lines) * line;
    for address in (range.first..end).step_by(2) {
        let Some((_, name)) = symbols.nearest(address) else {
            continue;
        };
        let name = format!("{:#}", demangle(name));
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    names
}
