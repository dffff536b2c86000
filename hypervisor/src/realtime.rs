//! Real-time vCPUs that guests make, and what admission decides about them.
//!
//! Admission is one for the whole system, and takes one request at a time, in steps. Between two steps the hart that does them
//! looks for interrupts, and may give the asking vCPU up for a more urgent one; the vCPU goes on where it was when it has a hart
//! again. Meanwhile any other hart that has a request of its own does the steps in its place, so that nobody waits
//! for a vCPU that does not run. Whoever does the last step carries the decision out.

use crate::arch::memory;
use crate::hart::context::HartCtx;
use crate::sbi::SbiError;
use crate::sched;
use crate::sched::{block, signals};
use crate::system::system;
use crate::vcpu::{Record, State, Vcpu, Wait};
use crate::vm::Entry;
use core::sync::atomic::Ordering;
use tactus_abi::blob::{Blob, RealTimePolicy, limit};
use tactus_abi::hypercall::{CallBlock, RT_SELF, Refusal, RtStatus};
use tactus_hypervisor::lock::Lock;
use tactus_policy::admission::{Decision, LOOKS_AT_RUN_TIME, Ledger, Request, Step, Task, Trial};
use tactus_policy::ready::Handle;
use tactus_policy::reservation::{Account, Kind, Reservation};

/// [`Vcpu::verdict`]: it has what it asked for. Otherwise zero, or one more than the [`Refusal`].
const ACCEPTED: u32 = 1;

/// The admission.
struct Admission {
    /// All reservations there are.
    ledger: Ledger<{ limit::HARTS }, { limit::VCPUS }>,
    job: Option<Job>,
    /// Of the job.
    trial: Trial,
}

/// The request that is being judged.
struct Job {
    caller: &'static Vcpu,
    wanted: AdmissionRequest,
    /// What has been decided; to be carried out in the next step.
    decided: Option<Result<Decision, Refusal>>,
}

/// What is asked for.
#[derive(Clone, Copy)]
struct AdmissionRequest {
    target: &'static Vcpu,
    request: Request,
    /// The target is to start; otherwise its reservation is to change.
    start: Option<Start>,
}

/// How a vCPU starts.
#[derive(Clone, Copy)]
struct Start {
    entry: u64,
    stack: u64,
    argument: u64,
}

/// A vCPU's call for admission.
#[derive(Clone, Copy)]
pub struct PendingCall {
    wanted: AdmissionRequest,
    answer: AnswerTo,
}

/// Where the answer of a call goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerTo {
    /// The caller's `a0` and `a1`.
    Registers,
    /// The [`CallBlock`] at this physical address, which lies within the caller's VM's memory.
    Block(u64),
}

/// The system's.
static ADMISSION: Lock<Admission> = Lock::new(Admission {
    ledger: Ledger::new(),
    job: None,
    trial: Trial::new(),
});

/// Enters the reservations of the configuration, which the tool has judged; called once, at boot.
pub fn initialise(blob: &Blob) {
    let ledger = &mut ADMISSION.lock().ledger;
    ledger.configure(
        blob.header.overheads,
        blob.header.reserve,
        blob.harts.len(),
        LOOKS_AT_RUN_TIME,
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
        let reservation = Reservation::new(vcpu.period, vcpu.budget, vcpu.deadline);
        if let Some(reservation) = reservation {
            let request = Request {
                handle: handle as Handle,
                vm: vcpu.vm as usize,
                task: Task {
                    reservation,
                    kind: Kind::Server,
                },
                harts: vcpu.harts,
            };
            ledger.enter(&request, vcpu.harts.trailing_zeros() as usize);
        }
    }
}

/// Makes a real-time vCPU: begins the call; [`continue_call`] completes it. `arguments` as of `rt_create`.
pub fn create(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    arguments: [u64; 6],
    answer: AnswerTo,
) -> Result<(), SbiError> {
    let [entry, stack, argument, period, budget, deadline] = arguments;
    let reservation = Reservation::new(period, budget, deadline).ok_or(SbiError::INVALID_PARAM)?;
    if !entry.is_multiple_of(2) || vcpu.vm.memory_at(entry, 2).is_none() {
        return Err(SbiError::INVALID_ADDRESS);
    }
    let target = vcpu
        .vm
        .made_vcpus()
        .iter()
        .find(|place| !place.claimed.swap(true, Ordering::SeqCst))
        .ok_or(SbiError::refused(Refusal::Count))?;
    let start = Some(Start {
        entry,
        stack,
        argument,
    });
    ask(cx, vcpu, target, reservation, Kind::Periodic, start, answer);
    Ok(())
}

/// Gives a real-time vCPU another reservation: begins the call, see [`create`].
pub fn change(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    arguments: [u64; 6],
    answer: AnswerTo,
) -> Result<(), SbiError> {
    let [number, period, budget, deadline, ..] = arguments;
    let target = named(vcpu, number)?;
    let reservation = Reservation::new(period, budget, deadline).ok_or(SbiError::INVALID_PARAM)?;
    if target.relocation.promised().is_none() {
        return Err(SbiError::DENIED);
    }
    let kind = if target.is_made() {
        Kind::Periodic
    } else {
        Kind::Server
    };
    ask(cx, vcpu, target, reservation, kind, None, answer);
    Ok(())
}

