//! Admission: one for the whole system. It judges one request at a time, in steps.
//!
//! Between two steps the hart that does them looks for interrupts, and may give up the requesting vCPU for a more
//! urgent one. Meanwhile any other hart with a request of its own does the steps in its place, so that no request waits
//! for a vCPU that does not run. The hart that does the last step carries the decision out (protocol R1).

pub mod request;

use crate::call::{SbiError, SbiResult};
use crate::hart::context::HartCtx;
use crate::system::system;
use crate::vm::Entry;
use crate::vm::Vcpu;
use crate::vm::vcpu::{State, configured};
use core::sync::atomic::Ordering;
use request::AdmissionRequest;
use tactus_abi::blob::{Blob, RealTimePolicy, limit};
use tactus_abi::hypercall::Refusal;
use tactus_hypervisor::lock::Lock;
use tactus_policy::admission::{Decision, Ledger, Request, Search, Step, TERMS_AT_RUN_TIME};
use tactus_policy::ready::Handle;
use tactus_policy::reservation::{Account, Kind, Reservation};
use tactus_policy::table::Table;

/// [`Vcpu::verdict`]: the request is granted. Otherwise zero, or one more than the [`Refusal`].
const ACCEPTED: u32 = 1;

/// The admission.
struct Admission {
    /// All reservations there are.
    ledger: Ledger<{ limit::HARTS }, { limit::VCPUS }>,
    job: Option<Job>,
    /// Of the job.
    search: Search,
}

/// The request that is being judged.
struct Job {
    caller: &'static Vcpu,
    wanted: AdmissionRequest,
    /// What has been decided; to be carried out in the next step.
    decided: Option<Result<Decision, Refusal>>,
}

/// The system's.
static ADMISSION: Lock<Admission> = Lock::new(Admission {
    ledger: Ledger::new(),
    job: None,
    search: Search::new(),
});

/// The turns of those that ask. They wait here for each other, so that a hart whose vCPU has stopped, perhaps below an
/// interrupt of a real-time vCPU, waits for one step of one of them at most. Locked before [`ADMISSION`].
static ASKING: Lock<()> = Lock::new(());

/// Enters the reservations of the configuration, which the tool has judged; called once, at boot.
pub fn initialise(blob: &Blob) {
    let ledger = &mut ADMISSION.lock().ledger;
    ledger.configure(
        blob.header.overheads,
        blob.header.reserve,
        blob.harts.len(),
        TERMS_AT_RUN_TIME,
    );
    for (index, hart) in blob.harts.iter().enumerate() {
        if hart.policy == RealTimePolicy::EarliestDeadline as u32 {
            ledger.open_hart(index);
        }
    }
    for (index, vm) in blob.vms.iter().enumerate() {
        ledger.set_share(index, vm.rt_share);
    }
    for (handle, vcpu) in blob.vcpus.iter().enumerate() {
        let hart = vcpu.harts.trailing_zeros() as usize;
        enter_configured(ledger, blob, handle as Handle, hart);
    }
}

/// Enters a vCPU's reservation of the configuration; returns it, if it has one.
fn enter_configured(
    ledger: &mut Ledger<{ limit::HARTS }, { limit::VCPUS }>,
    blob: &Blob,
    handle: Handle,
    hart: usize,
) -> Option<Reservation> {
    let vcpu = &Table::new(blob.vcpus)[usize::from(handle)];
    let task = configured(vcpu)?;
    let request = Request {
        handle,
        vm: vcpu.vm as usize,
        task,
        harts: vcpu.harts,
    };
    ledger.enter(&request, hart);
    Some(task.reservation)
}

/// The vCPUs that are to be notified of a decision.
pub type VcpusToNotify = [Option<&'static Vcpu>; 2];

/// Does one step of the request that is being judged, which becomes this one if there is none; the answer, if it is
/// there.
pub fn step(vcpu: &'static Vcpu, wanted: &AdmissionRequest) -> (Option<SbiResult>, VcpusToNotify) {
    let _turn = ASKING.lock();
    let mut admission = ADMISSION.lock();
    let verdict = vcpu.verdict.swap(0, Ordering::SeqCst);
    if verdict == ACCEPTED {
        return (Some(Ok(number(target(wanted)))), [None; 2]);
    }
    if verdict > ACCEPTED {
        let error = SbiError {
            code: SbiError::DENIED.code,
            value: u64::from(verdict - ACCEPTED),
        };
        return (Some(Err(error)), [None; 2]);
    }
    let Admission {
        ledger,
        job,
        search,
    } = &mut *admission;
    let mut tell = [None; 2];
    match job {
        None if wanted.start.is_none() && target(wanted).relocation.promised().is_none() => {
            return (Some(Err(SbiError::refused(Refusal::Count))), tell);
        }
        None => match ledger.begin(&wanted.request, settled_harts(), search) {
            Ok(()) => {
                *job = Some(Job {
                    caller: vcpu,
                    wanted: *wanted,
                    decided: None,
                });
            }
            Err(refusal) => {
                withdraw(wanted);
                return (Some(Err(SbiError::refused(refusal))), tell);
            }
        },
        Some(Job {
            caller,
            wanted,
            decided: Some(result),
        }) => {
            let done = result.and_then(|decision| carry_out(ledger, wanted, decision, &mut tell));
            let verdict = match done {
                Ok(()) => ACCEPTED,
                Err(refusal) => {
                    withdraw(wanted);
                    ACCEPTED + refusal as u32
                }
            };
            caller.verdict.store(verdict, Ordering::Release);
            *job = None;
        }
        Some(Job {
            wanted, decided, ..
        }) => {
            if let Step::Done(result) = ledger.step(&wanted.request, search) {
                *decided = Some(result);
            }
        }
    }
    (None, tell)
}

/// The harts, as bits, where nothing that has left is still counted by those that run: a vCPU that has to go on may be
/// moved there.
fn settled_harts() -> u64 {
    system()
        .harts
        .iter()
        .filter(|hart| hart.is_settled())
        .fold(0, |settled, hart| settled | 1 << hart.index)
}

/// The vCPU that a request is about.
fn target(wanted: &AdmissionRequest) -> &'static Vcpu {
    system().vcpu(wanted.request.handle)
}

