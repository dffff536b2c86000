//! Address translation against a slow model of the specification's steps, and directed cases.

use crate::hart::Hart;
use proptest::prelude::*;
use std::collections::BTreeMap;
use tactus_board::privileged::number as csr;
use tactus_board::privileged::{
    Access, Context, Exception, Mode, PageTables, Privilege, Privileged, Translation, Trap,
};

const V: u64 = 1;
const R: u64 = 2;
const W: u64 = 4;
const X: u64 = 8;
const U: u64 = 16;
const A: u64 = 64;
const D: u64 = 128;
const ADUE: u64 = 1 << 61;
/// The page number of a root.
const PPN: u64 = (1 << 44) - 1;

/// Doublewords at physical addresses, which exist below `end`: 0 where nothing was written.
#[derive(Clone, Debug, PartialEq)]
struct Memory {
    entries: BTreeMap<u64, u64>,
    end: u64,
}

impl Memory {
    fn new(end: u64) -> Self {
        Self {
            entries: BTreeMap::new(),
            end,
        }
    }

    fn set(&mut self, address: u64, entry: u64) {
        self.entries.insert(address, entry);
    }
}

impl PageTables for Memory {
    fn read(&mut self, physical: u64) -> Option<u64> {
        assert_eq!(physical % 8, 0);
        (physical < self.end).then(|| self.entries.get(&physical).copied().unwrap_or(0))
    }

    fn update(&mut self, physical: u64, old: u64, new: u64) -> Option<bool> {
        let entry = self.read(physical)?;
        if entry == old {
            self.set(physical, new);
        }
        Some(entry == old)
    }
}

/// A hart with all of memory open to all modes by PMP.
fn open(mode: Mode) -> Hart {
    let mut hart = Hart::open(mode);
    hart.poke(csr::PMPADDR0, u64::MAX);
    hart.poke(csr::PMPCFG0, 0x1f);
    hart
}

/// The model: the inputs of a walk, and its results.
struct Model<'a> {
    context: Context,
    access: Access,
    address: u64,
    memory: &'a mut Memory,
    /// Whether hardware updates A and D in the last stage, and in the first of two stages.
    adue: [bool; 2],
    /// The pages that PMP closes to S and U for loads, stores and fetches.
    closed: [u64; 3],
}

/// An error, before it becomes a trap.
enum Fault {
    Access,
    Page,
    Guest { address: u64, implicit: u64 },
}

/// The result of a stage: address, log2 of the leaf's size, effective R, W, X, and D.
struct Found {
    address: u64,
    page: u8,
    rights: [bool; 3],
    dirty: bool,
}

