//! All runs of a campaign, on as many threads as are wanted, and a file of what is done, from which a campaign that was
//! ended goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use miette::{IntoDiagnostic, WrapErr, miette};
use sha2::{Digest, Sha256};

use super::page::{Found, Page, Worker};
use super::run::{Row, Subject};
use super::tally::Tally;
use crate::problem::{count, io_reason};
use crate::sweep::work::pace;

/// Runs that a thread takes at once: it goes through the window without a fault once for them.
const CHUNK: usize = 50;
/// The same where most runs need not be carried out.
const CHUNK_OF_SKIPPED: usize = 1000;
/// Time between two looks of the thread that waits for the others.
const LOOK: Duration = Duration::from_millis(50);

/// What is done. In a file: a line that says of which campaign, and one for each run.
#[derive(Debug, Default)]
pub struct Done {
    file: Option<(PathBuf, File)>,
    rows: BTreeMap<u32, Row>,
    tally: Tally,
}

impl Done {
    /// Nothing, and no file.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Of a campaign, in the file at `path`: what is there already, or nothing.
    ///
    /// # Errors
    /// It cannot be read or written, or is of another campaign.
    pub fn open(path: &Path, subject: &Subject) -> miette::Result<Self> {
        let head = format!("{}\n", head(subject));
        let cannot =
            |error: io::Error| miette!("{} cannot be kept: {}", path.display(), io_reason(&error));
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(cannot)?;
        let text = fs::read(path).map_err(cannot)?;
        let mut rows = BTreeMap::new();
        let has_runs = text.split_inclusive(|byte| *byte == b'\n').nth(1).is_some();
        let kept = if !has_runs {
            fs::write(path, &head).map_err(cannot)?;
            head.len()
        } else if !text.starts_with(head.as_bytes()) {
            return Err(miette!(
                help = "remove it, or write other results with `--output`",
                "{} is of another campaign, system or version",
                path.display()
            ));
        } else {
            let mut kept = head.len();
            // A line that was being written when it was ended is none.
            for line in text[kept..].split_inclusive(|byte| *byte == b'\n') {
                let Ok(row) = serde_json::from_slice::<Row>(line) else {
                    break;
                };
                if !line.ends_with(b"\n") {
                    break;
                }
                kept += line.len();
                if row.run < subject.campaign().runs {
                    rows.insert(row.run, row);
                }
            }
            kept
        };
        file.set_len(kept as u64).map_err(cannot)?;
        file.seek(io::SeekFrom::End(0)).map_err(cannot)?;
        Ok(Self {
            file: Some((path.to_owned(), file)),
            tally: Tally::of(rows.values()),
            rows,
        })
    }

    /// Keeps what a run has done.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn take(&mut self, row: Row) -> miette::Result<()> {
        if let Some((path, file)) = &mut self.file {
            let mut line = serde_json::to_string(&row).into_diagnostic()?;
            line.push('\n');
            file.write_all(line.as_bytes()).map_err(|error| {
                miette!(
                    "{} cannot be written: {}",
                    path.display(),
                    io_reason(&error)
                )
            })?;
        }
        self.tally.add(&row);
        let before = self.rows.insert(row.run, row);
        debug_assert!(before.is_none(), "a run is done once");
        Ok(())
    }

    /// Throws away what these runs have done, as if they had not been carried out.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn forget(&mut self, runs: &BTreeSet<u32>) -> miette::Result<()> {
        self.rows.retain(|run, _| !runs.contains(run));
        self.tally = Tally::of(self.rows.values());
        let Some((path, file)) = &mut self.file else {
            return Ok(());
        };
        let cannot = |error: io::Error| {
            miette!(
                "{} cannot be written: {}",
                path.display(),
                io_reason(&error)
            )
        };
        let text = fs::read(&*path).map_err(cannot)?;
        let mut kept: Vec<u8> = Vec::with_capacity(text.len());
        kept.extend(
            text.split_inclusive(|byte| *byte == b'\n')
                .take(1)
                .flatten(),
        );
        for row in self.rows.values() {
            kept.extend(serde_json::to_vec(row).into_diagnostic()?);
            kept.push(b'\n');
        }
        // Written beside it: at no time is there a file that lacks a run which is done.
        let new = path.with_extension("part.new");
        fs::write(&new, &kept).map_err(cannot)?;
        fs::rename(&new, &*path).map_err(cannot)?;
        *file = OpenOptions::new()
            .append(true)
            .open(&*path)
            .map_err(cannot)?;
        Ok(())
    }

    /// What a run has done, if it is done.
    pub fn row(&self, run: u32) -> Option<&Row> {
        self.rows.get(&run)
    }

    /// The runs of a campaign of so many that are not done, in their order.
    pub fn open_runs(&self, runs: u32) -> Vec<u32> {
        (0..runs)
            .filter(|run| !self.rows.contains_key(run))
            .collect()
    }

    /// How often each verdict is among the runs that are done.
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The file that it is kept in.
    pub fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(|(path, _)| path.as_path())
    }

    /// How many runs are done.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All runs, in their order; the file goes.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn into_rows(self) -> miette::Result<Vec<Row>> {
        if let Some((path, _)) = &self.file {
            fs::remove_file(path)
                .into_diagnostic()
                .wrap_err_with(|| format!("{} cannot be removed", path.display()))?;
        }
        Ok(self.rows.into_values().collect())
    }
}

