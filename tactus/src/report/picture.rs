//! A histogram of a quantity's samples, its phases over each other, as SVG and PNG.

use std::path::Path;
use std::sync::Once;

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use plotters::style::FontStyle;

use super::bins::Bins;
use super::samples::Series;
use super::unit::figure;

/// Size of a picture in pixels.
pub(super) const SIZE: (u32, u32) = (1200, 680);
/// Most bins of a picture: more would be narrower than a few pixels.
const BINS: u64 = 120;
/// Where the logarithmic count axis begins, so that a bin with one sample has a height.
const FLOOR: f64 = 0.5;
/// Name that the embedded font is registered under; an SVG's reader falls back on its own sans-serif.
pub(super) const FONT: &str = "sans-serif";

/// Colours that differ in lightness as well (Okabe and Ito's palette, which colour-blind people can tell apart).
pub(super) const COLOURS: [RGBColor; 5] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
];

/// Why a picture could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("{path}: the picture could not be drawn: {reason}")]
pub struct Error {
    path: String,
    reason: String,
}

impl Error {
    pub(super) fn new(path: &Path, reason: impl ToString) -> Self {
        Self {
            path: path.display().to_string(),
            reason: reason.to_string(),
        }
    }
}

/// A histogram to draw.
#[derive(Clone, Debug)]
pub struct Picture<'a> {
    /// What it shows.
    pub title: String,
    /// The horizontal axis: quantity and unit.
    pub axis: String,
    /// The phases' names and samples, all in one unit.
    pub phases: Vec<(&'a str, &'a Series)>,
    /// What turns samples into figures of the axis.
    pub factor: f64,
    /// Values on the horizontal axis that are marked by a line, and what they are.
    pub marks: Vec<(&'a str, f64)>,
}

impl Picture<'_> {
    /// Draws it at `path` as SVG.
    pub fn svg(&self, path: &Path) -> Result<(), Error> {
        self.draw(SVGBackend::new(path, SIZE), path)
    }

    /// Draws it at `path` as PNG.
    pub fn png(&self, path: &Path) -> Result<(), Error> {
        self.draw(BitMapBackend::new(path, SIZE), path)
    }

    fn draw<B: DrawingBackend>(&self, backend: B, path: &Path) -> Result<(), Error> {
        let fail = |reason: String| Error::new(path, reason);
        register_font();
        let series: Vec<&Series> = self.phases.iter().map(|(_, series)| *series).collect();
        let bins =
            Bins::of(&series, BINS).ok_or_else(|| fail("there are no samples".to_owned()))?;
        let first = bins.edges.first().copied().unwrap_or(0) as f64 * self.factor;
        let last = bins.edges.last().copied().unwrap_or(1) as f64 * self.factor;
        let marked = self.marks.iter().map(|(_, value)| *value);
        let last = marked.fold(last, |last, value| last.max(1.02 * value));
        let area = backend.into_drawing_area();
        let drawn = if bins.geometric {
            // The logarithm of zero has no place; values below one are drawn at one.
            let from = first.max(self.factor);
            self.draw_on(&area, (from..last).log_scale(), &bins, from)
        } else {
            let margin = (last - first) * 0.02;
            self.draw_on(&area, first - margin..last + margin, &bins, f64::MIN)
        };
        drawn
            .and_then(|()| area.present())
            .map_err(|error| fail(error.to_string()))
    }

    fn draw_on<B, X>(
        &self,
        area: &DrawingArea<B, plotters::coord::Shift>,
        x: X,
        bins: &Bins,
        least_x: f64,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>>
    where
        B: DrawingBackend,
        X: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
    {
        area.fill(&WHITE)?;
        let top = (bins.highest() as f64 * 2.0).max(10.0);
        let mut chart = ChartBuilder::on(area)
            .margin(20)
            .caption(&self.title, (FONT, 26))
            .x_label_area_size(56)
            .y_label_area_size(84)
            .build_cartesian_2d(x, (FLOOR..top).log_scale())?;
        chart
            .configure_mesh()
            .x_desc(&self.axis)
            .y_desc("samples (logarithmic)")
            .axis_desc_style((FONT, 19))
            .label_style((FONT, 16))
            .x_label_formatter(&|value| figure(*value))
            .y_label_formatter(&|value| figure(*value))
            .light_line_style(BLACK.mix(0.06))
            .bold_line_style(BLACK.mix(0.15))
            .draw()?;
        for ((name, series), (counts, colour)) in self
            .phases
            .iter()
            .zip(bins.counts.iter().zip(COLOURS.iter().cycle()))
        {
            let edge = |bin: usize| (bins.edges[bin] as f64 * self.factor).max(least_x);
            let bars = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            let legend = match series.summary(self.factor) {
                Some(s) => format!(
                    "{name}: {} samples, p99 {}, max {}",
                    figure(s.samples as f64),
                    figure(s.p99),
                    figure(s.max)
                ),
                None => format!("{name}: no samples"),
            };
            chart
                .draw_series(bars.map(|(bin, count)| {
                    Rectangle::new(
                        [(edge(bin), FLOOR), (edge(bin + 1), *count as f64)],
                        colour.mix(0.35).filled(),
                    )
                }))?
                .label(legend)
                .legend(|(x, y)| {
                    Rectangle::new([(x, y - 6), (x + 18, y + 6)], colour.mix(0.6).filled())
                });
            // The outline tells overlaid phases apart where one covers the other.
            let mut outline = Vec::with_capacity(2 * counts.len() + 2);
            outline.push((edge(0), FLOOR));
            for (bin, count) in counts.iter().enumerate() {
                let height = (*count as f64).max(FLOOR);
                outline.extend([(edge(bin), height), (edge(bin + 1), height)]);
            }
            outline.push((edge(counts.len()), FLOOR));
            chart.draw_series([PathElement::new(outline, colour.stroke_width(2))])?;
        }
        for ((name, value), colour) in self.marks.iter().zip(COLOURS.iter().cycle().skip(1)) {
            let line = PathElement::new([(*value, FLOOR), (*value, top)], colour.stroke_width(3));
            chart
                .draw_series([line])?
                .label(format!("{name}: {}", figure(*value)))
                .legend(|(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(3)));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .label_font((FONT, 17))
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .margin(12)
            .draw()
    }
}

/// Gives the drawing library its font: one that comes with this program, so that pictures look alike and
/// can be drawn where no fonts are installed.
pub(super) fn register_font() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Fails only for a file that is no font.
        let _ = plotters::style::register_font(
            FONT,
            FontStyle::Normal,
            epaint_default_fonts::UBUNTU_LIGHT,
        );
    });
}
