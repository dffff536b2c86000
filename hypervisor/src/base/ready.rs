//! Without a ready queue in the fabric.

use tactus_abi::blob::{Header, limit};
use tactus_hypervisor::lock::Lock;
use tactus_policy::ready::ListQueue;

/// The best-effort vCPUs of the whole system that are ready.
pub type SystemQueue = ListQueue<{ limit::VCPUS }>;

/// An empty queue in software.
pub const fn software(lists: ListQueue<{ limit::VCPUS }>) -> SystemQueue {
    lists
}

/// The queue stays in software.
pub fn begin(_: &Header, _: usize, _: &Lock<SystemQueue>) {}
