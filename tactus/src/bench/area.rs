//! What the I/O hypervisor and timed I/O take in hardware, at the points that `fabric/flow.py sweep` synthesises, and
//! how well BlueIO's equation 11 says it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;

use super::experiment::Extent;

/// A metric's source.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum AreaSource {
    /// One point.
    Point(PointSource),
    /// How well the equation fits many.
    Fit(FitSource),
}

/// What one point takes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointSource {
    /// How many CPUs.
    pub cpus: u32,
    /// The devices, by the name that `fabric/synth/sweep.toml` gives them.
    pub devices: String,
    /// Of what.
    pub what: What,
}

/// How much of the points' variance the equation explains, r².
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitSource {
    /// Of what.
    pub fit: What,
    /// The points' numbers of CPUs.
    pub cpus: Vec<u32>,
    /// The same with `--quick`.
    pub quick_cpus: Vec<u32>,
}

/// What is counted, in the units of `fabric/flow.py synth`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// Look-up tables.
    Lut,
    /// Flip-flops.
    Ff,
    /// Block RAMs of 36 Kibit.
    Bram,
    /// Gates of the OSU library, without memories.
    Gates,
}

/// What was synthesised.
#[derive(Clone, Debug, Deserialize)]
struct Point {
    cpus: u32,
    devices: String,
    lut: Option<f64>,
    ff: Option<f64>,
    bram: Option<f64>,
    gates: Option<f64>,
}

impl Point {
    fn of(&self, what: What) -> Option<f64> {
        match what {
            What::Lut => self.lut,
            What::Ff => self.ff,
            What::Bram => self.bram,
            What::Gates => self.gates,
        }
    }

    /// What the terms of the equation are multiplied by: C(m = 1, n = 0), each of the n devices, C_GCPU and C_BP. None
    /// of points that do not add the devices in its order.
    fn terms(&self) -> Option<[f64; TERMS]> {
        let devices = self.devices.parse().ok().filter(|n| *n <= DEVICES)?;
        let mut terms = [0.0; TERMS];
        terms[0] = 1.0;
        terms[1..=devices].fill(1.0);
        terms[DEVICES + 1] = f64::from(self.cpus) - 1.0;
        terms[DEVICES + 2] = f64::from(self.cpus) * devices as f64;
        Some(terms)
    }
}

const DEVICES: usize = 4;
const TERMS: usize = DEVICES + 3;

/// Why there is no figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The point was not synthesised since its sources changed, and this form of the experiment does not.
    NotSynthesised(String),
    /// There is no such point, or it cannot be synthesised.
    Failed(String),
}

impl From<String> for Error {
    fn from(reason: String) -> Self {
        Self::Failed(reason)
    }
}

/// Whether points are synthesised for it: with `--quick` only those count that have been.
fn synthesises(extent: Extent) -> bool {
    extent != Extent::Quick
}

/// That a point has no such figure.
fn absent(what: What, extent: Extent) -> Error {
    if synthesises(extent) {
        return Error::Failed(format!("the point was not synthesised to {what:?}"));
    }
    Error::NotSynthesised(
        "the fabric is not synthesised with its present sources; run `make synth`, whose results this form reads"
            .to_owned(),
    )
}

/// The figure, and what else there is to say of it.
///
/// # Errors
/// There is none; says why.
pub fn measure(
    source: &AreaSource,
    root: &Path,
    extent: Extent,
) -> Result<(f64, Option<String>), Error> {
    match source {
        AreaSource::Point(wanted) => {
            let points = points(root, wanted.cpus, extent)?;
            let point = points.iter().find(|point| point.devices == wanted.devices);
            let point = point.ok_or_else(|| format!("there are no devices `{}`", wanted.devices));
            let figure = point?.of(wanted.what);
            Ok((figure.ok_or_else(|| absent(wanted.what, extent))?, None))
        }
        AreaSource::Fit(wanted) => {
            let cpus = match extent {
                Extent::Quick => &wanted.quick_cpus,
                Extent::Usual | Extent::Full => &wanted.cpus,
            };
            let mut rows = Vec::new();
            for cpus in cpus {
                for point in points(root, *cpus, extent)? {
                    let place = format!("{cpus} CPUs, {} devices", point.devices);
                    if let Some(terms) = point.terms() {
                        let figure = point.of(wanted.fit);
                        let figure = figure.ok_or_else(|| absent(wanted.fit, extent))?;
                        rows.push((terms, figure, place));
                    }
                }
            }
            let samples: Vec<_> = rows.iter().map(|(terms, y, _)| (*terms, *y)).collect();
            let fit = Fit::of(&samples);
            let fit = fit.ok_or_else(|| "the points do not determine the equation".to_owned())?;
            let off = |(terms, y, place): &([f64; TERMS], f64, String)| {
                (y - fit.at(terms), place.clone())
            };
            let worst = rows.iter().map(off);
            let worst = worst.max_by(|(a, _), (b, _)| a.abs().total_cmp(&b.abs()));
            let note = worst.map(|(residual, place)| {
                let c = fit.coefficients.map(f64::round);
                let [base, uart, flash, vga, ethernet, cpu, buffer] = c;
                format!(
                    "C = {base} + UART {uart} + flash {flash} + VGA {vga} + Ethernet {ethernet} + (m - 1) {cpu} + m n {buffer}; residuals: root of the mean square {:.0}, most {residual:+.0} at {place}",
                    fit.residual
                )
            });
            Ok((fit.r2, note))
        }
    }
}

