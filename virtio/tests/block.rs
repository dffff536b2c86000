//! A block device before a driver: an orderly one, one whose device dies at any time, and a hostile one.

mod driver;

use std::panic::{AssertUnwindSafe, catch_unwind};

use driver::{BASE, BUFFERS, DESCRIPTORS, Death, Kept, MEMORY, Machine, Mortal, SIZE, segment};
use proptest::prelude::*;
use tactus_virtio::block::{Block, SEGMENT_SECTORS_MAX, SEGMENTS_MAX};
use tactus_virtio::disk::{Disk, Failed, Layered, SECTOR};
use tactus_virtio::memory::Memory as _;
use tactus_virtio::mmio::{Port, WORDS, register, status};

const IN: u32 = 0;
const OUT: u32 = 1;
const FLUSH: u32 = 4;
const DISCARD: u32 = 11;
const WRITE_ZEROES: u32 = 13;

/// An image of two blocks and two sectors, each sector with its number.
fn image() -> &'static [u8] {
    let bytes: Vec<u8> = (0..18 * SECTOR).map(|at| (at / SECTOR) as u8).collect();
    Box::leak(bytes.into_boxed_slice())
}

fn started() -> Machine {
    let mut machine = Machine::new(image(), 8);
    machine.start();
    machine
}

#[test]
fn the_driver_finds_the_device_that_there_is() {
    let mut machine = Machine::new(image(), 8);
    assert_eq!(machine.read(register::MAGIC), 0x7472_6976);
    assert_eq!(machine.read(register::VERSION), 2);
    assert_eq!(machine.read(register::DEVICE), 2);
    assert_eq!(machine.read(register::CONFIGURATION), 18);
    machine.write(register::DEVICE_FEATURES_SELECT, 1);
    assert_eq!(machine.read(register::DEVICE_FEATURES), 3);
    // Features that the device does not have are not agreed on (section 2.2.2).
    machine.write(register::DRIVER_FEATURES, 1 << 20);
    machine.write(register::STATUS, 11);
    assert_eq!(machine.read(register::STATUS), 3);
}

#[test]
fn what_is_written_is_read_and_the_image_stays() {
    let mut machine = started();
    machine.request(0, OUT, 9, &[7; SECTOR]);
    machine.request(1, IN, 8, &[0; 3 * SECTOR]);
    machine.write(register::QUEUE_NOTIFY, 0);
    assert_eq!(machine.completed(), [(0, 1), (3, 3 * SECTOR as u32 + 1)]);
    assert_eq!((machine.status(0), machine.status(1)), (0, 0));
    let data = machine.data(1, 3);
    assert_eq!([data[0], data[SECTOR], data[2 * SECTOR]], [8, 7, 10]);
    // One interrupt for both, and none that was acknowledged.
    assert_eq!(machine.interrupts, 1);
    assert_eq!(machine.read(register::INTERRUPT_STATUS), 1);
    machine.write(register::INTERRUPT_ACKNOWLEDGE, 1);
    assert_eq!(machine.read(register::INTERRUPT_STATUS), 0);
    assert_eq!(machine.interrupts, 1);
}

/// A driver that reads why it is interrupted has been told of what is served then: it is not interrupted again.
#[test]
fn a_driver_that_asks_is_not_interrupted() {
    let mut machine = started();
    machine.request(0, IN, 8, &[0; SECTOR]);
    assert_eq!(machine.read(register::INTERRUPT_STATUS), 1);
    assert_eq!((machine.completed().len(), machine.interrupts), (1, 0));
    machine.request(1, IN, 8, &[0; SECTOR]);
    machine.write(register::QUEUE_NOTIFY, 0);
    // What has come before it acknowledges the first is no reason that it knows of.
    assert_eq!(machine.interrupts, 0);
    machine.write(register::INTERRUPT_ACKNOWLEDGE, 0);
    assert_eq!(machine.interrupts, 1);
    machine.write(register::INTERRUPT_ACKNOWLEDGE, 1);
    machine.request(2, IN, 8, &[0; SECTOR]);
    machine.write(register::QUEUE_NOTIFY, 0);
    assert_eq!(machine.interrupts, 2);
}

