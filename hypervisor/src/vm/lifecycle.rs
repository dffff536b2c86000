//! A VM's life: start, restart, faults, end.

#[cfg(feature = "management")]
pub mod managed;

use super::{End, Entry, Fault, Life, Vm};
use crate::accelerators;
use crate::arch;
use crate::arch::context::Exception;
use crate::body::{Body, Wait};
use crate::console;
use crate::hart::Hart;
use crate::hart::context::HartCtx;
use crate::loader::Loader;
use crate::log::Line;
use crate::migration;
#[cfg(feature = "pci")]
use crate::pci;
use crate::sched::signals;
use crate::system::system;
use crate::vm::Vcpu;
use crate::vm::vcpu::{State, signal};
use core::sync::atomic::Ordering;
use tactus_abi::blob::OnFault;
use tactus_abi::hypercall::VmState;
use tactus_abi::map;
use tactus_policy::reservation::Account;

impl Vm {
    /// Time its vCPUs have had, in ticks.
    pub fn cpu_ticks(&self) -> u64 {
        let harts = system().harts.iter().zip(self.ticks.iter());
        harts.map(|(_, ticks)| ticks.load(Ordering::Relaxed)).sum()
    }

    /// State, and `scause` code of its last fault.
    #[inline(never)]
    pub fn status(&self) -> (VmState, u8) {
        let life = self.life.lock();
        (life.state, life.last_cause)
    }