/// All points of so many CPUs: asked for once.
fn points(root: &Path, cpus: u32, extent: Extent) -> Result<Vec<Point>, String> {
    static KNOWN: Mutex<BTreeMap<u32, Result<Vec<Point>, String>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known
        .entry(cpus)
        .or_insert_with(|| sweep(root, cpus, synthesises(extent)))
        .clone()
}

fn sweep(root: &Path, cpus: u32, synthesise: bool) -> Result<Vec<Point>, String> {
    let program = root.join("fabric/flow.py");
    let cached = (!synthesise).then_some("--cached");
    let output = Command::new(&program)
        .args(["sweep", "--json"])
        .args(cached)
        .arg(cpus.to_string())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    if !output.status.success() {
        return Err(format!("{} sweep failed", program.display()));
    }
    parse(&output.stdout)
}

fn parse(text: &[u8]) -> Result<Vec<Point>, String> {
    serde_json::from_slice(text).map_err(|error| format!("the sweep's points: {error}"))
}

/// A linear function of some terms, by least squares.
#[derive(Clone, Copy, Debug)]
struct Fit<const N: usize> {
    coefficients: [f64; N],
    /// Root of the mean square.
    residual: f64,
    /// The part of the variance that it explains.
    r2: f64,
}

impl<const N: usize> Fit<N> {
    /// The one that is closest to what the terms gave; `None` where several are, or all gave the same.
    fn of(samples: &[([f64; N], f64)]) -> Option<Self> {
        // The normal equations, with their right side.
        let mut matrix = [[0.0; N]; N];
        let mut right = [0.0; N];
        for (terms, y) in samples {
            for i in 0..N {
                for j in 0..N {
                    matrix[i][j] += terms[i] * terms[j];
                }
                right[i] += terms[i] * y;
            }
        }
        let coefficients = solve(matrix, right)?;
        let mut fit = Self {
            coefficients,
            residual: 0.0,
            r2: 0.0,
        };
        let count = samples.len() as f64;
        let mean = samples.iter().map(|(_, y)| y).sum::<f64>() / count;
        let all: f64 = samples.iter().map(|(_, y)| (y - mean).powi(2)).sum();
        let left: f64 = samples.iter().map(|(t, y)| (y - fit.at(t)).powi(2)).sum();
        if all == 0.0 {
            return None;
        }
        fit.residual = (left / count).sqrt();
        fit.r2 = 1.0 - left / all;
        Some(fit)
    }

    fn at(&self, terms: &[f64; N]) -> f64 {
        let products = terms.iter().zip(&self.coefficients);
        products.map(|(term, c)| term * c).sum()
    }
}

