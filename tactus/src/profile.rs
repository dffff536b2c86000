//! A platform as its profile describes it: harts, memory, firmware, devices.

use serde::{Deserialize, Deserializer};
use tactus_abi::blob;
use tactus_planning::placement::Extent;

use crate::config::{Address, Nanoseconds, Size};

/// The profiles that come with the tool: name and text.
const PROFILES: &[(&str, &str)] = &[
    ("qemu-virt", include_str!("../../profiles/qemu-virt.toml")),
    ("soc", include_str!("../../profiles/soc.toml")),
    ("soc-ocm", include_str!("../../profiles/soc-ocm.toml")),
    ("soc-pci", include_str!("../../profiles/soc-pci.toml")),
    ("mpsoc", include_str!("../../profiles/mpsoc.toml")),
];
/// Name of the device that carries the consoles where a VM has the one of `[console]`.
const SPARE_UART: &str = "spare-uart";
/// The section that is the virtual board's alone, see `tactus_board::profile`.
const BOARD: &str = "board";

const NANOSECONDS_PER_SECOND: u128 = 1_000_000_000;

/// Whether the platform of that name is a board of tiles, on which there is no hypervisor.
pub fn is_of_tiles(name: &str) -> bool {
    tactus_board::profile::Profile::named(name).is_some_and(|profile| profile.tiles)
}

/// The names of the boards of tiles.
pub fn of_tiles() -> impl Iterator<Item = &'static str> {
    tactus_board::profile::Profile::names().filter(|name| is_of_tiles(name))
}

/// A platform.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What `platform` in `system.toml` calls it.
    pub name: String,
    /// Ticks of the `time` CSR per second.
    pub timebase_hz: u32,
    /// Whether devices reach only the memory they are allowed to.
    pub iommu: bool,
    /// What guests are told of the instruction set.
    pub guest_isa: GuestIsa,
    /// Its harts.
    pub harts: Harts,
    /// Its memory.
    pub memory: Memory,
    /// Its memory on the chip.
    pub onchip: Option<Block>,
    /// Its PCI host.
    pub pci: Option<Pci>,
    /// What the firmware keeps.
    pub firmware: Block,
    /// Its interrupt controller.
    pub plic: Plic,
    /// What carries the consoles.
    pub console: Console,
    /// Bytes of a way of the last cache before memory, which is indexed by physical address; by default that of the
    /// board's second-level cache. `None`: there is no such cache.
    #[serde(default, deserialize_with = "some_size")]
    pub cache_way: Option<Size>,
    /// What the hypervisor itself takes there.
    pub overheads: Overheads,
    /// Its devices, by address.
    #[serde(rename = "device")]
    pub devices: Vec<Device>,
}

/// What guests are told of the instruction set, in the words of the devicetree binding `riscv/extensions.yaml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestIsa {
    /// `riscv,isa-base`.
    pub base: String,
    /// `riscv,isa-extensions`.
    pub extensions: Vec<String>,
    /// `mmu-type`.
    pub mmu: String,
}

/// How many harts there are.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Harts {
    /// Harts of a system that does not say.
    pub default: u32,
    /// Most harts the platform has.
    pub max: u32,
    /// `mhartid` of the first; the others follow without gaps.
    pub first_id: u64,
    /// What the board's harts have beyond the instruction set of all boards: the board reads it.
    #[serde(default)]
    pub extensions: Vec<String>,
}

/// How much memory there is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// First address.
    #[serde(deserialize_with = "address")]
    pub base: Address,
    /// Memory of a system that does not say.
    #[serde(deserialize_with = "size")]
    pub default: Size,
    /// Most memory the platform has.
    #[serde(deserialize_with = "size")]
    pub max: Size,
}

/// A range of addresses.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// First address.
    #[serde(deserialize_with = "address")]
    pub address: Address,
    /// Bytes.
    #[serde(deserialize_with = "size")]
    pub size: Size,
}

impl Block {
    /// Its addresses.
    pub const fn extent(&self) -> Extent {
        Extent::new(self.address.0, self.size.0)
    }
}

/// The interrupt controller.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plic {
    /// First address.
    #[serde(deserialize_with = "address")]
    pub address: Address,
    /// Context of the first hart's supervisor level.
    pub first_context: u32,
    /// Distance between the supervisor contexts of one hart and the next.
    pub contexts_per_hart: u32,
}

impl Plic {
    /// The context of the supervisor level of the `index`-th hart.
    pub const fn supervisor_context(&self, index: u32) -> u32 {
        self.first_context + index * self.contexts_per_hart
    }
}

/// The PCI host. No VM is given what is at its addresses: they are no devices of the platform.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pci {
    /// Configuration spaces of bus 0.
    #[serde(deserialize_with = "address")]
    pub ecam: Address,
    /// First address at which functions' registers can be put.
    #[serde(deserialize_with = "address")]
    pub window: Address,
    /// Bytes from there on.
    #[serde(deserialize_with = "size")]
    pub window_size: Size,
    /// PLIC sources of INTA to INTD of device 0.
    pub interrupts: [u32; 4],
    /// The IOMMU that all functions are behind.
    pub iommu: Option<PciIommu>,
}

