//! Instructions that the privileged architecture is about: calls, `wfi`, fences, and how traps describe loads and
//! stores. "C" is the chapter "CMO" of Volume I, 20240411, by its sections.

use super::fields::{hstatus, mstatus};
use super::{Exception, Privilege, Privileged, Trap};
use crate::decode::decode;

/// The fences of address translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fence {
    /// `sfence.vma` (section 4.2.1).
    Supervisor,
    /// `hfence.vvma` (section 8.3.2).
    VirtualSupervisor,
    /// `hfence.gvma` (section 8.3.2).
    Guest,
}

impl Privileged {
    /// The exception of `ecall` in the current mode.
    #[must_use]
    pub const fn ecall(&self) -> Trap {
        let cause = match (self.mode.privilege, self.mode.v) {
            (Privilege::User, _) => Exception::UserEnvironmentCall,
            (Privilege::Supervisor, false) => Exception::SupervisorEnvironmentCall,
            (Privilege::Supervisor, true) => Exception::VirtualSupervisorEnvironmentCall,
            (Privilege::Machine, _) => Exception::MachineEnvironmentCall,
        };
        Trap::new(cause, 0)
    }

    /// The exception of an `ebreak` at `pc`.
    #[must_use]
    pub const fn ebreak(&self, pc: u64) -> Trap {
        let mut trap = Trap::new(Exception::Breakpoint, pc);
        trap.guest_address = self.mode.v;
        trap
    }

    /// Whether the current mode may execute `wfi` (sections 3.3.3 and 8.6.1), whose instruction is `bits`.
    ///
    /// # Errors
    ///
    /// The exception if not.
    pub const fn check_wfi(&self, bits: u32) -> Result<(), Trap> {
        let user = matches!(self.mode.privilege, Privilege::User);
        if matches!(self.mode.privilege, Privilege::Machine) {
            Ok(())
        } else if self.mstatus & mstatus::TW != 0 || user && !self.mode.v {
            Err(Trap::illegal(bits))
        } else if self.mode.v && (user || self.hstatus & hstatus::VTW != 0) {
            Err(Trap::virtual_instruction(bits))
        } else {
            Ok(())
        }
    }

    /// Whether the current mode may execute a fence of address translation, whose instruction is `bits`.
    ///
    /// # Errors
    ///
    /// The exception if not.
    pub const fn check_sfence(&self, fence: Fence, bits: u32) -> Result<(), Trap> {
        let user = matches!(self.mode.privilege, Privilege::User);
        let supervisor = matches!(self.mode.privilege, Privilege::Supervisor);
        if self.mode.v {
            let allowed = matches!(fence, Fence::Supervisor)
                && supervisor
                && self.hstatus & hstatus::VTVM == 0;
            return if allowed {
                Ok(())
            } else {
                Err(Trap::virtual_instruction(bits))
            };
        }
        // TVM is not about the fence of the first stage of guests.
        let trapped = supervisor
            && self.mstatus & mstatus::TVM != 0
            && !matches!(fence, Fence::VirtualSupervisor);
        if user || trapped {
            Err(Trap::illegal(bits))
        } else {
            Ok(())
        }
    }

    /// Whether the current mode may execute HLV, HLVX and HSV (section 8.3.1), whose instruction is `bits`.
    ///
    /// # Errors
    ///
    /// The exception if not.
    pub const fn check_hypervisor_access(&self, bits: u32) -> Result<(), Trap> {
        if self.mode.v {
            Err(Trap::virtual_instruction(bits))
        } else if matches!(self.mode.privilege, Privilege::User) && self.hstatus & hstatus::HU == 0
        {
            Err(Trap::illegal(bits))
        } else {
            Ok(())
        }
    }
}

/// Bits 19:15, in which a transformed instruction has the distance from the computed to the faulting address.
const OFFSET: u32 = 0x1f << 15;

/// The transformed instruction (section 8.6.3) of the load, store, atomic, HLV, HSV or `cbo` `bits`, for `mtinst` and
/// `htinst`; 0 for others. `offset` is the distance in bytes from the address that it computed to the one that faulted,
/// 0 to 7.
#[must_use]
pub fn transformed(bits: u32, offset: u64) -> u64 {
    let Some(instruction) = decode(bits) else {
        return 0;
    };
    let fixed = instruction.operation.encoding().1;
    let described = match fixed & 0x7f {
        // LOAD and LOAD-FP, STORE and STORE-FP: without the immediate.
        0x03 | 0x07 => fixed | (instruction.rd as u32) << 7,
        0x23 | 0x27 => fixed | (instruction.rs2 as u32) << 20,
        // Instructions on cache blocks: without the address's register (C 4.2.5).
        0x0f => fixed,
        0x2f => bits & !OFFSET,
        0x73 if fixed >> 12 & 7 == 4 => bits & !OFFSET,
        _ => return 0,
    };
    // A compressed one is described by what it expands to, with bit 1 clear.
    let described = if instruction.length == 2 {
        described & !2
    } else {
        described
    };
    (described | (offset as u32 & 0x1f) << 15) as u64
}
