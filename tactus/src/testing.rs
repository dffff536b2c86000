//! What tests and fuzz targets share: small ELF files, and what must hold for any description and any blob.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use miette::{GraphicalReportHandler, GraphicalTheme};
use tactus_abi::blob::{self, Blob, Header, checksum, onchip};
use tactus_abi::map::PAGE_SIZE;
use tactus_planning::colours::Colours;
use tactus_planning::placement::Extent;
use tempfile::TempDir;
use zerocopy::IntoBytes;

use crate::artifacts::{Artifacts, HYPERVISORS};
use crate::check::{Answer, Guarantee, Verdict, of_tiles, report, verdict};
use crate::config::{At, Config, FileName, Source};
use crate::hypervisor::BLOB_SYMBOL;
use crate::image::blob::region_of;
use crate::image::build;
use crate::plan::{self, Plan, Tiles};
use crate::problem::Weight;
use crate::profile;
use crate::run::board::cable::Message;

/// Where the firmware enters a boot image on `qemu-virt`.
pub const BASE: u64 = 0x8020_0000;
/// Where that of a tile does.
const TILE: u64 = 0x8000_0000;

/// What an ELF file shall contain; by default the smallest guest: one instruction at 0x8020_0000.
#[derive(Clone, Debug)]
pub struct ElfFile {
    /// `e_type`: 2 is an executable.
    pub kind: u16,
    /// `e_machine`: 243 is RISC-V.
    pub machine: u16,
    /// `e_entry`.
    pub entry: u64,
    /// Loadable segments: virtual and physical address, contents, bytes in memory.
    pub segments: Vec<(u64, u64, Vec<u8>, u64)>,
    /// Symbols: name and value.
    pub symbols: Vec<(String, u64)>,
}

impl Default for ElfFile {
    fn default() -> Self {
        Self {
            kind: 2,
            machine: 243,
            entry: 0x8020_0000,
            segments: vec![(0x8020_0000, 0x8020_0000, b"\x73\0\x50\x10".to_vec(), 4)],
            symbols: Vec::new(),
        }
    }
}

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const SECTION_HEADER: usize = 64;
const SYMBOL: usize = 24;

