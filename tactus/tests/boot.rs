//! Plain Linux on the virtual board, without a hypervisor, up to its shell; and the command that boots it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use tactus::artifacts::Artifacts;
use tactus_board::board::{Board, Outcome};
use tactus_board::bus::Stop;
use tactus_board::devices::Console;
use tactus_board::profile::Profile;
use tactus_board::setup::{self, Options, Software};
use tactus_board::time::Femtoseconds;

/// How long the board runs before the console is looked at: 1 ms.
const LOOK: Femtoseconds = Femtoseconds(1_000_000_000_000);
/// Virtual time that Linux needs nowhere near of.
const LONG: Femtoseconds = Femtoseconds(20 * Femtoseconds::SECOND.0);

fn artifact(name: &str) -> Vec<u8> {
    let file = Artifacts::Workspace
        .file(name)
        .unwrap_or_else(|missing| panic!("{}", missing.reason));
    std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// A board that is about to boot Linux.
fn linux(harts: usize) -> (Board, Console) {
    let profile = Profile::named("soc").expect("it comes with the board");
    let options = Options {
        harts: Some(harts),
        ..Options::default()
    };
    let (mut board, console) =
        setup::board(&profile, &options, Vec::new()).expect("there is such a board");
    let firmware = std::fs::read("/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin")
        .expect("`make setup` installs OpenSBI");
    let software = Software {
        firmware: &firmware,
        kernel: Some(&artifact("linux")),
        initrd: Some(&artifact("initramfs")),
        bootargs: Some(
            "console=ttyS0 earlycon=sbi cryptomgr.notests \
             initcall_blacklist=jent_mod_init,load_system_certificate_list,init_kprobe_trace tactus.run=shell",
        ),
    };
    setup::boot(&mut board, &profile, &software).expect("it fits");
    (board, console)
}

/// Runs until the console has said `text`; gives all that it said.
#[track_caller]
fn until(board: &mut Board, console: &Console, text: &str) -> String {
    let mut said = String::new();
    while !said.contains(text) {
        let outcome = board.run(board.time() + LOOK);
        said += &String::from_utf8_lossy(&console.take_output());
        assert!(
            outcome == Outcome::Limit || said.contains(text),
            "{outcome}:\n{said}"
        );
        assert!(board.time() < LONG, "no {text:?}:\n{said}");
    }
    said
}

/// Linux comes to its shell on all harts, computes there, and switches the board off. Gives the hash of the run.
#[track_caller]
fn shell_on(harts: usize) -> u64 {
    let (mut board, console) = linux(harts);
    let said = until(&mut board, &console, "~ # ");
    assert!(
        said.contains(&format!("smp: Brought up 1 node, {harts} CPU")),
        "{said}"
    );
    assert!(
        said.contains(&format!("Linux is up on {harts} CPUs")),
        "{said}"
    );
    console.send(b"echo computed $((6 * 7)) on $(nproc)\n");
    until(&mut board, &console, &format!("computed 42 on {harts}"));
    console.send(b"exit\n");
    assert_eq!(board.run(LONG), Outcome::Stop(Stop::PowerOff));
    board.trace_hash()
}

#[test]
fn linux_comes_to_its_shell_on_1_hart() {
    shell_on(1);
}

#[test]
fn linux_comes_to_its_shell_on_2_harts() {
    shell_on(2);
}

#[test]
fn linux_comes_to_its_shell_on_4_harts_and_twice_the_same() {
    assert_eq!(shell_on(4), shell_on(4));
}

/// A snapshot in the middle of the boot goes on as the board itself does.
#[test]
fn linux_goes_on_from_a_snapshot() {
    let (mut board, console) = linux(2);
    until(&mut board, &console, "Brought up 1 node, 2 CPUs");
    let snapshot = board.snapshot();
    let end = board.time() + Femtoseconds(50 * LOOK.0);
    assert_eq!(board.run(end), Outcome::Limit);
    let (hash, said) = (board.trace_hash(), console.take_output());
    assert!(!said.is_empty(), "nothing happened behind the snapshot");

    let (mut other, console) = linux(2);
    other.run(Femtoseconds(LOOK.0));
    other
        .restore(&snapshot)
        .expect("it is of a board like this");
    let _ = console.take_output();
    assert_eq!(other.run(end), Outcome::Limit);
    assert_eq!(other.trace_hash(), hash);
    assert_eq!(console.take_output(), said);
}

fn tactus(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tactus"))
        .arg("boot")
        .args(arguments)
        .output()
        .expect("it starts");
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

/// `addi a0, zero, CODE; lui a1, 0x100; sw a0, (a1); j .` in M-mode: the finisher's code as the exit code.
#[test]
fn the_exit_code_says_how_the_software_ended() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = |name: &str, words: &[u32]| {
        let path = directory.path().join(name);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        std::fs::write(&path, bytes).expect("it can be written");
        path.to_str().expect("the path is text").to_owned()
    };
    let lui_a0 = |upper: u32| upper << 12 | 10 << 7 | 0x37;
    let finish = |upper: u32, lower: u32| {
        [
            lui_a0(upper),
            lower << 20 | 10 << 15 | 10 << 7 | 0x13,
            0x0010_05b7,
            0x00a5_a023,
            0x0000_006f,
        ]
    };
    let passes = program("passes", &finish(0x5, 0x555));
    let fails = program("fails", &finish(0x3, 0x333));
    let waits = program("waits", &[0x1050_0073, 0xffdf_f06f]);
    let (code, text) = tactus(&["--firmware", &passes, "--harts", "1"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("powered the board off"), "{text}");
    let (code, text) = tactus(&["--firmware", &fails, "--harts", "1"]);
    assert_eq!(code, Some(1), "{text}");
    let (code, text) = tactus(&["--firmware", &waits, "--harts", "1", "--limit", "0.01"]);
    assert_eq!(code, Some(4), "{text}");
    let (code, text) = tactus(&["--firmware", "/nowhere", "--harts", "1"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("/nowhere"), "{text}");
    let (code, text) = tactus(&["--firmware", &passes, "--harts", "5"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("at most 4"), "{text}");
    assert!(Path::new(&passes).exists());
}

/// A snapshot that is written at the end goes on where it was: the run in two processes is the run in one.
#[test]
fn a_run_goes_on_in_another_process() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let path = |name: &str| {
        let path = directory.path().join(name);
        path.to_str().expect("the path is text").to_owned()
    };
    // addi t0, t0, 1; j .-4
    let program: Vec<u8> = [0x0012_8293_u32, 0xffdf_f06f]
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .collect();
    std::fs::write(path("program"), program).expect("it can be written");
    let firmware = path("program");
    let boot = |more: &[&str]| {
        let mut arguments = vec!["--firmware", firmware.as_str(), "--harts", "2", "--timed"];
        arguments.extend(more);
        let (code, text) = tactus(&arguments);
        assert_eq!(code, Some(4), "{text}");
        text
    };
    let whole = boot(&["--limit", "0.002"]);
    let snapshot = path("snapshot");
    boot(&["--limit", "0.001", "--snapshot", &snapshot]);
    assert_eq!(boot(&["--limit", "0.002", "--restore", &snapshot]), whole);
    std::fs::write(&snapshot, b"something else").expect("it can be written");
    let (code, text) = tactus(&["--firmware", &firmware, "--restore", &snapshot]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("no snapshot"), "{text}");
}

/// Comes to where gdb is waited for and says that the run goes on without it. Gives how the command ended.
#[track_caller]
fn detached(arguments: &[&str]) -> (Option<i32>, String) {
    let free = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let port = free.local_addr().expect("it has one").port();
    drop(free);
    // A script for gdb is written where it starts.
    let folder = tempfile::tempdir().expect("a directory can be made");
    let mut child = Command::new(env!("CARGO_BIN_EXE_tactus"))
        .current_dir(&folder)
        .args(arguments)
        .args(["--gdb", &port.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stream = loop {
        if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
            break stream;
        }
        if child.try_wait().expect("it can be asked").is_some() {
            break TcpStream::connect(("127.0.0.1", port)).expect("it waits for gdb");
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    };
    stream.write_all(b"+$D#44").expect("it listens");
    let mut answer = [0; 16];
    let _ = stream.read(&mut answer);
    let output = child.wait_with_output().expect("it ends");
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

#[test]
fn gdb_comes_and_goes() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let path = directory.path().join("passes");
    // lui a0, 0x5; addi a0, a0, 0x555; lui a1, 0x100; sw a0, (a1); j .
    let program: Vec<u8> = [
        0x0000_5537_u32,
        0x5555_0513,
        0x0010_05b7,
        0x00a5_a023,
        0x0000_006f,
    ]
    .into_iter()
    .flat_map(u32::to_le_bytes)
    .collect();
    std::fs::write(&path, program).expect("it can be written");
    let firmware = path.to_str().expect("the path is text");
    let plain = tactus(&["--firmware", firmware, "--harts", "1"]).1;
    let (code, text) = detached(&["boot", "--firmware", firmware, "--harts", "1"]);
    assert_eq!(code, Some(0), "{text}");
    let hash = plain.lines().last().expect("the summary's last line");
    assert!(text.contains(hash), "{text}\nand without gdb: {hash}");

    let hello = concat!(env!("CARGO_MANIFEST_DIR"), "/../systems/hello.toml");
    let (code, text) = detached(&["run", hello, "--platform", "board"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("Trace hash"), "{text}");
}
