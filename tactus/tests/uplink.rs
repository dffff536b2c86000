//! Service VMs that have PCI functions, and share them: a disk, and a network card.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::thread;

use tactus::cli::Net;
use tactus::run::Boot;
use tactus::run::board::Options;
use tactus::run::functions::{Card, Disk, Functions};
use tactus::run::machine::Platform;
use tactus::run::session::Outcome;
use tempfile::NamedTempFile;

use crate::harness::{On, boot_text, explain, figure, on_both, once, root};

/// Bytes of a sector.
const SECTOR: usize = 512;

/// A disk of so many MiB. Each byte tells its place, so that whatever is written shows; the ranges are zeroes.
fn disk(mib: usize) -> NamedTempFile {
    let file = NamedTempFile::with_prefix("disk").expect("a temporary file");
    fs::write(file.path(), before(mib << 20)).expect("it can be written");
    file
}

/// What a disk has before anything is written.
fn before(bytes: usize) -> Vec<u8> {
    let mut all: Vec<u8> = (0..bytes)
        .map(|at| (at / SECTOR * 7 + at % 251) as u8 | 1)
        .collect();
    for range in RANGES {
        all[range.start * SECTOR..range.end * SECTOR].fill(0);
    }
    all
}

fn text(system: &str) -> String {
    fs::read_to_string(root().join(system)).expect("it is there")
}

/// A system's text, on a machine with these functions; the board is the one that has PCI.
fn with_functions(on: On, system: &str, functions: Functions) -> Boot {
    let mut boot = boot_text(on, system);
    boot.plan.functions = functions;
    if let Platform::Board(options) = &mut boot.plan.launch.platform {
        let pace = options.pace;
        **options = Options::of(&boot.image, None).expect("the board with PCI");
        options.pace = pace;
    }
    boot
}

fn run_until(mut boot: Boot, vm: &str) -> Outcome {
    boot.plan = boot.plan.until(vm).expect("the system has it");
    once(&boot)
}

fn disks(image: &Path) -> Functions {
    Functions {
        disks: vec![Disk::virtio(image.to_owned())],
        ..Functions::default()
    }
}

/// The sectors of two ranges of `systems/shared-disk.toml`.
const RANGES: [std::ops::Range<usize>; 2] = [2048..6144, 8192..10240];

/// Everything outside of the ranges is as before; in each of them something was written.
fn only_ranges_have_changed(image: &Path, ranges: &[std::ops::Range<usize>]) {
    let found = fs::read(image).expect("it is there");
    let before = before(found.len());
    let changed = |sector: usize| {
        let bytes = sector * SECTOR..(sector + 1) * SECTOR;
        found[bytes.clone()] != before[bytes]
    };
    let sectors = found.len() / SECTOR;
    for sector in (0..sectors).filter(|sector| changed(*sector)) {
        let is_within = ranges.iter().any(|range| range.contains(&sector));
        assert!(is_within, "sector {sector} was written");
    }
    for range in ranges {
        assert!(range.clone().any(changed), "{range:?}");
    }
}

/// Two clients write, read and flush parts of one disk at random, with requests in flight whenever they give up and
/// reset the device: none is lost or doubled, and nothing is written outside of the parts.
fn clients_have_parts_of_one_disk(on: On) {
    let image = disk(8);
    let system = text("systems/shared-disk.toml")
        .replace("seed=1", "seed=1 requests=1500")
        .replace("seed=2", "seed=2 requests=150");
    let outcome = run_until(with_functions(on, &system, disks(image.path())), "first");
    for name in ["first", "second"] {
        let vm = outcome.journal.vm(name).expect("the system has it");
        assert_eq!(vm.passed, ["disk-journal"], "{}", explain(&outcome));
    }
    let disk = outcome.journal.vm("disk").expect("the system has it");
    assert!(disk.refused_dma.is_empty(), "{}", explain(&outcome));
    assert_eq!(outcome.journal.faults.len(), 0, "{}", explain(&outcome));
    match on {
        On::Qemu => only_ranges_have_changed(image.path(), &RANGES),
        // The board forgets what is written.
        _ => assert!(fs::read(image.path()).expect("it is there") == before(8 << 20)),
    }
}

