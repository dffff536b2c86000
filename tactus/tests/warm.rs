//! `tactus warm`: a list of a guest's warm lines, made on the board, named in the system, and in its boot image.

use std::fs;
use std::path::Path;
use std::process::Command;

use tactus::config::{Source, WarmList};

use crate::harness::{output, root};

fn tactus(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
    output(command.current_dir(folder).args(arguments))
}

/// The lines of a list, by address, in its order.
fn lines(text: &str) -> Vec<u64> {
    let (list, problems) = WarmList::parse(Source::new("list", text.to_owned())).expect("TOML");
    assert!(problems.is_empty(), "{problems:?}");
    let line = list.line.expect("it has").value;
    assert_eq!(line, 32);
    let ranges = list.ranges.iter().flat_map(|range| {
        let first = range.first.as_ref().expect("it has").value.0;
        let lines = range.lines.as_ref().expect("it has").value;
        (0..lines).map(move |number| first + u64::from(number * line))
    });
    ranges.collect()
}

/// FreeRTOS of the demo, in its first milliseconds, beside Linux.
#[test]
fn a_list_of_freertos_is_made_named_and_found_stale() {
    let folder = tempfile::tempdir().expect("a directory can be made");
    let demo = root().join("systems/demo.toml");
    let demo = demo.to_str().expect("a path in UTF-8");
    let arguments = ["warm", demo, "--vm", "freertos", "--time", "15ms"];
    let (code, stdout, stderr) = tactus(folder.path(), &arguments);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(stdout.starts_with("freertos.warm.toml: "), "{stdout}");
    let file = folder.path().join("freertos.warm.toml");
    let text = fs::read_to_string(&file).expect("the list");
    let found = lines(&text);
    assert!((20..=128).contains(&found.len()), "{text}");
    // Behind `wfi` comes the trap.
    let first = text.lines().find(|line| line.contains(" of the wakes: "));
    let idle = ["vApplicationIdleHook", "vPortTrapEntry"];
    assert!(
        first.is_some_and(|line| idle.iter().all(|name| line.contains(name))),
        "{text}"
    );
    assert!(text.contains("xTaskIncrementTick"), "{text}");

    // Up to the kernel's tick it uses less.
    let until = ["--until", "xTaskIncrementTick", "-o", "short.toml"];
    let (code, stdout, stderr) = tactus(folder.path(), &[&arguments[..], &until].concat());
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let short = fs::read_to_string(folder.path().join("short.toml")).expect("the list");
    let short = lines(&short);
    assert!(
        !short.is_empty() && short.len() < found.len(),
        "{short:x?} {found:x?}"
    );
    assert!(
        short.iter().all(|line| found.contains(line)),
        "{short:x?} {found:x?}"
    );

    // The system names it.
    let text = fs::read_to_string(demo).expect("the system");
    let named = text.replace(
        "priority = 200\n",
        "priority = 200\ndispatch_ahead = true\nwarm = \"freertos.warm.toml\"\n",
    );
    fs::write(folder.path().join("named.toml"), named).expect("it can be written");
    let (code, stdout, stderr) = tactus(folder.path(), &["build", "named.toml"]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(!stderr.contains("warm"), "{stderr}");
    let list = fs::read_to_string(&file).expect("the list");
    let digest = list
        .lines()
        .find(|line| line.starts_with("image"))
        .expect("it has");
    fs::write(&file, list.replace(digest, "image = \"00\"")).expect("it can be written");
    let (code, stdout, stderr) = tactus(folder.path(), &["check", "named.toml", "--json"]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("stale-warm-lines"), "{stdout}");
}

#[test]
fn what_cannot_be_looked_at_is_said() {
    let folder = tempfile::tempdir().expect("a directory can be made");
    let system = root().join("systems/freertos.toml");
    let system = system.to_str().expect("a path in UTF-8");
    let refused = |arguments: &[&str], words: &str| {
        let (code, stdout, stderr) =
            tactus(folder.path(), &[&["warm", system], arguments].concat());
        assert_eq!(
            (code, stdout.as_str()),
            (Some(1), ""),
            "{arguments:?} {stderr}"
        );
        let text = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{arguments:?} {stderr}");
    };
    refused(&["--vm", "freertoss"], "the system has no such VM");
    refused(
        &["--vm", "freertos", "--vcpu", "1"],
        "vCPU 1 of VM `freertos` is not there",
    );
    refused(
        &["--vm", "freertos", "--until", "nothing"],
        "is no place in this system",
    );
    refused(&["--vm", "freertos", "--profile", "mpsoc"], "");
    refused(
        &["--vm", "freertos", "--time", "1us"],
        "has not been woken by its timer",
    );
    assert_eq!(
        fs::read_dir(folder.path()).expect("the directory").count(),
        0
    );
}

/// The lists that the demo and the experiments name are of the guests as they are built now.
#[test]
fn shipped_lists_are_of_the_guests_as_they_are() {
    let folder = tempfile::tempdir().expect("a directory can be made");
    let systems = root().join("systems");
    let list = systems.join("warm/dispatch.toml");
    let text = fs::read_to_string(systems.join("bench-rtos-and-three.toml")).expect("it is there");
    let named = text
        .replace("[system]\n", "[system]\ndispatch_ahead = true\n")
        .replace(
            "priority = 200\n",
            &format!("priority = 200\nwarm = \"{}\"\n", list.display()),
        );
    assert!(named.contains("warm = "), "{named}");
    let file = folder.path().join("named.toml");
    fs::write(&file, named).expect("it can be written");
    for system in [file, systems.join("demo-board.toml")] {
        let system = system.to_str().expect("a path in UTF-8");
        let (code, stdout, stderr) = tactus(folder.path(), &["check", system]);
        assert_eq!(code, Some(0), "{stdout}{stderr}");
        let told = format!("{stdout}{stderr}");
        assert!(!told.contains("warm lines"), "{told}");
    }
}
