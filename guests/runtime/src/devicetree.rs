//! The machine's devicetree (Devicetree specification), and the boot arguments in it.

use fdt::{Fdt, node::FdtNode};
use tactus_abi::map::PCI_ECAM_BASE;

use crate::start;

/// The devicetree that the machine handed over; `None` when it handed over none.
pub fn get() -> Option<Fdt<'static>> {
    match start::devicetree() {
        0 => None,
        // SAFETY: the boot convention is that `a1` points to a devicetree; it stays where it is, and `from_ptr` checks
        // its magic.
        address => unsafe { Fdt::from_ptr(address as *const u8) }.ok(),
    }
}

/// A property that is one 32-bit cell.
pub fn cell(path: &str, property: &str) -> Option<u32> {
    node_cell(get()?.find_node(path)?, property)
}

fn node_cell(node: FdtNode<'_, '_>, property: &str) -> Option<u32> {
    let property = node.property(property)?;
    Some(u32::from_be_bytes(property.value.try_into().ok()?))
}

/// A channel of this VM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Channel {
    /// Address of its memory.
    pub memory: usize,
    /// Bytes of its memory.
    pub size: usize,
    /// The end of this VM.
    pub end: Option<u32>,
}

/// The VM's channel `number`, if it has one.
pub(crate) fn channel(number: usize) -> Option<Channel> {
    let tree = get()?;
    let number = u32::try_from(number).ok();
    let mut channels = compatible_with(&tree, "tactus,channel");
    let node = channels.find(|node| node_cell(*node, "tactus,index") == number)?;
    let region = node.reg()?.next()?;
    Some(Channel {
        memory: region.starting_address as usize,
        size: region.size?,
        end: node_cell(node, "tactus,end"),
    })
}

/// The memory that this VM has of the one at the other end of channel `number`, for which it emulates a device: where
/// this VM has it, its bytes, and where that one has it. It is all of that VM's, or the channel's. `None`: it emulates
/// no device there.
pub fn peer_memory(number: usize) -> Option<[usize; 3]> {
    let tree = get()?;
    let number = u32::try_from(number).ok();
    let mut channels = compatible_with(&tree, "tactus,channel");
    let node = channels.find(|node| node_cell(*node, "tactus,index") == number)?;
    let cells = node.property("tactus,peer-memory")?.value;
    let cells: [_; 3] = cells.as_chunks::<8>().0.try_into().ok()?;
    Some(cells.map(|cell| u64::from_be_bytes(cell) as usize))
}

/// The host of this VM's own PCI functions.
#[derive(Clone, Copy, Debug)]
pub struct PciHost {
    window: [u64; 2],
    interrupts: &'static [u8],
}

/// Cells of an entry of `interrupt-map`: an address, a pin, a controller and its source.
const MAP_CELLS: usize = 6;

/// The host of this VM's own PCI functions, if it has some (`vm.pci` in `system.toml`).
pub fn pci_host() -> Option<PciHost> {
    let tree = get()?;
    let mut hosts = compatible_with(&tree, "pci-host-ecam-generic");
    // One that another VM emulates is elsewhere.
    let node = hosts.find(|node| {
        let region = node.reg().and_then(|mut regions| regions.next());
        region.is_some_and(|region| region.starting_address as u64 == PCI_ECAM_BASE)
    })?;
    // One range: what it is, the address on the bus, here, and the size.
    let ranges: [[u8; 4]; 7] = node
        .property("ranges")?
        .value
        .as_chunks()
        .0
        .try_into()
        .ok()?;
    let cells = ranges.map(|cell| u64::from(u32::from_be_bytes(cell)));
    Some(PciHost {
        window: [cells[3] << 32 | cells[4], cells[5] << 32 | cells[6]],
        interrupts: node.property("interrupt-map")?.value,
    })
}

impl PciHost {
    /// Where registers of functions are.
    pub const fn window(&self) -> core::ops::Range<u64> {
        self.window[0]..self.window[0].saturating_add(self.window[1])
    }

    /// The slot, and the PLIC source, of each function.
    pub fn interrupts(&self) -> impl Iterator<Item = (u32, u32)> {
        let entries = self.interrupts.as_chunks::<{ 4 * MAP_CELLS }>().0.iter();
        entries.map(|entry| {
            let cell = |number: usize| {
                let mut bytes = [0; 4];
                bytes.copy_from_slice(&entry[4 * number..4 * number + 4]);
                u32::from_be_bytes(bytes)
            };
            // The device number of an address is in bits 15:11.
            (cell(0) >> 11, cell(MAP_CELLS - 1))
        })
    }
}

