//! Scripts that drive consoles: text is expected and sent, with time-outs in virtual time.
//!
//! [`Script`] is read from a file or from the command line, [`Player`] carries it out. A player knows nothing but what
//! was written to the consoles and what time it is; on the board, where both are the same in every run, so is what it
//! sends.

use std::collections::VecDeque;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::console::Framer;
use super::visible::visible;
use crate::config::Nanoseconds;
use typist::{Prompt, Typist};

mod typist;

/// How long text is expected for, unless a script says it.
pub const PATIENCE: Nanoseconds = Nanoseconds(60_000_000_000);
/// Bytes of a console that are kept for what is expected later.
const HEARD_MAX: usize = 1 << 20;

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Wait until a VM has written this, behind what was waited for before.
    Expect {
        /// Its index.
        vm: usize,
        /// What it has to write.
        text: Vec<u8>,
        /// How long it may take.
        patience: Nanoseconds,
    },
    /// Type this on a VM's console.
    Send {
        /// Its index.
        vm: usize,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Let this much time pass.
    Wait(Nanoseconds),
    /// End the run with this exit code.
    Exit(u8),
}

/// A thing to do, and how messages call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What to do.
    pub action: Action,
    /// Where it is said, and what it says: "login.script:3: expect \"~ # \"".
    pub name: String,
}

/// What drives consoles, step by step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The steps in their order.
    pub steps: Vec<Step>,
}

/// A line of a script that means nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("{file}:{line}: {reason}")]
pub struct BadLine {
    file: String,
    line: usize,
    reason: String,
    #[help]
    help: String,
}

/// The words that a line of a script begins with.
const WORDS: [&str; 7] = ["vm", "timeout", "expect", "send", "type", "wait", "exit"];

impl Script {
    /// Reads the script in a file, for a system with these VMs. `console`: the VM that it is about unless it says so.
    ///
    /// # Errors
    /// The file cannot be read, or a line means nothing.
    pub fn read(file: &Path, vms: &[String], console: Option<usize>) -> miette::Result<Self> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| miette::miette!("{} cannot be read: {error}", file.display()))?;
        Ok(Self::parse(
            &file.display().to_string(),
            &text,
            vms,
            console,
        )?)
    }

    /// Reads the text of a script.
    ///
    /// # Errors
    /// A line means nothing.
    pub fn parse(
        file: &str,
        text: &str,
        vms: &[String],
        console: Option<usize>,
    ) -> Result<Self, BadLine> {
        let mut vm = console.or((vms.len() == 1).then_some(0));
        let mut patience = PATIENCE;
        let mut steps: Vec<Step> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_start();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let bad = |reason: String, help: &str| BadLine {
                file: file.to_owned(),
                line: number + 1,
                reason,
                help: help.to_owned(),
            };
            let (word, rest) = line.split_once(' ').unwrap_or((line.trim_end(), ""));
            if let Some(Step {
                action: Action::Exit(_),
                name,
            }) = steps.last()
            {
                let reason = format!("nothing is done after `{name}`");
                return Err(bad(reason, "take the line out, or put `exit` last"));
            }
            let time = || {
                let told = rest.trim();
                Nanoseconds::from_text(told).ok_or_else(|| {
                    let reason = if told.is_empty() {
                        format!("`{word}` needs a time")
                    } else {
                        format!("`{told}` is not a time")
                    };
                    bad(
                        reason,
                        "say a number and s, ms, us or ns, such as 5s or 250ms",
                    )
                })
            };
            let whose = || {
                vm.ok_or_else(|| {
                    let names = vms.join("`, `");
                    bad(
                        format!("`{word}` does not say whose console is meant"),
                        &format!(
                            "say --console VM, or `vm NAME` in a line before; the VMs are `{names}`"
                        ),
                    )
                })
            };
            let said = || {
                let said = text_of(rest).map_err(|reason| {
                    bad(
                        reason,
                        "in quotes, \\n, \\r, \\t, \\e, \\\\, \\\" and \\xNN stand for bytes",
                    )
                })?;
                if said.is_empty() && word != "send" {
                    let help = format!("say what to {word}, such as `{word} \"~ # \"`");
                    return Err(bad(format!("`{word}` needs a text"), &help));
                }
                Ok(said)
            };
            let action = match word {
                "vm" => {
                    let name = rest.trim();
                    let known = vms.iter().position(|vm| vm == name);
                    vm = Some(known.ok_or_else(|| {
                        let names = vms.join("`, `");
                        let help = format!("the VMs are `{names}`");
                        bad(format!("the system has no VM `{name}`"), &help)
                    })?);
                    continue;
                }
                "timeout" => {
                    patience = time()?;
                    continue;
                }
                "wait" => Action::Wait(time()?),
                "expect" => Action::Expect {
                    vm: whose()?,
                    text: said()?,
                    patience,
                },
                "send" => {
                    let mut bytes = said()?;
                    bytes.push(b'\n');
                    Action::Send {
                        vm: whose()?,
                        bytes,
                    }
                }
                "type" => Action::Send {
                    vm: whose()?,
                    bytes: said()?,
                },
                "exit" => Action::Exit(rest.trim().parse().map_err(|_| {
                    let reason = format!("`{}` is not an exit code", rest.trim());
                    bad(reason, "say a number from 0 to 255")
                })?),
                _ => {
                    let near = crate::config::closest(word, &WORDS);
                    let help = match near {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("a line begins with one of `{}`", WORDS.join("`, `")),
                    };
                    return Err(bad(
                        format!("`{word}` is nothing that a script does"),
                        &help,
                    ));
                }
            };
            steps.push(Step {
                action,
                name: format!("{file}:{}: {}", number + 1, line.trim_end()),
            });
        }
        Ok(Self { steps })
    }
}

