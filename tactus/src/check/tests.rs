//! Every kind of fault, with the exact message that people read.
//!
//! Each file of `tests/faults` is a system with one kind of fault. `INSTA_UPDATE=always cargo test` writes the
//! snapshots again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tempfile::TempDir;

use super::{Answer, Verdict, of_tiles, summary, verdict};
use crate::artifacts::{
    Artifacts, HYPERVISOR, HYPERVISOR_BASE, HYPERVISOR_FORWARDING, HYPERVISOR_FORWARDING_PCI,
    HYPERVISOR_MANAGEMENT, HYPERVISOR_ONCHIP, HYPERVISOR_PCI,
};
use crate::config::{Config, Source};
use crate::guest_image::GuestImage;
use crate::pci::Model;
use crate::problem::{Code, Problem, Weight};
use crate::testing::{self, BASE, Bench, ElfFile, each_file, elf_file, hypervisor_file};

fn faults() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults")
}

/// A directory with the files that the systems name.
pub(crate) fn files() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let segment = |address: u64, size: usize| (address, address, vec![0x13; size], size as u64);
    let elf = |segments| ElfFile {
        segments,
        ..ElfFile::default()
    };
    let good = ElfFile::default();
    let mut program = elf_file(&elf(vec![segment(BASE, 4), segment(BASE + 0x1000, 4)]));
    // PT_INTERP in place of the second PT_LOAD.
    program[64 + 56] = 3;
    let mut riscv32 = elf_file(&good);
    riscv32[4] = 1;
    let mut big_endian = elf_file(&good);
    big_endian[5] = 2;
    big_endian.swap(18, 19);
    let mut arm64 = vec![0; 64];
    arm64[56..60].copy_from_slice(b"ARM\x64");
    let mut zboot = vec![0; 64];
    zboot[..2].copy_from_slice(b"MZ");
    zboot[4..16].copy_from_slice(b"zimg\x30\0\0\0\x10\0\0\0");
    zboot[48..52].copy_from_slice(b"\x28\xb5\x2f\xfd");
    let contents: [(&str, Vec<u8>); 26] = [
        ("packed.xz", b"\xfd7zXZ\0rest".to_vec()),
        ("vmlinuz.efi", zboot),
        ("riscv32.elf", riscv32),
        ("big-endian.elf", big_endian),
        ("arm64-image", arm64),
        ("guest.elf", elf_file(&good)),
        ("raw.bin", vec![0x13; 64]),
        ("empty", Vec::new()),
        ("packed.gz", b"\x1f\x8b\x08rest".to_vec()),
        (
            "x86.elf",
            elf_file(&ElfFile {
                machine: 62,
                ..good.clone()
            }),
        ),
        (
            "object.o",
            elf_file(&ElfFile {
                kind: 1,
                ..good.clone()
            }),
        ),
        ("program.elf", program),
        (
            "no-entry.elf",
            elf_file(&ElfFile {
                entry: 0x1000,
                ..good.clone()
            }),
        ),
        (
            "overlap.elf",
            elf_file(&elf(vec![segment(BASE, 32), segment(BASE + 16, 32)])),
        ),
        ("cut.elf", elf_file(&good)[..100].to_vec()),
        (
            "low.elf",
            elf_file(&ElfFile {
                entry: 0x1000,
                ..elf(vec![segment(0x1000, 4)])
            }),
        ),
        (
            "large.elf",
            elf_file(&elf(vec![(BASE, BASE, vec![0x13; 4], 0x1f_1000)])),
        ),
        (
            "tile.elf",
            elf_file(&ElfFile {
                entry: 0x8000_0000,
                ..elf(vec![segment(0x8000_0000, 4)])
            }),
        ),
        ("ramdisk", vec![0x55; 2 << 20]),
        (HYPERVISOR, hypervisor_file()),
        (HYPERVISOR_BASE, hypervisor_file()),
        (HYPERVISOR_FORWARDING, hypervisor_file()),
        (HYPERVISOR_FORWARDING_PCI, hypervisor_file()),
        (HYPERVISOR_MANAGEMENT, hypervisor_file()),
        (HYPERVISOR_PCI, hypervisor_file()),
        (HYPERVISOR_ONCHIP, onchip_hypervisor(0x801_1123)),
    ];
    for (name, bytes) in contents {
        fs::write(directory.path().join(name), bytes).expect("a file");
    }
    for (name, text) in warm_lists(&elf_file(&good)) {
        fs::write(directory.path().join(name), text).expect("a file");
    }
    directory
}

/// The hypervisor whose text and constants in on-chip memory end there, and which keeps as much as the real one.
fn onchip_hypervisor(end: u64) -> Vec<u8> {
    let symbols = [
        ("__tactus_blob", BASE + 0x8000),
        ("__onchip_begin", 0x800_0000),
        ("__onchip_end", end),
        ("__onchip_rest", end.next_multiple_of(0x1000)),
        ("__onchip_fixed", 4416),
        ("__onchip_hart", 25_984),
        ("__onchip_vm", 3200),
        ("__onchip_vcpu", 1792),
        ("__onchip_channel_end", 2056),
        ("__onchip_interface", 128),
    ];
    elf_file(&ElfFile {
        segments: vec![(BASE, BASE, vec![0x13; 0x100], 0x8000)],
        symbols: symbols
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec(),
        ..ElfFile::default()
    })
}

