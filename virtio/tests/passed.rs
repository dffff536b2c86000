//! Block devices before parts of one disk: orderly drivers, hostile ones, and a disk that errs or lies.

mod driver;

use std::cell::{Cell, RefCell};

use driver::any::AnyMachine;
use driver::{BUFFERS, window};
use proptest::prelude::*;
use tactus_virtio::disk::SECTOR;
use tactus_virtio::gpt::Part;
use tactus_virtio::memory::{Memory, Window};
use tactus_virtio::mmio::register;
use tactus_virtio::passed::{
    Bell, Completions, ENTRIES, FEATURES, Limits, MEMORY, Passed, SLOTS, Shared,
};
use tactus_virtio::queue::{Chain, Queue};
use tactus_virtio::requester::{Parts, Requester};

const IN: u32 = 0;
const OUT: u32 = 1;
const FLUSH: u32 = 4;
const GET_ID: u32 = 8;
const DISCARD: u32 = 11;
const WRITE_ZEROES: u32 = 13;

/// Where the disk finds the service VM's memory, and sectors of the disk.
const DMA: u64 = 0x9000_0000;
const SECTORS: u64 = 64;
/// The drivers' parts.
const FIRST: Part = Part {
    first: 8,
    sectors: 16,
};
const SECOND: Part = Part {
    first: 32,
    sectors: 8,
};

thread_local! {
    static RUNG: Cell<u32> = const { Cell::new(0) };
}

#[derive(Clone, Copy, Debug)]
struct Counting;

impl Bell for Counting {
    fn ring(&self) {
        RUNG.set(RUNG.get() + 1);
    }
}

type Disk = Shared<Window, Counting>;
type PartDevice = Passed<'static, Window, Counting>;
type Machine = AnyMachine<PartDevice>;

/// The disk behind the queue.
struct Model {
    memory: Window,
    queue: Queue,
    sectors: Vec<u8>,
    /// Kinds of requests, in their order.
    done: Vec<u32>,
    /// What it answers, if that is not 0.
    status: u8,
}

impl Model {
    fn new(memory: Window) -> Self {
        let parts = Parts::at(DMA, ENTRIES);
        Self {
            memory,
            queue: Queue {
                size: ENTRIES,
                ready: true,
                descriptors: parts.descriptors,
                available: parts.available,
                used: parts.used,
                next: 0,
            },
            sectors: (0..SECTORS as usize * SECTOR)
                .map(|at| (at / SECTOR) as u8)
                .collect(),
            done: Vec::new(),
            status: 0,
        }
    }

    /// Does the next request.
    fn step(&mut self) -> bool {
        let mut chain = Chain::EMPTY;
        if !self.queue.peek(&self.memory, &mut chain).expect("in order") {
            return false;
        }
        let buffers = chain.buffers().to_vec();
        let mut header = [0; 16];
        self.memory
            .read(buffers[0].address, &mut header)
            .expect("within");
        let kind = u32::from_le_bytes(header[..4].try_into().expect("four"));
        let sector = u64::from_le_bytes(header[8..].try_into().expect("eight"));
        let data = buffers[1];
        let at = sector as usize * SECTOR;
        let length = data.length as usize;
        if self.status == 0 {
            match kind {
                IN => {
                    assert!(data.writable);
                    let bytes = &self.sectors[at..at + length];
                    self.memory.write(data.address, bytes).expect("within");
                }
                OUT => {
                    let bytes = &mut self.sectors[at..at + length];
                    self.memory.read(data.address, bytes).expect("within");
                }
                DISCARD | WRITE_ZEROES => {
                    let mut segment = [0; 16];
                    self.memory
                        .read(data.address, &mut segment)
                        .expect("within");
                    let first = u64::from_le_bytes(segment[..8].try_into().expect("eight"));
                    let count = u32::from_le_bytes(segment[8..12].try_into().expect("four"));
                    let at = first as usize * SECTOR;
                    self.sectors[at..at + count as usize * SECTOR].fill(0);
                }
                FLUSH => assert_eq!(buffers.len(), 2),
                _ => panic!("kind {kind}"),
            }
        }
        let status = buffers.last().expect("it has one");
        self.memory
            .write(status.address, &[self.status])
            .expect("within");
        self.done.push(kind);
        self.queue
            .complete(&self.memory, &chain, 1)
            .expect("within");
        true
    }

