//! The ends of the fabric's wires: which are watched in a run, and files of what was seen for the tools that read such.
//! Pins as a waveform, VCD (IEEE 1364-2005, 18); frames of Ethernet as a capture (pcap, with times in nanoseconds); the
//! display as a picture (PNG).

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, WrapErr, miette};
use tactus_board::fabric::{
    COLUMNS, Display, Ethernet, Fabric, Frames, Picture, PinChanges, Pins, PinsAt, ROWS,
};
use tactus_board::time::Clock;
use vcd::{IdCode, TimescaleUnit, Value, Writer};

use crate::{capture, fabric};

const FEMTOSECONDS_PER_PICOSECOND: u64 = 1000;

/// What is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// How many pins.
    pub pins: u32,
    /// Where the design shows them.
    pub pins_at: PinsAt,
    /// What the MAC sends.
    pub frames: bool,
    /// What the display shows.
    pub picture: bool,
}

/// What was seen; nothing of what was not watched.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// When pins changed: the cycle of the fabric, counted from reset, and their levels from then on.
    pub pins: Vec<(u64, u32)>,
    /// Each frame that was sent: the cycle in which its preamble began, and it, without its check sequence.
    pub frames: Vec<(u64, Vec<u8>)>,
    /// The last picture that was shown whole (`tactus_board::fabric::Picture`).
    pub picture: Option<Vec<u8>>,
}

impl Seen {
    /// Adds what was seen later.
    pub fn add(&mut self, later: Self) {
        self.pins.extend(later.pins);
        self.frames.extend(later.frames);
        self.picture = later.picture.or(self.picture.take());
    }
}

/// Who watches.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    pins: PinChanges,
    frames: Frames,
    picture: Picture,
}

impl Watch {
    /// Has what is wanted watched.
    pub fn of(mut design: Box<dyn Fabric>, wanted: Watched) -> (Box<dyn Fabric>, Self) {
        let mut watch = Self::default();
        if wanted.pins > 0 {
            let (watched, pins) = Pins::new(design, wanted.pins_at, wanted.pins);
            (design, watch.pins) = (Box::new(watched), pins);
        }
        if wanted.frames {
            let (watched, frames) = Ethernet::new(design);
            (design, watch.frames) = (Box::new(watched), frames);
        }
        if wanted.picture {
            let (watched, picture) = Display::new(design);
            (design, watch.picture) = (Box::new(watched), picture);
        }
        (design, watch)
    }

    /// What was seen so far.
    pub fn take(&self) -> Seen {
        Seen {
            pins: self.pins.take(),
            frames: self.frames.take(),
            picture: self.picture.take(),
        }
    }
}

/// Where what was seen goes.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Of the pins, VCD.
    pub pins: Option<PathBuf>,
    /// Of the frames, pcap.
    pub frames: Option<PathBuf>,
    /// Of the picture, PNG.
    pub picture: Option<PathBuf>,
}

impl Files {
    /// What has to be watched for them.
    ///
    /// # Errors
    /// The design has no such thing; none is loaded where `design` is `None`.
    pub fn watched(&self, design: Option<&str>) -> miette::Result<Watched> {
        let shown = design.filter(|_| self.pins.is_some()).map(fabric::pins);
        let (pins, pins_at) = shown.unwrap_or_default();
        let watched = Watched {
            pins,
            pins_at,
            frames: self.frames.is_some(),
            picture: self.picture.is_some(),
        };
        let has_ends = design.is_some_and(fabric::has_ends);
        let lacking = [
            (
                self.pins.is_some() && watched.pins == 0,
                "--pins shows the fabric's pins",
            ),
            (
                watched.frames && !has_ends,
                "--frames shows what the fabric's Ethernet sends",
            ),
            (
                watched.picture && !has_ends,
                "--picture shows what the fabric's display does",
            ),
        ];
        match lacking
            .into_iter()
            .find_map(|(lacks, what)| lacks.then_some(what))
        {
            None => Ok(watched),
            Some(what) => Err(miette!(
                help = "name a design that has it in the system's `[fabric]`: `io`, or `accelerators` for pins",
                "{what}, and it has none"
            )),
        }
    }

    /// Writes what was seen, of so many pins, by that clock.
    ///
    /// # Errors
    /// A file can't be written, or no picture was whole.
    pub fn write(&self, seen: &Seen, pins: u32, clock: Clock) -> miette::Result<()> {
        let into = |path: &Path, write: &dyn Fn(&mut BufWriter<File>) -> io::Result<()>| {
            let whole = || {
                let mut file = BufWriter::new(File::create(path)?);
                write(&mut file)?;
                file.flush()
            };
            whole()
                .into_diagnostic()
                .wrap_err_with(|| format!("cannot write {}", path.display()))
        };
        if let Some(path) = &self.pins {
            into(path, &|file| waveform(file, pins, clock, &seen.pins))?;
        }
        if let Some(path) = &self.frames {
            into(path, &|file| capture(file, clock, &seen.frames))?;
        }
        if let Some(path) = &self.picture {
            let Some(colours) = &seen.picture else {
                return Err(miette!(
                    help = "a picture takes the display 17 ms",
                    "there is no picture for {}: the run ended before one was whole",
                    path.display()
                ));
            };
            into(path, &|file| picture(file, colours))?;
        }
        Ok(())
    }
}