#[test]
fn a_disk_has_its_size_and_its_rights() {
    let mut machine = started();
    machine.request(0, IN, 17, &[0; 2 * SECTOR]);
    machine.request(1, OUT, u64::MAX, &[0; SECTOR]);
    machine.request(2, 99, 0, &[0; SECTOR]);
    machine.write(register::QUEUE_NOTIFY, 0);
    assert_eq!(machine.completed().len(), 3);
    assert_eq!([0, 1, 2].map(|slot| machine.status(slot)), [1, 1, 2]);
    // Its three blocks do not fit two pages with their bits.
    let mut machine = Machine::new(image(), 3);
    machine.start();
    machine.request(0, OUT, 0, &[1; SECTOR]);
    machine.write(register::QUEUE_NOTIFY, 0);
    assert_eq!((machine.status(0), machine.disk.is_writable()), (1, false));
}

/// What a driver may discard, and how much of it at once; a disk that cannot be written has no such requests.
#[test]
fn a_disk_has_its_limits_of_discards() {
    for (pages, sectors) in [(8, SEGMENT_SECTORS_MAX), (3, 0)] {
        let mut machine = Machine::new(image(), pages);
        let has = sectors > 0;
        let features = machine.read(register::DEVICE_FEATURES);
        assert_eq!(features >> 13 & 3, if has { 3 } else { 0 });
        assert_eq!(features >> 9 & 1, 1);
        let wanted = if has {
            [sectors, SEGMENTS_MAX, 8, sectors, SEGMENTS_MAX, 0]
        } else {
            [0; 6]
        };
        let found = [36, 40, 44, 48, 52, 56].map(|at| machine.read(register::CONFIGURATION + at));
        assert_eq!(found, wanted.map(u64::from));
        machine.start();
        for (slot, kind) in [(0, DISCARD), (1, WRITE_ZEROES)] {
            machine.request(slot, kind, 0, &segment(0, 1, 0));
        }
        machine.write(register::QUEUE_NOTIFY, 0);
        let status = if has { 0 } else { 2 };
        assert_eq!([0, 1].map(|slot| machine.status(slot)), [status; 2]);
    }
}

/// Discarded sectors are zeroes and not those of the image, whether a block is new, written or was discarded, and
/// whether all of it is discarded; those beside them stay.
#[test]
fn what_is_discarded_is_zeroes() {
    for kind in [DISCARD, WRITE_ZEROES] {
        let mut machine = started();
        machine.request(0, OUT, 8, &[7; 2 * SECTOR]);
        let segments = [segment(3, 6, 0), segment(17, 1, 0)];
        machine.request(1, kind, 0, segments.as_flattened());
        machine.request(2, OUT, 4, &[9; SECTOR]);
        machine.request(3, kind, 0, &segment(9, 1, 0));
        machine.write(register::QUEUE_NOTIFY, 0);
        // The status alone was written.
        assert_eq!(machine.completed(), [(0, 1), (3, 1), (6, 1), (9, 1)]);
        assert_eq!([0, 1, 2, 3].map(|slot| machine.status(slot)), [0; 4]);
        machine.restart();
        let wanted = [0, 1, 2, 0, 9, 0, 0, 0, 0, 0, 10, 11, 12, 13, 14, 15, 16, 0];
        for (sector, wanted) in wanted.into_iter().enumerate() {
            let mut data = [0xff; SECTOR];
            machine
                .disk
                .read(sector as u64, &mut data)
                .expect("there is one");
            assert_eq!(data, [wanted; SECTOR], "{sector}");
        }
    }
}

