//! The report's page and a campaign's live page in a browser: correct and fast, at every width, in light and dark, on
//! paper and by the keyboard.
//!
//! The pages make no connection, and guests can insert only text into them.
//!
//! Needs Chromium, Node.js and `playwright-core` (`make setup`). Where one is missing the test says so on stderr and
//! passes, unless `TACTUS_PAGE_TESTS` is `required`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tactus::faults::judge::Verdict;
use tactus::faults::page::{self as campaign, Found, Page, State, Worker};
use tactus::faults::run::Row;
use tactus::faults::work::Done;
use tactus::report::lines::{Line, Lines};
use tactus::report::page::bench::{Experiment, Figure};
use tactus::report::page::{About, PAGE};
use tactus::report::samples::Series;
use tactus::report::unit::Unit;
use tactus::report::{self, page};
use tactus::run::machine::Launch;
use tactus::run::session::{Outcome, Plan, Session, Unwatched};

use crate::campaign::channel_campaign;
use crate::harness::player::{self, From::Log, From::Vm, Then, framed, player};
use crate::harness::{On, STUCK, root};
use crate::management::{ManagedRun, ManagersPage};

/// The folder of the Node.js packages of `make setup`.
const MODULES: &str = "build/setup/page/node_modules";

/// Texts of a hostile guest that try to insert a script, to leave the page's data, or to mislead the reader.
const HOSTILE: [&str; 8] = [
    "</script><script>window.broken=1</script>",
    "<img src=x onerror=window.broken=2>",
    "\"'><svg onload=window.broken=3>",
    "&lt;b&gt;&#60;script&#62;window.broken=4&#60;/script&#62;",
    "\u{202e}txet desrever\u{202c} \u{200b}\u{feff}\u{2066}isolate\u{2069}",
    "javascript:window.broken=5//%%data%%%%policy%%${window.broken=6}",
    "\u{1b}[31mred\u{1b}]0;title\u{7}\u{1b}[2J\u{0}\u{8}\u{9b}",
    "]]><!--<script>--><style>*{display:none}</style>",
];

/// A run of two VMs with this output; `vm` can be a name that no system's file can have.
fn made_up(vm: &str, parts: &[(player::From, &str)]) -> Outcome {
    let image = player(&framed(parts), Then::Off);
    let launch = Launch {
        image: image.path().to_owned(),
        initrd: None,
        bootargs: String::new(),
        harts: 1,
        memory_bytes: 128 << 20,
        platform: On::Qemu.platform(),
    };
    let vms = vec![vm.to_owned(), "linux".to_owned()];
    Session::start(Plan::new(launch, vms, 10_000_000).limit(STUCK))
        .expect("the machine starts")
        .finish(&mut Unwatched)
        .expect("the machine can be read")
}

const BOOT: &str = "boot version=0.1.0 harts=1 vms=2 time=100\nstart vm=linux time=120\n";
const END: &str = "off vm=linux reason=shutdown code=0 time=900\nend time=1000\n";

fn hostile(directory: &Path) {
    let lines: String = HOSTILE
        .iter()
        .enumerate()
        .map(|(i, text)| {
            let word: String = text
                .chars()
                .filter(|c| !c.is_whitespace() && !c.is_control())
                .take(20)
                .collect();
            format!(
                "{text}\n@tactus metric name={word} value={i} unit=us\n@tactus phase name={word}\n\
                 @tactus samples name=latency phase={word} unit=us values={i}1,{i}2\n\
                 @tactus fail name={word} reason={text}\n@tactus {text}\n"
            )
        })
        .collect();
    let outcome = made_up(
        HOSTILE[0],
        &[(Log, BOOT), (Vm(0), &lines), (Vm(1), &lines), (Log, END)],
    );
    let about = About {
        system: HOSTILE[1].to_owned(),
        configuration: Some(HOSTILE.join("\n")),
        command: Some(HOSTILE[2].to_owned()),
        ..About::default()
    };
    report::write(&outcome, &about, directory).expect("the report can be written");
}

/// A million samples, the longest of them in the middle.
fn million(directory: &Path) {
    let mut text = String::new();
    for line in 0..1000 {
        let values: Vec<String> = (0..1000)
            .map(|i: u32| match (line, i) {
                (437, 219) => "98765".to_owned(),
                _ => (900 + (line * 31 + i * 17) % 97).to_string(),
            })
            .collect();
        text += &format!(
            "@tactus samples name=latency phase=all unit=ns values={}\n",
            values.join(",")
        );
    }
    text += "@tactus deadline name=latency value=200 unit=us\n";
    let outcome = made_up("rt", &[(Log, BOOT), (Vm(0), &text), (Log, END)]);
    report::write(&outcome, &About::default(), directory).expect("the report can be written");
}

