//! VMs that manage others at run time.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tactus::run::script::Script;
use tactus::run::state::State;

use crate::harness::{
    On, boot, explain, figure, in_weak_memory, on_both, once, output, root, run, run_text, written,
};

/// Each call of management does what it says, and is refused where it says so.
fn management_calls(on: On) {
    let outcome = run(on, "systems/manager-selftest.toml", None);
    let seen = || explain(&outcome);
    let vm = |name| outcome.journal.vm(name).expect("the system has it");
    let wanted = [
        "authority",
        "states",
        "counters",
        "another_image",
        "held",
        "consoles",
        "stops",
    ];
    assert_eq!(vm("manager").passed, wanted, "{}", seen());
    let text = vm("worker").console.text();
    assert_eq!(text.matches("another image").count(), 1, "{text}");
    assert!(
        outcome
            .journal
            .faults
            .iter()
            .all(|fault| fault.vm == "crasher"),
        "{}",
        seen()
    );
    assert_eq!(vm("worker").state(), State::Held, "{}", seen());
    assert!(outcome.journal.ended.is_some(), "{}", seen());
    assert_eq!(vm("crasher").state(), State::Stopped, "{}", seen());
    assert_eq!(vm("stranger").passed, ["witness"], "{}", seen());
}

/// A manager that makes all calls with any arguments changes nothing of VMs that it does not manage, and does not delay
/// a real-time one.
fn a_hostile_manager_does_no_more_than_it_was_given(on: On) {
    let outcome = run(on, "systems/hostile-manager.toml", Some("watcher"));
    let seen = || explain(&outcome);
    let vm = |name| outcome.journal.vm(name).expect("the system has it");
    assert_eq!(vm("manager").passed, ["hostile_manager"], "{}", seen());
    assert!(vm("victim").restarts > 3, "{}", seen());
    for name in ["witness", "watcher"] {
        assert_eq!(vm(name).state(), State::ShutDown, "{name}: {}", seen());
        assert_eq!((vm(name).faults, vm(name).restarts), (0, 0), "{name}");
    }
    assert_eq!(vm("witness").passed, ["witness"], "{}", seen());
    assert_eq!(vm("manager").faults, 0, "{}", seen());
    // `watcher` has a bound of its own on each release.
    assert!(vm("watcher").failed.is_empty(), "{}", seen());
    assert_eq!(
        figure(&outcome, "watcher", "watcher_missed"),
        0.0,
        "{}",
        seen()
    );
}

/// What is typed, and what the manager answers.
const LINES: [(&str, &str); 20] = [
    ("#a list", "#a ok"),
    (
        "#b fly",
        "#b error unknown request: list, status, stop, start, restart, load, write, console",
    ),
    ("#c stop", "#c error the name of a VM is missing"),
    ("#d stop other", "#d error no VM other is managed here"),
    (
        "#e start control",
        "#e error VM control is not off; stop it first",
    ),
    (
        "#f load control",
        "#f error VM control is not off; stop it first",
    ),
    ("#g stop control", "#g ok"),
    ("#h stop control", "#h error VM control is off already"),
    (
        "#i write control 0x80000000 0x352441c2 YWJj",
        "#i error VM control is not held; load it first",
    ),
    (
        "#j start control 0x80000000",
        "#j error VM control is not held; load it first",
    ),
    (
        concat!(
            "#z load control ",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="
        ),
        "#z error VM control: there is no key to check a signature with",
    ),
    ("#k load control", "#k ok"),
    (
        "#l write control 0x80000000 0x352441c3 YWJj",
        "#l error the checksum does not match",
    ),
    (
        "#m write control 0x803ffffe 0x352441c2 YWJj",
        "#m error 3 bytes at 0x803ffffe are not in the memory of VM control, 0x80000000 to 0x803fffff",
    ),
    (
        "#n start control 0x80400000",
        "#n error the entry 0x80400000 is odd, or not in the memory of VM control",
    ),
    // `wfi` and a jump back to it.
    ("#o write control 0x80000000 0xd94ac9fb cwBQEPW/", "#o ok"),
    ("#p start control 0x80000000", "#p ok"),
    ("#q status control", "vm control state=running"),
    ("#r restart control", "#r ok"),
    ("#s restart crasher", "#s ok"),
];

