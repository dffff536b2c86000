//! The registers of a hart as gdb knows them: numbers, sizes, and the description that gdb is given of them.
//!
//! Numbers are those that gdb has for RISC-V: 0 to 31 the integer registers, 32 `pc`, 33 to 64 the floating-point
//! registers, 65 + n the CSR n, 4161 the privilege level. 4162 is the virtualization mode, of which gdb knows nothing.

use std::fmt::Write;
use std::num::NonZeroUsize;

use gdbstub::arch::{Arch, RegId};
use gdbstub_arch::riscv::reg::RiscvCoreRegs;

use crate::privileged::number as csr;

/// A hart, as gdb's protocol has it.
pub enum Rv64 {}

impl Arch for Rv64 {
    type Usize = u64;
    type Registers = RiscvCoreRegs<u64>;
    type BreakpointKind = usize;
    type RegId = Number;
}

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// An integer register.
    X(usize),
    /// `pc`.
    Pc,
    /// A floating-point register.
    F(usize),
    /// A CSR.
    Csr(u16),
    /// The privilege level: 0, 1 or 3.
    Privilege,
    /// The virtualization mode: 0 or 1.
    Virtual,
}

impl Number {
    /// Its bytes in packets.
    pub const fn size(self) -> usize {
        match self {
            Self::Privilege | Self::Virtual => 1,
            Self::X(_) | Self::Pc | Self::F(_) | Self::Csr(_) => 8,
        }
    }
}

const PC: usize = 32;
const FIRST_F: usize = 33;
const FIRST_CSR: usize = 65;
const PRIVILEGE: usize = FIRST_CSR + 4096;
const VIRTUAL: usize = PRIVILEGE + 1;

impl RegId for Number {
    fn from_raw_id(id: usize) -> Option<(Self, Option<NonZeroUsize>)> {
        let number = match id {
            0..PC => Self::X(id),
            PC => Self::Pc,
            FIRST_F..FIRST_CSR => Self::F(id - FIRST_F),
            FIRST_CSR..PRIVILEGE => Self::Csr((id - FIRST_CSR) as u16),
            PRIVILEGE => Self::Privilege,
            VIRTUAL => Self::Virtual,
            _ => return None,
        };
        Some((number, NonZeroUsize::new(number.size())))
    }
}

/// The integer registers' names, with the type that gdb is to print each as.
pub const INTEGER: [(&str, &str); 32] = [
    ("zero", "int"),
    ("ra", "code_ptr"),
    ("sp", "data_ptr"),
    ("gp", "data_ptr"),
    ("tp", "data_ptr"),
    ("t0", "int"),
    ("t1", "int"),
    ("t2", "int"),
    ("fp", "data_ptr"),
    ("s1", "int"),
    ("a0", "int"),
    ("a1", "int"),
    ("a2", "int"),
    ("a3", "int"),
    ("a4", "int"),
    ("a5", "int"),
    ("a6", "int"),
    ("a7", "int"),
    ("s2", "int"),
    ("s3", "int"),
    ("s4", "int"),
    ("s5", "int"),
    ("s6", "int"),
    ("s7", "int"),
    ("s8", "int"),
    ("s9", "int"),
    ("s10", "int"),
    ("s11", "int"),
    ("t3", "int"),
    ("t4", "int"),
    ("t5", "int"),
    ("t6", "int"),
];

/// The floating-point registers' names.
const FLOAT: [&str; 32] = [
    "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2",
    "fa3", "fa4", "fa5", "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9",
    "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
];

