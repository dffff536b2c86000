//! Attaches a device of one's own to the board: with registers, memory access, an interrupt, and time.
//!
//! The device is an adder. Software writes to its registers where numbers lie in memory and how many, and where the sum
//! is to go. The adder fetches them by itself, as a bus master, takes its time, writes the sum to memory, and raises an
//! interrupt line.
//!
//! `cargo run -p tactus-board --example attach_device`

mod assembler;

use assembler::{A0, A1, MIE, Program, T0, T1, T2, ZERO};
use serde::{Deserialize, Serialize};
use tactus_board::board::Outcome;
use tactus_board::bus::{BadState, Device, Port, Refused, Stop};
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options};
use tactus_board::time::Femtoseconds;

// 1. The device's face: its registers, each of 8 bytes, by their offsets.

/// Where the numbers begin.
const SOURCE: u64 = 0x00;
/// How many there are.
const COUNT: u64 = 0x08;
/// Where the sum is to go.
const DESTINATION: u64 = 0x10;
/// Written: 1 starts, 0 takes the interrupt back. Read: 0 idle, 1 busy, 2 done, 3 failed.
const CONTROL: u64 = 0x18;

// 2. Its time. All times on the board are femtoseconds since reset.

const NANOSECOND: u64 = 1_000_000;
/// What it takes to begin.
const SETUP: u64 = 120 * NANOSECOND;
/// What each number takes.
const EACH: u64 = 20 * NANOSECOND;
/// What an access to a register takes longer than the bus alone.
const ACCESS: Femtoseconds = Femtoseconds(30 * NANOSECOND);
/// What it can count to. A limit on all that software asks for keeps software from keeping the board busy.
const COUNT_MAX: u64 = 4096;

/// Its state: numbers only, so that a snapshot can hold it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Adder {
    source: u64,
    count: u64,
    destination: u64,
    status: u64,
    /// When it is done. The end of time: it is not at work.
    done_at: Femtoseconds,
    /// The interrupt line.
    line: u32,
}

impl Adder {
    fn new(line: u32) -> Self {
        Self {
            source: 0,
            count: 0,
            destination: 0,
            status: 0,
            done_at: Femtoseconds::NEVER,
            line,
        }
    }

    /// Adds up, as a bus master. Nothing says that there is memory where software wants it.
    fn add(&self, port: &mut Port<'_>) -> Option<()> {
        let mut sum = 0_u64;
        for index in 0..self.count {
            let mut number = [0; 8];
            port.read_memory(self.source.checked_add(8 * index)?, &mut number)
                .ok()?;
            sum = sum.wrapping_add(u64::from_le_bytes(number));
        }
        port.write_memory(self.destination, &sum.to_le_bytes()).ok()
    }
}

// 3. What makes it a device.

impl Device for Adder {
    fn read(&mut self, offset: u64, size: u8, port: &mut Port<'_>) -> Result<u64, Refused> {
        port.stall(ACCESS);
        match (offset, size) {
            (SOURCE, 8) => Ok(self.source),
            (COUNT, 8) => Ok(self.count),
            (DESTINATION, 8) => Ok(self.destination),
            (CONTROL, 8) => Ok(self.status),
            // The hart takes an access fault.
            _ => Err(Refused),
        }
    }

    fn write(
        &mut self,
        offset: u64,
        size: u8,
        value: u64,
        port: &mut Port<'_>,
    ) -> Result<(), Refused> {
        port.stall(ACCESS);
        match (offset, size) {
            (SOURCE, 8) => self.source = value,
            (COUNT, 8) => self.count = value.min(COUNT_MAX),
            (DESTINATION, 8) => self.destination = value,
            (CONTROL, 8) if value == 1 && self.status != 1 => {
                self.status = 1;
                self.done_at = port
                    .now()
                    .saturating_add(Femtoseconds(SETUP + EACH * self.count));
                // The board calls `wake` when that time has come, and costs nothing until then.
                port.wake_at(self.done_at);
            }
            (CONTROL, 8) if value == 0 => port.interrupt(self.line, false),
            (CONTROL, 8) => {}
            _ => return Err(Refused),
        }
        Ok(())
    }

