//! The design `manycore`: what goes over the mesh for an operation of I/O, how long a request takes, and that a place
//! which behaves badly disturbs no other. Software is one hart's, which has all pages.
//!
//! Times are in cycles of the fabric: from that in which `HEADER` is on the bus to that in which the response's interrupt is up.

use std::sync::{Arc, Mutex};

use crate::assembler::{Program, S0, S1, T0, T1, ZERO};
use crate::run;
use crate::support::{GP, Look, RESULTS, Watched, board, model, power_off, result};
use tactus_board::board::Pace;
use tactus_board::fabric::{Inputs, Outputs};

/// Registers of the manager.
const LOST: u32 = 0x10;
const fn settings(port: u32) -> u32 {
    0x100 + 0x40 * port
}
/// Registers of a hart's interface.
const fn page(hart: u32) -> u32 {
    0x1_0000 + 0x1000 * hart
}
const STATUS: u32 = 0x04;
const ROOM: u32 = 0x0c;
const PACKET: u32 = 0x10;
const HEADER: u32 = 0x14;
const RESPONSE: u32 = 0x18;
const MESSAGE: u32 = 0x1c;
const IRQ_ENABLE: u32 = 0x20;
const BUFFER: u32 = 0x800;
const HARTS: u32 = 16;

/// Devices, ops, and whether a response is wanted of what was done.
const FLASH: u32 = 2;
const VGA: u32 = 3;
const READ: u32 = 0;
const WRITE: u32 = 1;
const QUIET: u32 = 1 << 14;
const DENIED: u64 = 3;

/// Where the I/O hypervisor is, and a hart: the upper bits of `HEADER`.
const IO: u32 = 4 << 29;
const fn place(hart: u32) -> u32 {
    ((hart / 4) << 29) | ((hart % 4) << 26)
}

const fn request(device: u32, op: u32, length: u32) -> u32 {
    IO | device << 17 | op << 15 | length
}

/// What was seen of the bus, of the interrupts and of the mesh.
#[derive(Default)]
struct Seen {
    cycle: u64,
    /// When `HEADER` was written, and of which hart; when an interrupt rose, and of which.
    sent: Vec<(u64, u32)>,
    rises: Vec<(u64, u32)>,
    /// Flits that have come over the mesh.
    flits: u64,
    before: Outputs,
}

impl Look for Seen {
    fn look(&mut self, inputs: &Inputs, out: &Outputs) {
        let before = self.before;
        let written =
            inputs.gp_awvalid & before.gp_awready & inputs.gp_wvalid & before.gp_wready != 0;
        if written && inputs.gp_awaddr & 0xf_0fff == 0x1_0000 | HEADER {
            self.sent.push((self.cycle, inputs.gp_awaddr >> 12 & 0xf));
        }
        self.cycle += 1;
        let new = out.irq & !before.irq;
        self.rises.extend(
            (0..HARTS)
                .filter(|h| new >> h & 1 != 0)
                .map(|h| (self.cycle, h)),
        );
        self.flits = out.acp.wdata;
        self.before = *out;
    }
}

impl Seen {
    /// From a hart's `HEADER` to its interrupt, for each.
    fn times(&self, hart: u32) -> Vec<u64> {
        let of = |events: &[(u64, u32)]| -> Vec<u64> {
            let mine = events.iter().filter(|(_, h)| *h == hart);
            mine.map(|(cycle, _)| *cycle).collect()
        };
        of(&self.sent)
            .into_iter()
            .zip(of(&self.rises))
            .map(|(sent, risen)| risen - sent)
            .collect()
    }
}

/// A program that drives the fabric; what it reads comes to the results, in order.
struct Driver {
    p: Program,
}

impl Driver {
    /// With what the manager gives: each port all devices, four sectors of the flash, and a window of the display.
    fn new() -> Self {
        let mut p = Program::new();
        p.li(S1, RESULTS);
        let mut driver = Self { p };
        for port in 0..HARTS {
            let at = settings(port);
            driver.write(at, 0x1e);
            driver.write(at + 0x0c, 4 * port);
            driver.write(at + 0x10, 1 << 31 | 4);
            driver.write(at + 0x14, (80 * (port % 4)) | ((60 * (port / 4)) << 16));
            driver.write(at + 0x18, 80 | 60 << 16);
            driver.write(page(port) + IRQ_ENABLE, 1);
        }
        driver
    }

    fn write(&mut self, register: u32, value: u32) {
        self.p.li(S0, GP + register);
        self.p.li(T0, value);
        self.p.sw(T0, 0, S0);
    }

