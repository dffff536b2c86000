//! A system that has been checked: every address chosen, every name resolved, nothing optional that the
//! boot image needs.

use tactus_abi::blob::{Migration, Overheads, ReadyQueue, RealTimePolicy, calls, onchip, region};
use tactus_abi::map;
use tactus_accelerators::Turn;
use tactus_accelerators::latency::{Costs, Latency};
use tactus_planning::analysis::Criticality;
use tactus_planning::colours::Colours;
use tactus_planning::placement::Extent;
use tactus_planning::stage2::{Mapping, table_pages};
use tactus_policy::reservation::{self, Kind, Reservation};

use crate::config::{Class, IoPolicy, Nanoseconds, Share, Size, Station};
use crate::hypervisor::Hypervisor;
use crate::pci::Model;
use crate::profile::Profile;

/// A checked system.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The platform.
    pub profile: Profile,
    /// What the platform's fabric is loaded with.
    pub design: Option<String>,
    /// What keeps ready best-effort vCPUs in order.
    pub ready_queue: ReadyQueue,
    /// Harts used.
    pub harts: u32,
    /// Physical memory.
    pub memory: Extent,
    /// Time slice of best-effort vCPUs in ticks of the `time` CSR.
    pub slice_ticks: u64,
    /// What the hypervisor itself takes, in ticks.
    pub overheads: Overheads,
    /// Part of each hart that real-time vCPUs leave to best-effort ones.
    pub reserve: Share,
    /// Whether real-time guests' interrupts come before, and into, what is done for best-effort ones.
    pub separation: bool,
    /// What it needs of the hypervisor beyond its base: bits of [`tactus_abi::blob::part`].
    pub parts: u32,
    /// When best-effort vCPUs go to harts for user level only.
    pub migration: Migration,
    /// Those harts; none when that is never.
    pub user_only: Vec<u32>,
    /// How each hart orders its real-time vCPUs.
    pub policies: Vec<RealTimePolicy>,
    /// Bytes of the cache lines of [`Vcpu::warm`]; 0: no vCPU has any.
    pub cache_line: u32,
    /// What carries the consoles.
    pub line: ConsoleLine,
    /// The hypervisor.
    pub hypervisor: Hypervisor,
    /// The VMs, in the order of the file.
    pub vms: Vec<Vm>,
    /// The accelerators that VMs share.
    pub accelerators: Option<Accelerators>,
    /// What VMs have of the devices behind the I/O hypervisor.
    pub io: Option<Io>,
    /// The channels, in the order of the file.
    pub channels: Vec<Channel>,
    /// Where the boot image is, from the hypervisor's first byte.
    pub image: Extent,
    /// Where the hypervisor takes its memory from.
    pub pool: Extent,
}

/// What carries all VMs' consoles and the hypervisor's log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConsoleLine {
    /// The platform's UART, which no VM has.
    #[default]
    Uart,
    /// The platform's spare UART, as the VM of this index has the other one.
    Spare(usize),
    /// The firmware's console, on the UART that the VM of this index has as well.
    Shared(usize),
}

impl ConsoleLine {
    /// The VM that has the platform's UART.
    pub const fn vm(self) -> Option<usize> {
        match self {
            Self::Uart => None,
            Self::Spare(vm) | Self::Shared(vm) => Some(vm),
        }
    }
}

/// A device's interrupt that a VM has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenInterrupt {
    /// The PLIC source.
    pub source: u32,
    /// The VM's index.
    pub vm: usize,
    /// What the VM's devicetree calls the device.
    pub device: String,
}

impl Plan {
    /// The interrupts of devices that VMs have.
    pub fn interrupts(&self) -> Vec<GivenInterrupt> {
        let devices = self.vms.iter().enumerate();
        let devices = devices.flat_map(|(vm, of)| of.devices.iter().map(move |d| (vm, d)));
        let functions = self.vms.iter().enumerate().flat_map(|(vm, of)| {
            let given = move |function: &Function| GivenInterrupt {
                source: function.interrupt,
                vm,
                device: format!("PCI slot {}", function.slot),
            };
            of.functions.iter().map(given)
        });
        let interrupts = devices.flat_map(|(vm, device)| {
            let given = move |&source| GivenInterrupt {
                source,
                vm,
                device: device.name.clone(),
            };
            device.interrupts.iter().map(given)
        });
        interrupts.chain(functions).collect()
    }
}

