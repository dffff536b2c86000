//! The runner against a real QEMU and the board, with a program in place of the hypervisor that plays back its output.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use tactus::config::Nanoseconds;
use tactus::report::page::About;
use tactus::run::console::{Framer, Line, Source};
use tactus::run::journal::{Journal, Seen};
use tactus::run::machine::{End, Launch};
use tactus::run::script::{Script, ScriptEnd};
use tactus::run::session::{Ending, Outcome, Plan, Session, Unwatched, Verdict, Watcher};
use tempfile::NamedTempFile;

use crate::harness::player::{From::Log, From::Vm, Then, framed, player};
use crate::harness::{On, STUCK, on_both};

const TIMEBASE_HZ: u64 = 10_000_000;

fn plan(on: On, image: &NamedTempFile) -> Plan {
    let launch = Launch {
        image: image.path().to_owned(),
        initrd: None,
        bootargs: String::new(),
        harts: 1,
        memory_bytes: 128 << 20,
        platform: on.platform(),
    };
    let vms = vec!["rt".to_owned(), "linux".to_owned()];
    Plan::new(launch, vms, TIMEBASE_HZ).limit(STUCK)
}

fn run(plan: Plan) -> Outcome {
    Session::start(plan)
        .expect("the machine starts")
        .finish(&mut Unwatched)
        .expect("the machine can be read")
}

const BOOT: &str =
    "boot version=0.1.0 harts=1 vms=2 time=100\nstart vm=rt time=110\nstart vm=linux time=120\n";

fn run_to_the_end(on: On) {
    let image = player(
        &framed(&[
            (Log, BOOT),
            (Vm(0), "real"),
            (Vm(1), "Linux\r\n"),
            (
                Vm(0),
                " time\n@tactus samples name=l phase=idle unit=ticks values=1,2,3\n",
            ),
            (Log, "off vm=rt reason=shutdown code=0 time=200\n"),
            (Log, "off vm=linux reason=shutdown code=0 time=210\n"),
            (
                Log,
                "usage vm=rt hart=0 ticks=90\nusage idle hart=0 ticks=10\nend time=220\n",
            ),
        ]),
        Then::Off,
    );
    let outcome = run(plan(on, &image));
    assert_eq!(outcome.verdict(), Verdict::Good, "{}", outcome.reason());
    assert!(matches!(outcome.ending, Ending::Machine(End::Off)));
    let journal = &outcome.journal;
    assert_eq!(
        journal.vms[0].console.text(),
        "real time\n@tactus samples name=l phase=idle unit=ticks values=1,2,3\n"
    );
    assert_eq!(journal.vms[1].console.text(), "Linux\r\n");
    assert!(journal.firmware.text().contains("OpenSBI"));
    assert_eq!(
        journal.vms[0].series("l", "idle").map(|s| s.samples()),
        Some(3)
    );
    assert_eq!(journal.ended, Some(220));
    assert_eq!(journal.notes().collect::<Vec<_>>(), []);
}

fn runs_end_as_their_records_say(on: On) {
    let verdict = |text: &str| {
        let image = player(&framed(&[(Log, BOOT), (Log, text)]), Then::Off);
        let outcome = run(plan(on, &image));
        (outcome.verdict(), outcome.reason())
    };
    assert_eq!(
        verdict("off vm=rt reason=fault code=0 time=5\nend time=6\n").0,
        Verdict::GuestFailed
    );
    assert_eq!(
        verdict("refused reason=hart 7 does not exist\n"),
        (
            Verdict::HypervisorFailed,
            "the hypervisor refused the system: hart 7 does not exist".to_owned()
        )
    );
    assert_eq!(
        verdict("panic reason=out of pages\n"),
        (
            Verdict::HypervisorFailed,
            "the hypervisor panicked: out of pages".to_owned()
        )
    );
    // The machine switches off without a message, as after an unrequested reset.
    assert_eq!(verdict("").0, Verdict::HypervisorFailed);
}

#[test]
fn image_that_is_none_fails_with_qemus_own_words() {
    let mut plan = plan(On::Qemu, &player(b"", Then::Off));
    plan.launch.image = "/nonexistent".into();
    let outcome = run(plan);
    assert_eq!(outcome.verdict(), Verdict::HypervisorFailed);
    assert!(
        outcome.reason().contains("/nonexistent"),
        "{}",
        outcome.reason()
    );
}

