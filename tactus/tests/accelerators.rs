//! Guests that share the fabric's accelerators through the device manager.
//!
//! Every output bit equals the output of the NumPy models of the blocks' tests (`fabric/test/hw_task_models.py`), for
//! any order of requests, preemptions and restarts. The models are independent of the implementation of the tasks.

use std::path::Path;
use std::process::Command;

use tactus::artifacts::Artifacts;
use tactus::check::check_file;
use tactus::config::Nanoseconds;
use tactus::plan::Plan;
use tactus::report::unit::Unit;
use tactus::run::Boot;
use tactus::run::board::{Marker, Options};
use tactus::run::machine::Platform;
use tactus::run::session::{Outcome, Verdict};
use tactus_abi::map::RAM_BASE;
use tactus_board::board::Pace;
use tactus_board::fault::Fault;
use tactus_board::profile::Profile;
use tactus_board::time::Femtoseconds;

use crate::harness::{
    STUCK, assert_verdict, cross, explain, fabric, figure, once, root, seeds, written,
};

/// The input frame of that number for a task, from xorshift64, as both guests generate it.
fn frame(task: u64, number: u64, bytes: usize) -> Vec<u8> {
    let mut random = task << 32 | (number + 1);
    let words = std::iter::repeat_with(|| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    });
    let words = words.take(bytes.div_ceil(8)).flat_map(u64::to_le_bytes);
    words.take(bytes).collect()
}

/// The CRC-32 of a task's outputs for `frames` frames, concatenated.
fn crc32(name: &str, task: u64, frames: u64, bytes: usize) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let files: Vec<_> = (0..frames)
        .map(|number| folder.path().join(number.to_string()))
        .collect();
    for (number, file) in (0..).zip(&files) {
        std::fs::write(file, frame(task, number, bytes)).expect("a file");
    }
    let done = Command::new(root().join("build/setup/python/bin/python3"))
        .arg(root().join("fabric/test/hw_task_frames.py"))
        .arg(name)
        .args(&files)
        .status()
        .expect("Python; `make setup` installs what it needs");
    assert!(done.success());
    let mut crc = crc32fast::Hasher::new();
    for file in &files {
        let output = std::fs::read(file.with_extension("out")).expect("what the model made");
        crc.update(&output);
    }
    crc.finalize().into()
}

/// The faults to inject, and their times.
type Faults = Vec<(Femtoseconds, Fault)>;

fn plan_of(file: &Path) -> Plan {
    let verdict = check_file(file, &Artifacts::Workspace);
    verdict.plan.expect("the system is fine")
}

/// Runs a system until the VM of that name is off, or until all are, on a board with these faults.
fn run<'a>(
    file: &Path,
    until: impl Into<Option<&'a str>>,
    faults: impl FnOnce(&Plan, &[u8]) -> Faults,
) -> Outcome {
    run_at(Pace::Fast, file, until, faults)
}

/// [`run`] at a pace. The board records the pins.
fn run_at<'a>(
    pace: Pace,
    file: &Path,
    until: impl Into<Option<&'a str>>,
    faults: impl FnOnce(&Plan, &[u8]) -> Faults,
) -> Outcome {
    run_on("accelerators", STUCK, pace, file, until, faults)
}

/// [`run_at`] with a design of the fabric, for so much virtual time at most.
fn run_on<'a>(
    design: &str,
    limit: Nanoseconds,
    pace: Pace,
    file: &Path,
    until: impl Into<Option<&'a str>>,
    faults: impl FnOnce(&Plan, &[u8]) -> Faults,
) -> Outcome {
    let mut boot = Boot::of(file).unwrap_or_else(|error| panic!("{error:?}"));
    let mut options = Options::new(Profile::named("soc").expect("it comes with the board"));
    options.pace = pace;
    options.fabric = Some(fabric(design));
    (options.ends.pins, options.ends.pins_at) = tactus::fabric::pins(design);
    options.faults = faults(&plan_of(file), &boot.image.bytes);
    let plan = boot.plan.limit(limit);
    let plan = plan.on(Platform::Board(Box::new(options)));
    boot.plan = match until.into() {
        Some(vm) => plan.until(vm).expect("it is there"),
        None => plan,
    };
    once(&boot)
}

