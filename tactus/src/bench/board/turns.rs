//! Measuring in turns: A B A B rather than A A B B, so that what slows the host for a while slows all that is compared.

use std::thread;

use miette::miette;

use super::experiment::Measured;
use super::host::{Load, Watch};
use super::sample::Sample;
use crate::progress::Progress;

/// CPUs that others may use before it is remarked.
const OTHERS_MAX: f64 = 0.15;

/// The samples of some turns: for each turn one of each that is measured.
#[derive(Clone, Debug, Default)]
pub struct Measurements {
    of: Vec<Measured>,
    turns: Vec<Vec<Sample>>,
}

impl Measurements {
    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// The median over the turns of what `figure` makes of these measurements in one turn; `None` when it makes
    /// nothing of one, or one was not measured.
    pub fn median<const N: usize>(
        &self,
        of: [&Measured; N],
        figure: impl Fn([&Sample; N]) -> Option<f64>,
    ) -> Option<f64> {
        let mut places = [0; N];
        for (place, wanted) in places.iter_mut().zip(of) {
            *place = self.of.iter().position(|known| known == wanted)?;
        }
        let figures: Option<Vec<f64>> = self
            .turns
            .iter()
            .map(|samples| figure(places.map(|place| &samples[place])))
            .collect();
        median(figures?)
    }

    /// How many runs had the trace hash of the first; `None` where there are no hashes.
    pub fn equal_hashes(&self, of: &Measured) -> Option<u32> {
        let place = self.of.iter().position(|known| known == of)?;
        let hashes: Option<Vec<u64>> = self
            .turns
            .iter()
            .map(|samples| samples[place].trace_hash)
            .collect();
        let hashes = hashes?;
        let first = hashes.first()?;
        Some(hashes.iter().filter(|hash| *hash == first).count() as u32)
    }

    /// All samples with what they are of.
    fn all(&self) -> impl Iterator<Item = (&Measured, &Sample)> {
        self.turns.iter().flat_map(|turn| self.of.iter().zip(turn))
    }
}

/// The middle one; of an even number, the mean of the middle two. `None` of none.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    Some((values[middle - 1] + upper) / 2.0)
}

/// Measures each of these in turn, `times` times. What each run took goes to stderr, and a remark when others kept
/// the host busy.
///
/// # Errors
/// Those of a run.
pub fn measure(
    of: &[Measured],
    times: u32,
    mut run: impl FnMut(&Measured) -> miette::Result<Sample>,
) -> miette::Result<Measurements> {
    let watch = Watch::begin();
    let turns: miette::Result<_> = (0..times)
        .map(|turn| one_turn(of, turn, times, &mut run))
        .collect();
    if times > 0
        && let Some(others) = watch.others()
        && others > OTHERS_MAX
    {
        eprintln!(
            "remark: others used {others:.2} CPUs of this host meanwhile: figures of time may be off"
        );
    }
    Ok(Measurements {
        of: of.to_vec(),
        turns: turns?,
    })
}

/// The same while the host is given more and less to do besides: nothing in every third turn, in the others as many
/// busy threads as it has CPUs, and twice as many.
///
/// # Errors
/// Those of a run.
pub fn measure_loaded(
    of: &[Measured],
    times: u32,
    mut run: impl FnMut(&Measured) -> miette::Result<Sample>,
) -> miette::Result<Measurements> {
    let cpus = thread::available_parallelism().map_or(1, |n| n.get());
    let turns: miette::Result<_> = (0..times)
        .map(|turn| {
            let _load = Load::start(busy_threads(turn, cpus));
            one_turn(of, turn, times, &mut run)
        })
        .collect();
    Ok(Measurements {
        of: of.to_vec(),
        turns: turns?,
    })
}

/// Threads that compete with a turn.
pub(super) fn busy_threads(turn: u32, cpus: usize) -> usize {
    turn as usize % 3 * cpus
}

fn one_turn(
    of: &[Measured],
    turn: u32,
    times: u32,
    run: &mut impl FnMut(&Measured) -> miette::Result<Sample>,
) -> miette::Result<Vec<Sample>> {
    of.iter()
        .map(|measured| {
            let what = format!("{measured}, {} of {times}", turn + 1);
            let progress = Progress::start(what.clone());
            let sample = run(measured)?;
            drop(progress);
            eprintln!("{what}: {}", description(&sample));
            Ok(sample)
        })
        .collect()
}

/// A sample for people.
fn description(sample: &Sample) -> String {
    let seconds = sample.time.cpu.as_secs_f64();
    let wall = sample.time.wall.as_secs_f64();
    let mut text = format!("{seconds:.3} s, {wall:.3} s on the wall's clock");
    if let Some(instructions) = sample.instructions {
        let mips = instructions as f64 / seconds / 1e6;
        text += &format!(", {instructions} instructions, {mips:.1} MIPS");
    }
    text
}

/// Checks that a task computed the same on all machines, every time.
///
/// # Errors
/// It did not: a machine computes wrongly, and its speed means nothing.
pub fn agree(all: &[Measurements]) -> miette::Result<()> {
    let samples: Vec<_> = all.iter().flat_map(Measurements::all).collect();
    for (measured, sample) in &samples {
        let first = samples
            .iter()
            .find(|(other, _)| other.task == measured.task);
        if let Some((other, reference)) = first
            && reference.checksum != sample.checksum
        {
            return Err(miette!(
                "`{other}` and `{measured}` computed different results"
            ));
        }
    }
    Ok(())
}
