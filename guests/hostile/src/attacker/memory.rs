//! Memory: page tables and data that are larger than the caches.

use core::arch::asm;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use tactus_guest::{abi::map, csr, start, trap};

use super::Attacker;

/// The tables are below the image, in memory that is otherwise unused.
const ROOT: usize = map::RAM_BASE as usize;
const MIDDLE: usize = ROOT + PAGE;
const LEAVES: usize = MIDDLE + PAGE;
const PAGE: usize = map::PAGE_SIZE as usize;
/// Entries of a table.
const ENTRIES: usize = 512;
/// Tables of the last level: their entries take a megabyte.
const TABLES: usize = 256;
/// Virtual addresses of the pages: a gigabyte that nothing else uses.
const VIRTUAL: usize = 0x40 << 30;
/// Bits of an entry that make it a leaf: valid, readable, writable, executable, accessed, dirty.
const LEAF: usize = 0xcf;
/// The bit of an entry that, alone, makes it point to a next table.
const TABLE: usize = 1;
/// `satp.MODE` of Sv39.
const SV39: usize = 8 << 60;
/// Accesses of one step.
const ACCESSES: usize = 1_024;

/// 0: the tables are to be made; 1: they are being made; 2: they are there.
static STATE: AtomicU8 = AtomicU8::new(0);

/// Memory that calls may write to.
static SCRATCH: Scratch = Scratch([const { AtomicU64::new(0) }; 1024]);

#[repr(align(4096))]
struct Scratch([AtomicU64; 1024]);

/// Address of 8 KiB of memory that calls may write to.
pub fn scratch() -> usize {
    SCRATCH.0.as_ptr() as usize
}

/// Sets a word of that memory, counted from its begin.
pub fn scratch_word(number: usize, value: u64) {
    SCRATCH.0[number % SCRATCH.0.len()].store(value, Ordering::Relaxed);
}

/// Maps the VM's own addresses to themselves, and the virtual pages to the free memory again and again.
fn make_tables(attacker: &Attacker) {
    let set = |table: usize, index: usize, entry: usize| {
        // SAFETY: the memory below the image is otherwise unused.
        unsafe { (table as *mut usize).add(index).write_volatile(entry) };
    };
    let (begin, end) = attacker.rights.free_memory();
    let pages = (end - begin) / PAGE;
    for index in 0..ENTRIES {
        set(ROOT, index, 0);
        set(MIDDLE, index, 0);
    }
    set(ROOT, 0, LEAF);
    set(ROOT, 2, (map::RAM_BASE as usize) >> 12 << 10 | LEAF);
    set(ROOT, VIRTUAL >> 30, MIDDLE >> 12 << 10 | TABLE);
    for table in 0..TABLES {
        let leaves = LEAVES + table * PAGE;
        set(MIDDLE, table, leaves >> 12 << 10 | TABLE);
        for index in 0..ENTRIES {
            let page = begin + (table * ENTRIES + index) % pages * PAGE;
            set(leaves, index, page >> 12 << 10 | LEAF);
        }
    }
}

/// Accesses pages whose entries are in different cache lines, with a fence now and then, and so evicts entries and data
/// of others from the shared caches.
pub fn thrash(attacker: &mut Attacker) {
    let first = STATE.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire);
    match first {
        Ok(_) => {
            make_tables(attacker);
            STATE.store(2, Ordering::Release);
        }
        Err(2) => {}
        // Another vCPU makes them.
        Err(_) => return,
    }
    let begin = attacker.below(TABLES * ENTRIES);
    // An odd number of lines: it reaches each entry and, in the pages, each line.
    let stride = 8 * (1 + 2 * attacker.below(64)) + attacker.below(8);
    trap::without_interrupts(|| {
        // SAFETY: the program's addresses keep their mapping; the pages are in memory that nothing else uses.
        unsafe {
            asm!("sfence.vma", options(nostack));
            csr::write::<{ csr::SATP }>(SV39 | ROOT >> 12);
            asm!("sfence.vma", options(nostack));
        }
        for access in 0..ACCESSES {
            let page = (begin + access * stride) % (TABLES * ENTRIES);
            let line = (page * 5 + access) % (PAGE / 64);
            let address = VIRTUAL + page * PAGE + line * 64 + start::hart() % 8 * 8;
            // SAFETY: as above.
            unsafe { (address as *mut usize).write_volatile(access) };
        }
        // SAFETY: as above.
        unsafe {
            csr::write::<{ csr::SATP }>(0);
            asm!("sfence.vma", options(nostack));
        }
    });
}
