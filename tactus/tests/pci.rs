//! PCI functions of VMs, behind an IOMMU.

use std::fs::{self, File, Permissions};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tactus::cli::{Forward, Net};
use tactus::pci::Model;
use tactus::run::board::Options;
use tactus::run::functions::{Card, Disk, Functions};
use tactus::run::machine::Platform;
use tactus::run::session::{Outcome, Verdict};
use tactus_board::board::Pace;
use tempfile::NamedTempFile;

use crate::harness::{On, assert_verdict, boot, boot_text, explain, on_both, once, output, root};

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
        On::Qemu => Net::User {
            forwards: Vec::new(),
        },
        _ => Net::Files {
            received: None,
            sent: Some(frames.path().to_owned()),
        },
    };
    let functions = Functions {
        disks: vec![Disk::virtio(image.path().to_owned())],
        nets: vec![Card::virtio(net)],
        ..Functions::default()
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

/// Debian's own drivers of an NVMe disk and of an e1000e, whose interrupts are those of their pins.
#[test]
fn linux_has_an_nvme_disk_and_an_e1000e() {
    let image = disk(8);
    let system = fs::read_to_string(root().join("systems/linux-disk.toml")).expect("it is there");
    let system = system
        .replace(
            "tactus.run=disk",
            "tactus.run=disk tactus.mib=2 tactus.gateway=10.0.2.2",
        )
        .replace("quiet ", "");
    let mut boot = boot_text(On::Qemu, &system);
    boot.plan = boot.plan.until("linux").expect("the system has it");
    boot.plan.functions = Functions {
        disks: vec![Disk {
            model: Model::Nvme,
            image: image.path().to_owned(),
        }],
        nets: vec![Card {
            model: Model::E1000e,
            ends: Net::User {
                forwards: Vec::new(),
            },
        }],
        ..Functions::default()
    };
    let outcome = once(&boot);
    assert_verdict(&outcome, Verdict::Good);
    let linux = outcome.journal.vm("linux").expect("the system has it");
    let wanted = [
        "disk_there",
        "disk_write",
        "disk_read",
        "net_ping",
        "net_sent",
        "linux_disk",
    ];
    assert_eq!(linux.passed, wanted, "{}", explain(&outcome));
    assert!(linux.refused_dma.is_empty(), "{}", explain(&outcome));
    let said = linux.console.text();
    assert!(
        said.contains("nvme nvme0: pci function 0000:00:01.0"),
        "{said}"
    );
    assert!(said.contains("e1000e 0000:00:02.0 eth0"), "{said}");
    assert!(has_data(image.path()));
    let freertos = outcome.journal.vm("freertos").expect("the system has it");
    let missed = freertos.metrics.get("release_deadline_misses");
    assert!(missed.is_none_or(|missed| missed.value == 0.0));
}

/// What QEMU alone has is refused before the board starts.
#[test]
fn the_board_has_virtio_functions_alone() {
    let image = disk(1);
    let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
    command.current_dir(root());
    command.args(["run", "systems/hostile-dma.toml", "--platform", "board"]);
    command.arg("--pci-disk");
    command.arg(format!("nvme:{}", image.path().display()));
    let (code, stdout, stderr) = output(&mut command);
    assert_eq!(
        code,
        Some(2),
        "{stdout}
{stderr}"
    );
    assert!(stderr.contains("and no NVMe disk"), "{stderr}");
}

/// Whatever a guest has its disk do, no access leaves its own memory, and those beside it go on.
fn hostile_dma_is_refused(on: On) {
    let image = disk(1);
    let functions = Functions {
        disks: vec![Disk::virtio(image.path().to_owned())],
        ..Functions::default()
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

/// The first process of a Linux on a disk of its own: answers the host, keeps what that has sent on the disk, and goes
/// off. It computes while it waits: the time of an idle machine would be over before the host has come.
const INIT: &str = r#"#!/bin/busybox sh
bin="/bin/busybox"
$bin mount -t proc proc /proc
$bin ip link set eth0 up
$bin ip address add 10.0.2.15/24 dev eth0
echo "@tactus phase name=linux_up"
$bin nc -l -p 7 -e /bin/answer &
until [ -e /got ]; do :; done
$bin sync
[ "$($bin cat /got)" = "from the host" ] && echo "@tactus pass name=got"
$bin poweroff -f
"#;

/// What it answers with.
const ANSWER: &str = r#"#!/bin/busybox sh
read -r line
echo "$line" >/getting
echo "from the guest: $line"
/bin/busybox mv /getting /got
"#;

/// Makes the disk of that Linux in a folder of its own.
fn disk_of_linux(folder: &Path) -> PathBuf {
    let run = |command: &mut Command| {
        let (code, stdout, stderr) = output(command);
        assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    };
    let tree = folder.join("tree");
    for name in ["bin", "sbin", "proc", "dev"] {
        fs::create_dir_all(tree.join(name)).expect("a folder");
    }
    let initramfs = File::open(root().join("build/linux/initramfs.cpio")).expect("set-up makes it");
    let mut unpack = Command::new("cpio");
    unpack.args(["-i", "--quiet", "bin/busybox"]);
    run(unpack.current_dir(&tree).stdin(initramfs));
    for (name, text) in [("sbin/init", INIT), ("bin/answer", ANSWER)] {
        let path = tree.join(name);
        fs::write(&path, text).expect("it can be written");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("its mode");
    }
    let image = folder.join("disk.img");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut make = Command::new("mke2fs");
    make.env("PATH", format!("{path}:/usr/sbin:/sbin"));
    make.args(["-q", "-t", "ext4", "-E", "root_owner=0:0", "-d"]);
    run(make.arg(&tree).arg(&image).arg("16M"));
    image
}

/// Says a line to a port until there is an answer: where none listens yet, QEMU takes the connection and closes it.
fn ask(port: u16, line: &str, given_up: &AtomicBool) -> Option<String> {
    while !given_up.load(Ordering::Relaxed) {
        if let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
            let mut answer = String::new();
            if writeln!(stream, "{line}").is_ok()
                && BufReader::new(stream).read_line(&mut answer).is_ok()
                && !answer.is_empty()
            {
                return Some(answer);
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
    None
}

/// A port of the host that is free.
fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}

/// Linux goes on from the disk that `root=` names, and answers at the port that is forwarded to it. On the board, which
/// is on no network, see `debian`.
#[test]
fn linux_on_a_disk_is_reached_from_the_host() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let image = disk_of_linux(folder.path());
    let system = fs::read_to_string(root().join("systems/linux-disk.toml")).expect("it is there");
    let system = system.replace("tactus.run=disk", "root=/dev/vda rw");
    let port = free_port();
    let mut boot = boot_text(On::Qemu, &system);
    boot.plan.functions = Functions {
        disks: vec![Disk::virtio(image.clone())],
        nets: vec![Card::virtio(Net::User {
            forwards: vec![Forward {
                host: port,
                guest: 7,
            }],
        })],
        ..Functions::default()
    };
    let over = AtomicBool::new(false);
    let (outcome, answer) = thread::scope(|scope| {
        let asking = scope.spawn(|| ask(port, "from the host", &over));
        let outcome = once(&boot);
        over.store(true, Ordering::Relaxed);
        (outcome, asking.join().expect("it does not panic"))
    });
    assert_verdict(&outcome, Verdict::Good);
    assert_eq!(answer.as_deref(), Some("from the guest: from the host\n"));
    let linux = outcome.journal.vm("linux").expect("the system has it");
    assert_eq!(linux.passed, ["got"], "{}", explain(&outcome));
    // The file is on the disk.
    let (_, kept, _) = output(
        Command::new("debugfs")
            .env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin")
            .args(["-R", "cat /got"])
            .arg(&image),
    );
    assert_eq!(kept, "from the host\n");
}

/// A port that is not to be had is refused before the machine starts.
#[test]
fn ports_that_are_taken_are_refused() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = listener.local_addr().expect("its address").port();
    let image = disk(1);
    let run = |nets: &[&str], platform: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
        command.current_dir(root());
        command.args(["run", "systems/hostile-dma.toml", "--platform", platform]);
        command.arg("--pci-disk").arg(image.path());
        for net in nets {
            command.arg("--pci-net").arg(net);
        }
        let (code, stdout, stderr) = output(&mut command);
        assert_eq!(code, Some(2), "{stdout}\n{stderr}");
        stderr
    };
    let taken = run(&[&format!("user,tcp={port}:22")], "qemu");
    let reason = format!("port {port} of this machine cannot be forwarded");
    assert!(taken.contains(&reason), "{taken}");
    let free = free_port();
    let net = format!("user,tcp={free}:22");
    let twice = run(&[&net, &net], "qemu");
    let reason = format!("port {free} of this machine is forwarded twice");
    assert!(twice.contains(&reason), "{twice}");
    let board = run(&[&net], "board");
    assert!(board.contains("the board is on no network"), "{board}");
    let none = run(&["user,tcp=22"], "qemu");
    assert!(none.contains("such as tcp=2222:22"), "{none}");
}

/// Runs two boards that a cable links, and gives what each did.
fn linked() -> [Outcome; 2] {
    let directory = tempfile::tempdir().expect("a directory");
    let socket = directory.path().join("cable");
    let boots = ["left", "right"].map(|side| {
        let mut boot = boot(
            On::Board,
            &format!("systems/linked-{side}.toml"),
            Some("linux"),
        );
        let cable = Net::Cable {
            socket: socket.clone(),
            sent: None,
        };
        boot.plan.functions.nets = vec![Card::virtio(cable)];
        if let Platform::Board(options) = &mut boot.plan.launch.platform {
            **options = Options::of(&boot.image, None).expect("the board with PCI");
        }
        boot
    });
    let [left, right] = &boots;
    thread::scope(|scope| {
        let left = scope.spawn(|| once(left));
        let right = once(right);
        [left.join().expect("no panic"), right]
    })
}

/// Two Linux guests on two boards reach each other, and the runs repeat to the cycle.
fn linux_reaches_another_board() {
    let hashes = [(); 2].map(|()| {
        linked().map(|outcome| {
            assert_verdict(&outcome, Verdict::Good);
            let linux = outcome.journal.vm("linux").expect("the system has it");
            for check in ["net_no_loss", "net_large"] {
                let passed = linux.passed.iter().any(|passed| passed == check);
                assert!(passed, "{check}\n{}", explain(&outcome));
            }
            outcome.board.expect("it is the board").trace_hash
        })
    });
    assert_eq!(hashes[0], hashes[1]);
}

mod linux {
    use super::{On, linux_has_a_disk_and_a_network, linux_reaches_another_board};

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

    /// Linux boots four times.
    #[test]
    #[ignore = "long"]
    fn on_two_boards() {
        linux_reaches_another_board();
    }
}
