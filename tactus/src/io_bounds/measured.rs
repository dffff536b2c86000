//! The stated times against those on the board: requests whose data are in memory, alone and beside ports whose queues
//! are full of such requests, while a hart stores to memory without pause.

use std::path::Path;
use std::sync::{Arc, Mutex};

use tactus_board::board::{Board, Outcome, Pace};
use tactus_board::bus::{BadState, Stop};
use tactus_board::fabric::{Fabric, Inputs, Model, Outputs};
use tactus_board::profile::Profile;
use tactus_board::setup;
use tactus_board::time::Femtoseconds;

use super::{Memory, Port, Request, Shared, Way};
use crate::artifacts::Artifacts;
use crate::config::IoPolicy;
use assembler::{Program, S0, S1, T0, T1, T2, ZERO};

#[path = "../../../board/examples/assembler/mod.rs"]
mod assembler;

const MEMORY: u32 = 0x8000_0000;
const RESULTS: u32 = 0x8010_0000;
const GP: u32 = 0x4000_0000;
const PORTS: u32 = 4;

/// Registers of the manager's page and of a port's (`docs/src/reference/io-hypervisor.md`).
const fn settings(port: u32) -> u32 {
    0x100 + 0x40 * port
}
const fn page(port: u32) -> u32 {
    0x1000 * (port + 1)
}
const STATUS: u32 = 0x04;
const ADDRESS: u32 = 0x08;
const DATA: u32 = 0x0c;
const REQUEST: u32 = 0x10;
const RESPONSE: u32 = 0x14;
const IRQ_ENABLE: u32 = 0x18;
/// Bits of a request: what is read and written, with data in memory.
const fn read(device: u32, length: u32) -> u32 {
    device << 17 | 1 << 13 | length
}
const fn write(device: u32, length: u32) -> u32 {
    read(device, length) | 1 << 15
}
const UART: u32 = 1;
const FLASH: u32 = 2;
const VGA: u32 = 3;
const ETHERNET: u32 = 4;

/// The memory of a port's VM, and where received data go in it.
const fn memory_of(port: u32) -> u32 {
    0x8020_0000 + 0x1_0000 * port
}
const RECEIVED: u32 = 0x4000;

/// The requests that are measured, as words and as `check` names them. A frame is received after it was sent.
const MEASURED: [(u32, Request); 5] = [
    (write(ETHERNET, 1514), Request::EthernetWrite(1514)),
    (read(ETHERNET, 1514), Request::EthernetRead(1514)),
    (write(VGA, 160), Request::VgaWrite(160)),
    (read(FLASH, 256), Request::FlashRead(256)),
    (write(UART, 1), Request::UartWrite(1)),
];

/// The fabric, with the cycles in which requests were written and interrupts rose.
struct Watched {
    fabric: Box<dyn Fabric>,
    cycle: u64,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    /// By port.
    requests: [Vec<u64>; PORTS as usize],
    answers: [Vec<u64>; PORTS as usize],
}

impl Fabric for Watched {
    fn name(&self) -> &str {
        self.fabric.name()
    }

    fn outputs(&self) -> &Outputs {
        self.fabric.outputs()
    }

    fn cycle(&mut self, inputs: &Inputs, picoseconds: u64) {
        let before = *self.fabric.outputs();
        self.fabric.cycle(inputs, picoseconds);
        let written = inputs.gp_awvalid & before.gp_awready & inputs.gp_wvalid & before.gp_wready;
        let rises = self.fabric.outputs().irq & !before.irq;
        let mut seen = self.seen.lock().expect("no panic while it is held");
        for port in 0..PORTS {
            if written != 0 && inputs.gp_awaddr == page(port) + REQUEST {
                seen.requests[port as usize].push(self.cycle);
            }
            if rises >> port & 1 != 0 {
                seen.answers[port as usize].push(self.cycle + 1);
            }
        }
        self.cycle += 1;
    }

    fn skip(&mut self, cycles: u64) {
        self.fabric.skip(cycles);
        self.cycle += cycles;
    }