/// A request has come to nothing.
fn withdraw(wanted: &AdmissionRequest) {
    if wanted.start.is_some() {
        target(wanted).claimed.store(false, Ordering::Release);
    }
}

/// Carries a decision out, with the admission locked; whom it concerns is to be told after that.
fn carry_out(
    ledger: &mut Ledger<{ limit::HARTS }, { limit::VCPUS }>,
    wanted: &AdmissionRequest,
    decision: Decision,
    tell: &mut VcpusToNotify,
) -> Result<(), Refusal> {
    let target = target(wanted);
    let moved = decision
        .moved
        .map(|(handle, to)| (system().vcpu(handle), to));
    // Where an earlier decision is still to be carried out, or what has left is still counted by those that run,
    // nothing new is promised.
    let good = |&(vcpu, to): &(&Vcpu, usize)| is_free(vcpu) && system().harts[to].is_settled();
    if !moved.as_ref().is_none_or(good) {
        return Err(Refusal::Utilisation);
    }
    let make_room = || {
        if let Some((vcpu, to)) = moved {
            send(vcpu, to);
        }
    };
    let reservation = wanted.reservation;
    match wanted.start {
        Some(start) => {
            let account = Account::new(reservation, Kind::Periodic, 0);
            let entry = Entry {
                pc: start.entry,
                a0: number(target),
                a1: start.argument,
                sp: start.stack,
            };
            // Before the newcomer may begin, or end with its VM: what it takes with it then is in the ledger when this
            // returns.
            let before = || {
                make_room();
                target.relocation.promise(reservation);
                target.record.clear();
            };
            if !target
                .vm
                .start_made(target, decision.hart, &entry, account, before)
            {
                return Err(Refusal::Count);
            }
        }
        // It may have been deleted.
        None if target.relocation.promised().is_none() => return Err(Refusal::Count),
        None if !is_free(target) => return Err(Refusal::Utilisation),
        None => {
            make_room();
            let from = target.home();
            let departures = &system().harts[from].departing_reservations;
            target.relocation.order_change(reservation, departures);
            if decision.hart != from {
                target.relocation.order_move(decision.hart, departures);
            }
        }
    }
    ledger.commit(&wanted.request, decision);
    *tell = [Some(target), moved.map(|(vcpu, _)| vcpu)];
    Ok(())
}

/// Whether a vCPU runs, or will, and no earlier decision about it is still to be carried out. Called with
/// the admission locked.
#[inline(never)]
fn is_free(vcpu: &Vcpu) -> bool {
    // In this order: it is about to stop before it has stopped.
    !vcpu.stops() && vcpu.state.get_ordered() != State::Stopped && vcpu.relocation.is_free()
}

/// Has a vCPU go to another hart when its present job ends.
#[inline(never)]
fn send(vcpu: &Vcpu, to: usize) {
    vcpu.relocation
        .order_move(to, &system().harts[vcpu.home()].departing_reservations);
}

/// A vCPU has stopped on this hart, its home: the reservation of one that a hypercall has made ends. Another one
/// returns to that of the configuration. What it asked for ends.
pub fn stopped(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    let call = cx.bodies.of(vcpu).pending_admission.take();
    if call.is_none() && vcpu.relocation.promised().is_none() {
        return;
    }
    let mut admission = ADMISSION.lock();
    if let Some(call) = call {
        let mine = |job: &Job| core::ptr::eq(job.caller, vcpu);
        if admission.job.as_ref().is_some_and(mine) {
            admission.job = None;
        }
        if vcpu.verdict.swap(0, Ordering::SeqCst) == 0 {
            withdraw(&call.wanted);
        }
    }
    let orders = vcpu.relocation.take();
    if orders.change.is_some() {
        cx.local.hart.departing_reservations.end_one();
    }
    if let Some(to) = orders.to {
        cx.local.hart.departing_reservations.end_one();
        vcpu.relocation.arrive(to);
    }
    let body = cx.bodies.of(vcpu);
    // A change that was to begin with its next job is not the next one's who is made in its place.
    body.next = None;
    admission.ledger.leave(vcpu.handle);
    if vcpu.is_made() {
        vcpu.relocation.forget_promise();
    } else if let (Some(account), Some(reservation)) = (
        &mut body.account,
        enter_configured(
            &mut admission.ledger,
            &system().blob,
            vcpu.handle,
            vcpu.home(),
        ),
    ) {
        // What was counted for it covers this (`tactus_policy::covering`), on whatever hart it is now.
        vcpu.relocation.promise(reservation);
        account.reserve(reservation);
    }
}

/// Number of a vCPU among those that hypercalls make; 0 for another.
fn number(vcpu: &Vcpu) -> u64 {
    vcpu.index.saturating_sub(vcpu.vm.vcpus().len()) as u64
}
