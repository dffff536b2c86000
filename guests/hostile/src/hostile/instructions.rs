//! Every privileged and undefined instruction: each CSR, each encoding of the SYSTEM opcode, all compressed encodings,
//! random words.
//!
//! None may end the guest or give it access to state of the levels below: an instruction that a guest may not execute
//! raises an exception in the guest.

use tactus_guest::{csr, record};

use super::{
    arena::{self, Arena},
    probe::{End, Level},
    progress::Progress,
    random::Random,
};

/// Number of CSRs: their numbers have 12 bits.
const CSRS: u64 = 1 << 12;
/// Accesses tried at each CSR, see [`csr_access`].
const CSR_ACCESSES: u64 = 6;
/// SYSTEM encodings with funct3 0 and 4: 7 bits of funct7, 5 of rs2, each with and without registers.
const SYSTEMS: u64 = 4 << 12;
/// 16-bit words, of which a quarter begins a longer instruction.
const COMPRESSED: u64 = 1 << 16;

/// Tries all of them, then `randoms` random words.
pub fn attack(progress: Progress, randoms: u64) {
    let arena = Arena::new(arena::LARGE);
    let all = CSRS * CSR_ACCESSES + SYSTEMS + COMPRESSED + randoms;
    while let Some(step) = progress.next(all) {
        let mut number = step;
        if number < CSRS * CSR_ACCESSES {
            csr_access(
                progress,
                &arena,
                number / CSR_ACCESSES,
                number % CSR_ACCESSES,
            );
            continue;
        }
        number -= CSRS * CSR_ACCESSES;
        if number < SYSTEMS {
            system(progress, &arena, number as u32);
            continue;
        }
        number -= SYSTEMS;
        if number < COMPRESSED {
            if number & 3 != 3 {
                count(
                    progress,
                    arena.run(number as u32, 2, Level::Supervisor, &arena.registers()),
                );
            }
            continue;
        }
        let word = Random::new(step).next() as u32 | 3;
        if !changes_the_way_back(word) {
            let level = if step % 4 == 0 {
                Level::User
            } else {
                Level::Supervisor
            };
            count(progress, arena.run(word, 4, level, &arena.registers()));
        }
    }
    record::metric("hostile_instructions", all, "count");
}

fn count(progress: Progress, end: End) {
    if end.illegal() {
        progress.trapped();
    } else {
        progress.through();
    }
}

/// Accesses a CSR. Bits 9:8 of its number assign it to a level (privileged specification, "CSR Address Mapping
/// Conventions").
fn csr_access(progress: Progress, arena: &Arena, number: u64, access: u64) {
    let csr = number as u32;
    let owner = csr >> 8 & 3;
    // The guest's own CSRs are written with their current values, so that the trap to the program keeps working.
    let (name, instruction, level, may_write) = match access {
        0 => ("read", csrr(csr), Level::Supervisor, false),
        1 => ("read in VU-mode", csrr(csr), Level::User, false),
        // csrrw t0, csr, t1: all ones; in a guest's own CSRs, their current values.
        2 => ("write", encode(csr, 1, 6, 5), Level::Supervisor, true),
        3 => ("set", encode(csr, 2, 6, 5), Level::Supervisor, true),
        4 => ("clear", encode(csr, 3, 6, 5), Level::Supervisor, true),
        _ => ("write in VU-mode", encode(csr, 1, 6, 5), Level::User, true),
    };
    let mut registers = arena.registers();
    if may_write {
        if owner < 2 {
            let held = arena.run(csrr(csr), 4, Level::Supervisor, &registers);
            if !arena.went_through(held, 4) {
                progress.trapped();
                return;
            }
            // Setting or clearing no bits through a register still counts as a write.
            registers[T1] = if access == 2 || access == 5 {
                held.t0
            } else {
                0
            };
        } else {
            registers[T1] = usize::MAX;
        }
    }
    let end = arena.run(instruction, 4, level, &registers);
    let mine = match level {
        Level::Supervisor => owner < 2,
        Level::User => owner == 0,
    };
    if end.illegal() {
        // CSRs that every supervisor has (privileged specification, "Supervisor-Level ISA"): no hypervisor may remove
        // them.
        let must_have = [
            csr::SSTATUS,
            csr::SIE,
            csr::STVEC,
            csr::SSCRATCH,
            csr::SEPC,
            csr::SCAUSE,
            csr::STVAL,
            csr::SIP,
            csr::STIMECMP,
            csr::SATP,
            csr::TIME,
        ];
        if access == 0 && must_have.contains(&(csr as u16)) {
            progress.breach(format_args!(
                "CSR {csr:#x} is the guest's own and can't be read"
            ));
        }
        progress.trapped();
    } else if !mine {
        progress.breach(format_args!(
            "{name} of CSR {csr:#x} was not refused: cause {:#x} pc {:#x} t0 {:#x}",
            end.cause, end.pc, end.t0
        ));
    } else {
        progress.through();
    }
}

