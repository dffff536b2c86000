//! The system blob: `system.toml`, checked and compiled by the tool, in the form the hypervisor reads.
//!
//! The blob follows the hypervisor in the boot image, at the hypervisor's symbol `__tactus_blob` (page
//! aligned). It is a [`Header`] and then one table after the other in the order of the header's counts;
//! all fields are little-endian. The segments' contents follow in the same image.

pub mod calls;
mod check;
pub mod management;
pub mod onchip;
pub mod pci;
mod ready_queue;
pub mod warm;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// First eight bytes of a blob.
pub const MAGIC: [u8; 8] = *b"TACTUS\0\x1a";
/// Version of this layout; the hypervisor refuses any other.
pub const VERSION: u32 = 18;
/// A budget is no less than so many times [`Header::interrupt_ticks`]: an interrupt that is under way when a job gets
/// the hart is charged to it, and less would be left of a smaller budget than it may lack.
pub const LEAST_BUDGET: u64 = 2;

/// Limits that both the tool and the hypervisor enforce.
pub mod limit {
    /// Harts of one system.
    pub const HARTS: usize = 32;
    /// VMs of one system.
    pub const VMS: usize = 32;
    /// vCPUs of one VM that the configuration names.
    pub const VCPUS_PER_VM: usize = 16;
    /// Real-time vCPUs that one VM may have by hypercall at a time.
    pub const RT_VCPUS_PER_VM: usize = 64;
    /// vCPUs of one system, those that may be made by hypercall included.
    pub const VCPUS: usize = 128;
    /// Real-time vCPUs with a reservation on one hart.
    pub const RESERVATIONS_PER_HART: usize = 32;
    /// Longest period, in ticks: products of two times fit 64 bits.
    pub const PERIOD_TICKS: u64 = u32::MAX as u64;
    /// Longest that a vCPU gets its hart ahead of its deadline, and that nothing is begun there before, in ticks.
    pub const LEAD_TICKS: u64 = u16::MAX as u64;
    /// Longest call of another VM, in ticks.
    pub const CALL_TICKS: u64 = u16::MAX as u64;
    /// Calls within each other, at most: the VMs of a chain of calls, without its caller.
    pub const CALL_DEPTH: usize = 4;
    /// Bytes of one message.
    pub const MESSAGE: usize = 4096;
    /// Messages that wait at one end of a channel.
    pub const MESSAGES: usize = 64;
    /// Interfaces of accelerators in the fabric.
    pub const INTERFACES: usize = 8;
    /// Bytes of a way of the cache whose pages are divided by colours.
    pub const CACHE_WAY: u64 = 2 << 20;
    /// Bytes of a name, without terminator.
    pub const NAME: usize = 16;
}

/// A name: ASCII, padded with zeros.
pub type Name = [u8; limit::NAME];

/// Index that means "none".
pub const NONE: u32 = u32::MAX;

