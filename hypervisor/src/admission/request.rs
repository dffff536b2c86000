//! What a vCPU asks of admission, as it is kept until the answer is there.

use crate::call::AnswerTo;
use tactus_policy::admission::Request;

/// A request for a reservation.
#[derive(Clone, Copy)]
pub struct AdmissionRequest {
    /// The reservation that the target vCPU is to have, and its handle.
    pub request: Request,
    /// The target is to start; otherwise its reservation is to change.
    pub start: Option<Start>,
}

/// How a vCPU starts.
#[derive(Clone, Copy)]
pub struct Start {
    /// Its first instruction.
    pub entry: u64,
    /// Its stack pointer.
    pub stack: u64,
    /// Its second argument; the first is its number.
    pub argument: u64,
}

/// A vCPU's call for admission.
#[derive(Clone, Copy)]
pub struct PendingCall {
    /// What it asks for.
    pub wanted: AdmissionRequest,
    /// Where the answer goes.
    pub answer: AnswerTo,
}
