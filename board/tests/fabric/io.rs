//! The design `io`: the I/O hypervisor and timed I/O under software that owns all of it, and their output at the pins.
//!
//! Times are in cycles of the fabric. A request's time is from the cycle in which its `REQUEST` is on the bus to the
//! cycle in which the port's interrupt rises.

use std::sync::{Arc, Mutex};

use crate::assembler::{Program, S0, S1, T0, T1, ZERO};
use crate::run;
use crate::support::{GP, Look, RESULTS, Random, Watched, board, model, power_off, result};
use tactus_board::board::{Board, Pace};
use tactus_board::fabric::{Display, Ethernet, Inputs, Outputs};

/// Registers of the manager.
const POLICY: u32 = 0x08;
const READER: u32 = 0x0c;
const ROUND_ROBIN: u32 = 0;
const FIXED_PRIORITY: u32 = 1;
const FIFO: u32 = 2;
const fn settings(port: u32) -> u32 {
    0x100 + 0x40 * port
}
/// Registers of a port.
const fn page(port: u32) -> u32 {
    0x1000 * (port + 1)
}
const STATUS: u32 = 0x04;
const ADDRESS: u32 = 0x08;
const DATA: u32 = 0x0c;
const REQUEST: u32 = 0x10;
const RESPONSE: u32 = 0x14;
const IRQ_ENABLE: u32 = 0x18;
const BUFFER: u32 = 0x800;
/// Devices and ops.
const UART: u32 = 1;
const FLASH: u32 = 2;
const VGA: u32 = 3;
const ETHERNET: u32 = 4;
const READ: u32 = 0;
const WRITE: u32 = 1;
const CONTROL: u32 = 2;
const MEMORY: u32 = 1 << 13;
/// Statuses.
const MALFORMED: u64 = 1;
const DENIED: u64 = 3;
const PROTECTED: u64 = 7;
const MEMORY_FAILED: u64 = 9;
/// Registers of timed I/O.
const fn timed(vm: u32) -> u32 {
    0x8000 + 0x1000 * vm
}
const TIMED_MANAGER: u32 = 0xc000;

const PORTS: u32 = 4;
/// The memory of the VM that owns port 0.
const VM: u32 = 0x8020_0000;
const VM_PAGES: u32 = 4;

/// The observed pins, interrupts and accesses on the bus.
#[derive(Default)]
struct Seen {
    cycle: u64,
    /// Words that software wrote: cycle, address, word.
    writes: Vec<(u64, u32, u32)>,
    /// Words that software read, likewise; and the address of the read in progress.
    reads: Vec<(u64, u32, u32)>,
    reading: u32,
    /// Changes of the interrupt lines, and of timed I/O's pins.
    interrupts: Vec<(u64, u32)>,
    timed: Vec<(u64, u32)>,
    /// The UART: the first cycle and the bits of the byte in progress; the text so far.
    uart: Option<(u64, u16)>,
    text: Vec<u8>,
    /// Ethernet frames, from the first byte of the preamble to the last of the check sequence, with their first cycle.
    frames: Vec<(u64, Vec<u8>)>,
    /// The picture in progress, and the last complete one: 640 x 480 colours.
    picture: Vec<u8>,
    shown: Vec<u8>,
    /// The same by the board's own watchers.
    ethernet: Vec<(u64, Vec<u8>)>,
    display: Option<Vec<u8>>,
    before: Outputs,
}

/// Cycles of a bit of the UART.
const DIVISOR: u64 = 868;

/// The design's pins, which are at HP; `fabric/designs/io_design.sv` lists them.
fn pins_of(outputs: &Outputs) -> u32 {
    outputs.hp.wdata as u32
}

impl Look for Seen {
    fn look(&mut self, inputs: &Inputs, out: &Outputs) {
        let before = self.before;
        if inputs.gp_awvalid & before.gp_awready != 0 && inputs.gp_wvalid & before.gp_wready != 0 {
            self.writes
                .push((self.cycle, inputs.gp_awaddr, inputs.gp_wdata));
        }
        if inputs.gp_rready & before.gp_rvalid != 0 {
            self.reads.push((self.cycle, self.reading, before.gp_rdata));
        }
        if inputs.gp_arvalid & before.gp_arready != 0 {
            self.reading = inputs.gp_araddr;
        }
        self.cycle += 1;
        if out.irq != before.irq {
            self.interrupts.push((self.cycle, out.irq));
        }
        if (pins_of(out) ^ pins_of(&before)) & 0xff != 0 {
            self.timed.push((self.cycle, pins_of(out) & 0xff));
        }
        self.listen(pins_of(out) >> 8 & 1);
        self.capture(pins_of(out) >> 9 & 1 != 0, (pins_of(out) >> 10) as u8);
        self.watch(pins_of(out) >> 18);
        self.before = *out;
    }
}

