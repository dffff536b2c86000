//! Why an instruction is illegal in a guest, in words.

use std::path::Path;

use tactus_board::decode::{Operation, decode};

use crate::report::cause;
use crate::run::record::Fault;
use crate::symbols::Symbols;

/// `mret`, which returns from a trap to M-mode, and others that only exist at a level that no guest has.
const MRET: u32 = 0x3020_0073;
const DRET: u32 = 0x7b20_0073;
/// Code that was never written, and memory that was erased.
const NOTHING: [u32; 2] = [0, u32::MAX];

/// An illegal instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Illegal {
    /// As GNU `objdump` shows it, with the name of its CSR; its bits, where it is unknown.
    pub text: String,
    /// Why it is illegal.
    pub reason: String,
    /// What to do about it.
    pub cure: &'static str,
}

impl Illegal {
    /// Of a fault, if it is an illegal instruction whose bits are known.
    pub fn of(fault: &Fault) -> Option<Self> {
        let bits = u32::try_from(fault.instruction).ok();
        let bits = bits.filter(|bits| fault.cause == ILLEGAL_INSTRUCTION && *bits != 0);
        bits.map(|bits| illegal(bits, fault.pc))
    }
}

/// `scause` of an illegal instruction.
const ILLEGAL_INSTRUCTION: u64 = 2;
/// What the hypervisor calls an exception of a guest that has never set `stvec`.
const NO_TRAP_HANDLER: &str = "no-trap-handler";

/// Explains the first fault of each VM, as far as there is more to say than its record does. `image_of` gives the file
/// of a VM's image, for its symbols.
pub fn explanations<'i>(faults: &[Fault], image_of: impl Fn(&str) -> Option<&'i Path>) -> String {
    let mut text = String::new();
    for (index, fault) in faults.iter().enumerate() {
        let vm = &fault.vm;
        if faults[..index].iter().any(|before| before.vm == *vm) {
            continue;
        }
        let symbol = image_of(vm).and_then(|path| std::fs::read(path).ok());
        let symbol = symbol.and_then(|bytes| Symbols::of(&bytes).place(fault.pc));
        let symbol = symbol.map_or_else(String::new, |symbol| format!(", in {symbol}"));
        let (pc, cause) = (fault.pc, cause(fault.cause));
        match Illegal::of(fault) {
            Some(illegal) => {
                text += &format!(
                    "VM `{vm}`: {cause} `{}` at pc {pc:#x}{symbol}: {}\n  help: {}\n",
                    illegal.text, illegal.reason, illegal.cure
                );
            }
            None if fault.why == NO_TRAP_HANDLER => {
                text += &format!(
                    "VM `{vm}`: {cause} at pc {pc:#x}{symbol}, address {:#x}, before it has set a trap handler (`stvec`)\n",
                    fault.address
                );
            }
            None => {}
        }
    }
    text
}

/// Of a guest that was made for the machine itself.
const FOR_SUPERVISOR: &str = "build the guest for S-mode: firmware and hypervisor do what M-mode is for, and answer SBI calls (docs/src/how-to/write-a-guest.md)";
/// Of an instruction of an extension.
const WITHOUT_EXTENSION: &str =
    "build the guest for RV64GC with Zba, Zbb and Zbs at most (`-march=rv64gc_zba_zbb_zbs`)";
/// The extensions of `cbo.*`.
const CACHE_BLOCKS: &str = "Zicbom or Zicboz (cache blocks)";
const CONFIGURE: &str = "enable it before its first use, in `sstatus`";
const DEBUG: &str = "look at what leads there: a wrong jump, a damaged image or stack";