/// What the runs of a campaign follow from, but for how many there are, in a line: the tool's version and a hash.
pub fn head(subject: &Subject) -> String {
    let mut digest = Sha256::new();
    let text = &subject.campaign().text;
    digest.update((text.len() as u64).to_le_bytes());
    digest.update(text);
    digest.update(subject.campaign().seed.to_le_bytes());
    digest.update(&subject.boot().image.bytes);
    for image in subject.hostile_images() {
        digest.update(image);
    }
    let digest = digest.finalize();
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("tactus faults {} {hex}", env!("CARGO_PKG_VERSION"))
}

/// How far a campaign is.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// Runs that are done.
    pub done: usize,
    /// Those of them that were done before.
    pub before: usize,
    /// All runs.
    pub all: usize,
    /// Those that are done and bad.
    pub bad: usize,
    /// Since when.
    pub since: Instant,
}

impl State {
    /// In words: how many, how fast, how long still.
    pub fn text(&self) -> String {
        let mut text = format!("{} of {}", self.done, count(self.all, "run"));
        let new = (self.done - self.before) as u64;
        text += &pace(new, (self.all - self.done) as u64, self.since);
        if self.bad > 0 {
            text += &format!(", {} escaped or hung", self.bad);
        }
        text
    }
}

/// Carries out what is not done, on `workers` threads. `look` is called now and then on this thread; the campaign ends
/// where it says false. The page is brought up to date meanwhile. Gives whether all is done.
///
/// # Errors
/// The system does not come to the window, or what is done cannot be kept.
pub fn carry_out(
    subject: &Arc<Subject>,
    done: &mut Done,
    workers: NonZero<usize>,
    mut page: Option<&mut Page>,
    look: &mut dyn FnMut(State) -> bool,
) -> miette::Result<bool> {
    let all = subject.campaign().runs;
    let open = done.open_runs(all);
    let begun = State {
        done: done.len(),
        before: done.len(),
        all: all as usize,
        bad: done.tally.all().bad(),
        since: Instant::now(),
    };
    // Parts that take about as long are left for all threads at the end.
    let chunk = if subject.campaign().skip_unread {
        CHUNK_OF_SKIPPED
    } else {
        CHUNK
    };
    let size = open.len().div_ceil(workers.get()).clamp(1, chunk);
    let chunks: Mutex<BTreeSet<usize>> = Mutex::new((0..open.len().div_ceil(size)).collect());
    let threads = workers.get().min(open.len());
    // Runs that each thread has carried out.
    let by_thread = vec![0_usize; threads];
    let shared = Mutex::new((done, begun, by_thread));
    let cancel = AtomicBool::new(false);
    let failed = Mutex::new(None);
    let next = || {
        let mut chunks = chunks.lock().unwrap_or_else(PoisonError::into_inner);
        let chunk = chunks.pop_first()?;
        let from = chunk * size;
        (!cancel.load(Ordering::Relaxed)).then(|| &open[from..(from + size).min(open.len())])
    };
    let work = |thread: usize| -> miette::Result<()> {
        let mut walker = None;
        while let Some(runs) = next() {
            if walker.is_none() {
                walker = subject.start(&cancel)?;
            }
            let Some(walker) = &mut walker else {
                return Ok(());
            };
            let mut kept = Ok(());
            let take = &mut |row: Row| {
                let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                let (done, state, by_thread) = &mut *shared;
                state.done += 1;
                by_thread[thread] += 1;
                state.bad += usize::from(row.verdict.is_bad());
                if let Err(error) = done.take(row) {
                    cancel.store(true, Ordering::Relaxed);
                    kept = Err(error);
                }
            };
            let ended = walker.carry_out(runs, &cancel, take)?;
            kept?;
            if ended.is_err() {
                return Ok(());
            }
        }
        Ok(())
    };
    let work = |thread| {
        if let Err(error) = work(thread) {
            cancel.store(true, Ordering::Relaxed);
            let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
            failed.get_or_insert(error);
        }
    };
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || work(thread)))
            .collect();
        let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
        while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
            if let Some(page) = page.as_mut().filter(|page| page.is_due()) {
                // Threads wait for what is taken here, not for the page.
                let (found, by_thread) = {
                    let (done, _, by_thread) = &*lock();
                    (Found::of(done), by_thread.clone())
                };
                page.tell(Worker::threads(&by_thread), 0);
                page.update(&found);
            }
            let state = lock().1;
            if !look(state) {
                cancel.store(true, Ordering::Relaxed);
            }
            thread::sleep(LOOK);
        }
    });
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let (done, _, by_thread) = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(page) = page {
        page.tell(Worker::threads(&by_thread), 0);
    }
    Ok(done.len() == all as usize)
}