impl Seen {
    /// Receives 8N1: samples in the middle of each bit.
    fn listen(&mut self, level: u32) {
        match self.uart {
            None if level == 0 => self.uart = Some((self.cycle, 0)),
            None => {}
            Some((begin, bits)) => {
                let since = self.cycle - begin;
                if since % DIVISOR == DIVISOR / 2 {
                    let bit = since / DIVISOR;
                    let bits = bits | (level as u16) << bit;
                    self.uart = Some((begin, bits));
                    if bit == 9 {
                        assert_eq!(bits & 0x201, 0x200, "a start bit and a stop bit");
                        self.text.push((bits >> 1) as u8);
                        self.uart = None;
                    }
                }
            }
        }
    }

    fn capture(&mut self, enabled: bool, byte: u8) {
        let was = pins_of(&self.before) >> 9 & 1 != 0;
        if enabled && !was {
            self.frames.push((self.cycle, Vec::new()));
        }
        if enabled {
            self.frames.last_mut().expect("it began").1.push(byte);
        }
    }

    /// Collects a picture: the pixels between two pulses of the vertical synchronisation.
    fn watch(&mut self, vga: u32) {
        let vsync = vga >> 2 & 1 != 0;
        let vsync_before = pins_of(&self.before) >> 20 & 1 != 0;
        if vsync_before && !vsync {
            self.shown = std::mem::take(&mut self.picture);
        }
        if vga & 1 != 0 {
            self.picture.push((vga >> 3) as u8);
        }
    }

    /// The words that were read at an address, in order.
    fn read_at(&self, at: u32) -> Vec<u32> {
        let there = self.reads.iter().filter(|(_, address, _)| *address == at);
        there.map(|(_, _, word)| *word).collect()
    }

    /// The times of a port's requests, each from the write of `REQUEST` to the interrupt.
    fn times(&self, port: u32) -> Vec<u64> {
        let asked = self
            .writes
            .iter()
            .filter(|(_, address, _)| *address == page(port) + REQUEST);
        let mut rises = Vec::new();
        let mut level = 0;
        for (cycle, lines) in &self.interrupts {
            if *lines >> port & 1 > level {
                rises.push(*cycle);
            }
            level = *lines >> port & 1;
        }
        asked
            .zip(rises)
            .map(|((asked, _, _), answered)| answered - asked)
            .collect()
    }
}

/// A program that drives the fabric, and stores the words that it reads in the results, in order.
struct Driver {
    p: Program,
}

impl Driver {
    /// A program that makes the manager's settings, and enables each port's interrupt.
    fn new(policy: u32) -> Self {
        let mut p = Program::new();
        p.li(S1, RESULTS);
        let mut driver = Self { p };
        driver.give(policy);
        for port in 0..PORTS {
            driver.write(page(port) + IRQ_ENABLE, 1);
        }
        driver
    }

    /// Makes the manager's settings.
    ///
    /// Each port gets all devices, 16 sectors of the flash, a window of 160 x 120 of the display, and an address; port
    /// 0 gets the memory of its VM. All but port 3 may write to the flash.
    fn give(&mut self, policy: u32) {
        self.write(POLICY, policy * 0x154);
        self.write(READER, 1);
        self.write(settings(0) + 0x04, VM >> 12);
        self.write(settings(0) + 0x08, VM_PAGES);
        for port in 0..PORTS {
            let at = settings(port);
            self.write(at + 0x0c, 16 * port);
            self.write(at + 0x10, u32::from(port != 3) << 31 | 16);
            self.write(at + 0x14, (160 * (port & 1)) | ((120 * (port >> 1)) << 16));
            self.write(at + 0x18, 160 | 120 << 16);
            self.write(at + 0x1c, 0x1000_0000 + port);
            self.write(at + 0x20, 0x0200);
            self.write(at, 0x1e);
        }
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
        self.p.slli(T0, T0, 32);
        self.p.srli(T0, T0, 32);
        self.p.sd(T0, 0, S1);
        self.p.addi(S1, S1, 8);
    }

    /// Writes data to the beginning of a port's buffer.
    fn fill(&mut self, port: u32, data: &[u8]) {
        for (index, word) in data.chunks(4).enumerate() {
            let mut bytes = [0; 4];
            bytes[..word.len()].copy_from_slice(word);
            let at = page(port) + BUFFER + 4 * index as u32;
            self.write(at, u32::from_le_bytes(bytes));
        }
    }

    fn ask(&mut self, port: u32, request: u32, address: u32, place: u32) {
        self.write(page(port) + ADDRESS, address);
        self.write(page(port) + DATA, place);
        self.write(page(port) + REQUEST, request);
    }