impl Model<'_> {
    fn run(mut self) -> Result<Translation, Trap> {
        self.both().map_err(|fault| {
            let [page, access, guest] = match self.access {
                Access::Load | Access::LoadExecute => [
                    Exception::LoadPageFault,
                    Exception::LoadAccessFault,
                    Exception::LoadGuestPageFault,
                ],
                Access::Store => [
                    Exception::StorePageFault,
                    Exception::StoreAccessFault,
                    Exception::StoreGuestPageFault,
                ],
                Access::Fetch => [
                    Exception::InstructionPageFault,
                    Exception::InstructionAccessFault,
                    Exception::InstructionGuestPageFault,
                ],
            };
            let (cause, value2, instruction) = match fault {
                Fault::Access => (access, 0, 0),
                Fault::Page => (page, 0, 0),
                Fault::Guest { address, implicit } => (guest, address / 4, implicit),
            };
            Trap {
                cause,
                value: self.address,
                value2,
                instruction,
                guest_address: self.context.v,
            }
        })
    }

    fn both(&mut self) -> Result<Translation, Fault> {
        let same = |address| Found {
            address,
            page: 12,
            rights: [true; 3],
            dirty: true,
        };
        let one = if self.context.root >> 60 == 0 {
            same(self.address)
        } else {
            self.first()?
        };
        let guest = self.context.guest_root >> 60 != 0;
        let two = if guest {
            self.second(one.address, self.access, 0)?
        } else {
            same(one.address)
        };
        self.physical(two.address, self.access)?;
        let open = |index: usize| self.closed[index] != two.address >> 12;
        let right = |index: usize| one.rights[index] && two.rights[index] && open(index);
        let page = if self.context.root >> 60 == 0 {
            two.page
        } else {
            one.page
        };
        Ok(Translation {
            physical: two.address,
            page,
            guest_page: if guest { two.page } else { page },
            readable: right(0),
            writable: right(1) && one.dirty && two.dirty,
            executable: right(2),
            whole_page: true,
        })
    }

    /// The check by PMP.
    fn physical(&self, address: u64, access: Access) -> Result<(), Fault> {
        let closed = |index: usize| self.closed[index] == address >> 12;
        let refused = match access {
            Access::Load => closed(0),
            Access::Store => closed(1),
            Access::Fetch => closed(2),
            Access::LoadExecute => closed(0) || closed(2),
        };
        // The entry that opens the rest covers all addresses of an address register.
        if refused || address >> 57 != 0 {
            Err(Fault::Access)
        } else {
            Ok(())
        }
    }

    fn first(&mut self) -> Result<Found, Fault> {
        let levels = if self.context.root >> 60 == 8 { 3 } else { 4 };
        let bits = 12 + 9 * levels;
        let upper = self.address >> (bits - 1);
        if upper != 0 && upper != u64::MAX >> (bits - 1) {
            return Err(Fault::Page);
        }
        let mut a = (self.context.root & PPN) * 4096;
        let mut i = levels - 1;
        loop {
            let place = a + (self.address >> (12 + 9 * i)) % 512 * 8;
            let physical = self.table(place, Access::Load)?;
            self.physical(physical, Access::Load)?;
            let pte = self.memory.read(physical).ok_or(Fault::Access)?;
            if pte & V == 0 || pte & R == 0 && pte & W != 0 || pte >> 54 != 0 {
                return Err(Fault::Page);
            }
            if pte & (R | X) == 0 {
                if i == 0 || pte & (U | A | D) != 0 {
                    return Err(Fault::Page);
                }
                i -= 1;
                a = (pte >> 10) * 4096;
                continue;
            }
            let user = self.context.privilege == Privilege::User;
            let fetch = self.access == Access::Fetch;
            if user && pte & U == 0 || !user && pte & U != 0 && (fetch || !self.context.sum) {
                return Err(Fault::Page);
            }
            let mut rights = [
                pte & R != 0 || self.context.mxr && pte & X != 0,
                pte & W != 0,
                pte & X != 0,
            ];
            self.allowed(rights).then_some(()).ok_or(Fault::Page)?;
            // A cached translation is for the same privilege only.
            rights[2] &= user || pte & U == 0;
            if (pte >> 10) % 512_u64.pow(i) != 0 {
                return Err(Fault::Page);
            }
            let mut marked = pte | A;
            if self.access == Access::Store {
                marked |= D;
            }
            if marked != pte {
                if !self.adue[usize::from(self.context.v)] {
                    return Err(Fault::Page);
                }
                let physical = self.table(place, Access::Store)?;
                self.physical(physical, Access::Store)?;
                self.memory.set(physical, marked);
            }
            let size = 4096 * 512_u64.pow(i);
            let address = (pte >> 10) * 4096 + self.address % size;
            return Ok(Found {
                address,
                page: (12 + 9 * i) as u8,
                rights,
                dirty: marked & D != 0,
            });
        }
    }

    fn allowed(&self, [r, w, x]: [bool; 3]) -> bool {
        match self.access {
            Access::Load => r,
            Access::Store => w,
            Access::Fetch | Access::LoadExecute => x,
        }
    }

    /// The address of an entry of the first stage's tables.
    fn table(&mut self, place: u64, access: Access) -> Result<u64, Fault> {
        if self.context.guest_root >> 60 == 0 {
            return Ok(place);
        }
        let implicit = if access == Access::Store {
            0x3020
        } else {
            0x3000
        };
        Ok(self.second(place, access, implicit)?.address)
    }

    fn second(&mut self, address: u64, access: Access, implicit: u64) -> Result<Found, Fault> {
        let fault = || Fault::Guest { address, implicit };
        let levels = if self.context.guest_root >> 60 == 8 {
            3
        } else {
            4
        };
        if address >= 1 << (14 + 9 * levels) {
            return Err(fault());
        }
        let mut a = (self.context.guest_root & PPN) * 4096;
        let mut i = levels - 1;
        loop {
            let entries = if i == levels - 1 { 2048 } else { 512 };
            let place = a + (address >> (12 + 9 * i)) % entries * 8;
            self.physical(place, Access::Load)?;
            let pte = self.memory.read(place).ok_or(Fault::Access)?;
            if pte & V == 0 || pte & R == 0 && pte & W != 0 || pte >> 54 != 0 {
                return Err(fault());
            }
            if pte & (R | X) == 0 {
                if i == 0 || pte & (U | A | D) != 0 {
                    return Err(fault());
                }
                i -= 1;
                a = (pte >> 10) * 4096;
                continue;
            }
            let rights = [
                pte & R != 0 || self.context.guest_mxr && implicit == 0 && pte & X != 0,
                pte & W != 0,
                pte & X != 0,
            ];
            let allowed = match access {
                Access::Load => rights[0],
                Access::Store => rights[1],
                Access::Fetch | Access::LoadExecute => rights[2],
            };
            if pte & U == 0 || !allowed || (pte >> 10) % 512_u64.pow(i) != 0 {
                return Err(fault());
            }
            let mut marked = pte | A;
            if access == Access::Store {
                marked |= D;
            }
            if marked != pte {
                if !self.adue[0] {
                    return Err(fault());
                }
                self.physical(place, Access::Store)?;
                self.memory.set(place, marked);
            }
            let size = 4096 * 512_u64.pow(i);
            let address = (pte >> 10) * 4096 + address % size;
            return Ok(Found {
                address,
                page: (12 + 9 * i) as u8,
                rights,
                dirty: marked & D != 0,
            });
        }
    }
}