/// The manager answers lines over its console, each refusal with its reason.
fn a_manager_answers_lines(on: On) {
    let mut boot = boot(on, "systems/managed.toml", None);
    let mut text = String::from("expect \"ready\"\n");
    for (line, answer) in LINES {
        text += &format!("send {line}\nexpect \"{answer}\"\n");
    }
    text += "exit 0\n";
    let script = Script::parse("typed", &text, &boot.plan.vms, Some(0));
    boot.plan.script = Some(script.expect("it is in order"));
    let outcome = once(&boot);
    assert_eq!(outcome.unfinished, None, "{}", explain(&outcome));
    let vm = |name| outcome.journal.vm(name).expect("the system has it");
    assert_eq!(vm("other").restarts, 0, "{}", explain(&outcome));
    assert_eq!(vm("control").restarts, 2, "{}", explain(&outcome));
    let text = vm("manager").console.text();
    let first = text.lines().find(|line| line.starts_with("#a vm control "));
    let first = first.expect("the list has it");
    assert!(first.contains(" size=0x400000 "), "{first}");
    assert!(text.contains("#a vm crasher "), "{text}");
    assert!(!text.contains("vm other "), "{text}");
}

on_both!(
    management_calls,
    a_hostile_manager_does_no_more_than_it_was_given,
    a_manager_answers_lines,
);
in_weak_memory!(management_calls; a_hostile_manager_does_no_more_than_it_was_given);

/// A run of `systems/managed.toml` on the board whose manager's console is at a socket. Dropping it ends the run.
pub struct ManagedRun {
    child: Child,
    directory: tempfile::TempDir,
}

impl ManagedRun {
    pub fn start() -> Self {
        Self::of("systems/managed.toml".as_ref())
    }

    fn of(system: &Path) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let socket = directory.path().join("socket");
        let text = fs::File::create(directory.path().join("text")).expect("it can be made");
        let child = Command::new(env!("CARGO_BIN_EXE_tactus"))
            .current_dir(root())
            .arg("run")
            .arg(system)
            .args(["--platform", "board"])
            .arg("--console-socket")
            .arg(format!("manager={}", socket.display()))
            .stdin(Stdio::null())
            .stdout(text)
            .spawn()
            .expect("tactus can be run");
        let run = Self { child, directory };
        for _ in 0..6000 {
            if run.socket().exists() {
                return run;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("the socket is not made");
    }

    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("socket")
    }

    /// What the run has shown.
    fn text(&self) -> String {
        let text = fs::read(self.directory.path().join("text")).expect("it is there");
        String::from_utf8_lossy(&text).into_owned()
    }

