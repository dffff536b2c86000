//! The design `accelerators` under software that owns all of it.
//!
//! Each task computes in each region that it fits into, from bitstreams in memory. It is preempted and continues in
//! another region, with the same result. Invalid requests are refused.
//!
//! The NumPy models of the blocks' tests (`fabric/test/hw_task_models.py`) state the expected results. They are
//! independent of the implementation of the tasks.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use crate::assembler::{Program, S0, S1, T0, T1, T2, ZERO};
use crate::support::{GP, RESULTS, Random, board, model, power_off, result};
use crate::{BOTH, run};
use tactus_abi::bitstream::{self, HEADER, Header, REGION_BYTES};
use tactus_board::board::{Board, Pace};
use tactus_board::bus::BadState;
use tactus_board::fabric::{
    Activity, Fabric, FabricPort, Inputs, Outputs, Pins, PinsAt, QUIET_FOR_EVER,
};
use tactus_board::fault::Fault;

/// Pages, from the start of the port.
const PORT: u32 = 0x1000;
const fn region(number: u32) -> u32 {
    0x2000 + 0x1000 * number
}
pub const fn manager(interface: u32) -> u32 {
    0x8000 + 0x1000 * interface
}
pub const fn device(interface: u32) -> u32 {
    0x1_0000 + 0x1000 * interface
}
const fn timed(vm: u32) -> u32 {
    0x1_8000 + 0x1000 * vm
}
const TIMED_MANAGER: u32 = timed(4);

/// Registers of the region monitor.
pub const COMPATIBILITY: u32 = 0x04;
const REQUEST: u32 = 0x08;
/// Registers of the configuration port.
const STATUS: u32 = PORT + 0x04;
const SOURCE: u32 = PORT + 0x08;
const LENGTH: u32 = PORT + 0x10;
const TARGET: u32 = PORT + 0x14;
const PORT_CYCLES: u32 = PORT + 0x18;
const PORT_IRQ_ENABLE: u32 = PORT + 0x1c;
const GO: u32 = 1 << 31;
/// Its status bits: memory did not answer and still owes a response; and the error for that.
const OWED: u64 = 2;
const SILENT: u64 = 9 << 4;
/// The cycles after which the port stops waiting for memory.
const SILENT_CYCLES: u64 = 4096;
/// Registers of a region.
const DESCRIPTOR: u32 = 0x04;
const CLIENT: u32 = 0x08;
const COMMAND: u32 = 0x0c;
const ANSWER: u32 = 0x10;
const IRQ_ENABLE: u32 = 0x18;
const TAKE: u32 = 1;
const PREEMPT: u32 = 2;
const KILL: u32 = 4;
const CONNECT: u32 = 8;
const RELEASE: u32 = 16;
/// Its states: preempted by request, and switched, in which the manager owns it.
const PREEMPTED_STATE: u32 = 2;
const SWITCHED: u32 = 3;
/// Of the descriptor: memory owes no response.
const DRAINED: u32 = 1 << 7;
/// Of an interface, for the manager.
const MANAGER_COMMAND: u32 = 0x08;
const RESUME: u32 = 1;
const CLEAR_FAULTS: u32 = 4;
const WINDOW_BASE: u32 = 0x0c;
const WINDOW_PAGES: u32 = 0x10;
const FAULTS: u32 = 0x14;
const FAULT_ADDR: u32 = 0x18;
/// Of a virtual device.
const STAT: u32 = 0x04;
const UNFINISHED: u64 = 4;
pub const START: u32 = 0x08;
const OVER: u32 = 0x0c;
const CMD: u32 = 0x10;
const DATA_ADDR: u32 = 0x14;
const DATA_SIZE: u32 = 0x18;
const INT_CTRL: u32 = 0x1c;
const RESULT: u32 = 0x20;
const END: u32 = 0x28;
const TARGET_ADDR: u32 = 0x40;
/// Of timed I/O; and the cycles from the request to the start of a program there.
const NOW: u32 = 0x08;
const TIMED_START: u32 = 0x10;
const AHEAD: u32 = 5_000;

/// The PLIC's pending word with the design's lines, the bit of the first line, and the offset of the interfaces' lines.
const PENDING: u32 = 0xc00_1004;
const FIRST_LINE: i32 = 8;
const INTERFACE_LINES: i32 = 8;
/// `mcycle`.
pub const MCYCLE: u32 = 0xb00;

/// The address of the bitstreams, and the bytes for each: as many as the largest has.
pub const BITSTREAMS: u32 = 0x8010_4000;
pub const BITSTREAM_ROOM: u32 = 0x2_a000;
/// The memory of the VM that owns a virtual device: the address of its window, and its pages.
pub const VM: u32 = 0x8020_0000;
pub const OTHER_VM: u32 = 0x8030_0000;
const THIRD_VM: u32 = 0x8038_0000;
const VM_PAGES: u32 = 16;
/// The offset of the output in the window.
const OUTPUT: u32 = 0x8000;

/// The hardware's numbers of the tasks; the tests' names of them.
const TASKS: [(u32, &str); 4] = [(2, "qam16"), (3, "qam64"), (4, "fft512"), (5, "fft1024")];
/// The regions that each task fits into.
const FITS: [&[u32]; 4] = [&[0, 1], &[0, 1], &[1, 2], &[2]];

