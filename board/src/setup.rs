//! Boards from profiles, and software into them: what most users begin with.

mod tiles;

pub use tiles::tiles;

use object::{Object, ObjectSegment};

use crate::board::{Board, BuildError, MemoryModel, Parts};
use crate::devices::pci::{self, ECAM_SIZE, IOMMU_SIZE, SLOTS};
use crate::devices::virtio::Backend;
use crate::devices::{Clint, Console, Finisher, Iommu, Pci, Plic, Rtc, Sswi, Uart, Virtio, map};
use crate::devicetree::{self, Description, Range};
use crate::fabric::{Coupling, Fabric, Settings};
use crate::memory::{NoMemory, Place};
use crate::profile::{self, DeviceKind, Profile};
use crate::time::Clock;

/// Where firmware starts what comes after it, from the start of memory.
const NEXT: u64 = 0x20_0000;
/// Devicetrees lie at a multiple of this, at the end of memory.
const BLOB_ALIGNMENT: u64 = 2 << 20;
/// An initial RAM disk lies at a multiple of this.
const INITRD_ALIGNMENT: u64 = 4096;
/// Bytes kept free behind a kernel, into which its memory that the file does not hold grows.
const KERNEL_ROOM: u64 = 32 << 20;

/// The selection from a profile's board.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How many harts. `None`: the profile's default.
    pub harts: Option<usize>,
    /// Bytes of memory. `None`: the profile's default.
    pub memory: Option<u64>,
    /// Cycles that a hart runs before another one that is behind it, whatever the mode. `None`: the profile's.
    pub quantum: Option<u64>,
    /// The seed of all random choices: replacement in caches, weak memory, the devicetree's `rng-seed`.
    pub seed: u64,
    /// How harts see each other's loads and stores.
    pub memory_model: MemoryModel,
    /// The far end of the profile's spare UART, which then is the firmware's console. `None`: the board comes without
    /// it.
    pub spare_uart: Option<Console>,
    /// The date at which the real-time clock starts, in seconds since 1970. `None`: [`Rtc::START`].
    pub start: Option<u64>,
}

/// The software of a board.
#[derive(Clone, Copy, Debug, Default)]
pub struct Software<'a> {
    /// The software that the harts start in M-mode: an ELF file, or bytes for the start of memory.
    pub firmware: &'a [u8],
    /// The software that the firmware starts in S-mode: an ELF file, or bytes for 2 MiB behind the start of memory.
    /// Firmware is told of it as OpenSBI's `fw_dynamic` expects.
    pub kernel: Option<&'a [u8]>,
    /// An initial RAM disk for the kernel.
    pub initrd: Option<&'a [u8]>,
    /// The kernel's command line.
    pub bootargs: Option<&'a str>,
}

/// Software that can't be put into a board.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    /// Not an executable that the board runs.
    #[error("the {what} is not an ELF file for RV64: {reason}")]
    Elf {
        /// Which of the files.
        what: &'static str,
        /// The error.
        reason: String,
    },
    /// It does not fit.
    #[error("the {what} does not fit: {reason}")]
    Room {
        /// Which of the files.
        what: &'static str,
        /// Where memory is missing.
        reason: NoMemory,
    },
    /// The devicetree can't be made.
    #[error(transparent)]
    Devicetree(#[from] devicetree::Error),
}

/// The board of a profile, with its devices, and the console that its UART is. All is as at reset. The virtio slots
/// are given `virtio`, in order; the others are empty.
///
/// # Errors
///
/// When the profile has no such board.
pub fn board(
    profile: &Profile,
    options: &Options,
    virtio: Vec<Box<dyn Backend>>,
) -> Result<(Board, Console), BuildError> {
    if profile.tiles {
        return Err(BuildError::Tiles(true));
    }
    plain(profile, options, virtio)
}

