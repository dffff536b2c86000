//! Each way in which a job goes wrong by no fault of its guest is named by a counter: a timer that is late, one whose
//! interrupt is lost, a hypervisor that takes too long. The board makes it go wrong. (The first job is longer than the
//! budget, as the guest starts.)

use tactus::run::machine::Platform;
use tactus::run::session::{Outcome, Verdict};
use tactus_abi::hypercall::JobRecord;
use tactus_board::fault::{Fault, Register};
use tactus_board::time::Femtoseconds;

use crate::harness::{On, assert_verdict, boot_text, explain, once};

/// Ticks of the loop's period, 10 ms.
const PERIOD: u64 = 100_000;
/// A tick.
const TICK_FEMTOSECONDS: u64 = 100_000_000;
/// Cycles of a tick.
const TICK_CYCLES: u32 = 67;
/// `stimecmp` (Sstc, section 3).
const TIMER: Register = Register::Csr(0x14d);

/// A control loop of 500 µs in each 10 ms, by 2 ms.
const SYSTEM: &str = r#"
[system]
platform = "qemu-virt"
harts = 2

[[vm]]
name = "loop"
image = "@release-selftest"
memory = "4MiB"
bootargs = "role=loop turns=20"

[[vm.vcpu]]
class = "rt"
hart = 0
period = "10ms"
budget = "500us"
deadline = "2ms"
kind = "periodic"

[[vm]]
name = "other"
image = "@release-selftest"
memory = "4MiB"
bootargs = "role=sleeper"

[[vm.vcpu]]
class = "be"
harts = [1]

[[channel]]
name = "rings"
between = ["loop", "other"]
size = "4KiB"
"#;

/// What was counted of the loop's jobs, with a fault so many ticks after a release in the midst of the run. `fault` is
/// given the release, in ticks.
fn counted(after: i64, fault: impl Fn(u64) -> Fault) -> JobRecord {
    let mut boot = boot_text(On::Board, SYSTEM);
    boot.plan = boot.plan.until("loop").expect("the VM");
    let release = record(&once(&boot)).release - 10 * PERIOD;
    let Platform::Board(options) = &mut boot.plan.launch.platform else {
        panic!("it runs on the board");
    };
    let at = release.checked_add_signed(after).expect("a time");
    let at = Femtoseconds(at * TICK_FEMTOSECONDS);
    options.faults.push((at, fault(release)));
    record(&once(&boot))
}

fn record(outcome: &Outcome) -> JobRecord {
    assert_verdict(outcome, Verdict::Good);
    let mut vms = outcome.journal.vms.iter();
    let own = vms.find(|vm| vm.name == "loop").expect("the VM");
    let record = own.jobs.get(&0).copied();
    record.unwrap_or_else(|| panic!("{}", explain(outcome)))
}

/// Bits of the hart's timer change while it is set to the release.
fn timer(bits: u64) -> Fault {
    Fault::Register {
        hart: 0,
        register: TIMER,
        bits,
    }
}

/// The lowest bit from this one on by which the time would be later.
fn later(release: u64, from: u32) -> u64 {
    let bit = (from..64).find(|bit| release >> bit & 1 == 0);
    1 << bit.expect("one")
}

#[test]
fn nothing_is_wrong_where_nothing_is() {
    let record = counted(0, |_| Fault::Stall { hart: 1, cycles: 1 });
    assert!(record.jobs >= 20 && record.used_max >= 500, "{record:?}");
    // A job waits for what the hypervisor takes on the way to it.
    assert!(record.interference_max < 100, "{record:?}");
    assert!(record.late_max < 16, "{record:?}");
    assert_eq!(record.late[2..], [0; 4], "{record:?}");
    assert_eq!((record.missed, record.skipped), (0, 0), "{record:?}");
}

#[test]
fn a_timer_that_is_late_shows_as_a_late_release() {
    let late = std::cell::Cell::new(0);
    let record = counted(-5_000, |release| {
        late.set(later(release, 12));
        timer(late.get())
    });
    let late = late.get();
    assert!(
        (late..late + 100).contains(&record.late_max),
        "{late}: {record:?}"
    );
    assert_eq!(record.late[2..].iter().sum::<u64>(), 1, "{record:?}");
    assert_eq!(record.skipped, 0, "{record:?}");
}

/// The interrupt that comes in its place is more than a period later.
#[test]
fn an_interrupt_that_is_lost_shows_as_skipped_releases() {
    let record = counted(-5_000, |release| timer(later(release, 17)));
    assert_eq!(record.skipped, record.late_max / PERIOD, "{record:?}");
    assert!(record.late_max > 1 << 17, "{record:?}");
    assert_eq!(record.late[5], 1, "{record:?}");
}

/// The hart stands still while the hypervisor is on its way to the job, beyond the job's deadline.
#[test]
fn a_hypervisor_that_takes_too_long_shows_as_interference_and_a_missed_deadline() {
    let ticks = 25_000;
    let cycles = ticks * TICK_CYCLES;
    let record = counted(0, |_| Fault::Stall { hart: 0, cycles });
    assert!(record.interference_max >= u64::from(ticks), "{record:?}");
    assert_eq!((record.missed, record.skipped), (1, 0), "{record:?}");
}