/// The fabric's cycles to configure each region, at the fast pace and at the timed one, whose memory is slower.
///
/// A configuration takes a cycle for each word of 32 bits, and the time to memory.
const CONFIGURED: [[u64; 3]; 2] = [[8094, 28359, 42219], [8110, 28375, 42235]];
/// The most cycles by which a configuration time differs with earlier memory accesses.
const AWAY: u64 = 2;
/// The cycles to compute a frame of each task, the first time and the second, in any region.
const COMPUTED: [[[u64; 2]; 4]; 2] = [
    [[2390, 2390], [1607, 1607], [3137, 3137], [3651, 3651]],
    [[2440, 2440], [1660, 1657], [3579, 3579], [4073, 4073]],
];
/// The same in two parts, in two regions.
const PREEMPTED: [[u64; 4]; 2] = [[2480, 1689, 3529, 4027], [2561, 1759, 4034, 4480]];
/// The cycles to configure a region while two tasks compute frame after frame, and the cycles of their last frames.
const SIDE_BY_SIDE: [[[u64; 3]; 2]; 2] = [
    [[8210, 10260, 10752], [8241, 10314, 10883]],
    [[42412, 3957, 3259], [42464, 4007, 3302]],
];
/// The time from the start of a frame to its interrupt, in cycles of the hart, of which 20 are 3 of the fabric.
const WAITED: [[u64; 4]; 2] = [[15997, 10777, 20977, 24405], [16522, 11320, 24118, 27412]];
/// The bounds, in cycles of the fabric, of a region's configuration, also beside tasks that compute, and of a frame.
///
/// A frame's time is from its start to its interrupt.
const CONFIGURED_MAX: [u64; 3] = [8500, 29000, 43000];
const WAITED_MAX: [u64; 4] = [2600, 1800, 6000, 6500];
/// How often a task is told to stop beside each two others, and the hart's steps between two of these times of a frame.
const PHASES: u32 = 3;
const PHASE: u32 = 2900;
/// The cycles of a frame of FFT-512 beside each kind of hostile task but the wild one.
const BESIDE: [[u64; 3]; 2] = [[3137, 3137, 3194], [3579, 3579, 3636]];

/// A frame of each task, with its output.
static FRAMES: LazyLock<[(Vec<u8>, Vec<u8>); 4]> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = root.join("build/fabric/frames");
    std::fs::create_dir_all(&folder).expect("a folder");
    let done = Command::new(root.join("build/setup/python/bin/python3"))
        .arg(root.join("fabric/test/hw_task_frames.py"))
        .arg(&folder)
        .status()
        .expect("Python; `make setup` installs what it needs");
    assert!(done.success());
    TASKS.map(|(_, name)| {
        let read = |kind| std::fs::read(folder.join(format!("{name}.{kind}"))).expect("a frame");
        (read("in"), read("out"))
    })
});

/// A bitstream of a task for a region. The bytes after the header are random.
pub fn bitstream(task: u32, number: u32) -> Vec<u8> {
    let mut random = Random(u64::from(task << 8 | number));
    let mut bytes: Vec<u8> = (0..REGION_BYTES[number as usize])
        .map(|_| random.below(256) as u8)
        .collect();
    let header = Header {
        task: task as u8,
        region: number as u8,
    };
    bitstream::seal(&mut bytes, header).expect("a bitstream");
    assert!(bytes.len() > HEADER);
    bytes
}

/// A program that drives the fabric, register by register, and stores the words that it reads in the results, in order.
pub struct Driver {
    pub p: Program,
}

impl Driver {
    pub fn new() -> Self {
        let mut p = Program::new();
        p.li(S1, RESULTS);
        Self { p }
    }

    pub fn write(&mut self, register: u32, value: u32) {
        self.p.li(S0, GP + register);
        self.p.li(T0, value);
        self.p.sw(T0, 0, S0);
    }

    /// Stores a register in the results.
    pub fn note(&mut self, register: u32) {
        self.note_at(GP + register);
    }

    /// Stores the word at any address in the results.
    pub fn note_at(&mut self, address: u32) {
        self.p.li(S0, address);
        self.p.lw(T0, 0, S0);
        self.p.slli(T0, T0, 32);
        self.p.srli(T0, T0, 32);
        self.p.sd(T0, 0, S1);
        self.p.addi(S1, S1, 8);
    }

    /// Waits until the bits `mask` of a register are `value`.
    fn until(&mut self, register: u32, mask: u32, value: u32) {
        assert!(mask.count_ones() == mask.trailing_ones(), "the lowest bits");
        let above = 64 - mask.count_ones() as i32;
        self.p.li(S0, GP + register);
        self.p.li(T1, value);
        let again = self.p.here();
        self.p.lw(T0, 0, S0);
        self.p.slli(T0, T0, above);
        self.p.srli(T0, T0, above);
        self.p.bne(T0, T1, again);
    }

    /// Clears memory, in doublewords.
    fn clear(&mut self, address: u32, bytes: u32) {
        self.p.li(S0, address);
        self.p.li(T1, address + bytes);
        let again = self.p.here();
        self.p.sd(ZERO, 0, S0);
        self.p.addi(S0, S0, 8);
        self.p.bne(S0, T1, again);
    }

    /// Stores the sum of memory's doublewords in the results.
    fn note_sum(&mut self, address: u32, bytes: u32) {
        self.p.li(S0, address);
        self.p.li(T1, address + bytes);
        self.p.li(T2, 0);
        let again = self.p.here();
        self.p.ld(T0, 0, S0);
        self.p.add(T2, T2, T0);
        self.p.addi(S0, S0, 8);
        self.p.bne(S0, T1, again);
        self.p.sd(T2, 0, S1);
        self.p.addi(S1, S1, 8);
    }

    pub fn pause(&mut self, rounds: u32) {
        self.p.li(T2, rounds);
        let again = self.p.here();
        self.p.addi(T2, T2, -1);
        self.p.bne(T2, ZERO, again);
    }

    fn begin_configuration(&mut self, task: u32, number: u32, slot: u32) {
        self.write(SOURCE, BITSTREAMS + slot * BITSTREAM_ROOM);
        self.write(SOURCE + 4, 0);
        self.write(LENGTH, REGION_BYTES[number as usize] as u32);
        self.write(TARGET, GO | task << 8 | number);
    }

    /// Configures a region. Stores the port's status and cycles in the results.
    fn configure(&mut self, task: u32, number: u32, slot: u32) {
        self.begin_configuration(task, number, slot);
        self.end_configuration();
    }

    fn end_configuration(&mut self) {
        self.until(STATUS, 1, 0);
        self.note(STATUS);
        self.note(PORT_CYCLES);
    }

    /// Starts the next frame of each interface that has completed one.
    fn start_next(&mut self, interfaces: &[u32]) {
        for &interface in interfaces {
            self.p.li(S0, GP + device(interface) + OVER);
            self.p.lw(T0, 0, S0);
            // Without effect where the frame is not over.
            self.p.sw(T0, START as i32 - OVER as i32, S0);
        }
    }

