//! CSR accesses: which are allowed (sections 2.1 and 8.6.1), what they read, and what a write changes.

use super::fields::{HEDELEG, MEDELEG, envcfg, hstatus, interrupts, mstatus};
use super::number as csr;
use super::{Counters, Exception, Privilege, Privileged, Trap};
use bitflags::bitflags;

/// The operation of a CSR instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CsrOperation {
    /// Writes it: `csrrw`, `csrrwi`.
    Write,
    /// Sets its bits: `csrrs`, `csrrsi`.
    Set,
    /// Clears its bits: `csrrc`, `csrrci`.
    Clear,
}

bitflags! {
    /// The effects of a CSR write beyond the register.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Effects: u8 {
        /// Contexts of translation: [`Privileged::fetch_context`], [`Privileged::data_context`] or
        /// [`Privileged::hypervisor_context`] may differ now.
        const TRANSLATION = 1;
        /// The results of translations in equal contexts: all cached ones are invalid.
        const FLUSH = 2;
        /// Which interrupt is to be taken.
        const INTERRUPTS = 4;
        /// Whether floating-point instructions may execute, or the dynamic rounding mode.
        const FLOAT = 8;
        /// When the next timer interrupt becomes pending.
        const TIMER = 16;
    }
}

/// `misa`: 64 bits; A, C, D, F, H, I, M, S, U (section 3.1.1).
const MISA: u64 =
    2 << 62 | 1 << 0 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 18 | 1 << 20;

/// `tinfo` where no trigger exists.
const NO_TRIGGER: u64 = 1;

/// The field MODE of `satp`, `vsatp` and `hgatp`: Bare, the 39-bit and the 48-bit scheme.
const fn known_mode(value: u64) -> bool {
    matches!(value >> 60, 0 | 8 | 9)
}

/// `hgatp`'s fields MODE, VMID and PPN, whose lowest two bits are zero: its root table has 16 KiB (section 8.2.10).
const HGATP: u64 = 0xf << 60 | 0x3fff << 44 | ((1 << 44) - 1) & !3;

/// The bit of `time` in the registers that enable counters.
const TM: u32 = 1 << 1;

/// The VS CSR that takes the place of a supervisor CSR when V=1 (section 8.2).
const fn substituted(number: u16) -> u16 {
    match number {
        csr::SSTATUS
        | csr::SIE
        | csr::STVEC
        | csr::SSCRATCH
        | csr::SEPC
        | csr::SCAUSE
        | csr::STVAL
        | csr::SIP
        | csr::STIMECMP
        | csr::SATP => number + 0x100,
        _ => number,
    }
}

impl Privileged {
    /// Executes the CSR access of the instruction `bits`: reads the CSR `number` (0 to 4095) and, unless `write` is
    /// `None`, writes it. An instruction that writes nothing (`csrrs` and `csrrc` of `x0`, `csrrsi` and `csrrci` of 0)
    /// comes without `write`. `wires` are the bits of `mip` that are driven from outside.
    ///
    /// # Errors
    ///
    /// An illegal-instruction or virtual-instruction exception; nothing has changed then.
    #[inline]
    pub fn csr(
        &mut self,
        number: u16,
        write: Option<(CsrOperation, u64)>,
        bits: u32,
        counters: &Counters<'_>,
        wires: u64,
    ) -> Result<(u64, Effects), Trap> {
        self.permit(number, write.is_some())
            .map_err(|cause| Trap::of_instruction(cause, bits))?;
        let number = if self.mode.v {
            substituted(number)
        } else {
            number
        };
        let old = self
            .read(number, counters, wires)
            .ok_or_else(|| Trap::illegal(bits))?;
        let Some((operation, operand)) = write else {
            return Ok((old, Effects::empty()));
        };
        // Of SEIP only what software wrote goes back into the register, not the wire (section 3.1.9).
        let base = if number == csr::MIP {
            old & !interrupts::SEI | self.software & interrupts::SEI
        } else {
            old
        };
        let new = match operation {
            CsrOperation::Write => operand,
            CsrOperation::Set => base | operand,
            CsrOperation::Clear => base & !operand,
        };
        Ok((old, self.write(number, new, counters)))
    }

    /// The value of the CSR `number`, in any mode: supervisor CSRs are those of HS. `time` alone is the current
    /// mode's. `None`: no such CSR.
    #[must_use]
    pub fn peek(&self, number: u16, counters: &Counters<'_>, wires: u64) -> Option<u64> {
        self.read(number, counters, wires)
    }

