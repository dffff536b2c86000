//! The board's devicetree: what firmware and operating systems learn of it. It is that of QEMU's `virt` machine as far
//! as the board has the same.
//!
//! Bindings: Devicetree Specification 0.4; of Linux: `riscv/cpus.yaml`, `riscv/extensions.yaml`,
//! `timer/sifive,clint.yaml`, `interrupt-controller/sifive,plic-1.0.0.yaml`, `serial/8250.yaml`,
//! `rtc/google,goldfish-rtc.yaml`, `pci/host-generic-pci.yaml`, `iommu/riscv,iommu.yaml`, `sram/sram.yaml`,
//! `virtio/mmio.yaml`, `power/reset/syscon-poweroff.yaml` and `syscon-reboot.yaml`.

use crate::devices::map;
use crate::devices::pci::INTERRUPTS;
use crate::privileged::Extensions;
use vm_fdt::FdtWriter;

/// Local interrupts of a hart, by their numbers in `mip`.
const SUPERVISOR_SOFTWARE: u32 = 1;
const SUPERVISOR_EXTERNAL: u32 = 9;
const MACHINE_SOFTWARE: u32 = 3;
const MACHINE_TIMER: u32 = 7;
const MACHINE_EXTERNAL: u32 = 11;

/// Phandles; those of the harts' interrupt controllers follow, then those of the harts.
const PLIC: u32 = 1;
const FINISHER: u32 = 2;
const SHARED_CACHE: u32 = 3;
const FIRST_CONTROLLER: u32 = 4;

/// Why a board has no devicetree.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The description makes no sense.
    #[error("the devicetree: {0}")]
    Description(String),
    /// A name or a text that the format does not hold.
    #[error("the devicetree cannot be written: {0}")]
    Format(#[from] vm_fdt::Error),
}

/// A range of physical addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first address.
    pub base: u64,
    /// How many bytes.
    pub size: u64,
}

impl Range {
    /// The range of `size` bytes from `base` on.
    #[must_use]
    pub const fn new(base: u64, size: u64) -> Self {
        Self { base, size }
    }
}

/// A cache. All figures are powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// Bytes in all.
    pub size: u32,
    /// Bytes of a line.
    pub line: u32,
    /// Sets.
    pub sets: u32,
}

/// The caches that software is told of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caches {
    /// Each hart's instruction cache.
    pub instruction: Option<Cache>,
    /// Each hart's data cache.
    pub data: Option<Cache>,
    /// The second-level cache that all harts share.
    pub shared: Option<Cache>,
}

/// A device beyond those that every board has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// The node's name, without its address: letters, digits, and `,._+-`.
    pub name: String,
    /// `compatible`: the most specific first.
    pub compatible: Vec<String>,
    /// Its registers; the first address is the node's.
    pub ranges: Vec<Range>,
    /// Its interrupt lines.
    pub interrupts: Vec<u32>,
    /// `clock-frequency`, in hertz.
    pub clock_hz: Option<u32>,
}

/// A PCI host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pci {
    /// Configuration spaces of bus 0.
    pub ecam: Range,
    /// Where functions' registers can be put, below 4 GiB.
    pub window: Range,
    /// The lines of INTA to INTD of device 0.
    pub interrupts: [u32; INTERRUPTS],
    /// The IOMMU that all functions are behind: its registers, and its lines.
    pub iommu: Option<(Range, Vec<u32>)>,
}

