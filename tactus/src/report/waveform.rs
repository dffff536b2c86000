//! Pins around the first time that some of them change, in SVG and PNG.

use std::path::Path;

use plotters::prelude::*;

use super::bitmap;
use super::picture::{COLOURS, Error, FONT, SIZE, register_font};
use super::unit::figure;

/// Height of a high level; a pin has 1 for itself.
const HIGH: f64 = 0.6;
/// What part of the cycles from the first change to the last one that is shown comes before, for the pins' names, and
/// behind.
const MARGIN: u64 = 12;

/// Levels of pins over cycles.
#[derive(Clone, Debug)]
pub struct Waveform<'a> {
    /// What it shows.
    pub title: String,
    /// How many pins.
    pub pins: u32,
    /// When they changed, and to what; all are low before.
    pub changes: &'a [(u64, u32)],
    /// How many of the changes are shown, from the first one on.
    pub shown: usize,
}

impl Waveform<'_> {
    /// It as SVG.
    ///
    /// # Errors
    /// No pin changes.
    pub fn svg_text(&self) -> Result<String, Error> {
        let mut text = String::new();
        self.draw(
            SVGBackend::with_string(&mut text, SIZE),
            Path::new(&self.title),
        )?;
        Ok(text)
    }

    /// Draws it at `path` as SVG.
    ///
    /// # Errors
    /// No pin changes, or the file cannot be written.
    pub fn svg(&self, path: &Path) -> Result<(), Error> {
        self.draw(SVGBackend::new(path, SIZE), path)
    }

    /// Draws it at `path` as PNG.
    ///
    /// # Errors
    /// As [`Waveform::svg`].
    pub fn png(&self, path: &Path) -> Result<(), Error> {
        bitmap::png(SIZE, path, |backend| self.draw(backend, path))
    }

    fn draw<B: DrawingBackend>(&self, backend: B, path: &Path) -> Result<(), Error> {
        let shown = &self.changes[..self.changes.len().min(self.shown)];
        let (Some((first, _)), Some((last, _))) = (shown.first(), shown.last()) else {
            return Err(Error::new(path, "no pin changes"));
        };
        register_font();
        let area = backend.into_drawing_area();
        let margin = (last - first) / MARGIN + 1;
        self.draw_on(&area, shown, [first.saturating_sub(margin), last + margin])
            .and_then(|()| area.present())
            .map_err(|error| Error::new(path, error))
    }

    fn draw_on<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, plotters::coord::Shift>,
        shown: &[(u64, u32)],
        [from, to]: [u64; 2],
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        area.fill(&WHITE)?;
        let pins = self.pins as usize;
        let mut chart = ChartBuilder::on(area)
            .margin(20)
            .caption(&self.title, (FONT, 26))
            .x_label_area_size(56)
            .y_label_area_size(20)
            .build_cartesian_2d(from as f64..to as f64, -0.3..f64::from(self.pins))?;
        chart
            .configure_mesh()
            .x_desc("cycle of the fabric, from reset")
            .axis_desc_style((FONT, 19))
            .label_style((FONT, 16))
            .x_label_formatter(&|value| figure(*value))
            .y_labels(0)
            .disable_y_mesh()
            .light_line_style(BLACK.mix(0.06))
            .bold_line_style(BLACK.mix(0.15))
            .draw()?;
        for pin in 0..pins {
            let low = (pins - 1 - pin) as f64;
            let height = |levels: u32| low + HIGH * f64::from(levels >> pin & 1);
            let mut line = vec![(from as f64, low)];
            let mut before = 0;
            for (cycle, levels) in shown {
                line.extend([
                    (*cycle as f64, height(before)),
                    (*cycle as f64, height(*levels)),
                ]);
                before = *levels;
            }
            line.push((to as f64, height(before)));
            let colour = COLOURS[pin % COLOURS.len()];
            chart.draw_series([PathElement::new(line, colour.stroke_width(2))])?;
            let place = (from as f64, low + HIGH);
            chart.draw_series([Text::new(format!("pin {pin}"), place, (FONT, 16))])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_changes_are_drawn_and_none_is_an_error() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut waveform = Waveform {
            title: "pulses".to_owned(),
            pins: 2,
            changes: &[(100, 3), (200, 1), (1000, 0)],
            shown: 2,
        };
        let path = directory.path().join("waveform.svg");
        waveform.svg(&path).expect("it can be drawn");
        let text = std::fs::read_to_string(&path).expect("the picture");
        assert!(text.contains("pin 0") && text.contains("pin 1"), "{text}");
        let lines = text.matches("stroke-width=\"2\"").count();
        assert_eq!(lines, 2, "a line for each pin: {text}");
        assert_eq!(waveform.svg_text().expect("it can be drawn"), text);
        waveform.changes = &[];
        assert!(waveform.svg(&path).is_err());
    }
}