fn until_ends_with_its_vm_and_the_usage_that_follows(on: On) {
    let image = player(
        &framed(&[
            (Log, BOOT),
            (Vm(0), "@tactus metric name=m value=1 unit=ns\n"),
            (Log, "off vm=rt reason=shutdown code=0 time=200\n"),
            (Log, "usage vm=rt hart=0 ticks=90\n"),
            // The VM's last output can arrive after its end.
            (Vm(0), "@tactus pass name=rt\n"),
            (Vm(1), "@tactus metric name=late value=1 unit=ns\n"),
        ]),
        Then::Echo,
    );
    let outcome = run(plan(on, &image).until("rt").expect("rt is a VM"));
    assert_eq!(outcome.ending, Ending::Until);
    assert_eq!(outcome.verdict(), Verdict::Good);
    if on == On::Qemu {
        // The board replaces the journal's usage by its own account.
        assert_eq!(outcome.journal.usage.len(), 1);
    }
    assert!(outcome.journal.log.text().ends_with("ticks=90\n"));
    assert_eq!(outcome.journal.vms[0].passed, ["rt"]);
    assert!(outcome.journal.vms[1].metrics.is_empty());
    assert_eq!(outcome.journal.vms[1].console.text(), "");
    assert!(plan(on, &image).until("no such").is_err());
}

fn a_limit_ends_a_run_that_hangs(on: On) {
    let image = player(&framed(&[(Log, BOOT), (Vm(1), "hanging")]), Then::Echo);
    let limit = Nanoseconds(100_000_000);
    let outcome = run(plan(on, &image).limit(limit));
    assert_eq!(outcome.ending, Ending::Limit);
    assert_eq!(outcome.verdict(), Verdict::Timeout);
    assert_eq!(outcome.end_time, Some(limit));
    assert_eq!(outcome.journal.vms[1].console.text(), "hanging");
    let outcome = run(plan(on, &image).host_limit(Duration::ZERO));
    assert_eq!(outcome.ending, Ending::HostLimit);
    assert_eq!(outcome.verdict(), Verdict::Timeout);
}

fn runs_repeat_exactly(on: On) {
    let text: String = (0..2000)
        .map(|i| format!("@tactus samples name=l phase=p unit=ticks values={i}\n"))
        .collect();
    let image = player(
        &framed(&[(Log, BOOT), (Vm(0), &text), (Log, "end time=9\n")]),
        Then::Off,
    );
    let (first, second) = (run(plan(on, &image)), run(plan(on, &image)));
    assert_eq!(first.verdict(), Verdict::Good);
    assert_eq!(first.journal.records.len(), 2004);
    assert_eq!(first.journal.records, second.journal.records);
    assert_eq!(
        first.journal.firmware.bytes(),
        second.journal.firmware.bytes()
    );
    assert_eq!(
        tactus::report::report_json(&first, "system"),
        tactus::report::report_json(&second, "system")
    );
}