/// The VM that has the disk has a fault after some accesses of each life, or takes too long then: its function is
/// reset, and each request of its drivers is done once. A life has more accesses than both drivers need to begin.
fn a_passed_disk_outlives_the_vm_that_has_it(on: On) {
    for argument in ["faults=150", "hangs=131"] {
        let image = disk(8);
        let system = text("systems/shared-disk.toml")
            .replace("seed=1", "seed=1 requests=600")
            .replace("seed=2", "seed=2 requests=40")
            .replace("range0", &format!("{argument} range0"));
        let outcome = run_until(with_functions(on, &system, disks(image.path())), "first");
        for name in ["first", "second"] {
            let vm = outcome.journal.vm(name).expect("the system has it");
            assert_eq!(vm.passed, ["disk-journal"], "{}", explain(&outcome));
            for figure_name in ["requests_lost", "requests_doubled", "requests_failed"] {
                let found = figure(&outcome, name, figure_name);
                assert_eq!(found, 0.0, "{argument}: {name}: {figure_name}");
            }
        }
        let disk = outcome.journal.vm("disk").expect("the system has it");
        assert!(disk.restarts >= 5, "{argument}: {}", explain(&outcome));
        if matches!(on, On::Qemu) {
            only_ranges_have_changed(image.path(), &RANGES);
        }
    }
}

/// What is not described in order ends the VM that has the disk, with the reason.
#[test]
fn parts_that_cannot_be_are_refused() {
    let image = disk(8);
    for (argument, reason) in [
        (
            "range0=2048+4096 range1=6143+1",
            "two_parts_have_a_sector_in_common",
        ),
        (
            "range0=2048+4096 range1=16383+2",
            "a_part_is_not_within_the_disk",
        ),
        (
            "range0=2048+4096 range1=1+0",
            "a_part_is_not_within_the_disk",
        ),
        (
            "range0=2048+4096",
            "each_channel_needs_partN=NUMBER_or_rangeN=FIRST+SECTORS",
        ),
        (
            "range0=2048-4096 range1=0+1",
            "rangeN_is_not_FIRST+SECTORS,_in_decimal_numbers",
        ),
        (
            "part0=1 part1=2",
            "the_disk_has_no_whole_GUID_partition_table",
        ),
    ] {
        let system = text("systems/shared-disk.toml");
        let system = system.replace("range0=2048+4096 range1=8192+2048", argument);
        assert!(system.contains(argument));
        let boot = with_functions(On::Board, &system, disks(image.path()));
        let outcome = run_until(boot, "disk");
        let disk = outcome.journal.vm("disk").expect("the system has it");
        let reasons: Vec<_> = disk
            .failed
            .iter()
            .map(|(_, reason)| reason.as_str())
            .collect();
        assert_eq!(reasons, [reason], "{argument}: {}", explain(&outcome));
    }
}

/// The check of a partition table (IEEE 802.3).
fn check_of(bytes: &[u8]) -> u32 {
    let step = |check: u32, _| check >> 1 ^ if check & 1 == 0 { 0 } else { 0xedb8_8320 };
    let add = |check: u32, byte: &u8| (0..8).fold(check ^ u32::from(*byte), step);
    !bytes.iter().fold(u32::MAX, add)
}