/// The bytes of a 64-bit little-endian ELF file.
pub fn elf_file(file: &ElfFile) -> Vec<u8> {
    let mut strings = vec![0u8];
    let mut symbols = vec![0u8; SYMBOL];
    for (name, value) in &file.symbols {
        symbols.extend((strings.len() as u32).to_le_bytes());
        // STB_GLOBAL, STT_NOTYPE, default visibility, SHN_ABS.
        symbols.extend([0x10, 0, 0xf1, 0xff]);
        symbols.extend(value.to_le_bytes());
        symbols.extend(0u64.to_le_bytes());
        strings.extend(name.as_bytes());
        strings.push(0);
    }
    let mut contents = HEADER + PROGRAM_HEADER * file.segments.len();
    let data: usize = file.segments.iter().map(|s| s.2.len()).sum();
    let symbols_at = contents + data;
    let strings_at = symbols_at + symbols.len();
    let sections_at = strings_at + strings.len();

    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(16, 0);
    bytes.extend(file.kind.to_le_bytes());
    bytes.extend(file.machine.to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(file.entry.to_le_bytes());
    bytes.extend((HEADER as u64).to_le_bytes());
    bytes.extend((sections_at as u64).to_le_bytes());
    bytes.extend(0u32.to_le_bytes());
    for field in [
        HEADER,
        PROGRAM_HEADER,
        file.segments.len(),
        SECTION_HEADER,
        3,
        2,
    ] {
        bytes.extend((field as u16).to_le_bytes());
    }
    for (virtual_address, physical_address, data, memory_size) in &file.segments {
        // PT_LOAD, readable, writable and executable.
        bytes.extend(1u32.to_le_bytes());
        bytes.extend(7u32.to_le_bytes());
        for field in [
            contents as u64,
            *virtual_address,
            *physical_address,
            data.len() as u64,
            *memory_size,
            1,
        ] {
            bytes.extend(field.to_le_bytes());
        }
        contents += data.len();
    }
    for (_, _, data, _) in &file.segments {
        bytes.extend(data);
    }
    bytes.extend(&symbols);
    bytes.extend(&strings);
    // The null section, SHT_SYMTAB linked to the next one, SHT_STRTAB.
    for (kind, at, size, link, entry) in [
        (0u32, 0, 0, 0u32, 0),
        (2, symbols_at, symbols.len(), 2, SYMBOL),
        (3, strings_at, strings.len(), 0, 0),
    ] {
        bytes.extend(0u32.to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        for field in [0, 0, at as u64, size as u64] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(link.to_le_bytes());
        bytes.extend(1u32.to_le_bytes());
        bytes.extend(1u64.to_le_bytes());
        bytes.extend((entry as u64).to_le_bytes());
    }
    bytes
}

/// A flattened devicetree in the source format (Devicetree Specification 0.4, chapters 5 and 6), one property a
/// line. Values of printable strings are written as such, others as cells.
pub fn devicetree_source(dtb: &[u8]) -> String {
    let cell = |at: usize| {
        let bytes = dtb[at..at + 4].try_into().expect("four bytes");
        u32::from_be_bytes(bytes) as usize
    };
    assert_eq!(cell(0), 0xd00d_feed);
    assert_eq!(cell(4), dtb.len());
    let (mut at, strings) = (cell(8), cell(12));
    let text = |at: usize| {
        let end = dtb[at..]
            .iter()
            .position(|&b| b == 0)
            .expect("a terminator");
        std::str::from_utf8(&dtb[at..at + end]).expect("a string")
    };
    let mut source = String::new();
    let mut depth = 0;
    loop {
        let token = cell(at);
        at += 4;
        let indent = "    ".repeat(depth);
        match token {
            1 => {
                let name = text(at);
                source += &format!("{indent}{name} {{\n");
                at += (name.len() + 1).next_multiple_of(4);
                depth += 1;
            }
            2 => {
                depth -= 1;
                source += &format!("{}}};\n", "    ".repeat(depth));
            }
            3 => {
                let (size, name) = (cell(at), text(strings + cell(at + 4)));
                at += 8;
                source += &format!("{indent}{name}{};\n", value_source(&dtb[at..at + size]));
                at += size.next_multiple_of(4);
            }
            4 => {}
            9 => return source,
            other => panic!("token {other} in the devicetree"),
        }
    }
}

fn value_source(value: &[u8]) -> String {
    let Some((&0, text)) = value.split_last() else {
        return cells_source(value);
    };
    let strings: Vec<_> = text.split(|&b| b == 0).collect();
    let printable = |s: &&[u8]| !s.is_empty() && s.iter().all(|b| (0x20..0x7f).contains(b));
    if !strings.iter().all(printable) {
        return cells_source(value);
    }
    let strings = strings
        .iter()
        .map(|s| format!("{:?}", String::from_utf8_lossy(s)));
    format!(" = {}", strings.collect::<Vec<_>>().join(", "))
}

fn cells_source(value: &[u8]) -> String {
    if value.is_empty() {
        return String::new();
    }
    let cells = value.chunks(4).map(|cell| {
        let bytes = cell.try_into().expect("whole cells");
        format!("{:#x}", u32::from_be_bytes(bytes))
    });
    format!(" = <{}>", cells.collect::<Vec<_>>().join(" "))
}

/// The smallest file that the tool takes for a hypervisor.
pub fn hypervisor_file() -> Vec<u8> {
    elf_file(&ElfFile {
        segments: vec![(BASE, BASE, vec![0x13; 0x100], 0x8000)],
        symbols: vec![(BLOB_SYMBOL.into(), BASE + 0x8000)],
        ..ElfFile::default()
    })
}

/// What a terminal of 100 columns without colours shows of a verdict.
pub fn render(verdict: &Verdict) -> String {
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_width(100)
        .with_links(false);
    let mut text = String::new();
    for problem in &verdict.problems {
        handler.render_report(&mut text, problem).expect("a report");
        text.push('\n');
    }
    text
}

/// Judges and builds any description, with the smallest guest in place of the files it names, and checks what must
/// hold whatever it says.
#[derive(Debug)]
pub struct Bench {
    directory: TempDir,
}

impl Default for Bench {
    fn default() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        for name in HYPERVISORS {
            fs::write(directory.path().join(name), hypervisor_file()).expect("a file");
        }
        let guest = elf_file(&ElfFile::default());
        fs::write(directory.path().join("guest"), guest).expect("a file");
        let tile = elf_file(&ElfFile {
            entry: TILE,
            segments: vec![(TILE, TILE, vec![0x13; 4], 4)],
            ..ElfFile::default()
        });
        fs::write(directory.path().join("tile"), tile).expect("a file");
        Self { directory }
    }
}

impl Bench {
    /// Tells whether the description is accepted.
    ///
    /// # Panics
    /// Something does not hold.
    pub fn try_description(&self, bytes: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return false;
        };
        let mut read = Config::parse(Source::new("any.toml", text.into()), self.directory.path());
        if let Ok((config, _)) = &mut read {
            let platform = config.system.platform.as_ref();
            let is_of_tiles = platform.is_some_and(|name| profile::is_of_tiles(&name.value));
            for vm in &mut config.vms {
                let guest = |name: &At<FileName>| At {
                    value: FileName::Artifact(if is_of_tiles { "tile" } else { "guest" }.into()),
                    span: name.span.clone(),
                };
                vm.image = vm.image.as_ref().map(guest);
                vm.initrd = vm.initrd.as_ref().map(guest);
                for vcpu in &mut vm.vcpus {
                    vcpu.warm = None;
                }
            }
        }
        let artifacts = Artifacts::Directory(self.directory.path().into());
        let verdict = verdict("any.toml".into(), read, &artifacts);
        render(&verdict);
        let refused = verdict
            .problems
            .iter()
            .any(|p| p.kind().weight() != Weight::Warning);
        assert_eq!(
            verdict.plan.is_none() && verdict.tiles.is_none(),
            refused,
            "refused for a reason, or not at all"
        );
        if let Some(guarantee) = &verdict.guarantee {
            report(guarantee);
            if !refused {
                assert_guaranteed(guarantee);
            }
        }
        if let Some(tiles) = &verdict.tiles {
            of_tiles(tiles, &verdict);
            assert_apart(tiles);
        }
        if let Some(plan) = &verdict.plan {
            assert_isolated(plan);
            build(verdict).expect("an image of a plan");
        }
        !refused
    }
}