/// An IOMMU between PCI functions and memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PciIommu {
    /// Its registers.
    #[serde(deserialize_with = "address")]
    pub address: Address,
    /// PLIC sources of its wires.
    pub interrupts: Vec<u32>,
}

/// What carries the consoles.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Console {
    /// Name of a 16550 among the devices.
    pub device: String,
    /// Its PLIC source.
    pub interrupt: u32,
}

/// What the hypervisor itself takes on a platform: measured worst cases.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overheads {
    /// Added to the budget of every job.
    #[serde(deserialize_with = "time")]
    pub job: Nanoseconds,
    /// The longest time between two checks for more urgent work.
    #[serde(deserialize_with = "time")]
    pub blocking: Nanoseconds,
    /// How often at most it interrupts a real-time vCPU for best-effort ones.
    #[serde(deserialize_with = "time")]
    pub service_period: Nanoseconds,
    /// How long that takes.
    #[serde(deserialize_with = "time")]
    pub service: Nanoseconds,
    /// The longest interruption of a real-time vCPU by a signal for another one, from another hart or from a device.
    #[serde(deserialize_with = "time")]
    pub interrupt: Nanoseconds,
    /// Of each of these, what is before the first and after the last reading of the clock: a vCPU with a budget is not
    /// charged for it. The longest way out of a guest and into one.
    #[serde(deserialize_with = "time")]
    pub way: Nanoseconds,
    /// The longest that a vCPU gets its hart ahead of its deadline: what it may take to bring it there, and its lines.
    /// None: vCPUs get their harts at their deadlines on this platform.
    #[serde(default, deserialize_with = "some_time")]
    pub lead: Option<Nanoseconds>,
    /// For so long before that nothing is begun for best-effort vCPUs there: no single thing takes longer.
    #[serde(default, deserialize_with = "some_time")]
    pub guard: Option<Nanoseconds>,
    /// What is known of how they were measured.
    pub measured: Option<Measured>,
}

/// How the overheads of a platform were measured: the longest that was seen of each, in cycles of the harts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// How.
    pub how: String,
    /// When, as a date.
    pub when: Option<String>,
    /// Of [`Overheads::job`].
    pub job_cycles: Option<u64>,
    /// Of [`Overheads::blocking`].
    pub blocking_cycles: Option<u64>,
    /// Of [`Overheads::service`].
    pub service_cycles: Option<u64>,
    /// Of [`Overheads::interrupt`].
    pub interrupt_cycles: Option<u64>,
    /// What the longest stretch without a look would take, were each line that it touches read from memory at the
    /// greatest cost: [`Overheads::blocking`] is no less than this and an interrupt.
    pub cold_stretch_cycles: Option<u64>,
}

/// A device, or another range of addresses that is not memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// What messages call it.
    pub name: String,
    /// `compatible` in a guest's devicetree.
    #[serde(default)]
    pub compatible: Vec<String>,
    /// `clock-frequency` in a guest's devicetree.
    pub clock_frequency: Option<u32>,
    /// First address.
    #[serde(deserialize_with = "address")]
    pub address: Address,
    /// Bytes.
    #[serde(deserialize_with = "size")]
    pub size: Size,
    /// Its PLIC sources.
    #[serde(default)]
    pub interrupts: Vec<u32>,
    /// It reads and writes memory by itself.
    #[serde(default)]
    pub bus_master: bool,
    /// Why no VM gets it.
    pub kept: Option<String>,
}

