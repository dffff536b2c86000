//! Computes frames by the tasks of the design `coprocessors`, whose regions it shares with other VMs, and reports the
//! CRC-32 of the results: a reader who knows what the tasks compute can tell from it whether every bit is right.
//!
//! Boot arguments: `tasks=crc32,sha256,aes,convolution`: the virtual devices that it has, which compute concurrently;
//! `frames`: number of frames for each; `length`: bytes of a frame; `rounds`: computations of each frame, to keep the
//! regions busy; `pause_us`: time between two frames.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

use tactus_abi::map;
use tactus_guest::accelerator::{Computation, VirtualDevice};
use tactus_guest::{devicetree, println, record, start, time};

tactus_guest::entry!(main);

/// A task of the design.
struct Task {
    /// What `system.toml` and this program's arguments call it.
    name: &'static str,
    /// Its number in the design.
    number: u8,
    /// The task's own parameter.
    parameter: u32,
    /// Bytes of the output for so many bytes of input.
    output_bytes: fn(usize) -> usize,
}

const TASKS: [Task; 4] = [
    Task {
        name: "crc32",
        number: 1,
        parameter: 0,
        output_bytes: |_| 8,
    },
    Task {
        name: "sha256",
        number: 2,
        parameter: 0,
        output_bytes: |_| 32,
    },
    // CTR with a key of 256 bits.
    Task {
        name: "aes",
        number: 3,
        parameter: 0b11,
        output_bytes: |length| length.saturating_sub(64),
    },
    // Sums are shifted by three bits. The kernel's block and two rows have no output.
    Task {
        name: "convolution",
        number: 4,
        parameter: 3,
        output_bytes: |length| length.saturating_sub(3 * 128),
    },
];
/// The largest frame and the largest output, in words of 64 bits.
const WORDS: usize = 24576;

type Buffer = [AtomicU64; WORDS];
static INPUTS: [Buffer; TASKS.len()] = [const { [const { AtomicU64::new(0) }; WORDS] }; _];
static OUTPUTS: [Buffer; TASKS.len()] = [const { [const { AtomicU64::new(0) }; WORDS] }; _];

/// A virtual device at work.
struct Worker {
    task: &'static Task,
    device: VirtualDevice,
    input: &'static Buffer,
    output: &'static Buffer,
    /// Bytes of a frame.
    length: usize,
    crc: crc32fast::Hasher,
    /// Rounds that are still to be computed.
    left: u64,
    /// Whether the region was preempted in this round.
    was_preempted: bool,
    preempted: u64,
}

fn main() {
    if let Err(why) = compute_all() {
        record::fail(start::program(), why);
        return;
    }
    record::pass(start::program());
}

fn compute_all() -> Result<(), &'static str> {
    let frames = devicetree::number("frames", 1);
    let length = devicetree::number("length", 2350);
    let rounds = devicetree::number("rounds", 1);
    let pause = time::ticks(Duration::from_micros(devicetree::number("pause_us", 0)));
    let names = devicetree::argument("tasks").ok_or("the boot argument tasks is missing")?;
    let mut workers: [Option<Worker>; TASKS.len()] = [const { None }; _];
    for (place, name) in names.split(',').enumerate() {
        let worker = workers.get_mut(place).ok_or("too many tasks")?;
        *worker = Some(Worker::of(name, place, length)?);
    }
    for frame in 0..frames {
        for worker in workers.iter_mut().flatten() {
            worker.prepare(frame, rounds);
        }
        while workers.iter().flatten().any(|worker| worker.left > 0) {
            for worker in workers.iter_mut().flatten() {
                worker.look()?;
            }
        }
        for worker in workers.iter_mut().flatten() {
            worker.add_to_checksum();
        }
        time::busy_wait(pause);
    }
    for worker in workers.into_iter().flatten() {
        worker.report();
    }
    Ok(())
}

impl Worker {
    fn of(name: &str, place: usize, length: u64) -> Result<Self, &'static str> {
        let task = TASKS
            .iter()
            .find(|known| known.name == name)
            .ok_or("no such task")?;
        let device =
            VirtualDevice::find(task.number).ok_or("there is no virtual device of a task")?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if !(1..=8 * WORDS).contains(&length) {
            return Err("the boot argument length is out of range");
        }
        Ok(Self {
            task,
            device,
            input: &INPUTS[place],
            output: &OUTPUTS[place],
            length,
            crc: crc32fast::Hasher::new(),
            left: 0,
            was_preempted: false,
            preempted: 0,
        })
    }

    /// Fills the frame of that number, from a 64-bit xorshift generator; clears the output; starts the first round.
    fn prepare(&mut self, frame: u64, rounds: u64) {
        let mut random = u64::from(self.task.number) << 32 | (frame + 1);
        for word in &self.input[..self.length.div_ceil(8)] {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            word.store(random.to_le(), Ordering::Relaxed);
        }
        for word in &self.output[..(self.task.output_bytes)(self.length).div_ceil(8)] {
            word.store(0, Ordering::Relaxed);
        }
        self.left = rounds;
        self.start();
    }

    fn start(&mut self) {
        self.was_preempted = false;
        let offset = |buffer: &Buffer| (buffer.as_ptr() as u64 - map::RAM_BASE) as u32;
        self.device.start(&Computation {
            input: offset(self.input),
            length: self.length as u32,
            output: offset(self.output),
            parameter: self.task.parameter,
        });
    }

    /// Checks the state of a round, and starts the next one when it has ended.
    fn look(&mut self) -> Result<(), &'static str> {
        if self.left == 0 {
            return Ok(());
        }
        if !self.device.is_complete() {
            self.was_preempted |= self.device.is_preempted();
            return Ok(());
        }
        if let Err(failure) = self.device.outcome() {
            println!("{}: {failure:?}", self.task.name);
            return Err("a frame was not computed");
        }
        self.preempted += u64::from(self.was_preempted);
        self.left -= 1;
        if self.left > 0 {
            self.start();
        }
        Ok(())
    }

    fn add_to_checksum(&mut self) {
        let mut left = (self.task.output_bytes)(self.length);
        for word in &self.output[..left.div_ceil(8)] {
            let bytes = word.load(Ordering::Relaxed).to_le_bytes();
            self.crc.update(&bytes[..left.min(8)]);
            left = left.saturating_sub(8);
        }
    }

    fn report(self) {
        record::metric_with_suffix(self.task.name, "_crc32", self.crc.finalize(), "count");
        record::metric_with_suffix(self.task.name, "_preempted", self.preempted, "count");
    }
}
