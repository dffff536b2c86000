//! A campaign of faults in pieces, for those who divide its runs between machines themselves: `Campaign` carries runs
//! out, `Results` keeps what they have done.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyMapping;
use tactus::attack::run::Unfit;
use tactus::columns::Output;
use tactus::faults::description::Campaign as Described;
use tactus::faults::page::{About, Found, Page, State, Worker};
use tactus::faults::results;
use tactus::faults::run::{Row, Subject, Walker};
use tactus::faults::work::{self, Done};
use tactus::sweep::description::Base;

use crate::artifacts;
use crate::error::{Kind, bad, class, error, of_diagnostic, of_report};
use crate::long;
use crate::sweep::text_of;
use crate::system::{System, refused};
use crate::table::Table;

/// What the description is called where it is no file.
const NAME: &str = "faults";
/// Time between two looks whether Ctrl-C was pressed.
const LOOK: Duration = Duration::from_millis(50);

/// What a campaign is read from.
pub struct Parts {
    name: String,
    text: String,
    directory: PathBuf,
    base: Option<Base>,
    runs: Option<u32>,
    seed: Option<u64>,
    // How Python makes the same campaign, but for seed and runs; nothing where the command line can, by its name.
    made_by: Option<String>,
}

impl Parts {
    /// Of a campaign's file, or what such a file says as a dict; the rest takes the place of what it says.
    pub fn of(
        py: Python<'_>,
        description: &Bound<'_, PyAny>,
        system: Option<&Bound<'_, System>>,
        directory: Option<PathBuf>,
        runs: Option<u32>,
        seed: Option<u64>,
    ) -> PyResult<Self> {
        let (name, text, own) = text_of(py, description, NAME)?;
        let is_file = description.cast::<PyMapping>().is_err();
        let mut made_by = "tactus.Campaign(description".to_owned();
        let keywords = [
            ("system", system.is_some()),
            ("directory", directory.is_some()),
        ];
        for (name, _) in keywords.iter().filter(|(_, is_given)| *is_given) {
            made_by += &format!(", {name}={name}");
        }
        let is_alone = is_file && keywords.iter().all(|(_, is_given)| !is_given);
        Ok(Self {
            made_by: (!is_alone).then_some(made_by),
            name,
            text,
            directory: directory.unwrap_or(own),
            base: system.map(|system| system.get().base()),
            runs,
            seed,
        })
    }

    /// Begins the page at `path`, where one is wanted, for the results in `output`.
    pub fn page(
        &self,
        py: Python<'_>,
        path: Option<&Path>,
        subject: &Subject,
        done: &Done,
        output: Option<&Path>,
    ) -> PyResult<Option<Page>> {
        let (runs, seed) = (subject.campaign().runs, subject.campaign().seed);
        let begin = |path| {
            let reproduce = match &self.made_by {
                None => (
                    results::look_closer(Path::new(&self.name), seed),
                    String::new(),
                ),
                Some(made_by) => {
                    let call = format!("{made_by}, seed={seed}, runs={runs}).carry_out([");
                    (call, "])".to_owned())
                }
            };
            let about = About::of(subject, &self.name, reproduce, done, output);
            Page::begin(path, "page", about, done)
        };
        path.map(begin)
            .transpose()
            .map_err(|report| of_report(py, Kind::BadArgument, &report))
    }

    /// Reads the campaign, and judges and builds its system.
    pub fn subject(&self, py: Python<'_>) -> PyResult<Arc<Subject>> {
        artifacts::chosen(py)?;
        let (text, base) = (self.text.clone(), self.base.clone());
        let mut campaign = Described::parse(&self.name, text, &self.directory, base)
            .map_err(|error| of_diagnostic(py, Kind::BadArgument, &error))?;
        if self.runs == Some(0) {
            return Err(bad(py, "`runs` is at least 1", None));
        }
        campaign.runs = self.runs.unwrap_or(campaign.runs);
        campaign.seed = self.seed.unwrap_or(campaign.seed);
        py.detach(|| Subject::of(campaign))
            .map(Arc::new)
            .map_err(|unfit| match unfit {
                Unfit::Refused(verdict) => {
                    let message = "the system is not in order";
                    refused(py, message, &verdict.problems)
                }
                Unfit::Other(report) => of_report(py, Kind::Tactus, &report),
            })
    }
}