/// The number of pages in use: the tables, and the pages that they map.
const PAGES: u64 = 24;
/// The indices in use of the first stage's tables.
const INDICES: [u64; 6] = [0, 1, 2, 255, 256, 511];
/// The pages of the tables, from the level of single pages up. The second stage's root has four.
const FIRST: [u64; 4] = [3, 2, 1, 0];
const SECOND: [u64; 4] = [17, 16, 12, 8];

/// Entries with any error.
fn odd() -> impl Strategy<Value = u64> {
    let page = || prop_oneof![4 => 0..PAGES, 1 => 0..1_u64 << 20];
    prop_oneof![
        page().prop_map(|page| page << 10 | V),
        (page(), 0..256_u64).prop_map(|(page, bits)| page << 10 | bits),
        (0..PAGES, 0..10_u32).prop_map(|(page, bit)| page << 10 | 0xdf | 1 << (54 + bit)),
        any::<u64>(),
    ]
}

/// Leaves of one level, most of which permit most accesses.
fn leaf(page: impl Strategy<Value = u64>) -> impl Strategy<Value = u64> {
    let bits = prop_oneof![
        4 => Just(V | R | W | X | A | D),
        3 => (0..256_u64).prop_map(|bits| bits | V | R),
        1 => Just(V | X | A),
    ];
    (page, bits, any::<bool>())
        .prop_map(|(page, bits, user)| page << 10 | bits | if user { U } else { 0 })
}

/// The tables of both stages: page, index and entry.
fn tables() -> impl Strategy<Value = Vec<(u64, u64, u64)>> {
    let mut all = Vec::new();
    let mut add = |page: u64, index: u64, entry: BoxedStrategy<u64>| {
        all.push(entry.prop_map(move |entry| (page, index, entry)));
    };
    for level in 0..4_u32 {
        let large = || leaf((0..3_u64).prop_map(move |page| page << (9 * level)));
        for index in INDICES {
            let good = match level {
                0 => leaf(0..PAGES).boxed(),
                _ => Just(FIRST[level as usize - 1] << 10 | V).boxed(),
            };
            add(
                FIRST[level as usize],
                index,
                prop_oneof![12 => good, 2 => large(), 1 => odd()].boxed(),
            );
        }
        // Guest pages map to pages of the same number, so that the guest's tables are at the same addresses.
        for index in 0..if level == 0 { PAGES } else { 2 } {
            let good = match level {
                0 => leaf(Just(index)).prop_map(|entry| entry | U).boxed(),
                _ => Just(SECOND[level as usize - 1] << 10 | V).boxed(),
            };
            let large = large().prop_map(|entry| entry | U);
            add(
                SECOND[level as usize],
                index,
                prop_oneof![20 => good, 1 => large, 1 => odd()].boxed(),
            );
        }
    }
    all
}

fn index() -> impl Strategy<Value = u64> {
    prop::sample::select(&INDICES[..])
}