    /// Writes the CSR `number` as a debugger does, whatever the mode. `None`: no such CSR, or one that is read-only.
    pub fn poke(&mut self, number: u16, value: u64, counters: &Counters<'_>) -> Option<Effects> {
        if number >> 10 == 3 {
            return None;
        }
        self.read(number, counters, 0)?;
        Some(self.write(number, value, counters))
    }

    /// Whether accesses to the CSR `number` look at the counters that [`csr`](Self::csr) is given; for others
    /// [`Counters::ZERO`] will do.
    #[inline]
    #[must_use]
    pub const fn reads_counters(number: u16) -> bool {
        matches!(
            number,
            csr::CYCLE..=csr::HPMCOUNTER31
                | csr::MCYCLE..=csr::MHPMCOUNTER31
                | csr::MCOUNTINHIBIT..=csr::MHPMEVENT31
                | csr::MIP
                | csr::SIP
                | csr::HIP
                | csr::VSIP
        )
    }

    /// Whether the current mode may make this access, existence of the CSR aside.
    #[inline]
    fn permit(&self, number: u16, writing: bool) -> Result<(), Exception> {
        let level = match (self.mode.privilege, self.mode.v) {
            (Privilege::Machine, _) => 3,
            (Privilege::Supervisor, false) => 2,
            (Privilege::Supervisor, true) => 1,
            (Privilege::User, _) => 0,
        };
        if number >> 8 & 3 > level || number >> 10 == 3 && writing {
            return Err(self.refusal(number, writing));
        }
        match number {
            csr::FFLAGS..=csr::FCSR if !self.float_enabled() => Err(Exception::IllegalInstruction),
            csr::CYCLE..=csr::HPMCOUNTER31 => self.permit_counter(number),
            csr::SATP | csr::HGATP | csr::STIMECMP | csr::VSTIMECMP if level < 3 => {
                self.permit_trapped(number)
            }
            _ => Ok(()),
        }
    }

    /// The exception of an access from a mode that is too low, or of a write to a read-only CSR.
    #[cold]
    fn refusal(&self, number: u16, writing: bool) -> Exception {
        let level = number >> 8 & 3;
        // Virtual where HS-mode could do it: only for CSRs that exist, of levels 1 (then from VU) and 2.
        let virtual_ = self.mode.v
            && level < 3
            && !(number >> 10 == 3 && writing)
            && self.read(number, &Counters::ZERO, 0).is_some()
            && match number {
                csr::STIMECMP | csr::VSTIMECMP => self.timer_compare_enabled(),
                _ => true,
            };
        if virtual_ {
            Exception::VirtualInstruction
        } else {
            Exception::IllegalInstruction
        }
    }

    /// Whether HS-mode may access `stimecmp` and `vstimecmp` (Sstc, chapters 2 to 4).
    const fn timer_compare_enabled(&self) -> bool {
        self.menvcfg & envcfg::STCE != 0 && self.mcounteren & TM != 0
    }

    /// CSRs that a higher mode can keep from this one, which is below M.
    fn permit_trapped(&self, number: u16) -> Result<(), Exception> {
        let v = self.mode.v;
        match number {
            csr::SATP if v && self.hstatus & hstatus::VTVM != 0 => {
                Err(Exception::VirtualInstruction)
            }
            // TVM is about HS-mode alone.
            csr::SATP | csr::HGATP if !v && self.mstatus & mstatus::TVM != 0 => {
                Err(Exception::IllegalInstruction)
            }
            csr::SATP | csr::HGATP => Ok(()),
            _ if !self.timer_compare_enabled() => Err(Exception::IllegalInstruction),
            _ if v && (self.henvcfg & envcfg::STCE == 0 || self.hcounteren & TM == 0) => {
                Err(Exception::VirtualInstruction)
            }
            _ => Ok(()),
        }
    }

    /// The unprivileged counters (sections 3.1.11, 4.1.5 and 8.6.1).
    fn permit_counter(&self, number: u16) -> Result<(), Exception> {
        if self.mode.privilege == Privilege::Machine {
            return Ok(());
        }
        let enabled = |by: u32| by >> (number & 31) & 1 != 0;
        let user = self.mode.privilege == Privilege::User;
        if !enabled(self.mcounteren) {
            Err(Exception::IllegalInstruction)
        } else if self.mode.v && (!enabled(self.hcounteren) || user && !enabled(self.scounteren)) {
            Err(Exception::VirtualInstruction)
        } else if user && !enabled(self.scounteren) {
            Err(Exception::IllegalInstruction)
        } else {
            Ok(())
        }
    }