/// Gives a disk those partitions, by a table at its beginning and one at its end (UEFI Specification 2.10, section
/// 5.3).
fn partition(image: &Path, parts: &[std::ops::Range<usize>]) {
    let mut bytes = fs::read(image).expect("it is there");
    let last = bytes.len() / SECTOR - 1;
    let mut entries = vec![0; 128 * 128];
    for (entry, part) in entries.as_chunks_mut::<128>().0.iter_mut().zip(parts) {
        entry[..16].fill(0xaf);
        entry[16..32].fill(part.start as u8 | 1);
        entry[32..40].copy_from_slice(&(part.start as u64).to_le_bytes());
        entry[40..48].copy_from_slice(&(part.end as u64 - 1).to_le_bytes());
    }
    for (own, other, table) in [(1, last, 2), (last, 1, last - 32)] {
        let mut header = [0; SECTOR];
        header[..8].copy_from_slice(b"EFI PART");
        header[8..16].copy_from_slice(&[0, 0, 1, 0, 92, 0, 0, 0]);
        for (at, number) in [
            (24, own),
            (32, other),
            (40, 34),
            (48, last - 33),
            (72, table),
        ] {
            header[at..at + 8].copy_from_slice(&(number as u64).to_le_bytes());
        }
        header[80..88].copy_from_slice(&[128, 0, 0, 0, 128, 0, 0, 0]);
        header[88..92].copy_from_slice(&check_of(&entries).to_le_bytes());
        let check = check_of(&header[..92]);
        header[16..20].copy_from_slice(&check.to_le_bytes());
        bytes[own * SECTOR..][..SECTOR].copy_from_slice(&header);
        bytes[table * SECTOR..][..entries.len()].copy_from_slice(&entries);
    }
    fs::write(image, bytes).expect("it can be written");
}

/// A server that each of the guests tells its mark, and which ends the connection of the first one last.
fn serve(listener: &TcpListener) -> Vec<String> {
    let mut guests: Vec<(String, TcpStream)> = (0..2)
        .map(|_| {
            let (stream, _) = listener.accept().expect("a guest");
            let mut line = String::new();
            let mut reader = BufReader::new(stream.try_clone().expect("a connection"));
            reader.read_line(&mut line).expect("a line");
            (line, stream)
        })
        .collect();
    guests.sort_by(|left, right| right.0.cmp(&left.0));
    let lines = guests.iter().map(|(line, _)| line.clone()).collect();
    for (_, mut stream) in guests {
        stream
            .shutdown(std::net::Shutdown::Write)
            .expect("it is open");
        // The guest has ended, too.
        let _ = stream.read(&mut [0; 1]);
    }
    lines
}

/// Runs `systems/uplink.toml` with that disk, and each guest's own connection to a server of this host. Each of the
/// service VMs has these boot arguments as well.
fn run_uplink(image: &Path, more: &str) -> Outcome {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("it has one").port();
    let switch = "image = \"@virtio-switch\"";
    let system = text("systems/uplink.toml")
        .replace("mark=", &format!("port={port} mark="))
        .replace("part0=", &format!("{more} part0="))
        .replace(switch, &format!("{switch}\nbootargs = \"{more}\""));
    let functions = Functions {
        nets: vec![Card::virtio(Net::User {
            forwards: Vec::new(),
        })],
        ..disks(image)
    };
    let boot = with_functions(On::Qemu, &system, functions);
    let server = thread::spawn(move || serve(&listener));
    let outcome = run_until(boot, "first");
    for name in ["first", "second"] {
        let vm = outcome.journal.vm(name).expect("the system has it");
        let wanted = ["disk", "ping", "uplink-guest"];
        assert_eq!(vm.passed, wanted, "{}", explain(&outcome));
    }
    assert_eq!(server.join().expect("it ends"), ["mark 2\n", "mark 1\n"]);
    outcome
}

/// Each one's partition has what the guest has written, and no other sector has changed.
fn has_marks(before: Vec<u8>, image: &Path) {
    let found = fs::read(image).expect("it is there");
    let mut wanted = before;
    for (mark, part) in (1_u64..).zip(RANGES) {
        for (number, sector) in part.enumerate() {
            let words = wanted[sector * SECTOR..].as_chunks_mut::<8>().0;
            for (word, bytes) in words.iter_mut().take(SECTOR / 8).enumerate() {
                let content = mark << 32 | (number as u64) << 8 | word as u64;
                *bytes = content.to_le_bytes();
            }
        }
    }
    let differs = |sector: &usize| {
        let bytes = sector * SECTOR..(sector + 1) * SECTOR;
        found[bytes.clone()] != wanted[bytes]
    };
    assert_eq!(found.len(), wanted.len());
    let wrong: Vec<usize> = (0..found.len() / SECTOR).filter(differs).collect();
    assert_eq!(wrong, [0; 0]);
}