    /// The register, as one of the results.
    fn note(&mut self, register: u32) {
        self.p.li(S0, GP + register);
        self.p.lw(T0, 0, S0);
        self.note_word();
    }

    fn note_word(&mut self) {
        self.p.slli(T0, T0, 32);
        self.p.srli(T0, T0, 32);
        self.p.sd(T0, 0, S1);
        self.p.addi(S1, S1, 8);
    }

    /// A packet, when the one before has gone.
    fn send(&mut self, hart: u32, head: u32, words: &[u32]) {
        self.p.li(S0, GP + page(hart) + STATUS);
        let again = self.p.here();
        self.p.lw(T0, 0, S0);
        self.p.slli(T0, T0, 63);
        self.p.bne(T0, ZERO, again);
        for (index, word) in words.iter().enumerate() {
            self.write(page(hart) + BUFFER + 4 * index as u32, *word);
        }
        self.write(page(hart) + PACKET, (words.len() as u32) << 16);
        self.write(page(hart) + HEADER, head);
    }

    /// Waits for a packet, and notes its first word and so many others.
    fn take(&mut self, hart: u32, register: u32, words: u32) {
        self.p.li(S0, GP + page(hart) + register);
        let again = self.p.here();
        self.p.lw(T0, 0, S0);
        self.p.srli(T1, T0, 63);
        self.p.beq(T1, ZERO, again);
        self.note_word();
        for _ in 0..words {
            self.note(page(hart) + register);
        }
    }

    fn pause(&mut self, rounds: u32) {
        self.p.li(T1, rounds);
        let again = self.p.here();
        self.p.addi(T1, T1, -1);
        self.p.bne(T1, ZERO, again);
    }

    /// Runs it. Gives what was noted, and what was seen.
    fn run(mut self) -> (Vec<u64>, Seen) {
        power_off(&mut self.p);
        let seen = Arc::new(Mutex::new(Seen::default()));
        let watched = Box::new(Watched(model("manycore"), Arc::clone(&seen)));
        let mut board = board(Some(watched), 1, Pace::Fast, &self.p);
        run(&mut board);
        let noted = (0..128).map(|index| result(&board, index)).collect();
        let seen = std::mem::take(&mut *seen.lock().expect("no panic while it is held"));
        (noted, seen)
    }
}

/// A response's first word: its status and its length.
fn answered(response: u64) -> (u64, u64) {
    assert!(response >> 31 == 1, "no response: {response:#x}");
    (response >> 13 & 15, response & 0x7ff)
}

/// Flits that one operation of each of so many harts takes.
fn flits(harts: u32, operation: impl Fn(&mut Driver, u32)) -> u64 {
    let mut d = Driver::new();
    (0..harts).for_each(|hart| operation(&mut d, hart));
    d.pause(2_000);
    let (_, seen) = d.run();
    seen.flits
}

fn draw_a_pixel(d: &mut Driver, hart: u32) {
    d.send(hart, request(VGA, WRITE, 1) | QUIET, &[3 | 4 << 16, 0xe0]);
}

fn read_a_byte(d: &mut Driver, hart: u32) {
    d.send(hart, request(FLASH, READ, 1), &[0x10]);
    d.take(hart, RESPONSE, 1);
}

#[test]
fn an_operation_takes_as_many_flits_as_it_has_words() {
    for harts in [1, 4, 10] {
        assert_eq!(flits(harts, draw_a_pixel), 3 * u64::from(harts));
        assert_eq!(flits(harts, read_a_byte), 4 * u64::from(harts));
    }
    // In one request: ten pixels in three words, ten bytes in three.
    let pixels = flits(1, |d, hart| {
        d.send(hart, request(VGA, WRITE, 10) | QUIET, &[0, 1, 2, 3]);
    });
    let bytes = flits(1, |d, hart| {
        d.send(hart, request(FLASH, READ, 10), &[0]);
        d.take(hart, RESPONSE, 3);
    });
    assert_eq!([pixels, bytes], [5, 6]);
}

