//! Address translation: Sv39 and Sv48 (sections 4.4 and 4.5), Sv39x4 and Sv48x4 (section 8.5), and both in a row.

use super::fields::{envcfg, hstatus, mstatus};
use super::pmp::{Pmp, Rights};
use super::{Exception, Mode, Privilege, Privileged, Trap};
use serde::{Deserialize, Serialize};

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// A load, or `lr`.
    Load,
    /// A store, `sc`, or an atomic.
    Store,
    /// An instruction fetch.
    Fetch,
    /// `hlvx.hu` and `hlvx.wu`: a load that needs execute permission in place of read permission.
    LoadExecute,
}

impl Access {
    const fn access_fault(self) -> Exception {
        match self {
            Self::Load | Self::LoadExecute => Exception::LoadAccessFault,
            Self::Store => Exception::StoreAccessFault,
            Self::Fetch => Exception::InstructionAccessFault,
        }
    }

    const fn page_fault(self) -> Exception {
        match self {
            Self::Load | Self::LoadExecute => Exception::LoadPageFault,
            Self::Store => Exception::StorePageFault,
            Self::Fetch => Exception::InstructionPageFault,
        }
    }

    const fn guest_page_fault(self) -> Exception {
        match self {
            Self::Load | Self::LoadExecute => Exception::LoadGuestPageFault,
            Self::Store => Exception::StoreGuestPageFault,
            Self::Fetch => Exception::InstructionGuestPageFault,
        }
    }
}

/// All that a translation depends on but page tables, PMP and the switches of hardware A/D updates: accesses with
/// equal contexts are translated equally until a fence, or a CSR access with [`Effects::FLUSH`](super::Effects).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Context {
    /// The privilege level that the access counts as.
    pub privilege: Privilege,
    /// Whether it is translated as when V=1: in two stages.
    pub v: bool,
    /// Whether S may access U's pages.
    pub sum: bool,
    /// Whether executable pages are readable in the first stage.
    pub mxr: bool,
    /// The same in the second stage.
    pub guest_mxr: bool,
    /// The first stage: `satp`, or `vsatp` when V=1; 0 in M-mode.
    pub root: u64,
    /// The second stage: `hgatp` when V=1, else 0.
    pub guest_root: u64,
}

impl Context {
    /// Whether addresses are physical as they are.
    #[must_use]
    pub const fn bare(&self) -> bool {
        self.root >> 60 == 0 && self.guest_root >> 60 == 0
    }

    /// The access fault of an access in this context whose physical address answers nothing, or which PMP forbids.
    #[must_use]
    pub const fn access_fault(&self, address: u64, access: Access) -> Trap {
        let mut trap = Trap::new(access.access_fault(), address);
        trap.guest_address = self.v;
        trap
    }
}

/// Memory as page-table walks see it: naturally aligned doublewords, little-endian, at physical addresses that PMP has
/// passed.
pub trait PageTables {
    /// Reads an entry. `None`: no memory there.
    fn read(&mut self, physical: u64) -> Option<u64>;
    /// Replaces `old` by `new`, atomically. `Some(false)`: it is no longer `old`, and has not been changed. `None`: no
    /// memory there, or none that can be written.
    fn update(&mut self, physical: u64, old: u64, new: u64) -> Option<bool>;
}

/// Where an address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The physical address.
    pub physical: u64,
    /// log2 of the size of the first stage's leaf (12, 21, 30 or 39), or of the second's when the first is bare; 12
    /// when both are.
    pub page: u8,
    /// log2 of the size of the second stage's leaf; as `page` when there is none.
    pub guest_page: u8,
    /// A load from this page succeeds.
    pub readable: bool,
    /// A store to this page succeeds and changes no page table.
    pub writable: bool,
    /// A fetch from this page succeeds.
    pub executable: bool,
    /// The rights hold for the whole 4 KiB page. Otherwise PMP differs within it, the rights are those of this access's
    /// bytes, and each access must be checked ([`Privileged::permits`]).
    pub whole_page: bool,
}

/// Bits of page-table entries (section 4.3.1).
mod pte {
    pub const V: u64 = 1 << 0;
    pub const R: u64 = 1 << 1;
    pub const W: u64 = 1 << 2;
    pub const X: u64 = 1 << 3;
    pub const U: u64 = 1 << 4;
    pub const A: u64 = 1 << 6;
    pub const D: u64 = 1 << 7;
    /// Bits 63:54 are reserved, or belong to Svnapot and Svpbmt, which the hart does not have.
    pub const RESERVED: u64 = !0 << 54;

    pub const fn base(entry: u64) -> u64 {
        (entry & !RESERVED) >> 10 << 12
    }
}

/// The physical page number of `satp`, `vsatp` and `hgatp`.
const PPN: u64 = (1 << 44) - 1;

