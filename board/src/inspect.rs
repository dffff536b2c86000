//! Looking into a board and changing it from outside the run, as a debugger does: registers, CSRs, modes, and memory
//! as a hart sees it. (Integer registers, `pc` and physical memory are with [`Board`] itself.)
//!
//! Nothing here takes time on the board, and what only reads leaves no trace: no page-table entry is marked, no
//! cache or TLB changes, no device is touched.

use std::ops::Range;

use crate::board::Board;
use crate::code::PAGE;
use crate::devices::Storm;
use crate::gdb::registers;
use crate::machine::Part;
use crate::memory::{Memory, NoMemory};
use crate::privileged::{Access, Context, Effects, Mode, PageTables, Privilege, Privileged};
use crate::timing;

/// An address that does not lead to main memory, in the address space of a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("hart {hart} has no memory at {address:#x}")]
pub struct NoMapping {
    /// The hart's number.
    pub hart: usize,
    /// The first virtual address that leads nowhere, or to a device.
    pub address: u64,
}

/// An address space to look into: the registers that lead to its page tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddressSpace {
    /// `satp`, or `vsatp` of a guest. 0: addresses pass the first stage unchanged.
    pub root: u64,
    /// `hgatp` of a guest. 0: there is no second stage.
    pub guest_root: u64,
}

impl AddressSpace {
    /// The guest whose it is: the VMID of `hgatp` (privileged specification, section 8.2.10).
    #[must_use]
    pub const fn vmid(self) -> u16 {
        (self.guest_root >> 44 & 0x3fff) as u16
    }
}

/// A CSR that can't be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no CSR {0:#x} that can be written")]
pub struct NoCsr(
    /// Its number.
    pub u16,
);

/// A register of a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// An integer register, 0 to 31.
    X(usize),
    /// The address of the next instruction.
    Pc,
    /// A floating-point register, 0 to 31.
    F(usize),
    /// A CSR, by its number.
    Csr(u16),
}

impl Register {
    /// The register of that name: `pc`, `x10` or `a0`, `f10` or `fa0`, or a CSR's.
    ///
    /// ```
    /// use tactus_board::inspect::Register;
    /// use tactus_board::privileged::number::SEPC;
    /// for (name, register) in [
    ///     ("a0", Register::X(10)),
    ///     ("x10", Register::X(10)),
    ///     ("fa0", Register::F(10)),
    ///     ("sepc", Register::Csr(SEPC)),
    /// ] {
    ///     assert_eq!(Register::named(name), Some(register));
    /// }
    /// assert_eq!(Register::named("x32"), None);
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let numbered = |letter| {
            let digits: &str = name.strip_prefix(letter)?;
            let number: usize = digits.parse().ok().filter(|number| *number < 32)?;
            (number.to_string() == digits).then_some(number)
        };
        match name {
            "pc" => Some(Self::Pc),
            // The ABI has two names for it.
            "s0" => Some(Self::X(8)),
            _ => registers::integer(name)
                .or_else(|| numbered('x'))
                .map(Self::X)
                .or_else(|| {
                    registers::float(name)
                        .or_else(|| numbered('f'))
                        .map(Self::F)
                })
                .or_else(|| registers::csr(name).map(Self::Csr)),
        }
    }

    /// The integer registers and `pc`, by their names in the ABI.
    pub fn general() -> impl Iterator<Item = (&'static str, Self)> {
        let integer = registers::INTEGER.iter().enumerate();
        integer
            .map(|(number, (name, _))| (*name, Self::X(number)))
            .chain([("pc", Self::Pc)])
    }
}

/// Page tables, looked at without a trace.
struct Look<'a>(&'a Memory);

/// V, and R, W and X, and A and D of a page-table entry (privileged specification, section 4.3.1).
const VALID: u64 = 1;
const LEAF: u64 = 0b1110;
const MARKS: u64 = 0b1100_0000;

