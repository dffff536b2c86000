//! Which pages of a range the host has given, by Linux's `PAGEMAP_SCAN` (admin-guide/mm/pagemap, Linux 6.7): the kernel
//! leaves out what was never touched, which is most of a board's memory.

use std::fs::File;

use rustix::ioctl::{self, Updater};

use super::PAGE;

/// Categories of pages (`linux/fs.h`).
const FILE: u64 = 1 << 2;
const PRESENT: u64 = 1 << 3;
const SWAPPED: u64 = 1 << 4;
/// Ranges that a call tells of at most.
const RANGES: usize = 512;

/// `struct pm_scan_arg`.
#[repr(C)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    ranges: u64,
    ranges_max: u64,
    pages_max: u64,
    inverted: u64,
    mask: u64,
    any_of: u64,
    returned: u64,
}

/// `struct page_region`; one that is empty is none.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

const PAGEMAP_SCAN: ioctl::Opcode = ioctl::opcode::read_write::<Scan>(b'f', 16);

/// Of `count` pages from the address `first` on, those that are in memory or swapped and no file's, in order. `map`:
/// `/proc/self/pagemap`. `None`: the kernel does not have the call.
pub(super) fn given(map: &File, first: u64, count: u32) -> Option<Vec<u32>> {
    let end = first + u64::from(count) * PAGE;
    let mut pages = Vec::new();
    let mut start = first;
    while start < end {
        let mut ranges = [Region::default(); RANGES];
        let mut scan = Scan {
            size: size_of::<Scan>() as u64,
            flags: 0,
            start,
            end,
            walk_end: 0,
            ranges: ranges.as_mut_ptr() as u64,
            ranges_max: RANGES as u64,
            pages_max: 0,
            inverted: FILE,
            mask: FILE,
            any_of: PRESENT | SWAPPED,
            returned: PRESENT,
        };
        // Safety: the call takes this structure, and writes no more ranges than there is room for, which lives until
        // they are read below.
        unsafe { ioctl::ioctl(map, Updater::<PAGEMAP_SCAN, Scan>::new(&mut scan)) }.ok()?;
        for range in ranges.iter().take_while(|range| range.end > 0) {
            let numbers = (range.start - first) / PAGE..(range.end - first) / PAGE;
            pages.extend(numbers.map(|number| number as u32));
        }
        if scan.walk_end <= start {
            return None;
        }
        start = scan.walk_end;
    }
    Some(pages)
}

#[cfg(test)]
mod tests {
    use super::super::read_given;
    use super::*;
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
    use std::ptr;

    #[test]
    fn the_kernel_tells_what_its_map_says() {
        const COUNT: u32 = 5_000;
        let map = File::open("/proc/self/pagemap").expect("Linux has it");
        let length = COUNT as usize * PAGE as usize;
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // Safety: the kernel chooses a place that nothing else has.
        let memory = unsafe { mmap_anonymous(ptr::null_mut(), length, access, flags) };
        let memory = memory.expect("memory").cast::<u8>();
        let first = memory as u64;
        assert_eq!(given(&map, first, COUNT), read_given(&map, first, COUNT));
        // More ranges than a call tells of, and a long one.
        let written = |page: &u32| page.is_multiple_of(3) || (2_000..3_500).contains(page);
        for page in (0..COUNT).filter(written) {
            // Safety: within the memory.
            unsafe { memory.add(page as usize * PAGE as usize).write(1) };
        }
        let told = given(&map, first, COUNT).expect("Linux 6.7");
        assert_eq!(Some(&told), read_given(&map, first, COUNT).as_ref());
        assert!((0..COUNT).filter(written).eq(told));
        // Safety: nothing refers to it.
        unsafe { munmap(memory.cast(), length) }.expect("it was mapped");
    }
}
