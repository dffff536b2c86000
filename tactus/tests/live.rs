//! Runs in pieces (`tactus::run::board::live`): they are the same as whole ones, and stop where they are to.

use std::sync::Arc;

use tactus::run::Boot;
use tactus::run::board::Options;
use tactus::run::board::live::{Live, Pattern, Stop, Until};
use tactus::run::board::probe::{Place, Probe};
use tactus::run::console::Source;
use tactus::run::machine::{End, Platform};
use tactus::run::session::Verdict;
use tactus_board::time::Femtoseconds;

use crate::harness::{self, On, assert_verdict, once};

const MICROSECOND: u64 = 1_000_000_000;

fn boot_of(system: &str) -> Boot {
    harness::boot(On::Board, system, None)
}

fn prepare(system: &str) -> (Arc<Boot>, Options) {
    let boot = boot_of(system);
    let Platform::Board(options) = boot.plan.launch.platform.clone() else {
        panic!("it is for the board");
    };
    (Arc::new(boot), *options)
}

fn live(system: &str) -> Live {
    let (boot, options) = prepare(system);
    Live::new(boot, options).expect("there is such a board")
}

fn run(live: &mut Live, until: &Until) -> Stop {
    live.run(until, None, &mut || true)
}

fn record(kind: &str, fields: &[(&str, &str)]) -> Until {
    Until::Record(Pattern {
        source: None,
        kind: kind.to_owned(),
        fields: fields
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
    })
}

fn place(live: &Live, text: &str) -> Until {
    Until::Place(Place::find(text, live.image()).expect("there is such a place"))
}

fn hash(live: &mut Live) -> u64 {
    live.facts().trace_hash
}

/// Pauses of all kinds make no difference: hash, time, consoles and account are those of the whole run.
#[test]
fn a_run_in_pieces_is_the_whole_run() {
    let (boot, options) = prepare("systems/selftest.toml");
    let whole = once(&boot);
    assert_verdict(&whole, Verdict::Good);
    let facts = whole.board.expect("it ran on the board");
    let mut live = Live::new(boot, options).expect("there is such a board");
    for time in (1..40).map(|step| step * 333_333_333_333) {
        let stop = run(&mut live, &Until::Time(Femtoseconds(time)));
        assert!(matches!(stop, Stop::Reached { .. }), "{stop:?}");
        assert_eq!(live.now().0, time);
    }
    let until = record("start", &[("vm", "selftest")]);
    assert!(matches!(run(&mut live, &until), Stop::Reached { .. }));
    let mut pieces = 0;
    let paused = live.run(&Until::End, None, &mut || {
        pieces += 1;
        pieces < 10
    });
    assert_eq!((paused, pieces), (Stop::Interrupted, 10));
    for _ in 0..3 {
        let until = place(&live, "tactus_call");
        assert!(matches!(
            run(&mut live, &until),
            Stop::Reached { hart: Some(_), .. }
        ));
    }
    assert_eq!(run(&mut live, &Until::End), Stop::Ended(End::Off));
    let outcome = live.outcome();
    assert_verdict(&outcome, Verdict::Good);
    let pieced = outcome.board.expect("it ran on the board");
    assert_eq!(pieced.trace_hash, facts.trace_hash);
    assert_eq!(pieced.time, facts.time);
    for (one, other) in outcome.journal.vms.iter().zip(&whole.journal.vms) {
        assert_eq!(one.console.text(), other.console.text());
    }
    assert_eq!(outcome.journal.records, whole.journal.records);
    let times: Vec<_> = live.records().map(|(time, _)| time).collect();
    assert!(times.is_sorted() && times.len() == whole.journal.records.len());
    // What has ended stays so.
    assert_eq!(run(&mut live, &Until::End), Stop::Ended(End::Off));
    assert_eq!(hash(&mut live), facts.trace_hash);
}

