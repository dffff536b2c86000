//! Admission control: placements, refusals and their reasons, and that a refusal changes nothing.

use tactus_abi::blob::Overheads;
use tactus_abi::hypercall::Refusal;
use tactus_policy::admission::{Decision, Ledger, Request, TERMS_MAX};
use tactus_policy::reservation::{Kind, Reservation, Task};

fn request(handle: u16, (period, budget, deadline): (u64, u64, u64), harts: u64) -> Request {
    Request {
        handle,
        vm: 0,
        task: Task {
            reservation: Reservation::new(period, budget, deadline).expect("in order"),
            kind: Kind::Periodic,
        },
        harts,
    }
}

fn ledger(harts: usize) -> Ledger<4, 64> {
    let mut ledger = Ledger::new();
    ledger.configure(Overheads::default(), 0, harts, TERMS_MAX);
    (0..harts).for_each(|hart| ledger.open_hart(hart));
    // More than all harts, so that the share never limits.
    ledger.set_share(0, 2000);
    ledger
}

fn admit(ledger: &mut Ledger<4, 64>, request: &Request) -> Result<Decision, Refusal> {
    let decision = ledger.decide(request, u64::MAX)?;
    ledger.commit(request, decision);
    Ok(decision)
}

const fn on(hart: usize) -> Result<Decision, Refusal> {
    Ok(Decision { hart, moved: None })
}

/// The real-time vCPUs of the paper's Figure 6 are placed as in the figure.
#[test]
fn first_fit_is_as_in_the_paper() {
    let mut ledger = ledger(2);
    let rt = [(5, 3), (4, 1), (5, 2), (4, 1)];
    let harts: Vec<_> = (0..)
        .zip(rt)
        .map(|(handle, (period, budget))| {
            admit(&mut ledger, &request(handle, (period, budget, period), 3))
        })
        .collect();
    assert_eq!(harts, [on(0), on(0), on(1), on(1)]);
}

#[test]
fn another_is_moved_to_make_room() {
    let mut ledger = ledger(2);
    assert_eq!(admit(&mut ledger, &request(0, (10, 4, 10), 3)), on(0));
    assert_eq!(admit(&mut ledger, &request(1, (10, 4, 10), 3)), on(0));
    assert_eq!(admit(&mut ledger, &request(2, (10, 5, 10), 3)), on(1));
    // The new vCPU, with 60 %, fits on neither hart. It fits on the first one without one of its vCPUs with 40 %, for
    // which the second one has room.
    let decision = admit(&mut ledger, &request(3, (10, 6, 10), 3));
    let moved = Some((0, 1));
    assert_eq!(decision, Ok(Decision { hart: 0, moved }));
    assert_eq!(ledger.hart_of(0), Some(1));
    let refused = admit(&mut ledger, &request(4, (10, 2, 10), 3));
    assert_eq!(refused, Err(Refusal::Utilisation));
}

#[test]
fn a_short_deadline_is_refused_for_demand() {
    let mut ledger = ledger(1);
    assert_eq!(admit(&mut ledger, &request(0, (10, 4, 5), 1)), on(0));
    let refused = admit(&mut ledger, &request(1, (10, 2, 5), 1));
    assert_eq!(refused, Err(Refusal::Demand));
    assert_eq!(admit(&mut ledger, &request(1, (10, 1, 5), 1)), on(0));
    assert_eq!(admit(&mut ledger, &request(2, (10, 5, 10), 1)), on(0));
}

/// A vCPU is not moved to a hart where its next release would be delayed.
#[test]
fn no_vcpu_is_moved_to_a_hart_that_is_not_settled() {
    let mut ledger = ledger(2);
    assert_eq!(admit(&mut ledger, &request(0, (10, 6, 10), 3)), on(0));
    let newcomer = request(1, (10, 6, 10), 1);
    assert_eq!(ledger.decide(&newcomer, 0b01), Err(Refusal::Utilisation));
    let moved = Some((0, 1));
    assert_eq!(
        ledger.decide(&newcomer, 0b10),
        Ok(Decision { hart: 0, moved })
    );
}
