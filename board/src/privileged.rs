//! The privileged architecture of one hart: modes, CSRs, traps, interrupts, address translation, PMP and counters.
//!
//! This module follows "The RISC-V Instruction Set Manual, Volume II: Privileged Architecture", 20211203 (section
//! numbers in the documentation below are this document's), the hypervisor extension of its chapter 8, and the
//! ratified extensions Sstc (timer compare registers for S and VS) and Svadu (accessed and dirty bits kept by
//! hardware, switched by `menvcfg.ADUE` and `henvcfg.ADUE`). Zicbom, Zicbop and Zicboz (1.0) are there where the
//! profile has them ([`Extensions`]). There are 16 PMP entries with a granularity of 4 bytes, no
//! guest external interrupts (GEILEN is 0), ASIDs of 16 and VMIDs of 14 bits, and all widths are 64 bits.
//!
//! [`Privileged`] is state and rules alone. It executes nothing, knows no memory but that which is handed to
//! [`Privileged::translate`], and keeps no time: the executor of instructions passes the running counts and the
//! levels of the interrupt wires at each call.
//!
//! Where the specification leaves a choice, the choice is that of QEMU's `virt` machine, so that software finds the
//! same hart on both:
//!
//! * `misa` has no bit B; the identification registers are 0;
//! * `menvcfg.ADUE` is 1 after reset, `henvcfg.ADUE` is 0;
//! * a write of the reserved value to `mstatus.MPP` leaves it as it was, and one of a reserved mode to `mtvec`, `stvec`
//!   or `vstvec` leaves the whole register;
//! * `ebreak` gives its address in the trap value, illegal and virtual instructions their bits;
//! * `mtinst` and `htinst` describe the instruction of every trap about a load or store, whatever the mode that it
//!   comes from.
//!
//! Where the two are at odds, the specification's word counts. Comparisons with QEMU 10.0 have to leave out:
//!
//! * accesses of VU-mode to supervisor CSRs, `sret` of VU-mode, `wfi` of VU-mode with `mstatus.TW`, `sret` of VS-mode
//!   with `mstatus.TSR`;
//! * GVA: QEMU sets that of `mstatus` by whether V=1 and the trap value is not 0, does not set it for breakpoints of
//!   guests, and changes that of `hstatus` in traps that HS-mode does not see;
//! * fields that QEMU does not confine: UXL, `vsstatus`, `hstatus`, `hgatp`, bit 0 of `mepc` and `sepc`, the upper bits
//!   of `mie` and `pmpaddr`, writable without readable in `pmpcfg`, delegation of exceptions and interrupts that cannot
//!   be; writes to `htinst`, which it ignores; events of counters;
//! * bit 12 of `mideleg`, `mie` and `hie`, which QEMU has although there are no guest external interrupts;
//! * walks through tables that are not in memory (an access fault), and updates of A and D bits in tables that the
//!   second stage or PMP lets only be read (a guest-page fault with the pseudoinstruction of a write, an access fault);
//! * `mstatus.MXR` in walks through tables of the first stage, to which QEMU applies it; `henvcfg.ADUE` in HLV, HSV and
//!   by MPRV, to which it does not;
//! * HLVX, whose faults QEMU reports as those of fetches, and which it does not let reach U's pages by SUM;
//! * bit D of second-stage entries of pages in which first-stage entries are marked, which QEMU does not set;
//! * which of several pending interrupts is taken: QEMU takes the lowest number.

mod access;
mod cache_blocks;
mod counters;
mod fields;
mod instruction;
mod interrupt;
pub mod number;
mod pmp;
mod translation;
mod trap;

pub use access::{CsrOperation, Effects};
pub use cache_blocks::{BlockOperation, Extensions};
pub use counters::{Counters, Event};
pub use fields::{hstatus, interrupts, mstatus};
pub use instruction::{Fence, transformed};
pub use interrupt::{Interrupt, Target};
pub use pmp::Rights;
pub use translation::{Access, Context, PageTables, Translation};