/// Addresses whose parts are indices in use, sign-extended or not.
fn address() -> impl Strategy<Value = u64> {
    (index(), index(), index(), index(), 0..4096_u64, 0..8_u8).prop_map(
        |(four, three, two, one, offset, kind)| {
            let address = four << 39 | three << 30 | two << 21 | one << 12 | offset & !7;
            match kind {
                0 => address,
                1 => address & 0xfff | 0x1000,
                2 => (address << 16) as i64 as u64 >> 16,
                3 | 4 => ((address << 25) as i64 >> 25) as u64,
                5 => ((address << 16) as i64 >> 16) as u64,
                6 => address & 0x1_ffff_ffff,
                _ => address & 0x3f_ffff_ffff,
            }
        },
    )
}

#[derive(Clone, Debug)]
struct Case {
    entries: Vec<(u64, u64, u64)>,
    mode: Mode,
    roots: [u64; 3],
    status: [u64; 2],
    adue: [bool; 2],
    closed: [u64; 3],
    accesses: Vec<(u64, Access, bool)>,
}

fn case() -> impl Strategy<Value = Case> {
    let mode = prop::sample::select(vec![
        Mode::SUPERVISOR,
        Mode::USER,
        Mode::VIRTUAL_SUPERVISOR,
        Mode::VIRTUAL_SUPERVISOR,
        Mode::VIRTUAL_USER,
    ]);
    let scheme = || prop::sample::select(vec![0, 8, 8, 8, 9_u64]);
    let access = prop::sample::select(vec![
        Access::Load,
        Access::Store,
        Access::Fetch,
        Access::LoadExecute,
    ]);
    let closed = || prop_oneof![9 => Just(u64::MAX), 1 => 0..PAGES];
    (
        tables(),
        mode,
        [scheme(), scheme(), scheme()],
        [0..4_u64, 0..4_u64],
        [any::<bool>(), any::<bool>()],
        [closed(), closed(), closed()],
        prop::collection::vec((address(), access, any::<bool>()), 1..24),
    )
        .prop_map(
            |(entries, mode, roots, status, adue, closed, accesses)| Case {
                entries,
                mode,
                roots,
                status,
                adue,
                closed,
                accesses,
            },
        )
}

/// The hart of a case. PMP entries close single pages for one kind of access each.
fn hart_of(case: &Case) -> Hart {
    let mut hart = Hart::open(case.mode);
    let napot = |page: u64| page << 10 | 0x1ff;
    let mut configuration = 0x1f_u64 << 24;
    hart.poke(csr::PMPADDR0 + 3, u64::MAX);
    // Of two entries for the same page, the first applies to both.
    let merged = |page: u64| {
        let closes = |index: usize| u64::from(case.closed[index] == page);
        let (r, w, x) = (closes(0), closes(1), closes(2));
        // Without R there is no W.
        0x1f & !(r | (w | r) << 1 | x << 2)
    };
    for (entry, &page) in case.closed.iter().enumerate() {
        if page != u64::MAX {
            hart.poke(csr::PMPADDR0 + entry as u16, napot(page));
            configuration |= merged(page) << (8 * entry);
        }
    }
    hart.poke(csr::PMPCFG0, configuration);
    hart.poke(csr::MENVCFG, u64::from(case.adue[0]) * ADUE);
    hart.poke(csr::HENVCFG, u64::from(case.adue[1]) * ADUE);
    hart.poke(csr::MSTATUS, case.status[0] << 18);
    hart.poke(csr::VSSTATUS, case.status[1] << 18);
    let root = |pages: [u64; 4], scheme: u64| match scheme {
        0 => 0,
        _ => scheme << 60 | pages[scheme as usize - 6],
    };
    hart.poke(csr::SATP, root(FIRST, case.roots[0]));
    hart.poke(csr::VSATP, root(FIRST, case.roots[1]));
    hart.poke(csr::HGATP, root(SECOND, case.roots[2]));
    hart
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn p_4_3_2_h_8_5_walks_like_the_model(case in case()) {
        let hart = hart_of(&case);
        let mut memory = Memory::new(1 << 32);
        for &(page, index, entry) in &case.entries {
            memory.set(page << 12 | index << 3, entry);
        }
        let mut closed = case.closed;
        // A page that cannot be read cannot be written either: PMP has no such entry.
        if closed[0] != u64::MAX && closed[1] == u64::MAX {
            closed[1] = closed[0];
        }
        prop_assume!(closed[0] == u64::MAX || closed[1] == closed[0]);
        for &(address, access, hypervisor) in &case.accesses {
            let context = match access {
                Access::Fetch => hart.state.fetch_context(),
                // Only the hypervisor executes HLVX, but its rules apply to any context.
                Access::Load | Access::Store if hypervisor => hart.state.hypervisor_context(),
                Access::LoadExecute => hart.state.hypervisor_context(),
                _ => hart.state.data_context(),
            };
            let mut modelled = memory.clone();
            let adue = [case.adue[0], case.adue[0] && case.adue[1]];
            let model = Model { context, access, address, memory: &mut modelled, adue, closed };
            let expected = model.run();
            let found = hart.state.translate(address, 8, access, &context, &mut memory);
            prop_assert_eq!(found, expected, "{:#x} {:?} {:?}", address, access, context);
            prop_assert_eq!(&memory, &modelled);
        }
    }
}