/// The demonstration as `make demo` runs it.
fn demo() -> Outcome {
    let mut boot = Boot::of(&root().join("systems/demo-board.toml"))
        .unwrap_or_else(|error| panic!("{error:?}"));
    let mut options = Options::new(Profile::named("soc").expect("it comes with the board"));
    options.timed_from = Some(Marker::Phase("linux_up".to_owned()));
    options.fabric = Some(fabric("accelerators"));
    (options.ends.pins, options.ends.pins_at) = tactus::fabric::pins("accelerators");
    let plan = boot.plan.limit(STUCK);
    boot.plan = plan.on(Platform::Board(Box::new(options)));
    once(&boot)
}

/// The text that follows `begin` in `text`, up to the first comma, semicolon or end of line, without a final full stop.
fn words_behind<'a>(begin: &str, text: &'a str) -> &'a str {
    let (_, rest) = text
        .split_once(begin)
        .unwrap_or_else(|| panic!("no `{begin}` in the text"));
    let end = rest.find(['\n', ',', ';']).unwrap_or(rest.len());
    rest[..end].trim_end_matches('.')
}

/// The first compiler whose version differs from the version behind the README's figures, as a message.
///
/// The compilers generate the guests' code, which determines the times of a run.
fn made_by_other_compilers(readme: &str) -> Option<String> {
    let said = |program: &str, argument: &str| {
        let output = Command::new(program).arg(argument).output();
        let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let rust = words_behind("of the guests, rustc ", readme);
    let rust = rust.split_whitespace().next().expect("a version");
    let here = said("rustc", "--version");
    if here.split(' ').nth(1) != Some(rust) {
        return Some(format!("that is by rustc {rust}, and here is {here}"));
    }
    let gcc = words_behind("and riscv64-unknown-elf-gcc ", readme);
    let here = said(&cross("gcc"), "-dumpfullversion");
    (here != gcc)
        .then(|| format!("that is by riscv64-unknown-elf-gcc {gcc}, and here is version {here}"))
}

/// No faults.
fn none(_: &Plan, _: &[u8]) -> Faults {
    Vec::new()
}

#[test]
fn results_are_exact_for_any_assignment_of_regions() {
    let file = root().join("systems/accelerators.toml");
    let outcome = run(&file, "modem", none);
    assert_verdict(&outcome, Verdict::Good);
    for (name, task, bytes) in [
        ("qam16", 2, 65536),
        ("qam64", 3, 65536),
        ("fft512", 4, 8 * 65536),
        ("fft1024", 5, 8 * 65536),
    ] {
        let found = figure(&outcome, "modem", &format!("{name}_crc32"));
        assert_eq!(found, crc32(name, task, 1, bytes), "{name}");
    }
    let found = figure(&outcome, "analyser", "crc32");
    assert_eq!(found, crc32("fft1024", 5, 40, 18800));
    // The real-time guest preempts the region of the best-effort guest, whose computation continues later.
    let preempted =
        ["fft512", "fft1024"].map(|name| figure(&outcome, "modem", &format!("{name}_preempted")));
    assert!(
        preempted.iter().sum::<f64>() > 0.0,
        "\n{}",
        explain(&outcome)
    );

    // The longest latency is within the bound.
    let shared = plan_of(&file).accelerators.expect("it shares accelerators");
    let device = shared
        .devices
        .iter()
        .find(|device| device.task == "fft1024" && device.real_time);
    let bound = device.and_then(|device| device.latency?.bound);
    let bound = bound.expect("a bound");
    let analyser = outcome.journal.vm("analyser").expect("it is there");
    let (least, longest) = analyser
        .series("response", "run")
        .and_then(|series| series.extremes())
        .expect("responses");
    // The shortest response is of a frame whose task was configured already.
    assert!(
        longest - least <= bound,
        "{longest} ns, and {bound} ns allowed before {least} ns\n{}",
        explain(&outcome)
    );
}

/// Frames of tasks with state are exact though a real-time guest preempts them: it is saved and restored with the
/// context, in this region or another.
#[test]
#[ignore = "long"]
fn preempted_tasks_keep_their_state() {
    let file = root().join("systems/coprocessors.toml");
    let outcome = run_on("coprocessors", STUCK, Pace::Fast, &file, "archive", none);
    assert_verdict(&outcome, Verdict::Good);
    let mut preempted = 0.0;
    for (name, number) in [("crc32", 1), ("sha256", 2), ("aes", 3), ("convolution", 4)] {
        let found = figure(&outcome, "archive", &format!("{name}_crc32"));
        assert_eq!(found, crc32(name, number, 2, 150_001), "{name}");
        preempted += figure(&outcome, "archive", &format!("{name}_preempted"));
    }
    assert!(preempted > 0.0, "\n{}", explain(&outcome));
}

/// The demonstration: Linux user space and FreeRTOS compute frames with four accelerators that share three regions.
///
/// All results are right, FreeRTOS's most urgent task misses no release, and FreeRTOS's pins change on their cycles.
/// The device manager never ends, and does not keep the machine running. The run equals `make demo`, so that its trace
/// hash is the README's.
#[test]
fn linux_and_freertos_share_them() {
    let outcome = demo();
    assert_verdict(&outcome, Verdict::Good);
    let hash = outcome.board.as_ref().map(|facts| facts.trace_hash);
    let hash = format!("{:016x}", hash.expect("it ran on the board"));
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the README");
    match made_by_other_compilers(&readme) {
        None => assert_eq!(
            words_behind("Trace hash ", &readme),
            hash,
            "the demo's hash is another one than the README's; where that is intended, show the new output there\n{}",
            explain(&outcome)
        ),
        Some(other) => println!("trace hash {hash}, not compared with the README's: {other}"),
    }
    let vm = |name| outcome.journal.vm(name).expect("the system has it");
    let passed = |name| {
        let mut passed = vm(name).passed.clone();
        passed.sort();
        passed
    };
    let seen = || explain(&outcome);
    let of_linux = ["linux_load", "linux_qam16", "linux_qam64"];
    assert_eq!(passed("linux"), of_linux, "\n{}", seen());
    let of_freertos = [
        "freertos_heartbeat",
        "freertos_pulses",
        "freertos_spectra",
        "freertos_worker",
    ];
    assert_eq!(passed("freertos"), of_freertos, "\n{}", seen());
    // Three pins rise and fall every 2 ms.
    let [pulses] = &outcome.timed_output()[..] else {
        panic!("FreeRTOS alone has some\n{}", seen());
    };
    assert!(pulses.is_exact(), "{pulses:?}\n{}", seen());
    assert_eq!((pulses.vm.as_str(), pulses.asked.pins), ("freertos", 0b111));
    assert!(pulses.edges > 3 * 2 * 1000, "{pulses:?}\n{}", seen());
    // One spectrum every 20 ms, for 2 s at least.
    let spectra = figure(&outcome, "freertos", "spectra");
    assert!(spectra >= 100.0, "{spectra}\n{}", seen());
    let misses = figure(&outcome, "freertos", "release_deadline_misses");
    assert_eq!(misses, 0.0, "\n{}", seen());
    // The check reports an edge that is a cycle late.
    let mut late = outcome.clone();
    late.board.as_mut().expect("it ran on the board").ends.pins[1000].0 += 1;
    assert_eq!(late.timed_output()[0].error_max, 1);
    assert_eq!(late.verdict(), Verdict::GuestFailed);
}

/// The configuration text of a VM's accelerators.
fn accelerators(tasks: &[&str]) -> String {
    tasks
        .iter()
        .map(|task| format!("[[vm.accelerator]]\ntask = \"{task}\"\n"))
        .collect()
}

/// The configuration text of one guest beside the device manager, with its accelerators and its boot arguments.
fn alone(tasks: &[&str], bootargs: &str) -> String {
    let accelerators = accelerators(tasks);
    let tasks = tasks.join(",");
    format!(
        r#"
        [system]
        platform = "soc"
        harts = 2
        [fabric]
        design = "accelerators"
        [accelerators]
        manager = "manager"
        [[vm]]
        name = "manager"
        image = "@device-manager"
        memory = "4MiB"
        on_fault = "restart"
        [[vm.vcpu]]
        class = "be"
        harts = [0]
        [[vm]]
        name = "guest"
        image = "@accelerated"
        memory = "8MiB"
        bootargs = "tasks={tasks} {bootargs}"
        [[vm.vcpu]]
        class = "be"
        harts = [1]
        {accelerators}
        [[channel]]
        name = "regions"
        between = ["manager", "guest"]
        size = "4KiB"
        "#
    )
}

/// [`run`] of a system given as text, until `guest` is off.
fn run_alone(system: &str, faults: impl FnOnce(&Plan, &[u8]) -> Faults) -> Outcome {
    run(written(system).path(), "guest", faults)
}

/// If no region is available at once, the guest computes in software, with the same result.
#[test]
fn software_computes_without_a_region() {
    let tasks = ["qam16", "qam64", "fft512", "fft1024"];
    let system = alone(&tasks, "frames=4 length=1000 patience=0");
    let outcome = run_alone(&system, none);
    assert_verdict(&outcome, Verdict::Good);
    let mut by_software = 0.0;
    for (name, task, bytes) in [
        ("qam16", 2, 1000),
        ("qam64", 3, 1000),
        ("fft512", 4, 8000),
        ("fft1024", 5, 8000),
    ] {
        let by = |whom| figure(&outcome, "guest", &format!("{name}_by_{whom}"));
        assert_eq!(by("hardware") + by("software"), 4.0);
        by_software += by("software");
        let found = figure(&outcome, "guest", &format!("{name}_crc32"));
        assert_eq!(found, crc32(name, task, 4, bytes), "{name}");
    }
    assert!(by_software > 0.0, "\n{}", explain(&outcome));
}

/// The fabric refuses bitstreams with a flipped bit, and the requester gets an error.
#[test]
fn a_damaged_bitstream_is_an_error() {
    let system = alone(&["qam16"], "length=1000");
    let outcome = run_alone(&system, |plan, image| {
        let mark = tactus_abi::bitstream::MAGIC.to_le_bytes();
        let begins = image.windows(4).enumerate();
        let begins = begins.filter(|(_, bytes)| *bytes == mark);
        let damaged = begins.map(|(at, _)| {
            let address = plan.image.start + at as u64 + 10_000;
            (
                Femtoseconds(0),
                Fault::Memory {
                    address,
                    bits: 0x10,
                },
            )
        });
        let damaged: Vec<_> = damaged.collect();
        assert_eq!(
            damaged.len(),
            2,
            "one for each region that the task fits into"
        );
        damaged
    });
    assert_verdict(&outcome, Verdict::GuestFailed);
    let guest = outcome.journal.vm("guest").expect("it is there");
    let console = guest.console.text();
    assert!(
        console.contains("qam16: Cancelled"),
        "\n{}",
        explain(&outcome)
    );
}

/// The host address of the device manager's symbol whose name contains `name`, and the `N` bytes there.
fn in_manager<const N: usize>(plan: &Plan, name: &str) -> (u64, [u8; N]) {
    use object::{Object, ObjectSegment, ObjectSymbol};

    let image = Artifacts::Workspace.file("device-manager");
    let image = std::fs::read(image.expect("it is built")).expect("it is there");
    let image = object::File::parse(&*image).expect("an ELF file");
    let mut symbols = image.symbols();
    let symbol = symbols.find(|symbol| symbol.name().is_ok_and(|it| it.contains(name)));
    let address = symbol
        .unwrap_or_else(|| panic!("no symbol {name}"))
        .address();
    let mut segments = image.segments();
    let bytes = segments.find_map(|segment| segment.data_range(address, N as u64).ok()?);
    let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
    let shared = plan.accelerators.as_ref().expect("they are shared");
    let host = plan.vms[shared.manager].host + (address - RAM_BASE);
    (host, bytes.unwrap_or([0; N]))
}

/// Corrupts the device manager's address of the fabric, so that its next interrupt makes it fault.
fn lost(plan: &Plan, at: Femtoseconds) -> Faults {
    let (address, _) = in_manager::<8>(plan, "device_manager6FABRIC");
    // The byte with bits 32 to 39.
    let (address, bits) = (address + 4, 0x10);
    vec![(at, Fault::Memory { address, bits })]
}

/// Corrupts the device manager's code: the function that accepts a request begins with an illegal instruction.
fn panicking(plan: &Plan, at: Femtoseconds) -> Faults {
    let (begin, code) = in_manager::<2>(plan, "7Manager4take");
    let bytes = (begin..).zip(code);
    let zero = bytes.map(|(address, bits)| (at, Fault::Memory { address, bits }));
    zero.collect()
}

/// The device manager dies and restarts several times. It recovers its state from the fabric, and no computation is
/// lost.
#[test]
fn a_device_manager_that_dies_loses_nothing() {
    dies(lost);
}

/// The same where the device manager itself panics.
#[test]
fn a_device_manager_that_panics_loses_nothing() {
    let outcome = dies(panicking);
    let manager = outcome.journal.vm("manager").expect("it is there");
    let console = manager.console.text();
    let panics = console.matches("panic").count();
    assert!(panics >= DEATHS_MS.len(), "\n{}", explain(&outcome));
}

fn dies(how: fn(&Plan, Femtoseconds) -> Faults) -> Outcome {
    // One task more than there are regions, so that the device manager is never idle.
    let tasks = ["qam64", "qam16", "fft512", "fft1024"];
    // Nor does the region allocator leave it little to do.
    let system = alone(&tasks, "frames=1 length=1000 rounds=30").replacen(
        "manager = \"manager\"",
        "manager = \"manager\"\n        allocator = \"off\"",
        1,
    );
    let milliseconds = |number: u64| Femtoseconds(number * 1_000_000_000_000);
    let outcome = run_alone(&system, |plan, _| {
        let times = DEATHS_MS.into_iter().map(milliseconds);
        times.flat_map(|at| how(plan, at)).collect()
    });
    let manager = outcome.journal.vm("manager").expect("it is there");
    assert_eq!(
        manager.restarts,
        DEATHS_MS.len() as u64,
        "\n{}",
        explain(&outcome)
    );
    for (name, task, bytes) in [
        ("qam16", 2, 1000),
        ("qam64", 3, 1000),
        ("fft512", 4, 8000),
        ("fft1024", 5, 8000),
    ] {
        let found = figure(&outcome, "guest", &format!("{name}_crc32"));
        assert_eq!(found, crc32(name, task, 1, bytes), "{name}");
    }
    outcome
}

/// The times of the device manager's deaths, in milliseconds from the board's reset.
const DEATHS_MS: [u64; 4] = [30, 36, 42, 48];

/// A hostile guest affects neither the watcher's releases nor the results of a guest that shares its regions.
///
/// The hostile guest writes garbage to its virtual device, and restarts itself during computations.
#[test]
fn a_hostile_guest_does_not_affect_others() {
    let file = root().join("systems/hostile-accelerator.toml");
    let outcome = run(&file, "watcher", none);
    assert_eq!(outcome.journal.failure, None, "\n{}", explain(&outcome));
    let vm = |name| outcome.journal.vm(name).expect("the system has it");
    assert_eq!(vm("watcher").passed, ["watcher"], "\n{}", explain(&outcome));
    assert_eq!(vm("hostile").passed, ["hostile"], "\n{}", explain(&outcome));
    for other in ["watcher", "modem", "manager"] {
        let (faults, restarts) = (vm(other).faults, vm(other).restarts);
        assert_eq!((faults, restarts), (0, 0), "{other}\n{}", explain(&outcome));
    }
    for (name, task, bytes) in [("qam16", 2, 4096), ("fft512", 4, 8 * 4096)] {
        let found = figure(&outcome, "modem", &format!("{name}_crc32"));
        assert_eq!(found, crc32(name, task, 3, bytes), "{name}");
    }
}

/// A computation ends with its VM: the next life's memory is not written by it.
#[test]
fn a_computation_ends_with_its_vm() {
    let file = root().join("systems/hostile-afterlife.toml");
    let outcome = run(&file, "watcher", none);
    let seen = || explain(&outcome);
    let vm = |name| outcome.journal.vm(name).expect("the system has it");
    assert_eq!(vm("hostile").passed, ["hostile"], "\n{}", seen());
    assert_eq!(vm("hostile").restarts, 30, "\n{}", seen());
    // Of 10 MHz: no restart takes 100 ms.
    let restart = figure(&outcome, "hostile", "hostile_restart_max");
    assert!(restart < 1e6, "{restart} ticks\n{}", seen());
    assert_eq!(vm("watcher").passed, ["watcher"], "\n{}", seen());
    assert_eq!(vm("manager").faults, 0, "\n{}", seen());
}

/// A guest without a channel to the device manager writes to its devices and waits, and knows nothing of regions.
///
/// The hypervisor detects its request for a region.
#[test]
fn a_guest_that_is_told_nothing_computes_as_with_any_device() {
    let system = alone(
        &["fft512", "qam16", "fft1024"],
        "frames=3 length=1000 rounds=5",
    );
    let (system, _) = system.split_once("[[channel]]").expect("it is the last");
    let outcome = run_alone(system, none);
    assert_verdict(&outcome, Verdict::Good);
    for (name, task, bytes) in [
        ("fft512", 4, 8000),
        ("qam16", 2, 1000),
        ("fft1024", 5, 8000),
    ] {
        let found = figure(&outcome, "guest", &format!("{name}_crc32"));
        assert_eq!(found, crc32(name, task, 3, bytes), "{name}");
    }
}

/// A system with accelerators that names no device manager has one nevertheless.
#[test]
fn a_manager_is_added_where_none_is_named() {
    let system = alone(&["fft512", "qam16"], "frames=3 length=1000 rounds=5");
    let (begin, rest) = system.split_once("[accelerators]").expect("it has a table");
    let (_, rest) = rest.split_once("harts = [0]").expect("the manager's vCPU");
    let (rest, _) = rest.split_once("[[channel]]").expect("it is the last");
    let outcome = run_alone(&format!("{begin}{rest}"), none);
    assert_verdict(&outcome, Verdict::Good);
    let names = outcome.journal.vms.iter().map(|vm| vm.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["guest", "device-manager"]);
    for (name, task, bytes) in [("fft512", 4, 8000), ("qam16", 2, 1000)] {
        let found = figure(&outcome, "guest", &format!("{name}_crc32"));
        assert_eq!(found, crc32(name, task, 3, bytes), "{name}");
    }
}

/// The same with one task after the other, where the guest sleeps until the device interrupts.
#[test]
fn a_guest_sleeps_until_its_device_interrupts() {
    let system = alone(&["fft512", "fft1024"], "frames=3 length=1000 patience=0");
    let (system, _) = system.split_once("[[channel]]").expect("it is the last");
    let outcome = run_alone(system, none);
    assert_verdict(&outcome, Verdict::Good);
    for (name, task) in [("fft512", 4), ("fft1024", 5)] {
        let found = figure(&outcome, "guest", &format!("{name}_crc32"));
        assert_eq!(found, crc32(name, task, 3, 8000), "{name}");
    }
}

/// A request to a page that is being closed does not trap, and is not lost.
///
/// Two guests, on a hart each, request the same region again and again, while the other guest loses it.
#[test]
fn requests_to_a_closed_page_are_not_lost() {
    let guest = |name: &str, hart: u32, seed: u32| {
        format!(
            r#"
            [[vm]]
            name = "{name}"
            image = "@bench-dpr"
            counters = true
            memory = "8MiB"
            bootargs = "tasks=5 bytes=4096 pause_us=40 requests=400 seed={seed}"
            [[vm.vcpu]]
            class = "be"
            harts = [{hart}]
            [[vm.accelerator]]
            task = "fft1024"
            "#
        )
    };
    let system = format!(
        r#"
        [system]
        platform = "soc"
        harts = 3
        [fabric]
        design = "accelerators"
        [accelerators]
        manager = "manager"
        hold = "10us"
        [[vm]]
        name = "manager"
        image = "@device-manager"
        memory = "4MiB"
        [[vm.vcpu]]
        class = "be"
        harts = [0]
        {}{}"#,
        guest("one", 1, 1),
        guest("other", 2, 2)
    );
    let outcome = run(written(&system).path(), None, none);
    assert_verdict(&outcome, Verdict::Good);
    for vm in ["one", "other"] {
        // The guest requested the region that often while the other guest had it.
        let count = figure(&outcome, vm, "alloc_count");
        assert!(count > 100.0, "{count}\n{}", explain(&outcome));
    }
}

/// Computations that each of the two guests of [`a_million_requests`] requests.
const EACH: u64 = 10_000;

/// A real-time guest and a best-effort guest, on a hart each, that request all four tasks.
///
/// Each stays with a task for a few short frames. With a minimal `hold`, each requests a region as often as possible.
/// `requests`: how many computations each requests.
fn contended(seed: u64, requests: [u64; 2]) -> String {
    let guest = |name: &str, class: &str, requests: u64, tasks: &str| {
        let accelerators = accelerators(&["qam16", "qam64", "fft512", "fft1024"]);
        format!(
            r#"
            [[vm]]
            name = "{name}"
            image = "@bench-dpr"
            counters = true
            memory = "8MiB"
            bootargs = "tasks=2,3,4,5 requests={requests} stay=20 {tasks}"
            [[vm.vcpu]]
            {class}
            {accelerators}
            "#
        )
    };
    let costs: String = [
        "trap",
        "resume",
        "interrupt",
        "search",
        "assign",
        "assign_configure",
        "preempt",
        "configured",
        "stopped",
    ]
    .map(|part| format!("{part} = \"20us\"\n"))
    .concat();
    let urgent = format!(
        "bytes=200 pause_us=4 together=1,1,1,1 seed={}",
        2 * seed + 1
    );
    let other = format!(
        "bytes=600 pause_us=4 together=1,1,1,1 seed={}",
        2 * seed + 2
    );
    format!(
        r#"
        [system]
        platform = "soc"
        harts = 2
        [fabric]
        design = "accelerators"
        [accelerators]
        manager = "manager"
        hold = "1us"
        [accelerators.costs]
        {costs}
        [[vm]]
        name = "manager"
        image = "@device-manager"
        memory = "4MiB"
        [[vm.vcpu]]
        class = "rt"
        hart = 0
        priority = 200
        period = "500us"
        budget = "250us"
        {}{}"#,
        guest(
            "urgent",
            "class = \"rt\"\nhart = 0\npriority = 100",
            requests[0],
            &urgent
        ),
        guest("other", "class = \"be\"\nharts = [1]", requests[1], &other)
    )
}

/// Runs [`contended`], which never takes so long unless a request is lost; then the guest asks the fabric for ever, of
/// which a second takes minutes.
fn run_contended(file: &Path) -> Outcome {
    let limit = Nanoseconds(2_000_000_000);
    run_on("accelerators", limit, Pace::Timed, file, None, none)
}

/// What a VM asks for while its page is being closed is found although nothing else happens on its hart afterwards: the
/// guest that took the region has ended.
#[test]
fn the_last_guest_gets_what_it_asks_for() {
    for seed in [1, 8] {
        let requests = [300, 800];
        let file = written(&contended(seed, requests));
        let outcome = run_contended(file.path());
        assert_verdict(&outcome, Verdict::Good);
        let found = ["urgent", "other"].map(|vm| figure(&outcome, vm, "requests"));
        assert_eq!(found, requests.map(|count| count as f64), "seed {seed}");
    }
}

/// A million computations for two guests: each result equals the software's for the same frame, and each completes
/// once.
///
/// The real-time guest waits for a region for at most the bound that `tactus check` states.
#[test]
#[ignore = "long"]
fn a_million_requests() {
    // `ACCELERATOR_SEEDS=FROM..TO` selects other seeds.
    for seed in seeds("ACCELERATOR_SEEDS", 0..50) {
        let file = written(&contended(seed, [EACH; 2]));
        let outcome = run_contended(file.path());
        assert_verdict(&outcome, Verdict::Good);
        let shared = plan_of(file.path()).accelerators;
        let shared = shared.expect("it shares accelerators");
        let urgent = outcome.journal.vm("urgent").expect("the system has it");
        let mut waits = Vec::new();
        for device in shared.devices.iter().filter(|device| device.real_time) {
            let bound = device.latency.and_then(|latency| latency.bound);
            let bound = bound.expect("a bound");
            let series = urgent.series(&format!("alloc_{}", device.task), "all");
            let series = series.expect("its latencies");
            let (_, longest) = series.extremes().expect("it was asked for");
            let waited = series
                .unit()
                .convert(longest as f64, Unit::Nanoseconds, outcome.journal.clocks())
                .expect("a time");
            assert!(
                waited <= bound as f64,
                "seed {seed}: {} waited {waited} ns of {bound}\n{}",
                device.task,
                explain(&outcome)
            );
            waits.push(format!("{} {waited} of {bound} ns", device.task));
        }
        let without = ["urgent", "other"].map(|vm| {
            assert_eq!(figure(&outcome, vm, "requests"), EACH as f64);
            figure(&outcome, vm, "alloc_count")
        });
        println!(
            "seed {seed}: {} computations, {} of them asked for without a region; waited at most: {}",
            2 * EACH,
            without.iter().sum::<f64>(),
            waits.join(", ")
        );
    }
}