/// When so many pins, all low at reset, changed.
fn waveform(to: impl Write, pins: u32, clock: Clock, changes: &[(u64, u32)]) -> io::Result<()> {
    let mut writer = Writer::new(to);
    writer.timescale(1, TimescaleUnit::PS)?;
    writer.add_module("pins")?;
    let wires: Vec<IdCode> = (0..pins)
        .map(|pin| writer.add_wire(1, &format!("pin{pin}")))
        .collect::<io::Result<_>>()?;
    writer.upscope()?;
    writer.enddefinitions()?;
    writer.timestamp(0)?;
    for wire in &wires {
        writer.change_scalar(*wire, Value::V0)?;
    }
    let mut before = 0;
    for (cycle, levels) in changes {
        writer.timestamp(clock.time_of(*cycle).0 / FEMTOSECONDS_PER_PICOSECOND)?;
        for (pin, wire) in wires.iter().enumerate() {
            let level = levels >> pin & 1;
            if level != before >> pin & 1 {
                writer.change_scalar(*wire, level != 0)?;
            }
        }
        before = *levels;
    }
    Ok(())
}

/// Frames, each with the time at which its preamble began.
fn capture(to: impl Write, clock: Clock, frames: &[(u64, Vec<u8>)]) -> io::Result<()> {
    let frames = frames
        .iter()
        .map(|(cycle, frame)| (clock.time_of(*cycle), &frame[..]));
    capture::write(to, frames)
}

/// A picture of colours with 3 bits of red, 3 of green and 2 of blue.
fn picture(to: impl Write, colours: &[u8]) -> io::Result<()> {
    let mut encoder = png::Encoder::new(to, COLUMNS as u32, ROWS as u32);
    encoder.set_color(png::ColorType::Rgb);
    let rgb: Vec<u8> = colours
        .iter()
        .flat_map(|colour| {
            let part = |value: u8, most: u16| (u16::from(value) * 255 / most) as u8;
            [
                part(colour >> 5, 7),
                part(colour >> 2 & 7, 7),
                part(colour & 3, 3),
            ]
        })
        .collect();
    encoder.write_header()?.write_image_data(&rgb)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pcap_file::DataLink;
    use pcap_file::pcap::PcapReader;

    use super::*;

    #[test]
    fn a_change_of_each_pin_has_its_time() {
        let mut text = Vec::new();
        let clock = Clock::from_hertz(100_000_000);
        waveform(&mut text, 2, clock, &[(3, 3), (5, 1)]).expect("memory");
        let text = String::from_utf8(text).expect("text");
        let (header, changes) = text.split_once("$enddefinitions $end\n").expect("its end");
        assert!(header.contains("$timescale 1 ps $end"), "{header}");
        assert!(
            header.contains("pin0") && header.contains("pin1"),
            "{header}"
        );
        assert_eq!(changes, "#0\n0!\n0\"\n#30000\n1!\n1\"\n#50000\n0\"\n");
    }

    #[test]
    fn a_capture_has_its_frames_and_their_times() {
        let mut bytes = Vec::new();
        let clock = Clock::from_hertz(100_000_000);
        let frames = [(100, vec![1, 2, 3]), (150_000_000, vec![4])];
        capture(&mut bytes, clock, &frames).expect("memory");
        let mut reader = PcapReader::new(&bytes[..]).expect("a capture");
        assert_eq!(reader.header().datalink, DataLink::ETHERNET);
        let mut read = Vec::new();
        while let Some(packet) = reader.next_packet() {
            let packet = packet.expect("a frame");
            read.push((packet.timestamp, packet.data.into_owned()));
        }
        let expected = [
            (Duration::from_micros(1), vec![1, 2, 3]),
            (Duration::from_millis(1500), vec![4]),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn a_picture_has_its_colours() {
        let mut colours = vec![0; COLUMNS * ROWS];
        colours[..4].copy_from_slice(&[0xe0, 0x1c, 0x03, 0xff]);
        let mut bytes = Vec::new();
        picture(&mut bytes, &colours).expect("memory");
        let mut reader = png::Decoder::new(&bytes[..]).read_info().expect("a PNG");
        let mut rgb = vec![0; reader.output_buffer_size()];
        let info = reader.next_frame(&mut rgb).expect("a picture");
        assert_eq!((info.width, info.height), (640, 480));
        let first = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0];
        assert_eq!(rgb[..15], first);
    }
}
