//! A VM that shares accelerators with others, and measures the *allocation latency* (Ker-ONE, section 6): the time from
//! before the first store to a virtual device without a region until the device's region has started to
//! compute.
//!
//! `tasks=2,3` are the numbers of its hardware tasks. It computes `requests=` frames, or frames until the machine
//! powers off (0), each by a random one of these, the first after `after_us=`: each after a random pause of up to
//! `pause_us=`, or one at each multiple of `every_us=` and `phase_us=` later, on the clock that all VMs share. The
//! first `warm=` are not counted. A frame has `bytes=` bytes for QAM and eight times as many for the FFT, so that their
//! outputs are about equally long. With pauses, several frames may be in progress at once: with each task at most as
//! many as `together=` has at its index, this one included. After `stay=` requests it chooses another random task. The
//! program ends `linger_us=` after the last request.
//!
//! Every result is compared with that of software for the same frame: no preemption or restart of a task may change a
//! bit.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use core::time::Duration;

use tactus_bench::{Moments, Random};
use tactus_guest::abi::map;
use tactus_guest::accelerator::{Computation, VirtualDevice};
use tactus_guest::{devicetree, power, println, record, start, stopwatch, time};
use tactus_tasks::{Task, Workspace};

tactus_guest::entry!(main);

/// Accelerators that a VM may have here.
const DEVICES: usize = 4;
/// The longest frame for QAM; input and output of all others have at most eight times as many bytes.
const FRAME: usize = 65_536;
/// Samples of each task that are kept individually, and samples per line.
const SAMPLES: usize = 10_000;
const LINE: usize = 250;

static INPUTS: [[AtomicU64; FRAME]; DEVICES] = [const { [const { AtomicU64::new(0) }; _] }; _];
static OUTPUTS: [[AtomicU64; FRAME]; DEVICES] = [const { [const { AtomicU64::new(0) }; _] }; _];
static LATENCIES: [[AtomicU32; SAMPLES]; DEVICES] = [const { [const { AtomicU32::new(0) }; _] }; _];

fn refuse(reason: impl core::fmt::Display) -> ! {
    record::fail(start::program(), reason);
    power::off_failed()
}

/// An accelerator.
struct Client {
    device: VirtualDevice,
    computation: Computation,
    output: &'static [AtomicU64],
    /// Digest of the right results.
    right: u64,
    /// A computation is in progress.
    busy: bool,
    /// Number of this VM's tasks, itself included, with which it may run at most.
    together: usize,
    /// The latencies: their moments, and each of them.
    latencies: Moments,
    samples: &'static [AtomicU32; SAMPLES],
}

