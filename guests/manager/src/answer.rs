//! Carries out a request, and answers it.

use core::fmt::{self, Display};

use tactus_guest::abi::management::{CONSOLE_KEPT, CONSOLE_MAX, VmCounters};
use tactus_guest::management::{self, Console, Managed, managed};
use tactus_guest::{hypervisor, println, sbi::Error, time, trap};
use tactus_management::{
    ImageSignature, Refused, Report, Request, State, TEXT_MAX, Text, WRITE_MAX, decode,
};

use crate::images::{Images, Refusal};

/// How often is looked whether a VM has come to a state, in a second.
const LOOKS_HZ: u64 = 1000;
/// How long a VM may take to end, or to have its memory cleared, in seconds.
const PATIENCE_S: u64 = 60;

/// What a line begins with.
struct Tag<'t>(&'t str);

impl Display for Tag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => Ok(()),
            tag => write!(f, "#{tag} "),
        }
    }
}

/// Why a request was not carried out.
enum Failure<'l> {
    Refused(Refused),
    /// It manages no VM of that name.
    Unknown(&'l str),
    /// The VM has to be in another state.
    State(Managed, &'static str),
    /// So many bytes from that address on are not all in its memory.
    Outside(Managed, u64, usize),
    /// Its image may not be loaded, or started.
    Image(Managed, Refusal),
    /// No instruction can be there.
    Entry(Managed, u64),
    /// It has not come to that state in time.
    Late(Managed, State),
    /// The hypervisor's own word.
    Call(Managed, Error),
}

impl Display for Failure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(f),
            Self::Unknown(name) => write!(f, "no VM {name} is managed here"),
            Self::State(vm, what) => write!(f, "VM {} {what}", vm.name),
            Self::Outside(vm, address, length) => {
                write!(
                    f,
                    "{length} bytes at {address:#x} are not in the memory of VM {}",
                    vm.name
                )?;
                if let Ok(counters) = management::vm_counters(vm.number) {
                    let last = counters
                        .memory
                        .wrapping_add(counters.memory_size)
                        .wrapping_sub(1);
                    write!(f, ", {:#x} to {last:#x}", counters.memory)?;
                }
                Ok(())
            }
            Self::Image(vm, refusal) => write!(
                f,
                "VM {}: {}",
                vm.name,
                match refusal {
                    Refusal::Unsigned => "images have to be signed here; say the signature",
                    Refusal::NoKey => "there is no key to check a signature with",
                    Refusal::Signature => "the signature is not of this image, entry, VM and key",
                    Refusal::NotBegun => "no signed image is on its way; load it first",
                }
            ),
            Self::Entry(vm, entry) => {
                write!(
                    f,
                    "the entry {entry:#x} is odd, or not in the memory of VM {}",
                    vm.name
                )
            }
            Self::Late(vm, state) => write!(
                f,
                "VM {} is not {} after {PATIENCE_S} s; ask for its status",
                vm.name,
                state.name()
            ),
            Self::Call(vm, error) => write!(f, "VM {}: the hypervisor answers {error:?}", vm.name),
        }
    }
}

/// Carries out what was asked for, and answers under that tag.
pub fn answer(images: &mut Images, tag: &str, request: Result<Request<'_>, Refused>) {
    let tag = Tag(tag);
    match request
        .map_err(Failure::Refused)
        .and_then(|request| carry_out(images, &tag, request))
    {
        Ok(()) => println!("{tag}ok"),
        Err(failure) => println!("{tag}error {failure}"),
    }
}

fn carry_out<'l>(
    images: &mut Images,
    tag: &Tag<'_>,
    request: Request<'l>,
) -> Result<(), Failure<'l>> {
    match request {
        Request::Nothing => Ok(()),
        Request::List => managed().try_for_each(|vm| tell(tag, vm)),
        Request::Status(name) => tell(tag, named(name)?),
        Request::Stop(name) => stop(named(name)?),
        Request::Start(name) => start(named(name)?),
        Request::Restart(name) => {
            let vm = named(name)?;
            match stop(vm) {
                Ok(()) | Err(Failure::State(..)) => start(vm),
                Err(failure) => Err(failure),
            }
        }
        Request::Load(name, signature) => load(images, named(name)?, signature),
        Request::Write { vm, address, bytes } => write(images, named(vm)?, address, bytes),
        Request::StartAt(name, entry) => start_at(images, named(name)?, entry),
        Request::Console(name, position) => show_console(tag, named(name)?, position),
    }
}

fn named(name: &str) -> Result<Managed, Failure<'_>> {
    let mut vms = managed();
    vms.find(|vm| vm.name == name).ok_or(Failure::Unknown(name))
}