    /// Starts the next frame of each interface that has completed one, until the port is free.
    fn compute_while_configured(&mut self, interfaces: &[u32]) {
        let again = self.p.here();
        self.start_next(interfaces);
        self.p.li(S0, GP + STATUS);
        self.p.lw(T0, 0, S0);
        self.p.slli(T0, T0, 63);
        self.p.bne(T0, ZERO, again);
    }

    /// The same until the region's task has stopped, if it was told to.
    fn compute_until_stopped(&mut self, interfaces: &[u32], number: u32) {
        let again = self.p.here();
        self.start_next(interfaces);
        self.p.li(S0, GP + region(number) + DESCRIPTOR);
        self.p.lw(T0, 0, S0);
        self.p.slli(T0, T0, 61);
        self.p.srli(T0, T0, 61);
        self.p.li(T1, PREEMPTED_STATE);
        self.p.beq(T0, T1, again);
    }

    fn connect(&mut self, number: u32, interface: u32) {
        self.write(region(number) + CLIENT, 7 << 24 | interface);
        self.write(region(number) + COMMAND, CONNECT);
        self.note(region(number) + ANSWER);
    }

    /// Makes the device manager's settings of an interface, and the VM's.
    pub fn prepare(&mut self, interface: u32, task: usize, vm: u32) {
        let bytes = FRAMES[task].0.len();
        self.write(manager(interface) + WINDOW_BASE, vm >> 12);
        self.write(manager(interface) + WINDOW_PAGES, VM_PAGES);
        self.write(device(interface) + DATA_ADDR, 0);
        self.write(device(interface) + DATA_SIZE, bytes as u32);
        self.write(device(interface) + TARGET_ADDR, OUTPUT);
    }

    /// Stores the hart's cycle counter in the results.
    pub fn note_cycle(&mut self) {
        self.p.csrr(T0, MCYCLE);
        self.p.sd(T0, 0, S1);
        self.p.addi(S1, S1, 8);
    }

    /// Waits until an interface's interrupt is pending in the PLIC.
    fn until_interrupt(&mut self, interface: u32) {
        let bit = FIRST_LINE + INTERFACE_LINES + interface as i32;
        self.p.li(S0, PENDING);
        let again = self.p.here();
        self.p.lw(T0, 0, S0);
        self.p.slli(T0, T0, 63 - bit);
        self.p.srli(T0, T0, 63);
        self.p.beq(T0, ZERO, again);
    }

    /// Waits for the end of a frame. Stores the error, the cycles of the computation, and the faults in the results.
    pub fn end(&mut self, interface: u32) {
        self.until(device(interface) + OVER, 1, 1);
        self.note(device(interface) + RESULT);
        self.note(device(interface) + RESULT + 4);
        self.note(manager(interface) + FAULTS);
    }

    pub fn program(mut self) -> Program {
        power_off(&mut self.p);
        self.p
    }
}

/// The board when a program on frames of tasks, each in a VM's memory, has powered it off.
fn off(
    fabric: Box<dyn Fabric>,
    program: &Program,
    pace: Pace,
    all: bool,
    frames: &[(usize, u32)],
    bitstreams: &[Vec<u8>],
) -> Board {
    let mut board = board(Some(fabric), 1, pace, program);
    board.fabric().expect("it was loaded").simulate_all(all);
    for (slot, bytes) in bitstreams.iter().enumerate() {
        assert!(bytes.len() <= BITSTREAM_ROOM as usize);
        let at = BITSTREAMS + slot as u32 * BITSTREAM_ROOM;
        board.write(at.into(), bytes).expect("memory");
    }
    for &(task, vm) in frames {
        board.write(vm.into(), &FRAMES[task].0).expect("memory");
    }
    run(&mut board);
    board
}

/// Asserts that the outputs of these frames, each in a VM's memory, are right on a board that is off.
///
/// Returns the first `results` results, the fabric's activity, and the trace hash.
fn computed(mut board: Board, frames: &[(usize, u32)], results: u32) -> (Vec<u64>, Activity, u64) {
    let pace = board.pace();
    for &(task, vm) in frames {
        let output = &FRAMES[task].1;
        let found = read(&board, vm + OUTPUT, output.len());
        assert!(found == *output, "{}: other bytes, {pace:?}", TASKS[task].1);
        let behind = read(&board, vm + OUTPUT + output.len() as u32, 64);
        assert_eq!(behind, [0; 64], "nothing is written behind the output");
    }
    let activity = board.fabric().expect("it was loaded").activity();
    let results = (0..results).map(|index| result(&board, index)).collect();
    (results, activity, board.trace_hash())
}

/// The same with and without skipped cycles, which make no difference.
pub fn compute_both(
    program: &Program,
    pace: Pace,
    frames: &[(usize, u32)],
    bitstreams: &[Vec<u8>],
    results: u32,
) -> (Vec<u64>, Activity) {
    let [skipped, all] = [false, true].map(|all| {
        let model = model("accelerators");
        let board = off(model, program, pace, all, frames, bitstreams);
        computed(board, frames, results)
    });
    assert_eq!((&skipped.0, skipped.2), (&all.0, all.2), "{pace:?}");
    assert_eq!(all.1.simulated, all.1.cycles);
    (skipped.0, skipped.1)
}

fn read(board: &Board, address: u32, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    board
        .memory()
        .read(address.into(), &mut bytes)
        .expect("memory");
    bytes
}

#[test]
fn each_task_computes_in_each_region_that_it_fits_into() {
    for (index, (task, name)) in TASKS.into_iter().enumerate() {
        for &number in FITS[index] {
            let interface = task + number;
            let mut driver = Driver::new();
            driver.prepare(interface, index, VM);
            driver.configure(task, number, 0);
            driver.connect(number, interface);
            driver.write(device(interface) + START, 1);
            driver.end(interface);
            // A second frame, in the idle state, needs no intervention.
            driver.pause(1000);
            driver.write(device(interface) + START, 1);
            driver.pause(10);
            driver.end(interface);
            let program = driver.program();
            let bitstreams = [bitstream(task, number)];
            for pace in BOTH {
                let (found, activity) =
                    compute_both(&program, pace, &[(index, VM)], &bitstreams, 9);
                assert!(activity.simulated < activity.cycles, "it comes to rest");
                let at = usize::from(pace == Pace::Timed);
                let configured = CONFIGURED[at][number as usize];
                let [first, second] = COMPUTED[at][index];
                let expected = [0, configured, 0, 0, first, 0, 0, second, 0];
                assert_eq!(found, expected, "{name} in region {number}, {pace:?}");
            }
        }
    }
}