fn ask(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    target: &'static Vcpu,
    reservation: Reservation,
    kind: Kind,
    start: Option<Start>,
    answer: AnswerTo,
) {
    let request = Request {
        handle: target.handle,
        vm: target.vm.index,
        task: Task { reservation, kind },
        harts: target.harts,
    };
    let wanted = AdmissionRequest {
        target,
        request,
        start,
    };
    let body = cx.bodies.of(vcpu);
    body.pending_admission = Some(PendingCall { wanted, answer });
    body.unfinished = true;
}

/// Continues the current vCPU's call for admission. `false`: it has to leave the hart, and the call continues when it has one again.
#[unsafe(export_name = "tactus_continue_call")]
#[inline(never)]
pub extern "C" fn continue_call(cx: &mut HartCtx, vcpu: &'static Vcpu) -> bool {
    while let Some(call) = cx.bodies.of(vcpu).pending_admission {
        if !sched::may_continue(cx) {
            return false;
        }
        let (answered, tell) = step(vcpu, &call.wanted);
        for other in tell.into_iter().flatten() {
            signals::post(other);
        }
        if let Some(result) = answered {
            cx.bodies.of(vcpu).pending_admission = None;
            answer(cx, vcpu, call.answer, result);
            return sched::may_continue(cx);
        }
    }
    true
}