/// A hart in `mode` with Sv39 tables from page 1 on.
///
/// They map 1 GiB at the third gigabyte identically, and a page at 0x1000 by `entry`.
fn mapped(mode: Mode, entry: u64) -> (Hart, Memory) {
    let mut hart = open(mode);
    let mut memory = Memory::new(1 << 40);
    for root in [csr::SATP, csr::VSATP] {
        hart.poke(root, 8 << 60 | 1);
    }
    memory.set(0x1000, 0x2 << 10 | V);
    memory.set(0x1010, 0x8_0000 << 10 | 0xcf);
    memory.set(0x2000, 0x3 << 10 | V);
    memory.set(0x3008, entry);
    (hart, memory)
}

/// The outcome of an access in the hart's mode.
fn outcome(
    hart: &Hart,
    memory: &mut Memory,
    address: u64,
    access: Access,
) -> Result<Translation, Trap> {
    let context = match access {
        Access::Fetch => hart.state.fetch_context(),
        _ => hart.state.data_context(),
    };
    hart.state.translate(address, 8, access, &context, memory)
}

#[test]
fn p_4_4_1_bits_54_to_63_are_reserved() {
    for bit in 54..64 {
        let (hart, mut memory) = mapped(Mode::SUPERVISOR, 0x5 << 10 | 0xcf | 1 << bit);
        let fault = Err(Trap::new(Exception::LoadPageFault, 0x1008));
        assert_eq!(
            outcome(&hart, &mut memory, 0x1008, Access::Load),
            fault,
            "bit {bit} of a leaf"
        );
        let (hart, mut memory) = mapped(Mode::SUPERVISOR, 0x5 << 10 | 0xcf);
        memory.set(0x2000, 0x3 << 10 | V | 1 << bit);
        assert_eq!(
            outcome(&hart, &mut memory, 0x1008, Access::Load),
            fault,
            "bit {bit} of a pointer"
        );
    }
}

#[test]
fn p_4_3_1_every_leaf_in_every_mode_for_every_access() {
    for mode in [
        Mode::SUPERVISOR,
        Mode::USER,
        Mode::VIRTUAL_SUPERVISOR,
        Mode::VIRTUAL_USER,
    ] {
        for bits in 0..256_u64 {
            for (sum, mxr) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                for access in [Access::Load, Access::Store, Access::Fetch] {
                    let (mut hart, mut memory) = mapped(mode, 0x5 << 10 | bits);
                    hart.poke(csr::MENVCFG, 0);
                    hart.poke(csr::MSTATUS, if mode.v { 0 } else { sum << 18 | mxr << 19 });
                    hart.poke(
                        csr::VSSTATUS,
                        if mode.v { sum << 18 | mxr << 19 } else { 0 },
                    );
                    let has = |bit: u64| bits & bit != 0;
                    let leaf = has(V) && (has(R) || has(X)) && (has(R) || !has(W));
                    let reachable = match mode.privilege {
                        Privilege::User => has(U),
                        _ => !has(U) || sum == 1 && access != Access::Fetch,
                    };
                    let right = match access {
                        Access::Load => has(R) || mxr == 1 && has(X),
                        Access::Store => has(W) && has(D),
                        _ => has(X),
                    };
                    let found = outcome(&hart, &mut memory, 0x1008, access);
                    let good = leaf && reachable && right && has(A);
                    assert_eq!(
                        found.is_ok(),
                        good,
                        "{bits:#x} {access:?} {mode:?} SUM {sum} MXR {mxr}"
                    );
                    if let Ok(found) = found {
                        assert_eq!((found.physical, found.page), (0x5008, 12));
                    }
                }
            }
        }
    }
}