/// What happens when a VM faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFault {
    /// It stays stopped.
    Halt,
    /// It restarts.
    Restart,
    /// It stays stopped, and the VM of this index gets an interrupt.
    Signal(usize),
}

/// A checked VM.
#[derive(Clone, Debug)]
pub struct Vm {
    /// Its name.
    pub name: String,
    /// Bytes of memory.
    pub memory: Size,
    /// Physical address of its memory; with colours, of its first page.
    pub host: u64,
    /// The part of its memory that is in on-chip memory, if one is. Its place in main memory stays unused.
    pub onchip: Option<OnchipPart>,
    /// The colours of the cache that its memory and its second-stage tables have, if the cache is divided.
    pub colours: Option<Colours>,
    /// Guest-physical address of its first instruction.
    pub entry: u64,
    /// What is copied into its memory when it starts: the image, the initrd and the devicetree.
    pub segments: Vec<LoadSegment>,
    /// Guest-physical addresses of its initrd.
    pub initrd: Option<Extent>,
    /// Its command line.
    pub bootargs: Option<String>,
    /// Whether it has the virtual UART.
    pub console: bool,
    /// Whether it may read the counters `cycle` and `instret`.
    pub counters: bool,
    /// What happens when it faults.
    pub on_fault: OnFault,
    /// The VMs that it manages, by index, in their order.
    pub manages: Vec<usize>,
    /// Its vCPUs; the first one starts it.
    pub vcpus: Vec<Vcpu>,
    /// Real-time vCPUs that it may make at run time.
    pub rt_vcpus: u32,
    /// Part of the system that its reservations may come to.
    pub rt_share: Share,
    /// Memory kept for the code and data of such vCPUs, below the devicetree; perhaps none.
    pub rt_memory: Size,
    /// Devices passed through to it.
    pub devices: Vec<Device>,
    /// PCI functions passed through to it, by slot.
    pub functions: Vec<Function>,
    /// Its ends of channels, by channel number.
    pub channels: Vec<ChannelEnd>,
}

impl Vm {
    /// How many vCPUs it may have, those included that it may make at run time.
    pub const fn most_vcpus(&self) -> usize {
        self.vcpus.len() + self.rt_vcpus as usize
    }
}

/// A part of a VM's memory that is in on-chip memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnchipPart {
    /// The guest-physical addresses.
    pub guest: Extent,
    /// The physical addresses.
    pub host: Extent,
}

/// A part of a VM's initial memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadSegment {
    /// Guest-physical address of its first byte.
    pub guest: u64,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// A checked vCPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vcpu {
    /// Its class.
    pub class: Class,
    /// Its priority, 0 to 255. `None`: a real-time vCPU that goes by its deadlines.
    pub priority: Option<u8>,
    /// The harts it may run on, ascending; a real-time vCPU begins on the first.
    pub harts: Vec<u32>,
    /// The time it gets, in ticks.
    pub reservation: Option<Reservation>,
    /// What waiting does to a job of that.
    pub kind: Kind,
    /// What it has in the modes of its hart.
    pub criticality: Criticality,
    /// How long before its deadline it gets its hart at most, in ticks; 0: at its deadline.
    pub lead: u64,
    /// Of a real-time one, the least time in ticks between two interrupts of its hart that signals for it cause while
    /// another real-time vCPU runs there. Of a best-effort one: zero.
    pub interrupt_distance: u64,
    /// The cache lines that it uses soon after its timer has woken it; perhaps none.
    pub warm: Vec<WarmRange>,
}

/// Adjacent cache lines of a VM's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarmRange {
    /// Guest-physical address of the first one.
    pub guest: u64,
    /// How many.
    pub lines: u16,
    /// Whether they hold instructions.
    pub code: bool,
}

impl Vcpu {
    /// Its reservation as the analysis needs it.
    pub fn task(&self) -> Option<reservation::Task> {
        let kind = self.kind;
        self.reservation
            .map(|reservation| reservation::Task { reservation, kind })
    }

