//! `tactus new guest` from its user's view: a new guest builds and runs as it is, and reports the user's errors.
//!
//! Impossible names and places are refused.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::harness::{output, root};

/// A new folder for the guests. Its name has a space and characters that a shell and `make` interpret.
fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let place = directory.path().join("a b$c#d'e");
    std::fs::create_dir(&place).expect("and one in it");
    (directory, place)
}

fn new_guest(place: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
    command.current_dir(place).args(["new", "guest"]);
    output(command.args(arguments))
}

/// Runs `make` in the folder, without the network: a new guest needs no packages but those of Tactus itself.
fn make(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new("make");
    command.current_dir(folder).args(arguments);
    command.env("CARGO_NET_OFFLINE", "true");
    output(&mut command)
}

#[track_caller]
fn assert_made(result: &(Option<i32>, String, String)) {
    let (code, stdout, stderr) = result;
    assert_eq!(*code, Some(0), "{stdout}\n{stderr}");
}

/// The packages in a project's lock file.
fn packages(folder: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(folder.join("Cargo.lock")).expect("it is there");
    let packages = text.split("[[package]]\n").skip(1);
    let two_lines = |text: &str| text.lines().take(2).collect::<Vec<_>>().join(" ");
    packages.map(two_lines).collect()
}

/// Changes a file of the folder as its user would.
#[track_caller]
fn edit(folder: &Path, file: &str, from: &str, to: &str) {
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).expect("the file is there");
    assert!(text.contains(from), "{file} has no {from}");
    std::fs::write(&path, text.replace(from, to)).expect("it can be written");
}

/// Asserts that the system ran and that all three VMs passed.
#[track_caller]
fn assert_ran(result: &(Option<i32>, String, String), name: &str) {
    assert_made(result);
    let stdout = &result.1;
    for part in [
        &format!("Hello from {name}, 10000000 ticks a second."),
        &format!("{name} answers."),
        "Hello from vCPU 0, boot arguments \"greeting\".",
        "all VMs are off",
        "timer_lateness of ",
        "round_trip_max",
    ] {
        assert!(stdout.contains(part), "no \"{part}\" in\n{stdout}");
    }
    assert!(!stdout.contains("as the budget was used up"), "{stdout}");
}

