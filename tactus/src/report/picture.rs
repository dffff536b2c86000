//! How the samples of a quantity are distributed, each phase as an outline of its own, as SVG and PNG: which share of
//! the samples is at or above a value, both axes so that the few worst samples are seen as well as the many others.

use std::path::Path;
use std::sync::Once;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::FontStyle;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::bitmap;
use super::samples::Series;
use super::unit::figure;

/// Width and height of a picture in pixels, without its legend.
pub(super) const SIZE: (u32, u32) = (1200, 600);
/// Height of title and subtitle.
pub(super) const HEAD: u32 = 76;
/// Height of a line of the legend.
pub(super) const LEGEND_LINE: u32 = 28;
/// Space around everything.
const MARGIN: i32 = 24;
/// Ratio of greatest to least value from which the horizontal axis is logarithmic.
const LOGARITHMIC_FROM: f64 = 100.0;
/// What share of samples the 99th percentile leaves above it.
const BEYOND_P99: f64 = 0.01;
/// Name that the embedded font is registered under; an SVG's reader falls back on its own sans-serif.
pub(super) const FONT: &str = "sans-serif";

/// Colours that colour-blind people can tell apart, and that differ in lightness as well (of Okabe and Ito's palette).
pub(super) const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];
/// Text and lines of less weight.
pub(super) const GREY: RGBColor = RGBColor(96, 100, 108);
/// Deadlines and other values that are marked.
const MARK: RGBColor = RGBColor(24, 24, 28);

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

/// A distribution to draw.
#[derive(Clone, Debug)]
pub struct Picture<'a> {
    /// What it shows.
    pub title: String,
    /// Where it comes from: commit, board, pace.
    pub subtitle: String,
    /// The horizontal axis: quantity and unit.
    pub axis: String,
    /// The unit of the figures in the legend.
    pub unit: &'a str,
    /// The phases' names and samples, all in one unit.
    pub phases: Vec<(&'a str, &'a Series)>,
    /// What turns samples into figures of the axis.
    pub factor: f64,
    /// Values on the horizontal axis that are marked by a line, and what they are.
    pub marks: Vec<(&'a str, f64)>,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stroke {
    Solid,
    Dashed,
    Dotted,
}

impl Stroke {
    /// That of the series with this number: colours begin again after the sixth, with other dashes, and neighbours
    /// differ in dashes as well.
    pub(super) fn of(series: usize) -> Self {
        match series % (2 * COLOURS.len()) {
            0..3 => Self::Solid,
            3..6 => Self::Dashed,
            _ => Self::Dotted,
        }
    }

    /// Draws a line into an area.
    pub(super) fn draw<B, C>(
        self,
        area: &DrawingArea<B, C>,
        points: Vec<C::From>,
        style: ShapeStyle,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>>
    where
        B: DrawingBackend,
        C: plotters::coord::CoordTranslate,
        C::From: Clone,
    {
        let dashes = match self {
            Self::Solid => return area.draw(&PathElement::new(points, style)),
            Self::Dashed => (9, 5),
            Self::Dotted => (3, 4),
        };
        area.draw(&DashedPathElement::new(points, dashes.0, dashes.1, style))
    }
}

/// A line of the legend: how its series is drawn, and what stands in its columns.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) style: ShapeStyle,
    pub(super) stroke: Stroke,
    pub(super) cells: Vec<String>,
}