    /// Waits for a response, and stores it in the results.
    fn answer(&mut self, port: u32) {
        self.p.li(S0, GP + page(port) + STATUS);
        let again = self.p.here();
        self.p.lw(T0, 0, S0);
        self.p.slli(T0, T0, 53);
        self.p.srli(T0, T0, 61);
        self.p.beq(T0, ZERO, again);
        self.note(page(port) + RESPONSE);
    }

    fn call(&mut self, port: u32, request: u32, address: u32, place: u32) {
        self.ask(port, request, address, place);
        self.answer(port);
    }

    /// Reads a register without storing it: the observer of the bus records it.
    fn read(&mut self, register: u32) {
        self.p.li(S0, GP + register);
        self.p.lw(T0, 0, S0);
    }

    fn pause(&mut self, rounds: u32) {
        self.p.li(T1, rounds);
        let again = self.p.here();
        self.p.addi(T1, T1, -1);
        self.p.bne(T1, ZERO, again);
    }

    /// Runs the program. Returns the results, the observations, and the board.
    fn run(mut self, memory: &[(u32, Vec<u8>)]) -> (Vec<u64>, Seen, Board) {
        power_off(&mut self.p);
        let seen = Arc::new(Mutex::new(Seen::default()));
        let (fabric, frames) = Ethernet::new(model("io"));
        let (fabric, picture) = Display::new(Box::new(fabric));
        let watched = Box::new(Watched(Box::new(fabric), Arc::clone(&seen)));
        let mut board = board(Some(watched), 1, Pace::Fast, &self.p);
        for (at, bytes) in memory {
            board.write(u64::from(*at), bytes).expect("memory");
        }
        run(&mut board);
        let noted = (0..64).map(|index| result(&board, index)).collect();
        let mut seen = std::mem::take(&mut *seen.lock().expect("no panic while it is held"));
        (seen.ethernet, seen.display) = (frames.take(), picture.take());
        (noted, seen, board)
    }
}

const fn request(device: u32, op: u32, length: u32) -> u32 {
    device << 17 | op << 15 | length
}

/// The status and the length of a response.
fn answered(response: u64) -> (u64, u64) {
    assert!(response >> 31 == 1, "no response: {response:#x}");
    (response >> 13 & 15, response & 0x7ff)
}

fn pattern(bytes: u32) -> Vec<u8> {
    (0..bytes).map(|n| (n * 7 + 3) as u8).collect()
}

/// The longest time of a read of `bytes` bytes of flash at the device (docs/src/reference/io-devices.md).
fn turn(bytes: u64) -> u64 {
    4 * (10 + bytes) + 10
}

/// The cycles of a request outside of its turn: in the page, the engine, and the arbiter.
const WAY: u64 = 16;

/// The cycles from the end of a turn to the beginning of the next one.
const BETWEEN: u64 = 5;

#[test]
fn a_flash_is_written_read_and_erased_through_a_port() {
    let data = pattern(256);
    let mut d = Driver::new(ROUND_ROBIN);
    d.fill(0, &data);
    d.call(0, request(FLASH, WRITE, 256), 0x1000, 0);
    for bytes in [1, 4, 64, 256] {
        d.call(0, request(FLASH, READ, bytes), 0x1000, 0x400);
    }
    for word in 0..4 {
        d.note(page(0) + BUFFER + 0x400 + 4 * word);
    }
    // Into memory, and out of memory.
    d.call(0, request(FLASH, READ, 253) | MEMORY, 0x1000, 0x1000);
    d.call(0, request(FLASH, WRITE, 100) | MEMORY, 0x1200, 0x2000);
    d.call(0, request(FLASH, READ, 100) | MEMORY, 0x1200, 0x3000);
    // A sector.
    d.call(0, request(FLASH, CONTROL, 0), 0x1000, 0);
    d.call(0, request(FLASH, READ, 4), 0x1000, 0x400);
    d.note(page(0) + BUFFER + 0x400);
    let mine = pattern(128);
    let (noted, seen, board) = d.run(&[(VM + 0x2000, mine.clone())]);
    let lengths: Vec<u64> = noted[..5].iter().map(|r| answered(*r).1).collect();
    assert_eq!(lengths, [0, 1, 4, 64, 256]);
    let words: Vec<u32> = noted[5..9].iter().map(|word| *word as u32).collect();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(bytes, data[..16]);
    assert_eq!(answered(noted[9]), (0, 253));
    let mut found = vec![0; 256];
    board
        .memory()
        .read((VM + 0x1000).into(), &mut found)
        .expect("memory");
    assert_eq!(found[..253], data[..253]);
    assert_eq!(found[253..], [0; 3], "no byte more");
    assert_eq!(answered(noted[10]), (0, 0));
    assert_eq!(answered(noted[11]), (0, 100));
    board
        .memory()
        .read((VM + 0x3000).into(), &mut found)
        .expect("memory");
    assert_eq!(found[..100], mine[..100]);
    assert_eq!(answered(noted[12]), (0, 0));
    assert_eq!(noted[14], 0xffff_ffff, "erased");
    let times = seen.times(0);
    for (time, bytes) in times[1..5].iter().zip([1, 4, 64, 256]) {
        assert!(*time <= turn(bytes) + WAY, "{bytes}: {time}");
    }
    // The part takes 0.4 ms to program a page and 45 ms to erase a sector.
    assert!(times[0] > 40_000 && times[0] < 60_000, "{}", times[0]);
    assert!(times[8] > 4_500_000 && times[8] < 4_501_000, "{}", times[8]);
    println!("flash, alone: {times:?}");
}