/// A digest that depends on every bit and its place (FNV-1a over doublewords).
fn digest(words: &[AtomicU64]) -> u64 {
    words.iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, word| {
        (sum ^ word.load(Ordering::Relaxed)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl Client {
    fn new(
        place: usize,
        number: u8,
        bytes: usize,
        together: usize,
        random: &mut Random,
        workspace: &mut Workspace,
    ) -> Self {
        let found = VirtualDevice::find(number).zip(Task::of_number(number));
        let Some((device, task)) = found else {
            refuse(format_args!("this VM has no accelerator of task {number}"));
        };
        let bytes = match task {
            Task::Qam16 | Task::Qam64 => bytes,
            Task::Fft512 | Task::Fft1024 => 8 * bytes,
        };
        for word in &INPUTS[place][..bytes.div_ceil(8)] {
            word.store(random.below(u64::MAX), Ordering::Relaxed);
        }
        let output = &OUTPUTS[place][..task.output_bytes(bytes).div_ceil(8)];
        task.compute(bytes, &INPUTS[place], output, workspace);
        let offset = |words: &[AtomicU64]| (words.as_ptr() as u64 - map::RAM_BASE) as u32;
        Self {
            device,
            computation: Computation {
                input: offset(&INPUTS[place]),
                length: bytes as u32,
                output: offset(&OUTPUTS[place]),
                parameter: 0x5ac3_f00d,
            },
            output,
            right: digest(output),
            busy: false,
            together,
            latencies: Moments::new(),
            samples: &LATENCIES[place],
        }
    }

    /// Starts a frame. Returns the cycles until a region has started it; `None`: the device already had a region.
    fn request(&mut self) -> Option<u64> {
        if let [first, .., last] = self.output {
            first.store(0, Ordering::Relaxed);
            last.store(0, Ordering::Relaxed);
        }
        self.busy = true;
        let has_region = self.device.has_region();
        let begin = time::cycles();
        self.device.start(&self.computation);
        while !self.device.has_begun() {}
        let end = time::cycles();
        (!has_region).then_some(end - begin)
    }

    /// Checks whether the computation has ended, and its result.
    fn look(&mut self) {
        if !self.busy || !self.device.is_complete() {
            return;
        }
        self.busy = false;
        if let Err(failure) = self.device.outcome() {
            refuse(format_args!("a computation ended with {failure:?}"));
        }
        fence(Ordering::Acquire);
        if digest(self.output) != self.right {
            refuse("a result is not what software makes of the same frame");
        }
    }
}

/// The name of a task in reports.
const fn name(task: u8) -> &'static str {
    match task {
        2 => "alloc_qam16",
        3 => "alloc_qam64",
        4 => "alloc_fft512",
        _ => "alloc_fft1024",
    }
}

/// The numbers of a comma-separated list.
fn list(argument: &str) -> impl Iterator<Item = usize> {
    let text = devicetree::argument(argument).unwrap_or_default();
    text.split(',').filter(|one| !one.is_empty()).map(|one| {
        let Ok(number) = one.parse() else {
            refuse("a boot argument is no list of numbers");
        };
        number
    })
}

/// Whether a computation of the chosen task may start now.
fn may_begin(clients: &[Option<Client>], chosen: usize) -> bool {
    let busy = || clients.iter().flatten().filter(|client| client.busy);
    let Some(own) = clients.get(chosen).and_then(Option::as_ref) else {
        return false;
    };
    let least = busy().map(|client| client.together).min();
    !own.busy && busy().count() < own.together.min(least.unwrap_or(DEVICES))
}

fn look(clients: &mut [Option<Client>]) {
    for client in clients.iter_mut().flatten() {
        client.look();
    }
}

fn main() {
    println!("bench-dpr, boot arguments \"{}\"", devicetree::arguments());
    let number = |name, default| devicetree::number(name, default);
    let requests = number("requests", 0);
    let warm = number("warm", 0);
    let bytes = number("bytes", 2350) as usize;
    let microseconds = |name, default| time::ticks(Duration::from_micros(number(name, default)));
    let (pause, period) = (microseconds("pause_us", 200), microseconds("every_us", 0));
    let phase = microseconds("phase_us", 0);
    let stay = number("stay", 1).max(1);
    if !(8..=FRAME).contains(&bytes) {
        refuse("the boot argument bytes is out of range");
    }
    let mut random = Random::new(number("seed", 1));
    let mut clients: [Option<Client>; DEVICES] = [const { None }; _];
    let mut tasks = [0; DEVICES];
    let together = list("together").chain(core::iter::repeat(DEVICES));
    let mut workspace = Workspace::new();
    let mut count = 0;
    let places = clients.iter_mut().zip(&mut tasks);
    for (((place, kept), task), together) in places.zip(list("tasks")).zip(together) {
        *kept = task as u8;
        *place = Some(Client::new(
            count,
            *kept,
            bytes,
            together,
            &mut random,
            &mut workspace,
        ));
        count += 1;
    }
    if count == 0 {
        refuse("the boot argument tasks is missing");
    }
    let (mut latencies, mut kept) = (Moments::new(), 0_u64);
    stopwatch::wait_until(time::now() + microseconds("after_us", 0));
    let (mut done, mut chosen) = (0, 0);
    while requests == 0 || done < requests {
        // Finish the comparisons before the next period starts.
        while period != 0 && clients.iter().flatten().any(|client| client.busy) {
            look(&mut clients);
        }
        let until = match (time::now() + period - phase).checked_div(period) {
            None => time::now() + 1 + random.below(pause.max(1)),
            // The next period that is still to come.
            Some(passed) => passed * period + phase,
        };
        stopwatch::wait_until(until);
        if done % stay == 0 {
            chosen = random.below(count as u64) as usize;
        }
        while !may_begin(&clients, chosen) {
            look(&mut clients);
        }
        let Some(client) = &mut clients[chosen] else {
            continue;
        };
        let latency = client.request();
        done += 1;
        if done > warm {
            match latency {
                Some(latency) => {
                    if let Some(place) = client.samples.get(client.latencies.count as usize) {
                        place.store(latency as u32, Ordering::Relaxed);
                    }
                    client.latencies.add(latency);
                    latencies.add(latency);
                }
                None => kept += 1,
            }
        }
        look(&mut clients);
    }
    while clients.iter().flatten().any(|client| client.busy) {
        look(&mut clients);
    }
    stopwatch::wait_until(time::now() + microseconds("linger_us", 0));
    for (client, task) in clients.iter().flatten().zip(tasks) {
        let name = name(task);
        for line in client.samples.chunks(LINE).enumerate() {
            let count = (client.latencies.count as usize).saturating_sub(line.0 * LINE);
            if count > 0 {
                let values = line.1.iter().take(count);
                let values = values.map(|latency| latency.load(Ordering::Relaxed));
                record::samples(name, "all", "cycles", values);
            }
        }
        record::metric_with_suffix(name, "_count", client.latencies.count, "count");
    }
    tactus_bench::report("alloc", &latencies);
    record::metric("alloc_count", latencies.count, "count");
    record::metric("alloc_kept", kept, "count");
    record::metric("requests", done, "count");
    record::pass(start::program());
}
