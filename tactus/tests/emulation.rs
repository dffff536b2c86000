//! Devices that VMs emulate for others.

use std::collections::HashSet;

use tactus::artifacts::Artifacts;
use tactus::check::{call_bounds, check_file};
use tactus::run::kept::Kept;
use tactus::run::script::Script;
use tactus::run::session::Outcome;
use tactus_virtio::entropy::{self, Generator};

use crate::harness::{
    On, boot, boot_text, explain, figure, on_both, once, root, run, run_text, seeds,
};

/// A driver uses a device that another VM emulates in every way; a fault of that VM is its own, and the driver goes on.
fn an_access_is_a_call_of_another_vm(on: On) {
    let outcome = run(on, "systems/emulated-device.toml", Some("driver"));
    let driver = outcome.journal.vm("driver").expect("the system has it");
    assert_eq!(driver.passed, ["device-selftest"], "{}", explain(&outcome));
    // The first after the fault, at least.
    assert!(driver.lost_accesses > 0, "{}", explain(&outcome));
    let faults: Vec<_> = outcome
        .journal
        .faults
        .iter()
        .map(|fault| fault.vm.as_str())
        .collect();
    assert_eq!(faults, ["device"], "{}", explain(&outcome));
}

/// Debian's kernel writes a disk that another VM emulates, discards a part of it and reads it back.
fn linux_has_a_disk_of_another_vm(on: On) {
    let outcome = run(on, "systems/served-disk.toml", Some("linux"));
    let linux = outcome.journal.vm("linux").expect("the system has it");
    assert_eq!(linux.passed, DISK, "{}", explain(&outcome));
    assert_eq!(linux.lost_accesses, 0, "{}", explain(&outcome));
    assert_eq!(outcome.journal.faults.len(), 0, "{}", explain(&outcome));
}

/// What Linux does with its disk.
const DISK: [&str; 7] = [
    "disk_there",
    "disk_write",
    "disk_read",
    "disk_limits",
    "disk_discard",
    "disk_zeroes",
    "linux_disk",
];

/// The VM that emulates the disk has a fault after each 80 accesses: what it has served then its driver is not told.
/// Linux waits until the VM has restarted, and finds all that it has written.
fn a_disk_outlives_the_vm_that_emulates_it(on: On) {
    let path = root().join("systems/served-disk.toml");
    let text = std::fs::read_to_string(path).expect("it is there");
    let memory = "\nmemory = \"4MiB\"";
    let faulty = text.replace(memory, &format!("{memory}\nbootargs = \"faults=80\""));
    assert_eq!(faulty.matches("faults=80").count(), 1);
    let outcome = run_text(on, &faulty, Some("linux"));
    let linux = outcome.journal.vm("linux").expect("the system has it");
    assert_eq!(linux.passed, DISK, "{}", explain(&outcome));
    let disk = outcome.journal.vm("disk").expect("the system has it");
    assert!(disk.restarts >= 3, "{}", explain(&outcome));
}

/// A VM that emulates a disk is back within this time after a fault, in microseconds.
const OUTAGE_MAX_US: f64 = 50_000.0;

/// A client that writes, discards, reads and flushes at random is told of each request once, and finds what it has
/// written, though the VM that emulates the disk has a fault after some accesses of each life, or takes too long then.
fn no_request_is_lost_or_doubled(on: On) {
    let path = root().join("systems/served-journal.toml");
    let text = std::fs::read_to_string(path).expect("it is there");
    let image = "image = \"@virtio-disk\"";
    for argument in ["faults=40", "faults=57", "hangs=40"] {
        let faulty = text.replace(image, &format!("{image}\nbootargs = \"{argument}\""));
        assert_eq!(faulty.matches(argument).count(), 1);
        let outcome = run_text(on, &faulty, Some("client"));
        let client = outcome.journal.vm("client").expect("the system has it");
        assert_eq!(client.passed, ["disk-journal"], "{}", explain(&outcome));
        let disk = outcome.journal.vm("disk").expect("the system has it");
        assert!(disk.restarts >= 10, "{argument}: {}", explain(&outcome));
        for name in ["requests_lost", "requests_doubled", "requests_failed"] {
            assert_eq!(figure(&outcome, "client", name), 0.0, "{argument}: {name}");
        }
        let outage = figure(&outcome, "client", "outage_max");
        assert!(outage <= OUTAGE_MAX_US, "{argument}: {outage} us");
    }
}

