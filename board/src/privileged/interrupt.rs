//! Interrupts: which are pending, which is taken, and when the next timer interrupt comes (sections 3.1.9 and 8.4.3;
//! Sstc).

use super::fields::{envcfg, interrupts, mstatus};
use super::{Privilege, Privileged};

/// Where a trap is taken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// VS-mode.
    VirtualSupervisor,
    /// HS-mode.
    Supervisor,
    /// M-mode.
    Machine,
}

/// An interrupt to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interrupt {
    /// Its number: the bit of `mip`. For one of VS-mode's that VS-mode takes the cause is one less.
    pub number: u8,
    /// Where it is taken to.
    pub target: Target,
}

/// Bits driven by wires: the rest of `mip` is in the hart.
const WIRES: u64 = interrupts::MACHINE | interrupts::SEI | interrupts::SSI;

/// The numbers by falling priority (sections 3.1.9 and 8.4.3).
const PRIORITY: [u8; 10] = [11, 3, 7, 9, 1, 5, 12, 10, 2, 6];

/// The number of highest priority among `ready`, in which at least one is set.
fn first(ready: u64) -> u8 {
    PRIORITY
        .into_iter()
        .find(|number| ready >> number & 1 != 0)
        .unwrap_or(PRIORITY[0])
}

impl Privileged {
    /// `mip` as it reads, when `wires` are driven from outside (MSIP, MTIP, MEIP, SEIP, and SSIP until
    /// [`Privileged::latch`] has it, count) and it is `time`.
    #[inline]
    #[must_use]
    pub const fn pending(&self, wires: u64, time: u64) -> u64 {
        let mut pending = self.software | wires & WIRES | self.hvip;
        if self.menvcfg & envcfg::STCE != 0 {
            pending &= !interrupts::STI;
            if time >= self.stimecmp {
                pending |= interrupts::STI;
            }
            if self.henvcfg & envcfg::STCE != 0
                && time.wrapping_add(self.htimedelta) >= self.vstimecmp
            {
                pending |= interrupts::VSTI;
            }
        }
        pending
    }

    /// Keeps what is an edge on `wires` (SSIP), and tells the wires that are left.
    pub const fn latch(&mut self, wires: u64) -> u64 {
        self.software |= wires & interrupts::SSI;
        wires & !interrupts::SSI
    }

    /// The interrupt to take now, before the next instruction.
    #[inline]
    #[must_use]
    pub fn interrupt(&self, wires: u64, time: u64) -> Option<Interrupt> {
        let ready = self.pending(wires, time) & self.mie;
        if ready == 0 { None } else { self.take(ready) }
    }

    fn take(&self, ready: u64) -> Option<Interrupt> {
        let mode = self.mode;
        let delegated = self.mideleg | interrupts::VIRTUAL;
        let of = |ready: u64, target| {
            Some(Interrupt {
                number: first(ready),
                target,
            })
        };
        let machine = ready & !delegated;
        if machine != 0
            && (mode.privilege != Privilege::Machine || self.mstatus & mstatus::MIE != 0)
        {
            return of(machine, Target::Machine);
        }
        if mode.privilege == Privilege::Machine {
            return None;
        }
        let user = mode.privilege == Privilege::User;
        let supervisor = ready & delegated & !self.hideleg;
        if supervisor != 0 && (mode.v || user || self.mstatus & mstatus::SIE != 0) {
            return of(supervisor, Target::Supervisor);
        }
        let guest = ready & self.hideleg;
        if guest != 0 && mode.v && (user || self.vsstatus & mstatus::SIE != 0) {
            return of(guest, Target::VirtualSupervisor);
        }
        None
    }

    /// Whether `wfi` ends: an interrupt is pending and enabled in `mie`, whatever the global enables and delegation say
    /// (section 3.3.3).
    #[inline]
    #[must_use]
    pub const fn wake(&self, wires: u64, time: u64) -> bool {
        self.pending(wires, time) & self.mie != 0
    }

    /// The next time, after `time`, at which STIP or VSTIP rises by itself. `None`: never.
    #[must_use]
    pub fn next_timer(&self, time: u64) -> Option<u64> {
        if self.menvcfg & envcfg::STCE == 0 {
            return None;
        }
        let supervisor = (time < self.stimecmp).then_some(self.stimecmp);
        let guest_time = time.wrapping_add(self.htimedelta);
        let guest = (self.henvcfg & envcfg::STCE != 0 && guest_time < self.vstimecmp)
            .then(|| time.checked_add(self.vstimecmp - guest_time))
            .flatten();
        match (supervisor, guest) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }
}
