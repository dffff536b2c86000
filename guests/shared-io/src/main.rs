//! Uses everything that it is given of the devices that VMs share, as fast as it can, and compares what comes back: the flash, its window of the display, Ethernet,
//! whose frames come back to it, the UART; and has its pins pulse.
//!
//! Boot arguments: `rounds=N`: how often; `runs=N` and `period=N`: how often the pins pulse, every so many cycles of the fabric.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU8, Ordering};

use tactus_guest::abi::map;
use tactus_guest::io_port::{self, Device, Failure, IoPort, LENGTH_MAX, Op, Place, Request};
use tactus_guest::timed_io::TimedIo;
use tactus_guest::{devicetree, interrupts, println, record, start, trap};

tactus_guest::entry!(main);

/// `pulses.tio`, as `tactus timed-io assemble` prints it.
const PULSES: [u32; 4] = [0x1_4040, 0x3_0027, 0x1_4000, 0x0_0000];
/// Cycles from now to the first pulse.
const AHEAD: u64 = 20_000;
/// Bytes behind the beginning of the flash's area.
const WRITTEN: usize = 256;
/// Of which so many are written with more to follow.
const RECORD: usize = 100;

/// Where the flash is read into memory.
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

/// What went wrong, and how it ended if it was not done.
struct Wrong(&'static str, Option<Failure>);

/// What is wrong where that is not done.
fn or<T>(outcome: Result<T, Failure>, what: &'static str) -> Result<T, Wrong> {
    outcome.map_err(|failure| Wrong(what, Some(failure)))
}

fn right(is: bool, what: &'static str) -> Result<(), Wrong> {
    is.then_some(()).ok_or(Wrong(what, None))
}

fn use_all() -> Result<(), Wrong> {
    let rounds = devicetree::number("rounds", 20) as u32;
    let port = IoPort::find(0).ok_or(Wrong("there is no port", None))?;
    if let Some(source) = port.source() {
        trap::on_external(|_| io_port::silence(0));
        interrupts::enable(source, 1);
        port.set_interrupt(true);
        trap::enable_interrupts();
    }
    let timed = pulse()?;
    let mut written = [0xff; WRITTEN];
    if port.flash_writable() {
        written = core::array::from_fn(|index| (index * 5 + 1) as u8);
        // In two, which become one page.
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

/// Schedules the pulses, if there are pins.
fn pulse() -> Result<Option<TimedIo>, Wrong> {
    let Some(timed) = TimedIo::find() else {
        return Ok(None);
    };
    timed.store(0, &PULSES);
    let begin = timed.now() + AHEAD;
    let period = devicetree::number("period", 10_000) as u32;
    let runs = devicetree::number("runs", 20) as u32;
    if let Err(refusal) = timed.run(0, begin, period, runs) {
        println!("pins: {refusal:?}");
        return Err(Wrong("the schedule is refused", None));
    }
    record::metric("pins_start", begin, "cycles");
    Ok(Some(timed))
}

/// What was written comes back, by the buffer and by memory.
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
        place: Place::Memory((SINK.0.as_ptr() as u64 - map::RAM_BASE) as u32),
        length: WRITTEN,
        tag: 3,
    };
    let came = or(port.call(&request), "the flash cannot be read into memory")?;
    let same = SINK.0.iter().zip(written);
    let same = same.filter(|(byte, written)| byte.load(Ordering::Relaxed) == **written);
    right(
        came == WRITTEN && same.count() == WRITTEN,
        "the flash gives memory other data",
    )?;
    // Nothing beyond what was asked for.
    let beyond = &SINK.0[WRITTEN..];
    let beyond = beyond.iter().any(|byte| byte.load(Ordering::Relaxed) != 0);
    right(!beyond, "more came than was asked for")
}

/// The port reaches the last of the VM's memory, where the devicetree has ended already, and nothing behind it.
fn window_ends(port: &IoPort) -> Result<(), Wrong> {
    let size = devicetree::memory_size().unwrap_or(0) as u32;
    let into = |place| Request {
        device: Device::Flash,
        op: Op::Read,
        address: 0,
        place: Place::Memory(place),
        length: 1,
        tag: 0,
    };
    or(
        port.call(&into(size - 64)),
        "the end of memory is not reached",
    )?;
    let beyond = port.call(&into(size)) == Err(Failure::MemoryFailed);
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

/// A frame to itself; 1 if it came back. Others send, too: where one of theirs has come first, it is lost.
fn ethernet(port: &IoPort, station: [u8; 6], round: u32) -> Result<u32, Wrong> {
    let mut frame = [0; 64];
    frame[..6].copy_from_slice(&station);
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    frame[14..18].copy_from_slice(&round.to_be_bytes());
    or(port.send(&frame), "a frame cannot be sent")?;
    // Its source is the port, whatever it says.
    frame[6..12].copy_from_slice(&station);
    let mut found = [0; 64];
    let came = or(port.receive(&mut found), "no frame can be received")?;
    right(came == 0 || came == 64, "a frame has another length")?;
    let is_own = came == 64 && found[6..12] == station;
    right(!is_own || found[18..] == frame[18..], "a frame has changed")?;
    Ok(u32::from(is_own))
}