/// A virtual device of this VM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VirtualDevice {
    /// Address of its page.
    pub registers: usize,
    /// Its interface.
    pub interface: u32,
    /// Its PLIC source.
    pub source: Option<u32>,
    /// The number of the VM's channel to the device manager.
    pub channel: Option<u32>,
}

/// The VM's virtual device of the hardware task `task`, if it has one.
pub(crate) fn virtual_device(task: u8) -> Option<VirtualDevice> {
    let tree = get()?;
    let mut devices = compatible_with(&tree, "tactus,virtual-device");
    let node = devices.find(|node| node_cell(*node, "tactus,task") == Some(task.into()))?;
    Some(VirtualDevice {
        registers: node.reg()?.next()?.starting_address as usize,
        interface: node_cell(node, "tactus,interface")?,
        source: node_cell(node, "interrupts"),
        channel: node_cell(node, "tactus,channel"),
    })
}

/// A page of registers that this VM has.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Its address.
    pub registers: usize,
    /// Its PLIC source.
    pub source: Option<u32>,
    compatible: &'static str,
    number: usize,
}

/// The nodes that are compatible with `compatible`.
fn compatible_with<'f>(
    tree: &'f Fdt<'static>,
    compatible: &'f str,
) -> impl Iterator<Item = FdtNode<'f, 'static>> {
    // At most as many steps as the tree has nodes.
    tree.all_nodes().filter(move |node| {
        let names = node.compatible();
        names.is_some_and(|names| names.all().any(|name| name == compatible))
    })
}

/// The VM's page number `number`, counted from 0 among the nodes compatible with `compatible`.
pub fn page(compatible: &'static str, number: usize) -> Option<Page> {
    let tree = get()?;
    let node = compatible_with(&tree, compatible).nth(number)?;
    Some(Page {
        registers: node.reg()?.next()?.starting_address as usize,
        source: node_cell(node, "interrupts"),
        compatible,
        number,
    })
}

impl Page {
    fn property(&self, name: &str) -> Option<&'static [u8]> {
        let tree = get()?;
        let node = compatible_with(&tree, self.compatible).nth(self.number)?;
        Some(node.property(name)?.value)
    }

    /// A property of `N` 32-bit cells.
    pub fn cells<const N: usize>(&self, property: &str) -> Option<[u32; N]> {
        let cells = self.property(property)?.as_chunks::<4>().0;
        let cells: [_; N] = cells.try_into().ok()?;
        Some(cells.map(u32::from_be_bytes))
    }

    /// A property of `N` bytes.
    pub fn bytes<const N: usize>(&self, property: &str) -> Option<[u8; N]> {
        self.property(property)?.try_into().ok()
    }

    /// Whether the property is present.
    pub fn has(&self, property: &str) -> bool {
        self.property(property).is_some()
    }
}

/// The initial file system, or what else was given as such (`/chosen/linux,initrd-start`); `None`: nothing.
pub fn initrd() -> Option<&'static [u8]> {
    let tree = get()?;
    let chosen = tree.find_node("/chosen")?;
    let address = |name| {
        let bytes = chosen.property(name)?.value.try_into().ok()?;
        Some(u64::from_be_bytes(bytes) as usize)
    };
    let (start, end) = (address("linux,initrd-start")?, address("linux,initrd-end")?);
    // SAFETY: the boot convention is that this range is memory, and is used for nothing else.
    Some(unsafe { core::slice::from_raw_parts(start as *const u8, end.checked_sub(start)?) })
}

/// The boot arguments (`/chosen/bootargs`), empty when there are none.
pub fn arguments() -> &'static str {
    get()
        .and_then(|tree| tree.find_node("/chosen")?.property("bootargs")?.as_str())
        .unwrap_or("")
}

/// The value of the boot argument `name=value`.
pub fn argument(name: &str) -> Option<&'static str> {
    arguments()
        .split_ascii_whitespace()
        .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

/// The number that a boot argument gives, or `default` when it is absent.
///
/// # Panics
///
/// When the argument is present but is not a decimal number.
pub fn number(name: &str, default: u64) -> u64 {
    match argument(name) {
        None => default,
        Some(text) => match text.parse() {
            Ok(number) => number,
            Err(_) => panic!("boot argument {name}={text} is no decimal number"),
        },
    }
}

/// Harts (in a VM: vCPUs) of the machine; 1 when the devicetree names none.
pub fn harts() -> usize {
    get().map_or(1, |tree| tree.cpus().count().max(1))
}

/// Bytes of memory from [`tactus_abi::map::RAM_BASE`] on; `None` when the devicetree names no memory there.
pub fn memory_size() -> Option<u64> {
    get()?
        .memory()
        .regions()
        .find(|region| region.starting_address as u64 == tactus_abi::map::RAM_BASE)
        .and_then(|region| region.size)
        .map(|size| size as u64)
}
