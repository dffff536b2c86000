//! Virtual devices, behind which an accelerator of the fabric stands when the device manager has given it a region (`docs/src/reference/regions.md`).
//!
//! Two models (Ker-ONE, section 4.5). *Native*: write and wait, as with any device; whether there is a region is somebody else's business ([`VirtualDevice::run`]). *Guest*: the VM is told when it waits
//! for a region, has one, or has lost it, and may do something else, or the work itself ([`VirtualDevice::run_or`]).

use core::sync::atomic::{AtomicU32, Ordering};

use tactus_abi::accelerator::{
    self as slot, COMMAND_CANCEL, COMMAND_REQUEST, SIGNAL_PREEMPT, SIGNAL_READY, SIGNAL_WAIT,
    SLOT_SIZE,
};
use tactus_registers::virtual_device::VirtualDevice as Registers;

use crate::channel::Channel;
use crate::{csr, devicetree, time, trap};

/// What is to be computed. Addresses are in bytes from the begin of the VM's memory, and multiples of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Computation {
    /// Where the input begins.
    pub input: u32,
    /// Its bytes.
    pub length: u32,
    /// Where the output goes.
    pub output: u32,
    /// The task's own parameter.
    pub parameter: u32,
}

/// Why a computation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The task refused it, or memory answered with an error: 1 to 6, see `docs/src/reference/hardware-tasks.md`.
    Task(u8),
    /// The region was taken from a task that did not stop.
    Taken,
    /// There was no region for it, or it was cancelled.
    GivenUp,
}

/// Who has done the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The accelerator, in so many cycles of the fabric.
    Hardware(u32),
    /// The software.
    Software,
}

/// What a VM is told (Ker-ONE, Table 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// There is no region yet.
    Wait,
    /// There is one.
    Ready,
    /// The region was taken from an unfinished computation.
    Preempt,
}

/// A virtual device.
#[derive(Clone, Copy)]
pub struct VirtualDevice {
    registers: Registers<'static>,
    /// Its interrupt, if it has one.
    source: Option<u32>,
    /// The channel to the device manager, and the slot in it.
    manager: Option<(Channel, usize)>,
}

impl VirtualDevice {
    /// The VM's virtual device of the hardware task of that number, as the devicetree describes it; `None`: it has none.
    ///
    /// Where the VM has a channel to the device manager, it is told by it what becomes of its requests.
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

    /// Asks for a computation, and returns. It begins when there is a region; another one must not be asked for before it is over. Without a trap where there is a region, otherwise with one for each
    /// register.
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
        // What was computed before does not count.
        self.clear_interrupt();
        // The input is in memory before the task looks for it.
        core::sync::atomic::fence(Ordering::Release);
        registers.start().write(|r| r.set_flag(true));
        if let Some((channel, _)) = self.manager
            && !self.has_region()
        {
            // Where the hypervisor does not see the store.
            self.command(COMMAND_REQUEST);
            channel.ring();
        }
    }

    /// Whether a region stands behind it.
    pub fn has_region(&self) -> bool {
        self.registers.stat().read().connected()
    }

    /// Whether the computation that was asked for has begun, or is over already.
    pub fn has_begun(&self) -> bool {
        !self.registers.start().read().flag()
    }

    /// Whether the computation that was asked for is over.
    pub fn is_over(&self) -> bool {
        self.has_begun() && self.registers.over().read().flag()
    }

    /// What became of a computation that is over: the cycles of the fabric that it took.
    ///
    /// # Errors
    ///
    /// There is no result.
    pub fn outcome(&self) -> Result<u32, Failure> {
        // What the task has written is there before it is over.
        core::sync::atomic::fence(Ordering::Acquire);
        let result = self.registers.result().read();
        match result.error() {
            0 => Ok(result.cycles()),
            14 => Err(Failure::Taken),
            15 => Err(Failure::GivenUp),
            error => Err(Failure::Task(error)),
        }
    }

    /// Whether the end of a computation interrupts. The source is the interface's own: a handler calls [`VirtualDevice::clear_interrupt`].
    pub fn set_interrupt(&self, enabled: bool) {
        self.registers.int_ctrl().write(|r| r.set_enable(enabled));
    }

    /// Takes the interrupt back.
    pub fn clear_interrupt(&self) {
        let enabled = self.registers.int_ctrl().read().enable();
        self.registers.int_ctrl().write(|r| {
            r.set_enable(enabled);
            r.set_over(true);
        });
    }

    /// Native model: computes, and waits until that is over, for as long as it takes. The vCPU gives its hart away meanwhile where an interrupt of the device is enabled, else it looks again and again.
    ///
    /// # Errors
    ///
    /// As [`VirtualDevice::outcome`].
    pub fn run(&self, computation: &Computation) -> Result<u32, Failure> {
        self.start(computation);
        while !self.is_over() {
            self.pause();
        }
        self.outcome()
    }

    /// Guest model: computes, and has `software` do it when the accelerator is not to be had: when there is no region `patience` ticks after the start, or when the region is taken away. What the
    /// software has done is what counts then.
    ///
    /// # Errors
    ///
    /// The task refused it: [`Failure::Task`]. Without a channel to the device manager nothing can be cancelled, and the software does what has failed.
    pub fn run_or(
        &self,
        computation: &Computation,
        patience: u64,
        software: impl FnOnce(&Computation),
    ) -> Result<Done, Failure> {
        let before = self.signal_word();
        self.start(computation);
        let patience_ends = time::now().saturating_add(patience);
        let mut cancelled = false;
        while !self.is_over() {
            let word = self.signal_word();
            let is_taken = word != before && signal_of(word) == Some(Signal::Preempt);
            let is_late = !self.has_region() && time::now() >= patience_ends;
            if (is_taken || is_late) && !cancelled {
                // If it is running again by now, it goes on, and its result counts.
                cancelled = self.cancel();
            }
            self.pause();
        }
        match self.outcome() {
            Ok(cycles) => Ok(Done::Hardware(cycles)),
            Err(Failure::Task(error)) => Err(Failure::Task(error)),
            Err(Failure::Taken | Failure::GivenUp) => {
                software(computation);
                Ok(Done::Software)
            }
        }
    }

    /// What the VM was told last; `None`: nothing yet, or it has no channel to the device manager.
    pub fn signal(&self) -> Option<Signal> {
        signal_of(self.signal_word())
    }

    /// Wishes that the computation that waits, or was stopped, is given up: it ends with [`Failure::GivenUp`]. One that is running goes on. `false`: there is no channel to the device
    /// manager.
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
                if !self.is_over() {
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
        // SAFETY: half of a word of the channel's memory, which lives as long as the VM; all who use it do so by atomics.
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
