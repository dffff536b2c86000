//! Debian with systemd on a disk of its own, beside FreeRTOS on the same hart. The disk is `setup/debian.sh`'s to make;
//! `make soak` runs these tests, `make test` does not.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::harness::{output, root};

/// A copy of Debian's disk in a folder of its own.
struct Disk {
    folder: TempDir,
}

impl Disk {
    /// # Panics
    /// There is no disk.
    fn new() -> Self {
        let made = debian("disk.img");
        assert!(
            made.is_file(),
            "there is no {}: run `setup/debian.sh`, which takes a quarter of an hour of a core",
            made.display()
        );
        let folder = tempfile::tempdir().expect("a temporary folder");
        let disk = Self { folder };
        let (code, _, errors) = output(
            Command::new("cp")
                .args(["--sparse=always", "--reflink=auto"])
                .arg(&made)
                .arg(disk.image()),
        );
        assert_eq!(code, Some(0), "{errors}");
        disk
    }

    fn image(&self) -> PathBuf {
        self.folder.path().join("disk.img")
    }

    fn report(&self) -> PathBuf {
        self.folder.path().join("report")
    }

    fn run(&self) -> Command {
        let mut command = self.run_of(&root().join("systems/debian.toml"));
        command.arg("--pci-disk").arg(self.image());
        command
    }

    /// A run of a system; the disk is the caller's to add.
    fn run_of(&self, system: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
        command.current_dir(root());
        command.arg("run").arg(system);
        command.arg("--report").arg(self.report());
        command
    }

    /// Whether its file system is whole, and a file is there.
    fn check(&self, file: &str, content: &str) {
        let system = |name: &str| {
            let mut command = Command::new(name);
            let path = std::env::var("PATH").unwrap_or_default();
            command.env("PATH", format!("{path}:/usr/sbin:/sbin"));
            command
        };
        let (code, found, _) = output(system("e2fsck").arg("-fn").arg(self.image()));
        assert_eq!(code, Some(0), "{found}");
        let cat = format!("cat {file}");
        let (_, found, _) = output(system("debugfs").args(["-R", &cat]).arg(self.image()));
        assert_eq!(found, content);
    }
}

/// A file of `build/debian`.
fn debian(name: &str) -> PathBuf {
    root().join("build/debian").join(name)
}

/// A run with ssh.
struct Running<'disk> {
    disk: &'disk Disk,
    child: Child,
    port: u16,
}

impl<'disk> Running<'disk> {
    /// Starts one, and waits until ssh answers.
    fn start(disk: &'disk Disk) -> Self {
        Self::start_with(disk, disk.run(), "")
    }

