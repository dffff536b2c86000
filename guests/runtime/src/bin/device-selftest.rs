//! A device that one VM emulates for another (`systems/emulated-device.toml`). `role=device`: emulates a page of
//! registers, and has faults where it is asked for them; `role=driver`: uses the device in every way.
#![no_std]
#![no_main]

use core::arch::asm;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use core::time::Duration;

use tactus_guest::call::{self, Message, Stack};
use tactus_guest::emulation::{Access, Reply};
use tactus_guest::plic::Plic;
use tactus_guest::{devicetree, record, start, time, trap};

tactus_guest::entry!(main);

/// What its devicetree calls the device.
const COMPATIBLE: &str = "tactus,adder";
/// Rounds of accesses.
const ROUNDS: u64 = 20_000;
/// A VM that has faulted serves again within this time.
const RESTART: Duration = Duration::from_millis(200);
/// Calls that a long access takes.
const PIECES: u32 = 1000;

/// The device's registers.
mod register {
    /// Reads as [`NAME`].
    pub const IDENTITY: u32 = 0;
    /// What the register has: "TACT".
    pub const NAME: u64 = 0x5443_4154;
    /// Adds what is stored; reads as the sum.
    pub const SUM: u32 = 8;
    /// A store raises the device's interrupt.
    pub const RAISE: u32 = 16;
    /// A load takes many pieces, and reads as their number.
    pub const LONG: u32 = 24;
    /// A store is a fault of the VM that emulates the device.
    pub const FAULT: u32 = 32;
    /// Reads as the access itself: its size, and its offset in bits 15:8, and all bits above.
    pub const ECHO: u32 = 64;
}

static STACK: Stack = Stack::new();
static SUM: AtomicU64 = AtomicU64::new(0);
static PIECES_DONE: AtomicU32 = AtomicU32::new(0);
/// Access faults that the driver has had.
static REFUSED: AtomicU32 = AtomicU32::new(0);

fn main() {
    match devicetree::argument("role") {
        Some("device") => emulate(),
        Some("driver") => drive(),
        _ => record::give_up("which role?"),
    }
    record::pass(start::program());
}

fn expect(what: &str, good: bool) {
    if !good {
        record::give_up(what);
    }
}

fn emulate() -> ! {
    if call::serve(serve, &STACK).is_err() {
        record::give_up("the VM may not serve");
    }
    loop {
        trap::wait_for_interrupt();
    }
}

fn serve(channel: usize, message: Message) -> Message {
    access(channel, Access::of(message)).into_message()
}

fn access(channel: usize, access: Access) -> Reply {
    match (access.offset, access.store) {
        (register::IDENTITY, None) => Reply::value(register::NAME),
        (register::SUM, None) => Reply::value(SUM.load(Ordering::Relaxed)),
        (register::SUM, Some(value)) => {
            SUM.fetch_add(value, Ordering::Relaxed);
            Reply::DONE
        }
        (register::RAISE, Some(_)) => Reply {
            ring: Some(channel as u32),
            ..Reply::DONE
        },
        (register::LONG, None) => {
            let done = PIECES_DONE.fetch_add(1, Ordering::Relaxed) + 1;
            if done < PIECES {
                return Reply::AGAIN;
            }
            PIECES_DONE.store(0, Ordering::Relaxed);
            Reply::value(done.into())
        }
        // SAFETY: the VM has a fault by it.
        (register::FAULT, Some(_)) => unsafe { asm!("unimp", options(noreturn)) },
        (offset, None) if offset >= register::ECHO => {
            Reply::value(u64::MAX << 16 | u64::from(offset & 0xff) << 8 | u64::from(access.size))
        }
        _ => Reply::DONE,
    }
}