impl PageTables for Look<'_> {
    fn read(&mut self, physical: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.0.read(physical, &mut bytes).ok()?;
        let entry = u64::from_le_bytes(bytes);
        // Whether software has used the page yet does not matter to who looks at it.
        Some(if entry & VALID != 0 && entry & LEAF != 0 {
            entry | MARKS
        } else {
            entry
        })
    }

    fn update(&mut self, _physical: u64, _old: u64, _new: u64) -> Option<bool> {
        Some(true)
    }
}

impl Board {
    /// A floating-point register (0 to 31) of a hart; singles are boxed in NaNs.
    ///
    /// # Panics
    ///
    /// When there is no such hart or register.
    #[must_use]
    pub fn f(&self, hart: usize, register: usize) -> u64 {
        self.harts[hart].f[register]
    }

    /// Sets a floating-point register of a hart, and notes in `mstatus`, where floating point is on, that it did.
    ///
    /// # Panics
    ///
    /// When there is no such hart or register.
    pub fn set_f(&mut self, hart: usize, register: usize, value: u64) {
        let hart = &mut self.harts[hart];
        hart.f[register] = value;
        if hart.privileged.float_enabled() {
            hart.dirty_float();
        }
    }

    /// What a register of a hart holds; `None`: there is no such CSR.
    ///
    /// # Panics
    ///
    /// When there is no such hart or register.
    #[must_use]
    pub fn register(&self, hart: usize, register: Register) -> Option<u64> {
        match register {
            Register::X(number) => Some(self.x(hart, number)),
            Register::Pc => Some(self.pc(hart)),
            Register::F(number) => Some(self.f(hart, number)),
            Register::Csr(number) => self.csr(hart, number),
        }
    }

    /// Sets a register of a hart ([`set_x`](Self::set_x), [`set_pc`](Self::set_pc), [`set_f`](Self::set_f),
    /// [`set_csr`](Self::set_csr)).
    ///
    /// # Errors
    ///
    /// When there is no such CSR, or it is read-only.
    ///
    /// # Panics
    ///
    /// When there is no such hart or register.
    pub fn set_register(
        &mut self,
        hart: usize,
        register: Register,
        value: u64,
    ) -> Result<(), NoCsr> {
        match register {
            Register::X(number) => self.set_x(hart, number, value),
            Register::Pc => self.set_pc(hart, value),
            Register::F(number) => self.set_f(hart, number, value),
            Register::Csr(number) => return self.set_csr(hart, number, value),
        }
        Ok(())
    }

    /// The mode of a hart.
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    #[must_use]
    pub fn mode(&self, hart: usize) -> Mode {
        self.harts[hart].privileged.mode
    }

    /// Lets a hart continue in another mode. M-mode is never virtualized, whatever `mode.v` says.
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    pub fn set_mode(&mut self, hart: usize, mode: Mode) {
        let hart = &mut self.harts[hart];
        hart.privileged.mode = Mode {
            v: mode.v && mode.privilege != Privilege::Machine,
            ..mode
        };
        hart.refresh();
        hart.recheck_interrupts();
        self.machine.note_activity(hart);
    }

    /// Whether a hart waits for an interrupt (`wfi`).
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    #[must_use]
    pub fn is_waiting(&self, hart: usize) -> bool {
        self.harts[hart].waiting
    }

    /// The value of the CSR with this number ([`number`](crate::privileged::number)) shows, whatever the hart's mode:
    /// the supervisor's CSRs are HS-mode's. `None`: no such CSR.
    ///
    /// ```
    /// use tactus_board::privileged::number::{MHARTID, SATP};
    /// # let profile = tactus_board::profile::Profile::named("mpsoc").unwrap();
    /// # let (mut board, _) = tactus_board::setup::board(&profile, &Default::default(), Vec::new()).unwrap();
    /// assert_eq!(board.csr(0, MHARTID), Some(profile.harts.first_id));
    /// // A mode that does not exist is not taken.
    /// board.set_csr(0, SATP, 5 << 60)?;
    /// assert_eq!(board.csr(0, SATP), Some(0));
    /// # Ok::<(), tactus_board::inspect::NoCsr>(())
    /// ```
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    #[must_use]
    pub fn csr(&self, hart: usize, number: u16) -> Option<u64> {
        let hart = &self.harts[hart];
        let events = self.machine.events(hart);
        let mut counters = self.machine.counters(hart, &events);
        // No instruction reads.
        counters.instructions = hart.instructions;
        hart.privileged
            .peek(number, &counters, self.machine.wires[hart.index])
    }

