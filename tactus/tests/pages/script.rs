//! Runs a page's commands in a folder of the page's own, and compares what they print.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread::JoinHandle;
use std::time::Duration;

use regex::Regex;
use rustix::process::{Pid, Signal, kill_process};
use snapbox::filter::NormalizeToExpected;
use snapbox::report::{Palette, write_diff};
use snapbox::{Data, IntoData as _};
use tempfile::TempDir;

use crate::page::{Command, File, GUEST_PROMPT};

/// A folder for the path with `tactus`, and a `cargo` that runs the `tactus` under test for `cargo run -p tactus --
/// ...`.
#[derive(Clone, Debug)]
pub struct Commands {
    folder: Arc<TempDir>,
}

impl Commands {
    pub fn new(root: &Path) -> std::io::Result<Self> {
        let folder = tempfile::tempdir()?;
        symlink(env!("CARGO_BIN_EXE_tactus"), folder.path().join("tactus"))?;
        // The path comes from Cargo. By a bare name the script would find itself.
        let cargo =
            std::env::var_os("CARGO").map_or_else(|| on_path("cargo"), |path| Some(path.into()));
        let cargo = cargo.ok_or_else(|| std::io::Error::other("there is no cargo"))?;
        let script = format!(
            "#!/bin/sh\n\
             case \" $* \" in\n\
             *' -p tactus -- '*)\n\
                 while [ \"$1\" != -- ]; do shift; done\n\
                 shift\n\
                 exec tactus \"$@\" ;;\n\
             esac\n\
             cd '{}' && exec '{}' \"$@\"\n",
            root.display(),
            cargo.display()
        );
        let path = folder.path().join("cargo");
        std::fs::write(&path, script)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
        Ok(Self {
            folder: Arc::new(folder),
        })
    }
}

/// A program's place on the path.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// Where a page shows something else than was printed.
#[derive(Debug)]
pub struct Difference {
    /// The page's line and its error; `None` if only varying figures differ.
    pub message: Option<(usize, String)>,
    /// What the page is to show in place of the bytes in `range`.
    pub printed: String,
    pub range: std::ops::Range<usize>,
}

/// The folder of one page. To the commands in it, it is the root of a clone.
#[derive(Debug)]
pub struct Workspace {
    folder: TempDir,
    path: String,
}

impl Workspace {
    /// Makes the folder: all that a clone's root has, as links. What the commands write stays in the folder.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(root: &Path, commands: &Commands) -> Result<Self, String> {
        let make = || -> std::io::Result<TempDir> {
            let folder = tempfile::tempdir()?;
            // Without Cargo's files it is no workspace of its own: `tactus` takes the one that it was built in.
            link_all(root, folder.path(), &["build", "Cargo.toml", "Cargo.lock"])?;
            std::fs::create_dir(folder.path().join("build"))?;
            link_all(&root.join("build"), &folder.path().join("build"), &[])?;
            Ok(folder)
        };
        let folder = make().map_err(|error| format!("no folder for the page: {error}"))?;
        let path = std::env::var("PATH").unwrap_or_default();
        Ok(Self {
            folder,
            path: format!("{}:{path}", commands.folder.path().display()),
        })
    }

    fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file that the page shows.
    ///
    /// # Errors
    /// It cannot be written, or there is a file of that name in the clone.
    pub fn write(&self, file: &File) -> Result<(), String> {
        let path = self.place(&file.name);
        if path.is_symlink() {
            return Err(format!("{} is a file of the clone", file.name));
        }
        let before = match std::fs::read_to_string(&path) {
            Ok(text) if file.append => text + "\n",
            _ => String::new(),
        };
        std::fs::write(path, before + &file.text).map_err(|error| format!("{}: {error}", file.name))
    }

    /// Runs a command.
    ///
    /// # Errors
    /// When it cannot be run, or exits with another code than on the page.
    pub fn run(&self, command: &Command) -> Result<Option<Difference>, String> {
        let (output, code) = self
            .execute(command)
            .map_err(|error| format!("cannot run bash: {error}"))?;
        if code != Some(command.exit) {
            let code = code.map_or("a signal".to_owned(), |code| code.to_string());
            return Err(format!(
                "exited with {code} and not with {}:\n{}\n{output}",
                command.exit, command.script
            ));
        }
        Ok(compare(command, &output))
    }

    /// Runs the script with bash and types at the guest's prompts. Returns what it has printed, both streams together.
    fn execute(&self, command: &Command) -> std::io::Result<(String, Option<i32>)> {
        let (mut reader, writer) = std::io::pipe()?;
        let mut child = Process::new("bash")
            .args(["-euo", "pipefail", "-c", &command.script])
            .current_dir(self.folder.path())
            .env("PATH", &self.path)
            .env("NO_COLOR", "1")
            .stdin(Stdio::piped())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .spawn()?;
        let watchdog = Watchdog::of(child.id());
        let mut input = child.stdin.take();
        if command.typed.is_empty() && !command.guest_only {
            input = None;
        }
        let mut typed: VecDeque<&str> = command.typed.iter().map(String::as_str).collect();
        let mut all = Vec::new();
        let mut part = [0; 4096];
        // From its first prompt to its last: what a page of a guest's shell shows.
        let mut prompts: Option<(usize, usize)> = None;
        loop {
            let length = reader.read(&mut part)?;
            if length == 0 {
                break;
            }
            watchdog.printed(length);
            all.extend_from_slice(&part[..length]);
            let Some(pipe) = &mut input else { continue };
            let text = plain(&all);
            if !text.ends_with(GUEST_PROMPT) {
                continue;
            }
            let begin = text.len() - GUEST_PROMPT.len();
            // What has come since may be no text, such as a request for the terminal's state.
            if prompts.is_some_and(|(_, last)| last == begin) {
                continue;
            }
            prompts = Some((prompts.map_or(begin, |(first, _)| first), begin));
            let line = typed.pop_front().unwrap_or("exit");
            // If the guest has ended, its output states why.
            let _ = pipe.write_all(format!("{line}\n").as_bytes());
        }
        let code = child.wait()?.code();
        if watchdog.end() {
            all.extend_from_slice(b"(killed: it did nothing, and waited for something; mark it with `test: skip REASON`)\n");
        }
        let text = plain(&all);
        match prompts {
            Some((first, last)) if command.guest_only => Ok((text[first..last].to_owned(), code)),
            _ => Ok((text, code)),
        }
    }
}

