//! Emulates a virtio block device for the VM at the other end of each of its channels.
//!
//! A disk is this VM's initrd, which all disks share and nothing changes, and the blocks that its driver has written.
//! These are in the channel's memory, which outlives this VM, behind a page for the device's registers; a channel with
//! less memory than the disk has makes a disk that cannot be written. Without an initrd a disk is empty, and as large
//! as the channel's memory allows. `buffers=N`: the first N bytes of a channel's memory are left to its driver.
//! `faults=N`, for tests: each access after the first N of a life is a fault of this VM, when it was served and before
//! its driver is told so; `hangs=N`: it does not end.
#![no_std]
#![no_main]

use core::arch::asm;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::call::{Message, Stack};
use tactus_guest::channel::Channel;
use tactus_guest::emulation::{self, Access, Reply};
use tactus_guest::{devicetree, record};
use tactus_virtio::block::Block;
use tactus_virtio::disk::Layered;
use tactus_virtio::memory::Window;
use tactus_virtio::mmio::Port;

tactus_guest::entry!(main);

/// Disks of this VM, at most.
const DISKS: usize = 8;
/// Bytes in front of the written blocks, for the registers.
const REGISTERS: usize = 4096;

/// A disk; its registers are in its channel's memory.
type Disk = Port<Block<Layered>, Window, &'static [AtomicU64]>;

/// The disks, by channel. Made before calls begin, which are one after the other.
struct Disks(UnsafeCell<[Option<Disk>; DISKS]>);

// SAFETY: `main` makes them before the first call; then only calls use them, one at a time.
unsafe impl Sync for Disks {}

static DISKS_OF: Disks = Disks(UnsafeCell::new([const { None }; DISKS]));
/// Accesses until a fault.
static LEFT: AtomicU64 = AtomicU64::new(u64::MAX);
/// Accesses until one does not end.
static LEFT_UNTIL_HANG: AtomicU64 = AtomicU64::new(u64::MAX);
static STACK: Stack<16384> = Stack::new();

fn main() {
    let image = devicetree::initrd().unwrap_or(&[]);
    LEFT.store(devicetree::number("faults", u64::MAX), Ordering::Relaxed);
    LEFT_UNTIL_HANG.store(devicetree::number("hangs", u64::MAX), Ordering::Relaxed);
    let buffers = devicetree::number("buffers", 0) as usize;
    for number in 0..DISKS {
        let Some(channel) = Channel::find(number) else {
            break;
        };
        let disk = disk(channel, number, image, buffers);
        if disk.is_none() {
            record::give_up("a channel is too small, or no device");
        }
        // SAFETY: no calls yet.
        unsafe { (*DISKS_OF.0.get())[number] = disk };
    }
    emulation::run(serve, &STACK)
}

fn disk(channel: Channel, number: usize, image: &'static [u8], buffers: usize) -> Option<Disk> {
    let words = channel.words();
    let [here, size, there] = devicetree::peer_memory(number)?;
    let first = buffers.next_multiple_of(REGISTERS);
    let kept = words.get(first / 8..)?.get(..REGISTERS / 8)?;
    // SAFETY: the devicetree is the system's own description of what it gives this VM, which uses both by windows and,
    // of the channel, words that are not in them.
    let (memory, channel) = unsafe {
        (
            Window::new(here, size, there as u64),
            Window::new(words.as_ptr() as usize, size_of_val(words), 0),
        )
    };
    let layer = channel.part(first + REGISTERS, usize::MAX);
    let device = Block::new(Layered::new(image, layer), b"tactus");
    Some(Port::new(device, memory, kept))
}

fn serve(channel: usize, message: Message) -> Message {
    let access = Access::of(message);
    // SAFETY: calls are one after the other, and `main` uses the disks no more.
    let disks = unsafe { &mut *DISKS_OF.0.get() };
    let Some(Some(disk)) = disks.get_mut(channel) else {
        return Reply::DONE.into_message();
    };
    let outcome = disk.access(access.offset, access.size, access.store);
    if LEFT.fetch_sub(1, Ordering::Relaxed) == 0 {
        // SAFETY: the VM has a fault by it.
        unsafe { asm!("unimp", options(noreturn)) };
    }
    if LEFT_UNTIL_HANG.fetch_sub(1, Ordering::Relaxed) == 0 {
        // Until the call takes too long, which is a fault of the VM.
        loop {
            core::hint::spin_loop();
        }
    }
    let reply = Reply {
        value: outcome.value,
        ring: outcome.interrupts.then_some(channel as u32),
        again: outcome.again,
    };
    reply.into_message()
}
