//! Times of the fabric's accelerators alone: to configure a region, to compute a frame, to reach a consistency point,
//! and to be killed; and the time of software for the same frames on a hart. Runs directly
//! under the firmware, with the design `accelerators` in the fabric, and drives every register itself, without a
//! hypervisor or device manager. `rounds=` is the number of measurements of each, after one that is not counted.
//!
//! Times are in cycles of the hart, from before an operation's first store to behind the load that shows its end.
#![no_std]
#![no_main]

use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering, fence};

use tactus_bench::{Moments, Random};
use tactus_guest::abi::bitstream::{Header, REGION_BYTES, seal};
use tactus_guest::{devicetree, power, println, record, start};
use tactus_registers::configuration_port::ConfigurationPort;
use tactus_registers::interface_manager::InterfaceManager;
use tactus_registers::region::Region;
use tactus_registers::virtual_device::VirtualDevice;
use tactus_tasks::Workspace;

tactus_guest::entry!(main);

/// Addresses of the fabric's pages and of the design's pages in it.
const FABRIC: usize = 0x4000_0000;
const PORT: usize = FABRIC + 0x1000;
const FIRST_REGION: usize = FABRIC + 0x2000;
const INTERFACE: usize = FABRIC + 0x8000;
const DEVICE: usize = FABRIC + 0x1_0000;
const PAGE: usize = 0x1000;

/// The tasks, each with the smallest region that it fits into, and the bytes of a frame: Ker-ONE's, of 18,800 bits, and
/// the 4,700 symbols that 16-QAM produces from them.
const TASKS: [Task; 4] = [
    Task::new("qam16", 2, 0, 2350),
    Task::new("qam64", 3, 0, 2350),
    Task::new("fft512", 4, 1, 18_800),
    Task::new("fft1024", 5, 2, 18_800),
];

/// Memory behind the image for the tasks: size of the window, and offsets in it.
const WINDOW: usize = 2 << 20;
const INPUT: usize = 1 << 20;
const OUTPUT: usize = INPUT + (1 << 19);
/// Output of the software.
const COMPARED: usize = OUTPUT + (1 << 18);

/// A region's state when the device manager has it (`docs/src/reference/regions.md`).
const SWITCH: u8 = 3;

struct Task {
    name: &'static str,
    number: u8,
    region: u8,
    bytes: u32,
}

impl Task {
    const fn new(name: &'static str, number: u8, region: u8, bytes: u32) -> Self {
        Self {
            name,
            number,
            region,
            bytes,
        }
    }
}

/// Reads `cycle` after all earlier accesses and before all later ones.
#[inline(always)]
fn cycle() -> u64 {
    let cycle;
    // SAFETY: reads a counter. Not `nomem`: the measured code must not be moved across it.
    unsafe { asm!("fence iorw, iorw", "csrr {}, cycle", out(reg) cycle, options(nostack)) };
    cycle
}

/// Cycles from before `begin` until `is_over`.
fn time(begin: impl FnOnce(), is_over: impl Fn() -> bool) -> u64 {
    let from = cycle();
    begin();
    while !is_over() {}
    cycle() - from
}

fn refuse(reason: impl core::fmt::Display) -> ! {
    record::fail(start::program(), reason);
    power::off_failed()
}

/// The fabric, and memory for it.
struct Bench {
    port: ConfigurationPort<'static>,
    interface: InterfaceManager<'static>,
    device: VirtualDevice<'static>,
    window: usize,
    random: Random,
    rounds: u64,
}

impl Bench {
    fn new(rounds: u64) -> Self {
        let window = start::image_end().next_multiple_of(WINDOW);
        // SAFETY: the design's pages, which this program alone uses.
        let (port, interface, device) = unsafe {
            (
                ConfigurationPort::from_ptr(PORT as *mut ()),
                InterfaceManager::from_ptr(INTERFACE as *mut ()),
                VirtualDevice::from_ptr(DEVICE as *mut ()),
            )
        };
        if port.id().read().kind() != 0x4350 {
            refuse("the fabric has no configuration port");
        }
        let mut bench = Self {
            port,
            interface,
            device,
            window,
            random: Random::new(7),
            rounds,
        };
        interface
            .window_base()
            .write(|base| base.set_page((window / PAGE) as u32));
        interface
            .window_pages()
            .write(|size| size.set_pages((WINDOW / PAGE) as u32));
        bench.fill(INPUT, 32_768);
        bench
    }