/// A board as all are.
fn plain(
    profile: &Profile,
    options: &Options,
    virtio: Vec<Box<dyn Backend>>,
) -> Result<(Board, Console), BuildError> {
    let mut backends: Vec<_> = virtio.into_iter().map(Some).collect();
    let harts = options.harts.unwrap_or(profile.harts.default as usize);
    if harts > profile.harts.max as usize {
        return Err(BuildError::ProfileHarts {
            wanted: harts,
            max: profile.harts.max as usize,
        });
    }
    let memory = options.memory.unwrap_or(profile.memory.default);
    if memory > profile.memory.max {
        return Err(BuildError::ProfileMemory {
            wanted: memory,
            max: profile.memory.max,
        });
    }
    let mut board = Board::new(&Parts {
        harts,
        first_id: profile.harts.first_id,
        clock_hz: profile.clock_hz,
        timebase_hz: profile.timebase_hz,
        memory_base: profile.memory.base,
        memory_size: memory,
        onchip: profile.onchip,
        quantum: options.quantum.unwrap_or(profile.quantum),
        fast_quantum: options.quantum.unwrap_or(profile.fast_quantum),
        seed: options.seed,
        memory_model: options.memory_model,
        extensions: profile.harts.extensions,
        timing: profile.timing.clone(),
    })?;
    let slots = virtio_slots(profile);
    if backends.len() > slots {
        return Err(BuildError::VirtioSlots {
            wanted: backends.len(),
            max: slots,
        });
    }
    let mut console = Console::new();
    for device in &profile.devices {
        let line = device.interrupts.first().copied().unwrap_or(0);
        let (name, base, size) = (device.name.as_str(), device.address, device.size);
        match device.kind {
            DeviceKind::Clint => {
                let clint = Clint::new(harts, profile.timebase_hz);
                board.attach_clint(base, clint.from_hart(profile.harts.first_id as usize))?;
            }
            DeviceKind::Sswi => board.attach(name, base, size, Box::new(Sswi::new(harts)))?,
            DeviceKind::Plic => board.attach_plic(base, Plic::new(harts, map::PLIC_SOURCES))?,
            DeviceKind::Finisher => board.attach(name, base, size, Box::new(Finisher::new()))?,
            DeviceKind::Uart => {
                let (uart, line) = Uart::new(line);
                console = line;
                board.attach(name, base, size, Box::new(uart))?;
                board.wake_on_input(name, console.attention());
            }
            DeviceKind::SpareUart => {
                if let Some(far_end) = &options.spare_uart {
                    let uart = Uart::with(line, far_end.clone());
                    board.attach(name, base, size, Box::new(uart))?;
                    board.wake_on_input(name, far_end.attention());
                }
            }
            DeviceKind::Rtc => board.attach(
                name,
                base,
                size,
                Box::new(Rtc::new(line, options.start.unwrap_or(Rtc::START))),
            )?,
            // Its place; what comes there is loaded later.
            DeviceKind::Fabric => {}
            DeviceKind::Virtio(slot) => {
                let backend = backends.get_mut(slot as usize).and_then(Option::take);
                let device = backend
                    .map_or_else(|| Virtio::empty(line), |backend| Virtio::new(line, backend));
                board.attach(name, base, size, Box::new(device))?;
            }
        }
    }
    if let Some(place) = &profile.pci {
        let iommu = place.iommu.as_ref();
        let host = Pci::new(
            board.clock(),
            place.interrupts,
            iommu.map(|iommu| {
                if iommu.bare {
                    Iommu::bare(&iommu.interrupts, iommu.sizes)
                } else {
                    Iommu::new(&iommu.interrupts, iommu.sizes)
                }
            }),
        );
        let registers = iommu.map(|iommu| iommu.address);
        board.attach_pci(place.ecam, place.window, registers, host)?;
    }
    Ok((board, console))
}

/// Puts virtio devices into the slots of a board's PCI host, in order; the first is device 1.
///
/// # Errors
///
/// When the board has no PCI host, or not so many slots.
pub fn plug(board: &mut Board, functions: Vec<Box<dyn Backend>>) -> Result<(), BuildError> {
    for function in functions {
        let attention = function.attention();
        let host = board.pci().ok_or(BuildError::NoPci)?;
        host.plug(function).ok_or(BuildError::PciSlots(SLOTS))?;
        if let Some(attention) = attention {
            board.wake_on_input(pci::NAME, attention);
        }
    }
    Ok(())
}

/// Loads a board's fabric with a design, which is after reset at the board's begin.
///
/// # Errors
///
/// When the profile's board has no fabric, or it is loaded already.
pub fn load_fabric(
    board: &mut Board,
    profile: &Profile,
    fabric: Box<dyn Fabric>,
) -> Result<(), BuildError> {
    let place = profile.device(DeviceKind::Fabric);
    let (Some(place), Some(described)) = (place, &profile.fabric) else {
        return Err(BuildError::NoFabric);
    };
    let settings = Settings {
        clock: Clock::from_hertz(described.clock_hz),
        hart_clock: board.clock(),
        crossing: described.crossing,
        writes: described.writes as usize,
        timeout: described.timeout,
        first_line: map::FABRIC_LINE,
    };
    board.attach_fabric(place.address, Coupling::new(settings, fabric))
}

/// How many virtio slots the profile's board has.
fn virtio_slots(profile: &Profile) -> usize {
    profile
        .devices
        .iter()
        .filter(|device| matches!(device.kind, DeviceKind::Virtio(_)))
        .count()
}

/// A PCI host, as the devicetree has it.
fn described(host: &profile::Pci) -> devicetree::Pci {
    let range = |place: Place| Range::new(place.base, place.size);
    devicetree::Pci {
        ecam: Range::new(host.ecam, ECAM_SIZE),
        window: range(host.window),
        interrupts: host.interrupts,
        iommu: host
            .iommu
            .as_ref()
            .filter(|iommu| !iommu.bare)
            .map(|iommu| {
                let registers = Range::new(iommu.address, IOMMU_SIZE);
                (registers, iommu.interrupts.clone())
            }),
    }
}