impl Device {
    /// Its addresses.
    pub const fn extent(&self) -> Extent {
        Extent::new(self.address.0, self.size.0)
    }
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Address, D::Error> {
    u64::deserialize(deserializer).map(Address)
}

pub(crate) fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Size, D::Error> {
    let text = String::deserialize(deserializer)?;
    Size::from_text(&text).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is no size")))
}

fn some_size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Size>, D::Error> {
    size(deserializer).map(Some)
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Nanoseconds, D::Error> {
    let text = String::deserialize(deserializer)?;
    Nanoseconds::from_text(&text)
        .ok_or_else(|| serde::de::Error::custom(format!("`{text}` is no time")))
}

fn some_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Nanoseconds>, D::Error> {
    time(deserializer).map(Some)
}

/// Bytes of a way of the board's second-level cache, if it has one.
fn way_of_board(board: &toml::Value) -> Option<Size> {
    let cache = board.get("timing")?.get("caches")?.get("l2")?;
    let size = Size::from_text(cache.get("size")?.as_str()?)?;
    let ways = u64::try_from(cache.get("ways")?.as_integer()?).ok()?;
    size.0.checked_div(ways).map(Size)
}

impl Profile {
    /// The names of all profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PROFILES.iter().map(|(name, _)| *name)
    }

    /// The text of the profile of that name. `None`: there is none.
    pub fn text(name: &str) -> Option<&'static str> {
        let mut all = PROFILES.iter();
        all.find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// The profile of that name. `None`: there is none.
    ///
    /// # Panics
    /// The profile within the tool is not one; a test reads them all.
    pub fn named(name: &str) -> Option<Self> {
        let (name, text) = PROFILES.iter().find(|(known, _)| *known == name)?;
        let file = format!("profiles/{name}.toml");
        let whole = tactus_board::profile::table(&file, text);
        let mut table = whole.unwrap_or_else(|error| panic!("within the tool: {error}"));
        let board = table.remove(BOARD);
        let mut profile: Self = table
            .try_into()
            .unwrap_or_else(|error| panic!("profile {name} within the tool: {error}"));
        let of_board = || board.as_ref().and_then(way_of_board);
        profile.cache_way = profile.cache_way.or_else(of_board);
        Some(profile)
    }

    /// Ticks of the `time` CSR that pass within a time: whole ones.
    pub fn ticks_within(&self, time: Nanoseconds) -> u64 {
        let ticks = u128::from(time.0) * u128::from(self.timebase_hz) / NANOSECONDS_PER_SECOND;
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    /// Ticks of the `time` CSR that a time fits into: rounded up.
    pub fn ticks_for(&self, time: Nanoseconds) -> u64 {
        let product = u128::from(time.0) * u128::from(self.timebase_hz);
        u64::try_from(product.div_ceil(NANOSECONDS_PER_SECOND)).unwrap_or(u64::MAX)
    }

    /// How long a vCPU may have its hart ahead of its time, in ticks: the longest lead, and the guard before it.
    pub fn ahead_ticks(&self) -> u64 {
        let own = [self.overheads.lead, self.overheads.guard];
        own.into_iter()
            .flatten()
            .map(|time| self.ticks_for(time))
            .sum()
    }

    /// What the hypervisor itself takes, in ticks, with so many interrupts in each deferral period beside its deferred
    /// work, and `ahead` of each job. A period counts as shorter, all else as longer.
    pub fn overhead_ticks(&self, interrupts: u64, ahead: u64) -> blob::Overheads {
        blob::Overheads {
            job: self.ticks_for(self.overheads.job) + ahead,
            blocking: self.ticks_for(self.overheads.blocking),
            service_period: self.ticks_within(self.overheads.service_period),
            service: self.ticks_for(self.overheads.service)
                + interrupts * self.ticks_for(self.overheads.interrupt),
            release: self.ticks_for(self.overheads.interrupt),
        }
    }

    /// The device of that name.
    pub fn device(&self, name: &str) -> Option<&Device> {
        self.devices.iter().find(|device| device.name == name)
    }

    /// The UART that carries the consoles where a VM has the one of `[console]`. `None`: nothing does but the firmware.
    pub fn spare_uart(&self) -> Option<&Device> {
        self.device(SPARE_UART)
    }

    /// First address of the boot image: where the firmware enters it.
    pub const fn image_base(&self) -> u64 {
        self.firmware.extent().end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_read_and_makes_sense() {
        for name in Profile::names() {
            let profile = Profile::named(name).expect("a listed profile");
            assert_eq!(profile.name, name);
            assert!(profile.harts.default <= profile.harts.max);
            assert!(profile.memory.default <= profile.memory.max);
            assert!(profile.image_base().is_multiple_of(0x20_0000));
            let console = profile.device(&profile.console.device).expect("a console");
            assert!(console.interrupts.contains(&profile.console.interrupt));
            assert!(console.kept.is_none());
            if let Some(spare) = profile.spare_uart() {
                assert_eq!((spare.interrupts.len(), spare.kept.is_some()), (1, true));
            }
            for pair in profile.devices.windows(2) {
                assert!(
                    pair[0].extent().end <= pair[1].extent().start,
                    "{} and {}",
                    pair[0].name,
                    pair[1].name
                );
            }
            for device in &profile.devices {
                assert!(
                    device.extent().end <= profile.memory.base.0,
                    "{}",
                    device.name
                );
            }
            let plic = profile.device("plic").expect("a PLIC");
            assert_eq!(plic.address, profile.plic.address);
            assert!(plic.kept.is_some());
            // What is stated is no less than what was measured.
            let stated = &profile.overheads;
            let clock = tactus_board::profile::Profile::named(name).map(|board| board.clock_hz);
            let measured = stated.measured.as_ref().expect("how they were measured");
            for (cycles, stated) in [
                (measured.job_cycles, stated.job),
                (measured.blocking_cycles, stated.blocking),
                (measured.service_cycles, stated.service),
                (measured.interrupt_cycles, stated.interrupt),
                (
                    measured.cold_stretch_cycles,
                    Nanoseconds(stated.blocking.0 - stated.interrupt.0),
                ),
            ] {
                let nanoseconds = cycles.zip(clock).map(|(cycles, hz)| {
                    u128::from(cycles) * NANOSECONDS_PER_SECOND / u128::from(hz)
                });
                assert!(nanoseconds <= Some(u128::from(stated.0)) || cycles.is_none());
            }
            // The hypervisor's work for others leaves most of a hart.
            let overheads = profile.overhead_ticks(4, profile.ahead_ticks());
            assert!(overheads.service * 4 < overheads.service_period);
        }
    }
}