    fn lose_power(&mut self, seed: u64, cycles: u64) {
        self.fabric.lose_power(seed, cycles);
        self.cycle += cycles;
    }

    fn save(&self) -> Vec<u8> {
        self.fabric.save()
    }

    fn restore(&mut self, _: &[u8]) -> Result<(), BadState> {
        Err(BadState("what was seen is not restored".to_owned()))
    }

    fn begin_waves(&mut self, file: &Path, period: u64) -> Result<(), String> {
        self.fabric.begin_waves(file, period)
    }
}

/// A program of hart 0 that drives the fabric, while the other hart stores to memory.
struct Driver(Program);

impl Driver {
    fn new() -> Self {
        let mut p = Program::new();
        p.csrr(T0, 0xf14);
        let first = p.room();
        let again = p.here();
        p.li(T1, memory_of(0));
        p.li(T2, memory_of(PORTS) + (1 << 20));
        let next = p.here();
        p.ld(T0, 0, T1);
        p.sd(T0, 8, T1);
        p.addi(T1, T1, 32);
        p.bltu(T1, T2, next);
        p.j(again);
        let drives = p.here();
        p.fill(first, |p| p.beq(T0, ZERO, drives));
        p.li(S1, RESULTS);
        let mut driver = Self(p);
        for port in 0..PORTS {
            let at = settings(port);
            for (register, value) in [
                (0x04, memory_of(port) >> 12),
                (0x08, 16),
                (0x0c, 16 * port),
                (0x10, 16),
                (0x14, (160 * (port & 1)) | ((120 * (port >> 1)) << 16)),
                (0x18, 160 | 120 << 16),
                (0x1c, 0x1000_0000 + port),
                (0x20, 0x0200),
                (0x00, 0x1e),
            ] {
                driver.write(at + register, value);
            }
            driver.write(page(port) + IRQ_ENABLE, 1);
        }
        driver
    }

    fn write(&mut self, register: u32, value: u32) {
        let p = &mut self.0;
        p.li(S0, GP + register);
        p.li(T0, value);
        p.sw(T0, 0, S0);
    }

    fn submit(&mut self, port: u32, request: u32) {
        let sends = request >> 15 & 3 != 0;
        self.write(page(port) + ADDRESS, 0);
        self.write(page(port) + DATA, if sends { 0 } else { RECEIVED });
        self.write(page(port) + REQUEST, request);
    }

    /// Waits for a response, and stores it in the results.
    fn take_response(&mut self, port: u32) {
        let p = &mut self.0;
        p.li(S0, GP + page(port) + STATUS);
        let again = p.here();
        p.lw(T0, 0, S0);
        p.slli(T0, T0, 53);
        p.srli(T0, T0, 61);
        p.beq(T0, ZERO, again);
        p.li(S0, GP + page(port) + RESPONSE);
        p.lw(T0, 0, S0);
        p.sw(T0, 0, S1);
        p.addi(S1, S1, 4);
    }

    /// Runs the program at a pace. Gives the times of a port's requests, and the board.
    fn run(mut self, port: u32, pace: Pace) -> (Vec<u64>, Board) {
        let p = &mut self.0;
        p.li(T0, 0x10_0000);
        p.li(T1, 0x5555);
        p.sw(T1, 0, T0);
        let here = p.here();
        p.j(here);
        let profile = Profile::named("soc").expect("a profile");
        let options = setup::Options {
            harts: Some(2),
            memory: Some(4 << 20),
            ..setup::Options::default()
        };
        let (mut board, _) = setup::board(&profile, &options, Vec::new()).expect("a board");
        let model = Artifacts::Workspace.model("io");
        let model = model.unwrap_or_else(|missing| panic!("{}: {}", missing.reason, missing.cure));
        let seen = Arc::<Mutex<Seen>>::default();
        let watched = Watched {
            fabric: Box::new(Model::load(&model).expect("a model")),
            cycle: 0,
            seen: Arc::clone(&seen),
        };
        setup::load_fabric(&mut board, &profile, Box::new(watched)).expect("a fabric");
        board.write(MEMORY.into(), &self.0.bytes()).expect("memory");
        for port in 0..PORTS {
            // A frame from each port to itself.
            let frame = [2, 0, 0x10, 0, 0, port as u8];
            board.write(memory_of(port).into(), &frame).expect("memory");
        }
        (0..2).for_each(|hart| board.set_pc(hart, MEMORY.into()));
        board.set_pace(pace);
        assert_eq!(
            board.run(Femtoseconds::SECOND),
            Outcome::Stop(Stop::PowerOff)
        );
        let seen = seen.lock().expect("no panic while it is held");
        let port = port as usize;
        let times = seen.requests[port].iter().zip(&seen.answers[port]);
        (
            times.map(|(asked, answered)| answered - asked).collect(),
            board,
        )
    }
}

