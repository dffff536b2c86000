//! Quantities over a few values of what they depend on, as lines, in SVG and PNG.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::picture::{
    COLOURS, Entry, Error, FONT, GREY, SIZE, Stroke, frame, height, register_font,
};
use super::unit::figure;

/// Lines to draw.
#[derive(Clone, Debug)]
pub struct Lines {
    /// What they show.
    pub title: String,
    /// Where they come from: commit, board.
    pub subtitle: String,
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
    fn style(&self) -> ShapeStyle {
        COLOURS[self.colour % COLOURS.len()].stroke_width(if self.dashed { 2 } else { 3 })
    }

    fn stroke(&self) -> Stroke {
        if self.dashed {
            Stroke::Dashed
        } else {
            Stroke::Solid
        }
    }

    /// Its name and its values.
    fn legend(&self) -> Entry {
        let value = |value: &Option<f64>| value.map_or_else(|| "-".to_owned(), figure);
        let values = self.values.iter().map(value);
        Entry {
            style: self.style(),
            stroke: self.stroke(),
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
    /// Draws them at `path` as SVG.
    ///
    /// # Errors
    /// There is nothing to draw, or the file cannot be written.
    pub fn svg(&self, path: &Path) -> Result<(), Error> {
        self.draw(SVGBackend::new(path, self.size()), path)
    }

    /// Draws them at `path` as PNG.
    ///
    /// # Errors
    /// As [`Lines::svg`].
    pub fn png(&self, path: &Path) -> Result<(), Error> {
        self.draw(BitMapBackend::new(path, self.size()), path)
    }

    fn size(&self) -> (u32, u32) {
        (SIZE.0, height(self.lines.len() + 1))
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
        self.draw_on(&area, least / 1.3..most * 1.3)
            .and_then(|()| area.present())
            .map_err(|error| Error::new(path, error))
    }

    fn draw_on<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        y: std::ops::Range<f64>,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let at: Vec<String> = self.at.iter().map(|value| figure(*value)).collect();
        let named = std::iter::once(self.x.as_str());
        let head: Vec<&str> = named.chain(at.iter().map(String::as_str)).collect();
        let entries: Vec<Entry> = self.lines.iter().map(Line::legend).collect();
        let chart = frame(area, &self.title, &self.subtitle, &head, &entries)?;
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
        for line in &self.lines {
            line.stroke().draw(area, line.points(), line.style())?;
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
        let line = |dashed, values: [Option<f64>; 3]| Line {
            name: format!("dashed {dashed}"),
            colour: 0,
            dashed,
            values: values.to_vec(),
        };
        let mut lines = Lines {
            title: "Title".to_owned(),
            subtitle: "commit 0123".to_owned(),
            x: "harts".to_owned(),
            at: vec![1.0, 2.0, 4.0],
            y: "µs".to_owned(),
            lines: vec![
                line(false, [Some(2.5), Some(2.6), Some(2.7)]),
                line(true, [Some(164.0), None, Some(314.5)]),
            ],
        };
        lines.svg(&path).expect("it can be drawn");
        let svg = std::fs::read_to_string(&path).expect("it was written");
        for text in [
            "Title",
            "commit 0123",
            "harts",
            "µs (logarithmic)",
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