/// The content of the devicetree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Harts, numbered from 0; at least 1.
    pub harts: u32,
    /// The base instruction set: `rv64i`.
    pub isa_base: String,
    /// The extensions, in the order of the ISA string: single letters first.
    pub isa_extensions: Vec<String>,
    /// Bytes of a cache block: what the extensions Zicbom, Zicbop and Zicboz work on.
    pub cache_block: u32,
    /// `mmu-type`: `riscv,sv39` or `riscv,sv48`.
    pub mmu: String,
    /// Ticks a second of the `time` CSR.
    pub timebase_hz: u32,
    /// Caches.
    pub caches: Caches,
    /// Main memory.
    pub memory: Range,
    /// Memory on the chip, which is no part of the main memory.
    pub onchip: Option<Range>,
    /// The kernel's command line.
    pub bootargs: Option<String>,
    /// Where an initial RAM disk lies.
    pub initrd: Option<Range>,
    /// Entropy for the kernel; [`rng_seed`] makes it of the board's seed.
    pub rng_seed: Option<[u8; 32]>,
    /// Whether there are software interrupts of the supervisor levels.
    pub sswi: bool,
    /// Whether there is a spare serial line, which then is the firmware's console.
    pub spare_uart: bool,
    /// How many sources the PLIC has, counting source 0.
    pub plic_sources: u32,
    /// How many virtio transports there are, at most [`map::VIRTIO_SLOTS`].
    pub virtio_slots: u32,
    /// The PCI host.
    pub pci: Option<Pci>,
    /// More devices.
    pub extra: Vec<Extra>,
}

impl Default for Description {
    /// One hart with 128 MiB, as `virt` has without options.
    fn default() -> Self {
        let extensions = [
            "i", "m", "a", "f", "d", "c", "h", "zicntr", "zicsr", "zifencei", "zihpm", "zba",
            "zbb", "zbs", "sstc",
        ];
        Self {
            harts: 1,
            isa_base: "rv64i".into(),
            isa_extensions: extensions.map(String::from).into(),
            cache_block: 64,
            mmu: "riscv,sv48".into(),
            timebase_hz: 10_000_000,
            caches: Caches::default(),
            memory: Range::new(map::MEMORY, 128 << 20),
            onchip: None,
            bootargs: None,
            initrd: None,
            rng_seed: None,
            sswi: false,
            spare_uart: false,
            plic_sources: map::PLIC_SOURCES,
            virtio_slots: map::VIRTIO_SLOTS,
            pci: None,
            extra: Vec::new(),
        }
    }
}

impl Description {
    /// The same with optional extensions of the harts, which work on cache blocks of `block` bytes.
    #[must_use]
    pub fn with(mut self, extensions: Extensions, block: u32) -> Self {
        // In the ISA string they come before all other extensions of several letters.
        let others = |name: &String| name.len() > 1;
        let names = &mut self.isa_extensions;
        let at = names.iter().position(others).unwrap_or(names.len());
        names.splice(at..at, extensions.names().map(String::from));
        self.cache_block = block;
        self
    }
}

/// Entropy for the kernel that is a function of the board's seed.
#[must_use]
pub fn rng_seed(seed: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    let mut random = crate::devices::Random::new(seed ^ 0x726e_672d_7365_6564);
    random.fill(&mut bytes);
    bytes
}

/// The devicetree, flattened.
///
/// # Errors
///
/// When the description has no harts, more transports than there are, a device without a range or with a line that
/// does not exist, or text that the format does not hold.
pub fn blob(description: &Description) -> Result<Vec<u8>, Error> {
    check(description)?;
    let mut fdt = FdtWriter::new()?;
    let root = fdt.begin_node("")?;
    fdt.property_u32("#address-cells", 2)?;
    fdt.property_u32("#size-cells", 2)?;
    fdt.property_string_list("compatible", strings(&["tactus,board", "riscv-virtio"]))?;
    fdt.property_string("model", "tactus,board")?;
    aliases(&mut fdt, description)?;
    chosen(&mut fdt, description)?;
    let memory = description.memory;
    let node = fdt.begin_node(&node_name("memory", memory.base))?;
    fdt.property_string("device_type", "memory")?;
    reg(&mut fdt, &[memory])?;
    fdt.end_node(node)?;
    cpus(&mut fdt, description)?;
    shared_cache(&mut fdt, description)?;
    soc(&mut fdt, description)?;
    power(&mut fdt)?;
    fdt.end_node(root)?;
    Ok(fdt.finish()?)
}

