//! All runs of a sweep, on as many threads as are wanted. Which thread does what makes no difference to the results:
//! what decides whether a point needs a further run are the runs before it, in their order.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::description::{Sweep, Width};
use super::interval::{half_width, mean};
use super::run::{Missing, Prepared, Row};
use crate::artifacts::Artifacts;

/// Time between two looks of the thread that waits for the others.
const LOOK: Duration = Duration::from_millis(50);

/// How far a sweep is.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// Runs that are done.
    pub done: u64,
    /// Runs that there are at most.
    pub most: u64,
    /// Those of them that are not as they should be.
    pub errors: u64,
    /// Since when.
    pub since: Instant,
}

impl State {
    /// In words: how many, how fast, how long still.
    pub fn text(&self) -> String {
        let Self {
            done, most, errors, ..
        } = self;
        let mut text = format!("{done} of {most} runs");
        text += &pace(*done, most.saturating_sub(*done), self.since);
        if *errors > 0 {
            text += &format!(", {errors} not good");
        }
        text
    }
}

/// How many runs there are a second, and how long those take that are left: `done` were done since then.
pub(crate) fn pace(done: u64, left: u64, since: Instant) -> String {
    let seconds = since.elapsed().as_secs_f64();
    if done == 0 || seconds <= 0.0 {
        return String::new();
    }
    let rate = done as f64 / seconds;
    let left = left as f64 / rate;
    format!(", {} a second, {} left", rate_text(rate), duration(left))
}

/// A rate as it is told.
pub(crate) fn rate_text(rate: f64) -> String {
    if rate < 10.0 {
        format!("{rate:.1}")
    } else {
        format!("{rate:.0}")
    }
}

/// A length of time as it is told: rounded up to seconds, minutes or hours.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds.ceil() as u64 {
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ ..7200 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h", seconds.div_ceil(3600)),
    }
}

/// How a sweep ended.
#[derive(Debug)]
pub enum End {
    /// With all rows, in the order of points and replicates.
    Rows(Vec<Row>),
    /// It was to end at the first row that is not as it should be: this one.
    Strict(Box<Row>),
    /// It was cancelled.
    Cancelled,
}

/// What there is of a point.
#[derive(Debug, Default)]
struct Point {
    /// Runs that were begun.
    begun: u32,
    /// Runs that are done, by number.
    rows: BTreeMap<u32, Row>,
    /// Runs without gaps from the first on.
    known: u32,
    /// How many runs it has in the end, where that is known.
    decided: Option<u32>,
}

/// What the threads share.
struct Shared {
    points: Vec<Point>,
    /// All points before it are decided.
    open: usize,
    /// Configurations in use, by point.
    prepared: BTreeMap<usize, Slot>,
    state: State,
    /// What is missing for all points.
    missing: Option<Missing>,
    /// The first row, in their order, that is not as it should be; and whether the sweep ends at it.
    bad: Option<(usize, u32)>,
    strict: bool,
    running: usize,
}

/// Where a point's configuration is, once it is built.
type Slot = Arc<Mutex<Option<Arc<Prepared>>>>;

/// A run to carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Job {
    point: usize,
    replicate: u32,
}

/// Whether a point with these first runs needs no more.
fn enough(sweep: &Sweep, rows: &BTreeMap<u32, Row>, runs: u32) -> bool {
    if runs >= sweep.replicates || rows.get(&0).is_some_and(|row| row.is_settled) {
        return true;
    }
    let Some(rule) = sweep.stop.as_ref().filter(|rule| runs >= rule.at_least) else {
        return false;
    };
    let values: Vec<f64> = rows
        .range(..runs)
        .filter_map(|(_, row)| row.taken.get(rule.measure)?.as_ref().ok().copied())
        .collect();
    half_width(&values, rule.confidence).is_some_and(|width| match rule.width {
        Width::Absolute(most) => width <= most,
        Width::Relative(part) => width <= part * mean(&values).abs(),
    })
}

impl Shared {
    /// Before the first run.
    fn of(sweep: &Sweep, strict: bool) -> Self {
        let mut points = Vec::new();
        points.resize_with(sweep.points(), Point::default);
        let state = State {
            done: 0,
            most: points.len() as u64 * u64::from(sweep.replicates),
            errors: 0,
            since: Instant::now(),
        };
        Self {
            points,
            open: 0,
            prepared: BTreeMap::new(),
            state,
            missing: None,
            bad: None,
            strict,
            running: 0,
        }
    }

