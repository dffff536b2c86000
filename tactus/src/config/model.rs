//! What `system.toml` says, as written: every value typed and with its place, nothing resolved yet.
//!
//! A field that the description must have but lacks, or has in a wrong form, is `None`; the reader has
//! noted the problem by then, and the rest is still judged.

use std::path::PathBuf;

use serde::Deserialize;

use tactus_abi::blob::{Migration, ReadyQueue};
use tactus_policy::reservation::Kind;

use super::source::{At, Source, Span};
use super::unit::{Address, ColourRange, Nanoseconds, Share, Size, Station};
use crate::pci::{Id, Slots};

/// A system's description.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file, for messages.
    pub source: Source,
    /// The directory that paths are relative to.
    pub directory: PathBuf,
    /// Keys whose values are wrong, with the start of their table in the file: they are written, though they are `None`
    /// here.
    pub(super) wrong: Vec<(usize, String)>,
    /// The platform and what of it is used.
    pub system: System,
    /// `[fabric]`: the design that the fabric is loaded with; default: none.
    pub design: Option<At<String>>,
    /// `[accelerators]`: how the fabric's regions are shared; default: not at all.
    pub accelerators: Option<Accelerators>,
    /// `[io]`: how the fabric's devices are shared; default: not at all.
    pub io: Option<Io>,
    /// The VMs, in the order of the file.
    pub vms: Vec<Vm>,
    /// The channels, in the order of the file.
    pub channels: Vec<Channel>,
    /// What the machine has on its PCI bus, as the command line says; `None`: that is not known.
    pub machine: Option<Slots>,
    /// The chains, in the order of the file.
    pub chains: Vec<Chain>,
}

impl Config {
    /// Whether a key of the table that begins there is written, with a value that is wrong.
    pub fn is_wrong(&self, table: &Span, key: &str) -> bool {
        let mut wrong = self.wrong.iter();
        wrong.any(|(begin, wrong)| *begin == table.start && wrong == key)
    }
}

/// `[system]`: the platform and what of it is used.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// Where the table begins.
    pub span: Span,
    /// Name of the platform's profile.
    pub platform: Option<At<String>>,
    /// Harts used; default: the profile's.
    pub harts: Option<At<u32>>,
    /// Memory of the machine; default: the profile's.
    pub memory: Option<At<Size>>,
    /// Time slice of best-effort vCPUs; default: [`DEFAULT_SLICE`].
    pub slice: Option<At<Nanoseconds>>,
    /// The shortest time between two interrupts of a real-time vCPU by the same source; default: the profile's.
    pub deferral_period: Option<At<Nanoseconds>>,
    /// Part of each hart that real-time vCPUs leave to best-effort ones; default: none.
    pub be_reserve: Option<At<Share>>,
    /// The longest that real-time vCPUs may keep a hart from best-effort ones; default: any time.
    pub be_latency: Option<At<Nanoseconds>>,
    /// Whether real-time guests' interrupts come before, and into, what is done for best-effort ones; default: yes.
    pub separation: Option<At<bool>>,
    /// Whether waiting real-time vCPUs get their harts ahead of their deadlines; default: no.
    pub dispatch_ahead: Option<At<bool>>,
    /// When best-effort vCPUs go to harts for user level only; default: never.
    pub migration: Option<At<Migration>>,
    /// Those harts; default: the ones that real-time vCPUs run on.
    pub user_only: Option<At<Vec<At<u32>>>>,
    /// What keeps ready best-effort vCPUs in order; default: the bitmap.
    pub ready_queue: Option<At<ReadyQueue>>,
    /// Where the hypervisor is; default: in main memory.
    pub hypervisor_memory: Option<At<HypervisorMemory>>,
    /// Whether the cache is divided between the VMs that do not say their colours; default: no.
    pub cache_colours: Option<At<bool>>,
}

/// Where the hypervisor is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HypervisorMemory {
    /// In main memory.
    #[default]
    Main,
    /// Its text and constants are in on-chip memory, and of what it keeps of harts and guests as much as fits.
    Onchip,
}

/// The best-effort time slice of a system that names none.
pub const DEFAULT_SLICE: Nanoseconds = Nanoseconds(10_000_000);

