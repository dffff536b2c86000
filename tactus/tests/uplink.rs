//! Service VMs that have PCI functions, and share them: a disk.

use std::fs;
use std::path::Path;

use tactus::run::Boot;
use tactus::run::board::Options;
use tactus::run::functions::{Disk, Functions};
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

on_both!(
    a_passed_disk_outlives_the_vm_that_has_it,
    clients_have_parts_of_one_disk
);