/// Why these bits are illegal for a guest in VS-mode, where it executes them at that address.
pub fn illegal(bits: u32, pc: u64) -> Illegal {
    let Some(instruction) = decode(bits) else {
        return undecoded(bits);
    };
    let mut text = instruction.at(pc).to_string();
    let number = instruction.immediate as u16;
    let (reason, cure) = match instruction.operation {
        Operation::Csrrw
        | Operation::Csrrs
        | Operation::Csrrc
        | Operation::Csrrwi
        | Operation::Csrrsi
        | Operation::Csrrci => {
            let name = csr_name(number);
            text = text.replacen(&format!("{number:#x}"), &name, 1);
            of_csr(number, &name)
        }
        _ if bits == MRET => (
            "returns from M-mode; guests run in S-mode".to_owned(),
            FOR_SUPERVISOR,
        ),
        operation if is_of_hypervisor(operation) => (
            "instruction of the hypervisor extension; guests run without it".to_owned(),
            FOR_SUPERVISOR,
        ),
        operation if operation.mnemonic().starts_with("cbo.") => (
            format!(
                "instruction of the extension {CACHE_BLOCKS}, which the guest's harts do not have, or which its kernel \
                 has not enabled (`senvcfg`)"
            ),
            WITHOUT_EXTENSION,
        ),
        operation if is_floating_point(operation) => {
            ("floating point is off (`sstatus.FS`)".to_owned(), CONFIGURE)
        }
        _ => (
            "not allowed at this level or in this state".to_owned(),
            DEBUG,
        ),
    };
    Illegal { text, reason, cure }
}

/// Bits that the board, and so a guest, has no instruction for.
fn undecoded(bits: u32) -> Illegal {
    let is_compressed = bits & 3 != 3;
    let text = if is_compressed {
        format!("{:#06x}", bits & 0xffff)
    } else {
        format!("{bits:#010x}")
    };
    let illegal = |reason: &str, cure| Illegal {
        text: text.clone(),
        reason: reason.to_owned(),
        cure,
    };
    if NOTHING.contains(&bits) || bits & 0xffff == 0 {
        return illegal("there is no code at this address", DEBUG);
    }
    if bits == DRET {
        return Illegal {
            text: "dret".to_owned(),
            reason: "returns from debug mode; guests run in S-mode".to_owned(),
            cure: FOR_SUPERVISOR,
        };
    }
    match extension(bits) {
        Some(extension) => illegal(
            &format!(
                "instruction of the extension {extension}, which the guest's harts do not have"
            ),
            WITHOUT_EXTENSION,
        ),
        None => illegal(
            "no instruction of RV64GC, Zba, Zbb or Zbs",
            "look at what leads there, or build the guest for RV64GC (`-march=rv64gc`)",
        ),
    }
}

/// The extension that an instruction which the board does not have belongs to, as far as its encoding tells.
fn extension(bits: u32) -> Option<&'static str> {
    let (funct3, funct7) = (bits >> 12 & 7, bits >> 25);
    Some(match bits & 0x7f {
        _ if bits & 3 != 3 => match (bits & 3, bits >> 13 & 7) {
            (0, 4) | (1, 4) => "Zcb",
            _ => return None,
        },
        0x57 | 0x77 => "V (vector)",
        // Loads and stores of vectors have the widths that floating point does not use.
        0x07 | 0x27 => match funct3 {
            0 | 5 | 6 | 7 => "V (vector)",
            1 => "Zfh (half precision)",
            4 => "Q (quadruple precision)",
            _ => return None,
        },
        0x43 | 0x47 | 0x4b | 0x4f | 0x53 => match bits >> 25 & 3 {
            2 => "Zfh (half precision)",
            3 => "Q (quadruple precision)",
            _ => "Zfa",
        },
        0x33 => match (funct7, funct3) {
            (0x05, 1..=3) => "Zbc (carry-less multiplication)",
            (0x07, 5 | 7) => "Zicond",
            (0x04, 4 | 7) => "Zbkb",
            (0x14, 2 | 4) => "Zbkx",
            (0x19..=0x1f, 0) => "Zknd or Zkne (AES)",
            _ => return None,
        },
        0x3b if (funct7, funct3) == (0x04, 4) => "Zbkb",
        0x13 if funct3 == 5 && bits >> 20 == 0x687 => "Zbkb",
        0x13 if funct3 == 1 && bits >> 25 == 0x08 => "Zknh or Zksh",
        0x0f if funct3 == 2 => CACHE_BLOCKS,
        0x2f => match (bits >> 27, funct3) {
            (0x05, 2..=4) => "Zacas",
            (_, 0 | 1) => "Zabha",
            _ => return None,
        },
        0x73 => match bits {
            0x00d0_0073 | 0x01d0_0073 => "Zawrs",
            _ if matches!(funct7, 0x0b | 0x0c | 0x13 | 0x33) && funct3 == 0 => "Svinval",
            _ => return None,
        },
        0x0b | 0x2b | 0x5b | 0x7b => "of the processor's maker (custom opcodes)",
        _ => return None,
    })
}