    /// All rows, in the order of points and replicates.
    fn into_rows(self) -> Vec<Row> {
        let points = self.points.into_iter();
        points.flat_map(|point| point.rows.into_values()).collect()
    }

    /// The next run: first those that are needed for sure, in their order; then those that may be.
    fn next(&mut self, sweep: &Sweep) -> Option<Job> {
        let sure = |point: &Point| match &sweep.stop {
            None => sweep.replicates,
            Some(rule) => (point.known + 1).max(rule.at_least).min(sweep.replicates),
        };
        let job = |points: &[Point], most: &dyn Fn(&Point) -> u32| {
            let mut open = points.iter().enumerate().skip(self.open);
            open.find(|(_, point)| point.decided.is_none() && point.begun < most(point))
                .map(|(index, point)| Job {
                    point: index,
                    replicate: point.begun,
                })
        };
        let job = job(&self.points, &sure).or_else(|| job(&self.points, &|_| sweep.replicates))?;
        let is_behind = |bad| bad < (job.point, job.replicate);
        if self.strict && self.bad.is_some_and(is_behind) {
            return None;
        }
        self.points[job.point].begun += 1;
        self.running += 1;
        Some(job)
    }

    /// Takes a run that is done.
    fn take(&mut self, sweep: &Sweep, row: Row) {
        let index = row.point;
        let point = &mut self.points[index];
        if point.decided.is_some() {
            // It was begun in case that it was needed.
            return;
        }
        point.rows.insert(row.replicate, row);
        while let (None, Some(row)) = (point.decided, point.rows.get(&point.known)) {
            if row.is_error() {
                self.state.errors += 1;
                let key = (index, point.known);
                self.bad = Some(self.bad.map_or(key, |bad| bad.min(key)));
            }
            point.known += 1;
            self.state.done += 1;
            if enough(sweep, &point.rows, point.known) {
                point.decided = Some(point.known);
                let known = point.known;
                point.rows.retain(|replicate, _| *replicate < known);
                self.prepared.remove(&index);
                self.state.most -= u64::from(sweep.replicates - known);
            }
        }
        let is_decided = |point: &Point| point.decided.is_some();
        while self.points.get(self.open).is_some_and(is_decided) {
            self.open += 1;
        }
    }
}

/// Carries out a sweep on `workers` threads. `look` is called now and then on this thread, with how far it is; the
/// sweep is cancelled where it says false. `strict`: it ends at the first row that is not as it should be.
///
/// # Errors
/// Something is missing that all points need.
pub fn carry_out(
    sweep: &Sweep,
    workers: NonZero<usize>,
    strict: bool,
    look: &mut dyn FnMut(State) -> bool,
) -> Result<End, Missing> {
    let artifacts = Artifacts::chosen();
    let shared = Mutex::new(Shared::of(sweep, strict));
    let changed = Condvar::new();
    let cancel = Arc::new(AtomicBool::new(false));
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        while let Some((job, slot)) = next_job(sweep, &shared, &changed, &cancel) {
            // The others do not wait for a thread that a defect has ended.
            let row = catch_unwind(AssertUnwindSafe(|| {
                carry_out_one(sweep, job, &slot, &artifacts, &cancel)
            }));
            let mut now = lock();
            now.running -= 1;
            match row {
                Ok(Ok(Some(row))) => now.take(sweep, row),
                Ok(Ok(None)) => {}
                Ok(Err(missing)) => {
                    now.missing.get_or_insert(missing);
                    cancel.store(true, Ordering::Relaxed);
                }
                Err(panic) => {
                    cancel.store(true, Ordering::Relaxed);
                    drop(now);
                    changed.notify_all();
                    resume_unwind(panic);
                }
            }
            changed.notify_all();
        }
        changed.notify_all();
    };
    thread::scope(|scope| {
        let threads = workers.get().min(lock().state.most as usize);
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
            let state = lock().state;
            if !look(state) {
                cancel.store(true, Ordering::Relaxed);
                changed.notify_all();
            }
            let guard = lock();
            drop(changed.wait_timeout(guard, LOOK));
        }
    });
    let mut shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !look(shared.state) {
        cancel.store(true, Ordering::Relaxed);
    }
    if let Some(missing) = shared.missing {
        return Err(missing);
    }
    if let (true, Some((point, replicate))) = (strict, shared.bad)
        && let Some(row) = shared.points[point].rows.remove(&replicate)
    {
        return Ok(End::Strict(Box::new(row)));
    }
    if cancel.load(Ordering::Relaxed) {
        return Ok(End::Cancelled);
    }
    Ok(End::Rows(shared.into_rows()))
}

