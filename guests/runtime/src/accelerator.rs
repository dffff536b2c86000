//! Virtual devices: pages through which the VM uses an accelerator of the fabric while the device manager has assigned
//! it a region (`docs/src/reference/regions.md`).
//!
//! There are two models (Ker-ONE, section 4.5). *Native*: start and wait, as with any device; the VM ignores whether it
//! has a region ([`VirtualDevice::run`]). *Guest*: the VM is signalled when it waits for a region, has one, or has lost
//! it, and may do other work meanwhile, or compute in software ([`VirtualDevice::run_or`]).

use core::sync::atomic::{AtomicU32, Ordering};

use tactus_abi::accelerator::{
    self as slot, COMMAND_CANCEL, SIGNAL_PREEMPT, SIGNAL_READY, SIGNAL_WAIT, SLOT_SIZE,
};
use tactus_registers::virtual_device::VirtualDevice as Registers;

use crate::channel::Channel;
use crate::{csr, devicetree, time, trap};

/// A computation. Addresses are in bytes from the start of the VM's memory, and multiples of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Computation {
    /// Address of the input.
    pub input: u32,
    /// Bytes of the input.
    pub length: u32,
    /// Address of the output.
    pub output: u32,
    /// The task's own parameter.
    pub parameter: u32,
}

/// Why a computation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The task refused it, or memory answered with an error: 1 to 6, see `docs/src/reference/hardware-tasks.md`.
    Task(u8),
    /// The region was reclaimed from a task that did not stop.
    Taken,
    /// No region was assigned, or the computation was cancelled.
    Cancelled,
}

/// The executor of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletedBy {
    /// The accelerator, with its cycles of the fabric.
    Hardware(u32),
    /// The software.
    Software,
}

/// A signal of the device manager (Ker-ONE, Table 2), where it gives a region or takes it. The region allocator gives
/// none: [`VirtualDevice::has_region`] and [`VirtualDevice::is_preempted`] say how it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// No region is assigned yet.
    Wait,
    /// A region is assigned.
    Ready,
    /// The region was preempted during a computation.
    Preempt,
}

/// A virtual device.
#[derive(Clone, Copy)]
pub struct VirtualDevice {
    registers: Registers<'static>,
    /// PLIC source of its interrupt, if it has one.
    source: Option<u32>,
    /// The channel to the device manager, and the slot in it.
    manager: Option<(Channel, usize)>,
}

impl VirtualDevice {
    /// The VM's virtual device of hardware task `task`, from the devicetree; `None`: the VM has none.
    ///
    /// If the VM has a channel to the device manager, it receives signals for its requests there.
    pub fn find(task: u8) -> Option<Self> {
        let found = devicetree::virtual_device(task)?;
        let channel = found
            .channel
            .and_then(|number| Channel::find(number as usize));
        let device = Self {
            // SAFETY: the devicetree is the system's own description of what it gives the VM.
            registers: unsafe { Registers::from_ptr(found.registers as *mut ()) },
            source: found.source,
            manager: channel.map(|channel| (channel, found.interface as usize)),
        };
        (device.registers.id().read().kind() == 0x5644).then_some(device)
    }

    /// PLIC source of the interrupt at the end of a computation.
    pub const fn source(&self) -> Option<u32> {
        self.source
    }

    /// Requests a computation, and returns. The computation begins when a region is assigned; no other one may be
    /// requested before it is complete. With a region this takes no trap, otherwise one for each register.
    pub fn start(&self, computation: &Computation) {
        let registers = &self.registers;
        registers
            .data_addr()
            .write(|r| r.set_value(computation.input));
        registers
            .data_size()
            .write(|r| r.set_value(computation.length));
        registers
            .custom0()
            .write(|r| r.set_value(computation.output));
        registers
            .cmd()
            .write(|r| r.set_value(computation.parameter));
        // Clears the status of the last computation.
        self.clear_interrupt();
        // The input is in memory before the task reads it.
        core::sync::atomic::fence(Ordering::Release);
        registers.start().write(|r| r.set_flag(true));
    }

    /// Whether a region is assigned.
    pub fn has_region(&self) -> bool {
        self.registers.stat().read().connected()
    }

    /// Whether the computation was stopped before it was over, and waits for a region in which it continues.
    pub fn is_preempted(&self) -> bool {
        let stat = self.registers.stat().read();
        stat.unfinished() && !stat.connected()
    }

    /// Whether the requested computation has begun, or is complete.
    pub fn has_begun(&self) -> bool {
        !self.registers.start().read().flag()
    }

    /// Whether the requested computation is complete.
    pub fn is_complete(&self) -> bool {
        self.has_begun() && self.registers.over().read().flag()
    }