#[test]
fn preempted_task_continues_in_another_region_and_no_interface_has_two() {
    const INTERFACE: u32 = 5;
    for (index, (first, second)) in [(0, 1), (1, 0), (1, 2), (2, 2)].into_iter().enumerate() {
        let task = TASKS[index].0;
        let mut driver = Driver::new();
        driver.prepare(INTERFACE, index, VM);
        driver.configure(task, second, 1);
        driver.write(region(second) + COMMAND, RELEASE);
        if first != second {
            driver.configure(task, first, 0);
        } else {
            driver.write(region(first) + COMMAND, TAKE);
        }
        driver.connect(first, INTERFACE);
        driver.write(device(INTERFACE) + START, 1);
        driver.pause(1000);
        if first != second {
            // The interface has a region: a second one is refused.
            driver.write(region(second) + COMMAND, TAKE);
            driver.connect(second, INTERFACE);
        }
        driver.write(region(first) + COMMAND, PREEMPT);
        driver.until(region(first) + DESCRIPTOR, 7, SWITCHED);
        driver.note(device(INTERFACE) + STAT);
        driver.connect(second, INTERFACE);
        driver.write(manager(INTERFACE) + MANAGER_COMMAND, RESUME);
        driver.end(INTERFACE);
        let program = driver.program();
        let bitstreams = [bitstream(task, first), bitstream(task, second)];
        let results = if first == second { 8 } else { 11 };
        for pace in BOTH {
            let (found, _) = compute_both(&program, pace, &[(index, VM)], &bitstreams, results);
            let from_connect = &found[if first == second { 2 } else { 4 }..];
            let (answers, end) = from_connect.split_at(from_connect.len() - 3);
            // Connected; refused; preempted, with the frame unfinished; connected.
            let expected: &[u64] = if first == second {
                &[0, UNFINISHED, 0]
            } else {
                &[0, 1, UNFINISHED, 0]
            };
            assert_eq!(answers, expected);
            let cycles = PREEMPTED[usize::from(pace == Pace::Timed)][index];
            assert_eq!(end, [0, cycles, 0], "{}, {pace:?}", TASKS[index].1);
        }
    }
}

/// Two tasks compute frame after frame, and the third region is configured beside them.
#[test]
fn regions_compute_side_by_side_while_another_is_configured_in_time() {
    // The tasks, their regions, the region that is configured, and the number of frames that take longer than that.
    let cases = [([2, 3], [1, 2], 0, 1), ([0, 1], [0, 1], 2, 20)];
    for (case, (tasks, others, number, frames)) in cases.into_iter().enumerate() {
        let beside = FITS.iter().position(|fits| fits.contains(&number));
        let beside = TASKS[beside.expect("a task for each region")].0;
        let mut driver = Driver::new();
        for ((interface, vm), (task, other)) in [(0, VM), (7, OTHER_VM)]
            .into_iter()
            .zip(tasks.into_iter().zip(others))
        {
            driver.prepare(interface, task, vm);
            driver.configure(TASKS[task].0, other, other);
            driver.connect(other, interface);
        }
        driver.write(device(0) + START, 1);
        driver.write(device(7) + START, 1);
        driver.begin_configuration(beside, number, number);
        for _ in 1..frames {
            for interface in [0, 7] {
                driver.until(device(interface) + OVER, 1, 1);
                driver.write(device(interface) + START, 1);
            }
            driver.pause(10);
        }
        driver.end(0);
        driver.end(7);
        // The configuration ends before the frames.
        driver.note(STATUS);
        driver.end_configuration();
        let program = driver.program();
        let mut bitstreams = vec![Vec::new(); 3];
        for (task, other) in tasks.into_iter().zip(others) {
            bitstreams[other as usize] = bitstream(TASKS[task].0, other);
        }
        bitstreams[number as usize] = bitstream(beside, number);
        let frames = [(tasks[0], VM), (tasks[1], OTHER_VM)];
        for pace in BOTH {
            let (found, _) = compute_both(&program, pace, &frames, &bitstreams, 15);
            let at = usize::from(pace == Pace::Timed);
            let [configured, first, second] = SIDE_BY_SIDE[case][at];
            assert!(configured <= CONFIGURED_MAX[number as usize]);
            assert_eq!(
                found[6..],
                [0, first, 0, 0, second, 0, 0, 0, configured],
                "{pace:?}"
            );
        }
    }
}

/// The bound of `tactus check`, `configuration` of accelerators.toml, holds whatever the other regions compute.
#[test]
fn configuration_time_is_bounded_under_load() {
    let more = include_str!("../../../fabric/accelerators.toml")
        .lines()
        .find_map(|line| line.strip_prefix("configuration = "))
        .and_then(|cycles| cycles.parse::<u64>().ok())
        .expect("cycles, beside one for each word");
    let fits = |number: u32| (0..TASKS.len()).filter(move |&task| FITS[task].contains(&number));
    for number in 0..REGION_BYTES.len() as u32 {
        let words = REGION_BYTES[number as usize] as u64 / 4;
        assert!(words + more <= CONFIGURED_MAX[number as usize]);
        let [one, two] = [1, 2].map(|others| (number + others) % 3);
        let configured = TASKS[fits(number).next().expect("a task for each region")].0;
        for (first, second) in fits(one).flat_map(|one| fits(two).map(move |two| (one, two))) {
            let mut driver = Driver::new();
            for (interface, vm, task, other) in [(0, VM, first, one), (7, OTHER_VM, second, two)] {
                driver.prepare(interface, task, vm);
                driver.configure(TASKS[task].0, other, other);
                driver.connect(other, interface);
                driver.write(device(interface) + START, 1);
            }
            driver.begin_configuration(configured, number, number);
            driver.compute_while_configured(&[0, 7]);
            driver.end_configuration();
            driver.end(0);
            driver.end(7);
            let program = driver.program();
            let mut bitstreams = vec![Vec::new(); 3];
            bitstreams[one as usize] = bitstream(TASKS[first].0, one);
            bitstreams[two as usize] = bitstream(TASKS[second].0, two);
            bitstreams[number as usize] = bitstream(configured, number);
            let frames = [(first, VM), (second, OTHER_VM)];
            for pace in BOTH {
                let fabric = model("accelerators");
                let board = off(fabric, &program, pace, false, &frames, &bitstreams);
                let (found, ..) = computed(board, &frames, 8);
                assert_eq!(found[6], 0);
                assert!(
                    found[7] <= words + more,
                    "region {number} beside {} and {}: {} cycles, {pace:?}",
                    TASKS[first].1,
                    TASKS[second].1,
                    found[7]
                );
            }
        }
    }
}