/// `[accelerators]`: how the fabric's regions are shared.
#[derive(Clone, Debug)]
pub struct Accelerators {
    /// Where the table begins.
    pub span: Span,
    /// The VM that is the device manager; default: one that is added to the system.
    pub manager: Option<At<String>>,
    /// For how long a region is held for a VM that does not use it; default: [`DEFAULT_HOLD`].
    pub hold: Option<At<Nanoseconds>>,
    /// After which a request ends with an error; default: never.
    pub give_up: Option<At<Nanoseconds>>,
    /// How long a turn of those that would starve is, and how often one comes; default: there are none.
    pub turn: Option<At<Nanoseconds>>,
    /// See [`Accelerators::turn`].
    pub turn_every: Option<At<Nanoseconds>>,
    /// Whether the hypervisor uses the fabric's region allocator; default: [`Allocator::On`].
    pub allocator: Option<At<Allocator>>,
    /// What the manager's and the hypervisor's steps take; without, no latency is known.
    pub costs: Option<Costs>,
}

/// `allocator` of `[accelerators]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocator {
    /// The device manager alone gives regions.
    Off,
    /// The hypervisor requests regions of the fabric's allocator, and where that says so of the device manager.
    On,
}

/// For how long a region is held in a system that does not say.
pub const DEFAULT_HOLD: Nanoseconds = Nanoseconds(100_000);

/// `costs` of `[accelerators]`: Ker-ONE's Table 4.
#[derive(Clone, Debug)]
pub struct Costs {
    /// From a VM's write to the manager.
    pub trap: Option<At<Nanoseconds>>,
    /// From the manager back to a VM.
    pub resume: Option<At<Nanoseconds>>,
    /// From an interrupt of the fabric to the manager.
    pub interrupt: Option<At<Nanoseconds>>,
    /// To search for a solution.
    pub search: Option<At<Nanoseconds>>,
    /// To assign a region.
    pub assign: Option<At<Nanoseconds>>,
    /// To take a region and begin to configure it.
    pub assign_configure: Option<At<Nanoseconds>>,
    /// To begin a preemption.
    pub preempt: Option<At<Nanoseconds>>,
    /// To connect a region that has been configured.
    pub configured: Option<At<Nanoseconds>>,
    /// To disconnect a region that has stopped.
    pub stopped: Option<At<Nanoseconds>>,
}

/// `[io]`: how the devices behind the I/O hypervisor are shared.
#[derive(Clone, Debug)]
pub struct Io {
    /// Where the table begins.
    pub span: Span,
    /// The VM that gives ports and pins to the others.
    pub manager: Option<At<String>>,
    /// Whose request each device takes next.
    pub policies: IoPolicies,
}

/// `policy` of `[io]`; default: [`IoPolicy::RoundRobin`].
#[derive(Clone, Debug, Default)]
pub struct IoPolicies {
    /// Of the UART.
    pub uart: Option<At<IoPolicy>>,
    /// Of the flash.
    pub flash: Option<At<IoPolicy>>,
    /// Of the display.
    pub vga: Option<At<IoPolicy>>,
    /// Of Ethernet.
    pub ethernet: Option<At<IoPolicy>>,
}

/// Whose request a device takes next, with the numbers that its arbiter has for them (`fabric/regs/io_manager.rdl`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IoPolicy {
    /// Each port in turn.
    #[default]
    RoundRobin = 0,
    /// The port with the lowest number.
    FixedPriority = 1,
    /// Who has waited longest.
    Fifo = 2,
}

/// A file that the description names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileName {
    /// `"@name"`: something this project builds.
    Artifact(String),
    /// A path, relative to the description's directory.
    Path(PathBuf),
}