/// The longest of a few reads of port 0, while the queues of all other ports are full of such reads.
fn contended(policy: u32, bytes: u32) -> u64 {
    let mut d = Driver::new(policy);
    for _ in 0..4 {
        for _ in 0..4 {
            for port in 1..PORTS {
                d.ask(port, request(FLASH, READ, bytes), 0, 0);
            }
        }
        d.call(0, request(FLASH, READ, bytes), 0, 0);
        for port in 1..PORTS {
            (0..4).for_each(|_| d.answer(port));
        }
    }
    let (noted, seen, _) = d.run(&[]);
    for response in &noted[..4 * 13] {
        assert_eq!(answered(*response), (0, u64::from(bytes)));
    }
    let times = seen.times(0);
    assert_eq!(times.len(), 4);
    times.into_iter().max().expect("some")
}

#[test]
fn a_port_waits_no_longer_for_the_flash_than_the_policy_says() {
    // BlueIO's worst cases with round robin (table 9); its flash and its number of clients differ.
    for (bytes, paper) in [(1, 403), (4, 1_569), (64, 23_032), (256, 89_708)] {
        let one = turn(bytes) + WAY;
        let times =
            [ROUND_ROBIN, FIFO, FIXED_PRIORITY].map(|policy| contended(policy, bytes as u32));
        println!(
            "flash, {bytes} bytes, others full: {times:?} (round robin, FIFO, first by priority); BlueIO: {paper}"
        );
        // Each other port has a turn. By fixed priority, the first port waits only until the read in progress is
        // suspended.
        let preempting = one + turn(bytes.min(8)) + BETWEEN;
        for (time, most) in times.into_iter().zip([4 * one, 4 * one, preempting]) {
            assert!(time <= most, "{bytes}: {time}");
        }
    }
}

#[test]
fn uart_text_is_sent_and_reaches_its_reader() {
    let mut d = Driver::new(ROUND_ROBIN);
    d.fill(0, b"port 0\n");
    d.fill(2, b"port two\n");
    d.ask(0, request(UART, WRITE, 7), 0, 0);
    d.ask(2, request(UART, WRITE, 9), 0, 0);
    d.answer(0);
    d.answer(2);
    d.pause(30_000);
    // Only port 1 is the reader.
    d.call(0, request(UART, READ, 64), 0, 0);
    d.call(1, request(UART, READ, 64), 0, 0);
    for word in 0..4 {
        d.note(page(1) + BUFFER + 4 * word);
    }
    let (noted, seen, _) = d.run(&[]);
    assert_eq!(seen.text, b"port 0\nport two\n");
    assert_eq!(answered(noted[2]), (PROTECTED, 0));
    assert_eq!(answered(noted[3]), (0, 16));
    let came: Vec<u8> = noted[4..8]
        .iter()
        .flat_map(|word| (*word as u32).to_le_bytes())
        .collect();
    assert_eq!(came, b"port 0\nport two\n");
}

#[test]
fn frames_go_out_with_their_ports_address_and_come_to_the_ports_they_are_for() {
    let mut frame = vec![
        0x02, 0x00, 0x10, 0x00, 0x00, 0x02, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0x88, 0xb5,
    ];
    frame.extend(pattern(86));
    let mut d = Driver::new(ROUND_ROBIN);
    d.fill(1, &frame);
    d.call(1, request(ETHERNET, WRITE, 100), 0, 0);
    d.pause(1_000);
    d.call(3, request(ETHERNET, READ, 1_514), 0, 0);
    d.call(2, request(ETHERNET, READ, 1_514), 0, 0);
    for word in 0..5 {
        d.note(page(2) + BUFFER + 4 * word);
    }
    let (noted, seen, _) = d.run(&[]);
    frame[6..12].copy_from_slice(&[0x02, 0x00, 0x10, 0x00, 0x00, 0x01]);
    assert_eq!(answered(noted[0]), (0, 0));
    assert_eq!(answered(noted[1]), (0, 0), "it is not for port 3");
    assert_eq!(answered(noted[2]), (0, 100));
    let head: Vec<u8> = noted[3..8]
        .iter()
        .flat_map(|word| (*word as u32).to_le_bytes())
        .collect();
    assert_eq!(head, frame[..20]);
    let [(cycle, sent)] = &seen.frames[..] else {
        panic!("{} frames", seen.frames.len());
    };
    assert_eq!(sent[..8], [0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0xd5]);
    assert_eq!(sent[8..108], frame);
    assert_eq!(sent.len(), 8 + 100 + 4);
    assert_eq!(seen.ethernet, [(*cycle, sent[8..108].to_vec())]);
}