/// Every real-time vCPU with a reservation has its budget in time, or may be kept from it only by one that the report
/// names.
///
/// # Panics
/// One has not.
pub fn assert_guaranteed(guarantee: &Guarantee) {
    assert!(guarantee.refused.is_empty());
    for vcpu in guarantee.harts.iter().flat_map(|hart| &hart.vcpus) {
        match (&vcpu.answer, vcpu.reservation) {
            (Answer::Within(ticks), Some(times)) => assert!(*ticks <= times.deadline),
            (Answer::Unbounded(_), Some(_)) | (Answer::None, None) => {}
            (answer, times) => panic!("{}: {answer:?} of {times:?}", vcpu.name),
        }
    }
}

/// No tile, and nothing of the devices, is given twice.
///
/// # Panics
/// Something is.
pub fn assert_apart(tiles: &Tiles) {
    for (i, a) in tiles.tiles.iter().enumerate() {
        for b in &tiles.tiles[..i] {
            assert_ne!(a.number, b.number);
            assert!(!a.pins.iter().any(|pin| b.pins.contains(pin)));
            let [Some(one), Some(other)] = [&a.port, &b.port] else {
                continue;
            };
            if let (Some(one), Some(other)) = (one.flash, other.flash) {
                assert!(!one.extent.overlaps(other.extent));
            }
            if let (Some(one), Some(other)) = (one.window, other.window) {
                assert!(!one.x.overlaps(other.x) || !one.y.overlaps(other.y));
            }
            assert!(one.station.is_none() || one.station != other.station);
        }
    }
}