/// The vCPUs that have to be told of a decision.
type VcpusToNotify = [Option<&'static Vcpu>; 2];

/// Does one step of the request that is being judged, which becomes this one if there is none; the answer, if it is there.
fn step(
    vcpu: &'static Vcpu,
    wanted: &AdmissionRequest,
) -> (Option<Result<u64, SbiError>>, VcpusToNotify) {
    let mut admission = ADMISSION.lock();
    let verdict = vcpu.verdict.swap(0, Ordering::SeqCst);
    if verdict == ACCEPTED {
        return (Some(Ok(number(wanted.target))), [None; 2]);
    }
    if verdict > ACCEPTED {
        let error = SbiError {
            code: SbiError::DENIED.code,
            value: u64::from(verdict - ACCEPTED),
        };
        return (Some(Err(error)), [None; 2]);
    }
    let Admission { ledger, job, trial } = &mut *admission;
    let mut tell = [None; 2];
    match job {
        None if wanted.start.is_none() && wanted.target.relocation.promised().is_none() => {
            return (Some(Err(SbiError::refused(Refusal::Count))), tell);
        }
        None => match ledger.begin(&wanted.request, settled_harts(), trial) {
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
            if let Step::Done(result) = ledger.step(&wanted.request, trial) {
                *decided = Some(result);
            }
        }
    }
    (None, tell)
}

/// The harts, as bits, where nothing that has left is still counted by those that run: a vCPU that has to go on may be moved there.
fn settled_harts() -> u64 {
    system()
        .harts
        .iter()
        .filter(|hart| hart.is_settled())
        .fold(0, |settled, hart| settled | 1 << hart.index)
}

/// A request has come to nothing.
fn withdraw(wanted: &AdmissionRequest) {
    if wanted.start.is_some() {
        wanted.target.claimed.store(false, Ordering::Release);
    }
}

/// Carries a decision out, with the admission locked; whom it concerns is to be told after that.
fn carry_out(
    ledger: &mut Ledger<{ limit::HARTS }, { limit::VCPUS }>,
    wanted: &AdmissionRequest,
    decision: Decision,
    tell: &mut VcpusToNotify,
) -> Result<(), Refusal> {
    let target = wanted.target;
    let moved = decision
        .moved
        .map(|(handle, to)| (system().vcpu(handle), to));
    // Where an earlier decision is still to be carried out, or what has left is still counted by those that run, nothing new is promised.
    let good = |&(vcpu, to): &(&Vcpu, usize)| is_free(vcpu) && system().harts[to].is_settled();
    if !moved.as_ref().is_none_or(good) {
        return Err(Refusal::Utilisation);
    }
    let make_room = || {
        if let Some((vcpu, to)) = moved {
            send(vcpu, to);
        }
    };
    let reservation = wanted.request.task.reservation;
    match wanted.start {
        Some(start) => {
            let account = Account::new(reservation, Kind::Periodic, 0);
            let entry = Entry {
                pc: start.entry,
                a0: number(target),
                a1: start.argument,
                sp: start.stack,
            };
            // Before the newcomer may begin, or end with its VM: what it takes with it then is in the ledger when this returns.
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

/// Whether a vCPU runs, or will, and no earlier decision about it is still to be carried out. Called with the admission locked, as whoever
/// decides.
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

/// A vCPU has stopped on this hart, its home: its reservation ends, if it had made that itself, and so does whatever it asked for.
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
    if vcpu.is_made() {
        admission.ledger.leave(vcpu.handle);
        vcpu.relocation.forget_promise();
    } else if let (Some(account), Some(reservation)) =
        (&mut body.account, vcpu.relocation.promised())
    {
        account.renew_as(reservation, 0);
    }
}

/// Stops and forgets a vCPU that was made by a hypercall.
pub fn delete(vcpu: &'static Vcpu, number: u64) -> Result<u64, SbiError> {
    let target = named(vcpu, number)?;
    if !target.is_made() || !target.vm.stop_made(target) {
        return Err(SbiError::INVALID_PARAM);
    }
    signals::post(target);
    Ok(0)
}

/// Writes what is known of a real-time vCPU to the caller's memory.
pub fn query(vcpu: &'static Vcpu, number: u64, address: u64, length: u64) -> Result<u64, SbiError> {
    let target = named(vcpu, number)?;
    let size = size_of::<RtStatus>() as u64;
    let length = length.min(size);
    if !address.is_multiple_of(8) {
        return Err(SbiError::INVALID_ADDRESS);
    }
    let to = vcpu
        .vm
        .memory_at(address, length)
        .ok_or(SbiError::INVALID_ADDRESS)?;
    let promised = target.relocation.promised();
    let record = &target.record;
    let status = RtStatus {
        period: promised.map_or(0, |reservation| reservation.period),
        budget: promised.map_or(0, |reservation| reservation.budget),
        deadline: promised.map_or(0, |reservation| reservation.deadline),
        release: record.release.load(Ordering::Relaxed),
        jobs: record.jobs.load(Ordering::Relaxed),
        overruns: record.overruns.load(Ordering::Relaxed),
        missed: record.missed.load(Ordering::Relaxed),
        used: record.used.load(Ordering::Relaxed),
        used_max: record.used_max.load(Ordering::Relaxed),
        hart: target.home() as u32,
        reserved: 0,
    };
    // Safety: `memory_at` has found all of it in the guest's memory.
    unsafe {
        memory::copy_shared((&raw const status) as u64, to, length);
    }
    Ok(size)
}

/// The current vCPU has done its job. Its answer comes when the next one is released.
pub fn end_job(cx: &mut HartCtx, vcpu: &'static Vcpu) -> Result<u64, SbiError> {
    if cx.bodies.of(vcpu).account.is_none() {
        return Err(SbiError::DENIED);
    }
    block::wait(
        cx,
        vcpu,
        Wait::Release {
            at: u64::MAX,
            answers: true,
        },
    );
    Ok(0)
}

/// The real-time vCPU of the caller's VM that a number names.
#[inline(never)]
fn named(vcpu: &'static Vcpu, number: u64) -> Result<&'static Vcpu, SbiError> {
    let target = if number == RT_SELF {
        Some(vcpu)
    } else {
        usize::try_from(number)
            .ok()
            .and_then(|number| vcpu.vm.made_vcpus().get(number))
    };
    target
        .filter(|target| {
            let real_time = target.class == tactus_abi::blob::Class::RealTime;
            real_time && target.state.get() != State::Stopped
        })
        .ok_or(SbiError::INVALID_PARAM)
}

/// Number of a vCPU among those that hypercalls make; 0 for another.
fn number(vcpu: &Vcpu) -> u64 {
    vcpu.index.saturating_sub(vcpu.vm.vcpus().len()) as u64
}

/// Gives a call its answer.
pub fn answer(cx: &mut HartCtx, vcpu: &'static Vcpu, to: AnswerTo, result: Result<u64, SbiError>) {
    let (error, value) = match result {
        Ok(value) => (0, value),
        Err(error) => (error.code, error.value),
    };
    match to {
        AnswerTo::Registers => {
            let registers = &mut cx.bodies.of(vcpu).context.registers;
            (registers[10], registers[11]) = (error.cast_unsigned(), value);
        }
        AnswerTo::Block(address) => {
            let block = address as *mut CallBlock;
            // Safety: whoever made the address found all of the block in the VM's memory, and aligned.
            unsafe {
                (&raw mut (*block).value).write_volatile(value);
                (&raw mut (*block).error).write_volatile(error);
            }
        }
    }
}

impl Record {
    /// Takes over how a reservation stands.
    pub fn take(&self, account: &Account) {
        self.release.store(account.release(), Ordering::Relaxed);
        self.jobs.store(account.jobs, Ordering::Relaxed);
        self.overruns.store(account.overruns, Ordering::Relaxed);
        self.missed.store(account.missed, Ordering::Relaxed);
        self.used.store(account.used, Ordering::Relaxed);
        self.used_max.store(account.used_max, Ordering::Relaxed);
    }

    fn clear(&self) {
        self.take(&Account::new(
            Reservation {
                period: 1,
                budget: 1,
                deadline: 1,
            },
            Kind::Periodic,
            0,
        ));
        self.jobs.store(0, Ordering::Relaxed);
    }
}
