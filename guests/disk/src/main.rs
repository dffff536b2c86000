//! Emulates a virtio block device for the VM at the other end of each of its channels.
//!
//! A disk is this VM's initrd, which all disks share and nothing changes, and the blocks that its driver has written.
//! These are in the channel's memory, which outlives this VM, behind a page for the device's registers; a channel with
//! less memory than the disk has makes a disk that cannot be written. Without an initrd a disk is empty, and as large
//! as the channel's memory allows. `buffers=N`: the first N bytes of a channel's memory are left to its driver.
//!
//! Where this VM has a virtio disk, a PCI function, each device is before a part of that in place of all this. For the
//! channel N, `partN=NUMBER` is the partition of that number (GPT), `rangeN=FIRST+SECTORS` so many sectors of 512 bytes
//! from that one on; with `readonlyN=1` the driver cannot write them. No two have a sector in common.
//!
//! `faults=N`, for tests: each access after the first N of a life is a fault of this VM, when it was served and before
//! its driver is told so; `hangs=N`: it does not end.
#![no_std]
#![no_main]

mod passed;

use core::sync::atomic::AtomicU64;

use tactus_guest::call::{Message, Stack};
use tactus_guest::channel::Channel;
use tactus_guest::{devicetree, emulation};
use tactus_guest_virtio_service::Devices;
use tactus_virtio::block::Block;
use tactus_virtio::disk::Layered;
use tactus_virtio::memory::Window;

tactus_guest::entry!(main);

/// Disks of this VM, at most.
const DISKS_MAX: usize = 8;
/// Bytes in front of the written blocks, for the registers.
const REGISTERS: usize = 4096;

static DISKS: Devices<Block<Layered>, DISKS_MAX> = Devices::new();
static STACK: Stack<16384> = Stack::new();

fn main() {
    if let Some(function) = passed::find() {
        passed::run(function);
    }
    let image = devicetree::initrd().unwrap_or(&[]);
    let buffers = devicetree::number("buffers", 0) as usize;
    DISKS.make(|_, channel| disk(channel, image, buffers));
    emulation::run(serve, &STACK)
}

/// A disk, and the words of the channel's memory for its registers.
fn disk(
    channel: Channel,
    image: &'static [u8],
    buffers: usize,
) -> Option<(Block<Layered>, &'static [AtomicU64])> {
    let words = channel.words();
    let first = buffers.next_multiple_of(REGISTERS);
    let kept = words.get(first / 8..)?.get(..REGISTERS / 8)?;
    // SAFETY: the channel's memory, which is used by this window and, in front of its part, by the words that are kept.
    let channel = unsafe { Window::new(words.as_ptr() as usize, size_of_val(words), 0) };
    let layer = channel.part(first + REGISTERS, usize::MAX);
    Some((Block::new(Layered::new(image, layer), b"tactus"), kept))
}

fn serve(channel: usize, message: Message) -> Message {
    DISKS.serve(channel, message)
}