#[test]
fn svadu_and_svade_by_the_switch() {
    for hardware in [false, true] {
        for (bits, access, after) in [
            (V | R | W, Access::Load, V | R | W | A),
            (V | R | W, Access::Store, V | R | W | A | D),
            (V | R | W | A, Access::Store, V | R | W | A | D),
            (V | R | W | A | D, Access::Store, V | R | W | A | D),
            (V | R | X, Access::Fetch, V | R | X | A),
        ] {
            let (mut hart, mut memory) = mapped(Mode::SUPERVISOR, 0x5 << 10 | bits);
            hart.poke(csr::MENVCFG, u64::from(hardware) * ADUE);
            let found = outcome(&hart, &mut memory, 0x1000, access);
            assert_eq!(found.is_ok(), hardware || bits == after);
            let kept = if hardware { after } else { bits };
            assert_eq!(memory.entries[&0x3008], 0x5 << 10 | kept);
            // A store may skip the walk only once D is set.
            if let Ok(found) = found {
                assert_eq!(found.writable, after & (W | D) == W | D);
            }
        }
    }
}

#[test]
fn p_4_4_1_walks_leave_memory() {
    let (hart, mut memory) = mapped(Mode::SUPERVISOR, 0);
    memory.set(0x2000, 1 << 38 | V);
    memory.end = 1 << 32;
    for (access, cause) in [
        (Access::Load, Exception::LoadAccessFault),
        (Access::Store, Exception::StoreAccessFault),
        (Access::Fetch, Exception::InstructionAccessFault),
    ] {
        assert_eq!(
            outcome(&hart, &mut memory, 0x1008, access),
            Err(Trap::new(cause, 0x1008))
        );
    }
}

#[test]
fn p_3_1_6_3_m_is_not_translated_but_for_mprv() {
    let (mut hart, mut memory) = mapped(Mode::MACHINE, 0x5 << 10 | 0xcf);
    let physical = |hart: &Hart, memory: &mut Memory, access| {
        outcome(hart, memory, 0x1008, access).map(|found| found.physical)
    };
    assert_eq!(physical(&hart, &mut memory, Access::Load), Ok(0x1008));
    hart.poke(csr::MSTATUS, 1 << 17 | 1 << 11);
    assert_eq!(physical(&hart, &mut memory, Access::Load), Ok(0x5008));
    assert_eq!(
        physical(&hart, &mut memory, Access::Fetch),
        Ok(0x1008),
        "fetches are M's"
    );
    // As U: the page is S's.
    hart.poke(csr::MSTATUS, 1 << 17);
    assert_eq!(
        physical(&hart, &mut memory, Access::Load),
        Err(Trap::new(Exception::LoadPageFault, 0x1008))
    );
    // As VS: the faulting address is a guest's.
    hart.poke(csr::MSTATUS, 1 << 17 | 1 << 39);
    let fault = Trap {
        guest_address: true,
        ..Trap::new(Exception::LoadPageFault, 0x1008)
    };
    assert_eq!(physical(&hart, &mut memory, Access::Load), Err(fault));
}

#[test]
fn p_3_7_pmp_within_a_page_is_told() {
    let (mut hart, mut memory) = mapped(Mode::SUPERVISOR, 0x5 << 10 | 0xcf);
    // 8 bytes at 0x5008 can only be read; the rest is open.
    hart.poke(csr::PMPADDR0, 0x5008 >> 2);
    hart.poke(csr::PMPADDR0 + 1, u64::MAX);
    hart.poke(csr::PMPCFG0, 0x1f19);
    let found = outcome(&hart, &mut memory, 0x1008, Access::Load).expect("readable");
    assert!(!found.whole_page && found.readable && !found.writable && !found.executable);
    let fault = Err(Trap::new(Exception::StoreAccessFault, 0x1008));
    assert_eq!(outcome(&hart, &mut memory, 0x1008, Access::Store), fault);
    let found = outcome(&hart, &mut memory, 0x1010, Access::Store).expect("writable");
    assert!(!found.whole_page && found.writable);
    // Half inside, half outside: neither entry matches all of the access.
    let fault = Err(Trap::new(Exception::LoadAccessFault, 0x100c));
    assert_eq!(outcome(&hart, &mut memory, 0x100c, Access::Load), fault);
}

/// A guest with VS-stage tables from guest page 0x10 on and a G-stage root at page 0x20.
///
/// The root maps the guest's pages 0x10 to 0x13 to 0x30 to 0x33, by default readable and writable. The guest's 0x1000
/// maps to its physical 0x5000.
struct Guest {
    hart: Hart,
    memory: Memory,
}

