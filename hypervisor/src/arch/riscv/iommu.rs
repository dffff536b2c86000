//! The IOMMU that PCI functions are behind (RISC-V IOMMU Architecture Specification 1.0; sections are its own).
//!
//! A function that a VM has is translated by the VM's own second stage; all others are refused, as their device
//! contexts are not valid. No interrupt is used: what is refused waits in the fault queue until the VM concerned has
//! time for it, so that no function interrupts a hart by faults.

use super::{fence_device, now};
use crate::arena::{Arena, Exhausted};
use core::ptr::{read_volatile, write_volatile};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use tactus_hypervisor::lock::Lock;

/// Registers (section 5.1).
const CAPABILITIES: u64 = 0;
const DDTP: u64 = 16;
const CQB: u64 = 24;
const CQT: u64 = 36;
const FQB: u64 = 40;
const FQH: u64 = 48;
const FQT: u64 = 52;
const CQCSR: u64 = 72;
const FQCSR: u64 = 76;

/// `capabilities` (section 5.3): the version in bits 7:0, second stages of Sv39x4, contexts of the extended format.
const VERSION: u64 = 0x10;
const SV39X4: u64 = 1 << 17;
const MSI_FLAT: u64 = 1 << 22;
/// `ddtp` (section 5.5): a mode of `n` levels is `n + 1`.
const BUSY: u64 = 1 << 4;
const MODE: u64 = 0xf;
const LEVELS_MAX: u64 = 3;
/// `cqcsr` and `fqcsr` (sections 5.15 and 5.16): enabled, on; records lost by a fault of memory or as the queue was
/// full.
const ENABLE: u32 = 1 << 0;
const ON: u32 = 1 << 16;
const LOST: u32 = 3 << 8;

/// Bit V of all entries of the directory, and of `tc` (section 2.1).
const VALID: u64 = 1;

/// Commands (section 3.1): opcode, and function from bit 7 on. Without operands each concerns all.
const IOTINVAL_VMA: u64 = 1;
const IOTINVAL_GVMA: u64 = 1 | 1 << 7;
const IODIR_INVAL_DDT: u64 = 3;
/// `IOFENCE.C` that waits for reads and writes (PR, PW), and then writes its upper half to memory (AV).
const IOFENCE_C: u64 = 2 | 1 << 10 | 3 << 12;

/// Both queues have a page.
const PAGE_WORDS: usize = 512;
const COMMAND_WORDS: usize = 2;
const RECORD_WORDS: usize = 4;
/// Entries, as powers of two less one: as `cqb` and `fqb` have them.
const COMMANDS_LOG2: u64 = 8;
const RECORDS_LOG2: u64 = 7;
/// VMs end each with at most two requests under way, of two commands each: the queue is never full.
const _: () = assert!(1 << COMMANDS_LOG2 > 4 * tactus_abi::blob::limit::VMS);

type Page = [u64; PAGE_WORDS];

/// Why there is no isolation.
#[derive(Clone, Copy, Debug)]
pub enum Lack {
    /// No IOMMU of this version, or none that translates by Sv39x4, or none with such a directory.
    Iommu,
    /// It does not do what it is told in time.
    TimeOut,
    /// No memory for its tables.
    Pool,
}

impl From<Exhausted> for Lack {
    fn from(_: Exhausted) -> Self {
        Self::Pool
    }
}

/// An access that was refused (section 3.2).
pub struct Fault {
    /// The function that made it: bus, device and function number.
    pub device: u32,
    /// Why, as in `scause`, or from 256 on the IOMMU's own causes.
    pub cause: u64,
    /// Its address.
    pub address: u64,
}

/// Both queues, under a lock.
struct Queues {
    commands: &'static mut Page,
    tail: usize,
    /// Fences asked for, counted.
    asked: u32,
    faults: &'static Page,
    head: usize,
}

/// An IOMMU.
pub struct Iommu {
    base: u64,
    directory: &'static mut Page,
    levels: u64,
    /// Device contexts have 8 doublewords, not 4.
    is_extended: bool,
    queues: Lock<Queues>,
    /// Fences done: the IOMMU writes it.
    done: &'static AtomicU32,
}

