//! Which lines a guest uses from when its timer wakes it until it waits.

use tactus_board::account::Doing;
use tactus_board::privileged::{Exception, Privilege};
use tactus_board::profile::Profile;
use tactus_board::timing::{Timing, Use, Wake, Watch, Watched};

/// The guest that is watched, on hart 0, and another one.
const GUEST: Doing = running(Some(1));
const OTHER: Doing = running(Some(2));
const HYPERVISOR: Doing = running(None);

const fn running(guest: Option<u16>) -> Doing {
    Doing::Running {
        guest,
        privilege: Privilege::Supervisor,
    }
}

fn timing() -> Timing {
    let profile = Profile::named("soc").expect("it comes with the crate");
    let mut timing = Timing::new(&profile.timing, 2, 1);
    timing.watch_wakes(Watch {
        guests: vec![Watched {
            guest: 1,
            harts: 0b01,
        }],
        is_wait: |cause, _| cause == Exception::VirtualInstruction,
    });
    timing
}

const fn address(line: u64) -> u64 {
    0x8000_0000 + line * 32
}

fn fetch(timing: &mut Timing, lines: &[u64]) {
    for line in lines {
        timing.fetch(0, address(*line) + 4, 1, 0);
    }
}

/// The guest waits, and another one has the hart.
fn wait(timing: &mut Timing) {
    let wait = Some((Exception::VirtualInstruction, [0; 2]));
    timing.turn_of_wakes(0, 0, HYPERVISOR, wait, false);
    timing.turn_of_wakes(0, 0, OTHER, None, false);
    timing.turn_of_wakes(0, 0, HYPERVISOR, None, false);
}

/// The lines of the wakes that have ended, by number.
fn ended(timing: &mut Timing) -> Vec<Vec<u64>> {
    let number = |line: &Use| (line.physical - address(0)) / 32;
    let lines = |wake: Wake| wake.lines.iter().map(number).collect();
    timing.take_wakes().into_iter().map(lines).collect()
}

#[test]
fn each_line_is_seen_once_whatever_was_in_the_caches() {
    let mut timing = timing();
    timing.turn_of_wakes(0, 0, GUEST, None, false);
    fetch(&mut timing, &[1, 2, 3]);
    wait(&mut timing);
    for _ in 0..2 {
        timing.turn_of_wakes(0, 7, GUEST, None, true);
        fetch(&mut timing, &[2, 1, 2, 1]);
        timing.data(0, address(8), true, 0);
        timing.data(0, address(8) + 8, false, 0);
        wait(&mut timing);
    }
    // What came before the first wake is no part of one.
    assert_eq!(ended(&mut timing), [[2, 1, 8], [2, 1, 8]]);
    assert!(ended(&mut timing).is_empty());
}

#[test]
fn a_wake_has_its_begin_and_what_each_line_is_used_for() {
    let mut timing = timing();
    timing.turn_of_wakes(0, 0, GUEST, None, false);
    wait(&mut timing);
    timing.turn_of_wakes(0, 100, GUEST, None, true);
    timing.fetch(0, address(5), 1, 104);
    timing.data(0, address(6), false, 110);
    wait(&mut timing);
    let [wake] = &timing.take_wakes()[..] else {
        panic!("one wake");
    };
    assert_eq!((wake.guest, wake.hart, wake.begin), (0, 0, 100));
    let [code, data] = &wake.lines[..] else {
        panic!("two lines: {wake:?}");
    };
    assert_eq!(
        (code.physical, code.cycle, code.code),
        (address(5), 104, true)
    );
    assert_eq!((data.physical, data.code), (address(6), false));
}

#[test]
fn a_wake_by_something_else_is_none() {
    let mut timing = timing();
    timing.turn_of_wakes(0, 0, GUEST, None, false);
    wait(&mut timing);
    timing.turn_of_wakes(0, 0, GUEST, None, false);
    fetch(&mut timing, &[1]);
    wait(&mut timing);
    assert!(ended(&mut timing).is_empty());
}

#[test]
fn a_wake_goes_on_after_preemptions_and_calls() {
    let mut timing = timing();
    timing.turn_of_wakes(0, 0, GUEST, None, false);
    wait(&mut timing);
    timing.turn_of_wakes(0, 0, GUEST, None, true);
    fetch(&mut timing, &[1]);
    // Preempted; the other guest's lines, and those of another hart, are not the guest's.
    timing.turn_of_wakes(0, 0, HYPERVISOR, None, true);
    timing.turn_of_wakes(0, 0, OTHER, None, true);
    fetch(&mut timing, &[20]);
    timing.turn_of_wakes(0, 0, HYPERVISOR, None, true);
    timing.turn_of_wakes(1, 0, GUEST, None, true);
    timing.fetch(1, address(30), 1, 0);
    timing.turn_of_wakes(0, 0, GUEST, None, true);
    fetch(&mut timing, &[2]);
    // An access to an emulated register looks like a wait, and the guest goes on at once.
    let emulated = Some((Exception::VirtualInstruction, [0; 2]));
    timing.turn_of_wakes(0, 0, HYPERVISOR, emulated, false);
    timing.turn_of_wakes(0, 0, GUEST, None, false);
    fetch(&mut timing, &[3]);
    wait(&mut timing);
    assert_eq!(ended(&mut timing), [[1, 2, 3]]);
}

/// The guest waits, and its timer goes off before anything else has the hart.
#[test]
fn a_wait_that_ends_at_once_begins_another_wake() {
    let mut timing = timing();
    timing.turn_of_wakes(0, 0, GUEST, None, false);
    for line in [1, 2] {
        let wait = Some((Exception::VirtualInstruction, [0; 2]));
        timing.turn_of_wakes(0, 0, HYPERVISOR, wait, true);
        timing.turn_of_wakes(0, 0, GUEST, None, true);
        fetch(&mut timing, &[line]);
    }
    wait(&mut timing);
    assert_eq!(ended(&mut timing), [[1], [2]]);
}
