//! What a page has to run: its fenced blocks and the directives before them, as steps.

use std::ops::Range;
use std::path::Path;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// The prompt of the Linux guest's shell.
pub const GUEST_PROMPT: &str = "~ # ";

/// A directive: the comment `<!-- test: KEY VALUE -->` before a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directive {
    /// `file NAME`: the block is written to this file of the page's folder.
    File(String),
    /// `append NAME`: the block is appended to this file.
    Append(String),
    /// `output`: the block is the output of the last command before it.
    Output,
    /// `exit CODE`: the block's last command exits with this code, not with 0.
    Exit(i32),
    /// `figures vary`: numbers are not compared. For runs on QEMU, whose counts of instructions depend
    /// on its version, and for guests that the distribution compiles.
    FiguresVary,
    /// `guest COMMAND`: the block is typed into the shell of the guest that this command starts.
    Guest(String),
    /// `long`: the block is run by `make soak` alone.
    Long,
    /// `skip REASON`: the block is never run. The test lists it with the reason.
    Skip(String),
    /// `run COMMAND`: no block follows; runs a command that the page does not show, such as an edit that its text asks
    /// for.
    Run(String),
}

impl Directive {
    fn parse(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once(' ').unwrap_or((text, ""));
        let value = value.trim().to_owned();
        let needs_value = |directive: fn(String) -> Self| match value.is_empty() {
            true => Err(format!("`test: {key}` needs a value")),
            false => Ok(directive(value.clone())),
        };
        match key {
            "file" => needs_value(Self::File),
            "append" => needs_value(Self::Append),
            "guest" => needs_value(Self::Guest),
            "skip" => needs_value(Self::Skip),
            "run" => needs_value(Self::Run),
            "exit" => value
                .parse()
                .map(Self::Exit)
                .map_err(|_| format!("`test: exit {value}` is no exit code")),
            "output" if value.is_empty() => Ok(Self::Output),
            "long" if value.is_empty() => Ok(Self::Long),
            "figures" if value == "vary" => Ok(Self::FiguresVary),
            _ => Err(format!(
                "`test: {text}` is no directive of the test of pages"
            )),
        }
    }
}

/// A file that the page shows.
#[derive(Clone, Debug)]
pub struct File {
    /// The page's line where its text begins.
    pub line: usize,
    pub name: String,
    pub text: String,
    pub append: bool,
}

/// What the page shows below a command.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The page's line where it begins.
    pub line: usize,
    pub text: String,
    /// Its place in the page, to be replaced.
    pub range: Range<usize>,
}

/// A command that the page shows.
#[derive(Clone, Debug)]
pub struct Command {
    pub line: usize,
    /// For bash.
    pub script: String,
    /// What it prints; `None` where the page shows nothing of it.
    pub shown: Option<Shown>,
    /// What is typed at the guest's prompts.
    pub typed: Vec<String>,
    /// The page shows only what is between the first prompt and the last.
    pub guest_only: bool,
    pub exit: i32,
    pub figures_vary: bool,
    pub long: bool,
}

/// One thing that the test does with a page.
#[derive(Clone, Debug)]
pub enum Step {
    File(File),
    Command(Command),
    Skip { line: usize, reason: String },
}

impl Step {
    pub fn is_long(&self) -> bool {
        matches!(self, Self::Command(command) if command.long)
    }
}

/// A page of the book.
#[derive(Clone, Debug)]
pub struct Page {
    name: String,
    text: String,
    pub steps: Vec<Step>,
}

/// A fenced block.
struct Block {
    language: String,
    text: String,
    range: Range<usize>,
    line: usize,
}