/// Draws title and subtitle, and the legend below everything; gives the area between them.
pub(super) fn frame<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    title: &str,
    subtitle: &str,
    head: &[&str],
    entries: &[Entry],
) -> Result<DrawingArea<B, Shift>, DrawingAreaErrorKind<B::ErrorType>> {
    area.fill(&WHITE)?;
    let (top, rest) = area.split_vertically(HEAD);
    let text = |size: i32, colour: &RGBColor| (FONT, size).into_font().color(colour);
    top.draw(&Text::new(title.to_owned(), (MARGIN, 16), text(26, &MARK)))?;
    top.draw(&Text::new(
        subtitle.to_owned(),
        (MARGIN, 48),
        text(16, &GREY),
    ))?;
    let (width, height) = rest.dim_in_pixel();
    let lines = entries.len() as u32 + u32::from(!head.is_empty());
    let (chart, legend) = rest.split_vertically(height - lines * LEGEND_LINE - MARGIN as u32 / 2);
    let columns = entries
        .iter()
        .map(|entry| entry.cells.len())
        .max()
        .unwrap_or(1);
    // The first column is text; the others are figures, to the right.
    let first = width as i32 * 2 / 5;
    let right = Pos::new(HPos::Right, VPos::Top);
    let other = (width as i32 - first - 2 * MARGIN) / (columns.max(2) as i32 - 1);
    let cell = |column: usize, y: i32, words: &str, style: TextStyle| {
        let (x, style) = match column {
            0 => (MARGIN + 52, style),
            _ => (first + other * column as i32, style.pos(right)),
        };
        legend.draw(&Text::new(words.to_owned(), (x, y), style))
    };
    let mut y = 4;
    if !head.is_empty() {
        for (column, words) in head.iter().enumerate() {
            cell(column, y, words, text(15, &GREY))?;
        }
        y += LEGEND_LINE as i32;
    }
    for entry in entries {
        let points = vec![(MARGIN, y + 5), (MARGIN + 40, y + 5)];
        entry.stroke.draw(&legend, points, entry.style)?;
        for (column, words) in entry.cells.iter().enumerate() {
            cell(column, y, words, text(17, &MARK))?;
        }
        y += LEGEND_LINE as i32;
    }
    Ok(chart)
}

/// Height of a picture with so many lines of legend.
pub(super) fn height(lines: usize) -> u32 {
    SIZE.1 + HEAD + lines as u32 * LEGEND_LINE
}

