//! What only a vCPU's owner touches: its registers, its reservation, what it waits for, its unfinished calls.

use crate::admission::request::PendingCall;
use crate::arch::context::{Context, Fpu};
use crate::loader::Loader;
use crate::message::endpoint::Call;
use crate::migration::MigrationLimiter;
use crate::sched::modes::Criticality;
use tactus_abi::blob::limit;
use tactus_policy::lead::Lead;
use tactus_policy::livelock::Livelock;
use tactus_policy::reservation::{Account, Reservation};
use tactus_policy::table::Array;

/// What a waiting vCPU waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// To be taken notice of by its home hart, and then to run.
    Start,
    /// An interrupt (`wfi`).
    Interrupt,
    /// The same, or news for the device manager, which it is told in `a1`.
    News,
    /// Fences of other vCPUs of its VM; bit `n` for vCPU `n`, which has to do its fence number `fences[n]`.
    Fences(u16, Array<u32, { limit::VCPUS_PER_VM }>),
    /// Room for a message, or a message ([`crate::vm::Vcpu::message`]), for so long (ticks).
    Message {
        /// When it waits no longer; `u64::MAX`: never.
        until: u64,
    },
    /// The release of its next job.
    Release {
        /// When that is, at the earliest.
        at: u64,
        /// It is told the release in `a1`.
        answers: bool,
    },
}

/// What only the vCPU's owner touches (protocol V1): see [`crate::vm::Bodies`].
#[repr(C, align(64))]
pub struct Body {
    /// Registers. First: the entry code finds them there.
    pub context: Context,
    // Until `account`: in one cache line, for each change of vCPUs.
    /// Rest of its slice, in ticks.
    pub slice_left: u64,
    /// Index of the hart that holds its registers as they were saved last, plus one.
    pub loaded_on: u8,
    /// Index of the hart that holds its floating-point registers as they were saved last, plus one.
    pub fpu_on: u8,
    /// Its guest used the floating-point unit when it had a hart last: see [`crate::sched::fpu`].
    pub uses_fpu: bool,
    /// Whether it traps to itself for ever.
    pub livelock: Livelock,
    /// The hypervisor may have something to do in the vCPU's time before it is entered: [`Body::loader`],
    /// [`Body::pending_admission`], [`Body::message`].
    pub unfinished: bool,
    /// It has a reservation: whether [`Body::account`], in another cache line, is there.
    pub reserved: bool,
    /// How long before its deadline it gets its hart.
    pub lead: Lead,
    /// Its reservation.
    pub account: Option<Account>,
    /// What it has in the modes of its hart.
    pub criticality: Criticality,
    /// Why it waits.
    pub wait: Wait,
    /// Its image is still to be loaded.
    pub loader: Option<Loader>,
    /// The call for admission that it has made and that is not answered yet.
    pub pending_admission: Option<PendingCall>,
    /// The call to send or receive a message that it has made and that is not done yet.
    pub message: Option<Call>,
    /// The reservation that it gets when its next job is released.
    pub next: Option<Reservation>,
    /// Whether it may go to harts for user level only just now, if that depends.
    pub migration_limiter: Option<MigrationLimiter>,
    /// Its floating-point registers.
    pub fpu: Fpu,
}
