//! The design `manycore`: the flits of an I/O operation, the time of a request, and the isolation of tiles.
//!
//! A tile that behaves badly disturbs no other.
//!
//! Times are in cycles, from the one in which `HEADER` is at the port to the one in which the response's interrupt
//! rises.

use std::sync::{Arc, Mutex};

use crate::assembler::{Program, S0, S1, T0, T1, ZERO};
use crate::support::{GP, Look, Watched, model, power_off};
use crate::tiles::{RESULTS, result};
use tactus_board::fabric::{GpInputs, GpOutputs, Inputs, Outputs, TILES};
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options};
use tactus_board::tiles::{Ended, Tiles};

/// The lower half of the counter of words that arrived over the mesh, at the board's own port.
const FLITS: u32 = 0x2008;
/// Registers of the manager there.
const LOST: u32 = 0x10;
const fn settings(port: u32) -> u32 {
    0x100 + 0x40 * port
}
/// Registers of a tile's interface, at the tile's own port.
const STATUS: u32 = 0x04;
const ROOM: u32 = 0x0c;
const PACKET: u32 = 0x10;
const HEADER: u32 = 0x14;
const RESPONSE: u32 = 0x18;
const MESSAGE: u32 = 0x1c;
const IRQ_ENABLE: u32 = 0x20;
const BUFFER: u32 = 0x800;
const HARTS: u32 = TILES as u32;

/// Devices, ops, and the flag that asks for no response on success.
const FLASH: u32 = 2;
const VGA: u32 = 3;
const READ: u32 = 0;
const WRITE: u32 = 1;
const QUIET: u32 = 1 << 14;
const DENIED: u64 = 3;

/// The nodes of the I/O hypervisor and of a hart: the upper bits of `HEADER`.
const IO: u32 = 4 << 29;
const fn place(hart: u32) -> u32 {
    ((hart / 4) << 29) | ((hart % 4) << 26)
}

const fn request(device: u32, op: u32, length: u32) -> u32 {
    IO | device << 17 | op << 15 | length
}

/// The observed ports and interrupts.
#[derive(Default)]
struct Seen {
    cycle: u64,
    /// The cycle and the tile of each write of `HEADER`, and of each rise of an interrupt.
    sent: Vec<(u64, u32)>,
    rises: Vec<(u64, u32)>,
    irq: u32,
}

impl Seen {
    /// The times of a tile's requests, each from `HEADER` to its interrupt.
    fn times(&self, tile: u32) -> Vec<u64> {
        let of = |events: &[(u64, u32)]| -> Vec<u64> {
            let mine = events.iter().filter(|(_, t)| *t == tile);
            mine.map(|(cycle, _)| *cycle).collect()
        };
        of(&self.sent)
            .into_iter()
            .zip(of(&self.rises))
            .map(|(sent, risen)| risen - sent)
            .collect()
    }
}

impl Look for Seen {
    fn look_at_tiles(&mut self, tiles: &[GpInputs; TILES], before: &[GpOutputs; TILES]) {
        for (tile, (asks, is)) in (0..).zip(tiles.iter().zip(before)) {
            let written = asks.awvalid & is.awready & asks.wvalid & is.wready != 0;
            if written && asks.awaddr == HEADER {
                self.sent.push((self.cycle, tile));
            }
        }
    }

    fn look(&mut self, _: &Inputs, out: &Outputs) {
        self.cycle += 1;
        let new = out.irq & !self.irq;
        let risen = (0..HARTS).filter(|tile| new >> tile & 1 != 0);
        self.rises.extend(risen.map(|tile| (self.cycle, tile)));
        self.irq = out.irq;
    }
}

/// A program that drives a tile's interface, and stores the words that it reads in the results, in order.
struct Driver {
    p: Program,
}

impl Driver {
    fn new() -> Self {
        let mut p = Program::new();
        p.li(S1, RESULTS);
        let mut driver = Self { p };
        driver.write(IRQ_ENABLE, 1);
        driver
    }

    fn write(&mut self, register: u32, value: u32) {
        self.p.li(S0, GP + register);
        self.p.li(T0, value);
        self.p.sw(T0, 0, S0);
    }

    /// Stores a register in the results.
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

    /// Sends a packet as soon as the one before has left.
    fn send(&mut self, head: u32, words: &[u32]) {
        self.p.li(S0, GP + STATUS);
        let again = self.p.here();
        self.p.lw(T0, 0, S0);
        self.p.slli(T0, T0, 63);
        self.p.bne(T0, ZERO, again);
        for (index, word) in words.iter().enumerate() {
            self.write(BUFFER + 4 * index as u32, *word);
        }
        self.write(PACKET, (words.len() as u32) << 16);
        self.write(HEADER, head);
    }