/// Index of register t1 in x1 to x31.
const T1: usize = 5;

/// `csrrs t0, csr, zero`.
const fn csrr(csr: u32) -> u32 {
    encode(csr, 2, 0, 5)
}

/// An instruction of the SYSTEM opcode.
const fn encode(immediate: u32, funct3: u32, rs1: u32, rd: u32) -> u32 {
    immediate << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x73
}

/// SYSTEM encodings that are no CSR access: returns, fences, the hypervisor's loads and stores, and all reserved ones.
fn system(progress: Progress, arena: &Arena, number: u32) {
    let immediate = number >> 2;
    let funct3 = (number >> 1 & 1) * 4;
    let with_registers = number & 1 == 1;
    let (rs1, rd) = if with_registers { (6, 5) } else { (0, 0) };
    // funct3 4 uses rs1 as an address in any case.
    let rs1 = if funct3 == 4 { 6 } else { rs1 };
    let instruction = encode(immediate, funct3, rs1, rd);
    let mut registers = arena.registers();
    // An `ecall` requests an extension that does not exist.
    registers[A7] = usize::MAX;
    for level in [Level::Supervisor, Level::User] {
        let end = arena.run(instruction, 4, level, &registers);
        let funct7 = immediate >> 5;
        let plain = funct3 == 0 && !with_registers;
        let allowed = end.illegal()
            // ecall, ebreak
            || plain && immediate <= 1
            // sret, wfi; in VU-mode the hypervisor may choose: wfi may wait a bounded time
            || plain && immediate == 0x102 && level == Level::Supervisor
            || plain && immediate == 0x105
            // wrs.nto, wrs.sto (Zawrs): waits that are bounded
            || plain && matches!(immediate, 0x00d | 0x01d)
            // May-be-operations (Zimop): no effect, or zero in a register
            || funct3 == 4 && immediate & 0xb00 == 0x800
            // sfence.vma, sinval.vma; sfence.w.inval, sfence.inval.ir
            || level == Level::Supervisor && funct3 == 0 && rd == 0 && matches!(funct7, 0x09 | 0x0b)
            || level == Level::Supervisor && plain && matches!(immediate, 0x180 | 0x181);
        if !allowed {
            progress.breach(format_args!(
                "{instruction:#010x} in {level:?} was not refused: cause {:#x} pc {:#x}",
                end.cause, end.pc
            ));
        }
        count(progress, end);
    }
}

/// Index of register a7 in x1 to x31.
const A7: usize = 16;

/// Whether a random word writes a CSR that the return to the program needs: those are tried one by one with care.
fn changes_the_way_back(word: u32) -> bool {
    let is_csr_access = word & 0x7f == 0x73 && word >> 12 & 3 != 0;
    is_csr_access
        && matches!(
            (word >> 20) as u16,
            csr::SSTATUS | csr::SIE | csr::STVEC | csr::STIMECMP | csr::SATP
        )
}