    /// SD: the floating-point state is dirty.
    const fn with_summary(status: u64) -> u64 {
        if status & mstatus::FS == mstatus::FS {
            status | mstatus::SD
        } else {
            status
        }
    }

    /// `sstatus`, `vsstatus`: the part that they show of a stored register.
    const fn supervisor_status(status: u64) -> u64 {
        Self::with_summary(status & mstatus::SUPERVISOR | mstatus::UXL_64)
    }

    fn read(&self, number: u16, counters: &Counters<'_>, wires: u64) -> Option<u64> {
        let pending = || self.pending(wires, counters.time);
        Some(match number {
            csr::SSTATUS => Self::supervisor_status(self.mstatus),
            csr::SIE => self.mie & self.mideleg,
            csr::STVEC => self.stvec,
            csr::SCOUNTEREN => u64::from(self.scounteren),
            csr::SENVCFG => self.senvcfg,
            csr::SSCRATCH => self.sscratch,
            csr::SEPC => self.sepc,
            csr::SCAUSE => self.scause,
            csr::STVAL => self.stval,
            csr::SIP => pending() & self.mideleg,
            csr::STIMECMP => self.stimecmp,
            csr::SATP => self.satp,

            csr::VSSTATUS => Self::supervisor_status(self.vsstatus),
            csr::VSIE => (self.mie & self.hideleg) >> 1,
            csr::VSTVEC => self.vstvec,
            csr::VSSCRATCH => self.vsscratch,
            csr::VSEPC => self.vsepc,
            csr::VSCAUSE => self.vscause,
            csr::VSTVAL => self.vstval,
            csr::VSIP => (pending() & self.hideleg) >> 1,
            csr::VSTIMECMP => self.vstimecmp,
            csr::VSATP => self.vsatp,

            csr::HSTATUS => self.hstatus | hstatus::VSXL_64,
            csr::HEDELEG => self.hedeleg,
            csr::HIDELEG => self.hideleg,
            csr::HIE => self.mie & interrupts::VIRTUAL,
            csr::HTIMEDELTA => self.htimedelta,
            csr::HCOUNTEREN => u64::from(self.hcounteren),
            csr::HGEIE | csr::HGEIP => 0,
            csr::HENVCFG => self.henvcfg,
            csr::HTVAL => self.htval,
            csr::HIP => pending() & interrupts::VIRTUAL,
            csr::HVIP => self.hvip,
            csr::HTINST => self.htinst,
            csr::HGATP => self.hgatp,

            csr::FFLAGS => u64::from(self.fcsr & 0x1f),
            csr::FRM => u64::from(self.fcsr >> 5),
            csr::FCSR => u64::from(self.fcsr),
            csr::CYCLE..=csr::HPMCOUNTER31 | csr::MCYCLE | csr::MINSTRET..=csr::MHPMCOUNTER31 => {
                self.counter(usize::from(number & 31), counters)
            }

            csr::MSTATUS => Self::with_summary(self.mstatus | mstatus::UXL_64 | mstatus::SXL_64),
            csr::MISA => MISA,
            csr::MEDELEG => self.medeleg,
            csr::MIDELEG => self.mideleg | interrupts::VIRTUAL,
            csr::MIE => self.mie,
            csr::MTVEC => self.mtvec,
            csr::MCOUNTEREN => u64::from(self.mcounteren),
            csr::MENVCFG => self.menvcfg,
            csr::MCOUNTINHIBIT => u64::from(self.mcountinhibit),
            csr::MHPMEVENT3..=csr::MHPMEVENT31 => {
                u64::from(self.hpm_events[usize::from(number - csr::MHPMEVENT3)])
            }
            csr::MSCRATCH => self.mscratch,
            csr::MEPC => self.mepc,
            csr::MCAUSE => self.mcause,
            csr::MTVAL => self.mtval,
            csr::MIP => pending(),
            csr::MTINST => self.mtinst,
            csr::MTVAL2 => self.mtval2,
            csr::PMPCFG0 => self.pmp.configuration(0),
            csr::PMPCFG2 => self.pmp.configuration(1),
            csr::PMPADDR0..=csr::PMPADDR15 => self.pmp.address(usize::from(number - csr::PMPADDR0)),
            csr::MHARTID => self.hart_id,
            csr::MVENDORID | csr::MARCHID | csr::MIMPID | csr::MCONFIGPTR => 0,
            csr::TSELECT..=csr::TDATA3 => 0,
            csr::TINFO => NO_TRIGGER,
            _ => return None,
        })
    }