/// The start of the blob.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// [`VERSION`].
    pub version: u32,
    /// CRC-32 (IEEE 802.3) of the header and tables with this field as zero.
    pub crc32: u32,
    /// Bytes of header and tables.
    pub length: u32,
    /// Entries of the [`Hart`] table.
    pub harts: u32,
    /// Entries of the [`Vm`] table.
    pub vms: u32,
    /// Entries of the [`Vcpu`] table.
    pub vcpus: u32,
    /// Entries of the [`Region`] table.
    pub regions: u32,
    /// Entries of the [`Segment`] table.
    pub segments: u32,
    /// Entries of the [`Interrupt`] table.
    pub interrupts: u32,
    /// Entries of the [`ChannelEnd`] table.
    pub channel_ends: u32,
    /// Physical memory the platform must have: first address.
    pub ram_base: u64,
    /// ... and size in bytes.
    pub ram_size: u64,
    /// Memory that the hypervisor takes its page tables, stacks and objects from: first address, page aligned.
    pub pool_base: u64,
    /// ... and size in bytes.
    pub pool_size: u64,
    /// Physical address of the PLIC; 0 when the system uses no wired interrupts.
    pub plic_base: u64,
    /// Physical address of the 16550 that carries all consoles; 0: the firmware's console does.
    pub uart_base: u64,
    /// PLIC source of that UART; 0 when it is polled.
    pub uart_source: u32,
    /// Ticks of the `time` CSR per second.
    pub timebase_hz: u32,
    /// Time slice of best-effort vCPUs, in ticks of the `time` CSR.
    pub slice_ticks: u64,
    /// Worst-case time of the hypervisor itself, in ticks, which admission includes. See [`Overheads`].
    pub overheads: Overheads,
    /// An interrupt by what is sent to a real-time vCPU of the hart, or by a device of another VM, in the time of a
    /// vCPU with a budget: so many ticks later the budget ends, as admission counts for it in `overheads.service`.
    pub interrupt_ticks: u64,
    /// The same of a way out of a guest and into one, which is a part of each of `overheads`.
    pub way_ticks: u64,
    /// So many ticks before a vCPU gets its hart ahead of its deadline ([`Vcpu::lead`]) nothing is begun there for
    /// best-effort vCPUs; at most [`limit::LEAD_TICKS`].
    pub guard_ticks: u64,
    /// Part of each hart that real-time vCPUs leave to best-effort ones, in thousandths.
    pub reserve: u32,
    /// [`Migration`].
    pub migration: u32,
    /// Bit `n`: hart table entry `n` runs best-effort vCPUs at user level only; 0 when `migration` is off.
    pub user_only: u64,
    /// 1: real-time guests' interrupts have priorities of their own, and the hypervisor polls for interrupts while it
    /// works for best-effort guests; 0: neither, for comparison.
    pub separation: u32,
    /// [`ReadyQueue`].
    pub ready_queue: u32,
    /// Physical address of the page of the ready queue in hardware; 0 where the one in `ready_queue` needs none.
    pub ready_queue_page: u64,
    /// Physical address of the register that raises the fabric's event; likewise.
    pub ready_queue_event: u64,
    /// Physical address of the page of the region allocator, which is the hypervisor's; 0: it is not used.
    pub allocator: u64,
    /// Its PLIC source; 0 where it is not used.
    pub allocator_source: u64,
    /// The VM that manages accelerators, or [`NONE`].
    pub device_manager: u32,
    /// Optional parts of the hypervisor that the system needs: bits of [`part`].
    pub parts: u32,
    /// Entries of the [`warm::WarmRange`] table.
    pub warm_ranges: u32,
    /// Bytes of the cache lines of that table, a power of two; 0 where it is empty.
    pub cache_line: u16,
    /// 1: the harts have Zicbop; 0: a prefetch does nothing.
    pub prefetches: u16,
}

/// Parts of the hypervisor that a system may not need: bits of [`Header::parts`], each a feature of the hypervisor's
/// package.
pub mod part {
    /// Virtual devices of accelerators, and the device manager's calls.
    pub const ACCELERATORS: u32 = 1 << 0;
    /// Messages between VMs.
    pub const MESSAGES: u32 = 1 << 1;
    /// Harts that best-effort vCPUs use at user level only.
    pub const MIGRATION: u32 = 1 << 2;
    /// The ready queue in the fabric.
    pub const READY_QUEUE: u32 = 1 << 3;
    /// Reservations created, changed and deleted by hypercall.
    pub const RESERVATION_CALLS: u32 = 1 << 4;
    /// Modes of harts, in which vCPUs have different budgets.
    pub const BUDGET_MODES: u32 = 1 << 5;
    /// vCPUs that get their harts ahead of their deadlines.
    pub const DISPATCH_AHEAD: u32 = 1 << 6;
    /// Calls between VMs.
    pub const CALLS: u32 = 1 << 7;
    /// PCI functions behind an IOMMU.
    pub const PCI: u32 = 1 << 8;
    /// All of them.
    pub const ALL: u32 = (1 << 12) - 1;
}