impl Picture<'_> {
    /// It as SVG.
    ///
    /// # Errors
    /// There are no samples.
    pub fn svg_text(&self) -> Result<String, Error> {
        let mut text = String::new();
        self.draw(
            SVGBackend::with_string(&mut text, self.size()),
            Path::new(&self.title),
        )?;
        Ok(text)
    }

    /// Draws it at `path` as SVG.
    ///
    /// # Errors
    /// There are no samples, or the file cannot be written.
    pub fn svg(&self, path: &Path) -> Result<(), Error> {
        self.draw(SVGBackend::new(path, self.size()), path)
    }

    /// Draws it at `path` as PNG.
    ///
    /// # Errors
    /// As [`Picture::svg`].
    pub fn png(&self, path: &Path) -> Result<(), Error> {
        bitmap::png(self.size(), path, |backend| self.draw(backend, path))
    }

    fn size(&self) -> (u32, u32) {
        (SIZE.0, height(self.phases.len() + self.marks.len() + 1))
    }

    fn draw<B: DrawingBackend>(&self, backend: B, path: &Path) -> Result<(), Error> {
        register_font();
        let extremes = || {
            self.phases
                .iter()
                .filter_map(|(_, series)| series.extremes())
        };
        let least = extremes().map(|(least, _)| least).min();
        let most = extremes().map(|(_, most)| most).max();
        let (Some(least), Some(most)) = (least, most) else {
            return Err(Error::new(path, "there are no samples"));
        };
        let marks = || self.marks.iter().map(|(_, value)| *value);
        // The logarithm of zero has no place; values below one are drawn at one.
        let first = marks().fold(least.max(1) as f64 * self.factor, f64::min);
        let last = marks().fold(most.max(1) as f64 * self.factor, f64::max);
        let area = backend.into_drawing_area();
        let drawn = if first > 0.0 && last / first >= LOGARITHMIC_FROM {
            let from = first / 1.2;
            self.draw_on(&area, (from..last * 1.2).log_scale(), from)
        } else {
            let from = least as f64 * self.factor;
            let margin = ((last - from) * 0.03).max(0.5 * self.factor);
            self.draw_on(&area, from - margin..last + margin, from - margin)
        };
        drawn
            .and_then(|()| area.present())
            .map_err(|error| Error::new(path, error))
    }

    /// A line of the legend for each phase, and for each mark.
    fn legend(&self) -> Vec<Entry> {
        let phase = |(index, (name, series)): (usize, &(&str, &Series))| {
            let mut cells = vec![(*name).to_owned()];
            match series.summary(self.factor) {
                Some(s) => {
                    cells.push(figure(s.samples as f64));
                    let figures = [s.p50, s.p99, s.p999, s.max];
                    cells.extend(figures.map(|value| format!("{} {}", figure(value), self.unit)));
                }
                None => cells.push("no samples".to_owned()),
            }
            Entry {
                style: COLOURS[index % COLOURS.len()].stroke_width(3),
                stroke: Stroke::of(index),
                cells,
            }
        };
        let mark = |(index, (name, value)): (usize, &(&str, f64))| Entry {
            style: MARK.stroke_width(2),
            stroke: mark_stroke(index),
            cells: vec![format!("{name}: {} {}", figure(*value), self.unit)],
        };
        let phases = self.phases.iter().enumerate().map(phase);
        phases
            .chain(self.marks.iter().enumerate().map(mark))
            .collect()
    }

    fn draw_on<B, X>(
        &self,
        area: &DrawingArea<B, Shift>,
        x: X,
        least_x: f64,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>>
    where
        B: DrawingBackend,
        X: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
    {
        let head = ["", "samples", "p50", "p99", "p99.9", "worst"];
        let chart = frame(area, &self.title, &self.subtitle, &head, &self.legend())?;
        let fewest = |series: &&Series| series.samples().max(1);
        let samples = self.phases.iter().map(|(_, series)| *series);
        let floor = 0.5 / samples.map(|series| fewest(&series)).max().unwrap_or(1) as f64;
        let floor = floor.min(BEYOND_P99 / 2.0);
        let mut chart = ChartBuilder::on(&chart)
            .margin(MARGIN)
            .margin_bottom(8)
            .margin_top(4)
            .x_label_area_size(56)
            .y_label_area_size(84)
            .build_cartesian_2d(x, (floor..1.3).log_scale())?;
        chart
            .configure_mesh()
            .x_desc(&self.axis)
            .y_desc("share of samples at or above")
            .axis_desc_style((FONT, 17).into_font().color(&GREY))
            .label_style((FONT, 16).into_font().color(&GREY))
            .axis_style(GREY)
            .x_label_formatter(&|value| figure(*value))
            .y_label_formatter(&|value| share(*value))
            .light_line_style(WHITE)
            .bold_line_style(RGBColor(232, 234, 238))
            .draw()?;
        let area = chart.plotting_area();
        let (from, to) = {
            let range = area.get_x_range();
            (range.start, range.end)
        };
        let p99 = vec![(from, BEYOND_P99), (to, BEYOND_P99)];
        Stroke::Dotted.draw(area, p99, GREY.stroke_width(1))?;
        let label = (FONT, 14).into_font().color(&GREY);
        let label = label.pos(Pos::new(HPos::Right, VPos::Bottom));
        area.draw(&Text::new("p99", (to, BEYOND_P99), label))?;
        for (index, (_, value)) in self.marks.iter().enumerate() {
            let line = vec![(*value, floor), (*value, 1.3)];
            mark_stroke(index).draw(area, line, MARK.stroke_width(2))?;
        }
        for (index, (_, series)) in self.phases.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let all = series.samples() as f64;
            let mut left = series.samples();
            let mut outline = vec![(least_x, 1.0)];
            for (value, count) in series.occurrences() {
                let x = (value as f64 * self.factor).max(least_x);
                let level = left as f64 / all;
                outline.push((x, level));
                left -= count.min(left);
                if left > 0 {
                    outline.push((x, left as f64 / all));
                }
            }
            let worst = outline.last().copied();
            Stroke::of(index).draw(area, outline, colour.stroke_width(3))?;
            if let Some(worst) = worst.filter(|_| all > 0.0) {
                area.draw(&Circle::new(worst, 6, WHITE.filled()))?;
                area.draw(&Circle::new(worst, 6, colour.stroke_width(3)))?;
            }
        }
        Ok(())
    }
}