/// The memory of VMs and channels that has colours, each once.
fn coloured(plan: &Plan) -> Vec<(blob::Region, Colours)> {
    let vms = plan.vms.iter().map(|vm| plan.regions(vm)[0]);
    let channels = plan.channels.iter().map(|channel| {
        let (vm, number) = channel.ends[0];
        let guest = plan.vms[vm].channels[number].guest.start;
        let regions = plan.regions(&plan.vms[vm]);
        let mut regions = regions.into_iter();
        let found = regions.find(|region| region.mapping.guest == guest);
        found.expect("the VM has its channel's memory")
    });
    let all = vms.chain(channels);
    all.filter_map(|region| Some((region_of(&region), region.colours?)))
        .collect()
}

/// Nothing in physical memory belongs to two, memory with colours has no others, and no device is in memory.
///
/// # Panics
/// Something does.
pub fn assert_isolated(plan: &Plan) {
    let mut extents = vec![plan.profile.firmware.extent(), plan.image, plan.pool];
    let whole = |vm: &&plan::Vm| vm.colours.is_none();
    let vms = plan.vms.iter().filter(whole);
    extents.extend(vms.map(|vm| Extent::new(vm.host, vm.memory.0)));
    let channels = plan.channels.iter().filter(|c| c.colours.is_none());
    extents.extend(channels.map(|c| Extent::new(c.host, c.size.0)));
    for (i, a) in extents.iter().enumerate() {
        assert!(plan.memory.contains(*a), "{a:x?}");
        assert!(!extents[..i].iter().any(|b| a.overlaps(*b)), "{a:x?}");
    }
    let chip = plan.profile.onchip.as_ref().map(|place| place.extent());
    let mut parts: Vec<Extent> = plan.hypervisor.onchip.iter().map(|of| of.text).collect();
    for part in plan.vms.iter().filter_map(|vm| vm.onchip) {
        let Extent { start, end } = part.host;
        assert!(
            chip.is_some_and(|chip| chip.contains(part.host)),
            "{start:#x}"
        );
        assert!(
            !parts.iter().any(|other| other.overlaps(part.host)),
            "{end:#x}"
        );
        assert_eq!(part.host.size(), part.guest.size());
        parts.push(part.host);
    }
    let mut pages = HashSet::new();
    for (region, colours) in coloured(plan) {
        let end = region.size / PAGE_SIZE + u64::from(region.tables);
        for page in (0..end).map(|page| region.host_at(page * PAGE_SIZE)) {
            let extent = Extent::new(page, PAGE_SIZE);
            assert!(pages.insert(page), "{page:#x} is given twice");
            assert!(plan.memory.contains(extent), "{page:#x}");
            assert!(!extents.iter().any(|b| b.overlaps(extent)), "{page:#x}");
            let colour = (page / PAGE_SIZE % (1 << colours.of)) as u32;
            assert!(
                (colours.first..=colours.last()).contains(&colour),
                "{page:#x}"
            );
        }
    }
    let devices: Vec<_> = plan.vms.iter().flat_map(|vm| &vm.devices).collect();
    for (i, a) in devices.iter().enumerate() {
        assert!(!a.host_extent().overlaps(plan.memory));
        let again = |b: &&crate::plan::Device| a.host_extent().overlaps(b.host_extent());
        assert!(!devices[..i].iter().any(again));
    }
    for vm in &plan.vms {
        let mut regions = plan.regions(vm);
        if let Some(part) = vm.onchip {
            // A part of the first one.
            assert!(vm.extent().contains(part.guest));
            assert!(
                regions
                    .pop()
                    .is_some_and(|last| last.kind == onchip::MEMORY)
            );
        }
        let guest = |i: usize| Extent::new(regions[i].mapping.guest, regions[i].mapping.size);
        for i in 0..regions.len() {
            assert!(!(0..i).any(|j| guest(i).overlaps(guest(j))));
        }
    }
}