    /// How a hart that it may run on orders its real-time vCPUs. `None`: it is best effort.
    pub const fn policy(&self) -> Option<RealTimePolicy> {
        match (self.class, self.priority) {
            (Class::Be, _) => None,
            (Class::Rt, Some(_)) => Some(RealTimePolicy::FixedPriority),
            (Class::Rt, None) => Some(RealTimePolicy::EarliestDeadline),
        }
    }
}

/// Accelerators that VMs share.
#[derive(Clone, Debug)]
pub struct Accelerators {
    /// The VM that is the device manager.
    pub manager: usize,
    /// The virtual devices, by interface.
    pub devices: Vec<Accelerator>,
    /// Where the fabric's pages are, for the device manager.
    pub fabric: u64,
    /// How many regions there are.
    pub regions: u32,
    /// All tasks, also those that no VM has.
    pub tasks: Vec<Task>,
    /// The bitstreams of the tasks that the VMs have.
    pub bitstreams: Bitstreams,
    /// For how many cycles of the fabric a region is held for a VM that does not use it.
    pub hold_cycles: u32,
    /// The longest until memory is rid of a killed task.
    pub drain: Nanoseconds,
    /// After which a request ends with an error, if ever.
    pub give_up: Option<Nanoseconds>,
    /// How long a device waits for a turn, and how long a turn is; in nanoseconds.
    pub turn: Option<Turn>,
    /// The fabric's allocator, which the hypervisor requests regions of; `None`: it does not.
    pub allocator: Option<Allocator>,
    /// What the parts of the ways to a region take, in nanoseconds, as the system says; `None`: it does not.
    pub costs: Option<Costs>,
}

impl Accelerators {
    /// The channel by which a VM and the device manager tell each other of virtual devices: the first between the two.
    pub fn channel<'p>(&self, plan: &'p Plan, vm: usize) -> Option<&'p Channel> {
        let between = |channel: &&Channel| {
            let vms = channel.ends.map(|(vm, _)| vm);
            vms == [self.manager, vm] || vms == [vm, self.manager]
        };
        plan.channels.iter().find(between)
    }
}

/// The fabric's region allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocator {
    /// The address of its page.
    pub page: u64,
    /// Its interrupt.
    pub source: u32,
    /// For how many cycles of the fabric a task that it has told to stop may go on.
    pub stop_cycles: u32,
}

/// A hardware task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its number.
    pub number: u8,
    /// The regions that it fits into, a bit each.
    pub fits: u8,
    /// The longest that it takes to stop.
    pub stop: Nanoseconds,
}

/// Bitstreams in the device manager's memory.
#[derive(Clone, Debug, Default)]
pub struct Bitstreams {
    /// Guest-physical address of the first one.
    pub guest: u64,
    /// All of them, each where [`Bitstream::offset`] says.
    pub bytes: Vec<u8>,
    /// What they are.
    pub all: Vec<Bitstream>,
}

/// One of [`Bitstreams`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bitstream {
    /// The number of its task.
    pub task: u8,
    /// The number of its region.
    pub region: u8,
    /// Where it begins, from the first one on.
    pub offset: u64,
    /// Its length.
    pub length: u32,
}

/// A virtual device.
#[derive(Clone, Debug)]
pub struct Accelerator {
    /// Its VM.
    pub vm: usize,
    /// Its interface in the fabric.
    pub interface: u8,
    /// The hardware task behind it.
    pub task: String,
    /// That task's number.
    pub number: u8,
    /// The regions that the task fits into.
    pub regions: Vec<u8>,
    /// Whether its VM is real time.
    pub real_time: bool,
    /// When it can be had, in nanoseconds; `None`: what that takes has not been measured.
    pub latency: Option<Latency>,
}

/// What VMs have of the devices behind the I/O hypervisor, and of timed I/O.
#[derive(Clone, Debug)]
pub struct Io {
    /// The VM that gives it to them.
    pub manager: usize,
    /// The policies of UART, flash, VGA and Ethernet.
    pub policies: [IoPolicy; 4],
    /// The port that reads what comes to the UART, if any does.
    pub reader: Option<usize>,
    /// The ports, by number.
    pub ports: Vec<IoPort>,
    /// The engines of timed I/O, by number.
    pub engines: Vec<Engine>,
}

