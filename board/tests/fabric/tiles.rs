//! Tiles around a fabric without RTL: each tile's view of the others, and its cycle.

use std::path::Path;

use tactus_board::bus::{BadState, Stop};
use tactus_board::fabric::{Fabric, GpInputs, GpOutputs, Inputs, Outputs, TILES};
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options};
use tactus_board::tiles::{Ended, Tiles};

use crate::assembler::{A0, A1, MIE, MSTATUS, MTVEC, Program, S0, S1, T0, T1, T2, ZERO};
use crate::count_faults;
use crate::support::{GP, MEMORY, power_off};

/// The address of the programs' results, in their tile's memory.
pub const RESULTS: u32 = MEMORY + 0x8_0000;
const CYCLE: u32 = 0xb00;
const HART: u32 = 0xf14;
/// Reads as the cycle of the access.
const NOW: i32 = 0;
/// Reads as the value that any tile wrote last.
const SHARED: i32 = 4;
/// The interrupts to raise, a bit for each tile.
const RAISE: i32 = 8;
/// Answered after this many more cycles.
const SLOW: (i32, u64) = (12, 37);
/// Answered with an error; 20: never answered.
const WRONG: i32 = 16;
const SILENT: i32 = 20;

/// Registers at each port. An access is accepted in the cycle in which it is valid, and answered in the next.
#[derive(Default)]
struct Registers {
    outputs: Outputs,
    ports: [GpOutputs; TILES],
    /// Reads in progress: the cycles until the response, and the address.
    reading: [Option<(u64, i32)>; TILES],
    cycle: u64,
    shared: u32,
}

impl Fabric for Registers {
    fn name(&self) -> &'static str {
        "registers"
    }

    fn outputs(&self) -> &Outputs {
        &self.outputs
    }

    fn has_tiles(&self) -> bool {
        true
    }

    fn tile_outputs(&self) -> &[GpOutputs; TILES] {
        &self.ports
    }

    fn cycle(&mut self, _: &Inputs, _: u64) {
        unreachable!("it has tiles");
    }

    fn cycle_with_tiles(&mut self, _: &Inputs, tiles: &[GpInputs; TILES], _: u64) {
        self.cycle += 1;
        for (number, (inputs, port)) in tiles.iter().zip(&mut self.ports).enumerate() {
            // The port withdraws a response that was accepted.
            *port = GpOutputs {
                awready: 1,
                wready: 1,
                arready: 1,
                ..GpOutputs::default()
            };
            if inputs.awvalid != 0 {
                port.bvalid = 1;
                match inputs.awaddr as i32 {
                    SHARED => self.shared = inputs.wdata,
                    RAISE => self.outputs.irq = inputs.wdata,
                    _ => port.bresp = 2,
                }
            }
            if inputs.arvalid != 0 {
                let address = inputs.araddr as i32;
                let wait = if address == SLOW.0 { SLOW.1 } else { 0 };
                self.reading[number] = (address != SILENT).then_some((wait, address));
            }
            match &mut self.reading[number] {
                Some((0, address)) => {
                    port.rvalid = 1;
                    match *address {
                        NOW => port.rdata = self.cycle as u32,
                        SHARED => port.rdata = self.shared,
                        WRONG => port.rresp = 2,
                        _ => port.rdata = number as u32,
                    }
                    self.reading[number] = None;
                }
                Some((left, _)) => *left -= 1,
                None => {}
            }
        }
    }

    fn skip(&mut self, _: u64) {
        unreachable!("it is never quiet");
    }

    fn lose_power(&mut self, _: u64, _: u64) {
        unreachable!("its supply does not fail");
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn restore(&mut self, _: &[u8]) -> Result<(), BadState> {
        Err(BadState("it has none".to_owned()))
    }

    fn begin_waves(&mut self, _: &Path, _: u64) -> Result<(), String> {
        Err("it has none".to_owned())
    }
}

fn tiles(quantum: u64, programs: &[Program]) -> Tiles {
    let mut ports = Registers::default();
    for port in &mut ports.ports {
        (port.awready, port.wready, port.arready) = (1, 1, 1);
    }
    let options = Options {
        harts: Some(programs.len()),
        quantum: Some(quantum),
        ..Options::default()
    };
    let profile = Profile::named("manycore").expect("a profile");
    let mut tiles = setup::tiles(&profile, &options, Box::new(ports)).expect("tiles");
    for (number, program) in programs.iter().enumerate() {
        tiles.start(number, &program.bytes(), "").expect("it fits");
    }
    tiles
}

pub fn result(tiles: &Tiles, tile: usize, index: u64) -> u64 {
    let mut bytes = [0; 8];
    let at = u64::from(RESULTS) + 8 * index;
    tiles
        .tile(tile)
        .memory()
        .read(at, &mut bytes)
        .expect("memory");
    u64::from_le_bytes(bytes)
}

/// A program with the port's address in S0 and the results' in S1.
fn program() -> Program {
    let mut p = Program::new();
    p.li(S0, GP);
    p.li(S1, RESULTS);
    p
}

fn note(p: &mut Program, register: u32) {
    p.sd(register, 0, S1);
    p.addi(S1, S1, 8);
}