    /// The result of a completed computation: the cycles of the fabric that it took.
    ///
    /// # Errors
    ///
    /// The computation failed.
    pub fn outcome(&self) -> Result<u32, Failure> {
        // The task's output is in memory before it is complete.
        core::sync::atomic::fence(Ordering::Acquire);
        let result = self.registers.result().read();
        match result.error() {
            0 => Ok(result.cycles()),
            14 => Err(Failure::Taken),
            15 => Err(Failure::Cancelled),
            error => Err(Failure::Task(error)),
        }
    }

    /// Sets whether the completion of a computation interrupts. The source is the interface's own: a handler calls
    /// [`VirtualDevice::clear_interrupt`].
    pub fn set_interrupt(&self, enabled: bool) {
        self.registers.int_ctrl().write(|r| r.set_enable(enabled));
    }

    /// Clears the interrupt.
    pub fn clear_interrupt(&self) {
        let enabled = self.registers.int_ctrl().read().enable();
        self.registers.int_ctrl().write(|r| {
            r.set_enable(enabled);
            r.set_over(true);
        });
    }

    /// Native model: computes, and waits for the completion without limit. If the device's interrupt is enabled, the
    /// vCPU waits for it; otherwise it polls.
    ///
    /// # Errors
    ///
    /// As [`VirtualDevice::outcome`].
    pub fn run(&self, computation: &Computation) -> Result<u32, Failure> {
        self.start(computation);
        while !self.is_complete() {
            self.pause();
        }
        self.outcome()
    }

    /// Guest model: computes, and falls back to `software` if the accelerator is not available: if no region is
    /// assigned `patience` ticks after the start, or if the region is preempted. The result is then that of the
    /// software.
    ///
    /// # Errors
    ///
    /// The task refused it: [`Failure::Task`]. Without a channel to the device manager nothing can be cancelled, and
    /// the software repeats a computation that has failed.
    pub fn run_or(
        &self,
        computation: &Computation,
        patience: u64,
        software: impl FnOnce(&Computation),
    ) -> Result<CompletedBy, Failure> {
        self.start(computation);
        let patience_ends = time::now().saturating_add(patience);
        let mut cancelled = false;
        while !self.is_complete() {
            let is_taken = self.is_preempted();
            let is_late = !self.has_region() && time::now() >= patience_ends;
            if (is_taken || is_late) && !cancelled {
                // If it is running again by now, it continues, and its result counts.
                cancelled = self.cancel();
            }
            self.pause();
        }
        match self.outcome() {
            Ok(cycles) => Ok(CompletedBy::Hardware(cycles)),
            Err(Failure::Task(error)) => Err(Failure::Task(error)),
            Err(Failure::Taken | Failure::Cancelled) => {
                software(computation);
                Ok(CompletedBy::Software)
            }
        }
    }

    /// The last signal; `None`: none yet, or the VM has no channel to the device manager.
    pub fn signal(&self) -> Option<Signal> {
        signal_of(self.signal_word())
    }

    /// Cancels a computation that waits, or was preempted: it ends with [`Failure::Cancelled`]. One that is running
    /// continues. `false`: there is no channel to the device manager.
    pub fn cancel(&self) -> bool {
        let Some((channel, _)) = self.manager else {
            return false;
        };
        self.command(COMMAND_CANCEL);
        channel.ring();
        true
    }

    fn pause(&self) {
        // Without an interrupt nothing would end the wait.
        let interrupts = csr::read::<{ csr::SIE }>() != 0;
        if interrupts && self.registers.int_ctrl().read().enable() && self.manager.is_none() {
            trap::without_interrupts(|| {
                if !self.is_complete() {
                    trap::wait_for_interrupt();
                }
            });
        } else {
            core::hint::spin_loop();
        }
    }

    fn signal_word(&self) -> u32 {
        self.word(slot::SIGNAL)
            .map_or(0, |word| word.load(Ordering::Acquire))
    }

    fn command(&self, kind: u32) {
        if let Some(word) = self.word(slot::COMMAND) {
            word.store(
                slot::next(word.load(Ordering::Relaxed), kind),
                Ordering::Release,
            );
        }
    }

    fn word(&self, offset: usize) -> Option<&'static AtomicU32> {
        let (channel, interface) = self.manager?;
        let at = interface * SLOT_SIZE + offset;
        let word = (&raw const *channel.words().get(at / 8)?).cast::<AtomicU32>();
        // SAFETY: half of a word of the channel's memory, which lives as long as the VM; all who use it do so by
        // atomics.
        Some(unsafe { &*word.add(at % 8 / 4) })
    }
}

const fn signal_of(word: u32) -> Option<Signal> {
    match slot::kind(word) {
        SIGNAL_WAIT => Some(Signal::Wait),
        SIGNAL_READY => Some(Signal::Ready),
        SIGNAL_PREEMPT => Some(Signal::Preempt),
        _ => None,
    }
}
