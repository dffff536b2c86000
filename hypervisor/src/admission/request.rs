//! What a vCPU asks of admission, as it is kept until the answer is there.

use crate::call::AnswerTo;
use tactus_policy::admission::Request;
use tactus_policy::reservation::Reservation;

/// A request for a reservation.
#[derive(Clone, Copy)]
pub struct AdmissionRequest {
    /// What admission counts, and the handle of the target vCPU.
    pub request: Request,
    /// The reservation that the target is to have. Of a vCPU of the configuration, admission counts a reservation that
    /// covers this one and the configured one, to which a restart returns.
    pub reservation: Reservation,
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