/// Whether the board came with its spare UART.
fn has_spare_uart(board: &Board, profile: &Profile) -> bool {
    let spare = profile.device(DeviceKind::SpareUart);
    spare.is_some_and(|spare| board.devices().any(|(name, ..)| name == spare.name))
}

/// Puts software into the board and sets all harts to the firmware's begin: a0 has the hart's number, a1 the
/// devicetree's address, a2 that of what `fw_dynamic` wants to know.
///
/// # Errors
///
/// When a file is not what it has to be, or does not fit.
pub fn boot(
    board: &mut Board,
    profile: &Profile,
    software: &Software<'_>,
) -> Result<(), BootError> {
    let (base, size) = (board.memory().base(), board.memory().size());
    let entry = load(board, "firmware", software.firmware, base)?;
    let mut next = 0;
    let mut description = Description {
        harts: board.harts() as u32,
        timebase_hz: profile.timebase_hz as u32,
        memory: Range::new(base, size),
        bootargs: software.bootargs.map(str::to_owned),
        rng_seed: Some(devicetree::rng_seed(board.seed())),
        virtio_slots: virtio_slots(profile) as u32,
        onchip: profile
            .onchip
            .map(|place| Range::new(place.base, place.size)),
        spare_uart: has_spare_uart(board, profile),
        sswi: profile
            .devices
            .iter()
            .any(|device| device.kind == DeviceKind::Sswi),
        pci: profile.pci.as_ref().map(described),
        ..Description::default().with(profile.harts.extensions, board.cache_block())
    };
    if let Some(kernel) = software.kernel {
        next = load(board, "kernel", kernel, base + NEXT)?;
        board.machine.begin_in_order();
    }
    if let Some(initrd) = software.initrd {
        let kernel = software.kernel.map_or(0, <[u8]>::len) as u64;
        let begin = (base + (NEXT + kernel + KERNEL_ROOM).max(size.min(256 << 20) / 2))
            .next_multiple_of(INITRD_ALIGNMENT);
        let room = |reason| BootError::Room {
            what: "initial RAM disk",
            reason,
        };
        board.write(begin, initrd).map_err(room)?;
        description.initrd = Some(Range::new(begin, initrd.len() as u64));
    }
    let blob = devicetree::blob(&description)?;
    // Firmware finds them where QEMU has them: the devicetree at the end of memory, below 3 GiB.
    let end = (base + size).min(3 << 30);
    let at = end.saturating_sub(blob.len() as u64 + 64) / BLOB_ALIGNMENT * BLOB_ALIGNMENT;
    let room = |reason| BootError::Room {
        what: "devicetree",
        reason,
    };
    board.write(at, &blob).map_err(room)?;
    let info = (at + blob.len() as u64).next_multiple_of(8);
    // Magic, version, where to continue, in S-mode, no options, and no preferred hart.
    let fields: [u64; 6] = [0x4942_534f, 2, next, 1, 0, u64::MAX];
    board
        .write(info, &fields.map(u64::to_le_bytes).concat())
        .map_err(room)?;
    for hart in 0..board.harts() {
        board.set_pc(hart, entry);
        board.set_x(hart, 10, profile.harts.first_id + hart as u64);
        board.set_x(hart, 11, at);
        board.set_x(hart, 12, info);
    }
    Ok(())
}

/// Loads an ELF file, or else the bytes as they are to `place`. Gives where it begins to execute.
pub(crate) fn load(
    board: &mut Board,
    what: &'static str,
    bytes: &[u8],
    place: u64,
) -> Result<u64, BootError> {
    let room = |reason| BootError::Room { what, reason };
    if !bytes.starts_with(b"\x7fELF") {
        board.write(place, bytes).map_err(room)?;
        return Ok(place);
    }
    let elf = |reason: String| BootError::Elf { what, reason };
    let file = object::File::parse(bytes).map_err(|error| elf(error.to_string()))?;
    if file.architecture() != object::Architecture::Riscv64 {
        return Err(elf(format!("it is for {:?}", file.architecture())));
    }
    for segment in file.segments() {
        let data = segment.data().map_err(|error| elf(error.to_string()))?;
        board.write(segment.address(), data).map_err(room)?;
        // What the file does not hold is zero, as memory is at reset; on a board that ran before it has to be made so.
        let rest = segment.size().saturating_sub(data.len() as u64);
        let zeros = usize::try_from(rest)
            .ok()
            .filter(|rest| *rest as u64 <= board.memory().size());
        let behind = segment.address() + data.len() as u64;
        let zeros = zeros
            .ok_or(NoMemory {
                address: behind,
                length: usize::MAX,
            })
            .map_err(room)?;
        board.write(behind, &vec![0; zeros]).map_err(room)?;
    }
    Ok(file.entry())
}