/// Requests of a real-time guest before a disk that three others use without pause take no longer than `tactus check`
/// says, whatever these do: a notification is a call for each request and one more, and the interrupt two calls.
#[test]
fn requests_of_a_real_time_guest_keep_their_bound() {
    let path = root().join("systems/served-loads.toml");
    let verdict = check_file(&path, &Artifacts::Workspace);
    let bounds = call_bounds(&verdict.plan.expect("it is in order"));
    let within = 4.0 * bounds[0].within().0 as f64 / 1000.0;
    let text = std::fs::read_to_string(path).expect("it is there");
    for seed in seeds("SERVED_LOADS_SEEDS", 1..4) {
        let mut system = text.clone();
        for (number, load) in ["seed=2", "seed=3 pause=40", "seed=4 slots=3"]
            .iter()
            .enumerate()
        {
            assert!(system.contains(load), "{load}");
            let (own, slots) = (4 * seed + number as u64, 1 + (seed + number as u64) % 8);
            let pause = seed * (number as u64 + 1) % 60;
            system = system.replace(load, &format!("seed={own} slots={slots} pause={pause}"));
        }
        let outcome = run_text(On::Board, &system, Some("control"));
        let control = outcome.journal.vm("control").expect("the system has it");
        assert_eq!(control.passed, ["disk-journal"], "{}", explain(&outcome));
        let round = figure(&outcome, "control", "round_max");
        assert!(
            round > 0.0 && round <= within,
            "seed {seed}: {round} of {within} us"
        );
    }
}

/// Two guests with Debian's kernel reach each other by a switch that is a third VM.
fn two_linux_guests_reach_each_other(on: On) {
    let outcome = run(on, "systems/network.toml", Some("left"));
    let wanted = ["net_ping", "net_no_loss", "net_large"];
    let left = outcome.journal.vm("left").expect("the system has it");
    assert_eq!(left.passed, wanted, "{}", explain(&outcome));
    let right = outcome.journal.vm("right").expect("the system has it");
    assert_eq!(right.failed, [], "{}", explain(&outcome));
}

/// What Linux does with its source of random bytes.
const ENTROPY: [&str; 5] = [
    "entropy_there",
    "entropy_read",
    "entropy_no_repetition",
    "entropy_all_values",
    "entropy_even",
];

/// The system's text with more boot arguments for a VM, behind those that begin so.
fn with_arguments(system: &str, begin: &str, more: &str) -> String {
    let text = std::fs::read_to_string(root().join(system)).expect("it is there");
    let (before, rest) = text.split_once(begin).expect("the VM has boot arguments");
    let (own, behind) = rest.split_once('"').expect("they end");
    format!("{before}{begin}{own} {more}\"{behind}")
}

/// Debian's kernel has random bytes from another VM, none of which are there twice. This VM has a fault after each 500
/// accesses: no life repeats what the ones before have given.
fn linux_has_random_bytes_of_another_vm(on: On) {
    let system = with_arguments(
        "systems/served-entropy.toml",
        "bootargs = \"seed=",
        "faults=500",
    );
    let outcome = run_text(on, &system, Some("linux"));
    let linux = outcome.journal.vm("linux").expect("the system has it");
    assert_eq!(linux.passed, ENTROPY, "{}", explain(&outcome));
    let entropy = outcome.journal.vm("entropy").expect("the system has it");
    assert!(entropy.restarts >= 3, "{}", explain(&outcome));
}

/// The memory of a VM that has given random bytes has neither the seed that they are made of nor any key but the
/// present one: they cannot be computed from it.
#[test]
fn random_bytes_are_not_there_afterwards() {
    let mut boot = boot(On::Board, "systems/served-entropy.toml", Some("linux"));
    let index = boot.image.vms.iter().position(|vm| vm == "entropy");
    let extent = boot.image.memories[index.expect("the system has it")];
    let kept = Kept::new(extent.host_at(0), extent.size as usize);
    boot.plan.kept.push(kept.clone());
    let outcome = once(&boot);
    let linux = outcome.journal.vm("linux").expect("the system has it");
    assert_eq!(linux.passed, ENTROPY, "{}", explain(&outcome));
    let memory = kept.take();
    assert_eq!(memory.len(), extent.size as usize);
    let has = |bytes: &[u8]| memory.windows(bytes.len()).any(|window| window == bytes);
    assert!(has(b"seed="), "the boot arguments are elsewhere");

    let path = root().join("systems/served-entropy.toml");
    let text = std::fs::read_to_string(path).expect("it is there");
    let (_, digits) = text.split_once("seed=").expect("there is one");
    let seed = entropy::seed(&digits[..64]).expect("it is in order");
    assert!(!has(&digits.as_bytes()[..64]) && !has(&seed));
    let words: HashSet<[u8; 8]> = memory.as_chunks().0.iter().copied().collect();
    let life = figure(&outcome, "entropy", "life") as u64;
    let mut generator = Generator::new(&seed, life).split();
    let mut found = Vec::new();
    // More requests than Linux has made: of 64 bytes each.
    for number in 0..3000 {
        // SAFETY: a generator is the bytes of its key.
        let key: [u8; entropy::KEY] = unsafe { std::mem::transmute_copy(&generator) };
        if key.as_chunks().0.iter().any(|word| words.contains(word)) {
            found.push(number);
        }
        generator.fill(&mut [0; 1]);
    }
    assert!(
        matches!(found[..], [1024..3000]),
        "keys in memory: {found:?}"
    );
}

