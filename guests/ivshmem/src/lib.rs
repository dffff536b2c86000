//! A driver of ivshmem version 2, for guests in Rust: it finds the function behind the VM's PCI host, gives it its
//! address, and has its registers, the state table and the shared memory.
//!
//! ```ignore
//! let peer = Ivshmem::find().expect("the VM has one");
//! trap::on_external(|source| { /* a state or the shared memory has changed */ });
//! peer.enable_interrupts(1);
//! peer.set_state(1);
//! peer.shared()[0].store(42, Ordering::Release);
//! peer.ring(1);
//! ```
#![no_std]

use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

use tactus_guest::{devicetree, interrupts};
use tactus_ivshmem::link::register;
use tactus_ivshmem::space::{self, ONE_SHOT, command};
use tactus_ivshmem::{ECAM, REGISTERS};

/// Device numbers of a bus.
const DEVICES: u32 = 32;
/// Bytes from one device's configuration space to the next one's: eight functions of 4 KiB.
const DEVICE_SPACE: u32 = 8 * 4096;
/// The capability's identifier, and its length when it has the memory's address.
const CAPABILITY: u8 = 0x09;
const CAPABILITY_LENGTH: u8 = 0x20;
/// Capabilities that are looked at, at most.
const CAPABILITIES_MAX: usize = 48;

/// A function's configuration space.
#[derive(Clone, Copy)]
struct Space(usize);

impl Space {
    fn load(self, offset: u32) -> u32 {
        // SAFETY: `Host::function` makes this for the VM's own PCI host, and the offset is within the function's 4 KiB.
        unsafe { AtomicU32::from_ptr((self.0 + offset as usize) as *mut u32) }
            .load(Ordering::Relaxed)
    }

    fn load_byte(self, offset: u32) -> u8 {
        (self.load(offset & !3) >> (8 * (offset & 3))) as u8
    }

    fn load_doubleword(self, offset: u32) -> u64 {
        u64::from(self.load(offset)) | u64::from(self.load(offset + 4)) << 32
    }

    fn store(self, offset: u32, value: u32) {
        // SAFETY: as above.
        unsafe { AtomicU32::from_ptr((self.0 + offset as usize) as *mut u32) }
            .store(value, Ordering::Relaxed);
    }

    /// Where its vendor-specific capability is.
    fn capability(self) -> Option<u32> {
        if self.load(space::register::COMMAND) >> 20 & 1 == 0 {
            return None;
        }
        let mut at = self.load_byte(space::register::CAPABILITIES);
        for _ in 0..CAPABILITIES_MAX {
            let [id, next, length, _] = match at & !3 {
                0 => return None,
                at => self.load(at.into()).to_le_bytes(),
            };
            if id == CAPABILITY && length >= CAPABILITY_LENGTH {
                return Some(u32::from(at & !3));
            }
            at = next;
        }
        None
    }
}

/// An ivshmem function of this VM.
#[derive(Clone, Copy)]
pub struct Ivshmem {
    space: Space,
    capability: u32,
    registers: usize,
    source: u32,
    id: usize,
    peers: usize,
    table: usize,
    shared: usize,
    output: usize,
    memory: usize,
}

/// The VM's first PCI host.
struct Host {
    spaces: usize,
    source: u32,
    /// Memory of 32 bits: its address on the bus, in this VM, and its bytes; and the same that is prefetchable.
    ranges: [[u32; 3]; 2],
}

impl Host {
    fn find() -> Option<Self> {
        let host = devicetree::page("pci-host-ecam-generic", 0)?;
        let [_, _, _, _, _, source] = host.cells("interrupt-map")?;
        let ranges = host.cells::<14>("ranges").or_else(|| {
            let mut both = [0; 14];
            both[..7].copy_from_slice(&host.cells::<7>("ranges")?);
            Some(both)
        })?;
        let range = |at: usize| [ranges[at + 2], ranges[at + 4], ranges[at + 6]];
        Some(Self {
            spaces: host.registers,
            source,
            ranges: [range(0), range(7)],
        })
    }

    /// The first function of that vendor and device.
    fn function(&self, id: u32) -> Option<Space> {
        let mut devices =
            (0..DEVICES).map(|device| Space(self.spaces + (device * DEVICE_SPACE) as usize));
        devices.find(|space| space.load(space::register::ID) == id)
    }

    /// Gives a BAR the first address of a range, if it fits; its bytes.
    fn assign(function: Space, bar: u32, [bus, _, size]: [u32; 3]) -> Option<u32> {
        function.store(bar, u32::MAX);
        let bytes = (function.load(bar) & !0xf).wrapping_neg();
        function.store(bar, bus);
        (bytes != 0 && bytes <= size).then_some(bytes)
    }
}

/// The memory that is shared by a function of version 1, the first one behind the VM's first PCI host.
pub fn find_plain() -> Option<&'static [AtomicU64]> {
    let host = Host::find()?;
    let function = host.function(space::ID_OF_VERSION_1)?;
    let [_, range] = host.ranges;
    let bytes = Host::assign(function, space::register::BAR2, range)?;
    let [_, address, _] = range;
    // SAFETY: the BAR is that memory; atomics may be written by others at any time.
    Some(unsafe {
        core::slice::from_raw_parts(address as usize as *const AtomicU64, bytes as usize / 8)
    })
}

