//! A VM that shares accelerators with others, and measures how long it takes until it has one: the *allocation latency* (Ker-ONE, section 6), from before the first store
//! to a virtual device without a region to when its region has begun to compute.
//!
//! `tasks=2,3` are the numbers of its hardware tasks. `requests=` frames of `bytes=` are computed, or as many as come until the machine goes off (0), each by a random one of these, the first after
//! `phase_us=`: each after a random pause of up to `pause_us=`, or one every `every_us=`. The first `warm=` are not counted. With pauses, up to a frame of each task is under way at the same time.
//!
//! Every result is compared with the first that this VM has got of the same frame: nothing that happens to a task may change a bit. That the first is right is what tests look at.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use core::time::Duration;

use tactus_bench::{Moments, Random};
use tactus_guest::abi::map;
use tactus_guest::accelerator::{Computation, VirtualDevice};
use tactus_guest::{devicetree, power, println, record, start, stopwatch, time};

tactus_guest::entry!(main);

/// Accelerators that a VM may have here.
const DEVICES: usize = 4;
/// The longest frame and the longest output, in bytes.
const FRAME: usize = 65_536;
/// Samples that are kept one by one.
const SAMPLES: usize = 10_000;

type Words<const N: usize> = [AtomicU64; N];
static INPUTS: [Words<{ FRAME / 8 }>; DEVICES] = [const { [const { AtomicU64::new(0) }; _] }; _];
static OUTPUTS: [Words<{ 8 * FRAME / 8 }>; DEVICES] =
    [const { [const { AtomicU64::new(0) }; _] }; _];
static LATENCIES: [AtomicU32; SAMPLES] = [const { AtomicU32::new(0) }; _];

fn refuse(reason: impl core::fmt::Display) -> ! {
    record::fail(start::program(), reason);
    power::off_failed()
}

/// An accelerator.
struct Client {
    device: VirtualDevice,
    computation: Computation,
    output: &'static [AtomicU64],
    /// What the results are, as a sum of all their bits; 0: not known yet.
    right: u64,
    /// Something is under way.
    busy: bool,
}

/// A sum in which every bit and its place counts (FNV-1a over doublewords).
fn digest(words: &[AtomicU64]) -> u64 {
    words.iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, word| {
        (sum ^ word.load(Ordering::Relaxed)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl Client {
    fn new(place: usize, task: u8, bytes: usize, random: &mut Random) -> Self {
        let Some(device) = VirtualDevice::find(task) else {
            refuse(format_args!("this VM has no accelerator of task {task}"));
        };
        for word in &INPUTS[place] {
            word.store(random.below(u64::MAX), Ordering::Relaxed);
        }
        // QAM makes a symbol of 4 bytes of 4 or 6 bits; the others give as many bytes as they get, in whole blocks.
        let size = match task {
            2 => 8 * bytes,
            3 => (8 * bytes).div_ceil(6) * 4,
            4 => bytes.next_multiple_of(2048),
            5 => bytes.next_multiple_of(4096),
            _ => bytes,
        };
        let offset = |words: &[AtomicU64]| (words.as_ptr() as u64 - map::RAM_BASE) as u32;
        Self {
            device,
            computation: Computation {
                input: offset(&INPUTS[place]),
                length: bytes as u32,
                output: offset(&OUTPUTS[place]),
                parameter: 0x5ac3_f00d,
            },
            output: &OUTPUTS[place][..size.div_ceil(8)],
            right: 0,
            busy: false,
        }
    }

    /// Asks for a frame. Gives the cycles until a region has begun with it; `None`: it had one already.
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

    /// Looks whether what was asked for is over, and right.
    fn look(&mut self) {
        if !self.busy || !self.device.is_over() {
            return;
        }
        self.busy = false;
        if let Err(failure) = self.device.outcome() {
            refuse(format_args!("a computation ended with {failure:?}"));
        }
        fence(Ordering::Acquire);
        let digest = digest(self.output);
        if self.right == 0 {
            self.right = digest;
        } else if self.right != digest {
            refuse("the same frame has given another result");
        }
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
    if !(8..=FRAME).contains(&bytes) {
        refuse("the boot argument bytes is out of range");
    }
    let mut random = Random::new(number("seed", 1));
    let mut clients: [Option<Client>; DEVICES] = [const { None }; _];
    let tasks = devicetree::argument("tasks").unwrap_or_default();
    let mut count = 0;
    for (place, task) in clients.iter_mut().zip(tasks.split(',')) {
        let Ok(task) = task.parse() else {
            refuse("the boot argument tasks is no list of numbers");
        };
        *place = Some(Client::new(count, task, bytes, &mut random));
        count += 1;
    }
    if count == 0 {
        refuse("the boot argument tasks is missing");
    }
    let (mut latencies, mut kept) = (Moments::new(), 0_u64);
    let mut next = time::now() + microseconds("phase_us", 0);
    let mut done = 0;
    while requests == 0 || done < requests {
        let until = if period == 0 {
            time::now() + 1 + random.below(pause.max(1))
        } else {
            next += period;
            next
        };
        stopwatch::wait_until(until);
        let chosen = random.below(count as u64) as usize;
        let Some(client) = &mut clients[chosen] else {
            continue;
        };
        while client.busy {
            client.look();
        }
        let latency = client.request();
        done += 1;
        if done > warm {
            match latency {
                Some(latency) => {
                    if let Some(place) = LATENCIES.get(latencies.count as usize) {
                        place.store(latency as u32, Ordering::Relaxed);
                    }
                    latencies.add(latency);
                }
                None => kept += 1,
            }
        }
        for client in clients.iter_mut().flatten() {
            client.look();
        }
    }
    for client in clients.iter_mut().flatten() {
        while client.busy {
            client.look();
        }
    }
    let kept_ones = LATENCIES.iter().take(latencies.count as usize);
    record::samples(
        "alloc",
        "all",
        "cycles",
        kept_ones.map(|latency| latency.load(Ordering::Relaxed)),
    );
    tactus_bench::report("alloc", &latencies);
    record::metric("alloc_count", latencies.count, "count");
    record::metric("alloc_kept", kept, "count");
    record::pass(start::program());
}