#[test]
fn report_has_all_its_files() {
    let image = player(
        &framed(&[
            (Log, BOOT),
            (
                Vm(0),
                "@tactus samples name=late/ness phase=idle unit=ticks values=3,4,5\n",
            ),
            (
                Vm(0),
                "@tactus samples name=late/ness phase=loaded unit=ticks values=3,40000\n",
            ),
            (Vm(1), "# uname\r\n"),
            (
                Log,
                "usage vm=rt hart=0 ticks=75\nusage idle hart=0 ticks=25\n",
            ),
            (Log, "end time=220\n"),
        ]),
        Then::Off,
    );
    let outcome = run(plan(On::Qemu, &image));
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = |name: &str| directory.path().join("report").join(name);
    let read = |name: &str| std::fs::read(path(name)).expect("the file is there");
    let text = |name: &str| String::from_utf8(read(name)).expect("it is text");
    let about = About {
        system: "system".to_owned(),
        ..About::default()
    };
    let written =
        tactus::report::write(&outcome, &about, &path("")).expect("the report can be written");
    assert_eq!(written.page, path("report.html"));
    assert_eq!(
        written.pictures,
        [path("rt-late=2Fness.svg"), path("rt-late=2Fness.png")]
    );
    let picture = text("rt-late=2Fness.svg");
    assert!(picture.contains("loaded") && picture.contains("4,000 µs"));
    assert!(read("rt-late=2Fness.png").starts_with(b"\x89PNG"));
    assert_eq!(text("consoles/linux.log"), "# uname\r\n");
    assert!(text("consoles/(firmware).log").contains("OpenSBI"));
    assert_eq!(text("records.jsonl").lines().count(), 8);
    let markdown = text("report.md");
    for part in [
        "| idle   |       3 | 0.3 |   0.4 | 0.4 |   0.5 |   0.5 |",
        "| loaded |       2 | 0.3 | 2,000 | 0.3 | 4,000 | 4,000 |",
        "(rt-late=2Fness.svg)",
        "| rt     | 75.00 % |",
    ] {
        assert!(markdown.contains(part), "no {part} in\n{markdown}");
    }
    let json: serde_json::Value = serde_json::from_str(&text("report.json")).expect("it is JSON");
    assert_eq!(json["verdict"], "good");
    assert_eq!(json["samples"][0]["phases"][0]["summary"]["samples"], 3);
    assert_eq!(json["virtual_seconds"], 22e-6);
}

/// Answers a VM's first line with input, and stops the session when the input has been echoed.
struct Answer<W> {
    input: W,
    answered: bool,
    stop: tactus::run::session::Stop,
}

impl<W: Write> Watcher for Answer<W> {
    fn line(&mut self, line: &Line, _: &Seen, _: &Journal) {
        if line.source == Source::Vm(1) && !self.answered {
            let framed = Framer::new(1)
                .expect("VM 1 can be named")
                .frame(b"a\x1eb\x01c\n");
            self.input.write_all(&framed).expect("QEMU takes input");
            self.input.flush().expect("QEMU takes input");
            self.answered = true;
        } else if line.source == Source::Vm(1) {
            self.stop.leave();
        }
    }
}

fn input_reaches_the_machine_framed(on: On) {
    // The machine selects VM 1's stream and echoes its input, so that the output equals the input. Byte 1 (Ctrl-A) is
    // the escape key of QEMU's own monitor, which must be disabled.
    let image = player(&framed(&[(Log, BOOT), (Vm(1), "login:\n")]), Then::Echo);
    let mut session = Session::start(plan(on, &image)).expect("the machine starts");
    let mut answer = Answer {
        input: session.take_input().expect("it has not been taken"),
        answered: false,
        stop: session.stop(),
    };
    assert!(session.take_input().is_none());
    let outcome = session
        .finish(&mut answer)
        .expect("the machine can be read");
    assert_eq!(outcome.ending, Ending::Left);
    assert_eq!(
        outcome.journal.vms[1].console.bytes(),
        b"login:\na\x1eb\x01c\n"
    );
}

fn a_script_drives_a_console(on: On) {
    // The machine echoes its input, with the framing.
    let image = player(&framed(&[(Log, BOOT), (Vm(1), "login: ")]), Then::Echo);
    let text =
        "vm linux\nexpect \"login: \"\nsend root\nexpect \"root\\n\"\ntimeout 50ms\nexpect no\n";
    let run = || {
        let mut plan = plan(on, &image);
        plan.script = Some(Script::parse("s", text, &plan.vms, None).expect("it is in order"));
        run(plan)
    };
    let outcome = run();
    let end = ScriptEnd::TimedOut(
        "s:6: expect no: not within 50 ms of virtual time; linux ended with \"\"".to_owned(),
    );
    assert_eq!(outcome.ending, Ending::Script(end));
    assert_eq!(outcome.verdict(), Verdict::ScriptTimeout);
    assert_eq!(outcome.journal.vms[1].console.text(), "login: root\n");
    let hash = |outcome: &Outcome| outcome.board.as_ref().map(|facts| facts.trace_hash);
    if on == On::Board {
        let again = run();
        assert_eq!(again.end_time, outcome.end_time);
        assert_eq!(hash(&again), hash(&outcome));
    }
}

/// Whether a process whose command line names `image` runs.
fn runs(image: &NamedTempFile) -> bool {
    let name = image.path().display().to_string();
    std::fs::read_dir("/proc")
        .expect("/proc is there")
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).contains(&name))
}