fn experiment(directory: &Path) {
    let mut series = Series::new(Unit::Cycles).expect("a histogram can be made");
    (1..2000).for_each(|value| series.record(value % 300 + 100));
    let outcome = made_up(
        "rt",
        &[
            (Log, BOOT),
            (
                Vm(0),
                "@tactus samples name=latency phase=all unit=ns values=900,950,1200\n@tactus metric name=</script> value=7 unit=us\n",
            ),
            (Log, END),
        ],
    );
    let figure = |name: &str, value, good| Figure {
        name: name.to_owned(),
        text: "what <it> is".to_owned(),
        value,
        unit: "µs",
        limit: Some(5.0),
        least: None,
        paper: Some(4.5),
        good,
        mark: if good { "ok" } else { "past its limit" }.to_owned(),
        reason: None,
        notes: String::new(),
    };
    let found = Experiment {
        name: "made-up".to_owned(),
        title: "an experiment".to_owned(),
        form: "quick",
        profile: "soc".to_owned(),
        seed: 1,
        good: false,
        figures: vec![
            figure("a", Some(4.0), true),
            figure("b", Some(6.0), false),
            figure("c", None, false),
            Figure {
                mark: "known miss".to_owned(),
                reason: Some("no fast path yet".to_owned()),
                ..figure("d", Some(7.0), true)
            },
            Figure {
                limit: None,
                paper: None,
                mark: String::new(),
                ..figure("reported", Some(8.0), true)
            },
        ],
        left_out: vec![("area".to_owned(), "run `make synth`".to_owned())],
        lines: vec![Lines {
            title: "over harts".to_owned(),
            x: "harts".to_owned(),
            at: vec![1.0, 2.0, 4.0],
            y: "µs".to_owned(),
            lines: vec![Line {
                name: "own".to_owned(),
                own: vec![Some(1.0), Some(2.0), None],
                paper: vec![Some(1.5), None, Some(3.0)],
            }],
        }],
        distributions: vec![page::bench::Distribution {
            title: "latency".to_owned(),
            x: "latency".to_owned(),
            unit: "µs",
            series: vec![("one", &series, 0.01)],
            marks: vec![("paper", 5.0)],
        }],
        runs: vec![("one", &outcome), ("two", &outcome)],
    };
    let page = report::write_experiment(&found, &About::default(), directory)
        .expect("the report can be written");
    let alone = directory.join("alone/page.html");
    let written = report::write_experiment(&found, &About::default(), &alone);
    assert_eq!(written.expect("the page can be written"), alone);
    let read = |path: &Path| fs::read(path).expect("it is there");
    assert!(read(&page) == read(&alone), "the page needs no directory");
    let files = fs::read_dir(directory.join("alone")).expect("it is there");
    assert_eq!(files.count(), 1, "the page alone");
}

/// Runs `tactus`, and asserts that it succeeds.
fn tactus(arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_tactus"))
        .current_dir(root())
        .args(arguments)
        .output()
        .expect("tactus can be run");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {text}");
}

/// The first of these programs that is installed.
fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let candidates: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names
        .iter()
        .flat_map(|name| candidates.iter().map(move |directory| directory.join(name)))
        .find(|file| file.is_file())
}

/// Where Chromium, Node.js and its packages are. `None`, and a line on stderr: one is missing.
fn browser() -> Option<[PathBuf; 3]> {
    let modules = root().join(MODULES);
    let browser = program(&["chromium", "chromium-browser", "google-chrome"]);
    let node = program(&["node", "nodejs"]);
    let there = modules.join("playwright-core").is_dir();
    if let (Some(browser), Some(node), true) = (&browser, &node, there) {
        return Some([browser.clone(), node.clone(), modules]);
    }
    let missing: Vec<&str> = [
        (browser.is_none(), "chromium"),
        (node.is_none(), "node"),
        (!there, "playwright-core"),
    ]
    .into_iter()
    .filter_map(|(missing, name)| missing.then_some(name))
    .collect();
    let text = format!(
        "a page was not tested in a browser: {} not installed (`make setup` does it)",
        missing.join(", ")
    );
    let required = std::env::var("TACTUS_PAGE_TESTS").is_ok_and(|value| value == "required");
    assert!(!required, "{text}");
    // Not by a macro, whose output the test harness would capture.
    let _ = writeln!(std::io::stderr(), "skipped: {text}");
    None
}

/// Runs a script of `tests/page` on the pages in a directory.
fn check([browser, node, modules]: &[PathBuf; 3], script: &str, directory: &Path) {
    let status = Command::new(node)
        .arg(root().join("tactus/tests/page").join(script))
        .args([browser, modules, directory])
        .stdin(Stdio::null())
        .status()
        .expect("node can be run");
    assert!(status.success(), "see the checks above");
}

