//! Guests of other projects: programs that use the machine as Zephyr and NuttX do, Embassy, and U-Boot.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use tactus::artifacts::Artifacts;
use tactus::run::Boot;
use tactus::run::console::{Framer, Source};
use tactus::run::machine::Launch;
use tactus::run::record::Consumer;
use tactus::run::session::{Ending, Outcome, Plan, Session, Unwatched, Verdict, Watcher};

use crate::harness::{On, STUCK, assert_verdict, explain, figure, on_both, run, written};

/// The checks of `guests/conformance/src/bin/zephyr.rs`, in their order.
const ZEPHYR: [&str; 16] = [
    "reset_state",
    "timer_ticks",
    "timer_in_the_past",
    "irq_lock",
    "exceptions",
    "fpu_on_demand",
    "plic_init",
    "uart_configure",
    "uart_poll_out",
    "uart_transmits_by_interrupts",
    "uart_receives_by_interrupts",
    "plic_threshold",
    "smp_start",
    "smp_ipi",
    "smp_affinity",
    "conformance-zephyr",
];

/// The checks of `guests/conformance/src/bin/nuttx.rs`, in their order.
const NUTTX: [&str; 17] = [
    "start_state",
    "timer_by_sbi",
    "timer_by_stimecmp",
    "irq_initialize",
    "uart_setup",
    "uart_transmits",
    "uart_receives",
    "mmu_enable",
    "kernel_text_is_read_only",
    "kernel_keeps_off_user_pages",
    "user_calls_kernel",
    "user_is_interrupted",
    "user_keeps_off_kernel",
    "unmapped_page_faults",
    "boot_secondary",
    "send_ipi",
    "conformance-nuttx",
];

/// Asserts that all checks passed, and that the UART printed these lines completely.
#[track_caller]
fn assert_conforms(outcome: &Outcome, checks: &[&str], lines: &[&str]) {
    assert_verdict(outcome, Verdict::Good);
    let vm = &outcome.journal.vms[0];
    assert_eq!(vm.passed, checks, "\n{}", explain(outcome));
    for line in lines {
        let console = vm.console.text();
        let found = console.lines().any(|found| found == *line);
        assert!(found, "no \"{line}\" in\n{}", explain(outcome));
    }
}

const ZEPHYR_LINES: [&str; 2] = [
    "Zephyr's console, polled",
    "Zephyr's console, by an interrupt for each FIFO",
];
const NUTTX_LINES: [&str; 1] = ["NuttX's console, by interrupts"];

fn as_zephyr(on: On) {
    let outcome = run(on, "systems/conformance-zephyr.toml", None);
    assert_conforms(&outcome, &ZEPHYR, &ZEPHYR_LINES);
}

fn as_nuttx(on: On) {
    let outcome = run(on, "systems/conformance-nuttx.toml", None);
    assert_conforms(&outcome, &NUTTX, &NUTTX_LINES);
}

/// The same programs under the firmware alone: they depend on the machine's specification, not on the hypervisor.
fn natively(on: On, guest: &str) -> Outcome {
    let image = Artifacts::Workspace
        .file(guest)
        .unwrap_or_else(|missing| panic!("{}: {}", missing.reason, missing.cure));
    let launch = Launch {
        image,
        initrd: None,
        bootargs: String::new(),
        harts: 2,
        memory_bytes: 128 << 20,
        platform: on.platform(),
    };
    let plan = Plan::bare(launch, guest, 10_000_000).limit(STUCK);
    Session::start(plan)
        .and_then(|session| session.finish(&mut Unwatched))
        .unwrap_or_else(|error| panic!("{guest}: {error}"))
}

fn as_zephyr_natively(on: On) {
    let outcome = natively(on, "conformance-zephyr");
    assert_conforms(&outcome, &ZEPHYR, &[]);
}

fn as_nuttx_natively(on: On) {
    let outcome = natively(on, "conformance-nuttx");
    assert_conforms(&outcome, &NUTTX, &[]);
}