/// The solution of so many linear equations, by elimination with the greatest pivot; `None` where there is not one.
fn solve<const N: usize>(mut matrix: [[f64; N]; N], mut right: [f64; N]) -> Option<[f64; N]> {
    let scale = matrix
        .iter()
        .flatten()
        .fold(0.0, |a: f64, b| a.max(b.abs()));
    for column in 0..N {
        let rows = column..N;
        let pivot = rows.max_by(|a, b| {
            let (a, b) = (matrix[*a][column].abs(), matrix[*b][column].abs());
            a.total_cmp(&b)
        })?;
        if matrix[pivot][column].abs() <= scale * 1e-12 {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let above = matrix[column];
        for row in column + 1..N {
            let factor = matrix[row][column] / above[column];
            for (value, above) in matrix[row].iter_mut().zip(above) {
                *value -= factor * above;
            }
            right[row] -= factor * right[column];
        }
    }
    for row in (0..N).rev() {
        for k in row + 1..N {
            right[row] -= matrix[row][k] * right[k];
        }
        right[row] /= matrix[row][row];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CPUS: [u32; 3] = [1, 4, 16];

    fn point(cpus: u32, devices: &str, lut: f64) -> Point {
        Point {
            cpus,
            devices: devices.to_owned(),
            lut: Some(lut),
            ff: None,
            bram: None,
            gates: None,
        }
    }

    fn all_terms() -> Vec<[f64; TERMS]> {
        let sets = CPUS.map(|cpus| (0..=DEVICES).map(move |n| point(cpus, &n.to_string(), 0.0)));
        let points = sets.into_iter().flatten();
        points.filter_map(|point| point.terms()).collect()
    }

    #[test]
    fn points_are_what_the_flow_prints() {
        let text = br#"[{"cpus": 2, "devices": "uart_vga", "lut": 10, "ff": 20, "bram": 1.5, "dsp": 0},
            {"cpus": 2, "devices": "1", "lut": 8, "ff": 9, "bram": 1, "dsp": 0, "gates": 70, "ram_bits": 5,
             "gates_by_kind": {"AND": 70}}]"#;
        let points = parse(text).expect("it is in order");
        assert_eq!(points[0].of(What::Bram), Some(1.5));
        assert_eq!(points[0].of(What::Gates), None);
        assert_eq!(points[1].of(What::Gates), Some(70.0));
        assert!(
            points[0].terms().is_none(),
            "it is not in the order of the equation"
        );
        assert_eq!(points[1].terms(), Some([1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 2.0]));
        assert!(parse(b"[{}]").is_err());
    }

    #[test]
    fn what_is_not_synthesised_is_left_out_without_synthesis() {
        let points = parse(br#"[{"cpus": 2, "devices": "1"}]"#).expect("it is in order");
        assert_eq!(points[0].of(What::Lut), None);
        assert!(matches!(
            absent(What::Lut, Extent::Quick),
            Error::NotSynthesised(reason) if reason.contains("`make synth`")
        ));
        let failed = absent(What::Gates, Extent::Usual);
        assert!(matches!(failed, Error::Failed(_)), "{failed:?}");
    }

    #[test]
    fn sources_are_points_or_fits() {
        let source = |text: &str| toml::from_str::<AreaSource>(text);
        let point = source("cpus = 16\ndevices = \"4\"\nwhat = \"ff\"");
        assert!(matches!(point, Ok(AreaSource::Point(p)) if p.cpus == 16 && p.what == What::Ff));
        let fit = source("fit = \"lut\"\ncpus = [1, 2]\nquick_cpus = [1]");
        assert!(matches!(fit, Ok(AreaSource::Fit(f)) if f.cpus == [1, 2] && f.quick_cpus == [1]));
        assert!(source("cpus = 16\ndevices = \"4\"\nwhat = \"watts\"").is_err());
        assert!(source("cpus = 16\nwhat = \"ff\"").is_err());
    }

    #[test]
    fn too_few_points_fit_anything_and_so_nothing() {
        let samples: Vec<_> = all_terms()
            .into_iter()
            .take(TERMS - 1)
            .map(|t| (t, 1.0))
            .collect();
        assert!(Fit::of(&samples).is_none());
        let same: Vec<_> = all_terms().into_iter().map(|t| (t, 7.0)).collect();
        assert!(Fit::of(&same).is_none(), "there is nothing to explain");
    }

    #[test]
    fn what_grows_with_the_square_is_not_linear() {
        let terms = all_terms();
        let samples = terms.iter().map(|t| (*t, t[DEVICES + 2].powi(2)));
        let fit = Fit::of(&samples.collect::<Vec<_>>()).expect("the points determine it");
        assert!(fit.r2 < 0.99, "{}", fit.r2);
    }

    proptest! {
        #[test]
        fn what_is_linear_is_found(coefficients in prop::array::uniform7(1.0..5000.0f64)) {
            let exact = Fit { coefficients, residual: 0.0, r2: 1.0 };
            let samples: Vec<_> = all_terms().into_iter().map(|t| (t, exact.at(&t))).collect();
            let fit = Fit::of(&samples).expect("the points determine it");
            for (found, wanted) in fit.coefficients.iter().zip(coefficients) {
                prop_assert!((found - wanted).abs() < 1e-6 * 5000.0);
            }
            prop_assert!(fit.r2 > 1.0 - 1e-9 && fit.residual < 1e-3);
        }

        /// No other function is closer: the residuals are at right angles to each term.
        #[test]
        fn what_is_not_linear_is_met_as_closely_as_can_be(ys in prop::collection::vec(0.0..50000.0f64, 15)) {
            let samples: Vec<_> = all_terms().into_iter().zip(ys).collect();
            let fit = Fit::of(&samples).expect("the points determine it");
            for term in 0..TERMS {
                let along: f64 = samples.iter().map(|(t, y)| t[term] * (y - fit.at(t))).sum();
                let size: f64 = samples.iter().map(|(t, y)| (t[term] * y).abs()).sum();
                prop_assert!(along.abs() <= 1e-8 * (1.0 + size), "{along}");
            }
            prop_assert!((-1e-9..=1.0).contains(&fit.r2));
        }
    }
}