    /// Makes its boot vCPU load and start it. It is off, or being built.
    #[inline(never)]
    pub fn start(&self) -> &'static Vcpu {
        let boot = &self.vcpus()[0];
        {
            let mut life = self.life.lock();
            life.state = VmState::Loading;
            life.alive = 1;
            let config = self.config();
            let entry = Entry::new(config.entry, 0, config.devicetree);
            #[cfg(feature = "management")]
            let holds = core::mem::take(&mut life.managed.holds);
            self.prepare(&mut life, boot, &entry, &|body| {
                body.loader = Some(Loader::default());
                body.unfinished = true;
                #[cfg(feature = "management")]
                if let Some(loader) = &mut body.loader {
                    loader.holds = holds;
                }
            });
            // A manager has stopped it between two lives.
            #[cfg(feature = "management")]
            if life.ending.is_some() {
                boot.signal(signal::STOP);
            }
        }
        boot
    }

    /// Makes a stopped vCPU ready to be started by its home, whose it is then, with what `also` sets; called with the
    /// lifecycle lock held.
    #[inline(never)]
    pub(super) fn prepare(
        &self,
        life: &mut Life,
        vcpu: &'static Vcpu,
        entry: &Entry,
        also: &dyn Fn(&mut Body),
    ) {
        let Some(body) = vcpu.stopped_body(life) else {
            return;
        };
        body.context.reset(entry.pc, entry.a0, entry.a1);
        body.context.registers[2] = entry.sp;
        body.loaded_on = 0;
        body.fpu_on = 0;
        body.uses_fpu = false;
        body.fpu.reset();
        body.slice_left = 0;
        body.wait = Wait::Start;
        body.lead.end();
        also(body);
        vcpu.set_affinity(false);
        self.forget_page(vcpu);
        vcpu.take_signals(signal::SOFTWARE | signal::STOP);
        // What harts have cached of an earlier life of this vCPU is dropped when it is entered.
        vcpu.fences_asked.fetch_add(1, Ordering::SeqCst);
        vcpu.signal(signal::FENCES | signal::CLOSED);
        vcpu.state.set(State::Waiting);
    }

    /// Its image is loaded: the guest's first instruction is about to run.
    pub fn loaded(&self) {
        let restarts = {
            let mut life = self.life.lock();
            life.state = VmState::Running;
            life.restarts
        };
        let mut line = Line::new();
        if restarts == 0 {
            line.begin_of("start", self.name);
        } else {
            line.begin_of("restart", self.name)
                .number("count", restarts.into());
        }
        line.time().send();
    }

    /// Starts one of its further vCPUs. `false`: it is not stopped, or the VM is ending.
    pub fn start_vcpu(&self, index: usize, pc: u64, argument: u64) -> bool {
        let vcpu = &self.vcpus()[index];
        {
            let mut life = self.life.lock();
            if vcpu.state.get() != State::Stopped || life.ending.is_some() {
                return false;
            }
            life.alive += 1;
            let entry = Entry::new(pc, index as u64, argument);
            self.prepare(&mut life, vcpu, &entry, &|_| {});
        }
        signals::post(vcpu);
        true
    }

    /// Starts a vCPU that a hypercall makes, at home on a hart; the caller then notifies it. `before`: what is to be
    /// done first. `false`: the VM is ending.
    pub fn start_made(
        &self,
        vcpu: &'static Vcpu,
        hart: usize,
        entry: &Entry,
        account: Account,
        before: impl FnOnce(),
    ) -> bool {
        let mut life = self.life.lock();
        if life.ending.is_some() || life.alive == 0 {
            return false;
        }
        before();
        life.alive += 1;
        vcpu.relocation.settle(hart);
        self.prepare(&mut life, vcpu, entry, &|body| {
            body.account = Some(account);
            body.reserved = true;
        });
        true
    }

    /// Makes a vCPU that a hypercall has made stop; the caller then notifies it. `false`: it has stopped.
    pub fn stop_made(&self, vcpu: &Vcpu) -> bool {
        let _life = self.life.lock();
        let runs = vcpu.state.get() != State::Stopped;
        if runs {
            vcpu.signal(signal::STOP);
        }
        runs
    }

    /// Stops all its vCPUs; the hart that stops the last one brings about the `end`. The first
    /// of several reasons counts.
    pub fn end(&self, cx: &mut HartCtx, end: End) {
        {
            let mut life = self.life.lock();
            if life.ending.is_some() || life.alive == 0 {
                return;
            }
            life.ending = Some(end);
            for vcpu in self.all_vcpus() {
                if vcpu.state.get() != State::Stopped {
                    vcpu.signal(signal::STOP);
                }
            }
        }
        for vcpu in self.all_vcpus() {
            if vcpu.stops() {
                if !vcpu.state.has_left() {
                    signals::notify(cx, vcpu);
                } else {
                    signals::post(vcpu);
                }
            }
        }
    }

    /// Applies the `on_fault` policy. `why`: in a word.
    #[unsafe(export_name = "tactus_fault")]
    #[inline(never)]
    pub fn fault(&self, cx: &mut HartCtx, vcpu: &Vcpu, why: &'static str, exception: &Exception) {
        {
            let mut life = self.life.lock();
            if life.ending.is_none() {
                let (why, exception) = exception.reported(why);
                life.last_cause = exception.cause as u8;
                #[cfg(feature = "management")]
                {
                    life.managed.faults = life.managed.faults.saturating_add(1);
                }
                life.fault = Some(Fault {
                    vcpu: vcpu.index,
                    why,
                    exception,
                    time: crate::arch::now(),
                });
            }
        }
        self.end(cx, self.on_fault().1);
    }

    /// The `on_fault` policy, in words and in deeds.
    fn on_fault(&self) -> (&'static str, End) {
        match OnFault::from_raw(self.config().on_fault) {
            Some(OnFault::Restart) => ("restart", End::Restart),
            Some(OnFault::Signal) => ("signal", End::Fault),
            _ => ("halt", End::Fault),
        }
    }

    /// One of its vCPUs has stopped, and no hart owns it. `true`: it was the last one; what follows is
    /// [`Vm::finish_end`]'s.
    pub fn vcpu_stopped(&self, vcpu: &'static Vcpu) -> bool {
        // A computation that it asked for last is asked for before its VM's devices are told to end all.
        arch::fence_after_device();
        let mut life = self.life.lock();
        vcpu.owner.release();
        vcpu.state.set(State::Stopped);
        vcpu.take_signals(signal::STOP);
        vcpu.claimed.store(false, Ordering::Release);
        life.alive -= 1;
        life.alive == 0
    }

    /// Does a piece of what follows when its last vCPU has stopped; `true`: all is done. In pieces, a line of the log
    /// at most each, since real-time vCPUs may wait meanwhile.
    pub fn finish_end(&self, cx: &mut HartCtx) -> bool {
        let (end, piece) = {
            let mut life = self.life.lock();
            let piece = life.pieces;
            life.pieces += 1;
            if life.fault.is_some() {
                self.report(&mut life, piece);
                return false;
            }
            (life.ending.unwrap_or(End::Shutdown), piece as usize)
        };
        if piece == 0 {
            self.service.close();
            #[cfg(feature = "pci")]
            pci::end(self);
            self.reset_devices();
            accelerators::end(cx, self);
            return false;
        }
        #[cfg(feature = "pci")]
        if piece == 1 && !pci::has_ended(self) {
            self.life.lock().pieces = 1;
            return false;
        }
        if piece == 1 {
            if !accelerators::has_ended(self) {
                self.life.lock().pieces = 1;
            }
            return false;
        }
        let (reason, code) = match end {
            End::Restart => {
                {
                    let mut life = self.life.lock();
                    #[cfg(feature = "management")]
                    if !matches!(life.ending, Some(End::Restart)) {
                        // Its manager has stopped it meanwhile.
                        life.pieces = piece as u32;
                        return false;
                    }
                    life.restarts += 1;
                    life.pieces = 0;
                    life.ending = None;
                }
                signals::post(self.start());
                return true;
            }
            End::Shutdown => ("shutdown", 0),
            End::Fail(code) => ("fail", code),
            End::Fault => ("fault", 0),
            #[cfg(feature = "management")]
            End::Stop => ("stop", 0),
            #[cfg(feature = "management")]
            End::Hold => ("hold", 0),
        };
        if let Some(vcpu) = self.vcpus().get(piece - 2) {
            vcpu.report_jobs();
            migration::report(vcpu);
            return false;
        }
        let piece = piece - self.vcpus().len();
        if piece == 2 {
            Line::new()
                .begin_of("off", self.name)
                .text("reason", reason)
                .number("code", u64::from(code))
                .time()
                .send();
            return false;
        }
        if let Some(on) = system().harts.get(piece - 3) {
            self.report_usage(on);
            return false;
        }
        // No VM starts it before its state says that it is off.
        {
            let mut life = self.life.lock();
            #[cfg(feature = "management")]
            {
                life.managed.held = matches!(life.ending, Some(End::Hold));
            }
            life.pieces = 0;
            life.ending = None;
            life.state = match end {
                End::Fault => VmState::Faulted,
                _ => VmState::Off,
            };
        }
        if matches!(end, End::Fault)
            && let Some(other) = system().vms.get(self.config().signal_vm as usize)
        {
            other.signal(cx, map::FAULT_SOURCE);
        }
        if !self.is_service() {
            count_off();
        }
        true
    }

    /// Whether it is there for others only: the device manager.
    pub(super) fn is_service(&self) -> bool {
        self.index == system().blob.header.device_manager as usize
    }

    /// Says how long it has had a hart, if it has.
    pub fn report_usage(&self, hart: &Hart) {
        let ticks = self.ticks[hart.index].load(Ordering::Relaxed);
        if ticks > 0 {
            Line::new()
                .begin_of("usage", self.name)
                .number("hart", hart.index as u64)
                .number("ticks", ticks)
                .send();
        }
    }

    /// Writes a piece of the line about the fault that ends it; with the last it is forgotten.
    fn report(&self, life: &mut Life, piece: u32) {
        let Life {
            fault,
            line,
            pieces,
            ..
        } = life;
        let Some(Fault {
            vcpu,
            why,
            exception,
            time,
        }) = fault
        else {
            return;
        };
        match piece {
            0 => line
                .begin_of("fault", self.name)
                .number("vcpu", *vcpu as u64),
            1 => line.number("cause", exception.cause).text("why", why),
            2 => line.hex("address", exception.guest_address),
            3 => line.hex("pc", exception.pc),
            4 => line.hex("instruction", exception.instruction),
            5 => line.text("action", self.on_fault().0).number("time", *time),
            _ => {
                line.send();
                *fault = None;
                *pieces = 0;
                line
            }
        };
    }

    /// Starts it again after it has gone off; `false`: it is not off.
    pub fn revive(&self) -> bool {
        {
            let mut life = self.life.lock();
            if !matches!(life.state, VmState::Off | VmState::Faulted) {
                return false;
            }
            life.state = VmState::Loading;
            life.restarts += 1;
            #[cfg(feature = "management")]
            {
                life.managed.held = false;
            }
        }
        if !self.is_service() {
            system().vms_on.fetch_add(1, Ordering::SeqCst);
        }
        signals::post(self.start());
        true
    }
}

/// A VM has gone off. With the last one the machine does.
fn count_off() {
    let system = system();
    if system.vms_on.fetch_sub(1, Ordering::SeqCst) > 1 {
        return;
    }
    for hart in system.harts {
        for vm in system.vms {
            vm.report_usage(hart);
            console::flush();
        }
        Line::new()
            .begin("usage idle")
            .number("hart", hart.index as u64)
            .number("ticks", hart.idle_ticks.load(Ordering::Relaxed))
            .send();
        console::flush();
    }
    let lost = console::take_lost();
    if lost > 0 {
        Line::new()
            .begin("lost")
            .number("stream", 0)
            .number("bytes", lost.into())
            .send();
    }
    Line::new().begin("end").time().send();
    console::flush();
    crate::arch::firmware::power_off();
}