/// Tasks wake in time, doorbells wake tasks, and the vCPU waits in between.
fn embassy(on: On) {
    let outcome = run(on, "systems/embassy.toml", None);
    assert_verdict(&outcome, Verdict::Good);
    let vm = outcome.journal.vm("embassy").expect("the system has it");
    assert_eq!(vm.passed, ["idles", "embassy"], "\n{}", explain(&outcome));
    let lateness = vm.series("wake_lateness", "run").expect("it measures it");
    assert_eq!(lateness.samples(), 50);
    assert_eq!(figure(&outcome, "embassy", "answers"), 20.0);
    // The vCPU waits for most of its life, and its hart is idle meanwhile.
    assert!(
        figure(&outcome, "embassy", "waiting") > 90.0,
        "\n{}",
        explain(&outcome)
    );
    let used = |consumer| {
        outcome
            .journal
            .usage
            .get(&(0, consumer))
            .copied()
            .unwrap_or(0)
    };
    let own = used(Consumer::Vm("embassy".to_owned()));
    assert!(
        own > 0 && used(Consumer::Idle) > 5 * own,
        "\n{}",
        explain(&outcome)
    );
}

on_both!(
    as_zephyr,
    as_zephyr_natively,
    as_nuttx,
    as_nuttx_natively,
    embassy,
);

/// Types a user's input: a key that stops the countdown, then a command at each prompt.
struct Typist {
    framer: Framer,
    line: Box<dyn Write + Send>,
    seen: String,
    steps: std::vec::IntoIter<(&'static str, &'static str)>,
    next: Option<(&'static str, &'static str)>,
}

impl Watcher for Typist {
    fn byte(&mut self, source: Source, byte: u8) {
        if source != Source::Vm(0) {
            return;
        }
        self.seen.push(char::from(byte));
        if let Some((prompt, text)) = self.next
            && self.seen.ends_with(prompt)
        {
            self.seen.clear();
            self.next = self.steps.next();
            let framed = self.framer.frame(text.as_bytes());
            self.line
                .write_all(&framed)
                .and_then(|()| self.line.flush())
                .expect("the machine reads");
        }
    }
}

/// Debian's U-Boot for supervisor mode, unmodified, as in docs/src/how-to/run-u-boot.md.
#[test]
#[ignore = "needs the network: fetches Debian's package u-boot-qemu (1.8 MB)"]
fn u_boot() {
    // The package is fetched once, and kept in Cargo's target folder.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("u-boot");
    let image = folder.join("usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin");
    if !image.is_file() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let mut command = Command::new("sh");
        command.current_dir(directory.path()).arg("-ec");
        command.arg("apt-get download -q u-boot-qemu && dpkg -x u-boot-qemu_*.deb \"$0\"");
        let status = command.arg(&folder).status().expect("there is a shell");
        assert!(status.success(), "u-boot-qemu cannot be fetched: see above");
    }
    let system = format!(
        "[system]\nplatform = \"qemu-virt\"\nharts = 1\n\n\
         [[vm]]\nname = \"u-boot\"\nimage = {:?}\nmemory = \"64MiB\"\n\n[[vm.vcpu]]\nclass = \"be\"\n\n\
         [[vm]]\nname = \"hello\"\nimage = \"@hello\"\nmemory = \"4MiB\"\n\n[[vm.vcpu]]\nclass = \"be\"\n",
        image.display().to_string()
    );
    for on in [On::Qemu, On::Board] {
        let file = written(&system);
        let boot = Boot::of(file.path()).unwrap_or_else(|error| panic!("{error:?}"));
        let plan = boot.plan.clone().on(on.platform()).limit(STUCK);
        let plan = plan.until("u-boot").expect("the system has it");
        let mut session = Session::start(plan).expect("it can be run");
        let mut steps = vec![
            ("autoboot:  2 ", "\n"),
            ("=> ", "version\n"),
            ("=> ", "bdinfo\n"),
            ("=> ", "poweroff\n"),
        ]
        .into_iter();
        let mut typist = Typist {
            framer: Framer::new(0).expect("there is such a VM"),
            line: session.take_input().expect("it has not been taken"),
            seen: String::new(),
            next: steps.next(),
            steps,
        };
        let outcome = session.finish(&mut typist).expect("it can be run");
        assert_verdict(&outcome, Verdict::Good);
        assert_eq!(outcome.ending, Ending::Until, "\n{}", explain(&outcome));
        let console = outcome.journal.vms[0].console.text();
        for part in [
            "U-Boot 20",
            "DRAM:  64 MiB",
            "In:    serial@10000000",
            "=> poweroff",
        ] {
            assert!(
                console.contains(part),
                "no \"{part}\" in\n{}",
                explain(&outcome)
            );
        }
    }
}
