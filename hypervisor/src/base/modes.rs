//! Without modes each vCPU has its budget always.

use crate::body::Body;
use crate::hart::context::Local;
use crate::vm::Vcpu;
use tactus_abi::blob;

/// All are alike.
pub struct Criticality;

/// All are alike.
pub const fn criticality(_: &blob::Vcpu) -> Criticality {
    Criticality
}

/// No job is dropped.
pub const fn drops(_: &Local, _: &Body) -> bool {
    false
}

/// No job has more than its budget.
pub const fn goes_on(_: &Body) -> bool {
    false
}

/// Whether the budget is spent.
pub fn is_over(_: &mut Local, _: &Vcpu, body: &mut Body) -> bool {
    let account = body.account.as_ref();
    account.is_some_and(|account| account.left() == 0)
}

/// There is none.
pub const fn end(_: &mut Local) {}
