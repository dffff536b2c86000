//! Devices before parts of a disk that this VM has, a virtio PCI function.

use core::cell::{OnceCell, RefCell};
use core::sync::atomic::AtomicU64;
use core::time::Duration;

use tactus_guest::call::{Message, Stack};
use tactus_guest::channel::Channel;
use tactus_guest::{devicetree, emulation, record, time, trap};
use tactus_guest_virtio_service::function::{Function, QueueBell};
use tactus_guest_virtio_service::{Devices, ring};
use tactus_virtio::disk::Failed;
use tactus_virtio::function::Lack;
use tactus_virtio::gpt::{self, Part};
use tactus_virtio::memory::{Memory, Window, WindowMemory};
use tactus_virtio::mmio::{Device, Served};
use tactus_virtio::passed::{ENTRIES, FEATURES, Limits, MEMORY, Passed, SLOTS, Shared};
use tactus_virtio::queue::{Fault, Queue};
use tactus_virtio::requester::Requester;

/// Names of the boot arguments of each device.
const PARTS: [&str; SLOTS] = [
    "part0", "part1", "part2", "part3", "part4", "part5", "part6", "part7",
];
const RANGES: [&str; SLOTS] = [
    "range0", "range1", "range2", "range3", "range4", "range5", "range6", "range7",
];
const READ_ONLY: [&str; SLOTS] = [
    "readonly0",
    "readonly1",
    "readonly2",
    "readonly3",
    "readonly4",
    "readonly5",
    "readonly6",
    "readonly7",
];
/// A disk that does not answer within this time is none.
const PATIENCE: Duration = Duration::from_secs(10);

/// The kind of device (virtio 1.2, section 5).
const BLOCK: u32 = 2;

type Disk = Shared<Window, QueueBell>;

/// Memory that the disk accesses.
static DMA: WindowMemory<MEMORY> = WindowMemory::new();

/// The disk, which `run` makes before calls begin.
struct Service(OnceCell<RefCell<Disk>>);

// SAFETY: `run` uses it before the first call; then only devices do, of which `Devices` serves one at a time.
unsafe impl Sync for Service {}

static DISK: Service = Service(OnceCell::new());
static DEVICES: Devices<PartDevice, SLOTS> = Devices::new();
static STACK: Stack<16384> = Stack::new();

/// A device before a part of [`DISK`].
struct PartDevice(Passed<'static, Window, QueueBell>);

// SAFETY: what it refers to is used by no other than such devices, all of them in `DEVICES`, which serves one at a
// time.
unsafe impl Send for PartDevice {}

impl Device for PartDevice {
    const KIND: u32 = BLOCK;
    const QUEUES: usize = 1;

    fn features(&self) -> u64 {
        self.0.features()
    }

    fn configuration(&self, offset: u32, size: u8) -> u64 {
        self.0.configuration(offset, size)
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn serve(
        &mut self,
        number: usize,
        queue: &mut Queue,
        memory: &impl Memory,
    ) -> Result<Served, Fault> {
        self.0.serve(number, queue, memory)
    }
}

/// The disk that this VM has, if it has one.
pub fn find() -> Option<Function> {
    Function::find(BLOCK).unwrap_or_else(|lack| record::give_up(lack.text()))
}

/// Serves parts of the disk, and nothing else.
pub fn run(function: Function) -> ! {
    let disk = begin(&function).unwrap_or_else(|lack| record::give_up(lack.text()));
    let disk = DISK.0.get_or_init(|| RefCell::new(disk));
    let parts = parts(&mut disk.borrow_mut());
    let buffers = devicetree::number("buffers", 0) as usize;
    DEVICES.make(|number, channel| {
        let part = parts.get(number).copied().flatten()?;
        let is_read_only = devicetree::number(READ_ONLY[number], 0) != 0;
        let device = Passed::new(disk, number, part, is_read_only);
        let device = device.unwrap_or_else(|| {
            record::give_up("a part is not within the disk, or no whole blocks of it")
        });
        Some((PartDevice(device), registers(channel, buffers)?))
    });
    let mut completions = disk.borrow().completions();
    // Of what was read of the disk so far no driver is told.
    completions.take();
    emulation::begin(serve, &STACK);
    function.enable_interrupt();
    loop {
        function.take_interrupt();
        ring(completions.take());
        trap::wait_for_interrupt();
    }
}

/// The words of a channel's memory that a device's registers are kept in, behind the driver's buffers.
fn registers(channel: Channel, buffers: usize) -> Option<&'static [AtomicU64]> {
    channel.words().get(buffers.div_ceil(8)..)
}

fn begin(function: &Function) -> Result<Disk, Lack> {
    let registers = function.registers();
    let features = registers.begin(FEATURES)?;
    // The function has this VM's addresses.
    let first = DMA.address();
    let memory = DMA.window(first);
    let queue = Requester::new(memory, first, ENTRIES).map_err(|_| Lack::Queue)?;
    let address = registers.set_queue(0, ENTRIES, queue.parts())?;
    registers.go();
    let limits = Limits::of(features, |offset| registers.configuration(offset));
    let limits = limits.ok_or(Lack::Structure)?;
    let bell = function.bell(0, address);
    Ok(Shared::new(memory, first, queue, bell, limits))
}

/// The part of each device, by the boot arguments.
fn parts(disk: &mut Disk) -> [Option<Part>; SLOTS] {
    let mut parts = [None; SLOTS];
    for number in 0..SLOTS {
        if Channel::find(number).is_none() {
            break;
        }
        let part = part(disk, number);
        let mut others = parts.iter().flatten();
        if others.any(|other| part.overlaps(other)) {
            record::give_up("two parts have a sector in common");
        }
        parts[number] = Some(part);
    }
    parts
}

fn part(disk: &mut Disk, number: usize) -> Part {
    let sectors = disk.limits().sectors;
    let part = match (
        devicetree::argument(PARTS[number]),
        devicetree::argument(RANGES[number]),
    ) {
        (Some(text), None) => partition(disk, text),
        (None, Some(text)) => range(text),
        _ => record::give_up("each channel needs partN=NUMBER or rangeN=FIRST+SECTORS"),
    };
    if !part.is_within(sectors) {
        record::give_up("a part is not within the disk");
    }
    part
}

/// The partition of the number that a text is.
fn partition(disk: &mut Disk, text: &str) -> Part {
    if disk.limits().block != 1 {
        record::give_up("partitions are known of disks with blocks of 512 bytes only: use rangeN");
    }
    let number = text.parse();
    let number = number.unwrap_or_else(|_| record::give_up("partN is no number of a partition"));
    let sectors = disk.limits().sectors;
    let read = |sector: u64, to: &mut _| -> Result<(), Failed> {
        let end = time::now() + time::ticks(PATIENCE);
        disk.read(sector, to, || time::now() < end)
    };
    gpt::partition(number, sectors, read).unwrap_or_else(|lack| record::give_up(lack.text()))
}

/// `FIRST+SECTORS`.
fn range(text: &str) -> Part {
    let numbers = text.split_once('+').and_then(|(first, sectors)| {
        Some(Part {
            first: first.parse().ok()?,
            sectors: sectors.parse().ok()?,
        })
    });
    numbers.unwrap_or_else(|| record::give_up("rangeN is not FIRST+SECTORS, in decimal numbers"))
}

fn serve(channel: usize, message: Message) -> Message {
    DEVICES.serve(channel, message)
}