    fn run(&mut self) {
        while self.step() {}
    }
}

/// What a disk says of itself.
fn limits(features: u64) -> Limits {
    let word = |at| match at {
        0 => SECTORS as u32,
        20 => 512,
        36 => 100_000,
        44 => 1,
        48 => 16,
        56 => 1,
        _ => 0,
    };
    Limits::of(features, word).expect("its blocks are sectors")
}

fn shared_with(features: u64) -> (&'static RefCell<Disk>, Model) {
    let memory = window(MEMORY.next_multiple_of(8), DMA);
    let queue = Requester::new(memory, DMA, ENTRIES).expect("within");
    let disk = Shared::new(memory, DMA, queue, Counting, limits(features));
    (Box::leak(Box::new(RefCell::new(disk))), Model::new(memory))
}

thread_local! {
    static DISK: Cell<Option<&'static RefCell<Disk>>> = const { Cell::new(None) };
}

fn first() -> PartDevice {
    device(0, FIRST, false)
}

fn second() -> PartDevice {
    device(1, SECOND, false)
}

fn device(number: usize, part: Part, is_read_only: bool) -> PartDevice {
    let disk = DISK.get().expect("there is one");
    Passed::new(disk, number, part, is_read_only).expect("it is within")
}

/// Two drivers of parts of one disk.
fn machines() -> (Model, [Machine; 2]) {
    let (disk, model) = shared_with(FEATURES & !(1 << 5));
    DISK.set(Some(disk));
    let mut machines = [Machine::new(first), Machine::new(second)];
    for machine in &mut machines {
        machine.start();
    }
    (model, machines)
}

/// Announces a request with so many bytes of data, by the slot's page of buffers, and notifies.
fn request(machine: &mut Machine, slot: u64, kind: u32, sector: u64, data: &[u8]) {
    let at = BUFFERS + 4096 * slot;
    let memory = machine.memory.memory;
    let mut header = [0; 16];
    header[..4].copy_from_slice(&kind.to_le_bytes());
    header[8..].copy_from_slice(&sector.to_le_bytes());
    memory.write(at, &header).expect("within");
    memory.write(at + 16, &[0xff]).expect("within");
    memory.write(at + 64, data).expect("within");
    let is_in = matches!(kind, IN | GET_ID);
    let mut buffers = vec![(at, 16, false)];
    if !data.is_empty() {
        buffers.push((at + 64, data.len() as u32, is_in));
    }
    buffers.push((at + 16, 1, true));
    machine.request(0, &buffers);
    machine.write(register::QUEUE_NOTIFY, 0);
}

/// The driver looks why it is interrupted. The status of a slot's request, and its data.
fn ended(machine: &mut Machine, slot: u64, bytes: usize) -> (u8, Vec<u8>) {
    machine.read(register::INTERRUPT_STATUS);
    let at = BUFFERS + 4096 * slot;
    (machine.bytes(at + 16, 1)[0], machine.bytes(at + 64, bytes))
}

fn segment(sector: u64, sectors: u32, flags: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&sector.to_le_bytes());
    bytes[8..12].copy_from_slice(&sectors.to_le_bytes());
    bytes[12..].copy_from_slice(&flags.to_le_bytes());
    bytes
}

