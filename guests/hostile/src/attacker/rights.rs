//! What the VM may do, as its devicetree says.

use tactus_guest::{
    abi::map,
    accelerator::VirtualDevice,
    channel::Channel,
    devicetree::{self, Page},
    start, time,
};

/// Channels that it uses at most.
const CHANNELS_MAX: usize = 8;
/// Pages of devices that it uses at most.
const PAGES_MAX: usize = 8;
/// Bytes of a device that it writes to at most.
const DEVICE_MAX: usize = 1 << 20;

/// A device passed through.
#[derive(Clone, Copy)]
pub struct Device {
    /// Address of its registers.
    pub base: usize,
    /// Bytes of them.
    pub size: usize,
}

/// The rights of the VM.
pub struct Rights {
    /// Bytes of memory.
    pub memory: usize,
    /// Its vCPUs.
    pub vcpus: usize,
    /// Ticks per second.
    pub hz: usize,
    /// The real-time clock, if it is the VM's.
    pub clock: Option<usize>,
    /// Its channels.
    pub channels: [Option<Channel>; CHANNELS_MAX],
    /// Virtual devices of accelerators.
    pub accelerators: [Option<Page>; PAGES_MAX],
    /// Their drivers, by hardware task.
    pub virtual_devices: [Option<VirtualDevice>; PAGES_MAX],
    /// Ports to the I/O hypervisor.
    pub io_ports: [Option<Page>; PAGES_MAX],
    /// The engine of timed I/O.
    pub timed_io: Option<Page>,
    /// Devices passed through.
    pub devices: [Option<Device>; PAGES_MAX],
    /// Whether it has the virtual UART.
    pub console: bool,
}

impl Rights {
    /// Reads the devicetree.
    pub fn find() -> Self {
        let pages = |compatible| all(|number| devicetree::page(compatible, number));
        let uart = devicetree::page("ns16550a", 0);
        Self {
            memory: devicetree::memory_size().unwrap_or(4 << 20) as usize,
            vcpus: devicetree::harts().min(start::HARTS_MAX),
            hz: time::hz() as usize,
            clock: devicetree::page("google,goldfish-rtc", 0).map(|page| page.registers),
            channels: all(Channel::find),
            accelerators: pages("tactus,virtual-device"),
            virtual_devices: core::array::from_fn(|task| VirtualDevice::find(task as u8)),
            io_ports: pages("tactus,io-port"),
            timed_io: devicetree::page("tactus,timed-io", 0),
            devices: devices(),
            console: uart.is_some_and(|page| page.registers == map::UART_BASE as usize),
        }
    }

    /// Its channels.
    pub fn channels(&self) -> impl Iterator<Item = Channel> {
        self.channels.iter().flatten().copied()
    }

    /// The memory that nothing of the program is in: begin and end. The devicetree and the memory kept for real-time
    /// vCPUs are at the end; the latter may be written.
    pub fn free_memory(&self) -> (usize, usize) {
        let end = map::RAM_BASE as usize + self.memory - map::DEVICETREE_SIZE as usize;
        (start::image_end(), end)
    }

    /// Whether the VM may access this address.
    pub fn owns(&self, address: usize) -> bool {
        let within = |base: usize, size: usize| address.wrapping_sub(base) < size;
        let page = map::PAGE_SIZE as usize;
        let fixed = [
            (map::RAM_BASE, self.memory),
            (map::FINISHER_BASE, page),
            (map::PLIC_BASE, map::PLIC_SIZE as usize),
            (map::UART_BASE, map::UART_SIZE as usize),
            (map::DOORBELL_BASE, page),
            (
                map::CHANNEL_BASE,
                (map::CHANNEL_END - map::CHANNEL_BASE) as usize,
            ),
        ];
        let pages = [&self.accelerators[..], &self.io_ports[..]];
        let mut pages = pages.into_iter().flatten().flatten().chain(&self.timed_io);
        let mut owned = fixed
            .iter()
            .any(|(base, size)| within(*base as usize, *size))
            || pages.any(|one| within(one.registers, page));
        visit_named(|device| owned |= within(device.base, device.size));
        owned
    }
}

/// The first items, up to the first that is not there: to look for it takes a while.
fn all<T: Copy, const N: usize>(find: impl Fn(usize) -> Option<T>) -> [Option<T>; N] {
    let mut items = [None; N];
    for (number, item) in items.iter_mut().enumerate() {
        *item = find(number);
        if item.is_none() {
            break;
        }
    }
    items
}

/// Calls `visit` with all that the devicetree gives an address of below the memory.
fn visit_named(mut visit: impl FnMut(Device)) {
    let Some(tree) = devicetree::get() else {
        return;
    };
    for node in tree.all_nodes() {
        let region = node.reg().and_then(|mut regions| regions.next());
        let Some(region) = region else { continue };
        let base = region.starting_address as usize;
        let size = region.size.unwrap_or(0);
        if size > 0 && base < map::RAM_BASE as usize {
            visit(Device { base, size });
        }
    }
}

/// The devices passed through.
fn devices() -> [Option<Device>; PAGES_MAX] {
    let virtual_ones = |base: usize| {
        [
            map::FINISHER_BASE..map::FINISHER_BASE + map::PAGE_SIZE,
            map::PLIC_BASE..map::PLIC_BASE + map::PLIC_SIZE,
            map::UART_BASE..map::UART_BASE + map::UART_SIZE,
            map::DOORBELL_BASE..map::CHANNEL_END,
            map::ACCELERATOR_BASE..map::TIMED_IO_BASE + map::PAGE_SIZE,
        ]
        .iter()
        .any(|range| range.contains(&(base as u64)))
    };
    let mut found = [None; PAGES_MAX];
    let mut places = found.iter_mut();
    visit_named(|device| {
        let passed = device.base != 0 && device.size <= DEVICE_MAX && !virtual_ones(device.base);
        if passed && let Some(place) = places.next() {
            *place = Some(device);
        }
    });
    found
}