#[test]
fn each_has_a_port_for_itself_and_all_have_the_same_time() {
    let mut p = program();
    p.csrr(T0, HART);
    note(&mut p, T0);
    for _ in 0..3 {
        p.csrr(A0, CYCLE);
        p.lw(T0, NOW, S0);
        p.csrr(A1, CYCLE);
        p.lw(T1, SLOW.0, S0);
        p.csrr(T2, CYCLE);
        for register in [A0, T0, A1, T1, T2] {
            note(&mut p, register);
        }
    }
    power_off(&mut p);
    let programs: Vec<_> = (0..TILES).map(|_| p.clone()).collect();
    let mut tiles = tiles(16, &programs);
    assert_eq!(tiles.run(10_000), Ended::Off);
    for tile in 0..TILES {
        assert_eq!(result(&tiles, tile, 0), tile as u64);
        for round in 0..3 {
            let at = |index| result(&tiles, tile, 1 + 5 * round + index);
            // The load begins in the cycle that A0 holds. It is valid in the next cycle, and answered in the cycle
            // after. The register read after it is the cycle after the instruction that reads it.
            assert_eq!(at(1), at(0) + 2, "tile {tile}");
            assert_eq!(at(2), at(0) + 4, "tile {tile}");
            assert_eq!((at(3), at(4)), (tile as u64, at(2) + 4 + SLOW.1));
            assert_eq!(at(0), result(&tiles, 0, 1 + 5 * round));
        }
    }
}

/// A write of tile 0 is visible to the others in the next cycle. Tile 0 records its cycle, the others that of the read.
#[test]
fn a_write_is_visible_to_other_tiles_in_the_next_cycle() {
    let mut writer = program();
    writer.li(T0, 100);
    let again = writer.here();
    writer.addi(T0, T0, -1);
    writer.bne(T0, ZERO, again);
    writer.csrr(A0, CYCLE);
    writer.sw(A0, SHARED, S0);
    writer.csrr(A1, CYCLE);
    note(&mut writer, A0);
    note(&mut writer, A1);
    power_off(&mut writer);
    let mut reader = program();
    let again = reader.here();
    reader.csrr(A0, CYCLE);
    reader.lw(T0, SHARED, S0);
    reader.beq(T0, ZERO, again);
    note(&mut reader, T0);
    note(&mut reader, A0);
    power_off(&mut reader);
    let hashes = [1, 16, 1000].map(|quantum| {
        let mut tiles = tiles(quantum, &[writer.clone(), reader.clone(), reader.clone()]);
        assert_eq!(tiles.run(10_000), Ended::Off);
        let wrote = result(&tiles, 0, 0);
        // The hart does not wait for a write.
        assert_eq!(result(&tiles, 0, 1), wrote + 2);
        for tile in 1..3 {
            assert_eq!(result(&tiles, tile, 0), wrote);
            let seen = result(&tiles, tile, 1);
            // A round takes seven cycles.
            assert!((wrote..wrote + 7).contains(&seen), "{wrote} {seen}");
        }
        tiles.trace_hash()
    });
    assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:x?}");
}

/// Tile 0 raises two interrupts at once: one tile waits for its interrupt, another one is busy.
#[test]
fn an_interrupt_arrives_in_its_cycle() {
    let mut raiser = program();
    raiser.li(T0, 500);
    let again = raiser.here();
    raiser.addi(T0, T0, -1);
    raiser.bne(T0, ZERO, again);
    raiser.li(T1, 6);
    raiser.csrr(A0, CYCLE);
    raiser.sw(T1, RAISE, S0);
    note(&mut raiser, A0);
    power_off(&mut raiser);
    let handled = |waits: bool| {
        let mut p = program();
        let over = p.room();
        let handler = p.here();
        p.csrr(A0, CYCLE);
        note(&mut p, A0);
        power_off(&mut p);
        let behind = p.here();
        p.fill(over, |p| p.j(behind));
        p.li(T0, MEMORY + handler as u32);
        p.csrw(MTVEC, T0);
        p.li(T0, 1 << 11);
        p.csrw(MIE, T0);
        p.li(T0, 1 << 3);
        p.csrw(MSTATUS, T0);
        let again = p.here();
        if waits {
            p.wfi();
        }
        p.j(again);
        p
    };
    for quantum in [1, 50] {
        let mut tiles = tiles(quantum, &[raiser.clone(), handled(true), handled(false)]);
        assert_eq!(tiles.run(10_000), Ended::Off);
        // On the bus in the next cycle, accepted at its end, raised in the one after.
        let raised = result(&tiles, 0, 0) + 3;
        for tile in 1..3 {
            let taken = result(&tiles, tile, 0);
            assert!(
                (raised..=raised + 1).contains(&taken),
                "tile {tile}: {raised} {taken}"
            );
        }
    }
}

#[test]
fn refused_or_unanswered_accesses_are_faults_or_counted() {
    let mut p = program();
    count_faults(&mut p);
    p.lw(T0, WRONG, S0);
    p.lw(T0, SILENT, S0);
    // An access of more than a word, and one without a device.
    p.ld(T0, 0, S0);
    p.li(T2, 0x5000_0000);
    p.lw(T0, 0, T2);
    // Registers of other harts in the CLINT do not exist.
    p.sw(T0, WRONG, S0);
    p.li(T2, RESULTS);
    p.sd(crate::S2, 0, T2);
    p.sd(crate::A2, 8, T2);
    p.lw(T1, SLOW.0, S0);
    p.sd(T1, 16, T2);
    power_off(&mut p);
    let mut failing = Program::new();
    failing.li(T0, 0x10_0000);
    failing.li(T1, 0x002a_3333);
    failing.sw(T1, 0, T0);
    let mut tiles = tiles(16, &[p, failing, Program::new()]);
    assert_eq!(tiles.run(1_000_000), Ended::Limit);
    assert_eq!(tiles.ended(0), Some(Stop::PowerOff));
    assert_eq!(tiles.ended(1), Some(Stop::Failure(42)));
    assert_eq!(tiles.ended(2), None);
    assert_eq!((result(&tiles, 0, 0), result(&tiles, 0, 1)), (4, 4 * 5));
    // An unanswered access delays only itself.
    assert_eq!(tiles.refused(0), 1);
}