fn tell(tag: &Tag<'_>, vm: Managed) -> Result<(), Failure<'static>> {
    let of_call = |error| Failure::Call(vm, error);
    let counters: VmCounters = management::vm_counters(vm.number).map_err(of_call)?;
    let state = State::of_status(counters.status).ok_or(Failure::Call(vm, Error::Failed))?;
    let report = Report {
        name: vm.name,
        state,
        cause: counters.status >> 8 & 0xff,
        time: counters.time,
        hz: time::hz(),
        run_time: counters.run_time,
        running: counters.running,
        faults: counters.faults,
        restarts: counters.restarts,
        memory: counters.memory,
        memory_size: counters.memory_size,
        jobs: counters.jobs,
        overruns: counters.overruns,
        missed: counters.missed,
        late_max: counters.late_max,
        interference_max: counters.interference_max,
    };
    println!("{tag}{report}");
    Ok(())
}

fn stop(vm: Managed) -> Result<(), Failure<'static>> {
    match management::vm_stop(vm.number) {
        Ok(()) => wait_until(vm, State::Off, |state| {
            matches!(state, State::Off | State::Faulted)
        }),
        Err(Error::AlreadyStopped) => Err(Failure::State(vm, "is off already")),
        Err(error) => Err(Failure::Call(vm, error)),
    }
}

fn start(vm: Managed) -> Result<(), Failure<'static>> {
    hypervisor::vm_restart(vm.number).map_err(|error| match error {
        Error::AlreadyAvailable => Failure::State(vm, "is not off; stop it first"),
        error => Failure::Call(vm, error),
    })
}

fn load(
    images: &mut Images,
    vm: Managed,
    signature: Option<ImageSignature>,
) -> Result<(), Failure<'static>> {
    let check = images
        .begin(vm, signature)
        .map_err(|refusal| Failure::Image(vm, refusal))?;
    match management::vm_load(vm.number) {
        Ok(()) => {
            images.begun(vm, check);
            wait_until(vm, State::Held, |state| state == State::Held)
        }
        Err(Error::AlreadyAvailable) => Err(Failure::State(vm, "is not off; stop it first")),
        Err(error) => Err(Failure::Call(vm, error)),
    }
}

fn write(
    images: &mut Images,
    vm: Managed,
    address: u64,
    text: &str,
) -> Result<(), Failure<'static>> {
    images
        .may_write(vm)
        .map_err(|refusal| Failure::Image(vm, refusal))?;
    let mut bytes = [0; WRITE_MAX];
    let length = decode(text, &mut bytes).ok_or(Failure::Refused(Refused::Bytes))?;
    let written = management::vm_write(vm.number, address, &bytes[..length]);
    written.map_err(|error| match error {
        Error::InvalidAddress => Failure::Outside(vm, address, length),
        Error::AlreadyStarted => Failure::State(vm, "is not held; load it first"),
        error => Failure::Call(vm, error),
    })?;
    images.written(address, &bytes[..length]);
    Ok(())
}

fn start_at(images: &mut Images, vm: Managed, entry: u64) -> Result<(), Failure<'static>> {
    images
        .may_start(vm, entry)
        .map_err(|refusal| Failure::Image(vm, refusal))?;
    management::vm_start(vm.number, entry).map_err(|error| match error {
        Error::InvalidAddress => Failure::Entry(vm, entry),
        Error::AlreadyStarted => Failure::State(vm, "is not held; load it first"),
        error => Failure::Call(vm, error),
    })
}

/// Tells what a VM has written from byte `position` on, as far as the hypervisor keeps it.
fn show_console(tag: &Tag<'_>, vm: Managed, position: Option<u64>) -> Result<(), Failure<'static>> {
    let mut position = position.unwrap_or(0);
    let mut bytes = [0; TEXT_MAX];
    // What the VM writes meanwhile is for the next request.
    for _ in 0..=CONSOLE_KEPT / CONSOLE_MAX {
        match management::vm_console(vm.number, position, &mut bytes) {
            Ok(Console::Read(0)) => break,
            Ok(Console::Read(count)) => {
                println!("{tag}{}", Text::new(position, &bytes[..count]));
                position += count as u64;
            }
            Ok(Console::KeptFrom(first)) => position = first,
            Err(error) => return Err(Failure::Call(vm, error)),
        }
    }
    Ok(())
}

/// Waits until a VM has come to a state.
fn wait_until(
    vm: Managed,
    state: State,
    has_come: impl Fn(State) -> bool,
) -> Result<(), Failure<'static>> {
    let hz = time::hz();
    let end = time::now() + PATIENCE_S * hz;
    loop {
        let counters = management::vm_counters(vm.number);
        let counters = counters.map_err(|error| Failure::Call(vm, error))?;
        if State::of_status(counters.status).is_some_and(&has_come) {
            return Ok(());
        }
        let now = time::now();
        if now >= end {
            return Err(Failure::Late(vm, state));
        }
        time::set_deadline(now + hz / LOOKS_HZ);
        trap::wait_for_interrupt();
        time::set_deadline(time::NEVER);
    }
}