#[test]
fn each_port_draws_in_its_window() {
    let rectangle = |width: u16, height: u16, colour: u8| {
        let [w, h] = [width.to_le_bytes(), height.to_le_bytes()];
        [w[0], w[1], h[0], h[1], colour]
    };
    const COLOURS: [u8; 4] = [0xe0, 0x1c, 0x03, 0xfc];
    let mut d = Driver::new(ROUND_ROBIN);
    for port in 0..PORTS {
        // The whole window, and the part that would be beyond it.
        d.fill(port, &rectangle(1_000, 1_000, COLOURS[port as usize]));
        d.call(port, request(VGA, CONTROL, 5), 0, 0);
    }
    let row = pattern(32);
    d.fill(3, &row);
    d.call(3, request(VGA, WRITE, 32), 10 | 20 << 16, 0);
    // The second picture is the first complete one.
    d.pause(12_000_000);
    let (noted, seen, _) = d.run(&[]);
    for response in &noted[..5] {
        assert_eq!(answered(*response), (0, 0));
    }
    // The first line after the synchronisation is of the border, and so is the left of each line.
    let (lines, columns) = (525, 800);
    assert_eq!(seen.shown.len(), lines * columns);
    let first = seen.shown.iter().position(|c| *c != 0).expect("a picture");
    let picture: Vec<u8> = (0..480)
        .flat_map(|y| seen.shown[first + y * columns..][..640].to_vec())
        .collect();
    for (at, colour) in picture.iter().enumerate() {
        let (x, y) = (at % 640 / 2, at / 640 / 2);
        let port = x / 160 + 2 * (y / 120);
        let in_row = port == 3 && y == 140 && (170..202).contains(&x);
        let expected = if in_row { row[x - 170] } else { COLOURS[port] };
        assert_eq!(*colour, expected, "({x}, {y})");
    }
    assert_eq!(seen.display, Some(picture));
}

/// The program of `docs/src/how-to/fire-pins-on-a-cycle.md`: six lines rise, and fall 250 cycles later.
const VALVES: [u32; 6] = [0x13f3f, 0x30063, 0x02000, 0x30095, 0x13f00, 0];

#[test]
fn pins_change_on_their_cycle_while_ports_are_flooded() {
    let mut d = Driver::new(ROUND_ROBIN);
    for pin in 0..6 {
        d.write(TIMED_MANAGER + 0x100 + 4 * pin, 1 << 31);
    }
    for vm in 0..2 {
        for (index, word) in VALVES.iter().enumerate() {
            d.write(timed(vm) + 0x400 + 4 * index as u32, *word);
        }
    }
    // Both VMs start in 20,000 cycles, 4 runs each, 2,000 cycles apart; VM 1 owns none of the pins.
    for vm in 0..2 {
        d.note(timed(vm) + 0x08);
        d.p.li(T1, 20_000);
        d.p.add(T0, T0, T1);
        d.p.li(S0, GP + timed(vm) + 0x10);
        d.p.sw(T0, 0, S0);
        d.write(timed(vm) + 0x14, 0);
        d.write(timed(vm) + 0x18, 2_000);
        d.write(timed(vm) + 0x1c, 4);
        d.write(timed(vm) + 0x20, 0);
    }
    for round in 0..150 {
        let port = round % PORTS;
        d.ask(port, request(FLASH, READ, 1_536), 0, 0);
        d.ask(port, request(ETHERNET, WRITE, 1_514), 0, 0);
        d.ask(port, request(VGA, WRITE, 1_536), 0, 0);
    }
    d.pause(200_000);
    // VM 1's report: lines without a pin.
    d.note(timed(1) + 0x2c);
    d.note(timed(0) + 0x2c);
    let (noted, seen, _) = d.run(&[]);
    let start = noted[0] + 20_000;
    let expected: Vec<(u64, u32)> = (0..4)
        .flat_map(|run| [(start + 2_000 * run, 0x3f), (start + 2_000 * run + 250, 0)])
        .collect();
    assert_eq!(seen.timed, expected);
    assert_eq!((noted[2], noted[3] >> 31), (1 << 31 | 3, 0));
    let flooded = seen.writes.iter().any(|(cycle, at, _)| {
        *at == page(1) + REQUEST && (start - 20_000..start + 6_250).contains(cycle)
    });
    assert!(flooded);
}