fn check(description: &Description) -> Result<(), Error> {
    let refuse = |reason: String| Err(Error::Description(reason));
    if description.harts == 0 {
        return refuse("a board has at least one hart".into());
    }
    if description.plic_sources == 0 || description.plic_sources as usize > crate::bus::LINES {
        return refuse(format!(
            "a PLIC cannot have {} sources",
            description.plic_sources
        ));
    }
    if description.virtio_slots > map::VIRTIO_SLOTS {
        let (wanted, slots) = (description.virtio_slots, map::VIRTIO_SLOTS);
        return refuse(format!(
            "{wanted} virtio transports, where there is room for {slots}"
        ));
    }
    if let Some(initrd) = description.initrd
        && initrd.base.checked_add(initrd.size).is_none()
    {
        return refuse("the initial RAM disk ends beyond all addresses".into());
    }
    for device in &description.extra {
        let name = &device.name;
        let letter = |c: char| c.is_ascii_alphanumeric() || ",._+-".contains(c);
        if name.is_empty() || !name.chars().all(letter) {
            return refuse(format!("{name:?} cannot be a device's name"));
        }
        if device.ranges.is_empty() {
            return refuse(format!("the device {name} has no range of addresses"));
        }
        let exists = |line: &u32| (1..description.plic_sources).contains(line);
        if let Some(line) = device.interrupts.iter().find(|&line| !exists(line)) {
            return refuse(format!(
                "the device {name} has the interrupt line {line}, which does not exist"
            ));
        }
    }
    Ok(())
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|&s| s.to_owned()).collect()
}

/// A node's name with its first address.
fn node_name(name: &str, address: u64) -> String {
    format!("{name}@{address:x}")
}

/// The node of the serial line that is the firmware's console.
fn console_path(description: &Description) -> String {
    let base = if description.spare_uart {
        map::SPARE_UART
    } else {
        map::UART
    };
    format!("/soc/{}", node_name("serial", base))
}

fn reg(fdt: &mut FdtWriter, ranges: &[Range]) -> Result<(), Error> {
    let cells: Vec<u64> = ranges
        .iter()
        .flat_map(|range| [range.base, range.size])
        .collect();
    Ok(fdt.property_array_u64("reg", &cells)?)
}

/// The `interrupts` of a device, when it has any.
fn interrupts(fdt: &mut FdtWriter, lines: &[u32]) -> Result<(), Error> {
    if lines.is_empty() {
        return Ok(());
    }
    fdt.property_u32("interrupt-parent", PLIC)?;
    Ok(fdt.property_array_u32("interrupts", lines)?)
}

fn aliases(fdt: &mut FdtWriter, description: &Description) -> Result<(), Error> {
    let node = fdt.begin_node("aliases")?;
    fdt.property_string("serial0", &console_path(description))?;
    Ok(fdt.end_node(node)?)
}

fn chosen(fdt: &mut FdtWriter, description: &Description) -> Result<(), Error> {
    let node = fdt.begin_node("chosen")?;
    fdt.property_string("stdout-path", &console_path(description))?;
    if let Some(bootargs) = &description.bootargs {
        fdt.property_string("bootargs", bootargs)?;
    }
    if let Some(initrd) = description.initrd {
        fdt.property_u64("linux,initrd-start", initrd.base)?;
        fdt.property_u64("linux,initrd-end", initrd.base + initrd.size)?;
    }
    if let Some(seed) = &description.rng_seed {
        fdt.property("rng-seed", seed)?;
    }
    Ok(fdt.end_node(node)?)
}

/// `riscv,isa`: the older, single string. Multi-letter extensions follow an underscore each.
fn isa_string(description: &Description) -> String {
    let mut isa = description.isa_base.trim_end_matches('i').to_owned();
    for extension in &description.isa_extensions {
        if extension.len() > 1 {
            isa.push('_');
        }
        isa.push_str(extension);
    }
    isa
}