/// `[[vm]]`: a virtual machine.
#[derive(Clone, Debug)]
pub struct Vm {
    /// Where the table begins.
    pub span: Span,
    /// Its name.
    pub name: Option<At<String>>,
    /// ELF or raw image.
    pub image: Option<At<FileName>>,
    /// Guest memory.
    pub memory: Option<At<Size>>,
    /// On a board of tiles, its tile; default: the first that no other VM has.
    pub tile: Option<At<u32>>,
    /// On a board of tiles, the VMs that it may send messages to; default: none.
    pub talks_to: Option<At<Vec<At<String>>>>,
    /// How much of it, from where the image begins, is in on-chip memory; default: none.
    pub onchip_memory: Option<At<Size>>,
    /// Fixed physical address of its memory.
    pub host_address: Option<At<Address>>,
    /// The colours of the cache that its memory has.
    pub cache_colours: Option<At<ColourRange>>,
    /// Initial ramdisk.
    pub initrd: Option<At<FileName>>,
    /// Command line, `/chosen/bootargs` in the devicetree.
    pub bootargs: Option<At<String>>,
    /// Whether it has the virtual UART.
    pub console: bool,
    /// Whether it may read the counters `cycle` and `instret`.
    pub counters: bool,
    /// What happens when it faults.
    pub on_fault: OnFault,
    /// The VMs that it manages; default: none.
    pub manages: Option<At<Vec<At<String>>>>,
    /// Real-time vCPUs that it may make at run time; default: none.
    pub rt_vcpus: Option<At<u32>>,
    /// Part of the system that its reservations may come to; default: what those of its configured vCPUs come to.
    pub rt_share: Option<At<Share>>,
    /// Memory kept for the code and data of such vCPUs; default: none.
    pub rt_memory: Option<At<Size>>,
    /// Its vCPUs.
    pub vcpus: Vec<Vcpu>,
    /// The tasks of its operating system that are judged.
    pub tasks: Vec<Task>,
    /// Devices passed through to it.
    pub devices: Vec<Device>,
    /// PCI functions passed through to it.
    pub pci: Vec<PciFunction>,
    /// Its virtual devices, behind which accelerators stand.
    pub accelerators: Vec<Accelerator>,
    /// Its ports to the I/O hypervisor.
    pub io_ports: Vec<IoPort>,
    /// Its timed I/O.
    pub timed_io: Option<TimedIo>,
}

impl Vm {
    /// One of which the description says nothing, at that place.
    pub(super) const fn empty(span: Span) -> Self {
        Self {
            span,
            name: None,
            image: None,
            memory: None,
            tile: None,
            talks_to: None,
            onchip_memory: None,
            host_address: None,
            cache_colours: None,
            initrd: None,
            bootargs: None,
            console: true,
            counters: false,
            on_fault: OnFault::Halt,
            manages: None,
            rt_vcpus: None,
            rt_share: None,
            rt_memory: None,
            vcpus: Vec::new(),
            tasks: Vec::new(),
            devices: Vec::new(),
            pci: Vec::new(),
            accelerators: Vec::new(),
            io_ports: Vec::new(),
            timed_io: None,
        }
    }

    /// What messages call it.
    pub fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("VM `{}`", name.value),
            None => "this VM".into(),
        }
    }

    /// Where it is named.
    pub fn place(&self) -> &Span {
        self.name.as_ref().map_or(&self.span, |name| &name.span)
    }
}

/// What happens when a VM faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnFault {
    /// It stays stopped.
    Halt,
    /// It restarts.
    Restart,
    /// It stays stopped and the named VM gets an interrupt.
    Signal(At<String>),
}

/// Scheduling class of a vCPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Real time.
    Rt,
    /// Best effort.
    Be,
}