/// A VM that has no seed gives no bytes, and says why.
#[test]
fn random_bytes_need_a_seed() {
    let path = root().join("systems/served-entropy.toml");
    let text = std::fs::read_to_string(path).expect("it is there");
    for wrong in ["sead=", "seed=0x", "seed=9"] {
        let outcome = run_text(On::Board, &text.replace("seed=", wrong), Some("entropy"));
        let entropy = outcome.journal.vm("entropy").expect("the system has it");
        let failed = format!("{:?}", entropy.failed);
        assert!(failed.contains("seed="), "{wrong}: {}", explain(&outcome));
    }
}

/// What is typed to the two guests, the second of which is chosen by Ctrl-A and its digit. Text may still wait when its
/// guest is off: the run ends later.
const TYPED: &str = r#"
vm console
expect "Who is there?"
expect "Who is there?"
send tactus
expect "left: Good day, tactus."
type "\x011"
send tactus
expect "right: Good day, tactus."
expect "right: line 2000 "
wait 300ms
exit 0
"#;
/// Lines that each guest writes then.
const LINES: [(&str, usize); 2] = [("left", 200), ("right", 2000)];

/// What the console says when it begins again: the line that a life has ended in is shown once more behind it.
const AGAIN: &str = "-- shown again from here";

/// Whether a guest's lines 1 to `count` are there, each once and in order, whole or in parts. Behind [`AGAIN`] the one
/// that was shown last may come again.
fn shows_all_lines(text: &str, name: &str, count: usize) -> bool {
    let line = |number| format!("line {number} of a text that is long enough to fill a buffer");
    let (mut number, mut rest) = (1, line(1));
    let mut again = false;
    let own = format!("{name}: ");
    for shown in text.lines() {
        again |= shown == AGAIN;
        let Some(part) = shown.strip_prefix(&own) else {
            continue;
        };
        let has_begun = number > 1 || rest != line(1);
        if !rest.starts_with(part) && again {
            // The one under way, or the one before it, whose end was all that was missing.
            let is_before = !line(number).starts_with(part) && number > 1;
            number -= usize::from(is_before);
            rest = line(number);
        }
        match rest.strip_prefix(part) {
            Some("") => {
                number += 1;
                rest = line(number);
                again = false;
            }
            Some(left) => {
                rest = left.to_owned();
                again = false;
            }
            // Before the first line, and behind the last one, it says other things.
            None if has_begun && number <= count => return false,
            None => {}
        }
    }
    number == count + 1
}

/// Two Linux guests have consoles of another VM, which has that boot argument more. Each reads what is typed for it;
/// each line that it writes is shown once, in order, and as its own.
fn two_consoles_on_one(on: On, argument: &str) -> Outcome {
    let system = with_arguments(
        "systems/served-console.toml",
        "bootargs = \"name0=",
        argument,
    );
    let mut boot = boot_text(on, &system);
    let script = Script::parse("typed", TYPED, &boot.plan.vms, None);
    boot.plan.script = Some(script.expect("it is in order"));
    let outcome = once(&boot);
    let console = outcome.journal.vm("console").expect("the system has it");
    let text = console.console.text();
    for (name, count) in LINES {
        let vm = outcome.journal.vm(name).expect("the system has it");
        let wanted = ["console_there", "console_read", "console_written"];
        assert_eq!(vm.passed, wanted, "{}", explain(&outcome));
        assert!(
            shows_all_lines(&text, name, count),
            "{name}: {}",
            explain(&outcome)
        );
        let forged = format!("{name}: all of this is mineleft: forged");
        assert!(text.lines().any(|line| line == forged), "{text}");
    }
    for line in text.lines() {
        // A life may end in the midst of a name.
        let is_own = |start: &&str| line.starts_with(start) || start.starts_with(line);
        assert!(["left: ", "right: ", "-- "].iter().any(is_own), "{line:?}");
        assert!(!line.contains(char::is_control), "{line:?}");
    }
    outcome
}

fn two_linux_guests_have_consoles_on_one(on: On) {
    let outcome = two_consoles_on_one(on, "");
    assert_eq!(outcome.journal.faults.len(), 0, "{}", explain(&outcome));
}

/// The VM that shows the consoles has a fault after each 1,500 accesses, while Linux waits for it in a loop without an
/// access: its line is finished by the next life, and no line is lost.
fn a_console_outlives_the_vm_that_shows_it(on: On) {
    let outcome = two_consoles_on_one(on, "faults=1500");
    let console = outcome.journal.vm("console").expect("the system has it");
    assert!(console.restarts >= 3, "{}", explain(&outcome));
}

on_both!(
    a_console_outlives_the_vm_that_shows_it,
    a_disk_outlives_the_vm_that_emulates_it,
    an_access_is_a_call_of_another_vm,
    linux_has_a_disk_of_another_vm,
    linux_has_random_bytes_of_another_vm,
    no_request_is_lost_or_doubled,
    two_linux_guests_have_consoles_on_one,
    two_linux_guests_reach_each_other
);