/// A campaign of faults whose system is judged and built, to carry out any of its runs.
///
/// What a run does follows from the campaign and the run's number alone, wherever it is carried out; ``identity`` is
/// the same where that holds. It can be pickled, and is read, judged and built again where it is unpickled.
/// `tactus.cluster.faults` divides a campaign between processes and machines with it.
#[pyclass(frozen, module = "tactus")]
pub struct Campaign {
    subject: Arc<Subject>,
    parts: Parts,
    // Those that wait at the beginning of the window; a thread takes one, or makes one.
    walkers: Mutex<Vec<Walker>>,
}

impl Campaign {
    fn of(py: Python<'_>, parts: Parts) -> PyResult<Self> {
        Ok(Self {
            subject: parts.subject(py)?,
            parts,
            walkers: Mutex::new(Vec::new()),
        })
    }

    /// Does something with a walker, on a thread of its own, while this one looks for Ctrl-C.
    fn with_walker<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Walker, &AtomicBool) -> miette::Result<Option<T>> + Send,
    ) -> PyResult<T> {
        let cancel = AtomicBool::new(false);
        let waiting = || self.walkers.lock().unwrap_or_else(PoisonError::into_inner);
        let work = || -> miette::Result<Option<T>> {
            let walker = waiting().pop();
            let walker = match walker {
                None => self.subject.start(&cancel)?,
                there => there,
            };
            let Some(mut walker) = walker else {
                return Ok(None);
            };
            let done = work(&mut walker, &cancel)?;
            waiting().push(walker);
            Ok(done)
        };
        let mut interrupt = None;
        let done = py.detach(|| {
            thread::scope(|scope| {
                // Dropped when the work ends, so that this thread waits no longer.
                let (at_work, ended) = mpsc::channel::<()>();
                let worker = scope.spawn(move || {
                    let _at_work = at_work;
                    work()
                });
                while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                    if interrupt.is_none() {
                        interrupt = Python::attach(|py| py.check_signals()).err();
                        cancel.store(interrupt.is_some(), Ordering::Relaxed);
                    }
                }
                worker.join()
            })
        });
        if let Some(interrupt) = interrupt {
            return Err(interrupt);
        }
        let done = done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        done.map_err(|report| of_report(py, Kind::Tactus, &report))?
            .ok_or_else(|| error(py, Kind::Tactus, "the campaign was cancelled", None))
    }
}

#[pymethods]
impl Campaign {
    #[new]
    #[pyo3(signature = (description, *, system = None, directory = None, runs = None, seed = None))]
    fn new(
        py: Python<'_>,
        description: &Bound<'_, PyAny>,
        system: Option<&Bound<'_, System>>,
        directory: Option<PathBuf>,
        runs: Option<u32>,
        seed: Option<u64>,
    ) -> PyResult<Self> {
        let parts = Parts::of(py, description, system, directory, runs, seed)?;
        Self::of(py, parts)
    }

    /// Read a campaign from its file's text, which messages call ``name``; the rest is as for the constructor.
    #[staticmethod]
    #[pyo3(signature = (text, *, name = "faults", system = None, directory = None, runs = None, seed = None))]
    fn from_toml(
        py: Python<'_>,
        text: String,
        name: &str,
        system: Option<&Bound<'_, System>>,
        directory: Option<PathBuf>,
        runs: Option<u32>,
        seed: Option<u64>,
    ) -> PyResult<Self> {
        let parts = Parts {
            name: name.to_owned(),
            text,
            directory: directory.unwrap_or_default(),
            base: system.map(|system| system.get().base()),
            runs,
            seed,
            made_by: Some("tactus.Campaign.from_toml(text".to_owned()),
        };
        Self::of(py, parts)
    }

    /// How many runs it has; they are numbered from 0.
    #[getter]
    fn runs(&self) -> u32 {
        self.subject.campaign().runs
    }

    /// What everything random is made of.
    #[getter]
    fn seed(&self) -> u64 {
        self.subject.campaign().seed
    }

    /// The tool's version, and a hash of description, seed, hypervisor and guests.
    #[getter]
    fn identity(&self) -> String {
        work::head(&self.subject)
    }

