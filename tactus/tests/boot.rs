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

/// The time between two looks at the console: 1 ms.
const LOOK: Femtoseconds = Femtoseconds(1_000_000_000_000);
/// Virtual time far beyond the time that Linux needs to boot.
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

/// Runs until the console has printed `text`; returns its whole output.
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

/// Linux boots to its shell on all harts, computes there, and powers the board off. Returns the hash of the run.
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
fn linux_reaches_its_shell_on_1_hart() {
    shell_on(1);
}

#[test]
fn linux_reaches_its_shell_on_2_harts() {
    shell_on(2);
}

#[test]
fn linux_reaches_its_shell_on_4_harts_and_twice_the_same() {
    assert_eq!(shell_on(4), shell_on(4));
}

/// A snapshot of the middle of the boot continues exactly as the board itself does.
#[test]
fn linux_continues_from_a_snapshot() {
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
    let (code, text) = tactus(&["--firmware", &passes, "--harts", "5"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("at most 4"), "{text}");
    assert!(Path::new(&passes).exists());
}

/// A snapshot at the end of a run continues it: the run in two processes equals the run in one.
#[test]
fn a_run_continues_in_another_process() {
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

/// Detaches gdb as soon as the command waits for it, so that the run continues. Returns the exit code and the output.
#[track_caller]
fn detached(arguments: &[&str]) -> (Option<i32>, String) {
    let free = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let port = free.local_addr().expect("it has one").port();
    drop(free);
    // The command writes a script for gdb into its working directory.
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
fn gdb_attaches_and_detaches() {
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

/// An ELF file of assembly code for the start of memory.
fn assemble(directory: &Path, name: &str, code: &str) -> String {
    let path = |extension: &str| directory.join(name).with_extension(extension);
    std::fs::write(path("S"), code).expect("it can be written");
    let output = Command::new("riscv64-unknown-elf-gcc")
        .args(["-march=rv64imac", "-mabi=lp64", "-misa-spec=2.2"])
        .args(["-nostdlib", "-static", "-Wl,-n,-Ttext=0x80000000", "-o"])
        .args([path("elf"), path("S")])
        .output()
        .expect("`make setup` installs the assembler");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    path("elf").to_str().expect("the path is text").to_owned()
}

/// Runs the command with input on stdin.
fn tactus_with_input(arguments: &[&str], input: &str) -> (Option<i32>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tactus"))
        .arg("boot")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("it has one");
    stdin.write_all(input.as_bytes()).expect("it is read");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

/// A message without the blanks, line breaks and frame characters that depend on the terminal's width.
fn squeezed(text: &str) -> String {
    let is_drawn = |c: char| c.is_whitespace() || c == '\u{2502}' || c == '\u{d7}';
    text.chars().filter(|c| !is_drawn(*c)).collect()
}

/// A program that uses HTIF, and fails in test case 3.
///
/// It prints and waits for the answer to each character, echoes one character of input, and writes a line by a system
/// call.
const HTIF: &str = r#"
    .globl _start, tohost, fromhost
_start:
    bnez    a0, park
    la      s0, tohost
    la      s1, fromhost
    li      s2, 0x0101              # device 1, command 1: print
    slli    s2, s2, 48
    la      s3, text
1:  lbu     a0, 0(s3)
    beqz    a0, 2f
    or      a0, a0, s2
    call    ask
    addi    s3, s3, 1
    j       1b
2:  li      a0, 0x0100              # device 1, command 0: read
    slli    a0, a0, 48
    call    ask
    andi    a0, a0, 0xff
    or      a0, a0, s2
    call    ask
    la      a0, call                # device 0, command 0: a system call
    call    ask
    li      t0, (3 << 1) | 1
    sd      t0, 0(s0)
park:
    wfi
    j       park
ask:                                # writes a0 to tohost, gives what is in fromhost then
    sd      a0, 0(s0)
1:  ld      a0, 0(s1)
    beqz    a0, 1b
    sd      zero, 0(s1)
    ret
    .data
    .align  6
tohost:
    .dword  0
fromhost:
    .dword  0
call:
    .dword  64, 1, line, 7
text:
    .asciz  "echo: "
line:
    .ascii  "\nwrite\n"
"#;

#[test]
fn tohost_is_answered_and_its_exit_code_names_the_test_case() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = assemble(directory.path(), "htif", HTIF);
    let arguments = ["--firmware", &program, "--harts", "1", "--limit", "0.1"];
    let (code, text) = tactus_with_input(&arguments, "x");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.starts_with("echo: x\nwrite\n"), "{text}");
    let ending = "tactus: the software ended with exit code 3: test case 3 failed\n";
    assert!(text.contains(ending), "{text}");
    // Without input the program waits, and the run reports its location.
    let (code, text) = tactus_with_input(&arguments, "");
    assert_eq!(code, Some(4), "{text}");
    assert!(
        text.starts_with("echo: tactus: the time is over\n"),
        "{text}"
    );
    let place = text
        .lines()
        .find(|line| line.starts_with("tactus: hart 0: pc 0x800000"))
        .unwrap_or_else(|| panic!("{text}"));
    assert!(place.contains(", `ask`+0x"), "{text}");
    assert!(
        place.ends_with(" of the firmware, running in M-mode"),
        "{text}"
    );
}

/// A program that echoes the UART's input.
const ECHO: &str = "
    .globl  _start
_start:
    bnez    a0, park
    li      s0, 0x10000000
poll:
    lbu     t0, 5(s0)
    andi    t0, t0, 1
    beqz    t0, poll
    lbu     t0, 0(s0)
    sb      t0, 0(s0)
    j       poll
park:
    wfi
    j       park
";

#[test]
fn input_arrives_at_its_time() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = assemble(directory.path(), "echo", ECHO);
    let until = |limit: &str| {
        let arguments = ["--firmware", &program, "--harts", "2", "--limit", limit];
        let input = ["--input", "1ms:one\\n", "--input", "2.5ms:t\\x77o\\\\"];
        let (code, text) = tactus_with_input(&[&arguments[..], &input].concat(), "first ");
        assert_eq!(code, Some(4), "{text}");
        text
    };
    let early = until("0.0009");
    assert!(
        early.starts_with("first tactus: the time is over"),
        "{early}"
    );
    let middle = until("0.002");
    assert!(middle.starts_with("first one\ntactus: "), "{middle}");
    let late = until("0.003");
    assert!(late.starts_with("first one\ntwo\\tactus: "), "{late}");
    assert_eq!(until("0.003"), late);
    assert!(
        late.contains("tactus: hart 1: pc 0x8000") && late.contains("waiting for an interrupt"),
        "{late}"
    );
    let (code, text) = tactus(&["--firmware", &program, "--input", "1:x"]);
    assert_eq!(code, Some(2), "{text}");
    let message = "invalid value '1:x' for '--input <TIME:TEXT>': a time with s, ms, us or ns, a colon and a text, such as 900ms:ls\\n";
    assert!(squeezed(&text).contains(&squeezed(message)), "{text}");
}

/// A file that cannot be booted is refused. The message names the option, the reason and a remedy.
#[test]
fn bad_files_are_refused_with_their_option() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let path = |name: &str| {
        let path = directory.path().join(name);
        path.to_str().expect("the path is text").to_owned()
    };
    let mut zboot = vec![0; 64];
    zboot[..2].copy_from_slice(b"MZ");
    zboot[4..16].copy_from_slice(b"zimg\x30\0\0\0\x10\0\0\0");
    zboot[48..52].copy_from_slice(b"\x28\xb5\x2f\xfd");
    let mut elf = std::fs::read(assemble(directory.path(), "good", ECHO)).expect("it was made");
    let mut foreign = elf.clone();
    foreign[18] = 62;
    let mut narrow = elf.clone();
    narrow[4] = 1;
    let mut big = elf.clone();
    big[5] = 2;
    big.swap(18, 19);
    elf.truncate(80);
    let files: [(&str, &[u8]); 13] = [
        ("empty", b""),
        ("a.gz", b"\x1f\x8b\x08"),
        ("a.xz", b"\xfd7zXZ\0"),
        ("a.zst", b"\x28\xb5\x2f\xfd"),
        ("a.bz2", b"BZh9"),
        ("a.lz4", b"\x04\x22\x4d\x18"),
        ("vmlinuz.efi", &zboot),
        ("x86", &foreign),
        ("riscv32", &narrow),
        ("big", &big),
        ("cut", &elf),
        ("raw", b"\x6f\0\0\0"),
        ("arm64", &[[0; 56].as_slice(), b"ARM\x64", &[0; 4]].concat()),
    ];
    for (name, bytes) in files {
        std::fs::write(path(name), bytes).expect("it can be written");
    }
    std::fs::create_dir(path("directory")).expect("it can be made");
    let riscv64 =
        "help: build the guest for riscv64 (`riscv64gc-unknown-none-elf`, `riscv64-linux-gnu`)";
    let again = "help: create the file again; it may be truncated";
    let inside = "help: name a file in it";
    let unpack = |name: &str, program: &str| {
        let from = path(name);
        format!("help: unpack it: `{program} -dc {from} > Image`")
    };
    for (option, file, message, help) in [
        (
            "KERNEL",
            "nowhere",
            "no such file or directory",
            String::new(),
        ),
        (
            "--firmware",
            "nowhere",
            "no such file or directory",
            String::new(),
        ),
        (
            "--initrd",
            "nowhere",
            "no such file or directory",
            String::new(),
        ),
        (
            "--disk",
            "nowhere",
            "no such file or directory",
            String::new(),
        ),
        (
            "--restore",
            "nowhere",
            "no such file or directory",
            String::new(),
        ),
        ("KERNEL", "directory", "is a directory", inside.into()),
        ("--firmware", "directory", "is a directory", inside.into()),
        ("--initrd", "directory", "is a directory", inside.into()),
        ("--disk", "directory", "is a directory", inside.into()),
        ("KERNEL", "empty", "is empty", again.into()),
        ("--firmware", "empty", "is empty", again.into()),
        ("--initrd", "empty", "is empty", again.into()),
        (
            "KERNEL",
            "a.gz",
            "is compressed (gzip)",
            unpack("a.gz", "gzip"),
        ),
        (
            "--firmware",
            "a.gz",
            "is compressed (gzip)",
            unpack("a.gz", "gzip"),
        ),
        ("KERNEL", "a.xz", "is compressed (xz)", unpack("a.xz", "xz")),
        (
            "KERNEL",
            "a.zst",
            "is compressed (zstd)",
            unpack("a.zst", "zstd"),
        ),
        (
            "KERNEL",
            "a.bz2",
            "is compressed (bzip2)",
            unpack("a.bz2", "bzip2"),
        ),
        (
            "KERNEL",
            "a.lz4",
            "is compressed (lz4)",
            unpack("a.lz4", "lz4"),
        ),
        (
            "KERNEL",
            "vmlinuz.efi",
            "is compressed (an EFI zboot image, zstd)",
            format!(
                "help: unpack it: `tail -c +49 {} | head -c 16 | zstd -dc > Image`",
                path("vmlinuz.efi")
            ),
        ),
        (
            "KERNEL",
            "x86",
            "is made for x86-64, not for little-endian 64-bit RISC-V",
            riscv64.into(),
        ),
        (
            "--firmware",
            "riscv32",
            "is made for 32-bit RISC-V, not for little-endian 64-bit RISC-V",
            riscv64.into(),
        ),
        (
            "KERNEL",
            "big",
            "is made for big-endian RISC-V, not for little-endian 64-bit RISC-V",
            riscv64.into(),
        ),
        (
            "KERNEL",
            "arm64",
            "is made for AArch64, not for little-endian 64-bit RISC-V",
            riscv64.into(),
        ),
        (
            "KERNEL",
            "cut",
            "is a damaged ELF file: its program headers are cut off",
            again.into(),
        ),
        (
            "--snapshot",
            "nowhere/snapshot",
            "there is no such directory",
            "help: name a file in a directory that exists".into(),
        ),
        (
            "--signature",
            "directory",
            "is a directory",
            "help: name a file in a directory that exists".into(),
        ),
    ] {
        let (file, raw) = (path(file), path("raw"));
        let mut arguments = match option {
            "KERNEL" => vec![file.as_str()],
            option => vec![option, file.as_str()],
        };
        if option != "--firmware" {
            arguments.extend(["--firmware", raw.as_str()]);
        }
        let (code, text) = tactus(&[&arguments[..], &["--limit", "0.001"]].concat());
        assert_eq!(code, Some(2), "{option} {file}: {text}");
        let expected = format!("{option} {file}: {message} {help}");
        assert_eq!(squeezed(&text), squeezed(&expected), "{text}");
    }
}

/// The fault of a guest that was built for M-mode is explained, with its address.
#[test]
fn a_guest_for_m_mode_is_told_so() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let code = "
    .globl  _start
_start:
    nop
enter:
    csrw    mstatus, zero
1:  j       1b
";
    let program = assemble(directory.path(), "guest", code);
    let linked = directory.path().join("linked.elf");
    let status = Command::new("riscv64-unknown-elf-objcopy")
        .args(["--change-addresses", "0x200000"])
        .args([Path::new(&program), &linked])
        .status()
        .expect("`make setup` installs it");
    assert!(status.success());
    let system = directory.path().join("system.toml");
    std::fs::write(
        &system,
        "[system]\nplatform = \"soc\"\nharts = 1\n\n[[vm]]\nname = \"bare\"\nimage = \"linked.elf\"\nmemory = \"4MiB\"\n\n[[vm.vcpu]]\nclass = \"be\"\n",
    )
    .expect("it can be written");
    let output = Command::new(env!("CARGO_BIN_EXE_tactus"))
        .args(["run", "--platform", "board"])
        .arg(&system)
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    let line = "bare stopped by a fault: illegal instruction `csrrw x0,mstatus,x0` (no-trap-handler) at pc 0x80200002, M-mode CSR `mstatus`; guests run in S-mode, vCPU 0; it stays stopped";
    assert!(text.contains(line), "{text}");
    let explanation = "VM `bare`: illegal instruction `csrrw x0,mstatus,x0` at pc 0x80200002, in `enter`: M-mode CSR `mstatus`; guests run in S-mode\n  help: build the guest for S-mode: ";
    assert!(text.contains(explanation), "{text}");
}
