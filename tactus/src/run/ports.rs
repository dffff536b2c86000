//! What VMs send and receive at the ports of a switch that is a VM, as files of frames (pcap).
//!
//! The switch records it in its own memory ([`tactus_abi::capture`]), of which the machine keeps the recording at its
//! end. Without `--pcap` nothing of that happens.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

use miette::{IntoDiagnostic, WrapErr, miette};
use tactus_abi::capture::{
    ARGUMENT, CAPACITY, DROPPED, END, FIRST, FRAME_MAX, HEADER, MAGIC, RECORD, SIZE, record_size,
};
use tactus_board::time::Femtoseconds;

use crate::boot::can_be_written;
use crate::capture;
use crate::cli::Wire;
use crate::config::{At, Config, FileName};
use crate::image::Image;

use super::kept::Kept;

/// The image of a switch that records.
const SWITCH: &str = "virtio-switch";
const FEMTOSECONDS_PER_SECOND: u128 = 1_000_000_000_000_000;

/// The ports whose frames are wanted.
#[derive(Debug, Default)]
pub struct Ports(Vec<Port>);

/// A VM's ports of a switch.
#[derive(Debug)]
struct Port {
    vm: String,
    file: PathBuf,
    /// The switch's index in the system.
    switch: usize,
    /// The ports' numbers, as bits.
    numbers: u32,
    /// What the switch has recorded.
    kept: Option<Kept>,
}

impl Ports {
    /// The ports that `wires` are about; their switches are told to record.
    ///
    /// # Errors
    /// A VM has no port of a switch, or a file cannot be written.
    pub fn of(wires: &[Wire], config: &mut Config) -> miette::Result<Self> {
        let ports: Vec<_> = wires
            .iter()
            .map(|wire| {
                can_be_written("--pcap", &wire.file)?;
                Port::of(wire, config)
            })
            .collect::<Result<_, _>>()?;
        for (index, vm) in config.vms.iter_mut().enumerate() {
            let of_switch = ports.iter().filter(|port| port.switch == index);
            let numbers = of_switch.fold(0, |all, port| all | port.numbers);
            if numbers == 0 {
                continue;
            }
            let (before, span) = match vm.bootargs.take() {
                Some(At { value, span }) => (value + " ", span),
                None => (String::new(), vm.span.clone()),
            };
            let value = format!("{before}{ARGUMENT}={numbers}");
            vm.bootargs = Some(At { value, span });
        }
        Ok(Self(ports))
    }

    /// The memory that the machine is to keep.
    ///
    /// # Errors
    /// A switch's memory is not in one piece.
    pub fn keep(&mut self, image: &Image) -> miette::Result<Vec<Kept>> {
        let mut all: Vec<(usize, Kept)> = Vec::new();
        for port in &mut self.0 {
            let known = all.iter().find(|(switch, _)| *switch == port.switch);
            let kept = match known {
                Some((_, kept)) => kept.clone(),
                None => {
                    let memory = image.memories[port.switch];
                    if memory.spread != 0 || (memory.size as usize) < SIZE {
                        return Err(miette!(
                            help = "take `cache_colours` and `onchip_memory` from it, or give it 4 MiB",
                            "--pcap {}: the memory of the switch, {}, is not in one piece, or too small to record",
                            port.vm,
                            image.vms[port.switch]
                        ));
                    }
                    let kept = Kept::new(memory.host_at(0), SIZE);
                    all.push((port.switch, kept.clone()));
                    kept
                }
            };
            port.kept = Some(kept);
        }
        Ok(all.into_iter().map(|(_, kept)| kept).collect())
    }

    /// Writes the files, when the machine has ended. Gives what is to be said of it.
    ///
    /// # Errors
    /// A switch has recorded nothing, or a file cannot be written.
    pub fn write(&self, vms: &[String], timebase_hz: u64) -> miette::Result<Vec<String>> {
        let mut recordings: Vec<(usize, Recording)> = Vec::new();
        let mut remarks = Vec::new();
        for port in &self.0 {
            let at = || format!("--pcap {}={}", port.vm, port.file.display());
            if !recordings.iter().any(|(switch, _)| *switch == port.switch) {
                let bytes = port.kept.as_ref().map(Kept::take).unwrap_or_default();
                let recording = Recording::read(&bytes).map_err(|reason| {
                    let switch = &vms[port.switch];
                    miette!("{}: the switch, {switch}, {reason}", at())
                })?;
                recordings.push((port.switch, recording));
            }
            let of_switch = recordings.iter().find(|(switch, _)| *switch == port.switch);
            let Some((_, recording)) = of_switch else {
                continue;
            };
            let frames: Vec<_> = recording
                .frames
                .iter()
                .filter(|frame| port.numbers >> frame.port & 1 != 0)
                .map(|frame| (time(frame.ticks, timebase_hz), &frame.bytes[..]))
                .collect();
            if recording.dropped > 0 {
                remarks.push(format!(
                    "{}: the first {} frames of the switch, {}, were no longer kept",
                    port.file.display(),
                    recording.dropped,
                    vms[port.switch]
                ));
            }
            let written = File::create(&port.file).and_then(|file| {
                let mut file = BufWriter::new(file);
                capture::write(&mut file, frames.into_iter())?;
                file.flush()
            });
            written.into_diagnostic().wrap_err_with(at)?;
        }
        Ok(remarks)
    }
}

