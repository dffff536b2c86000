//! Machines and images on which a system cannot run: the hypervisor reports the reason, and boots nothing.

use std::io::Write as _;
use std::process::{Command, Stdio};

use tactus_abi::blob::{Hart, Header, MAGIC, Region, Vcpu, Vm, checksum, part};

use crate::harness::{On, boot as built, cross, process, root};

/// The boot image of the simplest system.
fn image() -> Vec<u8> {
    built(On::Qemu, "systems/hello.toml", None).image.bytes
}

/// Boots an image on a machine and returns its serial output.
fn boot(image: &[u8], cpu: &str, memory: &str) -> String {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    file.write_all(image).expect("and written");
    let mut qemu = Command::new("qemu-system-riscv64")
        .args(["-M", "virt", "-cpu", cpu, "-smp", "1", "-m", memory])
        .args(["-display", "none", "-monitor", "none", "-serial", "stdio"])
        .args(["-no-reboot", "-icount", "shift=0,sleep=off", "-kernel"])
        .arg(file.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("QEMU can be started: `make setup` installs it");
    process::wait_for_end(&mut qemu);
    let output = qemu.wait_with_output().expect("QEMU has ended");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
fn assert_refused(serial: &str, reason: &str) {
    let line = format!("refused reason={reason}");
    assert!(serial.contains(&line), "no \"{line}\" in:\n{serial}");
    assert!(
        !serial.contains("start vm="),
        "a guest was started:\n{serial}"
    );
}

#[test]
fn a_machine_that_lacks_an_extension() {
    let image = image();
    for (cpu, reason) in [
        ("rv64,h=false", "hart 0 lacks the extension h"),
        ("rv64,h=true,sstc=false", "hart 0 lacks the extension sstc"),
        (
            "rv64,h=true,zba=false,zbb=false,zbs=false",
            "a hart trapped while it booted; it may lack one of Zba, Zbb, Zbs",
        ),
    ] {
        assert_refused(&boot(&image, cpu, "1G"), reason);
    }
}

#[test]
fn a_machine_with_too_little_memory() {
    let serial = boot(&image(), "rv64,h=true", "512M");
    assert_refused(&serial, "the machine's memory does not cover the system's");
}

#[test]
fn an_image_that_is_damaged() {
    let whole = image();
    // The hypervisor's text, which precedes the blob, contains the magic, too.
    let blob = whole
        .windows(MAGIC.len())
        .rposition(|bytes| bytes == MAGIC)
        .expect("the image has a blob");
    for (at, reason) in [
        (blob, "no system blob in the image"),
        (blob + 8, "system blob is of another version"),
        (blob + 40, "system blob is corrupt (checksum)"),
    ] {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        assert_refused(&boot(&damaged, "rv64,h=true", "1G"), reason);
    }
}

/// The image with its blob changed, whose checksum is put right.
fn with_blob(change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut image = image();
    let at = image
        .windows(MAGIC.len())
        .rposition(|bytes| bytes == MAGIC)
        .expect("the image has a blob");
    let length = word(&image[at..], std::mem::offset_of!(Header, length));
    let blob = &mut image[at..][..length];
    change(blob);
    let crc32 = checksum(blob);
    put(blob, std::mem::offset_of!(Header, crc32), crc32);
    image
}

fn word(blob: &[u8], at: usize) -> usize {
    u32::from_le_bytes(blob[at..][..4].try_into().expect("four bytes")) as usize
}

fn put(blob: &mut [u8], at: usize, value: u32) {
    blob[at..][..4].copy_from_slice(&value.to_le_bytes());
}

#[test]
fn a_system_that_needs_a_part_which_the_hypervisor_lacks() {
    let image = with_blob(|blob| put(blob, std::mem::offset_of!(Header, parts), part::MESSAGES));
    assert_refused(
        &boot(&image, "rv64,h=true", "1G"),
        "this hypervisor was built without a part that the system needs",
    );
}

/// Runs of less than a page, ways that are too large, and a size that overflows when it is spread.
#[test]
fn memory_with_impossible_colours() {
    for (run, spread) in [
        (11, 1),
        (0, 4),
        (12, 10),
        (21, 1),
        (64, 1),
        (255, 255),
        (12, 60),
    ] {
        let image = with_blob(|blob| {
            let count = |at| word(blob, at);
            let regions = size_of::<Header>()
                + count(std::mem::offset_of!(Header, harts)) * size_of::<Hart>()
                + count(std::mem::offset_of!(Header, vms)) * size_of::<Vm>()
                + count(std::mem::offset_of!(Header, vcpus)) * size_of::<Vcpu>();
            blob[regions + std::mem::offset_of!(Region, run)] = run;
            blob[regions + std::mem::offset_of!(Region, spread)] = spread;
        });
        let serial = boot(&image, "rv64,h=true", "1G");
        assert_refused(
            &serial,
            "a region of VM 0 cannot be mapped: its addresses are out of reach",
        );
    }
}

#[test]
fn an_intact_image_boots() {
    let serial = boot(&image(), "rv64,h=true", "1G");
    assert!(serial.contains("start vm=hello"), "{serial}");
}

/// The program that set-up and the tool ask QEMU with is its source, assembled.
#[test]
fn qemus_probe_is_its_source() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let (object, program) = (
        directory.path().join("mpv.o"),
        directory.path().join("mpv.bin"),
    );
    let setup = root().join("setup");
    let mut assembler = Command::new(cross("as"));
    assembler.arg("-march=rv64g").arg(setup.join("qemu-mpv.S"));
    assembler.arg("-o").arg(&object);
    let mut copier = Command::new(cross("objcopy"));
    copier.args(["-O", "binary"]).args([&object, &program]);
    for mut tool in [assembler, copier] {
        assert!(
            tool.status().expect("`make setup` installs it").success(),
            "{tool:?}"
        );
    }
    let read = |path| std::fs::read(path).expect("it is there");
    assert_eq!(read(program), read(setup.join("qemu-mpv.bin")));
}