fn is_of_hypervisor(operation: Operation) -> bool {
    let name = operation.mnemonic();
    ["hfence.", "hlv", "hsv."]
        .iter()
        .any(|begin| name.starts_with(begin))
}

fn is_floating_point(operation: Operation) -> bool {
    let name = operation.mnemonic();
    name.starts_with('f') && !name.starts_with("fence")
}

/// Why a CSR cannot be had.
fn of_csr(number: u16, name: &str) -> (String, &'static str) {
    // Bits 9:8 are the lowest level that may access it (Volume II, 20211203, section 2.1).
    match number >> 8 & 3 {
        _ if matches!(number, 0x7a0..=0x7bf) => (
            format!("debug CSR `{name}`; guests run in S-mode"),
            FOR_SUPERVISOR,
        ),
        3 => (
            format!("M-mode CSR `{name}`; guests run in S-mode"),
            FOR_SUPERVISOR,
        ),
        2 => (
            format!("CSR `{name}` of the hypervisor extension; guests run without it"),
            FOR_SUPERVISOR,
        ),
        _ if matches!(number, 0x008..=0x00f | 0xc20..=0xc22) => (
            format!(
                "CSR `{name}` of the extension V (vector), which the guest's harts do not have"
            ),
            WITHOUT_EXTENSION,
        ),
        _ if matches!(number, 0x001..=0x003) => {
            ("floating point is off (`sstatus.FS`)".to_owned(), CONFIGURE)
        }
        _ if matches!(number, 0xc00 | 0xc02) => (
            format!("counter `{name}`, which counts what the hart does for other VMs, too"),
            "use `time`, or write `counters = true` in the VM's table",
        ),
        _ if number >> 10 == 3 => (
            format!("CSR `{name}` is read-only, or not to be read at this level"),
            "read it only, and only where the level above allows it (`scounteren`)",
        ),
        _ => (
            format!("there is no CSR `{name}` for guests"),
            "ask the devicetree what the harts have (`riscv,isa-extensions`)",
        ),
    }
}