#[test]
fn each_driver_has_its_part() {
    let (mut model, [mut first, mut second]) = machines();
    assert_eq!(first.read(register::CONFIGURATION), FIRST.sectors);
    assert_eq!(second.read(register::CONFIGURATION), SECOND.sectors);
    request(&mut first, 0, OUT, 0, &[0xaa; 2 * SECTOR]);
    request(&mut second, 0, OUT, SECOND.sectors - 1, &[0xbb; SECTOR]);
    // The disk has not done them: nothing is completed.
    assert_eq!(ended(&mut first, 0, 0).0, 0xff);
    assert_eq!(first.completed(0).0, 0);
    model.run();
    assert_eq!(ended(&mut first, 0, 0).0, 0);
    assert_eq!(ended(&mut second, 0, 0).0, 0);
    let changed: Vec<usize> = (0..SECTORS as usize)
        .filter(|sector| model.sectors[sector * SECTOR] != *sector as u8)
        .collect();
    assert_eq!(changed, [8, 9, 39]);
    request(&mut first, 1, IN, 1, &[0; 2 * SECTOR]);
    model.run();
    let (status, data) = ended(&mut first, 1, 2 * SECTOR);
    assert_eq!((status, data[0], data[SECTOR]), (0, 0xaa, 10));
    assert_eq!(first.completed(0), (2, 2 * SECTOR as u32 + 1));
}

/// What is not within the part, or not whole, never comes before the disk.
#[test]
fn nothing_behind_a_part_is_reached() {
    let (mut model, [mut first, _]) = machines();
    let end = FIRST.sectors;
    let sector = [7; SECTOR];
    let cases: [(u32, u64, &[u8], u8); 12] = [
        (IN, end, &sector, 1),
        (OUT, end, &sector, 1),
        (IN, end - 1, &[7; 2 * SECTOR], 1),
        (OUT, end - 1, &[7; 2 * SECTOR], 1),
        (OUT, u64::MAX, &sector, 1),
        (OUT, u64::MAX - 7, &sector, 1),
        (OUT, 0, &[7; 100], 1),
        (DISCARD, 0, &segment(end - 1, 2, 0), 1),
        (WRITE_ZEROES, 0, &segment(0, 17, 0), 1),
        (DISCARD, 0, &segment(u64::MAX, 2, 0), 1),
        (DISCARD, 0, &segment(0, 1, 1), 2),
        (99, 0, &sector, 2),
    ];
    for (kind, sector, data, wanted) in cases {
        request(&mut first, 0, kind, sector, data);
        assert_eq!(ended(&mut first, 0, 0).0, wanted, "{kind} {sector}");
    }
    model.run();
    assert_eq!(model.done, [0; 0]);
    request(&mut first, 0, GET_ID, 0, &[0; 20]);
    let (status, id) = ended(&mut first, 0, 6);
    assert_eq!((status, &id[..]), (0, &b"tactus"[..]));
}

/// Discards and flushes are the disk's, at its own sectors.
#[test]
fn discards_and_flushes_are_passed_on() {
    let (mut model, [mut first, _]) = machines();
    assert_eq!(
        [36, 40, 44, 48, 52, 56].map(|at| first.read(register::CONFIGURATION + at)),
        [8192, 1, 1, 16, 1, 1]
    );
    request(&mut first, 0, DISCARD, 0, &segment(2, 3, 0));
    model.run();
    assert_eq!(ended(&mut first, 0, 0).0, 0);
    request(&mut first, 0, WRITE_ZEROES, 0, &segment(15, 1, 1));
    model.run();
    assert_eq!(ended(&mut first, 0, 0).0, 0);
    request(&mut first, 0, FLUSH, 0, &[]);
    model.run();
    assert_eq!(ended(&mut first, 0, 0).0, 0);
    assert_eq!(model.done, [DISCARD, WRITE_ZEROES, FLUSH]);
    let zeroes: Vec<usize> = (1..SECTORS as usize)
        .filter(|sector| model.sectors[sector * SECTOR] == 0)
        .collect();
    assert_eq!(zeroes, [10, 11, 12, 23]);
}

