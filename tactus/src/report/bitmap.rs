//! Pictures as PNG (W3C PNG, third edition): what plotters draws in memory, encoded.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use plotters::backend::BitMapBackend;

use super::picture::Error;

/// Lets `draw` draw a picture of `width` x `height` pixels, and writes it to `path`.
///
/// # Errors
/// Those of `draw`; the file cannot be written.
pub(super) fn png(
    (width, height): (u32, u32),
    path: &Path,
    draw: impl FnOnce(BitMapBackend) -> Result<(), Error>,
) -> Result<(), Error> {
    const CHANNELS: usize = 3;
    let mut pixels = vec![0; width as usize * height as usize * CHANNELS];
    draw(BitMapBackend::with_buffer(&mut pixels, (width, height)))?;
    let write = || -> Result<(), png::EncodingError> {
        let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), width, height);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&pixels)?;
        writer.finish()
    };
    write().map_err(|error| Error::new(path, error))
}