fn cpus(fdt: &mut FdtWriter, description: &Description) -> Result<(), Error> {
    let node = fdt.begin_node("cpus")?;
    fdt.property_u32("#address-cells", 1)?;
    fdt.property_u32("#size-cells", 0)?;
    fdt.property_u32("timebase-frequency", description.timebase_hz)?;
    let isa = isa_string(description);
    for hart in 0..description.harts {
        let cpu = fdt.begin_node(&node_name("cpu", hart.into()))?;
        fdt.property_string("device_type", "cpu")?;
        fdt.property_u32("reg", hart)?;
        fdt.property_string("status", "okay")?;
        fdt.property_string("compatible", "riscv")?;
        fdt.property_string("riscv,isa", &isa)?;
        fdt.property_string("riscv,isa-base", &description.isa_base)?;
        fdt.property_string_list("riscv,isa-extensions", description.isa_extensions.clone())?;
        block_sizes(fdt, description)?;
        fdt.property_string("mmu-type", &description.mmu)?;
        let caches = &description.caches;
        cache(fdt, "i-cache", caches.instruction)?;
        cache(fdt, "d-cache", caches.data)?;
        if caches.shared.is_some() {
            fdt.property_u32("next-level-cache", SHARED_CACHE)?;
        }
        fdt.property_phandle(FIRST_CONTROLLER + description.harts + hart)?;
        let controller = fdt.begin_node("interrupt-controller")?;
        fdt.property_u32("#address-cells", 0)?;
        fdt.property_u32("#interrupt-cells", 1)?;
        fdt.property_null("interrupt-controller")?;
        fdt.property_string("compatible", "riscv,cpu-intc")?;
        fdt.property_phandle(FIRST_CONTROLLER + hart)?;
        fdt.end_node(controller)?;
        fdt.end_node(cpu)?;
    }
    cpu_map(fdt, description)?;
    Ok(fdt.end_node(node)?)
}

/// `riscv,cbom-block-size` and the like, of the extensions that work on cache blocks.
fn block_sizes(fdt: &mut FdtWriter, description: &Description) -> Result<(), Error> {
    for extension in Extensions::all().names() {
        if description
            .isa_extensions
            .iter()
            .any(|name| name == extension)
        {
            let name = extension.trim_start_matches("zi");
            fdt.property_u32(&format!("riscv,{name}-block-size"), description.cache_block)?;
        }
    }
    Ok(())
}

/// All harts are cores of one cluster.
fn cpu_map(fdt: &mut FdtWriter, description: &Description) -> Result<(), Error> {
    let map = fdt.begin_node("cpu-map")?;
    let cluster = fdt.begin_node("cluster0")?;
    for hart in 0..description.harts {
        let core = fdt.begin_node(&format!("core{hart}"))?;
        fdt.property_u32("cpu", FIRST_CONTROLLER + description.harts + hart)?;
        fdt.end_node(core)?;
    }
    fdt.end_node(cluster)?;
    Ok(fdt.end_node(map)?)
}

fn cache(fdt: &mut FdtWriter, kind: &str, cache: Option<Cache>) -> Result<(), Error> {
    let Some(cache) = cache else {
        return Ok(());
    };
    fdt.property_u32(&format!("{kind}-size"), cache.size)?;
    fdt.property_u32(&format!("{kind}-block-size"), cache.line)?;
    fdt.property_u32(&format!("{kind}-sets"), cache.sets)?;
    Ok(())
}

fn shared_cache(fdt: &mut FdtWriter, description: &Description) -> Result<(), Error> {
    if description.caches.shared.is_none() {
        return Ok(());
    }
    let node = fdt.begin_node("l2-cache")?;
    fdt.property_string("compatible", "cache")?;
    fdt.property_u32("cache-level", 2)?;
    fdt.property_null("cache-unified")?;
    cache(fdt, "cache", description.caches.shared)?;
    fdt.property_phandle(SHARED_CACHE)?;
    Ok(fdt.end_node(node)?)
}