    /// Sets a CSR as if the hart had written it, whatever its mode; fields take what they can hold.
    ///
    /// # Errors
    ///
    /// When there is no such CSR, or it is read-only.
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    pub fn set_csr(&mut self, hart: usize, number: u16, value: u64) -> Result<(), NoCsr> {
        let hart = &mut self.harts[hart];
        let events = self.machine.events(hart);
        let counters = self.machine.counters(hart, &events);
        let effects = hart
            .privileged
            .poke(number, value, &counters)
            .ok_or(NoCsr(number))?;
        if effects.contains(Effects::FLUSH) {
            hart.drop_all();
        } else {
            hart.refresh();
        }
        hart.recheck_interrupts();
        self.machine.note_activity(hart);
        Ok(())
    }

    /// The address space of the code that a hart runs now.
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    #[must_use]
    pub fn address_space(&self, hart: usize) -> AddressSpace {
        let context = self.harts[hart].privileged.fetch_context();
        AddressSpace {
            root: context.root,
            guest_root: context.guest_root,
        }
    }

    /// The physical address to which `address` leads for the code that a hart runs now. Permissions, accessed and dirty
    /// bits do not count, but PMP entries that are locked do. `None`: nowhere.
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    #[must_use]
    pub fn physical(&self, hart: usize, address: u64) -> Option<u64> {
        self.physical_in(hart, self.address_space(hart), address)
    }

    /// The same in another address space, if the hart had it.
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    #[must_use]
    pub fn physical_in(&self, hart: usize, space: AddressSpace, address: u64) -> Option<u64> {
        let privileged: &Privileged = &self.harts[hart].privileged;
        // As M-mode, PMP lets it pass; the first stage takes that for a supervisor, who may read all.
        let context = Context {
            privilege: Privilege::Machine,
            v: space.guest_root != 0,
            sum: true,
            mxr: true,
            guest_mxr: true,
            root: space.root,
            guest_root: space.guest_root,
        };
        let place =
            privileged.translate(address, 1, Access::Load, &context, &mut Look(self.memory()));
        place.ok().map(|place| place.physical)
    }

    /// Reads memory as the code that a hart runs now has it, page by page through its translation
    /// ([`physical`](Self::physical)). Devices are not read: that could change them.
    ///
    /// # Errors
    ///
    /// Where not all of it leads to memory; `bytes` may then be partly overwritten.
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    pub fn read_virtual(
        &self,
        hart: usize,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), NoMapping> {
        self.read_in(hart, self.address_space(hart), address, bytes)
    }

