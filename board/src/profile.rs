//! A board as its profile describes it: clocks, harts, memory, devices, and what everything costs.
//!
//! A profile is a TOML file. `[board]` and what is under it is the board's alone, and unknown keys there are errors.
//! `name`, `timebase_hz`, `[harts]`, `[memory]` and `[[device]]` are shared with `tactus check`, which reads more of
//! them than the board does; its other sections are not looked at.

mod extends;

use std::fmt;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

pub use extends::table;

use crate::devices::map;
use crate::devices::pci::{ECAM_SIZE, INTERRUPTS, IOMMU_SIZE, Sizes};
use crate::memory::Place;
use crate::privileged::Extensions;
use crate::quantity::{between, bytes};
use crate::timing::parameters::{MAX_HARTS, Parameters};
use extends::Texts;

/// The profiles that come with the crate: name and text.
const PROFILES: &[(&str, &str)] = &[
    ("soc", include_str!("../../profiles/soc.toml")),
    ("soc-ocm", include_str!("../../profiles/soc-ocm.toml")),
    ("soc-pci", include_str!("../../profiles/soc-pci.toml")),
    ("mpsoc", include_str!("../../profiles/mpsoc.toml")),
    ("manycore", include_str!("../../profiles/manycore.toml")),
];

/// Memory comes in pages.
const PAGE: u64 = 4096;

/// A board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Ticks of `time` per second.
    pub timebase_hz: u64,
    /// Cycles of a hart per second.
    pub clock_hz: u64,
    /// Cycles that a hart runs in the timed mode before another that is behind it has its turn.
    pub quantum: u64,
    /// The same in the fast mode, in which time is less exact anyway.
    pub fast_quantum: u64,
    /// Whether each hart is a [tile](crate::tiles), with the memory and the devices for itself.
    pub tiles: bool,
    /// The fabric's clock, where the board has one.
    pub fabric: Option<Fabric>,
    /// Its harts.
    pub harts: Harts,
    /// Its memory.
    pub memory: Memory,
    /// Its memory on the chip.
    pub onchip: Option<Place>,
    /// Its devices, by address.
    pub devices: Vec<Device>,
    /// Its PCI host.
    pub pci: Option<Pci>,
    /// The costs of the timed mode.
    pub timing: Parameters,
}

/// How many harts there are.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Harts {
    /// Harts of a board that is not told.
    #[serde(deserialize_with = "between::<_, _, 1, 16>")]
    pub default: u32,
    /// Most harts that the board has.
    #[serde(deserialize_with = "between::<_, _, 1, 16>")]
    pub max: u32,
    /// `mhartid` of the first; the others follow without gaps.
    pub first_id: u64,
    /// What they have beyond the instruction set of all boards.
    #[serde(default, deserialize_with = "extensions")]
    pub extensions: Extensions,
}

/// Extensions by their names.
fn extensions<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Extensions, D::Error> {
    let mut extensions = Extensions::empty();
    for name in Vec::<String>::deserialize(deserializer)? {
        extensions |= Extensions::named(&name).ok_or_else(|| {
            let known: Vec<_> = Extensions::all().names().collect();
            serde::de::Error::custom(format!(
                "`extensions` may have {}, not \"{name}\"",
                known.join(", ")
            ))
        })?;
    }
    Ok(extensions)
}

const _: () = assert!(MAX_HARTS == 16, "the ranges above");

/// How much memory there is, in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// First address.
    pub base: u64,
    /// Memory of a board that is not told.
    #[serde(deserialize_with = "bytes")]
    pub default: u64,
    /// Most memory that the board has.
    #[serde(deserialize_with = "bytes")]
    pub max: u64,
}

/// Memory on the chip.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Onchip {
    address: u64,
    #[serde(deserialize_with = "bytes")]
    size: u64,
}

/// The programmable logic.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fabric {
    /// Its clock.
    #[serde(deserialize_with = "between::<_, _, 1_000, 10_000_000_000>")]
    pub clock_hz: u64,
    /// Cycles that a signal takes from one clock to the other, counted in the one that it comes to.
    #[serde(deserialize_with = "between::<_, _, 0, 100>")]
    pub crossing: u64,
    /// Most posted writes of software in flight; with 0 a hart waits for each write.
    #[serde(deserialize_with = "between::<_, _, 0, 64>")]
    pub writes: u64,
    /// Cycles of the fabric after which a hart does not wait any longer for an answer: it takes an access fault.
    #[serde(deserialize_with = "between::<_, _, 16, 1_000_000>")]
    pub timeout: u64,
}