fn soc(fdt: &mut FdtWriter, description: &Description) -> Result<(), Error> {
    let node = fdt.begin_node("soc")?;
    fdt.property_u32("#address-cells", 2)?;
    fdt.property_u32("#size-cells", 2)?;
    fdt.property_string("compatible", "simple-bus")?;
    fdt.property_null("ranges")?;
    finisher(fdt)?;
    rtc(fdt)?;
    clint(fdt, description)?;
    if description.sswi {
        sswi(fdt, description)?;
    }
    plic(fdt, description)?;
    uart(fdt, map::UART, map::UART_LINE)?;
    if description.spare_uart {
        uart(fdt, map::SPARE_UART, map::SPARE_UART_LINE)?;
    }
    virtio(fdt, description)?;
    if let Some(host) = &description.pci {
        pci(fdt, description, host)?;
    }
    if let Some(place) = description.onchip {
        onchip(fdt, place)?;
    }
    for device in &description.extra {
        extra(fdt, device)?;
    }
    Ok(fdt.end_node(node)?)
}

/// Memory that an operating system does not take for its own (`sram/sram.yaml`).
fn onchip(fdt: &mut FdtWriter, place: Range) -> Result<(), Error> {
    let node = fdt.begin_node(&node_name("sram", place.base))?;
    fdt.property_string("compatible", "mmio-sram")?;
    reg(fdt, &[place])?;
    fdt.property_u32("#address-cells", 2)?;
    fdt.property_u32("#size-cells", 2)?;
    fdt.property_array_u64("ranges", &[0, place.base, place.size])?;
    Ok(fdt.end_node(node)?)
}

fn finisher(fdt: &mut FdtWriter) -> Result<(), Error> {
    let node = fdt.begin_node(&node_name("test", map::FINISHER))?;
    fdt.property_string_list(
        "compatible",
        strings(&["sifive,test1", "sifive,test0", "syscon"]),
    )?;
    reg(fdt, &[Range::new(map::FINISHER, map::FINISHER_SIZE)])?;
    fdt.property_phandle(FINISHER)?;
    Ok(fdt.end_node(node)?)
}

/// Power-off and reset through the finisher.
fn power(fdt: &mut FdtWriter) -> Result<(), Error> {
    for (name, compatible, value) in [
        ("poweroff", "syscon-poweroff", 0x5555),
        ("reboot", "syscon-reboot", 0x7777),
    ] {
        let node = fdt.begin_node(name)?;
        fdt.property_string("compatible", compatible)?;
        fdt.property_u32("regmap", FINISHER)?;
        fdt.property_u32("offset", 0)?;
        fdt.property_u32("value", value)?;
        fdt.end_node(node)?;
    }
    Ok(())
}

fn rtc(fdt: &mut FdtWriter) -> Result<(), Error> {
    let node = fdt.begin_node(&node_name("rtc", map::RTC))?;
    fdt.property_string("compatible", "google,goldfish-rtc")?;
    reg(fdt, &[Range::new(map::RTC, map::RTC_SIZE)])?;
    interrupts(fdt, &[map::RTC_LINE])?;
    Ok(fdt.end_node(node)?)
}

/// The wires to all harts: two local interrupts each.
fn wires(fdt: &mut FdtWriter, description: &Description, local: [u32; 2]) -> Result<(), Error> {
    let cells: Vec<u32> = (FIRST_CONTROLLER..FIRST_CONTROLLER + description.harts)
        .flat_map(|controller| [controller, local[0], controller, local[1]])
        .collect();
    Ok(fdt.property_array_u32("interrupts-extended", &cells)?)
}

fn clint(fdt: &mut FdtWriter, description: &Description) -> Result<(), Error> {
    let node = fdt.begin_node(&node_name("clint", map::CLINT))?;
    fdt.property_string_list("compatible", strings(&["sifive,clint0", "riscv,clint0"]))?;
    reg(fdt, &[Range::new(map::CLINT, map::CLINT_SIZE)])?;
    wires(fdt, description, [MACHINE_SOFTWARE, MACHINE_TIMER])?;
    Ok(fdt.end_node(node)?)
}