/// The name of a CSR, or its number.
fn csr_name(number: u16) -> String {
    let numbered = |begin: &str, first: u16| format!("{begin}{}", number - first);
    let name = match number {
        0x001 => "fflags",
        0x002 => "frm",
        0x003 => "fcsr",
        0x008 => "vstart",
        0x009 => "vxsat",
        0x00a => "vxrm",
        0x00f => "vcsr",
        0x015 => "seed",
        0xc20 => "vl",
        0xc21 => "vtype",
        0xc22 => "vlenb",
        0xc00 => "cycle",
        0xc01 => "time",
        0xc02 => "instret",
        0xc03..=0xc1f => return numbered("hpmcounter", 0xc00),
        0x100 => "sstatus",
        0x104 => "sie",
        0x105 => "stvec",
        0x106 => "scounteren",
        0x10a => "senvcfg",
        0x10c..=0x10f => return numbered("sstateen", 0x10c),
        0x140 => "sscratch",
        0x141 => "sepc",
        0x142 => "scause",
        0x143 => "stval",
        0x144 => "sip",
        0x14d => "stimecmp",
        0x150 => "siselect",
        0x151 => "sireg",
        0x15c => "stopei",
        0xdb0 => "stopi",
        0x180 => "satp",
        0x5a8 => "scontext",
        0x200 => "vsstatus",
        0x204 => "vsie",
        0x205 => "vstvec",
        0x240 => "vsscratch",
        0x241 => "vsepc",
        0x242 => "vscause",
        0x243 => "vstval",
        0x244 => "vsip",
        0x24d => "vstimecmp",
        0x280 => "vsatp",
        0x600 => "hstatus",
        0x602 => "hedeleg",
        0x603 => "hideleg",
        0x604 => "hie",
        0x605 => "htimedelta",
        0x606 => "hcounteren",
        0x607 => "hgeie",
        0x60a => "henvcfg",
        0x643 => "htval",
        0x644 => "hip",
        0x645 => "hvip",
        0x64a => "htinst",
        0x680 => "hgatp",
        0xe12 => "hgeip",
        0xf11 => "mvendorid",
        0xf12 => "marchid",
        0xf13 => "mimpid",
        0xf14 => "mhartid",
        0xf15 => "mconfigptr",
        0x300 => "mstatus",
        0x301 => "misa",
        0x302 => "medeleg",
        0x303 => "mideleg",
        0x304 => "mie",
        0x305 => "mtvec",
        0x306 => "mcounteren",
        0x30a => "menvcfg",
        0x30c..=0x30f => return numbered("mstateen", 0x30c),
        0x320 => "mcountinhibit",
        0x323..=0x33f => return numbered("mhpmevent", 0x320),
        0x340 => "mscratch",
        0x341 => "mepc",
        0x342 => "mcause",
        0x343 => "mtval",
        0x344 => "mip",
        0x34a => "mtinst",
        0x34b => "mtval2",
        0x3a0..=0x3af => return numbered("pmpcfg", 0x3a0),
        0x3b0..=0x3ef => return numbered("pmpaddr", 0x3b0),
        0x744 => "mnstatus",
        0x747 => "mseccfg",
        0x7a0 => "tselect",
        0x7a1..=0x7a3 => return numbered("tdata", 0x7a0),
        0x7a4 => "tinfo",
        0x7b0 => "dcsr",
        0x7b1 => "dpc",
        0xb00 => "mcycle",
        0xb02 => "minstret",
        0xb03..=0xb1f => return numbered("mhpmcounter", 0xb00),
        _ => return format!("{number:#x}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reasons_are_told() {
        for (bits, text, reason) in [
            (
                0x3002_9073,
                "csrrw x0,mstatus,x5",
                "M-mode CSR `mstatus`; guests run in S-mode",
            ),
            (
                0xf140_2573,
                "csrrs x10,mhartid,x0",
                "M-mode CSR `mhartid`; guests run in S-mode",
            ),
            (
                0x3b00_9073,
                "csrrw x0,pmpaddr0,x1",
                "M-mode CSR `pmpaddr0`; guests run in S-mode",
            ),
            (MRET, "mret", "returns from M-mode; guests run in S-mode"),
            (
                0x6000_2573,
                "csrrs x10,hstatus,x0",
                "CSR `hstatus` of the hypervisor extension; guests run without it",
            ),
            (
                0x6200_0073,
                "hfence.gvma x0,x0",
                "instruction of the hypervisor extension; guests run without it",
            ),
            (
                0xc000_2573,
                "csrrs x10,cycle,x0",
                "counter `cycle`, which counts what the hart does for other VMs, too",
            ),
            (
                0x0a55_1533,
                "0x0a551533",
                "instruction of the extension Zbc (carry-less multiplication), which the guest's harts do not have",
            ),
            (
                0x0d05_7557,
                "0x0d057557",
                "instruction of the extension V (vector), which the guest's harts do not have",
            ),
            (
                0x0045_a00f,
                "cbo.zero (x11)",
                "instruction of the extension Zicbom or Zicboz (cache blocks), which the guest's harts do not have, or which its \
                 kernel has not enabled (`senvcfg`)",
            ),
            (0, "0x0000", "there is no code at this address"),
            (
                0x0000_7553,
                "fadd.s f10,f0,f0",
                "floating point is off (`sstatus.FS`)",
            ),
        ] {
            let illegal = illegal(bits, 0x8020_0000);
            assert_eq!(
                (illegal.text.as_str(), illegal.reason.as_str()),
                (text, reason),
                "{bits:#x}"
            );
        }
    }

    proptest! {
        #[test]
        fn every_word_has_a_reason(bits: u32) {
            let illegal = illegal(bits, 0x8020_0000);
            prop_assert!(!illegal.text.is_empty() && !illegal.reason.is_empty());
        }
    }
}
