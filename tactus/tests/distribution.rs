//! The tool without a clone: artifacts in a directory whose path has spaces, and the program in a folder of its own.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

const SYSTEM: &str = r#"
[system]
platform = "soc"
harts = 1

[[vm]]
name = "first"
image = "@hello"
memory = "4MiB"

[[vm.vcpu]]
class = "be"
"#;

/// A folder whose path has spaces, a folder for the program, and an empty working folder.
struct Elsewhere {
    _folder: TempDir,
    program: PathBuf,
    artifacts: PathBuf,
    work: PathBuf,
}

impl Elsewhere {
    fn new() -> Self {
        let folder = TempDir::with_prefix("tactus and spaces ").expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["some bin", "work here"] {
            std::fs::create_dir(at(name)).expect("a folder");
        }
        std::fs::copy(env!("CARGO_BIN_EXE_tactus"), at("some bin/tactus")).expect("a copy");
        std::fs::write(at("work here/my system.toml"), SYSTEM).expect("a file");
        Self {
            program: at("some bin/tactus"),
            artifacts: at("all artifacts"),
            work: at("work here"),
            _folder: folder,
        }
    }

    /// Runs the program in the empty folder; returns its exit code and output.
    fn tactus(&self, artifacts: Option<&Path>, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        self.ran(command, artifacts)
    }

    /// The same with the clone hidden. `None`: this system cannot hide it.
    fn without_clone(
        &self,
        artifacts: Option<&Path>,
        arguments: &[&str],
    ) -> Option<(Option<i32>, String)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .expect("a clone");
        if self.work.starts_with(root) {
            return None;
        }
        let ways: [&[&str]; 2] = [&["--mount"], &["--mount", "--map-root-user"]];
        let hide = "mount -t tmpfs none \"$1\" && shift && exec \"$@\"";
        let shell = |way: &[&str], rest: &[&str]| {
            let mut command = Command::new("unshare");
            command
                .args(way)
                .args(["sh", "-c", hide, "-"])
                .arg(root)
                .args(rest);
            command
        };
        let way = ways.into_iter().find(|way| {
            let mut command = shell(way, &["true"]);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        })?;
        let program = self.program.to_str().expect("the path is text");
        let mut command = shell(way, &[&[program], arguments].concat());
        command.env_clear().env("PATH", "/usr/bin:/bin");
        Some(self.ran(command, artifacts))
    }

    fn ran(&self, mut command: Command, artifacts: Option<&Path>) -> (Option<i32>, String) {
        command
            .current_dir(&self.work)
            .env_remove("TACTUS_ARTIFACTS");
        if let Some(artifacts) = artifacts {
            command.env("TACTUS_ARTIFACTS", artifacts);
        }
        command.stdin(Stdio::null());
        let output = loop {
            match command.output() {
                // The child process of another test can hold the program open for writing while it is copied.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                    std::thread::yield_now();
                }
                output => break output.expect("it starts"),
            }
        };
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.code(),
            String::from_utf8_lossy(&text).into_owned(),
        )
    }
}

/// The part of a message without line breaks and frames.
fn plain(text: &str) -> String {
    let words = text
        .split_whitespace()
        .filter(|word| !matches!(*word, "│" | "×"));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_directory_of_artifacts_takes_the_place_of_the_clone() {
    let there = Elsewhere::new();
    let directory = there.artifacts.to_str().expect("the path is text");
    let all = ["artifacts", directory, "--model", "none", "--without"];
    let (code, text) = there.tactus(
        None,
        &[
            &all[..],
            &["linux", "--without", "initramfs"],
            &["--without", "initramfs-disk"],
        ]
        .concat(),
    );
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("0 models, the firmware, bench, systems, profiles;"),
        "{text}"
    );

    // The run and its build are the same from the clone, by the option, and by the environment variable.
    let run = ["run", "my system.toml"];
    let hash = |(code, text): (Option<i32>, String)| {
        assert_eq!(code, Some(0), "{text}");
        let line = text.lines().find(|line| line.starts_with("Trace hash"));
        line.expect("a hash").to_owned()
    };
    let of_clone = hash(there.tactus(None, &run));
    let by_option = [&run[..], &["--artifacts", directory]].concat();
    assert_eq!(hash(there.tactus(None, &by_option)), of_clone);
    let Some(alone) = there.without_clone(Some(&there.artifacts), &run) else {
        eprintln!("this system does not let the clone be hidden: not tried without it");
        return;
    };
    assert_eq!(hash(alone), of_clone);
    let without = |artifacts, arguments: &[&str]| {
        let told = there.without_clone(artifacts, arguments);
        let (code, text) = told.expect("it was let before");
        assert_eq!(code, Some(2), "{text}");
        plain(&text)
    };
    let neither = "no clone of Tactus here, and no artifacts help: give --artifacts DIR, or set TACTUS_ARTIFACTS; `tactus \
                   artifacts DIR` makes such a directory, in a clone";
    for arguments in [
        &["bench", "platform"][..],
        &["boot", "@hello"],
        &["artifacts", directory],
    ] {
        let text = without(None, arguments);
        assert_eq!(text, neither, "{arguments:?}");
    }
    let text = without(None, &["check", "my system.toml"]);
    assert!(
        text.contains("no clone of Tactus here, and no artifacts"),
        "{text}"
    );
    // Linux is Debian's kernel.
    let text = without(Some(&there.artifacts), &["boot", "@linux"]);
    assert!(
        text.ends_with(
            "help: copy build/linux/Image of a clone there, after `make setup` in it; a release is without Linux"
        ),
        "{text}"
    );
    // `bench` finds its experiments in the directory, too.
    let text = without(Some(&there.artifacts), &["bench", "platfrom"]);
    assert!(
        text.starts_with("there is no experiment `platfrom`"),
        "{text}"
    );
}

#[test]
fn artifacts_of_another_version_and_names_that_are_none_are_refused() {
    let there = Elsewhere::new();
    std::fs::create_dir(&there.artifacts).expect("a folder");
    std::fs::write(there.artifacts.join("VERSION"), "9.9.9\n").expect("a file");
    let (code, text) = there.tactus(Some(&there.artifacts), &["check", "my system.toml"]);
    assert_eq!(code, Some(2), "{text}");
    assert_eq!(
        text,
        format!(
            "error: the artifacts in {} are of Tactus 9.9.9, and this is Tactus {}\n  help: make them again with `tactus \
             artifacts DIR` in a clone of this version\n",
            there.artifacts.display(),
            env!("CARGO_PKG_VERSION")
        )
    );
    let directory = there.work.to_str().expect("the path is text");
    for (option, name, told) in [
        (
            "--without",
            "linuks",
            "--without: this project builds no `@linuks` help: did you mean `linux`?",
        ),
        (
            "--model",
            "stam",
            "--model: there is no design `stam` help: did you mean `stamp`?",
        ),
    ] {
        let (code, text) = there.tactus(None, &["artifacts", directory, option, name]);
        assert_eq!((code, plain(&text)), (Some(2), told.to_owned()));
    }
}