use counters::Counter;
use pmp::Pmp;
use serde::{Deserialize, Serialize};

/// A privilege level (section 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Privilege {
    /// U, or VU when virtualized.
    User = 0,
    /// HS, or VS when virtualized.
    Supervisor = 1,
    /// M.
    Machine = 3,
}

impl Privilege {
    /// The level of a two-bit field; 2, which is reserved, counts as U. The fields never hold it.
    const fn from_field(field: u64) -> Self {
        match field & 3 {
            3 => Self::Machine,
            1 => Self::Supervisor,
            _ => Self::User,
        }
    }
}

/// The mode of a hart: a privilege level, and whether it is virtualized (section 8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mode {
    /// The nominal privilege level.
    pub privilege: Privilege,
    /// The virtualization mode V. Never set in M-mode.
    pub v: bool,
}

impl Mode {
    /// M-mode.
    pub const MACHINE: Self = Self {
        privilege: Privilege::Machine,
        v: false,
    };
    /// HS-mode.
    pub const SUPERVISOR: Self = Self {
        privilege: Privilege::Supervisor,
        v: false,
    };
    /// U-mode.
    pub const USER: Self = Self {
        privilege: Privilege::User,
        v: false,
    };
    /// VS-mode.
    pub const VIRTUAL_SUPERVISOR: Self = Self {
        privilege: Privilege::Supervisor,
        v: true,
    };
    /// VU-mode.
    pub const VIRTUAL_USER: Self = Self {
        privilege: Privilege::User,
        v: true,
    };
}

/// The exceptions, by their codes (sections 3.1.15 and 8.6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are the tables'")]
pub enum Exception {
    InstructionAddressMisaligned = 0,
    InstructionAccessFault = 1,
    IllegalInstruction = 2,
    Breakpoint = 3,
    LoadAddressMisaligned = 4,
    LoadAccessFault = 5,
    StoreAddressMisaligned = 6,
    StoreAccessFault = 7,
    UserEnvironmentCall = 8,
    SupervisorEnvironmentCall = 9,
    VirtualSupervisorEnvironmentCall = 10,
    MachineEnvironmentCall = 11,
    InstructionPageFault = 12,
    LoadPageFault = 13,
    StorePageFault = 15,
    InstructionGuestPageFault = 20,
    LoadGuestPageFault = 21,
    VirtualInstruction = 22,
    StoreGuestPageFault = 23,
}

impl Exception {
    /// Whether it is about an explicit load, store or atomic of the trapping instruction: what `mtinst` and `htinst`
    /// describe by the transformed instruction (section 8.6.3).
    #[must_use]
    pub const fn of_data_access(self) -> bool {
        matches!(
            self,
            Self::LoadAddressMisaligned
                | Self::LoadAccessFault
                | Self::StoreAddressMisaligned
                | Self::StoreAccessFault
                | Self::LoadPageFault
                | Self::StorePageFault
                | Self::LoadGuestPageFault
                | Self::StoreGuestPageFault
        )
    }
}

/// A synchronous exception and what is to be known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Trap {
    /// Which one.
    pub cause: Exception,
    /// For `mtval`, `stval` or `vstval`: an address, the instruction's bits, or 0.
    pub value: u64,
    /// For `mtval2` or `htval`: of a guest-page fault the guest physical address, shifted right by 2; else 0.
    pub value2: u64,
    /// For `mtinst` or `htinst`: the transformed instruction, a pseudoinstruction, or 0 (section 8.6.3).
    pub instruction: u64,
    /// Whether `value` is a guest virtual address: the field GVA.
    pub guest_address: bool,
}

impl Trap {
    /// A trap with nothing but its cause and value.
    #[must_use]
    pub const fn new(cause: Exception, value: u64) -> Self {
        Self {
            cause,
            value,
            value2: 0,
            instruction: 0,
            guest_address: false,
        }
    }

    /// An illegal-instruction exception of the instruction `bits`: its trap value, of which only 16 count where it
    /// is compressed.
    #[must_use]
    pub const fn illegal(bits: u32) -> Self {
        Self::of_instruction(Exception::IllegalInstruction, bits)
    }