#[test]
fn what_was_written_is_read_over_the_mesh() {
    let data = [0x0403_0201, 0x0807_0605, 0x0c0b_0a09];
    let mut d = Driver::new();
    for hart in [0, 15] {
        let [first, second, third] = data.map(|word| word ^ hart);
        d.send(
            hart,
            request(FLASH, WRITE, 12),
            &[0x100, first, second, third],
        );
        d.take(hart, RESPONSE, 0);
        d.send(hart, request(FLASH, READ, 12), &[0x100]);
        d.take(hart, RESPONSE, 3);
    }
    // Beyond its area; and a device that it may not use any more.
    d.send(0, request(FLASH, READ, 4), &[0x4000]);
    d.take(0, RESPONSE, 0);
    d.write(settings(15), 0);
    d.send(15, request(FLASH, READ, 4), &[0x100]);
    d.take(15, RESPONSE, 0);
    d.note(LOST);
    let (noted, seen) = d.run();
    for (at, hart) in [(0, 0), (5, 15)] {
        assert_eq!(answered(noted[at]), (0, 0));
        assert_eq!(answered(noted[at + 1]), (0, 12));
        assert_eq!(
            noted[at + 2..at + 5],
            data.map(|word| u64::from(word ^ hart))
        );
    }
    assert_eq!(answered(noted[10]), (5, 0));
    assert_eq!(answered(noted[11]), (DENIED, 0));
    assert_eq!(noted[12], 0);
    println!(
        "write and read 12 bytes: hart 0 {:?}, hart 15 {:?}",
        seen.times(0),
        seen.times(15)
    );
}

/// The longest that a read of so many bytes of flash takes at the device (docs/src/reference/io-devices.md).
const fn turn(bytes: u64) -> u64 {
    16 * (4 + bytes) + 12
}

/// At most, between two places with so many routers on the way: four cycles in each, and what interface, port and arbiter
/// take. Of a response's words four go in five cycles: with four credits, a credit is back after five.
const fn way(routers: u64, bytes: u64) -> u64 {
    2 * 4 * routers + 24 + (5 * bytes.div_ceil(4)).div_ceil(4)
}

#[test]
fn a_request_takes_its_devices_time_and_its_way() {
    // The corners of the rows that the harts are in.
    const HARTS_AND_ROUTERS: [(u32, u64); 4] = [(12, 2), (15, 5), (0, 5), (3, 8)];
    for bytes in [1, 4, 64, 256] {
        let mut d = Driver::new();
        for (hart, _) in HARTS_AND_ROUTERS {
            d.send(hart, request(FLASH, READ, bytes), &[0]);
            d.take(hart, RESPONSE, bytes.div_ceil(4));
        }
        let (_, seen) = d.run();
        let times = HARTS_AND_ROUTERS.map(|(hart, _)| seen.times(hart)[0]);
        println!("{bytes} bytes of flash, alone: {times:?}");
        for (time, (_, routers)) in times.into_iter().zip(HARTS_AND_ROUTERS) {
            let longest = turn(bytes.into()) + way(routers, bytes.into());
            assert!(time <= longest, "{bytes} bytes: {time}, and not {longest}");
        }
    }
}

#[test]
fn a_place_that_floods_disturbs_no_other() {
    let mut d = Driver::new();
    // Hart 5 sends messages to hart 6, and requests that are malformed, and takes nothing. Hart 6 reads meanwhile.
    for round in 0..12 {
        d.send(5, place(6) | 0x5_5555, &[round; 60]);
        d.send(5, request(FLASH, WRITE, 100) | QUIET, &[0; 20]);
        if round % 4 == 3 {
            d.send(6, request(FLASH, READ, 4), &[0]);
            d.take(6, RESPONSE, 1);
        }
    }
    d.note(page(6) + STATUS);
    // To a place where nobody is. And hart 7 says that it is hart 1.
    d.send(5, 4 << 29 | 1 << 26, &[]);
    d.send(7, place(8) | place(1) >> 6, &[]);
    d.take(8, MESSAGE, 0);
    d.note(page(5) + STATUS);
    d.note(page(5) + ROOM);
    d.note(LOST);
    d.take(6, MESSAGE, 60);
    let (noted, seen) = d.run();
    for read in 0..3 {
        assert_eq!(answered(noted[2 * read]), (0, 4));
    }
    for time in seen.times(6) {
        // Five routers, and a message of the flood before it.
        assert!(time <= turn(4) + way(5, 4) + 61, "{time}");
    }
    // Of 61 words each there is room for eight.
    assert_eq!(noted[6], 4 << 16 | 1 << 3);
    assert_eq!(noted[7], 1 << 31 | 0o13 << 20, "it is hart 7");
    assert_eq!(noted[8], 1 << 8 | 1 << 2);
    assert_eq!(noted[9], 500 << 16 | (512 - 12 * 21));
    assert_eq!(noted[10], 0);
    assert_eq!(noted[11], 1 << 31 | 0o11 << 20 | 0x5_5555);
    assert_eq!(noted[12..72], [0; 60]);
    println!("flash, 4 bytes, beside a flood: {:?}", seen.times(6));
}