/// As QEMU's `virt` with `aclint=on` describes it.
fn sswi(fdt: &mut FdtWriter, description: &Description) -> Result<(), Error> {
    let node = fdt.begin_node(&node_name("sswi", map::SSWI))?;
    fdt.property_string("compatible", "riscv,aclint-sswi")?;
    reg(fdt, &[Range::new(map::SSWI, map::SSWI_SIZE)])?;
    fdt.property_null("interrupt-controller")?;
    fdt.property_u32("#interrupt-cells", 0)?;
    let cells: Vec<u32> = (FIRST_CONTROLLER..FIRST_CONTROLLER + description.harts)
        .flat_map(|controller| [controller, SUPERVISOR_SOFTWARE])
        .collect();
    fdt.property_array_u32("interrupts-extended", &cells)?;
    Ok(fdt.end_node(node)?)
}

fn plic(fdt: &mut FdtWriter, description: &Description) -> Result<(), Error> {
    let node = fdt.begin_node(&node_name("plic", map::PLIC))?;
    fdt.property_string_list("compatible", strings(&["sifive,plic-1.0.0", "riscv,plic0"]))?;
    reg(fdt, &[Range::new(map::PLIC, map::PLIC_SIZE)])?;
    fdt.property_u32("#address-cells", 0)?;
    fdt.property_u32("#interrupt-cells", 1)?;
    fdt.property_null("interrupt-controller")?;
    fdt.property_u32("riscv,ndev", description.plic_sources - 1)?;
    wires(fdt, description, [MACHINE_EXTERNAL, SUPERVISOR_EXTERNAL])?;
    fdt.property_phandle(PLIC)?;
    Ok(fdt.end_node(node)?)
}

fn uart(fdt: &mut FdtWriter, base: u64, line: u32) -> Result<(), Error> {
    let node = fdt.begin_node(&node_name("serial", base))?;
    fdt.property_string("compatible", "ns16550a")?;
    reg(fdt, &[Range::new(base, map::UART_SIZE)])?;
    fdt.property_u32("clock-frequency", map::UART_CLOCK_HZ)?;
    interrupts(fdt, &[line])?;
    Ok(fdt.end_node(node)?)
}

fn virtio(fdt: &mut FdtWriter, description: &Description) -> Result<(), Error> {
    for slot in 0..description.virtio_slots {
        let base = map::VIRTIO + u64::from(slot) * map::VIRTIO_SIZE;
        let node = fdt.begin_node(&node_name("virtio_mmio", base))?;
        fdt.property_string("compatible", "virtio,mmio")?;
        reg(fdt, &[Range::new(base, map::VIRTIO_SIZE)])?;
        interrupts(fdt, &[map::VIRTIO_LINE + slot])?;
        fdt.end_node(node)?;
    }
    Ok(())
}