/// The bytes that a text of a script stands for: the rest of its line, or what is between quotes.
fn text_of(rest: &str) -> Result<Vec<u8>, String> {
    let Some(quoted) = rest.trim_start().strip_prefix('"') else {
        return Ok(rest.trim_end().as_bytes().to_vec());
    };
    let mut bytes = Vec::new();
    let mut rest = quoted.chars();
    while let Some(character) = rest.next() {
        match character {
            '"' if rest.as_str().trim().is_empty() => return Ok(bytes),
            '"' => return Err(format!("`{}` is behind the quotes", rest.as_str().trim())),
            '\\' => bytes.push(match rest.next() {
                Some('n') => b'\n',
                Some('r') => b'\r',
                Some('t') => b'\t',
                Some('e') => 0x1b,
                Some('\\') => b'\\',
                Some('"') => b'"',
                Some('x') => {
                    let digits: String = rest.by_ref().take(2).collect();
                    u8::from_str_radix(&digits, 16)
                        .map_err(|_| format!("`\\x{digits}` stands for no byte"))?
                }
                Some(other) => return Err(format!("`\\{other}` stands for no byte")),
                None => break,
            }),
            other => bytes.extend(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Err("the quotes are not closed".to_owned())
}

/// How a script has ended a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptEnd {
    /// As it says itself, with this exit code.
    Exit(u8),
    /// What it expects did not come in time.
    TimedOut(String),
}

impl fmt::Display for ScriptEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "the script ended it with exit code {code}"),
            Self::TimedOut(what) => f.write_str(what),
        }
    }
}

/// Bytes that come from outside while the run goes on.
#[derive(Clone, Debug, Default)]
pub struct Feed(Arc<Mutex<Fed>>);

#[derive(Debug, Default)]
struct Fed {
    bytes: VecDeque<u8>,
    over: bool,
}

impl Feed {
    fn lock(&self) -> MutexGuard<'_, Fed> {
        // What another thread left behind when it panicked is bytes in a queue, which is always whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds bytes.
    pub fn add(&self, bytes: &[u8]) {
        self.lock().bytes.extend(bytes);
    }

    /// No more will come.
    pub fn close(&self) {
        self.lock().over = true;
    }

    fn take(&self) -> Vec<u8> {
        self.lock().bytes.drain(..).collect()
    }

    fn is_open(&self) -> bool {
        let fed = self.lock();
        !fed.over || !fed.bytes.is_empty()
    }
}

/// What is typed on a VM's console: whatever a program has written to the tool's standard input.
#[derive(Clone, Debug)]
pub struct Typed {
    /// The VM's index.
    pub vm: usize,
    /// The bytes.
    pub feed: Feed,
}

/// What is still to be typed on the VMs' consoles, for a run that goes on from a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typing(Vec<Typist>);

impl Typing {
    /// Whether it is of a system with so many VMs; nothing to be typed suits each.
    pub fn is_of(&self, vms: usize) -> bool {
        self.0.is_empty() || self.0.len() == vms
    }

    /// Whether something is still to be typed.
    pub fn is_busy(&self) -> bool {
        self.0.iter().any(Typist::is_busy)
    }
}

/// Carries a script out, and types what is to be typed.
#[derive(Debug)]
pub struct Player {
    steps: VecDeque<Step>,
    /// Names of the VMs.
    names: Vec<String>,
    /// What each VM has written behind what was expected of it last.
    heard: Vec<VecDeque<u8>>,
    /// Who types on each VM's console.
    typists: Vec<Typist>,
    typed: Option<(Typed, Prompt)>,
    /// The VM that the serial line's bytes go to.
    selected: Option<(usize, Framer)>,
    /// When the first step began.
    since: Option<Nanoseconds>,
    end: Option<ScriptEnd>,
}

