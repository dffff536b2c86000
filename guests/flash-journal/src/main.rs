//! Keeps a journal in its area of the flash, across losses of power: it reports how much it has `found`, and each
//! record that it has written as `confirmed`. A record that counts as whole, and is not, fails its check. Whether all
//! that it had confirmed is found again is judged by who reads its console: `campaigns/power.toml`.
//!
//! Boot arguments: `records=N` (40): records of a sector, after which the other one is erased; `pause=N` (0): so many
//! milliseconds before the first of them, so that others come to the flash; `period=N` (0): so many microseconds before
//! each; `role=neighbour`: instead, writes its area once, confirms its size, and checks it all the time: nothing that
//! others write, or that a loss of power tears, may change it.
//!
//! Two mistakes that a campaign has to find: `confirm=early`: a record is confirmed when the I/O hypervisor has it, and
//! not the flash; `checksum=none`: a record counts as whole whatever its checksum says.
#![no_std]
#![no_main]

use core::time::Duration;

use tactus_flash_log::{Failure, Flash, Journal, SECTOR, Settings};
use tactus_guest::io_port::{self, IoPort};
use tactus_guest::{devicetree, interrupts, println, record, start, time, trap};

tactus_guest::entry!(main);

/// Bytes of the neighbour's pattern that are read at a time.
const PIECE: usize = 1024;
/// The pages of each sector of the neighbour's area that it writes; the others stay erased.
const WRITTEN: [u32; 2] = [0, 15];
/// Bytes of a page.
const PAGE: u32 = 256;

fn main() {
    let Some(port) = IoPort::find(0) else {
        record::give_up("there is no port");
    };
    if let Some(source) = port.source() {
        trap::on_external(|_| io_port::clear_interrupt(0));
        interrupts::enable(source, 1);
        port.set_interrupt(true);
        trap::enable_interrupts();
    }
    if port.flash_size() < 2 * SECTOR || !port.flash_writable() {
        record::give_up("its area has less than two sectors, or may not be written");
    }
    if devicetree::argument("role") == Some("neighbour") {
        watch(&port)
    } else {
        write(&port)
    }
}

/// The journal's flash.
struct Area<'p> {
    port: &'p IoPort,
    /// A write is done when the I/O hypervisor has it.
    early: bool,
}

impl Flash for Area<'_> {
    type Error = io_port::Failure;

    fn read(&mut self, address: u32, to: &mut [u8]) -> Result<(), Self::Error> {
        self.port.read_flash(address, to)
    }

    fn program(&mut self, address: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        if self.early {
            self.port.append_flash(address, bytes)
        } else {
            self.port.write_flash(address, bytes)
        }
    }

    fn erase(&mut self, address: u32) -> Result<(), Self::Error> {
        self.port.erase_flash(address)
    }
}

/// Ends with what has failed.
fn end(failure: Failure<io_port::Failure>) -> ! {
    match failure {
        Failure::Torn => record::give_up("a torn record counts as whole"),
        Failure::Flash(reason) => {
            println!("flash: {reason:?}");
            record::give_up("the flash does not do what it is asked for")
        }
    }
}

/// Writes record after record.
fn write(port: &IoPort) -> ! {
    let area = Area {
        port,
        early: devicetree::argument("confirm") == Some("early"),
    };
    let settings = Settings {
        records: devicetree::number("records", 40) as u32,
        checks: devicetree::argument("checksum") != Some("none"),
    };
    let mut journal = Journal::open(area, settings).unwrap_or_else(|failure| end(failure));
    let found = journal.found();
    println!(
        "{} records up to {}, {} torn",
        found.records, found.last, found.torn
    );
    record::metric("found", found.last, "count");
    record::pass(start::program());
    let pause = Duration::from_millis(devicetree::number("pause", 0));
    time::busy_wait(time::ticks(pause));
    record::phase("journal");
    let period = time::ticks(Duration::from_micros(devicetree::number("period", 0)));
    loop {
        time::busy_wait(period);
        let number = journal.append().unwrap_or_else(|failure| end(failure));
        record::metric("confirmed", number, "count");
    }
}

/// The byte of the neighbour's pattern at an address.
fn pattern(address: u32) -> u8 {
    if WRITTEN.contains(&(address % SECTOR / PAGE)) {
        (address.wrapping_mul(0x9e37_79b1) >> 24) as u8
    } else {
        0xff
    }
}

/// Writes the pattern where it was not written to its end, and then checks it all the time.
fn watch(port: &IoPort) -> ! {
    let size = port.flash_size();
    let mut last = [0; PAGE as usize];
    if port.read_flash(size - PAGE, &mut last).is_err() {
        record::give_up("the area cannot be read");
    }
    // The last page is programmed last.
    if (size - PAGE..)
        .zip(last)
        .any(|(at, byte)| byte != pattern(at))
    {
        if !area_is(port, size, |_| 0xff) {
            for sector in (0..size).step_by(SECTOR as usize) {
                if port.erase_flash(sector).is_err() {
                    record::give_up("the area cannot be erased");
                }
            }
        }
        for page in (0..size).step_by(PAGE as usize) {
            let bytes: [u8; PAGE as usize] =
                core::array::from_fn(|place| pattern(page + place as u32));
            if bytes.iter().any(|byte| *byte != 0xff) && port.write_flash(page, &bytes).is_err() {
                record::give_up("the area cannot be written");
            }
        }
    }
    let mut checked = false;
    loop {
        if !area_is(port, size, pattern) {
            record::give_up("the area has changed");
        }
        if !checked {
            println!("the area is as it was written");
            record::metric("found", size, "bytes");
            record::metric("confirmed", size, "bytes");
            record::pass(start::program());
            checked = true;
        }
    }
}

/// Whether all of the area has these bytes.
fn area_is(port: &IoPort, size: u32, byte: impl Fn(u32) -> u8) -> bool {
    let mut found = [0; PIECE];
    (0..size).step_by(PIECE).all(|address| {
        if port.read_flash(address, &mut found).is_err() {
            record::give_up("the area cannot be read");
        }
        let mut found = (address..).zip(found);
        found.all(|(address, found)| found == byte(address))
    })
}