    /// The same of a command that lacks the network card, which is `card`: `e1000e:`, or nothing for a virtio one.
    fn start_with(disk: &'disk Disk, mut command: Command, card: &str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        drop(listener);
        let log = File::create(disk.folder.path().join("run.log")).expect("a file");
        command
            .arg("--pci-net")
            .arg(format!("{card}user,tcp={port}:22"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("the same file"))
            .stderr(log);
        let child = command.spawn().expect("it can be started");
        let mut running = Self { disk, child, port };
        while running.ssh("true").is_err() {
            let ended = running.child.try_wait().expect("it can be asked");
            assert!(ended.is_none(), "the run has ended: {}", running.log());
            thread::sleep(Duration::from_millis(500));
        }
        running
    }

    fn log(&self) -> String {
        let log = fs::read(self.disk.folder.path().join("run.log")).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }

    /// What a command says in Debian's shell, as root.
    fn ssh(&self, command: &str) -> Result<String, String> {
        let option = |name: &str, path: &Path| format!("{name}={}", path.display());
        let (code, said, errors) = output(
            Command::new("ssh")
                .arg("-i")
                .arg(debian("key"))
                .args(["-p", &self.port.to_string()])
                .args(["-o", &option("UserKnownHostsFile", &debian("known_hosts"))])
                .args(["-o", "HostKeyAlias=debian", "-o", "IdentitiesOnly=yes"])
                .args(["-o", "BatchMode=yes", "-o", "ConnectTimeout=60"])
                .args(["root@127.0.0.1", command]),
        );
        match code {
            Some(0) => Ok(said),
            _ => Err(errors),
        }
    }

    /// [`Self::ssh`] of a command that succeeds.
    #[track_caller]
    fn says(&self, command: &str) -> String {
        let said = self.ssh(command);
        said.unwrap_or_else(|errors| panic!("{command}: {errors}\n{}", self.log()))
    }

    /// Kills QEMU.
    fn kill(mut self) {
        let children = format!("/proc/{0}/task", self.child.id());
        let tasks = fs::read_dir(children).expect("its threads");
        let mut killed = 0;
        for task in tasks {
            let of = task.expect("a thread").path().join("children");
            for child in fs::read_to_string(of)
                .unwrap_or_default()
                .split_whitespace()
            {
                let pid = child.parse().ok().and_then(Pid::from_raw);
                kill_process(pid.expect("a process"), Signal::KILL).expect("it is there");
                killed += 1;
            }
        }
        assert_eq!(killed, 1, "QEMU is the only one");
        let code = self.child.wait().expect("it ends").code();
        assert_ne!(code, Some(0), "{}", self.log());
    }

    /// Switches Debian off; gives the run's report.
    fn off(mut self) -> Value {
        // The connection may end first.
        let _ = self.ssh("systemctl poweroff");
        let code = self.child.wait().expect("it ends").code();
        assert_eq!(code, Some(0), "{}", self.log());
        let report = fs::read(self.disk.report().join("report.json")).expect("a report");
        serde_json::from_slice(&report).expect("it is JSON")
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What FreeRTOS says of the run: it has measured, and has missed no deadline.
fn assert_freertos_is_in_time(report: &Value) {
    let vms = report["vms"].as_array().expect("VMs");
    let freertos = vms.iter().find(|vm| vm["name"] == "freertos");
    let freertos = freertos.expect("the system has it");
    let figure = |name: &str| freertos["metrics"][name]["value"].as_f64();
    assert!(figure("releases") > Some(1000.0), "{freertos}");
    assert_eq!(figure("release_deadline_misses"), Some(0.0), "{freertos}");
    assert_eq!(freertos["failed"], false, "{freertos}");
}

/// It asks for a name within a minute of virtual time, and takes the password that was made for it.
#[test]
#[ignore = "long"]
fn there_is_a_login_within_a_minute() {
    let disk = Disk::new();
    let password = fs::read_to_string(debian("password")).expect("it is made with the disk");
    let mut command = disk.run();
    command.args(["--pci-net", "user", "--console", "debian"]);
    command.args(["--expect-timeout", "60s", "--expect", "debian login: "]);
    command.args(["--send", "root", "--expect", "Password: "]);
    command.args(["--send", &password, "--expect", "root@debian:~# "]);
    command.args(["--send", "systemctl poweroff"]);
    let (code, said, errors) = output(&mut command);
    assert_eq!(code, Some(0), "{said}\n{errors}");
}

/// It is reached by ssh, lists its packages and installs one; what has been synchronised survives the end of the
/// emulator, and the file system is whole again after the next boot.
#[test]
#[ignore = "long"]
fn what_is_synchronised_survives_the_emulator() {
    let disk = Disk::new();
    let running = Running::start(&disk);
    let packages = running.says("apt list --installed 2>/dev/null");
    assert!(packages.contains("\nsystemd/"), "{packages}");
    running.says("apt-get install -y /var/cache/apt/archives/hello_*.deb");
    assert_eq!(running.says("hello"), "Hello, world!\n");
    running.says("echo kept >/root/kept && sync && echo lost >/root/kept.later");
    running.kill();

    let running = Running::start(&disk);
    assert_eq!(running.says("cat /root/kept"), "kept\n");
    assert_eq!(running.says("hello"), "Hello, world!\n");
    let kernel = running.says("dmesg");
    assert!(
        kernel.contains("EXT4-fs (vda): recovery complete"),
        "{kernel}"
    );
    assert!(!kernel.contains("EXT4-fs error"), "{kernel}");
    assert_freertos_is_in_time(&running.off());
    disk.check("/root/kept", "kept\n");
}

/// Debian boots from an NVMe disk and is reached through an e1000e, with the drivers of its kernel.
#[test]
#[ignore = "long"]
fn it_boots_from_nvme_with_an_e1000e() {
    let disk = Disk::new();
    let system = fs::read_to_string(root().join("systems/debian.toml")).expect("it is there");
    assert!(system.contains("root=/dev/vda"), "{system}");
    let file = disk.folder.path().join("nvme.toml");
    let system = system.replace("root=/dev/vda", "root=/dev/nvme0n1");
    fs::write(&file, system).expect("it can be written");
    let mut command = disk.run_of(&file);
    command.arg("--pci-disk");
    command.arg(format!("nvme:{}", disk.image().display()));
    let running = Running::start_with(&disk, command, "e1000e:");
    running.says("dd if=/dev/urandom of=/root/data bs=1M count=8 conv=fsync");
    let wanted = running.says("sha256sum </root/data");
    running.says("echo 3 >/proc/sys/vm/drop_caches");
    assert_eq!(running.says("sha256sum </root/data"), wanted);
    let interrupts = running.says("cat /proc/interrupts");
    assert!(interrupts.contains("nvme0q"), "{interrupts}");
    running.says("echo kept >/root/kept && sync");
    assert_freertos_is_in_time(&running.off());
    disk.check("/root/kept", "kept\n");
}

/// Python in Debian calls another VM, by the library on its disk.
#[test]
#[ignore = "long"]
fn its_python_calls_another_vm() {
    let disk = Disk::new();
    let system = fs::read_to_string(root().join("systems/debian.toml")).expect("it is there");
    let service = "
[[vm]]
name = \"service\"
image = \"@call-service\"
memory = \"4MiB\"
bootargs = \"role=service clients=8\"

[[vm.vcpu]]
class = \"be\"

[[channel]]
name = \"window\"
between = [\"debian\", \"service\"]
size = \"36KiB\"
calls = \"100us\"
device = { compatible = \"tactus,calls\" }
";
    let file = disk.folder.path().join("calls.toml");
    fs::write(&file, system + service).expect("it can be written");
    let mut command = disk.run_of(&file);
    command.arg("--pci-disk").arg(disk.image());
    // The service goes on, and nothing else does: the run ends all the same.
    command.args(["--until", "debian"]);
    let running = Running::start_with(&disk, command, "");
    // Channel 0 is that to FreeRTOS. The service inverts what it is given.
    let program = "import tactus_client; print(tactus_client.open(1).call(1, 5, 2**64 - 78)[1:3])";
    let said = running.says(&format!("python3 -c '{program}'"));
    assert_eq!(said, "(18446744073709551610, 77)\n");
    running.off();
}

/// What Python needs of the disk's file system: its program, its library, and the libraries that those are linked with.
const PYTHON: [&str; 8] = [
    "/usr/bin/python3.13",
    "/usr/lib/python3.13",
    "/usr/lib/riscv64-linux-gnu/ld-linux-riscv64-lp64d.so.1",
    "/usr/lib/riscv64-linux-gnu/libc.so.6",
    "/usr/lib/riscv64-linux-gnu/libm.so.6",
    "/usr/lib/riscv64-linux-gnu/libz.so.1",
    "/usr/lib/riscv64-linux-gnu/libexpat.so.1",
    "/usr/lib/riscv64-linux-gnu/libffi.so.8",
];

/// What it does with accelerators; each line that it prints ends with `True`.
const COMPUTES: &str = "
import hashlib, os
import tactus_accelerator as accelerator

def raises(error, use):
    try:
        use()
    except error as raised:
        print(f'{error.__name__}: {raised}', True)
    else:
        print(error.__name__, False)

raises(accelerator.NoDevice, lambda: accelerator.open('qam16'))
with accelerator.open('sha256') as sha256:
    raises(accelerator.InUse, lambda: accelerator.open('sha256'))
    data = os.urandom(100000)
    sha256.memory[:len(data)] = data
    sha256.submit(size=len(data), output=1 << 20, output_size=32)
    sha256.wait(timeout=1)
    print('digest', sha256.memory[1 << 20:][:32] == hashlib.sha256(data).digest())
    raises(ValueError, lambda: sha256.submit(size=8, output=4, output_size=32))
    raises(ValueError, lambda: sha256.submit(size=8, output=(2 << 20) - 8, output_size=32))
    sha256.submit(size=0, output=64, output_size=32)
    raises(accelerator.AcceleratorError, sha256.wait)
    sha256.submit(size=1 << 20, output=(1 << 20) + 8, output_size=32)
    sha256.cancel()
    raises(TimeoutError, lambda: sha256.wait(timeout=0.001))
raises(ValueError, sha256.wait)
raises(ValueError, sha256.cancel)
print('end', True)
";

/// The same Python computes by an accelerator of the board, in a Linux without a disk: a VM has either PCI functions or
/// accelerators.
#[test]
#[ignore = "long"]
fn its_python_computes_by_an_accelerator() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    let files = at("files");
    let copy = |file: &Path| {
        let to = files.join(file.strip_prefix("/").expect("it is absolute"));
        let folder = to.parent().expect("a folder");
        fs::create_dir_all(folder).expect("it can be made");
        let rdump = format!("rdump {} {}", file.display(), folder.display());
        let mut debugfs = Command::new("debugfs");
        let path = std::env::var("PATH").unwrap_or_default();
        debugfs.env("PATH", format!("{path}:/usr/sbin:/sbin"));
        let (code, _, errors) = output(debugfs.args(["-R", &rdump]).arg(debian("disk.img")));
        assert_eq!(code, Some(0), "{errors}");
        fs::read_link(to).ok()
    };
    for file in PYTHON.map(Path::new) {
        if let Some(target) = copy(file) {
            copy(&file.with_file_name(target));
        }
    }
    for name in ["tactus_accelerator.py", "tactus_client.py"] {
        fs::copy(root().join("guests/linux").join(name), files.join(name)).expect("it is there");
    }
    fs::write(files.join("computes.py"), COMPUTES).expect("it can be written");
    let interpreter = "usr/lib/riscv64-linux-gnu/ld-linux-riscv64-lp64d.so.1";
    fs::create_dir(files.join("lib")).expect("it can be made");
    let link = files.join("lib").join("ld-linux-riscv64-lp64d.so.1");
    fs::copy(files.join(interpreter), link).expect("it is there");
    let (code, _, errors) = output(
        Command::new(root().join("guests/linux/append.sh"))
            .arg(root().join("build/linux/initramfs.cpio"))
            .arg(&files)
            .arg(at("initrd.cpio")),
    );
    assert_eq!(code, Some(0), "{errors}");
    let system = "
[system]
platform = \"soc\"

[fabric]
design = \"coprocessors\"

[[vm]]
name = \"linux\"
image = \"@linux\"
initrd = \"initrd.cpio\"
memory = \"256MiB\"
bootargs = \"quiet console=ttyS0 earlycon=sbi panic=-1 cryptomgr.notests tactus.run=shell\"

[[vm.vcpu]]
class = \"be\"

[[vm.accelerator]]
task = \"sha256\"
";
    fs::write(at("system.toml"), system).expect("it can be written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
    command.arg("run").arg(at("system.toml"));
    command.args(["--platform", "board", "--console", "linux"]);
    command.args(["--expect-timeout", "100s", "--expect", "~ # "]);
    command.args([
        "--send",
        "LD_LIBRARY_PATH=/usr/lib/riscv64-linux-gnu python3.13 -B /computes.py",
    ]);
    command.args(["--expect", "end True", "--expect", "~ # ", "--send", "exit"]);
    let (code, said, errors) = output(&mut command);
    assert_eq!(code, Some(0), "{said}\n{errors}");
    assert!(!said.contains(" False"), "{said}");
    assert_eq!(said.matches(" True").count(), 10, "{said}");
}

/// The same disk boots on the board, which forgets what is written: two runs are the same.
#[test]
#[ignore = "long"]
fn the_board_boots_the_same_disk() {
    let disk = Disk::new();
    let password = fs::read_to_string(debian("password")).expect("it is made with the disk");
    let run = || {
        let frames = disk.folder.path().join("sent.pcap");
        let mut command = disk.run();
        command.args(["--platform", "board", "--console", "debian"]);
        command.arg("--pci-net");
        command.arg(format!("out={}", frames.display()));
        command.args(["--expect-timeout", "60s", "--expect", "debian login: "]);
        command.args(["--send", "root", "--expect", "Password: "]);
        command.args(["--send", &password, "--expect", "root@debian:~# "]);
        command.args(["--send", "cat /root/kept; echo kept >/root/kept; sync"]);
        command.args(["--expect", "cat: /root/kept: No such file or directory"]);
        command.args([
            "--expect",
            "root@debian:~# ",
            "--send",
            "systemctl poweroff",
        ]);
        let (code, said, errors) = output(&mut command);
        assert_eq!(code, Some(0), "{said}\n{errors}");
        let report = fs::read(disk.report().join("report.json")).expect("a report");
        serde_json::from_slice::<Value>(&report).expect("it is JSON")
    };
    let report = run();
    assert_freertos_is_in_time(&report);
    assert_eq!(run()["board"]["trace_hash"], report["board"]["trace_hash"]);
}
