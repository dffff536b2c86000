//! Files of Ethernet frames: captures (pcap), with the times since the board's reset in nanoseconds.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;
use std::time::Duration;

use miette::{IntoDiagnostic, WrapErr, miette};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapReader, PcapWriter};
use pcap_file::{DataLink, TsResolution};
use tactus_board::devices::virtio::Frame;
use tactus_board::time::Femtoseconds;

const FEMTOSECONDS_PER_NANOSECOND: u64 = 1_000_000;
/// The longest run of the board, in seconds.
const SECONDS_MAX: u64 = 18_000;

/// Writes frames, each with its time.
///
/// # Errors
/// They can't be written.
pub fn write<'a>(
    to: impl Write,
    frames: impl Iterator<Item = (Femtoseconds, &'a [u8])>,
) -> io::Result<()> {
    let header = PcapHeader {
        datalink: DataLink::ETHERNET,
        ts_resolution: TsResolution::NanoSecond,
        ..PcapHeader::default()
    };
    let mut writer = PcapWriter::with_header(to, header).map_err(io::Error::other)?;
    for (time, frame) in frames {
        let time = Duration::from_nanos(time.0 / FEMTOSECONDS_PER_NANOSECOND);
        let packet = PcapPacket::new(time, frame.len() as u32, frame);
        writer.write_packet(&packet).map_err(io::Error::other)?;
    }
    Ok(())
}

/// Reads the frames of a file that is given to `option`.
///
/// # Errors
/// It is no capture of Ethernet, a frame is not whole, or a time is beyond the longest run.
pub fn read(option: &str, path: &Path) -> miette::Result<Vec<Frame>> {
    let at = || format!("{option} {}", path.display());
    let file = File::open(path).into_diagnostic().wrap_err_with(at)?;
    let mut reader = PcapReader::new(BufReader::new(file))
        .into_diagnostic()
        .wrap_err_with(at)?;
    if reader.header().datalink != DataLink::ETHERNET {
        return Err(miette!("{}: it is no capture of Ethernet", at()));
    }
    let mut frames = Vec::new();
    while let Some(packet) = reader.next_packet() {
        let packet = packet.into_diagnostic().wrap_err_with(at)?;
        let number = frames.len() + 1;
        if packet.timestamp > Duration::from_secs(SECONDS_MAX) {
            return Err(miette!(
                help = "times count from the board's reset: `editcap -t -SECONDS` of Wireshark takes the seconds away",
                "{}: frame {number} comes after {} s, and a run has at most {SECONDS_MAX}",
                at(),
                packet.timestamp.as_secs()
            ));
        }
        if packet.orig_len as usize != packet.data.len() {
            return Err(miette!(
                help = "capture it again with all bytes of a frame",
                "{}: frame {number} is not whole",
                at()
            ));
        }
        let nanoseconds = packet.timestamp.as_nanos() as u64;
        let time = Femtoseconds(nanoseconds * FEMTOSECONDS_PER_NANOSECOND);
        frames.push((time, packet.data.into_owned()));
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("frames.pcap");
        let frames: Vec<Frame> = vec![
            (Femtoseconds(0), vec![1; 60]),
            (Femtoseconds(1_234_567_000_000), vec![2; 1514]),
        ];
        let written = frames.iter().map(|(time, bytes)| (*time, &bytes[..]));
        write(File::create(&path).expect("a file"), written).expect("it is written");
        assert_eq!(read("--pci-net", &path).expect("a capture"), frames);
        let late = [(Femtoseconds(u64::MAX), &[1; 60][..])];
        write(File::create(&path).expect("a file"), late.into_iter()).expect("it is written");
        let error = read("--pci-net", &path).expect_err("too late");
        assert!(
            error.to_string().contains("frame 1 comes after 18446 s"),
            "{error}"
        );
        std::fs::write(&path, "no capture").expect("a file");
        assert!(read("--pci-net", &path).is_err());
    }
}