/// Two guests share one network card and one disk: each reaches the gateway and a server of the host through the card,
/// and each one's partition has what it has written; no other sector of the disk has changed.
#[test]
fn two_guests_share_one_card_and_one_disk() {
    let image = disk(8);
    partition(image.path(), &RANGES);
    let before = fs::read(image.path()).expect("it is there");
    let outcome = run_uplink(image.path(), "");
    assert_eq!(outcome.journal.faults.len(), 0, "{}", explain(&outcome));
    has_marks(before, image.path());
}

/// The same with service VMs that have a fault after some accesses of each life: their functions are reset, frames are
/// lost and requests are not.
#[test]
fn guests_outlive_the_vms_that_share_the_functions() {
    let image = disk(8);
    partition(image.path(), &RANGES);
    let before = fs::read(image.path()).expect("it is there");
    let outcome = run_uplink(image.path(), "faults=200");
    for name in ["disk", "switch"] {
        let vm = outcome.journal.vm(name).expect("the system has it");
        assert!(vm.restarts >= 1, "{name}: {}", explain(&outcome));
        assert!(vm.refused_dma.is_empty(), "{}", explain(&outcome));
    }
    has_marks(before, image.path());
}

/// Debian's kernel, as it is, uses a partition and the uplink by its own drivers, and discards sectors of the passed
/// disk: they become zeroes of the file.
#[test]
fn linux_has_a_partition_and_an_uplink() {
    let image = disk(8);
    partition(image.path(), &RANGES);
    let system = text("systems/uplink.toml");
    let linux = text("systems/served-disk.toml");
    let (_, linux) = linux.split_once("[[vm]]\n").expect("it has one");
    let (linux, _) = linux.split_once("[[vm.vcpu]]").expect("it has one");
    assert!(linux.contains("tactus.run=disk\""));
    let linux = linux
        .replace("name = \"linux\"", "name = \"first\"")
        .replace(
            "tactus.run=disk\"",
            "tactus.run=disk tactus.mib=1 tactus.gateway=10.0.2.2\"",
        );
    let (begin, rest) = system.split_once("[[vm]]\n").expect("it has one");
    let (_, rest) = rest.split_once("[[vm.vcpu]]").expect("it has one");
    let net = "between = [\"first\", \"switch\"]\nsize = \"64KiB\"\ncalls = \"100us\"\n";
    let device = "device = { compatible = \"virtio,mmio\"";
    let system = format!("{begin}[[vm]]\n{linux}[[vm.vcpu]]{rest}")
        .replace(
            &format!("{net}{device} }}"),
            &format!("{net}{device}, memory = true }}"),
        )
        .replace("harts = 2\n", "harts = 2\nmemory = \"512MiB\"\n");
    let functions = Functions {
        nets: vec![Card::virtio(Net::User {
            forwards: Vec::new(),
        })],
        ..disks(image.path())
    };
    let outcome = run_until(with_functions(On::Qemu, &system, functions), "first");
    let linux = outcome.journal.vm("first").expect("the system has it");
    let wanted = [
        "disk_there",
        "disk_write",
        "disk_read",
        "disk_limits",
        "disk_discard",
        "disk_zeroes",
        "net_ping",
        "net_sent",
        "linux_disk",
    ];
    assert_eq!(linux.passed, wanted, "{}", explain(&outcome));
    assert_eq!(outcome.journal.faults.len(), 0, "{}", explain(&outcome));
    let found = fs::read(image.path()).expect("it is there");
    let sector = |number: usize| &found[(RANGES[0].start + number) * SECTOR..][..SECTOR];
    // What `tactus-disk` has discarded, and beside that.
    assert!((16..40).all(|number| sector(number) == [0; SECTOR]));
    assert!(sector(40).iter().all(|byte| *byte == 41));
}

on_both!(
    a_passed_disk_outlives_the_vm_that_has_it,
    clients_have_parts_of_one_disk
);