fn mark_stroke(index: usize) -> Stroke {
    [Stroke::Dashed, Stroke::Dotted, Stroke::Solid][index % 3]
}

/// A share of one: as per cent down to a thousandth, and as a power of ten below.
fn share(value: f64) -> String {
    if value >= 0.000_9 {
        format!("{} %", figure((value * 1e5).round() / 1e3))
    } else {
        format!("1e{:.0}", value.log10())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::unit::Unit;

    fn series(values: &[u64]) -> Series {
        let mut series = Series::new(Unit::Ticks).expect("a histogram of three digits can be made");
        for &value in values {
            series.record(value);
        }
        series
    }

    /// What an observer without one kind of cones sees, by Viénot, Brettel and Mollon (1999), in linear light.
    fn seen(colour: RGBColor, matrix: [[f64; 3]; 3]) -> [f64; 3] {
        let linear = |value: u8| (f64::from(value) / 255.0).powf(2.2);
        let rgb = [linear(colour.0), linear(colour.1), linear(colour.2)];
        matrix.map(|row| {
            let sum: f64 = row.iter().zip(rgb).map(|(a, b)| a * b).sum();
            sum.clamp(0.0, 1.0).powf(1.0 / 2.2) * 255.0
        })
    }

    #[test]
    fn six_colours_can_be_told_apart_by_everyone() {
        let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let protanopia = [
            [0.112_38, 0.887_62, 0.0],
            [0.112_38, 0.887_62, 0.0],
            [0.004_01, -0.004_01, 1.0],
        ];
        let deuteranopia = [
            [0.292_75, 0.707_25, 0.0],
            [0.292_75, 0.707_25, 0.0],
            [-0.022_34, 0.022_34, 1.0],
        ];
        for (kind, matrix) in [
            ("all", identity),
            ("no red", protanopia),
            ("no green", deuteranopia),
        ] {
            for (a, one) in COLOURS.iter().enumerate() {
                for (b, other) in COLOURS.iter().enumerate().skip(a + 1) {
                    let (x, y) = (seen(*one, matrix), seen(*other, matrix));
                    let distance: f64 = x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum();
                    let alike = distance.sqrt() < 24.0;
                    assert!(
                        !alike || Stroke::of(a) != Stroke::of(b),
                        "{kind}: colours {a} and {b}: {distance}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_picture_says_where_it_comes_from_and_how_bad_the_worst_is() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let path = directory.path().join("picture.svg");
        let many: Vec<u64> = (0..1000).map(|i| 10 + i % 7).chain([4000]).collect();
        let (idle, loaded) = (series(&[9, 10, 11]), series(&many));
        let picture = Picture {
            title: "latency of <rt>".to_owned(),
            subtitle: "commit 0123, board soc".to_owned(),
            axis: "latency (µs)".to_owned(),
            unit: "µs",
            phases: vec![("idle", &idle), ("loaded", &loaded)],
            factor: 0.1,
            marks: vec![("deadline", 1000.0)],
        };
        picture.svg(&path).expect("it can be drawn");
        let svg = std::fs::read_to_string(&path).expect("it was written");
        assert_eq!(picture.svg_text().expect("it can be drawn"), svg);
        for text in [
            "latency of &lt;rt&gt;",
            "commit 0123, board soc",
            "latency (µs)",
            "1,001",
            "400 µs",
            "deadline: 1,000 µs",
            "share of samples at or above",
            "p99.9",
        ] {
            assert!(svg.contains(text), "no {text} in {svg}");
        }
        assert!(
            !svg.contains("opacity=\"0.3"),
            "nothing is translucent: {svg}"
        );
        picture
            .png(&directory.path().join("picture.png"))
            .expect("it can be drawn");
        let none = Picture {
            phases: Vec::new(),
            ..picture
        };
        assert!(none.svg(&path).is_err());
    }

    #[test]
    fn shares_are_readable() {
        for (value, text) in [
            (1.0, "100 %"),
            (0.01, "1 %"),
            (0.001, "0.1 %"),
            (1e-6, "1e-6"),
        ] {
            assert_eq!(share(value), text);
        }
    }
}