    /// `tactus ctl` with these arguments.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
        command.current_dir(root());
        command.arg("ctl").arg("--socket").arg(self.socket());
        command.args(arguments);
        command
    }

    #[track_caller]
    fn ctl(&self, arguments: &[&str], code: i32) -> (String, String) {
        let (exit, text, error) = output(self.command(arguments));
        assert_eq!(exit, Some(code), "{arguments:?}: {text}{error}");
        (text, error)
    }

    /// What is told of a VM.
    #[track_caller]
    fn vm(&self, name: &str) -> Value {
        let (text, _) = self.ctl(&["list", "--json"], 0);
        let vms: Value = serde_json::from_str(&text).expect("it is JSON");
        let mut vms = vms.as_array().expect("it is a list").iter();
        let vm = vms.find(|vm| vm["name"] == name);
        vm.expect("the manager has it").clone()
    }

    /// Waits until a VM is in a state.
    #[track_caller]
    fn wait_for(&self, name: &str, state: &str) {
        for _ in 0..600 {
            if self.vm(name)["state"] == state {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{name} is not {state}:\n{}", self.text());
    }
}

impl Drop for ManagedRun {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The command drives the manager of a run: what it does is done, and what is refused is refused with the reason.
#[test]
fn ctl_drives_a_manager() {
    let run = ManagedRun::start();
    run.wait_for("crasher", "faulted");
    let (text, _) = run.ctl(&["list"], 0);
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows.len() == 3 && rows[0].starts_with("VM"), "{text}");
    assert!(rows[1].starts_with("control  running"), "{text}");
    assert!(rows[2].starts_with("crasher  faulted"), "{text}");
    let crasher = run.vm("crasher");
    assert_eq!(
        (&crasher["faults"], &crasher["restarts"]),
        (&1.into(), &0.into())
    );
    run.ctl(&["restart", "crasher"], 0);
    run.wait_for("crasher", "faulted");
    let crasher = run.vm("crasher");
    assert_eq!(
        (&crasher["faults"], &crasher["restarts"]),
        (&2.into(), &1.into())
    );
    assert!(run.vm("control")["jobs"].as_u64() > Some(1));

    let (_, error) = run.ctl(&["load", "control", "@hello"], 1);
    assert_eq!(error, "error: VM control is running; stop it first\n");
    let (_, error) = run.ctl(&["stop", "other"], 1);
    assert_eq!(error, "error: no VM other is managed here\n");
    run.ctl(&["stop", "control"], 0);
    let (_, error) = run.ctl(&["stop", "control"], 1);
    assert_eq!(error, "error: VM control is off already\n");
    let large = run.directory.path().join("large");
    fs::write(&large, vec![1; 4 << 20]).expect("it can be written");
    let large = large.display().to_string();
    let (_, error) = run.ctl(&["load", "control", &large], 1);
    let wanted = "is not in the memory of VM control, 0x80000000 to 0x803fffff\n";
    assert!(error.ends_with(wanted), "{error}");
    // Nothing was changed.
    assert_eq!(run.vm("control")["state"], "off");
    let (text, _) = run.ctl(&["load", "control", "@hello"], 0);
    assert!(
        text.starts_with("VM control: ELF is loaded and started"),
        "{text}"
    );
    run.wait_for("control", "off");
    let text = run.text();
    assert!(
        text.contains("Hello from vCPU 0, boot arguments \"role=beat\"."),
        "{text}"
    );
    let (text, _) = run.ctl(&["console", "control"], 0);
    assert!(text.starts_with("second 0\n"), "{text}");
    assert!(text.contains("\nHello from vCPU 0"), "{text}");
    let (_, error) = run.ctl(&["console", "other"], 1);
    assert_eq!(error, "error: no VM other is managed here\n");
    run.ctl(&["load", "control", "--hold", "@hello"], 0);
    assert_eq!(run.vm("control")["state"], "held");
    run.ctl(&["start", "control"], 0);
    run.wait_for("control", "running");
    run.ctl(&["load", "control", "systems/none.elf"], 2);
    let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
    let (exit, _, error) = output(command.args(["ctl", "--socket", "none.sock", "list"]));
    assert_eq!(exit, Some(2), "{error}");
    assert!(error.contains("none.sock cannot be reached"), "{error}");
}

/// A key, of RFC 8410, section 10.3.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
                   MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
                   -----END PRIVATE KEY-----\n";

/// `systems/managed.toml` with a manager that has that key.
fn managed_with(key: &str) -> String {
    let text = fs::read_to_string(root().join("systems/managed.toml")).expect("it is there");
    let managed = "image = \"@manager\"\n";
    assert!(text.contains(managed), "{text}");
    text.replacen(managed, &format!("{managed}bootargs = \"key={key}\"\n"), 1)
}

/// A manager with a key starts images that are signed with it for the VM that gets them, and no others.
#[test]
fn a_manager_with_a_key_starts_signed_images_alone() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let key = directory.path().join("key.pem");
    fs::write(&key, KEY).expect("it can be written");
    let sign = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
        command.current_dir(root()).arg("sign").args(arguments);
        let (exit, text, error) = output(command.arg("--key").arg(&key));
        assert_eq!(exit, Some(0), "{error}");
        text
    };
    let signature = |vm: &str, image: &str| {
        let file = directory.path().join(format!("{vm}.sig"));
        fs::write(&file, sign(&[vm, image])).expect("it can be written");
        file.display().to_string()
    };
    let system = written(&managed_with(sign(&["--public"]).trim()));
    let run = ManagedRun::of(system.path());
    run.ctl(&["stop", "control"], 0);
    let (_, error) = run.ctl(&["load", "control", "@hello"], 1);
    let wanted = "error: VM control: images have to be signed here; say the signature\n";
    assert_eq!(error, wanted);
    assert_eq!(run.vm("control")["state"], "off");
    let others = signature("crasher", "@hello");
    let (_, error) = run.ctl(&["load", "control", "@hello", "--signature", &others], 1);
    let wanted = "error: VM control: the signature is not of this image, entry, VM and key\n";
    assert_eq!(error, wanted);
    assert_eq!(run.vm("control")["state"], "held");
    let its = signature("control", "@hello");
    let (_, error) = run.ctl(&["load", "control", "@managed", "--signature", &its], 1);
    assert_eq!(error, wanted);
    let (_, error) = run.ctl(
        &["load", "control", "@hello", "--signature", "Cargo.toml"],
        2,
    );
    assert!(
        error.contains("Cargo.toml: a signature is base64 of 64 bytes"),
        "{error}"
    );
    let (text, _) = run.ctl(&["load", "control", "@hello", "--signature", &its], 0);
    assert!(
        text.starts_with("VM control: ELF is loaded and started"),
        "{text}"
    );
    run.wait_for("control", "off");
    assert!(run.text().contains("Hello from vCPU 0"), "{}", run.text());
    // Its own image is the system's, and needs none.
    run.ctl(&["start", "control"], 0);
    run.wait_for("control", "running");
}