    /// Writes a CSR that exists; read-only ones take nothing.
    fn write(&mut self, number: u16, value: u64, counters: &Counters<'_>) -> Effects {
        let none = Effects::empty();
        match number {
            csr::SSTATUS => {
                let new = self.mstatus & !mstatus::SUPERVISOR | value & mstatus::SUPERVISOR;
                return Self::set_status(&mut self.mstatus, new);
            }
            csr::SIE => {
                self.mie = self.mie & !self.mideleg | value & self.mideleg;
                return Effects::INTERRUPTS;
            }
            csr::STVEC => set_vector(&mut self.stvec, value),
            csr::SCOUNTEREN => self.scounteren = value as u32,
            csr::SENVCFG => {
                let writable = envcfg::FIOM | self.extensions.environment();
                self.senvcfg = known_environment(self.senvcfg, value) & writable;
            }
            csr::SSCRATCH => self.sscratch = value,
            csr::SEPC => self.sepc = value & !1,
            csr::SCAUSE => self.scause = value,
            csr::STVAL => self.stval = value,
            csr::SIP => {
                let writable = interrupts::SSI & self.mideleg;
                self.software = self.software & !writable | value & writable;
                return Effects::INTERRUPTS;
            }
            csr::STIMECMP => {
                self.stimecmp = value;
                return Effects::TIMER | Effects::INTERRUPTS;
            }
            csr::SATP => return set_root(&mut self.satp, value),

            csr::VSSTATUS => {
                return Self::set_status(&mut self.vsstatus, value & mstatus::SUPERVISOR);
            }
            csr::VSIE => {
                self.mie = self.mie & !self.hideleg | value << 1 & self.hideleg;
                return Effects::INTERRUPTS;
            }
            csr::VSTVEC => set_vector(&mut self.vstvec, value),
            csr::VSSCRATCH => self.vsscratch = value,
            csr::VSEPC => self.vsepc = value & !1,
            csr::VSCAUSE => self.vscause = value,
            csr::VSTVAL => self.vstval = value,
            csr::VSIP => {
                let writable = interrupts::VSSI & self.hideleg;
                self.hvip = self.hvip & !writable | value << 1 & writable;
                return Effects::INTERRUPTS;
            }
            csr::VSTIMECMP => {
                self.vstimecmp = value;
                return Effects::TIMER | Effects::INTERRUPTS;
            }
            csr::VSATP => return set_root(&mut self.vsatp, value),

            csr::HSTATUS => {
                self.hstatus = value & hstatus::WRITABLE;
                return Effects::TRANSLATION;
            }
            csr::HEDELEG => self.hedeleg = value & HEDELEG,
            csr::HIDELEG => {
                self.hideleg = value & interrupts::VIRTUAL;
                return Effects::INTERRUPTS;
            }
            csr::HIE => {
                self.mie = self.mie & !interrupts::VIRTUAL | value & interrupts::VIRTUAL;
                return Effects::INTERRUPTS;
            }
            csr::HTIMEDELTA => {
                self.htimedelta = value;
                return Effects::TIMER | Effects::INTERRUPTS;
            }
            csr::HCOUNTEREN => self.hcounteren = value as u32,
            csr::HENVCFG => {
                let writable = envcfg::FIOM
                    | self.extensions.environment()
                    | self.menvcfg & (envcfg::ADUE | envcfg::STCE);
                let value = known_environment(self.henvcfg, value) & writable;
                let old = std::mem::replace(&mut self.henvcfg, value);
                return Self::environment_effects(old ^ self.henvcfg);
            }
            csr::HTVAL => self.htval = value,
            csr::HIP => {
                self.hvip = self.hvip & !interrupts::VSSI | value & interrupts::VSSI;
                return Effects::INTERRUPTS;
            }
            csr::HVIP => {
                self.hvip = value & interrupts::VIRTUAL;
                return Effects::INTERRUPTS;
            }
            csr::HTINST => self.htinst = value,
            csr::HGATP => {
                // A mode that is not known stays what it was, the rest is taken.
                let kept = if known_mode(value) { 0 } else { 0xf << 60 };
                self.hgatp = self.hgatp & kept | value & HGATP & !kept;
                return Effects::TRANSLATION;
            }

            csr::FFLAGS => return self.set_fcsr(self.fcsr & !0x1f | value as u32 & 0x1f),
            csr::FRM => return self.set_fcsr(self.fcsr & 0x1f | (value as u32 & 7) << 5),
            csr::FCSR => return self.set_fcsr(value as u32 & 0xff),

            csr::MSTATUS => {
                let mut new = value & mstatus::WRITABLE;
                if new & mstatus::MPP == 2 << mstatus::MPP_SHIFT {
                    new = new & !mstatus::MPP | self.mstatus & mstatus::MPP;
                }
                return Self::set_status(&mut self.mstatus, new);
            }
            csr::MEDELEG => self.medeleg = value & MEDELEG,
            csr::MIDELEG => {
                self.mideleg = value & interrupts::SUPERVISOR;
                return Effects::INTERRUPTS;
            }
            csr::MIE => {
                self.mie = value & interrupts::ALL;
                return Effects::INTERRUPTS;
            }
            csr::MTVEC => set_vector(&mut self.mtvec, value),
            csr::MCOUNTEREN => self.mcounteren = value as u32,
            csr::MENVCFG => {
                let old = self.menvcfg;
                let blocks = self.extensions.environment();
                self.menvcfg = known_environment(old, value)
                    & (envcfg::FIOM | envcfg::ADUE | envcfg::STCE | blocks);
                // What menvcfg does not have is read-only zero in henvcfg, the switches of cache blocks aside.
                self.henvcfg &= self.menvcfg | envcfg::FIOM | blocks;
                return Self::environment_effects(old ^ self.menvcfg);
            }
            csr::MCOUNTINHIBIT => self.set_inhibited(value as u32, counters),
            csr::MHPMEVENT3..=csr::MHPMEVENT31 => {
                self.select_event(usize::from(number - csr::MHPMEVENT3), value, counters);
            }
            csr::MSCRATCH => self.mscratch = value,
            csr::MEPC => self.mepc = value & !1,
            csr::MCAUSE => self.mcause = value,
            csr::MTVAL => self.mtval = value,
            csr::MIP => {
                let mut writable = interrupts::SSI | interrupts::SEI;
                if self.menvcfg & envcfg::STCE == 0 {
                    writable |= interrupts::STI;
                }
                self.software = self.software & !writable | value & writable;
                self.hvip = self.hvip & !interrupts::VSSI | value & interrupts::VSSI;
                return Effects::INTERRUPTS;
            }
            csr::MTINST => self.mtinst = value,
            csr::MTVAL2 => self.mtval2 = value,
            csr::PMPCFG0 => {
                self.pmp.set_configuration(0, value);
                return Effects::FLUSH;
            }
            csr::PMPCFG2 => {
                self.pmp.set_configuration(1, value);
                return Effects::FLUSH;
            }
            csr::PMPADDR0..=csr::PMPADDR15 => {
                self.pmp
                    .set_address(usize::from(number - csr::PMPADDR0), value);
                return Effects::FLUSH;
            }
            csr::MCYCLE | csr::MINSTRET..=csr::MHPMCOUNTER31 => {
                self.set_counter(usize::from(number & 31), value, counters);
            }
            _ => {}
        }
        none
    }