/// The longest time of each request of a port, by `MEASURED`, while the other ports' queues are full or not.
fn measure(port: u32, flooded: bool, pace: Pace) -> Vec<u64> {
    const ROUNDS: usize = 2;
    let others = || (0..PORTS).filter(|other| flooded && *other != port);
    let mut driver = Driver::new();
    for _ in 0..ROUNDS {
        for (request, _) in MEASURED {
            // Data in both directions, at the device that the request is for, too.
            let flood = [
                request & !0x7ff | (request & 0x7ff).min(256),
                write(VGA, 160),
                write(ETHERNET, 1514),
                read(FLASH, 256),
            ];
            for word in flood {
                others().for_each(|other| driver.submit(other, word));
            }
            driver.submit(port, request);
            driver.take_response(port);
            for _ in flood {
                others().for_each(|other| driver.take_response(other));
            }
        }
    }
    let (times, board) = driver.run(port, pace);
    assert_eq!(times.len(), ROUNDS * MEASURED.len());
    let step = 1 + 4 * others().count();
    for (index, (word, request)) in MEASURED.iter().cycle().take(times.len()).enumerate() {
        let mut response = [0; 4];
        let at = u64::from(RESULTS) + 4 * (index * step) as u64;
        board.memory().read(at, &mut response).expect("memory");
        let response = u32::from_le_bytes(response);
        // Status and length: all that was asked for came, so that it went through memory.
        let length = if word >> 15 & 3 == 0 { word & 0x7ff } else { 0 };
        assert_eq!(
            (response >> 13 & 15, response & 0x7ff),
            (0, length),
            "{request}"
        );
    }
    let longest = |kind: usize| {
        times
            .iter()
            .skip(kind)
            .step_by(MEASURED.len())
            .max()
            .copied()
    };
    (0..MEASURED.len()).filter_map(longest).collect()
}

#[test]
fn no_request_with_data_in_memory_takes_longer_than_stated() {
    let profile = Profile::named("soc").expect("a profile");
    let memory = Memory::of(&profile).expect("it has a fabric");
    for (port, flooded) in [(0, false), (3, false), (0, true), (3, true)] {
        let given = Port {
            uart: Some(false),
            flash: Some(false),
            window: Some(160 * 120),
            ethernet: true,
        };
        let users = (0..PORTS).filter(|user| flooded || *user == port);
        let shared = Shared {
            policies: [IoPolicy::RoundRobin; 4],
            way: Way::Page(memory),
            ports: users.map(|user| (user as usize, given)).collect(),
        };
        for pace in [Pace::Fast, Pace::Timed] {
            let beside = if flooded { "beside three" } else { "alone" };
            for (time, (_, request)) in measure(port, flooded, pace).into_iter().zip(MEASURED) {
                let stated = shared.bound(port as usize, request).expect("a bound");
                let data = shared.in_memory(port as usize, request).expect("a bound");
                println!(
                    "port {port} {beside}, {pace:?}: {request}: {time} cycles of {stated} stated, {data} of them for data in memory"
                );
                assert!(time <= stated, "{request}: {time} of {stated}");
            }
        }
    }
}