    /// Memory of the window, for the software.
    fn memory(&mut self, at: usize, bytes: usize) -> &mut [u8] {
        assert!(at + bytes <= WINDOW);
        // SAFETY: memory behind the image, which is this program's; no other reference to it is in use.
        unsafe { core::slice::from_raw_parts_mut((self.window + at) as *mut u8, bytes) }
    }

    /// Memory of the window that tasks write or read.
    fn words(&self, at: usize, bytes: usize) -> &[AtomicU64] {
        assert!(at + bytes <= WINDOW);
        // SAFETY: as above; no task writes to it now.
        unsafe {
            core::slice::from_raw_parts((self.window + at) as *const AtomicU64, bytes.div_ceil(8))
        }
    }

    fn fill(&mut self, at: usize, bytes: usize) {
        let mut random = self.random;
        self.memory(at, bytes).fill_with(|| random.below(256) as u8);
        self.random = random;
    }

    fn region(number: u8) -> Region<'static> {
        // SAFETY: as above.
        unsafe { Region::from_ptr((FIRST_REGION + usize::from(number) * PAGE) as *mut ()) }
    }

    /// Configures a task's region with the task. The region is owned by the device manager, or idle, before and after.
    fn configure(&mut self, task: &Task) -> u64 {
        let bytes = REGION_BYTES[usize::from(task.region)];
        self.fill(0, bytes);
        let header = Header {
            task: task.number,
            region: task.region,
        };
        if seal(self.memory(0, bytes), header).is_err() {
            refuse("no bitstream");
        }
        let region = Self::region(task.region);
        if region.descriptor().read().state() != SWITCH {
            region.command().write(|command| command.set_take(true));
        }
        let source = self.window as u64;
        self.port
            .source()
            .write(|register| register.set_addr(source >> 6));
        self.port
            .length()
            .write(|length| length.set_bytes(bytes as u32));
        let port = self.port;
        let took = time(
            || {
                port.target().write(|target| {
                    target.set_region_number(task.region);
                    target.set_task_number(task.number);
                    target.set_go(true);
                });
            },
            || !port.status().read().busy(),
        );
        if region.descriptor().read().loaded() != task.number {
            refuse(format_args!("{} was not loaded", task.name));
        }
        took
    }

    /// Connects the interface to a region that the device manager owns.
    fn connect(task: &Task) {
        let region = Self::region(task.region);
        region.client().write(|client| {
            client.set_interface_number(0);
            client.set_prio(1);
        });
        region.command().write(|command| command.set_connect(true));
        if region.answer().read().refused() {
            refuse(format_args!("{} was not connected", task.name));
        }
    }

    fn prepare(&self, task: &Task) {
        self.device
            .data_addr()
            .write(|register| register.set_value(INPUT as u32));
        self.device
            .data_size()
            .write(|register| register.set_value(task.bytes));
        self.device
            .custom0()
            .write(|register| register.set_value(OUTPUT as u32));
    }

    fn is_over(&self) -> bool {
        self.device.over().read().flag()
    }

    fn begin(&self) {
        self.device.start().write(|start| start.set_flag(true));
    }

    fn check(&self, task: &Task) {
        let error = self.device.result().read().error();
        if error != 0 {
            refuse(format_args!("{} ended with error {error}", task.name));
        }
    }

    /// Cycles of a frame's computation.
    fn frame(&self, task: &Task) -> u64 {
        let took = time(|| self.begin(), || self.is_over());
        self.check(task);
        took
    }

    /// Cycles of the software for the same frame; checks that its output is the same to the bit.
    fn software(&self, task: &Task, workspace: &mut Workspace) -> u64 {
        let Some(software) = tactus_tasks::Task::of_number(task.number) else {
            refuse(format_args!("there is no software for {}", task.name));
        };
        let length = task.bytes as usize;
        let bytes = software.output_bytes(length);
        let (input, output) = (self.words(INPUT, length), self.words(COMPARED, bytes));
        let from = cycle();
        software.compute(length, input, output, workspace);
        let took = cycle() - from;
        fence(Ordering::Acquire);
        let mut both = output.iter().zip(self.words(OUTPUT, bytes));
        if both.any(|(own, other)| own.load(Ordering::Relaxed) != other.load(Ordering::Relaxed)) {
            refuse(format_args!("{} and the software differ", task.name));
        }
        took
    }

    /// Cycles that a task takes to stop, `after` cycles into its frame; `None`: it ended before. Then the task resumes
    /// and ends.
    fn stop(&self, task: &Task, after: u64) -> Option<u64> {
        let region = Self::region(task.region);
        let begin = cycle();
        self.begin();
        while cycle() - begin < after {}
        let took = time(
            || region.command().write(|command| command.set_preempt(true)),
            || region.descriptor().read().state() == SWITCH || region.answer().read().refused(),
        );
        if region.answer().read().refused() {
            self.check(task);
            return None;
        }
        let unfinished = self.interface.state().read().unfinished();
        Self::connect(task);
        if unfinished {
            self.interface
                .command()
                .write(|command| command.set_resume(true));
        }
        while !self.is_over() {}
        self.check(task);
        Some(took)
    }

    /// Cycles from a task's kill in the middle of a frame until memory has answered all its accesses. The device
    /// manager owns the region afterwards.
    fn kill(&self, task: &Task, after: u64) -> u64 {
        let region = Self::region(task.region);
        let begin = cycle();
        self.begin();
        while cycle() - begin < after {}
        let took = time(
            || region.command().write(|command| command.set_kill(true)),
            || region.descriptor().read().drained(),
        );
        if region.answer().read().refused() {
            refuse(format_args!("{} was done before it was cut off", task.name));
        }
        took
    }

    fn task(&mut self, task: &Task, workspace: &mut Workspace) {
        let rounds = self.rounds;
        let mut reconfiguration = Moments::new();
        for round in 0..=rounds.min(3) {
            let took = self.configure(task);
            if round > 0 {
                reconfiguration.add(took);
            }
        }
        Self::connect(task);
        self.prepare(task);
        let mut frame = Moments::new();
        for round in 0..=rounds {
            let took = self.frame(task);
            if round > 0 {
                frame.add(took);
            }
        }
        let mut software = Moments::new();
        for round in 0..=rounds {
            let took = self.software(task, workspace);
            if round > 0 {
                software.add(took);
            }
        }
        let mut stop = Moments::new();
        for _ in 0..rounds {
            let after = self.random.below(frame.max);
            if let Some(took) = self.stop(task, after) {
                stop.add(took);
            }
        }
        let mut drain = Moments::new();
        for _ in 0..rounds {
            let after = self.random.below(frame.min / 2);
            drain.add(self.kill(task, after));
            Self::connect(task);
        }
        for (what, figures) in [
            ("reconfiguration", &reconfiguration),
            ("frame", &frame),
            ("software", &software),
            ("stop", &stop),
            ("drain", &drain),
        ] {
            record::metric(
                format_args!("{what}_{}_max", task.name),
                figures.max,
                "cycles",
            );
            record::metric(
                format_args!("{what}_{}_mean", task.name),
                figures.mean(),
                "cycles",
            );
        }
        record::metric(format_args!("stops_{}", task.name), stop.count, "count");
        // The fabric's own time in an allocation by preemption and configuration.
        let both = tactus_bench::Thousandths(stop.mean().0 + reconfiguration.mean().0);
        record::metric(
            format_args!("stop_and_reconfiguration_{}_mean", task.name),
            both,
            "cycles",
        );
        // The next task may be in another region: the interface releases this one, which is held for it until its first
        // use.
        self.frame(task);
        let region = Self::region(task.region);
        region.command().write(|command| command.set_take(true));
        region
            .command()
            .write(|command| command.set_release_region(true));
    }
}

fn main() {
    println!(
        "bench-fabric, boot arguments \"{}\"",
        devicetree::arguments()
    );
    let mut bench = Bench::new(devicetree::number("rounds", 50));
    let mut workspace = Workspace::new();
    for task in &TASKS {
        bench.task(task, &mut workspace);
    }
    // The fabric's own time in an allocation of an idle, configured region.
    record::metric("nothing", 0, "cycles");
    record::pass(start::program());
}