/// Loads by one instruction, whose address is in the register that it loads: it is lost when the value is there.
macro_rules! load {
    ($instruction:literal, $address:expr) => {{
        let mut value = $address as u64;
        // SAFETY: a register of a device of this VM.
        unsafe {
            asm!(concat!($instruction, " {value}, 0({value})"), value = inout(reg) value, options(nostack));
        }
        value
    }};
}

fn read(base: usize, offset: u32) -> u64 {
    load!("ld", base + offset as usize)
}

fn write(base: usize, offset: u32, value: u64) {
    // SAFETY: a register of a device of this VM.
    unsafe { ((base + offset as usize) as *mut u64).write_volatile(value) }
}

/// Waits until the device is there, and returns how many accesses were lost before.
fn when_it_is_there(base: usize, what: &str) {
    let end = time::now() + time::ticks(RESTART);
    while read(base, register::IDENTITY) != register::NAME {
        if time::now() >= end {
            record::give_up(what);
        }
    }
}

fn refused(frame: &mut trap::Frame) {
    REFUSED.fetch_add(1, Ordering::Relaxed);
    // The instructions that are refused have 4 bytes.
    frame.pc += 4;
}

fn drive() {
    let device = devicetree::page(COMPATIBLE, 0);
    let device = device.unwrap_or_else(|| record::give_up("there is no device"));
    let base = device.registers;
    when_it_is_there(base, "the device is never there");

    for round in 1..=ROUNDS {
        write(base, register::SUM, round);
    }
    let sum = ROUNDS * (ROUNDS + 1) / 2;
    expect("the sum", read(base, register::SUM) == sum);

    // Every width, and how its value is extended.
    let echo = base + register::ECHO as usize;
    let ones = u64::MAX << 16;
    for (found, wanted) in [
        (load!("lb", echo), 1),
        (load!("lbu", echo + 1), 1),
        (load!("lh", echo + 2), 0x4202),
        (load!("lh", echo + 0x40), 0x8002 | ones),
        (load!("lhu", echo + 0x40), 0x8002),
        (load!("lw", echo + 4), 0x4404 | ones),
        (load!("lwu", echo + 4), 0xffff_4404),
        (load!("ld", echo + 8), 0x4808 | ones),
    ] {
        expect("what a load gets", found == wanted);
    }

    // A bus that takes no misaligned accesses.
    trap::on_exception(refused);
    load!("lw", echo + 1);
    load!("ld", echo + 4);
    expect("misaligned", REFUSED.load(Ordering::Relaxed) == 2);

    // The device's interrupt.
    let source = device
        .source
        .unwrap_or_else(|| record::give_up("it has no interrupt"));
    let plic = Plic::of_hart(start::hart());
    plic.enable(source, 1);
    expect("no interrupt yet", plic.claim().is_none());
    write(base, register::RAISE, 1);
    expect("the interrupt", plic.claim() == Some(source));
    plic.complete(source);
    expect("one interrupt", plic.claim().is_none());

    long(base);

    // A fault of the device's VM: what is lost reads as zero, and nothing else happens.
    write(base, register::FAULT, 1);
    expect("a lost load", read(base, register::SUM) == 0);
    when_it_is_there(base, "the device does not come back");
    expect("it is another", read(base, register::SUM) == 0);
    record::metric("accesses", ROUNDS, "count");
}

/// A long access: the timer interrupts between its pieces.
fn long(base: usize) {
    static BEATS: AtomicU32 = AtomicU32::new(0);
    fn beat() {
        BEATS.fetch_add(1, Ordering::Relaxed);
        time::set_deadline(time::now() + time::hz() / 20_000);
    }
    trap::on_timer(beat);
    time::set_deadline(time::now() + time::hz() / 20_000);
    trap::enable_interrupts();
    let pieces = read(base, register::LONG);
    trap::disable_interrupts();
    expect("its pieces", pieces == PIECES.into());
    let beats = BEATS.load(Ordering::Relaxed);
    record::metric("beats_in_long_access", beats, "count");
    expect("interrupts come between its pieces", beats > 3);
}
