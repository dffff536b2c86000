//! Computes frames by accelerators that it shares with other VMs, and reports the CRC-32 of the results: a reader who
//! knows what the tasks compute can tell from it whether every bit is right.
//!
//! Boot arguments: `tasks=qam16,fft512`: the virtual devices that it has; `frames`: number of frames for each;
//! `length`: bytes of a frame for QAM, an eighth of one for the FFT, so that the outputs are about equally long;
//! `rounds`: computations of each frame, to keep the regions busy; `patience`: computes one frame at a time, by
//! software when there is no region for that many ticks. Without `patience`, all devices compute concurrently and the
//! program waits for them, without a limit.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};

use tactus_abi::map;
use tactus_guest::accelerator::{CompletedBy, Computation, Failure, VirtualDevice};
use tactus_guest::{devicetree, interrupts, println, record, start, trap};
use tactus_tasks::{Task, Workspace};

tactus_guest::entry!(main);

/// Tasks as `system.toml` and this program's arguments name them, with the number of each.
const TASKS: [(&str, u8, Task); 4] = [
    ("qam16", 2, Task::Qam16),
    ("qam64", 3, Task::Qam64),
    ("fft512", 4, Task::Fft512),
    ("fft1024", 5, Task::Fft1024),
];
/// The largest frame and the largest output, in words of 64 bits.
const WORDS: usize = 65536;
/// Factor of a frame's bytes for the FFT, whose output is as long as its input.
const FFT_FACTOR: u64 = 8;

/// Bytes that enter the checksum at a time.
const PIECE: usize = 512;

type Buffer = [AtomicU64; WORDS];
static INPUTS: [Buffer; TASKS.len()] = [const { [const { AtomicU64::new(0) }; WORDS] }; _];
static OUTPUTS: [Buffer; TASKS.len()] = [const { [const { AtomicU64::new(0) }; WORDS] }; _];

/// A virtual device at work.
struct Worker {
    name: &'static str,
    number: u8,
    task: Task,
    device: VirtualDevice,
    input: &'static Buffer,
    output: &'static Buffer,
    /// Bytes of a frame.
    length: u32,
    crc: crc32fast::Hasher,
    by_hardware: u64,
    by_software: u64,
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
    let patience = devicetree::argument("patience").map(|_| devicetree::number("patience", 0));
    let names = devicetree::argument("tasks").ok_or("the boot argument tasks is missing")?;
    let mut workers: [Option<Worker>; TASKS.len()] = [const { None }; _];
    let mut workspace = Workspace::new();
    for (place, name) in names.split(',').enumerate() {
        let worker = workers.get_mut(place).ok_or("too many tasks")?;
        *worker = Some(Worker::of(name, place, length)?);
    }
    trap::on_external(interrupted);
    for worker in workers.iter().flatten() {
        if let Some(source) = worker.device.source() {
            interrupts::enable(source, 1);
            worker.device.set_interrupt(true);
        }
    }
    trap::enable_interrupts();
    for frame in 0..frames {
        for worker in workers.iter().flatten() {
            worker.prepare(frame);
        }
        match patience {
            None => side_by_side(&mut workers, rounds)?,
            Some(patience) => {
                for worker in workers.iter_mut().flatten() {
                    worker.compute_somehow(patience, &mut workspace)?;
                }
            }
        }
    }
    for worker in workers.into_iter().flatten() {
        worker.report();
    }
    Ok(())
}

/// Computes a frame on each device, `rounds` times; checks the output of the last round.
fn side_by_side(workers: &mut [Option<Worker>], rounds: u64) -> Result<(), &'static str> {
    for worker in workers.iter_mut().flatten() {
        worker.left = rounds;
        worker.next();
    }
    while workers.iter().flatten().any(|worker| worker.left > 0) {
        for worker in workers.iter_mut().flatten() {
            worker.look()?;
        }
    }
    Ok(())
}

/// Handles the completion of a device's computation; the waiting code checks its device.
fn interrupted(source: u32) {
    for (_, number, _) in TASKS {
        if let Some(device) = VirtualDevice::find(number)
            && device.source() == Some(source)
        {
            device.clear_interrupt();
        }
    }
}