/// The queue of the ready best-effort vCPUs of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ReadyQueue {
    /// Lists in software, and a bitmap that marks those that are not empty.
    Bitmap = 0,
    /// Lists in software alone.
    Linear = 1,
    /// Hardware, accessed by its register page.
    Gp = 2,
    /// Hardware, accessed by its register page; it writes the first vCPU to memory.
    Hybrid = 3,
    /// Hardware, accessed by memory and an event.
    Acp = 4,
    /// Hardware, accessed by memory alone.
    AcpPolling = 5,
}

impl ReadyQueue {
    /// All queues.
    pub const ALL: [Self; 6] = [
        Self::Bitmap,
        Self::Linear,
        Self::Gp,
        Self::Hybrid,
        Self::Acp,
        Self::AcpPolling,
    ];

    /// The queue that a field of the blob encodes.
    pub fn from_raw(raw: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|queue| *queue as u32 == raw)
    }
}

/// The policy of migration to harts that run user level only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Migration {
    /// No hart is for user level only.
    Off = 0,
    /// Whenever the vCPU is at user level, such a hart is idle, and others wait for its current hart.
    Always = 1,
    /// Likewise, unless the vCPU has entered its kernel too often recently.
    Automatic = 2,
}

/// The hypervisor's own time, in ticks of the `time` CSR: measured worst cases of the platform. See
/// `docs/src/explanation/guaranteed-time.md` for their use in a guarantee.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable,
)]
#[repr(C)]
pub struct Overheads {
    /// Added to the budget of every job: its release, the switch to it, and the switch back to the vCPU that it
    /// preempted.
    pub job: u64,
    /// The longest time for which the hypervisor does not check for a more urgent vCPU.
    pub blocking: u64,
    /// The deferral period: the shortest time between two interruptions of a real-time vCPU for deferred best-effort
    /// work.
    pub service_period: u64,
    /// The longest time of such an interruption.
    pub service: u64,
    /// The longest time of a release that does not take the hart from a more urgent vCPU.
    pub release: u64,
}

/// A hart the system uses.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Hart {
    /// `mhartid`, as the firmware counts.
    pub id: u64,
    /// The PLIC context of its supervisor level.
    pub plic_context: u32,
    /// [`RealTimePolicy`].
    pub policy: u32,
}

/// How a hart orders its real-time vCPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum RealTimePolicy {
    /// By priority; a reservation is optional, and its budget enforced.
    FixedPriority = 0,
    /// By absolute deadline, earliest first; each vCPU has a reservation. Only such harts admit vCPUs at run time.
    EarliestDeadline = 1,
}

/// The reaction to a fault of a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum OnFault {
    /// It stays stopped.
    Halt = 0,
    /// Its memory is cleared, its image reloaded, its boot vCPU started.
    Restart = 1,
    /// It stays stopped and another VM ([`Vm::signal_vm`]) gets an interrupt.
    Signal = 2,
}

impl OnFault {
    /// The policy that a field of the blob encodes.
    pub fn from_raw(raw: u32) -> Option<Self> {
        let all = [Self::Halt, Self::Restart, Self::Signal];
        all.into_iter().find(|reaction| *reaction as u32 == raw)
    }
}

/// A virtual machine.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Vm {
    /// Its name, for messages.
    pub name: Name,
    /// Guest-physical address of its first instruction.
    pub entry: u64,
    /// Guest-physical address of its devicetree, handed over in `a1`.
    pub devicetree: u64,
    /// Index of its first vCPU; vCPU 0 of the VM is its boot vCPU.
    pub first_vcpu: u32,
    /// Number of vCPUs.
    pub vcpus: u32,
    /// Index of its first region. Region 0 of the VM is its memory.
    pub first_region: u32,
    /// Number of regions.
    pub regions: u32,
    /// Index of its first segment.
    pub first_segment: u32,
    /// Number of segments.
    pub segments: u32,
    /// Index of its first channel end; its channel `n` is the `n`-th.
    pub first_channel_end: u32,
    /// Number of channel ends.
    pub channel_ends: u32,
    /// [`OnFault`].
    pub on_fault: u32,
    /// VM that is signalled, or [`NONE`].
    pub signal_vm: u32,
    /// 1: it has the virtual UART at [`crate::map::UART_BASE`]; 0: the address is not its own (or passed through).
    pub console: u32,
    /// Most real-time vCPUs that it may create by hypercall: entries in the vCPU table, after its `vcpus`.
    pub rt_vcpus: u32,
    /// Most utilisation of its reservations, those of the configuration included, in thousandths of all harts together.
    pub rt_share: u32,
    /// 1: it may read the counters `cycle` and `instret`, which count what its harts do for others, too; 0: only
    /// `time`.
    pub counters: u32,
}