impl Guest {
    fn new() -> Self {
        let mut hart = open(Mode::VIRTUAL_SUPERVISOR);
        hart.poke(csr::VSATP, 8 << 60 | 0x10);
        hart.poke(csr::HGATP, 8 << 60 | 0x20);
        let mut memory = Memory::new(1 << 32);
        memory.set(0x2_0000, 0x24 << 10 | V);
        memory.set(0x2_4000, 0x25 << 10 | V);
        for page in 0x10..0x14 {
            memory.set(0x2_5000 + page * 8, (page + 0x20) << 10 | 0xd7);
        }
        memory.set(0x2_5028, 0x35 << 10 | 0xdf);
        memory.set(0x3_0000, 0x11 << 10 | V);
        memory.set(0x3_1000, 0x12 << 10 | V);
        memory.set(0x3_2008, 0x5 << 10 | 0xcf);
        Self { hart, memory }
    }

    fn outcome(&mut self, access: Access) -> Result<Translation, Trap> {
        outcome(&self.hart, &mut self.memory, 0x1008, access)
    }
}

fn guest_fault(cause: Exception, guest: u64, instruction: u64) -> Result<Translation, Trap> {
    Err(Trap {
        cause,
        value: 0x1008,
        value2: guest >> 2,
        instruction,
        guest_address: true,
    })
}

const ACCESSES: [(Access, Exception); 3] = [
    (Access::Load, Exception::LoadGuestPageFault),
    (Access::Store, Exception::StoreGuestPageFault),
    (Access::Fetch, Exception::InstructionGuestPageFault),
];

#[test]
fn h_8_5_two_stages() {
    let mut guest = Guest::new();
    let found = guest.outcome(Access::Load).expect("mapped");
    assert_eq!(
        (found.physical, found.page, found.guest_page),
        (0x3_5008, 12, 12)
    );
    assert!(found.readable && found.writable && found.executable && found.whole_page);
}

#[test]
fn h_8_5_2_faults_at_the_end_of_the_way_give_the_guest_address() {
    for (access, cause) in ACCESSES {
        let mut guest = Guest::new();
        guest.memory.set(0x2_5028, 0);
        assert_eq!(guest.outcome(access), guest_fault(cause, 0x5008, 0));
    }
}

#[test]
fn h_8_6_3_faults_in_walks_give_the_entry_and_a_pseudoinstruction() {
    for (access, cause) in ACCESSES {
        for (page, entry) in [(0x10, 0x1_0000), (0x11, 0x1_1000), (0x12, 0x1_2008)] {
            let mut guest = Guest::new();
            // Without R a walk cannot read the table.
            guest
                .memory
                .set(0x2_5000 + page * 8, (page + 0x20) << 10 | V | X | U | A | D);
            for mxr in [0, 1 << 19] {
                // MXR applies to explicit loads only.
                guest.hart.poke(csr::MSTATUS, mxr);
                assert_eq!(guest.outcome(access), guest_fault(cause, entry, 0x3000));
            }
        }
    }
}

#[test]
fn h_8_6_3_faults_of_marking_entries_are_writes() {
    for (access, cause) in ACCESSES {
        let mut guest = Guest::new();
        guest.hart.poke(csr::HENVCFG, ADUE);
        guest.memory.set(0x3_2008, 0x5 << 10 | V | R | W | X);
        guest
            .memory
            .set(0x2_5000 + 0x12 * 8, 0x32 << 10 | V | R | U | A | D);
        assert_eq!(guest.outcome(access), guest_fault(cause, 0x1_2008, 0x3020));
        assert_eq!(
            guest.memory.entries[&0x3_2008],
            0x5 << 10 | V | R | W | X,
            "not marked"
        );
        // With W the entry is marked, and so is the entry of the second stage.
        guest
            .memory
            .set(0x2_5000 + 0x12 * 8, 0x32 << 10 | V | R | W | U | A);
        assert!(guest.outcome(access).is_ok());
        let marked = V | R | W | X | A | if access == Access::Store { D } else { 0 };
        assert_eq!(guest.memory.entries[&0x3_2008], 0x5 << 10 | marked);
        assert_eq!(
            guest.memory.entries[&(0x2_5000 + 0x12 * 8)],
            0x32 << 10 | V | R | W | U | A | D
        );
    }
}