    /// The same in another address space, if the hart had it.
    ///
    /// # Errors
    ///
    /// Where not all of it leads to memory; `bytes` may then be partly overwritten.
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    pub fn read_in(
        &self,
        hart: usize,
        space: AddressSpace,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), NoMapping> {
        let mut at = address;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (here, behind) = rest.split_at_mut(in_page(at, rest.len()));
            let physical = self
                .physical_in(hart, space, at)
                .ok_or(NoMapping { hart, address: at })?;
            self.memory()
                .read(physical, here)
                .map_err(|_| NoMapping { hart, address: at })?;
            at = at.wrapping_add(here.len() as u64);
            rest = behind;
        }
        Ok(())
    }

    /// Writes memory as the code that a hart runs now has it, pages that it may only read included.
    ///
    /// # Errors
    ///
    /// Where not all of it leads to memory; nothing is written then.
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    pub fn write_virtual(
        &mut self,
        hart: usize,
        address: u64,
        bytes: &[u8],
    ) -> Result<(), NoMapping> {
        self.write_in(hart, self.address_space(hart), address, bytes)
    }

    /// The same in another address space, if the hart had it.
    ///
    /// # Errors
    ///
    /// Where not all of it leads to memory; nothing is written then.
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    pub fn write_in(
        &mut self,
        hart: usize,
        space: AddressSpace,
        address: u64,
        bytes: &[u8],
    ) -> Result<(), NoMapping> {
        let mut pieces = Vec::new();
        let mut at = address;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (here, behind) = rest.split_at(in_page(at, rest.len()));
            let physical = self
                .physical_in(hart, space, at)
                .filter(|place| self.memory().holds(*place, here.len() as u64));
            pieces.push((physical.ok_or(NoMapping { hart, address: at })?, here));
            at = at.wrapping_add(here.len() as u64);
            rest = behind;
        }
        for (physical, here) in pieces {
            self.write(physical, here)
                .map_err(|NoMemory { .. }| NoMapping { hart, address })?;
        }
        Ok(())
    }

    /// The devices: name, first physical address and bytes of each, in the order of their addresses.
    pub fn devices(&self) -> impl Iterator<Item = (&str, u64, u64)> {
        self.machine
            .devices
            .iter()
            .map(|device| (device.name.as_str(), device.base, device.size))
    }

    /// Keeps books on what these guests pay to reload lines that they have lost, from here on while the pace is timed.
    /// The run is the same.
    pub fn watch_reloads(&mut self, watch: timing::Watch) {
        self.machine.timing.watch_reloads(watch);
    }

    /// What they have paid so far, in the order of [`timing::Watch::guests`].
    #[must_use]
    pub fn reloads(&self) -> Vec<timing::Reloads> {
        self.machine.timing.reloads()
    }

    /// Watches which lines these guests use from when their timer wakes them until they wait, from here on while the
    /// pace is timed. Caches are emptied at each wake, so that the run is another one.
    pub fn watch_wakes(&mut self, watch: timing::Watch) {
        self.machine.timing.watch_wakes(watch);
    }

    /// Takes the wakes that have ended since the last time.
    pub fn take_wakes(&mut self) -> Vec<timing::Wake> {
        self.machine.timing.take_wakes()
    }

    /// Counts the cache lines that harts touch outside guests, while the pace is timed: from when one leaves a guest or
    /// ends a wait, and from each mark. Events tell them. The run is the same.
    pub fn count_lines(&mut self, count: &timing::Count) {
        self.machine.marks = Some(count.marks);
        self.machine.timing.count_lines(&count.known);
    }

    /// Follows who reads what of this memory (ranges of physical addresses), and of all harts' registers, from here on
    /// while the pace is timed. The run is the same.
    pub fn follow_uses(&mut self, memory: &[Range<u64>]) {
        let doing: Vec<_> = (0..self.harts()).map(|hart| self.doing(hart)).collect();
        let begin = self.machine.clock.cycle_from(self.time());
        self.machine.timing.follow_uses(memory, begin, &doing);
    }

    /// The uses since [`follow_uses`](Self::follow_uses), which are followed no longer. `None`: they were not.
    pub fn take_uses(&mut self) -> Option<timing::Uses> {
        let cycles: Vec<_> = (0..self.harts()).map(|hart| self.cycle(hart)).collect();
        self.machine.timing.take_uses(&cycles)
    }

    /// The longest storm of each interrupt source that had any since reset: its line was high whenever a service ended.
    #[must_use]
    pub fn storms(&self) -> Vec<Storm> {
        let controllers = self.machine.devices.iter();
        let storms = controllers.filter_map(|device| match &device.device {
            Part::Plic(plic) => Some(plic.storms()),
            _ => None,
        });
        storms.flatten().collect()
    }
}

/// How many of `length` bytes at `address` lie in its page.
fn in_page(address: u64, length: usize) -> usize {
    length.min((PAGE - address % PAGE) as usize)
}