#[test]
fn a_run_stops_where_it_is_to() {
    let mut live = live("systems/hello.toml");
    let boots = place(&live, "hello/start::boot");
    let Stop::Reached { hart: Some(0), .. } = run(&mut live, &boots) else {
        panic!("hart 0 comes there");
    };
    let Until::Place(main) = boots else {
        panic!("it is a place");
    };
    assert_eq!(live.board().pc(0), main.address);
    let text = |text: &str| Until::Text {
        vm: 0,
        text: text.as_bytes().to_vec(),
    };
    assert!(matches!(
        run(&mut live, &text("beat 1 at")),
        Stop::Reached { .. }
    ));
    let console = live.journal().vms[0].console.text().into_owned();
    assert!(
        console.contains("beat 1 at") && !console.contains("beat 2 at"),
        "{console}"
    );
    // Behind what was waited for before; what has come already counts.
    let limit = Femtoseconds(live.now().0 + 100 * MICROSECOND);
    assert_eq!(
        live.run(&text("beat 1 at"), Some(limit), &mut || true),
        Stop::TimeUp
    );
    assert_eq!(live.now(), limit);
    assert!(matches!(
        run(&mut live, &text("ticks")),
        Stop::Reached { .. }
    ));
    assert_eq!(live.now(), limit);
    let Stop::Reached {
        record: Some(index),
        ..
    } = run(&mut live, &record("pass", &[]))
    else {
        panic!("the guest writes it");
    };
    let (_, line) = live.records().nth(index).expect("there is such a record");
    assert_eq!(
        (line.source, line.text.as_str()),
        (Source::Vm(0), "pass name=hello")
    );
    // The VMs are off at some time: as a number it is the same however it is written.
    let off = record("off", &[("vm", "hello"), ("code", "0x0")]);
    assert!(matches!(run(&mut live, &off), Stop::Reached { .. }));
    assert_eq!(run(&mut live, &record("phase", &[])), Stop::Ended(End::Off));
}

#[test]
fn a_fork_and_a_snapshot_go_on_as_the_run_does() {
    let (boot, mut options) = prepare("systems/hello.toml");
    options
        .probes
        .push(Probe::find("tactus_call:1", &boot.image).expect("there is such a place"));
    let mut live = Live::new(boot, options).expect("there is such a board");
    let begin = live.snapshot();
    // In the middle of a slice.
    run(
        &mut live,
        &Until::Time(Femtoseconds(21_777 * MICROSECOND + 1)),
    );
    let snapshot = live.snapshot();
    let mut fork = live.fork().expect("there is a second board");
    assert_eq!(fork.hits().kept, live.hits().kept);
    let log = live.journal().log.text().into_owned();
    assert!(log.contains("boot version="), "{log}");
    run(&mut live, &Until::End);
    let whole = (hash(&mut live), live.now());
    assert_eq!(fork.now().0, 21_777 * MICROSECOND + 1);
    run(&mut fork, &Until::End);
    assert_eq!((hash(&mut fork), fork.now()), whole);
    assert_eq!(fork.hits().kept, live.hits().kept);
    live.restore(&snapshot).expect("it is of this run");
    assert_eq!(live.journal().log.text(), log);
    assert!(live.ended().is_none() && live.hits().kept.is_empty());
    run(&mut live, &Until::End);
    assert_eq!((hash(&mut live), live.now()), whole);
    // `tactus run --restore` takes it, too.
    let directory = tempfile::tempdir().expect("a directory can be made");
    let path = directory.path().join("snapshot");
    std::fs::write(&path, &snapshot).expect("it can be written");
    let mut boot = boot_of("systems/hello.toml");
    if let Platform::Board(options) = &mut boot.plan.launch.platform {
        options.restore = Some(path);
    }
    let facts = once(&boot).board.expect("it ran on the board");
    assert_eq!((facts.trace_hash, facts.time), whole);
    live.restore(&begin).expect("it is of this run");
    run(&mut live, &Until::End);
    assert_eq!((hash(&mut live), live.now()), whole);
    // What is none changes nothing.
    for bad in [
        &b"tactus"[..],
        &snapshot[..snapshot.len() / 2],
        &snapshot[1..],
    ] {
        let error = live.restore(bad).expect_err("it is no snapshot");
        assert!(
            error
                .to_string()
                .starts_with("the run cannot go on from this snapshot")
        );
        assert_eq!((hash(&mut live), live.now()), whole);
    }
}

/// Probes that are added later see what the others do, and disturb as little.
#[test]
fn a_probe_can_be_added() {
    let mut live = live("systems/hello.toml");
    run(&mut live, &Until::Time(Femtoseconds(10_000 * MICROSECOND)));
    let probe = Probe::find("hello/start::boot", live.image()).expect("there is such a place");
    live.add_probe(probe);
    run(&mut live, &Until::End);
    assert_eq!(live.hits().counts, [1]);
    let whole = once(&boot_of("systems/hello.toml"));
    assert_eq!(
        Some(hash(&mut live)),
        whole.board.map(|facts| facts.trace_hash)
    );
}

/// A guest whose vCPU waits for nothing that comes; time passes, and the run can go on.
#[test]
fn a_sleeping_board_is_told() {
    let mut live = live("systems/hostile-halt.toml");
    let stop = live.run(&Until::End, None, &mut || true);
    assert!(matches!(stop, Stop::Asleep | Stop::Ended(_)), "{stop:?}");
}