/// The PCI host (`[pci]`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pci {
    /// Where the configuration spaces are.
    pub ecam: u64,
    /// Where functions' registers can be put.
    pub window: Place,
    /// PLIC sources of INTA to INTD of device 0.
    pub interrupts: [u32; INTERRUPTS],
    /// The IOMMU that all functions are behind.
    pub iommu: Option<Iommu>,
}

/// An IOMMU (`[pci.iommu]`, `[board.iommu]`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iommu {
    /// Where its registers are.
    pub address: u64,
    /// PLIC sources of its wires: 1, 2 or 4.
    pub interrupts: Vec<u32>,
    /// How many entries its caches have.
    pub sizes: Sizes,
    /// Whether it lets all accesses through until software says otherwise, and is not in the devicetree: for software
    /// that has no driver of it. Not so in any file.
    pub bare: bool,
}

/// Which device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceKind {
    /// Powers the board off: `finisher`.
    Finisher,
    /// Goldfish real-time clock: `rtc`.
    Rtc,
    /// Timers and inter-processor interrupts: `clint`.
    Clint,
    /// Software interrupts of the harts' supervisor levels: `sswi`.
    Sswi,
    /// Interrupt controller: `plic`.
    Plic,
    /// 16550: `uart`.
    Uart,
    /// A second 16550: `spare-uart`.
    SpareUart,
    /// The ports of the fabric: `fabric`.
    Fabric,
    /// A virtio slot: `virtio-mmio-0` to `virtio-mmio-7`.
    Virtio(u8),
}

impl DeviceKind {
    /// Where it is, and its interrupt line: as QEMU's `virt` has it.
    const fn place(self) -> (u64, Option<u32>) {
        match self {
            Self::Finisher => (map::FINISHER, None),
            Self::Rtc => (map::RTC, Some(map::RTC_LINE)),
            Self::Clint => (map::CLINT, None),
            Self::Sswi => (map::SSWI, None),
            Self::Plic => (map::PLIC, None),
            Self::Uart => (map::UART, Some(map::UART_LINE)),
            Self::SpareUart => (map::SPARE_UART, Some(map::SPARE_UART_LINE)),
            Self::Fabric => (map::FABRIC, None),
            Self::Virtio(slot) => {
                let slot = slot as u32;
                (
                    map::VIRTIO + slot as u64 * map::VIRTIO_SIZE,
                    Some(map::VIRTIO_LINE + slot),
                )
            }
        }
    }

    /// The device of that name in a profile.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "finisher" => Self::Finisher,
            "rtc" => Self::Rtc,
            "clint" => Self::Clint,
            "sswi" => Self::Sswi,
            "plic" => Self::Plic,
            "uart" => Self::Uart,
            "spare-uart" => Self::SpareUart,
            "fabric" => Self::Fabric,
            _ => {
                let slot = name.strip_prefix("virtio-mmio-")?;
                Self::Virtio(
                    slot.parse()
                        .ok()
                        .filter(|slot| *slot < 8 && name.len() == 13)?,
                )
            }
        })
    }
}

/// A device that the board has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Which.
    pub kind: DeviceKind,
    /// Its name in the profile.
    pub name: String,
    /// First address.
    pub address: u64,
    /// Bytes of addresses that it answers in.
    pub size: u64,
    /// Its PLIC sources.
    pub interrupts: Vec<u32>,
}

/// Why a profile can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ProfileError {
    /// The file, as the caller named it.
    pub file: String,
    /// Its line, counted from 1; 0 when the file could not be read.
    pub line: usize,
    /// The content of the line, without its comment.
    pub text: String,
    /// The error, and the permitted values.
    pub reason: String,
}

impl fmt::Display for ProfileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(formatter, "{}: {}", self.file, self.reason)
        } else if self.text.is_empty() {
            write!(formatter, "{}:{}: {}", self.file, self.line, self.reason)
        } else {
            write!(
                formatter,
                "{}:{}: `{}`: {}",
                self.file, self.line, self.text, self.reason
            )
        }
    }
}

/// The file as it stands. Sections that are the checker's are left out.
#[derive(Deserialize)]
struct File {
    name: String,
    #[serde(deserialize_with = "between::<_, _, 1_000, 1_000_000_000>")]
    timebase_hz: u64,
    harts: Spanned<Harts>,
    memory: Spanned<Memory>,
    onchip: Option<Spanned<Onchip>>,
    pci: Option<Spanned<PciTable>>,
    #[serde(default, rename = "device")]
    devices: Vec<Spanned<DeviceTable>>,
    board: Board,
}

