//! What a VM that manages another one does to its life.
//!
//! **Protocol M1, management.** All under the VM's lifecycle lock: a stop takes the place of the reasons of an end
//! after which the VM would run again or be held, and the hart that does the end reads the reason again before it does
//! either. Between two lives, where there is no vCPU to tell, it is the next life that is told at its begin. A VM is
//! *held* while it is off; its memory is written with the lock, and what starts it ends that first.

use super::{End, Entry, Vm};
use crate::call::{SbiError, SbiResult};
use crate::hart::context::HartCtx;
use crate::log::Line;
use crate::sched::signals;
use crate::system::system;
use crate::vm::vcpu::{State, signal};
use core::sync::atomic::Ordering;
use tactus_abi::hypercall::VmState;

/// What concerns a VM's managers; under its lifecycle lock.
#[derive(Default)]
pub struct Managed {
    /// The VM is off, its memory clear: a manager may write to it, and start it.
    pub(super) held: bool,
    /// It is to be held after its next start.
    pub(super) holds: bool,
    /// Its faults.
    pub(super) faults: u32,
}

impl Vm {
    /// Whether it is off and its memory is a manager's to write.
    pub fn is_held(&self) -> bool {
        self.life.lock().managed.held
    }

    /// Faults, and lives after its first.
    pub fn ends(&self) -> (u32, u32) {
        let life = self.life.lock();
        (life.managed.faults, life.restarts)
    }

    /// Does that while it is held.
    pub fn while_held(&self, act: impl FnOnce()) -> Result<(), SbiError> {
        let life = self.life.lock();
        if !life.managed.held {
            return Err(SbiError::ALREADY_STARTED);
        }
        act();
        Ok(())
    }

    /// Ends it, instead of an end after which it would run again or be held. Between two lives, where no vCPU is there
    /// to stop, the next life ends at its begin ([`Vm::start`]).
    pub fn stop(&self, cx: &mut HartCtx) -> SbiResult {
        {
            let mut life = self.life.lock();
            if matches!(life.state, VmState::Off | VmState::Faulted) {
                let held = core::mem::take(&mut life.managed.held);
                return if held {
                    Ok(0)
                } else {
                    Err(SbiError::ALREADY_STOPPED)
                };
            }
            match life.ending {
                // The first of several reasons counts.
                Some(End::Shutdown | End::Fail(_) | End::Fault | End::Stop) => return Ok(0),
                None | Some(End::Restart | End::Hold) => life.ending = Some(End::Stop),
            }
            for vcpu in self.all_vcpus() {
                if vcpu.state.get() != State::Stopped {
                    vcpu.signal(signal::STOP);
                }
            }
        }
        for vcpu in self.all_vcpus() {
            if vcpu.stops() {
                if vcpu.state.has_left() {
                    signals::post(vcpu);
                } else {
                    signals::notify(cx, vcpu);
                }
            }
        }
        Ok(0)
    }

    /// Starts its boot vCPU, which clears the memory and stops: then the VM is held.
    pub fn load(&self) -> SbiResult {
        {
            let mut life = self.life.lock();
            if !matches!(life.state, VmState::Off | VmState::Faulted) {
                return Err(SbiError::ALREADY_AVAILABLE);
            }
            life.state = VmState::Loading;
            life.restarts += 1;
            (life.managed.held, life.managed.holds) = (false, true);
        }
        self.count_on();
        signals::post(self.start());
        Ok(0)
    }

    /// Its memory is cleared: it is held when its boot vCPU has stopped.
    pub fn hold(&self, cx: &mut HartCtx) {
        self.end(cx, End::Hold);
    }

    /// Starts it with what its manager has written.
    pub fn start_held(&self, entry: u64) -> SbiResult {
        if self.memory_at(entry, 2).is_none() || !entry.is_multiple_of(2) {
            return Err(SbiError::INVALID_ADDRESS);
        }
        let boot = &self.vcpus()[0];
        let restarts = {
            let mut life = self.life.lock();
            if !core::mem::take(&mut life.managed.held) {
                return Err(SbiError::ALREADY_STARTED);
            }
            life.state = VmState::Running;
            life.alive = 1;
            self.count_on();
            let entry = Entry::new(entry, 0, self.config().devicetree);
            self.prepare(&mut life, boot, &entry, &|_| {});
            life.restarts
        };
        Line::new()
            .begin_of("restart", self.name)
            .number("count", restarts.into())
            .time()
            .send();
        signals::post(boot);
        Ok(0)
    }

    /// It is no longer among those that are off.
    fn count_on(&self) {
        if !self.is_service() {
            system().vms_on.fetch_add(1, Ordering::SeqCst);
        }
    }
}