/// A checked system of tiles: each VM has one, and what of the devices it may use is the hardware's to see to.
#[derive(Clone, Debug)]
pub struct Tiles {
    /// The platform's profile.
    pub platform: String,
    /// The fabric's design.
    pub design: String,
    /// The policies of UART, flash, VGA and Ethernet. `None`: the design has no I/O hypervisor.
    pub policies: Option<[IoPolicy; 4]>,
    /// The tile that reads what comes to the UART, if any does.
    pub reader: Option<u32>,
    /// Those that have a VM, in the order of the description.
    pub tiles: Vec<Tile>,
}

/// A tile, and the VM that has it.
#[derive(Clone, Debug)]
pub struct Tile {
    /// Which.
    pub number: u32,
    /// The VM's name.
    pub vm: String,
    /// Its image: an ELF file.
    pub image: Vec<u8>,
    /// What it is told.
    pub bootargs: String,
    /// The tiles that it may send messages to.
    pub talks_to: Vec<u32>,
    /// What it may use of the devices.
    pub port: Option<IoPort>,
    /// Its pins of timed I/O.
    pub pins: Vec<u32>,
}

/// A port to the I/O hypervisor.
#[derive(Clone, Debug)]
pub struct IoPort {
    /// Its VM.
    pub vm: usize,
    /// Whether it may use the UART.
    pub uart: bool,
    /// Its area of the flash.
    pub flash: Option<FlashArea>,
    /// Its window of the display.
    pub window: Option<Window>,
    /// Its Ethernet address.
    pub station: Option<Station>,
}

impl IoPort {
    /// The devices that it may use, a bit for each number (`fabric/rtl/io_pkg.sv`).
    pub fn devices(&self) -> u32 {
        let all = [
            self.uart,
            self.flash.is_some(),
            self.window.is_some(),
            self.station.is_some(),
        ];
        let all = (1..).zip(all);
        all.fold(0, |bits, (number, has)| bits | u32::from(has) << number)
    }
}

/// A part of the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashArea {
    /// Its bytes.
    pub extent: Extent,
    /// Whether it may be changed.
    pub writable: bool,
}

/// A part of the display's buffer, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Columns.
    pub x: Extent,
    /// Rows.
    pub y: Extent,
}

/// An engine of timed I/O.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Its VM.
    pub vm: usize,
    /// Its pins.
    pub pins: Vec<u32>,
}

impl Engine {
    /// The lines that its pins carry, a bit each.
    pub fn lines(&self) -> u32 {
        self.pins
            .iter()
            .fold(0, |lines, pin| lines | 1 << (pin % 8))
    }
}

/// A device passed through.
#[derive(Clone, Debug)]
pub struct Device {
    /// Its name in the devicetree: the one of the description, or else of the profile.
    pub name: String,
    /// The profile's device that it is or is part of.
    pub part_of: crate::profile::Device,
    /// Guest-physical addresses.
    pub guest: Extent,
    /// First physical address.
    pub host: u64,
    /// Its PLIC sources.
    pub interrupts: Vec<u32>,
    /// What it is there for.
    pub role: Role,
}

/// A PCI function passed through: function 0 of a device on bus 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its device number, for the VM as well.
    pub slot: u32,
    /// Where its registers are, for the VM at the same addresses.
    pub window: Extent,
    /// The PLIC source of its interrupt.
    pub interrupt: u32,
    /// What it is, where that is known.
    pub model: Option<Model>,
}

/// Bytes of addresses that the registers of a PCI function have: a page of the second stage.
pub const FUNCTION_WINDOW: u64 = map::MEGAPAGE_SIZE;

/// What a device is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Whatever it does.
    Device,
    /// It is the virtual device of an accelerator.
    Accelerator {
        /// Its interface.
        interface: u8,
        /// The number of its hardware task.
        task: u8,
    },
    /// It is the page of an I/O port.
    IoPort {
        /// The port's number.
        number: usize,
    },
    /// It is the page of an engine of timed I/O.
    TimedIo {
        /// The engine's number.
        number: usize,
    },
}

impl Device {
    /// Its physical addresses.
    pub const fn host_extent(&self) -> Extent {
        Extent::new(self.host, self.guest.size())
    }

