//! Uses all shared devices that are assigned to it, as fast as it can, and checks the results: the flash, its window of
//! the display, Ethernet, which returns its own frames, and the UART; and pulses its pins.
//!
//! Boot arguments: `rounds=N`: number of rounds; `runs=N` and `period=N`: number of pulses, and the fabric's cycles
//! between two; `deaths=N`: instead, restarts N times amid requests and endless runs, and checks after each
//! restart that nothing is left of them. Channel 0 holds the number of restarts.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU8, Ordering};

use tactus_guest::abi::map;
use tactus_guest::channel::Channel;
use tactus_guest::io_port::{self, DataLocation, Device, Failure, IoPort, LENGTH_MAX, Op, Request};
use tactus_guest::timed_io::TimedIo;
use tactus_guest::{devicetree, interrupts, power, println, record, start, trap};
use tactus_registers::io_port::IoPort as Port;
use tactus_registers::timed_io::TimedIo as Engine;

tactus_guest::entry!(main);

/// `pulses.tio`, as `tactus timed-io assemble` prints it.
const PULSES: [u32; 4] = [0x1_4040, 0x3_0027, 0x1_4000, 0x0_0000];
/// Cycles from now to the first pulse.
const AHEAD: u64 = 20_000;
/// Bytes written from the start of the flash's area on.
const WRITTEN: usize = 256;
/// Bytes of the first write, which is appended to.
const RECORD: usize = 100;

/// The pulses' line goes high and stays high, and is sampled.
const HIGH_AND_SAMPLED: [u32; 3] = [0x1_4040, 0x0_2000, 0x0_0000];

/// The memory into which the flash is read.
#[repr(align(64))]
struct Sink([AtomicU8; LENGTH_MAX]);
static SINK: Sink = Sink([const { AtomicU8::new(0) }; LENGTH_MAX]);

fn main() {
    match use_all() {
        Ok(()) => record::pass(start::program()),
        Err(Wrong(what, failure)) => {
            println!("{what}: {failure:?}");
            record::fail(start::program(), what);
        }
    }
}