impl Worker {
    fn of(name: &'static str, place: usize, length: u64) -> Result<Self, &'static str> {
        let (_, number, task) = *TASKS
            .iter()
            .find(|(known, ..)| *known == name)
            .ok_or("no such task")?;
        let device = VirtualDevice::find(number).ok_or("there is no virtual device of a task")?;
        let length = match task {
            Task::Qam16 | Task::Qam64 => length,
            Task::Fft512 | Task::Fft1024 => FFT_FACTOR * length,
        };
        let worker = Self {
            name,
            number,
            task,
            device,
            input: &INPUTS[place],
            output: &OUTPUTS[place],
            length: u32::try_from(length).unwrap_or(u32::MAX),
            crc: crc32fast::Hasher::new(),
            by_hardware: 0,
            by_software: 0,
            left: 0,
            was_preempted: false,
            preempted: 0,
        };
        // No output is shorter than its input.
        if !(1..=8 * WORDS as u64).contains(&worker.output_bytes()) {
            return Err("the boot argument length is out of range");
        }
        Ok(worker)
    }

    /// Bytes of the output.
    fn output_bytes(&self) -> u64 {
        self.task.output_bytes(self.length as usize) as u64
    }

    fn computation(&self) -> Computation {
        let offset = |buffer: &Buffer| (buffer.as_ptr() as u64 - map::RAM_BASE) as u32;
        Computation {
            input: offset(self.input),
            length: self.length,
            output: offset(self.output),
            parameter: 0,
        }
    }

    /// Fills the frame of that number, from a 64-bit xorshift generator; clears the output.
    fn prepare(&self, frame: u64) {
        let mut random = u64::from(self.number) << 32 | (frame + 1);
        for word in &self.input[..(self.length as usize).div_ceil(8)] {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            word.store(random.to_le(), Ordering::Relaxed);
        }
        for word in &self.output[..self.output_bytes().div_ceil(8) as usize] {
            word.store(0, Ordering::Relaxed);
        }
    }

    /// Starts a round.
    fn next(&mut self) {
        self.was_preempted = false;
        self.device.start(&self.computation());
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
        self.preempted += u64::from(self.was_preempted);
        self.left -= 1;
        let outcome = self.device.outcome().map(CompletedBy::Hardware);
        if self.left == 0 || outcome.is_err() {
            return self.record_outcome(outcome);
        }
        self.next();
        Ok(())
    }

    fn compute_somehow(
        &mut self,
        patience: u64,
        workspace: &mut Workspace,
    ) -> Result<(), &'static str> {
        let computation = self.computation();
        let outcome = self.device.run_or(&computation, patience, |_| {
            let length = self.length as usize;
            self.task
                .compute(length, self.input, self.output, workspace);
        });
        self.record_outcome(outcome)
    }

    fn record_outcome(
        &mut self,
        outcome: Result<CompletedBy, Failure>,
    ) -> Result<(), &'static str> {
        match outcome {
            Ok(CompletedBy::Hardware(_)) => self.by_hardware += 1,
            Ok(CompletedBy::Software) => self.by_software += 1,
            Err(failure) => {
                println!("{}: {failure:?}", self.name);
                return Err("a frame was not computed");
            }
        }
        let mut left = self.output_bytes() as usize;
        for words in self.output.chunks(PIECE / 8) {
            let mut bytes = [0; PIECE];
            for (place, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
                *place = word.load(Ordering::Relaxed).to_le_bytes();
            }
            self.crc.update(&bytes[..left.min(PIECE)]);
            left = left.saturating_sub(PIECE);
        }
        Ok(())
    }

    fn report(self) {
        record::metric_with_suffix(self.name, "_crc32", self.crc.finalize(), "count");
        record::metric_with_suffix(self.name, "_by_hardware", self.by_hardware, "count");
        record::metric_with_suffix(self.name, "_by_software", self.by_software, "count");
        record::metric_with_suffix(self.name, "_preempted", self.preempted, "count");
    }
}