/// Names of CSRs that have one of their own, `fcsr` and its parts aside.
const CSRS: [(&str, u16); 69] = [
    ("sstatus", csr::SSTATUS),
    ("sie", csr::SIE),
    ("stvec", csr::STVEC),
    ("scounteren", csr::SCOUNTEREN),
    ("senvcfg", csr::SENVCFG),
    ("sscratch", csr::SSCRATCH),
    ("sepc", csr::SEPC),
    ("scause", csr::SCAUSE),
    ("stval", csr::STVAL),
    ("sip", csr::SIP),
    ("stimecmp", csr::STIMECMP),
    ("satp", csr::SATP),
    ("vsstatus", csr::VSSTATUS),
    ("vsie", csr::VSIE),
    ("vstvec", csr::VSTVEC),
    ("vsscratch", csr::VSSCRATCH),
    ("vsepc", csr::VSEPC),
    ("vscause", csr::VSCAUSE),
    ("vstval", csr::VSTVAL),
    ("vsip", csr::VSIP),
    ("vstimecmp", csr::VSTIMECMP),
    ("vsatp", csr::VSATP),
    ("hstatus", csr::HSTATUS),
    ("hedeleg", csr::HEDELEG),
    ("hideleg", csr::HIDELEG),
    ("hie", csr::HIE),
    ("htimedelta", csr::HTIMEDELTA),
    ("hcounteren", csr::HCOUNTEREN),
    ("hgeie", csr::HGEIE),
    ("henvcfg", csr::HENVCFG),
    ("htval", csr::HTVAL),
    ("hip", csr::HIP),
    ("hvip", csr::HVIP),
    ("htinst", csr::HTINST),
    ("hgatp", csr::HGATP),
    ("hgeip", csr::HGEIP),
    ("mvendorid", csr::MVENDORID),
    ("marchid", csr::MARCHID),
    ("mimpid", csr::MIMPID),
    ("mhartid", csr::MHARTID),
    ("mconfigptr", csr::MCONFIGPTR),
    ("mstatus", csr::MSTATUS),
    ("misa", csr::MISA),
    ("medeleg", csr::MEDELEG),
    ("mideleg", csr::MIDELEG),
    ("mie", csr::MIE),
    ("mtvec", csr::MTVEC),
    ("mcounteren", csr::MCOUNTEREN),
    ("menvcfg", csr::MENVCFG),
    ("mcountinhibit", csr::MCOUNTINHIBIT),
    ("mscratch", csr::MSCRATCH),
    ("mepc", csr::MEPC),
    ("mcause", csr::MCAUSE),
    ("mtval", csr::MTVAL),
    ("mip", csr::MIP),
    ("mtinst", csr::MTINST),
    ("mtval2", csr::MTVAL2),
    ("pmpcfg0", csr::PMPCFG0),
    ("pmpcfg2", csr::PMPCFG2),
    ("tselect", csr::TSELECT),
    ("tdata1", csr::TDATA1),
    ("tdata2", csr::TDATA2),
    ("tdata3", csr::TDATA3),
    ("tinfo", csr::TINFO),
    ("mcycle", csr::MCYCLE),
    ("minstret", csr::MINSTRET),
    ("cycle", csr::CYCLE),
    ("time", csr::TIME),
    ("instret", csr::INSTRET),
];

/// All CSRs of a hart that the description has in its feature of CSRs, with their names.
fn csrs() -> impl Iterator<Item = (String, u16)> {
    let named = CSRS
        .iter()
        .map(|(name, number)| ((*name).to_owned(), *number));
    let row = |name: &'static str, first: u16, from: u16, to: u16| {
        (from..=to).map(move |index| (format!("{name}{index}"), first + (index - from)))
    };
    named
        .chain(row("pmpaddr", csr::PMPADDR0, 0, 15))
        .chain(row("mhpmevent", csr::MHPMEVENT3, 3, 31))
        .chain(row("mhpmcounter", csr::MHPMCOUNTER3, 3, 31))
        .chain(row("hpmcounter", csr::HPMCOUNTER3, 3, 31))
}

/// The number of the integer register of that name.
pub fn integer(name: &str) -> Option<usize> {
    INTEGER.iter().position(|(known, _)| *known == name)
}

/// The number of the floating-point register of that name.
pub fn float(name: &str) -> Option<usize> {
    FLOAT.iter().position(|known| *known == name)
}