/// A request with a segment that is not in order changes nothing, also by those before it.
#[test]
fn a_wrong_segment_changes_nothing() {
    let good = segment(0, 8, 0);
    let mut tries = Vec::new();
    for kind in [DISCARD, WRITE_ZEROES] {
        // Beyond the end, more than there may be, and an end that wraps.
        for wrong in [
            segment(17, 2, 0),
            segment(18, 1, 0),
            segment(0, SEGMENT_SECTORS_MAX + 1, 0),
            segment(u64::MAX, 1, 0),
        ] {
            tries.push((kind, [good, wrong].concat(), 1));
            tries.push((kind, [wrong, good].concat(), 1));
        }
        // No segment, a part of one, and too many.
        for length in [0, 15, 17, 16 * (SEGMENTS_MAX as usize + 1)] {
            tries.push((kind, good.repeat(4)[..length].to_vec(), 1));
        }
        // Flags that are not known, also where the sectors are not either.
        for flags in [2, 0x8000_0000, 3] {
            tries.push((kind, [good, segment(0, 1, flags)].concat(), 2));
            tries.push((kind, [segment(99, 1, flags), good].concat(), 2));
        }
    }
    tries.push((DISCARD, [good, segment(0, 1, 1)].concat(), 2));
    for (kind, data, status) in tries {
        let mut machine = started();
        if data.is_empty() {
            // Without the descriptor of the data.
            machine.request(0, kind, 0, &[0]);
            machine.descriptor(0, Machine::buffer(0), 16, 1, 2);
        } else {
            machine.request(0, kind, 0, &data);
        }
        machine.write(register::QUEUE_NOTIFY, 0);
        assert_eq!(machine.status(0), status, "{kind} {data:?}");
        machine.request(1, IN, 0, &[0; 3 * SECTOR]);
        machine.write(register::QUEUE_NOTIFY, 0);
        let sectors = machine.data(1, 3);
        assert_eq!(sectors, image()[..3 * SECTOR], "{kind} {data:?}");
    }
    // Zeroes may be written with the flag by which the device may give storage up.
    let mut machine = started();
    machine.request(0, WRITE_ZEROES, 0, &segment(1, 1, 1));
    machine.write(register::QUEUE_NOTIFY, 0);
    assert_eq!(machine.status(0), 0);
}

/// Blocks of several words of states.
#[test]
fn a_large_disk_is_discarded_in_pieces() {
    let mut disk = Layered::new(&[], driver::window(200 * 4096, 0));
    let sectors = disk.sectors();
    for sector in 0..sectors {
        assert_eq!(disk.write(sector, &[1; SECTOR]), Ok(()));
    }
    let first = 8 * 31 + 5;
    let count = 8 * 100 + 1;
    assert_eq!(disk.zero(first, count), Ok(()));
    for beyond in [(0, sectors + 1), (sectors, 1), (u64::MAX, 2)] {
        assert_eq!(disk.zero(beyond.0, beyond.1), Err(Failed));
    }
    for sector in 0..sectors {
        let mut data = [0xff; SECTOR];
        disk.read(sector, &mut data).expect("there is one");
        let is_zero = (first..first + count).contains(&sector);
        assert_eq!(data, [u8::from(!is_zero); SECTOR], "{sector}");
    }
}

/// A disk of one sector with a cache: what was written outlives the device after a flush, which may fail.
#[derive(Default)]
struct Cached {
    cache: u8,
    medium: u8,
    fails: bool,
}

impl Disk for Cached {
    fn sectors(&self) -> u64 {
        1
    }

    fn is_writable(&self) -> bool {
        true
    }

    fn read(&self, _: u64, to: &mut [u8; SECTOR]) -> Result<(), Failed> {
        to.fill(self.cache);
        Ok(())
    }

    fn write(&mut self, _: u64, from: &[u8; SECTOR]) -> Result<(), Failed> {
        self.cache = from[0];
        Ok(())
    }