/// `[[vm.vcpu]]`: a virtual CPU.
#[derive(Clone, Debug)]
pub struct Vcpu {
    /// Where the table begins.
    pub span: Span,
    /// Its class.
    pub class: Option<At<Class>>,
    /// The hart of a real-time vCPU that stays on one.
    pub hart: Option<At<u32>>,
    /// The harts of a best-effort vCPU, by default all; or those that admission may choose from for a real-time one.
    pub harts: Option<At<Vec<At<u32>>>>,
    /// Its priority; a real-time vCPU with one is scheduled by it, and by its deadlines otherwise.
    pub priority: Option<At<u32>>,
    /// Time between the releases of its jobs.
    pub period: Option<At<Nanoseconds>>,
    /// Time that each job gets.
    pub budget: Option<At<Nanoseconds>>,
    /// Where `budget = "unlimited"` stands: that it may keep its hart for as long as it does not wait is meant.
    pub unlimited: Option<Span>,
    /// Time after its release by which a job has had its budget; default: the period.
    pub deadline: Option<At<Nanoseconds>>,
    /// What waiting does to a job; default: [`Kind::Server`].
    pub kind: Option<At<Kind>>,
    /// Whether it keeps its budget in the high mode of its hart; default: [`CriticalityLevel::High`].
    pub criticality: Option<At<CriticalityLevel>>,
    /// Time that a job may need in the high mode; default: its budget.
    pub budget_high: Option<At<Nanoseconds>>,
    /// What one preemption costs it in its caches; default: nothing.
    pub reload: Option<At<Nanoseconds>>,
    /// Whether it gets its hart ahead of its deadlines; default: as the system's.
    pub dispatch_ahead: Option<At<bool>>,
    /// The least time between two interrupts of its hart that signals for it cause; default: the deferral period.
    pub interrupt_distance: Option<At<Nanoseconds>>,
    /// The file of its warm lines; default: none.
    pub warm: Option<At<FileName>>,
}

impl Vcpu {
    /// One of which the description says nothing, at that place.
    pub(super) const fn empty(span: Span) -> Self {
        Self {
            span,
            class: None,
            hart: None,
            harts: None,
            priority: None,
            period: None,
            budget: None,
            unlimited: None,
            deadline: None,
            kind: None,
            criticality: None,
            budget_high: None,
            reload: None,
            dispatch_ahead: None,
            interrupt_distance: None,
            warm: None,
        }
    }
}

/// `criticality`: what a vCPU has in the high mode of its hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CriticalityLevel {
    /// Its budget, or more.
    High,
    /// Nothing.
    Low,
}

/// `[[vm.task]]`: a task of a VM's operating system, or an interrupt handler, by fixed priorities.
#[derive(Clone, Debug)]
pub struct Task {
    /// Where the table begins.
    pub span: Span,
    /// Its name.
    pub name: Option<At<String>>,
    /// The vCPU that runs it; default: the first.
    pub vcpu: Option<At<u32>>,
    /// Time between its activations, at least.
    pub period: Option<At<Nanoseconds>>,
    /// The longest execution time of a job.
    pub wcet: Option<At<Nanoseconds>>,
    /// Time after its activation by which a job has ended; default: the period.
    pub deadline: Option<At<Nanoseconds>>,
    /// Its priority within the VM, higher first.
    pub priority: Option<At<u32>>,
    /// What activates it; default: [`Stimulus::Sampled`].
    pub stimulus: Option<At<Stimulus>>,
    /// How much later than on the grid of its period an activation may come; default: not at all.
    pub jitter: Option<At<Nanoseconds>>,
}

/// What activates a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stimulus {
    /// Time: it samples what has come since its last activation.
    #[default]
    Sampled,
    /// An interrupt, or another task of the VM.
    Interrupt,
}

/// `[[vm.device]]`: a device passed through by page.
#[derive(Clone, Debug)]
pub struct Device {
    /// Where the table begins.
    pub span: Span,
    /// For messages and the devicetree.
    pub name: Option<At<String>>,
    /// First physical address.
    pub address: Option<At<Address>>,
    /// Bytes.
    pub size: Option<At<Size>>,
    /// First guest-physical address; default: the same.
    pub guest_address: Option<At<Address>>,
    /// Its PLIC sources.
    pub interrupts: Vec<At<u32>>,
    /// Whether the VM may have the device that carries the consoles.
    pub trusted: bool,
}

/// `[[vm.pci]]`: a PCI function passed through.
#[derive(Clone, Debug)]
pub struct PciFunction {
    /// Where the table begins.
    pub span: Span,
    /// Its device number on bus 0.
    pub slot: Option<At<u32>>,
    /// What it says it is; either this or the slot is named.
    pub id: Option<At<Id>>,
}

/// `[[vm.accelerator]]`: a virtual device.
#[derive(Clone, Debug)]
pub struct Accelerator {
    /// Where the table begins.
    pub span: Span,
    /// The hardware task behind it.
    pub task: Option<At<String>>,
    /// The vCPU that waits for it; default: the first.
    pub vcpu: Option<At<u32>>,
    /// How often a job of that vCPU asks for it; default: once.
    pub per_job: Option<At<u32>>,
    /// By when it has to be there; default: not by itself.
    pub within: Option<At<Nanoseconds>>,
}

