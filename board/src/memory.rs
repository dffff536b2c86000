//! The board's memory, kept in the host's: a range of physical addresses, and on some boards a second one on the chip.
//!
//! A memory that is copied is *frozen* first: what it holds goes into a file without a name, and the host maps that
//! into the memory and into its copies, each of which gets a page of its own where it writes. So a copy costs what has
//! been written since.
//!
//! Harts reach it through host pointers ([`Memory::host`]); bus masters through [`vm_memory`]'s types
//! ([`Memory::guest`]), which note the pages that they write, so that decoded code in them is dropped.

mod scan;

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::ptr;
use std::sync::Arc;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap};

use vm_memory::bitmap::AtomicBitmap;
use vm_memory::{
    Bytes, GuestAddress, GuestMemoryBackend, GuestMemoryMmap, GuestMemoryRegion, GuestRegionMmap,
    MmapRegion,
};

/// Bytes of a page of memory.
const PAGE: u64 = 4096;

/// An address at which there is no memory, or not enough of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no memory at {address:#x}, {length} bytes")]
pub struct NoMemory {
    /// Where the access began.
    pub address: u64,
    /// How many bytes it asked for.
    pub length: usize,
}

/// A range of physical addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Place {
    /// The lowest address; a multiple of 4 KiB.
    pub base: u64,
    /// Its bytes; a multiple of 4 KiB.
    pub size: u64,
}

impl Place {
    const fn holds(self, address: u64, length: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset < self.size && length <= self.size - offset
    }
}

/// A range in the host's memory.
#[derive(Clone, Copy)]
struct Range {
    place: Place,
    host: *mut u8,
}

impl Range {
    /// No address is in it.
    const NONE: Self = Self {
        place: Place { base: 0, size: 0 },
        host: std::ptr::null_mut(),
    };

    #[inline]
    const fn host(&self, address: u64) -> Option<*mut u8> {
        let offset = address.wrapping_sub(self.place.base);
        if offset < self.place.size {
            // Safety: the offset lies within the mapping.
            Some(unsafe { self.host.add(offset as usize) })
        } else {
            None
        }
    }

    /// So many pages from the one of this number on.
    const fn pages(&self, first: u32, count: usize) -> &[u8] {
        let (offset, length) = (first as usize * PAGE as usize, count * PAGE as usize);
        // Safety: pages of the mapping, which lasts as long as its memory; that is borrowed.
        unsafe { std::slice::from_raw_parts(self.host.add(offset), length) }
    }

    #[inline]
    fn address(&self, host: *mut u8) -> Option<u64> {
        let offset = (host as u64).wrapping_sub(self.host as u64);
        (offset < self.place.size).then(|| self.place.base + offset)
    }
}

/// What the main memories of several boards held at one time.
#[derive(Debug)]
struct Frozen {
    /// As long as the memory.
    file: File,
    /// The pages that may be other than zero, in order.
    pages: Vec<u32>,
}

/// All memory. What is said of *the* memory is about the main one.
pub struct Memory {
    guest: GuestMemoryMmap<AtomicBitmap>,
    main: Range,
    onchip: Range,
    /// What of the main one has not been written since is in there.
    frozen: Option<Arc<Frozen>>,
}

// Safety: the pointer is to the mapping that `guest` owns, and the board gives out access through itself alone.
unsafe impl Send for Memory {}

impl Memory {
    /// Memory of `size` bytes, all zero, at the physical address `base`; both multiples of 4 KiB. The host gives
    /// pages as they are touched.
    ///
    /// # Errors
    ///
    /// The host's error when it cannot map the memory.
    pub fn new(base: u64, size: u64) -> Result<Self, std::io::Error> {
        Self::with_onchip(Place { base, size }, None)
    }

