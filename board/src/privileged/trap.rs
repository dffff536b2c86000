//! Traps: how they are entered, delegated and left (sections 3.1.6 to 3.1.17, 3.3.2, 8.2 and 8.6).

use super::fields::{hstatus, mstatus};
use super::{Interrupt, Mode, Privilege, Privileged, Target, Trap};

/// The bit of a cause that says interrupt.
const INTERRUPT: u64 = 1 << 63;

/// The status fields of a trap to S: SPP and SPIE say what was, SIE is cleared.
const fn entered(status: u64, from: Privilege) -> u64 {
    let mut new = status & !(mstatus::SIE | mstatus::SPIE | mstatus::SPP);
    if status & mstatus::SIE != 0 {
        new |= mstatus::SPIE;
    }
    if !matches!(from, Privilege::User) {
        new |= mstatus::SPP;
    }
    new
}

/// The status fields of a return to where SPP says, and that privilege level.
const fn left(status: u64) -> (u64, Privilege) {
    let mut new = status & !(mstatus::SIE | mstatus::SPP) | mstatus::SPIE;
    if status & mstatus::SPIE != 0 {
        new |= mstatus::SIE;
    }
    (
        new,
        if status & mstatus::SPP != 0 {
            Privilege::Supervisor
        } else {
            Privilege::User
        },
    )
}

/// Where a trap of `cause` goes by a vector register.
const fn handler(vector: u64, cause: u64) -> u64 {
    let base = vector & !3;
    // Only interrupts are spread.
    if vector & 1 != 0 && cause & INTERRUPT != 0 {
        base.wrapping_add(4 * (cause & !INTERRUPT))
    } else {
        base
    }
}

impl Privileged {
    /// Where an exception is taken to from the current mode (sections 3.1.8 and 8.2.2).
    #[must_use]
    pub const fn exception_target(&self, trap: &Trap) -> Target {
        let bit = 1 << trap.cause as u8;
        if matches!(self.mode.privilege, Privilege::Machine) || self.medeleg & bit == 0 {
            Target::Machine
        } else if self.mode.v && self.hedeleg & bit != 0 {
            Target::VirtualSupervisor
        } else {
            Target::Supervisor
        }
    }

    /// Takes an exception of the instruction at `pc`. Returns where execution continues.
    pub fn enter_trap(&mut self, trap: &Trap, pc: u64) -> u64 {
        self.enter(self.exception_target(trap), trap.cause as u64, trap, pc)
    }

    /// Takes an interrupt before the instruction at `pc`. Returns where execution continues.
    pub fn enter_interrupt(&mut self, interrupt: Interrupt, pc: u64) -> u64 {
        let number = u64::from(interrupt.number);
        // VS sees its interrupts under the numbers of S.
        let cause = if interrupt.target == Target::VirtualSupervisor {
            number - 1
        } else {
            number
        };
        // The cause does not count here; there are no values.
        let nothing = Trap::new(super::Exception::Breakpoint, 0);
        self.enter(interrupt.target, INTERRUPT | cause, &nothing, pc)
    }

    #[inline]
    fn enter(&mut self, target: Target, cause: u64, trap: &Trap, pc: u64) -> u64 {
        let from = self.mode;
        match target {
            Target::VirtualSupervisor => {
                self.vsstatus = entered(self.vsstatus, from.privilege);
                self.vsepc = pc;
                self.vscause = cause;
                self.vstval = trap.value;
                self.mode = Mode::VIRTUAL_SUPERVISOR;
                handler(self.vstvec, cause)
            }
            Target::Supervisor => {
                self.mstatus = entered(self.mstatus, from.privilege);
                self.hstatus &= !(hstatus::SPV | hstatus::GVA);
                if from.v {
                    // SPVP stays what it is in a trap from a mode that is not virtualized.
                    self.hstatus = self.hstatus & !hstatus::SPVP | hstatus::SPV;
                    if from.privilege == Privilege::Supervisor {
                        self.hstatus |= hstatus::SPVP;
                    }
                }
                if trap.guest_address {
                    self.hstatus |= hstatus::GVA;
                }
                self.sepc = pc;
                self.scause = cause;
                self.stval = trap.value;
                self.htval = trap.value2;
                self.htinst = trap.instruction;
                self.mode = Mode::SUPERVISOR;
                handler(self.stvec, cause)
            }
            Target::Machine => {
                let old = self.mstatus;
                let mut new = old
                    & !(mstatus::MIE | mstatus::MPIE | mstatus::MPP | mstatus::MPV | mstatus::GVA)
                    | (from.privilege as u64) << mstatus::MPP_SHIFT;
                if old & mstatus::MIE != 0 {
                    new |= mstatus::MPIE;
                }
                if from.v {
                    new |= mstatus::MPV;
                }
                if trap.guest_address {
                    new |= mstatus::GVA;
                }
                self.mstatus = new;
                self.mepc = pc;
                self.mcause = cause;
                self.mtval = trap.value;
                self.mtval2 = trap.value2;
                self.mtinst = trap.instruction;
                self.mode = Mode::MACHINE;
                handler(self.mtvec, cause)
            }
        }
    }

    /// Executes `mret`, whose instruction is `bits`. Returns where execution continues.
    ///
    /// # Errors
    ///
    /// An illegal-instruction exception outside M-mode.
    pub fn mret(&mut self, bits: u32) -> Result<u64, Trap> {
        if self.mode.privilege != Privilege::Machine {
            return Err(Trap::illegal(bits));
        }
        let old = self.mstatus;
        let privilege = Privilege::from_field(old >> mstatus::MPP_SHIFT);
        let machine = privilege == Privilege::Machine;
        let mut new = old & !(mstatus::MIE | mstatus::MPP | mstatus::MPV) | mstatus::MPIE;
        if old & mstatus::MPIE != 0 {
            new |= mstatus::MIE;
        }
        if !machine {
            new &= !mstatus::MPRV;
        }
        self.mstatus = new;
        self.mode = Mode {
            privilege,
            v: old & mstatus::MPV != 0 && !machine,
        };
        Ok(self.mepc)
    }

    /// Executes `sret`, whose instruction is `bits`: that of VS when V=1, else that of HS. Returns where execution goes
    /// on.
    ///
    /// # Errors
    ///
    /// An illegal-instruction exception in U-mode, and in HS-mode by `mstatus.TSR`; a virtual-instruction exception in
    /// VU-mode, and in VS-mode by `hstatus.VTSR`.
    pub fn sret(&mut self, bits: u32) -> Result<u64, Trap> {
        let Mode { privilege, v } = self.mode;
        if v {
            if privilege == Privilege::User || self.hstatus & hstatus::VTSR != 0 {
                return Err(Trap::virtual_instruction(bits));
            }
            let (status, privilege) = left(self.vsstatus);
            self.vsstatus = status;
            self.mode = Mode { privilege, v: true };
            return Ok(self.vsepc);
        }
        let trapped = privilege == Privilege::Supervisor && self.mstatus & mstatus::TSR != 0;
        if privilege == Privilege::User || trapped {
            return Err(Trap::illegal(bits));
        }
        let (status, privilege) = left(self.mstatus);
        self.mstatus = status & !mstatus::MPRV;
        self.mode = Mode {
            privilege,
            v: self.hstatus & hstatus::SPV != 0,
        };
        self.hstatus &= !hstatus::SPV;
        Ok(self.sepc)
    }
}