/// `tactus run --page` gives a system without a manager one, and its page tells of all VMs.
#[test]
fn a_run_serves_the_page_of_its_vms() {
    for platform in ["board", "qemu"] {
        let child = Command::new(env!("CARGO_BIN_EXE_tactus"))
            .current_dir(root())
            .args([
                "run",
                "systems/hello.toml",
                "--page",
                "--platform",
                platform,
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.expect("tactus can be run");
        let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let address = lines.find_map(|line| {
            let line = line.expect("it is text");
            Some(line.strip_prefix("Page: ")?.to_owned())
        });
        let page = ManagersPage {
            child,
            address: address.expect("it is printed"),
        };
        let host = page.host();
        let vms = page.ask(&format!("GET /vms HTTP/1.1\r\nHost: {host}"));
        let (_, body) = vms.split_once("\r\n\r\n").expect("it has a body");
        let vms: Value = serde_json::from_str(body).expect("it is JSON");
        let vms = vms.as_array().expect("it is a list");
        let names: Vec<_> = vms.iter().map(|vm| vm["name"].clone()).collect();
        assert_eq!(names, ["hello"], "{platform}");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
    command
        .current_dir(root())
        .args(["run", "--page=80000", "systems/hello.toml"]);
    assert_eq!(output(&mut command).0, Some(2));
    let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
    command.current_dir(root());
    command.args([
        "run",
        "--page",
        "--exit",
        "0",
        "--expect",
        "x",
        "systems/hello.toml",
    ]);
    let (exit, _, error) = output(&mut command);
    assert_eq!(exit, Some(2), "{error}");
    assert!(error.contains("programs of --page would"), "{error}");
}

/// A manager whose key is none manages nothing.
#[test]
fn a_manager_with_a_bad_key_gives_up() {
    let outcome = run_text(On::Board, &managed_with("AAAA"), Some("manager"));
    let vm = outcome.journal.vm("manager").expect("the system has it");
    let text = vm.console.text();
    assert!(
        text.contains("the_boot_argument_key_is_not_base64"),
        "{text}"
    );
    assert!(!text.contains("ready"), "{text}");
}

/// A page of the manager's VMs, until it is dropped.
pub struct ManagersPage {
    child: Child,
    pub address: String,
}

impl ManagersPage {
    pub fn serve(run: &ManagedRun) -> Self {
        let mut child = run
            .command(&["page"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("tactus can be run");
        let stdout = child.stdout.take().expect("it is piped");
        let mut address = String::new();
        BufReader::new(stdout)
            .read_line(&mut address)
            .expect("it is text");
        Self {
            child,
            address: address.trim().to_owned(),
        }
    }

    fn host(&self) -> &str {
        let address = self.address.trim_start_matches("http://");
        address.trim_end_matches('/')
    }

    /// The answer to a request with that head.
    fn ask(&self, head: &str) -> String {
        let mut stream = std::net::TcpStream::connect(self.host()).expect("it listens");
        let head = format!("{head}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("it reads");
        std::io::read_to_string(stream).expect("it answers")
    }
}

impl Drop for ManagersPage {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The page is for this machine's browsers, and only the page's own script changes something.
#[test]
fn the_page_answers_its_own_script_only() {
    let run = ManagedRun::start();
    run.wait_for("crasher", "faulted");
    let page = ManagersPage::serve(&run);
    let host = page.host();
    let ask = |head: &str| page.ask(head);
    let restart = "POST /vms/crasher/restart HTTP/1.1";
    assert!(ask("GET /vms HTTP/1.1\r\nHost: rebound.example").starts_with("HTTP/1.1 403 "));
    assert!(ask(&format!("{restart}\r\nHost: {host}")).starts_with("HTTP/1.1 403 "));
    let vms = ask(&format!("GET /vms HTTP/1.1\r\nHost: {host}"));
    assert!(
        vms.starts_with("HTTP/1.1 200 ") && vms.contains("\"restarts\":0"),
        "{vms}"
    );
    let done = ask(&format!("{restart}\r\nHost: {host}\r\nX-Tactus: 1"));
    assert!(done.starts_with("HTTP/1.1 200 "), "{done}");
    let refused = ask(&format!(
        "POST /vms/other/stop HTTP/1.1\r\nHost: {host}\r\nX-Tactus: 1"
    ));
    assert!(refused.starts_with("HTTP/1.1 409 "), "{refused}");
    assert!(
        refused.ends_with("{\"error\":\"no VM other is managed here\"}"),
        "{refused}"
    );
}
