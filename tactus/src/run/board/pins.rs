//! The pins' changes as a waveform that any viewer shows: VCD (IEEE 1364-2005, 18).

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tactus_board::time::Clock;
use vcd::{IdCode, TimescaleUnit, Value, Writer};

const FEMTOSECONDS_PER_PICOSECOND: u64 = 1000;

/// Writes when so many pins, all low at reset, changed: the cycle of a clock, and their levels from then on.
///
/// # Errors
/// The file can't be written.
pub fn write(path: &Path, pins: u32, clock: Clock, changes: &[(u64, u32)]) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    write_to(&mut file, pins, clock, changes)?;
    file.flush()
}

fn write_to(to: impl Write, pins: u32, clock: Clock, changes: &[(u64, u32)]) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_each_pin_has_its_time() {
        let mut text = Vec::new();
        let clock = Clock::from_hertz(100_000_000);
        write_to(&mut text, 2, clock, &[(3, 3), (5, 1)]).expect("memory");
        let text = String::from_utf8(text).expect("text");
        let (header, changes) = text.split_once("$enddefinitions $end\n").expect("its end");
        assert!(header.contains("$timescale 1 ps $end"), "{header}");
        assert!(
            header.contains("pin0") && header.contains("pin1"),
            "{header}"
        );
        assert_eq!(changes, "#0\n0!\n0\"\n#30000\n1!\n1\"\n#50000\n0\"\n");
    }
}