impl Port {
    fn of(wire: &Wire, config: &Config) -> miette::Result<Self> {
        let index = |name: &str| {
            let names = config.vms.iter().map(|vm| vm.name.as_ref());
            let mut names = names.map(|found| found.is_some_and(|found| found.value == name));
            names.position(|found| found)
        };
        if index(&wire.vm).is_none() {
            return Err(miette!("--pcap {}: the system has no such VM", wire.vm));
        }
        let mut found: Option<(usize, u32)> = None;
        // How many channels each VM has before this one: its number of the next.
        let mut counts = vec![0u32; config.vms.len()];
        for channel in &config.channels {
            let Some(between) = &channel.between else {
                continue;
            };
            let ends = [0, 1].map(|end: usize| index(&between[end].value));
            if let [Some(first), Some(second)] = ends {
                let image = config.vms[second].image.as_ref();
                let is_switch =
                    image.is_some_and(|image| image.value == FileName::Artifact(SWITCH.to_owned()));
                let is_port = channel.device.is_some()
                    && config.vms[first]
                        .name
                        .as_ref()
                        .is_some_and(|name| name.value == wire.vm);
                if is_switch && is_port && found.is_none_or(|(switch, _)| switch == second) {
                    let numbers = found.map_or(0, |(_, numbers)| numbers);
                    found = Some((
                        second,
                        numbers | 1u32.checked_shl(counts[second]).unwrap_or(0),
                    ));
                }
            }
            for end in ends.into_iter().flatten() {
                counts[end] += 1;
            }
        }
        let (switch, numbers) = found.ok_or_else(|| {
            miette!(
                help = format!(
                    "name a VM with a `device` in a `[[channel]]` to a VM whose image is `@{SWITCH}`"
                ),
                "--pcap {}: the VM has no port of a switch",
                wire.vm
            )
        })?;
        Ok(Self {
            vm: wire.vm.clone(),
            file: wire.file.clone(),
            switch,
            numbers,
            kept: None,
        })
    }
}

/// When a frame was, since reset.
fn time(ticks: u64, timebase_hz: u64) -> Femtoseconds {
    let time = u128::from(ticks) * FEMTOSECONDS_PER_SECOND / u128::from(timebase_hz.max(1));
    Femtoseconds(u64::try_from(time).unwrap_or(u64::MAX))
}

/// A frame that a switch has recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Frame {
    ticks: u64,
    port: u8,
    bytes: Vec<u8>,
}

/// What a switch has recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Recording {
    frames: Vec<Frame>,
    dropped: u64,
}

impl Recording {
    /// Reads a recording. The VM whose memory it is may have written anything.
    fn read(bytes: &[u8]) -> Result<Self, &'static str> {
        const BROKEN: &str = "has destroyed its recording";
        let word = |at: usize| {
            let word = bytes.get(at..)?.first_chunk()?;
            Some(u64::from_le_bytes(*word))
        };
        if bytes.len() != SIZE || word(0) != Some(MAGIC) {
            return Err("has recorded nothing: it did not start");
        }
        let [first, end, dropped] = [FIRST, END, DROPPED].map(|at| word(at).unwrap_or(0));
        let kept = end.checked_sub(first).ok_or(BROKEN)?;
        if kept > CAPACITY as u64 || !first.is_multiple_of(8) {
            return Err(BROKEN);
        }
        // The ring from its oldest byte on.
        let (newest, oldest) = bytes[HEADER..].split_at((first % CAPACITY as u64) as usize);
        let ring = [oldest, newest].concat();
        let mut rest = &ring[..kept as usize];
        let mut frames = Vec::new();
        while let Some(head) = rest.first_chunk::<RECORD>() {
            let [time, what] = [&head[..8], &head[8..]].map(|word| {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(word);
                u64::from_le_bytes(bytes)
            });
            let (length, port) = (usize::from(what as u16), (what >> 16) as u8);
            let size = record_size(length);
            if length > FRAME_MAX || size > rest.len() || port >= 32 || what >> 24 != 0 {
                return Err(BROKEN);
            }
            frames.push(Frame {
                ticks: time,
                port,
                bytes: rest[RECORD..][..length].to_vec(),
            });
            rest = &rest[size..];
        }
        if !rest.is_empty() {
            return Err(BROKEN);
        }
        Ok(Self { frames, dropped })
    }
}