/// Scheduling class of a vCPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Class {
    /// Best effort: round robin within a priority, below all real-time vCPUs.
    BestEffort = 0,
    /// Real time: on one hart at a time, before all best-effort vCPUs there, by the hart's [`RealTimePolicy`].
    RealTime = 1,
}

impl Class {
    /// The class that a field of the blob encodes.
    pub fn from_raw(raw: u32) -> Option<Self> {
        let all = [Self::BestEffort, Self::RealTime];
        all.into_iter().find(|class| *class as u32 == raw)
    }
}

/// A virtual CPU.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Vcpu {
    /// Its VM.
    pub vm: u32,
    /// Its number within the VM: the hart id that the guest sees.
    pub index: u32,
    /// [`Class`].
    pub class: u32,
    /// 0..=255, higher first; compared within a class only.
    pub priority: u16,
    /// 1: waiting ends a job of its reservation (*periodic*); 0: it may continue it (*server*).
    pub periodic: u8,
    /// 1: it has no budget while its hart is in the high mode; 0: it has.
    pub low: u8,
    /// Bit `n`: it may run on hart table entry `n`. For an entry that a hypercall fills: the harts allowed to
    /// admission. For any other real-time vCPU: it starts on the lowest, and admission may move it to another.
    pub harts: u64,
    /// Its reservation's period in ticks, at most [`limit::PERIOD_TICKS`]; 0: none, or by hypercall.
    pub period: u64,
    /// Its reservation's budget.
    pub budget: u64,
    /// Its reservation's deadline, after each release.
    pub deadline: u64,
    /// Ticks that a job has beyond its budget, in the high mode of its hart. Only of a periodic one that goes by its
    /// priority; with the budget at most its deadline.
    pub more: u64,
    /// At most so many ticks before its timer goes off it gets its hart, if it waits for that; 0: then. Only of a
    /// real-time vCPU; at most [`limit::LEAD_TICKS`].
    pub lead: u64,
    /// Of a real-time one: so many ticks lie between two interrupts of its hart that signals for it cause while another
    /// real-time vCPU runs there; at least 1. Of a best-effort one: zero.
    pub interrupt_distance: u64,
}

/// Bits of [`Region::flags`].
pub mod region {
    /// The VM's memory: cleared at start, reads, writes and fetches allowed.
    pub const MEMORY: u16 = 1;
    /// A passed-through device's registers: reads and writes allowed.
    pub const DEVICE: u16 = 2;
    /// A channel's shared memory: reads and writes allowed, kept over restarts.
    pub const CHANNEL: u16 = 4;
    /// A virtual device of accelerators: one page, that of an interface in the fabric. Reads are allowed; writes while
    /// a region is connected, or is being prepared ([`crate::hypercall::ACCELERATOR_REQUESTS`]).
    pub const ACCELERATOR: u16 = 8;
    /// A page for the VM's requests to I/O in the fabric: a port of the I/O hypervisor, or timed I/O. Reads and writes
    /// are allowed; when the VM has ended, the hypervisor writes [`END`](super::io::END) to the register at
    /// [`END_REGISTER`](super::io::END_REGISTER).
    pub const IO: u16 = 16;
}

/// Common registers of the pages of a [`region::IO`].
pub mod io {
    /// Offset of the register that cancels the VM's requests: a port's `RESET`, timed I/O's `CANCEL`.
    pub const END_REGISTER: u64 = 0x24;
    /// Cancels all: no request is in progress or pending, and lines are low.
    pub const END: u32 = 3;
}