    /// Give the hash of all that happens without a fault. The first time, that is carried out.
    fn without_fault(&self, py: Python<'_>) -> PyResult<String> {
        self.with_walker(py, |walker, _| {
            Ok(Some(format!("{:016x}", walker.trace_hash())))
        })
    }

    /// Carry out these runs; give a line of JSON for each, in order of their numbers.
    ///
    /// Several threads may do so at a time. Raises `BadArgument` if a number is not below `runs`. Ctrl-C ends it.
    fn carry_out(&self, py: Python<'_>, runs: Vec<u32>) -> PyResult<Vec<String>> {
        let all = self.subject.campaign().runs;
        let runs: BTreeSet<u32> = runs.into_iter().collect();
        if let Some(run) = runs.iter().find(|run| **run >= all) {
            let message = format!("there is no run {run}: the campaign has {all}");
            return Err(bad(py, &message, None));
        }
        let runs: Vec<u32> = runs.into_iter().collect();
        self.with_walker(py, move |walker, cancel| {
            let mut rows = Vec::with_capacity(runs.len());
            let ended = walker.carry_out(&runs, cancel, &mut |row| rows.push(row))?;
            rows.sort_by_key(|row| row.run);
            Ok(ended.is_ok().then_some(rows))
        })
        .and_then(|rows| {
            let line = |row| serde_json::to_string(row);
            let lines: Result<_, _> = rows.iter().map(line).collect();
            lines.map_err(|reason| error(py, Kind::Tactus, &reason.to_string(), None))
        })
    }

    /// Begin to keep what the runs do: in memory, or where ``output`` is a Parquet file to write, beside it.
    ///
    /// That file has the extension ``.part``; what it has of the same campaign already is done. ``page`` is an HTML
    /// file that shows how far the campaign is, which `Results.show` brings up to date.
    #[pyo3(signature = (output = None, page = None))]
    fn results(
        &self,
        py: Python<'_>,
        output: Option<PathBuf>,
        page: Option<PathBuf>,
    ) -> PyResult<Results> {
        let file = long::output(py, output.as_deref())?;
        let done = match &output {
            None => Ok(Done::nothing()),
            Some(path) => Done::open(&path.with_extension("part"), &self.subject),
        };
        let done = done.map_err(|report| of_report(py, Kind::BadArgument, &report))?;
        let (page, output) = (page.as_deref(), output.as_deref());
        let page = self.parts.page(py, page, &self.subject, &done, output)?;
        Ok(Results {
            subject: Arc::clone(&self.subject),
            state: Mutex::new(Some((done, file))),
            page: Mutex::new(page),
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Pickled)> {
        let make = py.import("tactus._pickle")?.getattr("campaign")?;
        let Parts {
            name,
            text,
            directory,
            ..
        } = &self.parts;
        // With the system, so that no file of it is read again.
        let system = System::of_base(self.subject.campaign().system.clone());
        let parts = (
            text.clone(),
            name.clone(),
            directory.clone(),
            system,
            self.runs(),
            self.seed(),
        );
        Ok((make, parts))
    }

    fn __repr__(&self) -> String {
        format!("<Campaign {}: {} runs>", self.parts.name, self.runs())
    }
}

/// A campaign's text, name, directory, system, runs and seed.
type Pickled = (String, String, PathBuf, System, u32, u64);

/// What the runs of a `Campaign` have done.
#[pyclass(frozen, module = "tactus")]
pub struct Results {
    subject: Arc<Subject>,
    // Nothing once the table is made.
    state: Mutex<Option<(Done, Option<Output>)>>,
    page: Mutex<Option<Page>>,
}

impl Results {
    fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Done) -> PyResult<T>) -> PyResult<T> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *state {
            Some((done, _)) => work(done),
            None => Err(bad(py, "the results are a table already", None)),
        }
    }
}

#[pymethods]
impl Results {
    /// Give the runs that are not done, in their order.
    fn missing(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        self.with(py, |done| Ok(done.open_runs(self.subject.campaign().runs)))
    }