#[test]
fn h_8_5_1_guest_addresses_have_41_or_50_bits() {
    for (scheme, bits) in [(8, 41), (9, 50)] {
        for (bit, inside) in [(bits - 1, true), (bits, false), (55, false), (63, false)] {
            let mut hart = open(Mode::VIRTUAL_SUPERVISOR);
            hart.poke(csr::HGATP, scheme << 60 | 0x20);
            let mut memory = Memory::new(1 << 32);
            // A leaf of the highest level that allows one: the table's last quarter begins at half the range.
            let shift = if scheme == 8 { 30 } else { 39 };
            memory.set(0x2_0000 + ((1_u64 << (bits - 1)) >> shift) * 8, 0xdf);
            // The memory after the root is not part of it.
            memory.set(0x2_0000 + ((1_u64 << bits) >> shift) * 8, 0xdf);
            let address = 1_u64 << bit | 0x18;
            let found = outcome(&hart, &mut memory, address, Access::Load);
            if inside {
                let found = found.expect("mapped");
                assert_eq!(
                    (found.physical, found.page, found.guest_page),
                    (0x18, shift, shift)
                );
            } else {
                let fault = Trap {
                    cause: Exception::LoadGuestPageFault,
                    value: address,
                    value2: address >> 2,
                    instruction: 0,
                    guest_address: true,
                };
                assert_eq!(found, Err(fault));
            }
        }
    }
}

#[test]
fn h_8_5_1_the_second_stage_wants_u() {
    let mut guest = Guest::new();
    guest.memory.set(0x2_5028, 0x35 << 10 | 0xcf);
    assert_eq!(
        guest.outcome(Access::Load),
        guest_fault(Exception::LoadGuestPageFault, 0x5008, 0)
    );
}

#[test]
fn h_8_3_1_hlvx_wants_x_in_both_stages_and_no_r() {
    for (first, second, good) in [
        (V | X | A, V | X | U | A, true),
        (V | R | A, V | X | U | A, false),
        (V | X | A, V | R | U | A, false),
        (V | R | X | A, V | R | X | U | A, true),
    ] {
        let mut guest = Guest::new();
        guest.memory.set(0x3_2008, 0x5 << 10 | first);
        guest.memory.set(0x2_5028, 0x35 << 10 | second);
        guest.hart.state.mode = Mode::SUPERVISOR;
        guest.hart.poke(csr::HSTATUS, 1 << 8);
        let context = guest.hart.state.hypervisor_context();
        let found =
            guest
                .hart
                .state
                .translate(0x1008, 4, Access::LoadExecute, &context, &mut guest.memory);
        assert_eq!(found.is_ok(), good);
        if let Err(trap) = found {
            assert!(
                trap.guest_address,
                "the address is the guest's though the mode is not"
            );
            assert!(matches!(
                trap.cause,
                Exception::LoadPageFault | Exception::LoadGuestPageFault
            ));
        }
    }
}

#[test]
fn p_4_3_2_an_entry_that_changes_under_the_walk_is_walked_again() {
    /// Memory in which another hart sets A and clears V just before the first update.
    struct Racing(Memory, u32);
    impl PageTables for Racing {
        fn read(&mut self, physical: u64) -> Option<u64> {
            self.0.read(physical)
        }
        fn update(&mut self, physical: u64, old: u64, new: u64) -> Option<bool> {
            if self.1 > 0 {
                self.1 -= 1;
                return Some(false);
            }
            self.0.update(physical, old, new)
        }
    }
    let (hart, memory) = mapped(Mode::SUPERVISOR, 0x5 << 10 | V | R | W);
    let context = hart.state.data_context();
    let mut racing = Racing(memory.clone(), 3);
    assert!(
        hart.state
            .translate(0x1000, 8, Access::Store, &context, &mut racing)
            .is_ok()
    );
    // Memory that never agrees does not hang the walk.
    let mut racing = Racing(memory, u32::MAX);
    let fault = Err(Trap::new(Exception::StoreAccessFault, 0x1000));
    assert_eq!(
        hart.state
            .translate(0x1000, 8, Access::Store, &context, &mut racing),
        fault
    );
}

#[test]
fn state_survives_being_saved() {
    let hart = open(Mode::VIRTUAL_USER);
    let bytes = postcard::to_stdvec(&hart.state).expect("serializable");
    let restored: Privileged = postcard::from_bytes(&bytes).expect("what was saved");
    assert_eq!(restored, hart.state);
}