/// Reads any bytes as a blob, as they are and with the version and the checksum put right, and follows every index of
/// what is taken for one.
///
/// # Panics
/// The reader does.
pub fn try_blob(bytes: &[u8]) {
    let mut words = vec![0u64; bytes.len().div_ceil(8)];
    words.as_mut_bytes()[..bytes.len()].copy_from_slice(bytes);
    let aligned = words.as_mut_bytes();
    let _ = Blob::parse(&aligned[..bytes.len()]);
    let length_at = std::mem::offset_of!(Header, length);
    let Some(length) = bytes.get(length_at..length_at + 4) else {
        return;
    };
    let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
    let crc_at = std::mem::offset_of!(Header, crc32);
    if length > bytes.len() || length < crc_at + 4 {
        return;
    }
    let version_at = std::mem::offset_of!(Header, version);
    aligned[version_at..version_at + 4].copy_from_slice(&blob::VERSION.to_le_bytes());
    let crc = checksum(&aligned[..length]);
    aligned[crc_at..crc_at + 4].copy_from_slice(&crc.to_le_bytes());
    let Ok(blob) = Blob::parse(&aligned[..bytes.len()]) else {
        return;
    };
    for (index, managed) in blob.managed().iter().enumerate() {
        assert!(managed >> index & 1 == 0 && managed >> blob.vms.len() == 0);
    }
    for vm in blob.vms {
        let vcpus = blob.vcpus_of(vm).len();
        assert_eq!(vcpus, (vm.vcpus + vm.rt_vcpus) as usize);
        assert!(!blob.regions_of(vm).is_empty());
        let memory = &blob.regions_of(vm)[0];
        for vcpu in vm.first_vcpu..vm.first_vcpu + vm.vcpus + vm.rt_vcpus {
            let mut lines = 0;
            for range in blob.warm_of(vcpu) {
                let bytes = u64::from(range.lines) * u64::from(blob.header.cache_line);
                assert!(range.vcpu == vcpu && range.guest >= memory.guest);
                assert!(range.guest - memory.guest + bytes <= memory.size);
                lines += u32::from(range.lines);
            }
            assert!(lines <= blob::warm::WARM_LINES);
        }
        assert!(
            blob.regions_of(vm)
                .iter()
                .all(blob::Region::has_sound_colours)
        );
        assert_eq!(blob.segments_of(vm).len(), vm.segments as usize);
        for end in blob.channel_ends_of(vm) {
            let peer = &blob.vms[end.peer_vm as usize];
            let _ = blob.channel_ends_of(peer)[end.peer_channel as usize];
        }
    }
}

/// Runs every file of a directory of this workspace; there is at least one.
///
/// # Panics
/// It cannot be read, or is empty.
pub fn each_file(directory: &str, mut run: impl FnMut(&[u8])) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(directory);
    let mut files = 0;
    for entry in fs::read_dir(&directory).expect("the directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            continue;
        }
        // Seen when the test fails.
        println!("{}", path.display());
        run(&fs::read(&path).expect("a file"));
        files += 1;
    }
    assert!(files > 0, "{} is empty", directory.display());
}

/// Memory of a switch as the recording of frames, for `tactus run --pcap`.
///
/// # Panics
/// It is neither refused nor read within its bounds.
pub fn try_recording(bytes: &[u8]) {
    crate::run::ports::try_recording(bytes);
}

/// A command program as text, and its words: what is assembled is assembled again from what it is read back as.
pub fn try_timed_io(text: &str) {
    use crate::timed_io::{assemble, disassemble, read_words};
    let words = match assemble(text) {
        Ok(program) => Some(program.words),
        Err(error) => {
            assert!(error.span.offset() + error.span.len() <= text.len());
            None
        }
    };
    for words in words.into_iter().chain(read_words(text)) {
        let again = disassemble(&words).expect("what is taken are commands");
        assert_eq!(assemble(&again).expect("what is read back").words, words);
    }
}

/// Takes bytes as what a browser sends to the page of `tactus ctl`: a request is answered, and changes something only
/// with the page's own field.
///
/// # Panics
/// That does not hold.
pub fn try_http(bytes: &[u8]) {
    crate::ctl::page::try_any(bytes);
}

