//! Many runs, several at the same time: which thread does what makes no difference to what comes of them.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::progress::Progress;

use super::run::Unfit;

/// Carries out `run` for each seed from `first` on, `count` of them, on `jobs` threads. Gives what came of each, in
/// their order.
///
/// # Errors
/// A run's own: that of the lowest seed which has failed.
pub fn of_seeds<T: Send>(
    first: u64,
    count: u64,
    jobs: NonZero<usize>,
    run: impl Fn(u64) -> Result<T, Unfit> + Sync,
) -> Result<Vec<T>, Unfit> {
    let progress = Progress::start("running");
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let failed = AtomicBool::new(false);
    let all = Mutex::new(Vec::new());
    let work = || {
        while !failed.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            let seed = first.wrapping_add(number);
            let done_now = done.load(Ordering::Relaxed);
            progress.status(format!("{done_now} of {count} systems done; seed {seed}"));
            let came = run(seed);
            failed.fetch_or(came.is_err(), Ordering::Relaxed);
            done.fetch_add(1, Ordering::Relaxed);
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((number, came));
        }
    };
    thread::scope(|scope| {
        for _ in 0..count.min(jobs.get() as u64) {
            scope.spawn(work);
        }
    });
    drop(progress);
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, came)| came).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_seeds() {
        let jobs = NonZero::new(3).expect("it is not zero");
        let all = of_seeds(40, 20, jobs, |seed| {
            // Later ones end before earlier ones.
            thread::sleep(std::time::Duration::from_millis((seed * 7) % 5));
            Ok(seed)
        });
        let all = all.expect("none fails");
        assert_eq!(all, (40..60).collect::<Vec<u64>>());
        let failed = of_seeds(0, 20, jobs, |seed| match seed {
            0..7 => Ok(seed),
            _ => Err(Unfit::Other(miette::miette!("seed {seed}"))),
        });
        let Err(Unfit::Other(report)) = failed else {
            panic!("it fails");
        };
        assert_eq!(report.to_string(), "seed 7");
    }
}
