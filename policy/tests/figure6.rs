//! The schedule of Figure 6 of "Full virtualization on MIPS-based MPSoCs" (the experiment `mpsoc`), from the policies
//! alone: the placement by admission, the EDF order of each hart, and the best-effort vCPUs in the remaining time.

use tactus_abi::blob::Overheads;
use tactus_policy::admission::{Ledger, Request, TERMS_AT_RUN_TIME};
use tactus_policy::deadline::Deadlines;
use tactus_policy::ready::{Handle, ListQueue, ReadyQueue};
use tactus_policy::record::{Figure, Record};
use tactus_policy::reservation::{Account, Kind, Reservation, Task};

const HARTS: usize = 2;
const TICKS: u64 = 20;
/// Periods and budgets of the real-time vCPUs 0 to 3; each deadline is its period.
const REAL_TIME: [(u64, u64); 4] = [(5, 3), (4, 1), (5, 2), (4, 1)];
/// The best-effort vCPUs 0 and 1, the more urgent one first.
const BEST_EFFORT: [(Handle, u8); 2] = [(4, 255), (5, 128)];

struct Hart {
    ready: Deadlines<8>,
    real_time: Option<Handle>,
    best_effort: Option<(Handle, u8)>,
}

/// The vCPU that runs in each tick, for each hart: a digit is a real-time vCPU, a letter (`a`, `b`) a best-effort vCPU.
fn schedule() -> [String; HARTS] {
    let mut ledger = Ledger::<HARTS, 8>::new();
    ledger.configure(Overheads::default(), 0, HARTS, TERMS_AT_RUN_TIME);
    ledger.set_share(0, 1000);
    (0..HARTS).for_each(|hart| ledger.open_hart(hart));
    let mut accounts = Vec::new();
    for (handle, (period, budget)) in (0..).zip(REAL_TIME) {
        let reservation = Reservation::new(period, budget, period).expect("in order");
        let kind = Kind::Periodic;
        let request = Request {
            handle,
            vm: 0,
            task: Task { reservation, kind },
            harts: 0b11,
        };
        let decision = ledger.decide(&request, 0).expect("it fits");
        ledger.commit(&request, decision);
        accounts.push((decision.hart, 0, Account::new(reservation, kind, 0)));
    }
    let record = Record::default();
    let mut harts = [(); HARTS].map(|()| Hart {
        ready: Deadlines::new(),
        real_time: None,
        best_effort: None,
    });
    let mut queue = ListQueue::<8>::bitmap();
    BEST_EFFORT
        .iter()
        .for_each(|(handle, priority)| queue.insert(*handle, *priority, false));
    let mut table = [const { String::new() }; HARTS];
    for now in 0..TICKS {
        for (handle, (hart, release, account)) in (0..).zip(&mut accounts) {
            if *release == now {
                if now > 0 {
                    account.release_next(now, &record);
                }
                *release = u64::MAX;
                harts[*hart].ready.set(handle, account.deadline());
            }
        }
        // The real-time queue preempts, and a preempted best-effort vCPU is queued again.
        for hart in &mut harts {
            let key = |handle: Handle| accounts[usize::from(handle)].2.deadline();
            let limit = hart.real_time.map_or(u64::MAX - 1, |h| key(h) - 1);
            if let Some(next) = hart.ready.pop_until(limit)
                && let Some(before) = hart.real_time.replace(next)
            {
                hart.ready.set(before, key(before));
            }
            if hart.real_time.is_some()
                && let Some((handle, priority)) = hart.best_effort.take()
            {
                queue.insert(handle, priority, true);
            }
        }
        for (hart, row) in harts.iter_mut().zip(&mut table) {
            let Some(handle) = hart.real_time else {
                if hart.best_effort.is_none() {
                    hart.best_effort = queue.pop_where(&mut |_| true);
                }
                row.push(match hart.best_effort {
                    Some((4, _)) => 'a',
                    Some(_) => 'b',
                    None => '-',
                });
                continue;
            };
            row.push((b'0' + handle as u8) as char);
            let (_, release, account) = &mut accounts[usize::from(handle)];
            account.charge(1, now + 1, &record);
            if account.left() == 0 {
                *release = account.end_job();
                hart.real_time = None;
            }
        }
    }
    assert_eq!(record.get(Figure::Missed), 0);
    table
}

/// Admission places RT 0 and 1 on CPU 0, RT 2 and 3 on CPU 1, as in the figure. There, BE 0 is
///
/// * on CPU 1 in tick 3 (circle 1) and in tick 7 (circle 2), where RT 2 and 3 wait for their release and RT 0 has CPU
///   0;
/// * on CPU 0 in tick 9 (circle 3), where both CPUs are free, and BE 1 on CPU 1;
/// * on CPU 1 again in ticks 13 and 14 (circle 4) and 18 and 19 (circle 5); BE 1 is on CPU 0 in ticks 14 and 19.
#[test]
fn the_schedule_is_that_of_figure_6() {
    let [cpu_0, cpu_1] = schedule();
    //               tick 0         5         10        15
    assert_eq!(
        cpu_0,
        ["1000", "1", "000", "1a", "000", "1b", "000", "1b"].concat()
    );
    assert_eq!(
        cpu_1,
        ["322a", "3", "22a", "3b", "223", "aa", "223", "aa"].concat()
    );
}