/// What must hold for any text as the ends of a network device's cable: it is refused in a line of words, or names
/// ports that exist, each of the host's once.
///
/// # Panics
/// That does not hold.
pub fn try_network(text: &str) {
    use crate::cli::Net;
    use crate::run::functions::Card;
    let net = |text: &str| Card::from_text(text).map(|card| card.ends);
    let ends = text.strip_prefix("e1000e:").unwrap_or(text);
    match net(text) {
        Ok(Net::User { forwards }) => {
            let mut host: Vec<u16> = forwards.iter().map(|forward| forward.host).collect();
            assert!(!host.contains(&0) && forwards.iter().all(|forward| forward.guest > 0));
            host.sort_unstable();
            assert!(host.windows(2).all(|two| two[0] != two[1]));
            let again = forwards.iter().fold("user".to_owned(), |text, forward| {
                format!("{text},tcp={}:{}", forward.host, forward.guest)
            });
            assert_eq!(net(&again), Ok(Net::User { forwards }));
        }
        Ok(Net::Files { received, sent }) => assert!(received.is_some() || sent.is_some()),
        Ok(Net::Cable { socket, .. }) => assert!(!socket.as_os_str().is_empty()),
        Ok(Net::Loop) => assert_eq!(ends, "loop"),
        Err(reason) => assert!(!reason.is_empty()),
    }
}

/// What must hold for any bytes as a message of the run at the other end of a cable: it is refused in a line of words,
/// or is one, which is written with the same bytes.
///
/// # Panics
/// That does not hold.
pub fn try_cable(bytes: &[u8]) {
    match Message::from_bytes(bytes) {
        Ok(message) => assert_eq!(message.to_bytes()[4..], *bytes),
        Err(reason) => assert!(!reason.is_empty()),
    }
}

/// What must hold for any text as the description of a sweep: it is in order, or refused at a place of the text; where
/// it is in order, each of its first points can be put together.
///
/// # Panics
/// That does not hold.
pub fn try_sweep(text: &str) {
    use crate::sweep::description::{Base, Sweep};
    const SYSTEM: &str = "[system]\nharts = 1\n[[vm]]\nname = \"a\"\nmemory = \"4MiB\"\n";
    const POINTS: usize = 100;
    let base = Base::parse("my.toml".into(), SYSTEM.into(), Path::new(""));
    let base = base.expect("it is TOML");
    match Sweep::parse("any.toml", text.into(), Path::new(""), Some(base)) {
        Ok(sweep) => {
            for point in 0..sweep.points().min(POINTS) {
                let levels = sweep.levels(point);
                assert_eq!(levels.len(), sweep.factors.len());
                for (level, factor) in levels.iter().zip(&sweep.factors) {
                    assert!(*level < factor.levels.len());
                }
                // Levels may suit the system each alone and not together.
                let _ = sweep.put(&levels);
            }
        }
        Err(error) => is_shown(error),
    }
}

/// An error can be shown, at its place of the text.
fn is_shown(error: impl miette::Diagnostic + Send + Sync + 'static) {
    let report = miette::Report::new(error);
    let mut rendered = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::none());
    handler
        .render_report(&mut rendered, report.as_ref())
        .expect("it can be shown");
}

/// What must hold for any text as a campaign of faults: it is in order, or refused at a place of the text.
///
/// # Panics
/// That does not hold.
pub fn try_faults(text: &str) {
    use crate::faults::description::Campaign;
    use crate::sweep::description::Base;
    const SYSTEM: &str = "[system]\nharts = 1\n[[vm]]\nname = \"a\"\nmemory = \"4MiB\"\n";
    let base = Base::parse("my.toml".into(), SYSTEM.into(), Path::new(""));
    let base = base.expect("it is TOML");
    match Campaign::parse("any.toml", text.into(), Path::new(""), Some(base)) {
        Ok(campaign) => {
            assert!(campaign.runs > 0 && campaign.length.0 > 0);
            assert!(campaign.faults.iter().all(|fault| fault.weight > 0));
        }
        Err(error) => is_shown(error),
    }
}