    fn set_status(status: &mut u64, new: u64) -> Effects {
        let changed = *status ^ new;
        *status = new;
        let mut effects = Effects::empty();
        effects.set(Effects::TRANSLATION, changed & mstatus::TRANSLATION != 0);
        effects.set(Effects::FLOAT, changed & mstatus::FS != 0);
        effects.set(
            Effects::INTERRUPTS,
            changed & (mstatus::SIE | mstatus::MIE) != 0,
        );
        effects
    }

    fn set_fcsr(&mut self, value: u32) -> Effects {
        self.fcsr = value;
        self.dirty_float();
        Effects::FLOAT
    }

    fn environment_effects(changed: u64) -> Effects {
        let mut effects = Effects::empty();
        effects.set(Effects::FLUSH, changed & envcfg::ADUE != 0);
        effects.set(
            Effects::TIMER | Effects::INTERRUPTS,
            changed & envcfg::STCE != 0,
        );
        effects
    }
}

/// Writes `mtvec`, `stvec` or `vstvec`, unless the mode is reserved.
const fn set_vector(vector: &mut u64, value: u64) {
    if value & 3 < 2 {
        *vector = value;
    }
}

/// The value for a register of the environment: with the reserved value, `CBIE` stays as it was.
const fn known_environment(old: u64, value: u64) -> u64 {
    if value & envcfg::CBIE == envcfg::CBIE_RESERVED {
        value & !envcfg::CBIE | old & envcfg::CBIE
    } else {
        value
    }
}

/// Writes `satp` or `vsatp`, unless the mode is not known (section 4.1.11).
fn set_root(root: &mut u64, value: u64) -> Effects {
    if known_mode(value) {
        *root = value;
    }
    Effects::TRANSLATION
}