    /// A virtual-instruction exception of the instruction `bits`.
    #[must_use]
    pub const fn virtual_instruction(bits: u32) -> Self {
        Self::of_instruction(Exception::VirtualInstruction, bits)
    }

    const fn of_instruction(cause: Exception, bits: u32) -> Self {
        Self::new(
            cause,
            if bits & 3 == 3 { bits } else { bits & 0xffff } as u64,
        )
    }

    /// The same trap, with the trapping load, store or atomic described by its transformed instruction (section
    /// 8.6.3). `bits` are the instruction's, `offset` the distance in bytes from the address that it computed to the
    /// one that faulted: not 0 only in the later part of a misaligned access. Traps that are not about an explicit data
    /// access, and faults of page-table walks that describe themselves, stay as they are.
    #[must_use]
    pub fn by(mut self, bits: u32, offset: u64) -> Self {
        if self.instruction == 0 && self.cause.of_data_access() {
            self.instruction = transformed(bits, offset);
        }
        self
    }
}

/// The privileged state of a hart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Privileged {
    /// The mode of the hart. Changed by traps and by [`mret`](Self::mret) and [`sret`](Self::sret); a debugger may
    /// set it.
    pub mode: Mode,
    /// What the hart's profile adds to the instruction set; no part of a snapshot.
    #[serde(skip)]
    extensions: Extensions,
    hart_id: u64,
    /// `fcsr`: bits 4:0 the accrued flags, 7:5 the rounding mode.
    fcsr: u32,
    mcounteren: u32,
    scounteren: u32,
    hcounteren: u32,
    mcountinhibit: u32,
    /// Without SD, SXL and UXL, which are computed. `sstatus` is part of it.
    mstatus: u64,
    /// As `mstatus`.
    vsstatus: u64,
    /// Without VSXL.
    hstatus: u64,
    /// All of them; `sie`, `hie` and `vsie` are parts.
    mie: u64,
    /// Bits set by software: SSIP, STIP and SEIP as written through `mip` and `sip`.
    software: u64,
    /// VSSIP, VSTIP and VSEIP.
    hvip: u64,
    medeleg: u64,
    /// Without the bits of the VS-level interrupts, which are always set.
    mideleg: u64,
    hedeleg: u64,
    hideleg: u64,
    menvcfg: u64,
    senvcfg: u64,
    henvcfg: u64,
    mtvec: u64,
    mscratch: u64,
    mepc: u64,
    mcause: u64,
    mtval: u64,
    mtval2: u64,
    mtinst: u64,
    stvec: u64,
    sscratch: u64,
    sepc: u64,
    scause: u64,
    stval: u64,
    satp: u64,
    stimecmp: u64,
    htval: u64,
    htinst: u64,
    hgatp: u64,
    htimedelta: u64,
    vstvec: u64,
    vsscratch: u64,
    vsepc: u64,
    vscause: u64,
    vstval: u64,
    vsatp: u64,
    vstimecmp: u64,
    pmp: Pmp,
    cycle: Counter,
    instret: Counter,
    hpm: [Counter; 29],
    hpm_events: [u8; 29],
}

impl Privileged {
    /// The state after reset (section 3.4) of the hart with this `mhartid`, without optional extensions.
    #[must_use]
    pub fn new(hart_id: u64) -> Self {
        Self {
            mode: Mode::MACHINE,
            extensions: Extensions::default(),
            hart_id,
            fcsr: 0,
            mcounteren: 0,
            scounteren: 0,
            hcounteren: 0,
            mcountinhibit: 0,
            mstatus: 0,
            vsstatus: 0,
            hstatus: 0,
            mie: 0,
            software: 0,
            hvip: 0,
            medeleg: 0,
            mideleg: 0,
            hedeleg: 0,
            hideleg: 0,
            menvcfg: fields::envcfg::ADUE,
            senvcfg: 0,
            henvcfg: 0,
            mtvec: 0,
            mscratch: 0,
            mepc: 0,
            mcause: 0,
            mtval: 0,
            mtval2: 0,
            mtinst: 0,
            stvec: 0,
            sscratch: 0,
            sepc: 0,
            scause: 0,
            stval: 0,
            satp: 0,
            stimecmp: 0,
            htval: 0,
            htinst: 0,
            hgatp: 0,
            htimedelta: 0,
            vstvec: 0,
            vsscratch: 0,
            vsepc: 0,
            vscause: 0,
            vstval: 0,
            vsatp: 0,
            vstimecmp: 0,
            pmp: Pmp::default(),
            cycle: Counter::default(),
            instret: Counter::default(),
            hpm: [Counter::default(); 29],
            hpm_events: [0; 29],
        }
    }