/// Waits for a run to carry out. `None`: there is none any more.
fn next_job(
    sweep: &Sweep,
    shared: &Mutex<Shared>,
    changed: &Condvar,
    cancel: &AtomicBool,
) -> Option<(Job, Slot)> {
    let mut now: MutexGuard<'_, Shared> = shared.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if cancel.load(Ordering::Relaxed) {
            return None;
        }
        if let Some(job) = now.next(sweep) {
            let slot = Arc::clone(now.prepared.entry(job.point).or_default());
            return Some((job, slot));
        }
        if now.running == 0 {
            return None;
        }
        now = changed.wait(now).unwrap_or_else(PoisonError::into_inner);
    }
}

/// The row of a run; of runs of one point, the first builds its configuration and the others wait for it.
fn carry_out_one(
    sweep: &Sweep,
    job: Job,
    slot: &Slot,
    artifacts: &Artifacts,
    cancel: &Arc<AtomicBool>,
) -> Result<Option<Row>, Missing> {
    let prepared = {
        let mut built = slot.lock().unwrap_or_else(PoisonError::into_inner);
        match &*built {
            Some(prepared) => Arc::clone(prepared),
            None => {
                let prepared = Arc::new(Prepared::of(sweep, job.point, artifacts)?);
                *built = Some(Arc::clone(&prepared));
                prepared
            }
        }
    };
    Ok(prepared.row(sweep, job.replicate, cancel))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::sweep::run::REFUSED;

    /// The row of a run that takes no board: point 2 is refused, and of the others the first varies less.
    fn row(sweep: &Sweep, job: Job) -> Row {
        let Job { point, replicate } = job;
        let seed = sweep.seed(sweep.settings.seed, point, replicate);
        let is_refused = point == 2;
        let mut random = fastrand::Rng::with_seed(seed);
        let spread = if point == 0 { 3.0 } else { 30.0 };
        let value = 100.0 + spread * random.f64();
        Row {
            point,
            replicate,
            profile: "soc".to_owned(),
            seed,
            verdict: if is_refused { REFUSED } else { "good" },
            message: is_refused.then(|| "no room".to_owned()),
            virtual_seconds: None,
            configuration_hash: format!("{point}"),
            image_hash: None,
            trace_hash: None,
            taken: vec![if is_refused {
                Err("there was no run".to_owned())
            } else {
                Ok(value)
            }],
            is_settled: is_refused,
        }
    }

    /// A sweep whose runs end in an order that follows from `order`, as those of so many threads may.
    pub fn simulated(sweep: &Sweep, workers: NonZero<usize>, order: u64) -> Vec<Row> {
        let mut shared = Shared::of(sweep, false);
        let mut random = fastrand::Rng::with_seed(order);
        let mut running: Vec<Job> = Vec::new();
        loop {
            while running.len() < workers.get()
                && let Some(job) = shared.next(sweep)
            {
                running.push(job);
            }
            if running.is_empty() {
                return shared.into_rows();
            }
            let job = running.swap_remove(random.usize(..running.len()));
            shared.take(sweep, row(sweep, job));
        }
    }

    #[test]
    fn how_far_it_is_is_said_in_words() {
        let now = Instant::now();
        let since = now.checked_sub(Duration::from_secs(10)).unwrap_or(now);
        let state = State {
            done: 20,
            most: 60,
            errors: 1,
            since,
        };
        let text = state.text();
        assert!(text.starts_with("20 of 60 runs, 2.0 a second, 2"), "{text}");
        assert!(text.ends_with(" s left, 1 not good"), "{text}");
        assert_eq!(duration(118.5), "119 s");
        assert_eq!(duration(200.0), "4 min");
        assert_eq!(duration(7201.0), "3 h");
    }
}