/// The bound by which a task that is told to stop is killed, `stop` of accelerators.toml, holds whatever the other
/// regions compute.
#[test]
fn a_task_stops_in_time_under_load() {
    let stops: Vec<u64> = include_str!("../../../fabric/accelerators.toml")
        .lines()
        .filter_map(|line| line.strip_prefix("stop = \"")?.strip_suffix("us\""))
        .take(TASKS.len())
        .map(|us| us.parse().expect("a whole number of microseconds"))
        .collect();
    let fits = |number: u32| (0..TASKS.len()).filter(move |&task| FITS[task].contains(&number));
    for (victim, &(_, name)) in TASKS.iter().enumerate() {
        let number = *FITS[victim].last().expect("a region");
        let [one, two] = [1, 2].map(|others| (number + others) % 3);
        let mut longest = 0;
        for (first, second) in fits(one).flat_map(|one| fits(two).map(move |two| (one, two))) {
            for phase in 0..PHASES {
                let mut driver = Driver::new();
                let all = [
                    (3, VM, victim, number),
                    (0, OTHER_VM, first, one),
                    (7, THIRD_VM, second, two),
                ];
                for (interface, vm, task, region) in all {
                    driver.prepare(interface, task, vm);
                    driver.configure(TASKS[task].0, region, region);
                    driver.connect(region, interface);
                }
                for (interface, ..) in all.into_iter().rev() {
                    driver.write(device(interface) + START, 1);
                }
                driver.pause(1 + phase * PHASE);
                driver.note_cycle();
                driver.write(region(number) + COMMAND, PREEMPT);
                driver.note(region(number) + ANSWER);
                driver.compute_until_stopped(&[0, 7], number);
                driver.note_cycle();
                driver.end(0);
                driver.end(7);
                let program = driver.program();
                let mut bitstreams = vec![Vec::new(); 3];
                for (_, _, task, region) in all {
                    bitstreams[region as usize] = bitstream(TASKS[task].0, region);
                }
                for pace in BOTH {
                    let frames = all.map(|(_, vm, task, _)| (task, vm));
                    let model = model("accelerators");
                    let board = off(model, &program, pace, false, &frames, &bitstreams);
                    // Behind three of each region.
                    let [told, answer, stopped] = [9, 10, 11].map(|index| result(&board, index));
                    // Otherwise its frame was over.
                    if answer == 0 {
                        longest = longest.max((stopped - told) * 3 / 20);
                    }
                }
            }
        }
        assert!(
            (1..=stops[victim] * 100).contains(&longest),
            "{name}: {longest} cycles"
        );
    }
}

/// The time that a VM waits, from its store to `START` to the interrupt in the PLIC, is bounded.
#[test]
fn a_frame_is_over_in_time() {
    const INTERFACE: u32 = 0;
    for (index, (task, name)) in TASKS.into_iter().enumerate() {
        let number = FITS[index][0];
        let mut driver = Driver::new();
        driver.prepare(INTERFACE, index, VM);
        driver.configure(task, number, 0);
        driver.connect(number, INTERFACE);
        driver.write(device(INTERFACE) + INT_CTRL, 1);
        driver.pause(1000);
        driver.note_cycle();
        driver.write(device(INTERFACE) + START, 1);
        driver.until_interrupt(INTERFACE);
        driver.note_cycle();
        let program = driver.program();
        let bitstreams = [bitstream(task, number)];
        for pace in BOTH {
            let (found, _) = compute_both(&program, pace, &[(index, VM)], &bitstreams, 5);
            let waited = found[4] - found[3];
            assert!(waited * 3 <= WAITED_MAX[index] * 20, "{name}");
            assert_eq!(
                waited,
                WAITED[usize::from(pace == Pace::Timed)][index],
                "{name}, {pace:?}"
            );
        }
    }
}

/// A configuration ends with an error when memory does not answer, and leaves the region empty.
///
/// So does each further request, until memory has answered.
#[test]
fn memory_that_hangs_fails_a_configuration_and_not_the_port() {
    const INTERFACE: u32 = 2;
    let (index, number) = (0, 0);
    let task = TASKS[index].0;
    let mut driver = Driver::new();
    driver.prepare(INTERFACE, index, VM);
    driver.write(PORT_IRQ_ENABLE, 1);
    for _ in 0..2 {
        driver.configure(task, number, 0);
        driver.note(region(number) + DESCRIPTOR);
    }
    lines(&mut driver);
    driver.until(STATUS, OWED as u32 | 1, 0);
    driver.configure(task, number, 0);
    driver.connect(number, INTERFACE);
    driver.write(device(INTERFACE) + START, 1);
    driver.end(INTERFACE);
    let program = driver.program();
    let port = FabricPort::Hp;
    for pace in BOTH {
        let mut board = board(Some(model("accelerators")), 1, pace, &program);
        let at = |board: &Board, cycle| board.clock().time_of(cycle);
        for (cycle, fault) in [
            (20_000, Fault::FabricHang { port }),
            (100_000, Fault::FabricRelease { port }),
        ] {
            board.inject(at(&board, cycle), fault).expect("a fault");
        }
        board
            .write(BITSTREAMS.into(), &bitstream(task, number))
            .expect("memory");
        board.write(VM.into(), &FRAMES[index].0).expect("memory");
        run(&mut board);
        let found: Vec<u64> = (0..13).map(|index| result(&board, index)).collect();
        let given_up = found[1];
        assert!(
            (SILENT_CYCLES..SILENT_CYCLES + CONFIGURED[0][0]).contains(&given_up),
            "{given_up}"
        );
        // Idle, not assigned, and empty, each time.
        let empty = |descriptor: u64| descriptor & 0xffff & !u64::from(DRAINED);
        assert_eq!((found[0], empty(found[2])), (OWED | SILENT, 0));
        assert_eq!([found[3], found[4], empty(found[5])], [OWED | SILENT, 1, 0]);
        assert_eq!(found[6], 1 << (FIRST_LINE + 1));
        let at = usize::from(pace == Pace::Timed);
        let computed = COMPUTED[at][index][0];
        assert!(found[8].abs_diff(CONFIGURED[at][number as usize]) <= AWAY);
        assert_eq!(
            (found[7], &found[9..]),
            (0, &[0, 0, computed, 0][..]),
            "{pace:?}"
        );
        let output = &FRAMES[index].1;
        assert!(read(&board, VM + OUTPUT, output.len()) == *output);
    }
}

