//! A guest that has its disk, a virtio PCI function, access every address that is not its own: with buffers there, with
//! queues there, with lengths that leave its memory. It writes garbage to the configuration space, and restarts while
//! requests are under way.
//!
//! Boot arguments: `steps=N` (200); `slot=N` (1): where the disk is. It counts its steps in channel 0's memory. At the
//! end it reports `dma_escapes`: accesses that must have been refused, and were not.
#![no_std]
#![no_main]

use tactus_guest::abi::map;
use tactus_guest::{devicetree, power, println, record, start, time};
use tactus_guest_hostile::disk::{BYTES, Disk, READ, WRITE, read};
use tactus_guest_hostile::{Page, Word, random::Random};

tactus_guest::entry!(main);

/// Bytes at the end of the guest's memory that the last request of a life is read into. Behind them is the devicetree.
const TAIL: u64 = 64 << 10;
/// Steps from one restart to the next, and from one round of garbage to the next.
const LIFE: u64 = 50;
const GARBAGE: u64 = 16;

/// Addresses that are not the guest's: of devices, of firmware and hypervisor on this machine, edges.
const NOTABLE: [u64; 16] = [
    0,
    0x1000,
    0x0200_bff8,
    0x0300_0000,
    0x0301_0000, // the IOMMU
    0x0c20_0004,
    0x1000_0000,
    map::PCI_ECAM_BASE,
    map::DOORBELL_BASE,
    0x4000_0000,
    map::RAM_BASE - 512,
    0xffff_fe00,
    0x1_0000_0000,
    (1 << 41) - 512,
    1 << 56,
    u64::MAX - 511,
];

/// An address that is not the guest's.
fn foreign(random: &mut Random, memory: u64) -> u64 {
    match random.next() % 4 {
        0 | 1 => map::RAM_BASE + memory + ((random.next() % (1 << 28)) & !511),
        2 => random.choose(&NOTABLE),
        _ => (1 << (36 + random.next() % 28)) | ((random.next() % (1 << 32)) & !511),
    }
}

fn main() {
    let memory = devicetree::memory_size().unwrap_or(0);
    let steps = devicetree::number("steps", 200);
    // SAFETY: the system gives this guest a channel with a page.
    let page = unsafe { Page::get() };
    page.count(Word::Boots);
    let tail = map::RAM_BASE + memory - map::DEVICETREE_SIZE - TAIL;
    // What the disk was asked for in the last life has ended before this memory was cleared.
    let is_clear = || {
        (tail..tail + TAIL)
            .step_by(8)
            .all(|word| read::<u64>(word) == 0)
    };
    let escaped = |what: &str, step: u64| {
        println!("escape: {what}, step {step}");
        page.count(Word::Trapped);
    };
    // A request that is refused may have no answer.
    let refusal = time::hz() / 5000;
    let mut step = page.load(Word::Step);
    if !is_clear() {
        escaped("the last life's request", step);
    }
    let mut disk = Disk::find(devicetree::number("slot", 1));
    disk.well(WRITE);
    while step < steps {
        page.store(Word::Step, step + 1);
        let mut random = Random::new(step);
        let address = foreign(&mut random, memory);
        match step % 4 {
            0 => {
                disk.begin_well();
                disk.ask(WRITE, address, BYTES as u32);
                disk.answers(refusal);
                if disk.has_foreign(0) {
                    escaped("memory that is not the guest's was read", address);
                }
                disk.well(WRITE);
            }
            1 => {
                disk.begin_well();
                disk.ask(READ, address, BYTES as u32);
                disk.answers(refusal);
            }
            2 => {
                let part = (step / 4 % 3) as usize;
                let mut queue = Disk::own_queue();
                queue[part] = address & !15;
                disk.begin(queue);
                disk.ring();
                disk.answers(refusal);
            }
            _ => {
                let end = map::RAM_BASE + memory;
                disk.begin_well();
                disk.ask(WRITE, end - 256, BYTES as u32);
                disk.answers(refusal);
                if disk.has_foreign(256) {
                    escaped("memory behind the guest's was read", step);
                }
                disk.begin_well();
                disk.ask(READ, end - 256, u32::MAX - (BYTES as u32 - 1));
                disk.answers(refusal);
                disk.well(WRITE);
            }
        }
        if step % GARBAGE == GARBAGE - 1 && !disk.garble(&mut random) {
            escaped("the function's registers were moved", step);
        }
        step += 1;
        if step % LIFE == 0 && step < steps {
            disk.begin_well();
            disk.ask(READ, tail, TAIL as u32);
            power::restart();
        }
    }
    let escapes = page.load(Word::Trapped);
    record::metric("dma_steps", step, "count");
    record::metric("dma_escapes", escapes, "count");
    record::metric("dma_lives", page.load(Word::Boots), "count");
    page.store(Word::Done, 1);
    if escapes == 0 {
        record::pass(start::program());
        power::off()
    } else {
        record::fail(
            start::program(),
            format_args!("{escapes} accesses were not refused"),
        );
        power::off_failed()
    }
}