/// Requests in progress and pins are not affected when a restarted manager repeats all its settings.
#[test]
fn repeated_assignment_has_no_effect() {
    let data = pattern(256);
    let mut d = Driver::new(ROUND_ROBIN);
    d.fill(0, &data);
    d.call(0, request(FLASH, WRITE, 256), 0x1000, 0);
    let pins = |d: &mut Driver| {
        (0..6).for_each(|pin| d.write(TIMED_MANAGER + 0x100 + 4 * pin, 1 << 31));
    };
    pins(&mut d);
    for (index, word) in VALVES.iter().enumerate() {
        d.write(timed(0) + 0x400 + 4 * index as u32, *word);
    }
    d.note(timed(0) + 0x08);
    d.p.li(T1, 1_000);
    d.p.add(T0, T0, T1);
    d.p.li(S0, GP + timed(0) + 0x10);
    d.p.sw(T0, 0, S0);
    d.write(timed(0) + 0x14, 0);
    d.write(timed(0) + 0x18, 500);
    d.write(timed(0) + 0x1c, 24);
    d.write(timed(0) + 0x20, 0);
    for round in 0..4 {
        d.ask(0, request(FLASH, READ, 256) | MEMORY, 0x1000, 0x400 * round);
        // At least as long as the read takes.
        (0..4).for_each(|_| {
            pins(&mut d);
            d.give(ROUND_ROBIN);
        });
        d.answer(0);
    }
    // Until the last run is over.
    d.pause(60_000);
    let (noted, seen, board) = d.run(&[]);
    for response in &noted[2..6] {
        assert_eq!(answered(*response), (0, 256));
    }
    for round in 0..4 {
        let mut found = vec![0; 256];
        let at = u64::from(VM) + 0x400 * round;
        board.memory().read(at, &mut found).expect("memory");
        assert_eq!(found, data, "round {round}");
    }
    let start = noted[1] + 1_000;
    let expected: Vec<(u64, u32)> = (0..24)
        .map(|run| start + 500 * run)
        .flat_map(|begin| [(begin, 0x3f), (begin + 250, 0)])
        .collect();
    assert_eq!(seen.timed, expected);
    // The settings were repeated while all of that was in progress.
    let given = seen.writes.iter().filter(|(cycle, at, _)| {
        *at == TIMED_MANAGER + 0x100 && (start..start + 12_000).contains(cycle)
    });
    assert!(given.count() > 4);
}

/// The memory of a hostile port's VM: port 2's is right after that of port 0, port 3's right before it.
///
/// Port 1 has none.
const fn hostile_memory(port: u32) -> (u32, u32) {
    match port {
        2 => (VM + VM_PAGES * 4_096, 2),
        3 => (VM - 2 * 4_096, 2),
        _ => (0, 0),
    }
}

/// A request of a hostile port: its word, its address, and its place in the buffer.
///
/// It writes at most a byte to the UART: a text would take time that delays only the port's own attacks.
fn hostile(random: &mut Random, port: u32) -> (u32, u32, u32) {
    let mut below = |bound: u64| random.below(bound) as u32;
    let any = below(1 << 32);
    let (base, pages) = hostile_memory(port);
    // The memory of port 0's VM; across the end of the port's own; within it; anywhere.
    let memory = [
        VM.wrapping_sub(base) + (any & 0xfc0),
        (pages * 4_096).wrapping_sub(64),
        any & 0x3c0,
        any & !63,
    ][below(4) as usize];
    let length = 1 + below(1_536);
    let inside = below(60_000);
    match below(10) {
        // The longest possible turn of the flash.
        0 | 1 => (request(FLASH, READ, 1_536), inside, 0),
        2 => (request(FLASH, READ, length) | MEMORY, inside, memory),
        3 => {
            let device = [FLASH, VGA, ETHERNET][below(3) as usize];
            (request(device, WRITE, length) | MEMORY, 0, memory)
        }
        // Port 0's area of the flash; or the port's own, which it may not change.
        4 => {
            let area = [0_u32.wrapping_sub(0x1_0000 * port), 0][below(2) as usize];
            let (op, length) = [(READ, 64), (WRITE, 64), (CONTROL, 0)][below(3) as usize];
            (request(FLASH, op, length), area.wrapping_add(0x1000), 0)
        }
        5 => match below(4) {
            0 => (3 << 15 | FLASH << 17, 0, 0),
            1 => (request(FLASH, READ, 1_537 + below(511)), 0, 0),
            2 => (request(FLASH, READ, 4), 0, 1 + below(3)),
            _ => (request(FLASH, READ, length), 0, 0x800 + (any & !3)),
        },
        6 => (request([0, 5, 6, 7][below(4) as usize], READ, 4), 0, 0),
        7 => match below(4) {
            0 => (request(VGA, READ, 4), 0, 0),
            1 => (request(UART, WRITE, 0), 0, 0),
            2 => (request(ETHERNET, WRITE, 13), 0, 0),
            _ => (request(FLASH, CONTROL, 0), 2, 0),
        },
        8 => match below(4) {
            0 => (request(VGA, CONTROL, 5), 0, 0),
            1 => (request(ETHERNET, WRITE, 1_514), 0, 0),
            2 => (request(UART, WRITE, 1), 0, 0),
            _ => (request(UART, READ, 64), 0, 0),
        },
        _ => {
            let text = any >> 17 & 7 == UART && any >> 15 & 3 == WRITE;
            let word = if text { any & !0x7fe } else { any };
            (word, below(1 << 32), below(1 << 32))
        }
    }
}