    /// Whether it is all of the profile's device rather than some of its pages.
    pub const fn is_whole(&self) -> bool {
        self.host == self.part_of.address.0 && self.guest.size() == self.part_of.size.0
    }

    /// Whether it is a 16550.
    pub fn is_uart(&self) -> bool {
        self.is_whole() && self.part_of.compatible.iter().any(|c| c == "ns16550a")
    }

    /// Name of its devicetree node, without address.
    pub fn node(&self) -> String {
        if self.is_uart() {
            "serial".into()
        } else {
            self.name.clone()
        }
    }
}

/// Memory shared by two VMs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// Bytes.
    pub size: Size,
    /// First physical address.
    pub host: u64,
    /// The colours of the cache that it has, if the cache is divided: those of one of its VMs.
    pub colours: Option<Colours>,
    /// Messages that may wait at each end; perhaps none.
    pub messages: u32,
    /// Bytes that each may have.
    pub message_size: u32,
    /// How long a call of the second VM by the first may take; 0: there are no calls.
    pub calls: Nanoseconds,
    /// The device that the second VM emulates for the first.
    pub device: Option<EmulatedDevice>,
    /// Whether both devicetrees have its memory in `/reserved-memory`.
    pub reserved_memory: bool,
    /// For each end, the VM's index and the channel's number within it.
    pub ends: [(usize, usize); 2],
}

/// A device that the VM at a channel's second end emulates for the one at the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmulatedDevice {
    /// What the first VM's devicetree calls it.
    pub compatible: String,
    /// Guest-physical addresses in the first VM whose accesses are calls of the second.
    pub window: Extent,
    /// Guest-physical addresses in the second VM at which it has the memory of the first, if it has it.
    pub memory: Option<Extent>,
}

impl EmulatedDevice {
    /// `compatible` of a PCI host, whose window is configuration spaces and, behind them, its functions' registers.
    pub const PCI_HOST: &str = "pci-host-ecam-generic";

    /// Whether it is a PCI host.
    pub fn is_pci_host(&self) -> bool {
        self.compatible == Self::PCI_HOST
    }
}

/// One VM's end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelEnd {
    /// Index of the channel.
    pub channel: usize,
    /// Guest-physical addresses of the shared memory.
    pub guest: Extent,
    /// Index of the VM at the other end.
    pub peer: usize,
    /// The channel's number within that VM.
    pub peer_number: usize,
}

/// A contiguous range of a VM's guest-physical addresses and what is behind it, contiguous as well unless it has
/// colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The addresses. With colours, `host` is that of the first page.
    pub mapping: Mapping,
    /// Its colours of the cache, of memory that is divided so.
    pub colours: Option<Colours>,
    /// Pages behind a VM's memory for its second-stage tables: with colours only.
    pub tables: u16,
    /// One of [`region`]'s bits.
    pub kind: u16,
    /// The interface of a virtual device, the channel of a window; of others 0.
    pub interface: u8,
    /// The priority of its requests for regions; of others 0.
    pub priority: u8,
}

impl Region {
    /// A mapping that takes as many tables as it does.
    pub const fn as_mapped(&self) -> Mapping {
        match self.colours {
            Some(_) => Mapping::of_pages(self.mapping.guest, self.mapping.size),
            None => self.mapping,
        }
    }
}

impl Plan {
    /// The harts that go by deadlines, which take real-time vCPUs at run time.
    pub fn deadline_harts(&self) -> impl Iterator<Item = u32> {
        let by_deadline = |&(_, policy): &(u32, &RealTimePolicy)| {
            matches!(policy, RealTimePolicy::EarliestDeadline)
        };
        (0..)
            .zip(&self.policies)
            .filter(by_deadline)
            .map(|(hart, _)| hart)
    }

    /// Whether no other vCPU of a VM may run on a hart, one made at run time included.
    pub fn is_alone(&self, vm: usize, number: usize, hart: u32) -> bool {
        let vm = &self.vms[vm];
        let mut others = vm.vcpus.iter().enumerate();
        let made = vm.rt_vcpus > 0 && self.deadline_harts().any(|by_deadline| by_deadline == hart);
        !made && !others.any(|(other, vcpu)| other != number && vcpu.harts.contains(&hart))
    }