/// `[board]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Board {
    #[serde(deserialize_with = "between::<_, _, 1_000, 10_000_000_000>")]
    clock_hz: u64,
    #[serde(deserialize_with = "between::<_, _, 1, 1_000_000>")]
    quantum: u64,
    #[serde(deserialize_with = "between::<_, _, 1, 1_000_000>")]
    fast_quantum: u64,
    #[serde(default)]
    tiles: bool,
    fabric: Option<Fabric>,
    iommu: Option<Spanned<IommuSizes>>,
    timing: Parameters,
}

/// `[board.iommu]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IommuSizes {
    #[serde(deserialize_with = "between::<_, _, 1, 4_096>")]
    translations: u32,
    #[serde(deserialize_with = "between::<_, _, 1, 4_096>")]
    contexts: u32,
}

/// `[pci]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PciTable {
    ecam: u64,
    window: u64,
    #[serde(deserialize_with = "bytes")]
    window_size: u64,
    interrupts: [u32; INTERRUPTS],
    iommu: Option<IommuTable>,
}

/// `[pci.iommu]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IommuTable {
    address: u64,
    interrupts: Vec<u32>,
}

impl PciTable {
    /// What is at which addresses.
    fn places(&self) -> Vec<(&'static str, Place)> {
        let place = |base, size| Place { base, size };
        let mut places = vec![
            ("`ecam`", place(self.ecam, ECAM_SIZE)),
            ("`window`", place(self.window, self.window_size)),
        ];
        if let Some(iommu) = &self.iommu {
            places.push(("the IOMMU", place(iommu.address, IOMMU_SIZE)));
        }
        places
    }

    /// Why there can be no such host, beside these devices below memory at `memory`.
    fn mistake(&self, memory: u64, others: &[(&str, Place)]) -> Option<String> {
        let places = self.places();
        for (index, (name, place)) in places.iter().enumerate() {
            let aligned = if *name == "the IOMMU" {
                PAGE
            } else {
                ECAM_SIZE
            };
            if !place.base.is_multiple_of(aligned) || !place.size.is_multiple_of(aligned) {
                return Some(format!(
                    "{name} must begin and end at a multiple of {} KiB",
                    aligned >> 10
                ));
            }
            let end = place.base.checked_add(place.size);
            if end.is_none_or(|end| end > memory.min(1 << 32)) {
                return Some(format!("{name} must end below memory at {memory:#x}"));
            }
            let before = places[..index].iter().chain(others);
            let overlaps = |other: &Place| {
                place.base < other.base + other.size && other.base < place.base + place.size
            };
            if let Some((other, _)) = before.into_iter().find(|(_, other)| overlaps(other)) {
                return Some(format!("{name} overlaps {other}"));
            }
        }
        let wires = self
            .iommu
            .as_ref()
            .map_or(&[][..], |iommu| &iommu.interrupts);
        if self.iommu.is_some() && !matches!(wires.len(), 1 | 2 | 4) {
            return Some(format!(
                "the IOMMU has 1, 2 or 4 `interrupts`, not {}",
                wires.len()
            ));
        }
        let sources = 1..map::PLIC_SOURCES;
        let lines = self.interrupts.iter().chain(wires);
        lines
            .into_iter()
            .find(|line| !sources.contains(line))
            .map(|line| format!("`interrupts` must be 1 to {}, not {line}", sources.end - 1))
    }
}

/// `[[device]]`, so far as the board reads it.
#[derive(Deserialize)]
struct DeviceTable {
    name: String,
    address: u64,
    #[serde(deserialize_with = "bytes")]
    size: u64,
    #[serde(default)]
    interrupts: Vec<u32>,
}

/// A line of a file, counted from 0, without its comment.
fn source(text: &str, line: usize) -> String {
    let line = text.lines().nth(line).unwrap_or_default();
    line.split('#').next().unwrap_or_default().trim().to_owned()
}