    /// The same, and memory on the chip beside it.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn with_onchip(main: Place, onchip: Option<Place>) -> Result<Self, std::io::Error> {
        let map = |place: Place| {
            let length = usize::try_from(place.size).map_err(std::io::Error::other)?;
            let region = MmapRegion::new(length).map_err(std::io::Error::other)?;
            let host = region.as_ptr();
            let region = GuestRegionMmap::new(region, GuestAddress(place.base))
                .ok_or_else(|| std::io::Error::other("memory at the end of the address space"))?;
            Ok::<_, std::io::Error>((Range { place, host }, region))
        };
        let (main, region) = map(main)?;
        let mut regions = vec![region];
        let mut range = Range::NONE;
        if let Some(place) = onchip {
            let (mapped, region) = map(place)?;
            range = mapped;
            regions.push(region);
        }
        regions.sort_by_key(GuestMemoryRegion::start_addr);
        let guest = GuestMemoryMmap::from_regions(regions).map_err(std::io::Error::other)?;
        Ok(Self {
            guest,
            main,
            onchip: range,
            frozen: None,
        })
    }

    /// The lowest physical address.
    #[must_use]
    pub const fn base(&self) -> u64 {
        self.main.place.base
    }

    /// How many bytes there are.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.main.place.size
    }

    /// The memory on the chip.
    #[must_use]
    pub fn onchip(&self) -> Option<Place> {
        Some(self.onchip.place).filter(|place| place.size > 0)
    }

    /// How many pages of 4 KiB all memory has. They are numbered: the main one's, then those on the chip.
    pub(crate) const fn page_count(&self) -> usize {
        ((self.main.place.size + self.onchip.place.size) / PAGE) as usize
    }

    /// The first address of the page of this number.
    pub(crate) fn page(&self, number: u32) -> u64 {
        let (main, number) = (self.main.place, u64::from(number));
        match number.checked_sub(main.size / PAGE) {
            None => main.base + number * PAGE,
            Some(number) => self.onchip.place.base + number * PAGE,
        }
    }

    /// The pages that may be other than zero, in order: each with its number and its first address. They are those
    /// that the host has given, of which Linux keeps a map; elsewhere all.
    pub(crate) fn given(&self) -> impl Iterator<Item = (u32, u64)> {
        let mut given = self.given_of_main();
        let onchip = given_of(&self.onchip);
        let first = (self.main.place.size / PAGE) as u32;
        given.extend(onchip.into_iter().map(|page| first + page));
        let addresses: Vec<u64> = given.iter().map(|number| self.page(*number)).collect();
        given.into_iter().zip(addresses)
    }

    /// As [`given`](Self::given), of the main one.
    fn given_of_main(&self) -> Vec<u32> {
        let here = given_of(&self.main);
        match &self.frozen {
            None => here,
            Some(frozen) => {
                let all: BTreeSet<u32> = here
                    .into_iter()
                    .chain(frozen.pages.iter().copied())
                    .collect();
                all.into_iter().collect()
            }
        }
    }

    /// Makes all of it what another one is, of the same places.
    ///
    /// # Errors
    ///
    /// The host's, when it has no memory for a copy.
    pub(crate) fn copy_from(&mut self, other: &mut Self) -> io::Result<()> {
        let mut changed = given_of(&other.main);
        // Pages that the host has read of the file are no copies, and `given_of` leaves them out.
        let frozen = match &other.frozen {
            Some(frozen) if changed.len() <= frozen.pages.len() / 8 + 256 => Arc::clone(frozen),
            _ => {
                changed.clear();
                other.freeze()?
            }
        };
        map(&frozen.file, &self.main)?;
        self.frozen = Some(frozen);
        copy_pages(&other.main, &self.main, &changed);
        let onchip = other.onchip.place;
        let all: Vec<u32> = (0..(onchip.size / PAGE) as u32).collect();
        copy_pages(&other.onchip, &self.onchip, &all);
        self.take_written(|_| {});
        Ok(())
    }

    /// Freezes what the main memory holds.
    fn freeze(&mut self) -> io::Result<Arc<Frozen>> {
        let mut pages = self.given_of_main();
        // Where the host does not tell which pages it has given, most of them are zero.
        pages.retain(|page| self.main.pages(*page, 1) != [0; PAGE as usize]);
        let file = File::from(memfd_create("tactus memory", MemfdFlags::CLOEXEC)?);
        file.set_len(self.main.place.size)?;
        for run in pages.chunk_by(|page, next| page + 1 == *next) {
            let bytes = self.main.pages(run[0], run.len());
            file.write_all_at(bytes, u64::from(run[0]) * PAGE)?;
        }
        map(&file, &self.main)?;
        let frozen = Arc::new(Frozen { file, pages });
        self.frozen = Some(Arc::clone(&frozen));
        Ok(frozen)
    }

    /// Whether all of `length` bytes from `address` on are memory.
    #[must_use]
    pub const fn holds(&self, address: u64, length: u64) -> bool {
        self.main.place.holds(address, length) || self.onchip.place.holds(address, length)
    }

    /// Where the host has the byte at `address`; valid for all of the range behind it. `None`: no memory there.
    #[inline]
    #[must_use]
    pub const fn host(&self, address: u64) -> Option<*mut u8> {
        match self.main.host(address) {
            None => self.onchip.host(address),
            host => host,
        }
    }

    /// The address of a byte of memory that the host has at `host`.
    #[inline]
    pub(crate) fn address(&self, host: *mut u8) -> u64 {
        let address = self.main.address(host);
        address.or_else(|| self.onchip.address(host)).unwrap_or(0)
    }

    /// Reads bytes.
    ///
    /// # Errors
    ///
    /// Where not all of them are memory; `bytes` may then be partly overwritten.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), NoMemory> {
        let length = bytes.len();
        self.guest
            .read_slice(bytes, GuestAddress(address))
            .map_err(|_| NoMemory { address, length })
    }

    /// Writes bytes, as a bus master does.
    ///
    /// # Errors
    ///
    /// Where not all of them are memory; nothing is written then.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), NoMemory> {
        let length = bytes.len();
        if !self.holds(address, length as u64) {
            return Err(NoMemory { address, length });
        }
        self.guest
            .write_slice(bytes, GuestAddress(address))
            .map_err(|_| NoMemory { address, length })
    }

    /// Calls `each` with the address of every page of 4 KiB that was written through [`write`](Self::write) or
    /// [`guest`](Self::guest) since this was called last.
    pub(crate) fn take_written(&self, mut each: impl FnMut(u64)) {
        for region in self.guest.iter() {
            for (word, bits) in MmapRegion::bitmap(region)
                .get_and_reset()
                .into_iter()
                .enumerate()
            {
                let mut bits = bits;
                while bits != 0 {
                    let page = word as u64 * 64 + u64::from(bits.trailing_zeros());
                    bits &= bits - 1;
                    each(region.start_addr().0 + page * 4096);
                }
            }
        }
    }

    /// The same memory as [`vm_memory`] has it, for device models.
    #[must_use]
    pub const fn guest(&self) -> &GuestMemoryMmap<AtomicBitmap> {
        &self.guest
    }
}