/// How often a walk starts again because an entry changed under it. Harts take turns, so that once does; the bound is
/// for a [`PageTables`] that never agrees.
const ATTEMPTS: usize = 64;

/// Levels of page tables of a mode of `satp`, `vsatp` or `hgatp`; 0 for Bare.
const fn levels(root: u64) -> u32 {
    match root >> 60 {
        8 => 3,
        9 => 4,
        _ => 0,
    }
}

/// The leaf that one stage found.
struct Leaf {
    /// The address that this stage gives.
    address: u64,
    /// log2 of the leaf's size.
    page: u8,
    rights: Rights,
    /// A store needs no change of the entry.
    dirty: bool,
}

/// A whole access on its way through both stages: what faults report.
#[derive(Clone, Copy)]
struct Request<'a> {
    address: u64,
    access: Access,
    context: &'a Context,
}

impl Request<'_> {
    const fn access_fault(&self) -> Trap {
        self.context.access_fault(self.address, self.access)
    }

    const fn page_fault(&self) -> Trap {
        let mut trap = Trap::new(self.access.page_fault(), self.address);
        trap.guest_address = self.context.v;
        trap
    }

    /// A guest-page fault at `guest`. `instruction`: the pseudoinstruction of an implicit access, or 0.
    const fn guest_page_fault(&self, guest: u64, instruction: u64) -> Trap {
        Trap {
            cause: self.access.guest_page_fault(),
            value: self.address,
            value2: guest >> 2,
            instruction,
            guest_address: true,
        }
    }
}

/// The pseudoinstructions of implicit accesses to 64-bit entries of VS-stage page tables (section 8.6.3).
const READ_OF_ENTRY: u64 = 0x3000;
const WRITE_OF_ENTRY: u64 = 0x3020;

impl Privileged {
    /// What translates for an IOMMU: PMP lets everything pass, and no bits A and D are set in tables.
    #[must_use]
    pub(crate) fn of_iommu() -> Self {
        let mut privileged = Self::new(0);
        privileged.menvcfg = 0;
        privileged.pmp = Pmp::open();
        privileged
    }

    /// The context of instruction fetches.
    #[inline]
    #[must_use]
    pub const fn fetch_context(&self) -> Context {
        let mut context = self.context(self.mode);
        context.sum = false;
        context.mxr = false;
        context.guest_mxr = false;
        context
    }

    /// The context of loads and stores, other than those of the hypervisor's instructions. With `mstatus.MPRV` set it
    /// is that of MPP and MPV (sections 3.1.6.3 and 8.4.1).
    #[inline]
    #[must_use]
    pub const fn data_context(&self) -> Context {
        self.context(self.data_mode())
    }

    const fn data_mode(&self) -> Mode {
        if self.mstatus & mstatus::MPRV == 0 {
            return self.mode;
        }
        let privilege = Privilege::from_field(self.mstatus >> mstatus::MPP_SHIFT);
        let v = self.mstatus & mstatus::MPV != 0 && !matches!(privilege, Privilege::Machine);
        Mode { privilege, v }
    }

    /// The context of HLV, HLVX and HSV: VS or VU by `hstatus.SPVP`, MPRV notwithstanding (section
    /// 8.3.1).
    #[must_use]
    pub const fn hypervisor_context(&self) -> Context {
        let privilege = if self.hstatus & hstatus::SPVP != 0 {
            Privilege::Supervisor
        } else {
            Privilege::User
        };
        self.context(Mode { privilege, v: true })
    }

    const fn context(&self, mode: Mode) -> Context {
        if matches!(mode.privilege, Privilege::Machine) {
            return Context {
                privilege: Privilege::Machine,
                v: false,
                sum: false,
                mxr: false,
                guest_mxr: false,
                root: 0,
                guest_root: 0,
            };
        }
        let mxr = self.mstatus & mstatus::MXR != 0;
        if mode.v {
            Context {
                privilege: mode.privilege,
                v: true,
                sum: self.vsstatus & mstatus::SUM != 0,
                mxr: mxr || self.vsstatus & mstatus::MXR != 0,
                guest_mxr: mxr,
                root: self.vsatp,
                guest_root: self.hgatp,
            }
        } else {
            Context {
                privilege: mode.privilege,
                v: false,
                sum: self.mstatus & mstatus::SUM != 0,
                mxr,
                guest_mxr: false,
                root: self.satp,
                guest_root: 0,
            }
        }
    }

