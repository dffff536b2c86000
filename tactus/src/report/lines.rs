//! Quantities over a few values of what they depend on, as lines, in SVG and PNG.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use serde::Serialize;

use super::bitmap;
use super::picture::{
    COLOURS, Entry, Error, FONT, GREY, SIZE, Stroke, frame, height, register_font,
};
use super::unit::figure;

/// Figures over a few values of what they depend on, beside the published ones.
#[derive(Clone, Debug, Serialize)]
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

/// One line, with a value for each of the horizontal axis where there is one. Values that are not above zero have no
/// place on a logarithmic axis.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// What it is.
    pub name: String,
    /// The measured values.
    pub own: Vec<Option<f64>>,
    /// The published values, drawn in dashes of the same colour.
    pub paper: Vec<Option<f64>>,
}

/// One line as it is drawn.
#[derive(Debug)]
struct Drawn<'a> {
    name: String,
    colour: usize,
    stroke: Stroke,
    values: &'a [Option<f64>],
}

impl Drawn<'_> {
    fn style(&self) -> ShapeStyle {
        let width = if self.stroke == Stroke::Solid { 3 } else { 2 };
        COLOURS[self.colour % COLOURS.len()].stroke_width(width)
    }

    /// Its name and its values.
    fn legend(&self) -> Entry {
        let value = |value: &Option<f64>| value.map_or_else(|| "-".to_owned(), figure);
        let values = self.values.iter().map(value);
        Entry {
            style: self.style(),
            stroke: self.stroke,
            cells: std::iter::once(self.name.clone()).chain(values).collect(),
        }
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
    /// Draws them at `path` as SVG. `subtitle` says where they come from: commit, board.
    ///
    /// # Errors
    /// There is nothing to draw, or the file cannot be written.
    pub fn svg(&self, subtitle: &str, path: &Path) -> Result<(), Error> {
        self.draw(SVGBackend::new(path, self.size()), subtitle, path)
    }

    /// Draws them at `path` as PNG.
    ///
    /// # Errors
    /// As [`Lines::svg`].
    pub fn png(&self, subtitle: &str, path: &Path) -> Result<(), Error> {
        bitmap::png(self.size(), path, |backend| {
            self.draw(backend, subtitle, path)
        })
    }

    fn size(&self) -> (u32, u32) {
        (SIZE.0, height(self.drawn().len() + 1))
    }

    /// The lines in the order in which they are drawn: a published one is below the measured one.
    fn drawn(&self) -> Vec<Drawn<'_>> {
        let mut drawn = Vec::new();
        for (colour, line) in self.lines.iter().enumerate() {
            let mut add = |name, stroke, values| {
                drawn.push(Drawn {
                    name,
                    colour,
                    stroke,
                    values,
                });
            };
            if line.paper.iter().any(Option::is_some) {
                add(
                    format!("{}, paper", line.name),
                    Stroke::Dashed,
                    line.paper.as_slice(),
                );
            }
            add(line.name.clone(), Stroke::Solid, line.own.as_slice());
        }
        drawn
    }

    fn draw<B: DrawingBackend>(
        &self,
        backend: B,
        subtitle: &str,
        path: &Path,
    ) -> Result<(), Error> {
        let drawn = self.drawn();
        let values = || drawn.iter().flat_map(Drawn::points).map(|(_, y)| y);
        let least = values().fold(f64::INFINITY, f64::min);
        let most = values().fold(0.0, f64::max);
        if most <= 0.0 {
            return Err(Error::new(path, "there are no values"));
        }
        register_font();
        let area = backend.into_drawing_area();
        self.draw_on(&area, subtitle, &drawn, least / 1.3..most * 1.3)
            .and_then(|()| area.present())
            .map_err(|error| Error::new(path, error))
    }

    fn draw_on<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        subtitle: &str,
        lines: &[Drawn<'_>],
        y: std::ops::Range<f64>,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let at: Vec<String> = self.at.iter().map(|value| figure(*value)).collect();
        let named = std::iter::once(self.x.as_str());
        let head: Vec<&str> = named.chain(at.iter().map(String::as_str)).collect();
        let entries: Vec<Entry> = lines.iter().map(Drawn::legend).collect();
        let chart = frame(area, &self.title, subtitle, &head, &entries)?;
        let last = self.at.len().saturating_sub(1) as f64;
        let mut chart = ChartBuilder::on(&chart)
            .margin(24)
            .margin_top(4)
            .margin_bottom(8)
            .x_label_area_size(56)
            .y_label_area_size(84)
            .build_cartesian_2d(-0.25..last + 0.25, y.log_scale())?;
        chart
            .configure_mesh()
            .x_desc(&self.x)
            .y_desc(format!("{} (logarithmic)", self.y))
            .axis_desc_style((FONT, 17).into_font().color(&GREY))
            .label_style((FONT, 16).into_font().color(&GREY))
            .axis_style(GREY)
            .x_labels(2 * self.at.len())
            .x_label_formatter(&|place| {
                let value = (place.fract() == 0.0).then(|| self.at.get(*place as usize));
                value
                    .flatten()
                    .map(|value| figure(*value))
                    .unwrap_or_default()
            })
            .y_label_formatter(&|value| figure(*value))
            .light_line_style(WHITE)
            .bold_line_style(RGBColor(232, 234, 238))
            .draw()?;
        let area = chart.plotting_area();
        for line in lines {
            line.stroke.draw(area, line.points(), line.style())?;
            let colour = COLOURS[line.colour % COLOURS.len()];
            for point in line.points() {
                area.draw(&Circle::new(point, 5, colour.filled()))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_pictures() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let path = directory.path().join("lines.svg");
        let mut lines = Lines {
            title: "Title".to_owned(),
            x: "harts".to_owned(),
            at: vec![1.0, 2.0, 4.0],
            y: "µs".to_owned(),
            lines: vec![Line {
                name: "1 vCPU".to_owned(),
                own: vec![Some(2.5), Some(2.6), Some(2.7)],
                paper: vec![Some(164.0), None, Some(314.5)],
            }],
        };
        lines
            .svg("commit 0123", &path)
            .expect("the SVG can be written");
        let svg = std::fs::read_to_string(&path).expect("the SVG was written");
        for text in [
            "Title",
            "commit 0123",
            "harts",
            "µs (logarithmic)",
            "1 vCPU",
            "1 vCPU, paper",
            "314.5",
            "2.7",
        ] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        lines
            .png("commit 0123", &directory.path().join("lines.png"))
            .expect("the PNG can be written");
        lines.lines[0].own = vec![Some(0.0), None, None];
        lines.lines[0].paper = Vec::new();
        assert!(lines.svg("commit 0123", &path).is_err());
    }
}