/// Maps a file, which is as long, in the place of a range. What is written is not seen in the file.
fn map(file: &File, range: &Range) -> io::Result<()> {
    let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
    // Safety: the range is a mapping of its memory's own, which lasts as long as that; it stays mapped, at the same
    // addresses, and its memory is borrowed mutably.
    unsafe {
        mmap(
            range.host.cast(),
            range.place.size as usize,
            ProtFlags::READ | ProtFlags::WRITE,
            flags,
            file,
            0,
        )?;
    }
    Ok(())
}

/// Copies these pages of a range, by number, into another one of the same place.
fn copy_pages(from: &Range, to: &Range, pages: &[u32]) {
    for page in pages {
        let offset = *page as usize * PAGE as usize;
        // Safety: pages of the mappings of two memories, of which the caller has borrowed both mutably.
        unsafe {
            let (from, to) = (from.host.add(offset), to.host.add(offset));
            ptr::copy_nonoverlapping(from, to, PAGE as usize);
        }
    }
}

/// The pages of a range that the host has given it, by number, in order; not those that it has of a file. Where the
/// host does not tell, all.
fn given_of(range: &Range) -> Vec<u32> {
    let count = (range.place.size / PAGE) as u32;
    given_in(range.host, count).unwrap_or_else(|| (0..count).collect())
}

/// Of `count` pages from `first` on, those that the host has given. `None`: it does not tell.
fn given_in(first: *const u8, count: u32) -> Option<Vec<u32>> {
    if rustix::param::page_size() as u64 != PAGE {
        return None;
    }
    let map = File::open("/proc/self/pagemap").ok()?;
    scan::given(&map, first as u64, count).or_else(|| read_given(&map, first as u64, count))
}

/// The same, by what `/proc/self/pagemap` says of each page: for hosts without [`scan`].
fn read_given(map: &File, first: u64, count: u32) -> Option<Vec<u32>> {
    /// Bits 63 and 62 of an entry: the page is in memory, or it is swapped; bit 61: it is a file's (Linux,
    /// admin-guide/mm/pagemap).
    const GIVEN: u64 = 3 << 62;
    const OF_FILE: u64 = 1 << 61;
    let mut entries = vec![0; count as usize * 8];
    map.read_exact_at(&mut entries, first / PAGE * 8).ok()?;
    let (entries, _) = entries.as_chunks::<8>();
    let is_given = |entry: &[u8; 8]| {
        let entry = u64::from_ne_bytes(*entry);
        entry & GIVEN != 0 && entry & OF_FILE == 0
    };
    let numbered = (0..count).zip(entries);
    Some(
        numbered
            .filter_map(|(page, entry)| is_given(entry).then_some(page))
            .collect(),
    )
}