    /// Translates the `address` of an access of `length` bytes (1 to 8, within one 4 KiB page) and checks all that
    /// can forbid it.
    ///
    /// # Errors
    ///
    /// The exception. Where it is about a load or store, [`Trap::by`] is to add the instruction.
    pub fn translate<M: PageTables>(
        &self,
        address: u64,
        length: u8,
        access: Access,
        context: &Context,
        memory: &mut M,
    ) -> Result<Translation, Trap> {
        let request = Request {
            address,
            access,
            context,
        };
        let mut translation = Translation {
            physical: address,
            page: 12,
            guest_page: 12,
            readable: true,
            writable: true,
            executable: true,
            whole_page: true,
        };
        let mut rights = Rights::all();
        if context.root >> 60 != 0 {
            let leaf = self.first_stage(&request, memory)?;
            translation.physical = leaf.address;
            translation.page = leaf.page;
            translation.guest_page = leaf.page;
            rights = leaf.rights;
            translation.writable = leaf.dirty;
        }
        if context.guest_root >> 60 != 0 {
            let leaf = self.second_stage(&request, translation.physical, access, 0, memory)?;
            translation.physical = leaf.address;
            if context.root >> 60 == 0 {
                translation.page = leaf.page;
            }
            translation.guest_page = leaf.page;
            rights &= leaf.rights;
            translation.writable &= leaf.dirty;
        }
        let allowed = match self
            .pmp
            .page_rights(translation.physical, context.privilege)
        {
            Some(allowed) => allowed,
            None => {
                translation.whole_page = false;
                self.pmp
                    .rights(translation.physical, u64::from(length), context.privilege)
            }
        };
        if !allowed.contains(Rights::needed(access)) {
            return Err(request.access_fault());
        }
        rights &= allowed;
        translation.readable = rights.contains(Rights::READ);
        translation.writable &= rights.contains(Rights::WRITE);
        translation.executable = rights.contains(Rights::EXECUTE);
        Ok(translation)
    }

    /// The first stage: through `satp`, or through `vsatp` with tables that are themselves guest physical.
    fn first_stage<M: PageTables>(
        &self,
        request: &Request<'_>,
        memory: &mut M,
    ) -> Result<Leaf, Trap> {
        let context = request.context;
        let levels = levels(context.root);
        // All higher bits must equal the highest one that is translated.
        let unused = 64 - (12 + 9 * levels);
        if ((request.address << unused) as i64 >> unused) as u64 != request.address {
            return Err(request.page_fault());
        }
        let hardware = if context.v {
            self.henvcfg & self.menvcfg
        } else {
            self.menvcfg
        } & envcfg::ADUE
            != 0;
        'walk: for _ in 0..ATTEMPTS {
            let mut table = (context.root & PPN) << 12;
            for level in (0..levels).rev() {
                let shift = 12 + 9 * level;
                let place = table + (request.address >> shift & 0x1ff) * 8;
                let physical = self.entry(request, place, Access::Load, memory)?;
                let entry = memory
                    .read(physical)
                    .ok_or_else(|| request.access_fault())?;
                let entry = match Entry::of(entry, level) {
                    Some(Entry::Leaf(entry)) => entry,
                    Some(Entry::Table(next)) => {
                        table = next;
                        continue;
                    }
                    None => return Err(request.page_fault()),
                };
                // What U may access, S may only with SUM, and never execute; what S may access, U may not.
                let user = entry & pte::U != 0;
                let reachable = match context.privilege {
                    Privilege::User => user,
                    _ => !user || context.sum && request.access != Access::Fetch,
                };
                let mut rights = leaf_rights(entry, context.mxr);
                if !reachable || !satisfied(entry, rights, request.access) {
                    return Err(request.page_fault());
                }
                if user && context.privilege != Privilege::User {
                    rights -= Rights::EXECUTE;
                }
                let wanted = with_marks(entry, request.access);
                if wanted != entry {
                    if !hardware {
                        return Err(request.page_fault());
                    }
                    let physical = self.entry(request, place, Access::Store, memory)?;
                    if !memory
                        .update(physical, entry, wanted)
                        .ok_or_else(|| request.access_fault())?
                    {
                        continue 'walk;
                    }
                }
                return Ok(Leaf::new(wanted, shift, request.address, rights));
            }
            return Err(request.page_fault());
        }
        Err(request.access_fault())
    }

    /// The physical address of the entry of a first-stage table at `place`, checked for the access to it.
    fn entry<M: PageTables>(
        &self,
        request: &Request<'_>,
        place: u64,
        access: Access,
        memory: &mut M,
    ) -> Result<u64, Trap> {
        let physical = if request.context.guest_root >> 60 == 0 {
            place
        } else {
            let instruction = if access == Access::Store {
                WRITE_OF_ENTRY
            } else {
                READ_OF_ENTRY
            };
            self.second_stage(request, place, access, instruction, memory)?
                .address
        };
        self.check_entry(request, physical, access)?;
        Ok(physical)
    }

    /// PMP sees accesses to page tables as S-mode's (section 3.7.2).
    fn check_entry(
        &self,
        request: &Request<'_>,
        physical: u64,
        access: Access,
    ) -> Result<(), Trap> {
        if self
            .pmp
            .rights(physical, 8, Privilege::Supervisor)
            .contains(Rights::needed(access))
        {
            Ok(())
        } else {
            Err(request.access_fault())
        }
    }

    /// The second stage, of the guest physical address `guest`. `access` is what is done there: for an implicit access
    /// a load or store, though faults are reported as of the original access (section 8.5.1).
    fn second_stage<M: PageTables>(
        &self,
        request: &Request<'_>,
        guest: u64,
        access: Access,
        instruction: u64,
        memory: &mut M,
    ) -> Result<Leaf, Trap> {
        let context = request.context;
        let fault = || request.guest_page_fault(guest, instruction);
        let levels = levels(context.guest_root);
        // Two bits more than the first stage, and no sign.
        if guest >> (14 + 9 * levels) != 0 {
            return Err(fault());
        }
        let hardware = self.menvcfg & envcfg::ADUE != 0;
        // Implicit accesses are not loads that MXR is about.
        let mxr = context.guest_mxr && instruction == 0;
        'walk: for _ in 0..ATTEMPTS {
            let mut table = (context.guest_root & PPN) << 12;
            for level in (0..levels).rev() {
                let shift = 12 + 9 * level;
                let index = if level + 1 == levels {
                    guest >> shift
                } else {
                    guest >> shift & 0x1ff
                };
                let physical = table + index * 8;
                self.check_entry(request, physical, Access::Load)?;
                let entry = memory
                    .read(physical)
                    .ok_or_else(|| request.access_fault())?;
                let entry = match Entry::of(entry, level) {
                    Some(Entry::Leaf(entry)) => entry,
                    Some(Entry::Table(next)) => {
                        table = next;
                        continue;
                    }
                    None => return Err(fault()),
                };
                let rights = leaf_rights(entry, mxr);
                // Every access counts as U's.
                if entry & pte::U == 0 || !satisfied(entry, rights, access) {
                    return Err(fault());
                }
                let wanted = with_marks(entry, access);
                if wanted != entry {
                    if !hardware {
                        return Err(fault());
                    }
                    self.check_entry(request, physical, Access::Store)?;
                    if !memory
                        .update(physical, entry, wanted)
                        .ok_or_else(|| request.access_fault())?
                    {
                        continue 'walk;
                    }
                }
                return Ok(Leaf::new(wanted, shift, guest, rights));
            }
            return Err(fault());
        }
        Err(request.access_fault())
    }
}