impl Player {
    /// Of a run of a system with these VMs.
    pub fn new(script: Option<Script>, typed: Option<Typed>, names: &[String]) -> Self {
        Self {
            steps: script.unwrap_or_default().steps.into(),
            names: names.to_vec(),
            heard: vec![VecDeque::new(); names.len()],
            typists: vec![Typist::default(); names.len()],
            typed: typed.map(|typed| (typed, Prompt::default())),
            selected: None,
            since: None,
            end: None,
        }
    }

    /// Has this typed on a VM's console, behind all that is to be typed there already.
    pub fn send(&mut self, vm: usize, bytes: &[u8]) {
        if let Some(typist) = self.typists.get_mut(vm) {
            typist.add(bytes);
        }
    }

    /// What is still to be typed.
    pub fn typing(&self) -> Typing {
        Typing(self.typists.clone())
    }

    /// Goes on with what was still to be typed in a run of the same system.
    pub fn resume(&mut self, typing: Typing) {
        if typing.0.len() == self.typists.len() {
            self.typists = typing.0;
        }
    }

    /// A VM has written a byte.
    pub fn heard(&mut self, vm: usize, byte: u8) {
        if let Some(typist) = self.typists.get_mut(vm) {
            typist.heard();
        }
        if let Some((typed, prompt)) = &mut self.typed
            && typed.vm == vm
        {
            prompt.heard(byte);
        }
        if let Some(heard) = self.heard.get_mut(vm)
            && !self.steps.is_empty()
        {
            heard.push_back(byte);
            if heard.len() > HEARD_MAX {
                heard.pop_front();
            }
        }
    }

    /// It is `now`: does what is to be done, and gives what goes to the machine's serial line.
    pub fn advance(&mut self, now: Nanoseconds) -> Vec<u8> {
        while self.end.is_none() && self.step(now) {
            self.since = None;
            self.steps.pop_front();
        }
        if let Some((typed, prompt)) = &mut self.typed
            && prompt.is_there(now)
            && let Some(typist) = self.typists.get_mut(typed.vm)
        {
            typist.add(&typed.feed.take());
        }
        let mut line = Vec::new();
        for (vm, typist) in self.typists.iter_mut().enumerate() {
            let Some(bytes) = typist.due(now) else {
                continue;
            };
            let framer = match &mut self.selected {
                Some((selected, framer)) if *selected == vm => framer,
                other => {
                    let Some(framer) = Framer::new(vm) else {
                        continue;
                    };
                    &mut other.insert((vm, framer)).1
                }
            };
            line.extend(framer.frame(&bytes));
        }
        line
    }

    /// Whether the first step is done.
    fn step(&mut self, now: Nanoseconds) -> bool {
        let Some(Step { action, name }) = self.steps.front() else {
            return false;
        };
        let since = *self.since.get_or_insert(now);
        let waited = Nanoseconds(now.0.saturating_sub(since.0));
        match action {
            Action::Exit(code) => {
                self.end = Some(ScriptEnd::Exit(*code));
                false
            }
            Action::Wait(time) => waited >= *time,
            Action::Send { vm, bytes } => {
                let (vm, bytes) = (*vm, bytes.clone());
                self.send(vm, &bytes);
                true
            }
            Action::Expect { vm, text, patience } => {
                let heard = &mut self.heard[*vm];
                let found = heard
                    .make_contiguous()
                    .windows(text.len())
                    .position(|window| window == text);
                if let Some(at) = found {
                    heard.drain(..at + text.len());
                    return true;
                }
                // What is being typed takes its time.
                let types = self.typists[*vm].is_busy();
                if waited >= *patience && !types {
                    let last = last_line(heard.make_contiguous());
                    let vm = &self.names[*vm];
                    self.end = Some(ScriptEnd::TimedOut(format!(
                        "{name}: not within {patience} of virtual time; {vm} ended with \"{last}\""
                    )));
                }
                false
            }
        }
    }

    /// How the script has ended the run.
    pub fn ended(&self) -> Option<&ScriptEnd> {
        self.end.as_ref()
    }

    /// The step that is not done yet.
    pub fn unfinished(&self) -> Option<String> {
        if self.end.is_some() {
            return None;
        }
        self.steps.front().map(|step| step.name.clone())
    }

    /// Whether it has anything to do as time passes.
    pub fn needs_time(&self) -> bool {
        !self.steps.is_empty() || self.typists.iter().any(Typist::is_busy) || self.awaits_feed()
    }

    /// Whether bytes may come from outside.
    pub fn awaits_feed(&self) -> bool {
        self.typed
            .as_ref()
            .is_some_and(|(typed, _)| typed.feed.is_open())
    }
}

/// The last line of what a VM has written that is not empty, as a message shows it.
fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    let line = visible(line.unwrap_or_default());
    let over = line.chars().count().saturating_sub(60);
    line.chars().skip(over).collect()
}

#[cfg(test)]
mod tests;