impl Iommu {
    /// Takes an IOMMU into use that refuses all functions; `patience`: so many ticks has it for each step. `last`: the
    /// highest number of a device that is permitted later.
    ///
    /// # Safety
    /// `base` is the physical address of an IOMMU that no guest reaches, or of nothing.
    pub unsafe fn new(arena: &Arena, base: u64, last: u32, patience: u64) -> Result<Self, Lack> {
        // Safety: the caller's promise.
        let version = unsafe { super::entry::probe_register(base) }.ok_or(Lack::Iommu)?;
        let mut own = Self {
            base,
            directory: arena.table()?,
            levels: 0,
            is_extended: false,
            queues: Lock::new(Queues {
                commands: arena.table()?,
                tail: 0,
                asked: 0,
                faults: arena.table()?,
                head: 0,
            }),
            done: arena.object(AtomicU32::new(0))?,
        };
        let capabilities = own.read(CAPABILITIES);
        if u64::from(version) & 0xff != VERSION || capabilities & SV39X4 == 0 {
            return Err(Lack::Iommu);
        }
        own.is_extended = capabilities & MSI_FLAT != 0;
        own.start_queues(patience)?;
        // Section 5.5: a directory is changed by way of Off.
        own.set_directory(0, patience)?;
        own.levels = 1 + u64::from(last >> own.device_bits() != 0);
        while !own.set_directory(own.levels, patience)? {
            own.levels += 1;
            if own.levels > LEVELS_MAX {
                return Err(Lack::Iommu);
            }
        }
        // What it may have cached before.
        let fence = own.command(&[[IODIR_INVAL_DDT, 0], [IOTINVAL_VMA, 0], [IOTINVAL_GVMA, 0]]);
        Self::wait(patience, || own.is_done(fence))?;
        Ok(own)
    }

    /// The lowest bits of a device's number, which the last level of the directory tells apart (section 2.1).
    const fn device_bits(&self) -> u32 {
        if self.is_extended { 6 } else { 7 }
    }

    fn read(&self, offset: u64) -> u64 {
        // Safety: a register, see `new`.
        unsafe { read_volatile((self.base + offset) as *const u64) }
    }

    fn write(&self, offset: u64, value: u64) {
        // Safety: a register, see `new`.
        unsafe { write_volatile((self.base + offset) as *mut u64, value) }
    }

    fn read_word(&self, offset: u64) -> u32 {
        // Safety: a register, see `new`.
        unsafe { read_volatile((self.base + offset) as *const u32) }
    }

    fn write_word(&self, offset: u64, value: u32) {
        // What the IOMMU is to find in memory is there.
        fence_device();
        // Safety: a register, see `new`.
        unsafe { write_volatile((self.base + offset) as *mut u32, value) }
    }

    /// Waits until a condition holds, at boot.
    fn wait(patience: u64, holds: impl Fn() -> bool) -> Result<(), Lack> {
        let from = now();
        while !holds() {
            if now() - from > patience {
                return Err(Lack::TimeOut);
            }
        }
        Ok(())
    }

    /// Section 6.2: both queues begin empty.
    fn start_queues(&self, patience: u64) -> Result<(), Lack> {
        let queues = self.queues.lock();
        for (csr, queue, page, log2, index) in [
            (CQCSR, CQB, queues.commands.as_ptr(), COMMANDS_LOG2, CQT),
            (FQCSR, FQB, queues.faults.as_ptr(), RECORDS_LOG2, FQH),
        ] {
            self.write_word(csr, 0);
            Self::wait(patience, || self.read_word(csr) & ON == 0)?;
            self.write(queue, page as u64 >> 2 | (log2 - 1));
            self.write_word(index, 0);
            self.write_word(csr, ENABLE);
            Self::wait(patience, || self.read_word(csr) & ON != 0)?;
        }
        Ok(())
    }

