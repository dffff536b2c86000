//! A hart's modes (`policy::modes`): the rule for jobs that use up their budgets, and the end of the high mode.
//!
//! What is queued when the mode changes stays there. A vCPU of low criticality that gets the hart in the high mode is
//! cut off at once, which is the overhead of a job and is counted so.

use crate::body::Body;
use crate::hart::context::Local;
use crate::vm::Vcpu;
use core::hint::cold_path;
use core::sync::atomic::Ordering;
use tactus_abi::blob;
pub use tactus_policy::modes::Criticality;
use tactus_policy::modes::Job;
use tactus_policy::record::Figure;

/// What the modes mean to a vCPU, as the configuration says.
pub const fn criticality(config: &blob::Vcpu) -> Criticality {
    Criticality::new(config.low != 0, config.more)
}

/// Whether a vCPU's job gets nothing in the mode of this hart.
#[inline(always)]
pub fn drops(local: &Local, body: &Body) -> bool {
    if !body.criticality.is_low() {
        return false;
    }
    cold_path();
    local.high_mode
}

/// Whether the current vCPU's job goes on when its budget is spent. While an image is loaded, that is no part of a job.
#[inline(never)]
pub fn goes_on(body: &Body) -> bool {
    let account = body.account.as_ref().filter(|_| body.loader.is_none());
    account.is_some_and(|account| body.criticality.has_more(account))
}

/// Whether the job of a vCPU that does not wait is over. One that has used up its budget is given that of the high
/// mode, which begins then.
#[inline(never)]
pub fn is_over(local: &mut Local, vcpu: &Vcpu, body: &mut Body) -> bool {
    let Some(account) = &mut body.account else {
        return false;
    };
    let extends = body.loader.is_none();
    let job = body.criticality.judge(account, local.high_mode, extends);
    match job {
        Job::GoesOn | Job::Spent => {}
        Job::Dropped => vcpu.record.add(Figure::Dropped, 1),
        Job::Extended => {
            vcpu.record.add(Figure::Extended, 1);
            local.high_mode = true;
            // Until then the hart takes the way on which that instant is noticed.
            let hart = local.hart;
            hart.awaiting_idle_instant.store(true, Ordering::Relaxed);
        }
    }
    matches!(job, Job::Spent | Job::Dropped)
}

/// The hart has no real-time work: its high mode ends.
pub const fn end(local: &mut Local) {
    local.high_mode = false;
}