#[test]
fn hostile_ports_do_not_disturb_others() {
    const ROUNDS: u32 = 60;
    let mine = pattern(256);
    for policy in [ROUND_ROBIN, FIFO, FIXED_PRIORITY] {
        // By fixed priority, port 0 is done so soon that the others would get few turns in a round.
        let pause = if policy == FIXED_PRIORITY { 7_000 } else { 1 };
        let mut random = Random(u64::from(policy) + 1);
        let mut d = Driver::new(policy);
        // Port 0's data are written before the hostile ports start.
        d.fill(0, &mine);
        d.call(0, request(FLASH, WRITE, 256), 0x1000, 0);
        for port in 1..PORTS {
            // The hostile ports may not write to the flash, where a write has a longer turn. Each has a device that it
            // may not use.
            d.write(settings(port), [0x1e, 0x0e, 0x16][port as usize - 1]);
            d.write(settings(port) + 0x10, 16);
            let (base, pages) = hostile_memory(port);
            d.write(settings(port) + 0x04, base >> 12);
            d.write(settings(port) + 0x08, pages);
            // A rectangle larger than any window.
            d.fill(port, &[0xe8, 0x03, 0xe8, 0x03, 0xff]);
        }
        // VM 0 owns the timed pins; the programs of the others also drive them, without end.
        for pin in 0..6 {
            d.write(TIMED_MANAGER + 0x100 + 4 * pin, 1 << 31);
        }
        d.note(timed(0) + 0x08);
        d.p.addi(T1, T0, 0);
        for vm in (0..4).rev() {
            for (index, word) in VALVES.iter().enumerate() {
                d.write(timed(vm) + 0x400 + 4 * index as u32, *word);
            }
            d.p.li(T0, 20_000);
            d.p.add(T0, T0, T1);
            d.p.li(S0, GP + timed(vm) + 0x10);
            d.p.sw(T0, 0, S0);
            d.write(timed(vm) + 0x18, if vm == 0 { 20_000 } else { 3_001 });
            d.write(timed(vm) + 0x1c, if vm == 0 { 6 } else { 0 });
            d.write(timed(vm) + 0x20, 0);
        }
        for round in 0..ROUNDS {
            for port in 1..PORTS {
                for _ in 0..2 {
                    let (word, address, place) = hostile(&mut random, port);
                    d.ask(port, word, address, place);
                    // No software takes port 1's responses.
                    if port != 1 {
                        d.read(page(port) + RESPONSE);
                    }
                }
            }
            d.pause(pause);
            let part = 64 * (round & 3);
            d.call(0, request(FLASH, READ, 64), 0x1000 + part, 0x400);
            for word in 0..16 {
                d.read(page(0) + BUFFER + 0x400 + 4 * word);
            }
        }
        d.read(page(1) + STATUS);
        d.read(page(1) + RESPONSE);
        let before = VM - 3 * 4_096;
        let pages = VM_PAGES + 6;
        let filled = pattern(pages * 4_096);
        let (noted, seen, board) = d.run(&[(before, filled.clone())]);

        // Port 0 gets its data each time, and in time, even when each request before it is the longest read.
        assert_eq!(answered(noted[0]), (0, 0));
        for (round, response) in noted[2..][..ROUNDS as usize].iter().enumerate() {
            assert_eq!(answered(*response), (0, 64), "round {round}");
        }
        for word in 0..16 {
            let came = seen.read_at(page(0) + BUFFER + 0x400 + 4 * word);
            assert_eq!(came.len(), ROUNDS as usize);
            for (round, came) in came.into_iter().enumerate() {
                let at = 64 * (round & 3) + 4 * word as usize;
                assert_eq!(came.to_le_bytes(), mine[at..at + 4], "round {round}");
            }
        }
        let times = seen.times(0);
        let longest = *times[1..].iter().max().expect("some");
        let alone = turn(64) + WAY;
        let (waits, bound) = match policy {
            // Until a read is suspended.
            FIXED_PRIORITY => (alone, alone + turn(8) + BETWEEN),
            _ => (turn(1_536), alone + 3 * (turn(1_536) + WAY)),
        };
        assert!(longest <= bound, "{policy}: {longest}, and not {bound}");

        // The others got each status but that of a failed device, and had long turns of the flash.
        let mut answers = [0; 16];
        for port in [2, 3] {
            for response in seen.read_at(page(port) + RESPONSE) {
                if response >> 31 != 0 {
                    answers[answered(response.into()).0 as usize] += 1;
                }
            }
        }
        println!(
            "flash, 64 bytes, hostile ports, policy {policy}: {longest}, bound {bound}; answers by status {answers:?}"
        );
        for status in [0, 1, 2, 3, 4, 5, 6, 7, 9] {
            assert!(answers[status] > 0, "no port got {status}: {answers:?}");
        }
        assert!(longest > waits, "no port was before port 0");

        // Port 1 has stopped itself.
        let status = seen.read_at(page(1) + STATUS)[0];
        assert_eq!(
            (status >> 8 & 7, status & 7),
            (4, 0),
            "four responses wait, and four requests"
        );
        assert!(status >> 16 & 0xff > 10, "the others were refused");
        let oldest = seen.read_at(page(1) + RESPONSE)[0];
        assert!(oldest >> 31 == 1, "the oldest response is still there");

        // Memory outside of the hostile VMs is unchanged. Theirs has its old contents, or those of the flash, which is
        // empty but for port 0's area. Data arrived in both.
        let mut found = vec![0; filled.len()];
        board
            .memory()
            .read(before.into(), &mut found)
            .expect("memory");
        let mut changed = [0; 4];
        for (at, (found, filled)) in found.iter().zip(&filled).enumerate() {
            let address = before + at as u32;
            let owner = (2..PORTS).find(|port| {
                let (base, pages) = hostile_memory(*port);
                (base..base + pages * 4_096).contains(&address)
            });
            if found != filled {
                let owner = owner.unwrap_or_else(|| panic!("{address:#x} is no hostile VM's"));
                assert_eq!(*found, 0xff, "port {owner} has what is not in its flash");
                changed[owner as usize] += 1;
            }
        }
        assert!(changed[2] > 0 && changed[3] > 0, "{changed:?}");

        // Pins.
        let start = noted[1] + 20_000;
        let expected: Vec<(u64, u32)> = (0..6)
            .map(|run| start + 20_000 * run)
            .flat_map(|run| [(run, 0x3f), (run + 250, 0)])
            .collect();
        assert_eq!(seen.timed, expected);
    }
}