    fn zero(&mut self, _: u64, _: u64) -> Result<(), Failed> {
        self.cache = 0;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failed> {
        if self.fails {
            return Err(Failed);
        }
        self.medium = self.cache;
        Ok(())
    }
}

/// A flush is the disk's: a device says that it is done when the disk says so, and not where it failed.
#[test]
fn a_flush_is_as_honest_as_its_disk() {
    let mut machine = started();
    let block = Block::new(Cached::default(), b"test");
    let memory = Mortal::new(machine.memory.memory);
    let kept = Kept {
        words: machine.kept.words.clone(),
        ..Kept::default()
    };
    let mut device = Port::new(block, memory, kept);
    let mut ask = |machine: &mut Machine, slot, kind, fails| {
        device.device.disk_mut().fails = fails;
        machine.request(slot, kind, 0, &[5; SECTOR]);
        device.access(register::QUEUE_NOTIFY, 4, Some(0));
        (machine.status(slot), device.device.disk_mut().medium)
    };
    assert_eq!(ask(&mut machine, 0, OUT, false), (0, 0));
    assert_eq!(ask(&mut machine, 1, FLUSH, true), (1, 0));
    assert_eq!(ask(&mut machine, 2, FLUSH, false), (0, 5));
}

/// Whatever access to its driver's memory, or to its registers as they are kept, a device's life ends at: each request
/// is done once, and one after the other, by the next life, and a driver that looks only when it was interrupted for
/// used buffers sees all of it.
#[test]
fn a_device_that_dies_goes_on() {
    for (by_kept, least) in [(false, 30), (true, 4)] {
        let lives = (0..120).take_while(|left| dies(*left, by_kept)).count();
        assert!((least..120).contains(&lives), "{lives} accesses");
    }
}

/// The same of one request, of which the driver hears by no other.
#[test]
fn the_last_request_of_a_life_is_announced() {
    for left in 0..30 {
        let mut machine = started();
        machine.request(0, IN, 2, &[0; SECTOR]);
        machine.kept.left.set(Some(left));
        let life = AssertUnwindSafe(|| machine.write(register::QUEUE_NOTIFY, 0));
        let died = catch_unwind(life).is_err_and(|reason| reason.is::<Death>());
        machine.restart();
        assert_eq!(machine.read(register::INTERRUPT_STATUS), 1, "{left}");
        assert_eq!(machine.completed().len(), 1, "{left}");
        assert!(died || left > 1, "the device makes {left} accesses only");
    }
}

/// Lets a device die at an access. Returns whether it has made so many.
fn dies(left: u32, by_kept: bool) -> bool {
    let mut machine = started();
    machine.request(0, OUT, 3, &[1; 2 * SECTOR]);
    machine.request(1, OUT, 4, &[2; SECTOR]);
    machine.request(2, IN, 2, &[0; 3 * SECTOR]);
    let mortal = if by_kept {
        &machine.kept.left
    } else {
        &machine.memory.left
    };
    mortal.set(Some(left));
    let life = AssertUnwindSafe(|| machine.write(register::QUEUE_NOTIFY, 0));
    let died = catch_unwind(life).is_err_and(|reason| reason.is::<Death>());
    machine.restart();
    // The driver is interrupted, and looks why.
    assert_eq!(machine.read(register::INTERRUPT_STATUS), 1, "{left}");
    assert_eq!(
        machine.completed(),
        [(0, 1), (3, 1), (6, 3 * SECTOR as u32 + 1)],
        "{left}"
    );
    assert_eq!([0, 1, 2].map(|slot| machine.status(slot)), [0; 3], "{left}");
    let data = machine.data(2, 3);
    assert_eq!(
        [data[0], data[SECTOR], data[2 * SECTOR]],
        [2, 1, 2],
        "{left}"
    );
    died
}

/// A life that ends while a sector is written leaves the old one or the new one.
#[test]
fn a_torn_write_is_finished_or_has_not_begun() {
    let layer = driver::window(8 * 4096, 0);
    let disk = || Layered::new(image(), layer);
    let sector = |of: Layered| {
        let mut data = [0; SECTOR];
        of.read(3, &mut data).expect("there is one");
        data
    };
    disk().write(3, &[7; SECTOR]).expect("it can be written");
    // It ends before all of the new sector is in its own place, and in the middle of the old one: behind the bits'
    // page, at the fourth sector.
    let torn = [[8; 200], [7; 200]].concat();
    layer.write(8, &torn[..200]).expect("within");
    assert_eq!(sector(disk()), [7; SECTOR]);
    layer.write(8, &[8; SECTOR]).expect("within");
    layer.write(0, &4_u64.to_le_bytes()).expect("within");
    layer.write(4096 + 3 * 512, &torn).expect("within");
    assert_eq!(sector(disk()), [8; SECTOR]);
    // That is done once.
    layer.write(4096 + 3 * 512, &[9; SECTOR]).expect("within");
    assert_eq!(sector(disk()), [9; SECTOR]);
    // A driver that writes there has its own disk changed at most.
    for word in [5, 1000, u64::MAX] {
        layer.write(0, &word.to_le_bytes()).expect("within");
        assert_eq!(sector(disk()), [9; SECTOR]);
    }
}

/// The last sector can be written, and none behind it; with all of them written, each can be written again.
#[test]
fn a_full_disk_stays_one() {
    let mut disk = Layered::new(&[], driver::window(8 * 4096, 0));
    assert!(disk.is_writable());
    for round in 1..=2 {
        for sector in 0..disk.sectors() {
            assert_eq!(disk.write(sector, &[round; SECTOR]), Ok(()));
        }
        for beyond in [disk.sectors(), u64::MAX] {
            assert!(disk.write(beyond, &[9; SECTOR]).is_err());
        }
        let mut data = [0; SECTOR];
        for sector in 0..disk.sectors() {
            disk.read(sector, &mut data).expect("there is one");
            assert_eq!(data, [round; SECTOR]);
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Request {
        write: bool,
        sector: u64,
        sectors: usize,
        value: u8,
    },
    Zero {
        kind: u32,
        segments: Vec<(u64, u32)>,
    },
    Notify,
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (any::<bool>(), 0..24u64, 1..=3usize, any::<u8>()).prop_map(|(write, sector, sectors, value)| {
            Step::Request { write, sector, sectors, value }
        }),
        2 => (prop::bool::ANY, prop::collection::vec((0..20u64, 0..12u32), 1..=2)).prop_map(|(discards, segments)| {
            Step::Zero { kind: if discards { DISCARD } else { WRITE_ZEROES }, segments }
        }),
        1 => Just(Step::Notify),
        1 => Just(Step::Restart),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// The disk is the image with what was written, as far as the driver is told so.
    #[test]
    fn a_disk_is_what_a_model_is(steps in prop::collection::vec(step(), 1..60)) {
        let mut machine = started();
        let mut model = image().to_vec();
        let mut waiting: Vec<(u16, Step)> = Vec::new();
        for step in steps.into_iter().chain([Step::Notify]) {
            match step {
                Step::Request { write, sector, sectors, value } => {
                    if waiting.len() == 5 {
                        continue;
                    }
                    let slot = (0..5).find(|slot| waiting.iter().all(|(used, _)| used != slot));
                    let slot = slot.expect("five slots");
                    let data = vec![value; sectors * SECTOR];
                    machine.request(slot, if write { OUT } else { IN }, sector, &data);
                    waiting.push((slot, Step::Request { write, sector, sectors, value }));
                }
                Step::Zero { kind, segments } => {
                    if waiting.len() == 5 {
                        continue;
                    }
                    let slot = (0..5).find(|slot| waiting.iter().all(|(used, _)| used != slot));
                    let slot = slot.expect("five slots");
                    let data: Vec<u8> = segments.iter().flat_map(|(at, count)| segment(*at, *count, 0)).collect();
                    machine.request(slot, kind, 0, &data);
                    waiting.push((slot, Step::Zero { kind, segments }));
                }
                Step::Restart => machine.restart(),
                Step::Notify => {
                    machine.write(register::QUEUE_NOTIFY, 0);
                    for (slot, step) in waiting.drain(..) {
                        if let Step::Zero { segments, .. } = &step {
                            let fits = segments.iter().all(|(at, count)| at + u64::from(*count) <= 18);
                            prop_assert_eq!(machine.status(slot), u8::from(!fits));
                            for (at, count) in segments.iter().filter(|_| fits) {
                                let first = *at as usize * SECTOR;
                                model[first..first + *count as usize * SECTOR].fill(0);
                            }
                        }
                        let Step::Request { write, sector, sectors, value } = step else {
                            continue;
                        };
                        let fits = sector as usize + sectors <= 18;
                        prop_assert_eq!(machine.status(slot), u8::from(!fits));
                        let range = sector as usize * SECTOR..(sector as usize + sectors) * SECTOR;
                        if write {
                            // Those that there are were written.
                            let end = range.end.min(model.len());
                            if range.start < end {
                                model[range.start..end].fill(value);
                            }
                        } else if fits {
                            prop_assert_eq!(&machine.data(slot, sectors)[..], &model[range]);
                        }
                    }
                }
            }
        }
    }

    /// Whatever a driver writes to its memory and to the registers, the device takes a bounded number of steps, has no
    /// panic, and writes only to its driver's memory and its disk.
    #[test]
    fn a_hostile_driver_harms_itself_only(
        writes in prop::collection::vec((0..MEMORY as u64 / 2, any::<u64>()), 0..60),
        accesses in prop::collection::vec((0..0x130u32, prop_oneof![0..20u64, any::<u64>()], any::<bool>()), 0..60),
        kept in prop::option::of(prop::array::uniform12(any::<u64>())),
        starts in any::<bool>(),
    ) {
        let mut machine = Machine::new(image(), 8);
        if starts {
            machine.start();
        }
        if let Some(kept) = kept {
            for (word, value) in kept.into_iter().enumerate().take(WORDS) {
                machine.kept.words[word].set(value);
            }
            machine.restart();
        }
        for (at, value) in writes {
            let _ = machine.memory.memory.write(BASE + at, &value.to_le_bytes());
        }
        for (offset, value, stores) in accesses {
            machine.memory.left.set(Some(2000));
            machine.device.access(offset & !3, 4, stores.then_some(value));
        }
    }
}

/// What the fuzzer begins with, and has found.
#[test]
fn the_corpus_harms_nothing() {
    let count = driver::any::each_of_corpus("served_devices", driver::hostile);
    assert!(count >= 3, "the corpus has {count} files");
}

/// Each fault of a driver stops its device until a reset, after which it works.
#[test]
fn a_faulty_queue_stops_its_device() {
    let faults: [fn(&mut Machine); 7] = [
        // More requests than entries.
        |machine| {
            let index = driver::AVAILABLE + 2;
            machine
                .memory
                .memory
                .store_index(index, SIZE + 1)
                .expect("within");
        },
        // No such descriptor.
        |machine| machine.add(SIZE),
        // A circle.
        |machine| {
            machine.descriptor(0, BUFFERS, 16, 1, 0);
            machine.add(0);
        },
        // A buffer outside, and one whose end wraps.
        |machine| {
            machine.request(0, IN, 0, &[0; SECTOR]);
            machine.descriptor(1, BASE + MEMORY as u64, 512, 3, 2);
        },
        |machine| {
            machine.request(0, IN, 0, &[0; SECTOR]);
            machine.descriptor(1, u64::MAX - 8, 512, 3, 2);
        },
        // An indirect descriptor, which was not offered.
        |machine| {
            machine.descriptor(0, DESCRIPTORS, 16, 4, 0);
            machine.add(0);
        },
        // No place for the status.
        |machine| {
            machine.descriptor(0, BUFFERS, 16, 0, 0);
            machine.add(0);
        },
    ];
    for (number, fault) in faults.into_iter().enumerate() {
        let mut machine = started();
        fault(&mut machine);
        machine.write(register::QUEUE_NOTIFY, 0);
        let stopped = machine.read(register::STATUS) as u32 & status::NEEDS_RESET != 0;
        assert!(stopped, "fault {number}");
        // The driver is told (section 2.1.2).
        assert_eq!(
            machine.read(register::INTERRUPT_STATUS),
            2,
            "fault {number}"
        );
        machine.restart();
        assert_eq!(
            machine.read(register::INTERRUPT_STATUS),
            2,
            "fault {number}"
        );
        machine
            .memory
            .memory
            .write(BASE, &[0; 0x4000])
            .expect("within");
        machine.start();
        machine.request(0, IN, 5, &[0; SECTOR]);
        machine.write(register::QUEUE_NOTIFY, 0);
        assert_eq!(machine.data(0, 1)[0], 5, "fault {number}");
    }
}