/// The failure, and the status of the operation that was not done, if any.
struct Wrong(&'static str, Option<Failure>);

/// Converts the outcome of an operation that must succeed.
fn or<T>(outcome: Result<T, Failure>, what: &'static str) -> Result<T, Wrong> {
    outcome.map_err(|failure| Wrong(what, Some(failure)))
}

fn right(is: bool, what: &'static str) -> Result<(), Wrong> {
    is.then_some(()).ok_or(Wrong(what, None))
}

fn use_all() -> Result<(), Wrong> {
    let rounds = devicetree::number("rounds", 20) as u32;
    right(is_new(), "something is left of the life before")?;
    let port = IoPort::find(0).ok_or(Wrong("there is no port", None))?;
    if let Some(source) = port.source() {
        trap::on_external(|_| io_port::clear_interrupt(0));
        interrupts::enable(source, 1);
        port.set_interrupt(true);
        trap::enable_interrupts();
    }
    let timed = TimedIo::find();
    die(&port, timed.as_ref())?;
    if let Some(timed) = &timed {
        pulse(timed)?;
    }
    let mut written = [0xff; WRITTEN];
    if port.flash_writable() {
        written = core::array::from_fn(|index| (index * 5 + 1) as u8);
        // In two writes, which are joined to one page.
        let (first, rest) = written.split_at(RECORD);
        or(port.append_flash(0, first), "the flash cannot be written")?;
        or(
            port.write_flash(RECORD as u32, rest),
            "the flash cannot be written",
        )?;
    }
    if port.flash_size() > 0 {
        window_ends(&port)?;
    }
    let mut frames = 0;
    for round in 0..rounds {
        if port.flash_size() > 0 {
            flash(&port, &written)?;
        }
        if let Some([width, height]) = port.window() {
            display(&port, [width as u16, height as u16], round)?;
        }
        if let Some(station) = port.station() {
            frames += ethernet(&port, station, round)?;
        }
    }
    if port.may_use(Device::Uart) {
        or(port.write_text(b"done"), "no text can be written")?;
    }
    record::metric("rounds", rounds, "count");
    record::metric("frames", frames, "count");
    if let Some(timed) = timed {
        timed.await_end();
        if let Some((cause, cycle)) = timed.take_report() {
            println!("pins: {cause:?} in cycle {cycle}");
            return Err(Wrong("a pulse was not on its cycle", None));
        }
    }
    Ok(())
}

/// Schedules the pulses.
fn pulse(timed: &TimedIo) -> Result<(), Wrong> {
    timed.store(0, &PULSES);
    let begin = timed.now() + AHEAD;
    let period = devicetree::number("period", 10_000) as u32;
    let runs = devicetree::number("runs", 20) as u32;
    if let Err(refusal) = timed.run(0, begin, period, runs) {
        println!("pins: {refusal:?}");
        return Err(Wrong("the schedule is refused", None));
    }
    record::metric("pins_start", begin, "cycles");
    Ok(())
}

/// Whether port and engine are in their initial state, except for a request that may have been
/// in flight.
fn is_new() -> bool {
    let port = devicetree::page("tactus,io-port", 0).is_none_or(|page| {
        // SAFETY: the devicetree describes the pages that the system assigns to the VM.
        let port = unsafe { Port::from_ptr(page.registers as *mut ()) };
        let status = port.status().read();
        let enabled = port.irq_enable().read().response();
        status.waiting() == 0 && status.refused() == 0 && status.room() >= 3 && !enabled
    });
    let engine = devicetree::page("tactus,timed-io", 0).is_none_or(|page| {
        // SAFETY: as above.
        let engine = unsafe { Engine::from_ptr(page.registers as *mut ()) };
        let status = engine.status().read();
        let runs = status.scheduled() || status.armed() || status.running();
        !runs && status.samples() == 0 && status.reports() == 0
    });
    port && engine
}

/// Restarts amid all kinds of requests, unless it has done so often enough.
fn die(port: &IoPort, timed: Option<&TimedIo>) -> Result<(), Wrong> {
    let deaths = devicetree::number("deaths", 0);
    if deaths == 0 {
        return Ok(());
    }
    let channel = Channel::find(0).ok_or(Wrong("there is no channel", None))?;
    let died = channel.words()[0].fetch_add(1, Ordering::Relaxed);
    if died == deaths {
        return Ok(());
    }
    if let Some(timed) = timed {
        timed.store(0, &HIGH_AND_SAMPLED);
        // The first schedule is too late, and is reported.
        let late = timed.run(0, timed.now(), 1_000, 0).is_err();
        let runs = timed.run(0, timed.now() + AHEAD, 1_000, 0).is_ok();
        right(late && runs, "the schedules go otherwise")?;
        while timed.sample().is_none() {}
    }
    for tag in [0, 1, 2, 3] {
        let request = Request {
            device: Device::Flash,
            op: Op::Read,
            address: 0,
            data: DataLocation::Memory((SINK.0.as_ptr() as u64 - map::RAM_BASE) as u32),
            length: LENGTH_MAX,
            tag,
        };
        right(port.submit(&request), "there is no room for a request")?;
    }
    // In every other life there are responses pending.
    while died % 2 == 1 && port.answers_pending() == 0 {}
    power::restart()
}

/// Checks that reads return the written data, by the buffer and by memory.
fn flash(port: &IoPort, written: &[u8; WRITTEN]) -> Result<(), Wrong> {
    let mut found = [0; WRITTEN];
    or(port.read_flash(0, &mut found), "the flash cannot be read")?;
    right(found == *written, "the flash has other data")?;
    for byte in &SINK.0 {
        byte.store(0, Ordering::Relaxed);
    }
    let request = Request {
        device: Device::Flash,
        op: Op::Read,
        address: 0,
        data: DataLocation::Memory((SINK.0.as_ptr() as u64 - map::RAM_BASE) as u32),
        length: WRITTEN,
        tag: 3,
    };
    let came = or(
        port.execute(&request),
        "the flash cannot be read into memory",
    )?;
    let same = SINK.0.iter().zip(written);
    let same = same.filter(|(byte, written)| byte.load(Ordering::Relaxed) == **written);
    right(
        came == WRITTEN && same.count() == WRITTEN,
        "the flash gives memory other data",
    )?;
    // No byte beyond the requested length.
    let beyond = &SINK.0[WRITTEN..];
    let beyond = beyond.iter().any(|byte| byte.load(Ordering::Relaxed) != 0);
    right(!beyond, "more came than was asked for")
}

/// The port accesses the last of the VM's memory, behind the devicetree's end, and nothing beyond.
fn window_ends(port: &IoPort) -> Result<(), Wrong> {
    let size = devicetree::memory_size().unwrap_or(0) as u32;
    let into = |place| Request {
        device: Device::Flash,
        op: Op::Read,
        address: 0,
        data: DataLocation::Memory(place),
        length: 1,
        tag: 0,
    };
    or(
        port.execute(&into(size - 64)),
        "the end of memory is not reached",
    )?;
    let beyond = port.execute(&into(size)) == Err(Failure::MemoryFailed);
    right(beyond, "what is behind memory is not refused")
}

fn display(port: &IoPort, size: [u16; 2], round: u32) -> Result<(), Wrong> {
    or(
        port.fill([0, 0], size, round as u8),
        "nothing can be filled",
    )?;
    let row = [0xe0; 64];
    let y = round as u16 % size[1];
    or(port.draw([0, y], &row), "nothing can be drawn")
}

/// Sends a frame to itself; returns 1 if it came back. It is lost if another VM's frame has arrived first.
fn ethernet(port: &IoPort, station: [u8; 6], round: u32) -> Result<u32, Wrong> {
    let mut frame = [0; 64];
    frame[..6].copy_from_slice(&station);
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    frame[14..18].copy_from_slice(&round.to_be_bytes());
    or(port.send(&frame), "a frame cannot be sent")?;
    // The source is the port's, whatever the frame contains.
    frame[6..12].copy_from_slice(&station);
    let mut found = [0; 64];
    let came = or(port.receive(&mut found), "no frame can be received")?;
    right(came == 0 || came == 64, "a frame has another length")?;
    let is_own = came == 64 && found[6..12] == station;
    right(!is_own || found[18..] == frame[18..], "a frame has changed")?;
    Ok(u32::from(is_own))
}