/// `[[vm.io_port]]`: a port to the I/O hypervisor. A device is the port's to use if it is named.
#[derive(Clone, Debug)]
pub struct IoPort {
    /// Where the table begins.
    pub span: Span,
    /// What it may do with the UART.
    pub uart: Option<At<UartUse>>,
    /// Its area of the flash.
    pub flash: Option<FlashArea>,
    /// Its window of the display.
    pub vga: Option<Window>,
    /// Its Ethernet address.
    pub ethernet: Option<At<Station>>,
}

/// What a port may do with the UART.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UartUse {
    /// Write.
    Write,
    /// Write, and have what comes: one port in the system.
    ReadWrite,
}

/// `flash` of a port.
#[derive(Clone, Debug)]
pub struct FlashArea {
    /// Where the table begins.
    pub span: Span,
    /// Its first byte in the part.
    pub address: Option<At<Address>>,
    /// Its bytes.
    pub size: Option<At<Size>>,
    /// Whether the port may write and erase; default: no.
    pub writable: bool,
}

/// `vga` of a port, in pixels of the display's buffer.
#[derive(Clone, Debug)]
pub struct Window {
    /// Where the table begins.
    pub span: Span,
    /// Of the upper left corner, from the left.
    pub x: Option<At<u32>>,
    /// Of the upper left corner, from above.
    pub y: Option<At<u32>>,
    /// Pixels of a row.
    pub width: Option<At<u32>>,
    /// Rows.
    pub height: Option<At<u32>>,
}

/// `[vm.timed_io]`: an engine of timed I/O.
#[derive(Clone, Debug)]
pub struct TimedIo {
    /// Where the table begins.
    pub span: Span,
    /// The pins that it changes and reads.
    pub pins: Option<At<Vec<At<u32>>>>,
}

/// `[[channel]]`: memory and doorbells that two VMs share.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Where the table begins.
    pub span: Span,
    /// Its name.
    pub name: Option<At<String>>,
    /// The VMs at its two ends; other than two are noted by the reader and not kept.
    pub between: Option<[At<String>; 2]>,
    /// Bytes of shared memory.
    pub size: Option<At<Size>>,
    /// Messages that may wait at each end; default: it carries none.
    pub messages: Option<At<u32>>,
    /// Bytes of a message.
    pub message_size: Option<At<Size>>,
    /// The first VM may call the second, and each call is served for so long at most.
    pub calls: Option<At<Nanoseconds>>,
    /// The second VM emulates a device for the first.
    pub device: Option<EmulatedDevice>,
    /// Both devicetrees have the memory in `/reserved-memory` as well.
    pub reserved_memory: bool,
}

/// `device` of a channel: a window of the first VM whose accesses are calls of the second.
#[derive(Clone, Debug)]
pub struct EmulatedDevice {
    /// Where the table begins.
    pub span: Span,
    /// What the first VM's devicetree calls it; default: `tactus,device`.
    pub compatible: Option<At<String>>,
    /// Where the window is; default: chosen by the tool.
    pub address: Option<At<Address>>,
    /// Its size; default: a page.
    pub size: Option<At<Size>>,
    /// The second VM reads and writes the memory of the first.
    pub memory: bool,
}

impl Channel {
    /// What messages call it.
    pub fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("channel `{}`", name.value),
            None => "this channel".into(),
        }
    }
}

/// `[[chain]]`: what happens one after the other, from a stimulus to its last effect.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Where the table begins.
    pub span: Span,
    /// Its name.
    pub name: Option<At<String>>,
    /// Time after the stimulus by which the last step has ended.
    pub deadline: Option<At<Nanoseconds>>,
    /// Tasks, channels, accelerators and requests to I/O ports.
    pub steps: Option<At<Vec<At<String>>>>,
}

impl Chain {
    /// What messages call it.
    pub fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("chain `{}`", name.value),
            None => "this chain".into(),
        }
    }
}
