//! The board's memory, kept in the host's: a range of physical addresses, and on some boards a second one on the chip.
//!
//! Harts reach it through host pointers ([`Memory::host`]); bus masters through [`vm_memory`]'s types
//! ([`Memory::guest`]), which note the pages that they write, so that decoded code in them is dropped.

use std::fs::File;
use std::os::unix::fs::FileExt;

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

    #[inline]
    fn address(&self, host: *mut u8) -> Option<u64> {
        let offset = (host as u64).wrapping_sub(self.host as u64);
        (offset < self.place.size).then(|| self.place.base + offset)
    }
}

/// All memory. What is said of *the* memory is about the main one.
pub struct Memory {
    guest: GuestMemoryMmap<AtomicBitmap>,
    main: Range,
    onchip: Range,
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

    /// The first address of each page of 4 KiB of all memory: the main one's, then those on the chip.
    pub(crate) fn pages(&self) -> impl Iterator<Item = u64> {
        [self.main.place, self.onchip.place]
            .into_iter()
            .flat_map(|place| (0..place.size / PAGE).map(move |page| place.base + page * PAGE))
    }

    /// The first address of the page of this number among [`pages`](Self::pages).
    pub(crate) fn page(&self, number: u32) -> u64 {
        let (main, number) = (self.main.place, u64::from(number));
        match number.checked_sub(main.size / PAGE) {
            None => main.base + number * PAGE,
            Some(number) => self.onchip.place.base + number * PAGE,
        }
    }

    /// The pages that may be other than zero, in order: each with its number among [`pages`](Self::pages), and its
    /// first address. They are those that the host has given, of which Linux keeps a map; elsewhere all.
    pub(crate) fn given(&self) -> impl Iterator<Item = (u32, u64)> {
        let mut given = Vec::new();
        let mut first = 0;
        for range in [&self.main, &self.onchip] {
            let count = range.place.size / PAGE;
            let numbers = first..first + count as u32;
            first = numbers.end;
            match given_of(range.host, count) {
                Some(map) => given.extend(numbers.zip(map).filter_map(|(n, is)| is.then_some(n))),
                None => given.extend(numbers),
            }
        }
        let addresses: Vec<u64> = given.iter().map(|number| self.page(*number)).collect();
        given.into_iter().zip(addresses)
    }

    /// Makes all of it what another one is, of the same places.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        let is_zero = |page: *const u8| {
            // Safety: a page of memory that is borrowed.
            let page = unsafe { std::slice::from_raw_parts(page, PAGE as usize) };
            page == [0; PAGE as usize]
        };
        let here: Vec<(u32, u64)> = self.given().collect();
        let is_here = |number: &u32| here.binary_search_by_key(number, |(here, _)| *here).is_ok();
        let there: Vec<(u32, u64)> = other.given().collect();
        let is_there = |number: &u32| {
            there
                .binary_search_by_key(number, |(there, _)| *there)
                .is_ok()
        };
        for (number, address) in &here {
            if let (false, Some(page)) = (is_there(number), self.host(*address)) {
                // Safety: a page of this memory, which is borrowed mutably.
                unsafe { page.write_bytes(0, PAGE as usize) };
            }
        }
        for (number, address) in &there {
            if let (Some(from), Some(to)) = (other.host(*address), self.host(*address))
                && (is_here(number) || !is_zero(from))
            {
                // Safety: pages of two mappings, of which this one is borrowed mutably.
                unsafe { to.copy_from_nonoverlapping(from, PAGE as usize) };
            }
        }
        self.take_written(|_| {});
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

/// Of `count` pages from `first` on, which ones the host has given. `None`: it does not tell.
fn given_of(first: *const u8, count: u64) -> Option<impl Iterator<Item = bool>> {
    /// Bits 63 and 62 of an entry: the page is in memory, or it is swapped (Linux, admin-guide/mm/pagemap).
    const GIVEN: u64 = 3 << 62;
    if rustix::param::page_size() as u64 != PAGE {
        return None;
    }
    let map = File::open("/proc/self/pagemap").ok()?;
    let mut entries = vec![0; count as usize * 8];
    map.read_exact_at(&mut entries, first as u64 / PAGE * 8)
        .ok()?;
    let is_given = |entry: &[u8]| {
        let entry = entry.try_into().map_or(u64::MAX, u64::from_ne_bytes);
        entry & GIVEN != 0
    };
    Some((0..count as usize).map(move |page| is_given(&entries[page * 8..page * 8 + 8])))
}
