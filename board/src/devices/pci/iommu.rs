//! An IOMMU between PCI functions and memory (RISC-V IOMMU Architecture Specification 1.0).
//!
//! It has device contexts of the base format in directories of one to three levels, both stages of translation in the
//! modes that the harts have, a command queue, a fault queue, and interrupts by wires. It has no MSI translation,
//! process contexts, ATS, performance counters or debug interface, does not set the bits A and D of page tables, and
//! is little-endian. `capabilities` says so.
//!
//! What it has cached it goes on using until a command invalidates it: software that changes a table and forgets the
//! command finds the old translation, as with hardware.

mod context;
mod queues;
mod registers;
mod translations;

use serde::{Deserialize, Serialize};

use super::root::Root;
use crate::bus::{BadState, Port, Refused};
use crate::devices::state;
use crate::privileged::Privileged;
use crate::time::Femtoseconds;
use context::{Context, Mode};
use queues::{Fault, Queue};
pub use registers::SIZE;
use translations::Translations;

/// How many entries its caches have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Translations of pages (the IOTLB), 1 to 4,096.
    pub translations: usize,
    /// Device contexts, 1 to 4,096.
    pub contexts: usize,
}

/// How many wires it can have: one for each cause of an interrupt.
const WIRES_MAX: usize = 4;

/// The mode Bare in `ddtp` (section 5.5).
const BARE: u64 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    ddtp: u64,
    commands: Queue,
    faults: Queue,
    /// The control and status registers of the queues.
    cqcsr: u32,
    fqcsr: u32,
    ipsr: u32,
    icvec: u64,
    /// The command that is being carried out, and when it is done.
    command: Option<([u64; 2], Femtoseconds)>,
    /// Device contexts that are cached, by `device_id`: the oldest first.
    contexts: Vec<(u32, Context)>,
    translations: Translations,
}

/// An IOMMU.
#[derive(Clone, Debug)]
pub struct Iommu {
    /// The lines of its wires: 1, 2 or 4.
    lines: Vec<u32>,
    sizes: Sizes,
    /// What walks page tables.
    walker: Privileged,
    state: State,
}

impl Iommu {
    /// An IOMMU after reset: its mode is Off (section 5.2). It has one, two or four wires.
    #[must_use]
    pub fn new(lines: &[u32], sizes: Sizes) -> Self {
        Self {
            lines: lines.iter().copied().take(WIRES_MAX).collect(),
            sizes,
            walker: Privileged::of_iommu(),
            state: State {
                ddtp: 0,
                commands: Queue::default(),
                faults: Queue::default(),
                cqcsr: 0,
                fqcsr: 0,
                ipsr: 0,
                icvec: 0,
                command: None,
                contexts: Vec::new(),
                translations: Translations::default(),
            },
        }
    }

    /// The same, but that its mode after reset is Bare, as the section allows, too: all accesses get through.
    #[must_use]
    pub fn bare(lines: &[u32], sizes: Sizes) -> Self {
        let mut this = Self::new(lines, sizes);
        this.state.ddtp = BARE;
        this
    }

    /// Translates the address of an access within a page of 4 KiB (section 2.3). What is refused is reported to the
    /// fault queue.
    pub(super) fn translate(
        &mut self,
        device: u32,
        address: u64,
        write: bool,
        root: &mut Root<'_, '_>,
    ) -> Result<u64, Refused> {
        self.try_translate(device, address, write, root)
            .map_err(|fault| {
                self.report(fault.of(device, address, write), root);
                self.update_pending();
                Refused
            })
    }

    fn try_translate(
        &mut self,
        device: u32,
        address: u64,
        write: bool,
        root: &mut Root<'_, '_>,
    ) -> Result<u64, Fault> {
        match self.mode() {
            Mode::Off => return Err(Fault::new(queues::ALL_DISALLOWED)),
            Mode::Bare => return Ok(address),
            Mode::Levels(_) => {}
        }
        let context = self.context(device, root)?;
        let wanted = (address, write);
        if let Some(physical) = self.state.translations.find(&context, wanted) {
            return Ok(physical);
        }
        let entry = translations::walk(&self.walker, &context, wanted, root)
            .map_err(|fault| fault.unless(context.hides_faults()))?;
        let Some(entry) = entry else {
            return Ok(address);
        };
        let physical = entry.physical(address);
        self.state
            .translations
            .insert(entry, self.sizes.translations);
        Ok(physical)
    }

    /// Drives the wires: each cause of an interrupt has one by `icvec` (section 5.25).
    pub(super) fn drive(&self, port: &mut Port<'_>) {
        for (wire, line) in self.lines.iter().enumerate() {
            let raised = (0..4).any(|cause| {
                self.state.ipsr >> cause & 1 != 0
                    && self.state.icvec >> (4 * cause) & 15 == wire as u64
            });
            port.interrupt(*line, raised);
        }
    }

    /// When it goes on by itself.
    pub(super) fn next(&self) -> Femtoseconds {
        let command = self.state.command;
        command.map_or(Femtoseconds::NEVER, |(_, due)| due)
    }

    pub(super) fn save(&self) -> Vec<u8> {
        state::save(&self.state)
    }

    pub(super) fn restore(&mut self, bytes: &[u8]) -> Result<(), BadState> {
        let new: State = state::restore("iommu", bytes)?;
        let sound = new.translations.is_sound(self.sizes.translations)
            && new.contexts.len() <= self.sizes.contexts
            && new.contexts.iter().all(|(_, context)| context.is_sound())
            && new.commands.is_sound()
            && new.faults.is_sound();
        state::require(sound, "iommu", "it is no state of such an IOMMU")?;
        self.state = new;
        Ok(())
    }
}