/// A valid page-table entry.
enum Entry {
    /// The address of the next table.
    Table(u64),
    Leaf(u64),
}

impl Entry {
    /// `None`: not valid at this level (section 4.3.2, steps 3, 4 and 6, and section 4.4.1 of reserved bits).
    const fn of(entry: u64, level: u32) -> Option<Self> {
        let permissions = entry & (pte::R | pte::W | pte::X);
        if entry & pte::V == 0
            || entry & pte::RESERVED != 0
            || permissions & (pte::R | pte::W) == pte::W
        {
            return None;
        }
        if permissions == 0 {
            // D, A and U are reserved here.
            if level == 0 || entry & (pte::D | pte::A | pte::U) != 0 {
                return None;
            }
            return Some(Self::Table(pte::base(entry)));
        }
        // A leaf of a higher level must begin where its size says.
        if pte::base(entry) & ((1 << (12 + 9 * level)) - 1) != 0 {
            return None;
        }
        Some(Self::Leaf(entry))
    }
}

impl Leaf {
    const fn new(entry: u64, shift: u32, address: u64, rights: Rights) -> Self {
        let offset = (1 << shift) - 1;
        Self {
            address: pte::base(entry) | address & offset,
            page: shift as u8,
            rights,
            dirty: entry & pte::D != 0,
        }
    }
}

/// The permissions of a leaf, reachability aside.
const fn leaf_rights(entry: u64, mxr: bool) -> Rights {
    let mut rights = Rights::empty();
    if entry & pte::R != 0 || mxr && entry & pte::X != 0 {
        rights = rights.union(Rights::READ);
    }
    if entry & pte::W != 0 {
        rights = rights.union(Rights::WRITE);
    }
    if entry & pte::X != 0 {
        rights = rights.union(Rights::EXECUTE);
    }
    rights
}

/// Whether a leaf allows the access.
const fn satisfied(entry: u64, rights: Rights, access: Access) -> bool {
    match access {
        // Execute permission in place of read permission.
        Access::LoadExecute => entry & pte::X != 0,
        _ => rights.contains(Rights::needed(access)),
    }
}

/// The entry with A, and for a store D, set.
const fn with_marks(entry: u64, access: Access) -> u64 {
    entry
        | pte::A
        | if matches!(access, Access::Store) {
            pte::D
        } else {
            0
        }
}