/// A disk that cannot do something has no devices that can.
#[test]
fn a_device_can_what_its_disk_can() {
    let feature = |machine: &mut Machine| machine.read(register::DEVICE_FEATURES);
    for (features, read_only, wanted) in [
        (FEATURES & !(1 << 5), false, 0x6246),
        (1 << 6, false, 0x0246),
        (FEATURES, false, 0x0266),
        (FEATURES & !(1 << 5), true, 0x0266),
    ] {
        let (disk, mut model) = shared_with(features);
        DISK.set(Some(disk));
        let mut machine = if read_only {
            Machine::new(|| device(0, FIRST, true))
        } else {
            Machine::new(first)
        };
        assert_eq!(feature(&mut machine), wanted, "{features:x}");
        machine.start();
        if wanted & 1 << 5 != 0 {
            request(&mut machine, 0, OUT, 0, &[1; SECTOR]);
            assert_eq!(ended(&mut machine, 0, 0).0, 1);
            request(&mut machine, 0, DISCARD, 0, &segment(0, 1, 0));
            assert_eq!(ended(&mut machine, 0, 0).0, 2);
        }
        if features & 1 << 9 == 0 {
            // What it has done is kept.
            request(&mut machine, 0, FLUSH, 0, &[]);
            assert_eq!(ended(&mut machine, 0, 0).0, 0);
            request(&mut machine, 0, DISCARD, 0, &segment(0, 1, 0));
            assert_eq!(ended(&mut machine, 0, 0).0, 2);
        }
        model.run();
        assert_eq!(model.done, [0; 0]);
    }
}

/// A part of a disk with larger blocks is of whole ones, and so are requests.
#[test]
fn blocks_are_whole() {
    let memory = window(MEMORY.next_multiple_of(8), DMA);
    let queue = Requester::new(memory, DMA, ENTRIES).expect("within");
    let word = |at| {
        if at == 20 {
            4096
        } else {
            64 * u32::from(at == 0)
        }
    };
    let limits = Limits::of(1 << 6, word).expect("whole sectors");
    let disk = Shared::new(memory, DMA, queue, Counting, limits);
    let disk: &'static _ = Box::leak(Box::new(RefCell::new(disk)));
    let part = |first, sectors| Passed::new(disk, 0, Part { first, sectors }, false).is_some();
    assert!(part(8, 16) && !part(4, 16) && !part(8, 4) && !part(56, 16) && !part(0, 0));
    assert!(Limits::of(1 << 6, |_| 256).is_none() && Limits::of(1 << 6, |_| 513).is_none());
    DISK.set(Some(disk));
    let mut machine = Machine::new(first);
    machine.start();
    request(&mut machine, 0, IN, 1, &[0; 8 * 512]);
    assert_eq!(ended(&mut machine, 0, 0).0, 1);
    assert_eq!(machine.read(register::CONFIGURATION + 20), 4096);
}

/// What the disk fails in fails for the driver, whose buffers stay; the next request is done.
#[test]
fn errors_of_the_disk_are_the_drivers() {
    let (mut model, [mut first, _]) = machines();
    for (status, wanted) in [(1, 1), (2, 2), (77, 1), (0xff, 1)] {
        model.status = status;
        request(&mut first, 0, IN, 0, &[5; SECTOR]);
        model.run();
        assert_eq!(ended(&mut first, 0, SECTOR), (wanted, vec![5; SECTOR]));
        model.status = 0;
        request(&mut first, 0, IN, 0, &[5; SECTOR]);
        model.run();
        assert_eq!(ended(&mut first, 0, SECTOR), (0, vec![8; SECTOR]));
    }
}

/// A driver that resets the device with a request before the disk finds it done or not, and none of its later ones
/// comes before it.
#[test]
fn a_reset_does_not_overtake_the_disk() {
    let (mut model, [mut first, _]) = machines();
    request(&mut first, 0, OUT, 0, &[1; SECTOR]);
    first.start();
    request(&mut first, 0, OUT, 0, &[2; SECTOR]);
    assert_eq!(ended(&mut first, 0, 0).0, 0xff);
    assert!(model.step() && !model.step());
    assert_eq!(model.sectors[8 * SECTOR], 1);
    // The old request has ended, and the driver is not told; the new one begins.
    assert_eq!(ended(&mut first, 0, 0).0, 0xff);
    assert_eq!(first.completed(0).0, 0);
    assert!(model.step());
    assert_eq!(ended(&mut first, 0, 0).0, 0);
    assert_eq!((first.completed(0).0, model.sectors[8 * SECTOR]), (1, 2));
}

