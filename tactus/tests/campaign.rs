//! `tactus faults`: what escapes is found and explained, and neither threads nor an end in between change the results.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::harness::{output, root};

/// Two VMs with a channel, so that one depends on the other: faults of one escape, where only that one may change.
const CAMPAIGN: &str = "\
system = \"SYSTEM\"
pace = \"fast\"
from = \"32ms\"
for = \"60ms\"
after = \"440ms\"
runs = 10

[[fault]]
memory = { vm = \"rust\" }

[[fault]]
registers = { vm = \"rust\" }
";

/// Runs the tool in a folder; gives exit code, stdout and stderr.
fn faults(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
    let all = [&["faults"], arguments].concat();
    output(command.current_dir(folder).args(all))
}

/// The campaign's file.
pub fn channel_campaign() -> String {
    let system = concat!(env!("CARGO_MANIFEST_DIR"), "/../systems/channel.toml");
    CAMPAIGN.replace("SYSTEM", system)
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a directory can be made");
    fs::write(folder.path().join("ch.toml"), channel_campaign()).expect("it can be written");
    folder
}

#[test]
fn what_escapes_is_found_whatever_happens_to_the_campaign() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let read = |name: &str| fs::read(at(name)).expect("it is written");
    let (code, stdout, stderr) = faults(folder.path(), &["ch.toml", "--csv", "a.csv"]);
    assert_eq!(code, Some(1), "{stdout}\n{stderr}");
    let csv = String::from_utf8(read("a.csv")).expect("it is text");
    let of = |verdict: &str| csv.lines().filter(|line| line.contains(verdict)).count();
    let (masked, escaped) = (of(",masked,"), of(",escaped,"));
    assert!(masked > 0 && escaped > 0, "{csv}");
    assert!(
        stdout.contains("Look closer: tactus faults ch.toml --seed 1 --run "),
        "{stdout}"
    );
    assert!(!at("ch.part").exists());

    // One thread, ended in the middle of a line, then others: the same file, and a page that says so.
    let whole = read("ch.parquet");
    let page = || String::from_utf8(read("c.html")).expect("it is text");
    let said = "Escaped or hung: ";
    let bound = stdout.lines().find(|line| line.starts_with(said));
    let bound = bound.expect("it says a bound");
    let again = ["ch.toml", "-o", "c.parquet", "--page", "c.html"];
    let mut running = Command::new(env!("CARGO_BIN_EXE_tactus"))
        .args([&["faults"], &again[..], &["-j", "1"]].concat())
        .current_dir(folder.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the tool can be run");
    let lines = || fs::read_to_string(at("c.part")).map_or(0, |text| text.lines().count());
    while lines() < 4 && running.try_wait().expect("it can be asked").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    running.kill().expect("it can be ended");
    running.wait().expect("it ends");
    if at("c.part").exists() {
        let mut part = fs::read(at("c.part")).expect("it is there");
        part.extend_from_slice(b"{\"run\":7,\"fau");
        fs::write(at("c.part"), part).expect("it can be written");
    }
    assert!(page().contains(">going on<") && page().contains("location.reload()"));
    let (code, stdout, stderr) = faults(folder.path(), &again);
    assert_eq!(code, Some(1));
    assert!(stdout.contains(bound), "{stdout}");
    let shown = page();
    for part in [
        bound,
        ">all runs are done<",
        ">10 of 10<",
        " of them before",
        "tactus faults ch.toml --seed 1 --run ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("<script"), "{shown}");
    assert!(
        stderr.contains(" runs are done already: c.part"),
        "{stderr}"
    );
    assert!(read("c.parquet") == whole);
    // As many rows of the page say that a run escaped as the table does.
    let rows = shown.matches("<td class=\"text bad\">escaped</td>").count();
    assert_eq!(rows, escaped, "{shown}");

    // Interrupted, the last page says so.
    let mut running = Command::new(env!("CARGO_BIN_EXE_tactus"))
        .args([
            "faults",
            "ch.toml",
            "-o",
            "e.parquet",
            "--page",
            "e.html",
            "-j",
            "1",
        ])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the tool can be run");
    let lines = || fs::read_to_string(at("e.part")).map_or(0, |text| text.lines().count());
    while lines() < 3 && running.try_wait().expect("it can be asked").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let number = running.id().to_string();
    let kill = Command::new("kill").args(["-INT", &number]).status();
    assert!(kill.expect("kill can be run").success());
    assert_eq!(running.wait().expect("it ends").code(), Some(130));
    let shown = String::from_utf8(read("e.html")).expect("it is text");
    assert!(
        shown.contains("it was interrupted") && !shown.contains("<script"),
        "{shown}"
    );
    let (code, _, stderr) = faults(folder.path(), &["ch.toml", "--page", "none/page.html"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains("--page none/page.html: no file can be written there"),
        "{stderr}"
    );

    // What is kept of another campaign is not taken for this one's.
    fs::write(at("d.part"), "tactus faults 0 0\n{}\n").expect("it can be written");
    let (code, _, stderr) = faults(folder.path(), &["ch.toml", "-o", "d.parquet"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("d.part is of another campaign"), "{stderr}");

    // Where both may change nothing escapes, and a run is explained.
    let text = fs::read_to_string(at("ch.toml")).expect("it is there");
    let both = text.replace("\" }\n", "\" }\naffects = [\"rust\", \"freertos\"]\n");
    fs::write(at("both.toml"), both).expect("it can be written");
    let (code, stdout, stderr) = faults(folder.path(), &["both.toml", "--runs", "6"]);
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    assert!(stdout.contains("Escaped or hung: 0 of 6;"), "{stdout}");
    let first = csv
        .lines()
        .find(|line| line.contains(",escaped,"))
        .expect("there is one");
    let run = first.split(',').next().expect("it has a number");
    let (code, stdout, stderr) = faults(folder.path(), &["ch.toml", "--run", run]);
    assert_eq!(code, Some(1), "{stdout}\n{stderr}");
    for part in [
        "Verdict: escaped\n",
        "First other register: cycle ",
        "First other event: cycle ",
    ] {
        assert!(stdout.contains(part), "{stdout}");
    }
}

#[test]
fn a_campaign_that_cannot_be_is_refused() {
    let folder = folder();
    let text = fs::read_to_string(folder.path().join("ch.toml")).expect("it is there");
    for (from, to, said) in [
        ("vm = \"rust\"", "vm = \"rost\"", "there is no VM `rost`"),
        (
            "registers = { vm = \"rust\" }",
            "stall = { hart = 7, cycles = 1 }\naffects = []",
            "`stall of hart 7` cannot be: the board has no hart 7",
        ),
        (
            "registers = { vm = \"rust\" }",
            "fabric = \"event_lost\"\naffects = []",
            "`fabric: event lost` cannot be: the board has no fabric that could fail",
        ),
        (
            "from = \"32ms\"",
            "from = \"1ms\"",
            "all memory of VM `rust` that may change is zero",
        ),
        ("channel.toml", "none.toml", "none.toml"),
    ] {
        let text = text.replace(from, to);
        fs::write(folder.path().join("wrong.toml"), text).expect("it can be written");
        let (code, _, stderr) = faults(folder.path(), &["wrong.toml"]);
        assert!(matches!(code, Some(1 | 2)), "{code:?}: {stderr}");
        assert!(stderr.contains(said), "{said}: {stderr}");
        assert!(!folder.path().join("wrong.parquet").exists());
    }
}

/// The other campaigns need Linux, or simulate the fabric: `make soak` has them.
#[test]
fn nothing_escapes_from_a_vm_that_crashes_and_restarts() {
    let folder = tempfile::tempdir().expect("a directory can be made");
    let campaign = concat!(env!("CARGO_MANIFEST_DIR"), "/../campaigns/life-cycle.toml");
    let (code, stdout, stderr) = faults(folder.path(), &[campaign, "--runs", "12"]);
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    assert!(stdout.contains("Escaped or hung: 0 of 12;"), "{stdout}");
}

/// `make soak` has campaigns of many runs.
#[test]
fn a_vm_that_turns_hostile_changes_no_other() {
    let folder = tempfile::tempdir().expect("a directory can be made");
    let at = |name: &str| folder.path().join(name);
    let read = |file: &str| fs::read_to_string(root().join(file)).expect("it is there");
    let (campaign, system) = (
        read("campaigns/hostile.toml"),
        read("systems/takeover.toml"),
    );
    let write = |name: &str, pairs: &[(&str, &str)]| {
        let shorter = [
            ("../systems/takeover.toml", "system.toml"),
            ("for = \"10ms\"", "for = \"1ms\""),
            ("after = \"10ms\"", "after = \"2ms\""),
        ];
        let mut text = campaign.clone();
        for (from, to) in shorter.iter().chain(pairs) {
            assert!(text.contains(from), "{from}: {text}");
            text = text.replace(from, to);
        }
        fs::write(at(name), text).expect("it can be written");
    };
    fs::write(at("system.toml"), &system).expect("it can be written");
    write("any.toml", &[]);
    let run = ["any.toml", "--runs", "8", "--csv", "any.csv"];
    let (code, stdout, stderr) = faults(folder.path(), &run);
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    let csv = fs::read_to_string(at("any.csv")).expect("it is written");
    let rows: Vec<Vec<String>> = csv.lines().skip(1).map(cells).collect();
    assert_eq!(rows.len(), 8);
    for row in &rows {
        assert_eq!(row[1], "takeover of subject");
        assert!(
            row[2].contains(" goes on at 0x80200000 in place of "),
            "{row:?}"
        );
        assert!(["detected", "contained"].contains(&&*row[4]), "{row:?}");
        assert_eq!(row[5], "subject");
    }
    // Most attack until the end, and not all in the same way.
    let contained = rows.iter().filter(|row| row[4] == "contained").count();
    assert!(contained > 4, "{csv}");
    let by = |row: &Vec<String>| row[2].split(' ').nth(1).map(str::to_owned);
    let attacks: std::collections::BTreeSet<_> = rows.iter().map(by).collect();
    assert!(attacks.len() > 2, "{attacks:?}");

    // Where it may not even change itself it is made smaller: by the VM that is not needed, and its own draws.
    let hostile = "hostile = { vm = \"subject\" }";
    let ring = "hostile = { vm = \"subject\", attack = \"ring\" }\naffects = []";
    write(
        "ring.toml",
        &[(hostile, ring), ("from =", "pace = \"fast\"\nfrom =")],
    );
    let run = ["ring.toml", "--run", "0", "--minimise", "small.toml"];
    let (code, stdout, stderr) = faults(folder.path(), &run);
    assert_eq!(code, Some(1), "{stdout}\n{stderr}");
    assert!(stdout.contains("Without: freertos\n"), "{stdout}");
    let small = fs::read_to_string(at("small.toml")).expect("it is written");
    let named = "hostile = { vm = \"subject\", attack = \"ring\", seed = ";
    assert!(small.contains(named), "{small}");
    let (code, stdout, stderr) = faults(folder.path(), &["small.toml"]);
    assert_eq!(code, Some(1), "{stdout}\n{stderr}");

    // A VM too small for the hostile guest, and not for its own image: an endless loop.
    fs::write(at("loop.bin"), 0x0000_006f_u32.to_le_bytes()).expect("it can be written");
    let tight = system
        .replace("@bench-load", "loop.bin")
        .replace("rt_share", "rt_memory = \"1900KiB\"\nrt_share");
    fs::write(at("tight.toml"), tight).expect("it can be written");
    for (pairs, said) in [
        (
            &[("\"system.toml", "\"tight.toml")][..],
            "line 10: VM `subject` cannot hold the hostile guest",
        ),
        (
            &[(
                hostile,
                "hostile = { vm = \"subject\", attack = \"rings\" }",
            )],
            "line 10: there is no attack `rings`",
        ),
        (
            &[(hostile, "hostile = { vm = \"subject\", attack = \"io\" }")],
            "line 10: VM `subject` lacks what the attack `io` uses",
        ),
        (
            &[(hostile, "hostile = { vm = \"absent\" }")],
            "line 10: there is no VM `absent`",
        ),
    ] {
        write("wrong.toml", pairs);
        let (code, stdout, stderr) = faults(folder.path(), &["wrong.toml"]);
        assert_eq!((code, &*stdout), (Some(2), ""), "{stderr}");
        assert!(stderr.contains(said), "{said}: {stderr}");
    }
}

/// A VM that emulates a disk crashes at any cycle, also of the starts between faults of its own; `make soak` has 10,000
/// crashes.
#[test]
fn no_request_is_lost_when_the_vm_that_has_the_disk_crashes() {
    let folder = tempfile::tempdir().expect("a directory can be made");
    let read = |file: &str| fs::read_to_string(root().join(file)).expect("it is there");
    let campaign = read("campaigns/served-disk.toml");
    let image = "image = \"@virtio-disk\"";
    let system = read("systems/served-journal.toml");
    let faulty = system.replace(image, &format!("{image}\nbootargs = \"faults=80\""));
    assert_ne!(faulty, system);
    for (runs, system, window) in [("150", system, "7600us"), ("40", faulty, "35ms")] {
        fs::write(folder.path().join("system.toml"), system).expect("it can be written");
        let here = campaign
            .replace("../systems/served-journal.toml", "system.toml")
            .replace("for = \"7600us\"", &format!("for = \"{window}\""))
            .replace("after = \"25ms\"", "after = \"100ms\"");
        assert!(here.contains("\"system.toml\"") && here.contains(window));
        assert!(here.contains("100ms"));
        fs::write(folder.path().join("disk.toml"), here).expect("it can be written");
        let (code, stdout, stderr) = faults(folder.path(), &["disk.toml", "--runs", runs]);
        assert_eq!(code, Some(0), "{stdout}\n{stderr}");
        assert!(stdout.contains("Escaped or hung: 0 of "), "{stdout}");
        // Nearly all come to a time when the VM has a hart.
        let all = stdout
            .lines()
            .find(|line| line.starts_with("  crash of disk"));
        let columns: Vec<u32> = all
            .expect("a line of them")
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let [_, detected, contained, .., not_placed] = columns[..] else {
            panic!("{stdout}");
        };
        assert_eq!(contained, 0, "{stdout}");
        assert!(not_placed * 10 <= detected, "{stdout}");
    }
}

/// Carries out so many runs of `campaigns/power.toml` with the journal's other boot arguments, and gives the lines of
/// those that have escaped, and what was printed.
fn lose_power(arguments: &str, window: &str, runs: &str) -> (Vec<String>, String) {
    let folder = tempfile::tempdir().expect("a directory can be made");
    let read = |file: &str| fs::read_to_string(root().join(file)).expect("it is there");
    let system = read("systems/flash-journal.toml");
    assert!(system.contains("period=400"));
    let named = system.replace("period=400", arguments);
    fs::write(folder.path().join("system.toml"), named).expect("it can be written");
    let here = read("campaigns/power.toml")
        .replace("../systems/flash-journal.toml", "system.toml")
        .replace("for = \"12ms\"", &format!("for = \"{window}\""));
    assert!(here.contains("\"system.toml\"") && here.contains(window));
    fs::write(folder.path().join("power.toml"), here).expect("it can be written");
    let arguments = ["power.toml", "--runs", runs, "--csv", "power.csv"];
    let (code, stdout, stderr) = faults(folder.path(), &arguments);
    let csv = fs::read_to_string(folder.path().join("power.csv")).expect("it is written");
    let escaped = csv.lines().filter(|line| line.contains(",escaped,"));
    let escaped: Vec<String> = escaped.map(str::to_owned).collect();
    let expected = if escaped.is_empty() { 0 } else { 1 };
    assert_eq!(code, Some(expected), "{stdout}\n{stderr}");
    (escaped, stdout)
}

/// Power fails while a journal is written: nothing is lost.
#[test]
fn no_record_is_lost_when_power_fails() {
    // The fabric's tenth of a second before the loss takes a minute of a core: as few losses as there can be.
    let (escaped, stdout) = lose_power("period=400", "12ms", "2");
    assert!(escaped.is_empty(), "{stdout}");
    assert!(stdout.contains("Escaped or hung: 0 of 2;"), "{stdout}");
}

/// Each of the two mistakes that the journal can make is found.
#[test]
#[ignore = "long"]
fn mistakes_are_found_when_power_fails() {
    // Without a pause between records most losses tear one.
    let (escaped, stdout) = lose_power("confirm=early checksum=none", "4ms", "1");
    let is_found = |mistake: &str| escaped.iter().any(|line| line.contains(mistake));
    assert!(is_found("a torn record counts as whole"), "{stdout}");
    assert!(is_found("journal had confirmed "), "{stdout}");
}

#[test]
fn a_bad_run_is_made_smaller() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let systems = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems");
    let system = fs::read_to_string(systems.join("channel.toml")).expect("it is there");
    // One that has nothing to do with it.
    let other = "\n[[vm]]\nname = \"bystander\"\nimage = \"@bench-load\"\nmemory = \"4MiB\"\nbootargs = \"load=compute\"\n\n\
        [[vm.vcpu]]\nclass = \"be\"\n\n[[channel]]\nname = \"more\"\nbetween = [\"rust\", \"bystander\"]\nsize = \"4KiB\"\n";
    fs::write(at("three.toml"), system + other).expect("it can be written");
    let text = fs::read_to_string(at("ch.toml")).expect("it is there");
    let path = systems.join("channel.toml");
    let named = text.replace(&path.display().to_string(), "three.toml");
    assert_ne!(named, text);
    let fault = "[[fault]]\nmemory = { vm = \"rust\", at = 0x8020_3d08, bit = 3 }\n";
    let one = named.split("[[fault]]").next().expect("it has a beginning");
    fs::write(at("one.toml"), format!("{one}{fault}")).expect("it can be written");

    let small = ["one.toml", "--run", "0", "--minimise", "small.toml"];
    let (code, stdout, stderr) = faults(folder.path(), &small);
    assert_eq!(code, Some(1), "{stdout}\n{stderr}");
    assert!(stdout.contains("Verdict: escaped\n"), "{stdout}");
    assert!(stdout.contains("Without: bystander\n"), "{stdout}");
    let left = fs::read_to_string(at("small-system.toml")).expect("it is written");
    assert!(
        !left.contains("bystander") && left.contains("freertos"),
        "{left}"
    );
    let campaign = fs::read_to_string(at("small.toml")).expect("it is written");
    assert!(campaign.contains("at = 0x80203d08"), "{campaign}");
    let (code, stdout, stderr) = faults(folder.path(), &["small.toml"]);
    assert_eq!(code, Some(1), "{stdout}\n{stderr}");
    assert!(stdout.contains("Escaped or hung: 1 of 1;"), "{stdout}");

    // What is masked has nothing to show.
    fs::write(
        at("one.toml"),
        format!("{one}[[fault]]\nstall = {{ hart = 0, cycles = 1 }}\naffects = []\n"),
    )
    .expect("it can be written");
    let (code, stdout, stderr) = faults(folder.path(), &small);
    assert_eq!((code, &*stdout), (Some(2), ""));
    assert!(
        stderr.contains("run 0 is masked: there is nothing to show"),
        "{stderr}"
    );
}

#[test]
fn a_crash_and_a_named_place_are_what_they_say() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let text = fs::read_to_string(at("ch.toml")).expect("it is there");
    let one = text.split("[[fault]]").next().expect("it has a beginning");
    let of = |fault: &str| {
        let text = one.replace("runs = 10", "runs = 4");
        fs::write(at("one.toml"), format!("{text}[[fault]]\n{fault}\n"))
            .expect("it can be written");
        faults(folder.path(), &["one.toml", "--csv", "one.csv"])
    };
    let csv = || fs::read_to_string(at("one.csv")).expect("it is written");
    let (_, stdout, stderr) = of("crash = { vm = \"rust\" }\naffects = [\"rust\", \"freertos\"]");
    let csv_of_crash = csv();
    assert_eq!(
        csv_of_crash.matches("goes on at 0 in place of").count(),
        4,
        "{stdout}\n{stderr}\n{csv_of_crash}"
    );
    assert_eq!(
        csv_of_crash.matches(",detected,").count(),
        4,
        "{csv_of_crash}"
    );
    let (code, ..) = of(
        "memory = { vm = \"rust\", at = 0x803f_f000, size = \"64B\" }\nfemtoseconds = 40000000000000",
    );
    assert_eq!(code, Some(0));
    let csv = csv();
    for line in csv.lines().skip(1) {
        assert!(
            line.contains(" at 0x803ff0") && line.contains(",39999999"),
            "{csv}"
        );
    }
    for (fault, message) in [
        (
            "memory = { vm = \"rust\", at = 0x9000_0000 }",
            "are not in the memory of VM `rust`",
        ),
        (
            "memory = { vm = \"rust\" }\nfemtoseconds = 1",
            "`memory of rust` at 0.000000 ms is not in the window",
        ),
    ] {
        let (code, stdout, stderr) = of(fault);
        assert_eq!((code, &*stdout), (Some(2), ""));
        // Lines are broken where a terminal ends.
        let stderr = stderr.replace("\n  \u{2502} ", " ");
        assert!(stderr.contains(message), "{stderr}");
    }
}

/// A guest reads a word again and again, and executes an undefined instruction once it is not 0.
const READER: [u32; 5] = [
    0x0000_0597, // auipc a1, 0
    0x0405_a603, // lw a2, 0x40(a1)
    0x0006_1463, // bnez a2, 1f
    0xff5f_f06f, // j .-12
    0x0000_0000, // 1: unimp
];
const READER_SYSTEM: &str = "\
[system]
platform = \"qemu-virt\"
harts = 2

[[vm]]
name = \"reader\"
image = \"reader.bin\"
memory = \"4MiB\"

[[vm.vcpu]]
class = \"be\"
harts = [0]

[[vm]]
name = \"other\"
image = \"@freertos-dispatch\"
counters = true
memory = \"16MiB\"
bootargs = \"hz=1000 samples=100000\"

[[vm.vcpu]]
class = \"rt\"
hart = 1
priority = 200
budget = \"unlimited\"
";
/// Both are silent by then: lines of one delay those of the other.
const READER_CAMPAIGN: &str = "\
system = \"system.toml\"
pace = \"fast\"
from = \"60ms\"
for = \"1ms\"
after = \"9ms\"

[[fault]]
memory = { vm = \"reader\", at = 0x8020_0040, bit = 0 }
affects = []
";

#[test]
fn a_run_tells_the_chain_from_a_bit_to_its_effect() {
    let folder = tempfile::tempdir().expect("a directory can be made");
    let at = |name: &str| folder.path().join(name);
    let mut image: Vec<u8> = READER.iter().flat_map(|word| word.to_le_bytes()).collect();
    image.resize(0x44, 0);
    fs::write(at("reader.bin"), image).expect("it can be written");
    fs::write(at("system.toml"), READER_SYSTEM).expect("it can be written");
    fs::write(at("reader.toml"), READER_CAMPAIGN).expect("it can be written");
    let of = || faults(folder.path(), &["reader.toml", "--run", "0"]);
    let (code, stdout, stderr) = of();
    assert_eq!(code, Some(1), "{stdout}\n{stderr}");
    let (_, chain) = stdout
        .split_once("From the fault to what it has done:\n")
        .expect("it has a chain");
    let (chain, _) = chain.split_once("At the end, ").expect("it has an end");
    // In this order.
    let mut rest = chain;
    for part in [
        " ms: the fault: bit 0 of the byte at 0x80200040, physical ",
        ", hart 0: reader has read what has changed, and is at 0x80200008: x12 is 0x1, not 0x0\n",
        ", hart 0: reader: illegal instruction, or floating point at 0x80200010; without the fault ",
        " ms: the hypervisor's log: \"fault vm=reader vcpu=0 cause=2 ",
        "  All events as without the fault: other\n",
    ] {
        let (_, behind) = rest
            .split_once(part)
            .unwrap_or_else(|| panic!("{part}: {chain}"));
        rest = behind;
    }
    assert_eq!(rest, "");
    assert!(chain.lines().count() <= 15, "{chain}");
    let times = chain.lines().filter_map(|line| {
        let (time, _) = line
            .trim_start()
            .trim_start_matches("by ")
            .split_once(" ms")?;
        time.parse::<f64>().ok()
    });
    assert!(times.is_sorted(), "{chain}");
    assert_eq!(of().1, stdout);
}

/// Bits of the registers of a VM change that receives messages; a real-time guest has nothing to do with it.
const MESSAGES: &str = "\
system = \"messages.toml\"
pace = \"fast\"
from = \"40ms\"
for = \"10ms\"
after = \"10ms\"
runs = 100

[[fault]]
registers = { vm = \"receiver\" }
affects = [\"sender\", \"receiver\"]
";
const MESSAGES_SYSTEM: &str = "\
[system]
platform = \"qemu-virt\"
harts = 2

[[vm]]
name = \"sender\"
image = \"@bench-channel\"
counters = true
memory = \"4MiB\"
bootargs = \"measure=message role=sender\"

[[vm.vcpu]]
class = \"be\"
harts = [0]

[[vm]]
name = \"receiver\"
image = \"@bench-channel\"
counters = true
memory = \"4MiB\"
bootargs = \"measure=message role=receiver\"

[[vm.vcpu]]
class = \"be\"
harts = [1]

[[vm]]
name = \"rtos\"
image = \"@freertos-dispatch\"
counters = true
memory = \"16MiB\"
bootargs = \"hz=1000 samples=200\"

[[vm.vcpu]]
class = \"rt\"
hart = 0
priority = 200
budget = \"unlimited\"

[[channel]]
name = \"between\"
between = [\"sender\", \"receiver\"]
size = \"256KiB\"
messages = 8
message_size = \"4KiB\"
";

/// A folder that is a clone for the tool, whose hypervisor has another text in a file: `hypervisor/` is copied, all
/// else is this clone's. What is built goes to the folder's `target/`.
#[cfg(unix)]
fn clone_with_another_hypervisor(file: &str, text: &str, other: &str) -> tempfile::TempDir {
    fn copy(from: &Path, to: &Path) {
        fs::create_dir(to).expect("a directory can be made");
        for entry in fs::read_dir(from).expect("it is there") {
            let entry = entry.expect("it can be read");
            let to = to.join(entry.file_name());
            if entry.file_type().expect("it has one").is_dir() {
                copy(&entry.path(), &to);
            } else {
                fs::copy(entry.path(), to).expect("it can be copied");
            }
        }
    }
    let folder = tempfile::tempdir().expect("a directory can be made");
    let root = root().canonicalize().expect("it is there");
    for entry in fs::read_dir(&root).expect("it is there") {
        let name = entry.expect("it can be read").file_name();
        if name != "hypervisor" && name != "target" && name != ".git" {
            let to = folder.path().join(&name);
            std::os::unix::fs::symlink(root.join(&name), to).expect("it can be linked");
        }
    }
    let hypervisor = folder.path().join("hypervisor");
    copy(&root.join("hypervisor"), &hypervisor);
    let file = hypervisor.join(file);
    let before = fs::read_to_string(&file).expect("it is there");
    assert_eq!(before.matches(text).count(), 1, "{}", file.display());
    fs::write(file, before.replace(text, other)).expect("it can be written");
    folder
}

/// A VM that computes beside two with a reservation, whose caches' tags change.
const TAGS: &str = "\
system = \"system.toml\"
from = \"150ms\"
for = \"1ms\"
after = \"2ms\"
runs = 6

[[fault]]
tag = { cache = \"data\", hart = 0 }
affects = []

[[fault]]
tag = { cache = \"level2\" }
affects = []
";

fn tags(samples: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a directory can be made");
    let system = fs::read_to_string(root().join("bench/board/campaign-system.toml"));
    let system = system.expect("it is there");
    assert!(system.contains("samples=100000\""));
    let system = system.replace("samples=100000\"", &format!("samples={samples}\""));
    fs::write(folder.path().join("system.toml"), system).expect("it can be written");
    fs::write(folder.path().join("tags.toml"), TAGS).expect("it can be written");
    folder
}

#[test]
fn tags_of_caches_change_nothing_but_times() {
    let folder = tags("100000");
    let (code, stdout, stderr) = faults(folder.path(), &["tags.toml"]);
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    let all = stdout.lines().find(|line| line.starts_with("  all "));
    let counts: Vec<&str> = all.expect("a sum").split_whitespace().collect();
    assert_eq!(counts[1], "6", "masked: {stdout}");
    let wrong = TAGS.replace("hart = 0", "hart = 2");
    fs::write(folder.path().join("wrong.toml"), wrong).expect("it can be written");
    let (code, _, stderr) = faults(folder.path(), &["wrong.toml"]);
    assert_eq!(code, Some(2));
    assert!(
        stderr.contains("there is no cache `data` of hart 2"),
        "{stderr}"
    );
}

/// The cells of a line of a CSV file without quotes in quotes.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for character in line.chars() {
        match (character, cells.last_mut()) {
            ('"', _) => is_quoted = !is_quoted,
            (',', _) if !is_quoted => cells.push(String::new()),
            (other, Some(cell)) => cell.push(other),
            (_, None) => {}
        }
    }
    cells
}

/// What campaigns save is nothing that they would have found, and faults in what is live are none in vain.
#[test]
fn what_nothing_reads_need_not_be_carried_out() {
    const FOLLOWED: &str = "\
system = \"system.toml\"
from = \"150ms\"
for = \"1ms\"
after = \"2ms\"
runs = 60

[[fault]]
memory = { vm = \"compute\" }

[[fault]]
registers = { vm = \"compute\" }
";
    let folder = tags("100000");
    let rows = |name: &str, text: &str| -> Vec<Vec<String>> {
        let at = |extension| folder.path().join(format!("{name}.{extension}"));
        fs::write(at("toml"), text).expect("it can be written");
        let csv = at("csv");
        let csv = csv.to_str().expect("its name is text");
        let (code, stdout, stderr) =
            faults(folder.path(), &[&format!("{name}.toml"), "--csv", csv]);
        assert_eq!(code, Some(0), "{stdout}\n{stderr}");
        let text = fs::read_to_string(csv).expect("it is written");
        text.lines().skip(1).map(cells).collect()
    };
    const VERDICT: usize = 4;
    const SAME: usize = 7;
    const CARRIED_OUT: usize = 9;
    const SHARE: usize = 10;
    let all = rows("every", FOLLOWED);
    let skipped = rows("skip", &format!("skip_unread = true\n{FOLLOWED}"));
    let mut saved = 0;
    for (one, other) in all.iter().zip(&skipped) {
        assert_eq!(one[..VERDICT + 1], other[..VERDICT + 1]);
        if other[CARRIED_OUT] == "false" {
            saved += 1;
            assert_eq!(one[VERDICT], "masked", "{one:?}");
            // A register that nothing reads may still be another in the end, which the hash has.
            let is_register = one[1].starts_with("registers");
            assert!(one[SAME] == "true" || is_register, "{one:?}");
        } else {
            assert_eq!(one[..CARRIED_OUT], other[..CARRIED_OUT]);
        }
    }
    assert!((1..60).contains(&saved), "{saved}");

    let live = FOLLOWED.replace("\" }", "\", among = \"live\" }");
    let live = rows("live", &format!("skip_unread = true\n{live}"));
    for row in &live {
        assert_eq!(row[CARRIED_OUT], "true", "{row:?}");
        let share: f64 = row[SHARE].parse().expect("a figure");
        assert!(0.0 < share && share < 1.0, "{row:?}");
    }
    let differ = |rows: &[Vec<String>]| rows.iter().filter(|row| row[SAME] == "false").count();
    assert!(differ(&live) > differ(&all), "{live:?}");
}

#[test]
fn a_vm_that_has_failed_already_is_an_error() {
    let folder = tags("1000000");
    let (code, stdout, stderr) = faults(folder.path(), &["tags.toml"]);
    assert_eq!(code, Some(2), "{stdout}");
    // The line is broken where a terminal ends.
    let said = "VM `freertos` has failed before faults begin";
    assert!(stderr.contains(said), "{stderr}");
    assert!(stderr.contains("arguments"), "{stderr}");
}

/// An error is planted in the hypervisor: it does not look any more whether what a guest names is within its memory.
/// The tool finds that, makes it smaller and says where it happens; of the hypervisor as it is the same faults do not
/// escape.
#[cfg(unix)]
#[test]
#[ignore = "long"]
fn a_bound_check_that_is_missing_is_found() {
    let folder = clone_with_another_hypervisor(
        "src/vm.rs",
        "(offset.checked_add(length)? <= memory.size).then(|| memory.host_at(offset))",
        "offset.checked_add(length).map(|_| memory.host_at(offset))",
    );
    let sound = tempfile::tempdir().expect("a directory can be made");
    for folder in [folder.path(), sound.path()] {
        fs::write(folder.join("messages.toml"), MESSAGES_SYSTEM).expect("it can be written");
        fs::write(folder.join("campaign.toml"), MESSAGES).expect("it can be written");
    }
    let (code, stdout, stderr) = faults(sound.path(), &["campaign.toml"]);
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    assert!(stdout.contains("Escaped or hung: 0 of 100;"), "{stdout}");

    let faults = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
        let all = [&["faults"], arguments].concat();
        let command = command
            .current_dir(folder.path())
            .env("CARGO_TARGET_DIR", folder.path().join("target"));
        output(command.args(all))
    };
    // Found.
    let (code, stdout, stderr) = faults(&["campaign.toml"]);
    assert_eq!(code, Some(1), "{stdout}\n{stderr}");
    let panicked = "hypervisor: the hypervisor panicked: the hypervisor itself trapped";
    assert!(stdout.contains(panicked), "{stdout}");
    let closer = "Look closer: tactus faults campaign.toml --seed 1 --run ";
    let run = stdout.lines().find_map(|line| line.strip_prefix(closer));
    let run = run.expect("a run has escaped");
    // Made smaller: by the real-time guest, and by nearly all the time.
    let (code, stdout, stderr) =
        faults(&["campaign.toml", "--run", run, "--minimise", "small.toml"]);
    assert_eq!(code, Some(1), "{stdout}\n{stderr}");
    assert!(stdout.contains("Verdict: escaped\n"), "{stdout}");
    assert!(stdout.contains("Without: rtos\n"), "{stdout}");
    // Explained: by the register that the fault has changed, and by where the hypervisor follows it.
    let (code, stdout, stderr) = faults(&["small.toml", "--run", "0"]);
    assert_eq!(code, Some(1), "{stdout}\n{stderr}");
    let line = |begin: &str| {
        let line = stdout.lines().find(|line| line.starts_with(begin));
        line.unwrap_or_else(|| panic!("{begin}: {stdout}"))
    };
    let fault = line("Fault: registers of receiver");
    let register = fault
        .rsplit("bit ")
        .next()
        .and_then(|of| of.split(' ').nth(2));
    let register = register.expect("it names a register");
    let first = line("First other register: cycle ");
    assert!(first.contains("receiver is at "), "{stdout}");
    assert!(first.contains(&format!("; {register} is ")), "{stdout}");
    let event = line("First other event: cycle ");
    assert!(event.contains("(hypervisor) at "), "{stdout}");
    // It copies a message there, on behalf of one of its own functions.
    assert!(event.contains("`memcpy`"), "{stdout}");
    assert!(event.contains("`tactus_hypervisor::"), "{stdout}");
}