fn wait_until(mut holds: impl FnMut() -> bool) -> bool {
    // Bounded by polls, not by time: on a busy host each poll takes longer.
    (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        holds()
    })
}

#[test]
fn dropped_session_leaves_no_machine() {
    let image = player(b"", Then::Echo);
    let session = Session::start(plan(On::Qemu, &image)).expect("the machine starts");
    assert!(wait_until(|| runs(&image)));
    drop(session);
    assert!(!runs(&image));
}

/// The process that [`killed_process_leaves_no_machine`] kills; not a test of its own.
#[test]
#[ignore = "runs until it is killed"]
fn victim() {
    let mut forever = plan(On::Qemu, &player(b"", Then::Off));
    forever.launch.image = std::env::var_os("VICTIM_IMAGE")
        .expect("started by the test that kills it")
        .into();
    run(forever);
}

#[test]
fn killed_process_leaves_no_machine() {
    let image = player(b"", Then::Echo);
    let mut victim = Command::new(std::env::current_exe().expect("this test is a program"))
        .args(["--exact", "machine::victim", "--ignored"])
        .env("VICTIM_IMAGE", image.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("this test can start itself");
    let started = wait_until(|| runs(&image));
    victim.kill().expect("it runs");
    victim.wait().expect("it was killed");
    assert!(started);
    assert!(wait_until(|| !runs(&image)));
}

/// Two harts that answer each other 1,000 times through memory; the first reports its longest wait in ticks of `time`.
///
/// The flag is at 0x100, the text that precedes the figure at 0x108.
const ANSWER: [u32; 60] = [
    0x0000_0417, // start:  auipc s0, 0
    0x0005_0493, //         mv    s1, a0
    0x0015_4513, //         xori  a0, a0, 1
    0x0d84_0593, //         addi  a1, s0, 0xd8
    0x0000_0613, //         li    a2, 0
    0x0048_58b7, //         lui   a7, 0x485
    0x34d8_8893, //         addi  a7, a7, 0x34d
    0x0000_0813, //         li    a6, 0
    0x0000_0073, //         ecall
    0x1004_0913, //         addi  s2, s0, 0x100
    0x3e80_0993, //         li    s3, 1000
    0x0000_0a13, //         li    s4, 0
    0xc010_22f3, // round:  rdtime t0
    0x0010_0393, //         li    t2, 1
    0x0079_3023, //         sd    t2, 0(s2)
    0x0009_3383, // wait:   ld    t2, 0(s2)
    0xfe03_9ee3, //         bnez  t2, wait
    0xc010_2373, //         rdtime t1
    0x4053_0333, //         sub   t1, t1, t0
    0x006a_7463, //         bleu  t1, s4, next
    0x0003_0a13, //         mv    s4, t1
    0xfff9_8993, // next:   addi  s3, s3, -1
    0xfc09_9ce3, //         bnez  s3, round
    0x1000_02b7, //         lui   t0, 0x10000
    0x1084_0313, //         addi  t1, s0, 0x108
    0x0003_4383, // text:   lbu   t2, 0(t1)
    0x0003_8e63, //         beqz  t2, digits
    0x0052_ce83, // room:   lbu   t4, 5(t0)
    0x020e_fe93, //         andi  t4, t4, 32
    0xfe0e_8ce3, //         beqz  t4, room
    0x0072_8023, //         sb    t2, 0(t0)
    0x0013_0313, //         addi  t1, t1, 1
    0xfe5f_f06f, //         j     text
    0x03c0_0313, // digits: li    t1, 60
    0x006a_53b3, // digit:  srl   t2, s4, t1
    0x00f3_f393, //         andi  t2, t2, 15
    0x0303_8393, //         addi  t2, t2, 0x30
    0x03a0_0e13, //         li    t3, 0x3a
    0x01c3_e463, //         bltu  t2, t3, put
    0x0273_8393, //         addi  t2, t2, 0x27
    0x0052_ce83, // put:    lbu   t4, 5(t0)
    0x020e_fe93, //         andi  t4, t4, 32
    0xfe0e_8ce3, //         beqz  t4, put
    0x0072_8023, //         sb    t2, 0(t0)
    0xffc3_0313, //         addi  t1, t1, -4
    0xfc03_5ae3, //         bgez  t1, digit
    0x00a0_0393, //         li    t2, 10
    0x0072_8023, //         sb    t2, 0(t0)
    0x5352_58b7, //         lui   a7, 0x53525
    0x3548_8893, //         addi  a7, a7, 0x354
    0x0000_0813, //         li    a6, 0
    0x0000_0513, //         li    a0, 0
    0x0000_0593, //         li    a1, 0
    0x0000_0073, //         ecall
    0x0000_0417, // other:  auipc s0, 0
    0x0284_0913, //         addi  s2, s0, 0x28
    0x0009_3383, // answer: ld    t2, 0(s2)
    0xfe03_8ee3, //         beqz  t2, answer
    0x0009_3023, //         sd    zero, 0(s2)
    0xff5f_f06f, //         j     answer
];

fn harts_take_short_turns(on: On) {
    let mut program: Vec<u8> = ANSWER.iter().flat_map(|word| word.to_le_bytes()).collect();
    program.resize(0x108, 0);
    program.extend(b"@tactus samples name=answer phase=all unit=ticks values=0x\0");
    let mut image = NamedTempFile::new().expect("a temporary file can be made");
    image.write_all(&program).expect("it can be written");
    let launch = Launch {
        image: image.path().to_owned(),
        initrd: None,
        bootargs: String::new(),
        harts: 2,
        memory_bytes: 128 << 20,
        platform: on.platform(),
    };
    let outcome = run(Plan::bare(launch, "pair", TIMEBASE_HZ).limit(STUCK));
    assert_eq!(outcome.verdict(), Verdict::Good, "{}", outcome.reason());
    let longest = outcome.journal.vms[0]
        .series("answer", "all")
        .and_then(|series| series.extremes())
        .map(|(_, max)| max);
    // 100 us. With QEMU's own turns, of up to a second of virtual time, the program does not even end.
    assert!(longest.is_some_and(|ticks| ticks < 1000), "{longest:?}");
}

#[test]
fn image_that_the_board_cannot_read_is_named() {
    let mut plan = plan(On::Board, &player(b"", Then::Off));
    plan.launch.image = "/nonexistent".into();
    let error = Session::start(plan).expect_err("there is no image");
    assert!(error.to_string().contains("/nonexistent"), "{error}");
}

#[test]
fn board_that_the_system_does_not_fit_is_refused() {
    let image = player(b"", Then::Off);
    let refusal = |change: &dyn Fn(&mut Plan)| {
        let mut plan = plan(On::Board, &image);
        change(&mut plan);
        let error = Session::start(plan).expect_err("it does not fit");
        error.to_string()
    };
    let harts = refusal(&|plan| plan.launch.harts = 5);
    assert!(harts.contains("at most 4"), "{harts}");
    let memory = refusal(&|plan| plan.launch.memory_bytes = 8 << 30);
    assert!(memory.contains("memory"), "{memory}");
    let time = refusal(&|plan| plan.timebase_hz = 1_000_000);
    assert!(time.contains("1000000 Hz"), "{time}");
}

#[test]
fn harts_that_wait_for_ever_end_the_boards_run() {
    // Supervisor software that only waits: no interrupt that could wake it is enabled.
    let mut image = NamedTempFile::new().expect("a temporary file can be made");
    let program: [u32; 3] = [
        0x1040_1073, // loop: csrw sie, zero
        0x1050_0073, //       wfi
        0xff9f_f06f, //       j    loop
    ];
    let bytes: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
    image.write_all(&bytes).expect("it can be written");
    let outcome = run(plan(On::Board, &image));
    assert_eq!(outcome.verdict(), Verdict::HypervisorFailed);
    assert!(
        outcome.reason().contains("all harts wait"),
        "{}",
        outcome.reason()
    );
}

on_both!(
    run_to_the_end,
    runs_end_as_their_records_say,
    until_ends_with_its_vm_and_the_usage_that_follows,
    a_limit_ends_a_run_that_hangs,
    a_script_drives_a_console,
    runs_repeat_exactly,
    input_reaches_the_machine_framed,
    harts_take_short_turns,
);