/// Each attack of a hostile task is contained and reported; the neighbour gets its result, and the region is usable
/// again.
#[test]
fn a_hostile_task_is_contained() {
    const HOSTILE: u32 = 7;
    const INTERFACE: u32 = 4;
    const OTHER: u32 = 6;
    const TAKEN: u64 = 14;
    /// Rounds of a pause that is longer than the draining of a region: `isolator_cycles_max`, with a memory that takes
    /// 16 cycles for a handshake.
    const DRAIN_ROUNDS: u32 = 3500;
    let window_end = VM_PAGES << 12;
    let (good, beside, number, other) = (0, 2, 0, 1);
    // The attack and its target; whether it ends by itself; the faults outside of the window and the illegal ones,
    // exactly, or at least one of each kind; the last address that was refused.
    let endless = (0, 0, false, Some((0, 0)), 0);
    let outside = (1, window_end, true, Some((32, 0)), window_end + 15 * 0x1000);
    let silent = (2, 0, false, Some((0, 0)), 0);
    let wild = (3, window_end - 0x1000, false, None, 0);
    for (way, target, ends, faults, refused) in [endless, outside, silent, wild] {
        let mut driver = Driver::new();
        driver.prepare(INTERFACE, good, VM);
        driver.prepare(OTHER, beside, OTHER_VM);
        driver.configure(HOSTILE, number, 0);
        driver.configure(TASKS[beside].0, other, 1);
        driver.connect(number, INTERFACE);
        driver.connect(other, OTHER);
        driver.write(device(INTERFACE) + CMD, way);
        driver.write(device(INTERFACE) + TARGET_ADDR, target);
        driver.write(device(INTERFACE) + START, 1);
        driver.write(device(OTHER) + START, 1);
        driver.end(OTHER);
        // The task is preempted, and has more time for that than the slowest task.
        driver.write(region(number) + COMMAND, PREEMPT);
        driver.pause(10_000);
        driver.note(region(number) + DESCRIPTOR);
        driver.write(region(number) + COMMAND, if ends { TAKE } else { KILL });
        driver.note(region(number) + ANSWER);
        driver.pause(DRAIN_ROUNDS);
        driver.note(region(number) + DESCRIPTOR);
        driver.end(INTERFACE);
        driver.note(manager(INTERFACE) + FAULT_ADDR);
        driver.write(manager(INTERFACE) + MANAGER_COMMAND, CLEAR_FAULTS);
        // The next task in the region.
        driver.configure(TASKS[good].0, number, 2);
        driver.write(device(INTERFACE) + TARGET_ADDR, OUTPUT);
        driver.connect(number, INTERFACE);
        driver.write(device(INTERFACE) + START, 1);
        driver.pause(10);
        driver.end(INTERFACE);
        let program = driver.program();
        let bitstreams = [
            bitstream(HOSTILE, number),
            bitstream(TASKS[beside].0, other),
            bitstream(TASKS[good].0, number),
        ];
        let frames = [(good, VM), (beside, OTHER_VM)];
        for pace in BOTH {
            let (found, _) = compute_both(&program, pace, &frames, &bitstreams, 22);
            let at = usize::from(pace == Pace::Timed);
            assert_eq!((found[6], found[8]), (0, 0));
            assert!(found[7] <= WAITED_MAX[beside]);
            if let Some(&exactly) = BESIDE[at].get(way as usize) {
                assert_eq!(found[7], exactly, "{way}, {pace:?}");
            }
            let state = |descriptor: u64| descriptor as u32 & 7;
            let drained = |descriptor: u64| descriptor as u32 & DRAINED != 0;
            if !ends {
                assert_eq!(state(found[9]), PREEMPTED_STATE);
            }
            assert_eq!((found[10], state(found[11])), (0, SWITCHED));
            assert!(drained(found[11]));
            assert_eq!(found[12], if ends { 0 } else { TAKEN });
            let (outside, illegal) = (found[14] & 0xff, found[14] >> 8 & 0xff);
            match faults {
                Some(exactly) => {
                    assert_eq!((outside, illegal), exactly);
                    assert_eq!(found[15], u64::from(refused));
                }
                None => assert!(outside > 0 && illegal > 0),
            }
            let configured = CONFIGURED[at][number as usize];
            let computed = COMPUTED[at][good][0];
            assert!(found[17].abs_diff(configured) <= AWAY);
            assert_eq!((found[16], &found[18..]), (0, &[0, 0, computed, 0][..]));
        }
    }
}