impl Ivshmem {
    /// The first one behind the VM's first PCI host. `None`: there is none, or it is not what the specification says.
    pub fn find() -> Option<Self> {
        let host = Host::find()?;
        let id = u32::from(space::DEVICE) << 16 | u32::from(space::VENDOR);
        let function = host.function(id)?;
        function.store(space::register::COMMAND, 0);
        let [range, _] = host.ranges;
        if Host::assign(function, space::register::BAR0, range)? != REGISTERS {
            return None;
        }
        let [_, address, _] = range;
        function.store(space::register::COMMAND, command::MEMORY.into());
        let capability = function.capability()?;
        let in_capability = |register| capability + register - space::register::CAPABILITY;
        let size =
            |register| usize::try_from(function.load_doubleword(in_capability(register))).ok();
        let mut this = Self {
            space: function,
            capability,
            registers: address as usize,
            source: host.source,
            id: 0,
            peers: 0,
            table: function.load(in_capability(space::register::TABLE_SIZE)) as usize,
            shared: size(space::register::SHARED_SIZE)?,
            output: size(space::register::OUTPUT_SIZE)?,
            memory: size(space::register::BASE)?,
        };
        this.id = this.register(register::ID).load(Ordering::Relaxed) as usize;
        this.peers = this.register(register::PEERS).load(Ordering::Relaxed) as usize;
        let is_sound = (2..=65536).contains(&this.peers)
            && this.id < this.peers
            && this.table >= 4 * this.peers;
        is_sound.then_some(this)
    }

    fn register(&self, offset: u32) -> &'static AtomicU32 {
        // SAFETY: BAR 0 has these registers, at this address.
        unsafe { AtomicU32::from_ptr((self.registers + offset as usize) as *mut u32) }
    }

    /// This peer's number.
    pub fn id(&self) -> usize {
        self.id
    }

    /// This peer's number, by its register.
    pub fn own_id(&self) -> usize {
        self.register(register::ID).load(Ordering::Relaxed) as usize
    }

    /// Peers of the link.
    pub fn peers(&self) -> usize {
        self.peers
    }

    /// This peer's state, by its register.
    pub fn own_state(&self) -> u32 {
        self.register(register::STATE).load(Ordering::Relaxed)
    }

    /// Has a state, which the others are told.
    pub fn set_state(&self, state: u32) {
        // A peer that sees the state sees what was written before it, too.
        fence(Ordering::SeqCst);
        self.register(register::STATE)
            .store(state, Ordering::Release);
    }

    /// A peer's state, by the table.
    pub fn state(&self, peer: usize) -> u32 {
        let table = self.memory as *const AtomicU32;
        if peer >= self.table / 4 {
            return 0;
        }
        // SAFETY: the state table has so many words.
        unsafe { &*table.add(peer) }.load(Ordering::Acquire)
    }

    /// Interrupts a peer.
    pub fn ring(&self, peer: usize) {
        fence(Ordering::SeqCst);
        self.register(register::DOORBELL)
            .store((peer as u32) << 16, Ordering::Release);
    }

    /// The PLIC source of its interrupt.
    pub fn source(&self) -> u32 {
        self.source
    }

    /// Enables its interrupt on the running hart.
    pub fn enable_interrupts(&self, priority: u32) {
        interrupts::enable(self.source, priority);
        self.register(register::INTERRUPTS)
            .store(1, Ordering::Relaxed);
    }

    /// Whether its interrupts are enabled.
    pub fn interrupts_are_enabled(&self) -> bool {
        self.register(register::INTERRUPTS).load(Ordering::Relaxed) == 1
    }

    /// Has each interrupt disable the next ones, or not.
    pub fn set_one_shot(&self, one_shot: bool) {
        let value = if one_shot { ONE_SHOT } else { 0 };
        self.space.store(self.capability, value);
    }

    fn section(&self, offset: usize, size: usize) -> &'static [AtomicU64] {
        // SAFETY: the shared memory has this section; atomics may be written by others at any time.
        unsafe { core::slice::from_raw_parts((self.memory + offset) as *const AtomicU64, size / 8) }
    }

    /// The section that all peers read and write.
    pub fn shared(&self) -> &'static [AtomicU64] {
        self.section(self.table, self.shared)
    }

    /// A peer's output section, which the others only read.
    pub fn output(&self, peer: usize) -> &'static [AtomicU64] {
        if peer >= self.peers {
            return &[];
        }
        self.section(self.table + self.shared + peer * self.output, self.output)
    }

    /// Accesses the window in any way, for tests: `what` chooses the width, and whether it is a store. What was loaded.
    pub fn access_anyhow(&self, offset: u32, what: u8, value: u64) -> u64 {
        let size = 1u32 << (what & 3);
        let at = self.space.0 + ((offset % (ECAM + REGISTERS)) & !(size - 1)) as usize;
        macro_rules! access {
            ($atomic:ident, $type:ident) => {{
                // SAFETY: it is within the window of the VM's own PCI host, and aligned.
                let place = unsafe { $atomic::from_ptr(at as *mut $type) };
                if what & 4 != 0 {
                    place.store(value as $type, Ordering::Relaxed);
                    0
                } else {
                    place.load(Ordering::Relaxed).into()
                }
            }};
        }
        match size {
            1 => access!(AtomicU8, u8),
            2 => access!(AtomicU16, u16),
            4 => access!(AtomicU32, u32),
            _ => access!(AtomicU64, u64),
        }
    }
}