/// Kills a command that makes no progress: it prints nothing, and none of its processes uses the processor. How slow
/// the host is makes no difference.
#[derive(Debug)]
struct Watchdog {
    shared: Arc<Watched>,
    thread: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Watched {
    printed: AtomicUsize,
    over: AtomicBool,
    killed: AtomicBool,
}

impl Watchdog {
    /// Looks once in this time,
    const LOOKS: Duration = Duration::from_secs(5);
    /// and kills after so many looks without progress: a wait for a build of another test is no hang.
    const PATIENCE: u32 = 180;

    fn of(process: u32) -> Self {
        let shared = Arc::new(Watched::default());
        let watched = shared.clone();
        let thread = std::thread::spawn(move || {
            let mut before = (0, 0);
            let mut idle = 0;
            while !watched.over.load(Ordering::Relaxed) {
                std::thread::park_timeout(Self::LOOKS);
                let (processes, ticks) = descendants(process);
                let now = (watched.printed.load(Ordering::Relaxed), ticks);
                idle = if now == before { idle + 1 } else { 0 };
                before = now;
                if idle == Self::PATIENCE {
                    watched.killed.store(true, Ordering::Relaxed);
                    for process in processes
                        .into_iter()
                        .filter_map(|id| Pid::from_raw(id as i32))
                    {
                        // One that has just ended is as good.
                        let _ = kill_process(process, Signal::KILL);
                    }
                }
            }
        });
        Self { shared, thread }
    }

    fn printed(&self, bytes: usize) {
        self.shared.printed.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The command has ended. `true`: because it was killed.
    fn end(self) -> bool {
        self.shared.over.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        self.thread.join().is_ok() && self.shared.killed.load(Ordering::Relaxed)
    }
}

/// A process and all below it, and the time that they have used, in ticks of the kernel's clock.
fn descendants(process: u32) -> (Vec<u32>, u64) {
    let mut all = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // Behind the name, which may hold anything: proc(5), fields 3 and on.
        let fields: Vec<&str> = stat
            .rsplit(") ")
            .next()
            .unwrap_or_default()
            .split(' ')
            .collect();
        let field = |index: usize| {
            fields
                .get(index)
                .and_then(|text| text.parse::<u64>().ok())
                .unwrap_or(0)
        };
        let parent = field(1) as u32;
        all.push((id, parent, field(11) + field(12)));
    }
    let mut found = vec![process];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(
            all.iter()
                .filter(|(_, of, _)| *of == parent)
                .map(|(id, ..)| *id),
        );
        next += 1;
    }
    let ticks = all
        .iter()
        .filter(|(id, ..)| found.contains(id))
        .map(|(.., ticks)| ticks)
        .sum();
    (found, ticks)
}