impl Page {
    /// Reads a page by its path from the root.
    ///
    /// # Errors
    /// It has a directive that is wrong or misplaced, or a block that should say what it is.
    pub fn read(root: &Path, name: &str) -> Result<Self, String> {
        let text =
            std::fs::read_to_string(root.join(name)).map_err(|error| format!("{name}: {error}"))?;
        let mut page = Self {
            name: name.to_owned(),
            text: text.clone(),
            steps: Vec::new(),
        };
        let line_at = |offset: usize| text[..offset].matches('\n').count() + 1;
        let mut directives: Vec<(usize, Directive)> = Vec::new();
        let mut block: Option<Block> = None;
        for (event, range) in Parser::new(&text).into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    let language = match kind {
                        CodeBlockKind::Fenced(info) => {
                            info.split([' ', ',']).next().unwrap_or_default().to_owned()
                        }
                        CodeBlockKind::Indented => String::new(),
                    };
                    block = Some(Block {
                        language,
                        text: String::new(),
                        range: range.end..range.end,
                        line: line_at(range.start) + 1,
                    });
                }
                Event::Text(part) if block.is_some() => {
                    if let Some(block) = &mut block {
                        if block.text.is_empty() {
                            block.range.start = range.start;
                        }
                        block.text.push_str(&part);
                        block.range.end = range.end;
                    }
                }
                Event::End(TagEnd::CodeBlock) => {
                    if let Some(block) = block.take() {
                        let line = block.line;
                        let directives = std::mem::take(&mut directives);
                        let directives = directives
                            .into_iter()
                            .map(|(_, directive)| directive)
                            .collect();
                        page.add(block, directives)
                            .map_err(|error| page.at(line, &error))?;
                    }
                }
                Event::Html(html) => {
                    let line = line_at(range.start);
                    let comment = html.trim().strip_prefix("<!-- test: ");
                    let Some(text) = comment.and_then(|text| text.strip_suffix("-->")) else {
                        continue;
                    };
                    match Directive::parse(text.trim()).map_err(|error| page.at(line, &error))? {
                        Directive::Run(script) => page.steps.push(Step::Command(Command {
                            line,
                            script,
                            shown: None,
                            typed: Vec::new(),
                            guest_only: false,
                            exit: 0,
                            figures_vary: false,
                            long: directives
                                .iter()
                                .any(|(_, directive)| *directive == Directive::Long),
                        })),
                        directive => directives.push((line, directive)),
                    }
                }
                Event::Start(Tag::HtmlBlock) | Event::End(TagEnd::HtmlBlock) => {}
                _ => {
                    if let Some((line, directive)) = directives.first() {
                        return Err(page.at(*line, &format!("no block follows {directive:?}")));
                    }
                }
            }
        }
        match directives.first() {
            Some((line, directive)) => {
                Err(page.at(*line, &format!("no block follows {directive:?}")))
            }
            None => Ok(page),
        }
    }

    /// A message with the place in the page before it.
    pub fn at(&self, line: usize, message: &str) -> String {
        format!("{}:{line}: {message}", self.name)
    }

    fn add(&mut self, block: Block, directives: Vec<Directive>) -> Result<(), String> {
        let line = block.line;
        let mut exit = 0;
        let mut figures_vary = false;
        let mut long = false;
        let mut guest = None;
        for directive in directives {
            match directive {
                Directive::File(name) | Directive::Append(name)
                    if name.contains("..") || name.starts_with('/') =>
                {
                    return Err(format!("{name} is not in the page's folder"));
                }
                Directive::File(name) | Directive::Append(name)
                    if matches!(block.language.as_str(), "sh" | "console") =>
                {
                    return Err(format!(
                        "{name}: a block of commands is run, and not written to a file"
                    ));
                }
                Directive::File(name) => return self.push_file(block, name, false),
                Directive::Append(name) => return self.push_file(block, name, true),
                Directive::Skip(reason) => {
                    self.steps.push(Step::Skip { line, reason });
                    return Ok(());
                }
                Directive::Output => {
                    let last = self.steps.iter_mut().rev().find_map(|step| match step {
                        Step::Command(command) => Some(command),
                        _ => None,
                    });
                    let last = last.ok_or("there is no command whose output this could be")?;
                    last.figures_vary |= figures_vary;
                    last.shown = Some(Shown {
                        line,
                        text: block.text,
                        range: block.range,
                    });
                    return Ok(());
                }
                Directive::Exit(code) => exit = code,
                Directive::FiguresVary => figures_vary = true,
                Directive::Long => long = true,
                Directive::Guest(command) => guest = Some(command),
                Directive::Run(_) => return Err("a hidden command has no block".to_owned()),
            }
        }
        let command = Command {
            line,
            script: String::new(),
            shown: None,
            typed: Vec::new(),
            guest_only: guest.is_some(),
            exit: 0,
            figures_vary,
            long,
        };
        match block.language.as_str() {
            "sh" => self.steps.push(Step::Command(Command {
                script: block.text,
                exit,
                ..command
            })),
            "console" => {
                let mut commands = session(&block, &command, guest)?;
                if let Some(last) = commands.last_mut() {
                    last.exit = exit;
                }
                self.steps.extend(commands.into_iter().map(Step::Command));
            }
            "bash" | "shell" => {
                return Err("commands are in blocks named `sh` or `console`".to_owned());
            }
            "" | "text" if block.text.lines().any(|line| line.starts_with("$ ")) => {
                return Err("a block with commands is to be named `console`".to_owned());
            }
            _ if exit != 0 || long || figures_vary || guest.is_some() => {
                return Err(format!("a block of {} is not run", block.language));
            }
            _ => {}
        }
        Ok(())
    }

    fn push_file(&mut self, block: Block, name: String, append: bool) -> Result<(), String> {
        self.steps.push(Step::File(File {
            line: block.line,
            name,
            text: block.text,
            append,
        }));
        Ok(())
    }

    /// Writes the page with other text at these places.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn replace(
        &self,
        root: &Path,
        mut edits: Vec<(Range<usize>, String)>,
    ) -> Result<(), String> {
        if edits.is_empty() {
            return Ok(());
        }
        let mut text = self.text.clone();
        edits.sort_unstable_by_key(|(range, _)| std::cmp::Reverse(range.start));
        for (range, new) in edits {
            text.replace_range(range, &new);
        }
        std::fs::write(root.join(&self.name), text)
            .map_err(|error| format!("{}: {error}", self.name))
    }
}

