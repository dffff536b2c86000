//! Runs every command of README, tutorial and how-to pages, and compares what it prints with what the page shows.
//!
//! `cargo test -p tactus --test pages` runs all pages; `-- how-to/use-a-channel` runs one. `UPDATE_PAGES=1` replaces
//! what a page shows by what was printed. The convention for pages is in `CONTRIBUTING.md` under "Pages"; in short:
//!
//! | in the page | the test |
//! |---|---|
//! | ```` ```sh ```` | runs the block as one script of bash, which must exit with 0 |
//! | ```` ```console ```` | runs each line after `$ `, and compares the output with the lines below it |
//! | `~ # ` in such a block | types the rest of the line when the guest's shell shows this prompt |
//! | `[..]`, or `...` on a line | matches any text, any lines |
//! | `<!-- test: KEY VALUE -->` | is a directive for the next block: [`page::Directive`] has the keys |
//!
//! A page has a folder of its own that looks like the root of a clone. The host's time is not compared; all else is,
//! the board's times and cycles included.

mod page;
mod script;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use page::{Page, Step};
use script::{Commands, Difference, Workspace};

/// The root of the clone.
fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.canonicalize().expect("the workspace is there")
}

/// The pages whose commands are run, by their path from the root.
fn names(root: &Path) -> Vec<String> {
    let mut names = vec!["README.md".to_owned()];
    for folder in ["docs/src/tutorial", "docs/src/how-to"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("the book is there");
        let files = entries.map(|entry| entry.expect("it can be read").file_name());
        let mut files: Vec<_> = files.filter_map(|file| file.into_string().ok()).collect();
        files.retain(|file| file.ends_with(".md"));
        files.sort_unstable();
        names.extend(files.iter().map(|file| format!("{folder}/{file}")));
    }
    names
}

/// Runs a page's steps in order, up to the first that fails; with `update`, writes what was printed into the page.
fn run(
    root: &Path,
    page: &Page,
    commands: &Commands,
    long: bool,
    update: bool,
) -> Result<(), String> {
    let workspace = Workspace::new(root, commands)?;
    let mut edits = Vec::new();
    let mut steps = page.steps.iter().filter(|step| long || !step.is_long());
    let result = steps.try_for_each(|step| {
        let difference = match step {
            Step::Skip { .. } => None,
            Step::File(file) => {
                workspace
                    .write(file)
                    .map_err(|error| page.at(file.line, &error))?;
                None
            }
            Step::Command(command) => workspace
                .run(command)
                .map_err(|error| page.at(command.line, &error))?,
        };
        match difference {
            Some(difference) if update => edits.push((difference.range, difference.printed)),
            Some(Difference {
                message: Some((line, text)),
                ..
            }) => return Err(page.at(line, &text)),
            _ => {}
        }
        Ok(())
    });
    page.replace(root, edits)?;
    result
}

/// Pages that are wrong, with the beginning of the message.
const WRONG: [(&str, &str); 6] = [
    (
        "```console\n$ printf 'a\\nb\\n'\na\nc\n```\n",
        "page.md:4: the page does not show what `printf 'a\\nb\\n'` prints",
    ),
    (
        "```sh\nexit 3\n```\n",
        "page.md:2: exited with 3 and not with 0",
    ),
    (
        "<!-- test: exit 3 -->\n```sh\ntrue\n```\n",
        "page.md:3: exited with 0 and not with 3",
    ),
    (
        "<!-- test: fil a -->\n```text\n```\n",
        "page.md:1: `test: fil a` is no directive",
    ),
    (
        "<!-- test: long -->\n\nText.\n",
        "page.md:1: no block follows Long",
    ),
    (
        "```\n$ true\n```\n",
        "page.md:2: a block with commands is to be named `console`",
    ),
];

/// The test tells a wrong page from a right one, and can put it right.
fn wrong_pages_fail(commands: &Commands) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let check = |text: &str, update: bool| -> Result<Result<(), String>, Failed> {
        std::fs::write(folder.path().join("page.md"), text)?;
        let page = Page::read(folder.path(), "page.md");
        Ok(page.and_then(|page| run(folder.path(), &page, commands, true, update)))
    };
    for (text, message) in WRONG {
        match check(text, false)? {
            Err(error) if error.starts_with(message) => {}
            result => return Err(format!("{text}\ngave {result:?}\nand not {message}").into()),
        }
    }
    check(WRONG[0].0, true)??;
    let updated = std::fs::read_to_string(folder.path().join("page.md"))?;
    check(&updated, false)??;
    check(
        "```console\n$ seq 9; echo in 8 s\n1\n...\n[..] 8 s\n```\n",
        false,
    )??;
    check(
        "```console\n$ echo 'running, 8 s; 0.1 s of virtual time'; echo a\na\n```\n",
        false,
    )??;
    Ok(())
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = root();
    let commands = Commands::new(&root).expect("a temporary directory can be written");
    let update = std::env::var_os("UPDATE_PAGES").is_some();
    let own = commands.clone();
    let mut trials = vec![Trial::test("wrong pages fail", move || {
        wrong_pages_fail(&own)
    })];
    let mut never = Vec::new();
    let mut later = 0;
    for name in names(&root) {
        let short = name.trim_start_matches("docs/src/").to_owned();
        let page = match Page::read(&root, &name) {
            Ok(page) => page,
            Err(error) => {
                trials.push(Trial::test(short, move || Err(error.into())));
                continue;
            }
        };
        for step in &page.steps {
            match step {
                Step::Skip { line, reason } => never.push(format!("  {name}:{line}: {reason}")),
                step => later += usize::from(step.is_long()),
            }
        }
        if page.steps.iter().any(Step::is_long) {
            let (root, page, commands) = (root.clone(), page.clone(), commands.clone());
            let all = move || Ok(run(&root, &page, &commands, true, update)?);
            trials.push(
                Trial::test(format!("{short}, long commands included"), all)
                    .with_ignored_flag(true),
            );
        }
        let (root, commands) = (root.clone(), commands.clone());
        trials.push(Trial::test(short, move || {
            Ok(run(&root, &page, &commands, false, update)?)
        }));
    }
    if !arguments.list {
        println!(
            "pages: {later} commands are long and run by `make soak` alone; {} are never run:",
            never.len()
        );
        never.iter().for_each(|line| println!("{line}"));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
