//! The devices against those of QEMU's `virt` machine: long random sequences of register accesses.
//!
//! They use the protocol of QEMU's own tests. The machine is stopped, so that its time stays 0.
//!
//! `make setup` installs QEMU; the test fails without it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tactus_board::bus::{Device, Effects, Lines, Port};
use tactus_board::devices::{Clint, Plic, Random, Rtc, Uart, map};
use tactus_board::memory::Memory;
use tactus_board::time::Femtoseconds;

const HARTS: usize = 2;

/// A machine with the devices' registers.
trait Machine {
    fn read(&mut self, address: u64, size: u8) -> u64;
    fn write(&mut self, address: u64, size: u8, value: u64);
}

struct Qemu {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Qemu {
    fn start() -> Self {
        let mut process = Command::new("qemu-system-riscv64")
            .args(["-M", "virt", "-smp", &HARTS.to_string(), "-S"])
            .args(["-display", "none", "-serial", "null", "-monitor", "none"])
            .args(["-rtc", "base=2026-01-01T00:00:00,clock=vm"])
            .args(["-qtest", "stdio", "-qtest-log", "/dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("qemu-system-riscv64; `make setup` installs it");
        let requests = process.stdin.take().expect("a pipe");
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        Self {
            process,
            requests,
            answers,
        }
    }

    /// Sends one request; returns the answer without its `OK`.
    fn ask(&mut self, request: &str) -> String {
        writeln!(self.requests, "{request}").expect("QEMU listens");
        loop {
            let mut line = String::new();
            let length = self.answers.read_line(&mut line).expect("QEMU answers");
            assert_ne!(length, 0, "QEMU has ended after {request:?}");
            if let Some(answer) = line.strip_prefix("OK") {
                return answer.trim().to_owned();
            }
        }
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        // QEMU may have ended by itself; the error is then meaningless.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The protocol's letter for an access of that size.
fn letter(size: u8) -> char {
    match size {
        1 => 'b',
        2 => 'w',
        4 => 'l',
        _ => 'q',
    }
}

impl Machine for Qemu {
    fn read(&mut self, address: u64, size: u8) -> u64 {
        let answer = self.ask(&format!("read{} {address:#x}", letter(size)));
        let digits = answer.trim_start_matches("0x");
        u64::from_str_radix(digits, 16).expect("a number")
    }

    fn write(&mut self, address: u64, size: u8, value: u64) {
        self.ask(&format!("write{} {address:#x} {value:#x}", letter(size)));
    }
}

struct Ours {
    memory: Memory,
    lines: Lines,
    devices: Vec<(u64, u64, Box<dyn Device>)>,
    plic: Plic,
}

impl Ours {
    fn start() -> Self {
        let (uart, _) = Uart::new(map::UART_LINE);
        let mut ours = Self {
            memory: Memory::new(map::MEMORY, 4096).expect("a page"),
            lines: Lines::default(),
            devices: vec![
                (map::UART, map::UART_SIZE, Box::new(uart)),
                (
                    map::CLINT,
                    map::CLINT_SIZE,
                    Box::new(Clint::new(HARTS, 10_000_000)),
                ),
                (
                    map::RTC,
                    map::RTC_SIZE,
                    Box::new(Rtc::new(map::RTC_LINE, Rtc::START)),
                ),
            ],
            plic: Plic::new(HARTS, map::PLIC_SOURCES),
        };
        for index in 0..ours.devices.len() {
            ours.call(ours.devices[index].0, |device, _, port| device.wake(port));
        }
        ours
    }

    fn call<T>(
        &mut self,
        address: u64,
        call: impl FnOnce(&mut dyn Device, u64, &mut Port<'_>) -> T,
    ) -> T {
        let mut effects = Effects::default();
        let mut port = Port::new(
            Femtoseconds::default(),
            &self.memory,
            &mut self.lines,
            &mut effects,
        );
        if address.wrapping_sub(map::PLIC) < map::PLIC_SIZE {
            return call(&mut self.plic, address - map::PLIC, &mut port);
        }
        let (base, _, device) = self
            .devices
            .iter_mut()
            .find(|(base, size, _)| address.wrapping_sub(*base) < *size)
            .expect("a device");
        let result = call(device.as_mut(), address - *base, &mut port);
        self.plic.lines_changed(&mut port);
        result
    }
}

impl Machine for Ours {
    fn read(&mut self, address: u64, size: u8) -> u64 {
        self.call(address, |device, offset, port| {
            device.read(offset, size, port)
        })
        .expect("a register")
    }

    fn write(&mut self, address: u64, size: u8, value: u64) {
        self.call(address, |device, offset, port| {
            device.write(offset, size, value, port)
        })
        .expect("a register");
    }
}

/// Both machines, and their common history.
struct Pair {
    qemu: Qemu,
    ours: Ours,
    random: Random,
    history: Vec<String>,
}

impl Pair {
    fn start(seed: u64) -> Self {
        Self {
            qemu: Qemu::start(),
            ours: Ours::start(),
            random: Random::new(seed),
            history: Vec::new(),
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random.next() % limit
    }

    fn write(&mut self, address: u64, size: u8, value: u64) {
        self.history
            .push(format!("write {address:#x} {size} {value:#x}"));
        self.qemu.write(address, size, value);
        self.ours.write(address, size, value);
    }

    fn read(&mut self, address: u64, size: u8) -> u64 {
        let theirs = self.qemu.read(address, size);
        let ours = self.ours.read(address, size);
        self.history.push(format!("read {address:#x} {size}"));
        let recent = &self.history[self.history.len().saturating_sub(40)..];
        assert_eq!(ours, theirs, "after {recent:#?}");
        ours
    }
}

#[test]
fn the_serial_line_and_its_interrupts() {
    let mut pair = Pair::start(1);
    for register in 0..8 {
        pair.read(map::UART + register, 1);
    }
    for _ in 0..20_000 {
        let register = map::UART + pair.below(8);
        if pair.below(2) == 0 {
            pair.read(register, 1);
        } else {
            let value = pair.below(256);
            pair.write(register, 1, value);
        }
        let state = [2, 5].map(|register| map::UART + register);
        // Reads of these have effects, and so are not made each time.
        if pair.below(4) == 0 {
            pair.read(state[pair.history.len() % 2], 1);
        }
    }
}

#[test]
fn timers_and_software_interrupts() {
    let mut pair = Pair::start(2);
    for _ in 0..10_000 {
        let size = if pair.below(2) == 0 { 4 } else { 8 };
        let value = match pair.below(3) {
            0 => pair.below(5),
            1 => u64::MAX - pair.below(5),
            _ => pair.random.next(),
        };
        let (address, size) = match pair.below(4) {
            // One hart more than the machine has.
            0 => (map::CLINT + pair.below(HARTS as u64 + 1) * 4, 4),
            1 if size == 8 => (map::CLINT + 0xbff8, 8),
            1 => (map::CLINT + 0xbff8 + pair.below(2) * 4, 4),
            _ if size == 8 => (map::CLINT + 0x4000 + pair.below(HARTS as u64) * 8, 8),
            _ => (map::CLINT + 0x4000 + pair.below(HARTS as u64 * 2) * 4, 4),
        };
        // The registers for software interrupts show signals that the stopped harts have received. Reads right after a
        // write are left to the other tests.
        if pair.below(2) == 0 {
            pair.read(address, size);
        } else {
            let mask = if size == 4 { 0xffff_ffff } else { u64::MAX };
            pair.write(address, size, value & mask);
        }
    }
}

#[test]
fn the_clock_and_its_alarm() {
    let mut pair = Pair::start(3);
    for register in 0..9 {
        pair.read(map::RTC + register * 4, 4);
    }
    for _ in 0..10_000 {
        let address = map::RTC + pair.below(9) * 4;
        if pair.below(2) == 0 {
            pair.read(address, 4);
        } else {
            let value = pair.below(1 << 32);
            pair.write(address, 4, value);
        }
    }
}

/// Lowers the line of a source.
fn lower(pair: &mut Pair, source: u64) {
    if source == u64::from(map::UART_LINE) {
        pair.read(map::UART + 2, 1);
    } else {
        pair.write(map::RTC + 0x1c, 4, 1);
    }
}

/// Raises the line of a source.
fn raise(pair: &mut Pair, source: u64) {
    if source == u64::from(map::UART_LINE) {
        pair.write(map::UART + 1, 1, 0);
        pair.write(map::UART + 1, 1, 2);
    } else {
        pair.write(map::RTC + 0x10, 4, 1);
        pair.write(map::RTC + 0x08, 4, 1);
    }
}

/// Software can drive the lines of two sources: the serial line's transmitter and the clock's alarm.
///
/// QEMU forwards a line that rises while its source is in service, and ignores the level at the source's completion;
/// the specification (section 3) says otherwise. So lines are driven only while their sources are not in service, and
/// are low on completion.
#[test]
fn the_interrupt_controller() {
    let mut pair = Pair::start(4);
    let sources = [map::UART_LINE, map::RTC_LINE].map(u64::from);
    let mut enabled = [0; 2 * HARTS];
    let mut served = Vec::new();
    let mut claims = 0;
    for _ in 0..20_000 {
        let context = pair.below(2 * HARTS as u64);
        let source = sources[pair.below(2) as usize];
        let claim = map::PLIC + 0x20_0004 + context * 0x1000;
        match pair.below(10) {
            0 | 1 if !served.contains(&source) => raise(&mut pair, source),
            2 if !served.contains(&source) => lower(&mut pair, source),
            3 => {
                let value = pair.below(1 << 32);
                let source = pair.below(97);
                pair.write(map::PLIC + source * 4, 4, value);
                pair.read(map::PLIC + source * 4, 4);
            }
            4 => {
                let value = pair.below(8);
                pair.write(map::PLIC + source * 4, 4, value);
            }
            5 => {
                let value = pair.below(4) << 10;
                pair.write(map::PLIC + 0x2000 + context * 0x80, 4, value);
                enabled[context as usize] = value;
            }
            6 => {
                let value = pair.below(4);
                pair.write(claim - 4, 4, value);
                pair.read(claim - 4, 4);
            }
            7 | 8 => {
                let claimed = pair.read(claim, 4);
                if claimed != 0 {
                    lower(&mut pair, claimed);
                    served.push(claimed);
                    claims += 1;
                }
            }
            9 => {
                pair.write(claim, 4, source);
                if enabled[context as usize] >> source & 1 != 0 {
                    served.retain(|&other| other != source);
                }
            }
            _ => {}
        }
        pair.read(map::PLIC + 0x1000, 4);
    }
    assert!(claims > 500, "{claims}");
}