    /// Keep lines of `Campaign.carry_out`. Give the runs of those that were there already, with another content.
    ///
    /// A run that is done stays as it is. Raises `BadArgument` if a line is none of this campaign's; those before it
    /// are kept.
    fn take(&self, py: Python<'_>, lines: Vec<String>) -> PyResult<Vec<u32>> {
        let runs = self.subject.campaign().runs;
        self.with(py, |done| {
            let mut differing = Vec::new();
            for line in lines {
                let row: Row = serde_json::from_str(&line)
                    .ok()
                    .filter(|row: &Row| row.run < runs)
                    .ok_or_else(|| bad(py, &format!("{line:?} is no run's line"), None))?;
                match done.row(row.run) {
                    Some(there) if *there == row => {}
                    Some(_) => differing.push(row.run),
                    None => done
                        .take(row)
                        .map_err(|report| of_report(py, Kind::Tactus, &report))?,
                }
            }
            Ok(differing)
        })
    }

    /// Throw away what these runs have done; they are missing again.
    fn forget(&self, py: Python<'_>, runs: Vec<u32>) -> PyResult<()> {
        let runs = runs.into_iter().collect();
        self.with(py, |done| {
            done.forget(&runs)
                .map_err(|report| of_report(py, Kind::Tactus, &report))
        })
    }

    /// Bring the page up to date, where there is one: once a second at most, or at once if it has ``ended``.
    ///
    /// ``workers`` are those that carry runs out: the name of each, its state in words, and how many runs it has
    /// carried out; ``taken_back`` is how many chunks of runs were given to another one. ``ended`` says why the
    /// campaign ends before all runs are done; `table` writes the last page otherwise. Warns (`TactusWarning`) if a
    /// last page cannot be written.
    #[pyo3(signature = (workers = Vec::new(), *, taken_back = 0, ended = None))]
    fn show(
        &self,
        py: Python<'_>,
        workers: Vec<(String, String, usize)>,
        taken_back: usize,
        ended: Option<String>,
    ) -> PyResult<()> {
        let mut shown = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(page) = &mut *shown else {
            return Ok(());
        };
        let workers = workers
            .into_iter()
            .map(|(name, state, runs)| Worker { name, state, runs })
            .collect();
        page.tell(workers, taken_back);
        if ended.is_none() && !page.is_due() {
            return Ok(());
        }
        let found = self.with(py, |done| Ok(Found::of(done)))?;
        match ended {
            None => {
                page.update(&found);
                Ok(())
            }
            Some(reason) => end_page(py, shown.take(), &State::Ended(reason), &found),
        }
    }

    /// Give the table of all runs and its summary in words; write the Parquet file, and remove the one beside it.
    ///
    /// Raises `BadArgument` if a run is missing.
    fn table(&self, py: Python<'_>) -> PyResult<(Table, String)> {
        let missing = self.missing(py)?.len();
        if missing > 0 {
            return Err(bad(py, &format!("{missing} runs are missing"), None));
        }
        let page = self
            .page
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((done, file)) = state.take() else {
            return Err(bad(py, "the results are a table already", None));
        };
        table(py, &self.subject, done, file, page)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |done| Ok(done.len()))
    }
}

/// Writes the last page, where there is one; warns if that is not possible.
pub fn end_page(py: Python<'_>, page: Option<Page>, state: &State, found: &Found) -> PyResult<()> {
    let Some(Err(report)) = page.map(|page| page.end(state, found)) else {
        return Ok(());
    };
    let text = format!("the campaign's page is not up to date: {report}");
    let category = class(py, "TactusWarning")?;
    PyErr::warn(py, &category, &CString::new(text)?, 1)
}

/// The table of a campaign that is done, and its summary; the file and the last page are written.
pub fn table(
    py: Python<'_>,
    subject: &Subject,
    done: Done,
    file: Option<Output>,
    page: Option<Page>,
) -> PyResult<(Table, String)> {
    let found = Found::of(&done);
    let made = made(py, subject, done, file);
    let state = match &made {
        Ok(_) => State::Done,
        Err(error) => State::Ended(error.to_string()),
    };
    end_page(py, page, &state, &found)?;
    made
}

fn made(
    py: Python<'_>,
    subject: &Subject,
    done: Done,
    file: Option<Output>,
) -> PyResult<(Table, String)> {
    let rows = done.into_rows();
    let rows = rows.map_err(|report| of_report(py, Kind::Tactus, &report))?;
    let columns = results::columns(subject.campaign(), &rows);
    let summary = results::summary(subject.campaign(), &rows);
    Ok((long::found(py, &columns, file)?, summary))
}