    /// The priority of the requests for regions of a virtual device.
    pub fn priority(&self, interface: u8) -> u8 {
        let devices = self.accelerators.iter().flat_map(|shared| &shared.devices);
        let mut own = devices.filter(|device| device.interface == interface);
        own.any(|device| device.real_time).into()
    }

    /// The devices that are emulated for a VM, each with the number of the channel.
    pub fn windows<'p>(&'p self, vm: &'p Vm) -> impl Iterator<Item = (usize, &'p EmulatedDevice)> {
        let ends = vm.channels.iter().enumerate();
        ends.filter_map(|(number, end)| {
            let channel = &self.channels[end.channel];
            let is_first = channel.ends[1].0 == end.peer;
            Some((number, channel.device.as_ref().filter(|_| is_first)?))
        })
    }

    /// The memory of other VMs that a VM has because it emulates devices for them: where, and whose.
    pub fn peers<'p>(&'p self, vm: &'p Vm) -> impl Iterator<Item = (Extent, &'p Vm)> {
        vm.channels.iter().filter_map(|end| {
            let channel = &self.channels[end.channel];
            let memory = channel.device.as_ref().and_then(|device| device.memory);
            let is_first = channel.ends[0].0 == end.peer;
            Some((memory.filter(|_| is_first)?, &self.vms[end.peer]))
        })
    }

    /// A VM's regions in the order of the blob: its memory, its devices, its channels, what is emulated for it, and the
    /// memory of those that it emulates devices for; at last the part of its memory that is on the
    /// chip.
    pub fn regions(&self, vm: &Vm) -> Vec<Region> {
        let region = |guest: Extent, host, kind| Region {
            mapping: Mapping {
                guest: guest.start,
                host,
                size: guest.size(),
            },
            colours: None,
            tables: 0,
            kind,
            interface: 0,
            priority: 0,
        };
        let memory = Region {
            colours: vm.colours,
            ..region(vm.extent(), vm.host, region::MEMORY)
        };
        let devices = vm.devices.iter().map(|device| match device.role {
            Role::Accelerator { interface, .. } => Region {
                interface,
                priority: self.priority(interface),
                ..region(device.guest, device.host, region::ACCELERATOR)
            },
            Role::Device => region(device.guest, device.host, region::DEVICE),
            Role::IoPort { .. } | Role::TimedIo { .. } => {
                region(device.guest, device.host, region::IO)
            }
        });
        let functions = vm
            .functions
            .iter()
            .map(|function| region(function.window, function.window.start, region::DEVICE));
        let channels = vm.channels.iter().map(|end| {
            let channel = &self.channels[end.channel];
            Region {
                colours: channel.colours,
                ..region(end.guest, channel.host, region::CHANNEL)
            }
        });
        let windows = self.windows(vm).map(|(number, device)| Region {
            interface: number as u8,
            ..region(device.window, 0, calls::WINDOW)
        });
        let peers = self.peers(vm).map(|(guest, peer)| Region {
            colours: peer.colours,
            ..region(guest, peer.host, calls::PEER_MEMORY)
        });
        let onchip = vm
            .onchip
            .map(|part| region(part.guest, part.host.start, onchip::MEMORY));
        let mut regions: Vec<Region> = std::iter::once(memory)
            .chain(devices)
            .chain(functions)
            .chain(channels)
            .chain(windows)
            .chain(peers)
            .chain(onchip)
            .collect();
        if vm.colours.is_some() {
            let mappings: Vec<Mapping> = regions.iter().map(Region::as_mapped).collect();
            // 64 GiB, the most that a platform has, take half as many as there can be.
            regions[0].tables = table_pages(&mappings) as u16;
        }
        regions
    }
}

impl Vm {
    /// The guest-physical addresses of its memory.
    pub const fn extent(&self) -> Extent {
        Extent::new(map::RAM_BASE, self.memory.0)
    }

    /// Guest-physical address of its devicetree.
    pub const fn devicetree(&self) -> u64 {
        self.extent().end - map::DEVICETREE_SIZE
    }

    /// The guest-physical addresses kept for real-time vCPUs that it makes at run time; perhaps empty.
    pub const fn rt_extent(&self) -> Extent {
        Extent::new(self.devicetree() - self.rt_memory.0, self.rt_memory.0)
    }
}