/// A computation that `END` cuts off leaves memory alone from when `END` reads as zero. Another device's computation
/// and the next one in the region are not affected.
#[test]
fn end_cuts_a_computation_off() {
    const INTERFACE: u32 = 3;
    const OTHER: u32 = 6;
    const ENDED: u64 = 13;
    const LINES: u64 = 1 << (FIRST_LINE + INTERFACE_LINES + INTERFACE as i32);
    /// The bound in cycles of the fabric, of a memory that takes 16 cycles for a handshake; and for an access to read
    /// it.
    const END_MAX: u64 = 65 * 16 + 2 + 30;
    let pauses = [1, 30, 100, 300, 1000, 2000];
    let (beside, other) = (2, 1);
    for (index, number) in [(0, 0), (3, 2)] {
        let output = FRAMES[index].1.len() as u32;
        let mut driver = Driver::new();
        driver.prepare(INTERFACE, index, VM);
        driver.prepare(OTHER, beside, OTHER_VM);
        driver.configure(TASKS[index].0, number, 0);
        driver.configure(TASKS[beside].0, other, 1);
        driver.connect(number, INTERFACE);
        driver.connect(other, OTHER);
        driver.write(device(OTHER) + START, 1);
        for pause in pauses {
            driver.write(device(INTERFACE) + INT_CTRL, 1);
            driver.write(device(INTERFACE) + START, 1);
            driver.pause(pause);
            driver.note_cycle();
            driver.write(device(INTERFACE) + END, 1);
            driver.until(device(INTERFACE) + END, 1, 0);
            driver.note_cycle();
            driver.clear(VM + OUTPUT, output);
            driver.pause(5000);
            driver.note_sum(VM + OUTPUT, output);
            driver.note(device(INTERFACE) + RESULT);
            driver.note(device(INTERFACE) + OVER);
            lines(&mut driver);
        }
        driver.write(device(INTERFACE) + START, 1);
        driver.pause(10);
        driver.end(INTERFACE);
        driver.end(OTHER);
        let program = driver.program();
        let bitstreams = [
            bitstream(TASKS[index].0, number),
            bitstream(TASKS[beside].0, other),
        ];
        let frames = [(index, VM), (beside, OTHER_VM)];
        let results = 6 + 6 * pauses.len() as u32 + 6;
        for pace in BOTH {
            let (found, _) = compute_both(&program, pace, &frames, &bitstreams, results);
            let (ended, next) = found[6..].split_at(6 * pauses.len());
            for (end, pause) in ended.chunks(6).zip(pauses) {
                let took = (end[1] - end[0]) * 3 / 20;
                assert!(took <= END_MAX, "{took} cycles after {pause}, {pace:?}");
                // Nothing was written, and the interrupt is not pending.
                assert_eq!((end[2], end[3], end[4], end[5] & LINES), (0, ENDED, 0, 0));
            }
            let computed = COMPUTED[usize::from(pace == Pace::Timed)][index][0];
            assert!(
                next[1].abs_diff(computed) <= AWAY + 10,
                "{} cycles",
                next[1]
            );
            assert_eq!((next[0], next[2], next[3], next[5]), (0, 0, 0, 0));
        }
    }
}

/// Stores the design's lines, as pending in the PLIC, in the results: bit 0 is the first.
fn lines(driver: &mut Driver) {
    driver.note_at(PENDING);
}

#[test]
fn interrupts_arrive_on_the_line_of_their_interface() {
    const INTERFACE: u32 = 3;
    let (index, number) = (0, 0);
    let mut driver = Driver::new();
    driver.prepare(INTERFACE, index, VM);
    driver.write(PORT_IRQ_ENABLE, 1);
    driver.write(region(number) + IRQ_ENABLE, 1);
    driver.write(device(INTERFACE) + INT_CTRL, 1);
    driver.configure(TASKS[index].0, number, 0);
    driver.connect(number, INTERFACE);
    lines(&mut driver);
    driver.write(device(INTERFACE) + START, 1);
    driver.end(INTERFACE);
    driver.pause(100);
    lines(&mut driver);
    // The task does not get data outside of its window, and the manager gets an interrupt.
    driver.write(device(INTERFACE) + DATA_ADDR, VM_PAGES << 12);
    driver.write(device(INTERFACE) + START, 1);
    driver.pause(10);
    driver.until(device(INTERFACE) + OVER, 1, 1);
    driver.note(device(INTERFACE) + RESULT);
    driver.note(manager(INTERFACE) + FAULT_ADDR);
    driver.pause(100);
    lines(&mut driver);
    // A task that is preempted.
    driver.write(device(INTERFACE) + DATA_ADDR, 0);
    driver.write(device(INTERFACE) + START, 1);
    driver.write(region(number) + COMMAND, PREEMPT);
    driver.until(region(number) + DESCRIPTOR, 7, SWITCHED);
    driver.pause(100);
    lines(&mut driver);
    driver.write(region(number) + COMMAND, CONNECT);
    driver.write(manager(INTERFACE) + MANAGER_COMMAND, RESUME);
    driver.until(device(INTERFACE) + OVER, 1, 1);
    let program = driver.program();
    for pace in BOTH {
        let bitstreams = [bitstream(TASKS[index].0, number)];
        let (found, _) = compute_both(&program, pace, &[(index, VM)], &bitstreams, 12);
        let line = |number: u32| 1_u64 << (8 + number);
        let port = line(1);
        let ended = port | line(8 + INTERFACE);
        let faulty = ended | line(5);
        let stopped = faulty | line(2 + number);
        assert_eq!([found[3], found[7]], [port, ended]);
        // The burst after the window's end, and the burst after that.
        let refused = [1, u64::from(VM_PAGES << 12) + 128];
        assert_eq!(
            (&found[8..10], &found[10..]),
            (&refused[..], &[faulty, stopped][..])
        );
    }
}

/// A fabric with all cycles simulated, beside another one that skips the cycles that it reports as quiet.
///
/// The state of both must be equal.
struct Resting {
    fabric: Box<dyn Fabric>,
    other: Box<dyn Fabric>,
    /// The quiet cycles so far, and those that the fabric allows.
    rested: u64,
    allowed: u64,
    rests: u32,
}

impl Resting {
    fn new(rests: [Box<dyn Fabric>; 2]) -> Self {
        let [fabric, mut other] = rests;
        // State that the model keeps and never reads has the initial contents of its memory.
        other.restore(&fabric.save()).expect("the same design");
        Self {
            fabric,
            other,
            rested: 0,
            allowed: 0,
            rests: 0,
        }
    }
}

impl Drop for Resting {
    fn drop(&mut self) {
        assert!(std::thread::panicking() || self.rests > 3, "it never rests");
    }
}

impl Fabric for Resting {
    fn name(&self) -> &str {
        self.fabric.name()
    }

    fn outputs(&self) -> &Outputs {
        self.fabric.outputs()
    }