/// As QEMU's `virt` describes its host (`pci/host-generic-pci.yaml`, `iommu/riscv,iommu.yaml`).
fn pci(fdt: &mut FdtWriter, description: &Description, host: &Pci) -> Result<(), Error> {
    // The phandles behind those of the harts.
    let iommu = FIRST_CONTROLLER + 2 * description.harts;
    if let Some((registers, lines)) = &host.iommu {
        let node = fdt.begin_node(&node_name("iommu", registers.base))?;
        fdt.property_string("compatible", "riscv,iommu")?;
        reg(fdt, &[*registers])?;
        interrupts(fdt, lines)?;
        fdt.property_u32("#iommu-cells", 1)?;
        fdt.property_phandle(iommu)?;
        fdt.end_node(node)?;
    }
    let node = fdt.begin_node(&node_name("pci", host.ecam.base))?;
    fdt.property_string("compatible", "pci-host-ecam-generic")?;
    fdt.property_string("device_type", "pci")?;
    fdt.property_u32("#address-cells", 3)?;
    fdt.property_u32("#size-cells", 2)?;
    fdt.property_u32("#interrupt-cells", 1)?;
    fdt.property_u32("linux,pci-domain", 0)?;
    fdt.property_array_u32("bus-range", &[0, 0])?;
    fdt.property_null("dma-coherent")?;
    reg(fdt, &[host.ecam])?;
    // Memory of 32 bits, at the same addresses on the bus.
    let window = host.window;
    let ranges = [
        [0x200_0000, 0].as_slice(),
        &halves(window.base)[1..],
        &halves(window.base),
        &halves(window.size),
    ];
    fdt.property_array_u32("ranges", &ranges.concat())?;
    if host.iommu.is_some() {
        fdt.property_array_u32("iommu-map", &[0, iommu, 0, 0x1_0000])?;
    }
    // By the lowest bits of the device number, and the pin.
    fdt.property_array_u32("interrupt-map-mask", &[0x1800, 0, 0, 7])?;
    let lines = INTERRUPTS as u32;
    let map: Vec<u32> = (0..lines)
        .flat_map(|device| (0..lines).map(move |pin| (device, pin)))
        .flat_map(|(device, pin)| {
            let line = host.interrupts[((device + pin) % lines) as usize];
            [device << 11, 0, 0, pin + 1, PLIC, line]
        })
        .collect();
    fdt.property_array_u32("interrupt-map", &map)?;
    Ok(fdt.end_node(node)?)
}

/// The two cells of a number of 64 bits.
const fn halves(number: u64) -> [u32; 2] {
    [(number >> 32) as u32, number as u32]
}

fn extra(fdt: &mut FdtWriter, device: &Extra) -> Result<(), Error> {
    let node = fdt.begin_node(&node_name(&device.name, device.ranges[0].base))?;
    if !device.compatible.is_empty() {
        fdt.property_string_list("compatible", device.compatible.clone())?;
    }
    reg(fdt, &device.ranges)?;
    if let Some(hertz) = device.clock_hz {
        fdt.property_u32("clock-frequency", hertz)?;
    }
    interrupts(fdt, &device.interrupts)?;
    Ok(fdt.end_node(node)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_boards_are_refused() {
        let device = |name: &str, ranges: &[Range], interrupts: &[u32]| Extra {
            name: name.into(),
            ranges: ranges.into(),
            interrupts: interrupts.into(),
            ..Extra::default()
        };
        let range = [Range::new(0x4000_0000, 0x1000)];
        for (change, reason) in [
            (
                (|description: &mut Description| description.harts = 0) as fn(&mut Description),
                "at least one hart",
            ),
            (
                |description| description.virtio_slots = 9,
                "9 virtio transports",
            ),
            (
                |description| description.plic_sources = 1025,
                "1025 sources",
            ),
            (
                |description| description.initrd = Some(Range::new(u64::MAX, 2)),
                "RAM disk",
            ),
            (
                |description| description.bootargs = Some("a\0b".into()),
                "cannot be written",
            ),
        ] {
            let mut description = Description::default();
            change(&mut description);
            let text = blob(&description).expect_err(reason).to_string();
            assert!(text.contains(reason), "{text}");
        }
        for (extra, reason) in [
            (device("a/b", &range, &[]), "\"a/b\""),
            (device("", &range, &[]), "\"\""),
            (device("fabric", &[], &[]), "no range"),
            (device("fabric", &range, &[96]), "line 96"),
            (device("fabric", &range, &[0]), "line 0"),
        ] {
            let description = Description {
                extra: vec![extra],
                ..Description::default()
            };
            let text = blob(&description).expect_err(reason).to_string();
            assert!(text.contains(reason), "{text}");
        }
    }

    #[test]
    fn the_seed_for_the_kernel_is_the_board_s() {
        assert_eq!(rng_seed(1), rng_seed(1));
        assert_ne!(rng_seed(1), rng_seed(2));
    }
}