/// The commands of a block of language `console`, each with its output.
fn session(
    block: &Block,
    pattern: &Command,
    guest: Option<String>,
) -> Result<Vec<Command>, String> {
    let mut commands: Vec<Command> = Vec::new();
    if let Some(script) = &guest {
        commands.push(Command {
            script: script.clone(),
            shown: Some(Shown {
                line: block.line,
                text: String::new(),
                range: block.range.start..block.range.start,
            }),
            ..pattern.clone()
        });
    }
    let mut offset = block.range.start;
    for (index, line) in block.text.split_inclusive('\n').enumerate() {
        let at = offset..offset + line.len();
        offset = at.end;
        let content = line.trim_end_matches('\n');
        if let Some(script) = content.strip_prefix("$ ").filter(|_| guest.is_none()) {
            commands.push(Command {
                line: block.line + index,
                script: format!("{script}\n"),
                ..pattern.clone()
            });
            continue;
        }
        let Some(command) = commands.last_mut() else {
            return Err(
                "it does not begin with a command, and no `test: guest COMMAND` says who reads it"
                    .to_owned(),
            );
        };
        if let (Some(more), None) = (content.strip_prefix("> "), &command.shown) {
            command.script.push_str(more);
            command.script.push('\n');
            continue;
        }
        if let Some(typed) = content.strip_prefix(GUEST_PROMPT) {
            command.typed.push(typed.to_owned());
        }
        let shown = command.shown.get_or_insert(Shown {
            line: block.line + index,
            text: String::new(),
            range: at.clone(),
        });
        shown.text.push_str(line);
        shown.range.end = at.end;
    }
    Ok(commands)
}
