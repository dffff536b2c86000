//! `tactus bench board`, with each run of the board in a process of its own.

use std::path::Path;

use tactus::bench::board::apart;
use tactus::bench::board::experiment::Task;
use tactus::bench::board::job::Ready;
use tactus::bench::board::machine::{self, Order};
use tactus_board::board::Pace;
use tactus_board::profile::Profile;

fn ready(rounds: u64) -> Ready {
    let task = Task {
        name: "mix".to_owned(),
        program: Some("board-mix".to_owned()),
        harts: Some(2),
        rounds: Some(rounds),
        quick_rounds: None,
        quantum: None,
        system: None,
        campaign: None,
        threads: None,
        fork_mib: None,
        until: None,
        // No run comes near this limit, however busy the host is.
        limit_seconds: None,
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let profile = Profile::named("soc").expect("it is there");
    Ready::of(&task, &root, &profile, false).expect("it is built")
}

fn order(ready: &Ready) -> Order {
    Order {
        job: ready.job.clone(),
        profile: "soc".to_owned(),
        pace: Pace::Timed,
        seed: 1,
    }
}

#[test]
fn a_run_apart_is_the_run_that_it_would_be_here() {
    let ready = ready(5);
    let order = order(&ready);
    let program = Path::new(env!("CARGO_BIN_EXE_tactus"));
    let apart = || apart::run(program, &order).expect("it ends in good order");
    let (first, second) = (apart(), apart());
    let here = machine::run(&order).expect("it ends in good order");
    assert!(here.trace_hash.is_some());
    for sample in [first, second] {
        assert_eq!(sample.trace_hash, here.trace_hash);
        assert_eq!(sample.checksum, here.checksum);
        assert_eq!(sample.instructions, here.instructions);
        assert!(!sample.time.cpu.is_zero());
    }
}

#[test]
fn why_a_run_failed_is_told() {
    let ready = ready(5);
    let mut order = order(&ready);
    let program = Path::new(env!("CARGO_BIN_EXE_tactus"));
    let error = |order: &Order| format!("{:?}", apart::run(program, order).expect_err("it fails"));
    order.profile = "sock".to_owned();
    assert!(error(&order).contains("no profile `sock`"));
    order.profile = "soc".to_owned();
    order.job.limit_seconds = 0;
    assert!(error(&order).contains("took longer than 0 s of virtual time"));
    let missing = apart::run(Path::new("/nonexistent/tactus"), &order).expect_err("it fails");
    assert!(format!("{missing:?}").contains("a process of its own"));
}