#[test]
fn guest_in_c_builds_and_runs_as_it_is() {
    let (_directory, place) = place();
    let (code, stdout, stderr) = new_guest(&place, &["blink", "--c"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert_eq!(
        stdout,
        "Created blink: a guest in C, 14 files. Build it, and run it beside other guests:\n\
         \n  cd blink\
         \n  make run                   # on QEMU\
         \n  make run PLATFORM=board    # on the virtual board\n\
         \nREADME.md describes the files.\n"
    );
    let folder = place.join("blink");
    let built = make(
        &folder,
        &["CFLAGS=-O2 -g -Wall -Wextra -Wshadow -Wmissing-prototypes -Werror"],
    );
    assert_made(&built);
    let checked = make(&folder, &["check"]);
    assert_made(&checked);
    assert!(checked.1.contains("system.toml: fine"), "{}", checked.1);
    assert_ran(&make(&folder, &["run"]), "blink");
    assert_ran(&make(&folder, &["run", "PLATFORM=board"]), "blink");

    // A new C file is found without a change of the Makefile, and the guest's failure is the run's verdict.
    std::fs::write(
        folder.join("more.c"),
        "int more(void);\nint more(void) { return 1; }\n",
    )
    .expect("it can be written");
    edit(
        &folder,
        "main.c",
        "int main(void)\n{\n",
        "int more(void);\n\nint main(void)\n{\n    print(\"more: %d, %x\\n\", more(), 48879);\n",
    );
    edit(
        &folder,
        "main.c",
        "question * question);\n    }",
        "question * question + 1);\n    }",
    );
    let (code, stdout, stderr) = make(&folder, &["run", "PLATFORM=board"]);
    assert_eq!(code, Some(2), "{stdout}\n{stderr}");
    assert!(stdout.contains("more: 1, beef"), "{stdout}");
    assert!(
        stdout.contains("check \"blink\" failed: wrong_answer"),
        "{stdout}"
    );
    assert!(stderr.contains("Error 1"), "{stderr}");

    // An exception is reported with its location.
    edit(
        &folder,
        "main.c",
        "    print(\"more:",
        "    __asm volatile(\".4byte 0\");\n    print(\"more:",
    );
    let (code, stdout, stderr) = make(&folder, &["run", "PLATFORM=board"]);
    assert_eq!(code, Some(2), "{stdout}\n{stderr}");
    assert!(
        stdout.contains("Exception: cause 2 at pc 0x80200"),
        "{stdout}"
    );

    // A program that does not compile does not run.
    edit(&folder, "main.c", "int more(void);", "int more(void)");
    let (code, stdout, stderr) = make(&folder, &["run"]);
    assert_eq!(code, Some(2), "{stdout}\n{stderr}");
    assert!(stderr.contains("main.c:"), "{stderr}");
    assert!(!stdout.contains("tactus |"), "{stdout}");

    // Removed files are reported by name.
    assert_made(&make(&folder, &["clean"]));
    let mut check = Command::new(env!("CARGO_BIN_EXE_tactus"));
    let (code, stdout, stderr) = output(check.current_dir(&folder).args(["check", "system.toml"]));
    assert_eq!(code, Some(1), "{stdout}\n{stderr}");
    assert!(stderr.contains("build/blink.elf"), "{stderr}");
}

#[test]
fn guest_in_c_runs_without_a_hypervisor() {
    let (_directory, place) = place();
    assert_made(&new_guest(&place, &["alone", "--c"]));
    let (code, stdout, stderr) = make(&place.join("alone"), &["native"]);
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    assert!(
        stdout.contains("Hello from alone, 10000000 ticks a second."),
        "{stdout}"
    );
    assert!(stdout.contains("@tactus pass name=alone"), "{stdout}");
    assert!(!stdout.contains("answers"), "{stdout}");
}

#[test]
fn guest_in_rust_builds_and_runs_as_it_is() {
    let (_directory, place) = place();
    let (code, stdout, stderr) = new_guest(&place, &["spin", "--rust"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(
        stdout.starts_with("Created spin: a guest in Rust, "),
        "{stdout}"
    );
    let folder = place.join("spin");
    // The compiled packages of crates.io are kept from one test to the next.
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-guest");
    std::fs::create_dir_all(&kept).expect("it can be made");
    std::os::unix::fs::symlink(&kept, folder.join("target")).expect("a link can be made");

    let locked = packages(&folder);
    let built = make(&folder, &[]);
    assert_made(&built);
    assert!(!built.2.contains("warning"), "{}", built.2);
    // The guest was built of the versions that Tactus is tested with.
    assert!(packages(&folder).is_subset(&locked));
    assert_ran(&make(&folder, &["run"]), "spin");
    assert_ran(&make(&folder, &["run", "PLATFORM=board"]), "spin");

    // A panic is the run's verdict, with its location.
    edit(
        &folder,
        "src/main.rs",
        "question * question);\n    }",
        "question);\n    }",
    );
    let (code, stdout, stderr) = make(&folder, &["run", "PLATFORM=board"]);
    assert_eq!(code, Some(2), "{stdout}\n{stderr}");
    assert!(stdout.contains("src/main.rs"), "{stdout}");
}

#[test]
fn guest_in_rust_uses_the_runtime_of_a_clone() {
    let (_directory, place) = place();
    let root = root().canonicalize().expect("it is there");
    let root = root.display().to_string();
    assert_made(&new_guest(&place, &["spin", "--rust", "--runtime", &root]));
    let folder = place.join("spin");
    assert!(!folder.join("tactus").exists(), "no copy is made");
    let mut metadata = Command::new("cargo");
    metadata.current_dir(&folder);
    metadata.args(["metadata", "--offline", "--format-version", "1"]);
    // Packages that only other platforms or the clone's tests need are not fetched.
    metadata.args(["--filter-platform", "riscv64gc-unknown-none-elf"]);
    let locked = packages(&folder);
    let result = output(&mut metadata);
    assert_made(&result);
    assert!(packages(&folder).is_subset(&locked));
    assert!(
        result
            .1
            .contains(&format!("{root}/guests/runtime/Cargo.toml"))
    );
    let readme = std::fs::read_to_string(folder.join("README.md")).expect("it is there");
    assert!(
        readme.contains(&format!("{root}/guests/runtime")),
        "{readme}"
    );
}

#[track_caller]
fn refused(place: &Path, arguments: &[&str], message: &str, help: &str) {
    let (code, stdout, stderr) = new_guest(place, arguments);
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
    // A message in a pipe is broken into lines, with marks before each.
    let words = |text: &str| {
        let words = text
            .split_whitespace()
            .filter(|word| !["×", "│", "help:"].contains(word));
        words.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(words(&stderr), words(&format!("{message} {help}")));
}

#[test]
fn impossible_names_and_places_are_refused() {
    let (_directory, place) = place();
    std::fs::create_dir(place.join("there")).expect("it can be made");
    std::fs::write(place.join("there/file"), "mine").expect("it can be written");
    std::fs::write(place.join("text"), "mine").expect("it can be written");
    for name in ["there", "text"] {
        refused(
            &place,
            &[name, "--c"],
            &format!("`{name}` exists already"),
            "choose another name, or remove it first; nothing was changed",
        );
    }
    assert_eq!(
        std::fs::read(place.join("there/file")).expect("it is there"),
        b"mine"
    );
    refused(
        &place,
        &["no/such/place", "--c"],
        "cannot create no/such/place: no such file or directory",
        "name a folder in an existing directory that you can write to",
    );
    refused(
        &place,
        &["2fast", "--rust"],
        "`2fast` is not a valid name: a guest's name is a letter, then letters, digits, `-` and `_`",
        "choose another; it becomes the name of a VM",
    );
    refused(
        &place,
        &["blink", "--rust", "--runtime", "there"],
        "there is no package `tactus-guest` in there",
        "name a clone of Tactus, or omit `--runtime`: the folder then gets a copy of the runtime",
    );
    // The command line itself reports wrong usage.
    for (arguments, message) in [
        (
            &["blink"][..],
            "the following required arguments were not provided:\n  <--c|--rust>",
        ),
        (
            &["blink", "--c", "--rust"],
            "the argument '--c' cannot be used with '--rust'",
        ),
        (
            &["blink", "--c", "--runtime", "."],
            "the argument '--c' cannot be used with '--runtime <CLONE>'",
        ),
        (
            &["--c"],
            "the following required arguments were not provided:\n  <FOLDER>",
        ),
    ] {
        let (code, stdout, stderr) = new_guest(&place, arguments);
        assert_eq!((code, stdout.as_str()), (Some(2), ""));
        assert!(stderr.contains(message), "{stderr}");
    }
    assert!(!place.join("blink").exists(), "nothing is made");
}