/// The number of the CSR of that name, `fcsr` and its parts included.
pub fn csr(name: &str) -> Option<u16> {
    let parts = [
        ("fflags", csr::FFLAGS),
        ("frm", csr::FRM),
        ("fcsr", csr::FCSR),
    ];
    let known = parts.map(|(name, number)| (name.to_owned(), number));
    let mut all = known.into_iter().chain(csrs());
    all.find_map(|(known, number)| (known == name).then_some(number))
}

/// The description of a hart's registers (gdb's manual, "RISC-V Features").
pub fn description() -> String {
    let mut xml = String::from(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n\
         <architecture>riscv:rv64</architecture>\n<feature name=\"org.gnu.gdb.riscv.cpu\">\n",
    );
    let register = |xml: &mut String,
                    name: &str,
                    bits: u32,
                    kind: &str,
                    number: usize,
                    rest: &str| {
        // Writing to a string does not fail.
        let _ = writeln!(
            xml,
            "<reg name=\"{name}\" bitsize=\"{bits}\" type=\"{kind}\" regnum=\"{number}\"{rest}/>"
        );
    };
    for (number, (name, kind)) in INTEGER.iter().enumerate() {
        register(&mut xml, name, 64, kind, number, "");
    }
    register(&mut xml, "pc", 64, "code_ptr", PC, "");
    xml.push_str(
        "</feature>\n<feature name=\"org.gnu.gdb.riscv.fpu\">\n<union id=\"riscv_double\">\
         <field name=\"float\" type=\"ieee_single\"/><field name=\"double\" type=\"ieee_double\"/></union>\n",
    );
    for (index, name) in FLOAT.iter().enumerate() {
        register(&mut xml, name, 64, "riscv_double", FIRST_F + index, "");
    }
    for (name, number) in [
        ("fflags", csr::FFLAGS),
        ("frm", csr::FRM),
        ("fcsr", csr::FCSR),
    ] {
        register(
            &mut xml,
            name,
            64,
            "int",
            FIRST_CSR + usize::from(number),
            " group=\"float\"",
        );
    }
    xml.push_str("</feature>\n<feature name=\"org.gnu.gdb.riscv.virtual\">\n");
    register(
        &mut xml,
        "priv",
        8,
        "uint8",
        PRIVILEGE,
        " save-restore=\"no\" group=\"general\"",
    );
    register(
        &mut xml,
        "virt",
        8,
        "uint8",
        VIRTUAL,
        " save-restore=\"no\" group=\"general\"",
    );
    xml.push_str("</feature>\n<feature name=\"org.gnu.gdb.riscv.csr\">\n");
    for (name, number) in csrs() {
        // What gdb puts back after a call of a function in the guest is not to hold counters back.
        register(
            &mut xml,
            &name,
            64,
            "int",
            FIRST_CSR + usize::from(number),
            " save-restore=\"no\" group=\"csr\"",
        );
    }
    xml.push_str("</feature>\n</target>\n");
    xml
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privileged::{Counters, Privileged};
    use std::collections::BTreeSet;

    #[test]
    fn the_description_has_every_csr_of_a_hart_once() {
        let described: Vec<u16> = csrs().map(|(_, number)| number).chain([1, 2, 3]).collect();
        let once: BTreeSet<u16> = described.iter().copied().collect();
        assert_eq!(once.len(), described.len());
        let hart = Privileged::new(0);
        let there: BTreeSet<u16> = (0..4096)
            .filter(|&number| hart.peek(number, &Counters::ZERO, 0).is_some())
            .collect();
        assert_eq!(once, there);
    }

    #[test]
    fn every_number_of_the_description_names_a_register() {
        let text = description();
        let numbers: Vec<usize> = text
            .split("regnum=\"")
            .skip(1)
            .map(|rest| {
                rest.split('"')
                    .next()
                    .and_then(|number| number.parse().ok())
                    .expect("a number")
            })
            .collect();
        assert!(numbers.len() > 200);
        for number in numbers {
            assert!(Number::from_raw_id(number).is_some(), "{number}");
        }
    }
}
