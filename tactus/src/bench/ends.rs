//! Files of what was seen at the ends of the fabric's wires in a run, and a picture of its pins.

use std::path::{Path, PathBuf};

use miette::IntoDiagnostic;

use super::prepared::Ends;
use crate::report::waveform::Waveform;
use crate::run::ends::Files;

/// Changes of pins that a picture shows: a pulse of all that pulse at the same time, and the next one.
const SHOWN: usize = 4;

/// Writes the files of a run of that name into `directory`, which is made if it is not there. Gives their paths.
///
/// # Errors
/// One of them can't be written: the display has shown no picture, say, or no pin has changed.
pub fn write(run: &str, ends: &Ends, directory: &Path) -> miette::Result<Vec<PathBuf>> {
    std::fs::create_dir_all(directory).into_diagnostic()?;
    let path = |what: &str| directory.join(format!("{run}-{what}"));
    let [pins, frames, picture] = ["pins.vcd", "frames.pcap", "display.png"].map(path);
    let files = Files {
        pins: Some(pins.clone()),
        frames: Some(frames.clone()),
        picture: Some(picture.clone()),
    };
    files.write(&ends.seen, ends.pins, ends.clock)?;
    let waveform = Waveform {
        title: format!("Pins in the run {run}"),
        pins: ends.pins,
        changes: &ends.seen.pins,
        shown: SHOWN,
    };
    let [svg, png] = ["pins.svg", "pins.png"].map(path);
    waveform.svg(&svg).into_diagnostic()?;
    waveform.png(&png).into_diagnostic()?;
    Ok(vec![pins, frames, picture, svg, png])
}