    // It may also be called when it did not ask for it: at reset, and when it is attached.
    fn wake(&mut self, port: &mut Port<'_>) {
        if port.now() < self.done_at {
            return;
        }
        self.done_at = Femtoseconds::NEVER;
        self.status = if self.add(port).is_some() { 2 } else { 3 };
        port.interrupt(self.line, true);
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(self).unwrap_or_default()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), BadState> {
        let state =
            postcard::from_bytes(state).map_err(|error| BadState(format!("adder: {error}")))?;
        *self = state;
        Ok(())
    }
}

// 4. Its place: an address that nothing else has, and a line of the interrupt controller.

const ADDER: u64 = 0x4000_0000;
const LINE: u32 = 40;

const MEMORY: u32 = 0x8000_0000;
const NUMBERS: u64 = 0x8000_1000;
const SUM: u64 = 0x8000_2000;
const PLIC: u32 = 0x0c00_0000;
const FINISHER: u32 = 0x0010_0000;

/// What the hart runs: starts the adder, waits for its interrupt, and powers the board off.
fn program(count: u32) -> Vec<u8> {
    let mut p = Program::new();
    // The controller: priority 1 for the line, and enable it for hart 0's machine level, which is context 0.
    p.li(T0, PLIC);
    p.li(T1, 1);
    p.sw(T1, 4 * LINE as i32, T0);
    p.li(T0, PLIC + 0x2000);
    p.li(T1, 1 << (LINE % 32));
    p.sw(T1, 4 * (LINE / 32) as i32, T0);
    // External interrupts wake the hart. `mstatus.MIE` stays 0: it continues behind `wfi`, with no handler.
    p.li(T1, 1 << 11);
    p.csrw(MIE, T1);
    // The adder.
    p.li(T0, ADDER as u32);
    p.li(T1, NUMBERS as u32);
    p.sd(T1, SOURCE as i32, T0);
    p.li(T1, count);
    p.sd(T1, COUNT as i32, T0);
    p.li(T1, SUM as u32);
    p.sd(T1, DESTINATION as i32, T0);
    p.li(T1, 1);
    p.sd(T1, CONTROL as i32, T0);
    p.wfi();
    // Claim the interrupt; it is the adder's. Let it take its line back, then complete.
    p.li(T2, PLIC + 0x20_0000);
    p.lw(A1, 4, T2);
    p.sd(ZERO, CONTROL as i32, T0);
    p.sw(A1, 4, T2);
    // The sum to a0, where the host looks for it.
    p.li(T1, SUM as u32);
    p.ld(A0, 0, T1);
    p.li(T0, FINISHER);
    p.li(T1, 0x5555);
    p.sw(T1, 0, T0);
    p.bytes()
}

/// Builds the board, attaches the adder, and runs the program.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let profile = Profile::named("mpsoc").ok_or("no such profile")?;
    let options = Options {
        harts: Some(1),
        memory: Some(1 << 20),
        ..Options::default()
    };
    let (mut board, _console) = setup::board(&profile, &options, Vec::new())?;
    board.attach("adder", ADDER, 0x1000, Box::new(Adder::new(LINE)))?;

    let numbers: Vec<u64> = (1..=100).collect();
    board.write(
        NUMBERS,
        &numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect::<Vec<_>>(),
    )?;
    board.write(MEMORY.into(), &program(numbers.len() as u32))?;
    board.set_pc(0, MEMORY.into());

    let outcome = board.run(Femtoseconds::SECOND);
    println!("{outcome} at {:.3} us", board.time().as_seconds() * 1e6);
    println!("the sum is {}, of line {}", board.x(0, 10), board.x(0, 11));
    for spent in board.account(0) {
        println!("{:>6} cycles {:?}", spent.cycles, spent.on);
    }

    assert_eq!(outcome, Outcome::Stop(Stop::PowerOff));
    assert_eq!((board.x(0, 10), board.x(0, 11)), (5050, LINE.into()));
    // It can't have been faster than the adder.
    assert!(board.time() >= Femtoseconds(SETUP + EACH * 100));

    // 5. The state goes into snapshots with the rest: another board continues from here, or does it all again.
    let snapshot = board.snapshot();
    let (mut again, _console) = setup::board(&profile, &options, Vec::new())?;
    again.attach("adder", ADDER, 0x1000, Box::new(Adder::new(LINE)))?;
    again.restore(&snapshot)?;
    assert_eq!(again.trace_hash(), board.trace_hash());
    Ok(())
}