/// What must hold of any memory as a recording: it is refused, or has frames that are no longer than any, within its
/// size.
///
/// # Panics
///
/// It does not hold.
#[cfg(any(test, feature = "testing"))]
pub(crate) fn try_recording(bytes: &[u8]) {
    // What fills it up does not matter.
    let mut memory = bytes.to_vec();
    memory.resize(SIZE, 0);
    if let Ok(recording) = Recording::read(&memory) {
        let size: usize = recording
            .frames
            .iter()
            .map(|frame| record_size(frame.bytes.len()))
            .sum();
        assert!(size <= CAPACITY);
        assert!(
            recording
                .frames
                .iter()
                .all(|frame| frame.bytes.len() <= FRAME_MAX)
        );
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tactus_virtio::capture::Recorder;
    use tactus_virtio::memory::{Memory as _, Window};

    use super::*;

    /// Records frames of ports, and reads the recording.
    fn recorded(ports: u32, frames: &[Frame]) -> Recording {
        let mut words = vec![0u64; SIZE / 8];
        // SAFETY: the vector outlives the window, which alone uses it meanwhile.
        let window = unsafe { Window::new(words.as_mut_ptr() as usize, SIZE, 0) };
        let mut recorder = Recorder::new(window, ports).expect("of that size");
        for frame in frames {
            recorder.record(frame.port.into(), frame.ticks, &frame.bytes);
        }
        let mut bytes = vec![0; SIZE];
        window.read(0, &mut bytes).expect("all of it");
        drop(words);
        Recording::read(&bytes).expect("in order")
    }

    fn frame(number: u64, length: usize) -> Frame {
        Frame {
            ticks: number,
            port: (number % 3) as u8,
            bytes: (0..length)
                .map(|at| (at as u64 * 7 + number) as u8)
                .collect(),
        }
    }

    /// What the fuzzer begins with.
    #[test]
    fn the_corpus_is_refused_or_read() {
        crate::testing::each_file("fuzz/corpus/recorded_frames", try_recording);
    }

    #[test]
    fn only_wanted_ports_are_recorded() {
        let frames: Vec<_> = (0..9).map(|number| frame(number, 60)).collect();
        let recording = recorded(0b101, &frames);
        let wanted: Vec<_> = frames
            .iter()
            .filter(|frame| frame.port != 1)
            .cloned()
            .collect();
        assert_eq!(
            recording,
            Recording {
                frames: wanted,
                dropped: 0
            }
        );
    }

    /// More than there is room for: the newest are kept, whole, and the others counted.
    #[test]
    fn the_newest_frames_are_kept() {
        for length in [14, 61, FRAME_MAX] {
            let count = 2 * CAPACITY / record_size(length) + 7;
            let frames: Vec<_> = (0..count as u64)
                .map(|number| frame(number, length))
                .collect();
            let recording = recorded(0b111, &frames);
            let kept = recording.frames.len();
            assert_eq!(kept, CAPACITY / record_size(length));
            assert_eq!(recording.dropped, (count - kept) as u64);
            assert_eq!(recording.frames, frames[count - kept..]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn what_is_kept_is_the_end_of_what_was_recorded(lengths in prop::collection::vec(14usize..=FRAME_MAX, 0..5000)) {
            let frames: Vec<_> = lengths.iter().zip(0..).map(|(length, number)| frame(number, *length)).collect();
            let recording = recorded(0b111, &frames);
            let dropped = recording.dropped as usize;
            prop_assert_eq!(&recording.frames[..], &frames[dropped..]);
            // There would have been no room for one more.
            let kept: usize = frames[dropped..].iter().map(|frame| record_size(frame.bytes.len())).sum();
            prop_assert!(dropped == 0 || kept + record_size(FRAME_MAX) + record_size(FRAME_MAX) > CAPACITY);
        }

        #[test]
        fn any_memory_is_refused_or_has_frames(
            head in prop::array::uniform3(prop_oneof![0u64..200, any::<u64>()]),
            rest in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let words = head.iter().flat_map(|word| word.to_le_bytes());
            let bytes: Vec<u8> = MAGIC.to_le_bytes().into_iter().chain(words).chain(rest).collect();
            try_recording(&bytes);
        }
    }
}