    /// Gives it a directory of so many levels; 0: it refuses everything. `false`: it has none such.
    fn set_directory(&self, levels: u64, patience: u64) -> Result<bool, Lack> {
        let mode = if levels == 0 { 0 } else { levels + 1 };
        fence_device();
        self.write(DDTP, self.directory.as_ptr() as u64 >> 2 | mode);
        Self::wait(patience, || self.read(DDTP) & BUSY == 0)?;
        Ok(self.read(DDTP) & MODE == mode)
    }

    /// Makes the context of a device, not valid yet, whose accesses `hgatp` translates, and gives its translation
    /// control. `iohgatp` has the same fields, with GSCID in the place of VMID (section 2.1.3.2).
    pub fn add(
        &mut self,
        arena: &Arena,
        device: u32,
        hgatp: u64,
    ) -> Result<&'static AtomicU64, Lack> {
        let bits = self.device_bits();
        let mut table = &raw mut *self.directory;
        // Each level tells 9 bits more apart.
        for level in (0..self.levels as u32 - 1).rev() {
            let index = device >> (bits + 9 * level) & 0x1ff;
            // Safety: the directory, or a table that was made for it here; one at a time is looked at.
            let entry = unsafe { &mut (*table)[index as usize] };
            if *entry == 0 {
                *entry = arena.table::<PAGE_WORDS>()?.as_ptr() as u64 >> 2 | VALID;
            }
            table = (*entry >> 10 << 12) as *mut Page;
        }
        let first = PAGE_WORDS / (1 << bits) * (device as usize & ((1 << bits) - 1));
        // Safety: as above. `ta`, `fsc` and what follows stay zero: no first stage, no messages (section 2.1).
        unsafe {
            (*table)[first + 1] = hgatp;
            Ok(AtomicU64::from_ptr(&raw mut (*table)[first]))
        }
    }

    /// Permits or refuses the accesses of a device from now on, by its context's translation control. Gives a fence:
    /// when it [is done](Self::is_done), accesses from before are over.
    pub fn permit(&self, control: &AtomicU64, permitted: bool) -> u32 {
        control.store(u64::from(permitted) * VALID, Ordering::Release);
        self.command(&[[IODIR_INVAL_DDT, 0]])
    }

    /// Gives it commands, and a fence behind them.
    fn command(&self, commands: &[[u64; COMMAND_WORDS]]) -> u32 {
        let mut queues = self.queues.lock();
        for command in commands {
            queues.push(*command);
        }
        queues.asked = queues.asked.wrapping_add(1);
        let asked = queues.asked;
        let done = self.done.as_ptr() as u64 >> 2;
        queues.push([IOFENCE_C | u64::from(asked) << 32, done]);
        self.write_word(CQT, queues.tail as u32);
        asked
    }

    /// Whether a fence is done.
    pub fn is_done(&self, fence: u32) -> bool {
        self.done.load(Ordering::Acquire).wrapping_sub(fence) as i32 >= 0
    }

    /// Takes the oldest record of the fault queue. `None`: there is none. Records that found the queue full are lost;
    /// the next ones are written again.
    pub fn take_fault(&self) -> Option<Fault> {
        let mut queues = self.queues.lock();
        if self.read_word(FQT) as usize == queues.head {
            if self.read_word(FQCSR) & LOST != 0 {
                self.write_word(FQCSR, ENABLE | LOST);
            }
            return None;
        }
        super::fence_from_device();
        let first = queues.head * RECORD_WORDS;
        // Safety: the IOMMU writes a record before it moves the tail behind it.
        let word = |index| unsafe { read_volatile(&raw const queues.faults[first + index]) };
        let (kind, address) = (word(0), word(2));
        queues.head = (queues.head + 1) % (PAGE_WORDS / RECORD_WORDS);
        self.write_word(FQH, queues.head as u32);
        Some(Fault {
            device: (kind >> 40) as u32,
            cause: kind & 0xfff,
            address,
        })
    }
}

impl Queues {
    /// Adds a command, of which the IOMMU is told later.
    fn push(&mut self, command: [u64; COMMAND_WORDS]) {
        let first = self.tail * COMMAND_WORDS;
        self.commands[first..first + COMMAND_WORDS].copy_from_slice(&command);
        self.tail = (self.tail + 1) % (PAGE_WORDS / COMMAND_WORDS);
    }
}
