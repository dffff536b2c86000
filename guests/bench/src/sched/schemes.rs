//! The ready queue of the fabric, and four ways of using it, for a program that uses it exclusively: without lock, and
//! without counting failures.

use core::arch::asm;

use tactus_policy::hardware::{Command, ID, PENDING, READY, Scheme, UNWRITTEN, VALID, register};

/// Address of the ready queue's page on the board.
const PAGE: usize = 0x4000_0000;
/// Address of the event register: a write is an event for the fabric.
const EVENT: usize = PAGE + 0x10_0000;

/// The shared doubleword, alone in its cache line.
#[repr(C, align(64))]
struct Doubleword(u64);

static mut DOUBLEWORD: Doubleword = Doubleword(0);

const fn doubleword() -> *mut u64 {
    (&raw mut DOUBLEWORD).cast()
}

/// Reads a register of the page.
#[inline(always)]
pub fn read(offset: u32) -> u32 {
    // SAFETY: the page is the queue's, and only this program uses it.
    unsafe { ((PAGE + offset as usize) as *const u32).read_volatile() }
}

/// Writes a register of the page.
#[inline(always)]
pub fn write(offset: u32, value: u32) {
    // SAFETY: as above.
    unsafe { ((PAGE + offset as usize) as *mut u32).write_volatile(value) }
}

/// Reads both halves of the doubleword.
#[inline(always)]
pub fn load() -> u64 {
    // SAFETY: the fabric may write it concurrently; volatile loads observe that.
    unsafe { doubleword().read_volatile() }
}

/// Stores to the lower half (0), as commands do, or the upper one (1).
#[inline(always)]
pub fn store(half: usize, value: u32) {
    // SAFETY: as above; there are two halves.
    unsafe {
        doubleword()
            .cast::<u32>()
            .add(half & 1)
            .write_volatile(value)
    }
}

/// Address of the doubleword.
pub fn address() -> u32 {
    doubleword() as u32
}

/// Makes earlier stores visible to the fabric before later accesses.
#[inline(always)]
pub fn barrier() {
    // SAFETY: a fence.
    unsafe { asm!("fence w, o", options(nostack)) }
}

/// Signals the fabric that there may be a command.
#[inline(always)]
pub fn event() {
    // SAFETY: the fabric's event register.
    unsafe { (EVENT as *mut u32).write_volatile(1) }
}

/// Empties the queue and starts a scheme; returns whether the queue is present and answers.
pub fn begin(scheme: Scheme) -> bool {
    const ATTEMPTS_MAX: usize = 100_000;
    if read(register::ID) != ID {
        return false;
    }
    let mut attempts = 0;
    let mut until = |done: &dyn Fn() -> bool| {
        while !done() && attempts < ATTEMPTS_MAX {
            attempts += 1;
        }
    };
    write(register::ACCESS, Scheme::Gp as u32);
    until(&|| read(register::STATUS) & PENDING == 0);
    write(register::CONTROL, 1);
    until(&|| read(register::STATUS) & READY != 0);
    if scheme != Scheme::Gp {
        // SAFETY: neither other code nor the fabric accesses it now.
        unsafe { doubleword().write_volatile(u64::from(UNWRITTEN) << 32) };
        barrier();
        write(register::ACCESS, doubleword() as u32 | scheme as u32);
        until(&|| (load() >> 32) as u32 != UNWRITTEN);
    }
    attempts < ATTEMPTS_MAX
}

/// Command by register: inserts a handle behind the others of its priority.
#[inline(always)]
pub fn insert(handle: u16, priority: u8) {
    write(register::insert(priority, false), handle.into());
}

/// Command by register: removes the first vCPU, returned as a first word.
#[inline(always)]
pub fn take_highest() -> u32 {
    read(register::TAKE_HIGHEST)
}

/// Command by register: removes a handle from any position.
#[inline(always)]
pub fn remove(handle: u16) {
    write(register::REMOVE, handle.into());
}

/// Waits for the answer to the command in memory; returns the first word in it.
#[inline(always)]
pub fn answer() -> u32 {
    loop {
        let both = load();
        if both as u32 & VALID == 0 {
            return (both >> 32) as u32;
        }
    }
}

/// Command in memory: inserts a handle behind the others of its priority.
#[inline(always)]
pub fn command_insert(handle: u16, priority: u8) {
    store(
        0,
        VALID | (Command::InsertTail as u32) << 28 | u32::from(priority) << 16 | u32::from(handle),
    );
}

/// Command in memory: removes the first vCPU.
#[inline(always)]
pub fn command_take_highest() {
    store(0, VALID | (Command::TakeHighest as u32) << 28);
}

/// The handle in a first word, if it is valid and in range.
#[inline(always)]
pub fn known(first: u32) -> Option<u16> {
    let handle = first as u16;
    (first & VALID != 0 && usize::from(handle) < crate::queues::HANDLES).then_some(handle)
}
