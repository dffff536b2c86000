//! Without harts for user level only, each best-effort vCPU may run where the configuration lets it.

use crate::body::Body;
use crate::hart::Hart;
use crate::hart::context::{HartCtx, Local};
use crate::vm::Vcpu;

/// No vCPU depends on how often it has been to such harts.
pub enum MigrationLimiter {}

impl MigrationLimiter {
    /// None.
    pub const fn if_limited(_: bool, _: u64) -> Option<Self> {
        None
    }
}

/// No vCPU has to leave its hart for that.
pub fn trapped(_: &mut HartCtx, _: &'static Vcpu) {}

/// No vCPU is confined to its user level.
pub fn confine(_: &Hart, _: &Vcpu) {}

/// Nothing is to be decided about where it may run next.
pub fn leaves(_: &mut Local, _: &Vcpu, _: &mut Body) {}

/// No return to user level traps.
pub fn returns(_: &mut HartCtx) {}

/// No hart is for those that wait.
pub fn migrate_if_waiters(_: &mut HartCtx) {}

/// No hart is for those that wait.
pub fn request_migration(_: &mut HartCtx) {}

/// There is nothing to report.
pub fn report(_: &Vcpu) {}
