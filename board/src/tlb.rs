//! The engine's own translation cache: from virtual pages straight to host pointers.
//!
//! It is part of how the board runs, not of what it models: an entry is there only while the architecture allows a
//! hart to use the translation without a walk, and it changes nothing but speed. (Timed runs model the hart's
//! TLBs beside it, in [`timing`](crate::timing).)
//!
//! Entries are tagged by virtual page and by *context*: a small number for each combination of what a translation
//! depends on (mode, `satp`, `hgatp`, ...). So a trap, or a switch of address spaces, drops nothing; a fence
//! drops contexts.

use crate::privileged::Context;

/// Entries of a [`Tlb`].
const ENTRIES: usize = 512;
/// Bits of a virtual address that the page and its number leave to the byte in it.
const PAGE: u64 = 4096;
/// Context numbers: 1 to this. A tag has room for nine bits between the page and the bits of alignment.
const CONTEXTS: u16 = 510;
/// A tag part that no entry has.
pub const NO_CONTEXT: u64 = 511 << 3;

/// One translation.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Entry {
    /// The virtual page's address, the context's number in bits 11:3; bits 2:0 are zero.
    tag: u64,
    /// The offset from a virtual address to its host pointer.
    addend: u64,
}

/// No context has the number 0, so that nothing is looked for by this tag. (One of all ones would be that of a
/// misaligned doubleword at the end of the address space in [`NO_CONTEXT`].)
const EMPTY: Entry = Entry { tag: 0, addend: 0 };

/// A direct-mapped cache of translations, of one kind of access.
#[repr(C)]
pub struct Tlb {
    entries: [Entry; ENTRIES],
}

impl Tlb {
    /// An empty one.
    pub const fn new() -> Self {
        Self {
            entries: [EMPTY; ENTRIES],
        }
    }

    /// The host pointer for an access of `size` bytes (a power of two up to 8) at `address`, in the context whose tag
    /// part is `context`. `None`: not cached, or not aligned.
    #[inline(always)]
    pub fn find(&self, address: u64, size: u64, context: u64) -> Option<*mut u8> {
        let index = (address / PAGE) as usize % ENTRIES;
        let entry = &self.entries[index];
        // The bits of misalignment stay in, and match no tag.
        let tag = (address & !(PAGE - 1) | address & (size - 1)) + context;
        if entry.tag == tag {
            Some(address.wrapping_add(entry.addend) as *mut u8)
        } else {
            None
        }
    }

    /// Enters a translation: the page of `address` is at `host` (the pointer for `address` itself).
    pub fn insert(&mut self, address: u64, context: u64, host: *mut u8) {
        let index = (address / PAGE) as usize % ENTRIES;
        self.entries[index] = Entry {
            tag: (address & !(PAGE - 1)) + context,
            addend: (host as u64).wrapping_sub(address),
        };
    }

    /// Drops what there is for the page of `address`, in any context.
    pub fn drop_page(&mut self, address: u64) {
        self.entries[(address / PAGE) as usize % ENTRIES] = EMPTY;
    }

    /// Drops all.
    pub fn clear(&mut self) {
        self.entries = [EMPTY; ENTRIES];
    }

    /// Drops the entries that lead to the host's page at `host`.
    pub fn drop_host_page(&mut self, host: *mut u8) {
        for entry in &mut self.entries {
            let page = (entry.tag & !(PAGE - 1)).wrapping_add(entry.addend);
            if entry.tag != EMPTY.tag && page == host as u64 & !(PAGE - 1) {
                *entry = EMPTY;
            }
        }
    }
}

/// The numbers given to contexts.
pub struct Contexts {
    known: Vec<(Context, u16)>,
    next: u16,
}

/// How many contexts are kept at a time; the oldest is forgotten first. Enough for the address spaces of a Linux
/// guest at work, few enough to search.
const KNOWN: usize = 32;

impl Contexts {
    /// None yet.
    pub const fn new() -> Self {
        Self {
            known: Vec::new(),
            next: 1,
        }
    }

    /// The number of `context`, a new one where it has none. The flag says that numbers restart: whatever is
    /// tagged with one has to be dropped first.
    pub fn number(&mut self, context: &Context) -> (u16, bool) {
        if let Some(position) = self.known.iter().position(|(known, _)| known == context) {
            let number = self.known[position].1;
            if position > 3 {
                self.known.swap(position, position / 2);
            }
            return (number, false);
        }
        let mut restarted = false;
        if self.next > CONTEXTS {
            self.known.clear();
            self.next = 1;
            restarted = true;
        }
        let number = self.next;
        self.next += 1;
        self.known.truncate(KNOWN - 1);
        self.known.insert(0, (*context, number));
        (number, restarted)
    }

    /// Forgets the contexts that are chosen: what is tagged with their numbers is void from now on.
    pub fn forget(&mut self, chosen: impl Fn(&Context) -> bool) {
        self.known.retain(|(context, _)| !chosen(context));
    }
}

/// The part of a tag that stands for the context with this number.
pub const fn tag_of(number: u16) -> u64 {
    (number as u64) << 3
}