    /// Waits for a packet, and stores its first word and `words` more in the results.
    fn take(&mut self, register: u32, words: u32) {
        self.p.li(S0, GP + register);
        let again = self.p.here();
        self.p.lw(T0, 0, S0);
        self.p.srli(T1, T0, 63);
        self.p.beq(T1, ZERO, again);
        self.note_word();
        for _ in 0..words {
            self.note(register);
        }
    }

    fn pause(&mut self, rounds: u32) {
        self.p.li(T1, rounds);
        let again = self.p.here();
        self.p.addi(T1, T1, -1);
        self.p.bne(T1, ZERO, again);
    }
}

/// Makes the manager's settings of a tile before it runs.
///
/// The tile gets all devices, four sectors of the flash and a window of the display, and may send to all tiles but the
/// last.
fn give(tiles: &mut Tiles, port: u32) {
    let at = settings(port);
    for (register, value) in [
        (0, 0x1e),
        (0x0c, 4 * port),
        (0x10, 1 << 31 | 4),
        (0x14, (80 * (port % 4)) | ((60 * (port / 4)) << 16)),
        (0x18, 80 | 60 << 16),
        (0x24, 0x7fff),
    ] {
        tiles.write_gp(at + register, value).expect("a register");
    }
}

/// Runs the drivers of all tiles at the same time; a tile without settings may use no device.
fn run(drivers: Vec<(u32, Driver)>, given: impl Fn(u32) -> bool) -> (Tiles, Seen) {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let watched = Watched(model("manycore"), Arc::clone(&seen));
    let profile = Profile::named("manycore").expect("a profile");
    let options = Options::default();
    let mut tiles = setup::tiles(&profile, &options, Box::new(watched)).expect("tiles");
    (0..HARTS)
        .filter(|port| given(*port))
        .for_each(|port| give(&mut tiles, port));
    for (tile, mut driver) in drivers {
        power_off(&mut driver.p);
        tiles
            .start(tile as usize, &driver.p.bytes(), "")
            .expect("it fits");
    }
    assert_eq!(tiles.run(10_000_000), Ended::Off);
    let seen = std::mem::take(&mut *seen.lock().expect("no panic while it is held"));
    (tiles, seen)
}

const ALL: fn(u32) -> bool = |_| true;

/// The status and the length in a response's first word.
fn answered(response: u64) -> (u64, u64) {
    assert!(response >> 31 == 1, "no response: {response:#x}");
    (response >> 13 & 15, response & 0x7ff)
}

/// The flits of one operation of each of `tiles` tiles.
fn flits(tiles: u32, operation: impl Fn(&mut Driver)) -> u64 {
    let drivers = (0..tiles).map(|tile| {
        let mut driver = Driver::new();
        operation(&mut driver);
        driver.pause(2_000);
        (tile, driver)
    });
    let (mut tiles, _) = run(drivers.collect(), ALL);
    tiles.read_gp(FLITS).expect("a register").into()
}

fn draw_a_pixel(d: &mut Driver) {
    d.send(request(VGA, WRITE, 1) | QUIET, &[3 | 4 << 16, 0xe0]);
}

fn read_a_byte(d: &mut Driver) {
    d.send(request(FLASH, READ, 1), &[0x10]);
    d.take(RESPONSE, 1);
}

#[test]
fn an_operation_takes_as_many_flits_as_it_has_words() {
    for tiles in [1, 4, 10] {
        assert_eq!(flits(tiles, draw_a_pixel), 3 * u64::from(tiles));
        assert_eq!(flits(tiles, read_a_byte), 4 * u64::from(tiles));
    }
    // In one request: ten pixels in three words, ten bytes in three.
    let pixels = flits(1, |d| {
        d.send(request(VGA, WRITE, 10) | QUIET, &[0, 1, 2, 3])
    });
    let bytes = flits(1, |d| {
        d.send(request(FLASH, READ, 10), &[0]);
        d.take(RESPONSE, 3);
    });
    assert_eq!([pixels, bytes], [5, 6]);
}