/// A range of guest-physical addresses and what backs it.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Region {
    /// First guest-physical address, page aligned.
    pub guest: u64,
    /// First physical address, page aligned.
    pub host: u64,
    /// Size in bytes, a multiple of the page size.
    pub size: u64,
    /// One of [`region`]'s bits.
    pub flags: u16,
    /// Coloured: the contiguous bytes of physical memory that it has in each way of the cache, as a power of two.
    pub run: u8,
    /// The ratio of a way of the cache to such a run, as a power of two; 0: not coloured, contiguous.
    pub spread: u8,
    /// [`region::ACCELERATOR`]: the number of its interface, unique and below [`limit::INTERFACES`]. Others: zero.
    pub interface: u8,
    /// [`region::ACCELERATOR`]: the priority of its VM's requests for regions, higher first. Others: zero.
    pub priority: u8,
    /// [`region::MEMORY`], coloured: pages of its colours behind it, for the VM's second-stage tables. Others: zero.
    pub tables: u16,
}

impl Region {
    /// The physical address of the byte at `offset`: of a coloured region, the bits of the cache's index that choose
    /// the colour are inserted. Increasing, so that different offsets have different addresses.
    #[inline(never)]
    pub const fn host_at(&self, offset: u64) -> u64 {
        let within = offset & ((1 << self.run) - 1);
        self.host + within + ((offset - within) << self.spread)
    }

    /// Whether it has contiguous memory, or else runs of whole pages in ways of at most [`limit::CACHE_WAY`].
    pub const fn has_sound_colours(&self) -> bool {
        let (run, way) = (self.run as u32, self.run as u32 + self.spread as u32);
        let [page, most] = [crate::map::PAGE_SIZE, limit::CACHE_WAY];
        run == way || (run >= page.trailing_zeros() && way <= most.trailing_zeros())
    }
}

/// A part of a guest's image, copied whenever the VM starts.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Segment {
    /// Guest-physical address of its first byte, within the VM's memory.
    pub guest: u64,
    /// Physical address of its pristine copy in the boot image.
    pub source: u64,
    /// Bytes.
    pub size: u64,
}

/// A physical interrupt source and the VM it is passed to, under the same number.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Interrupt {
    /// PLIC source, physical and virtual.
    pub source: u32,
    /// The VM.
    pub vm: u32,
}

/// One end of a channel.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct ChannelEnd {
    /// VM at the other end.
    pub peer_vm: u32,
    /// The channel's number within that VM: its doorbell is `CHANNEL_SOURCE + peer_channel`.
    pub peer_channel: u32,
    /// Capacity of its queue for this VM, in messages, at most [`limit::MESSAGES`]; 0: no messages in this direction.
    pub messages: u16,
    /// Most bytes of a message, at most [`limit::MESSAGE`].
    pub message_size: u16,
    /// Its VM may call the one at the other end ([`crate::hypercall::CALL`]), and is served for so many ticks at most,
    /// up to [`limit::CALL_TICKS`]; 0: it may not. No chain of such VMs is longer than [`limit::CALL_DEPTH`], so that
    /// none calls itself.
    pub call_ticks: u32,
}

/// The tables of a blob, borrowed from its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Blob<'a> {
    /// The header.
    pub header: &'a Header,
    /// Harts used.
    pub harts: &'a [Hart],
    /// VMs.
    pub vms: &'a [Vm],
    /// All VMs' vCPUs.
    pub vcpus: &'a [Vcpu],
    /// All VMs' regions.
    pub regions: &'a [Region],
    /// All VMs' segments.
    pub segments: &'a [Segment],
    /// Passed-through interrupts.
    pub interrupts: &'a [Interrupt],
    /// All VMs' channel ends.
    pub channel_ends: &'a [ChannelEnd],
    /// What follows: the [`warm::WarmRange`]s, and where VMs have PCI functions a [`pci::PciHost`] and those.
    rest: &'a [u8],
}

/// Why bytes are not a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Fewer bytes than the header says, or than a header.
    Truncated,
    /// The magic differs: no blob at all.
    Magic,
    /// Another version of the layout.
    Version(u32),
    /// The checksum differs.
    Checksum,
    /// A count or an index is out of range; names the table.
    Table(&'static str),
}