    /// The same hart with these optional extensions.
    #[must_use]
    pub fn with(self, extensions: Extensions) -> Self {
        Self { extensions, ..self }
    }

    /// The optional extensions that the hart has.
    #[must_use]
    pub const fn extensions(&self) -> Extensions {
        self.extensions
    }

    /// Brings a state that was read from outside into one that a hart with these extensions can have.
    pub(crate) fn settle(&mut self, extensions: Extensions) {
        self.mode.v &= self.mode.privilege != Privilege::Machine;
        self.extensions = extensions;
        let absent = fields::envcfg::CBIE | fields::envcfg::CBCFE | fields::envcfg::CBZE;
        let absent = absent & !extensions.environment();
        for register in [&mut self.menvcfg, &mut self.senvcfg, &mut self.henvcfg] {
            *register &= !absent;
        }
    }

    /// Whether floating-point instructions may execute now: `mstatus.FS` is not Off, nor `vsstatus.FS` when V=1
    /// (sections 3.1.6.6 and 8.2.11).
    #[inline]
    #[must_use]
    pub const fn float_enabled(&self) -> bool {
        self.mstatus & mstatus::FS != 0 && (!self.mode.v || self.vsstatus & mstatus::FS != 0)
    }

    /// Notes that floating-point state changed: FS becomes Dirty, that of `vsstatus` too when V=1.
    #[inline]
    pub const fn dirty_float(&mut self) {
        self.mstatus |= mstatus::FS;
        if self.mode.v {
            self.vsstatus |= mstatus::FS;
        }
    }

    /// Whether [`dirty_float`](Self::dirty_float) would change nothing.
    #[inline]
    #[must_use]
    pub const fn float_dirty(&self) -> bool {
        self.mstatus & mstatus::FS == mstatus::FS
            && (!self.mode.v || self.vsstatus & mstatus::FS == mstatus::FS)
    }

    /// The dynamic rounding mode, 0 to 7; 5 to 7 are reserved, and instructions that use them are illegal.
    #[inline]
    #[must_use]
    pub const fn frm(&self) -> u8 {
        (self.fcsr >> 5) as u8
    }

    /// The accrued exception flags: NV, DZ, OF, UF, NX in bits 4 to 0.
    #[inline]
    #[must_use]
    pub const fn fflags(&self) -> u8 {
        self.fcsr as u8 & 0x1f
    }

    /// Accrues flags of an operation, and notes that floating-point state changed.
    #[inline]
    pub const fn accrue_fflags(&mut self, flags: u8) {
        self.fcsr |= flags as u32 & 0x1f;
        self.dirty_float();
    }

    /// Whether `fence` orders device accesses as it does memory accesses, by the FIOM bits of `menvcfg`, `senvcfg` and
    /// `henvcfg` (section 3.1.18).
    #[must_use]
    pub const fn fence_covers_devices(&self) -> bool {
        let fiom = fields::envcfg::FIOM;
        match self.mode.privilege {
            Privilege::Machine => false,
            Privilege::Supervisor => {
                (self.menvcfg | if self.mode.v { self.henvcfg } else { 0 }) & fiom != 0
            }
            Privilege::User => {
                (self.menvcfg | self.senvcfg | if self.mode.v { self.henvcfg } else { 0 }) & fiom
                    != 0
            }
        }
    }
}