impl Profile {
    /// The names of the profiles that come with the crate.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PROFILES.iter().map(|(name, _)| *name)
    }

    /// The profile of that name that comes with the crate. `None`: there is none.
    ///
    /// # Panics
    ///
    /// When such a profile can't be read; a test reads them all.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let (name, text) = PROFILES.iter().find(|(known, _)| *known == name)?;
        match Self::parse(&format!("profiles/{name}.toml"), text) {
            Ok(profile) => Some(profile),
            Err(error) => panic!("{error}"),
        }
    }

    /// Reads a profile from a file.
    ///
    /// # Errors
    ///
    /// When the file can't be read or used: where and why.
    pub fn read(path: &Path) -> Result<Self, ProfileError> {
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&file, &text),
            Err(error) => Err(ProfileError {
                file,
                line: 0,
                text: String::new(),
                reason: error.to_string(),
            }),
        }
    }

    /// Reads a profile from `text`, which messages call `file`.
    ///
    /// # Errors
    ///
    /// When it is no profile: where and why.
    pub fn parse(file: &str, text: &str) -> Result<Self, ProfileError> {
        let texts = Texts::new(file, text)?;
        let fail = |span: Range<usize>, reason: String| texts.error(span, reason);
        let read: File = texts.read()?;

        let harts = read.harts.get_ref();
        if harts.default > harts.max {
            let reason = format!(
                "`default` must be at most `max`, not {} of {}",
                harts.default, harts.max
            );
            return Err(fail(read.harts.span(), reason));
        }
        let memory = read.memory.get_ref();
        for (name, value) in [
            ("base", memory.base),
            ("default", memory.default),
            ("max", memory.max),
        ] {
            if !value.is_multiple_of(PAGE) {
                let reason = format!("`{name}` must be a multiple of 4 KiB, not {value:#x}");
                return Err(fail(read.memory.span(), reason));
            }
        }
        if memory.default > memory.max {
            return Err(fail(
                read.memory.span(),
                "`default` must be at most `max`".to_owned(),
            ));
        }
        // Physical addresses have 56 bits (Volume II, 20211203, section 4.4).
        if memory
            .base
            .checked_add(memory.max)
            .is_none_or(|end| end > 1 << 56)
        {
            return Err(fail(
                read.memory.span(),
                "memory must end within 2^56 bytes".to_owned(),
            ));
        }
        let mut devices: Vec<(Device, Range<usize>)> = Vec::new();
        for table in read.devices {
            let span = table.span();
            let table = table.into_inner();
            let Some(kind) = DeviceKind::named(&table.name) else {
                let reason = format!(
                    "the board has no device `{}`: it has finisher, rtc, clint, sswi, plic, uart, spare-uart, \
                     fabric, virtio-mmio-0 to virtio-mmio-7",
                    table.name
                );
                return Err(fail(span, reason));
            };
            if devices.iter().any(|(other, _)| other.kind == kind) {
                return Err(fail(
                    span,
                    format!("device `{}` is there twice", table.name),
                ));
            }
            if table
                .address
                .checked_add(table.size)
                .is_none_or(|end| end > memory.base)
            {
                let reason = format!(
                    "device `{}` must end below memory at {:#x}",
                    table.name, memory.base
                );
                return Err(fail(span, reason));
            }
            if let Some(source) = table
                .interrupts
                .iter()
                .find(|source| !(1..=1023).contains(*source))
            {
                let reason = format!(
                    "`interrupts` of device `{}` must be 1 to 1023, not {source}",
                    table.name
                );
                return Err(fail(span, reason));
            }
            let DeviceTable {
                name,
                address,
                size,
                interrupts,
            } = table;
            devices.push((
                Device {
                    kind,
                    name,
                    address,
                    size,
                    interrupts,
                },
                span,
            ));
        }
        devices.sort_by_key(|(device, _)| device.address);
        for pair in devices.windows(2) {
            let [(one, _), (other, span)] = pair else {
                continue;
            };
            if one.address + one.size > other.address {
                let reason = format!(
                    "devices `{}` and `{}` overlap at {:#x}",
                    one.name, other.name, other.address
                );
                return Err(fail(span.clone(), reason));
            }
        }
        let slots = devices
            .iter()
            .filter(|(device, _)| matches!(device.kind, DeviceKind::Virtio(_)))
            .count();
        for (device, span) in &devices {
            if let DeviceKind::Virtio(slot) = device.kind
                && usize::from(slot) >= slots
            {
                let reason = format!(
                    "device `{}` leaves slots before it out: they are numbered from 0",
                    device.name
                );
                return Err(fail(span.clone(), reason));
            }
            let (address, line) = device.kind.place();
            if device.address != address || device.interrupts.iter().copied().ne(line) {
                let line = line.map_or_else(
                    || "no interrupt".to_owned(),
                    |line| format!("interrupt {line}"),
                );
                let reason = format!(
                    "device `{}` must be at {address:#x} with {line}, where the devicetree says that it is",
                    device.name
                );
                return Err(fail(span.clone(), reason));
            }
        }
        let mut timing = read.board.timing;
        let onchip = read.onchip.map(|table| (table.span(), table.into_inner()));
        match (&onchip, &mut timing.onchip) {
            (Some((span, place)), Some(costs)) => {
                let reason =
                    if !place.address.is_multiple_of(PAGE) || !place.size.is_multiple_of(PAGE) {
                        Some("`address` and `size` must be multiples of 4 KiB".to_owned())
                    } else if place
                        .address
                        .checked_add(place.size)
                        .is_none_or(|end| end > memory.base)
                    {
                        Some(format!(
                            "on-chip memory must end below memory at {:#x}",
                            memory.base
                        ))
                    } else if timing.caches.is_none() || read.board.tiles {
                        Some("on-chip memory needs `[board.timing.caches]`".to_owned())
                    } else {
                        let end = place.address + place.size;
                        let other = devices.iter().find(|(device, _)| {
                            device.address < end && place.address < device.address + device.size
                        });
                        other.map(|(device, _)| {
                            format!(
                                "on-chip memory overlaps device `{}` at {:#x}",
                                device.name,
                                device.address.max(place.address)
                            )
                        })
                    };
                if let Some(reason) = reason {
                    return Err(fail(span.clone(), reason));
                }
                (costs.address, costs.size) = (place.address, place.size);
            }
            (Some((span, _)), None) => {
                let reason = "`[board.timing.onchip]` must say what it costs".to_owned();
                return Err(fail(span.clone(), reason));
            }
            (None, Some(_)) => {
                let reason = "`[board.timing.onchip]` needs `[onchip]`".to_owned();
                return Err(fail(0..0, reason));
            }
            (None, None) => {}
        }
        let pci = match read.pci {
            Some(table) => {
                let mut others: Vec<_> = devices
                    .iter()
                    .map(|(device, _)| {
                        let (base, size) = (device.address, device.size);
                        (device.name.as_str(), Place { base, size })
                    })
                    .collect();
                others.extend(onchip.as_ref().map(|(_, Onchip { address, size })| {
                    let (base, size) = (*address, *size);
                    ("on-chip memory", Place { base, size })
                }));
                if let Some(mistake) = table.get_ref().mistake(memory.base, &others) {
                    return Err(fail(table.span(), mistake));
                }
                let span = table.span();
                let table = table.into_inner();
                let sizes = read.board.iommu.map(Spanned::into_inner);
                if table.iommu.is_some() != sizes.is_some() {
                    let reason = "`[pci.iommu]` and `[board.iommu]` need each other".to_owned();
                    return Err(fail(span, reason));
                }
                Some(Pci {
                    ecam: table.ecam,
                    window: Place {
                        base: table.window,
                        size: table.window_size,
                    },
                    interrupts: table.interrupts,
                    iommu: table.iommu.zip(sizes).map(|(iommu, sizes)| Iommu {
                        address: iommu.address,
                        interrupts: iommu.interrupts,
                        sizes: Sizes {
                            translations: sizes.translations as usize,
                            contexts: sizes.contexts as usize,
                        },
                        bare: false,
                    }),
                })
            }
            None => {
                if let Some(table) = read.board.iommu {
                    let reason = "`[board.iommu]` needs `[pci.iommu]`".to_owned();
                    return Err(fail(table.span(), reason));
                }
                None
            }
        };
        if read.harts.get_ref().first_id != 0 {
            let reason = "`first_id` must be 0: the devicetree numbers harts from there".to_owned();
            return Err(fail(read.harts.span(), reason));
        }
        Ok(Self {
            name: read.name,
            timebase_hz: read.timebase_hz,
            clock_hz: read.board.clock_hz,
            quantum: read.board.quantum,
            fast_quantum: read.board.fast_quantum,
            tiles: read.board.tiles,
            fabric: read.board.fabric,
            harts: read.harts.into_inner(),
            memory: read.memory.into_inner(),
            onchip: onchip.map(|(_, Onchip { address, size })| Place {
                base: address,
                size,
            }),
            devices: devices.into_iter().map(|(device, _)| device).collect(),
            pci,
            timing,
        })
    }

    /// The device of that kind. `None`: the board has none.
    #[must_use]
    pub fn device(&self, kind: DeviceKind) -> Option<&Device> {
        self.devices.iter().find(|device| device.kind == kind)
    }
}