#[test]
fn written_data_are_read_over_the_mesh() {
    let data = [0x0403_0201, 0x0807_0605, 0x0c0b_0a09];
    let drivers = [0, 15].map(|tile| {
        let [first, second, third] = data.map(|word| word ^ tile);
        let mut d = Driver::new();
        d.send(request(FLASH, WRITE, 12), &[0x100, first, second, third]);
        d.take(RESPONSE, 0);
        d.send(request(FLASH, READ, 12), &[0x100]);
        d.take(RESPONSE, 3);
        // Beyond the tile's area.
        d.send(request(FLASH, READ, 4), &[0x4000]);
        d.take(RESPONSE, 0);
        (tile, d)
    });
    // A tile that may use no device.
    let mut none = Driver::new();
    none.send(request(FLASH, READ, 4), &[0x100]);
    none.take(RESPONSE, 0);
    let drivers = drivers.into_iter().chain([(9, none)]).collect();
    let (mut tiles, seen) = run(drivers, |port| port != 9);
    for tile in [0, 15] {
        let noted = |index| result(&tiles, tile, index);
        assert_eq!(answered(noted(0)), (0, 0));
        assert_eq!(answered(noted(1)), (0, 12));
        let expected = data.map(|word| u64::from(word ^ tile as u32));
        assert_eq!([2, 3, 4].map(noted), expected);
        assert_eq!(answered(noted(5)), (5, 0));
    }
    assert_eq!(answered(result(&tiles, 9, 0)), (DENIED, 0));
    assert_eq!(tiles.read_gp(LOST), Ok(0));
    println!(
        "write and read 12 bytes: tile 0 {:?}, tile 15 {:?}",
        seen.times(0),
        seen.times(15)
    );
}

/// The longest time of a read of `bytes` bytes of flash at the device (docs/src/reference/io-devices.md).
const fn turn(bytes: u64) -> u64 {
    4 * (10 + bytes) + 10
}

/// The most cycles for both ways between two nodes with `routers` routers between them.
///
/// Each router takes four cycles; interface, port and arbiter take the rest. Of a response's words four arrive in five
/// cycles: with four credits, a credit is back after five.
const fn way(routers: u64, bytes: u64) -> u64 {
    2 * 4 * routers + 24 + (5 * bytes.div_ceil(4)).div_ceil(4)
}

#[test]
fn a_request_takes_its_devices_time_and_its_way() {
    // The corners of the tiles' rows.
    const TILES_AND_ROUTERS: [(u32, u64); 4] = [(12, 2), (15, 5), (0, 5), (3, 8)];
    for bytes in [1, 4, 64, 256] {
        let times = TILES_AND_ROUTERS.map(|(tile, routers)| {
            let mut d = Driver::new();
            d.send(request(FLASH, READ, bytes), &[0]);
            d.take(RESPONSE, bytes.div_ceil(4));
            let time = run(vec![(tile, d)], ALL).1.times(tile)[0];
            let longest = turn(bytes.into()) + way(routers, bytes.into());
            assert!(time <= longest, "{bytes} bytes: {time}, and not {longest}");
            time
        });
        println!("{bytes} bytes of flash, alone: {times:?}");
    }
}

#[test]
fn a_tile_that_floods_disturbs_no_other() {
    // Tile 5 sends messages to tile 6 and malformed requests, and accepts nothing. Tile 6 reads meanwhile.
    let (mut flood, mut reader) = (Driver::new(), Driver::new());
    for round in 0..12 {
        flood.send(place(6) | 0x5_5555, &[round; 60]);
        flood.send(request(FLASH, WRITE, 100) | QUIET, &[0; 20]);
    }
    // To a node without a tile, and to a tile that it may not send to.
    flood.send(4 << 29 | 2 << 26, &[]);
    flood.send(place(15), &[]);
    flood.pause(2_000);
    flood.note(STATUS);
    flood.note(ROOM);
    for _ in 0..3 {
        reader.send(request(FLASH, READ, 4), &[0]);
        reader.take(RESPONSE, 1);
        reader.pause(500);
    }
    reader.pause(10_000);
    reader.note(STATUS);
    reader.take(MESSAGE, 60);
    // Tile 7 claims to be tile 1.
    let (mut liar, mut deceived) = (Driver::new(), Driver::new());
    liar.send(place(8) | place(1) >> 6, &[]);
    deceived.take(MESSAGE, 0);
    let drivers = vec![(5, flood), (6, reader), (7, liar), (8, deceived)];
    let (mut tiles, seen) = run(drivers, ALL);
    for read in 0..3 {
        assert_eq!(answered(result(&tiles, 6, 2 * read)), (0, 4));
    }
    for time in seen.times(6) {
        // Five routers, and one message of the flood before it.
        assert!(time <= turn(4) + way(5, 4) + 61, "{time}");
    }
    // There is room for eight messages of 61 words each.
    assert_eq!(result(&tiles, 6, 6), 4 << 16 | 1 << 3);
    assert_eq!(result(&tiles, 6, 7), 1 << 31 | 0o11 << 20 | 0x5_5555);
    assert!((8..68).all(|index| result(&tiles, 6, index) == 0));
    assert_eq!(result(&tiles, 8, 0), 1 << 31 | 0o13 << 20, "it is tile 7");
    assert_eq!(result(&tiles, 5, 0), 2 << 8 | 1 << 2);
    assert_eq!(result(&tiles, 5, 1), 500 << 16 | (512 - 12 * 21));
    assert_eq!(tiles.read_gp(LOST), Ok(0));
    println!("flash, 4 bytes, beside a flood: {:?}", seen.times(6));
}