/// Makes a link in `to` for each entry of `from` but the hidden ones and `except`.
fn link_all(from: &Path, to: &Path, except: &[&str]) -> std::io::Result<()> {
    let Ok(entries) = std::fs::read_dir(from) else {
        return Ok(());
    };
    for entry in entries {
        let name = entry?.file_name();
        let is_left_out = |name: &str| name.starts_with('.') || except.contains(&name);
        if !name.to_str().is_none_or(is_left_out) {
            symlink(from.join(&name), to.join(&name))?;
        }
    }
    Ok(())
}

/// Whether a line tells how far something is, which the tool prints where the host is slow: `building ...: 17 s, 1/2`,
/// `running, 8 s`.
fn is_progress(line: &str) -> bool {
    static PROGRESS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^[a-z][^|]*[:,] [0-9]+ s(?:[,;] .*)?$").expect("it is one"));
    PROGRESS.is_match(line)
}

/// Text as a terminal without colours shows it, if it is wide enough: the guest's shell breaks what is typed after 80
/// columns.
fn plain(bytes: &[u8]) -> String {
    const COLUMNS: usize = 80;
    let text = String::from_utf8_lossy(&strip_ansi_escapes::strip(bytes)).replace('\r', "");
    let mut joined = String::with_capacity(text.len());
    let mut is_typed = false;
    for line in text.split_inclusive('\n') {
        if is_progress(line.trim_end()) {
            continue;
        }
        is_typed |= line.starts_with(GUEST_PROMPT);
        let content = line.trim_end_matches('\n');
        let is_broken = is_typed && content.chars().count() == COLUMNS;
        joined.push_str(if is_broken { content } else { line });
        is_typed &= is_broken;
    }
    joined
}

/// Text without parts that depend on the host, and without numbers where they vary.
fn comparable(text: &str, figures_vary: bool) -> String {
    let mut rules = vec![
        (r"(?m)[ \t]+$", ""),
        // The host's time of a run.
        (r"( of virtual time in) [0-9.]+ s", "$1 # s"),
    ];
    if figures_vary {
        // A trace hash may begin with a letter.
        let hash = (r"(Trace hash) [0-9a-f]{16}", "$1 #");
        rules.extend([hash, (r"[0-9][0-9a-f,._]*", "#"), (r" +", " ")]);
    }
    rules.iter().fold(text.to_owned(), |text, (pattern, with)| {
        let pattern = Regex::new(pattern).expect("it is one");
        pattern.replace_all(&text, *with).into_owned()
    })
}

/// Compares the output of a command with that on the page.
fn compare(command: &Command, output: &str) -> Option<Difference> {
    let shown = command.shown.as_ref()?;
    let mut output = output.to_owned();
    if !output.is_empty() && !output.ends_with('\n') {
        output.push('\n');
    }
    let expected = comparable(&shown.text, command.figures_vary);
    let actual = comparable(&output, command.figures_vary);
    let data = |text: &str| text.to_owned().into_data().raw();
    let normalized = |actual: &str, expected: &str| {
        let data = NormalizeToExpected::new()
            .redact()
            .normalize(data(actual), &data(expected));
        data.render().unwrap_or_default()
    };
    let actual = normalized(&actual, &expected);
    // What the page leaves out is found by the lines around it, whatever the figures in them.
    let printed = normalized(&comparable(&output, true), &comparable(&shown.text, true));
    let printed = with_figures(&printed, &output);
    if actual == expected {
        let is_new = comparable(&printed, false) != comparable(&shown.text, false);
        return is_new.then(|| Difference {
            message: None,
            printed,
            range: shown.range.clone(),
        });
    }
    let same = actual
        .lines()
        .zip(expected.lines())
        .take_while(|(a, e)| a == e)
        .count();
    let mut text = format!(
        "the page does not show what `{}` prints\n",
        command.script.trim_end()
    );
    let names: [&dyn std::fmt::Display; 2] = [&"page", &"printed"];
    let (expected, actual): (Data, Data) = (data(&expected), data(&actual));
    write_diff(
        &mut text,
        &expected,
        &actual,
        Some(names[0]),
        Some(names[1]),
        Palette::plain(),
    )
    .expect("it is text");
    text.push_str(
        "`UPDATE_PAGES=1` with the same command writes what was printed into the page.\n",
    );
    Some(Difference {
        message: Some((shown.line + same, text)),
        printed,
        range: shown.range.clone(),
    })
}

/// The output with the lines left out that the page leaves out: `compared` has `...` in their place,
/// and no figures.
fn with_figures(compared: &str, output: &str) -> String {
    let mut text = String::new();
    let mut lines = output.lines();
    for line in compared.lines() {
        let shown = match line {
            "..." => Some(line),
            _ if line.contains("[..]") => lines.next().and(Some(line)),
            _ => lines.find(|printed| comparable(printed, true) == line),
        };
        text.push_str(shown.unwrap_or(line).trim_end());
        text.push('\n');
    }
    text
}
