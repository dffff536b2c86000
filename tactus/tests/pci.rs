//! PCI functions of VMs, behind an IOMMU.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use tactus::cli::Net;
use tactus::run::board::Options;
use tactus::run::functions::Functions;
use tactus::run::machine::Platform;
use tactus::run::session::{Outcome, Verdict};
use tactus_board::board::Pace;
use tempfile::NamedTempFile;

use crate::harness::{On, assert_verdict, boot, explain, on_both, once};

/// A disk of so many MiB, empty.
fn disk(mib: u64) -> NamedTempFile {
    let file = NamedTempFile::with_prefix("disk").expect("a temporary file");
    file.as_file().set_len(mib << 20).expect("its length");
    file
}

/// Runs a system on a machine with these functions; the board is the one that has PCI.
fn run_with(on: On, system: &str, functions: Functions, until: &str) -> Outcome {
    let mut boot = boot(on, system, Some(until));
    boot.plan.functions = functions;
    if let Platform::Board(options) = &mut boot.plan.launch.platform {
        let pace = options.pace;
        **options = Options::of(&boot.image, None).expect("the board with PCI");
        options.pace = pace;
        assert_ne!(pace, Pace::Timed);
    }
    once(&boot)
}

/// Linux writes its disk and reads it back, and reaches the network, beside FreeRTOS, which misses nothing.
fn linux_has_a_disk_and_a_network(on: On) {
    let image = disk(8);
    let frames = NamedTempFile::with_prefix("frames").expect("a temporary file");
    let net = match on {
        On::Qemu => Net::User,
        _ => Net::Files {
            received: None,
            sent: Some(frames.path().to_owned()),
        },
    };
    let functions = Functions {
        disks: vec![image.path().to_owned()],
        nets: vec![net],
    };
    let outcome = run_with(on, "systems/linux-disk.toml", functions, "linux");
    assert_verdict(&outcome, Verdict::Good);
    let vm = |name| outcome.journal.vm(name).expect("the system has it");
    let wanted = [
        "disk_there",
        "disk_write",
        "disk_read",
        "net_sent",
        "linux_disk",
    ];
    assert_eq!(vm("linux").passed, wanted, "{}", explain(&outcome));
    assert!(vm("linux").refused_dma.is_empty(), "{}", explain(&outcome));
    let missed = vm("freertos").metrics.get("release_deadline_misses");
    assert!(missed.is_none_or(|missed| missed.value == 0.0));
    match on {
        // What was written is in the file.
        On::Qemu => assert!(has_data(image.path())),
        _ => {
            assert!(!has_data(image.path()));
            let sent = frames.as_file().metadata().expect("its length").len();
            assert!(sent > 24, "frames behind the header of the capture");
        }
    }
}

fn has_data(path: &Path) -> bool {
    let mut bytes = Vec::new();
    let mut file = File::open(path).expect("it is there");
    file.read_to_end(&mut bytes).expect("it can be read");
    bytes.iter().any(|byte| *byte != 0)
}

/// Whatever a guest has its disk do, no access leaves its own memory, and those beside it go on.
fn hostile_dma_is_refused(on: On) {
    let image = disk(1);
    let functions = Functions {
        disks: vec![image.path().to_owned()],
        nets: Vec::new(),
    };
    let outcome = run_with(on, "systems/hostile-dma.toml", functions, "watcher");
    assert_verdict(&outcome, Verdict::Good);
    let hostile = outcome.journal.vm("hostile").expect("the system has it");
    assert_eq!(hostile.passed, ["hostile-dma"], "{}", explain(&outcome));
    let figure = |name: &str| hostile.metrics[name].value;
    assert_eq!(figure("dma_escapes"), 0.0, "{}", explain(&outcome));
    assert_eq!((figure("dma_steps"), figure("dma_lives")), (200.0, 4.0));
    assert!(hostile.refused_dma[&1] >= 64, "{}", explain(&outcome));
    let watcher = outcome.journal.vm("watcher").expect("the system has it");
    assert_eq!(watcher.failed, [], "{}", explain(&outcome));
}

on_both!(hostile_dma_is_refused);

mod linux {
    use super::{On, linux_has_a_disk_and_a_network};

    #[test]
    fn on_qemu() {
        linux_has_a_disk_and_a_network(On::Qemu);
    }

    /// Linux boots on the board for a minute.
    #[test]
    #[ignore = "long"]
    fn on_the_board() {
        linux_has_a_disk_and_a_network(On::Board);
    }
}