impl Error {
    /// The reason in words.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Truncated => "system blob is truncated",
            Self::Magic => "no system blob in the image",
            Self::Version(_) => "system blob is of another version",
            Self::Checksum => "system blob is corrupt (checksum)",
            Self::Table(name) => name,
        }
    }
}

fn table<'a, T: FromBytes + KnownLayout + Immutable>(
    bytes: &mut &'a [u8],
    count: u32,
) -> Result<&'a [T], Error> {
    let (table, rest) =
        <[T]>::ref_from_prefix_with_elems(bytes, count as usize).map_err(|_| Error::Truncated)?;
    *bytes = rest;
    Ok(table)
}

impl<'a> Blob<'a> {
    /// Opens a blob that its maker has checked ([`Blob::parse`]): verifies that it is complete and unchanged.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Error> {
        let (header, _) = Header::ref_from_prefix(bytes).map_err(|_| Error::Truncated)?;
        if header.magic != MAGIC {
            return Err(Error::Magic);
        }
        if header.version != VERSION {
            return Err(Error::Version(header.version));
        }
        let length = header.length as usize;
        let whole = bytes.get(..length).ok_or(Error::Truncated)?;
        if header.crc32 != checksum(whole) {
            return Err(Error::Checksum);
        }
        let mut rest = whole.get(size_of::<Header>()..).ok_or(Error::Truncated)?;
        Ok(Self {
            header,
            harts: table(&mut rest, header.harts)?,
            vms: table(&mut rest, header.vms)?,
            vcpus: table(&mut rest, header.vcpus)?,
            regions: table(&mut rest, header.regions)?,
            segments: table(&mut rest, header.segments)?,
            interrupts: table(&mut rest, header.interrupts)?,
            channel_ends: table(&mut rest, header.channel_ends)?,
            rest,
        })
    }

    /// Harts, as bits, that may run a vCPU at all its privilege levels.
    pub const fn kernel_harts(&self, vcpu: &Vcpu) -> u64 {
        if vcpu.class == Class::BestEffort as u32 {
            vcpu.harts & !self.header.user_only
        } else {
            vcpu.harts
        }
    }

    /// A VM's vCPUs; entries that hypercalls fill are last.
    pub fn vcpus_of(&self, vm: &Vm) -> &'a [Vcpu] {
        part(self.vcpus, vm.first_vcpu, vm.vcpus + vm.rt_vcpus)
    }

    /// A VM's regions; the first is its memory.
    pub fn regions_of(&self, vm: &Vm) -> &'a [Region] {
        part(self.regions, vm.first_region, vm.regions)
    }

    /// A VM's segments.
    pub fn segments_of(&self, vm: &Vm) -> &'a [Segment] {
        part(self.segments, vm.first_segment, vm.segments)
    }

    /// A VM's channel ends, by channel number.
    pub fn channel_ends_of(&self, vm: &Vm) -> &'a [ChannelEnd] {
        part(self.channel_ends, vm.first_channel_end, vm.channel_ends)
    }
}

/// `count` entries of a table from `first` on, which are in range once the blob has been checked.
fn part<T>(table: &[T], first: u32, count: u32) -> &[T] {
    let first = first as usize;
    table.get(first..first + count as usize).unwrap_or(&[])
}

/// CRC-32 (IEEE 802.3, reflected) of a blob's bytes, with the header's own checksum field taken as zero.
pub fn checksum(blob: &[u8]) -> u32 {
    let field = core::mem::offset_of!(Header, crc32);
    let mut crc = u32::MAX;
    for (i, &byte) in blob.iter().enumerate() {
        let is_counted = !(field..field + 4).contains(&i);
        crc ^= u32::from(byte) * u32::from(is_counted);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

/// A name's text; empty when it is not ASCII.
#[inline(never)]
pub fn name_text(name: &Name) -> &str {
    let end = name.iter().position(|&b| b == 0).unwrap_or(name.len());
    let text = &name[..end];
    if text.iter().all(u8::is_ascii) {
        // Safety: ASCII is UTF-8.
        unsafe { core::str::from_utf8_unchecked(text) }
    } else {
        ""
    }
}