#[test]
fn invalid_requests_are_refused() {
    let mut d = Driver::new(ROUND_ROBIN);
    d.write(settings(2), 1 << UART);
    let asked = [
        // A reserved op; a length beyond the limit; a place that is not aligned, or not in the buffer.
        (0, 3 << 15, 0, 0, MALFORMED),
        (0, request(FLASH, READ, 1_537), 0, 0, MALFORMED),
        (0, request(FLASH, READ, 4), 0, 2, MALFORMED),
        (0, request(FLASH, READ, 8), 0, 0x7fc, MALFORMED),
        (0, request(FLASH, READ, 4) | MEMORY, 0, 8, MALFORMED),
        // A device that does not exist; one that the port may not use.
        (0, request(0, READ, 4), 0, 0, 2),
        (0, request(7, READ, 4), 0, 0, 2),
        (2, request(FLASH, READ, 4), 0, 0, DENIED),
        // After the end of the area; and an area that may not be changed.
        (0, request(FLASH, READ, 4), 16 * 4_096 - 3, 0, 5),
        (3, request(FLASH, WRITE, 4), 0, 0, PROTECTED),
        // Memory after the end of the VM's, and of a VM that has none.
        (
            0,
            request(FLASH, READ, 4) | MEMORY,
            0,
            VM_PAGES * 4_096,
            MEMORY_FAILED,
        ),
        (
            0,
            request(FLASH, WRITE, 4) | MEMORY,
            0,
            0xffff_ffc0,
            MEMORY_FAILED,
        ),
        (1, request(FLASH, READ, 4) | MEMORY, 0, 0, MEMORY_FAILED),
    ];
    for (port, word, address, place, _) in asked {
        d.call(port, word, address, place);
    }
    // Only the manager's page has the settings of a port: a port has no such registers.
    d.note(page(0) + STATUS);
    let (noted, _, _) = d.run(&[]);
    for (response, (port, word, .., status)) in noted.iter().zip(asked) {
        assert_eq!(answered(*response), (status, 0), "port {port}: {word:#x}");
    }
    assert_eq!(noted[asked.len()], 4, "room for four, and none refused");
}