/// The service VM is told which drivers' requests were done, by a disk that may claim anything.
#[test]
fn completions_are_told() {
    let (mut model, [mut first, mut second]) = machines();
    let mut completions: Completions<_> = DISK.get().expect("one").borrow().completions();
    assert_eq!(completions.take(), 0);
    request(&mut second, 0, FLUSH, 0, &[]);
    request(&mut first, 0, FLUSH, 0, &[]);
    assert!(model.step());
    assert_eq!((completions.take(), completions.take()), (2, 0));
    assert!(model.step());
    assert_eq!(completions.take(), 1);
    assert_eq!(
        (ended(&mut first, 0, 0).0, ended(&mut second, 0, 0).0),
        (0, 0)
    );
    // The used ring is garbage from now on.
    let parts = Parts::at(DMA, ENTRIES);
    for entry in 0..u64::from(ENTRIES) {
        let garbage = [0xff; 8].map(|byte: u8| byte.wrapping_mul(entry as u8));
        model
            .memory
            .write(parts.used + 4 + 8 * entry, &garbage)
            .expect("within");
    }
    model
        .memory
        .store_index(parts.used + 2, 40000)
        .expect("within");
    assert_eq!(completions.take() >> SLOTS, 0);
    request(&mut first, 0, IN, 0, &[0; SECTOR]);
    first.read(register::INTERRUPT_STATUS);
}

#[test]
fn a_sector_is_read_before_there_are_devices() {
    let (disk, mut model) = shared_with(FEATURES);
    let mut sector = [0; SECTOR];
    let read = disk.borrow_mut().read(33, &mut sector, || model.step());
    assert_eq!((read.is_ok(), sector), (true, [33; SECTOR]));
    let read = disk.borrow_mut().read(33, &mut sector, || false);
    assert!(read.is_err());
}

/// An access of a hostile driver.
fn access() -> impl Strategy<Value = (u32, u64)> {
    let registers = prop_oneof![
        Just(register::QUEUE_NOTIFY),
        Just(register::STATUS),
        Just(register::INTERRUPT_ACKNOWLEDGE),
        0..0x110u32,
    ];
    (registers, any::<u64>())
}

proptest! {
    /// Whatever a driver does, the disk is asked for its part alone (the model panics otherwise), and the other
    /// driver's part stays.
    #[test]
    fn a_hostile_driver_has_its_part_alone(
        accesses in proptest::collection::vec((access(), any::<[u8; 24]>(), 0..3u32, 0..40u64), 1..60),
    ) {
        let (mut model, [mut first, _]) = machines();
        let before = model.sectors.clone();
        for ((offset, value), bytes, kind, sector) in accesses {
            let kind = [IN, OUT, DISCARD][kind as usize];
            let data = if kind == DISCARD {
                segment(sector, bytes[0].into(), 0).to_vec()
            } else {
                vec![bytes[1]; (1 + usize::from(bytes[2]) % 4) * SECTOR]
            };
            request(&mut first, 0, kind, sector, &data);
            first.memory.memory.write(BUFFERS + u64::from(bytes[3]), &bytes).expect("within");
            let _ = first.access(offset, (bytes[4] & 1 == 0).then_some(value), 3);
            if bytes[5] & 1 == 0 {
                model.step();
            }
            let _ = first.access(register::INTERRUPT_STATUS, None, 3);
            if first.needs_reset() {
                first.start();
            }
        }
        model.run();
        let part = FIRST.first as usize * SECTOR..(FIRST.first + FIRST.sectors) as usize * SECTOR;
        prop_assert_eq!(&model.sectors[..part.start], &before[..part.start]);
        prop_assert_eq!(&model.sectors[part.end..], &before[part.end..]);
    }
}