    fn cycle(&mut self, inputs: &Inputs, picoseconds: u64) {
        let nothing_comes = [
            inputs.gp_awvalid,
            inputs.gp_wvalid,
            inputs.gp_arvalid,
            inputs.event,
            inputs.hp.rvalid,
            inputs.hp.bvalid,
        ] == [0; 6];
        if self.rested == 0 {
            self.allowed = match self.outputs().quiet {
                QUIET_FOR_EVER => u64::MAX,
                cycles => cycles.into(),
            };
        }
        self.fabric.cycle(inputs, picoseconds);
        if nothing_comes && self.rested < self.allowed {
            self.rested += 1;
            return;
        }
        let rested = std::mem::take(&mut self.rested);
        for part in [rested / 3, rested - rested / 3] {
            if part > 0 {
                self.other.skip(part);
            }
        }
        self.other.cycle(inputs, picoseconds);
        if rested > 0 {
            let same = self.fabric.save() == self.other.save();
            assert!(same, "other than it was after {rested} quiet cycles");
            self.rests += 1;
        }
    }

    fn skip(&mut self, _: u64) {
        panic!("all are simulated");
    }

    fn lose_power(&mut self, seed: u64, cycles: u64) {
        self.fabric.lose_power(seed, cycles);
    }

    fn save(&self) -> Vec<u8> {
        self.fabric.save()
    }

    fn restore(&mut self, _: &[u8]) -> Result<(), BadState> {
        Err(BadState("not restored".to_owned()))
    }

    fn begin_waves(&mut self, file: &Path, period: u64) -> Result<(), String> {
        self.fabric.begin_waves(file, period)
    }
}

#[test]
fn skipped_cycles_have_no_effect() {
    const INTERFACE: u32 = 1;
    let (index, number) = (2, 2);
    let mut driver = Driver::new();
    driver.pause(1000);
    driver.prepare(INTERFACE, index, VM);
    // A request that waits in the monitor's list.
    driver.write(COMPATIBILITY, 0);
    driver.write(REQUEST, 1 << 16);
    driver.pause(1000);
    // 40 pulses meanwhile, one each 997 cycles.
    driver.give_pins();
    driver.note_start(0, 997, 40);
    driver.configure(TASKS[index].0, number, 0);
    driver.pause(1000);
    driver.connect(number, INTERFACE);
    driver.write(device(INTERFACE) + START, 1);
    driver.end(INTERFACE);
    driver.pause(1000);
    driver.write(region(number) + COMMAND, TAKE);
    driver.pause(10_000);
    let bitstreams = [bitstream(TASKS[index].0, number)];
    let program = driver.program();
    let fabric = Box::new(Resting::new([(); 2].map(|()| model("accelerators"))));
    let frames = [(index, VM)];
    let board = off(fabric, &program, Pace::Fast, true, &frames, &bitstreams);
    computed(board, &frames, 7);
}

/// The program of `docs/src/how-to/fire-pins-on-a-cycle.md`: lines 0 to 5 rise, and fall 250 cycles later.
const VALVES: [u32; 6] = [0x13f3f, 0x30063, 0x02000, 0x30095, 0x13f00, 0];

impl Driver {
    /// Assigns pins 0 to 5 to VM 0 and pin 6 to VM 1. Both VMs have the program of the valves.
    fn give_pins(&mut self) {
        for pin in 0..7 {
            self.write(
                TIMED_MANAGER + 0x100 + 4 * pin,
                1 << 31 | u32::from(pin == 6),
            );
        }
        for vm in 0..2 {
            for (index, word) in VALVES.iter().enumerate() {
                self.write(timed(vm) + 0x400 + 4 * index as u32, *word);
            }
        }
    }

    /// Starts a VM's program in 5,000 cycles, `runs` times. Stores the cycle of the request in the results.
    fn note_start(&mut self, vm: u32, period: u32, runs: u32) {
        self.note(timed(vm) + NOW);
        self.p.li(T1, AHEAD);
        self.p.add(T0, T0, T1);
        self.p.li(S0, GP + timed(vm) + TIMED_START);
        self.p.sw(T0, 0, S0);
        self.write(timed(vm) + TIMED_START + 4, 0);
        self.write(timed(vm) + TIMED_START + 8, period);
        self.write(timed(vm) + TIMED_START + 12, runs);
        self.write(timed(vm) + TIMED_START + 16, 0);
    }
}

#[test]
fn pins_change_on_their_cycle_beside_accelerators_and_when_cycles_are_skipped() {
    const RUNS: u32 = 30;
    const PERIOD: u32 = 2_011;
    let (index, number, interface) = (0, 0, 3);
    let mut random = Random(5);
    let mut driver = Driver::new();
    driver.give_pins();
    driver.prepare(interface, index, VM);
    driver.note_start(0, PERIOD, RUNS);
    driver.configure(TASKS[index].0, number, 0);
    driver.connect(number, interface);
    driver.write(device(interface) + START, 1);
    // VM 1 owns no pins for most of its lines; it reports that when nothing else is in progress.
    driver.note_start(1, 0, 1);
    driver.end(interface);
    // Accesses at any moment of the schedule's turns. The trace contains the time of each.
    for _ in 0..60 {
        driver.pause(random.below(6_000) as u32);
        driver.write(timed(random.below(2) as u32) + 0x2c, 1 << 31);
        driver.p.li(S0, GP + timed(random.below(4) as u32) + NOW);
        driver.p.lw(T0, 0, S0);
    }
    let program = driver.program();
    let bitstreams = [bitstream(TASKS[index].0, number)];
    for pace in BOTH {
        let [skipped, all] = [false, true].map(|all| {
            let (pins, changes) = Pins::new(model("accelerators"), PinsAt::Acp, 8);
            let frames = [(index, VM)];
            let pins = Box::new(pins);
            let board = off(pins, &program, pace, all, &frames, &bitstreams);
            let found = computed(board, &frames, 8);
            (found, changes.take())
        });
        let start = skipped.0.0[0] + u64::from(AHEAD);
        let begins = (0..RUNS).map(|run| start + u64::from(run * PERIOD));
        let expected: Vec<(u64, u32)> = begins
            .flat_map(|begin| [(begin, 0x3f), (begin + 250, 0)])
            .collect();
        assert_eq!(skipped.1, expected, "{pace:?}");
        assert_eq!(all.1, expected, "{pace:?}");
        let (of, beside) = (&skipped.0, &all.0);
        assert_eq!((&of.0, of.2), (&beside.0, beside.2), "{pace:?}");
        let (simulated, cycles) = (of.1.simulated, of.1.cycles);
        assert!(2 * simulated < cycles, "{simulated} of {cycles}, {pace:?}");
        assert_eq!(beside.1.simulated, beside.1.cycles);
    }
}
