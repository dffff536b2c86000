//! The scheduler's core: run queues, switches, waiting, signals. It calls no service; what follows from its actions is
//! [`crate::dispatch`]'s.
//!
//! Real-time vCPUs have a home hart and its run queue: highest priority first, or earliest deadline first. Those with a
//! reservation run until its budget is spent, and then wait for the release of their next job. Below them, ready
//! best-effort vCPUs of all harts share one queue, round robin within a priority, and run on any free hart. A
//! best-effort vCPU that a real-time one preempts keeps a soft affinity to its hart for a while, since the hart is
//! often free again soon. Queues, reservations and their order are `policy`'s.
//!
//! | module | what it does |
//! |---|---|
//! | [`run_queue`] | ready vCPUs: queues them, picks the next, wakes idle harts for them |
//! | [`switch`] | the change of the current vCPU: accounting, registers, address spaces |
//! | [`requeue`] | where a vCPU goes that leaves its hart |
//! | [`block`] | vCPUs that wait, or stop |
//! | [`wake`] | what waiting vCPUs wait for, and when they run again |
//! | [`jobs`] | reservations at run time: release, end and throttling of jobs |
//! | [`modes`] | budgets for the usual case, and what holds when one does not suffice |
//! | [`orders`] | orders of admission: changes and moves of reservations |
//! | [`successors`] | the start of reservations that waited for what was there before |
//! | [`signals`] | notifications between harts, and what vCPUs are told by others |
//! | [`fpu`] | floating-point registers, saved and loaded on demand |

pub mod block;
pub mod fpu;
pub mod jobs;
#[cfg_attr(not(feature = "budget-modes"), path = "base/modes.rs")]
pub mod modes;
#[cfg_attr(not(feature = "reservation-calls"), path = "base/orders.rs")]
pub mod orders;
pub mod requeue;
pub mod run_queue;
pub mod signals;
pub mod successors;
pub mod switch;
pub mod wake;