#[test]
fn the_page_works_in_a_browser() {
    let Some(browser) = browser() else { return };
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = |name: &str| directory.path().join(name);
    let text = |name: &str| path(name).display().to_string();
    hostile(&path("hostile"));
    million(&path("million"));
    experiment(&path("experiment"));
    let run = [
        "run",
        "systems/hello.toml",
        "--platform",
        "board",
        "--report",
    ];
    for (name, pace) in [("fast", "fast"), ("timed", "timed")] {
        tactus(&[&run[..], &[&text(name), "--pace", pace]].concat());
    }
    let whole = fs::read(path("fast").join(PAGE)).expect("it is there");
    fs::remove_file(path("fast").join(PAGE)).expect("it is there");
    tactus(&["report", &text("fast")]);
    let again = fs::read(path("fast").join(PAGE)).expect("it is there");
    assert!(whole == again, "the page is made again as it was");
    tactus(&["report", &text("fast"), &text("timed")]);
    check(&browser, "check.mjs", directory.path());
}

/// The page of a manager shows its VMs as they are, and its buttons do what they say.
#[test]
fn the_page_of_a_manager_works_in_a_browser() {
    let Some(browser) = browser() else { return };
    let run = ManagedRun::start();
    let page = ManagersPage::serve(&run);
    check(&browser, "manager.mjs", Path::new(&page.address));
}

/// The live page of a made-up campaign, whose texts are hostile: so many of 2,000 runs are done. Gives the page that a
/// campaign has which goes on, and that of one that has ended for a hostile reason.
fn live(directory: &Path, done: u32) -> [String; 2] {
    let mut rows = Done::nothing();
    for run in 0..done {
        let text = HOSTILE[run as usize % HOSTILE.len()];
        let (verdict, text) = match run {
            0..30 => (Verdict::Escaped, text),
            30..60 => (Verdict::Contained, text),
            _ => (Verdict::Masked, ""),
        };
        rows.take(Row {
            run,
            fault: HOSTILE[0].to_owned(),
            what: text.to_owned(),
            at: 55_993_052_155_262,
            verdict,
            changed: vec![text.to_owned()],
            reasons: vec![text.to_owned(), HOSTILE.concat()],
            is_same: false,
            trace_hash: text.to_owned(),
            is_carried_out: true,
            share: 1_000_000_000,
        })
        .expect("it is kept in memory");
    }
    let about = campaign::About {
        name: HOSTILE[1].to_owned(),
        reproduce: ("tactus faults ".to_owned() + HOSTILE[2], String::new()),
        results: Some(HOSTILE[3].to_owned()),
        kept: Some(HOSTILE[4].to_owned()),
        text: HOSTILE.join("\n"),
        seed: 1,
        runs: 2000,
        kinds: vec![HOSTILE[0].to_owned(), "another".to_owned()],
        identity: HOSTILE[5].to_owned(),
        directory: Some(HOSTILE[6].to_owned()),
    };
    let workers = HOSTILE.map(|text| Worker {
        name: text.to_owned(),
        state: text.to_owned(),
        runs: 1,
    });
    let path = directory.join("made.html");
    let read = || fs::read_to_string(&path).expect("it is there");
    let mut page = Page::begin(&path, "--page", about, &rows).expect("it can be written");
    page.tell(workers.to_vec(), 2);
    let found = Found::of(&rows);
    page.update(&found);
    let going = read();
    let ended = State::Ended(HOSTILE[1].to_owned());
    page.end(&ended, &found).expect("it can be written");
    [going, read()]
}

#[test]
fn the_live_page_works_in_a_browser() {
    let Some(browser) = browser() else { return };
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let write = |name: &str, text: &str| {
        fs::write(directory.path().join(name), text).expect("it can be written");
    };
    let [now, _] = live(directory.path(), 1000);
    let [later, ended] = live(directory.path(), 1500);
    // The same page, written long ago.
    let mark = "data-written=\"";
    let (before, behind) = now.split_once(mark).expect("it says when");
    let (_, behind) = behind.split_once('"').expect("it has an end");
    write(
        "old.html",
        &format!("{before}{mark}1000000000000\"{behind}"),
    );
    write("hostile.html", &now);
    write("later.html", &later);
    write("ended.html", &ended);
    write("ch.toml", &channel_campaign());
    // It goes on for longer than a browser takes to start.
    let mut campaign = Command::new(env!("CARGO_BIN_EXE_tactus"))
        .args([
            "faults",
            "ch.toml",
            "--page",
            "real.html",
            "--runs",
            "120",
            "-j",
            "1",
        ])
        .current_dir(directory.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the tool can be run");
    while !directory.path().join("real.html").exists() {
        let ended = campaign.try_wait().expect("it can be asked");
        assert!(ended.is_none(), "it ended without a page: {ended:?}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let checked = std::panic::catch_unwind(|| check(&browser, "live.mjs", directory.path()));
    // It has ended by now, unless a check failed.
    let _ = campaign.kill();
    campaign.wait().expect("it ends");
    if let Err(panic) = checked {
        std::panic::resume_unwind(panic);
    }
}
