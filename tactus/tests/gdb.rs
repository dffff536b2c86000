//! gdb itself under `tactus run --gdb`, with an inferior for each VM, by the script that the run writes.
//!
//! The session on the documentation page is compared with gdb's output here.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

/// The page with the session.
const PAGE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../docs/src/how-to/debug-with-gdb.md"
);
const GDB: &str = "gdb-multiarch";

/// The text between two marker lines of the page.
fn part<'t>(page: &'t str, name: &str) -> &'t str {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let rest = page.split_once(&begin).expect("its begin").1;
    let text = rest.split_once(&end).expect("its end").0.trim();
    let (fence, text) = text.split_once('\n').expect("a fence");
    assert!(fence.starts_with("```"), "{fence}");
    text.strip_suffix("```").expect("a fence").trim_end()
}

/// Replaces the parts of a session that vary: addresses, paths and the line breaks of gdb's terminal.
fn usual(text: &str) -> Vec<String> {
    let address = |word: &str| {
        let digits = word
            .trim_start_matches('<')
            .trim_end_matches([',', ':', ')', '.', '>']);
        match digits.strip_prefix("0x") {
            Some(digits) if digits.len() > 4 => word.replace(digits, "ADDRESS"),
            _ => word.to_owned(),
        }
    };
    let words = |line: &str| {
        line.split_whitespace()
            .map(address)
            .collect::<Vec<_>>()
            .join(" ")
    };
    text.lines()
        .map(words)
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn the_session_of_the_page_agrees_with_gdb() {
    let there = Command::new(GDB)
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if there.is_err() {
        eprintln!("{GDB} is not installed: not tried");
        return;
    }
    let page = fs::read_to_string(PAGE).expect("the page");
    let folder = tempfile::TempDir::with_prefix("tactus gdb ").expect("a folder");
    fs::write(folder.path().join("two.toml"), part(&page, "system")).expect("a file");
    let free = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let port = free.local_addr().expect("it has one").port();
    drop(free);
    let mut run = Command::new(env!("CARGO_BIN_EXE_tactus"))
        .current_dir(&folder)
        .args(["run", "two.toml", "--platform", "board", "--gdb"])
        .arg(port.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // The run reports that it waits for gdb.
    let mut told = BufReader::new(run.stderr.take().expect("a pipe")).lines();
    let line = told
        .by_ref()
        .map(|line| line.expect("text"))
        .find(|line| line.contains("waits for gdb"))
        .expect("it waits for gdb");
    assert_eq!(
        line,
        "The board waits for gdb: gdb-multiarch -x build/run/tactus.gdb"
    );
    // The input is the text after the prompts.
    let session = part(&page, "session");
    let typed = session
        .lines()
        .filter_map(|line| line.strip_prefix("(gdb) "));
    let mut gdb = Command::new(GDB);
    gdb.current_dir(&folder)
        .args(["-nx", "-q", "-batch", "-ex", "set width 0", "-x"])
        .arg("build/run/tactus.gdb");
    for command in typed {
        gdb.args(["-ex", &format!("echo (gdb) {command}\\n"), "-ex", command]);
    }
    let output = gdb.stdin(Stdio::null()).output().expect("gdb");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let found = text.split_once("(gdb) ").map_or("", |(_, rest)| rest);
    let found = usual(&format!("(gdb) {found}"));
    let missing = usual(session)
        .into_iter()
        .find(|line| !found.contains(line));
    if missing.is_some() {
        // A gdb that never connected leaves the run waiting.
        run.kill().expect("it is this test's own");
    }
    let drained = std::thread::spawn(move || told.count());
    let status = run.wait().expect("it ends");
    drained.join().expect("it ends");
    if std::env::var_os("TACTUS_SHOW").is_some() {
        println!("{text}");
    }
    assert_eq!(missing, None, "not in:\n{text}");
    assert_eq!(status.code(), Some(0), "{text}");
    assert!(Path::new(&folder.path().join("build/run/tactus.gdb")).is_file());
}