/// Lists of warm lines of that image, or of another.
fn warm_lists(image: &[u8]) -> [(&'static str, String); 7] {
    let image = GuestImage::parse(image).expect("an image").digest();
    let list = |image: &str, line: u32, ranges: &[(u64, u32)]| {
        let ranges = ranges.iter().map(|(first, lines)| {
            let code = *first == 0x8020_0000;
            format!("\n[[range]]\nfirst = {first:#x}\nlines = {lines}\ncode = {code}\n")
        });
        let ranges: String = ranges.collect();
        format!("image = \"{image}\"\nline = {line}\n{ranges}")
    };
    let bad = [
        (0x8020_0010, 1),
        (0x7fff_ffe0, 1),
        (0x803f_ffe0, 2),
        (0x8020_0000, 0),
        (0x8020_0000, 129),
    ];
    [
        ("good.warm.toml", list(&image, 32, &[(0x803f_ffe0, 1), (0x8020_0000, 127)])),
        ("bad.warm.toml", list(&image, 32, &bad)),
        ("many.warm.toml", list(&image, 32, &[(0x8020_0000, 128), (0x8030_0000, 1)])),
        ("values.warm.toml", "lines = 32\n[[range]]\nfirst = \"0x80200000\"\n[[range]]\nfirst = 0x80200000\nlines = -1\n".into()),
        ("syntax.warm.toml", "image =\n".into()),
        ("longer.warm.toml", list(&image, 64, &[(0x8020_0000, 1)])),
        ("stale.warm.toml", list("0123", 64, &[(0x8020_0000, 1)])),
    ]
}

pub(super) fn judge_text(name: &str, text: String, directory: &Path) -> Verdict {
    let read = Config::parse(Source::new(name, text), directory);
    verdict(name.into(), read, &Artifacts::Directory(directory.into()))
}

fn judge(name: &str, directory: &Path) -> Verdict {
    let file = format!("{name}.toml");
    let text = fs::read_to_string(faults().join(&file)).expect("a fault's file");
    let end = match name {
        // Of more text than there is on-chip memory.
        "onchip-too-small" => 0x804_0123,
        _ => 0x801_1123,
    };
    fs::write(directory.join(HYPERVISOR_ONCHIP), onchip_hypervisor(end)).expect("a file");
    judge_text(&file, text, directory)
}

/// What people see, with the directory's name taken out.
fn render(verdict: &Verdict, directory: &Path) -> String {
    testing::render(verdict).replace(&directory.display().to_string(), "DIRECTORY")
}

fn snapshot(name: &str) {
    let files = files();
    let verdict = judge(name, files.path());
    let fine = verdict
        .problems
        .iter()
        .all(|p| p.kind().weight() == Weight::Warning);
    assert_eq!(verdict.plan.is_some(), fine);
    insta::assert_snapshot!(name, render(&verdict, files.path()));
}

macro_rules! fault_tests {
    ($($test:ident = $name:literal,)*) => {
        $(#[test]
        fn $test() {
            snapshot($name);
        })*

        const NAMES: &[&str] = &[$($name,)*];
    };
}

fault_tests! {
    toml_syntax = "toml-syntax",
    unknown_key = "unknown-key",
    misspelt_key = "misspelt-key",
    missing_key = "missing-key",
    missing_system = "missing-system",
    missing_vm = "missing-vm",
    wrong_value = "wrong-value",
    unit = "unit",
    wrong_table = "wrong-table",
    out_of_range = "out-of-range",
    bad_name = "bad-name",
    duplicate_name = "duplicate-name",
    unknown_vm = "unknown-vm",
    self_reference = "self-reference",
    unknown_platform = "unknown-platform",
    unknown_design = "unknown-design",
    no_fabric = "no-fabric",
    no_ready_queue = "no-ready-queue",
    no_onchip_memory = "no-onchip-memory",
    onchip_too_small = "onchip-too-small",
    bad_onchip_memory = "bad-onchip-memory",
    onchip_memory_beyond = "onchip-memory-beyond",
    onchip_memory_too_small = "onchip-memory-too-small",
    onchip_io_port = "onchip-io-port",
    onchip_accelerator = "onchip-accelerator",
    onchip_colours = "onchip-colours",
    no_accelerators = "no-accelerators",
    unmanaged_accelerator = "unmanaged-accelerator",
    unknown_task = "unknown-task",
    no_io = "no-io",
    no_io_port = "no-io-port",
    no_io_policy = "no-io-policy",
    unmanaged_io = "unmanaged-io",
    io_twice = "io-twice",
    io_values = "io-values",
    io_out_of_range = "io-out-of-range",
    accelerator_costs = "accelerator-costs",
    late_accelerator = "late-accelerator",
    no_such_hart = "no-such-hart",
    vcpu_harts = "vcpu-harts",
    bad_kind = "bad-kind",
    bad_criticality = "bad-criticality",
    bad_dispatch = "bad-dispatch",
    bad_reload = "bad-reload",
    reload_run_time = "reload-run-time",
    bad_reservation = "bad-reservation",
    mixed_policies = "mixed-policies",
    over_share = "over-share",
    over_subscribed = "over-subscribed",
    misses_deadline = "misses-deadline",
    bad_task = "bad-task",
    late_task = "late-task",
    movable_task = "movable-task",
    bad_chain = "bad-chain",
    bad_chain_io = "bad-chain-io",
    late_chain = "late-chain",
    late_best_effort = "late-best-effort",
    no_dispatch_ahead = "no-dispatch-ahead",
    no_separation = "no-separation",
    no_bound = "no-bound",
    may_starve = "may-starve",
    no_share = "no-share",
    needs_periodic = "needs-periodic",
    never_runs = "never-runs",
    shared_priority = "shared-priority",
    idle_hart = "idle-hart",
    user_only = "user-only",
    no_migration = "no-migration",
    no_kernel_hart = "no-kernel-hart",
    missing_file = "missing-file",
    bad_warm_lines = "bad-warm-lines",
    stale_warm_lines = "stale-warm-lines",
    unused_warm_lines = "unused-warm-lines",
    directory = "directory",
    bad_image = "bad-image",
    image_fit = "image-fit",
    unaligned = "unaligned",
    outside_memory = "outside-memory",
    memory_overlap = "memory-overlap",
    no_cache = "no-cache",
    bad_colours = "bad-colours",
    colours_off = "colours-off",
    no_colours_left = "no-colours-left",
    nothing_to_protect = "nothing-to-protect",
    colours_accelerator = "colours-accelerator",
    colours_io_port = "colours-io-port",
    colours_no_room = "colours-no-room",
    no_room = "no-room",
    no_more_memory = "no-more-memory",
    no_cure = "no-cure",
    image_no_room = "image-no-room",
    no_such_device = "no-such-device",
    kept_device = "kept-device",
    console_device = "console-device",
    bus_master = "bus-master",
    no_forwarding = "no-forwarding",
    no_management = "no-management",
    no_pci = "no-pci",
    pci_not_isolated = "pci-not-isolated",
    no_function = "no-function",
    device_twice = "device-twice",
    guest_overlap = "guest-overlap",
    bad_interrupt = "bad-interrupt",
    interrupt_twice = "interrupt-twice",
    call_depth = "call-depth",
    served_accelerator = "served-accelerator",
    channel_space = "channel-space",
    no_artifact = "no-artifact",
    tiles = "tiles",
    tiles_design = "tiles-design",
    tiles_no_fabric = "tiles-no-fabric",
    tiles_unshared = "tiles-unshared",
    all_at_once = "all-at-once",
}

/// A key that is misspelt is not missing too, nor is one with a wrong unit; and what follows from either is not told.
#[test]
fn a_typing_error_is_told_once() {
    let files = files();
    for (name, code) in [
        ("misspelt-key", Code::UnknownKey),
        ("unit", Code::WrongValue),
    ] {
        for problem in judge(name, files.path()).problems {
            assert_eq!(problem.kind(), code, "{}", problem.message());
        }
    }
}

/// That it may starve others is not warned of where it is meant; and only a vCPU that goes by its priority alone can
/// say so.
#[test]
fn an_unlimited_budget_is_meant() {
    let files = files();
    let starving = fs::read_to_string(faults().join("may-starve.toml")).expect("a fault's file");
    let unlimited =
        |after: &str, text: &str| text.replace(after, &format!("{after}budget = \"unlimited\"\n"));
    let both = unlimited("priority = 9\n", &unlimited("priority = 5\n", &starving));
    let verdict = judge_text("both.toml", both.clone(), files.path());
    assert!(verdict.plan.is_some() && verdict.problems.is_empty());
    for wrong in [
        unlimited("class = \"be\"\n", &both),
        both.replace("priority = 9\n", ""),
        both.replace("priority = 9\n", "priority = 9\nperiod = \"1ms\"\n"),
    ] {
        let verdict = judge_text("wrong.toml", wrong, files.path());
        assert!(verdict.plan.is_none());
        let problem = &verdict.problems[0];
        assert_eq!(
            problem.kind(),
            Code::BadReservation,
            "{}",
            problem.message()
        );
        assert!(
            problem.message().contains("unlimited"),
            "{}",
            problem.message()
        );
    }
}

/// A warning is no refusal: the exit code is 0, and scripts see it.
#[test]
fn a_warning_is_told_and_does_not_refuse() {
    let files = files();
    let verdict = judge("may-starve", files.path());
    assert!(verdict.plan.is_some());
    assert_eq!(super::exit_code(&verdict), std::process::ExitCode::SUCCESS);
    let json = super::command::to_json(&verdict);
    assert_eq!(json["fine"], true);
    let problem = &json["problems"][0];
    assert_eq!(problem["code"], "may-starve");
    assert_eq!(problem["severity"], "warning");
    assert_eq!(problem["line"], 13);
    let message = "vCPU 0 of VM `rtos`: real time with priority 9 and without a budget; as long as it does not wait, it starves vCPU 1 of VM `rtos` and vCPU 0 of VM `linux` on hart 0";
    assert_eq!(problem["message"], message);
    let help = "add a `period` and a `budget` to it, or let the others run on another hart; `budget = \"unlimited\"` says that it is meant";
    assert_eq!(problem["help"], help);
    let in_a_line = format!("{message} (line 13); {help}");
    assert_eq!(verdict.problems[0].in_a_line(), in_a_line);
}

#[test]
fn every_fault_has_its_test() {
    let mut files: Vec<String> = fs::read_dir(faults())
        .expect("the faults")
        .map(|entry| {
            let path = entry.expect("an entry").path();
            path.file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    files.sort();
    let mut names: Vec<&str> = NAMES.to_vec();
    names.sort_unstable();
    assert_eq!(files, names);
}

/// A system with one VM more, or one vCPU or channel more, than there can be.
fn crowded(vms: usize, vcpus: usize, channels: usize) -> String {
    let mut text = "[system]\nplatform = \"qemu-virt\"\nharts = 1\n".to_owned();
    for vm in 0..vms {
        text += &format!("[[vm]]\nname = \"vm{vm}\"\nimage = \"guest.elf\"\nmemory = \"4MiB\"\n");
        text += &"[[vm.vcpu]]\nclass = \"be\"\n".repeat(vcpus);
    }
    for channel in 0..channels {
        text += &format!("[[channel]]\nname = \"c{channel}\"\n");
        text += "between = [\"vm0\", \"vm1\"]\nsize = \"4KiB\"\n";
    }
    text
}

#[test]
fn too_many() {
    let files = files();
    let mut text = String::new();
    for (vms, vcpus, channels) in [(33, 1, 0), (1, 17, 0), (9, 15, 0), (2, 1, 33)] {
        let verdict = judge_text("crowded.toml", crowded(vms, vcpus, channels), files.path());
        text += &render(&verdict, files.path());
        let most = judge_text(
            "crowded.toml",
            crowded(
                vms.min(32).min(128 / vcpus.min(16)),
                vcpus.min(16),
                channels.min(32),
            ),
            files.path(),
        );
        assert!(most.plan.is_some(), "{}", render(&most, files.path()));
    }
    insta::assert_snapshot!("too-many", text);
}

#[test]
fn unreadable() {
    let files = files();
    let file = files.path().join("absent.toml");
    let artifacts = Artifacts::Directory(files.path().into());
    let verdict = super::check_file(&file, &artifacts);
    insta::assert_snapshot!("unreadable", render(&verdict, files.path()));
}

#[test]
fn bad_hypervisor() {
    let files = files();
    let unfit = elf_file(&ElfFile::default());
    fs::write(files.path().join(HYPERVISOR_BASE), unfit).expect("a file");
    let verdict = judge_text("fine.toml", crowded(1, 1, 0), files.path());
    assert!(verdict.plan.is_none());
    insta::assert_snapshot!("bad-hypervisor", render(&verdict, files.path()));
}

/// By its identity a function is found where the machine's functions are known and one alone has it.
#[test]
fn functions_are_found_by_identity() {
    let files = files();
    let system = |functions: &str| {
        format!(
            "[system]\nplatform = \"qemu-virt\"\nharts = 1\nmemory = \"64MiB\"\n\
             [[vm]]\nname = \"first\"\nimage = \"guest.elf\"\nmemory = \"4MiB\"\n[[vm.vcpu]]\nclass = \"be\"\n{functions}"
        )
    };
    let on = |machine: Option<&[Model]>, functions: &str| {
        let mut read = Config::parse(Source::new("found.toml", system(functions)), files.path());
        if let Ok((config, _)) = &mut read {
            config.machine = machine.map(<[Model]>::to_vec);
        }
        let artifacts = Artifacts::Directory(files.path().into());
        verdict("found.toml".into(), read, &artifacts)
    };
    use Model::{VirtioDisk as Disk, VirtioNet as Net};
    let both = "[[vm.pci]]\nid = \"1af4:1041\"\n[[vm.pci]]\nid = \"1AF4:1042\"\n";
    let mut text = String::new();
    let found = on(Some(&[Disk, Net, Net]), "[[vm.pci]]\nid = \"1af4:1042\"\n");
    let found = &found.plan.expect("it is in order").vms[0].functions[..];
    assert_eq!((found[0].slot, found[0].model), (1, Some(Disk)));
    let found = on(
        Some(&[Disk, Net, Net, Net, Net, Net, Net]),
        "[[vm.pci]]\nslot = 2\n",
    );
    text += &summary(found.plan.as_ref().expect("it is in order"), &found);
    for (machine, functions) in [
        (Some(&[Disk, Net, Net][..]), both),
        (Some(&[Disk]), both),
        (Some(&[]), both),
        (None, both),
        (Some(&[Disk]), "[[vm.pci]]\nslot = 2\n"),
        (
            Some(&[Disk]),
            "[[vm.pci]]\nslot = 1\n[[vm.pci]]\nid = \"1af4:1042\"\n",
        ),
    ] {
        let refused = on(machine, functions);
        assert!(refused.plan.is_none());
        text += &render(&refused, files.path());
    }
    insta::assert_snapshot!("functions-by-identity", text);
}

/// Every kind of problem is met above, and described in the reference.
#[test]
fn every_kind_is_met_and_documented() {
    let files = files();
    let met_elsewhere = [
        Code::TooMany,
        Code::Unreadable,
        Code::BadHypervisor,
        Code::NoBootImage,
    ];
    let mut met = met_elsewhere.to_vec();
    for name in NAMES {
        met.extend(judge(name, files.path()).problems.iter().map(|p| p.kind()));
    }
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/reference/system-toml.md");
    let reference = fs::read_to_string(book).expect("the reference");
    for code in Code::ALL {
        assert!(met.contains(code), "no test meets {}", code.name());
        let name = format!("`{}`", code.name());
        assert!(
            reference.contains(&name),
            "the reference does not describe {name}"
        );
    }
}

/// A system with parts of VMs' memory on the chip.
const ONCHIP: &str = r#"
[system]
platform = "soc-ocm"
harts = 2
hypervisor_memory = "onchip"

[[vm]]
name = "first"
image = "guest.elf"
memory = "4MiB"
onchip_memory = "64KiB"

[[vm.vcpu]]
class = "be"

[[vm]]
name = "second"
image = "guest.elf"
memory = "16MiB"

[[vm.vcpu]]
class = "be"

[[vm]]
name = "third"
image = "raw.bin"
memory = "4MiB"
onchip_memory = "4KiB"

[[vm.vcpu]]
class = "be"

[[channel]]
name = "one"
between = ["first", "third"]
size = "4KiB"
"#;

#[test]
fn the_summary_of_parts_on_the_chip() {
    let files = files();
    let verdict = judge_text("onchip.toml", ONCHIP.into(), files.path());
    insta::assert_snapshot!(summary(
        verdict.plan.as_ref().expect("a good system"),
        &verdict
    ));
}

/// A system that uses everything.
const RICH: &str = r#"
[system]
platform = "qemu-virt"
harts = 2
memory = "4GiB"
slice = "5ms"

[[vm]]
name = "linux"
image = "raw.bin"
initrd = "ramdisk"
memory = "1GiB"
bootargs = "console=ttyS0"

[[vm.vcpu]]
class = "be"

[[vm.vcpu]]
class = "be"
harts = [1]
priority = 3

[[vm]]
name = "rtos"
image = "guest.elf"
memory = "16MiB"
host_address = 0x9000_0000
console = false
on_fault = { signal = "linux" }

[[vm.vcpu]]
class = "rt"
hart = 0
priority = 200

[[vm.device]]
address = 0x1000_0000
size = 0x1000
interrupts = [10]
trusted = true

[[channel]]
name = "phase"
between = ["linux", "rtos"]
size = "4KiB"

[[channel]]
name = "data"
between = ["rtos", "linux"]
size = "64KiB"
"#;

/// A system with everything that concerns guaranteed time.
const GUARANTEED: &str = r#"
[system]
platform = "mpsoc"
harts = 3
be_reserve = "12.5%"

[[vm]]
name = "control"
image = "guest.elf"
memory = "4MiB"

[[vm.vcpu]]
class = "rt"
hart = 0
period = "1ms"
budget = "600us"

[[vm.vcpu]]
class = "rt"
harts = [0, 1]
period = "1ms"
budget = "200us"
deadline = "500us"

[[vm]]
name = "motor"
image = "guest.elf"
memory = "4MiB"

[[vm.vcpu]]
class = "rt"
hart = 2
priority = 7
period = "1ms"
budget = "100us"

[[vm]]
name = "linux"
image = "raw.bin"
memory = "16MiB"
rt_vcpus = 2
rt_share = "10%"
rt_memory = "64KiB"

[[vm.vcpu]]
class = "be"

[[channel]]
name = "state"
between = ["control", "linux"]
size = "4KiB"
messages = 8
message_size = "100B"
"#;

/// The paper's two VMs with four devices each, the real-time one's within bounds.
const SHARED: &str = r#"
[system]
platform = "soc"
harts = 2

[fabric]
design = "accelerators"

[accelerators]
manager = "manager"
hold = "50us"
turn = "200us"
turn_every = "100ms"

[accelerators.costs]
trap = "760ns"
resume = "640ns"
interrupt = "810ns"
search = "500ns"
assign = "1130ns"
assign_configure = "2770ns"
preempt = "340ns"
configured = "640ns"
stopped = "280ns"

[[vm]]
name = "rtos"
image = "guest.elf"
memory = "4MiB"

[[vm.vcpu]]
class = "rt"
hart = 0
period = "100ms"
budget = "5ms"

[[vm.accelerator]]
task = "qam16"
within = "9ms"

[[vm.accelerator]]
task = "qam64"

[[vm.accelerator]]
task = "fft512"

[[vm.accelerator]]
task = "fft1024"

[[vm]]
name = "gpos"
image = "guest.elf"
memory = "4MiB"

[[vm.vcpu]]
class = "be"

[[vm.accelerator]]
task = "qam16"

[[vm.accelerator]]
task = "qam64"

[[vm.accelerator]]
task = "fft512"

[[vm.accelerator]]
task = "fft1024"

[[vm]]
name = "manager"
image = "guest.elf"
memory = "4MiB"

[[vm.vcpu]]
class = "rt"
hart = 1
period = "250us"
budget = "75us"
"#;

/// Everything that there is of I/O, shared.
const SHARED_IO: &str = r#"
[system]
platform = "soc"
harts = 2

[fabric]
design = "io"

[io]
manager = "manager"
policy = { flash = "fixed-priority", ethernet = "fifo" }

[[vm]]
name = "manager"
image = "guest.elf"
memory = "4MiB"

[[vm.vcpu]]
class = "be"

[[vm]]
name = "rtos"
image = "guest.elf"
memory = "4MiB"

[[vm.vcpu]]
class = "rt"
hart = 0
priority = 200

[[vm.io_port]]
flash = { address = 0x0, size = "64KiB", writable = true }

[[vm.io_port]]
uart = "write"
ethernet = "02:00:00:00:00:01"

[vm.timed_io]
pins = [0, 1, 5]

[[vm]]
name = "gpos"
image = "guest.elf"
memory = "4MiB"

[[vm.vcpu]]
class = "be"

[[vm.io_port]]
uart = "read-write"
flash = { address = 0x1_0000, size = "4032KiB" }
vga = { x = 160, y = 0, width = 160, height = 240 }
ethernet = "02:00:00:00:00:02"

[[vm.io_port]]
vga = { x = 0, y = 0, width = 160, height = 120 }

[vm.timed_io]
pins = [7]
"#;

/// Tasks, and chains over all that has a bound.
const INSIDE: &str = r#"
[system]
platform = "soc"
harts = 2

[fabric]
design = "accelerators"

[accelerators]
manager = "manager"

[accelerators.costs]
trap = "1us"
resume = "1us"
interrupt = "1us"
search = "1us"
assign = "1us"
assign_configure = "3us"
preempt = "1us"
configured = "1us"
stopped = "1us"

[[vm]]
name = "manager"
image = "guest.elf"
memory = "4MiB"

[[vm.vcpu]]
class = "rt"
hart = 1
period = "500us"
budget = "150us"

[[vm]]
name = "sensor"
image = "guest.elf"
memory = "4MiB"

[[vm.vcpu]]
class = "rt"
hart = 0
period = "4ms"
budget = "500us"

[[vm.task]]
name = "sample"
period = "20ms"
wcet = "200us"
priority = 2

[[vm.task]]
name = "send"
period = "20ms"
wcet = "50us"
priority = 3
stimulus = "interrupt"
jitter = "18ms"

[[vm.accelerator]]
task = "fft512"

[[vm]]
name = "control"
image = "guest.elf"
memory = "4MiB"
console = false

[[vm.vcpu]]
class = "rt"
hart = 1
period = "2ms"
budget = "300us"

[[vm.task]]
name = "loop"
period = "20ms"
wcet = "100us"
priority = 3
stimulus = "interrupt"
jitter = "18ms"

[[vm.task]]
name = "log"
period = "20ms"
wcet = "100us"
priority = 1

[[channel]]
name = "link"
between = ["sensor", "control"]
size = "4KiB"

[[chain]]
name = "spectrum"
deadline = "60ms"
steps = ["sensor.sample", "sensor.fft512 40us", "sensor.send", "link", "control.loop"]

[[chain]]
name = "slow"
deadline = "60ms"
steps = ["link", "control.log"]
"#;

/// Tasks and chains are reported.
#[test]
fn tasks_and_chains_are_reported() {
    let files = files();
    let verdict = judge_text("inside.toml", INSIDE.into(), files.path());
    assert!(verdict.plan.is_some(), "{}", render(&verdict, files.path()));
    insta::assert_snapshot!("report-inside", super::report_of_tasks(&verdict));
    let json = super::command::to_json(&verdict);
    let json = serde_json::json!({ "tasks": json["tasks"], "chains": json["chains"] });
    let json = serde_json::to_string_pretty(&json).expect("JSON");
    insta::assert_snapshot!("report-inside-json", json);
    let mut text = SHARED_IO.replace(
        "priority = 200\n",
        "priority = 200\nperiod = \"5ms\"\nbudget = \"1ms\"\n",
    );
    let task = |name: &str, stimulus: &str| {
        format!(
            "[[vm.task]]\nname = \"{name}\"\nperiod = \"50ms\"\nwcet = \"200us\"\npriority = 1\n{stimulus}\n"
        )
    };
    let tasks = [
        task("loop", ""),
        task("done", "stimulus = \"interrupt\"\njitter = \"45ms\""),
    ];
    text = text.replacen(
        "[[vm.io_port]]",
        &format!("{}[[vm.io_port]]", tasks.concat()),
        1,
    );
    text += "[[chain]]\nname = \"send\"\ndeadline = \"1s\"\n";
    text += "steps = [\"rtos.loop\", \"rtos.ethernet send 64\"]\n";
    text += "[[chain]]\nname = \"load\"\ndeadline = \"10s\"\n";
    text += "steps = [\"rtos.flash read 256\", \"rtos.loop\", \"rtos.uart write 1\"]\n";
    text += "[[chain]]\nname = \"told\"\ndeadline = \"1s\"\n";
    text += "steps = [\"rtos.loop\", \"rtos.uart write 1\", \"rtos.done\"]\n";
    let verdict = judge_text("inside-io.toml", text, files.path());
    assert!(verdict.plan.is_some(), "{}", render(&verdict, files.path()));
    insta::assert_snapshot!("report-inside-io", super::report_of_tasks(&verdict));
}

/// Caches take of a budget what is stated, by deadlines and by priorities, and a task that lacks it is late.
#[test]
fn caches_take_of_budgets() {
    let files = files();
    let system = |priorities: [&str; 2], kind: &str, tasks: &str, reload: &str| {
        format!(
            r#"
[system]
platform = "soc"
harts = 1

[[vm]]
name = "plan"
image = "guest.elf"
memory = "4MiB"

[[vm.vcpu]]
class = "rt"
hart = 0
kind = "periodic"
period = "10ms"
budget = "2ms"
{}
{reload}

[[vm.task]]
name = "plan"
period = "100ms"
wcet = "5ms"
deadline = "50ms"
priority = 1

[[vm]]
name = "fast"
image = "guest.elf"
memory = "4MiB"

[[vm.vcpu]]
class = "rt"
hart = 0
kind = "{kind}"
period = "2ms"
budget = "200us"
{}
{tasks}
"#,
            priorities[0], priorities[1]
        )
    };
    let judge = |text: String| judge_text("reload.toml", text, files.path());
    let within = |verdict: &Verdict| verdict.tasks.vcpus[0].tasks[0].completion;
    let by_priority = ["priority = 10", "priority = 20"];
    let task = "[[vm.task]]\nname = \"tick\"\nperiod = \"5ms\"\nwcet = \"50us\"\npriority = 1\n";
    let reload = "reload = \"40us\"";
    let mut reports = String::new();
    for (priorities, kind, tasks) in [
        (["", ""], "periodic", ""),
        (["", ""], "server", task),
        (by_priority, "periodic", ""),
        (by_priority, "server", task),
    ] {
        let without = judge(system(priorities, kind, tasks, ""));
        assert!(without.tasks.reloads.is_empty());
        let free = judge(system(priorities, kind, tasks, "reload = \"0us\""));
        assert_eq!(within(&free), within(&without));
        let with = judge(system(priorities, kind, tasks, reload));
        assert!(with.plan.is_some(), "{}", render(&with, files.path()));
        let [found] = with.tasks.reloads.as_slice() else {
            panic!("one has a cost")
        };
        assert_eq!(found.left(), 20_000 - 400 * found.times());
        assert_eq!(with.tasks.vcpus[0].left, found.left());
        // As if the budget were so much smaller, and the vCPU had it as late as it has all of it.
        let begin = without.tasks.vcpus[0].begin;
        assert_eq!(with.tasks.vcpus[0].begin, begin + 400 * found.times());
        reports += &super::report_of_tasks(&with);
    }
    insta::assert_snapshot!("report-reload", reports);
    let with = judge(system(["", ""], "periodic", "", reload));
    let json = super::command::to_json(&with);
    let json = serde_json::to_string_pretty(&json["reloads"]).expect("JSON");
    insta::assert_snapshot!("report-reload-json", json);
    let late = judge(system(["", ""], "periodic", "", "reload = \"340us\""));
    insta::assert_snapshot!("reload-late", render(&late, files.path()));
}

/// One port and four engines more than the design has.
#[test]
fn too_many_io_ports() {
    let files = files();
    let vm = |name: &str, more: &str| {
        format!(
            "[[vm]]\nname = \"{name}\"\nimage = \"guest.elf\"\nmemory = \"4MiB\"\n[[vm.vcpu]]\nclass = \"be\"\n{more}\n"
        )
    };
    let port = vm("more", "[[vm.io_port]]\nuart = \"write\"");
    let engines: String = (2..=4)
        .map(|pin| {
            vm(
                &format!("vm{pin}"),
                &format!("[vm.timed_io]\npins = [{pin}]"),
            )
        })
        .collect();
    for (name, more) in [("too-many-io-ports", port), ("too-many-engines", engines)] {
        let text = format!("{SHARED_IO}{more}");
        let verdict = judge_text("beyond.toml", text, files.path());
        insta::assert_snapshot!(name, render(&verdict, files.path()));
    }
}

/// A port's page is no VM's to have beside, and its memory has to be where ports reach.
#[test]
fn pages_and_memory_of_io_ports() {
    let files = files();
    let device = r#"
[[vm.device]]
name = "port"
address = 0x4000_1000
guest_address = 0x5000_0000
size = "4KiB"

[[vm.device]]
name = "engine"
address = 0x4000_a000
guest_address = 0x2802_0000
size = "4KiB"
"#;
    let place = "[[vm]]\nname = \"gpos\"";
    let taken = SHARED_IO.replacen(place, &format!("{device}\n{place}"), 1);
    let harts = "harts = 2";
    let high = SHARED_IO.replacen(harts, "harts = 2\nmemory = \"4GiB\"", 1);
    let name = "name = \"gpos\"";
    let high = high.replacen(name, &format!("{name}\nhost_address = 0x1_0000_0000"), 1);
    for (name, text) in [("io-pages", taken), ("io-memory", high)] {
        assert_ne!(text, SHARED_IO);
        let verdict = judge_text("taken.toml", text, files.path());
        insta::assert_snapshot!(name, render(&verdict, files.path()));
    }
}

/// One accelerator more than there are interfaces.
#[test]
fn too_many_accelerators() {
    let files = files();
    let more = "[[vm]]\nname = \"more\"\nimage = \"guest.elf\"\nmemory = \"4MiB\"\n[[vm.vcpu]]\nclass = \"be\"\n[[vm.accelerator]]\ntask = \"qam16\"\n";
    let text = format!("{SHARED}{more}");
    let verdict = judge_text("beyond.toml", text, files.path());
    insta::assert_snapshot!("too-many-accelerators", render(&verdict, files.path()));
}

/// The system's deferral period is the one that admission counts with, and that the hypervisor keeps.
#[test]
fn a_system_has_its_own_deferral_period() {
    let files = files();
    let slower = SHARED.replacen("harts = 2", "harts = 2\ndeferral_period = \"2ms\"", 1);
    for (text, ticks) in [(SHARED, 5_000), (&slower, 20_000)] {
        let verdict = judge_text("deferral.toml", text.to_owned(), files.path());
        let guarantee = verdict.guarantee.as_ref().expect("it is judged");
        assert_eq!(guarantee.overheads.service_period, ticks);
        let plan = verdict.plan.as_ref().expect("it is fine");
        assert_eq!(plan.overheads.service_period, ticks);
    }
}

/// Admission at run time keeps deadlines, and no shorter times.
#[test]
fn where_guests_reserve_at_run_time_the_bound_is_the_deadline() {
    let files = files();
    let reserves = "rt_vcpus = 2\nrt_share = \"10%\"\nrt_memory = \"64KiB\"\n";
    let fixed = GUARANTEED.replacen(reserves, "", 1);
    assert_ne!(fixed, GUARANTEED);
    let sooner = |text: &str| -> Vec<bool> {
        let verdict = judge_text("reserves.toml", text.to_owned(), files.path());
        let guarantee = verdict.guarantee.as_ref().expect("it is judged");
        let by_deadline = guarantee.harts.iter().flat_map(|hart| &hart.vcpus);
        let by_deadline = by_deadline.filter(|vcpu| vcpu.priority.is_none());
        by_deadline
            .map(|vcpu| {
                let own = vcpu.reservation.expect("it goes by deadlines");
                let Answer::Within(ticks) = vcpu.answer else {
                    panic!("{} has no bound", vcpu.name);
                };
                let start = vcpu.start.expect("it has a bound");
                assert!(start + own.budget <= own.deadline && ticks <= own.deadline);
                ticks < own.deadline
            })
            .collect()
    };
    assert_eq!(sooner(GUARANTEED), [false, false]);
    assert_eq!(sooner(&fixed), [true, true]);
}

/// A vCPU's own interrupt distance is what admission counts its interrupts by, and what the hypervisor keeps.
#[test]
fn a_vcpu_has_its_own_interrupt_distance() {
    let files = files();
    let own = |distance: &str| {
        let line = format!("budget = \"5ms\"\ninterrupt_distance = \"{distance}\"");
        let text = SHARED.replacen("budget = \"5ms\"", &line, 1);
        assert_ne!(text, SHARED);
        judge_text("distance.toml", text, files.path())
    };
    let interrupts = |verdict: &Verdict| {
        let guarantee = verdict.guarantee.as_ref().expect("it is judged");
        guarantee.interrupts
    };
    let without = judge_text("distance.toml", SHARED.to_owned(), files.path());
    // The deferral period is 500 us; the VM has a vCPU and four sources of interrupts.
    for (distance, more) in [("500us", 0), ("499us", 5), ("250us", 5), ("120us", 20)] {
        let verdict = own(distance);
        assert_eq!(
            interrupts(&verdict),
            interrupts(&without) + more,
            "{distance}"
        );
    }
    for (name, distance) in [
        ("distance-long", "501us"),
        ("distance-short", "9us"),
        ("distance-often", "10us"),
    ] {
        insta::assert_snapshot!(name, render(&own(distance), files.path()));
    }
}

/// A bound rests on the manager's reservation.
#[test]
fn the_manager_needs_a_reservation_that_suffices() {
    let files = files();
    let own = "class = \"rt\"\nhart = 1\nperiod = \"250us\"\nbudget = \"75us\"";
    let instead = [
        ("manager-best-effort", "class = \"be\""),
        (
            "manager-unlimited",
            "class = \"rt\"\nhart = 1\npriority = 9\nbudget = \"unlimited\"",
        ),
        (
            "manager-budget",
            "class = \"rt\"\nhart = 1\nperiod = \"250us\"\nbudget = \"20us\"",
        ),
    ];
    for (name, other) in instead {
        let text = SHARED.replacen(own, other, 1);
        assert_ne!(text, SHARED);
        let verdict = judge_text("unserved.toml", text, files.path());
        insta::assert_snapshot!(name, render(&verdict, files.path()));
    }
}

/// Pages that sharing has given away, and places where it has put them.
#[test]
fn pages_of_shared_accelerators_are_taken() {
    let files = files();
    let devices = r#"
[[vm.device]]
name = "region"
address = 0x4000_2000
guest_address = 0x5000_0000
size = "4KiB"

[[vm.device]]
name = "other"
address = 0x4001_0000
guest_address = 0x5000_1000
size = "4KiB"
interrupts = [48]

[[vm.device]]
name = "rtc"
address = 0x10_1000
guest_address = 0x2800_2000
size = "4KiB"
"#;
    let place = "[[vm]]\nname = \"manager\"";
    let text = SHARED.replacen(place, &format!("{devices}\n{place}"), 1);
    let verdict = judge_text("taken.toml", text, files.path());
    insta::assert_snapshot!("shared-pages", render(&verdict, files.path()));
}

/// The bitstreams are in the device manager's memory, and have to fit there.
#[test]
fn bitstreams_have_to_fit_the_managers_memory() {
    let files = files();
    let large = elf_file(&ElfFile {
        segments: vec![(0x8020_0000, 0x8020_0000, vec![0x13; 4], 0x19_0000)],
        ..ElfFile::default()
    });
    fs::write(files.path().join("large.elf"), large).expect("a file");
    let manager = "name = \"manager\"\nimage = \"guest.elf\"";
    let text = SHARED.replacen(manager, "name = \"manager\"\nimage = \"large.elf\"", 1);
    assert_ne!(text, SHARED);
    let verdict = judge_text("full.toml", text, files.path());
    insta::assert_snapshot!("bitstreams-fit", render(&verdict, files.path()));
}

/// Tiles that share what there is; one is far away, one says where it is.
const TILES: &str = r#"
[system]
platform = "manycore"

[fabric]
design = "manycore"

[io]
policy = { flash = "fixed-priority" }

[[vm]]
name = "valve"
image = "tile.elf"
bootargs = "rounds=10"

[[vm.io_port]]
uart = "read-write"
flash = { address = 0x1000, size = "8KiB" }

[vm.timed_io]
pins = [0, 1]

[[vm]]
name = "camera"
image = "tile.elf"
tile = 15

[[vm.io_port]]
flash = { address = 0x4000, size = "4KiB", writable = true }
vga = { x = 0, y = 0, width = 160, height = 120 }
ethernet = "02:00:00:00:00:0f"

[[vm]]
name = "logger"
image = "tile.elf"
"#;

#[test]
fn fine_systems_of_tiles_are_summed_up_and_have_no_boot_image() {
    let files = files();
    let verdict = judge_text("tiles.toml", TILES.into(), files.path());
    let tiles = verdict
        .tiles
        .as_ref()
        .unwrap_or_else(|| panic!("{}", render(&verdict, files.path())));
    insta::assert_snapshot!("summary-tiles", of_tiles(tiles, &verdict));
    let refusal = crate::image::build(verdict).expect_err("there is no image");
    let codes: Vec<Code> = refusal.problems().iter().map(Problem::kind).collect();
    assert_eq!(codes, [Code::NoBootImage]);
}

#[test]
fn fine_systems_are_summed_up() {
    let files = files();
    for (name, text) in [
        ("summary", RICH),
        ("summary-guaranteed", GUARANTEED),
        ("summary-accelerators", SHARED),
        ("summary-io", SHARED_IO),
    ] {
        let verdict = judge_text("rich.toml", text.into(), files.path());
        let plan = verdict
            .plan
            .as_ref()
            .unwrap_or_else(|| panic!("{}", render(&verdict, files.path())));
        insta::assert_snapshot!(name, summary(plan, &verdict));
        assert_eq!(super::exit_code(&verdict), std::process::ExitCode::SUCCESS);
    }
}

/// The report of a system that is fine, and of one that is refused.
#[test]
fn guarantees_are_reported() {
    let files = files();
    let fine = judge_text("rich.toml", GUARANTEED.into(), files.path());
    let refused = judge("over-subscribed", files.path());
    for (name, verdict) in [("report", fine), ("report-refused", refused)] {
        let guarantee = verdict.guarantee.as_ref().expect("a platform");
        insta::assert_snapshot!(name, super::report(guarantee));
        let json = serde_json::to_string_pretty(&super::report::to_json(guarantee));
        insta::assert_snapshot!(format!("{name}-json"), json.expect("JSON"));
    }
}

/// As many reservations as the hypervisor keeps account of, and one more.
#[test]
fn too_many_reservations() {
    let files = files();
    let text = |number: usize| {
        let mut text = "[system]\nplatform = \"mpsoc\"\nharts = 1\n".to_owned();
        let vcpu =
            "[[vm.vcpu]]\nclass = \"rt\"\nhart = 0\nperiod = \"100ms\"\nbudget = \"400us\"\n";
        for (vm, vcpus) in [16, 16, number - 32].into_iter().enumerate() {
            text +=
                &format!("[[vm]]\nname = \"vm{vm}\"\nimage = \"guest.elf\"\nmemory = \"4MiB\"\n");
            text += "[[vm.vcpu]]\nclass = \"be\"\n"
                .repeat(usize::from(vcpus == 0))
                .as_str();
            text += &vcpu.repeat(vcpus);
        }
        text
    };
    let most = judge_text("most.toml", text(32), files.path());
    assert!(most.plan.is_some(), "{}", render(&most, files.path()));
    let beyond = judge_text("beyond.toml", text(33), files.path());
    insta::assert_snapshot!("too-many-reservations", render(&beyond, files.path()));
}

/// The image of [`RICH`], for the tests of the builder.
pub(crate) fn rich_image() -> (crate::image::Image, crate::plan::Plan) {
    image_of(RICH)
}

/// The image of [`GUARANTEED`].
pub(crate) fn guaranteed_image() -> (crate::image::Image, crate::plan::Plan) {
    image_of(GUARANTEED)
}

/// The image of [`SHARED`] without turns, so that the region allocator is used.
pub(crate) fn allocated_image() -> (crate::image::Image, crate::plan::Plan) {
    let turns = "turn = \"200us\"\nturn_every = \"100ms\"\n";
    let text = SHARED.replacen(turns, "", 1);
    assert_ne!(text, SHARED);
    image_of(&text)
}

/// The image of [`SHARED`], where the manager has a channel to the second VM.
pub(crate) fn shared_image() -> (crate::image::Image, crate::plan::Plan) {
    let channels = "[[channel]]\nname = \"other\"\nbetween = [\"rtos\", \"gpos\"]\nsize = \"4KiB\"\n[[channel]]\nname = \"regions\"\nbetween = [\"gpos\", \"manager\"]\nsize = \"4KiB\"\n";
    image_of(&format!("{SHARED}{channels}"))
}

/// The image of three VMs, of which the first manages the other two, and the second the third.
pub(crate) fn managed_image() -> (crate::image::Image, crate::plan::Plan) {
    let vm = |name: &str, manages: &str| {
        format!(
            "[[vm]]\nname = \"{name}\"\nimage = \"guest.elf\"\nmemory = \"4MiB\"\nmanages = [{manages}]\n[[vm.vcpu]]\nclass = \"be\"\n"
        )
    };
    image_of(&format!(
        "[system]\nplatform = \"qemu-virt\"\nharts = 2\n{}{}{}",
        vm("first", "\"last\", \"second\""),
        vm("second", "\"last\""),
        vm("last", ""),
    ))
}

/// The image of two VMs of whose memory a part is in on-chip memory, and one without.
pub(crate) fn onchip_image() -> (crate::image::Image, crate::plan::Plan) {
    image_of(ONCHIP)
}

/// The image of three VMs, of which the first calls the second, and that the third.
pub(crate) fn calls_image() -> (crate::image::Image, crate::plan::Plan) {
    let vm = |name: &str| {
        format!(
            "[[vm]]\nname = \"{name}\"\nimage = \"guest.elf\"\nmemory = \"4MiB\"\n[[vm.vcpu]]\nclass = \"be\"\n"
        )
    };
    let channel = |name: &str, between: &str, calls: &str| {
        format!(
            "[[channel]]\nname = \"{name}\"\nbetween = [{between}]\nsize = \"4KiB\"\ncalls = \"{calls}\"\n"
        )
    };
    image_of(&format!(
        "[system]\nplatform = \"qemu-virt\"\nharts = 2\n{}{}{}{}{}",
        vm("first"),
        vm("second"),
        vm("third"),
        channel("one", "\"first\", \"second\"", "10us"),
        channel("other", "\"second\", \"third\"", "2us"),
    ))
}

/// The image of two VMs with two channels, of which the second one's memory is reserved. One makes real-time vCPUs.
pub(crate) fn reserved_image() -> (crate::image::Image, crate::plan::Plan) {
    let vm = |name: &str, more: &str| {
        format!(
            "[[vm]]\nname = \"{name}\"\nimage = \"guest.elf\"\nmemory = \"4MiB\"\n{more}[[vm.vcpu]]\nclass = \"be\"\n"
        )
    };
    let channel = |name: &str, size: &str, more: &str| {
        format!(
            "[[channel]]\nname = \"{name}\"\nbetween = [\"first\", \"second\"]\nsize = \"{size}\"\n{more}"
        )
    };
    let real_time = "rt_vcpus = 1\nrt_share = \"10%\"\nrt_memory = \"64KiB\"\n";
    image_of(&format!(
        "[system]\nplatform = \"qemu-virt\"\nharts = 1\n{}{}{}{}",
        vm("first", real_time),
        vm("second", ""),
        channel("bare", "4KiB", ""),
        channel("shared", "64KiB", "reserved_memory = true\n"),
    ))
}

/// The image of two VMs with PCI hosts that a third one emulates, and memory that the two share.
pub(crate) fn pci_hosts_image() -> (crate::image::Image, crate::plan::Plan) {
    let vm = |name: &str| {
        format!(
            "[[vm]]\nname = \"{name}\"\nimage = \"guest.elf\"\nmemory = \"4MiB\"\n[[vm.vcpu]]\nclass = \"be\"\n"
        )
    };
    let channel = |name: &str, between: &str, more: &str| {
        format!("[[channel]]\nname = \"{name}\"\nbetween = [{between}]\nsize = \"8KiB\"\n{more}")
    };
    let host = |more: &str| {
        format!("calls = \"10us\"\ndevice = {{ compatible = \"pci-host-ecam-generic\"{more} }}\n")
    };
    image_of(&format!(
        "[system]\nplatform = \"qemu-virt\"\nharts = 1\n{}{}{}{}{}{}",
        vm("first"),
        vm("second"),
        vm("third"),
        channel("one", "\"first\", \"third\"", &host("")),
        channel("shared", "\"first\", \"second\"", ""),
        channel(
            "other",
            "\"second\", \"third\"",
            &host(", address = 0x5000_0000, size = \"2MiB\"")
        ),
    ))
}

/// The image of two VMs with lists of warm lines.
pub(crate) fn warm_image() -> (crate::image::Image, crate::plan::Plan) {
    let vcpu = |priority: u8, warm: &str| {
        format!(
            "[[vm.vcpu]]\nclass = \"rt\"\nhart = 0\npriority = {priority}\nbudget = \"unlimited\"\n{warm}"
        )
    };
    let vm = |name: &str| {
        format!("[[vm]]\nname = \"{name}\"\nimage = \"guest.elf\"\nmemory = \"4MiB\"\n")
    };
    let list = |name: &str| format!("warm = \"{name}.warm.toml\"\n");
    image_of(&format!(
        "[system]\nplatform = \"qemu-virt\"\nharts = 1\n{}{}{}{}{}",
        vm("first"),
        vcpu(9, ""),
        vcpu(8, &list("good")),
        vm("second"),
        vcpu(7, &list("good")),
    ))
}

/// The image of [`RICH`] with the RTOS's hart for user level only.
pub(crate) fn migrating_image() -> (crate::image::Image, crate::plan::Plan) {
    image_of(&RICH.replacen("[system]\n", "[system]\nmigration = \"automatic\"\n", 1))
}

/// The image of [`RICH`] on a board, whose spare UART makes `trusted` needless.
pub(crate) fn spare_uart_image() -> (crate::image::Image, crate::plan::Plan) {
    let text = RICH.replace("trusted = true\n", "");
    image_of(&text.replace("\"qemu-virt\"", "\"soc\""))
}

/// The image of [`RICH`] without separation.
pub(crate) fn unseparated_image() -> (crate::image::Image, crate::plan::Plan) {
    image_of(&RICH.replacen("[system]\n", "[system]\nseparation = false\n", 1))
}

fn image_of(text: &str) -> (crate::image::Image, crate::plan::Plan) {
    let files = files();
    let verdict = judge_text("rich.toml", text.into(), files.path());
    let plan = verdict.plan.clone().expect("a plan");
    (crate::image::build(verdict).expect("an image"), plan)
}

/// What the fuzzer found worth keeping.
#[test]
fn saved_descriptions_are_judged_and_built() {
    for directory in ["fuzz/corpus/system_toml", "tactus/tests/faults"] {
        each_file(directory, |bytes| {
            BENCH.try_description(bytes);
        });
    }
}

/// The systems that come with the project, whatever their guests are.
#[test]
fn systems_are_accepted() {
    each_file("systems", |bytes| assert!(BENCH.try_description(bytes)));
}

/// A vCPU of one kind or another, and a best-effort one.
fn any_vcpus() -> impl Strategy<Value = String> {
    let kind = prop_oneof![
        2 => Just(""),
        1 => Just("class = \"rt\"\nhart = {}\n"),
        1 => Just("class = \"rt\"\nharts = [0, {}]\n"),
        1 => Just("class = \"rt\"\nhart = {}\npriority = 3\n"),
    ];
    (kind, 0..3u32, 1..20u64, 1..50u64).prop_map(|(kind, hart, period, part)| {
        let mut text = format!("[[vm.vcpu]]\nclass = \"be\"\nharts = [{hart}]\n");
        if !kind.is_empty() {
            text += &format!("[[vm.vcpu]]\n{}", kind.replace("{}", &hart.to_string()));
            // A deadline a little shorter than the period, and up to half of the hart.
            let (budget, deadline) = (period * part * 10, period * 900);
            text += &format!(
                "period = \"{period}ms\"\nbudget = \"{budget}us\"\ndeadline = \"{deadline}us\"\n"
            );
        }
        text
    })
}

/// A VM with memory here and there, perhaps a device, and vCPUs.
fn any_vm() -> impl Strategy<Value = String> {
    let memory = prop_oneof![4 => 2..40u64, 1 => Just(512), 1 => Just(513)];
    let host = prop::option::weighted(0.2, 0x410..0x600u64);
    let device = prop::option::weighted(
        0.2,
        (
            prop_oneof![
                Just(0x10_1000u64),
                Just(0x1000_0000),
                Just(0x2000_0000),
                Just(0x2000_1000)
            ],
            prop::option::of(prop_oneof![
                Just(0x5000_0000u64),
                Just(0x3000_0000),
                Just(0x8020_0000)
            ]),
        ),
    );
    (memory, host, device, any::<bool>(), any_vcpus(), 0..3u32).prop_map(
        |(memory, host, device, console, vcpus, places)| {
            let mut text = format!(
                "image = \"guest\"\nmemory = \"{}MiB\"\nconsole = {console}\n",
                2 * memory
            );
            if let Some(host) = host {
                text += &format!("host_address = {:#x}\n", host << 21);
            }
            if places > 0 {
                text += &format!("rt_vcpus = {places}\nrt_share = \"20%\"\n");
            }
            text += &vcpus;
            if let Some((address, guest)) = device {
                text += &format!(
                    "[[vm.device]]\naddress = {address:#x}\nsize = 0x1000\ntrusted = true\n"
                );
                if let Some(guest) = guest {
                    text += &format!("guest_address = {guest:#x}\n");
                }
            }
            text
        },
    )
}

/// A system of which about every other one is fine.
fn any_system() -> impl Strategy<Value = String> {
    let vms = prop::collection::vec(any_vm(), 1..5);
    let channels = prop::collection::vec((0..5usize, 0..5usize, 1..20u64), 0..3);
    let memory = prop_oneof![Just(1u64), Just(2), Just(4), Just(6)];
    (memory, vms, channels).prop_map(|(memory, vms, channels)| {
        let mut text = format!("[system]\nplatform = \"qemu-virt\"\nharts = 3\nmemory = \"{memory}GiB\"\n");
        for (i, vm) in vms.iter().enumerate() {
            text += &format!("[[vm]]\nname = \"vm{i}\"\n{vm}");
        }
        for (i, (a, b, size)) in channels.iter().enumerate() {
            let (a, b) = (a % vms.len(), b % vms.len());
            let size = size * 4;
            text += &format!("[[channel]]\nname = \"c{i}\"\nbetween = [\"vm{a}\", \"vm{b}\"]\nsize = \"{size}KiB\"\n");
        }
        text
    })
}

/// The same with its cache divided; the first VM perhaps states its colours.
fn divided_system() -> impl Strategy<Value = String> {
    let stated = prop::option::of((0..4u32, 0..16u32));
    (any_system(), stated).prop_map(|(text, stated)| {
        let moved = |line: &&str| !line.starts_with("host_address");
        let lines: Vec<&str> = text.lines().filter(moved).collect();
        let text = lines.join("\n") + "\n";
        let text = text.replacen("harts = 3\n", "harts = 3\ncache_colours = true\n", 1);
        match stated {
            Some((bits, first)) => {
                let first = first >> bits << bits;
                let name = "name = \"vm0\"\n";
                let colours = format!(
                    "{name}cache_colours = \"{first}-{}\"\n",
                    first + (1 << bits) - 1
                );
                text.replacen(name, &colours, 1)
            }
            None => text,
        }
    })
}

proptest! {
    #[test]
    fn no_text_makes_the_check_panic(bytes: Vec<u8>) {
        BENCH.try_description(&bytes);
    }

    #[test]
    fn what_is_accepted_is_isolated(text in any_system()) {
        BENCH.try_description(text.as_bytes());
    }

    #[test]
    fn what_is_divided_is_isolated(text in divided_system()) {
        BENCH.try_description(text.as_bytes());
    }
}

static BENCH: LazyLock<Bench> = LazyLock::new(Bench::default);

/// The systems above are worth trying: a good part of them is accepted, and a good part is not.
#[test]
fn any_system_is_sometimes_fine() {
    let files = files();
    fs::write(files.path().join("guest"), elf_file(&ElfFile::default())).expect("a file");
    for systems in [any_system().boxed(), divided_system().boxed()] {
        let mut runner = TestRunner::deterministic();
        let mut fine = 0;
        for _ in 0..100 {
            let text = systems.new_tree(&mut runner).expect("a system").current();
            fine += usize::from(judge_text("any.toml", text, files.path()).plan.is_some());
        }
        assert!((20..80).contains(&fine), "{fine} of 100");
    }
}
