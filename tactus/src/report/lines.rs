//! Quantities over a few values of what they depend on, as lines, in SVG and PNG.

use std::path::Path;

use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::picture::{COLOURS, Error, FONT, SIZE, register_font};
use super::unit::figure;

/// What part of a picture's height a line of the legend takes.
const LEGEND_LINE: f64 = 0.048;

/// Lines to draw.
#[derive(Clone, Debug)]
pub struct Lines {
    /// What they show.
    pub title: String,
    /// The horizontal axis.
    pub x: String,
    /// Its values, which stand side by side at equal distances.
    pub at: Vec<f64>,
    /// The vertical axis, logarithmic.
    pub y: String,
    /// The lines.
    pub lines: Vec<Line>,
}

/// One line.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it is.
    pub name: String,
    /// What it is of: lines of the same number have the same colour.
    pub colour: usize,
    /// Whether it is drawn in dashes, as somebody else's.
    pub dashed: bool,
    /// A value for each of the horizontal axis, where there is one; those that are not above zero have no place.
    pub values: Vec<Option<f64>>,
}

impl Line {
    /// Its name and its values.
    fn legend(&self) -> String {
        let value = |value: &Option<f64>| value.map_or_else(|| "-".to_owned(), figure);
        let values: Vec<String> = self.values.iter().map(value).collect();
        format!("{}: {}", self.name, values.join(", "))
    }

    fn points(&self) -> Vec<(f64, f64)> {
        let places = (0u32..).map(f64::from);
        let points = places.zip(self.values.iter().copied());
        points
            .filter_map(|(place, value)| Some((place, value.filter(|value| *value > 0.0)?)))
            .collect()
    }
}

impl Lines {
    /// Draws them at `path` as SVG.
    ///
    /// # Errors
    /// There is nothing to draw, or the file cannot be written.
    pub fn svg(&self, path: &Path) -> Result<(), Error> {
        self.draw(SVGBackend::new(path, SIZE), path)
    }

    /// Draws them at `path` as PNG.
    ///
    /// # Errors
    /// As [`Lines::svg`].
    pub fn png(&self, path: &Path) -> Result<(), Error> {
        self.draw(BitMapBackend::new(path, SIZE), path)
    }

    fn draw<B: DrawingBackend>(&self, backend: B, path: &Path) -> Result<(), Error> {
        let values = || self.lines.iter().flat_map(Line::points).map(|(_, y)| y);
        let least = values().fold(f64::INFINITY, f64::min);
        let most = values().fold(0.0, f64::max);
        if most <= 0.0 {
            return Err(Error::new(path, "there are no values"));
        }
        register_font();
        let area = backend.into_drawing_area();
        let (least, most) = (least / 1.2, most * 1.2);
        // The legend has the uppermost part to itself.
        let part = ((1.5 + self.lines.len() as f64) * LEGEND_LINE).min(0.6);
        let top = most * (most / least).powf(part / (1.0 - part));
        self.draw_on(&area, least..top)
            .and_then(|()| area.present())
            .map_err(|error| Error::new(path, error))
    }

    fn draw_on<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, plotters::coord::Shift>,
        y: std::ops::Range<f64>,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        area.fill(&WHITE)?;
        let last = self.at.len().saturating_sub(1) as f64;
        let mut chart = ChartBuilder::on(area)
            .margin(20)
            .caption(&self.title, (FONT, 26))
            .x_label_area_size(56)
            .y_label_area_size(84)
            .build_cartesian_2d(-0.25..last + 0.25, y.log_scale())?;
        chart
            .configure_mesh()
            .x_desc(&self.x)
            .y_desc(format!("{} (logarithmic)", self.y))
            .axis_desc_style((FONT, 19))
            .label_style((FONT, 16))
            .x_labels(2 * self.at.len())
            .x_label_formatter(&|place| {
                let value = (place.fract() == 0.0).then(|| self.at.get(*place as usize));
                value
                    .flatten()
                    .map(|value| figure(*value))
                    .unwrap_or_default()
            })
            .y_label_formatter(&|value| figure(*value))
            .light_line_style(BLACK.mix(0.06))
            .bold_line_style(BLACK.mix(0.15))
            .draw()?;
        for line in &self.lines {
            let colour = COLOURS[line.colour % COLOURS.len()];
            let style = colour.stroke_width(if line.dashed { 2 } else { 3 });
            let drawn = if line.dashed {
                chart.draw_series([DashedPathElement::new(line.points(), 8, 6, style)])?
            } else {
                chart.draw_series([PathElement::new(line.points(), style)])?
            };
            let dashed = line.dashed;
            drawn.label(line.legend()).legend(move |(x, y)| {
                let end = if dashed { x + 9 } else { x + 24 };
                PathElement::new([(x, y), (end, y)], style)
            });
            chart.draw_series(
                line.points()
                    .into_iter()
                    .map(|point| Circle::new(point, 5, colour.filled())),
            )?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperMiddle)
            .label_font((FONT, 17))
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .margin(12)
            .draw()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_pictures() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let path = directory.path().join("lines.svg");
        let line = |dashed, values: [Option<f64>; 3]| Line {
            name: format!("dashed {dashed}"),
            colour: 0,
            dashed,
            values: values.to_vec(),
        };
        let mut lines = Lines {
            title: "Title".to_owned(),
            x: "harts".to_owned(),
            at: vec![1.0, 2.0, 4.0],
            y: "us".to_owned(),
            lines: vec![
                line(false, [Some(2.5), Some(2.6), Some(2.7)]),
                line(true, [Some(164.0), None, Some(314.5)]),
            ],
        };
        lines.svg(&path).expect("it can be drawn");
        let svg = std::fs::read_to_string(&path).expect("it was written");
        for text in [
            "Title",
            "harts",
            "dashed true",
            "dashed false",
            "314.5",
            "2.7",
        ] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        lines
            .png(&directory.path().join("lines.png"))
            .expect("it can be drawn");
        lines.lines = vec![line(false, [Some(0.0), None, None])];
        assert!(lines.svg(&path).is_err());
    }
}
